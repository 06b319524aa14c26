"""Attributes, members and arrays of HDF5 files as plain values, and files that appear whole or not at all."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false, reportOptionalSubscript=false
# h5py types what stands under a name as anything that may.

import os
from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pytest

from torchkeras.base.atomic_file import replacing
from torchkeras.errors import FileLimitError, ForbiddenContentError, UnreadableFileError
from torchkeras.saving.containers import hdf5
from torchkeras.saving.containers.hdf5_rules import Place, readable
from torchkeras.saving.containers.open_file import filename, shown_as


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "m.h5", "w") as found:
        yield found


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("text", "text"),
        (b"bytes", "bytes"),
        (np.bytes_(b"bytes"), "bytes"),
        ("é", "é"),
        (np.array([b"a", b"bcd"]), ["a", "bcd"]),
        (["a", "b"], ["a", "b"]),
        ([], []),
        (h5py.Empty("S1"), []),
        (3, 3),
        (2.5, 2.5),
        (True, True),
        ([1, 2], [1, 2]),
    ],
)
def test_attribute(written, read, file):
    file.attrs["x"] = written
    found = hdf5.attribute(file, "x")
    assert (found, type(found)) == (read, type(read))
    assert hdf5.attributes(file) == {"x": read}


def test_an_attribute_that_is_not_there(file):
    assert hdf5.attribute(file, "x") is None
    assert hdf5.attribute(file, "x", "2") == "2"


def test_attributes_that_are_refused(file):
    where = f"{file.filename}: attribute 'x' of /g"
    group = file.create_group("g")
    for written, kind, text in (
        (np.array([file.ref], h5py.ref_dtype), ForbiddenContentError, "holds references; texts and numbers are read."),
        (np.zeros(2, [("a", "i4")]), ForbiddenContentError, "holds compounds; texts and numbers are read."),
        (np.bytes_(b"a\0b"), UnreadableFileError, "cannot be read (a text with a zero byte in it)."),
    ):
        group.attrs["x"] = written
        with pytest.raises(kind) as error:
            hdf5.attribute(group, "x")
        assert str(error.value) == f"{where} {text}"


def test_a_list_of_texts_that_may_be_as_long_as_the_file_each(file):
    file["big"] = np.zeros(1 << 20, "f8")
    file.attrs["x"] = ["a"] * 200
    file.flush()
    with pytest.raises(FileLimitError, match=r"is a list of 200 texts of undeclared sizes in a file of \d+ bytes"):
        hdf5.attribute(file, "x")


def test_members_and_values(file):
    file["b/x"] = np.arange(6, dtype="f4").reshape(2, 3)
    file["a"] = 5
    file["b/g/y"] = np.array([True, False])
    found = hdf5.members(file)
    assert [*found] == ["a", "b"]
    assert [*hdf5.members(found["b"])] == ["g", "x"]
    assert hdf5.values(found["a"]) == 5
    np.testing.assert_array_equal(hdf5.values(hdf5.dataset_in(file, "b/x")), np.arange(6).reshape(2, 3))
    assert hdf5.values(hdf5.dataset_in(file, "b/g/y")).tolist() == [True, False]


def test_bfloat16_of_keras3(file):
    """Keras 3 writes two opaque bytes a number, and the type into an attribute."""
    values = np.array([[1.0, -2.5], [0.0, 1e30]], "f4")
    raw = (values.view("u4") >> 16).astype("u2")
    made = file.create_dataset("x", data=raw.view("V2"))
    made.attrs["dtype"] = "bfloat16"
    file.flush()
    found = hdf5.values(hdf5.dataset_in(file, "x"))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, (raw.astype("u4") << 16).view("f4"))
    np.testing.assert_allclose(found, values, rtol=1 / 128)


def test_a_dataset_is_ready_as_it_is_or_by_its_values(file):
    file["x"] = np.ones(3)
    file.create_dataset("y", data=np.ones(3), compression="gzip")
    assert isinstance(hdf5.ready(hdf5.dataset_in(file, "x")), h5py.Dataset)
    assert isinstance(hdf5.ready(hdf5.dataset_in(file, "y")), np.ndarray)


def test_a_copy_goes_by_the_name_of_its_file(file):
    with shown_as(file.filename, "original.h5"):
        assert filename(file) == "original.h5"
        with pytest.raises(UnreadableFileError) as error:
            hdf5.group_in(file, "x")
    assert str(error.value) == "original.h5: / has no group 'x'."
    assert filename(file) == file.filename


def test_what_is_replaced_is_whole_or_as_before(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(0o640)

    def stop(part):
        part.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), replacing(path) as part:
        stop(part)
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["x"])
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert (path.read_text(), os.listdir(tmp_path)) == ("new", ["x"])
    assert path.stat().st_mode & 0o777 == 0o640


GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def arrays_of(group):
    """All arrays in a group, and in the groups in it."""
    for found in hdf5.members(group).values():
        yield from [found] if isinstance(found, h5py.Dataset) else arrays_of(found)


# --- damaged addresses -----------------------------------------------------------------------------------------------


def moved(source, target, name, to):
    """A copy of a file in which the address of an array is another one."""
    with h5py.File(source) as file:
        at, size = file[name].id.get_offset(), file[name].id.get_storage_size()
    data = source.read_bytes()
    assert data.count(at.to_bytes(8, "little") + size.to_bytes(8, "little")) == 1
    there = to(at, size)
    changed = data.replace(
        at.to_bytes(8, "little") + size.to_bytes(8, "little"), there.to_bytes(8, "little") + size.to_bytes(8, "little")
    )
    target.write_bytes(changed)


@pytest.mark.parametrize(
    ("to", "text"),
    [
        (lambda at, size: at + 4, "/a/b:0 and /a/c:0 overlap"),
        (lambda at, size: 1, "the file's first block and /a/b:0 overlap"),
        (lambda at, size: 80, "the file's first block and /a/b:0 overlap"),
        (lambda at, size: at + 400, "/a/b:0 is all 0, and 24 bytes at byte 2124 belong to nothing"),
    ],
)
def test_an_array_that_a_damaged_address_moved(tmp_path, to, text):
    with h5py.File(tmp_path / "m.h5", "w") as file:
        group = file.create_group("a")
        for index, name in enumerate("abcd"):
            group[f"{name}:0"] = np.full(5 + index, index, "f4")
    moved(tmp_path / "m.h5", tmp_path / "n.h5", "a/b:0", to)
    with h5py.File(tmp_path / "n.h5") as file:
        assert file["a/b:0"][()].tolist() != [1] * 6  # HDF5 reads other numbers, and says nothing
    with hdf5.reading(tmp_path / "m.h5"):
        pass
    with pytest.raises(UnreadableFileError, match=text), hdf5.reading(tmp_path / "n.h5"):
        pass


def test_the_last_array_that_a_damaged_address_moved_to_where_nothing_is(tmp_path):
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file["kernel"], file["bias"] = np.full(20, 1.0, "f4"), np.full(4, 2.0, "f4")
        file.create_group("later").attrs["text"] = "x" * 5000  # so that the block of small arrays does not end the file
    moved(tmp_path / "m.h5", tmp_path / "n.h5", "bias", lambda at, size: at + 256)
    with h5py.File(tmp_path / "n.h5") as file:
        assert file["bias"][()].tolist() == [0.0] * 4
    text = "256 bytes before /bias belong to nothing, and it ends with as many that are 0"
    with pytest.raises(UnreadableFileError, match=text), hdf5.reading(tmp_path / "n.h5"):
        pass


@pytest.mark.parametrize(
    ("to", "text"),
    [
        (lambda at, size: at + 4, "4 bytes before /bias belong to nothing, and it ends with as many that are 0."),
        (lambda at, size: at + 2, "/bias is at byte 2130, apart from what is before it, which ends at byte 2128."),
        (lambda at, size: 200, "the names of / and /bias overlap."),
        (lambda at, size: 96, "/bias and / overlap."),
    ],
)
def test_an_array_that_one_bit_moved(tmp_path, to, text):
    """To 0 that belongs to nothing, or to where HDF5 has what is no array."""
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file["kernel"], file["bias"] = np.full(20, 1.0, "f4"), np.full(4, 2.0, "f4")
        file.create_group("later").attrs["text"] = "x" * 5000  # so that the block of small arrays does not end the file
    moved(tmp_path / "m.h5", tmp_path / "n.h5", "bias", to)
    with h5py.File(tmp_path / "n.h5") as file:
        assert file["bias"][()].tolist() != [2.0] * 4
    with pytest.raises(UnreadableFileError) as error, hdf5.reading(tmp_path / "n.h5"):
        pass
    known = "If the file is known to be whole, strict=False takes it."
    assert str(error.value) == f"{tmp_path}/n.h5: {text}" + f" {known}" * ("overlap" not in text)


def test_an_array_that_one_bit_moved_back(tmp_path):
    name = "model_weights/locally_connected2d_1/training/locally_connected2d_1/bias"
    genuine = GOLDEN / "keras-2.2.4-theano" / "local_04" / "model.h5"
    moved(genuine, tmp_path / "n.h5", name, lambda at, size: at ^ 32)
    text = f"32 bytes after /{name} belong to nothing, and it begins with as many that are 0"
    with pytest.raises(UnreadableFileError, match=text), hdf5.reading(tmp_path / "n.h5"):
        pass


FLIPPED = ("keras-2.2.4-theano/local_04", "keras-2.2.4-tensorflow/conv1d_00", "tf_keras-2.21/leaky_prelu")


@pytest.mark.parametrize("name", FLIPPED)
def test_no_bit_of_an_address_gives_other_numbers(name, tmp_path):
    source, counts = GOLDEN / name / "model.h5", Counter()
    with hdf5.reading(source) as file:
        wanted = {found.name: found[()] for found in arrays_of(file)}
    for array, numbers in wanted.items():
        for bit in range(source.stat().st_size.bit_length()):
            moved(source, tmp_path / "n.h5", array, lambda at, size, bit=bit: at ^ 1 << bit)
            try:
                with hdf5.reading(tmp_path / "n.h5") as file:
                    found = hdf5.values(hdf5.dataset_in(file, array[1:]))
                counts["other" if found.tobytes() != numbers.tobytes() else "same"] += 1
            except UnreadableFileError:
                counts["refused"] += 1
    assert counts["other"] == 0
    assert counts["refused"] > 5 * len(wanted)


def test_an_array_that_was_taken_out_and_made_anew_is_read(tmp_path):
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file["a"], file["kernel"], file["bias"] = np.ones(3, "f4"), np.full(20, 1.0, "f4"), np.zeros(4, "f4")
        del file["kernel"]
        file["kernel"] = np.full((40, 40), 3.0, "f4")
    with hdf5.reading(tmp_path / "m.h5") as file:
        assert file["kernel"].shape == (40, 40)


def test_a_list_of_texts_at_which_hdf5_would_never_end(tmp_path):
    """Two zeros, of a text and of its length: HDF5 reads them again and again."""
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.attrs["text"] = "a" * 10
    data = (tmp_path / "m.h5").read_bytes()
    at = data.index(b"GCOL")
    (tmp_path / "m.h5").write_bytes(data[: at + 16] + bytes(16) + data[at + 32 :])
    with pytest.raises(UnreadableFileError) as error, hdf5.reading(tmp_path / "m.h5"):
        pass
    assert str(error.value) == f"{tmp_path}/m.h5 cannot be read (byte {at} does not begin a heap of texts)."


def test_a_root_of_no_known_kind_is_an_unreadable_file(tmp_path):
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file["a"] = [1, 2]
    data = bytearray((tmp_path / "m.h5").read_bytes())
    assert data[112:114] == b"\x11\x00"  # the kind of the first message in the root's header: a table of names
    data[112] = 0
    (tmp_path / "m.h5").write_bytes(data)
    text = r"m\.h5 cannot be read \(.*(unable to determine object type|not a group)\)\)\.$"  # by the version of HDF5
    with pytest.raises(UnreadableFileError, match=text), hdf5.reading(tmp_path / "m.h5"):
        pass


def test_a_damaged_root_is_an_unreadable_file(tmp_path):
    path = tmp_path / "m.h5"
    with h5py.File(path, "w") as file:
        file["a"] = [1, 2]
    path.write_bytes(path.read_bytes().replace(b"HEAP\0", b"HEAX\0", 1))
    with (
        pytest.raises(UnreadableFileError, match=r"m\.h5 cannot be read \(.*bad local heap signature\)\)\.$"),
        hdf5.reading(path),
    ):
        pass


@pytest.mark.parametrize("lacking", [True, False])
def test_a_filter_that_fails_lacks_memory_or_meets_damage(lacking, tmp_path, monkeypatch):
    """HDF5 says the same of both, so whether there is memory for a chunk is tried."""

    def empty(*arguments):
        raise MemoryError

    said = "Can't synchronously read data (filter returned failure during read)"
    with h5py.File(tmp_path / "m.h5", "w") as opened:
        array = opened.create_dataset("a", (4, 4), "f4", chunks=(2, 2), compression="gzip")
        expected, text = (
            (FileLimitError, "more memory is asked for than there is.")
            if lacking
            else (UnreadableFileError, f"cannot be read ({said}).")
        )
        if lacking:
            monkeypatch.setattr(np, "empty", empty)
        with pytest.raises(expected) as error, readable(Place(array)):
            raise OSError(said)
    assert str(error.value).startswith(f"{tmp_path / 'm.h5'}: /a")
    assert str(error.value).endswith(text)


def test_arrays_after_blocks_of_an_odd_size_are_in_their_places():
    """Of nine layers one has a name that is not ASCII: HDF5 2 has the names in blocks of sizes such as 146 bytes."""
    with hdf5.reading(GOLDEN / "hdf5-dense-links" / "model.h5") as file:
        arrays = file["optimizer_weights/training"]
        assert arrays["weight_9:0"].id.get_offset() % 4 == 2
        assert len(arrays) == 21


def test_a_damaged_name_that_is_a_path(tmp_path):
    """HDF5 would follow it, maybe to another file."""
    path = tmp_path / "damaged.h5"
    with h5py.File(path, "w") as made:
        made.create_group("g").create_group("first_name")
    path.write_bytes(path.read_bytes().replace(b"first_name\0", b"first/name\0"))
    with pytest.raises(UnreadableFileError, match="/g lists 'first/name', which is no name"), hdf5.reading(path):
        pass
