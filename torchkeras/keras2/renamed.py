"""Arguments of functions under the names that Keras 1 had for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from torchkeras.legacy.names import VALUES

F = TypeVar("F", bound=Callable[..., Any])


def renamed(**names: str) -> Callable[[F], F]:
    """Let a function take arguments under old names too: `renamed(nb_words="num_words")`.

    Old values of an argument are translated as those of layers are (`dim_ordering="th"`). An argument that is given
    under both names is a TypeError.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def taking_old_names(*args: Any, **given: Any) -> Any:
            for old, new in names.items():
                if old not in given:
                    continue
                if new in given:
                    raise TypeError(
                        f"{function.__name__}: {old} and {new} are one argument under two names; give one of them."
                    )
                value = given.pop(old)
                given[new] = VALUES[old][value] if old in VALUES and value in VALUES[old] else value
            return function(*args, **given)

        return taking_old_names  # type: ignore[return-value]

    return decorate
