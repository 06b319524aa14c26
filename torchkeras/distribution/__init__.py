"""Training by several processes: their group, and which of them this one is."""

from torchkeras.processes import barrier, initialize, is_main, local_rank, rank, world_size

__all__ = ["barrier", "initialize", "is_main", "local_rank", "rank", "world_size"]
