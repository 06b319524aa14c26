"""Make files safe to read for the commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torchkeras.saving.containers.first_bytes import SAFETENSORS, STATE
from torchkeras.saving.containers.isolated import cleaned
from torchkeras.saving.containers.limits import GIB


@contextmanager
def safe(path: str | os.PathLike[str], format: str, seconds: float | None = None, memory: int = GIB) -> Iterator[Path]:
    """The path to read in place of a file: for HDF5 and archives a clean copy, made by a process with limits.

    safetensors and state_dicts are read in place: a safetensors file is only a list of places, and only tensors are
    created from a state_dict. Raises the errors of `isolated.cleaned`.
    """
    if format in (SAFETENSORS, STATE):
        yield Path(path)
        return
    with cleaned(path, seconds, memory) as copy:
        yield copy
