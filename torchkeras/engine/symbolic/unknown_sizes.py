"""Sizes that are unknown before data comes, for torch's idioms: `x.view(x.size(0), -1)`."""

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
    """The size of an unknown axis, as `x.size(0)` returns it, or an operation on such sizes and whole numbers.

    It can be an argument of a function in a graph, which computes it when it runs. `form`: (tensor, axis), or (sign of
    an operation, left, right). Raises TypeError where its value is needed at once: a comparison, `range`, `int`.
    """

    __slots__ = ("form",)

    def __init__(self, *form: Any):
        self.form = form

    def __repr__(self) -> str:
        return f"<{self._text()}>"

    def _text(self) -> str:
        if len(self.form) == 2:
            return f"{self.form[0].name}.size({self.form[1]})"
        sign, left, right = self.form
        return f"{_side(left)} {sign} {_side(right)}"

    def _unknown(self, *others: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} is unknown before data comes, so a graph cannot compare it or count by it; it goes with whole "
            "numbers by *, //, + and -, and functions take it as a size."
        )

    __truediv__ = __rtruediv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __abs__ = _unknown
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown  # type: ignore[assignment]
    __bool__ = __int__ = __float__ = __index__ = _unknown
    __hash__ = None  # type: ignore[assignment]


def _side(size: Any) -> str:
    """The text of a number or a size as one side of an operator."""
    if not isinstance(size, SymbolicSize):
        return str(size)
    text = size._text()
    return text if len(size.form) == 2 else f"({text})"


def _operation(sign: str, swapped: bool) -> Callable[[SymbolicSize, Any], Any]:
    def apply(size: SymbolicSize, other: Any) -> Any:
        if type(other) is not int and not isinstance(other, SymbolicSize):
            return NotImplemented
        if type(other) is int and (sign, other) == ("*", 1):
            return size
        if swapped:
            return SymbolicSize(sign, other, size)
        return SymbolicSize(sign, size, other)

    return apply


for _sign, _function in ARITHMETIC.items():
    setattr(SymbolicSize, f"__{_function.__name__}__", _operation(_sign, swapped=False))
    if _sign != "//":
        setattr(SymbolicSize, f"__r{_function.__name__}__", _operation(_sign, swapped=True))
