"""What scripts take from `keras.layers.recurrent` for cells of their own: masks of dropout, and arguments in order."""

from __future__ import annotations

from typing import Any

from torchkeras import backend as K

__all__ = ["_generate_dropout_mask", "_standardize_args"]


def _generate_dropout_mask(ones: Any, rate: Any, training: Any = None, count: int = 1) -> Any:
    """Ones with dropout in training; a list of `count` of them, where that is above 1."""
    masks = [K.in_train_phase(lambda: K.dropout(ones, rate), ones, training=training) for _ in range(count)]
    return masks if count > 1 else masks[0]


def _standardize_args(
    inputs: Any, initial_state: Any, constants: Any, num_constants: int
) -> tuple[Any, list[Any] | None, list[Any] | None]:
    """Inputs, states and constants, which may all stand in the list `inputs`; states and constants as lists or None."""
    if isinstance(inputs, list):
        assert initial_state is None and constants is None
        end = len(inputs) - num_constants if num_constants else None
        constants = inputs[end:] if num_constants else None
        inputs, initial_state = inputs[0], inputs[1:end] or None
    return inputs, _as_list(initial_state), _as_list(constants)


def _as_list(values: Any) -> list[Any] | None:
    return values if values is None or isinstance(values, list) else list(values) if isinstance(values, tuple) else [values]
