"""Normalization: by the batch, by axes of each sample, by groups of channels."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras import initializers
from torchkeras.engine.graph.hook_free_calls import called
from torchkeras.engine.layer.axis_order import Layout
from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.modes import in_mode
from torchkeras.engine.layer.options import (
    INTEGERS,
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
from torchkeras.engine.layer.symbolic import Shape
from torchkeras.engine.layer.weight import weight

BATCH_NORMS: dict[int, Any] = {4: nn.BatchNorm2d, 5: nn.BatchNorm3d}  # by the number of axes; else BatchNorm1d

Axes = Annotated[
    Any,
    Rule(
        integers("must be an axis or a list of different ones", lambda v: 0 < len(v) == len(set(v))).read,
        lambda kept: kept[0] if len(kept) == 1 else list(kept),
        takes=INTEGERS,
    ),
]


GroupCount = Annotated[
    Any,
    rule(
        "must be a positive integer, or -1 for a group a channel", lambda v: is_integer(v) and (v > 0 or v == -1), int
    ),
]


def _check_axes(axes: tuple[int, ...], input_shape: Shape) -> None:
    for axis in axes:
        if not -len(input_shape) <= axis < len(input_shape):
            raise ValueError(f"axis {axis} is not an axis of the input {tuple(input_shape)}.")


class Normalizing(Layer, abstract=True):
    """What layers share that normalize, scale by `gamma` and shift by `beta`, which torch's module `norm` holds."""

    center: bool = True
    scale: bool = True
    beta_initializer: Initializer = "zeros"
    gamma_initializer: Initializer = "ones"
    beta_regularizer: Regularizer = None
    gamma_regularizer: Regularizer = None
    beta_constraint: Constraint = None
    gamma_constraint: Constraint = None

    gamma = weight("norm.weight", when="scale")
    beta = weight("norm.bias", when="center")

    supports_masking = True
    norm: Any

    class _Facts(Facts):
        keeps_shape = True

    def _keep(self, norm: nn.Module) -> None:
        self.norm = norm
        for name, kept in (("weight", self.scale), ("bias", self.center)):
            if not kept:
                setattr(norm, name, None)


class Channelwise(Normalizing, abstract=True):
    """A layer that normalizes with a `gamma` and a `beta` for every index of `axis`, which torch has at axis 1."""

    axis: int = -1

    _channels_last: bool = False

    class _Facts(Facts):
        min_input_ndim = 2

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.CHANNELS_FIRST if self.layer._channels_last else Layout.KERAS

    def _norms_as(self, kind: type[nn.Module]) -> bool:
        """Whether `norm` computes as torch's module of that kind does; another put in its place computes by itself."""
        return type(self.norm).forward is kind.forward

    def _find_channels(self, input_shape: Shape) -> int:
        """Their number; notes where they lie in what `forward` gets."""
        _check_axes((self.axis,), input_shape)
        self._expected_ndim = ndim = len(input_shape)
        self._channels_last = self.axis % ndim == ndim - 1 > 1
        self._channel_axis = 1 if self._channels_last else self.axis % ndim
        return self._known_size(input_shape, self.axis)


class BatchNormalization(Channelwise):
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, with one of each for every index of `axis`.

    In training mean and variance are those of the batch, which the moving ones follow:
    `moving = momentum * moving + (1 - momentum) * batch`; else they are the moving ones, which a layer that is not
    `trainable` leaves alone. The batch's variance that they follow is torch's, over n - 1 values.

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
        Any,
        rule("must be False: a layer knows its own machine's batch", lambda v: not v, takes="Literal[False]"),
        NEWER,
    ] = False
    mode: Annotated[Any, one_of(0, 1, 2), NEWER] = 0

    moving_mean = weight("norm.running_mean", trainable=False)
    moving_variance = weight("norm.running_var", trainable=False, beside="norm.num_batches_tracked")

    def _make_modules(self, input_shape: Any) -> None:
        channels, ndim = self._find_channels(input_shape), len(input_shape)
        if self.mode == 1 and self.axis % ndim != ndim - 1:
            raise ValueError(f"mode 1 normalizes along the last axis; found axis {self.axis}.")
        kind = BATCH_NORMS.get(ndim, nn.BatchNorm1d)
        self._keep(kind(channels, eps=self.epsilon, momentum=1 - self.momentum))

    def forward(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        if self._norms_as(nn.BatchNorm2d):
            return called(self.norm, partial(self._normalize, training=training), inputs)
        with in_mode(self.norm, bool(self.training if training is None else training) and not self._frozen):
            found = self.norm(inputs.movedim(self._channel_axis, 1)).movedim(1, self._channel_axis)
            return found.clone()  # which the next layer may write over: an nn.Identity gives its input

    def _normalize(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        by_batch = self.mode == 2 or (self.training if training is None else training)
        if self.mode == 1:
            variance, mean = torch.var_mean(inputs, -1, correction=0, keepdim=True)
            normalized = (inputs - mean) / ((variance + self.epsilon).sqrt() + self.epsilon)
            scaled = normalized * self.norm.weight if self.scale else normalized
            return scaled + self.norm.bias if self.center else scaled
        if self._channel_axis == 1 and inputs.dim() <= 5:
            return self._by_statistics(inputs, by_batch)
        moved = inputs.movedim(self._channel_axis, 1)
        found = self._by_statistics(moved.unsqueeze(-1).flatten(2), by_batch)
        return found.reshape(moved.shape).movedim(1, self._channel_axis)

    class _Facts(Facts):
        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.KERAS if self.layer.mode == 1 else super().native_layout

        def direct(self) -> Callable[..., Tensor]:
            return self.layer._normalize if self.layer._norms_as(nn.BatchNorm2d) else self.layer.forward

        @property
        def overwritable(self) -> bool:  # type: ignore[override]
            return self.layer._channel_axis == 1 and self.layer.mode != 1

        def affine(self) -> tuple[int, Tensor, Tensor] | None:
            return self.layer._affine()

    def _affine(self) -> tuple[int, Tensor, Tensor] | None:
        norm = self.norm
        if (
            not self._norms_as(nn.BatchNorm2d)
            or self.training
            or self.mode
            or norm.running_mean is None
            or not norm.eps
        ):  # 0: a scale may be infinite
            return None
        wide = torch.promote_types(norm.running_var.dtype, torch.float32)
        scale = torch.rsqrt(norm.running_var.to(wide) + norm.eps)
        scale = scale if norm.weight is None else scale * norm.weight
        if norm.bias is None:
            return self.axis, scale, -scale * norm.running_mean
        return self.axis, scale, torch.addcmul(norm.bias.to(wide), scale, norm.running_mean.to(wide), value=-1)

    def _by_statistics(self, inputs: Tensor, by_batch: bool) -> Tensor:
        """For channels at axis 1. Not by `self.norm(inputs)`, which knows no `training=` and counts batches."""
        if by_batch and inputs.numel() == inputs.shape[1]:  # of one value, torch's variance is 0 / 0; of two, 0
            return self._by_statistics(inputs.expand(2, *inputs.shape[1:]), by_batch)[:1]
        norm, alone = self.norm, by_batch and (self._frozen or self.mode)
        moving = (None, None) if alone else (norm.running_mean, norm.running_var)
        share = self._share_of_batch(by_batch and not alone) if norm.momentum is None else norm.momentum
        settings = (by_batch, share, norm.eps, torch.backends.cudnn.enabled)
        return torch.batch_norm(inputs, norm.weight, norm.bias, *moving, *settings)

    def _share_of_batch(self, follows: bool) -> float:
        """What a batch counts where the module's momentum is None: the moving ones are then means of all batches since
        its `reset_running_stats()`, as `torch.optim.swa_utils.update_bn` wants them.
        """
        if not follows:
            return 0.0
        self.norm.num_batches_tracked.add_(1)
        return 1 / float(self.norm.num_batches_tracked)


class GroupNormalization(Channelwise):
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, mean and variance being those of a group in a sample.

    The indices of `axis`, the channels, make `groups` groups of neighbours, each taken with all other axes but the
    batch; -1 makes each channel a group (instance normalization).

    Shape: any of two axes or more -> the same. Source: https://arxiv.org/abs/1803.08494
    """

    groups: GroupCount = 32
    axis: int = -1
    epsilon: NotNegative = 1e-3

    def _make_modules(self, input_shape: Any) -> None:
        channels = self._find_channels(input_shape)
        groups = channels if self.groups == -1 else self.groups
        if self._channel_axis == 0:
            raise ValueError(f"axis {self.axis} is the batch; groups are made of the indices of another one.")
        if channels % groups:
            raise ValueError(f"{channels} channels cannot be parted into {groups} groups of one size.")
        self._keep(nn.GroupNorm(groups, channels, eps=self.epsilon))

    def forward(self, inputs: Tensor) -> Tensor:
        moved = inputs.movedim(self._channel_axis, 1)
        found = called(self.norm, self._normalize, moved) if self._norms_as(nn.GroupNorm) else self.norm(moved)
        return found.movedim(1, self._channel_axis)

    def _normalize(self, moved: Tensor) -> Tensor:
        norm = self.norm
        # Torch 2.13's backward would crash on channels that lie last.
        if moved.is_cpu and torch.is_grad_enabled() and not moved.requires_grad:
            moved = moved.contiguous()
        # Not by `norm(...)`, which refuses a group of a single value.
        return torch.group_norm(moved, norm.num_groups, norm.weight, norm.bias, norm.eps)


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
        _check_axes(self.axis, input_shape)
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

    rms_scaling: Annotated[bool, rule("must be False: take RMSNormalization", lambda v: not v), NEWER] = False


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
        _check_axes(self.axis, input_shape)

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs / torch.linalg.vector_norm(inputs, dim=self.axis, keepdim=True).clamp_min(1e-12)
