"""The instructions of a function, in one form for all versions of Python.

What differs between versions is settled here: the length of an instruction, what its argument counts, where a jump
goes. How a call finds its function on the stack is left to `interpreter`, by the name of the instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchkeras.lambdas.limits import Refused
from torchkeras.lambdas.marshalled import Code
from torchkeras.lambdas.opcodes import BINARY, CACHES, COMPARISONS, CONSTANTS, FIRST_WITH_ARGUMENT, NAMES, since

# The versions that write each layout of a code object.
VERSIONS = {
    "2.7": ("2.7",),
    "3.4": ("3.4", "3.6"),
    "3.8": ("3.8", "3.10"),
    "3.11": ("3.11", "3.12", "3.13", "3.14"),
}
MOST = 20_000  # instructions of one function

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
    places = {each.start: number for number, each in enumerate(raw)}
    return [_instruction(code, version, each, raw, places) for each in raw]


def _lines_cover(code: Code) -> bool:
    """Whether the table of lines goes to the end of the code, as that of 3.10 does; older ones stop before."""
    return sum(code.lines[::2]) == len(code.code)


def _raw(code: bytes, version: str) -> list[_Raw]:
    names, caches, found = NAMES[version], CACHES.get(version, {}), []
    by_words = version not in ("2.7", "3.4")
    place = start = extended = 0
    while place < len(code):
        number = code[place]
        name = names.get(number)
        if name is None:
            raise Refused(f"the instruction {number}, which Python {version} does not have")
        size = 2 if by_words else 3 if number >= FIRST_WITH_ARGUMENT else 1
        if place + size > len(code):
            raise Refused(f"an instruction {name} that is cut off")
        place += size
        argument = int.from_bytes(code[place - size + 1 : place], "little") if size > 1 else 0
        argument += extended << (8 if by_words else 16)
        if argument >= 1 << 32:
            raise Refused(f"an argument of {name} beyond 32 bits")
        if name == "EXTENDED_ARG":
            extended = argument
            continue
        notes = 2 * caches.get(name, 0)
        if any(code[place : place + notes]) or place + notes > len(code):
            raise Refused(f"caches of {name} that are not those of Python {version}")
        if name == "CACHE":
            raise Refused(f"a cache of Python {version} without an instruction")
        place += notes
        found.append(_Raw(start, place, name, argument))
        start, extended = place, 0
    if extended or start != place:
        raise Refused("code that ends within an instruction")
    return found


def _instruction(code: Code, version: str, raw: _Raw, all_raw: list[_Raw], places: dict[int, int]) -> Instruction:
    name, number = raw.name, raw.argument

    def pick(items: tuple[Any, ...], place: int, what: str) -> Any:
        if not 0 <= place < len(items):
            raise Refused(f"{name} of {what} {place}, of {len(items)}")
        return items[place]

    new = code.layout == "3.11"
    target = _target(version, raw)
    if target is not None:
        if target not in places:
            raise Refused(f"{name} to byte {target}, where no instruction begins")
        place = places[target]
        if name == "FOR_ITER" and all_raw[place].name == "END_FOR":
            place += 2 if since(version, "3.13") else 1  # what ends the loop is not run
        return Instruction(_SAME.get(name, name), place, number)
    argument: Any = number
    if name in ("LOAD_CONST", "RETURN_CONST", "KW_NAMES"):
        argument = pick(code.constants, number, "constant")
    elif name in _NAMED:
        first = {"LOAD_GLOBAL": "3.11", "LOAD_ATTR": "3.12"}.get(name)  # since when the lowest bit says something else
        argument = pick(code.names, number >> (first is not None and since(version, first)), "name")
    elif name in _LOCAL:
        argument = pick(code.every if new else code.variables, number, "variable")
    elif name in _PAIRS:
        argument = tuple(pick(code.every, place, "variable") for place in (number >> 4, number & 15))
    elif name in _CELLS:
        argument = pick(code.every if new else (*code.cells, *code.free), number, "variable")
    elif name == "COMPARE_OP":
        argument = pick(COMPARISONS, number >> {"3.12": 4, "3.13": 5, "3.14": 5}.get(version, 0), "operator")
    elif name == "BINARY_OP":
        argument = pick((*BINARY, "[]") if since(version, "3.14") else BINARY, number, "operator")
    elif name in ("LOAD_COMMON_CONSTANT", "LOAD_ASSERTION_ERROR"):
        argument = pick(CONSTANTS, number, "constant")
    return Instruction(_SAME.get(name, name), argument, number)


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
