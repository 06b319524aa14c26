"""Training by several processes: their group, which of them this one is, and what can go wrong between them."""

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
