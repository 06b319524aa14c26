"""The functions of `keras.ops`: on tensors, arrays, numbers and lists, and on symbolic tensors as one node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.nested import tensors_in
from torchkeras.engine.functions.function_calls import apply_operation
from torchkeras.keras3 import control_flow
from torchkeras.tensor_functions.operations.table import BY_NAME, OPERATIONS
from torchkeras.tensor_functions.operations.values import Row, in_32_bits, tensor_of, with_short_way


def _published(name: str, row: Row) -> Callable[..., Any]:
    """The public function of an operation."""
    compute = BY_NAME[f"ops.{name}"]

    def call(*args: Any, **kwargs: Any) -> Any:
        if not tensors_in((args, kwargs)):
            return compute(*args, **kwargs)
        bound = row.signature.bind(*args, **kwargs)
        if "data_format" in row.signature.parameters and bound.arguments.get("data_format") is None:
            bound.arguments["data_format"] = config.image_data_format()  # as it is now, for all calls of the graph
        wide = any(dtype_of(tensor.dtype) is torch.float64 for tensor in tensors_in((args, kwargs)))
        for each in row.taken.keys() & bound.arguments.keys():
            bound.arguments[each] = _constant(bound.arguments[each], wide)
        return apply_operation(f"ops.{name}", bound.args, bound.kwargs)

    public = with_short_way(row, call)
    public.__name__ = public.__qualname__ = name.rpartition(".")[2]
    public.__module__ = "torchkeras.keras3.ops"
    public.__doc__ = row.text
    public.__signature__ = row.signature  # type: ignore[attr-defined]
    return public


def _constant(value: Any, wide: bool) -> Any:
    """An array of floating-point numbers as a tensor of its type, of at most 32 bits unless a tensor is as `wide`."""
    if isinstance(value, (list, tuple)):
        return [_constant(each, wide) for each in value]
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    tensor = tensor_of(value)
    return tensor if wide else tensor.to(in_32_bits(tensor.dtype))


FUNCTIONS: dict[str, Callable[..., Any]] = {name: _published(name, row) for name, row in OPERATIONS.items()}
FUNCTIONS |= {name: getattr(control_flow, name) for name in control_flow.NAMES}
