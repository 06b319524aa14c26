"""What is used of torch's FSDP2, DTensors and DCP that is not public, or has other forms in older versions of torch.

`check_shares` comes before any use of FSDP2.
"""

# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.distributed.checkpoint import state_dict_loader

__all__ = [
    "SHARES",
    "TrainingState",
    "check_shares",
    "cls_to_fsdp_cls",
    "distribute_tensor",
    "fully_shard",
    "groups_of",
    "load_alone",
    "state_of",
    "unsafe_setattr_param",
]

SINCE = "2.8"
SHARES = torch.__version__ >= SINCE

if TYPE_CHECKING or SHARES:
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.fsdp._fully_shard._fsdp_common import TrainingState
    from torch.distributed.fsdp._fully_shard._fsdp_param import unsafe_setattr_param
    from torch.distributed.fsdp._fully_shard._fsdp_state import _get_module_fsdp_state as state_of
    from torch.distributed.fsdp._fully_shard._fully_shard import cls_to_fsdp_cls
    from torch.distributed.tensor import distribute_tensor
else:
    cls_to_fsdp_cls = distribute_tensor = fully_shard = unsafe_setattr_param = TrainingState = None

    def state_of(module: Any) -> None:
        """None: no module is sharded by this package."""


def check_shares(option: str) -> None:
    """Raise RuntimeError where this torch cannot share weights; `option`: what asked for it."""
    if not SHARES:
        raise RuntimeError(
            f"{option} shares the weights among the processes, which needs torch {SINCE} or newer; found "
            f"{torch.__version__}. Give distribute='ddp', where each process has all weights."
        )


def groups_of(state: Any) -> list[Any]:
    """The groups of weights that a unit gathers; before torch 2.12 a unit has one at most."""
    if hasattr(state, "_fsdp_param_groups"):
        return state._fsdp_param_groups  # type: ignore[no-any-return]
    return [] if state._fsdp_param_group is None else [state._fsdp_param_group]


def load_alone(into: dict[str, Tensor], reader: Any) -> None:
    """DCP's `load` in this process alone, which asks no other."""
    if SHARES:
        state_dict_loader.load(into, storage_reader=reader, no_dist=True)
    else:
        state_dict_loader._load_state_dict(into, reader, no_dist=True)
