"""The learning phase: whether a computation is a step of training."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from torch import nn

from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.keras2.backend.nodes import is_symbolic, named_node, pair, tensor

NAME = "keras_learning_phase"
MAKING = ("__init__", "build")  # a layer that is being made is in no phase

_state: dict[str, Any] = {"set": None, "symbol": None}


def learning_phase() -> Any:
    """1 in training and 0 otherwise. While a graph is written, a symbolic tensor that stands for it.

    In the code of a layer, a Lambda or a loss it is the mode of the run. After `set_learning_phase` it is that number.
    The symbolic one goes into `K.function([x, K.learning_phase()], [y])`, whose calls take 0 or 1 for it, and into
    `training=`, `K.switch` and `K.in_train_phase`.

    >>> K.function([inputs, K.learning_phase()], [Dropout(0.5)(inputs)])([[[1.0]], 0])[0]
    array([[1.]], dtype=float32)
    """
    if _state["set"] is not None:
        return _state["set"]
    running = mode_of_run()
    return symbol() if running is None else int(running)


def set_learning_phase(value: int) -> None:
    """Set the phase of `K.learning_phase`, `K.in_train_phase` and `K.function` to 0 or 1, until `clear_session`.

    Layers follow `fit` and `predict`, or what a call says: `layer(x, training=True)`; a warning says so. Raises
    ValueError for another value.
    """
    settle(value)
    warnings.warn(
        "set_learning_phase is for functions of the backend: layers train in fit and do not in predict, whatever is "
        f"set here. For a layer that is always in one phase write layer(x, training={bool(value)}).",
        stacklevel=2,
    )


def settle(value: int) -> None:
    """Set the phase to 0 or 1. Raises ValueError for another value."""
    if value not in (0, 1):
        raise ValueError(f"the learning phase must be 0 or 1; found {value!r}.")
    _state["set"] = int(value)


def forget() -> None:
    """Follow the runs again."""
    _state.update(set=None, symbol=None)


def settled() -> int | None:
    """What `set_learning_phase` has set."""
    return _state["set"]


def symbol() -> KerasTensor:
    """The symbolic learning phase, without axes."""
    if _state["symbol"] is None:
        _state["symbol"] = InputLayer(batch_input_shape=(), dtype="bool", name=NAME).input
    return _state["symbol"]


def is_phase(value: Any) -> bool:
    """Whether a value is the symbolic learning phase."""
    return isinstance(value, KerasTensor) and value.name == NAME


def mode_of_run() -> bool | None:
    """The mode of the layer or model whose code calls, found among the calls that led here; None outside of any."""
    frame = sys._getframe(1)
    while frame is not None:
        found = frame.f_locals.get("self")
        if isinstance(found, nn.Module) and frame.f_code.co_name not in MAKING:
            return found.training
        frame = frame.f_back
    return None


def value_of(expression: Any) -> Any:
    """A tensor, or what a function without arguments gives."""
    return expression() if callable(expression) and not isinstance(expression, KerasTensor) else expression


@named_node("in_train_phase")
def _by_phase(x: Any, alt: Any) -> Any:
    x, alt = pair(x, alt)
    return x if mode_of_run() else alt


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` in training, else `alt`; both are tensors, or functions without arguments that give one.

    `training`: 0 or 1 decides at once, None and `K.learning_phase()` follow the run.

    >>> in_train_phase(constant(1.0), constant(2.0), training=0)
    tensor(2.)
    """
    training = settled() if training is None or is_phase(training) else training
    if is_symbolic(training):
        raise TypeError(f"training must be 0, 1, None or K.learning_phase(); found {training!r}. Use K.switch.")
    if training is not None:
        return value_of(x if training else alt)
    running = mode_of_run()
    if running is not None:
        chosen = value_of(x if running else alt)
        if not is_symbolic(chosen):
            return chosen
    x, alt = value_of(x), value_of(alt)
    return _by_phase(x, alt) if is_symbolic([x, alt]) else tensor(alt)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`alt` in training, else `x`, as `in_train_phase`.

    >>> in_test_phase(constant(1.0), constant(2.0), training=0)
    tensor(1.)
    """
    return in_train_phase(alt, x, training)
