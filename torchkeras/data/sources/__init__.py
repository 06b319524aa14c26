"""Sources: any kind of data as an iterator of batches."""

from torchkeras.data.sources.opening import limited, open_source
from torchkeras.data.sources.source import Source

__all__ = ["Source", "limited", "open_source"]
