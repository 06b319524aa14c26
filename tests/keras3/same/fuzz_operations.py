"""Types of operations that chance found to differ, under both: of two types, of constants in a graph, of lists."""

from __future__ import annotations

from typing import Any

import numpy as np

ROWS = np.arange(6, dtype="int32").reshape(2, 3)
HALVES = np.array([[0.5, 1.5, -2.0], [1.0, 0.25, 3.0]], "float16")
FACTORS = np.array([0.1, 0.2, 0.3])


def case_whole_numbers_and_16_bits(keras: Any) -> Any:
    ops = keras.ops
    found = [ops.cdist(ROWS, HALVES), ops.correlate(ROWS[0], HALVES[0], mode="full")]
    return [ops.convert_to_numpy(each) for each in found]


def case_lists_as_arrays(keras: Any) -> Any:
    given = [0.5, 3, True, [1, 2], [0.5, 1], [[True], [False]], [ROWS, ROWS]]
    return [keras.ops.convert_to_numpy(each) for each in given]


def case_constants_beside_16_bits(keras: Any) -> Any:
    inputs = keras.Input((3,), dtype="float16")
    constants = [FACTORS.astype(kind) for kind in ("float16", "float32", "int64")]
    outputs = [ops(inputs, each) for ops in (keras.ops.multiply, keras.ops.subtract) for each in constants]
    return [keras.ops.convert_to_numpy(each) for each in keras.Model(inputs, outputs)(HALVES)]


def case_constants_beside_whole_numbers(keras: Any) -> Any:
    inputs = keras.Input((3,), dtype="int32")
    outputs = [keras.ops.add(inputs, FACTORS.astype(kind)) for kind in ("float16", "float32")]
    return [keras.ops.convert_to_numpy(each) for each in keras.Model(inputs, outputs)(ROWS)]
