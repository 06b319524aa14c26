"""`np.*` on arrays, which a formula has as tensors: they meet the inputs of a layer in the end."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.backend.nodes import sizes, tensor
from torchkeras.keras2.lambdas.keras_functions import Function, cast, placed
from torchkeras.keras2.lambdas.signatures import named
from torchkeras.keras2.lambdas.tensorflow_functions import SCOPED as TENSORFLOW
from torchkeras.tensor_functions.by_name import FUNCTIONS as GRAPH

MOST = 1 << 24  # numbers of an array that is repeated


def _array(value: Any, dtype: Any) -> Tensor:
    found = tensor(value)
    return found if dtype is None else cast(found, dtype)


def _full(shape: Any, value: Any, dtype: Any) -> Tensor:
    return _array(value, dtype).expand(sizes(shape))


def _reshaped(a: Any, *shape: Any) -> Tensor:
    return tensor(a).reshape(sizes(shape[0] if len(shape) == 1 else shape))


def _joined(arrays: Any, axis: int) -> Tensor:
    return torch.cat([tensor(each) for each in arrays], axis)


def _tiled(a: Any, reps: Any) -> Tensor:
    found = tensor(a)
    if found.numel() * prod(sizes(reps)) > MOST:
        raise ValueError(f"an array of over {MOST} numbers")
    return found.tile(sizes(reps))


def _eye(size: int, dtype: Any, *, device: torch.device) -> Tensor:
    return _array(torch.eye(size, device=device), dtype)


def _line(start: float, stop: float, num: int, *, device: torch.device) -> Tensor:
    return torch.linspace(start, stop, num, device=device)


ARRAYS: Mapping[str, Function] = {
    "astype": lambda a, dtype: cast(tensor(a), dtype),
    "concatenate": named(_joined, "arrays axis=0"),
    "expand_dims": named(lambda a, axis: tensor(a).unsqueeze(axis), "a axis"),
    "flip": named(lambda a, axis: GRAPH["flip"](tensor(a), axis), "m axis=None"),
    "reshape": _reshaped,
    "stack": named(lambda arrays, axis: torch.stack([tensor(each) for each in arrays], axis), "arrays axis=0"),
    "tile": named(_tiled, "A reps"),
    "transpose": named(lambda a, axes: GRAPH["transpose"](tensor(a), axes), "a axes=None"),
}
SCOPED: Mapping[str, Function] = {
    **{name: named(placed(_array), "value dtype=None", 1) for name in ("array", "asarray")},
    "arange": TENSORFLOW["range"],
    "eye": named(placed(_eye), "N dtype=None", 1),
    "full": named(placed(_full), "shape fill_value dtype=None", 1),
    "linspace": named(placed(_line), "start stop num=50", 1),
    "ones": named(placed(lambda shape, dtype: _full(shape, 1.0, dtype)), "shape dtype=None", 1),
    "zeros": named(placed(lambda shape, dtype: _full(shape, 0.0, dtype)), "shape dtype=None", 1),
}
