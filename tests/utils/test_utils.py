"""keras.utils, held to what Keras 2.2.4 gave (`tests/golden/keras-2.2.4-utils.json`)."""

import json
import pickle
import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from torchkeras.utils import HDF5Matrix, Sequence, normalize, pad_sequences, to_categorical

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "keras-2.2.4-utils.json").read_text())
NORMALIZERS = {None: None, True: lambda values: (values * 2).astype("float32")}


@pytest.mark.parametrize(("y", "classes", "dtype", "expected"), GOLDEN["to_categorical"])
def test_to_categorical(y, classes, dtype, expected):
    found = to_categorical(y, classes)
    assert found.dtype == dtype
    assert found.tolist() == expected
    assert to_categorical(torch.tensor(y), classes).tolist() == expected


def test_to_categorical_of_another_type():
    assert to_categorical([1.0, 0.0], dtype="int8").dtype == np.int8
    assert to_categorical([True, False]).tolist() == [[0, 1], [1, 0]]
    assert to_categorical([], 3).shape == (0, 3)


@pytest.mark.parametrize(("y", "classes", "message"), [
    ([0, 3], 3, "to_categorical: class numbers must lie from 0 to 2; found 0 to 3."),
    ([-1, 1], None, "to_categorical: class numbers must be at least 0; found -1."),
    ([0, 0.5], None, "to_categorical: class numbers must be integers; found 0.5."),
    ([], None, "to_categorical: num_classes must be given for no class numbers."),
])  # fmt: skip
def test_what_is_no_class(y, classes, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        to_categorical(y, classes)


@pytest.mark.parametrize(("x", "axis", "order", "expected"), GOLDEN["normalize"])
def test_normalize(x, axis, order, expected):
    np.testing.assert_allclose(normalize(np.array(x), axis, order), expected, rtol=1e-15)


# --- HDF5Matrix ------------------------------------------------------------------------------------------------------


def file(folder: Path) -> Path:
    with h5py.File(folder / "a.h5", "w") as opened:
        opened["x"] = np.arange(30.0).reshape(10, 3)
    return folder / "a.h5"


def key_of(written: Any) -> Any:
    if isinstance(written, list):
        return slice(*written)
    kind, *numbers = written.split()
    values = [int(number) for number in numbers]
    return {"int": values[0], "list": values, "array": np.array(values)}[kind]


@pytest.mark.parametrize("case", GOLDEN["hdf5_matrix"])
def test_hdf5_matrix(case, tmp_path):
    options = {**case["options"], "normalizer": NORMALIZERS[case["options"].get("normalizer")]}
    matrix = HDF5Matrix(file(tmp_path), "x", **options)
    assert (len(matrix), matrix.shape, str(matrix.dtype)) == (case["len"], tuple(case["shape"]), case["dtype"])
    assert (matrix.ndim, matrix.size) == (case["ndim"], case["size"])
    for written, expected in case["reads"]:
        if isinstance(expected, str):
            with pytest.raises({"IndexError": IndexError, "TypeError": TypeError}[expected]):
                matrix[key_of(written)]
        else:
            assert matrix[key_of(written)].tolist() == expected, written


def test_hdf5_matrix_counts_from_the_end_of_its_part_and_knows_steps(tmp_path):
    matrix = HDF5Matrix(file(tmp_path), "x", 2, 7)
    whole = np.arange(30.0).reshape(10, 3)[2:7]
    for key in (-1, slice(-2, None), slice(None, -1), slice(0, 5, 2), slice(4, 1), [-2, -1]):
        np.testing.assert_array_equal(matrix[key], whole[key])


@pytest.mark.parametrize(("start", "end"), [(0, 11), (-1, 3), (4, 4), (10, None)])
def test_rows_that_a_dataset_does_not_have(start, end, tmp_path):
    shown = f"found start={start}, end={end}."
    message = f"HDF5Matrix: start and end must be rows of 'x', which has 10; {shown}"
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        HDF5Matrix(file(tmp_path), "x", start, end)


@pytest.mark.parametrize(("key", "kind", "message"), [
    (slice(0, 12), IndexError, "HDF5Matrix: row 12 asked for; there are 10."),
    (10, IndexError, "HDF5Matrix: row 10 asked for; there are 10."),
    ([1, 10], IndexError, "HDF5Matrix: row 10 asked for; there are 10."),
    (-11, IndexError, "HDF5Matrix: row -11 asked for; there are 10."),
    ("a", TypeError, "HDF5Matrix: rows must be integers or a slice; found 'a'."),
    (1.5, TypeError, "HDF5Matrix: rows must be integers or a slice; found 1.5."),
])  # fmt: skip
def test_keys_that_are_no_rows(key, kind, message, tmp_path):
    with pytest.raises(kind, match="^" + re.escape(message)):
        HDF5Matrix(file(tmp_path), "x")[key]


def test_no_such_dataset(tmp_path):
    path = file(tmp_path)
    with pytest.raises(KeyError, match=re.escape(f"{path}: there is no dataset 'y'.")):
        HDF5Matrix(path, "y")


def test_a_copy_for_another_process_reads_the_same(tmp_path):
    matrix = HDF5Matrix(file(tmp_path), "x", 2, 7)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(matrix))[:], matrix[:])  # noqa: S301


# --- Sequence --------------------------------------------------------------------------------------------------------


class Squares(Sequence):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> int:
        return index**2


def test_a_sequence_runs_through_once():
    assert list(Squares()) == [0, 1, 4]
    Squares().on_epoch_end()


def test_what_a_sequence_must_define():
    with pytest.raises(
        NotImplementedError, match=r"^Sequence must define __getitem__\(index\), which returns a batch\.$"
    ):
        Sequence()[0]
    with pytest.raises(NotImplementedError, match=r"^Sequence must define __len__\(\), the number of batches\.$"):
        len(Sequence())


def test_sequences_made_equally_long_without_an_extra():
    assert pad_sequences([[3, 1], [4, 1, 5]], padding="post").tolist() == [[3, 1, 0], [4, 1, 5]]
    assert pad_sequences([[3, 1], [4, 1, 5]], maxlen=2).tolist() == [[3, 1], [1, 5]]
