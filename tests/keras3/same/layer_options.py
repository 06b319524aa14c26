"""Options and forms of layers: equations, gates, windows, masks, shapes of `build`."""

from __future__ import annotations

from typing import Any

import numpy as np


def _numbers(*shape: int) -> np.ndarray:
    return np.sin(np.arange(int(np.prod(shape)), dtype="float32")).reshape(shape)


def _fill(layer: Any) -> None:
    """Give every weight numbers that follow from its place and shape."""
    values = [np.sin(np.arange(array.size) * (place + 1.0)) for place, array in enumerate(layer.get_weights())]
    layer.set_weights([value.reshape(array.shape) for value, array in zip(values, layer.get_weights(), strict=True)])


def case_equations_of_einsum_dense(keras: Any) -> dict[str, Any]:
    found = {}
    for equation, shape, sizes, bias in (
        ("ab,b->a", (2, 5), (), None),
        ("i,d->id", (3,), (4,), None),
        ("bc...,cd->bd...", (2, 5), (4,), None),
        ("bc...,cde->bde...", (2, 5, 6), (3, 4), "d"),
        ("bc...,cde->bde...", (2, 5, 6), (3, 4), "e"),
        ("bc...,cde->bde...", (2, 5, 6, 2), (3, 4), "de"),
    ):
        layer = keras.layers.EinsumDense(equation, sizes, bias_axes=bias, activation="tanh")
        layer.build(shape)
        _fill(layer)
        found[f"{equation} {bias}"] = {
            "shapes": [list(array.shape) for array in layer.get_weights()],
            "outputs": keras.ops.convert_to_numpy(layer(_numbers(*shape))),
            "shape": list(layer.compute_output_shape(shape)),
        }
    return found


def _mask(keras: Any, tensor: Any) -> Any:
    found = getattr(tensor, "_keras_mask", None)
    return None if found is None else keras.ops.convert_to_numpy(found)


def case_masks_that_tensors_carry(keras: Any) -> dict[str, Any]:
    layers, found = keras.layers, {}
    ones = {"kernel_initializer": "ones", "recurrent_initializer": "ones"}
    inputs = layers.Embedding(5, 3, mask_zero=True, embeddings_initializer="ones")(np.array([[1, 2, 0], [3, 0, 0]]))
    more = keras.ops.ones((2, 3, 3))
    for name, layer, given in (
        ("dropout", layers.Dropout(0.5), inputs),
        ("dense", layers.Dense(2, kernel_initializer="ones"), inputs),
        ("time_distributed", layers.TimeDistributed(layers.Dense(2, kernel_initializer="ones")), inputs),
        ("lstm", layers.LSTM(2, **ones), inputs),
        ("lstm_of_steps", layers.LSTM(2, return_sequences=True, **ones), inputs),
        ("bidirectional", layers.Bidirectional(layers.GRU(2, return_sequences=True, **ones)), inputs),
        ("pooling", layers.GlobalAveragePooling1D(), inputs),
        ("add", layers.Add(), [inputs, inputs]),
        ("add_one_masked", layers.Add(), [inputs, more]),
        ("maximum", layers.Maximum(), [inputs, more]),
        ("concatenate", layers.Concatenate(axis=1), [inputs, more]),
        ("attention", layers.Attention(), [inputs, inputs]),
        ("masking", layers.Masking(), keras.ops.convert_to_tensor(np.array([[[1.0, 2.0], [0.0, 0.0]]], "float32"))),
    ):
        outputs = layer(given)
        found[name] = {"outputs": keras.ops.convert_to_numpy(outputs), "mask": _mask(keras, outputs)}
    heads = layers.MultiHeadAttention(1, 2, kernel_initializer="ones")(inputs, inputs)
    return {**found, "heads": {"outputs": keras.ops.convert_to_numpy(heads), "mask": _mask(keras, heads)}}


def case_a_model_of_ones_own_gets_masks(keras: Any) -> dict[str, Any]:
    class Model(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.embed = keras.layers.Embedding(5, 3, mask_zero=True, embeddings_initializer="ones")
            self.steps = keras.layers.LSTM(2, kernel_initializer="ones", recurrent_initializer="ones")
            self.last = keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, inputs: Any) -> Any:
            return self.last(self.steps(self.embed(inputs)))

    model, inputs = Model(), np.array([[1, 2, 0], [3, 0, 0]])
    found = {"call": keras.ops.convert_to_numpy(model(inputs)), "predict": model.predict(inputs, verbose=0)}
    model.compile("sgd", "mse")
    return {**found, "loss": model.fit(inputs, np.ones((2, 1)), epochs=2, verbose=0).history["loss"]}


def case_softmax_with_a_mask(keras: Any) -> list[Any]:
    inputs = _numbers(2, 3, 4)
    masks = [np.array([1.0, 0.0, 1.0, 1.0]), np.arange(24).reshape(2, 3, 4) % 5 > 1, np.zeros((2, 3, 4), "bool")]
    return [
        keras.ops.convert_to_numpy(keras.layers.Softmax(axis)(inputs, mask=mask))
        for mask in masks
        for axis in (-1, 1, (1, 2))
    ]


def case_layers_without_weights_are_built(keras: Any) -> list[bool]:
    layers = keras.layers
    made = [layers.ReLU(), layers.Dropout(0.5), layers.MaxPooling2D(), layers.Softmax(), layers.Masking()]
    return [layer.built for layer in [*made, layers.Flatten(), layers.Dense(2)]]


def case_shapes_of_build(keras: Any) -> list[Any]:
    layers, found = keras.layers, []
    for layer, args, named in (
        (layers.Embedding(3, 4), (), {}),
        (layers.Dense(2), ([None, 3],), {}),
        (layers.Dot(1), ([(2, 3), (2, 3)],), {}),
        (layers.MultiHeadAttention(2, 3), ((2, 5, 6), (2, 4, 7)), {}),
        (layers.MultiHeadAttention(2, 3), (), {"query_shape": (2, 5, 6), "value_shape": (2, 4, 7)}),
    ):
        layer.build(*args, **named)
        found.append([list(weight.shape) for weight in layer.get_weights()])
    return found


def case_sizes_that_flatten_does_not_know(keras: Any) -> list[Any]:
    layer = keras.layers.Flatten()
    shapes = [layer(keras.Input(batch_shape=shape)).shape for shape in ((5, 2, None), (None, 2, 3))]
    return [*map(list, shapes), keras.ops.convert_to_numpy(keras.layers.Flatten()(np.arange(3.0)))]


def case_upsampling_of_whole_numbers(keras: Any) -> list[Any]:
    layers = keras.layers
    return [
        keras.ops.convert_to_numpy(layer(np.arange(int(np.prod(shape))).reshape(shape)))
        for layer, shape in (
            (layers.UpSampling1D(2), (1, 3, 2)),
            (layers.UpSampling2D((1, 2)), (1, 2, 3, 2)),
            (layers.UpSampling3D(2), (1, 1, 2, 3, 1)),
        )
    ]
