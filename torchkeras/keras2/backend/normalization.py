"""Normalization of batches."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.backend.nodes import node, tensor
from torchkeras.world.one_process import CURRENT, WHOLE

FUSED = ([0, 1, 2],)  # axes of images over which TensorFlow has a kernel of its own
LEAST_EPSILON = 1.001e-5  # of that kernel


def _normalized(x: Tensor, mean: Any, var: Any, beta: Any, gamma: Any, epsilon: float) -> Tensor:
    scale = torch.rsqrt(var + epsilon)
    scale = scale if gamma is None else scale * tensor(gamma, x).reshape(scale.shape)
    shift = -mean * scale
    return x * scale + (shift if beta is None else shift + tensor(beta, x).reshape(scale.shape))


@node
def batch_normalization(
    x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Tensor:
    """gamma * (x - mean) / sqrt(var + epsilon) + beta; without `gamma` or `beta` where these are None.

    Of images, the others may be vectors with a number for each place of `axis`. Else they are broadcast.

    >>> batch_normalization(torch.ones(1, 2), torch.zeros(2), torch.ones(2), None, None, epsilon=0.0)
    tensor([[1., 1.]])
    """
    x = tensor(x)
    others = [None if each is None else tensor(each, x) for each in (mean, var, beta, gamma)]
    if x.dim() == 4 and axis % 4 in (1, 3):
        ones = [1] * 3
        shape = (*ones, -1) if axis % 4 == 3 else (1, -1, 1, 1)
        others = [None if each is None else each.reshape(shape) for each in others]
    mean, var, beta, gamma = others
    scale = torch.rsqrt(var + epsilon) if gamma is None else gamma * torch.rsqrt(var + epsilon)
    return x * scale + (-mean * scale if beta is None else beta - mean * scale)


@node
def normalize_batch_in_training(x: Any, gamma: Any, beta: Any, reduction_axes: Any, epsilon: float = 1e-3) -> Any:
    """(the normalized batch, its means, its variances) over `reduction_axes`.

    The variances of images over the axes [0, 1, 2] are those of samples, divided by one less, as TensorFlow's kernel
    for images gives them.

    >>> [each.shape for each in normalize_batch_in_training(torch.zeros(4, 2), None, None, [0])]
    [torch.Size([4, 2]), torch.Size([2]), torch.Size([2])]
    """
    x, axes = tensor(x), [int(axis) for axis in reduction_axes]
    mean, var, count = (CURRENT.batch if 0 in axes else WHOLE).moments(x, axes)
    fused = x.dim() == 4 and axes in FUSED
    normalized = _normalized(x, mean, var, beta, gamma, max(epsilon, LEAST_EPSILON) if fused else epsilon)
    if fused:
        var = var * (count / max(count - 1, 1))
    return normalized, *(each.squeeze(tuple(axes)) for each in (mean, var))
