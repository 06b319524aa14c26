"""What is on the stack while a function is read, besides numbers, texts, steps of the formula and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torchkeras.keras2.lambdas.expression import STEP
from torchkeras.keras2.lambdas.instructions import Instruction
from torchkeras.keras2.lambdas.limits import Refused
from torchkeras.keras2.lambdas.marshalled import Code

KNOWN = (int, float, str, type(None), type(Ellipsis))


class Null:
    """Nothing, where Python leaves a place on the stack empty."""


NULL = Null()


class OwnList(list):
    """A list that the running function has made, and that it alone may change."""

    def __init__(self, items: Any = (), owner: Any = None):
        super().__init__(items)
        self.owner = owner


@dataclass(eq=False)
class Cell:
    """A variable that an inner function shares; it gets its value once."""

    name: str
    value: Any = NULL

    def read(self) -> Any:
        """The value. Raises Refused before it has one."""
        if self.value is NULL:
            raise Refused(f"the variable {self.name!r}, which has no value yet")
        return self.value


@dataclass
class Iterator:
    """What a loop goes through, and how far it is."""

    items: tuple[Any, ...]
    place: int = 0


@dataclass(frozen=True, eq=False)
class Function:
    """A function inside the stored one, or that itself."""

    code: Code
    defaults: tuple[Any, ...] = ()
    keyword_defaults: Mapping[str, Any] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Method:
    """A method of a value, by its name."""

    owner: Any
    name: str


@dataclass(frozen=True, eq=False)
class Own:
    """A function that the user gave, by its name."""

    name: str
    function: Any


@dataclass(eq=False)
class Frame:
    """A call of a function, and how far it is."""

    code: Code
    version: str
    instructions: list[Instruction]
    variables: dict[str, Any]
    cells: dict[str, Cell]
    depth: int
    place: int = 0
    stack: list[Any] = field(default_factory=list)
    loops: list[tuple[int, int]] = field(default_factory=list)  # where a loop ends, and how high the stack is there
    keywords: tuple[str, ...] = ()
    made: OwnList = field(default_factory=OwnList)  # what a generator gives
    owner: object = field(default_factory=object)
    lists: list[Any] = field(default_factory=list)  # steps that are lists which the function has made

    def copy(self, place: int) -> Frame:
        """The frame going on elsewhere, with lists, iterators and variables without a value of its own."""
        known: dict[int, Any] = {}
        cells = {name: cell if cell.value is not NULL else Cell(name) for name, cell in self.cells.items()}
        return Frame(
            **{key: getattr(self, key) for key in ("code", "version", "instructions", "depth", "keywords", "owner")},
            place=place,
            variables={name: _copied(value, known) for name, value in self.variables.items()},
            cells=cells,
            stack=[_copied(value, known) for value in self.stack],
            loops=list(self.loops),
            made=_copied(self.made, known),
            lists=list(self.lists),
        )

    def pop(self) -> Any:
        """The top of the stack. Raises Refused if there is none."""
        if not self.stack:
            raise Refused("it takes a value from an empty stack")
        return self.stack.pop()

    def pop_many(self, count: int) -> list[Any]:
        """That many values from the top of the stack, in their order."""
        if count > len(self.stack):
            raise Refused("it takes a value from an empty stack")
        found = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return found

    def peek(self, depth: int) -> Any:
        """The value so deep in the stack, 1 being the top."""
        if not 1 <= depth <= len(self.stack):
            raise Refused("it takes a value from an empty stack")
        return self.stack[-depth]


def _copied(value: Any, known: dict[int, Any]) -> Any:
    if isinstance(value, (OwnList, Iterator)) and id(value) not in known:
        is_list = isinstance(value, OwnList)
        known[id(value)] = (
            OwnList([_copied(each, known) for each in value], value.owner)
            if is_list
            else Iterator(value.items, value.place)
        )
    if isinstance(value, tuple):
        return tuple(_copied(each, known) for each in value)
    return known.get(id(value), value)


def is_known(value: Any) -> bool:
    """Whether a value, with all its parts, is known while the function is read."""
    if isinstance(value, (tuple, list)):
        return all(map(is_known, value))
    if isinstance(value, dict):
        return all(map(is_known, value.values()))
    if isinstance(value, slice):
        return is_known((value.start, value.stop, value.step))
    return isinstance(value, KNOWN)


def frozen(value: Any) -> Any:
    """A value as a formula holds it: no list in it may change. Raises Refused for what is no value of a formula."""
    if isinstance(value, tuple):
        return tuple(map(frozen, value)) if type(value) is tuple else value
    if isinstance(value, list):
        return [frozen(each) for each in value]
    if isinstance(value, dict):
        return {key: frozen(each) for key, each in value.items()}
    if isinstance(value, slice):
        return slice(frozen(value.start), frozen(value.stop), frozen(value.step))
    if not isinstance(value, (*KNOWN, *STEP)):
        raise Refused(f"{described(value)} as a value")
    return value


def described(value: Any) -> str:
    """What a value is called in an error."""
    names = {Function: "a function", Own: "a function", Method: "a method", Iterator: "an iterator", Cell: "a cell"}
    if isinstance(value, Method):
        return f"the method {value.name!r}"
    if hasattr(value, "name") and type(value).__name__ in ("Module", "Named"):
        return f"{value.name}"
    return names.get(type(value), f"a value of type {type(value).__name__}")
