"""Normalization along axes of each sample: LayerNormalization, RMSNormalization, UnitNormalization."""

from collections.abc import Callable
from typing import Annotated, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras import initializers
from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import NEWER, NotNegative, Rule, integers, rule
from torchkeras.engine.layer.symbolic import Shape
from torchkeras.engine.layer.weight import weight
from torchkeras.layers.normalization import Normalizing, check_axes

Axes = Annotated[
    Any,
    Rule(
        integers("must be an axis or a list of different ones", lambda v: 0 < len(v) == len(set(v))).read,
        lambda kept: kept[0] if len(kept) == 1 else list(kept),
    ),
]


class AlongAxes(Layer, abstract=True):
    """A layer whose `norm`, which torch has for the last axes, normalizes along one axis or several."""

    axis: Axes = -1

    norm: Any

    class _Facts(Facts):
        keeps_shape = True

        def direct(self) -> Callable[..., Tensor]:
            layer, inside = self.layer, self.layer._modules
            only_last = list(layer.axis) == [-1]
            return lambda inputs: inside["norm"].forward(inputs) if only_last else layer.forward(inputs)

    def _sizes(self, input_shape: Shape) -> list[int]:
        """The sizes of the axes, in the order in which they lie."""
        check_axes(self.axis, input_shape)
        if len({axis < 0 for axis in self.axis}) > 1:  # where Keras's weights have their axes in an order of their own
            raise ValueError(f"axis {self.axis} must count all axes from the same end.")
        return [self._known_size(input_shape, axis) for axis in sorted(self.axis)]

    def forward(self, inputs: Tensor) -> Tensor:
        axes, last = sorted(self.axis), list(range(-len(self.axis), 0))
        if axes == last:
            return self.norm(inputs)
        return self.norm(inputs.movedim(axes, last)).movedim(last, axes)


class ByRoot(Layer, abstract=True):
    """An option of LayerNormalization, its last one, that Keras 3 gave up as wrong."""

    rms_scaling: Annotated[Any, rule("must be False: take RMSNormalization", lambda v: not v), NEWER] = False


class LayerNormalization(AlongAxes, Normalizing, ByRoot):
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta` along `axis`, one or several, of each sample by itself.

    `gamma` and `beta` have the shape of these axes. `rms_scaling` must be False: RMSNormalization is such a layer.

    Shape: any -> the same. Source: https://arxiv.org/abs/1607.06450
    """

    axis: Axes = -1
    epsilon: NotNegative = 1e-3

    def _make_modules(self, input_shape: Any) -> None:
        self._keep(nn.LayerNorm(self._sizes(input_shape), eps=self.epsilon))


class RMSNorm(nn.RMSNorm):
    """torch's, with the weight in the type of the input: for two types torch has no kernel of one step, and warns."""

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.eps)  # type: ignore[arg-type]


class RMSNormalization(AlongAxes):
    """`scale * x / sqrt(mean(x ** 2) + epsilon)` along `axis`, one or several, of each sample by itself.

    Shape: any -> the same. Source: https://arxiv.org/abs/1910.07467
    """

    axis: Axes = -1
    epsilon: NotNegative = 1e-6

    scale = weight("norm.weight")
    scale_initializer = initializers.Ones()

    def _make_modules(self, input_shape: Any) -> None:
        self.norm = RMSNorm(self._sizes(input_shape), eps=self.epsilon)


class UnitNormalization(Layer):
    """`x / sqrt(sum(x ** 2))` along `axis`, one or several: each sample's length there is 1 (zeros stay).

    Shape: any -> the same.
    """

    axis: Axes = -1

    supports_masking = True

    class _Facts(Facts):
        keeps_shape = True

    def _make_modules(self, input_shape: Any) -> None:
        check_axes(self.axis, input_shape)

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs / torch.linalg.vector_norm(inputs, dim=self.axis, keepdim=True).clamp_min(1e-12)
