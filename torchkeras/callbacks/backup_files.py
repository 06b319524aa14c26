"""The checkpoints of `BackupAndRestore`: files of a folder, each whole or known to be torn."""

from __future__ import annotations

import hashlib
import importlib
import io
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from torchkeras.atomic_file import replacing

KEPT = 2  # the newest checkpoint, and the one before it in case the newest is torn
SUFFIX, PART = ".checkpoint", ".part"
DIGITS = 24  # of the digest; so short that the name of a file not yet complete can hold the whole name


class Backups:
    """The checkpoints in a folder. Their names sort by age, and end with a digest of their content.

    One process writes a file. Several write a folder (`torchkeras.distribution.backups`); both read both.
    """

    def __init__(self, folder: Path, run: Any):
        self.folder, self.run = folder, run
        self._torn: list[Path] = []

    def prepare(self) -> None:
        """Make the folder, and take away what a stop left half written. Raises OSError where nothing can be written."""
        with self.disk("no checkpoint can be written to"):
            prepare(self.folder)

    def newest(self) -> tuple[Path, dict[str, Any]] | None:
        """The newest whole checkpoint, and the state in it for this process. Warns of those that are passed over."""
        for path in reversed(self.found()):
            saved = self.read(path)
            if saved is not None:
                return path, saved
            warnings.warn(
                f"BackupAndRestore: {path} is torn or damaged, and passed over.", RuntimeWarning, stacklevel=3
            )
            self._torn.append(path)
        return None

    def found(self) -> list[Path]:
        """The checkpoints, oldest first."""
        return checkpoints(self.folder)

    def read(self, path: Path) -> dict[str, Any] | None:
        """The state in a checkpoint for this process; None when its content does not match its digest."""
        with self.disk("no checkpoint can be read from"):
            if path.is_dir():
                return importlib.import_module("torchkeras.distribution.backups").read(path, self.run)
            return read_file(path)

    def write(self, state: dict[str, Any]) -> None:
        """Write a checkpoint, and take away what is older than the last ones, or torn."""
        content = io.BytesIO()
        torch.save(state, content)
        data = content.getbuffer()
        path = self.folder / f"{age(state)}-{digest(data)}{SUFFIX}"
        with self.disk("no checkpoint could be written to"):
            with replacing(path) as part:
                part.write_bytes(data)
            self.prune(path)

    def prune(self, newest: Path) -> None:
        """Take away torn checkpoints, and all but the last ones."""
        torn, self._torn = [each for each in self._torn if each != newest], []
        whole = [each for each in checkpoints(self.folder) if each not in torn]
        for old in [*torn, *whole[:-KEPT]]:
            remove(old)

    def delete(self) -> None:
        """Delete all checkpoints."""
        for path in checkpoints(self.folder):
            remove(path)

    def agreed(self, flag: bool) -> bool:
        """Whether the flag is True in any process."""
        return flag

    @contextmanager
    def disk(self, what: str) -> Iterator[None]:
        """Raise the errors of a disk again as errors of the same kind that name the folder."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise OSError(error.errno, f"BackupAndRestore: {what} this folder ({reason})", str(self.folder)) from error


def prepare(folder: Path) -> None:
    """See `Backups.prepare`."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.glob(f".*{SUFFIX}*{PART}"):
        remove(part)
    with tempfile.TemporaryFile(dir=folder):
        pass


def checkpoints(folder: Path) -> list[Path]:
    """Those in a folder, oldest first."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def age(state: dict[str, Any]) -> str:
    """The begin of a checkpoint's name, by which it sorts."""
    return f"{state['epoch']:08d}-{state['sums']['batches']:012d}"


def digest(data: Any) -> str:
    """What the name of a checkpoint with this content ends with."""
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def told_digest(path: Path) -> str:
    """The digest in the name of a checkpoint."""
    return path.name.removesuffix(SUFFIX).rpartition("-")[2]


def read_file(path: Path) -> dict[str, Any] | None:
    """The state in a file; None when its bytes do not match its digest."""
    data = path.read_bytes()
    if digest(data) != told_digest(path):
        return None
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)


def remove(path: Path) -> None:
    """Take away a file or folder; a folder under another name first, so that no half of it passes for a checkpoint."""
    if path.is_dir() and not path.is_symlink():
        part = path if path.name.endswith(PART) else path.rename(path.with_name(f".{path.name}{PART}"))
        shutil.rmtree(part)
    else:
        path.unlink(missing_ok=True)
