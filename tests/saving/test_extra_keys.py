"""Options of training beside a layer's config: they come back, and other Kerases do not see them."""

import json
import zipfile

import h5py
import pytest
import torch

from torchkeras.layers import BatchNormalization, Dense, TimeDistributed
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


def test_other_entries_stay():
    config = {"class_name": "Dense", "config": {"variance": 1}, "torchkeras": {"variance": 2}}
    assert with_extra_keys(config) == with_own_options(config) == config
