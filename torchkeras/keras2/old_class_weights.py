"""Class weights that Keras 2 ignored: what is no dict, and for several outputs a dict that names none of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from torchkeras.base import extensions
from torchkeras.data import sample_weights

_by_output = sample_weights._by_output


def extend() -> None:
    """Let them be ignored, with a warning."""
    extensions.extend(sample_weights, _by_output=by_output)


def by_output(given: Any, names: Sequence[str], option: str) -> list[Any]:
    """`sample_weights._by_output`, with None for what Keras 2 ignored."""
    if option != "class_weight":
        return _by_output(given, names, option)
    if isinstance(given, Mapping) and len(names) > 1 and given and not any(key in names for key in given):
        _ignored(given, f"by the names of the outputs, {list(names)}")
        return [None] * len(names)
    found = _by_output(given, names, option)
    return [each if each is None or isinstance(each, Mapping) else _ignored(each) for each in found]


def _ignored(given: Any, how: str = "as {0: 1.0, 1: 3.0}, those of an array as dict(enumerate(weights))") -> None:
    warnings.warn(f"class_weight={given!r:.200} does nothing, as in Keras 2. Give weights {how}.", stacklevel=2)
