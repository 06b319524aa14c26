"""The types of weights that differ from what the dtype policies of their layers say, as after `model.half()`.

No config says it: our files have them, by the names of weights as torch has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Any

import torch
from torch import nn

from torchkeras.base.dtypes import dtype_name
from torchkeras.base.torch_tables import own_buffers, own_parameters
from torchkeras.engine.layer.layer import Layer
from torchkeras.errors import UnreadableFileError, WeightMismatchError

KEY = "torchkeras_types"  # of a file, which Keras does not read
NAMES = {dtype: dtype_name(dtype) for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64)}
TYPES = {name: dtype for dtype, name in NAMES.items()}


WRITTEN: ContextVar[bool] = ContextVar("types are written", default=True)


def types_of(model: nn.Module) -> dict[str, str]:
    """The type of each weight whose policy says another, by its name; {"": type} where all weights have that one."""
    found: dict[str, torch.dtype] = {}
    kinds: set[torch.dtype] = set()
    policies: dict[str, torch.dtype] = {}  # by modules; of one that is no layer, that of the layer around it
    for name, module in model.named_modules():
        around = policies.get(name.rpartition(".")[0], torch.float32)
        policies[name] = module._policy.variable_type if isinstance(module, Layer) else around
        for own, kind in _own_types(module).items():
            kinds.add(kind)
            if kind is not policies[name]:
                found[f"{name}.{own}" if name else own] = kind
    if found and len(kinds) == 1:
        found = {"": kinds.pop()}
    return {name: NAMES[kind] for name, kind in found.items()}


def _own_types(module: nn.Module) -> dict[str, torch.dtype]:
    """The types of floating-point numbers that a module's own parameters and buffers have, by name."""
    tensors = chain(own_parameters(module).items(), own_buffers(module).items())
    return {name: tensor.dtype for name, tensor in tensors if tensor is not None and tensor.dtype in NAMES}


@contextmanager
def stored_alone() -> Iterator[None]:
    """Inside a `with` block, files are written without these types: a model read from one has those of its policies."""
    token = WRITTEN.set(False)
    try:
        yield
    finally:
        WRITTEN.reset(token)


def read_types(found: Any, file: str) -> Mapping[str, str]:
    """The types that a file has; none for None. Raises UnreadableFileError for anything else than names to types."""
    if found is None:
        return {}
    if not isinstance(found, Mapping) or not all(isinstance(each, str) and each in TYPES for each in found.values()):
        raise UnreadableFileError(f"{file}: {KEY!r} must be names to types ({', '.join(TYPES)}); found {found!r:.200}.")
    return found


def give_types(model: nn.Module, types: Mapping[str, str], file: str) -> None:
    """Give weights these types. Raises WeightMismatchError for a name that the model does not have."""
    modules = dict(model.named_modules()) if types else {}
    for name, kind in types.items():
        if not name:
            model.to(TYPES[kind])
            continue
        path, _, own = name.rpartition(".")
        owner = modules.get(path)
        held = {} if owner is None else {**own_parameters(owner), **own_buffers(owner)}
        if held.get(own) is None:
            raise WeightMismatchError(f"{file}: it says that {name!r} is {kind}; the model has no such weight.")
        held[own].data = held[own].data.to(TYPES[kind])
