"""Functions under TensorFlow's names of arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


def taking(names: str, function: Function) -> Function:
    """A function with TensorFlow's arguments, "x axis=None", which gets them by place. `name` changes nothing.

    Raises TypeError, as Python does, for an argument that there is not.

    Example:
        >>> taking("x y=2", lambda first, second: first + second)(x=1, name="sum")
        3
    """
    words = [word.partition("=") for word in names.split()]
    signature = inspect.Signature(
        [
            inspect.Parameter(
                key,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=_LITERALS.get(default, default) if sign else inspect.Parameter.empty,
            )
            for key, sign, default in (*words, ("name", "=", "None"))
        ]
    )

    def call(*args: Any, **given: Any) -> Any:
        bound = signature.bind(*args, **given)
        bound.apply_defaults()
        return function(*list(bound.arguments.values())[:-1])

    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__doc__ = function.__doc__
    return call


_LITERALS: dict[str, Any] = {
    "None": None,
    "True": True,
    "False": False,
    "-1": -1,
    **{str(number): number for number in range(6)},
    **{text: float(text) for text in ("0.0", "1.0", "0.1", "0.2", "0.5", "0.05", "1e-12")},
}
