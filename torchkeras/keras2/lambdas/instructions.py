"""The instructions of a function, in one form for all versions of Python.

What differs between versions is settled here: the length of an instruction, what its argument counts, where a jump
goes. How a call finds its function on the stack is left to `interpreter`, by the name of the instruction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torchkeras.keras2.lambdas.limits import Refused
from torchkeras.keras2.lambdas.marshalled import Code
from torchkeras.keras2.lambdas.opcodes import BINARY, CACHES, COMPARISONS, CONSTANTS, FIRST_WITH_ARGUMENT, NAMES, since

# The versions that write each layout of a code object.
VERSIONS = {
    "2.7": ("2.7",),
    "3.4": ("3.4", "3.6"),
    "3.8": ("3.8", "3.10"),
    "3.11": ("3.11", "3.12", "3.13", "3.14"),
}
MOST = 20_000  # instructions of one function
_BY_BYTES = ("2.7", "3.4")  # an instruction is one byte or three; later each is two

# Names of instructions that are another's, but for the way in which they jump.
_SAME = {
    "POP_JUMP_FORWARD_IF_TRUE": "POP_JUMP_IF_TRUE",
    "POP_JUMP_FORWARD_IF_FALSE": "POP_JUMP_IF_FALSE",
    "POP_JUMP_FORWARD_IF_NONE": "POP_JUMP_IF_NONE",
    "POP_JUMP_FORWARD_IF_NOT_NONE": "POP_JUMP_IF_NOT_NONE",
    "POP_JUMP_BACKWARD_IF_TRUE": "POP_JUMP_IF_TRUE",
    "POP_JUMP_BACKWARD_IF_FALSE": "POP_JUMP_IF_FALSE",
    "POP_JUMP_BACKWARD_IF_NONE": "POP_JUMP_IF_NONE",
    "POP_JUMP_BACKWARD_IF_NOT_NONE": "POP_JUMP_IF_NOT_NONE",
    "JUMP_ABSOLUTE": "JUMP",
    "JUMP_FORWARD": "JUMP",
    "JUMP_BACKWARD": "JUMP",
    "JUMP_BACKWARD_NO_INTERRUPT": "JUMP",
    "CONTINUE_LOOP": "JUMP",
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": "LOAD_FAST_LOAD_FAST",
    "LOAD_SMALL_INT": "LOAD_CONST",
    "LOAD_ASSERTION_ERROR": "LOAD_COMMON_CONSTANT",
    "POP_ITER": "POP_TOP",
    "LOAD_NAME": "LOAD_GLOBAL",
    "LOAD_CLASSDEREF": "LOAD_DEREF",
}
_RELATIVE = ("JUMP_FORWARD", "FOR_ITER", "SETUP_LOOP")
_ABSOLUTE = ("JUMP_ABSOLUTE", "CONTINUE_LOOP", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE")
_ABSOLUTE = (*_ABSOLUTE, "JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP")
_NEWER_JUMPS = ("POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE", *_RELATIVE[:2], *_ABSOLUTE)
_NAMED = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD", "IMPORT_NAME", "IMPORT_FROM")
_LOCAL = ("LOAD_FAST", "STORE_FAST", "DELETE_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_BORROW")
_PAIRS = ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST")
_CELLS = ("LOAD_DEREF", "STORE_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF")
_CONSTANT = ("LOAD_CONST", "RETURN_CONST", "KW_NAMES")
_COMMON = ("LOAD_COMMON_CONSTANT", "LOAD_ASSERTION_ERROR")

# How many of the lowest bits of an argument say something else, by the version.
_SHIFTS = {
    "LOAD_GLOBAL": {"3.11": 1, "3.12": 1, "3.13": 1, "3.14": 1},
    "LOAD_ATTR": {"3.12": 1, "3.13": 1, "3.14": 1},
    "COMPARE_OP": {"3.12": 4, "3.13": 5, "3.14": 5},
}


@dataclass(frozen=True)
class Instruction:
    """`argument`: what it means, a constant, a name, the number of an instruction to jump to, or a count."""

    name: str
    argument: Any = 0
    number: int = 0  # the argument as it is written


@dataclass(frozen=True)
class _Raw:
    start: int
    end: int  # after its caches
    name: str
    argument: int


def decoded(code: Code) -> tuple[str, list[Instruction]]:
    """The first version of Python of whose instructions the code is made, and these.

    Raises Refused for code of no version that is read.
    """
    reasons = []
    for version in VERSIONS[code.layout]:
        try:
            return version, _decoded(code, version)
        except Refused as refused:
            reasons.append(str(refused))
    raise Refused(reasons[-1])


def _decoded(code: Code, version: str) -> list[Instruction]:
    raw = _raw(code.code, version)
    if not raw or len(raw) > MOST:
        raise Refused(f"a function of {len(raw)} instructions")
    if code.layout == "3.8" and (version == "3.10") != _lines_cover(code):
        raise Refused("lines of another Python")
    if code.layout == "3.11" and all(each.name != "RESUME" for each in raw):  # whose number tells 3.14 from the others
        raise Refused(f"no instruction RESUME of Python {version}")
    lists = _lists(code, version)
    return [
        Instruction(_SAME.get(each.name, each.name), argument, each.argument)
        for each, argument in zip(raw, _arguments(raw, version, lists), strict=True)
    ]


def _lines_cover(code: Code) -> bool:
    """Whether the table of lines goes to the end of the code, as that of 3.10 does; older ones stop before."""
    return sum(code.lines[::2]) == len(code.code)


def _raw(code: bytes, version: str) -> list[_Raw]:
    caches, found = CACHES.get(version, {}), []
    place = start = extended = 0
    while place < len(code):
        name, argument, place = _written(code, version, place)
        argument += extended << (16 if version in _BY_BYTES else 8)
        if argument >= 1 << 32:
            raise Refused(f"an argument of {name} beyond 32 bits")
        if name == "EXTENDED_ARG":
            extended = argument
            continue
        end = place + 2 * caches.get(name, 0)
        if any(code[place:end]) or end > len(code):
            raise Refused(f"caches of {name} that are not those of Python {version}")
        if name == "CACHE":
            raise Refused(f"a cache of Python {version} without an instruction")
        found.append(_Raw(start, end, name, argument))
        start, place, extended = end, end, 0
    if extended or start != place:
        raise Refused("code that ends within an instruction")
    return found


def _written(code: bytes, version: str, place: int) -> tuple[str, int, int]:
    """The instruction at a place: its name, its argument as written, and where it ends."""
    number = code[place]
    name = NAMES[version].get(number)
    if name is None:
        raise Refused(f"the instruction {number}, which Python {version} does not have")
    size = 2
    if version in _BY_BYTES:
        size = 3 if number >= FIRST_WITH_ARGUMENT else 1
    end = place + size
    if end > len(code):
        raise Refused(f"an instruction {name} that is cut off")
    return name, int.from_bytes(code[place + 1 : end], "little"), end


def _lists(code: Code, version: str) -> dict[str, tuple[str, tuple[Any, ...]]]:
    """By the name of an instruction, what its argument counts, and the list of these."""
    is_old = code.layout != "3.11"
    return {
        **dict.fromkeys(_CONSTANT, ("constant", code.constants)),
        **dict.fromkeys(_COMMON, ("constant", CONSTANTS)),
        **dict.fromkeys(_NAMED, ("name", code.names)),
        **dict.fromkeys(_LOCAL, ("variable", code.variables if is_old else code.every)),
        **dict.fromkeys(_CELLS, ("variable", (*code.cells, *code.free) if is_old else code.every)),
        **dict.fromkeys(_PAIRS, ("variable", code.every)),
        "COMPARE_OP": ("operator", COMPARISONS),
        "BINARY_OP": ("operator", (*BINARY, "[]") if since(version, "3.14") else BINARY),
    }


def _arguments(raw: list[_Raw], version: str, lists: dict[str, tuple[str, tuple[Any, ...]]]) -> Iterator[Any]:
    """What the argument of each instruction means."""
    places = {each.start: number for number, each in enumerate(raw)}
    for each in raw:
        name, number = each.name, each.argument
        target = _target(version, each)
        if target is not None:
            place = _place(name, target, places)
            if name == "FOR_ITER" and raw[place].name == "END_FOR":
                place += 2 if since(version, "3.13") else 1  # what ends the loop is not run
            yield place
        elif name in _PAIRS:
            yield tuple(_picked(name, place, *lists[name]) for place in (number >> 4, number & 15))
        elif name in lists:
            yield _picked(name, number >> _SHIFTS.get(name, {}).get(version, 0), *lists[name])
        else:
            yield number


def _place(name: str, target: int, places: dict[int, int]) -> int:
    """The number of the instruction that a jump goes to."""
    if target not in places:
        raise Refused(f"{name} to byte {target}, where no instruction begins")
    return places[target]


def _picked(name: str, place: int, what: str, items: tuple[Any, ...]) -> Any:
    """An item of the list that the argument of an instruction counts."""
    if not 0 <= place < len(items):
        raise Refused(f"{name} of {what} {place}, of {len(items)}")
    return items[place]


def _target(version: str, raw: _Raw) -> int | None:
    """The byte that an instruction may jump to; None if it does not jump."""
    name, number = raw.name, raw.argument
    if since(version, "3.11"):
        if "BACKWARD" in name:
            return raw.end - 2 * number
        return raw.end + 2 * number if name in _NEWER_JUMPS or "_FORWARD" in name else None
    scale = 2 if version == "3.10" else 1
    if name in _RELATIVE:
        return raw.end + scale * number
    return scale * number if name in _ABSOLUTE else None
