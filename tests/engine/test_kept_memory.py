"""glibc is set once to keep freed memory, unless the user has set its limits."""

import ctypes
import subprocess
import sys

import pytest

from torchkeras.engine.speed import malloc

FIT = """
import resource
import torch, torchkeras
from torchkeras.engine.speed.malloc import keep_freed
from torchkeras.layers import Conv2D, Flatten, Dense, Input
from torchkeras.models import Model
inputs = Input((32, 32, 8))
model = Model(inputs, Dense(1)(Flatten()(Conv2D(32, 3)(inputs))))
model.compile("sgd", "mse")
x, y = torch.randn(64, 32, 32, 8), torch.randn(64, 1)
model.fit(x, y, batch_size=32, epochs=3, verbose=0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
model.fit(x, y, batch_size=32, epochs=10, verbose=0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, int(keep_freed()))
"""


@pytest.mark.parametrize("name", malloc.OF_THE_USER)
def test_limits_of_the_users_own_stay(monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert malloc.keep_freed.__wrapped__() is False


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert malloc.keep_freed.__wrapped__() is False


def test_steps_ask_the_system_for_no_memory_that_they_had_before():
    """Some 250 page faults in 20 steps, against 41,000 where the memory is given back."""
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    faults, kept = map(int, done.stdout.split())
    assert faults < 5_000 or not kept
    assert kept == hasattr(ctypes.CDLL(None), "mallopt")
