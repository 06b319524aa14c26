"""glibc is set once to keep freed memory, unless the user has set its limits."""

import ctypes
import subprocess
import sys

import pytest
import torch

from torchkeras.base import malloc

FIT = """
import resource
import torch, torchkeras
from torchkeras.base.malloc import keep_freed
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


def test_large_pages_are_asked_for_the_whole_pages_of_large_tensors(monkeypatch):
    asked = []
    monkeypatch.setattr(malloc, "_madvise", lambda: lambda *given: asked.append(given))
    tensor = torch.empty(malloc.LARGE // 4 + 5000)
    malloc.large_pages(torch.empty(1000))
    malloc.large_pages(tensor)
    [(begin, size, advice)] = asked
    first, last = tensor.data_ptr(), tensor.data_ptr() + 4 * tensor.numel()
    assert begin % malloc.PAGE == size % malloc.PAGE == 0
    assert first <= begin < first + malloc.PAGE
    assert last - malloc.PAGE < begin + size <= last
    assert advice == malloc.MADV_HUGEPAGE


def test_the_system_takes_the_advice_or_leaves_it():
    tensor = torch.empty(2 * malloc.LARGE)
    malloc.large_pages(tensor)
    assert float(tensor.zero_().sum()) == 0
