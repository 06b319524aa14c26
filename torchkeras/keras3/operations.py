"""The functions of `keras.ops`: on tensors, arrays, numbers and lists, and on symbolic tensors as one node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchkeras import config
from torchkeras.base.nested import tensors_in
from torchkeras.engine.functions.function_calls import apply_operation
from torchkeras.keras3 import control_flow
from torchkeras.tensor_functions.operations.table import BY_NAME, OPERATIONS
from torchkeras.tensor_functions.operations.values import Row, with_short_way


def _published(name: str, row: Row) -> Callable[..., Any]:
    """The public function of an operation."""
    compute = BY_NAME[f"ops.{name}"]

    def call(*args: Any, **kwargs: Any) -> Any:
        if next(tensors_in((args, kwargs)), None) is None:
            return compute(*args, **kwargs)
        bound = row.signature.bind(*args, **kwargs)
        if "data_format" in row.signature.parameters and bound.arguments.get("data_format") is None:
            bound.arguments["data_format"] = config.image_data_format()  # as it is now, for all calls of the graph
        return apply_operation(f"ops.{name}", bound.args, bound.kwargs)

    public = with_short_way(row, call)
    public.__name__ = public.__qualname__ = name.rpartition(".")[2]
    public.__module__ = "torchkeras.keras3.ops"
    public.__doc__ = row.text
    public.__signature__ = row.signature  # type: ignore[attr-defined]
    return public


FUNCTIONS: dict[str, Callable[..., Any]] = {name: _published(name, row) for name, row in OPERATIONS.items()}
FUNCTIONS |= {name: getattr(control_flow, name) for name in control_flow.NAMES}
