"""Activations that are layers of their own, with options."""

from typing import Any

import torch
import torch.nn.functional as F

from torchkeras import activations
from torchkeras.engine.layer import Layer
from torchkeras.engine.layout import Layout
from torchkeras.engine.options import NotNegative, OptionalNotNegative


class Pointwise(Layer, abstract=True):
    """A function of each value by itself: the order of axes does not matter, and masks pass."""

    supports_masking = True
    keeps_shape = True

    @property
    def native_layout(self) -> Layout:
        return Layout.ANY


class ReLU(Pointwise):
    """`x` above `threshold`, clipped at `max_value`; else `negative_slope * (x - threshold)`.

    Shape: any -> the same.
    """

    max_value: OptionalNotNegative = None
    negative_slope: NotNegative = 0.0
    threshold: float = 0.0

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Pointwise):
    """`x` where x >= 0, else `alpha * x`.

    Shape: any -> the same. Source: https://ai.stanford.edu/~amaas/papers/relu_hybrid_icml2013_final.pdf
    """

    alpha: float = 0.3

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return F.leaky_relu(inputs, self.alpha)


class Softmax(Layer):
    """`exp(x) / sum(exp(x))` along `axis`.

    Shape: any of at least two axes -> the same.
    """

    axis: int = -1

    min_input_ndim = 2
    supports_masking = True
    keeps_shape = True

    @property
    def native_layout(self) -> Layout:
        return Layout.AXIS

    def make(self, input_shape: Any) -> None:
        if not -len(input_shape) <= self.axis < len(input_shape):
            raise ValueError(f"axis {self.axis} is not an axis of the input {tuple(input_shape)}.")

    def forward(self, inputs: torch.Tensor, axis: int | None = None) -> torch.Tensor:
        return activations.softmax(inputs, self.axis if axis is None else axis)
