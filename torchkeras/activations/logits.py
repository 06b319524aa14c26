"""The logits that the result of `softmax` or `sigmoid` carries, so that a crossentropy can be computed from them.

Attributes of a tensor have them: `_keras_logits` (the input of the activation) and `_keras_activation` ("softmax" or
"sigmoid"), set only while gradients are recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from torch import Tensor

ITSELF = "itself"  # in place of the logits on a tensor that is nothing else


class Carrying(threading.local):
    """Whether results carry their logits in any case, and not while gradients are recorded alone. Each thread's own."""

    def __init__(self) -> None:
        self.always = False


CARRYING = Carrying()


def with_logits(result: Tensor, logits: Tensor, activation: str) -> Tensor:
    """The result of an activation, which carries its input."""
    if isinstance(result, Tensor) and (result.requires_grad or CARRYING.always):  # a symbolic one carries nothing
        result._keras_logits = logits  # type: ignore[attr-defined]
        result._keras_activation = activation  # type: ignore[attr-defined]
    return result


def exactly(y_pred: Tensor) -> Tensor:
    """y_pred, marked for crossentropies from its logits, as tf.keras and Keras 3 on TensorFlow compute them.

    These take the logits of either activation for those of a softmax, or of a sigmoid, whichever the loss is of.
    """
    y_pred._keras_exact = True  # type: ignore[attr-defined]
    return y_pred


def logits_of(y_pred: Tensor, activation: str, axis: int = -1) -> Tensor | None:
    """The logits that y_pred carries, when it comes straight out of `activation` along `axis`."""
    found = getattr(y_pred, "_keras_activation", None)
    if (found is None if getattr(y_pred, "_keras_exact", False) else found != activation) or axis not in (
        -1,
        y_pred.dim() - 1,
    ):
        return None
    logits = getattr(y_pred, "_keras_logits", None)
    return y_pred if logits is ITSELF else logits


def carried(y_pred: Tensor, change: Callable[[Tensor], Tensor]) -> Tensor:
    """y_pred with its type or shape changed, and with it the logits that it carries."""
    result = change(y_pred)
    logits: Any = getattr(y_pred, "_keras_logits", None)
    if logits is not None and result is not y_pred:
        result._keras_logits = logits if logits is ITSELF else change(logits)  # type: ignore[attr-defined]
        result._keras_activation = y_pred._keras_activation  # type: ignore[attr-defined]
        if getattr(y_pred, "_keras_exact", False):
            result._keras_exact = True  # type: ignore[attr-defined]
    return result
