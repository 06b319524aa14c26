"""The names that layers get when they are given none: `dense_1`, `conv2d_1`, `batch_normalization_1`."""

import keyword
import re
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import FunctionType

_used: Counter[str] = Counter()
_used_later: Counter[str] = Counter()  # by `count_name`
_counting = threading.Lock()


def unique_name(prefix: str) -> str:
    """`prefix_1`, then `prefix_2`, and so on, until `clear_session()`."""
    with _counting:
        _used[prefix] += 1
        return f"{prefix}_{_used[prefix]}"


def count_name(prefix: str) -> str:
    """`prefix`, then `prefix_1`, and so on, as Keras 3 counts, until `clear_session()`."""
    with _counting:
        count = _used_later[prefix]
        _used_later[prefix] += 1
        return f"{prefix}_{count}" if count else prefix


@lru_cache
def snake_case(class_name: str) -> str:
    """`max_pooling2d` for `MaxPooling2D`, as Keras spells it."""
    parts = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", class_name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parts).lower().lstrip("_")


def name_methods(cls: type, known: type = object) -> None:
    """Name the public methods that a class inherits as its own: `Model.fit`.

    Python's errors about arguments then name what the user called, and no base that only this package knows.

    Arguments:
        cls (class): the class that users know.
        known (class): a base whose methods keep their names.
    """
    for base in cls.__mro__[1 : cls.__mro__.index(known)]:
        if base.__module__.partition(".")[0] != __name__.partition(".")[0]:
            continue
        for name, value in vars(base).items():
            function = getattr(value, "__func__", value)  # of a class method
            while isinstance(function, FunctionType) and not name.startswith("_"):
                function.__qualname__ = f"{cls.__name__}.{name}"
                function = getattr(function, "__wrapped__", None)  # what a decorator calls


class Unused:
    """Names that are not `used` yet: the wanted one, or the same with a mark and the next number after it."""

    def __init__(self, used: Iterable[str] = (), mark: str = ""):
        self._used, self._mark = set(used), mark
        self._counts: dict[str, int] = {}

    def __call__(self, wanted: str) -> str:
        """Such a name, which is used from now on."""
        name, count = wanted, self._counts.get(wanted, 1)
        while name in self._used:
            name, count = f"{wanted}{self._mark}{count}", count + 1
        self._counts[wanted] = count
        self._used.add(name)
        return name


def identifiers(names: Sequence[str]) -> list[str]:
    """Names, such as those of layers, as valid and unique Python names."""
    found: list[str] = []
    for name in names:
        plain = re.sub("[^0-9A-Za-z]", "_", name)
        if not plain.isidentifier() or keyword.iskeyword(plain) or plain == "__debug__":  # which takes no value
            plain = f"input_{plain}"
        while plain in found:
            plain += "_"
        found.append(plain)
    return found


def clear_session() -> None:
    """Count automatic names from 1 again.

    Example:
        >>> clear_session()
        >>> Dense(1).name, Dense(1).name
        ('dense_1', 'dense_2')

    Source: https://keras.io/api/utils/config_utils/
    """
    _used.clear()
    _used_later.clear()
