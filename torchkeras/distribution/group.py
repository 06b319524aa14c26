"""The group of processes: joined as the launcher says, or the one that exists already."""

# pyright: reportPrivateImportUsage=false
# torch.distributed lists neither its stores nor `rendezvous` among its public names; torch documents them. What sends
# many tensors at once has an underscore.

from __future__ import annotations

import atexit
import itertools
import os
import re
import sys
import time
import zlib
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from torchkeras import config
from torchkeras.base.rules import known_options, number, optional, read
from torchkeras.world.processes import LAUNCHERS, has_group, launcher, local_rank, run_of_mpi

# One port for each step of a job of Slurm, and for each run of mpirun: several may share a machine.
FIRST_PORT, PORTS, STEPS = 20000, 20000, 16
BUCKET = 25 * 2**20  # bytes that are sent at once, as in DistributedDataParallel
LOOKING = 0.2  # seconds from one look for process 0 to the next
DROPPED_WITHIN = 0.1  # seconds after which gloo has dropped what it sent
TIMEOUT = optional(number("of more than 0", lambda v: v > 0))
_joined = itertools.count()  # the groups that this process has joined
_met: dict[Any, tuple[Any, int, int]] = {}


@known_options
def initialize(timeout: float | None = None) -> None:
    """Join the processes that a launcher started: torchrun, srun, mpirun.

    `compile` calls it, so a script need not; call it first to set the timeout, or to use `rank()` and `barrier()`
    before. A group that exists already (Ray Train's, Accelerate's, one made by hand) is used as it is. Without a
    launcher there is one process, and nothing is done. A second call does nothing.

    CUDA tensors use NCCL, CPU tensors gloo. Each process gets the CUDA device of its number on its machine, unless
    `torchkeras.config.set_device("cpu")` was called. The group ends with the process.

    Arguments:
        timeout (positive number or None, default None): the seconds after which a process that waits for another
            one gives up; None is torch's timeout.

    Errors:
        ValueError: the timeout is no positive number.
        RuntimeError: the launcher does not say where the first process is, its port is taken, or the machine has fewer
            CUDA devices than processes; or two processes have the same CUDA device, which NCCL refuses.

    Example:
        >>> initialize()
        >>> rank(), world_size()
        (0, 1)

    Source: https://docs.pytorch.org/docs/stable/distributed.html
    """
    seconds = read("initialize", "timeout", TIMEOUT, timeout)
    names = launcher()
    if has_group() or names is None:
        return
    _complete_environment(names)
    cuda = config.device().type == "cuda"
    if cuda:
        torch.cuda.set_device(_cuda_device())
    limit: dict[str, Any] = {} if seconds is None else {"timeout": timedelta(seconds=seconds)}
    met, place, processes = _meeting(limit)
    store = dist.PrefixStore(f"group{next(_joined)}", met)
    if cuda:
        _check_devices(store, place, processes)
    dist.init_process_group(
        "cpu:gloo,cuda:nccl" if cuda else "gloo",
        store=store,
        rank=place,
        world_size=processes,
        device_id=torch.device("cuda", torch.cuda.current_device()) if cuda else None,
        **limit,
    )
    atexit.register(_leave)


def barrier() -> None:
    """Wait until every process is here.

    Errors:
        RuntimeError: another process has died, or is not here within the timeout.

    Example:
        >>> barrier()
    """
    if has_group():
        dist.barrier()


def take_first(tensors: Iterable[torch.Tensor], group: Any = None) -> None:
    """Give tensors, in every process of a group, the values that the first one has, some megabytes at a time."""
    found = [tensor.detach() for tensor in tensors if tensor.numel()]
    values = [torch.view_as_real(each) if each.is_complex() else each for each in found]
    if values:
        dist._broadcast_coalesced(group or dist.distributed_c10d._get_default_group(), values, BUCKET, 0)


def _meeting(limit: dict[str, Any]) -> tuple[Any, int, int]:
    """The store by which the processes find each other, the number of this one, and how many there are.

    A group that is joined after another has the same store: process 0 keeps it, and cannot open a second one while
    others still look at the first.
    """
    place = tuple(os.environ.get(name) for name in ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"))
    if place not in _met:
        try:
            store, number, processes = next(dist.rendezvous("env://", **limit))
        except RuntimeError as error:  # torch 2.8: a DistNetworkError
            if "EADDRINUSE" not in str(error):
                raise
            raise RuntimeError(
                f"initialize: process 0 cannot listen at port {place[1]} of this machine, which another program uses, "
                "such as another run. Set MASTER_PORT to a free port, the same for all processes."
            ) from error
        if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
            # torch 2.6: no prefix; before, the number of the start as each agent counts it.
            store = store.underlying_store if isinstance(store, dist.PrefixStore) else store
            store = dist.PrefixStore(_attempt(store, number, processes), store)
        _met[place] = store, number, processes
    return _met[place]


def _attempt(store: Any, number: int, processes: int) -> str:
    """A name of this start of torchrun's workers, the same in all of them.

    Its agents keep a store when they start workers again, with the addresses of dead ones. They count the starts, but
    not alike: not those for which another agent's worker was the reason. So process 0 counts them, and says who is
    there. A process that reads the number of an earlier start is not among them, and reads it again.
    """
    if number == 0:
        attempt = f"torchkeras/start{store.add('torchkeras/starts', 1)}"
        store.set(f"{attempt}/all", b" ".join(store.get(f"{attempt}/{each}") for each in range(1, processes)))
        return attempt
    own, end = os.urandom(8).hex(), time.monotonic() + store.timeout.total_seconds()
    while time.monotonic() < end:
        attempt = f"torchkeras/start{store.add('torchkeras/starts', 0)}"
        store.set(f"{attempt}/{number}", own)
        if store.check([f"{attempt}/all"]) and own in store.get(f"{attempt}/all").decode():
            return attempt
        time.sleep(LOOKING)
    raise RuntimeError(f"initialize: process {number} waited for process 0 for {store.timeout.total_seconds():g} s.")


def _complete_environment(names: tuple[str, ...]) -> None:
    """Set what torch's `env://` reads, and what other launchers call otherwise."""
    for name, found in zip(LAUNCHERS[0][:3], names, strict=False):
        if found in os.environ:
            os.environ.setdefault(name, os.environ[found])
    nodes = os.environ.get("SLURM_STEP_NODELIST")
    if nodes is not None and names[0] == "SLURM_PROCID":
        os.environ.setdefault("MASTER_ADDR", _first_node(nodes))
        step = STEPS * int(os.environ.get("SLURM_JOB_ID", 0)) + int(os.environ.get("SLURM_STEP_ID", 0))
        os.environ.setdefault("MASTER_PORT", str(FIRST_PORT + step % PORTS))
    elif os.environ.get(names[3]) == os.environ[names[1]]:  # all on one machine
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        run = run_of_mpi(names)
        port = "29500" if run is None else str(FIRST_PORT + zlib.crc32(run.encode()) % PORTS)
        os.environ.setdefault("MASTER_PORT", port)
    missing = [name for name in ("MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise RuntimeError(
            f"initialize: {names[0]} and {names[1]} say that there are {os.environ[names[1]]} processes, but "
            f"{' and '.join(missing)} are not set, so they cannot find each other. Set them to the address of the "
            "machine of process 0 and a free port of it; torchrun and srun need neither."
        )


def _first_node(nodes: str) -> str:
    """The first of Slurm's list of machines: "gpu[07-09,12],cpu1" gives "gpu07"."""
    first = re.match(r"(?:[^,\[]|\[[^\]]*\])*", nodes)
    return re.sub(r"\[([^\],-]+)[^\]]*\]", r"\1", first[0] if first else nodes)


def _cuda_device() -> int:
    count, place = torch.cuda.device_count(), local_rank()
    if place >= count > 1:
        raise RuntimeError(
            f"initialize: this is process {place} of its machine, counted from 0, which has {count} CUDA devices. "
            f"Start at most {count} processes on it, or call torchkeras.config.set_device('cpu') first."
        )
    return place if place < count else 0  # some launchers show each process its own device alone


def _check_devices(store: Any, place: int, processes: int) -> None:
    """Raise RuntimeError in each process, by name, where two of all have one CUDA device: NCCL takes one for each."""
    found = torch.cuda.get_device_properties(torch.cuda.current_device())
    if not hasattr(found, "uuid"):  # torch 2.6
        return
    store.set(f"device{place}", str(found.uuid))
    uuids = [store.get(f"device{each}") for each in range(processes)]
    sharing = [each for each in range(processes) if uuids[each] == uuids[place]]
    if len(sharing) > 1:
        raise RuntimeError(
            f"initialize: the processes {', '.join(map(str, sharing))} have one CUDA device, {found.name}, and NCCL "
            "takes one for each process. Start as many processes as there are CUDA devices, or call "
            "torchkeras.config.set_device('cpu') first."
        )


def _leave() -> None:
    # After an error NCCL would wait for processes that still compute; they are to learn of the end.
    if has_group() and not hasattr(sys, "last_value"):
        dist.destroy_process_group()
        # A thread of gloo takes Python's lock to drop the tensors of the last exchange. If it waits for the lock when
        # the interpreter ends, it aborts the process: here it gets it.
        time.sleep(DROPPED_WITHIN)
