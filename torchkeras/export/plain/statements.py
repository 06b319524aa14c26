"""Statements over values that are set once, and how they are printed: without unused ones, with reused variables.

A long line is broken as by `ruff format`: at its last bracket, into one line or a line for each item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH = 120
OPENING, CLOSING = "([{", ")]}"
Targets = Any  # a value, or a tuple of targets


@dataclass(frozen=True)
class Statement:
    """`targets = text`, where `{0}`, `{1}` in the text stand for the values used.

    `region`: the 16-bit type of an autocast region around it. `stays`: it does more than set its targets, so it is kept
    even if nothing uses them; the targets may then be a text to assign to.
    """

    text: str
    uses: tuple[int, ...]
    targets: Targets
    region: str = ""
    stays: bool = False


def values_in(targets: Targets) -> list[int]:
    """The values that a statement sets."""
    if isinstance(targets, tuple):
        return [value for target in targets for value in values_in(target)]
    return [targets] if isinstance(targets, int) else []


def needed(statements: Sequence[Statement], results: Iterable[int]) -> list[Statement]:
    """The statements whose values are used."""
    wanted, kept = set(results), []
    for statement in reversed(statements):
        if statement.stays or wanted.intersection(values_in(statement.targets)):
            wanted.update(statement.uses)
            kept.append(statement)
    return kept[::-1]


class Names:
    """Variable names for values: a name becomes free after the last use of its value."""

    def __init__(self, reserved: Iterable[str], bases: Mapping[int, str]):
        self._used, self._bases = set(reserved), bases
        self._free: dict[str, list[str]] = {}
        self._kept: set[int] = set()
        self.of: dict[int, str] = {}

    def reserve(self, value: int, wanted: str) -> str:
        """Give a value a name of its own."""
        self.of[value] = self._unused(wanted)
        return self.of[value]

    def give(self, value: int) -> str:
        """Give a value a free name of its kind, or a new one."""
        base = self._bases.get(value, "x")
        free = self._free.get(base, [])
        self.of[value] = free.pop(free.index(min(free, key=_in_order))) if free else self._unused(base)
        return self.of[value]

    def keep(self, values: Iterable[int]) -> None:
        """Never reuse the names of these values."""
        self._kept.update(values)

    def release(self, value: int) -> None:
        """Make the name of a value free again."""
        if value not in self._kept:
            self._free.setdefault(self._bases.get(value, "x"), []).append(self.of[value])

    def _unused(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self._used:
            name, count = f"{wanted}{count}", count + 1
        self._used.add(name)
        return name


def _in_order(name: str) -> tuple[int, str]:
    return len(name), name  # x, x1, x2, ..., x10


def printed(
    statements: Sequence[Statement], names: Names, results: Sequence[int], shapes: Mapping[int, str], device_of: int
) -> list[str]:
    """The lines of a function's body, except the last. `shapes`: texts for values, shown where they change."""
    last_use = {value: index for index, each in enumerate(statements) for value in each.uses}
    last_use |= dict.fromkeys(results, len(statements))
    lines: list[str] = []
    region = ""
    for index, each in enumerate(statements):
        text = _named(each, index, names, last_use)
        if each.region and each.region != region:
            lines.append(f"with torch.autocast({names.of[device_of]}.device.type, torch.{each.region}):")
        region = each.region
        comment = _first_shape([value for value in values_in(each.targets) if value in last_use], shapes)
        before = _first_shape(each.uses, shapes)
        lines += with_comment(text, comment if comment != before else "", 4 if region else 0)
    return lines


def _named(statement: Statement, index: int, names: Names, last_use: Mapping[int, int]) -> str:
    """The text of a statement; its targets may reuse the names of the values that it is the last to use."""
    right = statement.text.format(*(names.of[value] for value in statement.uses))
    for value in dict.fromkeys(statement.uses):
        if last_use[value] == index:
            names.release(value)
    made = [value for value in values_in(statement.targets) if value in last_use]
    for value in made:
        names.give(value)
    for value in made:
        if last_use[value] <= index:
            names.release(value)
    left = _left(statement.targets, names, last_use)
    return right if left is None else f"{left} = {right}"


def _first_shape(values: Iterable[int], shapes: Mapping[int, str]) -> str:
    """The text for the first of the values that has one."""
    return next((shapes[value] for value in values if value in shapes), "")


def _left(targets: Targets, names: Names, used: Mapping[int, int]) -> str | None:
    """The left side of an assignment, with `_` for unused values; None if there is none."""
    if targets is None or isinstance(targets, str):
        return targets
    if isinstance(targets, int):
        return names.of[targets] if targets in used else "_"
    parts = []
    for target in targets:
        unused = not any(value in used for value in values_in(target))
        text = "_" if unused else str(_left(target, names, used))
        parts.append(f"({text})" if isinstance(target, tuple) and not unused else text)
    return ", ".join(parts) + "," * (len(parts) == 1)


def with_comment(text: str, comment: str, indent: int = 0) -> list[str]:
    """A line with its comment, which goes above if both are too long; 8 columns are left for a method's body."""
    space = " " * indent
    if not comment:
        return wrapped(space + text)
    if len(space + text) + len(comment) + 4 <= WIDTH - 8:
        return [f"{space}{text}  # {comment}"]
    return [f"{space}# {comment}", *wrapped(space + text)]


def wrapped(line: str, margin: int = 8) -> list[str]:
    """A line, broken at its last bracket if it is too long after an indent of `margin`."""
    if len(line) + margin <= WIDTH:
        return [line]
    found = _last_bracket(line)
    if found is None:
        return [line]
    start, end = found
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    body, tail = line[start + 1 : end], indent[4:] + line[end:]
    if len(indent + body) + margin <= WIDTH:
        return [line[: start + 1], indent + body, tail]
    items = [part for item in _items(body) for part in _item(indent + item + ",", margin)]
    return [line[: start + 1], *items, tail]


def _item(line: str, margin: int) -> list[str]:
    return wrapped(line, margin)


def _scan(text: str) -> Iterable[tuple[int, str, int]]:
    """The characters outside of strings, with their places and the number of open brackets."""
    depth, quote = 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth -= letter in CLOSING
            yield place, letter, depth
            depth += letter in OPENING


def _last_bracket(line: str) -> tuple[int, int] | None:
    """The places of the last pair of outer brackets that is not empty."""
    start, found = 0, None
    for place, letter, depth in _scan(line):
        if depth == 0 and letter in OPENING:
            start = place
        elif depth == 0 and letter in CLOSING and place > start + 1:
            found = (start, place)
    return found


def _items(body: str) -> list[str]:
    """The parts between the outer commas."""
    cuts = [place for place, letter, depth in _scan(body) if letter == "," and depth == 0]
    begins = [0, *(cut + 1 for cut in cuts)]
    return [body[a:b].strip() for a, b in zip(begins, [*cuts, len(body)], strict=True) if body[a:b].strip()]
