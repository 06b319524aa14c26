"""Files from the network, archives, HDF5 by names."""

import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any
from urllib.request import pathname2url

import h5py
import numpy as np
import pytest

from torchkeras.keras2.utils import data_utils, get_file, io_utils
from torchkeras.keras2.utils.download import unpack
from torchkeras.utils import HDF5Matrix, Sequence


def address(path: Path) -> str:
    return "file:" + pathname2url(str(path))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "source.txt").write_text("one")
    return tmp_path / "source.txt"


def tar(path: Path, *members: Any) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = 3 if info.isreg() else 0
            archive.addfile(info, io.BytesIO(b"one"))
    return path


def test_a_file_is_downloaded_once(home: Path, text: Path):
    md5 = hashlib.md5(b"one", usedforsecurity=False).hexdigest()
    for options in ({}, {"md5_hash": md5}, {"file_hash": md5}, {"file_hash": hashlib.sha256(b"one").hexdigest()}):
        path = get_file("kept.txt", address(text), **options)
        assert path == str(home / "datasets" / "kept.txt")
        assert Path(path).read_text() == "one"
    text.write_text("two")
    assert Path(get_file("kept.txt", address(text))).read_text() == "one"
    other = hashlib.sha256(b"two").hexdigest()
    assert Path(get_file("kept.txt", address(text), file_hash=other)).read_text() == "two"


def test_where_a_file_is_kept(home: Path, text: Path, tmp_path: Path):
    given = get_file("kept.txt", address(text), cache_dir=str(tmp_path / "other"), cache_subdir="models")
    assert given == str(tmp_path / "other" / "models" / "kept.txt")
    whole = tmp_path / "whole.txt"
    assert get_file(str(whole), address(text)) == str(whole)
    assert whole.read_text() == "one"


def test_a_file_with_another_hash_is_not_kept(home: Path, text: Path):
    found = hashlib.sha256(b"one").hexdigest()
    message = f"{address(text)}: the file has the hash {found}, which is not {'0' * 64}; it is not kept."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        get_file("kept.txt", address(text), file_hash="0" * 64)
    assert list((home / "datasets").iterdir()) == []


def test_without_a_network_the_error_says_where_to_put_the_file(home: Path, tmp_path: Path):
    origin = address(tmp_path / "missing")
    place = re.escape(str(home / "datasets" / "kept.txt"))
    with pytest.raises(
        OSError,
        match=f"^URL fetch failure on {re.escape(origin)}: .* Without a network, put the file there by hand: {place}$",
    ):
        get_file("kept.txt", origin)
    assert list((home / "datasets").iterdir()) == []


def test_a_download_shows_a_bar(home: Path, text: Path, capsys: pytest.CaptureFixture[str]):
    get_file("kept.txt", address(text))
    shown = capsys.readouterr().out
    assert shown.startswith(f"Downloading data from {address(text)}\n")
    assert "3/3 [" in shown


def test_archives_are_unpacked(home: Path, tmp_path: Path):
    archive = tar(tmp_path / "a.tar.gz", "data/x.txt")
    path = Path(get_file("data", address(archive), untar=True))
    assert path == home / "datasets" / "data"
    assert (path / "x.txt").read_text() == "one"
    (home / "datasets" / "data.tar.gz").unlink()
    archive.unlink()
    assert get_file("data", address(archive), untar=True) == str(path)  # it is unpacked already
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as file:
        file.writestr("y.txt", "two")
    assert get_file("b.zip", address(tmp_path / "b.zip"), extract=True) == str(home / "datasets" / "b.zip")
    assert (home / "datasets" / "y.txt").read_text() == "two"
    assert not unpack(tmp_path / "b.zip", tmp_path, "tar")
    assert not unpack(tmp_path / "b.zip", tmp_path, None)


def link(name: str, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


@pytest.mark.parametrize("member", ["../x.txt", "a/../../x.txt", link("x", "/etc/passwd"), link("x", "../../y")])
def test_a_tar_archive_stays_in_its_folder(member: Any, tmp_path: Path):
    archive = tar(tmp_path / "a.tar.gz", "good.txt", member)
    (tmp_path / "inside").mkdir()
    with pytest.raises(ValueError, match="nothing is unpacked"):
        unpack(archive, tmp_path / "inside")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.tar.gz", "inside"]


@pytest.mark.parametrize("member", ["../x.txt", "a/../../x.txt", "/x.txt", "a\\..\\..\\x.txt", "C:/x.txt"])
def test_a_zip_archive_stays_in_its_folder(member: str, tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("good.txt", "one")
        file.writestr(member, "two")
    (tmp_path / "inside").mkdir()
    text = f"^{re.escape(str(tmp_path / 'a.zip'))}: .* is outside the folder; nothing is unpacked\\.$"
    with pytest.raises(ValueError, match=text):
        unpack(tmp_path / "a.zip", tmp_path / "inside")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.zip", "inside"]


def test_hashes(text: Path):
    md5, sha256 = (hashlib.new(name, b"one").hexdigest() for name in ("md5", "sha256"))
    assert data_utils._hash_file(text) == sha256
    assert data_utils._hash_file(text, "md5", chunk_size=1) == md5
    assert all(data_utils.validate_file(text, each) for each in (md5, sha256))
    assert data_utils.validate_file(text, md5_hash=md5)  # type: ignore[call-arg]
    assert not data_utils.validate_file(text, sha256, "md5")


def test_names_that_are_the_package_s_own():
    assert data_utils.Sequence is Sequence
    assert io_utils.HDF5Matrix is HDF5Matrix


# --- HDF5 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["file", "dict"])
def test_h5dict(kind: str, tmp_path: Path):
    place: Any = str(tmp_path / "a.h5") if kind == "file" else {}
    array = np.arange(6.0).reshape(2, 3)
    written = io_utils.h5dict(place, mode="w")
    written["x"] = "abcd"
    written["y"] = [b"efg", b"hij"]
    written["z"] = array
    inner = written["group"]["inner"]
    inner["scalar"] = np.float32(2.5)
    array += 1
    written.close()
    read = io_utils.H5Dict(place, mode="r")
    assert (read["x"], read["y"]) == ("abcd", [b"efg", b"hij"])
    assert read[b"z"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert read["group"]["inner"]["scalar"] == 2.5
    assert ("group" in read, "other" in read, read.get("other", 3)) == (True, False, 3)
    with pytest.raises(ValueError, match=r"^Cannot set item in read only mode\.$"):
        read["x"] = 1
    with pytest.raises(ValueError, match=r"^Cannot create group in read only mode\.$"):
        read["other"]
    read.close()


def test_h5dict_splits_a_long_list_and_takes_a_group(tmp_path: Path):
    names = [f"weight_{number:05}" * 4 for number in range(3000)]
    with h5py.File(tmp_path / "a.h5", "w") as file:
        group = io_utils.H5Dict(file.create_group("g"))
        group["names"] = names
        assert "names" not in file["g"].attrs
        assert group["names"] == names
        group["x"] = np.zeros(2)
        with pytest.raises(KeyError, match="Cannot set attribute"):
            group["x"] = np.zeros(2)
        with pytest.raises(RuntimeError, match="an item has 70000 bytes; 64512 are the most"):
            group["long"] = ["a" * 70000]
        assert (len(group), list(group)) == (1, ["x"])
        group.close()
        assert file.id.valid  # it was not opened by the group
    with pytest.raises(TypeError, match=r"^Required Group, str or dict. Received: <class 'int'>\.$"):
        io_utils.H5Dict(3)


def test_arrays_in_files_of_keras_1(tmp_path: Path):
    io_utils.save_array(np.arange(3), tmp_path / "a.h5")
    assert io_utils.load_array(tmp_path / "a.h5").tolist() == [0, 1, 2]


@pytest.mark.parametrize(("answers", "expected"), [(["y"], True), (["what", " N "], False)])
def test_a_question_before_a_file_is_replaced(answers: list[str], expected: bool, monkeypatch: pytest.MonkeyPatch):
    asked = iter(answers)
    monkeypatch.setattr("builtins.input", lambda text: next(asked))
    assert io_utils.ask_to_proceed_with_overwrite("a.h5") is expected
    assert list(asked) == []
