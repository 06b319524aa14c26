"""Groups and datasets of a file that is only read: they keep what HDF5 has answered.

h5py makes an object for most answers, and registers it: for one array it made twenty-four, now five.
"""

# pyright: reportAttributeAccessIssue=false
# h5py's compiled modules have no types.

from __future__ import annotations

import os

import h5py
from h5py import h5d, h5f, h5fd, h5g, h5i

from torchkeras.base.python import lazy_property
from torchkeras.saving.containers.parts import CAN_READ, Part


class Group(h5py.Group):
    """A group: what was found inside, and passed the checks, is kept by its name.

    `part`: the bytes that HDF5 reads as the file, where they can be read beside it.
    """

    def __init__(self, bind: h5g.GroupID, part: Part | None):
        super().__init__(bind)
        self.part = part
        self.kept: dict[bytes, Group | Dataset] = {}

    name = lazy_property(h5py.Group.name.fget)  # type: ignore[assignment]
    names = lazy_property(lambda self: list(self.id))


class Folder(Group):
    """A group that exists in the names of others alone, as `layers` in `layers\\dense`: `kept` has all inside."""

    def __init__(self, root: Group, path: str):
        super().__init__(root.id, root.part)
        self.name, self.names = path, []


class Dataset(h5py.Dataset):
    """A dataset: its type, its shape and how it is stored. `part`: as of a group."""

    def __init__(self, bind: h5d.DatasetID, part: Part | None):
        super().__init__(bind, readonly=True)  # so that h5py keeps the shape
        self.part = part

    name = lazy_property(h5py.Dataset.name.fget)  # type: ignore[assignment]
    dtype = lazy_property(lambda self: self.kind.dtype)  # type: ignore[assignment]
    kind = lazy_property(lambda self: self.id.get_type())
    plist = lazy_property(lambda self: self.id.get_create_plist())


def part_of(place: h5py.Group | h5py.Dataset) -> Part | None:
    """The bytes that HDF5 reads as a file, where they can be read beside it; None otherwise."""
    if isinstance(place, (Group, Dataset)):
        return place.part
    file = h5i.get_file_id(place.id)
    # HDF5 may keep back what was written to a file, and in memory there is no descriptor.
    if not CAN_READ or file.get_intent() != h5f.ACC_RDONLY or file.get_access_plist().get_driver() != h5fd.SEC2:
        return None
    descriptor = file.get_vfd_handle()
    return Part(descriptor, 0, os.fstat(descriptor).st_size)
