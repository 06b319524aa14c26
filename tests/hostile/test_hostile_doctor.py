"""The doctor of hostile and damaged files: no traceback, a line of advice for each finding, and advice that holds."""

import json
import os
import warnings
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from canaries import Canary
from hostile_archives import ARCHIVES
from hostile_configs import CONFIGS, ELSEWHERE, MARKER, SINKS
from hostile_hdf5 import ALL
from test_hostile_pt import HOSTILE

import torchkeras
from torchkeras.commands import main
from torchkeras.commands.doctor import TRIED
from torchkeras.commands.exits import MEANINGS
from torchkeras.layers import Dense
from torchkeras.models import Sequential
from torchkeras.saving.containers import archive


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    torchkeras.clear_session()
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "whole.h5"
    model = Sequential([Dense(4, name="a", input_shape=(3,)), Dense(2, name="b")])
    model.compile("sgd", "mse")
    model.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "whole.keras"
    config = {"class_name": "Sequential", "config": {"name": "s", "layers": []}}
    archive.write(path, config, {"keras_version": "3.15.0"}, lambda group: None)
    with zipfile.ZipFile(path) as found:
        return {name: found.read(name) for name in found.namelist()}


def some(cases):
    """All cases; three of four only among the slow tests."""
    marks = (pytest.mark.slow,)
    return [pytest.param(each, id=name, marks=marks if k % 4 else ()) for k, (name, each) in enumerate(cases)]


def diagnosed(path, capsys):
    """What the doctor says; what it has tried loads when it is followed."""
    code = main(["doctor", str(path), "--json"])
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (code in MEANINGS, found["exit"]) == (True, code)
    assert printed.err == ""
    assert [told for told in found["found"] if not told["advice"]] == []
    for call in found["calls"] if code < 3 else ():
        if call["tried"] == TRIED:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                exec("\n".join(call["python"]), {})  # noqa: S102  # the doctor's own text
    assert not os.path.exists(MARKER)
    return code, found


@pytest.mark.parametrize("hostile", some([(each.name, each) for each in ALL]))
def test_hostile_hdf5(hostile, whole, tmp_path, capsys):
    canary = Canary(tmp_path / "canary.h5")
    with h5py.File(canary.path, "w") as file:
        file["kernel"] = np.full((4, 2), 777, "f4")
    Path("hostile.h5").write_bytes(whole)
    with h5py.File("hostile.h5", "r+") as file:
        hostile.change(file, str(canary.path))
    canary.watch()
    code, found = diagnosed("hostile.h5", capsys)
    assert canary.events() == 0
    assert code > 0
    assert found["found"]


@pytest.mark.parametrize("hostile", ARCHIVES, ids=[found.name for found in ARCHIVES])
def test_hostile_archives(hostile, members, tmp_path, capsys):
    hostile.make(tmp_path / "model.keras", members)
    code, _ = diagnosed("model.keras", capsys)
    assert code in {kind_code(hostile.error), 3, 4}  # the doctor looks at the first bytes before


def kind_code(error):
    return next(int(code) for code, meaning in MEANINGS.items() if meaning.startswith(f"{error.__name__}:"))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pickles(name, capsys):
    content, error, _ = HOSTILE[name]
    Path("m.pt").write_bytes(content)
    code, found = diagnosed("m.pt", capsys)
    assert (code, found["calls"]) == (kind_code(error), [])


CASES = [(each.name, each.config) for each in CONFIGS]
CASES += [(f"code {name}", config) for name, config in {**SINKS, **ELSEWHERE}.items()]


@pytest.mark.parametrize("config", some(CASES))
def test_hostile_configs(config, whole, capsys):
    Path("m.h5").write_bytes(whole)
    with h5py.File("m.h5", "r+") as file:
        file.attrs["model_config"] = json.dumps(config)
    code, found = diagnosed("m.h5", capsys)
    assert code > 0
    assert found["found"]


def test_damaged_files(whole, capsys):
    random = np.random.default_rng(1)
    for _ in range(40):
        damaged = bytearray(whole)
        for at in random.integers(0, 2500, 3):
            damaged[at] = random.integers(0, 256)
        Path("d.h5").write_bytes(damaged)
        diagnosed("d.h5", capsys)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_files_cut_short(share, whole, capsys):
    Path("d.h5").write_bytes(whole[: int(share * len(whole))])
    code, found = diagnosed("d.h5", capsys)
    assert (code, found["calls"]) == (3, [])
    assert found["found"][0]["advice"].startswith("it is damaged, cut short, or not what its name says: get the file")
