"""Checkpoints of a training by several processes: folders, and what a process takes of one that others wrote."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from torchkeras.distribution import folders
from torchkeras.distribution.adopted import adopted, shared_out, target, templates
from torchkeras.resume.backup_files import (
    PART,
    SUFFIX,
    Backups,
    age,
    checked,
    checkpoints,
    digest,
    digest_in_name,
    read_file,
    remove,
)
from torchkeras.world.processes import gathered

BLOCK = 1 << 20  # bytes
Place = tuple[Any, ...]  # the keys that lead to a value in nested dicts and lists


class SharedBackups(Backups):
    """As `Backups`; every process calls each method, and all get or raise the same.

    A checkpoint is a folder of torch's distributed checkpoint. What all processes have alike is in it once, and of a
    DTensor each part; what differs (random numbers, sums of an epoch) is in it for each process. The main process gives
    the folder its name, with a digest of all files, when every file has reached the disk.
    """

    def __init__(self, folder: Path, run: Any, accept: Collection[str] = ()):
        super().__init__(folder, run, accept)
        part = run.processes.part
        self._rank, self._processes, self._group = part.rank, part.processes, run.processes.group
        self._is_main = part.rank == 0

    def prepare(self) -> None:
        probe = self.folder / f".seen{SUFFIX}{PART}"
        with self.disk("no checkpoint can be written to"):
            if self._is_main:
                self._open()
                probe.touch()
        seen = self._gathered(probe.name in os.listdir(self.folder) if self.folder.is_dir() else False)
        if self._is_main:
            probe.unlink(missing_ok=True)
        if not all(seen):
            raise ValueError(
                f"BackupAndRestore: process {seen.index(False)} does not see the files of process 0 in {self.folder}. "
                "Give a folder that all processes share, such as one of a network file system."
            )

    def found(self) -> list[Path]:
        with self.disk("no checkpoint can be read from"):
            found = checked(checkpoints(self.folder)) if self._is_main else []
        return [self.folder / name for name in self._gathered([path.name for path in found])[0]]

    def read(self, path: Path) -> dict[str, Any] | None:
        what = "no checkpoint can be read from"
        if not path.is_dir():
            with self.disk(what):
                saved = read_file(path)
            return None if self.agreed(saved is None) or saved is None else _from_one(saved, self.run, self._rank)
        with self.disk(what):
            digests = _digests(_files(path)[self._rank :: self._processes])
        if _digest_of(self._gathered(digests)) != digest_in_name(path):
            return None
        with self.disk(what):
            return _state(path, self.run, self._rank, self._processes)

    def write(self, state: dict[str, Any]) -> None:
        part = self.folder / f".{age(state)}{SUFFIX}{PART}"
        tensors = self._items(state)
        what = "no checkpoint could be written to"
        try:
            with self.disk(what):
                folders.write(part, tensors, self._group)
            with self.disk(what):
                own = [*part.glob(f"__{self._rank}_*"), *([part / folders.METADATA] if self._is_main else [])]
                digests = _digests(own)
            path = self.folder / f"{age(state)}-{_digest_of(self._gathered(digests))}{SUFFIX}"
            with self.disk(what):
                if self._is_main:
                    self._name(part, path)
                    self.prune(path)
        except OSError:
            if self._is_main:
                with suppress(OSError):
                    remove(part)
            raise

    def _items(self, state: dict[str, Any]) -> dict[str, Tensor]:
        """The tensors of a state by name, and one with the bytes of all else, for this process."""
        tensors: dict[Place, Tensor] = {}
        rest = _without_tensors(state, (), tensors)
        hashes = {place: _hash(tensor) for place, tensor in tensors.items()}
        answers = self._gathered(hashes)
        alike = {place for place in tensors if all(each.get(place) == hashes[place] for each in answers)}
        names = {place: _name_of(place) + ("" if place in alike else f" of process {self._rank}") for place in tensors}
        content = io.BytesIO()
        torch.save({"rest": rest, "names": names}, content)
        named = {names[place]: tensor for place, tensor in tensors.items()}
        return {**named, _own(self._rank): torch.frombuffer(content.getbuffer(), dtype=torch.uint8)}

    def _name(self, part: Path, path: Path) -> None:
        """Give a folder that is complete its name: from now on it counts."""
        if path.exists():
            remove(part if path not in self._torn else path)
        if part.exists():
            _sync(part)
            part.rename(path)
            _sync(self.folder)

    def delete(self) -> None:
        with self.disk("no checkpoint can be deleted from"):
            if self._is_main:
                super().delete()

    def agreed(self, flag: bool) -> bool:
        return self.run.processes.agreed(flag)

    def _gathered(self, value: Any) -> list[Any]:
        """What each process gives, in their order."""
        return gathered(value, self._group)

    @contextmanager
    def disk(self, what: str) -> Iterator[None]:
        """The first error of a disk, on whichever process, is raised on all."""
        mine: OSError | None = None
        try:
            yield
        except OSError as error:
            mine = error
        answers = self._gathered(None if mine is None else (mine.errno, mine.strerror or str(mine)))
        first = next((each for each in answers if each is not None), None)
        if first is not None:
            number, reason = first
            raise OSError(number, f"BackupAndRestore: {what} this folder ({reason})", str(self.folder)) from mine


def read(path: Path, run: Any) -> dict[str, Any] | None:
    """The state in a folder for one process alone; None when its files do not match its digest."""
    if _digest_of([_digests(_files(path))]) != digest_in_name(path):
        return None
    return _state(path, run, 0, 1)


# --- files -----------------------------------------------------------------------------------------------------------


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def _digests(paths: list[Path]) -> dict[str, str]:
    found = {}
    for path in paths:
        known = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                known.update(block)
        found[path.name] = known.hexdigest()
    return found


def _digest_of(digests: list[dict[str, str]]) -> str:
    """The digest of a folder, from those of its files."""
    lines = sorted(f"{name} {found}\n" for each in digests for name, found in each.items())
    return digest("".join(lines).encode())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- from a state to tensors by name, and back -----------------------------------------------------------------------


def _from_one(saved: dict[str, Any], run: Any, number: int) -> dict[str, Any]:
    """What this process takes of the state that one process wrote."""
    tensors: dict[Place, Tensor] = {}
    shared = templates(run)
    rest = _without_tensors(adopted([saved], run, number), (), tensors)
    return _with_tensors(rest, (), {k: shared_out(_name_of(k), tensor, shared) for k, tensor in tensors.items()})


def _name_of(place: Place) -> str:
    return "/".join(map(str, place))


def _own(number: int) -> str:
    return f"process {number}"


def _without_tensors(value: Any, place: Place, tensors: dict[Place, Tensor]) -> Any:
    if isinstance(value, Tensor):
        tensors[place] = value
        return None
    if isinstance(value, Mapping):
        return {key: _without_tensors(item, (*place, key), tensors) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_without_tensors(item, (*place, i), tensors) for i, item in enumerate(value))
    return value


def _with_tensors(value: Any, place: Place, tensors: Mapping[Place, Tensor]) -> Any:
    if place in tensors:
        return tensors[place]
    if isinstance(value, Mapping):
        return {key: _with_tensors(item, (*place, key), tensors) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_with_tensors(item, (*place, i), tensors) for i, item in enumerate(value))
    return value


def _hash(tensor: Tensor) -> Any:
    """What tells whether processes have the same tensor; the parts of a DTensor are of one."""
    about = (tuple(tensor.shape), str(tensor.dtype))
    if hasattr(tensor, "to_local"):
        return about
    values = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return (*about, hashlib.sha256(values.numpy().tobytes()).digest())


def _state(path: Path, run: Any, number: int, processes: int) -> dict[str, Any]:
    """The state in a folder for a process of so many; of a run with another number, put together from all."""
    shapes = folders.contents(path)
    before = sum(_own(each) in shapes for each in range(len(shapes)))
    owners = [number] if before == processes else range(before)
    contents = {_own(each): torch.empty(*shapes[_own(each)][:1], dtype=torch.uint8) for each in owners}
    folders.read(path, contents)
    found = [torch.load(io.BytesIO(each.numpy().tobytes()), weights_only=True) for each in contents.values()]
    names = sorted({name for each in found for name in each["names"].values()})
    shared = templates(run)
    tensors = {name: target(name, *shapes[name], shared) for name in names}
    folders.read(path, tensors)
    states = [
        _with_tensors(each["rest"], (), {place: tensors[name] for place, name in each["names"].items()})
        for each in found
    ]
    return states[0] if before == processes else adopted(states, run, number)
