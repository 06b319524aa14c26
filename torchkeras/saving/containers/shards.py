"""Weights of Keras 3 in several HDF5 files, the shards, and an index of them in JSON.

The index `model.weights.json` maps the path of each group with arrays to the shard that has them, or to a list of
shards: `{"metadata": {"total_size": 24}, "weight_map": {"/layers/dense/vars": "model_00000.weights.h5"}}`.

Source: https://keras.io/api/models/model_saving_apis/weights_saving_and_loading/
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from torchkeras.base.atomic_file import replacing
from torchkeras.errors import FileLimitError, ForbiddenContentError, UnknownFormatError, UnreadableFileError
from torchkeras.saving.containers import json_text
from torchkeras.saving.containers.hdf5 import members, new_file, reading, write_array
from torchkeras.saving.containers.hdf5_rules import check_count
from torchkeras.saving.containers.limits import GIB, LIMITS, Limits
from torchkeras.saving.containers.open_file import filename, require_file, shown
from torchkeras.saving.containers.parts import Dataset, Folder, Group

PathLike = str | os.PathLike[str]

BEGINNING = b"{"
MAP = "weight_map"
SUFFIX = ".weights.h5"
SHARD = re.compile(r"(?!\.)[\w. +-]+\.weights\.h5")  # a file beside the index


def is_index(path: PathLike) -> bool:
    """Whether a file is named like an index and begins like JSON."""
    if Path(shown(path)).suffix.lower() != ".json":
        return False
    require_file(path)
    with Path(path).open("rb") as file:
        return file.read(len(BEGINNING)) == BEGINNING


def shard_name(path: PathLike, number: int) -> str:
    """The name of a shard: `model_00000.weights.h5` for the first of `model.weights.json`."""
    return f"{Path(path).stem.replace('.weights', '')}_{number:05}{SUFFIX}"


def size_of(path: PathLike) -> int:
    """The bytes of a file; of an index, with those of the shards beside it."""
    found = [Path(path)]
    if is_index(path):
        beginning = shard_name(path, 0)[: -len("00000" + SUFFIX)]
        found += [each for each in Path(path).parent.iterdir() if each.name.startswith(beginning)]
    return sum(each.stat().st_size for each in found)


# --- reading ----------------------------------------------------------------------------------------------------------


@contextmanager
def opened(path: PathLike, strict: bool = True, limits: Limits = LIMITS) -> Iterator[h5py.Group]:
    """The root of the weights in all shards of an index. `strict`: as for `hdf5.reading`.

    Raises UnknownFormatError for JSON of another kind; UnreadableFileError, which names the shard, for one that is
    missing, damaged, or has other arrays than the index says; ForbiddenContentError, FileLimitError.
    """
    places = _shards(path, limits)
    with ExitStack() as files:
        roots = {name: files.enter_context(_shard(path, name, strict)) for name in places}
        for name, root in roots.items():
            _check_places(path, name, root, places[name])
        yield _merged("/", list(roots.values()))


def _shards(path: PathLike, limits: Limits) -> dict[str, set[str]]:
    """The shards of an index, each with the paths of the groups that it has arrays of."""
    where = shown(path)
    with Path(path).open("rb") as file:
        index = json_text.parse(file.read(limits.json + 1), where, limits)
    if not isinstance(index, Mapping) or not isinstance(index.get(MAP), Mapping):
        raise UnknownFormatError(f"{where}: it is no index of weights in shards: there is no {MAP!r} in it.")
    places: dict[str, set[str]] = {}
    for place, names in index[MAP].items():
        for name in names if isinstance(names, list) else [names]:
            if not isinstance(name, str) or SHARD.fullmatch(name) is None:
                raise ForbiddenContentError(
                    f"{where}: a shard must be a file beside the index that ends in {SUFFIX}; found {name!r:.200}."
                )
            if place in places.setdefault(name, set()):
                raise UnreadableFileError(f"{where}: the shard {name!r} is listed twice for {place!r:.200}.")
            places[name].add(place)
    if len(places) > limits.parts:
        raise FileLimitError(f"{where}: more than {limits.parts} shards.")
    return places or {shard_name(path, 0): set()}


@contextmanager
def _shard(index: PathLike, name: str, strict: bool) -> Iterator[h5py.Group]:
    path = Path(index).parent / name
    if not path.exists():
        raise UnreadableFileError(f"{shown(index)}: the shard {name!r} is not there.")
    with reading(path, strict) as root:
        yield root


def _check_places(index: PathLike, name: str, root: h5py.Group, listed: set[str]) -> None:
    """Raise UnreadableFileError for a shard whose groups with arrays are not those that the index lists."""
    stored = _groups_with_arrays(root)
    for wrong, text in (
        (listed - {place for found in stored for place in (found, *map(str, Path(found).parents))}, "lacks"),
        ({found for found in stored if listed.isdisjoint({found, *map(str, Path(found).parents)})}, "has further"),
    ):
        if wrong:
            raise UnreadableFileError(
                f"{shown(index)}: the shard {name!r} {text} weights at {min(wrong):.200}: it is of another index."
            )


def _groups_with_arrays(root: h5py.Group) -> set[str]:
    found: set[str] = set()
    waiting = [root]
    while waiting:
        group = waiting.pop()
        inside = members(group).values()
        waiting += [each for each in inside if isinstance(each, h5py.Group)]
        if any(isinstance(each, Dataset) for each in inside):
            found.add(str(group.name))
    return found


def _merged(path: str, found: list[Any]) -> Any:
    """The groups of one path in several shards as one group, with the attributes of the first."""
    if len(found) == 1:
        return found[0]
    made = Folder(found[0], path)
    inside: dict[str, list[Group | Dataset]] = {}
    for group in found:
        for name, each in members(group).items():
            inside.setdefault(name, []).append(each)
    for name, several in inside.items():
        place = f"{path.rstrip('/')}/{name}"
        if len(several) > 1 and any(isinstance(each, Dataset) for each in several):
            raise UnreadableFileError(f"{' and '.join(map(filename, several))}: both shards have {place:.200}.")
        made.kept[name] = _merged(place, several)
    return made


# --- writing ----------------------------------------------------------------------------------------------------------


@contextmanager
def writing(path: PathLike, most: float, attributes: Mapping[str, Any]) -> Iterator[Any]:
    """The root of new weights in shards, a `Place`, which with their index appear when the block ends without an error.

    An index that was there is removed before the first shard is replaced, so that no index leads to shards of another.

    Arguments:
        path (path): the index.
        most (float): the bytes of arrays in a shard, at most.
        attributes (dict): of the root of each shard.

    Errors:
        ValueError: an array is larger than a shard.
        FileLimitError: there are more shards, or more arrays in one, than are read.
    """
    with ExitStack() as files:  # left in the reverse order: the index is renamed last
        index = files.enter_context(replacing(path))
        shards = _Shards(Path(path), most, attributes, files)
        yield Place(shards, "")
        shards.check(shown(path))
        content = {"metadata": {"total_size": shards.total}, MAP: shards.places}
        index.write_text(json_text.written(content, shown(path)))
        Path(os.path.realpath(path)).unlink(missing_ok=True)


class Place:
    """A group of weights that are written to shards: what `paths.write` asks of a group of HDF5."""

    def __init__(self, shards: _Shards, path: str):
        self.shards, self.path = shards, path
        self.attrs: dict[str, Any] = {}

    def create_group(self, name: str) -> Place:
        """A group inside."""
        return Place(self.shards, f"{self.path}/{name}")

    def create_dataset(self, name: str, data: Any) -> None:
        """Write an array. Raises ValueError if it is larger than a shard."""
        self.shards.put(self, name, np.asarray(data))


class _Shards:
    """Shards that are written, one after the other."""

    def __init__(self, path: Path, most: float, attributes: Mapping[str, Any], files: ExitStack):
        self.path, self.most, self.attributes, self.files = path, most, attributes, files
        self.places: dict[str, str | list[str]] = {}
        self.written: list[h5py.File] = []
        self.size = self.total = 0
        self._begin()

    def _begin(self) -> None:
        """The next shard."""
        part = self.files.enter_context(replacing(self.path.with_name(shard_name(self.path, len(self.written)))))
        file = self.files.enter_context(new_file(part))
        file.attrs.update(self.attributes)
        self.written.append(file)
        self.size = 0

    def put(self, place: Place, name: str, data: np.ndarray) -> None:
        """Write an array to the last shard, or the next one if it does not fit."""
        if data.nbytes > self.most:
            raise ValueError(
                f"{self.path}: {place.path}/{name} takes {data.nbytes} bytes; max_shard_size must be at least "
                f"{data.nbytes / GIB:.3g} (GB); found {self.most / GIB:.3g}."
            )
        if self.size + data.nbytes > self.most:
            self._begin()
        shard, group = shard_name(self.path, len(self.written) - 1), self.written[-1].require_group(place.path)
        group.attrs.update(place.attrs)
        write_array(group, name, data)
        self.size += data.nbytes
        self.total += data.nbytes
        self._list(place.path, shard)

    def _list(self, place: str, shard: str) -> None:
        before = self.places.setdefault(place, shard)
        several = before if isinstance(before, list) else [before]
        if shard not in several:
            self.places[place] = [*several, shard]

    def check(self, where: str, limits: Limits = LIMITS) -> None:
        """Raise FileLimitError for more shards, or arrays in one, than are read."""
        if len(self.written) > limits.parts:
            raise FileLimitError(f"{where}: more than {limits.parts} shards: make max_shard_size larger.")
        if not self.places:  # of a model without weights: by this group the file is one of Keras 3
            self.written[0].create_group("layers")
        for file in self.written:
            check_count(file, where)
