"""`set_random_seed`: one seed for everything that draws random numbers."""

from __future__ import annotations

import random
from numbers import Integral

import numpy as np
import torch


def set_random_seed(seed: int) -> None:
    """Seed Python's `random`, NumPy's global state and torch on all devices, as Keras 3 does.

    Initial weights, dropout and the order of the data are then the same in each run.

    Arguments:
        seed (integer from 0 to 2**32 - 1): the seed; NumPy takes none above.

    Errors:
        ValueError: anything else.

    Example:
        >>> set_random_seed(1)
        >>> first = Dense(2)(torch.ones(1, 3))
        >>> set_random_seed(1)
        >>> bool((Dense(2)(torch.ones(1, 3)) == first).all())
        True

    Source: https://keras.io/api/utils/python_utils/
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed < 2**32:
        raise ValueError(f"set_random_seed: seed must be a whole number from 0 to 2**32 - 1; found {seed!r}.")
    random.seed(int(seed))
    np.random.seed(int(seed))  # noqa: NPY002 - the state that Keras's users share
    torch.manual_seed(int(seed))
