"""`set_random_seed`: one seed for all that draws random numbers."""

from __future__ import annotations

import random
from numbers import Integral

import numpy as np
import torch


def set_random_seed(seed: int) -> None:
    """Seed Python's `random`, NumPy's global state and torch on all devices, as Keras 3 does.

    `seed`: a whole number from 0 up to 2**32 - 1, which is as far as NumPy's goes. Weights, dropout and the order of
    data that are made from here on are the same in each run. Raises ValueError for anything else.
    https://keras.io/api/utils/python_utils/
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed < 2**32:
        raise ValueError(f"set_random_seed: seed must be a whole number from 0 to 2**32 - 1; found {seed!r}.")
    random.seed(int(seed))
    np.random.seed(int(seed))  # noqa: NPY002 - the state that Keras's users share
    torch.manual_seed(int(seed))
