"""Options of layers that chance found to fail under a policy of 16 bits, under both."""

from __future__ import annotations

from typing import Any

import numpy as np

X = np.array([[1.0, 2.0, 4.0], [0.5, -1.0, 3.0]], "float32")
TOLERANCES = {"centered_normalization_in_16_bits": (2e-2, 2e-2), "resizing_in_16_bits": (1e-3, 1e-3)}


def case_centered_normalization_in_16_bits(keras: Any) -> Any:
    found = []
    for options in ({"scale": False}, {"center": False}, {"scale": False, "center": False}):
        inputs = keras.Input((3,))
        hidden = keras.layers.LayerNormalization(dtype="mixed_bfloat16", **options)(inputs)
        model = keras.Model(inputs, keras.layers.Dense(2, kernel_initializer="ones")(hidden))
        model.compile(keras.optimizers.SGD(0.1), "mse")
        loss = model.train_on_batch(X, np.ones((2, 2), "float32"))
        found.append([float(loss), *model.get_weights()])
    return found


def case_resizing_in_16_bits(keras: Any) -> Any:
    images = np.arange(60, dtype="float32").reshape(1, 4, 5, 3) / 64
    layers = [
        keras.layers.Resizing(2, 3, antialias=antialias, crop_to_aspect_ratio=crop, dtype="mixed_float16")
        for antialias in (False, True)
        for crop in (False, True)
    ]
    return [
        keras.ops.convert_to_numpy(layer(each)) for layer in layers for each in (images, (images * 64).astype("uint8"))
    ]


def case_types_of_the_way_back(keras: Any) -> Any:
    found = []
    for policy in ("float32", "mixed_float16", "mixed_bfloat16"):
        for kind in ("float32", "float16"):
            layer = keras.layers.ReversibleEmbedding(3, 3, dtype=policy, reverse_dtype=kind)
            vectors = layer(np.zeros((2,), "int32"))
            layer.set_weights([np.eye(3, dtype="float32")])  # exact in 16 bits, which Keras casts it to in a model
            back = layer(X, reverse=True)
            found.append([str(vectors.dtype), str(back.dtype), keras.ops.convert_to_numpy(back)])
    return found
