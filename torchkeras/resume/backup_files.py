"""The checkpoints of `BackupAndRestore`: files in a folder, each complete or known to be torn."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import stat
import tempfile
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from torchkeras.base.annexes import annex
from torchkeras.base.atomic_file import replacing
from torchkeras.resume.folder_lock import FolderLock

KEPT = 2  # the newest checkpoint, and the one before it in case the newest is torn
SUFFIX, PART = ".checkpoint", ".part"
DIGITS = 24  # of the digest: few enough for the name of an unfinished file to contain the whole name


class Backups:
    """The checkpoints in a folder. Their names sort by age, and end with a digest of their content.

    One process writes a file. Several write a folder (`torchkeras.distribution.backups`); both read both.
    """

    def __init__(self, folder: Path, run: Any, accept: Collection[str] = ()):
        self.folder, self.run = folder, run
        self._lock, self._from_others = FolderLock(folder), "lock" in accept
        self._torn: list[Path] = []

    def prepare(self) -> None:
        """Make the folder, lock it, and remove files that a stop left half written.

        Raises OSError where nothing can be written, or another run has the folder.
        """
        with self.disk("no checkpoint can be written to"):
            self._open()

    def _open(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock.acquire(self._from_others)
        for part in self.folder.glob(f".*{SUFFIX}*{PART}"):
            remove(part)
        with tempfile.TemporaryFile(dir=self.folder):
            pass

    def release(self) -> None:
        """Let other runs use the folder."""
        self._lock.release()

    def newest(self) -> tuple[Path, dict[str, Any]] | None:
        """The newest complete checkpoint, and its state for this process. Warns of those that it skips."""
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
        """The checkpoints, oldest first. Raises OSError for something else with the name of a checkpoint."""
        with self.disk("no checkpoint can be read from"):
            return checked(checkpoints(self.folder))

    def read(self, path: Path) -> dict[str, Any] | None:
        """The state in a checkpoint for this process; None when its content does not match its digest."""
        with self.disk("no checkpoint can be read from"):
            if path.is_dir():
                return annex("backups").read(path, self.run)
            return read_file(path)

    def write_finite(self, state: dict[str, Any], weights: Iterable[str]) -> None:
        """Write a checkpoint, unless some of the tensors with these names are not finite numbers: then warn."""
        if self.agreed(not _are_finite([state["tensors"][name] for name in weights])):
            warnings.warn(
                "BackupAndRestore: some weights are not finite numbers; no checkpoint is written, the last one stays.",
                RuntimeWarning,
                stacklevel=3,
            )
            return
        self.write(state)

    def write(self, state: dict[str, Any]) -> None:
        """Write a checkpoint, and remove torn ones and all but the last ones."""
        content = io.BytesIO()
        torch.save(state, content)
        data = content.getbuffer()
        path = self.folder / f"{age(state)}-{digest(data)}{SUFFIX}"
        with self.disk("no checkpoint could be written to"):
            with replacing(path) as part:
                part.write_bytes(data)
            self.prune(path)

    def prune(self, newest: Path) -> None:
        """Remove torn checkpoints, and all but the last ones."""
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
        """Raise errors of the disk as errors of the same kind that name the folder."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise OSError(error.errno, f"BackupAndRestore: {what} this folder ({reason})", str(self.folder)) from error


def _are_finite(tensors: list[Any]) -> bool:
    """Whether all numbers that this process has of some tensors are finite."""
    here = [tensor.to_local() if hasattr(tensor, "to_local") else tensor for tensor in tensors]
    floats = [tensor for tensor in here if tensor.is_floating_point() and tensor.numel()]
    return not floats or bool(torch.stack([torch.isfinite(tensor).all() for tensor in floats]).all())


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, oldest first."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def checked(paths: list[Path]) -> list[Path]:
    """The same paths. Raises OSError for one that is neither a file nor a folder of tensors, before opening it."""
    for path in paths:
        kind = next((name for name, holds in KINDS.items() if holds(path)), None)
        if kind is not None:
            raise OSError(errno.EINVAL, f"{path.name} in it is {kind}, and no checkpoint: take it away")
    return paths


def _is_other_folder(path: Path) -> bool:
    """Whether it is a folder that no process has written a checkpoint to."""
    return path.is_dir() and not any(path.glob(".metadata")) and not any(path.glob("__*_*"))


KINDS = {
    "a fifo": Path.is_fifo,
    "a socket": Path.is_socket,
    "a device": lambda path: path.is_char_device() or path.is_block_device(),
    "a folder of something else": _is_other_folder,
    "a link to nothing": lambda path: path.is_symlink() and not path.exists(),
}


def age(state: dict[str, Any]) -> str:
    """The beginning of a checkpoint's name, by which it sorts."""
    return f"{state['epoch']:08d}-{state['sums']['batches']:012d}"


def digest(data: Any) -> str:
    """The digest at the end of the name of a checkpoint with this content."""
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def digest_in_name(path: Path) -> str:
    """The digest in the name of a checkpoint."""
    return path.name.removesuffix(SUFFIX).rpartition("-")[2]


def read_file(path: Path) -> dict[str, Any] | None:
    """The state in a file; None when its bytes do not match its digest."""
    data = _read_bytes(path)
    if digest(data) != digest_in_name(path):
        return None
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)


def _read_bytes(path: Path) -> bytes:
    """The bytes of a file; does not wait for a fifo that was put in its place since."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, f"{path.name} in it is no file")
        return file.read()


def remove(path: Path) -> None:
    """Remove a file or folder; a folder is renamed first, so that no half of it passes for a checkpoint."""
    if path.is_dir() and not path.is_symlink():
        part = path if path.name.endswith(PART) else path.rename(path.with_name(f".{path.name}{PART}"))
        shutil.rmtree(part)
    else:
        path.unlink(missing_ok=True)
