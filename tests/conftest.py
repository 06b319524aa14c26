"""What holds in every test."""

import random

import numpy as np
import pytest
import torch
from tape import Tape

from torchkeras.engine import captured, one_graph
from torchkeras.layers import recurrence


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """A test draws the same numbers alone, among others, and in any order."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - the state that Keras's users share
    torch.manual_seed(0)


@pytest.fixture
def tape(monkeypatch):
    """Lets `cuda_graph=True` work on the CPU, by tapes. What is only done on the CPU, by NumPy, is not."""
    Tape.captures = Tape.replays = 0
    monkeypatch.setattr(captured, "CudaGraph", Tape)
    monkeypatch.setattr(one_graph, "_is_on_cuda", lambda given: True)
    monkeypatch.setattr(recurrence, "_padded_behind", lambda mask: False)
    return Tape
