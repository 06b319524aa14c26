"""Training by several processes: their group, which of them this one is, and what can go wrong between them."""

from typing import TYPE_CHECKING

from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.distribution.agreement import ProcessesDifferError
from torchkeras.distribution.group import barrier, initialize
from torchkeras.distribution.lost import ProcessLostError
from torchkeras.world.processes import is_main, local_rank, rank, world_size

__all__ = [
    "ProcessLostError",
    "ProcessesDifferError",
    "barrier",
    "initialize",
    "is_main",
    "local_rank",
    "rank",
    "world_size",
]

if not TYPE_CHECKING:
    __getattr__ = _missing_from(__name__)
