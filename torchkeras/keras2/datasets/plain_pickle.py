"""Pickles of arrays, lists and numbers, read without running what else a pickle may hold."""

from __future__ import annotations

import os
import pickle
import zipfile
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from torchkeras.errors import ForbiddenContentError


def _dtype(name: Any, *_: Any) -> np.dtype[Any]:
    return np.dtype(name.decode() if isinstance(name, bytes) else name)


ALLOWED: dict[str, Callable[..., Any]] = {
    "_reconstruct": np.empty(0).__reduce__()[0],  # type: ignore[dict-item]
    "scalar": np.float64(0).__reduce__()[0],  # type: ignore[dict-item]
    "ndarray": np.ndarray,
    "dtype": _dtype,
    "encode": lambda text, encoding: text.encode(encoding),  # bytes in pickles that Python 3 wrote for Python 2
}
MODULES = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "_codecs")


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if module_name not in MODULES or global_name not in ALLOWED:
            raise ForbiddenContentError(
                f"A data set is made of arrays, lists and numbers; its file asks for {module_name}.{global_name}."
            )
        return ALLOWED[global_name]


def unpickled(file: IO[bytes], encoding: str = "bytes") -> Any:
    """What a pickle holds; texts of Python 2 by `encoding`. ForbiddenContentError for other than arrays and lists."""
    return _PlainUnpickler(file, encoding=encoding).load()


def arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` file, by name; those of objects may hold arrays, lists and numbers."""
    with zipfile.ZipFile(path) as archive:
        return {name.removesuffix(".npy"): _array(archive, name) for name in archive.namelist()}


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise ForbiddenContentError(f"{name}: version {version} of NumPy's format is not read.")
        _, _, dtype = readers[version](file)
        if dtype.hasobject:
            return unpickled(file, "latin1")
    with archive.open(name) as file:
        return np.lib.format.read_array(file, allow_pickle=False)
