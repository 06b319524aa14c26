"""Options of attention by several heads: gates and windows."""

from __future__ import annotations

from typing import Any

import numpy as np


def _inputs(*shape: int) -> np.ndarray:
    return np.sin(np.arange(int(np.prod(shape)), dtype="float32")).reshape(shape)


def _filled(layer: Any, *shapes: Any) -> Any:
    """The layer, built, with numbers in every weight that follow from its place and shape."""
    layer.build(*shapes)
    values = [np.sin(np.arange(array.size) * (place + 1.0)) for place, array in enumerate(layer.get_weights())]
    layer.set_weights([value.reshape(array.shape) for value, array in zip(values, layer.get_weights(), strict=True)])
    return layer


def case_attention_with_a_gate(keras: Any) -> dict[str, Any]:
    layers, to_numpy, found = keras.layers, keras.ops.convert_to_numpy, {}
    query, value = _inputs(2, 5, 6), _inputs(2, 4, 6)
    for name, layer in (
        ("heads", layers.MultiHeadAttention(2, 3, value_dim=4, use_gate=True)),
        ("groups", layers.GroupQueryAttention(3, 4, 2, use_gate=True)),
        ("without_bias", layers.MultiHeadAttention(2, 3, use_bias=False, use_gate=True)),
    ):
        _filled(layer, query.shape, value.shape)
        outputs, scores = layer(query, value, return_attention_scores=True)
        found[name] = {
            "outputs": to_numpy(layer(query, value)),
            "with_scores": [to_numpy(outputs), to_numpy(scores)],
            "causal": to_numpy(layer(query, value, use_causal_mask=True)),
            "weights": [list(array.shape) for array in layer.get_weights()],
            "shape": list(layer.compute_output_shape(query.shape, value.shape)),
        }
    return found


def case_attention_within_a_window(keras: Any) -> dict[str, Any]:
    layers, to_numpy, found = keras.layers, keras.ops.convert_to_numpy, {}
    inputs = _inputs(2, 7, 6)
    before, known = np.tril(np.ones((1, 7, 7), "bool")), np.arange(7)[None] < np.array([[7], [4]])
    for name, layer in (
        ("heads", layers.MultiHeadAttention(2, 3, sliding_window=2)),
        ("groups", layers.GroupQueryAttention(3, 4, 2, sliding_window=3)),
        ("itself", layers.MultiHeadAttention(2, 3, sliding_window=1, dropout=0.5)),
    ):
        _filled(layer, inputs.shape, inputs.shape)
        found[name] = {
            "outputs": to_numpy(layer(inputs, inputs)),
            "causal": to_numpy(layer(inputs, inputs, use_causal_mask=True)),
            "attention_mask": to_numpy(layer(inputs, inputs, attention_mask=before)),
            "value_mask": to_numpy(layer(inputs, inputs, value_mask=known)),
            "window": layer.get_config()["sliding_window"],
        }
    return found
