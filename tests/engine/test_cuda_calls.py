"""What is asked of `torch.cuda`, seen without a CUDA device."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from torchkeras.data import batch, random_state
from torchkeras.engine.speed import choose

DREW_NOTHING = torch.tensor([*range(8), *[0] * 8], dtype=torch.uint8)  # a seed, and the offset 0
DREW = torch.tensor([*range(8), 4, *[0] * 7], dtype=torch.uint8)


def test_a_step_is_timed_on_the_device_of_its_batch(monkeypatch: pytest.MonkeyPatch):
    waited: list[Any] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    second = torch.device("cuda:1")
    choose._now(SimpleNamespace(inputs=[SimpleNamespace(is_cuda=True, device=second)]))  # type: ignore[arg-type]
    assert waited == [second]


@pytest.mark.parametrize(("free", "reserved", "fits"), [(800, 0, True), (799, 0, False), (400, 600, True)])
def test_memory_that_torch_has_cached_is_free(monkeypatch: pytest.MonkeyPatch, free: int, reserved: int, fits: bool):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 10_000))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: reserved)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: reserved // 3)
    assert batch._fits_memory([torch.zeros(100), None], torch.device("cuda:1")) is fits


def test_states_of_absent_devices_that_drew_nothing_are_left_out(monkeypatch: pytest.MonkeyPatch):
    set_to: list[Any] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", set_to.append)
    random_state._set_cuda([DREW, DREW_NOTHING])
    assert len(set_to) == 1
    assert set_to[0] == [DREW]


def test_a_state_of_an_absent_device_that_drew_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ValueError, match=r"^The checkpoint has random states of 2 CUDA devices; there are 1\.$"):
        random_state._set_cuda([DREW_NOTHING, DREW])
