"""Archives of NumPy's arrays, `.npz`: copied array by array, after a look at what each says it needs."""

from __future__ import annotations

import os
import zipfile
from math import prod
from typing import IO

from numpy.lib import format as npy

from torchkeras.errors import FileLimitError, ForbiddenContentError, ModelFileError, UnreadableFileError
from torchkeras.saving.containers.archive import DAMAGE, ENCRYPTED, METHODS
from torchkeras.saving.containers.limits import LIMITS, MIB, Limits
from torchkeras.saving.containers.open_file import shown

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def write_clean(source: str | os.PathLike[str], target: str | os.PathLike[str], limits: Limits = LIMITS) -> None:
    """Copy an archive, unpacked. Raises UnreadableFileError, ForbiddenContentError, FileLimitError."""
    where = shown(source)
    with open(source, "rb") as file:
        if file.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX:
            raise UnreadableFileError(f"{where}: it must be an .npz file.")
    try:
        with zipfile.ZipFile(source) as found, zipfile.ZipFile(target, "w") as copy:
            members = found.infolist()
            if len(members) > limits.parts:
                raise FileLimitError(f"{where}: it has {len(members)} arrays; at most {limits.parts} are read.")
            for member in members:
                if (
                    member.flag_bits & ENCRYPTED
                    or member.compress_type not in METHODS
                    or member.filename in copy.namelist()
                ):
                    raise ForbiddenContentError(
                        f"{where}: member {member.filename[:100]!r} is encrypted, there twice, or compressed in a way "
                        "that NumPy has not."
                    )
                with found.open(member) as array, copy.open(member.filename, "w", force_zip64=True) as into:
                    _copy(array, into, f"{where}: {member.filename[:100]!r}", limits)
    except ModelFileError:
        raise
    except DAMAGE as error:
        raise UnreadableFileError(f"{where}: not a readable .npz file ({error}).") from error


def _copy(array: IO[bytes], into: IO[bytes], where: str, limits: Limits) -> None:
    version = npy.read_magic(array)
    if version not in HEADERS:
        raise UnreadableFileError(f"{where} holds no numbers.")
    shape, by_columns, dtype = HEADERS[version](array)
    left = prod(shape) * dtype.itemsize
    if dtype.hasobject:
        raise ForbiddenContentError(f"{where} holds Python objects.")
    if left > limits.array:
        raise FileLimitError(f"{where} has {left} bytes; at most {limits.array} are read.")
    header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": by_columns, "shape": shape}
    npy.write_array_header_2_0(into, header)
    while left and (part := array.read(min(left, MIB))):
        into.write(part)
        left -= len(part)
    if left or array.read(1):
        raise UnreadableFileError(f"{where} has not as many values as its shape {shape} says.")
