"""Which of the processes that a launcher has started this one is, and what all of them have."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from torchkeras.base.annexes import annex
from torchkeras.base.launchers import from_launcher
from torchkeras.base.sharing import has_group


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
