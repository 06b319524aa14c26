"""The names that layers get when they are given none: `dense_1`, `conv2d_1`, `batch_normalization_1`."""

import re
import threading
from collections import Counter
from functools import lru_cache

_used: Counter[str] = Counter()
_counting = threading.Lock()


def unique_name(prefix: str) -> str:
    """`prefix_1`, then `prefix_2`, and so on, until `clear_session()`."""
    with _counting:
        _used[prefix] += 1
        return f"{prefix}_{_used[prefix]}"


@lru_cache
def snake_case(class_name: str) -> str:
    """`max_pooling2d` for `MaxPooling2D`, as Keras spells it."""
    parts = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", class_name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parts).lower().lstrip("_")


def clear_session() -> None:
    """Count automatic names from 1 again.

    Example:
        >>> clear_session()
        >>> Dense(1).name, Dense(1).name
        ('dense_1', 'dense_2')

    Source: https://keras.io/api/utils/config_utils/
    """
    _used.clear()
