"""Sources: any kind of data as an iterator of batches."""

from torchkeras.data.sources.opening import open_source
from torchkeras.data.sources.source import Source

__all__ = ["Source", "open_source"]
