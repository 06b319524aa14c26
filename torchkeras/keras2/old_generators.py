"""Keras 1's numbers of samples in `fit_generator`, `evaluate_generator` and `predict_generator`.

Keras 1 counted samples and Keras 2 counts batches: an epoch of Keras 1 takes batches until it has had so many samples.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import wraps
from itertools import repeat
from typing import Any

import numpy as np

from torchkeras.base import extensions
from torchkeras.base.rules import integer, read
from torchkeras.data.sources.ordered import in_threads
from torchkeras.legacy.names import KEYWORDS, REFUSED
from torchkeras.models import Model

# By method: the old argument that counts samples, what they are samples of, and the new argument, which counts batches.
COUNTS = {
    "fit_generator": (
        ("samples_per_epoch", "generator", "steps_per_epoch"),
        ("nb_val_samples", "validation_data", "validation_steps"),
    ),
    "evaluate_generator": (("val_samples", "generator", "steps"),),
    "predict_generator": (("val_samples", "generator", "steps"),),
}


class Epochs:
    """The batches of an iterator, an epoch at a time: as many as have `samples` together, or more by the last one.

    ahead: how many batches of an epoch a thread makes before they are asked for. inputs: a list is several inputs.
    """

    def __init__(self, batches: Iterator[Any], samples: int, ahead: int, inputs: bool):
        self._batches, self._samples, self._ahead, self._inputs = batches, int(samples), ahead, inputs

    def __iter__(self) -> Iterator[Any]:
        epoch = self._epoch()
        if self._ahead == 0:
            return epoch
        made = in_threads(lambda _: next(epoch, None), repeat(None), 1, self._ahead)
        return _until_none(made)

    def _epoch(self) -> Iterator[Any]:
        seen = 0
        while seen < self._samples:
            batch = next(self._batches, None)
            if batch is None:
                raise ValueError(f"the generator ended after {seen} samples of {self._samples} that make an epoch.")
            seen += _samples(batch)
            yield (batch,) if self._inputs and isinstance(batch, list) else batch


def _until_none(made: Any) -> Iterator[Any]:
    try:
        for batch in made:
            if batch is None:
                return
            yield batch
    finally:
        made.close()


def _samples(batch: Any) -> int:
    while isinstance(batch, (tuple, list, dict)):
        batch = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    return len(batch)


def _counting(method: str) -> Callable[..., Any]:
    own = getattr(Model, method)
    counts = COUNTS[method]
    order = [counts[0][1], counts[0][0], *list(inspect.signature(own).parameters)[3:]]
    renamed = {old: new for old, new in KEYWORDS[method].items() if not new.startswith(REFUSED)}

    @wraps(own)
    def counting(model: Any, /, *args: Any, **given: Any) -> Any:
        old = any(name in given for name in (*renamed, *(count[0] for count in counts)))
        if not old or counts[0][2] in given:
            return own(model, *args, **given)
        # A call with one of Keras 1's names is Keras 1's: its second argument counts samples, too.
        if len(args) > len(order) or not given.keys().isdisjoint(order[: len(args)]):
            raise TypeError(f"{method}: an argument is given twice, or there are too many of them.")
        given.update(zip(order, args, strict=False))
        given = {renamed.get(name, name): value for name, value in given.items()}
        return own(model, **(_in_epochs(method, given) if counts[0][0] in given else given))

    return counting


def _in_epochs(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments whose iterators are `Epochs`. Arrays to validate on are all taken, as in Keras 1."""
    workers, ahead = given.pop("workers", 1), given.pop("max_queue_size", 10)
    read(method, "max_queue_size", integer(1), ahead)
    if given.pop("use_multiprocessing", False) or workers > 1:
        warnings.warn(
            f"{method}: threads or processes would each make the same batches of a generator, so one thread runs it; a "
            "Sequence is made by several of them.",
            stacklevel=3,
        )
    for old, source, _ in COUNTS[method]:
        samples = given.pop(old, None)
        if samples is None:
            continue
        read(method, old, integer(1), samples)
        if hasattr(given[source], "__next__"):
            given[source] = Epochs(given[source], samples, ahead if workers else 0, method == "predict_generator")
        elif not isinstance(given[source], (tuple, list)):
            raise TypeError(f"{method}: {old} counts samples of a generator; a Sequence has its own number of batches.")
    return given


def _in_numpy(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """`Model.evaluate`, whose single number is NumPy's, as it is in Keras 2."""

    @wraps(evaluate)
    def evaluated(*args: Any, **kwargs: Any) -> Any:
        found = evaluate(*args, **kwargs)
        return np.float64(found) if isinstance(found, float) else found

    return evaluated


def extend() -> None:
    """Let models count samples where a script does."""
    extensions.extend(Model, **{method: _counting(method) for method in COUNTS})
    extensions.extend(Model, evaluate=_in_numpy(Model.evaluate))
