"""Hostile `.keras` archives: refused with the expected error, by the reader and by the isolated one."""

import io
import os
import zipfile

import h5py
import numpy as np
import pytest
from canaries import Canary
from hostile_archives import ARCHIVES, WEIGHTS, write

from torchkeras.errors import ForbiddenContentError
from torchkeras.saving.containers import archive, isolated

CONFIG = {"class_name": "Sequential", "config": {"name": "s", "layers": []}}


def write_weights(group):
    group.create_dataset("layers/dense/vars/0", data=np.arange(6.0).reshape(3, 2))


@pytest.fixture
def members(tmp_path):
    """The members of a whole archive."""
    path = tmp_path / "whole.keras"
    archive.write(path, CONFIG, {"keras_version": "3.15.0"}, write_weights)
    with zipfile.ZipFile(path) as found:
        return {name: found.read(name) for name in found.namelist()}


def read(path):
    with archive.opened(path) as found, found.weights():
        pass


@pytest.mark.parametrize("hostile", ARCHIVES, ids=[found.name for found in ARCHIVES])
def test_hostile_archive_is_refused(hostile, members, tmp_path):
    path, before = tmp_path / "model.keras", sorted(os.listdir(tmp_path.parent))
    hostile.make(path, members)
    with pytest.raises(hostile.error) as error:
        read(path)
    assert hostile.text in str(error.value)
    assert str(path) in str(error.value)
    with pytest.raises(hostile.error) as error, isolated.cleaned(path):
        pass
    assert hostile.text in str(error.value)
    assert sorted(os.listdir(tmp_path)) == ["model.keras", "whole.keras"]
    assert sorted(os.listdir(tmp_path.parent)) == before


@pytest.mark.parametrize("kind", ["link", "storage", "virtual"])
def test_weights_that_lead_to_another_file(kind, members, tmp_path):
    canary = Canary(tmp_path / "canary.h5")
    with h5py.File(canary.path, "w") as file:
        file["kernel"] = np.full((3, 2), 777.0)
    content = io.BytesIO(members[WEIGHTS])
    with h5py.File(content, "r+") as file:
        del file["layers/dense/vars/0"]
        if kind == "link":
            file["layers/dense/vars/0"] = h5py.ExternalLink(str(canary.path), "kernel")
        elif kind == "storage":
            file.create_dataset("layers/dense/vars/0", (3, 2), external=[(str(canary.path), 0, 24)], dtype="f4")
        else:
            layout = h5py.VirtualLayout((3, 2), "f8")
            layout[...] = h5py.VirtualSource(str(canary.path), "kernel", (3, 2))
            file.create_virtual_dataset("layers/dense/vars/0", layout)
    path = tmp_path / "model.keras"
    write(path, {**members, WEIGHTS: content.getvalue()}.items())
    canary.watch()
    for reading in (read, lambda path: isolated.cleaned(path).__enter__()):
        with pytest.raises(ForbiddenContentError, match=r"model\.keras/model\.weights\.h5: /layers/dense/vars/0"):
            reading(path)
    assert canary.events() == 0


def test_an_empty_folder_of_assets_is_taken(members, tmp_path):
    path = tmp_path / "model.keras"
    write(path, [*members.items(), ("assets/", b"")])
    with archive.opened(path) as found:
        assert found.config == CONFIG


def test_what_was_written_is_read(tmp_path):
    first, second = tmp_path / "a.keras", tmp_path / "b.keras"
    for path in (first, second):
        archive.write(path, CONFIG, {"keras_version": "3.15.0"}, write_weights)
    assert first.read_bytes() == second.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.keras", "b.keras"]
    for path in (first, second):
        with isolated.cleaned(path) as copy, archive.opened(copy) as found, found.weights() as weights:
            assert (found.config, found.metadata) == (CONFIG, {"keras_version": "3.15.0"})
            array = weights["layers/dense/vars/0"]
            assert isinstance(array, h5py.Dataset)
            np.testing.assert_array_equal(array[()], np.arange(6.0).reshape(3, 2))
