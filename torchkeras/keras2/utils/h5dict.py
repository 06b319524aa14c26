"""`H5Dict`: an HDF5 group, or a dict, written to and read from by names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np

LARGEST = 64512  # bytes of an attribute that HDF5 holds in a header
GROUP = "_is_group"  # marks a dict that stands for a group


class H5Dict:
    """Arrays become datasets, other values attributes, unknown names groups. A list too long for HDF5 is split.

    Options:
        path (path, h5py group or dict): what is written to.
        mode (text, default "a"): how a file is opened; "r" refuses changes, "w" begins with nothing.

    Errors:
        TypeError: `path` is of another type.
        ValueError: a change, or a name that is not there, in mode "r".
        KeyError: a group of the name is there already.
        RuntimeError: an item of a list is too long for HDF5.
    """

    def __init__(self, path: Any, mode: str = "a"):
        self.read_only, self._is_file = mode == "r", isinstance(path, (str, os.PathLike))
        if self._is_file:
            self.data: Any = h5py.File(path, mode)
        elif isinstance(path, (h5py.Group, dict)):
            self.data = path
        else:
            raise TypeError(f"Required Group, str or dict. Received: {type(path)}.")
        if isinstance(self.data, dict):
            if mode == "w":
                self.data.clear()
            self.data[GROUP] = True

    def __setitem__(self, attr: Any, val: Any) -> None:
        if self.read_only:
            raise ValueError("Cannot set item in read only mode.")
        attr = attr.decode() if isinstance(attr, bytes) else attr
        is_array = isinstance(val, (np.ndarray, np.generic))
        if isinstance(self.data, dict):
            self.data[attr] = np.array(val) if is_array else val
        elif attr in self.data:
            raise KeyError(f'Cannot set attribute. Group with name "{attr}" exists.')
        elif is_array:
            self.data.create_dataset(attr, data=val)
        elif isinstance(val, list):
            self._set_list(attr, val)
        else:
            self.data.attrs[attr] = val

    def _set_list(self, attr: str, val: list[Any]) -> None:
        items = [item.encode() if isinstance(item, str) else item for item in val]
        if too_long := [item for item in items if isinstance(item, bytes) and len(item) > LARGEST]:
            raise RuntimeError(
                f"{attr!r} cannot be saved to an HDF5 file: an item has {len(too_long[0])} bytes; {LARGEST} are the "
                "most."
            )
        array, parts = np.asarray(items), 1
        while any(chunk.nbytes > LARGEST for chunk in np.array_split(array, parts)):
            parts += 1
        if parts == 1:
            self.data.attrs[attr] = array
            return
        for number, chunk in enumerate(np.array_split(array, parts)):
            self.data.attrs[f"{attr}{number}"] = chunk

    def __getitem__(self, attr: Any) -> Any:
        attr = attr.decode() if isinstance(attr, bytes) else attr
        if isinstance(self.data, dict):
            if attr not in self.data:
                self._check_may_grow()
                self.data[attr] = {GROUP: True}
            found = self.data[attr]
            return H5Dict(found) if isinstance(found, dict) and found.get(GROUP) else found
        if attr in self.data.attrs:
            found = self.data.attrs[attr]
            return found.tolist() if isinstance(found, np.ndarray) and found.dtype.kind in "SO" else found
        if attr in self.data:
            found = self.data[attr]
            return np.asarray(found) if isinstance(found, h5py.Dataset) else H5Dict(found)
        if f"{attr}0" in self.data.attrs:
            return self._list(attr)
        self._check_may_grow()
        return H5Dict(self.data.create_group(attr))

    def _list(self, attr: str) -> list[str]:
        """A list that was split."""
        found: list[str] = []
        number = 0
        while f"{attr}{number}" in self.data.attrs:
            found += [item.decode() for item in self.data.attrs[f"{attr}{number}"]]
            number += 1
        return found

    def _check_may_grow(self) -> None:
        if self.read_only:
            raise ValueError("Cannot create group in read only mode.")

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data)

    iter = __iter__

    def __contains__(self, key: Any) -> bool:
        return key in self.data or (isinstance(self.data, h5py.Group) and key in self.data.attrs)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a name, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401 - this is `get`

    def close(self) -> None:
        """Write a file to the disk; one that was opened here is closed."""
        if isinstance(self.data, h5py.Group):
            self.data.file.flush()
            if self._is_file:
                self.data.file.close()


h5dict = H5Dict
