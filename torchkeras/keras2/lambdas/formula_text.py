"""A formula as text, as a person would write it: `x / 127.5 - 1.0`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torchkeras.keras2.lambdas.expression import (
    STEP,
    Argument,
    Call,
    Choice,
    Inner,
    Step,
    in_order,
    inputs_of,
    steps_in,
)
from torchkeras.keras2.lambdas.functions import OWN

# How tightly an operator holds its operands, as in Python.
_HOLDS: Mapping[str, int] = {
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in"), 3),
    "|": 4,
    "^": 5,
    "&": 6,
    "<<": 7,
    ">>": 7,
    "+": 8,
    "-": 8,
    "*": 9,
    "/": 9,
    "//": 9,
    "%": 9,
    "@": 9,
    "**": 11,
}
_SIGNS = {"old /": "/", "old ==": "==", "old !=": "!="}
_UNARY = {"negative": ("-", 10), "positive": ("+", 10), "~": ("~", 10), "not": ("not ", 2)}
CHOICE, CALL, WHOLE = 1, 12, 13
LONGEST = 2000  # letters of a formula in one expression
NAMES = "abcdefghijklmnopqrstuvw"

Text = tuple[str, int]  # with how tightly it holds
Calls = Callable[[Call, list[str], dict[str, str]], str | None]


class Writer:
    """Writes the result of a formula.

    `calls`: another text for a call, or None for its own. `names`: other names of the arguments.
    """

    def __init__(
        self,
        result: Any,
        parameters: tuple[str, ...],
        calls: Calls | None = None,
        names: Mapping[str, str] | None = None,
    ):
        self.result, self.parameters, self.calls, self.names = result, parameters, calls, names or {}
        self.known: dict[int, Text] = {}

    def whole(self) -> str:
        """The result, in which what is used more than once stands more than once."""
        for step in in_order(self.result):
            self.known[id(step)] = self._step(step)
            if len(self.known[id(step)][0]) > LONGEST:
                raise ValueError(f"it has over {LONGEST} letters")
        return self.value(self.result)[0]

    def lines(self) -> tuple[list[str], str]:
        """What is used more than once, as `name = text`, and the result."""
        steps = in_order(self.result)
        uses: dict[int, int] = {}
        for used in [each for step in steps for each in inputs_of(step)] + steps_in(self.result):
            uses[id(used)] = uses.get(id(used), 0) + 1
        found, inside = [], _inside_others(steps)
        for step in steps:
            text, holds = self._step(step)
            self.known[id(step)] = text if len(text) <= LONGEST else f"{text[:LONGEST]}...", holds
            if uses[id(step)] > 1 and not isinstance(step, Argument) and id(step) not in inside:
                name = self._fresh(len(found))
                found.append(f"{name} = {self.known[id(step)][0]}")
                self.known[id(step)] = name, WHOLE
        return found, self.value(self.result)[0]

    def _fresh(self, number: int) -> str:
        name = NAMES[number] if number < len(NAMES) else f"v{number}"
        return f"{name}_" if name in (*self.parameters, *self.names.values()) else name

    def value(self, value: Any) -> Text:
        """The text of a value."""
        if isinstance(value, STEP):
            return self.known[id(value)]
        if isinstance(value, tuple):
            return f"({self._listed(value)}{',' if len(value) == 1 else ''})", WHOLE
        if isinstance(value, list):
            return f"[{self._listed(value)}]", WHOLE
        if isinstance(value, slice):
            return f"slice({self._listed((value.start, value.stop, value.step))})", WHOLE
        if isinstance(value, Mapping):
            return f"{{{', '.join(f'{key!r}: {self.value(part)[0]}' for key, part in value.items())}}}", WHOLE
        text = "..." if value is Ellipsis else repr(value)
        return text, 10 if text.startswith("-") else WHOLE

    def _listed(self, values: Sequence[Any]) -> str:
        return ", ".join(self.value(part)[0] for part in values)

    def held(self, value: Any, by: int) -> str:
        """The text of an operand, in brackets where the operator binds more tightly."""
        text, holds = self.value(value)
        return text if holds >= by else f"({text})"

    def _step(self, step: Step) -> Text:
        if isinstance(step, Argument):
            return self.names.get(step.name, step.name), WHOLE
        if isinstance(step, Choice):
            condition, yes, no = (self.held(part, CHOICE + 1) for part in (step.condition, step.yes, step.no))
            return f"{yes} if {condition} else {no}", CHOICE
        if isinstance(step, Inner):
            return f"lambda {', '.join(step.parameters)}: {self.value(step.result)[0]}", CHOICE
        sign = _SIGNS.get(step.operation, step.operation)
        if sign in _HOLDS:
            holds = _HOLDS[sign]
            left, right = step.arguments
            return f"{self.held(left, holds + (sign == '**'))} {sign} {self.held(right, holds + 1)}", holds
        if sign in _UNARY:
            text, holds = _UNARY[sign]
            return text + self.held(step.arguments[0], holds), holds
        return self._call(step), CALL

    def _call(self, step: Call) -> str:
        if step.operation == "[]":
            return f"{self.held(step.arguments[0], CALL)}[{self._index(step.arguments[1])}]"
        if step.operation == "unpacked":
            return f"{self.held(step.arguments[0], CALL)}[{step.arguments[2]}]"
        if step.operation in ("shape", "dtype"):
            return f"{self.held(step.arguments[0], CALL)}.{step.operation}"
        given = [self.value(part)[0] for part in step.arguments]
        named = {key: self.value(part)[0] for key, part in step.keywords.items()}
        own = self.calls(step, given, named) if self.calls else None
        texts = [*given, *(f"{key}={text}" for key, text in named.items())]
        return own or f"{step.operation.removeprefix(OWN)}({', '.join(texts)})"

    def _index(self, key: Any) -> str:
        if isinstance(key, tuple) and key:
            return ", ".join(map(self._index, key)) + ("," if len(key) == 1 else "")
        if isinstance(key, slice):
            start, stop, step = (
                "" if part is None else self.value(part)[0] for part in (key.start, key.stop, key.step)
            )
            return f"{start}:{stop}" + (f":{step}" if step else "")
        return self.value(key)[0]


def _inside_others(steps: list[Step]) -> set[int]:
    """The steps of a way of a choice or of a function inside: before these, they would be computed always, or once."""
    parts = [part for step in steps if isinstance(step, Choice) for part in (step.yes, step.no)]
    parts += [step.result for step in steps if isinstance(step, Inner)]
    return {id(each) for part in parts for each in in_order(part)}


def in_one_line(result: Any, parameters: tuple[str, ...], names: Mapping[str, str] | None = None) -> str:
    """A formula in one line: `a = x * 2; a + a`."""
    lines, last = Writer(result, parameters, names=names).lines()
    return "; ".join([*lines, last])
