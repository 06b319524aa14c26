"""Weights of another type than their policies say, as after `model.half()`: files have the type."""

import h5py
import numpy as np
import pytest
import torch

from torchkeras.errors import UnreadableFileError, WeightMismatchError
from torchkeras.layers import BatchNormalization, Dense
from torchkeras.models import Sequential, load_model
from torchkeras.saving.extra_keys import WEIGHT_TYPES, types_of

FILES = ("m.h5", "m.keras", "m.pt", "m.safetensors")


def network():
    layers = [Dense(4, input_shape=(3,), name="first"), BatchNormalization(name="norm"), Dense(2, name="last")]
    return Sequential(layers)


def types(model):
    return {name: tensor.dtype for name, tensor in model.state_dict().items()}


def one_layer(model):
    model.get_layer("first").double()


CHANGES = {
    "half": torch.nn.Module.half,
    "bfloat16": torch.nn.Module.bfloat16,
    "double": torch.nn.Module.double,
    "a layer": one_layer,
    "nothing": lambda model: None,
}


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_has_the_type(tmp_path, change, name, isolated):
    model = network()
    change(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.rand(parameter.shape, dtype=torch.float64))
    model.save(tmp_path / name)
    again = load_model(tmp_path / name, isolated=isolated)
    assert types(again) == types(model)
    assert all(map(torch.equal, again.state_dict().values(), model.state_dict().values()))


@pytest.mark.parametrize("name", ["m.h5", "m.keras"])
def test_training_in_float64_goes_on(tmp_path, name):
    model, x = network().double(), np.random.default_rng(0).normal(size=(8, 3))
    model.compile("adam", "mse")
    model.train_on_batch(x, x[:, :2])
    model.save(tmp_path / name)
    again = load_model(tmp_path / name)
    for _ in range(3):
        assert again.train_on_batch(x, x[:, :2]) == model.train_on_batch(x, x[:, :2])
    assert all(map(np.array_equal, again.get_weights(), model.get_weights()))


def test_what_is_written():
    assert types_of(network()) == {}
    assert types_of(network().half()) == {"": "float16"}
    model = network()
    model.get_layer("first").double()
    assert types_of(model) == {"first.linear.weight": "float64", "first.linear.bias": "float64"}
    assert types_of(Sequential([Dense(1, input_shape=(1,), dtype="float64")])) == {}


def test_a_type_of_no_use_is_refused(tmp_path):
    path = tmp_path / "m.h5"
    network().half().save(path)
    for value, kind, message in (
        ('{"": "int8"}', UnreadableFileError, "must be names to types \\(float16, bfloat16, float32, float64\\)"),
        ('{"none.weight": "float16"}', WeightMismatchError, "'none.weight' is float16; the model has no such weight"),
    ):
        with h5py.File(path, "a") as file:
            file.attrs[WEIGHT_TYPES] = value
        with pytest.raises(kind, match=message):
            load_model(path)
