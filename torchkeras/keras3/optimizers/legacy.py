"""`keras.optimizers.legacy`: names whose classes raise an error, as in Keras 3."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["SGD", "Adagrad", "Adam", "Ftrl", "Optimizer", "RMSprop"]


class _Refused:
    """Raises ImportError: Keras 3 has no legacy optimizers."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        own = type(self).__name__
        raise ImportError(
            f"keras.optimizers.legacy.{own}: Keras 3 has none of the legacy optimizers. Take keras.optimizers.{own} "
            "with a schedule in place of decay, or torchkeras.optimizers, which are those of Keras 2."
        )


class Adagrad(_Refused): ...


class Adam(_Refused): ...


class Ftrl(_Refused): ...


class Optimizer(_Refused): ...


class RMSprop(_Refused): ...


class SGD(_Refused): ...
