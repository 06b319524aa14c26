"""What is asked of `torch.cuda`, seen without a CUDA device."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.distributed import HashStore  # pyright: ignore[reportPrivateImportUsage]

from torchkeras.data import batch, random_state
from torchkeras.distribution import group
from torchkeras.engine.speed import choose
from torchkeras.metrics import counting

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


@pytest.mark.parametrize(("saved", "processes", "expected"), [("cuda:0", 1, 0), ("cuda:1", 1, 1), ("cuda:0", 2, 1)])
def test_a_generator_goes_on_where_its_process_computes(
    monkeypatch: pytest.MonkeyPatch, saved: str, processes: int, expected: int
):
    places: list[Any] = []
    monkeypatch.setattr(random_state.processes, "world_size", lambda: processes)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    generator = SimpleNamespace(set_state=lambda state: state)
    monkeypatch.setattr(torch, "Generator", lambda place: places.append(place) or generator)
    assert random_state.generator(saved, DREW) is DREW
    assert places == [torch.device("cuda", expected)]


def test_a_generator_of_an_absent_device_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(
        ValueError, match=r"^The checkpoint has a random generator of cuda:0; there are 0 CUDA devices\.$"
    ):
        random_state.generator("cuda:0", DREW)


def test_running_sums_need_no_kernel_that_is_not_deterministic(monkeypatch: pytest.MonkeyPatch):
    values = torch.tensor([[1.0, 2.0, 4.0], [0.5, 0.25, float("inf")]])
    expected = [values.cumsum(1), values[..., None].expand(2, 3, 5).cumsum(1)]
    monkeypatch.setattr(torch.Tensor, "is_cuda", True)
    monkeypatch.setattr(torch, "are_deterministic_algorithms_enabled", lambda: True)
    monkeypatch.setattr(torch.Tensor, "cumsum", None)
    torch.testing.assert_close(counting._running_sums(values), expected[0], rtol=0, atol=0)
    torch.testing.assert_close(counting._running_sums(values[..., None].expand(2, 3, 5)), expected[1], rtol=0, atol=0)


@pytest.mark.parametrize(("uuids", "together"), [(["a", "b", "c"], {}), (["a", "b", "a"], {0: "0, 2", 2: "0, 2"})])
def test_processes_on_one_cuda_device_are_named(
    monkeypatch: pytest.MonkeyPatch, uuids: list[str], together: dict[int, str]
):
    """As where a launcher starts two processes on a machine with one device: NCCL says "duplicate GPU"."""
    store = HashStore()
    for place, uuid in enumerate(uuids):
        store.set(f"device{place}", uuid)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    for place, uuid in enumerate(uuids):
        device = SimpleNamespace(uuid=uuid, name="H100")
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index, device=device: device)
        if place not in together:
            group._check_devices(store, place, len(uuids))
            continue
        with pytest.raises(RuntimeError) as caught:
            group._check_devices(store, place, len(uuids))
        assert str(caught.value) == (
            f"initialize: the processes {together[place]} have one CUDA device, H100, and NCCL takes one for each "
            "process. Start as many processes as there are CUDA devices, or call "
            "torchkeras.config.set_device('cpu') first."
        )
