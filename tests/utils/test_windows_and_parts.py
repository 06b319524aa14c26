"""Windows of a sequence, and data in two parts. `tests/keras3/same` compares the numbers with genuine Keras's."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from torchkeras.utils import split_dataset, timeseries_dataset_from_array


def windows(*args, **options):
    return [
        [each.tolist() for each in batch] if isinstance(batch, (list, tuple)) else batch.tolist()
        for batch in timeseries_dataset_from_array(*args, **options)
    ]


def test_windows():
    """The documentation's examples."""
    data = np.arange(99)
    found = windows(data, None, 10, sampling_rate=2, sequence_stride=3)
    assert found[0][0] == list(range(0, 20, 2))
    assert found[0][1] == list(range(3, 23, 2))
    assert found[-1][-1] == list(range(78, 98, 2))
    ((inputs, targets),) = windows(data[:-10], data[10:], 10)
    assert inputs[0] == list(range(10))
    assert targets[:2] == [10, 11]
    assert len(inputs) == len(targets) == 80


def test_windows_of_a_part():
    assert windows(np.arange(10), None, 3, start_index=2, end_index=7) == [[[2, 3, 4], [3, 4, 5], [4, 5, 6]]]
    ((inputs, targets),) = windows(np.arange(10), 10 * np.arange(10), 2, start_index=5)
    assert (inputs[0], targets[0]) == ([5, 6], 50)
    assert windows(np.arange(4), None, 2, batch_size=None) == [[0, 1], [1, 2], [2, 3]]
    assert windows(np.arange(4.0)[:, None], None, 2, batch_size=2)[1] == [[[2.0], [3.0]]]


def test_windows_are_shuffled():
    options = {"shuffle": True, "seed": 3, "batch_size": 100}
    loader = timeseries_dataset_from_array(np.arange(50), np.arange(50), 1, **options)
    (one,), (two,) = list(loader), list(loader)
    assert one[1].tolist() != two[1].tolist()
    assert sorted(one[1].tolist()) == list(range(50))
    assert one[0][:, 0].tolist() == one[1].tolist()
    assert windows(np.arange(50), np.arange(50), 1, **options)[0][1] == one[1].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sequence_length": 0}, "sequence_length must be an integer of at least 1; found 0"),
        ({"sampling_rate": 0}, "sampling_rate must be an integer from 1 to 9; found 0"),
        ({"sequence_stride": 10}, "sequence_stride must be an integer from 1 to 9; found 10"),
        ({"start_index": 10}, "start_index must be an integer from 0 to 9, or None; found 10"),
        ({"start_index": 5, "end_index": 5}, "end_index must be an integer from 6 to 9, or None; found 5"),
        ({"format": "grain"}, "format must be 'tf' or 'torch'"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1, or None; found 0"),
        ({"shuffle": "no"}, "shuffle must be True, False, 1 or 0; found 'no'"),
        ({"seed": 1.5}, "seed must be an integer from 0 to 4294967295, or None; found 1.5"),
        (
            {"sequence_length": 5, "sampling_rate": 3},
            "a window of 5 values, each 3 after the last, does not fit into 10 values",
        ),
        ({"data": [1]}, "data must have at least two values; found 1"),
        ({"data": 3}, "data must have at least two values; found 1"),
        (
            {"targets": np.arange(4), "start_index": 2},
            "targets must have 4 values between start_index and end_index, so that each window has one; found 2",
        ),
        ({"targets": []}, "targets must have 1 values between start_index and end_index"),
    ],
)
def test_errors_of_windows(options, message: str):
    with pytest.raises(ValueError, match=f"^timeseries_dataset_from_array: {message}"):
        timeseries_dataset_from_array(**{"data": np.arange(10), "targets": None, "sequence_length": 2, **options})


def test_parts_without_shuffling_are_in_order():
    """As documented; genuine Keras on torch shuffles them all the same."""
    left, right = split_dataset(np.arange(10), left_size=3, right_size=4)
    assert [item[0].item() for item in left] == [0, 1, 2]
    assert [item[0].item() for item in right] == [6, 7, 8, 9]


def test_sizes_of_numpy():
    assert [len(each) for each in split_dataset(np.arange(10), np.int64(3), np.float32(0.5))] == [3, 5]


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(4))

    def __len__(self):
        return 4


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: split_dataset(np.ones(4), True),
            TypeError,
            "left_size must be an integer, a float or None; found True",
        ),
        (lambda: split_dataset(np.ones(4), 2, seed=1.5), ValueError, "seed must be an integer, or None; found 1.5"),
        (lambda: split_dataset(np.ones(4), 2, shuffle="no"), ValueError, "shuffle must be True, False, 1 or 0"),
        (lambda: split_dataset(np.ones(()), 2), ValueError, "an array must have an axis of samples"),
        (lambda: split_dataset(Stream(), 2), TypeError, "dataset must have a length and items; found Stream"),
        (
            lambda: split_dataset(DataLoader(TensorDataset(torch.ones(4))), 2),
            TypeError,
            "dataset must have a length and items; found DataLoader",
        ),
        (lambda: split_dataset(np.ones(4)), ValueError, "left_size or right_size must be given"),
        (
            lambda: split_dataset(np.ones(4), 4),
            ValueError,
            "left_size must be an integer above 0 and below the 4",
        ),
        (lambda: split_dataset(np.ones(4), "a"), TypeError, "left_size must be an integer, a float or None"),
        (lambda: split_dataset(np.ones(4), 3, 2), ValueError, "together must be at most the 4 samples"),
        (lambda: split_dataset(np.ones(4), 0.01), ValueError, "with 4 samples, 0 on the left and 4 on the right"),
        (lambda: split_dataset([np.ones(4), np.ones(3)], 2), ValueError, r"must have one length; found \[4, 3\]"),
        (lambda: split_dataset("a", 2), TypeError, "must be a Dataset of torch, an array, or a list of arrays"),
        (
            lambda: split_dataset(np.ones(4), 2, preferred_backend="tensorflow"),
            ValueError,
            "preferred_backend must be",
        ),
    ],
)
def test_errors_of_parts(call, error, message: str):
    with pytest.raises(error, match=message):
        call()
