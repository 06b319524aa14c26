"""What the data sets share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from torchkeras.base.annexes import annex

Data = tuple[np.ndarray, np.ndarray]


def of(name: str) -> Any:
    """The module of this package that loads a data set."""
    return getattr(annex("data sets"), name)


@contextmanager
def numpy_state_kept() -> Iterator[None]:
    """Leave NumPy's global state as it was before a block that seeds it: Keras 3 has one of its own for each call."""
    state = np.random.get_state()  # noqa: NPY002 - the state that scripts share
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002 - as said


def check_split(name: str, test_split: float) -> None:
    """Raise ValueError for a part that is none."""
    if not 0 <= test_split < 1:
        raise ValueError(f"{name}.load_data: test_split must be at least 0 and less than 1; found {test_split!r}.")
