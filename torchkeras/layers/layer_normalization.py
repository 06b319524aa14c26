"""Normalization along axes of each sample: LayerNormalization, RMSNormalization, UnitNormalization."""

from collections.abc import Callable
from typing import Annotated, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras import initializers
from torchkeras.base.rules import INTEGERS, Rule, integers, rule
from torchkeras.base.torch_tables import own_modules
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import NEWER, NotNegative
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.engine.weights.weight import weight
from torchkeras.layers.normalization import Normalizing, check_axes

Axes = Annotated[
    Any,
    Rule(
        integers("must be an axis or a list of different ones", lambda v: 0 < len(v) == len(set(v))).read,
        lambda kept: kept[0] if len(kept) == 1 else list(kept),
        takes=INTEGERS,
    ),
]


class AlongAxes(Layer, abstract=True):
    """A layer that normalizes along one axis or several by its module `norm`, which takes the last axes.

    Options:
        axis (integer or list of them, default -1): what to normalize along.
    """

    axis: Axes = -1

    norm: Any

    class _Facts(Facts):
        keeps_shape = True

        def hook_free(self) -> Callable[..., Tensor]:
            layer, inside = self.layer, own_modules(self.layer)
            if list(layer.axis) != [-1]:
                return layer.forward  # type: ignore[no-any-return]

            def run(inputs: Tensor) -> Tensor:
                norm: Any = inside["norm"]
                if type(norm) is not nn.LayerNorm:
                    return norm.forward(inputs)  # type: ignore[no-any-return]
                weights: Any = norm._parameters
                return F.layer_norm(inputs, norm.normalized_shape, weights["weight"], weights["bias"], norm.eps)

            return run

    def _sizes(self, input_shape: Shape) -> list[int]:
        """The sizes of the axes, in the input's order."""
        check_axes(self.axis, input_shape)
        if len({axis < 0 for axis in self.axis}) > 1:  # then Keras's weights have another order of axes
            raise ValueError(f"axis {self.axis} must count all axes from the same end.")
        return [self._known_size(input_shape, axis) for axis in sorted(self.axis)]

    def forward(self, inputs: Tensor) -> Tensor:
        axes, last = sorted(self.axis), list(range(-len(self.axis), 0))
        if axes == last:
            return self.norm(inputs)
        return self.norm(inputs.movedim(axes, last)).movedim(last, axes)


class CenteredLayerNorm(nn.LayerNorm):
    """torch's module without a weight, with the bias cast to the input's type: torch has no gradient for two types."""

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.normalized_shape, None, self.bias.to(x.dtype), self.eps)


class LayerNormalization(AlongAxes, Normalizing):
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, by the mean and variance along `axis`.

    `gamma` and `beta` have the sizes of these axes. Each sample is normalized separately.

    Options:
        epsilon (float of at least 0, default 0.001): added to the variance.
        rms_scaling (bool, default False): must be False; use `RMSNormalization` instead.

    Shapes:
        any -> the same

    Errors:
        ValueError: `axis` is no axis of the input, or counts some axes from the start and some from the end.

    Example:
        >>> LayerNormalization(epsilon=0)(torch.tensor([[1.0, 3.0]])).tolist()
        [[-1.0, 1.0]]

    Source: https://arxiv.org/abs/1607.06450
    """

    axis: Axes = -1
    epsilon: NotNegative = 1e-3
    rms_scaling: Annotated[bool, rule("must be False: take RMSNormalization", lambda v: not v), NEWER] = False

    def _make_modules(self, input_shape: Any) -> None:
        kind = CenteredLayerNorm if self.center and not self.scale else nn.LayerNorm
        self._keep(kind(self._sizes(input_shape), eps=self.epsilon))


class RMSNorm(nn.RMSNorm):
    """torch's module, with the weight cast to the input's type: torch has no fused kernel for two types, and warns."""

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight.to(x.dtype), self.eps)  # type: ignore[arg-type]


class RMSNormalization(AlongAxes):
    """`scale * x / sqrt(mean(x ** 2) + epsilon)`, by the mean along `axis`, with a weight `scale`.

    Options:
        epsilon (float of at least 0, default 1e-06): added to the mean.

    Shapes:
        any -> the same

    Errors:
        ValueError: `axis` is no axis of the input, or counts some axes from the start and some from the end.

    Example:
        >>> RMSNormalization(epsilon=0)(torch.tensor([[3.0, -3.0]])).tolist()
        [[1.0, -1.0]]

    Source: https://arxiv.org/abs/1910.07467
    """

    axis: Axes = -1
    epsilon: NotNegative = 1e-6

    scale = weight("norm.weight")
    scale_initializer = initializers.Ones()

    def _make_modules(self, input_shape: Any) -> None:
        self.norm = RMSNorm(self._sizes(input_shape), eps=self.epsilon)


class UnitNormalization(Layer):
    """`x / sqrt(sum(x ** 2))`, by the sum along `axis`; zeros stay zeros.

    Options:
        axis (integer or list of them, default -1): what to sum along.

    Shapes:
        any -> the same

    Errors:
        ValueError: `axis` is no axis of the input.

    Example:
        >>> UnitNormalization()(torch.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])

    Source: https://keras.io/api/layers/normalization_layers/unit_normalization/
    """

    axis: Axes = -1

    supports_masking = True

    class _Facts(Facts):
        keeps_shape = True

    def _make_modules(self, input_shape: Any) -> None:
        check_axes(self.axis, input_shape)

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs / torch.linalg.vector_norm(inputs, dim=self.axis, keepdim=True).clamp_min(1e-12)
