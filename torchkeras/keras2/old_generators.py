"""Keras 1's numbers of samples in `fit_generator`, `evaluate_generator` and `predict_generator`.

Keras 1 counted samples, `samples_per_epoch`, and Keras 2 counts batches. The first batch says how many samples one has.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import chain
from math import ceil
from typing import Any

import numpy as np

from torchkeras.models import Model

# By method: an old argument, the argument that gives the batches, and the new argument.
COUNTS = {
    "fit_generator": (
        ("samples_per_epoch", "generator", "steps_per_epoch"),
        ("nb_val_samples", "validation_data", "validation_steps"),
    ),
    "evaluate_generator": (("val_samples", "generator", "steps"),),
    "predict_generator": (("val_samples", "generator", "steps"),),
}

RENAMED = {"pickle_safe": "use_multiprocessing", "nb_worker": "workers"}


def _counting(method: str) -> Callable[..., Any]:
    own = getattr(Model, method)

    @wraps(own)
    def counting(self: Any, *args: Any, **given: Any) -> Any:
        if args:
            given["generator"], *args = args  # type: ignore[assignment]
        for old, new in RENAMED.items():
            if old in given:
                given[new] = given.pop(old)
        for old, source, new in COUNTS[method]:
            if old in given:
                given[source], size = _sized(given[source])
                given[new] = ceil(given.pop(old) / size)
        return own(self, given.pop("generator"), *args, **given)

    return counting


def _sized(batches: Any) -> tuple[Any, int]:
    """The batches again, and how many samples the first of them has."""
    if hasattr(batches, "batch_size"):
        return batches, batches.batch_size
    if hasattr(batches, "__getitem__"):
        return batches, _samples(batches[0])
    first = next(batches)
    return chain([first], batches), _samples(first)


def _samples(batch: Any) -> int:
    while isinstance(batch, (tuple, list, dict)):
        batch = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    return len(batch)


_evaluate = Model.evaluate


@wraps(_evaluate)
def evaluate(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`Model.evaluate`, whose single number is NumPy's, as it is in Keras 2."""
    found = _evaluate(self, *args, **kwargs)
    return np.float64(found) if isinstance(found, float) else found


def extend() -> None:
    """Let models count samples where a script does."""
    for method in COUNTS:
        setattr(Model, method, _counting(method))
    Model.evaluate = evaluate  # type: ignore[method-assign]
