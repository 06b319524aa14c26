"""Which of the processes that a launcher has started this one is, and what all of them have.

A launcher, such as torchrun or srun, tells each process its number by variables of the environment.
"""

from __future__ import annotations

import os
import socket
import struct
from typing import Any

import torch
import torch.distributed as dist

from torchkeras.base.annexes import annex
from torchkeras.world.one_process import has_group

# --- what launchers tell ----------------------------------------------------------------------------------------------


# What launchers say of a process: its number, how many there are, its number on its machine, how many there are on it.
# torchrun, Ray and Accelerate use the first names. Slurm's count is set by srun alone, so that a plain `python` in a
# batch script is one process.
SLURM = ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE")
OPENMPI = tuple(f"OMPI_COMM_WORLD_{name}" for name in ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE"))
MPICH = ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")
LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    OPENMPI,
    SLURM,
    MPICH,
)
RANKS = [names[0] for names in LAUNCHERS]


def launcher() -> tuple[str, ...] | None:
    """The variables of the launcher that started this process; None where none did.

    In a job of Slurm mpirun starts a helper on each machine by srun, whose variables its processes have too.
    """
    found = next((names for names in LAUNCHERS if names[0] in os.environ and names[1] in os.environ), None)
    return MPICH if found is SLURM and MPICH[2] in os.environ else found  # srun sets the first two of these as well


def from_launcher(which: int, default: int) -> int:
    """The number in one of the variables of the launcher, by its place in a row of `LAUNCHERS`."""
    names = launcher()
    return default if names is None else int(os.environ.get(names[which], default))


def run_of_mpi(names: tuple[str, ...]) -> str | None:
    """What the processes of one mpirun on this machine share, and another run's do not; None where that is not known.

    OpenMPI gives its runs names. MPICH does not. Each of its processes has a socket to one process that mpirun keeps on
    the machine: Linux tells that one's number, also through a shell that stands between.
    """
    if names is OPENMPI:
        return os.environ.get("PMIX_NAMESPACE")
    if names is not MPICH or not hasattr(socket, "SO_PEERCRED"):
        return None
    try:
        with socket.fromfd(int(os.environ.get("PMI_FD", "-1")), socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            number, _, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    except (OSError, ValueError):  # closed on the way, or no socket
        return None
    return str(number) if number > 0 else None  # of a socket to another machine there is none


# --- processes --------------------------------------------------------------------------------------------------------


def join() -> None:
    """Join the processes that a launcher started; see `distribution.initialize`."""
    annex("process group").initialize()


def rank() -> int:
    """The number of this process, from 0; 0 in one process.

    Example:
        >>> rank()
        0
    """
    return dist.get_rank() if has_group() else from_launcher(0, 0)


def world_size() -> int:
    """How many processes there are.

    Example:
        >>> world_size()
        1
    """
    return dist.get_world_size() if has_group() else from_launcher(1, 1)


def local_rank() -> int:
    """The number of this process among those of its machine.

    It is `rank()` where the launcher does not say it.

    Example:
        >>> local_rank()
        0
    """
    return from_launcher(2, rank())


def is_main() -> bool:
    """Whether this is the main process, number 0, which writes files and prints.

    Example:
        >>> is_main()
        True
    """
    return rank() == 0


def gathered(value: Any, group: Any = None) -> list[Any]:
    """What each process of a group gives, in their order: objects that can be pickled."""
    found: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(found, value, group=group)
    return found


def stacked(values: torch.Tensor, group: Any = None) -> torch.Tensor:
    """The values of all processes of a group, of one shape: (processes, ...). They record no gradients."""
    values = values.detach().contiguous()
    found = values.new_empty((dist.get_world_size(group), *values.shape))
    dist.all_gather(list(found.unbind(0)), values, group=group)
    return found
