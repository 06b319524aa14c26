"""`FeatureSpace`: refused by name."""

from __future__ import annotations

from typing import Any, NoReturn

TEXT = (
    "keras.utils.FeatureSpace is not here: make an Input for each column, and give it to a layer of its own, such as "
    "Normalization, Discretization, StringLookup, IntegerLookup, CategoryEncoding or HashedCrossing; Concatenate joins "
    "what they give."
)


class _Refused(type):
    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotImplementedError(TEXT)


class FeatureSpace(metaclass=_Refused):
    """Refused, with its class methods; the error says what to use.

    Errors:
        NotImplementedError: always.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(TEXT)
