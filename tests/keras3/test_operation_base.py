"""`keras.Operation`, operations of one's own; `keras.remat`; `keras.layers.serialize`."""

from typing import Any

import numpy as np
import pytest
import torch

import torchkeras.keras3 as keras


class Weighted(keras.Operation):
    def call(self, x, y, z=0.0):
        return x + 2 * y + 3 * z

    def compute_output_spec(self, x, y, z=0.0):
        return keras.KerasTensor(x.shape, x.dtype)


@keras.saving.register_keras_serializable(package="operations")
class Scaled(keras.Operation):
    def __init__(self, alpha, *, beta=1.0, name=None):
        super().__init__(name=name)
        self.alpha, self.beta = alpha, beta

    def call(self, x):
        return self.alpha * x + self.beta


class Doubled(keras.Operation):
    def __init__(self, factor=2):
        super().__init__()
        self.factor = factor

    def call(self, x):
        return self.factor * x


@pytest.mark.parametrize(
    "call",
    [lambda op, x, y, z: op(x, y, z), lambda op, x, y, z: op(x=x, y=y, z=z), lambda op, x, y, z: op(x, y=y, z=z)],
    ids=["by position", "by name", "both"],
)
def test_symbolic_and_real_tensors(call):
    operation, inputs = Weighted(name="weighted"), [keras.Input((3,)) for _ in range(3)]
    output = call(operation, *inputs)
    assert (output.shape, operation.output is output, operation.input) == ((None, 3), True, inputs)
    assert call(operation, *[torch.ones(2, 3)] * 3).tolist() == [[6.0] * 3] * 2
    assert keras.Model(inputs, output)([torch.ones(1, 3)] * 3).tolist() == [[6.0] * 3]
    assert operation.compute_output_spec(*inputs).shape == (None, 3)


def test_it_computes_in_the_types_of_its_inputs():
    # A layer would cast to the type of its policy.
    for dtype in (torch.float64, torch.float16, torch.int32):
        assert Doubled()(torch.ones(2, dtype=dtype)).dtype is dtype
    inputs = keras.Input((2,), dtype="float64")
    outputs = Doubled()(inputs)
    assert outputs.dtype is torch.float64
    assert keras.Model(inputs, outputs)(torch.ones(1, 2, dtype=torch.float64)).dtype is torch.float64


def test_arrays_variables_and_tensors_go_together():
    found = Weighted()(np.ones(2, "float32"), keras.Variable(np.ones(2, "float32")), torch.ones(2))
    assert isinstance(found, torch.Tensor)
    assert found.tolist() == [6.0, 6.0]


def test_configs():
    assert Weighted(name="w").get_config() == {"name": "w"}
    assert Scaled(0.5, name="s").get_config() == {"name": "s", "alpha": 0.5, "beta": 1.0}
    assert Doubled().get_config() == {"factor": 2}
    for operation in (Weighted(), Scaled(2.0, beta=0.0), Doubled(3)):
        assert type(operation).from_config(operation.get_config()).get_config() == operation.get_config()
    with pytest.raises(NotImplementedError, match="Scaled 's': its constructor takes other values"):
        Scaled(object(), name="s").get_config()


@pytest.mark.parametrize("name", ["a/b", 3])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match=f"Weighted: name must be a string .* found {name!r}"):
        Weighted(name=name)


def test_a_file_of_a_model(tmp_path):
    inputs = keras.Input((3,))
    model = keras.Model(inputs, Scaled(2.0, name="scaled")(keras.layers.Dense(2)(inputs)))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    x = torch.ones(1, 3)
    assert torch.equal(loaded(x), model(x))
    (scaled,) = [each for each in loaded.operations if each.name == "scaled"]
    assert scaled.get_config() == {"name": "scaled", "alpha": 2.0, "beta": 1.0}


def test_remat_computes_again_in_the_backward_pass():
    layer: Any = keras.layers.Dense(2)
    calls, x = [], torch.ones(3, 4)

    def function(x, factor=1.0):
        calls.append(torch.is_grad_enabled())
        return (layer(x) * factor).square()

    function(x, factor=2.0).sum().backward()
    wanted = [each.grad.clone() for each in layer.parameters()]
    layer.zero_grad()
    calls.clear()
    again = keras.remat(function)
    assert torch.equal(again(x, factor=2.0), function(x, factor=2.0))
    calls.clear()
    again(x, factor=2.0).sum().backward()
    assert len(calls) == 2
    assert all(torch.equal(each.grad, grad) for each, grad in zip(layer.parameters(), wanted, strict=True))
    assert again.__name__ == "function"
    assert torch.equal(keras.remat(layer)(x), layer(x))


def test_layers_as_data():
    layer = keras.layers.Dense(3, activation="relu", name="out")
    config = keras.layers.serialize(layer)
    assert config == keras.saving.serialize_keras_object(layer)
    made = keras.layers.deserialize(config)
    assert (type(made), made.get_config()) == (keras.layers.Dense, layer.get_config())
    with pytest.raises(ValueError, match="the config must be that of a layer; found"):
        keras.layers.deserialize(keras.saving.serialize_keras_object(keras.losses.MeanSquaredError()))
