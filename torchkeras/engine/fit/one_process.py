"""Training and evaluating are of one process yet: what would count a part of the data, or not train, is refused."""

from __future__ import annotations

import os
import sys
from typing import Any

import torch
from torch import nn

BY_HAND = "Train it by a loop of your own, in which it is an nn.Module like any other"


def check_one_process(model: nn.Module, method: str) -> None:
    """Raise RuntimeError in a process group of several processes, under torchrun, and for a model in shards.

    A group of one process is fine. A loop by hand is not asked.
    """
    check_whole(model, method)
    size, found = _processes()
    if size > 1:
        raise RuntimeError(
            f"{method}: {found} has {size} processes, and {method} does not synchronize them yet: each would take all "
            f"of its data for itself, and gradients, weights and numbers would be of one process alone. {BY_HAND}, or "
            "start one process."
        )


def check_whole(model: nn.Module, method: str) -> None:
    """Raise RuntimeError for a model of which this process holds a part, or in which torch wraps a module."""
    if not _has_group():  # without which torch neither wraps nor distributes
        return
    wrappers = nn.parallel.DistributedDataParallel, *_known("torch.distributed.fsdp", *FSDP)
    sharded = _known("torch.distributed.tensor", "DTensor")
    for name, module in model.named_modules():
        if isinstance(module, wrappers):
            raise RuntimeError(
                f"{method}: {_of(name)} is wrapped for several processes ({type(module).__name__}), which {method} "
                f"does not synchronize yet. {BY_HAND}."
            )
    for name, parameter in model.named_parameters():
        if isinstance(parameter, sharded):
            raise RuntimeError(
                f"{method}: the parameter {name!r} is a DTensor, of which each process holds a part, and {method} does "
                f"not train such parameters yet. {BY_HAND}."
            )


FSDP = ("FullyShardedDataParallel", "FSDPModule")


def _of(name: str) -> str:
    return f"the module {name!r}" if name else "the model"


def _known(module: str, *names: str) -> tuple[Any, ...]:
    """Classes of a module of torch that is slow to import: none of them has objects while nobody has imported it."""
    return tuple(getattr(sys.modules[module], name) for name in names) if module in sys.modules else ()


def _processes() -> tuple[int, str]:
    """The number of processes, and what tells it."""
    if _has_group():
        return torch.distributed.get_world_size(), "the process group of torch.distributed"
    if "TORCHELASTIC_RUN_ID" in os.environ:  # without a group each process would train a model of its own
        return int(os.environ.get("WORLD_SIZE", "1")), "the job that torchrun started"
    return 1, ""


def _has_group() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()
