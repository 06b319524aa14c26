"""What holds in every test."""

import random

import numpy as np
import pytest
import torch


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """A test draws the same numbers alone, among others, and in any order."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - the state that Keras's users share
    torch.manual_seed(0)
