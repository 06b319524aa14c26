"""Opens x, y and sample_weight as a source, by the type of x."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from torchkeras import config
from torchkeras.base.rules import integer, read
from torchkeras.data.part import Part
from torchkeras.data.sources.generators import GeneratorSource
from torchkeras.data.sources.kinds import (
    DEFAULT_WORKERS,
    ITSELF,
    KINDS,
    STEPS,
    WHOLE,
    WHOLE_ARRAYS,
    CheckArrays,
    Kind,
    Request,
)
from torchkeras.data.sources.limited import Limited
from torchkeras.data.sources.sequences import SequenceSource, Workers
from torchkeras.data.sources.source import Prepare, Source

# Why an option is refused.
REASONS = {
    "y": "Its batches bring their targets: (x, y) or (x, y, sample_weight).",
    "sample_weight": "Its batches bring their weights: (x, y, sample_weight).",
    "batch_size": "It makes its own batches.",
    "shuffle=True": "It has its own order.",
    "shuffle='batch'": "It has its own order.",
    "workers": "Threads make the batches of a Sequence only.",
    "max_queue_size": "Nothing makes its batches ahead of the step.",
    "use_multiprocessing": "Processes make the batches of a Sequence or a torch Dataset only.",
}


def open_source(
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    batch_size: int | None = None,
    shuffle: Any = None,
    steps: int | None = None,
    workers: int = 1,
    use_multiprocessing: bool = False,
    max_queue_size: int = 10,
    prepare: Prepare,
    check_arrays: CheckArrays,
    device: torch.device,
    method: str = "fit",
    default_batch_size: int = 32,
    raw: bool = False,
    part: Part | None = None,
    shuffles: bool = False,
    to_its_end: bool = False,
) -> Source:
    """The source for x, by its type: an entry of `KINDS`.

    batch_size, shuffle: None if the user has not set them. shuffle is only checked here; `Source.batches` takes an
    order. shuffles: the default of shuffle. steps: the number of batches an epoch, None for all batches of the source.
    prepare: turns (x, y, sample_weight) of one batch into a Batch in host memory; check_arrays: turns whole arrays into
    lists of tensors. method: "fit", "validation", "evaluate" or "predict", for messages, and because for `predict` a
    list is several inputs. raw: the batches of a loader or Dataset stay as they are, see `Source.give_raw`. part: the
    rows of every batch that this process has, where several share them. to_its_end: whether an epoch ends where the
    data ends, as in Keras 3: one of `steps` batches is then shorter, and a generator without steps makes one.
    Raises TypeError for x that is no data, ValueError for an option that x refuses.
    """
    if shuffle not in (None, True, False, "batch"):
        raise ValueError(f"{method}: shuffle must be True, False or 'batch'; found {shuffle!r}.")
    if steps is not None:
        read(method, STEPS.get(method, "steps"), integer(1), steps)
    read(method, "workers", integer(0), workers)
    read(method, "max_queue_size", integer(1), max_queue_size)
    made_by = Workers(int(workers), bool(use_multiprocessing), int(max_queue_size))
    request = Request(
        x, y, sample_weight, batch_size, shuffle, steps, made_by, prepare, check_arrays, torch.device(device), method,
        default_batch_size if batch_size is None else batch_size, raw, part, shuffles, to_its_end,
    )  # fmt: skip
    if {type(x), type(y), type(sample_weight)} <= WHOLE:
        kind = WHOLE_ARRAYS
    else:
        kind = next(kind for kind in KINDS if kind.test(x))
    _refuse_options(request, kind)
    source = kind.open(request)
    if isinstance(source, (GeneratorSource, SequenceSource)):
        source.lists_are_inputs = method == "predict"
    if source.steps == 0:
        raise ValueError(f"{method}: {kind.name} has no batches.")
    return limited(source, None if steps is None else int(steps), request.steps_option, to_its_end)


def limited(source: Source, steps: int | None, option: str, to_its_end: bool = False) -> Source:
    """The source in epochs of `steps` batches, None for all; of no more than the configuration allows, with a warning.

    `option`: the user's name for `steps`. `to_its_end`: whether an epoch ends where the data ends.
    """
    most = config.max_steps_per_epoch()
    length = source.steps if steps is None else steps
    if most is not None and (length is None or most < length):
        warnings.warn(f"{option} is limited to {most} by config.set_max_steps_per_epoch.", stacklevel=2)
        return Limited(source, most, option, at_most=steps is None)
    return source if steps is None else Limited(source, steps, option, to_its_end=to_its_end)


def _refuse_options(request: Request, kind: Kind) -> None:
    given = {
        "y": request.y is not None,
        "sample_weight": request.sample_weight is not None,
        "batch_size": request.batch_size is not None,
        "shuffle=True": request.shuffle is True,
        "shuffle='batch'": request.shuffle == "batch",
        "workers": request.workers.count not in (0, 1),
        "use_multiprocessing": request.workers.multiprocessing,
        "max_queue_size": request.workers.waiting != DEFAULT_WORKERS.waiting,
    }
    for option in kind.refused:
        if given[option] and (option in ITSELF or not request.validates):
            name = "validation_batch_size" if request.validates and option == "batch_size" else option
            raise ValueError(f"{request.method}: {name} cannot be given with {kind.name}. {REASONS[option]}")
