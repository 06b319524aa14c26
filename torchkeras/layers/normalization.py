"""Normalization: by the batch, by axes of each sample, by groups of channels."""

from typing import Annotated, Any

import torch
from torch import Tensor, nn

from torchkeras import initializers
from torchkeras.engine.layer import Layer
from torchkeras.engine.layout import Layout
from torchkeras.engine.options import (
    NEWER,
    Constraint,
    Initializer,
    NotNegative,
    Regularizer,
    Rule,
    Share,
    integers,
    is_integer,
    one_of,
    rule,
)
from torchkeras.engine.symbol import Shape
from torchkeras.engine.weight import weight

# By the number of axes; an input of more is flattened behind the channels.
BATCH_NORMS: dict[int, Any] = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}


def _are_different(axes: tuple[int, ...]) -> bool:
    return 0 < len(axes) == len(set(axes))


Axes = Annotated[
    Any,
    Rule(
        integers("must be an axis or a list of different ones", _are_different).read,
        lambda kept: kept[0] if len(kept) == 1 else list(kept),
    ),
]


class Normalizing(Layer, abstract=True):
    """What layers share that normalize, scale by `gamma` and shift by `beta`."""

    center: bool = True
    scale: bool = True
    beta_initializer: Initializer = "zeros"
    gamma_initializer: Initializer = "ones"
    beta_regularizer: Regularizer = None
    gamma_regularizer: Regularizer = None
    beta_constraint: Constraint = None
    gamma_constraint: Constraint = None

    supports_masking = True
    keeps_shape = True
    norm: Any

    def _keep(self, norm: nn.Module, scale: bool, center: bool) -> None:
        """Take torch's module, without a weight or bias that the options leave out."""
        self.norm = norm
        if not scale:
            self.norm.weight = None
        if not center:
            self.norm.bias = None


class Channelwise(Normalizing, abstract=True):
    """A layer that normalizes with a `gamma` and a `beta` for every index of `axis`, which torch has at axis 1."""

    axis: int = -1

    gamma = weight("norm.weight", keras="channels", when="scale")
    beta = weight("norm.bias", keras="channels", when="center")

    min_input_ndim = 2
    _channels_last: bool = False

    @property
    def native_layout(self) -> Layout:
        return Layout.CHANNELS_FIRST if self._channels_last else Layout.KERAS

    def _find_channels(self, input_shape: Shape) -> int:
        """Their number; notes where they lie in what `forward` gets."""
        _check_axes((self.axis,), input_shape)
        self.input_ndim = ndim = len(input_shape)
        self._channels_last = self.axis % ndim == ndim - 1 > 1
        self._channel_axis = 1 if self._channels_last else self.axis % ndim
        return self.known(input_shape, self.axis)


def _check_axes(axes: tuple[int, ...], input_shape: Shape) -> None:
    for axis in axes:
        if not -len(input_shape) <= axis < len(input_shape):
            raise ValueError(f"axis {axis} is not an axis of the input {tuple(input_shape)}.")


class BatchNormalization(Channelwise):
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, with one of each for every index of `axis`.

    In training mean and variance are those of the batch, and the moving ones follow:
    `moving = momentum * moving + (1 - momentum) * batch`; else they are the moving ones. A layer that is not
    `trainable` normalizes in training by the batch as well, and leaves the moving ones alone (Keras 2.2.4's rule).
    The moving variance takes the batch's as torch has it, over n - 1 values; Keras 2.2.4 has n - 1 - epsilon there.

    `mode` is Keras 1's: 1 normalizes each sample along its last axis, by `(x - mean) / (sqrt(variance + epsilon) +
    epsilon)`; 2 normalizes by the batch outside training as well; neither moves the moving ones. `synchronized`, to
    share statistics between machines, must be False.

    Shape: any of two axes or more -> the same. Source: https://arxiv.org/abs/1502.03167
    """

    axis: int = -1
    momentum: Share = 0.99
    epsilon: NotNegative = 1e-3
    center: bool = True
    scale: bool = True
    beta_initializer: Initializer = "zeros"
    gamma_initializer: Initializer = "ones"
    moving_mean_initializer: Initializer = "zeros"
    moving_variance_initializer: Initializer = "ones"
    beta_regularizer: Regularizer = None
    gamma_regularizer: Regularizer = None
    beta_constraint: Constraint = None
    gamma_constraint: Constraint = None
    synchronized: Annotated[
        Any, rule("must be False: a layer knows its own machine's batch", lambda v: not v), NEWER
    ] = False
    mode: Annotated[Any, one_of(0, 1, 2), NEWER] = 0

    moving_mean = weight("norm.running_mean", keras="channels", trainable=False)
    moving_variance = weight("norm.running_var", keras="channels", trainable=False)

    @property
    def native_layout(self) -> Layout:
        return Layout.KERAS if self.mode == 1 else super().native_layout

    def make(self, input_shape: Any) -> None:
        channels, ndim = self._find_channels(input_shape), len(input_shape)
        if self.mode == 1 and self.axis % ndim != ndim - 1:
            raise ValueError(f"mode 1 normalizes along the last axis; found axis {self.axis}.")
        norm = BATCH_NORMS.get(ndim, nn.BatchNorm1d)(channels, eps=self.epsilon, momentum=1 - self.momentum)
        self._keep(norm, self.scale, self.center)

    def forward(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        if self.mode == 1:
            return self._by_sample(inputs)
        if self._channel_axis == 1 and inputs.dim() <= 5:
            return self._normalized(inputs, training)
        moved = inputs.movedim(self._channel_axis, 1)
        return (
            self._normalized(moved.unsqueeze(-1).flatten(2), training)
            .reshape(moved.shape)
            .movedim(1, self._channel_axis)
        )

    def _by_sample(self, inputs: Tensor) -> Tensor:
        variance, mean = torch.var_mean(inputs, -1, correction=0, keepdim=True)
        normalized = (inputs - mean) / ((variance + self.epsilon).sqrt() + self.epsilon)
        scaled = normalized if self.norm.weight is None else normalized * self.norm.weight
        return scaled if self.norm.bias is None else scaled + self.norm.bias

    def _normalized(self, inputs: Tensor, training: bool | None) -> Tensor:
        """The result for channels at axis 1.

        Not by `self.norm(inputs)`: that knows no `training=`, refuses a single value per channel, and counts batches.
        """
        training = bool(self.mode) or (self.training if training is None else training)
        norm, moves = self.norm, not (self._frozen or self.mode)
        mean, variance = norm.running_mean, norm.running_var
        if training and (not moves or inputs.numel() == inputs.shape[1]):
            if moves:
                self._follow_single(inputs)
            mean = variance = None
        return torch.batch_norm(
            inputs,
            norm.weight,
            norm.bias,
            mean,
            variance,
            training,
            norm.momentum,
            norm.eps,
            torch.backends.cudnn.enabled,
        )

    @torch.no_grad()
    def _follow_single(self, inputs: Tensor) -> None:
        """Move the moving statistics towards a single value per channel: its variance is 0, for torch 0 / 0."""
        self.norm.running_mean.lerp_(inputs.flatten().to(self.norm.running_mean.dtype), self.norm.momentum)
        self.norm.running_var.mul_(1 - self.norm.momentum)


def _is_group_count(value: Any) -> bool:
    return is_integer(value) and (value > 0 or value == -1)


class GroupNormalization(Channelwise):
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, mean and variance being those of a group in a sample.

    The indices of `axis`, the channels, make `groups` groups of neighbours, each taken with all other axes but the
    batch; -1 makes each channel a group (instance normalization).

    Shape: any of two axes or more -> the same. Source: https://arxiv.org/abs/1803.08494
    """

    groups: Annotated[Any, rule("must be a positive integer, or -1 for a group a channel", _is_group_count, int)] = 32
    axis: int = -1
    epsilon: NotNegative = 1e-3

    def make(self, input_shape: Any) -> None:
        channels = self._find_channels(input_shape)
        groups = channels if self.groups == -1 else self.groups
        if self._channel_axis == 0:
            raise ValueError(f"axis {self.axis} is the batch; groups are made of the indices of another one.")
        if channels % groups:
            raise ValueError(f"{channels} channels cannot be parted into {groups} groups of one size.")
        self._keep(nn.GroupNorm(groups, channels, eps=self.epsilon), self.scale, self.center)

    def forward(self, inputs: Tensor) -> Tensor:
        norm, moved = self.norm, inputs.movedim(self._channel_axis, 1)
        # Not by `norm(...)`, which refuses a group of a single value.
        found = torch.group_norm(moved, norm.num_groups, norm.weight, norm.bias, norm.eps)
        return found.movedim(1, self._channel_axis)


class AlongAxes(Layer, abstract=True):
    """A layer that normalizes along one axis or several: where they are the last ones, by torch's module `norm`."""

    axis: Axes = -1

    keeps_shape = True
    norm: Any

    def _sizes(self, input_shape: Shape) -> list[int]:
        """The sizes of the axes, in the order in which they lie."""
        _check_axes(self.axis, input_shape)
        if len({axis < 0 for axis in self.axis}) > 1:  # where Keras's weights have their axes in an order of their own
            raise ValueError(f"axis {self.axis} must count all axes from the same end.")
        return [self.known(input_shape, axis) for axis in sorted(self.axis)]

    def forward(self, inputs: Tensor) -> Tensor:
        axes = sorted(axis % inputs.dim() for axis in self.axis)
        last = list(range(inputs.dim() - len(axes), inputs.dim()))
        if axes == last:
            return self._along_last(inputs)
        return self._along_last(inputs.movedim(axes, last)).movedim(last, axes)

    def _along_last(self, inputs: Tensor) -> Tensor:
        return self.norm(inputs)


class ByRoot(Layer, abstract=True):
    """An old option of LayerNormalization, its last one."""

    rms_scaling: bool = False


class LayerNormalization(AlongAxes, Normalizing, ByRoot):
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta` along `axis`, one or several, of each sample by itself.

    `gamma` and `beta` have the shape of these axes. `rms_scaling` is Keras's older `gamma * x / sqrt(variance +
    epsilon)`, with a `gamma` always and a `beta` never; RMSNormalization divides by the root of the mean square.

    Shape: any -> the same. Source: https://arxiv.org/abs/1607.06450
    """

    axis: Axes = -1
    epsilon: NotNegative = 1e-3

    gamma = weight("norm.weight", when="_scales")
    beta = weight("norm.bias", when="_centers")

    @property
    def _scales(self) -> bool:
        return self.scale or self.rms_scaling

    @property
    def _centers(self) -> bool:
        return self.center and not self.rms_scaling

    def make(self, input_shape: Any) -> None:
        self._keep(nn.LayerNorm(self._sizes(input_shape), eps=self.epsilon), self._scales, self._centers)

    def _along_last(self, inputs: Tensor) -> Tensor:
        if not self.rms_scaling:
            return self.norm(inputs)
        last = list(range(-len(self.axis), 0))
        return inputs * (inputs.var(last, correction=0, keepdim=True) + self.epsilon).rsqrt() * self.norm.weight


class RMSNormalization(AlongAxes):
    """`scale * x / sqrt(mean(x ** 2) + epsilon)` along `axis`, one or several, of each sample by itself.

    Shape: any -> the same. Source: https://arxiv.org/abs/1910.07467
    """

    axis: Axes = -1
    epsilon: NotNegative = 1e-6

    scale = weight("norm.weight")
    scale_initializer = initializers.Ones()

    def make(self, input_shape: Any) -> None:
        self.norm = nn.RMSNorm(self._sizes(input_shape), eps=self.epsilon)


class UnitNormalization(Layer):
    """`x / sqrt(sum(x ** 2))` along `axis`, one or several: each sample's length there is 1 (zeros stay).

    Shape: any -> the same.
    """

    axis: Axes = -1

    supports_masking = True
    keeps_shape = True

    def make(self, input_shape: Any) -> None:
        _check_axes(self.axis, input_shape)

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs / torch.linalg.vector_norm(inputs, dim=self.axis, keepdim=True).clamp_min(1e-12)
