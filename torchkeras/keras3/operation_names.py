"""The classes that Keras 3 has for the functions in a graph, and the names that it gives to their nodes."""

from __future__ import annotations

from typing import Any

from torchkeras.base.naming import count_name, snake_case
from torchkeras.saving.keras3_operations import BY_FUNCTION
from torchkeras.tensor_functions import torch_functions

OPERATORS = {
    "sub": "Subtract",
    "mul": "Multiply",
    "truediv": "TrueDivide",
    "floordiv": "FloorDivide",
    "pow": "Power",
    "neg": "Negative",
    "abs": "Absolute",
    "getitem": "GetItem",
    "lt": "Less",
    "le": "LessEqual",
    "gt": "Greater",
    "ge": "GreaterEqual",
    "eq": "Equal",
    "ne": "NotEqual",
    "and": "LogicalAnd",
    "or": "LogicalOr",
    "xor": "LogicalXor",
    "invert": "LogicalNot",
}


def class_of(function: Any) -> str:
    """Keras's class for a function by its name in a config; of torch's own functions their names in its form."""
    short = torch_functions.short(torch_functions.place_of(function))
    if short in OPERATORS and function == short:
        return OPERATORS[short]
    known = BY_FUNCTION.get(function.removeprefix("ops.")) if isinstance(function, str) else None
    return known.name if known is not None else "".join(part.capitalize() for part in short.split("_"))


def name_of(function: Any) -> str:
    """A new name for the node of a function: `subtract`, then `subtract_1`."""
    return count_name(snake_case(class_of(function)))
