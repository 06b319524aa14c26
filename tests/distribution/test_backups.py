"""Checkpoints of several processes: what each gets back, with the same number of processes and with another."""

import errno
import os
import random
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from pool import Pools
from torch.distributed.fsdp import fully_shard

from torchkeras import Sequential, clear_session, layers
from torchkeras.data import random_state
from torchkeras.data.part import Part
from torchkeras.distribution.backups import SharedBackups
from torchkeras.resume.backup_files import Backups
from torchkeras.world.processes import rank, world_size


@pytest.fixture
def together(pools: Pools) -> Callable[..., list[Any]]:
    return pools.run


class Agreeing:
    """What stands for the processes of a run."""

    group = None

    def __init__(self) -> None:
        self.part = Part(rank(), world_size())

    def agreed(self, flag: bool) -> bool:
        told = [False] * world_size()
        dist.all_gather_object(told, flag)
        return any(told)


def run_of(sharded: bool) -> Any:
    """What stands for a `Run`: a model, and two metrics."""
    clear_session()
    torch.manual_seed(3)
    model = Sequential([layers.Dense(4, input_shape=(3,)), layers.BatchNormalization()])
    if sharded:
        fully_shard(model)
    kept = {"added": SimpleNamespace(adds_up=True), "whole": SimpleNamespace(adds_up=False)}
    return SimpleNamespace(network=model, compiled=SimpleNamespace(kept=kept), processes=Agreeing())


def tensors(model: Any) -> dict[str, torch.Tensor]:
    return {name: each.detach() for name, each in (*model.named_parameters(), *model.named_buffers())}


def state_of(run: Any, number: int, batches: int = 7) -> dict[str, Any]:
    """The state of process `number`: weights as all have them, sums and random numbers of its own."""
    torch.manual_seed(number)
    random.seed(5)
    np.random.seed(number)  # noqa: NPY002
    return {
        "epoch": 1,
        "tensors": tensors(run.network),
        "optimizer": ["Adam", {"moments": [each.detach() * 2 for each in run.network.parameters()], "iterations": 3}],
        "sums": {"totals": {"loss": torch.tensor(1.5 + number)}, "seen": 3 + number, "batches": batches},
        "metrics": {
            "added": {"total": torch.tensor([1.0, 2.0]) * (number + 1)},
            "whole": {"total": torch.tensor(4.0)},
        },
        "guard": {"good": torch.tensor(True), "good_samples": torch.tensor(2 + number)},
        "step_random": {"now": [torch.Generator().manual_seed(20 + number).get_state()]},
        "generators": {"dropout.generator": ["cpu", torch.Generator().manual_seed(number).get_state()]},
        "random": random_state.state(),
        "callbacks": {"EarlyStopping": {"best": 0.5, "lists": [1, (2, "a")], 3: None}},
    }


def backups(folder: Path, run: Any) -> Backups:
    return (SharedBackups if world_size() > 1 else Backups)(folder, run)


def prepare(here: Backups) -> None:
    """As a run does, but other runs may have the folder at once."""
    here.prepare()
    here.release()


def write(folder: Path, sharded: bool) -> None:
    run = run_of(sharded)
    here = backups(folder, run)
    prepare(here)
    for batches in (6, 7):
        here.write(state_of(run, rank(), batches))


def local(tensor: Any) -> torch.Tensor:
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def read(folder: Path, sharded: bool) -> Any:
    """What a process reads, and whether its weights, moments and the rest of the state are those written."""
    run = run_of(sharded)
    here = backups(folder, run)
    prepare(here)
    newest = here.newest()
    assert newest is not None
    found, wanted = newest[1], state_of(run, 0)
    pairs = [(found["tensors"][name], tensor) for name, tensor in wanted["tensors"].items()]
    pairs += zip(found["optimizer"][1]["moments"], wanted["optimizer"][1]["moments"], strict=True)
    for mine, other in pairs:
        assert hasattr(mine, "to_local") is hasattr(other, "to_local")
        assert torch.equal(local(mine), local(other))
    for name in ("epoch", "callbacks"):
        assert found[name] == wanted[name]
    assert found["optimizer"][1]["iterations"] == 3
    return {
        "loss": float(found["sums"]["totals"]["loss"]),
        "seen": found["sums"]["seen"],
        "added": found["metrics"]["added"]["total"].tolist(),
        "whole": float(found["metrics"]["whole"]["total"]),
        "guard": int(found["guard"]["good_samples"]),
        "step": found["step_random"]["now"][0],
        "random": found["random"],
        "generator": found["generators"]["dropout.generator"][1],
    }


def drawn(state: Any) -> list[float]:
    """The next random numbers: of Python, NumPy and torch."""
    random_state.restore(state)
    return [random.random(), np.random.random(), float(torch.rand(()))]  # noqa: NPY002


def of_process(number: int) -> list[float]:
    return drawn(state_of(run_of(False), number)["random"])


def test_the_same_number_of_processes_goes_on_with_what_each_had(together, tmp_path):
    together(write, 2, tmp_path, False)
    for number, found in enumerate(together(read, 2, tmp_path, False)):
        wanted = state_of(run_of(False), number)
        assert (found["loss"], found["seen"]) == (1.5 + number, 3 + number)
        assert found["added"] == [1.0 + number, 2.0 + 2 * number]
        assert found["whole"] == 4.0
        assert drawn(found["random"]) == of_process(number)
        assert torch.equal(found["step"], wanted["step_random"]["now"][0])
        assert torch.equal(found["generator"], wanted["generators"]["dropout.generator"][1])


def test_more_processes_share_what_fewer_counted(together, tmp_path):
    together(write, 2, tmp_path, False)
    found = together(read, 3, tmp_path, False)
    assert [each["loss"] for each in found] == [4.0, 0.0, 0.0]
    assert [each["seen"] for each in found] == [7, 0, 0]
    assert [each["added"] for each in found] == [[3.0, 6.0], [0.0, 0.0], [0.0, 0.0]]
    assert [each["whole"] for each in found] == [4.0] * 3
    assert [each["guard"] for each in found] == [5, 0, 0]
    assert [
        torch.equal(each["step"], torch.Generator().manual_seed(20 + k).get_state()) for k, each in enumerate(found)
    ] == [True, True, False]
    numbers = [drawn(each["random"]) for each in found]
    assert numbers[:2] == [of_process(0), of_process(1)]
    assert numbers[2][0] == numbers[0][0]  # Python's were alike on all
    assert len({each[1] for each in numbers}) == len({each[2] for each in numbers}) == 3
    assert len({each["generator"].numpy().tobytes() for each in found}) == 3
    assert numbers == [drawn(each["random"]) for each in together(read, 3, tmp_path, False)]


def test_one_process_goes_on_with_the_folder_of_two(together, tmp_path):
    together(write, 2, tmp_path, False)
    (found,) = together(read, 1, tmp_path, False)
    assert (found["loss"], found["seen"], found["added"], found["whole"]) == (4.0, 7, [3.0, 6.0], 4.0)
    assert drawn(found["random"]) == of_process(0)


def test_two_processes_go_on_with_the_file_of_one(together, tmp_path):
    together(write, 1, tmp_path, False)
    assert all(path.is_file() for path in tmp_path.iterdir())
    for sharded in (False, True):
        found = together(read, 2, tmp_path, sharded)
        assert [(each["loss"], each["seen"]) for each in found] == [(1.5, 3), (0.0, 0)]


def test_shards_go_on_in_another_number_and_whole(together, tmp_path):
    together(write, 2, tmp_path, True)
    for processes, sharded in ((2, True), (3, True), (2, False), (1, False)):
        found = together(read, processes, tmp_path, sharded)
        assert sum(each["seen"] for each in found) == 7


def test_whole_weights_go_on_as_shards(together, tmp_path):
    together(write, 2, tmp_path, False)
    assert len(together(read, 3, tmp_path, True)) == 3


# --- faults ----------------------------------------------------------------------------------------------------------


def damage(path: Path, how: str) -> None:
    files = sorted(path.iterdir())
    if how == "cut":
        files[-1].write_bytes(files[-1].read_bytes()[:-1])
    elif how == "changed":
        files[-1].write_bytes(b"x" + files[-1].read_bytes()[1:])
    elif how == "missing":
        files[0].unlink()
    elif how == "more":
        (path / "more").touch()


def batches_read(folder: Path) -> tuple[int, list[str]]:
    """The batch of the newest whole checkpoint, and the warnings."""
    run = run_of(False)
    here = backups(folder, run)
    prepare(here)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        newest = here.newest()
    if rank() == 0:
        here.prune(folder)
    assert newest is not None
    return newest[1]["sums"]["batches"], [str(each.message) for each in told if each.category is RuntimeWarning]


@pytest.mark.parametrize("how", ["cut", "changed", "missing", "more"])
def test_a_torn_folder_is_named_and_the_one_before_taken(together, how, tmp_path):
    together(write, 2, tmp_path, False)
    older, newer = sorted(tmp_path.iterdir())
    damage(newer, how)
    for batches, told in together(batches_read, 2, tmp_path):
        assert batches == 6
        assert told == [f"BackupAndRestore: {newer} is torn or damaged, and passed over."]
    assert [path.name for path in tmp_path.iterdir()] == [older.name]


def test_one_process_passes_over_a_torn_folder(together, tmp_path):
    together(write, 2, tmp_path, False)
    damage(sorted(tmp_path.iterdir())[-1], "cut")
    assert batches_read(tmp_path)[0] == 6


def write_more(folder: Path) -> list[str]:
    """Writes one more checkpoint, onto what a stop left in the middle of writing."""
    here = backups(folder, run_of(False))
    left = folder / f".{8:08d}.checkpoint.part"
    if rank() == 0:
        left.mkdir()
        (left / "__0_0.distcp").write_bytes(b"half")
    dist.barrier()
    prepare(here)
    here.write(state_of(here.run, rank(), 8))
    dist.barrier()
    return sorted(path.name for path in folder.iterdir())


def test_the_last_two_stay_and_nothing_half_written(together, tmp_path):
    together(write, 2, tmp_path, False)
    for names in together(write_more, 2, tmp_path):
        assert [name[:21] for name in names] == ["00000001-000000000007", "00000001-000000000008"]


def refused_on(folder: Path, number: int, name: str) -> tuple[int | None, str]:
    """The error that each process gets where process `number` cannot write or read."""
    here = backups(folder, run_of(False))

    def full(*arguments: Any, **options: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    prepare(here)
    with pytest.MonkeyPatch.context() as patch:
        if rank() == number:
            patch.setattr({"fsync": os, "iterdir": Path}[name], name, full)
        try:
            if name == "iterdir":
                here.newest()
            else:
                here.write(state_of(here.run, rank(), 9))
        except OSError as error:
            return error.errno, str(error)
    return None, ""


@pytest.mark.parametrize("number", [0, 1])
def test_a_disk_that_one_process_finds_full_is_named_on_all(together, number, tmp_path):
    together(write, 2, tmp_path, False)
    before = sorted(tmp_path.iterdir())
    for what, name in (("written to", "fsync"), ("read from", "iterdir")):
        for told in together(refused_on, 2, tmp_path, number, name):
            start = "can" if name == "iterdir" else "could"
            text = f"BackupAndRestore: no checkpoint {start} be {what} this folder (No space left on device)"
            assert told == (errno.ENOSPC, f"[Errno {errno.ENOSPC}] {text}: {str(tmp_path)!r}")
    assert sorted(tmp_path.iterdir()) == before


def apart(folder: Path) -> str:
    """The error where each process has a folder of its own."""
    try:
        prepare(backups(folder / str(rank()), run_of(False)))
    except ValueError as error:
        return str(error)
    return ""


def test_folders_of_their_own_are_refused(together, tmp_path):
    for number, told in enumerate(together(apart, 2, tmp_path)):
        assert told == (
            f"BackupAndRestore: process 1 does not see the files of process 0 in {tmp_path / str(number)}. "
            "Give a folder that all processes share, such as one of a network file system."
        )
