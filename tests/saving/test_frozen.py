"""Parameters that were frozen one by one stay so in files of whole models, and training goes on."""

import h5py
import numpy as np
import pytest
from torch import nn

from torchkeras import Input, Model, Sequential
from torchkeras.errors import UnreadableFileError, WeightMismatchError
from torchkeras.layers import Dense, TorchModule
from torchkeras.models import load_model
from torchkeras.saving.extra_keys import FROZEN_PARAMETERS, frozen_alone

X, Y = np.ones((8, 4), "float32"), np.zeros((8, 2), "float32")


def backbone():
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 3))


def partly_frozen() -> Model:
    inputs = Input((4,))
    model = Model(inputs, Dense(2, name="head")(TorchModule(backbone(), name="backbone")(inputs)))
    model.get_layer("backbone").module[0].requires_grad_(False)
    model.compile("adam", "mse")
    model.fit(X, Y, verbose=0)
    return model


@pytest.mark.parametrize("suffix", [".keras", ".h5", ".pt", ".safetensors"])
@pytest.mark.parametrize("isolated", [False, True])
def test_a_file_says_what_is_frozen(tmp_path, suffix, isolated):
    model, path = partly_frozen(), str(tmp_path / f"model{suffix}")
    model.save(path)
    again = load_model(path, custom_objects={"backbone": backbone}, isolated=isolated)
    names = ["backbone.module.0.weight", "backbone.module.0.bias"]
    assert frozen_alone(again) == frozen_alone(model) == names
    before = again.get_layer("backbone").module[0].weight.clone()
    for each in (model, again):
        each.fit(X, Y, verbose=0)
    assert before.equal(again.get_layer("backbone").module[0].weight)
    assert all(map(np.array_equal, model.get_weights(), again.get_weights()))


def test_what_a_layer_says_is_not_told_again(tmp_path):
    model = Sequential([Dense(3, input_shape=(4,), trainable=False), Dense(2)])
    assert frozen_alone(model) == []
    model.save(str(tmp_path / "model.h5"))
    with h5py.File(tmp_path / "model.h5") as file:
        assert FROZEN_PARAMETERS not in file.attrs


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ('["none"]', WeightMismatchError, "model.h5: it says that 'none' is frozen; the model has no such parameter."),
        ('{"a": 1}', UnreadableFileError, "model.h5: 'torchkeras_frozen' must be a list of names; found {'a': 1}."),
    ],
)
def test_a_bad_name(tmp_path, monkeypatch, value, kind, message):
    monkeypatch.chdir(tmp_path)
    Sequential([Dense(2, input_shape=(4,))]).save("model.h5")
    with h5py.File("model.h5", "a") as file:
        file.attrs[FROZEN_PARAMETERS] = value
    with pytest.raises(kind) as caught:
        load_model("model.h5")
    assert str(caught.value) == message
