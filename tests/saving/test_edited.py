"""HDF5 files that people edited by h5py load: 49 edits of each of six files, as they would be made by hand.

What looks as if it were not edited but damaged is a doubt, which the caller decides.
"""

# pyright: reportIndexIssue=false, reportAttributeAccessIssue=false
# In h5py's types, a name may stand for any kind of object.

import os
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from torchkeras.errors import UnreadableFileError
from torchkeras.layers import BatchNormalization, Conv2D, Dense, Flatten
from torchkeras.models import Sequential, load_model
from torchkeras.saving.containers import archive, hdf5, isolated

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
GENUINE = [
    GOLDEN / name
    for name in (
        "keras-2.2.4-tensorflow/conv1d_00/model.h5",
        "keras-1.2.2-theano/core_02/model.h5",
        "tf_keras-2.21/conv_bn/model.h5",
        "keras-3.15/conv_bn/model.h5",
        "keras-3.15/conv_bn/model.weights.h5",
    )
]


def arrays(file: Any) -> list[str]:
    found: list[str] = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    return found


def write_again(file: Any, name: str, dtype: str | None = None, values: Any = None, **options: Any) -> None:
    """Delete an array, and write it with other options; a number by itself has none."""
    held, about = file[name][()] if values is None else values, dict(file[name].attrs)
    del file[name]
    made = file.create_dataset(name, data=held.astype(dtype or held.dtype), **(options if held.size > 1 else {}))
    made.attrs.update(about)


def at(index: int, **options: Any) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        with h5py.File(path, "r+") as file:
            names = arrays(file)
            write_again(file, names[index % len(names)], **options)

    return edit


def later(*indices: int, dtype: str | None = None) -> Callable[[Path], None]:
    """Arrays are deleted in one session, and written in the next."""

    def edit(path: Path) -> None:
        for index in indices:
            with h5py.File(path, "r+") as file:
                name = arrays(file)[index % len(arrays(file))]
                values = file[name][()]
                del file[name]
            with h5py.File(path, "r+") as file:
                file[name] = values.astype(dtype or values.dtype)

    return edit


def every(**options: Any) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        with h5py.File(path, "r+") as file:
            for name in arrays(file):
                write_again(file, name, **options)

    return edit


def copied(**options: Any) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        with h5py.File(path) as file, h5py.File(f"{path}.new", "w", **options) as copy:
            for name in file:
                file.copy(name, copy)
            copy.attrs.update(file.attrs)
        os.replace(f"{path}.new", path)

    return edit


def opened(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        with h5py.File(path, "r+") as file:
            change(file)

    return edit


def in_place(file: Any) -> None:
    for name in arrays(file):
        file[name][...] = file[name][()]


def notes(file: Any) -> None:
    for name in arrays(file):
        file[name].attrs["note"] = "x" * 200


def rename(file: Any) -> None:
    first = next(iter(file))
    file.move(first, "other")
    file.move("other", first)


def copy_within(file: Any) -> None:
    first = next(iter(file))
    file.copy(first, "other")
    del file[first]
    file.move("other", first)


def grow_and_shrink(path: Path) -> None:
    opened(lambda file: file.create_dataset("more", data=np.ones(1000)))(path)
    opened(lambda file: file.__delitem__("more"))(path)


EDITS: dict[str, Callable[[Path], None]] = {
    **{f"as float16, {k}": at(k, dtype="f2") for k in (0, 1, 2, -1)},
    **{f"as float64, {k}": at(k, dtype="f8") for k in (0, 1, 2, -1)},
    **{f"again, {k}": at(k) for k in (0, 1, 2, -1)},
    **{f"gzip, {k}": at(k, compression="gzip") for k in (0, 1, 2, -1)},
    **{f"later, {k}": later(k) for k in (0, 1, 2, -1)},
    **{f"later as float16, {k}": later(k, dtype="f2") for k in (0, 1, 2, -1)},
    **{f"later as float64, {k}": later(k, dtype="f8") for k in (0, 1, 2, -1)},
    **{f"later, {one} and {other}": later(one, other) for one, other in ((0, 1), (1, 0), (0, 0), (-1, -2))},
    "all again": every(),
    "all as float16": every(dtype="f2"),
    "all gzip": every(compression="gzip"),
    "all lzf": every(compression="lzf", shuffle=True),
    "all with checksums": every(fletcher32=True),
    "all in pieces": every(chunks=True),
    "copied": copied(),
    "copied, latest": copied(libver="latest"),
    "copied, 1.8": copied(libver=("v108", "v110")),
    "copied after a block": copied(userblock_size=512),
    "copied, paged": copied(fs_strategy="page", fs_persist=True),
    "in place": opened(in_place),
    "notes": opened(notes),
    "renamed": opened(rename),
    "copied within": opened(copy_within),
    "note": opened(lambda file: file.attrs.__setitem__("note", "edited")),
    "grown and shrunk": grow_and_shrink,
}


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> Path:
    layers = [Conv2D(8, 3, input_shape=(16, 16, 3)), BatchNormalization(), Flatten(), Dense(64), Dense(3)]
    model = Sequential(layers)
    model.compile("adam", "mse")
    model.save(path := tmp_path_factory.mktemp("own") / "model.h5")
    return path


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_file_is_read(name: str, own: Path, tmp_path: Path):
    for number, source in enumerate([*GENUINE, own]):
        path = tmp_path / f"{number}.h5"
        shutil.copy(source, path)
        EDITS[name](path)
        with h5py.File(path) as file:
            expected = {each: file[each][()] for each in arrays(file)}
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with hdf5.reading(path, strict=False) as file:
                found = {each: hdf5.values(hdf5.dataset_in(file, each)) for each in expected}
        assert all(np.array_equal(found[each], expected[each]) for each in expected)
        assert not told, [str(each.message) for each in told]


def move_last(path: Path) -> str:
    """Write 4 bytes too many into the address of the last array; its name. HDF5 leaves room after it in a copy."""
    copied()(path)
    with h5py.File(path) as file:
        at, name = max((file[name].id.get_offset(), name) for name in arrays(file))
        size = file[name].id.get_storage_size().to_bytes(8, "little")
    data = path.read_bytes()
    assert data.count(at.to_bytes(8, "little") + size) == 1
    path.write_bytes(data.replace(at.to_bytes(8, "little") + size, (at + 4).to_bytes(8, "little") + size))
    return name


def test_where_a_rule_doubts_the_caller_decides(tmp_path: Path):
    model, path = Sequential([Dense(3, input_shape=(2,))]), tmp_path / "m.h5"
    model.set_weights([np.ones((2, 3)), np.ones(3)])
    model.save(path)
    name = move_last(path)
    begin = f"{path}: 4 bytes before /{name} belong to nothing, and it ends with as many that are 0. "
    for apart in (False, True):
        with pytest.raises(UnreadableFileError) as error:
            load_model(path, isolated=apart)
        assert str(error.value) == f"{begin}If the file is known to be whole, strict=False takes it."
        with pytest.warns(UserWarning, match="belong to nothing") as told:
            model = load_model(path, isolated=apart, strict=False)
        assert [str(each.message) for each in told] == [f"{begin}It is taken, since strict is False."]
        with pytest.warns(UserWarning, match="belong to nothing"):
            model.load_weights(path, isolated=apart, strict=False)
    with pytest.raises(UnreadableFileError), isolated.cleaned(path):
        pass


@pytest.mark.parametrize("name", ["later, 0 and 1", "all gzip", "copied, latest", "copied after a block"])
def test_edited_weights_in_an_archive_are_read_in_place(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    model = Sequential([Conv2D(8, 3, input_shape=(16, 16, 3)), BatchNormalization(), Flatten(), Dense(64), Dense(3)])
    model.save(path := tmp_path / "m.keras")
    with zipfile.ZipFile(path) as found:
        found.extractall(tmp_path)
    EDITS[name](tmp_path / archive.WEIGHTS)
    with zipfile.ZipFile(path, "w") as edited:
        for member in archive.MEMBERS:
            edited.write(tmp_path / member, member)
    monkeypatch.delattr(tempfile, "TemporaryDirectory")
    again = load_model(path)
    assert all(map(np.array_equal, again.get_weights(), model.get_weights()))


def test_where_a_rule_doubts_an_archive_the_caller_decides(tmp_path: Path):
    model = Sequential([Dense(3, input_shape=(2,))])
    model.set_weights([np.ones((2, 3)), np.ones(3)])
    model.save(path := tmp_path / "m.keras")
    with zipfile.ZipFile(path) as found:
        found.extractall(tmp_path)
    name = move_last(tmp_path / archive.WEIGHTS)
    with zipfile.ZipFile(path, "w") as edited:
        for member in archive.MEMBERS:
            edited.write(tmp_path / member, member)
    text = f"{path}/{archive.WEIGHTS}: 4 bytes before /{name} belong to nothing, and it ends with as many that are 0. "
    with pytest.raises(UnreadableFileError) as error:
        load_model(path)
    assert str(error.value).startswith(text)
    with pytest.warns(UserWarning, match="belong to nothing") as told:
        load_model(path, strict=False)
    assert [str(each.message) for each in told] == [f"{text}It is taken, since strict is False."]
