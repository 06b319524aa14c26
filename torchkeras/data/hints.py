"""Advice for an error about a shape that does not fit: a sentence on the likeliest mistake.

Shapes have the axis of samples; None in an expected shape is any size.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchkeras.data.target_kinds import CLASSES, ONE_HOT, SOME_CLASSES
from torchkeras.engine.symbolic.tensor import channels_hint, fits_shape

Shape = Sequence[int | None]


def of_input(found: Shape, expected: Shape, given: Shape, of_list: bool = False) -> str:
    """For an input; `given`: its shape before a single axis got a second one. `of_list`: it was a list."""
    sample, axes = tuple(expected[1:]), tuple(found[1:])
    if of_list:
        return f"A list has an array for each input: give one, np.array(...), of shape {_shape_text(expected)}."
    if tuple(given) == sample:
        return "It has no axis of samples: give x[None] for one sample, or leave that axis out of the Input's shape."
    if len(found) == len(expected) - 1 and sample[-1:] == (1,) and axes == sample[:-1]:
        return "It has no axis of channels: give x[..., None]."
    if hint := channels_hint(found, expected):
        return hint
    return f"Give an array of shape {_shape_text(expected)}, or make the model's Input for the shape of the data."


def of_target(found: Shape, expected: Shape, kind: str) -> str:
    """For the target of an output whose loss takes targets of this kind."""
    hint = _of_class_numbers(found, expected) if kind in (CLASSES, SOME_CLASSES) else _of_units(found, expected, kind)
    if hint is not None:
        return hint
    if len(expected) > 2 and len(found) < len(expected):
        return "The model gives more than one row for a sample: put a Flatten or a global pooling into it."
    return f"Give y the shape {_shape_text(expected)}."


def _of_class_numbers(found: Shape, expected: Shape) -> str | None:
    """For a target of class numbers, where it holds one-hot rows or has no last axis; else None."""
    if len(found) == len(expected) and found[-1] != 1:
        return "The loss takes class numbers: give y.argmax(-1), or use categorical_crossentropy for one-hot rows."
    if len(expected) > 2 and fits_shape(found[1:], expected[1:-1]):
        return "Give the class numbers a last axis of their own: y[..., None]."
    return None


def _of_units(found: Shape, expected: Shape, kind: str) -> str | None:
    """For a target that only the number of units keeps from fitting; else None."""
    if len(found) == len(expected) - 1 and len(expected) > 2 and fits_shape(found[1:], expected[1:-1]):
        if expected[-1] == 1:
            return "Give y a last axis of its own: y[..., None]."
        if kind == ONE_HOT:
            return "If y holds class numbers, use sparse_categorical_crossentropy and y[..., None]."
    if len(found) != len(expected) or found[1:-1] != tuple(expected[1:-1]):
        return None
    if kind == ONE_HOT:
        return f"Give the last layer a unit for each class, which are {found[-1]}."
    if found[-1] == 1:
        return "Give the last layer 1 unit, or use sparse_categorical_crossentropy if y holds class numbers."
    return f"Give the last layer {found[-1]} units, or y the shape {_shape_text(expected)}."


def of_classes(classes: int) -> str:
    """For class numbers that an output of so many units does not have."""
    if classes == 1:
        return "For two classes give the last layer 2 units, or use a sigmoid and binary_crossentropy."
    return "Count the classes from 0, and give the last layer a unit for each."


def _shape_text(shape: Shape) -> str:
    return f"({', '.join(['samples', *('any' if size is None else str(size) for size in shape[1:])])})"
