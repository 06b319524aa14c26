"""The arguments of TensorFlow's functions by their names, older ones too."""

from __future__ import annotations

import ast
from typing import Any

from torchkeras.keras2.lambdas.keras_functions import Function

# Older names of arguments.
OLDER = {"keep_dims": "keepdims", **dict.fromkeys(("reduction_indices", "dim", "dimension", "squeeze_dims"), "axis")}


def named(function: Function, names: str, after: int = 0) -> Function:
    """A function that takes its arguments by `names`: "x axis=None". `name`, of the operation, changes nothing.

    `after`: how many arguments come before them.
    """
    words = [word.partition("=") for word in names.split()]
    keys = [key for key, _, _ in words]
    defaults = {key: ast.literal_eval(default) for key, sign, default in words if sign}

    def apply(*args: Any, name: Any = None, **given: Any) -> Any:
        by_name = {OLDER.get(key, key): value for key, value in given.items() if key in keys or value is not None}
        by_place = dict(zip(keys, args[after:], strict=False))
        values = {**defaults, **by_place, **by_name}
        if len(args) - after > len(keys) or by_place.keys() & by_name.keys() or values.keys() ^ set(keys):
            raise TypeError(f"its arguments are {names}; found {len(args) - after}, and {', '.join(given)}")
        return function(*args[:after], *(values[key] for key in keys))

    return apply
