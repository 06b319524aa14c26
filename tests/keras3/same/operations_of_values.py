"""Loops, branches, slices and types of `keras.ops`, and what categories count, under both."""

from __future__ import annotations

from typing import Any

import numpy as np


def arrays(keras: Any, found: Any) -> Any:
    """Nested results with arrays in place of tensors."""
    return keras.tree.map_structure(keras.ops.convert_to_numpy, found)


X = np.arange(24, dtype="float32").reshape(2, 3, 4) - 7


def case_loops_and_branches(keras: Any) -> Any:
    ops = keras.ops
    x = ops.convert_to_tensor(X)
    found = {
        "cond": [ops.cond(ops.sum(x) > limit, lambda: x + 1, lambda: x - 1) for limit in (0, 1000)],
        "switch": [ops.switch(index, [ops.negative, ops.square], x) for index in (-3, 0, 1, 9)],
        "while_loop": ops.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (0, x)),
        "fori_loop": ops.fori_loop(1, 4, lambda i, y: y * i, x),
        "scan": ops.scan(lambda carry, y: (carry + y, carry * y), ops.zeros((3, 4)), x),
        "map": ops.map(lambda y: ops.sum(y, axis=0), x),
        "vectorized_map": ops.vectorized_map(lambda y: ops.max(y, axis=0), x),
        "associative_scan": ops.associative_scan(lambda a, b: a + b, x, axis=1),
    }
    return arrays(keras, found)


def case_shapes_in_a_graph(keras: Any) -> Any:
    ops = keras.ops
    inputs = keras.Input((3, 4))
    carry, ys = ops.scan(lambda carry, y: (carry + y, carry), ops.zeros((3, 4)), inputs)
    nodes = {
        "fori_loop": ops.fori_loop(1, 4, lambda i, y: y * i, inputs),
        "map": ops.map(lambda y: ops.sum(y, axis=0), inputs),
        "vectorized_map": ops.vectorized_map(lambda y: ops.max(y, axis=0), inputs),
        "scan": carry,
        "scanned": ys,
        "add": ops.add(keras.Input((3,)), keras.Input(batch_shape=(2, None))),
    }
    return {name: list(tensor.shape) for name, tensor in nodes.items()}


def case_values_in_a_graph(keras: Any) -> Any:
    ops = keras.ops
    inputs = keras.Input((3, 4))
    outputs = [
        ops.fori_loop(1, 4, lambda i, y: y * i, inputs),
        ops.map(lambda y: ops.sum(y, axis=0), inputs),
        ops.vectorized_map(lambda y: ops.max(y, axis=0), inputs),
    ]
    return arrays(keras, keras.Model(inputs, outputs)(X))


def case_slices(keras: Any) -> Any:
    ops = keras.ops
    start = ops.convert_to_tensor(np.array([0, 1, 2], "int32"))
    found = [
        ops.slice(X, start, (1, 2, 2)),
        ops.slice_update(X, start, np.ones((1, 2, 2), "float32")),
        ops.slice_update(X, (1, 0, 1), np.ones((1, 2, 2), "float32")),
    ]
    return arrays(keras, found)


def case_counted_categories(keras: Any) -> Any:
    layer = keras.layers.CategoryEncoding(6, output_mode="count")
    indices = np.array([[0, 1], [0, 0], [1, 2], [3, 1]])
    weights = np.array([[0.1, 0.2], [0.1, 0.1], [0.2, 0.3], [0.4, 0.2]], "float32")
    return arrays(keras, [layer(indices), layer(indices, count_weights=weights)])
