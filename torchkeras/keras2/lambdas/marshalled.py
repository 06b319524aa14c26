"""Functions as Python marshals them, parsed to plain data: no code object is ever made.

A file does not say which Python wrote it. There are four layouts of a code object; the one whose parts all have their
types, and that ends with the data, is the file's.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torchkeras.keras2.lambdas.limits import BYTES, DEPTH, LENGTH, NUMBER, OBJECTS, Refused

NAMES = "names"  # a tuple of texts
NUMBER_PART, BYTES_PART, TEXT_PART, CONSTANTS_PART = "number", "bytes", "text", "constants"

_BEFORE = {  # the numbers that a code object begins with
    "2.7": ("arguments", "locals", "stack", "flags"),
    "3.4": ("arguments", "keyword_only", "locals", "stack", "flags"),
    "3.8": ("arguments", "position_only", "keyword_only", "locals", "stack", "flags"),
    "3.11": ("arguments", "position_only", "keyword_only", "stack", "flags"),
}
_OLD = {
    "code": BYTES_PART,
    "constants": CONSTANTS_PART,
    "names": NAMES,
    "variables": NAMES,
    "free": NAMES,
    "cells": NAMES,
    "file": TEXT_PART,
    "name": TEXT_PART,
    "line": NUMBER_PART,
    "lines": BYTES_PART,
}
_NEW = {
    "code": BYTES_PART,
    "constants": CONSTANTS_PART,
    "names": NAMES,
    "variables": NAMES,
    "kinds": BYTES_PART,
    "file": TEXT_PART,
    "name": TEXT_PART,
    "full_name": TEXT_PART,
    "line": NUMBER_PART,
    "lines": BYTES_PART,
    "exceptions": BYTES_PART,
}
LAYOUTS = {
    layout: {**dict.fromkeys(numbers, NUMBER_PART), **(_NEW if layout == "3.11" else _OLD)}
    for layout, numbers in _BEFORE.items()
}
_LOCAL, _CELL, _FREE = 0x20, 0x40, 0x80  # kinds of variables since 3.11


@dataclass(frozen=True, eq=False)
class Code:
    """The parts of a function that are of use.

    `variables`: the local ones, arguments first; `every`: those, cells and free ones, as instructions of 3.11 and later
    count them.
    """

    layout: str
    arguments: int
    keyword_only: int
    flags: int
    code: bytes
    constants: tuple[Any, ...]
    names: tuple[str, ...]
    variables: tuple[str, ...]
    cells: tuple[str, ...]
    free: tuple[str, ...]
    every: tuple[str, ...]
    name: str
    lines: bytes


class _Pending:
    """Stands in the list of references for an object that is not whole yet."""


def parse(data: bytes) -> Code:
    """The function in marshalled data. Raises Refused for anything else, and beyond a limit."""
    if len(data) > BYTES:
        raise Refused(f"it has {len(data)} bytes; {BYTES} are the most that is read")
    reasons = []
    for layout in LAYOUTS:
        reader = _Reader(data, layout)
        try:
            found = reader.value(0)
            if not isinstance(found, Code):
                raise Refused("its data are not a function")
            if reader.place != len(data):
                raise Refused("bytes follow its end")
        except Refused as refused:
            reasons.append((reader.place, str(refused)))
        else:
            return found
    raise Refused(f"its data are damaged, or of an unknown Python: {max(reasons)[1]}")


def _variables_by_kind(names: Sequence[str], kinds: bytes) -> dict[str, tuple[str, ...]]:
    """The names of local variables, of cells and of free variables, from their bits since Python 3.11."""
    if len(kinds) != len(names):
        raise Refused("variables without their kinds")

    def having(bit: int) -> tuple[str, ...]:
        return tuple(name for name, kind in zip(names, kinds, strict=True) if kind & bit)

    return {"variables": having(_LOCAL), "cells": having(_CELL), "free": having(_FREE)}


class _Reader:
    def __init__(self, data: bytes, layout: str):
        self.data, self.layout, self.place = data, layout, 0
        self.references: list[Any] = []
        self.interned: list[str] = []
        self.objects = 0

    # --- numbers and bytes ------------------------------------------------------------------------------------------

    def take(self, count: int) -> bytes:
        if count < 0 or self.place + count > len(self.data):
            raise Refused(f"its data end at byte {self.place}")
        self.place += count
        return self.data[self.place - count : self.place]

    def number(self) -> int:
        return struct.unpack("<i", self.take(4))[0]

    def length(self) -> int:
        found = self.number()
        if not 0 <= found <= len(self.data):
            raise Refused(f"a length of {found}, at byte {self.place}")
        return found

    # --- objects ----------------------------------------------------------------------------------------------------

    def value(self, depth: int) -> Any:
        self.objects += 1
        if depth > DEPTH or self.objects > OBJECTS:
            raise Refused("its data have too many objects, or too deep")
        tag = self.take(1)[0]
        kind, kept = chr(tag & 0x7F), bool(tag & 0x80) and self.layout != "2.7"
        if self.layout == "2.7" and tag & 0x80:
            raise Refused(f"an object of type {tag}")
        index = len(self.references)
        if kept:
            self.references.append(_Pending)
        found = self._of_kind(kind, depth)
        if kept:
            self.references[index] = found
        return found

    def _of_kind(self, kind: str, depth: int) -> Any:
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        read = _KINDS.get(kind)
        if read is None:
            raise Refused(f"an object of type {kind!r}")
        return read(self, depth)

    def integer(self, depth: int) -> int:
        return self.number()

    def wide(self, depth: int) -> int:
        return struct.unpack("<q", self.take(8))[0]

    def long(self, depth: int) -> int:
        digits = self.number()
        if abs(digits) > 8:
            raise Refused(f"a whole number of {abs(digits)} digits")
        found = 0
        for place in range(abs(digits)):
            digit = struct.unpack("<H", self.take(2))[0]
            found += (digit & 0x7FFF) << (15 * place)
        if found >= NUMBER:
            raise Refused(f"a whole number beyond {NUMBER}")
        return -found if digits < 0 else found

    def real(self, depth: int) -> float:
        return struct.unpack("<d", self.take(8))[0]

    def written_real(self, depth: int) -> float:
        try:
            return float(self.take(self.take(1)[0]).decode("ascii"))
        except ValueError as error:
            raise Refused("a number that is none") from error

    def octets(self, depth: int) -> Any:
        found = self.take(self.length())
        return found.decode("latin-1") if self.layout == "2.7" else found

    def interned_text(self, depth: int) -> str:
        found = self.text(depth)
        self.interned.append(found)
        return found

    def interned_again(self, depth: int) -> str:
        number = self.number()
        if not 0 <= number < len(self.interned):
            raise Refused(f"a text by the number {number}")
        return self.interned[number]

    def text(self, depth: int) -> str:
        try:
            return self.take(self.length()).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise Refused("a text that is not UTF-8") from error

    def short_text(self, depth: int) -> str:
        return self.take(self.take(1)[0]).decode("latin-1")

    def latin_text(self, depth: int) -> str:
        return self.take(self.length()).decode("latin-1")

    def items(self, depth: int) -> tuple[Any, ...]:
        return self._items(self.length(), depth)

    def few_items(self, depth: int) -> tuple[Any, ...]:
        return self._items(self.take(1)[0], depth)

    def _items(self, count: int, depth: int) -> tuple[Any, ...]:
        if count > LENGTH:
            raise Refused(f"a tuple of {count}")
        return tuple(self.value(depth + 1) for _ in range(count))

    def slice(self, depth: int) -> slice:
        return slice(*(self.value(depth + 1) for _ in range(3)))

    def reference(self, depth: int) -> Any:
        number = self.number()
        if not 0 <= number < len(self.references) or self.references[number] is _Pending:
            raise Refused(f"a reference to object {number}, which is not there or not whole")
        return self.references[number]

    def code(self, depth: int) -> Code:
        parts = {name: self._part(name, kind, depth) for name, kind in LAYOUTS[self.layout].items()}
        every = parts["variables"]
        if self.layout == "3.11":
            parts |= _variables_by_kind(every, parts["kinds"])
        elif parts["locals"] != len(parts["variables"]):
            raise Refused("another number of variables than of their names")
        count = parts["arguments"] + parts.get("keyword_only", 0)
        if parts["arguments"] < 0 or parts.get("keyword_only", 0) < 0 or count > len(parts["variables"]):
            raise Refused("more arguments than variables")
        kept = {key: parts.get(key, 0) for key in Code.__dataclass_fields__ if key not in ("layout", "every")}
        return Code(layout=self.layout, every=every, **kept)

    def _part(self, name: str, kind: str, depth: int) -> Any:
        if kind == NUMBER_PART:
            return self.number()
        found = self.value(depth + 1)
        if kind == BYTES_PART and self.layout == "2.7" and isinstance(found, str):
            return found.encode("latin-1")
        is_names = isinstance(found, tuple) and all(isinstance(each, str) for each in found)
        fits = {
            BYTES_PART: isinstance(found, bytes),
            TEXT_PART: isinstance(found, str),
            CONSTANTS_PART: isinstance(found, tuple),
            NAMES: is_names,
        }
        if not fits[kind]:
            raise Refused(f"the {name} of a function are of another type, at byte {self.place}")
        return found


_CONSTANTS = {"N": None, "F": False, "T": True, ".": Ellipsis}
_KINDS = {
    "i": _Reader.integer,
    "I": _Reader.wide,
    "l": _Reader.long,
    "f": _Reader.written_real,
    "g": _Reader.real,
    "s": _Reader.octets,
    "t": _Reader.interned_text,
    "R": _Reader.interned_again,
    "u": _Reader.text,
    "a": _Reader.latin_text,
    "A": _Reader.latin_text,
    "z": _Reader.short_text,
    "Z": _Reader.short_text,
    "(": _Reader.items,
    ")": _Reader.few_items,
    ">": _Reader.items,  # a frozen set, which a formula asks only whether it has something
    ":": _Reader.slice,
    "r": _Reader.reference,
    "c": _Reader.code,
}
