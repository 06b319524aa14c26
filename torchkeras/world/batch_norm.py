"""Batch normalization by the statistics of a batch: torch's, and what versions of Keras did otherwise."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def batch_norm(
    inputs: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    moving_mean: Tensor | None,
    moving_variance: Tensor | None,
    share: float,
    epsilon: float,
    by_population: bool = False,
    followed_epsilon: float = 0.0,
) -> Tensor:
    """`torch.batch_norm` in training, (batch, channels, ...).

    The moving statistics, where given, follow those of the batch: `share` is torch's momentum. `by_population`: whether
    the moving variance follows one that is divided by n, not by n - 1. `followed_epsilon` is added to that one.
    """
    affine, settings = (weight, bias), (True, share, epsilon, torch.backends.cudnn.enabled)
    if inputs.numel() == inputs.shape[1]:  # the variance of one value is 0 / 0 in torch, of two 0
        moving, more = (moving_mean, moving_variance), (share, epsilon, by_population, followed_epsilon)
        return batch_norm(inputs.expand(2, *inputs.shape[1:]), *affine, *moving, *more)[:1]
    if moving_variance is None or not (by_population or followed_epsilon):
        return torch.batch_norm(inputs, *affine, moving_mean, moving_variance, *settings)
    count = inputs.numel() // inputs.shape[1]
    part = (count - 1) / count if by_population else 1  # torch follows the variance divided by n - 1
    scaled = moving_variance / part
    found = torch.batch_norm(inputs, *affine, moving_mean, scaled, *settings)
    moving_variance.copy_(scaled * part + share * followed_epsilon)
    return found


def masked_moments(inputs: Tensor, total: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """(mean, variance) of the values that `total` adds up; both are 0 where it adds up none."""
    count = total(torch.ones_like(inputs)).clamp(min=1)
    mean = total(inputs) / count
    return mean, total((inputs - mean).square()) / count
