"""Inputs of operations, drawn once, and a case: a call of one operation. NumPy alone: genuine Keras reads this too."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

_draw = np.random.default_rng(5)
F = _draw.uniform(-2.0, 2.0, (3, 4)).astype("float32")
G = _draw.uniform(-2.0, 2.0, (3, 4)).astype("float32")
F3 = _draw.uniform(-2.0, 2.0, (2, 3, 4)).astype("float32")
ROW = _draw.uniform(-2.0, 2.0, 4).astype("float32")
POSITIVE = _draw.uniform(0.1, 2.0, (3, 4)).astype("float32")
UNIT = _draw.uniform(-0.9, 0.9, (3, 4)).astype("float32")
HALF = F.astype("float16")
DOUBLE = F.astype("float64")
SCALAR = np.float32(0.75)
EMPTY = np.zeros((0, 4), "float32")
NANS = np.array([[1.0, np.nan, -3.0, np.inf], [np.nan, 2.0, -np.inf, 0.0]], "float32")
I = _draw.integers(-5, 6, (3, 4)).astype("int32")
COUNTS = _draw.integers(1, 6, (3, 4)).astype("int32")
I64 = I.astype("int64")
I8 = I.astype("int8")
U8 = COUNTS.astype("uint8")
B = F > 0
C = B ^ (G > 0)


class Case(NamedTuple):
    """A call.

    `symbolic`: whether it is a node of a graph too, with the arrays of one or more axes as inputs.
    `tensors`: whether it takes nothing but tensors.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    symbolic: bool
    tensors: bool


def case(name: str, *args: Any, symbolic: bool = True, tensors: bool = False, **kwargs: Any) -> Case:
    return Case(name, args, kwargs, symbolic, tensors)
