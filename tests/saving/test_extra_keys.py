"""Options of training beside a layer's config: they come back, and other Kerases do not see them."""

import contextlib
import inspect
import json
import re
import zipfile
from pathlib import Path

import h5py
import pytest
import torch

from torchkeras import layers
from torchkeras.layers import LSTM, ActivityRegularization, BatchNormalization, Dense, LSTMCell, TimeDistributed
from torchkeras.models import Sequential, load_model
from torchkeras.saving.extra_keys import with_extra_keys, with_own_options

KERAS3 = {"variance": "population", "frozen_is_fixed": True}


def saved(tmp_path, name, **options):
    layers = [
        BatchNormalization(input_shape=(3, 2), **options),
        TimeDistributed(BatchNormalization(**options)),
        Dense(1),
    ]
    Sequential(layers).save(tmp_path / name)
    return tmp_path / name


def entries(path):
    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            found = json.loads(archive.read("config.json"))["config"]["layers"]
        found = [entry for entry in found if entry["class_name"] != "InputLayer"]
    else:
        with h5py.File(path) as file:
            found = json.loads(file.attrs["model_config"])["config"]["layers"]
    return [found[0], found[1]["config"]["layer"]]


@pytest.mark.parametrize("options", [{}, {"variance": "flat"}, {"frozen_is_fixed": True}, KERAS3])
@pytest.mark.parametrize("name", ["m.h5", "m.keras"])
def test_they_come_back(tmp_path, name, options):
    path = saved(tmp_path, name, **options)
    assert not any(KERAS3.keys() & entry["config"].keys() for entry in entries(path))
    first, second, _ = load_model(path).layers
    for layer in (first, second.layer):
        assert {"variance": layer.variance, "frozen_is_fixed": layer.frozen_is_fixed} == {
            "variance": "sample",
            "frozen_is_fixed": False,
            **options,
        }


def test_what_the_version_does_itself_is_not_written(tmp_path):
    assert "torchkeras" not in entries(saved(tmp_path, "m.h5"))[0]
    assert "torchkeras" not in entries(saved(tmp_path, "m.keras", **KERAS3))[0]


@pytest.mark.parametrize("by_steps", [False, True])
@pytest.mark.parametrize("name", ["m.h5", "m.keras"])
def test_statistics_of_steps(tmp_path, name, by_steps):
    Sequential([TimeDistributed(BatchNormalization(), by_steps=by_steps, input_shape=(3, 2))]).save(tmp_path / name)
    layer, x = load_model(tmp_path / name).layers[0], torch.randn(5, 3, 2)
    found = layer(x, training=True).mean((0,) if by_steps else (0, 1))
    torch.testing.assert_close(found, torch.zeros_like(found), atol=1e-5, rtol=0)
    assert (layer(x, training=True).mean(0).abs().max().item() < 1e-5) is by_steps


@pytest.mark.parametrize("per_sample", [False, True])
@pytest.mark.parametrize("name", ["m.h5", "m.keras"])
def test_a_penalty_of_the_batch_or_of_a_sample(tmp_path, name, per_sample, recwarn):
    Sequential([Dense(1, input_shape=(2,)), ActivityRegularization(0.1, per_sample=per_sample)]).save(tmp_path / name)
    assert load_model(tmp_path / name).layers[1].per_sample is per_sample


# Options that a class of Keras 2.2.4 takes by **kwargs, for the class that it inherits from.
FOR_BASES = {
    "Conv3DTranspose": {"dilation_rate"},
    "ConvLSTM2D": {"return_state", "unroll"},
    "CuDNNGRU": {"go_backwards"},
    "CuDNNLSTM": {"go_backwards"},
    "DepthwiseConv2D": {"dilation_rate"},
    "Lambda": {"output_shape_type", "function_type"},  # which its from_config takes out
}
EACH = {"name", "trainable", "dtype", "batch_input_shape"}
SIGNATURES = json.loads((Path(__file__).parents[1] / "golden" / "keras-layer-signatures.json").read_text())[
    "keras-2.2.4"
]
ABSTRACT = ("ConvRecurrent2D", "Layer", "Recurrent", "Wrapper")
OF_KERAS_2 = {
    name: getattr(layers, name)
    for name in SIGNATURES
    if inspect.isclass(cls := getattr(layers, name, None)) and issubclass(cls, layers.Layer) and cls.__name__ == name
}


def example(cls):
    """A layer of a class, made with the first arguments that it takes."""
    inside = ((Dense(2),), (LSTM(2),), (LSTMCell(2),), ([LSTMCell(2)],), (abs,))
    for arguments in ((), (4,), (4, 3), ((2, 2),), (0.5,), ((2, 1),), *inside):
        with contextlib.suppress(TypeError, ValueError, AttributeError):
            return cls(*arguments)
    raise AssertionError(cls)


@pytest.mark.parametrize("name", sorted(OF_KERAS_2.keys() - set(ABSTRACT)))
def test_a_file_in_the_form_of_keras_2_names_only_options_that_keras_2_has(name):
    config = with_extra_keys({"class_name": name, "config": example(OF_KERAS_2[name]).get_config()})["config"]
    taken = set(re.findall(r"(\w+)(?:=|,|\))", SIGNATURES[name]))
    assert config.keys() - EACH - FOR_BASES.get(name, set()) <= taken


def test_other_entries_stay():
    config = {"class_name": "Dense", "config": {"variance": 1}, "torchkeras": {"variance": 2}}
    assert with_extra_keys(config) == with_own_options(config) == config
