"""Names that NumPy had in the years of Keras 1 and 2, and has no more; scripts stop at them, whoever answers `keras`."""

from __future__ import annotations

from typing import Any

import numpy as np

# By the names in use then: what NumPy itself said that they stand for.
NAMES: dict[str, Any] = {
    **{"float": float, "int": int, "object": object, "str": str, "complex": complex, "long": int, "unicode": str},
    **{"float_": np.float64, "complex_": np.complex128, "unicode_": np.str_, "string_": np.bytes_},
    **{"Inf": np.inf, "Infinity": np.inf, "NaN": np.nan, "NAN": np.nan, "PINF": np.inf, "NINF": -np.inf},
    **{"product": np.prod, "cumproduct": np.cumprod, "sometrue": np.any, "alltrue": np.all},
}


def extend() -> None:
    """Let `np.float` and the like be what they were, where NumPy lacks them."""
    for name in NAMES.keys() - vars(np).keys():
        setattr(np, name, NAMES[name])
