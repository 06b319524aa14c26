"""Make files safe to read for the commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torchkeras.saving.containers.isolated import cleaned
from torchkeras.saving.containers.limits import GIB
from torchkeras.saving.formats import Format


@contextmanager
def safe(
    path: str | os.PathLike[str], format: Format, seconds: float | None = None, memory: int = GIB
) -> Iterator[Path]:
    """The path to read in place of a file: for HDF5 and archives a clean copy, made by a process with limits.

    Files of tensors are read in place: nothing but tensors is created from them. Raises the errors of
    `isolated.cleaned`.
    """
    if format.tensors:
        yield Path(path)
        return
    with cleaned(path, seconds, memory) as copy:
        yield copy
