"""Names that NumPy had in the years of Keras 1 and 2 and has no more, where scripts stop, whoever answers `keras`."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES: dict[str, Any] = {  # what NumPy itself said that they stand for
    **dict.fromkeys(("int", "long"), int),
    **dict.fromkeys(("str", "unicode"), str),
    **dict.fromkeys(("Inf", "Infinity", "PINF"), np.inf),
    **dict.fromkeys(("NaN", "NAN"), np.nan),
    "float": float,
    "object": object,
    "complex": complex,
    "float_": np.float64,
    "complex_": np.complex128,
    "string_": np.bytes_,
    "unicode_": np.str_,
    "NINF": -np.inf,
    "alltrue": np.all,
    "cumproduct": np.cumprod,
    "product": np.prod,
    "sometrue": np.any,
}


def extend() -> None:
    """Let `np.float` and the like be what they were, where NumPy lacks them."""
    for name in NAMES.keys() - vars(np).keys():
        setattr(np, name, NAMES[name])
