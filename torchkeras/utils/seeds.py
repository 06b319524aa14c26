"""`set_random_seed`: one seed for everything that draws random numbers."""

from __future__ import annotations

import random

import numpy as np
import torch

from torchkeras.base.rules import integer, read


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
    seed = read("set_random_seed", "seed", integer(0, 2**32 - 1), seed)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the state that Keras's users share
    torch.manual_seed(seed)
