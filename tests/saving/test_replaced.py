"""A file that is replaced while it is loaded gives the old model or the new one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import torch

from torchkeras.errors import UnreadableFileError
from torchkeras.layers import Dense
from torchkeras.models import Sequential, load_model
from torchkeras.saving.containers import open_file
from torchkeras.saving.weights import matching, state

SWAPS = """
import os, sys
old, new, path = sys.argv[1:]
blobs = [open(name, "rb").read() for name in (old, new)]
print("ready", flush=True)
k = 0
while os.getppid() == {parent}:
    with open(path + ".part", "wb") as file:
        file.write(blobs[k % 2])
    os.replace(path + ".part", path)
    k += 1
"""


def constant(units: int, value: float) -> Sequential:
    model = Sequential([Dense(units, input_shape=(8,)), Dense(4)])
    model.set_weights([np.full(array.shape, value, "float32") for array in model.get_weights()])
    return model


@pytest.mark.parametrize("suffix", ["h5", "keras", "pt", "safetensors"])
def test_it_is_the_old_or_the_new(suffix: str, tmp_path: Path):
    files = [str(tmp_path / f"{name}.{suffix}") for name in ("old", "new", "m")]
    for path, units, value in zip(files, (16, 300, 16), (1.0, 2.0, 1.0), strict=True):
        constant(units, value).save(path)
    script = SWAPS.format(parent=os.getpid())
    with subprocess.Popen([sys.executable, "-c", script, *files], stdout=subprocess.PIPE) as swapping:
        assert swapping.stdout is not None
        swapping.stdout.readline()
        seen = set()
        try:
            for _ in range(40):
                first, *others = load_model(files[2]).get_weights()
                seen.add((first.shape[1], *np.unique(np.concatenate([first.ravel(), *map(np.ravel, others)]))))
        finally:
            swapping.kill()
    assert seen <= {(16, 1.0), (300, 2.0)}


@pytest.fixture
def files(request, tmp_path: Path) -> tuple[Path, Path]:
    """A file, and another one of the same layout that may take its place."""
    found = tmp_path / f"m.{request.param}", tmp_path / f"new.{request.param}"
    for path, value in zip(found, (1.0, 2.0), strict=True):
        constant(16, value).save(path)
    return found


def swap(path: Path, new: Path) -> None:
    shutil.copy(new, f"{new}.part")
    os.replace(f"{new}.part", path)


@pytest.mark.parametrize("files", ["h5", "keras", "safetensors", "pt"], indirect=True)
def test_arrays_are_those_of_the_file_that_was_opened(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch):
    as_it_is = matching.put

    def put(jobs):
        assert jobs
        swap(*files)
        as_it_is(jobs)

    for module in (matching, state):
        monkeypatch.setattr(module, "put", put)
    for expected in (1.0, 2.0):
        assert {number for array in load_model(files[0]).get_weights() for number in array.flat} == {expected}


@pytest.mark.parametrize(
    ("files", "package", "name"),
    [("safetensors", safetensors, "safe_open"), ("pt", torch, "load")],
    indirect=["files"],
    ids=["safetensors", "pt"],
)
def test_without_paths_of_open_files_the_package_and_the_reader_have_the_same_one(
    files: tuple[Path, Path], package: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    open_it = getattr(package, name)

    def swapped(*arguments, **options):
        swap(*files)
        return open_it(*arguments, **options)

    monkeypatch.setattr(open_file, "OPENED", str(tmp_path / "none"))
    monkeypatch.setattr(package, name, swapped)
    with pytest.raises(
        UnreadableFileError, match=rf"m{files[0].suffix}: another file took its place while it was opened\.(\n|$)"
    ):
        load_model(files[0])
