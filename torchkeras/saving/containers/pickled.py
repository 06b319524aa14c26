"""Files of `torch.save`, looked at before torch reads them: checksums, sizes, and what their pickles ask for.

torch takes sizes from a file without a look at how long it is, and compares no checksums. Here the pickle is followed,
without making an object of torch's, as far as a `state_dict` needs it: tensors by name, each a part of a storage that
is in the file. Anything else is refused. torch's own safe loader reads the file afterwards.
"""

from __future__ import annotations

import io
import os
import pickletools
import re
import struct
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import prod
from typing import IO, Any

from torchkeras.errors import FileLimitError, ForbiddenContentError, ModelFileError, UnreadableFileError
from torchkeras.saving.containers.archive import BEGINNING, DAMAGE, ENCRYPTED, check_whole, in_place
from torchkeras.saving.containers.limits import LIMITS, MIB, Limits
from torchkeras.saving.containers.open_file import shown
from torchkeras.saving.containers.parts import CAN_READ

MORE = "it holds more than tensors, or no pickled tensors at all"
NO_STATE = "it must hold a state_dict, tensors by their names."
STORAGES = {
    **dict.fromkeys(("Byte", "Char", "Bool"), 1),
    **dict.fromkeys(("Half", "BFloat16", "Short"), 2),
    **dict.fromkeys(("Float", "Int"), 4),
    **dict.fromkeys(("Double", "Long", "ComplexFloat"), 8),
    "ComplexDouble": 16,
}
SIZES = {f"torch.{kind}Storage": size for kind, size in STORAGES.items()} | {"torch.storage.UntypedStorage": 1}
TENSORS = ("torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3")
OTHER_TENSORS = ("torch._utils._rebuild_", "torch.serialization._get_layout")  # such as sparse ones
PARAMETER, DICT = "torch._utils._rebuild_parameter", "collections.OrderedDict"
TYPE = re.compile(r"torch\.[a-z]+(\d+)\w*$")  # of a tensor of `_rebuild_tensor_v3`, with its bits
VALUES = ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINSTRING", "BINSTRING")
# What the formats before torch 1.6 begin with: three pickles, of a number, of a version and of the machine.
HEADERS = 3


@dataclass(frozen=True)
class Name:
    """A global that a pickle asks for."""

    name: str


@dataclass(frozen=True)
class Storage:
    """A storage that a pickle asks for: its key, and its bytes by number and size."""

    key: str
    count: int
    size: int


@dataclass(frozen=True)
class InStorage:
    """A tensor that a pickle asks for: its storage, and the byte there at which it begins."""

    storage: Storage
    begin: int


@dataclass
class Machine:
    """What a pickle makes, with `Name`, `Storage` and `InStorage` in the place of what it asks for."""

    where: str
    limits: Limits
    storages: dict[str, Storage] = field(default_factory=dict)
    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def run(self, file: io.BytesIO) -> Any:
        """The value of the pickle that begins here. Raises ForbiddenContentError, UnreadableFileError, FileLimitError.

        The file stands after it then.
        """
        self.stack, self.marks, self.memo = [], [], {}
        try:
            for count, (code, argument, _) in enumerate(pickletools.genops(file)):
                if count > self.limits.steps:
                    raise FileLimitError(f"{self.where}: its pickle has more than {self.limits.steps} steps.")
                if code.name == "STOP":
                    return self.stack.pop()
                if code.name not in STEPS:
                    raise ForbiddenContentError(f"{self.where}: {MORE}.")
                STEPS[code.name](self, argument)
        except (ValueError, LookupError, TypeError, AttributeError, struct.error, EOFError, OverflowError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise UnreadableFileError(f"{self.where}: not a file that torch.save wrote ({error}).") from error
        raise UnreadableFileError(f"{self.where}: not a file that torch.save wrote (its pickle does not end).")

    def marked(self) -> list[Any]:
        """What is above the last mark, taken from the stack."""
        at = self.marks.pop()
        found = self.stack[at:]
        del self.stack[at:]
        return found

    def wrap(self, size: int) -> None:
        """Make a tuple of what is on top."""
        self.stack[-size:] = [tuple(self.stack[-size:])]

    def extend(self, items: list[Any]) -> None:
        """Append to the list on top."""
        self.stack[-1].extend(items)

    def update(self, items: list[Any]) -> None:
        """Set items, keys and values in turn, of the dict on top."""
        self._set(self.stack[-1], zip(items[::2], items[1::2], strict=True))

    def store(self, place: int) -> None:
        """Remember what is on top."""
        self.memo[place] = self.stack[-1]

    def call(self) -> None:
        """Call what is below the arguments on top."""
        arguments = self.stack.pop()
        self.stack.append(self._called(self.stack.pop(), *arguments))

    def build(self) -> None:
        """Leave out the attributes on top, such as the `_metadata` of a `state_dict`, of what is below them."""
        state = self.stack.pop()
        if not (isinstance(self.stack[-1], dict) and isinstance(state, dict)):
            raise ForbiddenContentError(f"{self.where}: {MORE}.")

    def _set(self, target: Any, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Set items. Keys are texts and numbers: the hash of nested tuples may take any time."""
        for key, value in pairs:
            if not isinstance(target, dict) or not isinstance(key, (str, int)):
                raise ForbiddenContentError(f"{self.where}: {MORE}.")
            target[key] = value

    def _called(self, called: Any, *arguments: Any) -> Any:
        name = called.name if isinstance(called, Name) else ""
        if name == DICT:
            made: dict[Any, Any] = {}
            self._set(made, *arguments or [()])  # type: ignore[arg-type]
            return made
        if name in TENSORS:
            return self._checked_tensor(name, *arguments)
        if name == PARAMETER:
            return arguments[0]
        if name.startswith(OTHER_TENSORS):
            raise UnreadableFileError(f"{self.where}: {NO_STATE}")
        raise ForbiddenContentError(f"{self.where}: {MORE}.")

    def _storage(self, stated: tuple[Any, ...]) -> Storage:
        kind, of, key, _, count, *view = stated
        name = of.name if isinstance(of, Name) else ""
        if kind != "storage" or name not in SIZES or not isinstance(key, str) or any(view):
            raise ForbiddenContentError(f"{self.where}: {MORE}.")
        if not _is_count(count):
            raise UnreadableFileError(f"{self.where}: the storage {key[:100]!r} has the size {count!r}.")
        found = Storage(key, count, SIZES[name])
        if self.storages.setdefault(key, found) != found:
            raise UnreadableFileError(f"{self.where}: the storage {key[:100]!r} has two types or sizes.")
        return found

    def _checked_tensor(
        self, by: str, storage: Storage, offset: int, shape: Any, strides: Any, *more: Any
    ) -> InStorage:
        item = _bytes_of_type(more[2].name) if by == TENSORS[2] else storage.size
        if len(shape) != len(strides) or not all(map(_is_count, (offset, *shape, *strides))):
            raise UnreadableFileError(f"{self.where}: a tensor has the shape {shape} and the strides {strides}.")
        size, held = prod(shape) * item, storage.count * storage.size
        last = offset + sum((length - 1) * step for length, step in zip(shape, strides, strict=True)) + 1
        if size and last * item > held:
            raise UnreadableFileError(f"{self.where}: a tensor goes beyond its storage of {held} bytes.")
        if size > self.limits.array or (size > self.limits.ratio_from and size > self.limits.ratio * held):
            raise FileLimitError(f"{self.where}: {held} bytes would become a tensor of {size}.")
        return InStorage(storage, offset * item)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _bytes_of_type(name: str) -> int:
    bits = TYPE.match(name)
    return int(bits[1]) // 8 if bits else 1


# The steps that a `state_dict` needs, each with its argument.
STEPS: dict[str, Callable[[Machine, Any], None]] = {
    "NONE": lambda machine, _: machine.stack.append(None),
    "NEWTRUE": lambda machine, _: machine.stack.append(True),
    "NEWFALSE": lambda machine, _: machine.stack.append(False),
    **dict.fromkeys(VALUES, lambda machine, value: machine.stack.append(value)),
    "EMPTY_TUPLE": lambda machine, _: machine.stack.append(()),
    "EMPTY_LIST": lambda machine, _: machine.stack.append([]),
    "EMPTY_DICT": lambda machine, _: machine.stack.append({}),
    "PROTO": lambda machine, version: None,
    "MARK": lambda machine, _: machine.marks.append(len(machine.stack)),
    "TUPLE1": lambda machine, _: machine.wrap(1),
    "TUPLE2": lambda machine, _: machine.wrap(2),
    "TUPLE3": lambda machine, _: machine.wrap(3),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.marked())),
    "APPEND": lambda machine, _: machine.extend([machine.stack.pop()]),
    "APPENDS": lambda machine, _: machine.extend(machine.marked()),
    "SETITEM": lambda machine, _: machine.update([machine.stack.pop(-2), machine.stack.pop()]),
    "SETITEMS": lambda machine, _: machine.update(machine.marked()),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), lambda machine, place: machine.stack.append(machine.memo[place])),
    **dict.fromkeys(("BINPUT", "LONG_BINPUT"), Machine.store),
    "GLOBAL": lambda machine, name: machine.stack.append(Name(name.replace(" ", ".", 1))),
    "BINPERSID": lambda machine, _: machine.stack.append(machine._storage(machine.stack.pop())),
    "REDUCE": lambda machine, _: machine.call(),
    "BUILD": lambda machine, _: machine.build(),
}


# --- files -----------------------------------------------------------------------------------------------------------


def check(path: str | os.PathLike[str], limits: Limits = LIMITS, checksums: bool = True) -> dict[str, int]:
    """Look at a file of `torch.save`; the bytes at which the tensors begin that can be read straight from it.

    `checksums`: whether those of a zip are compared. Raises UnreadableFileError for damage, ForbiddenContentError for
    other objects than tensors, FileLimitError.
    """
    with open(path, "rb") as file:
        first = file.read(len(BEGINNING))
        file.seek(0)
        if first == BEGINNING:
            return _check_zip(file, shown(path), limits, checksums)
        _check_stream(file, shown(path), limits)
        return {}


def _check_zip(file: IO[bytes], where: str, limits: Limits, checksums: bool) -> dict[str, int]:
    """The files of torch since 1.6: a zip with a pickle and a member for each storage, none of them compressed."""
    try:
        found = zipfile.ZipFile(file)
    except DAMAGE as error:
        raise UnreadableFileError(f"{where}: not a file that torch.save wrote ({error}).") from error
    with found:
        members = _checked_members(found, file, where, limits)
        name = _name_of_pickle(members, where, limits)
        root = name.removesuffix("data.pkl")
        begins = _members_begin(found, where, checksums)
        machine = Machine(where, limits)
        made = machine.run(io.BytesIO(found.read(name)))
        _check_storages(machine, members, f"{root}data/")
        if not begins or (f"{root}byteorder" in members and found.read(f"{root}byteorder") != b"little"):
            return {}
        stored = made.items() if isinstance(made, dict) else ()
        return {
            key: begins[f"{root}data/{value.storage.key}"] + value.begin
            for key, value in stored
            if isinstance(value, InStorage)
        }


def _checked_members(found: zipfile.ZipFile, file: IO[bytes], where: str, limits: Limits) -> dict[str, zipfile.ZipInfo]:
    """The members by name, after a look at their number and sizes."""
    members = {member.filename: member for member in found.infolist()}
    if len(members) < len(found.infolist()):
        raise ForbiddenContentError(f"{where}: a member is there several times.")
    if len(members) > limits.members:
        raise FileLimitError(f"{where}: it has {len(members)} members; at most {limits.members} are read.")
    for name, member in members.items():
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & ENCRYPTED:
            raise ForbiddenContentError(f"{where}: member {name[:100]!r} is compressed or encrypted.")
    stated = sum(member.file_size for member in members.values())
    if stated > file.seek(0, os.SEEK_END):
        raise UnreadableFileError(f"{where}: its members have {stated} bytes, more than the file.")
    return members


def _name_of_pickle(members: dict[str, zipfile.ZipInfo], where: str, limits: Limits) -> str:
    pickles = [name for name in members if name.split("/")[-1] == "data.pkl"]
    if len(pickles) != 1:
        raise UnreadableFileError(f"{where}: not a file that torch.save wrote (it has {len(pickles)} data.pkl).")
    if members[pickles[0]].file_size > limits.json:
        raise FileLimitError(f"{where}: its pickle has over {limits.json} bytes.")
    return pickles[0]


def _members_begin(archive: zipfile.ZipFile, where: str, compare: bool) -> dict[str, int]:
    """The bytes at which the members begin, none where the system cannot read there.

    `compare`: whether their checksums are compared first.
    """
    if not CAN_READ:
        for name in archive.namelist():
            _read_through(archive, name, where)
        return {}
    names = [f"{where}: member {member.filename[:100]!r}" for member in archive.infolist()]
    found = [
        (name, member, in_place(archive, member, name)) for name, member in zip(names, archive.infolist(), strict=True)
    ]
    if compare:
        check_whole(found)
    return {member.filename: part.begin for _, member, part in found}


def _check_storages(machine: Machine, members: dict[str, zipfile.ZipInfo], folder: str) -> None:
    """Raise UnreadableFileError if a storage of a pickle is not a member of its size."""
    for storage in machine.storages.values():
        member, size = members.get(folder + storage.key), storage.count * storage.size
        if member is None or member.file_size != size:
            stored = "none are" if member is None else f"{member.file_size} are"
            raise UnreadableFileError(
                f"{machine.where}: the storage {storage.key[:100]!r} has {size} bytes; {stored} stored."
            )


def _read_through(archive: zipfile.ZipFile, name: str, where: str) -> None:
    """Read a member, whose checksum is compared at its end."""
    try:
        with archive.open(name) as source:
            while source.read(MIB):
                pass
    except DAMAGE as error:
        raise UnreadableFileError(f"{where}: member {name[:100]!r} cannot be read ({error}).") from error


def _check_stream(file: IO[bytes], where: str, limits: Limits) -> None:
    """The files of torch before 1.6: pickles, then for each storage its number of values and these. No checksums."""
    machine = Machine(where, limits)
    pickles = io.BytesIO(file.read(limits.json))  # a file makes room for whatever length a pickle tells
    for _ in range(HEADERS + 1):
        machine.run(pickles)
    keys = machine.run(pickles)
    if not isinstance(keys, list) or sorted(map(str, keys)) != sorted(machine.storages):
        raise UnreadableFileError(f"{where}: its storages are not those that it lists.")
    at, end = pickles.tell(), file.seek(0, os.SEEK_END)
    for key in keys:
        storage = machine.storages[key]
        file.seek(at)
        stated, at = int.from_bytes(file.read(8), "little"), at + 8 + storage.count * storage.size
        if stated != storage.count or at > end:
            raise UnreadableFileError(
                f"{where}: the storage {key[:100]!r} has {storage.count} values; {stated} are stored."
            )
