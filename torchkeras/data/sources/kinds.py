"""The kinds of data: how each is recognized and opened, and which options it refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence as PythonSequence, Set as AnySet
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import (
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

from torchkeras.data.part import Part
from torchkeras.data.sources import slices
from torchkeras.data.sources.generators import GeneratorSource
from torchkeras.data.sources.loaders import DatasetSource, LoaderSource
from torchkeras.data.sources.sequences import SequenceSource, Workers
from torchkeras.data.sources.slices import SlicedSource
from torchkeras.data.sources.source import Prepare, Source, open_arrays

CheckArrays = Callable[[Any, Any, Any], tuple[Any, Any, Any]]
DEFAULT_WORKERS = Workers()
STEPS = {"fit": "steps_per_epoch", "validation": "validation_steps"}  # "steps" everywhere else


@dataclass(frozen=True)
class Request:
    """What `open_source` was called with, its numbers checked. `size`: the batch size, by default the method's."""

    x: Any
    y: Any
    sample_weight: Any
    batch_size: Any
    shuffle: Any
    steps: int | None
    workers: Workers
    prepare: Prepare
    check_arrays: CheckArrays
    device: torch.device
    method: str
    size: int
    raw: bool = False  # batches go to a custom step as they are
    part: Part | None = None
    shuffles: bool = False  # whether a shuffle of None is True
    to_its_end: bool = False  # whether a generator without `steps` makes one epoch, and an epoch ends with the data

    @property
    def steps_option(self) -> str:
        """The user's name for `steps`."""
        return STEPS.get(self.method, "steps")

    @property
    def validates(self) -> bool:
        """Whether this is validation data of a fit: then options for its training data are no mistake."""
        return self.method == "validation"


@dataclass(frozen=True)
class Kind:
    """A kind of data: its name in messages, its test, how it is opened, and the options that it refuses."""

    name: str
    test: Callable[[Any], bool]
    open: Callable[[Request], Source]
    refused: Collection[str] = ()


# --- tests and opening of each kind ---------------------------------------------------------------------------------


def _tensors(request: Request) -> Source:
    """A TensorDataset holds whole tensors, which are used as arrays, without a cost per sample, unless `raw`."""
    if request.raw:
        return _dataset(request)
    x, y, weight = (*request.x.tensors, None, None)[:3]
    return open_arrays(replace(request, x=x, y=y, sample_weight=weight))


def _loader(request: Request) -> Source:
    samplers = request.x.sampler, getattr(request.x.batch_sampler, "sampler", None)
    drawing = next((type(each).__name__ for each in samplers if _shuffles(each)), None)
    if request.shuffle is False and drawing is not None:
        raise ValueError(
            f"{request.method}: shuffle=False cannot be given with a DataLoader that shuffles, by a {drawing}. Make "
            "the DataLoader with shuffle=False, or leave the option out."
        )
    return LoaderSource(request.x, request.prepare, request.device, part=request.part)


def _shuffles(sampler: Any) -> bool:
    """Whether a sampler is known to be one of torch's that shuffle."""
    return isinstance(sampler, SHUFFLING) or (isinstance(sampler, DistributedSampler) and sampler.shuffle)


def _iterable_dataset(request: Request) -> Source:
    loader = DataLoader(request.x, batch_size=request.size)
    return LoaderSource(loader, request.prepare, request.device, "a torch IterableDataset", request.part)


def _dataset(request: Request) -> Source:
    if not hasattr(request.x, "__len__"):
        raise TypeError(
            f"{request.method}: {type(request.x).__name__} is a torch Dataset without a length. Give it `__len__`, or "
            "pass a DataLoader of it."
        )
    if request.workers.count > 1 and not request.workers.multiprocessing and not request.validates:
        raise ValueError(
            f"{request.method}: workers={request.workers.count} with a torch Dataset are processes: give "
            "use_multiprocessing=True as well, or pass a DataLoader."
        )
    if request.workers.waiting != DEFAULT_WORKERS.waiting and not (
        request.workers.multiprocessing or request.validates
    ):
        raise ValueError(
            f"{request.method}: max_queue_size={request.workers.waiting} with a torch Dataset is of its processes: "
            "give use_multiprocessing=True as well."
        )
    return DatasetSource(request.x, request.size, request.prepare, request.device, request.workers, request.part)


def _sequence(request: Request) -> Source:
    if getattr(request.x, "num_batches", 0) is None:  # Keras 3's PyDataset without an end
        return _iterator(replace(request, x=iter(request.x)))
    return SequenceSource(request.x, request.prepare, request.device, _workers_of(request), request.part)


def _workers_of(request: Request) -> Workers:
    """The workers of the request or, where it has the defaults, of the object: Keras 3's PyDataset has all three."""
    options: list[Any] = [
        getattr(request.x, name, None) for name in ("workers", "use_multiprocessing", "max_queue_size")
    ]
    if request.workers != DEFAULT_WORKERS or None in options:
        return request.workers
    return Workers(*options)


def _iterator(request: Request) -> Source:
    if request.steps is None and not request.to_its_end:
        raise ValueError(
            f"{request.method}: {request.steps_option} must be given with a generator: it does not say how many "
            "batches make an epoch."
        )
    workers = request.workers
    if workers.count > 1 and not request.validates:
        warnings.warn(
            f"{request.method}: a generator gives one batch after another; workers={workers.count} run it in one "
            "thread. A Sequence uses them all.",
            stacklevel=4,
        )
    ahead = workers.waiting if workers.count else 0
    return GeneratorSource(request.x, request.prepare, request.device, ahead, request.part)


def _iterable(request: Request) -> Source:
    kind = f"an iterable {type(request.x).__name__}"
    if request.steps is None and _has_no_end(request.x):
        raise ValueError(f"{request.method}: {request.steps_option} must be given with {kind} that has no end.")
    return LoaderSource(request.x, request.prepare, request.device, kind, request.part)


def _has_no_end(x: Any) -> bool:
    """Whether an iterable says that it has no end, as a `tf.data.Dataset` does by its `cardinality`."""
    cardinality: Any = getattr(x, "cardinality", None)
    known: Any = cardinality() if callable(cardinality) else None
    return known is not None and int(known) == -1


def _sliced(request: Request) -> Source:
    data = (request.x, request.y, request.sample_weight)
    if request.shuffle is True or (request.shuffle is None and request.shuffles):
        slices.check_can_shuffle(data)
    return SlicedSource(data, request.size, request.prepare, request.device, request.part)


def _arrays(request: Request) -> Source:
    parts = (request.x, request.y, request.sample_weight)
    if any(slices.is_sliced(leaf) for part in parts for leaf in slices.leaves(part)):
        return _sliced(request)
    return open_arrays(request)


def _refuse(request: Request) -> Source:
    found = "a function; call it and pass what it returns" if callable(request.x) else f"{type(request.x).__name__}"
    raise TypeError(
        f"{request.method}: x must be an array, a list or dict of arrays, a DataLoader, a Dataset, a Sequence or a "
        f"generator; found {found}."
    )


def _is_no_data(x: Any) -> bool:
    no_container = not hasattr(x, "__getitem__") and not hasattr(x, "__iter__") and not hasattr(x, "shape")
    return isinstance(x, (str, bytes, bytearray, AnySet)) or (callable(x) and no_container)


def _is_in_memory(x: Any) -> bool:
    return isinstance(x, (PythonSequence, Mapping)) or hasattr(x, "__array__") or hasattr(x, "shape")


def _is_sequence(x: Any) -> bool:
    return hasattr(x, "__getitem__") and hasattr(x, "__len__") and not _is_in_memory(x)


def _is_generator(x: Any) -> bool:
    return isinstance(x, Iterator) and not _is_sequence(x)  # Keras's iterators of images are both


def _is_iterable(x: Any) -> bool:
    return isinstance(x, Iterable) and not _is_in_memory(x)


SHUFFLING = (RandomSampler, SubsetRandomSampler, WeightedRandomSampler)
TARGETS = ("y", "sample_weight")
ITSELF = (*TARGETS, "batch_size")
NO_PROCESSES = "use_multiprocessing"
NO_WORKERS = ("workers", NO_PROCESSES, "max_queue_size")
NO_SHUFFLING = ("shuffle=True", "shuffle='batch'")
IN_ITS_ORDER = (*TARGETS, *NO_SHUFFLING, *NO_WORKERS)


def _is_tensor_dataset(x: Any) -> bool:
    return type(x) is TensorDataset and len(x.tensors) <= 3


# The types of arrays that are in memory as a whole: if x, y and sample_weight are of these, no other test is needed.
WHOLE = frozenset((np.ndarray, Tensor, type(None)))
WHOLE_ARRAYS = Kind("arrays", lambda x: type(x) in WHOLE, open_arrays, NO_WORKERS)

# The first kind whose test holds counts: a torch Dataset has `__getitem__` too, and a Sequence may have `__iter__`.
KINDS = (
    Kind("this", _is_no_data, _refuse),
    Kind("a DataLoader", lambda x: isinstance(x, DataLoader), _loader, (*ITSELF, *NO_SHUFFLING, *NO_WORKERS)),
    Kind("a torch IterableDataset", lambda x: isinstance(x, IterableDataset), _iterable_dataset, IN_ITS_ORDER),
    Kind("a TensorDataset", _is_tensor_dataset, _tensors, (*TARGETS, *NO_WORKERS)),
    Kind("a torch Dataset", lambda x: isinstance(x, Dataset), _dataset, TARGETS),
    Kind("a generator", _is_generator, _iterator, (*ITSELF, *NO_SHUFFLING, NO_PROCESSES)),
    Kind("a Sequence", _is_sequence, _sequence, ITSELF),
    Kind("an iterable of batches", _is_iterable, _iterable, (*ITSELF, *NO_SHUFFLING, *NO_WORKERS)),
    Kind("arrays", lambda x: True, _arrays, NO_WORKERS),
)
