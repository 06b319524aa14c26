"""Hostile HDF5 files: refused with the expected error, the canary unread, the model as it was."""

import os
import pickle
import struct

import h5py
import numpy as np
import pytest
from canaries import Canary
from hostile_hdf5 import ALL, KERNEL, LINKS, STORAGE, TEXTS

import torchkeras
from torchkeras.errors import FileLimitError, ForbiddenContentError, ModelFileError, UnreadableFileError
from torchkeras.layers import Dense
from torchkeras.models import Sequential, load_model
from torchkeras.saving.containers import hdf5, isolated
from torchkeras.saving.containers.hdf5_rules import check_file
from torchkeras.saving.containers.limits import Limits


def model():
    torchkeras.clear_session()
    return Sequential([Dense(4, name="a", input_shape=(3,)), Dense(2, name="b")])


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a model file."""
    path = tmp_path_factory.mktemp("whole") / "whole.h5"
    found = model()
    found.compile("sgd", "mse")
    found.save(path)
    return path.read_bytes()


@pytest.fixture
def canary(tmp_path):
    path = tmp_path / "canary.h5"
    with h5py.File(path, "w") as file:
        file["kernel"] = np.full((4, 2), 777, "f4")
    return Canary(path)


@pytest.mark.parametrize("hostile", ALL, ids=[found.name for found in ALL])
def test_hostile_file_is_refused(hostile, whole, canary, tmp_path):
    path = tmp_path / "hostile.h5"
    path.write_bytes(whole)
    with h5py.File(path, "r+") as file:
        hostile.change(file, str(canary.path))
    canary.watch()
    with pytest.raises(hostile.error) as error:
        load_model(path)
    assert hostile.text in str(error.value)
    assert str(path) in str(error.value) or hostile in TEXTS
    if hostile not in TEXTS:
        found = model()
        before = found.get_weights()
        with pytest.raises(hostile.error) as error:
            found.load_weights(path)
        assert hostile.text in str(error.value)
        for now, then in zip(found.get_weights(), before, strict=True):
            np.testing.assert_array_equal(now, then)
    assert canary.events() == 0


@pytest.mark.parametrize("hostile", [*LINKS[:6], *STORAGE[:5]], ids=lambda found: found.name)
def test_hostile_file_is_refused_by_the_isolated_reader(hostile, whole, canary, tmp_path):
    path = tmp_path / "hostile.h5"
    path.write_bytes(whole)
    with h5py.File(path, "r+") as file:
        hostile.change(file, str(canary.path))
    canary.watch()
    with pytest.raises(hostile.error) as error, isolated.cleaned(path):
        pass
    assert hostile.text in str(error.value)
    assert str(path) in str(error.value)
    assert canary.events() == 0


def test_the_canary_tells_when_it_is_read(canary):
    canary.watch()
    canary.path.read_bytes()
    assert canary.events() != 0


# --- files that are no HDF5, or not all of one -----------------------------------------------------------------------


class Payload:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x89HDF\r\n\x1a\n", b"PK\x03\x04" + bytes(50), b"#!/bin/sh\ntouch marker\n", bytes(100_000)],
    ids=["empty", "signature alone", "zip", "script", "zeros"],
)
def test_what_is_no_hdf5(content, tmp_path):
    path = tmp_path / "model.h5"
    path.write_bytes(content)
    with pytest.raises(UnreadableFileError):
        load_model(path)
    with pytest.raises(UnreadableFileError):
        model().load_weights(path)


def test_a_pickle_is_not_unpickled(tmp_path):
    path, marker = tmp_path / "model.h5", tmp_path / "marker"
    path.write_bytes(pickle.dumps(Payload(marker)))
    for read in (load_model, model().load_weights):
        with pytest.raises(ForbiddenContentError, match="it holds more than tensors, or no pickled tensors at all"):
            read(path)
    assert not marker.exists()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_file_cut_short(share, whole, tmp_path):
    path = tmp_path / "model.h5"
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(UnreadableFileError, match="not a readable HDF5 file"):
        load_model(path)


@pytest.mark.parametrize("more", [1, 512])
def test_bytes_put_into_the_last_array(more, whole, tmp_path):
    """They would shift the numbers after them, and HDF5 does not notice a file that is too long."""
    path = tmp_path / "model.h5"
    path.write_bytes(whole[:-10] + bytes(more) + whole[-10:])
    with pytest.raises(UnreadableFileError) as error:
        load_model(path)
    assert str(error.value) == f"{path}: the file has {len(whole) + more} bytes; its first block says {len(whole)}."


@pytest.mark.parametrize("beyond", [-4, 0, 1 << 40, (1 << 63) - 8])
def test_an_array_beyond_the_end(beyond, whole, tmp_path):
    path = tmp_path / "model.h5"
    path.write_bytes(whole)
    with h5py.File(path) as file:
        offset = struct.pack("<Q", file[KERNEL].id.get_offset())  # pyright: ignore[reportAttributeAccessIssue]
    assert whole.count(offset) == 1
    path.write_bytes(whole.replace(offset, struct.pack("<Q", len(whole) + beyond)))
    with pytest.raises(UnreadableFileError, match="kernel:0"):
        load_model(path)


def test_a_pipe_is_not_waited_for(tmp_path):
    path = tmp_path / "model.h5"
    os.mkfifo(path)
    with pytest.raises(UnreadableFileError, match="not a regular file"):
        load_model(path)


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(UnreadableFileError) as error:
        load_model(tmp_path)
    assert str(error.value) == f"{tmp_path}: not a regular file, but a folder."


# --- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (Limits(members=5), "more than 5 groups and datasets"),
        (Limits(depth=2), "groups are nested deeper than 2"),
        (Limits(path=20), "its path has more than 20 letters"),
        (Limits(name=4), "the name has 13 bytes; at most 4 are read"),
        (Limits(array=16), "bytes; at most 16 are read"),
        (Limits(total=40), "the arrays have more than 40 bytes"),
    ],
)
def test_limits(limits, text, whole, tmp_path):
    path = tmp_path / "model.h5"
    path.write_bytes(whole)
    with h5py.File(path) as file, pytest.raises(FileLimitError, match=text):
        check_file(file, limits=limits)


def test_what_is_stored_in_pieces_is_read(whole, tmp_path):
    """Files that someone repacked: gzip, shuffle, checksums and lzf are no attack."""
    path = tmp_path / "model.h5"
    for options in (
        {"compression": "gzip"},
        {"compression": "gzip", "shuffle": True, "fletcher32": True},
        {"compression": "lzf"},
        {"chunks": (3, 2)},
        {"fletcher32": True},
    ):
        path.write_bytes(whole)
        values = np.arange(8, dtype="f4").reshape(4, 2)
        with h5py.File(path, "r+") as file:
            del file[KERNEL]
            file.create_dataset(KERNEL, data=values, **options)
        np.testing.assert_array_equal(load_model(path).get_weights()[2], values)
        with isolated.cleaned(path) as copy, hdf5.reading(copy) as file:
            np.testing.assert_array_equal(hdf5.values(hdf5.dataset_in(file, KERNEL)), values)


def test_all_errors_are_of_one_family():
    assert all(issubclass(hostile.error, ModelFileError) for hostile in ALL)
    assert len(ALL) >= 60
