"""`.keras` archives that Keras never writes: how each is made, the error that it must give, a part of its text.

`make(path, members, canary)` writes a zip; `members` are those of a whole archive.
"""

import struct
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torchkeras.errors import (
    FileLimitError,
    ForbiddenContentError,
    ModelFileError,
    UnreadableFileError,
)


@dataclass(frozen=True)
class HostileArchive:
    name: str
    make: Callable[[str, dict[str, bytes]], Any]
    error: type[ModelFileError]
    text: str


def write(
    path: str, members: Any, method: int = zipfile.ZIP_STORED, first: Callable[[Any], None] | None = None
) -> None:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as archive:
        warnings.simplefilter("ignore")  # zipfile warns of a name written twice
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            if first is not None:
                first(info)
            archive.writestr(info, content)


def beside(name: str, content: bytes = b"x") -> Any:
    """One more member than a model has."""
    return lambda path, members: write(path, [*members.items(), (name, content)])


def without(name: str) -> Any:
    return lambda path, members: write(path, [(key, value) for key, value in members.items() if key != name])


def replaced(name: str, content: Any, method: int = zipfile.ZIP_STORED) -> Any:
    def make(path: str, members: dict[str, bytes]) -> None:
        changed = content(members[name]) if callable(content) else content
        write(path, {**members, name: changed}.items(), method)

    return make


def marked(change: Callable[[Any], None]) -> Any:
    return lambda path, members: write(path, members.items(), first=change)


def link(info: Any) -> None:
    info.create_system, info.external_attr = 3, 0o120777 << 16


def patched(change: Callable[[bytes], bytes]) -> Any:
    """The bytes of a whole archive, changed."""

    def make(path: str, members: dict[str, bytes]) -> None:
        write(path, members.items())
        with open(path, "rb") as file:
            content = file.read()
        with open(path, "wb") as file:
            file.write(change(content))

    return make


def flag_encrypted(content: bytes) -> bytes:
    """Set the flag in all headers, local and central."""
    changed = bytearray(content)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = changed.find(signature)
        while place >= 0:
            changed[place + offset] |= 1
            place = changed.find(signature, place + 4)
    return bytes(changed)


def other_local_name(content: bytes) -> bytes:
    return content.replace(b"config.json", b"config.jsox", 1)


def wrong_checksum(content: bytes) -> bytes:
    place = content.find(b'"class_name"')
    return content[:place] + b'"CLASS_name"' + content[place + 12 :]


def lying_size(content: bytes) -> bytes:
    """A header that tells four bytes for the weights."""
    place = content.rfind(WEIGHTS.encode()) - 46  # the name stands behind so many bytes
    return content[: place + 24] + struct.pack("<I", 4) + content[place + 28 :]


STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
CONFIG, METADATA, WEIGHTS = "config.json", "metadata.json", "model.weights.h5"

ARCHIVES = [
    HostileArchive(
        "a path upwards", beside("../evil.py"), ForbiddenContentError, "'../evil.py' is not part of a model"
    ),
    HostileArchive(
        "a path from the root", beside("/etc/evil"), ForbiddenContentError, "'/etc/evil' is not part of a model"
    ),
    HostileArchive("a path of Windows", beside("C:\\evil"), ForbiddenContentError, "is not part of a model"),
    HostileArchive(
        "a path through assets",
        beside("assets/../../evil"),
        ForbiddenContentError,
        "'assets/../../evil' is not part of a model",
    ),
    HostileArchive(
        "a program", beside("model.py", b"import os"), ForbiddenContentError, "'model.py' is not part of a model"
    ),
    HostileArchive(
        "a pickle", beside("model.weights.npz"), ForbiddenContentError, "'model.weights.npz' is not part of a model"
    ),
    HostileArchive(
        "an archive in it", beside("model.keras"), ForbiddenContentError, "'model.keras' is not part of a model"
    ),
    HostileArchive("an asset of a hidden name", beside("assets/layers/.evil"), ForbiddenContentError, "is not part of"),
    HostileArchive("an asset of Windows", beside("assets/layers/a\\b"), ForbiddenContentError, "is not part of"),
    HostileArchive("an asset of a drive", beside("assets/C:evil"), ForbiddenContentError, "is not part of a model"),
    HostileArchive("a config twice", beside(CONFIG, b"{}"), ForbiddenContentError, "is there several times"),
    HostileArchive("weights twice", beside(WEIGHTS), ForbiddenContentError, "is there several times"),
    HostileArchive("no config", without(CONFIG), UnreadableFileError, "there is no 'config.json' in the archive"),
    HostileArchive("no weights", without(WEIGHTS), UnreadableFileError, "there is no 'model.weights.h5'"),
    HostileArchive("no metadata", without(METADATA), UnreadableFileError, "there is no 'metadata.json'"),
    HostileArchive("links", marked(link), ForbiddenContentError, "is a link"),
    HostileArchive("encrypted", patched(flag_encrypted), ForbiddenContentError, "is encrypted"),
    HostileArchive(
        "another compression",
        replaced(CONFIG, lambda old: old, zipfile.ZIP_LZMA),
        ForbiddenContentError,
        "compressed by method 14; those read are 0 (stored) and 8 (deflated)",
    ),
    HostileArchive(
        "a bomb for a config",
        replaced(CONFIG, b" " * (40 << 20), DEFLATED),
        FileLimitError,
        "config.json unpacks to more than 33554432 bytes",
    ),
    HostileArchive(
        "a bomb for weights",
        replaced(WEIGHTS, bytes(100 << 20), DEFLATED),
        FileLimitError,
        "model.weights.h5 unpacks to more than 200 times",
    ),
    HostileArchive("a wrong checksum", patched(wrong_checksum), UnreadableFileError, "cannot be unpacked"),
    HostileArchive("another name inside", patched(other_local_name), UnreadableFileError, "cannot be unpacked"),
    HostileArchive("a size that is not so", patched(lying_size), ModelFileError, WEIGHTS),
    HostileArchive("cut short", patched(lambda content: content[:-40]), UnreadableFileError, "not a readable archive"),
    HostileArchive(
        "cut in half", patched(lambda content: content[: len(content) // 2]), UnreadableFileError, "readable archive"
    ),
    HostileArchive(
        "a program before it",
        patched(lambda content: b"#!/bin/sh\n" + content),
        UnreadableFileError,
        "not a readable",
    ),
    HostileArchive("a config that is no JSON", replaced(CONFIG, b"{'a': 1}"), UnreadableFileError, "is not JSON"),
    HostileArchive("a config not of UTF-8", replaced(CONFIG, b'"\xff"'), UnreadableFileError, "is not UTF-8"),
    HostileArchive("a deep config", replaced(CONFIG, b"[" * 9999), FileLimitError, "deeper than 1024 levels"),
    HostileArchive("weights that are no HDF5", replaced(WEIGHTS, b"\x80\x04."), UnreadableFileError, "readable HDF5"),
    HostileArchive(
        "weights cut short", replaced(WEIGHTS, lambda old: old[:-100]), UnreadableFileError, "not a readable HDF5"
    ),
]
