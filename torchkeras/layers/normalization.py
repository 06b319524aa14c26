"""Normalization by the batch and by groups of channels: BatchNormalization and GroupNormalization."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import torch
from torch import Tensor, nn

from torchkeras.base.extensions import replaceable
from torchkeras.base.rules import is_integer, one_of, rule
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.facts import Facts
from torchkeras.engine.graph.layer_calls import called
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import MODE, locked_mode, stored_mode
from torchkeras.engine.options import NEWER, Constraint, Initializer, NotNegative, Regularizer, Share
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.engine.weights.weight import weight
from torchkeras.world.one_process import CURRENT

BATCH_NORMS: dict[int, Any] = {4: nn.BatchNorm2d, 5: nn.BatchNorm3d}  # by the number of axes; else BatchNorm1d

GroupCount = Annotated[
    Any,
    rule(
        "must be a positive integer, or -1 for a group a channel", lambda v: is_integer(v) and (v > 0 or v == -1), int
    ),
]


def check_axes(axes: tuple[int, ...], input_shape: Shape) -> None:
    for axis in axes:
        if not -len(input_shape) <= axis < len(input_shape):
            raise ValueError(f"axis {axis} is not an axis of the input {tuple(input_shape)}.")


def _affine_on_device(
    inputs: Tensor, weight: Tensor | None, bias: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    """(weight, bias) for torch's kernels: that for CUDA gives a bias no gradient where it has no weight beside it."""
    if weight is None and bias is not None and inputs.is_cuda:
        weight = torch.ones_like(bias, requires_grad=False)
    return weight, bias


class Normalizing(Layer, abstract=True):
    """A layer that normalizes, scales by `gamma` and shifts by `beta`; torch's module `norm` holds both.

    Options:
        center (bool, default True): whether `beta` is added.
        scale (bool, default True): whether the normalized values are multiplied by `gamma`.
        beta_initializer (name or Initializer, default "zeros"): the first values of `beta`.
        gamma_initializer (name or Initializer, default "ones"): the first values of `gamma`.
        beta_regularizer (name, Regularizer or None, default None): a penalty on `beta`, added to the loss.
        gamma_regularizer (name, Regularizer or None, default None): a penalty on `gamma`, added to the loss.
        beta_constraint (name, Constraint or None, default None): applied to `beta` after each update.
        gamma_constraint (name, Constraint or None, default None): applied to `gamma` after each update.
    """

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
        for name, wanted in (("weight", self.scale), ("bias", self.center)):
            if not wanted:
                setattr(norm, name, None)


class Channelwise(Normalizing, abstract=True):
    """A layer with a `gamma` and a `beta` for every index of `axis`, the channels, which torch has at axis 1."""

    axis: int = -1

    _channels_last: bool = False

    class _Facts(Facts):
        min_input_ndim = 2

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.CHANNELS_FIRST if self.layer._channels_last else Layout.KERAS

    def _norms_as(self, kind: type[nn.Module]) -> bool:
        """Whether `norm` computes as torch's module of that kind does; a module put in its place is called instead."""
        return type(self.norm).forward is kind.forward

    def _find_channels(self, input_shape: Shape) -> int:
        """The number of channels; notes where they lie in the inputs of `forward`."""
        check_axes((self.axis,), input_shape)
        self._expected_ndim = ndim = len(input_shape)
        self._channels_last = self.axis % ndim == ndim - 1 > 1
        self._channel_axis = 1 if self._channels_last else self.axis % ndim
        return self._known_size(input_shape, self.axis)


@replaceable("_make_modules", "_moving", "_normalize")
class BatchNormalization(Channelwise):
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, with separate values for every index of `axis`.

    In training, mean and variance are those of the batch, and the moving mean and variance follow them:
    `moving = momentum * moving + (1 - momentum) * batch`. Outside training, the layer uses the moving mean and
    variance. The variance that the moving variance follows is divided by n - 1, as in torch.

    A layer that is not `trainable` still normalizes by the batch in training, but does not change the moving
    statistics. Later versions of Keras differ from Keras 2 in both points: the last two options select their behaviour,
    and models from their files have them set.

    Options:
        axis (integer, default -1): the axis of the channels.
        momentum (float from 0 to 1, default 0.99): the share of the moving statistics that stays at each batch. torch's
            momentum is 1 minus this one.
        epsilon (float of at least 0, default 0.001): added to the variance.
        moving_mean_initializer (name or Initializer, default "zeros"): the first values of the moving mean.
        moving_variance_initializer (name or Initializer, default "ones"): the first values of the moving variance.
        synchronized (bool, default False): whether the batch of several processes is one batch for this layer even
            where `compile(sync_batch_norm=False)` says that each process normalizes by its own part.
        mode (0, 1 or 2, default 0): an option of Keras 1: 1 normalizes each sample along its last axis, by
            `(x - mean) / (sqrt(variance + epsilon) + epsilon)`; 2 normalizes by the batch outside training too. Neither
            changes the moving statistics.
        variance (text, default "sample"): what the moving variance follows. "population" is divided by n; "flat" too,
            but by n - 1 for images and volumes. "sample+epsilon" and "population+epsilon" add `epsilon` to it, as Keras
            1 and 2 did on Theano.
        frozen_is_fixed (bool, default False): whether a layer that is not `trainable` normalizes by the moving
            statistics in training too. If it is set and `variance` is one that divides by n, masked values do not count
            for mean and variance in training.

    Shapes:
        any of two axes or more -> the same

    Errors:
        ValueError: `axis` is no axis of the input, or with `mode` 1 not the last one.

    Example:
        >>> layer = BatchNormalization(momentum=0.5)
        >>> output = layer(torch.tensor([[1.0], [3.0]]), training=True)
        >>> layer.moving_mean
        tensor([1.])

    Source: https://arxiv.org/abs/1502.03167
    """

    axis: int = -1
    momentum: Share = 0.99
    epsilon: NotNegative = 1e-3
    moving_mean_initializer: Initializer = "zeros"
    moving_variance_initializer: Initializer = "ones"
    synchronized: Annotated[bool, NEWER] = False
    mode: Annotated[Any, one_of(0, 1, 2), NEWER] = 0
    variance: Annotated[str, one_of("sample", "population", "flat", "sample+epsilon", "population+epsilon"), NEWER] = (
        "sample"
    )
    frozen_is_fixed: Annotated[bool, NEWER] = False

    _option_order = (
        *("center", "scale", "beta_initializer", "gamma_initializer"),
        *("moving_mean_initializer", "moving_variance_initializer"),
        *("beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint"),
    )

    moving_mean = weight("norm.running_mean", trainable=False)
    moving_variance = weight("norm.running_var", trainable=False, beside="norm.num_batches_tracked")

    def _make_modules(self, input_shape: Any) -> None:
        channels, ndim = self._find_channels(input_shape), len(input_shape)
        if self.mode == 1 and self.axis % ndim != ndim - 1:
            raise ValueError(f"mode 1 normalizes along the last axis; found axis {self.axis}.")
        kind = BATCH_NORMS.get(ndim, nn.BatchNorm1d)
        self._keep(kind(channels, eps=self.epsilon, momentum=1 - self.momentum))

    def forward(self, inputs: Tensor, training: bool | None = None, mask: Tensor | None = None) -> Tensor:
        if self._norms_as(nn.BatchNorm2d):
            return called(self.norm, partial(self._normalize, training=training, mask=mask), inputs)
        mode = bool(self.training if training is None else training) and not self._frozen
        with (stored_mode if is_compiling() else locked_mode)([self.norm], mode):
            found = self.norm(inputs.movedim(self._channel_axis, 1)).movedim(1, self._channel_axis)
            return found.clone()  # since the next layer may overwrite it, and an nn.Identity gives its input

    @property
    def _in_training(self) -> bool:
        """Whether the layer is in training mode; outside of a call with a mode, torch's module inside must be so too.

        While the layer is frozen, that module is in evaluation mode, and the batch counts all the same.
        """
        return self.training and (self.norm.training or self._frozen or MODE.training is not None)

    def _normalize(self, inputs: Tensor, training: bool | None = None, mask: Tensor | None = None) -> Tensor:
        by_batch = self._takes_batch(training)
        if self.mode == 1:
            return self._by_feature_vector(inputs)
        if by_batch and mask is not None and self._leaves_masked_out:
            return self._by_masked(inputs, mask)
        if self._channel_axis == 1 and inputs.dim() <= 5:
            return self._by_statistics(inputs, by_batch)
        if by_batch and self._channel_axis == 0:
            CURRENT.batch.check_axis(self.axis, self.synchronized)
        moved = inputs.movedim(self._channel_axis, 1)
        found = self._by_statistics(moved.unsqueeze(-1).flatten(2), by_batch)
        return found.reshape(moved.shape).movedim(1, self._channel_axis)

    def _by_feature_vector(self, inputs: Tensor) -> Tensor:
        """Keras 1's `mode=1`: each vector of features normalized by its own mean and variance."""
        variance, mean = torch.var_mean(inputs, -1, correction=0, keepdim=True)
        normalized = (inputs - mean) / ((variance + self.epsilon).sqrt() + self.epsilon)
        scaled = normalized * self.norm.weight if self.scale else normalized
        return scaled + self.norm.bias if self.center else scaled

    def _takes_batch(self, training: bool | None) -> bool:
        """Whether a call normalizes by the statistics of the batch."""
        training = self._in_training if training is None else training
        trains = training and not (self.frozen_is_fixed and self._frozen)
        return self.mode == 2 or trains or self.norm.running_mean is None

    class _Facts(Facts):
        sets_mode_of = ("norm",)

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.KERAS if self.layer.mode == 1 else super().native_layout

        def hook_free(self) -> Callable[..., Tensor]:
            return self.layer._normalize if self.layer._norms_as(nn.BatchNorm2d) else self.layer.forward

        @property
        def overwritable(self) -> bool:  # type: ignore[override]
            return self.layer._channel_axis == 1 and self.layer.mode != 1

        @property
        def knows_whole_batch(self) -> bool:  # type: ignore[override]
            return self.layer._norms_as(nn.BatchNorm2d)

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
        ):  # without an epsilon, a scale may be infinite
            return None
        wide = torch.promote_types(norm.running_var.dtype, torch.float32)
        scale = torch.rsqrt(norm.running_var.to(wide) + norm.eps)
        scale = scale if norm.weight is None else scale * norm.weight
        if norm.bias is None:
            return self.axis, scale, -scale * norm.running_mean
        return self.axis, scale, torch.addcmul(norm.bias.to(wide), scale, norm.running_mean.to(wide), value=-1)

    def _by_statistics(self, inputs: Tensor, by_batch: bool) -> Tensor:
        """For channels at axis 1. Not by `self.norm(inputs)`, which has no `training=` and counts batches."""
        norm, moving = self.norm, self._moving(by_batch)
        share = self._share_of_batch(by_batch and moving[0] is not None) if norm.momentum is None else norm.momentum
        affine = _affine_on_device(inputs, norm.weight, norm.bias)
        if not by_batch:
            return torch.batch_norm(inputs, *affine, *moving, False, share, norm.eps, torch.backends.cudnn.enabled)
        followed = self._by_population, self._followed_epsilon
        return CURRENT.batch.batch_norm(inputs, *affine, *moving, share, norm.eps, *followed, self.synchronized)

    def _by_masked(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """By the values that are not masked. The mask is that of all axes but the last one."""
        mask, batch = mask.unsqueeze(1 if self._channels_last else -1), CURRENT.batch
        if mask.dim() != inputs.dim():
            raise ValueError(f"a mask must have one axis less than the inputs; found {mask.dim() - 1} axes.")
        if self._channel_axis == 0:
            batch.check_axis(self.axis)
        wide = inputs.to(torch.promote_types(inputs.dtype, torch.float32))
        axes = [axis for axis in range(inputs.dim()) if axis != self._channel_axis]
        norm, statistics = self.norm, batch.masked_moments(wide, mask, axes, self.synchronized)
        if batch.follows(self.synchronized):
            self._follow(*statistics)
        mean, variance = statistics
        scaled = (wide - mean) * torch.rsqrt(variance + norm.eps)
        scaled = scaled if norm.weight is None else scaled * norm.weight.view_as(mean)
        return (scaled if norm.bias is None else scaled + norm.bias.view_as(mean)).to(inputs.dtype)

    def _follow(self, *statistics: Tensor) -> None:
        """Move the moving mean and variance towards those of a batch."""
        moving = self._moving(True)
        share = self._share_of_batch(moving[0] is not None) if self.norm.momentum is None else self.norm.momentum
        for follower, found in zip(moving, statistics, strict=True):
            if follower is not None:
                follower.mul_(1 - share).add_(found.detach().flatten().to(follower.dtype), alpha=share)

    @property
    def _leaves_masked_out(self) -> bool:
        """Whether masked values do not count in training: what only later versions of Keras do."""
        return self.frozen_is_fixed and self._by_population

    @property
    def _by_population(self) -> bool:
        """Whether the moving variance follows one that is divided by n."""
        flat = self.variance == "flat" and self._expected_ndim in (2, 3)
        return flat or self.variance.startswith("population")

    @property
    def _followed_epsilon(self) -> float:
        """What is added to the variance that the moving one follows."""
        return self.epsilon if self.variance.endswith("+epsilon") else 0.0

    def _moving(self, by_batch: bool) -> tuple[Tensor | None, Tensor | None]:
        """The moving statistics; (None, None) where those of the batch are used and not followed."""
        if by_batch and (self._frozen or self.mode or not self.norm.track_running_stats):
            return None, None
        return self.norm.running_mean, self.norm.running_var

    def _share_of_batch(self, follows: bool) -> float:
        """The share of a batch where the module's momentum is None, as `torch.optim.swa_utils.update_bn` sets it.

        The moving statistics are then the means of all batches since the module's `reset_running_stats()`.
        """
        if not follows:
            return 0.0
        self.norm.num_batches_tracked.add_(1)
        return 1 / float(self.norm.num_batches_tracked)


class GroupNormalization(Channelwise):
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, by the mean and variance of a group of channels.

    Each sample is normalized separately. A group is a run of neighbouring channels, with all their values.

    Options:
        groups (positive integer or -1, default 32): the number of groups, which must divide that of the channels. -1
            makes each channel a group (instance normalization).
        axis (integer, default -1): the axis of the channels.
        epsilon (float of at least 0, default 0.001): added to the variance.

    Shapes:
        any of two axes or more -> the same

    Errors:
        ValueError: `groups` does not divide the number of channels; `axis` is the batch's, or no axis of the input.

    Example:
        >>> GroupNormalization(groups=2)(torch.zeros(2, 8, 8, 4)).shape
        torch.Size([2, 8, 8, 4])

    Source: https://arxiv.org/abs/1803.08494
    """

    groups: GroupCount = 32
    axis: int = -1
    epsilon: NotNegative = 1e-3

    def _make_modules(self, input_shape: Any) -> None:
        channels = self._find_channels(input_shape)
        groups = channels if self.groups == -1 else self.groups
        if self._channel_axis == 0:
            raise ValueError(f"axis {self.axis} is the batch axis; groups divide another axis.")
        if channels % groups:
            raise ValueError(f"{channels} channels cannot be divided into {groups} groups of one size.")
        self._keep(nn.GroupNorm(groups, channels, eps=self.epsilon))

    def forward(self, inputs: Tensor) -> Tensor:
        moved = inputs.movedim(self._channel_axis, 1)
        found = called(self.norm, self._normalize, moved) if self._norms_as(nn.GroupNorm) else self.norm(moved)
        return found.movedim(1, self._channel_axis)

    def _normalize(self, moved: Tensor) -> Tensor:
        norm = self.norm
        # The backward of torch 2.13 crashes where the channels lie last in memory.
        if moved.is_cpu and torch.is_grad_enabled() and not moved.requires_grad:
            moved = moved.contiguous()
        if norm.weight is None and norm.bias is not None:  # which torch 2.13 has no gradient for
            shift = norm.bias.reshape(-1, *(1,) * (moved.dim() - 2))
            return torch.group_norm(moved, norm.num_groups, None, None, norm.eps) + shift
        # Not by `norm(...)`, which refuses a group of a single value.
        return torch.group_norm(moved, norm.num_groups, norm.weight, norm.bias, norm.eps)
