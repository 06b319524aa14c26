"""Equal models make equal files, byte by byte, whichever process writes them."""

import json
import os
import re
import subprocess
import sys
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torchkeras.layers import Dense
from torchkeras.models import Sequential
from torchkeras.saving.containers import archive, hdf5

# Writes the files of a model that has trained into a folder.
WRITES = """
import sys, warnings
import numpy as np
import torch
from torchkeras.layers import BatchNormalization, Conv2D, Dense, Flatten
from torchkeras.models import Sequential

torch.manual_seed(0)
x = np.random.default_rng(0).normal(size=(6, 5, 6, 3)).astype("float32")
layers = [Conv2D(2, 3, input_shape=(5, 6, 3), name="größe"), BatchNormalization(), Flatten(), Dense(4, "softmax")]
model = Sequential(layers)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["acc"])
model.fit(x, np.arange(6) % 4, verbose=0)
warnings.simplefilter("ignore", UserWarning)  # of the state that some formats have no place for
for place in sys.argv[1:]:
    for suffix in (".h5", ".keras", ".safetensors", ".pt"):
        model.save(f"{place}/model{suffix}")
    for suffix in (".h5", ".weights.h5", ".safetensors", ".pt"):
        model.save_weights(f"{place}/weights{suffix}")
"""


def test_equal_models_make_equal_files(tmp_path: Path):
    places = [tmp_path / f"{number}" for number in range(8)]
    for place in places:
        place.mkdir()
    for seed, written in (("1", places[:6]), ("2", places[6:])):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": "1700000000"}
        subprocess.run([sys.executable, "-W", "error", "-c", WRITES, *map(str, written)], env=environment, check=True)
    files = sorted(path.name for path in places[0].iterdir())
    assert len(files) == 8
    for name in files:
        assert len({(place / name).read_bytes() for place in places}) == 1, name


def test_the_weights_in_an_archive_are_the_file_that_hdf5_writes(tmp_path: Path):
    """In an archive they begin behind HDF5's user block, in which zip's header is."""
    kernel = np.random.default_rng(0).normal(size=(2000, 1000)).T

    def fill(file: Any) -> None:
        file.attrs["by"] = "a test"
        hdf5.write_array(file.create_group("layers"), "0", kernel)
        hdf5.write_array(file["layers"], "1", kernel[0])

    archive.write(tmp_path / "model.keras", {}, {}, fill)
    with hdf5.new_file(tmp_path / "plain.h5") as file:
        fill(file)
    with zipfile.ZipFile(tmp_path / "model.keras") as found:
        assert found.testzip() is None
        assert found.namelist() == ["model.weights.h5", "metadata.json", "config.json"]
        assert found.read("model.weights.h5") == (tmp_path / "plain.h5").read_bytes()


def saved(path: Path) -> str:
    """The date in an archive that is written now."""
    Sequential([Dense(2, input_shape=(3,))]).save(path)
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("metadata.json"))["date_saved"]


def test_an_archive_has_the_time_when_it_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    began = datetime.now().replace(microsecond=0)
    date = datetime.strptime(saved(tmp_path / "m.keras"), "%Y-%m-%d@%H:%M:%S")
    assert timedelta(0) <= date - began < timedelta(minutes=1)


def test_the_time_can_be_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert saved(tmp_path / "m.keras") == "2023-11-14@22:13:20"


@pytest.mark.parametrize("told", ["yesterday", "1.5", "9" * 20, ""])
def test_a_time_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", told)
    text = (
        "The environment variable SOURCE_DATE_EPOCH must be a whole number, of the seconds since 1970 in UTC; found "
        f"{told!r}."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        saved(tmp_path / "m.keras")
    assert not list(tmp_path.iterdir())
