"""What scripts take from `keras.optimizers` beside the optimizers, which they may write in Keras 2's manner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from torch import Tensor

from torchkeras import optimizers, registry
from torchkeras.keras2 import backend as K

__all__ = ["TFOptimizer", "clip_norm", "deserialize"]


def clip_norm(g: Tensor, c: float, n: Any) -> Tensor:
    """g * c / n where the norm `n` is at least `c`, else g; g for a `c` of 0 or less."""
    return g if c <= 0 else K.switch(K.greater_equal(K.constant(0) + n, c), g * (c / n), g)


class TFOptimizer:
    """Raises TypeError: there is no TensorFlow whose optimizers it could wrap."""

    def __init__(self, optimizer: Any) -> NoReturn:
        raise TypeError(
            f"TFOptimizer wraps an optimizer of TensorFlow; found {optimizer!r}. Give compile one of keras.optimizers, "
            "or one of torch.optim."
        )


_BY_LOWER_NAME = {name.lower() for name in registry.optimizers.names()}


def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The optimizer of a config, in which the name of a class of Keras's is made lower case, as in Keras 2."""
    if config["class_name"].lower() in _BY_LOWER_NAME:
        config["class_name"] = config["class_name"].lower()
    return optimizers.deserialize(config, custom_objects)
