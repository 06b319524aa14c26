"""Axes of Keras 1's constraints on kernels of convolutions, in the order of today's kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torchkeras.errors import ArchitectureError

SPATIAL: Mapping[str, int] = {"Conv1D": 1, "Conv2D": 2, "Conv2DTranspose": 2, "Conv3D": 3, "SeparableConv2D": 2}


def with_todays_axes(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """A layer's options, in which constraints go along the axes that Keras 1's kernels had in another place.

    Raises ArchitectureError for a constraint along an axis that only Keras 1's kernels have.
    """
    if kind not in SPATIAL:
        return options
    axes = _axes(kind, options.get("data_format") == "channels_first")
    where = f"{kind} {options.get('name')!r}"
    return {
        key: _turned(f"{where}: {key}", value, axes)
        if key.endswith("_constraint") and key != "bias_constraint" and isinstance(value, Mapping)
        else value
        for key, value in options.items()
    }


def _axes(kind: str, channels_first: bool) -> list[int | None]:
    """The place of each of Keras 1's axes today; the axis of length 1 of a Conv1D has none."""
    sizes = list(range(SPATIAL[kind]))
    taken, given = len(sizes), len(sizes) + 1  # channels in and out
    if kind == "Conv2DTranspose":
        taken, given = given, taken
    if kind == "Conv1D":
        return [0, None, taken, given]
    return [given, taken, *sizes] if channels_first else [*sizes, taken, given]


def _turned(where: str, constraint: Mapping[str, Any], axes: Sequence[int | None]) -> Mapping[str, Any]:
    config = constraint["config"]
    given = config.get("axis")
    listed = given if isinstance(given, list) else [given]
    if not all(isinstance(axis, int) and -len(axes) <= axis < len(axes) for axis in listed):
        return constraint  # it has no axis, or building it will raise
    found = [axes[axis] for axis in listed if axes[axis] is not None]
    if not found:
        raise ArchitectureError(f"{where} goes along axis {given!r}, which only kernels of Keras 1 have.")
    return {**constraint, "config": {**config, "axis": found if isinstance(given, list) else found[0]}}
