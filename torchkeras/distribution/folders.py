"""Folders of torch's distributed checkpoint (DCP): tensors by name, of which each process writes and reads its part.

Such a folder is a pickle, `.metadata`, beside files of tensors that torch reads without unpickling objects. Here the
pickle is read by a closed list of classes, and must lead to files of its folder; nothing in it is ever called.
"""

from __future__ import annotations

import math
import pickle
import struct
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.distributed.checkpoint import filesystem, metadata
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta, TensorStorageMetadata
from torch.distributed.checkpoint.state_dict_saver import save
from torch.serialization import _get_layout  # pyright: ignore[reportPrivateUsage]

from torchkeras.distribution.of_torch import load_alone

METADATA = ".metadata"
MAKES = (
    *(metadata.Metadata, metadata.TensorStorageMetadata, metadata.ChunkStorageMetadata, metadata.TensorProperties),
    *(metadata.MetadataIndex, metadata.StorageMeta, metadata.BytesStorageMetadata),
    filesystem._StorageInfo,  # pyright: ignore[reportPrivateUsage]
)
ENCODING = metadata._MEM_FORMAT_ENCODING  # pyright: ignore[reportPrivateUsage]
# What a `.metadata` names besides types of numbers, and names of files where others than `write` made it.
NAMES: Mapping[tuple[str, str], Any] = {
    (each.__module__, each.__qualname__): each for each in (*MAKES, ENCODING, _get_layout)
} | {("torch", "Size"): torch.Size}

# What a pickle that is damaged, or made by hand, may raise.
FAULTS = (
    *(pickle.UnpicklingError, struct.error, EOFError, AttributeError, TypeError, ValueError),
    *(LookupError, ArithmeticError, AssertionError, MemoryError),
)


def write(path: Path, tensors: Mapping[str, Tensor], group: Any = None) -> None:
    """Write tensors to a new folder; every process of a group calls it. It reaches the disk before any returns.

    What several processes have under one name is written once: the parts of a DTensor, or one of equal tensors. Raises
    OSError on every process when one cannot write.
    """
    with _told(path):
        save(dict(tensors), storage_writer=_Writer(path), process_group=group)


def contents(path: Path) -> dict[str, tuple[torch.Size, torch.dtype]]:
    """The shape and type of each tensor in a folder. Raises ValueError for what DCP would not write."""
    found = _Reader(path).known.state_dict_metadata
    return {name: (each.size, each.properties.dtype) for name, each in found.items()}  # type: ignore[union-attr]


def read(path: Path, into: Mapping[str, Tensor]) -> None:
    """Fill tensors by name; of a DTensor this process reads its part. Raises ValueError for what DCP would not write.

    It communicates nothing, so that each process may read other names.
    """
    reader = _Reader(path)
    with _told(path):
        load_alone(dict(into), reader)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Raise what DCP raises for any error as an OSError or ValueError; leave out what it warns of itself."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "torch.distributed is disabled", UserWarning)
            warnings.filterwarnings("ignore", "TypedStorage is deprecated", UserWarning)  # torch 2.8 to 2.11
            yield
    except CheckpointException as error:
        causes = [cause for cause, _ in error.failures.values()]
        refused = next((cause for cause in causes if isinstance(cause, OSError)), None)
        if refused is not None:
            raise OSError(refused.errno, refused.strerror, str(path)) from error
        raise ValueError(f"{path}: {causes[0]}") from error


class _Writer(FileSystemWriter):
    def storage_meta(self) -> StorageMeta:
        return StorageMeta()  # neither the path nor a random number: the same content makes the same bytes


class _Reader(FileSystemReader):
    def __init__(self, path: Path):
        super().__init__(path)
        try:
            with (path / METADATA).open("rb") as file:
                self.known = _Unpickler(file).load()
            _check(self.known, path)
        except FAULTS as error:
            raise ValueError(f"{path / METADATA} is not what torch's distributed checkpoint writes: {error}") from error

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        return self.known


_InPython: Any = pickle._Unpickler  # pyright: ignore  # whose steps can be refused one by one


class _Unpickler(_InPython):
    dispatch: ClassVar[dict[int, Any]] = dict(_InPython.dispatch)

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in NAMES:
            return NAMES[module, name]
        found = getattr(torch, name, None) if module == "torch" else None
        if isinstance(found, torch.dtype):
            return found
        if module.partition(".")[0] == "pathlib":
            return PurePosixPath  # the path of the folder when it was written, which nothing reads
        raise pickle.UnpicklingError(f"it names {module}.{name}")

    def _build(self) -> None:
        if not isinstance(self.stack[-2], MAKES):  # else a class could get other attributes
            raise pickle.UnpicklingError(f"it changes {self.stack[-2]!r}")
        self.load_build()

    dispatch[pickle.BUILD[0]] = _build


def _check(found: Any, folder: Path) -> None:
    """Raise ValueError unless every tensor is plain, has all its parts, in files of this folder, and fits into them."""
    if not isinstance(found, Metadata):
        raise ValueError(f"it holds a {type(found).__name__}")  # a fault of the file
    sizes = {each.name: each.stat().st_size for each in folder.iterdir()}
    wanted = sum(_bytes_of(name, each) for name, each in found.state_dict_metadata.items())
    for index, place in (found.storage_data or {}).items():
        if place.relative_path not in sizes:
            raise ValueError(f"{index.fqn} is in {place.relative_path!r}, which is no file of the folder")
        if vars(place).get("transform_descriptors"):
            raise ValueError(f"{index.fqn} is transformed by {place.transform_descriptors}")
    if wanted > sum(sizes.values()):
        raise ValueError(f"it tells of {wanted} bytes in files of {sum(sizes.values())}")
    found.storage_meta = StorageMeta()


def _bytes_of(name: str, found: Any) -> int:
    """The size of an entry in bytes. Raises ValueError for one that is no tensor, or whose parts are not all of it."""
    if not isinstance(found, TensorStorageMetadata):
        raise ValueError(f"{name} is no tensor")
    values, parts = math.prod(found.size), [chunk.sizes for chunk in found.chunks]
    if values != sum(map(math.prod, parts)) or min((*found.size, *(size for part in parts for size in part), 0)):
        raise ValueError(f"{name} of shape {tuple(found.size)} has parts of other sizes")
    return values * found.properties.dtype.itemsize
