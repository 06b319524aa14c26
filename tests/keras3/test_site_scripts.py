"""What scripts of Keras's site do, where genuine Keras 3 fails or has other state."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import torchkeras.keras3 as keras
from torchkeras.tensorflow2.functions import NAMES as TENSORFLOW


@keras.saving.register_keras_serializable(package="site")
class Counting(keras.layers.Layer):
    """Looks at values; counts its calls, and draws numbers."""

    def __init__(self, **options):
        super().__init__(**options)
        self.dense, self.norm = keras.layers.Dense(3), keras.layers.BatchNormalization()
        self.seen, self.seeds = keras.metrics.Mean(), keras.random.SeedGenerator(3)
        self.plain = torch.zeros(3)

    def build(self, input_shape):
        self.calls = self.add_weight(shape=(), initializer="zeros", trainable=False, name="calls")
        self.dense.build(input_shape)
        self.norm.build((*input_shape[:-1], 3))

    def call(self, x):
        self.calls.assign(self.calls + 1)
        y = self.norm(self.dense(x * float(x.abs().max())), training=True)
        self.seen.update_state(y)
        self.plain.add_(1)
        self.add_loss(keras.ops.mean(y))
        return y + torch.rand(3) + keras.random.normal((3,), seed=self.seeds)


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_finding_shapes_with_values_changes_nothing(dtype):
    layer, inputs = Counting(dtype=dtype), keras.Input((4,))
    layer(inputs)  # which builds it
    before, drawn = layer.get_weights(), torch.get_rng_state()
    outputs = layer(inputs)
    assert outputs.shape == (None, 3)
    assert all(map(np.array_equal, layer.get_weights(), before))
    assert torch.equal(torch.get_rng_state(), drawn)
    assert layer.seeds.state.tolist() == [3, 0]
    assert float(layer.seen.result()) == 0.0
    assert layer.plain.tolist() == [0.0] * 3
    assert keras.Model(inputs, outputs).losses == []


def test_a_layer_that_looks_at_values_comes_back_from_a_file(tmp_path: Path):
    inputs = keras.Input((4,))
    model = keras.Model(inputs, Counting()(inputs))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.output_shape == (None, 3)
    assert all(map(np.array_equal, loaded.get_weights(), model.get_weights()))


def test_a_model_that_looks_at_values_is_built_by_a_symbolic_call():
    class Deep(keras.Model):
        def __init__(self):
            super().__init__()
            self.lstm, self.dense = keras.layers.LSTM(3), keras.layers.Dense(3)

        def call(self, x):
            return self.lstm(x) + self.dense(x)[:, 0] * int(x.sum() != 0.5)

    model = Deep()
    assert model(keras.Input((None, 5))).shape == (None, 3)
    assert [tuple(weight.shape) for weight in model.weights] == [(5, 12), (3, 12), (12,), (5, 3), (3,)]
    assert not any(weight.value.is_meta for weight in model.weights)


def test_an_error_with_values_is_that_of_the_layer():
    class Wrong(keras.layers.Layer):
        def call(self, x):
            return x @ torch.ones(7, 2) if float(x.sum()) != 0.5 else x

    text = r"^Wrong 'wrong\w*' cannot compute on input shape \(None, 3\): .* \(24x3 and 7x2\)$"
    with pytest.raises(ValueError, match=text):
        Wrong()(keras.Input((3,)))


def test_keys_that_a_dict_model_has_no_input_for_are_left_out():
    # Keras 3.15 sorts the keys of data and model and pairs them by place, so that "aa" goes into "b" there.
    b, a = keras.Input((2,), name="b"), keras.Input((2,), name="a")
    model = keras.Model({"x": b, "y": a}, keras.layers.Subtract()([b, a]))
    data = {name: np.full((4, 2), value, "float32") for name, value in (("aa", 9), ("x", 5), ("y", 1))}
    assert np.all(model.predict(data, verbose=0) == 4)
    assert torch.all(model({name: torch.tensor(value) for name, value in data.items()}) == 4)
    with pytest.raises(ValueError, match=r"takes a dict with the keys x, y; found \['aa', 'x'\]"):
        model.predict({name: data[name] for name in ("aa", "x")}, verbose=0)


def test_convolution_op_pads_as_the_layer_does():
    convolution: Any = keras.layers.Conv1D

    class Doubled(convolution):
        # That of Keras 3.15's Conv1D has no effect on its call.
        def convolution_op(self, inputs, kernel):
            return super().convolution_op(inputs, kernel * 2)

    x = torch.arange(10.0).reshape(1, 5, 2)
    for order, data in (("channels_last", x), ("channels_first", x.transpose(1, 2))):
        padding = "causal" if order == "channels_last" else "valid"
        layer = convolution(3, 3, padding=padding, data_format=order)
        doubled = Doubled(3, 3, padding=padding, data_format=order)
        expected = layer(data)
        assert torch.allclose(layer.convolution_op(data, layer.kernel), expected)
        doubled.build(tuple(data.shape))
        doubled.set_weights(layer.get_weights())
        assert torch.allclose(doubled(data), 2 * expected, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("expand_dims", (["a", "b"], -1), [[b"a"], [b"b"]]),
        ("squeeze", ([["a"]], [0]), [b"a"]),
        ("stack", (["a", "b"],), [b"a", b"b"]),
        ("concat", ([["a"], ["b"]], 0), [b"a", b"b"]),
        ("repeat", (["a", "b"], 2), [b"a", b"a", b"b", b"b"]),
    ],
)
def test_strings_of_tensorflow_get_other_shapes(name, arguments, expected):
    assert TENSORFLOW[name](*arguments).numpy().tolist() == expected
