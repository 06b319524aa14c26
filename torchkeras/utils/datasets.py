"""Datasets: data in two parts, and windows of a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from torchkeras.base.rules import FLAG_OR_DIGIT, integer, is_integer, is_number, one_of, optional, read

FORMATS = ("tf", "torch")  # "tf" is Keras's default; both give a DataLoader
SEED = integer(0, 2**32 - 1)  # as NumPy takes it

# --- in two parts ----------------------------------------------------------------------------------------------------


def split_dataset(
    dataset: Any,
    left_size: Any = None,
    right_size: Any = None,
    shuffle: bool = False,
    seed: int | None = None,
    preferred_backend: str | None = None,
) -> tuple[Dataset[Any], Dataset[Any]]:
    """Split data into two Datasets of torch.

    Arguments:
        dataset (Dataset, array, or list of arrays): the data; arrays of one length are x, or x and y.
        left_size (integer, share or None, default None): the number of samples on the left, or their share as a float
            between 0 and 1; None takes what the right part leaves.
        right_size (integer, share or None, default None): the same on the right; one of the two must be given.
        shuffle (bool, default False): whether the samples are shuffled before the split.
        seed (integer or None, default None): the seed of the shuffling.
        preferred_backend (text or None, default None): "torch".

    Errors:
        TypeError: `dataset` is of an unsupported kind, or a size is neither an integer nor a float.
        ValueError: a size does not fit, no size is given, or `preferred_backend` is another one.

    Example:
        >>> left, right = split_dataset(np.arange(10), left_size=0.8)
        >>> len(left), len(right)
        (8, 2)

    Source: https://keras.io/api/utils/python_utils/
    """
    read("split_dataset", "preferred_backend", optional(one_of("torch")), preferred_backend)
    data: Any = _dataset(dataset)
    left, right = _sizes(left_size, right_size, len(data))
    order = list(range(len(data)))
    number = read("split_dataset", "seed", optional(integer()), seed)
    if read("split_dataset", "shuffle", FLAG_OR_DIGIT, shuffle):
        generator = torch.Generator()
        if number is None:
            generator.seed()
        else:
            generator.manual_seed(number)
        order = torch.randperm(len(data), generator=generator).tolist()
    return Subset(data, order[:left]), Subset(data, order[len(data) - right :])


def _dataset(given: Any) -> Any:
    if isinstance(given, (Dataset, DataLoader)):
        if isinstance(given, (IterableDataset, DataLoader)) or not hasattr(given, "__len__"):
            raise TypeError(f"split_dataset: dataset must have a length and items; found {type(given).__name__}.")
        return given
    arrays = given if isinstance(given, (list, tuple)) else [given]
    if not arrays or not all(isinstance(each, (np.ndarray, Tensor)) for each in arrays):
        raise TypeError(
            f"split_dataset: dataset must be a Dataset of torch, an array, or a list of arrays; found "
            f"{type(given).__name__}."
        )
    if any(each.ndim == 0 for each in arrays):
        raise ValueError("split_dataset: an array must have an axis of samples; found one without axes.")
    lengths = [len(each) for each in arrays]
    if len(set(lengths)) > 1:
        raise ValueError(f"split_dataset: all arrays must have one length; found {lengths}.")
    return TensorDataset(*map(torch.as_tensor, arrays))


def _sizes(left: Any, right: Any, total: int) -> tuple[int, int]:
    if left is None and right is None:
        raise ValueError("split_dataset: left_size or right_size must be given.")
    found = {name: _size(name, given, total) for name, given in (("left_size", left), ("right_size", right))}
    on_left, on_right = found["left_size"], found["right_size"]
    on_left = total - (on_right or 0) if on_left is None else on_left
    on_right = total - on_left if on_right is None else on_right
    if on_left + on_right > total:
        raise ValueError(
            f"split_dataset: left_size and right_size together must be at most the {total} samples; found {left!r} and "
            f"{right!r}."
        )
    if not (on_left and on_right):
        raise ValueError(
            f"split_dataset: with {total} samples, {on_left} on the left and {on_right} on the right, a part is empty."
        )
    return on_left, on_right


def _size(name: str, given: Any, total: int) -> int | None:
    """The number of samples that a size says."""
    if given is None:
        return None
    if not is_number(given):
        raise TypeError(f"split_dataset: {name} must be an integer, a float or None; found {given!r}.")
    if not 0 < given < (total if is_integer(given) else 1):
        raise ValueError(
            f"split_dataset: {name} must be an integer above 0 and below the {total} samples, or a float above 0 and "
            f"below 1; found {given!r}."
        )
    return int(given) if is_integer(given) else round(given * total)


# --- windows ---------------------------------------------------------------------------------------------------------


class Windows(Dataset[Any]):
    """Windows of data: sample i begins at `starts[i]`, and has every `rate`-th of the following values."""

    def __init__(self, data: Tensor, targets: Tensor | None, starts: np.ndarray, length: int, rate: int):
        self.data, self.targets, self.starts, self.length, self.rate = data, targets, starts, length, rate

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> Any:
        start = int(self.starts[index])
        window = self.data[start : start + self.length * self.rate : self.rate]
        return window if self.targets is None else (window, self.targets[start])


def timeseries_dataset_from_array(
    data: Any,
    targets: Any,
    sequence_length: int,
    sequence_stride: int = 1,
    sampling_rate: int = 1,
    batch_size: int | None = 128,
    shuffle: bool = False,
    seed: int | None = None,
    start_index: int | None = None,
    end_index: int | None = None,
    format: str = "tf",
) -> DataLoader[Any]:
    """Windows of consecutive values as a DataLoader, which `fit` takes.

    Arguments:
        data (array): the values, the first axis being time.
        targets (array or None): `targets[i]` is the target of the window that begins at i; None for windows alone.
        sequence_length (integer): the values of a window.
        sequence_stride (integer, default 1): the step from one window to the next.
        sampling_rate (integer, default 1): the step from one value of a window to the next.
        batch_size (integer or None, default 128): the number of windows in a batch; None gives single windows.
        shuffle (bool, default False): whether the windows are shuffled, in each epoch again.
        seed (integer or None, default None): the seed of the shuffling.
        start_index (integer or None, default None): values before it are not used.
        end_index (integer or None, default None): values from it on are not used.
        format (text, default "tf"): "tf", Keras's default, or "torch": both give a DataLoader.

    Returns:
        DataLoader: of (windows, targets), or of windows.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> windows = timeseries_dataset_from_array(np.arange(6), None, sequence_length=3, sequence_stride=2)
        >>> next(iter(windows)).tolist()
        [[0, 1, 2], [2, 3, 4]]

    Source: https://keras.io/api/data_loading/timeseries/
    """
    owner = "timeseries_dataset_from_array"
    check_format(owner, format)
    values = torch.atleast_1d(_values(data))
    last = len(values) - 1
    if last < 1:
        raise ValueError(f"{owner}: data must have at least two values; found {len(values)}.")
    length = read(owner, "sequence_length", integer(1), sequence_length)
    rate = read(owner, "sampling_rate", integer(1, last), sampling_rate)
    stride = read(owner, "sequence_stride", integer(1, last), sequence_stride)
    size = read(owner, "batch_size", optional(integer(1)), batch_size)
    shuffles = read(owner, "shuffle", FLAG_OR_DIGIT, shuffle)
    number = read(owner, "seed", optional(SEED), seed)
    start = read(owner, "start_index", optional(integer(0, last)), start_index) or 0
    end = read(owner, "end_index", optional(integer(start + 1, last)), end_index) or len(values)
    values = values[start:end]
    count = len(values) - (length - 1) * rate
    if count < 1:
        raise ValueError(
            f"{owner}: a window of {length} values, each {rate} after the last, does not fit into {len(values)} values."
        )
    if targets is not None:
        targets = torch.atleast_1d(_values(targets))
        count = min(count, len(targets))
        targets = targets[start:end]
    needed = max(count - 1, 0) // stride * stride + 1
    if targets is not None and len(targets) < needed:
        raise ValueError(
            f"{owner}: targets must have {needed} values between start_index and end_index, so that each window has "
            f"one; found {len(targets)}."
        )
    starts = np.arange(0, count, stride)
    return loader(Windows(values, targets, starts, length, rate), size, shuffles, number)


def _values(data: Any) -> Tensor:
    """A tensor of an array, a list, or what NumPy reads, such as a DataFrame."""
    return torch.as_tensor(data if isinstance(data, Tensor) else np.asarray(data))


def check_format(owner: str, format: Any) -> None:
    """Raise ValueError for a form of data that there is not."""
    if format not in FORMATS:
        raise ValueError(
            f"{owner}: format must be 'tf' or 'torch', which both give a DataLoader of torch; found {format!r}."
        )


def loader(
    dataset: Dataset[Any], batch_size: int | None, shuffle: bool, seed: int | None, collate: Any = None
) -> DataLoader[Any]:
    """A DataLoader; with a seed its order is the same in each run of a program. `collate` makes a batch of samples."""
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    collate = None if batch_size is None else collate
    return DataLoader(dataset, batch_size=batch_size, shuffle=shuffle, collate_fn=collate, generator=generator)
