"""Sizes that are unknown before data comes, as torch's idioms use them: `x.view(x.size(0), -1)`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "*": operator.mul,
    "//": operator.floordiv,
    "+": operator.add,
    "-": operator.sub,
}


class SymbolicSize:
    """The size of an unknown axis, which `x.size(0)` gives, or what whole numbers and such sizes make together.

    A function of the graph takes it as an argument, and knows it when it runs. `form`: (tensor, axis), or (name of an
    operation, left, right). Raises TypeError for what would need its value at once: a comparison, `range`, `int`.
    """

    __slots__ = ("form",)

    def __init__(self, *form: Any):
        self.form = form

    def __repr__(self) -> str:
        return f"<{self._text()}>"

    def _text(self) -> str:
        if len(self.form) == 2:
            return f"{self.form[0].name}.size({self.form[1]})"
        name, *sides = self.form
        return f" {name} ".join(side._inside() if isinstance(side, SymbolicSize) else str(side) for side in sides)

    def _inside(self) -> str:
        return self._text() if len(self.form) == 2 else f"({self._text()})"

    def _unknown(self, *others: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} is unknown before data comes, so a graph cannot compare it or count by it; it goes with whole "
            "numbers by *, //, + and -, and functions take it as a size."
        )

    __truediv__ = __rtruediv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __abs__ = _unknown
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown  # type: ignore[assignment]
    __bool__ = __int__ = __float__ = __index__ = _unknown
    __hash__ = None  # type: ignore[assignment]


def _operation(name: str, swapped: bool) -> Callable[[SymbolicSize, Any], Any]:
    def apply(size: SymbolicSize, other: Any) -> Any:
        if type(other) is not int and not isinstance(other, SymbolicSize):
            return NotImplemented
        if name == "*" and type(other) is int and other == 1:
            return size
        if swapped:
            return SymbolicSize(name, other, size)
        return SymbolicSize(name, size, other)

    return apply


for _name, _method in (("*", "mul"), ("//", "floordiv"), ("+", "add"), ("-", "sub")):
    setattr(SymbolicSize, f"__{_method}__", _operation(_name, swapped=False))
    if _name != "//":
        setattr(SymbolicSize, f"__r{_method}__", _operation(_name, swapped=True))
