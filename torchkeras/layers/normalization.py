"""Normalization."""

from typing import Any

import torch
from torch import nn

from torchkeras.engine.layer import Layer
from torchkeras.engine.layout import Layout
from torchkeras.engine.options import Constraint, Initializer, NotNegative, Regularizer, Share
from torchkeras.engine.weight import weight

# By the number of axes; an input of more is flattened behind the channels.
BATCH_NORMS: dict[int, Any] = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}


class BatchNormalization(Layer):
    """`gamma * (x - mean) / sqrt(variance + epsilon) + beta`, with one of each for every index of `axis`.

    In training mean and variance are those of the batch, and the moving ones follow:
    `moving = momentum * moving + (1 - momentum) * batch`; else they are the moving ones. A layer that is not
    `trainable` normalizes in training by the batch as well, and leaves the moving ones alone (Keras 2.2.4's rule).
    The moving variance takes the batch's as torch has it, over n - 1 values; Keras 2.2.4 has n - 1 - epsilon there.

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

    gamma = weight("norm.weight", keras="channels", when="scale")
    beta = weight("norm.bias", keras="channels", when="center")
    moving_mean = weight("norm.running_mean", keras="channels", trainable=False)
    moving_variance = weight("norm.running_var", keras="channels", trainable=False)

    min_input_ndim = 2
    supports_masking = True
    keeps_shape = True
    _channels_last: bool = False

    @property
    def native_layout(self) -> Layout:
        return Layout.CHANNELS_FIRST if self._channels_last else Layout.KERAS

    def make(self, input_shape: Any) -> None:
        ndim = len(input_shape)
        if not -ndim <= self.axis < ndim:
            raise ValueError(f"axis {self.axis} is not an axis of the input {tuple(input_shape)}.")
        channels = self.known(input_shape, self.axis)
        self.input_ndim = ndim
        self._channels_last = self.axis % ndim == ndim - 1 > 1
        self._channel_axis = 1 if self._channels_last else self.axis % ndim
        self.norm = BATCH_NORMS.get(ndim, nn.BatchNorm1d)(channels, eps=self.epsilon, momentum=1 - self.momentum)
        if not self.scale:
            self.norm.weight = None
        if not self.center:
            self.norm.bias = None

    def forward(self, inputs: torch.Tensor, training: bool | None = None) -> torch.Tensor:
        if self._channel_axis == 1 and inputs.dim() <= 5:
            return self._normalized(inputs, training)
        moved = inputs.movedim(self._channel_axis, 1)
        return (
            self._normalized(moved.unsqueeze(-1).flatten(2), training)
            .reshape(moved.shape)
            .movedim(1, self._channel_axis)
        )

    def _normalized(self, inputs: torch.Tensor, training: bool | None) -> torch.Tensor:
        """The result for channels at axis 1.

        Not by `self.norm(inputs)`: that knows no `training=`, refuses a single value per channel, and counts batches.
        """
        training = self.training if training is None else training
        norm = self.norm
        mean, variance = norm.running_mean, norm.running_var
        if training and (self._frozen or inputs.numel() == inputs.shape[1]):
            if not self._frozen:
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
    def _follow_single(self, inputs: torch.Tensor) -> None:
        """Move the moving statistics towards a single value per channel: its variance is 0, for torch 0 / 0."""
        self.norm.running_mean.lerp_(inputs.flatten().to(self.norm.running_mean.dtype), self.norm.momentum)
        self.norm.running_var.mul_(1 - self.norm.momentum)
