"""`keras.initializations` of Keras 1: functions of a shape that make a variable with its first values.

The fans of a kernel are counted by `dim_ordering`: "th", the default, has (outputs, inputs, ...), "tf" (..., inputs,
outputs). Source: Keras 1.2.2, keras/initializations.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import Any

import numpy as np

from torchkeras import initializers
from torchkeras.keras2 import backend as K

Made = Callable[..., Any]


def get_fans(shape: Sequence[int], dim_ordering: str = "th") -> tuple[float, float]:
    """(fan in, fan out) of a weight: of a matrix its sizes, of a kernel those of its channels times the window.

    Raises ValueError for a `dim_ordering` that is neither "th" nor "tf".
    """
    if len(shape) == 2:
        return shape[0], shape[1]
    if len(shape) not in (4, 5):
        return sqrt(prod(shape)), sqrt(prod(shape))
    if dim_ordering == "th":
        window = prod(shape[2:])
        return shape[1] * window, shape[0] * window
    if dim_ordering == "tf":
        window = prod(shape[:2])
        return shape[-2] * window, shape[-1] * window
    raise ValueError(f"dim_ordering must be 'th' or 'tf'; found {dim_ordering!r}.")


def uniform(shape: Any, scale: float = 0.05, name: str | None = None, dim_ordering: str = "th") -> Any:
    """Numbers from -scale to scale, all equally likely."""
    return K.random_uniform_variable(shape, -scale, scale, name=name)


def normal(shape: Any, scale: float = 0.05, name: str | None = None, dim_ordering: str = "th") -> Any:
    """Numbers of a normal distribution with this standard deviation."""
    return K.random_normal_variable(shape, 0.0, scale, name=name)


def lecun_uniform(shape: Any, name: str | None = None, dim_ordering: str = "th") -> Any:
    """From -sqrt(3 / fan in) to sqrt(3 / fan in)."""
    return uniform(shape, sqrt(3.0 / get_fans(shape, dim_ordering)[0]), name)


def glorot_normal(shape: Any, name: str | None = None, dim_ordering: str = "th") -> Any:
    """Normal, with the standard deviation sqrt(2 / (fan in + fan out))."""
    return normal(shape, sqrt(2.0 / sum(get_fans(shape, dim_ordering))), name)


def glorot_uniform(shape: Any, name: str | None = None, dim_ordering: str = "th") -> Any:
    """From -s to s, where s = sqrt(6 / (fan in + fan out))."""
    return uniform(shape, sqrt(6.0 / sum(get_fans(shape, dim_ordering))), name)


def he_normal(shape: Any, name: str | None = None, dim_ordering: str = "th") -> Any:
    """Normal, with the standard deviation sqrt(2 / fan in)."""
    return normal(shape, sqrt(2.0 / get_fans(shape, dim_ordering)[0]), name)


def he_uniform(shape: Any, name: str | None = None, dim_ordering: str = "th") -> Any:
    """From -sqrt(6 / fan in) to sqrt(6 / fan in)."""
    return uniform(shape, sqrt(6.0 / get_fans(shape, dim_ordering)[0]), name)


def orthogonal(shape: Any, scale: float = 1.1, name: str | None = None, dim_ordering: str = "th") -> Any:
    """`scale` times an orthogonal matrix of (first axis, all others)."""
    flat = (shape[0], prod(shape[1:]))
    left, _, right = np.linalg.svd(K.get_value(normal(flat, 1.0)), full_matrices=False)
    found = left if left.shape == flat else right
    return K.variable(scale * found.reshape(shape), name=name)


def identity(shape: Any, scale: float = 1, name: str | None = None, dim_ordering: str = "th") -> Any:
    """`scale` on the diagonal of a square matrix. Raises ValueError for another shape."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"an identity is a square matrix; found the shape {tuple(shape)}.")
    return K.variable(scale * np.identity(shape[0]), name=name)


def zero(shape: Any, name: str | None = None, dim_ordering: str = "th") -> Any:
    """0 everywhere."""
    return K.zeros(shape, name=name)


def one(shape: Any, name: str | None = None, dim_ordering: str = "th") -> Any:
    """1 everywhere."""
    return K.ones(shape, name=name)


_ALL: tuple[Made, ...] = (uniform, normal, lecun_uniform, glorot_normal, glorot_uniform, he_normal, he_uniform)
NAMED: dict[str, Made] = {made.__name__: made for made in (*_ALL, orthogonal, identity, zero, one)}


def get(identifier: Any, **kwargs: Any) -> Made:
    """The function of this name, or the one that is given; one of Keras 2's initializers makes a variable, too.

    Raises ValueError for an unknown name.
    """
    if isinstance(identifier, str) and identifier in NAMED:
        return NAMED[identifier]
    if callable(identifier) and not isinstance(identifier, initializers.Initializer):
        return identifier
    found = initializers.get(identifier)
    return lambda shape, name=None, dim_ordering="th": K.variable(found(shape), name=name)
