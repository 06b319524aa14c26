"""Everything that a user has as data, to one iterator of batches."""

from torchkeras.engine.data.sources.opening import open_source
from torchkeras.engine.data.sources.source import Source

__all__ = ["Source", "open_source"]
