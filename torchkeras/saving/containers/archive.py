"""The `.keras` archive of Keras 3 and tf_keras: a zip of `metadata.json`, `config.json` and `model.weights.h5`.

Only members of an allow-list are read, as a stream; the sizes in their headers are not trusted. Under a name from the
archive only the files of layers are extracted, into a folder of their own, and if the name is plain. Vocabularies that
stand beside the config are put into it.
"""

from __future__ import annotations

import os
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import h5py

from torchkeras.base.atomic_file import replacing
from torchkeras.errors import FileLimitError, ForbiddenContentError, UnreadableFileError
from torchkeras.saving.containers import json_text
from torchkeras.saving.containers.hdf5 import new_file, reading
from torchkeras.saving.containers.hdf5_rules import check_count
from torchkeras.saving.containers.limits import LIMITS, MIB, Limits
from torchkeras.saving.containers.open_file import require_file, shown, shown_as
from torchkeras.saving.containers.parts import CAN_READ, Part, checksums
from torchkeras.saving.containers.vocabularies import MEMBER, with_vocabularies

METADATA, CONFIG, WEIGHTS = MEMBERS = ("metadata.json", "config.json", "model.weights.h5")
ASSETS = "assets/"
ASSET = re.compile(r"assets(?:/(?!\.)[\w. +-]+)+")  # a file that a layer reads itself; no part begins with a dot
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # of zip's calendar: a fixed time, so that equal models give equal files
ENCRYPTED, LINK, FILE_KIND = 0x1, 0o120000, 0o170000
HEADER = 30  # bytes before each member, and its name; the last four say how long what follows is
BEGINNING = b"PK\x03\x04"
FRONT = 512  # bytes before the weights, the least that HDF5 leaves
BASE_ADDRESS, END_ADDRESS = 24, 40  # of HDF5's superblock: where these stand
ALIGNED = 0xD935  # zip's extra field with which the header before a member is filled up
# What zipfile raises for damaged archives; a wrong checksum is a BadZipFile.
DAMAGE = (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, ValueError, LookupError, EOFError, OverflowError)


@dataclass(frozen=True)
class Archive:
    """An open archive: its parsed texts; `weights()` opens its weights. `assets`: files that layers read themselves."""

    path: Path
    config: Any
    metadata: Any
    _zip: zipfile.ZipFile
    strict: bool = True
    assets: Sequence[str] = ()

    @contextmanager
    def weights(self, limits: Limits = LIMITS, threads: int | None = None) -> Iterator[h5py.Group]:
        """The root of the weights, an HDF5 file: in place if they are stored as they are, else in a temporary file.

        `threads`: that compute the checksum, at most. Raises the errors of `hdf5.reading`.
        """
        where, found = f"{shown(self.path)}/{WEIGHTS}", self._zip.getinfo(WEIGHTS)
        if found.compress_type == zipfile.ZIP_STORED and CAN_READ:
            inside = f"{shown(self.path)}: {WEIGHTS}"
            if found.file_size > limits.total:
                raise FileLimitError(f"{inside} unpacks to more than {limits.total} bytes.")
            part = in_place(self._zip, found, inside)
            check_whole([(inside, found, part)], threads)
            with shown_as(part.name, where), reading(part, self.strict) as weights:
                yield weights
            return
        with tempfile.TemporaryDirectory(prefix="torchkeras-") as folder:
            copy = Path(folder) / WEIGHTS
            with copy.open("wb") as file:
                _stream(self._zip, WEIGHTS, file, f"{shown(self.path)}: {WEIGHTS}", limits.total, limits)
            with shown_as(copy, where), reading(copy, self.strict) as weights:
                yield weights

    def extract_assets(self, folder: Path, limits: Limits = LIMITS) -> None:
        """Put these files into a folder, in folders of their paths. Raises FileLimitError, UnreadableFileError."""
        left = limits.total
        for name in self.assets:
            target = folder.joinpath(*name.split("/")[1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                _stream(self._zip, name, file, f"{shown(self.path)}: {name}", left, limits)
                left -= file.tell()


def in_place(archive: zipfile.ZipFile, found: zipfile.ZipInfo, where: str) -> Part:
    """The bytes of a member that is stored as it is. Raises UnreadableFileError for a damaged archive."""
    raw = archive.fp
    try:
        archive.open(found).close()  # compares the header before the bytes with the one at the archive's end
        if raw is None or found.compress_size != found.file_size:
            raise ValueError(f"{found.compress_size} bytes are stored of {found.file_size}")
        raw.seek(found.header_offset + HEADER - 4)
        names = sum(int.from_bytes(raw.read(2), "little") for _ in range(2))
        return Part(raw.fileno(), found.header_offset + HEADER + names, found.file_size)
    except DAMAGE as error:
        raise UnreadableFileError(f"{where} cannot be unpacked ({error}).") from error


def check_whole(members: Sequence[tuple[str, zipfile.ZipInfo, Part]], threads: int | None = None) -> None:
    """Raise UnreadableFileError for a member whose bytes have another checksum than it states.

    `members`: each with its name in errors. `threads`: that compute the checksums, at most.
    """
    try:
        found = checksums([part for _, _, part in members], threads)
    except OSError as error:
        raise UnreadableFileError(f"{members[0][0]} cannot be unpacked ({error}).") from error
    for (where, member, _), checksum in zip(members, found, strict=True):
        if checksum != member.CRC:
            raise UnreadableFileError(f"{where} cannot be unpacked (Bad CRC-32 for file {member.filename!r}).")


@contextmanager
def opened(path: str | os.PathLike[str], strict: bool = True, limits: Limits = LIMITS) -> Iterator[Archive]:
    """Open an archive and check its members. `strict`: as for `hdf5.reading`, of its weights.

    Raises FileNotFoundError, UnreadableFileError for a damaged archive, ForbiddenContentError for a member that no
    model has, FileLimitError.
    """
    require_file(path)
    where = shown(path)
    with Path(path).open("rb") as file:
        if file.read(4) != BEGINNING:
            raise UnreadableFileError(f"{where}: not a readable archive (it does not begin as a zip file).")
        try:
            found = zipfile.ZipFile(file)
        except DAMAGE as error:
            raise UnreadableFileError(f"{where}: not a readable archive ({error}).") from error
        with found:
            _check_members(found.infolist(), where, limits)
            config, metadata = (_parsed(found, name, where, limits) for name in (CONFIG, METADATA))
            bare = Archive(Path(path), config, metadata, found, strict)
            config, left = with_vocabularies(config, _vocabularies(found, where, limits), bare.weights, where)
            others = [name for name in found.namelist() if ASSET.fullmatch(name) and not MEMBER.fullmatch(name)]
            yield replace(bare, config=config, assets=[*others, *left])


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a zip."""
    require_file(path)
    with Path(path).open("rb") as file:
        return file.read(4) == BEGINNING


def _check_members(members: list[zipfile.ZipInfo], where: str, limits: Limits) -> None:
    """Refuse an archive that has other members than a model's. Raises ModelFileError of several kinds."""
    names = [member.filename for member in members]
    for member in members[: limits.parts]:
        name = member.filename[:200]
        if names.count(member.filename) > 1:
            raise ForbiddenContentError(f"{where}: member {name!r} is there several times.")
        if not (name.startswith(ASSETS) and name.endswith("/") and member.file_size == 0):  # an empty folder
            _check_member(member, name, where)
    if len(members) > limits.parts:
        raise FileLimitError(f"{where}: more than {limits.parts} members.")
    for name in MEMBERS:
        if name not in names:
            raise UnreadableFileError(f"{where}: there is no {name!r} in the archive.")


def _check_member(member: zipfile.ZipInfo, name: str, where: str) -> None:
    """Refuse what is no part of a model, encrypted, a link, or compressed in another way. `name`: for the error."""
    if name not in MEMBERS and MEMBER.fullmatch(name) is None and ASSET.fullmatch(name) is None:
        known = ", ".join(MEMBERS)
        raise ForbiddenContentError(f"{where}: member {name!r} is not part of a model, which has {known}.")
    if member.flag_bits & ENCRYPTED:
        raise ForbiddenContentError(f"{where}: member {name!r} is encrypted.")
    if member.external_attr >> 16 & FILE_KIND == LINK:
        raise ForbiddenContentError(f"{where}: member {name!r} is a link.")
    if member.compress_type not in METHODS:
        raise ForbiddenContentError(
            f"{where}: member {name!r} is compressed by method {member.compress_type}; those read are 0 (stored) "
            "and 8 (deflated)."
        )


class _Kept:
    """Collects written bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, part: bytes) -> None:
        self.parts.append(part)


def _bytes(archive: zipfile.ZipFile, name: str, where: str, most: int, limits: Limits) -> bytes:
    kept = _Kept()
    _stream(archive, name, kept, f"{where}: {name}", most, limits)
    return b"".join(kept.parts)


def _parsed(archive: zipfile.ZipFile, name: str, where: str, limits: Limits) -> Any:
    return json_text.parse(_bytes(archive, name, where, limits.json, limits), f"{where}: {name}", limits)


def _vocabularies(archive: zipfile.ZipFile, where: str, limits: Limits) -> dict[str, str]:
    """The texts of the vocabularies, by the names of their members; together no more than a config may have."""
    found: dict[str, str] = {}
    left = limits.json
    for name in filter(MEMBER.fullmatch, archive.namelist()):
        text = _bytes(archive, name, where, left, limits)
        left -= len(text)
        try:
            found[name] = text.decode()
        except UnicodeDecodeError as error:
            raise UnreadableFileError(f"{where}: {name} is no text in UTF-8 ({error}).") from error
    return found


def _stream(
    archive: zipfile.ZipFile, name: str, target: IO[bytes] | _Kept, where: str, most: int, limits: Limits
) -> None:
    """Unpack a member piece by piece, and count the bytes that really come."""
    packed, size = archive.getinfo(name).compress_size, 0
    try:
        with archive.open(name) as source:
            while piece := source.read(MIB):
                size += len(piece)
                if size > most:
                    raise FileLimitError(f"{where} unpacks to more than {most} bytes.")
                if size > limits.ratio_from and size > limits.ratio * packed:
                    raise FileLimitError(f"{where} unpacks to more than {limits.ratio} times its {packed} bytes.")
                target.write(piece)
    except FileLimitError:
        raise
    except DAMAGE as error:
        raise UnreadableFileError(f"{where} cannot be unpacked ({error}).") from error


def write(
    path: str | os.PathLike[str],
    config: Any,
    metadata: Any,
    write_weights: Callable[[h5py.Group], None],
    write_assets: Callable[[Path], None] = lambda folder: None,
) -> None:
    """Write an archive as Keras 3 does: two values as JSON, and an HDF5 file that `write_weights` fills.

    `write_assets` fills a folder with the files of layers. It replaces `path` after everything is written. Equal models
    give equal bytes. Raises ValueError for a file whose name could not be read again.
    """
    with replacing(path) as part:
        with new_file(part, libver="earliest", userblock_size=FRONT) as file:
            write_weights(file)
            check_count(file, shown(path))
        with part.open("r+b") as raw:
            weights = _in_front(raw)
            with zipfile.ZipFile(raw, "w") as archive:
                archive.filelist.append(weights)
                archive.NameToInfo[WEIGHTS] = weights
                for name, content in ((METADATA, metadata), (CONFIG, config)):
                    archive.writestr(_member(name), json_text.written(content, f"{shown(path)}: {name}"))
                _write_assets(archive, write_assets, shown(path))


def _in_front(file: IO[bytes]) -> zipfile.ZipInfo:
    """Make an HDF5 file with room in front of it the first member of an archive, where it lies.

    HDF5 cannot write into a zip, and copying its file would take as long as writing it. So zip's header for it goes
    into HDF5's user block, filled up to the block's end. The two addresses in HDF5's superblock that count from the
    beginning of the block then count from its own beginning.

    Source: "Superblock, version 0" in https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html
    """
    size = file.seek(0, os.SEEK_END) - FRONT
    for address, value in ((BASE_ADDRESS, 0), (END_ADDRESS, size)):
        file.seek(FRONT + address)
        file.write(value.to_bytes(8, "little"))
    file.flush()
    member = _member(WEIGHTS)
    member.header_offset, member.file_size, member.compress_size = 0, size, size
    member.CRC = _checksum(file, size)
    filling = FRONT - len(member.FileHeader(zip64=True))
    member.extra = struct.pack("<HHH", ALIGNED, filling - 4, FRONT).ljust(filling, b"\0")
    file.seek(0)
    file.write(member.FileHeader(zip64=True))
    member.extra = b""
    file.seek(0, os.SEEK_END)
    return member


def _checksum(file: IO[bytes], size: int) -> int:
    """The CRC-32 of what follows the block in front."""
    if CAN_READ:
        return checksums([Part(file.fileno(), FRONT, size)])[0]
    found = 0
    file.seek(FRONT)
    while content := file.read(MIB):
        found = zlib.crc32(content, found)
    return found


def _write_assets(archive: zipfile.ZipFile, write_assets: Callable[[Path], None], where: str) -> None:
    with tempfile.TemporaryDirectory(prefix="torchkeras-") as name:
        folder = Path(name)
        assets = folder / ASSETS
        assets.mkdir()
        write_assets(assets)
        for asset, file in sorted((f.relative_to(folder).as_posix(), f) for f in assets.rglob("*") if f.is_file()):
            if ASSET.fullmatch(asset) is None:
                raise ValueError(f"{where}: a layer writes {asset!r}, which could not be read again.")
            archive.writestr(_member(asset), file.read_bytes())


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, FIRST_DAY)
    member.external_attr = 0o600 << 16
    return member
