"""The kernels of convolutions that are Fourier transforms of windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

SCALES: Mapping[Any, Any] = {
    "density": lambda factors: factors.square().sum().sqrt(),
    "spectrum": lambda factors: factors.abs().sum(),
    None: lambda factors: 1.0,
}


def fourier_kernel(side: str, length: int, frequencies: int, factors: Tensor | None, scaling: str | None) -> Tensor:
    """`cos(-2 pi t f / n) * window / scale` with n = 2 * (frequencies - 1), or `sin`, in float64.

    Arguments:
        side (text): "real" for the cosine, "imag" for the sine.
        length (positive integer): the times.
        frequencies (integer above 1): the frequencies.
        factors (tensor or None): the window; None is 1 everywhere.
        scaling (text or None): what the window is divided by: the root of the sum of its squares ("density"), the sum
            of its sizes ("spectrum"), or nothing.

    Shapes:
        -> (length, 1, frequencies)

    Example:
        >>> fourier_kernel("real", 2, 3, None, None)[1, 0].round(decimals=2)
        tensor([ 1.,  0., -1.], dtype=torch.float64)
    """
    places = {"dtype": torch.float64, "device": "cpu"}
    times, rates = torch.arange(length, **places), torch.arange(frequencies, **places)
    angles = -2.0 * torch.pi / (2 * (frequencies - 1)) * times[:, None, None] * rates
    waves = angles.cos() if side == "real" else angles.sin()
    if factors is None:
        return waves
    return waves * (factors / SCALES[scaling](factors))[:, None, None]
