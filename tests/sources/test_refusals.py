"""What cannot be meant is refused, with the option, the rule and what was found."""

import re
import warnings
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from batches_of import W, X, Y, opened
from scipy.sparse import csr_matrix
from test_every_kind import Numbered, Rounds, Samples, Stream, datasets, endless
from torch.utils.data import DataLoader, Dataset, TensorDataset

from torchkeras import Input
from torchkeras.utils import HDF5Matrix, Sequence

NO_SHUFFLE = "Make the DataLoader with shuffle=False, or leave the option out."
LOADER = DataLoader(Samples(), 4)
TENSORS = TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))


class NoLength(Dataset[Any]):
    def __getitem__(self, index: int) -> Any:
        return X[index]


class Nothing(Sequence):
    def __len__(self) -> int:
        return 0


OWN_TARGETS = "Its batches bring their targets: (x, y) or (x, y, sample_weight)."
OWN_WEIGHTS = "Its batches bring their weights: (x, y, sample_weight)."
THREADS = "Threads make the batches of a Sequence only."
AHEAD = "Nothing makes its batches ahead of the step."
PROCESSES = "Processes make the batches of a Sequence or a torch Dataset only."
NO_DATA = (
    "fit: x must be an array, a list or dict of arrays, a DataLoader, a Dataset, a Sequence or a generator; found "
)
REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (LOADER, {"y": Y}, ValueError, f"fit: y cannot be given with a DataLoader. {OWN_TARGETS}"),
    (Stream(), {"y": Y}, ValueError, f"fit: y cannot be given with a torch IterableDataset. {OWN_TARGETS}"),
    (Samples(), {"y": Y}, ValueError, f"fit: y cannot be given with a torch Dataset. {OWN_TARGETS}"),
    (TENSORS, {"y": Y}, ValueError, f"fit: y cannot be given with a TensorDataset. {OWN_TARGETS}"),
    (Numbered(), {"y": Y, "method": "evaluate"}, ValueError,
     f"evaluate: y cannot be given with a Sequence. {OWN_TARGETS}"),
    (Rounds(), {"y": Y}, ValueError, f"fit: y cannot be given with an iterable of batches. {OWN_TARGETS}"),
    (endless(), {"sample_weight": W, "steps": 1}, ValueError,
     f"fit: sample_weight cannot be given with a generator. {OWN_WEIGHTS}"),
    (LOADER, {"sample_weight": W, "method": "validation"}, ValueError,
     f"validation: sample_weight cannot be given with a DataLoader. {OWN_WEIGHTS}"),
    (LOADER, {"batch_size": 4}, ValueError,
     "fit: batch_size cannot be given with a DataLoader. It makes its own batches."),
    (Numbered(), {"batch_size": 4}, ValueError,
     "fit: batch_size cannot be given with a Sequence. It makes its own batches."),
    (endless(), {"batch_size": 4, "steps": 1}, ValueError,
     "fit: batch_size cannot be given with a generator. It makes its own batches."),
    (DataLoader(Samples(), shuffle=True), {"shuffle": False}, ValueError,
     f"fit: shuffle=False cannot be given with a DataLoader that shuffles, by a RandomSampler. {NO_SHUFFLE}"),
    (LOADER, {"shuffle": "batch"}, ValueError,
     "fit: shuffle='batch' cannot be given with a DataLoader. It has its own order."),
    (endless(), {"shuffle": "batch", "steps": 1}, ValueError,
     "fit: shuffle='batch' cannot be given with a generator. It has its own order."),
    (Stream(), {"shuffle": "batch"}, ValueError,
     "fit: shuffle='batch' cannot be given with a torch IterableDataset. It has its own order."),
    (X, {"y": Y, "shuffle": "yes"}, ValueError, "fit: shuffle must be True, False or 'batch'; found 'yes'."),
    (X, {"y": Y, "workers": 2}, ValueError, f"fit: workers cannot be given with arrays. {THREADS}"),
    (LOADER, {"workers": 2}, ValueError, f"fit: workers cannot be given with a DataLoader. {THREADS}"),
    (X, {"use_multiprocessing": True}, ValueError,
     f"fit: use_multiprocessing cannot be given with arrays. {PROCESSES}"),
    (X, {"y": Y, "max_queue_size": 5}, ValueError, f"fit: max_queue_size cannot be given with arrays. {AHEAD}"),
    (LOADER, {"max_queue_size": 5}, ValueError, f"fit: max_queue_size cannot be given with a DataLoader. {AHEAD}"),
    (Samples(), {"max_queue_size": 5}, ValueError,
     "fit: max_queue_size=5 with a torch Dataset is of its processes: give use_multiprocessing=True as well."),
    (LOADER, {"batch_size": 4, "method": "validation"}, ValueError,
     "validation: validation_batch_size cannot be given with a DataLoader. It makes its own batches."),
    (endless(), {"use_multiprocessing": True, "steps": 1}, ValueError,
     f"fit: use_multiprocessing cannot be given with a generator. {PROCESSES}"),
    (Samples(), {"workers": 2}, ValueError,
     "fit: workers=2 with a torch Dataset are processes: give use_multiprocessing=True as well, or pass a DataLoader."),
    (Numbered(), {"workers": -1}, ValueError, "fit: workers must be an integer of at least 0; found -1."),
    (Numbered(), {"max_queue_size": 0}, ValueError,
     "fit: max_queue_size must be an integer of at least 1; found 0."),
    (X, {"y": Y, "steps": 0}, ValueError, "fit: steps_per_epoch must be an integer of at least 1; found 0."),
    (X, {"y": Y, "steps": 2.0, "method": "predict"}, ValueError,
     "predict: steps must be an integer of at least 1; found 2.0."),
    (X, {"y": Y, "batch_size": 0}, ValueError, "batch_size must be an integer of at least 1; found 0."),
    (Samples(), {"batch_size": -1}, ValueError, "batch_size must be an integer of at least 1; found -1."),
    (endless(), {}, ValueError,
     "fit: steps_per_epoch must be given with a generator: it does not say how many batches make an epoch."),
    (endless(), {"method": "validation"}, ValueError, "validation: validation_steps must be given with a generator"),
    (endless(), {"method": "predict"}, ValueError, "predict: steps must be given with a generator"),
    (Nothing(), {}, ValueError, "fit: a Sequence has no batches."),
    (DataLoader([], 4), {}, ValueError, "fit: a DataLoader has no batches."),  # type: ignore[arg-type]
    (NoLength(), {}, TypeError,
     "fit: NoLength is a torch Dataset without a length. Give it `__len__`, or pass a DataLoader of it."),
    ("x.npy", {}, TypeError, NO_DATA + "str."),
    (b"x", {}, TypeError, NO_DATA + "bytes."),
    ({1, 2}, {}, TypeError, NO_DATA + "set."),
    (endless, {}, TypeError, NO_DATA + "a function; call it and pass what it returns."),
]  # fmt: skip


@pytest.mark.parametrize(("x", "options", "kind", "message"), REFUSED)
def test_refused(x, options, kind, message):
    with pytest.raises(kind, match="^" + re.escape(message)):
        opened(x, **options)


@pytest.mark.parametrize("x", [LOADER, Stream(), Rounds(), Numbered()])
def test_the_default_of_shuffle_is_no_mistake(x):
    assert len(list(opened(x, shuffle=None).batches("shuffled"))) in (1, 3)


@pytest.mark.parametrize("x", [LOADER, X, Samples(), TENSORS])
def test_options_that_training_data_needs_are_no_mistake_for_validation(x):
    options = {"method": "validation", "workers": 2, "max_queue_size": 5, "shuffle": False}
    size = {} if x is LOADER else {"batch_size": 4}
    assert len(list(opened(x, **options, **size).batches("sequential"))) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = opened(endless(), **options, use_multiprocessing=True, steps=2)
    assert len(list(source.batches("sequential"))) == 2
    source.close()


@pytest.mark.parametrize("x", [LOADER, Stream(), Samples(), Numbered(), Rounds()])
def test_no_validation_split(x):
    source = opened(x)
    message = (
        f"validation_split 0.2 takes the last samples of arrays; {source.kind} cannot be divided. Give the data to "
        "validate on as validation_data."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        source.split(0.2)
    with pytest.raises(ValueError, match=re.escape(message)):
        opened(x, steps=2).split(0.2)


@pytest.mark.parametrize(("fraction", "message"), [
    (1.5, "validation_split must be between 0 and 1; found 1.5."),
    (0.95, "validation_split 0.95 of 10 samples leaves none to one of the two parts."),
])  # fmt: skip
def test_splits_of_data_on_disk(fraction, message, tmp_path):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        opened(datasets(tmp_path)[0]).split(fraction)


def test_hdf5_cannot_be_shuffled(tmp_path):
    x, y, _ = datasets(tmp_path)
    message = (
        "HDF5 data is read in contiguous slices and cannot be shuffled sample by sample, which shuffle=True asks for: "
        'pass shuffle="batch", which shuffles whole batches, or shuffle=False.'
    )
    matrix = HDF5Matrix(x.file.filename, "x")
    for data in ((x, y), (X, y), ([X, matrix], Y), ({"a": matrix}, Y)):
        with pytest.raises(TypeError, match=re.escape(message)):
            opened(*data, shuffle=True)
        for shuffle in ("batch", False, None):
            opened(*data, shuffle=shuffle)


def test_lengths_on_disk(tmp_path):
    x, _, _ = datasets(tmp_path)
    with pytest.raises(ValueError, match="Found 10 input samples and 9 target samples"):
        opened(x, Y[:9])
    with h5py.File(tmp_path / "number.h5", "w") as file:
        file["x"] = 3.0
        with pytest.raises(ValueError, match="must have an axis of samples; found a single number"):
            opened(file["x"])


def test_data_on_disk_that_does_not_fit_is_found_before_any_training(tmp_path):
    def prepare(x: Any, y: Any, weight: Any) -> Any:
        raise ValueError(f"shape {x.shape}")

    with pytest.raises(ValueError, match=re.escape("shape (4, 3)")):
        opened(datasets(tmp_path)[0], batch_size=4, prepare=prepare)


class Partly(Sequence):
    """It says it has so many batches, and has one."""

    def __init__(self, length: Any):
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        if index:
            raise StopIteration
        return X, Y


def test_a_length_that_is_not_whole():
    message = "A Sequence must have a whole number of batches, as math.ceil gives it; the length of Partly is 2.5."
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        opened(Partly(2.5))


@pytest.mark.parametrize("options", [{"workers": 0}, {"workers": 1}, {"workers": 1, "use_multiprocessing": True}])
def test_a_sequence_that_ends_early_does_not_end_the_epoch(options):
    batches = opened(Partly(2), **options).batches("sequential")
    next(batches)
    message = "A Sequence must have a batch 1: Partly raised StopIteration for it."
    with pytest.raises(RuntimeError, match=re.escape(message)):
        next(batches)


@pytest.mark.parametrize("x", [None, 3, csr_matrix(X), Input((3,)), np.float32(1), range(3)])
def test_what_no_kind_knows_goes_to_the_check_of_arrays(x):
    class SeenError(Exception):
        pass

    def check(*data: Any) -> Any:
        raise SeenError

    with pytest.raises(SeenError):
        opened(x, check_arrays=check)


@pytest.mark.parametrize(("item", "found"), [((X, Y, W, W), "tuple of 4"), ((), "tuple of 0"), ([X] * 4, "list of 4")])
def test_items_that_are_no_batches(item, found):
    source = opened(iter([item]), steps=1, workers=0)
    message = f"A batch of a generator must be x, (x,), (x, y) or (x, y, sample_weight); found a {found}."
    with pytest.raises(ValueError, match=re.escape(message)):
        next(source.batches("sequential"))
    source.close()


class Empty:
    def __iter__(self) -> Any:
        return iter([])


@pytest.mark.parametrize(("x", "steps", "kind"), [(iter([]), 2, "a generator"), (Empty(), None, "an iterable Empty")])
def test_nothing_came(x, steps, kind):
    source = opened(x, steps=steps)
    with pytest.raises(ValueError, match=f"^No batches came from {kind}\\.$"):
        list(source.batches("sequential"))
    source.close()


def test_a_generator_has_one_thread():
    message = (
        "fit: a generator gives one batch after another; workers=4 run it in one thread. A Sequence uses them all."
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(message)}$"):
        opened(endless(), steps=1, workers=4)


def test_unknown_order():
    for source in (opened(Numbered()), opened(X), opened(LOADER)):
        with pytest.raises(ValueError, match="order must be one of 'sequential', 'shuffled', 'batch'; found 'random'"):
            source.batches("random")
