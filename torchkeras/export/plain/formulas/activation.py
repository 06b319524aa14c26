"""Activations and layers of weights for each place, as Keras has them."""

import torch
import torch.nn.functional as F
from torch import nn


def bounded_relu(x, max_value=None, negative_slope=0.0, threshold=0.0):
    """x above the threshold, clipped at max_value; else negative_slope * (x - threshold)."""
    above = torch.where(x > threshold, x, 0.0)
    if max_value is not None:
        above = above.clamp(max=max_value)
    return above - negative_slope * torch.relu(threshold - x)


class PlacewisePReLU(nn.Module):
    """x where x > 0, else weight * x, with a weight for each place of a sample."""

    def __init__(self, *shape):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(shape))

    def forward(self, x):
        return torch.where(x > 0, x, self.weight * x)


class ParametricSoftplus(nn.Module):
    """outer * log(1 + exp(inner * x)), with weights for each place of a sample."""

    def __init__(self, *shape):
        super().__init__()
        self.outer = nn.Parameter(torch.full(shape, 0.2))
        self.inner = nn.Parameter(torch.full(shape, 5.0))

    def forward(self, x):
        return self.outer * F.softplus(self.inner * x)


class SReLU(nn.Module):
    """x between left and right = left + abs(width), and lines of other slopes on both sides (arXiv:1512.07030)."""

    def __init__(self, *shape, capped=False):
        super().__init__()
        self.left = nn.Parameter(torch.zeros(shape))
        self.left_slope = nn.Parameter(torch.zeros(shape))
        self.width = nn.Parameter(torch.ones(shape))
        self.right_slope = nn.Parameter(torch.ones(shape))
        self.capped = capped  # what a negative slope makes of values below is `right` at the most: Theano's way

    def forward(self, x):
        right = self.left + self.width.abs()
        bent = x.clamp(self.left, right) - self.left_slope * torch.relu(self.left - x)
        if self.capped:
            bent = torch.minimum(bent, right)
        return bent + self.right_slope * torch.relu(x - right)


class Highway(nn.Module):
    """gate * activation(linear(x)) + (1 - gate) * x, with gate = sigmoid(carry(x))."""

    def __init__(self, features, activation, bias=True):
        super().__init__()
        self.linear = nn.Linear(features, features, bias)
        self.carry = nn.Linear(features, features, bias)
        self.activation = activation

    def forward(self, x):
        return torch.lerp(x, self.activation(self.linear(x)), torch.sigmoid(self.carry(x)))
