"""Groups named by paths of Windows, where Keras wrote the group `layers\\dense` for `dense` inside `layers`."""

from __future__ import annotations

from typing import Any

import h5py

from torchkeras.errors import FileLimitError, UnreadableFileError
from torchkeras.saving.containers.hdf5 import members
from torchkeras.saving.containers.limits import LIMITS, Limits
from torchkeras.saving.containers.open_file import filename
from torchkeras.saving.containers.parts import Dataset, Folder, Group

SEPARATOR = "\\"


def with_folders(root: h5py.Group, limits: Limits = LIMITS) -> h5py.Group:
    """The root of weights by paths, with a group inside a group for each `\\` in a name; itself if there is none.

    Raises UnreadableFileError if two names are one path, FileLimitError for a path that is too deep.
    """
    inside = members(root)
    if not isinstance(root, Group) or not any(SEPARATOR in name for name in inside):
        return root
    made = Folder(root, "/")
    for name, found in sorted(inside.items(), key=lambda item: len(item[0])):  # a group before those inside it
        *folders, last = name.split(SEPARATOR)
        if len(folders) > limits.depth:
            raise FileLimitError(f"{filename(root)}: {name!r:.200}: groups are nested deeper than {limits.depth}.")
        place: Group = made
        for folder in folders:
            place = _put(place, folder, None)
        _put(place, last, found)
    return made


def _put(group: Group, name: str, found: Group | Dataset | None) -> Any:
    """The group of that name inside `group`, which gets it, or what was `found`, if it is not there."""
    path = f"{group.name.rstrip('/')}/{name}"
    there = group.kept.get(name)
    if there is None:
        there = group.kept[name] = found or Folder(group, path)
    elif found is not None or isinstance(there, Dataset):
        raise UnreadableFileError(f"{filename(group)}: several groups or arrays are called {path!r}.")
    return there
