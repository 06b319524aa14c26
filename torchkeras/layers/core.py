"""Core layers: Dense, Activation, ActivityRegularization, Identity, Masking."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from torchkeras.activations import WITH_LOGITS, is_pointwise, relu
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import (
    Activation as ActivationOption,
    Constraint,
    Initializer,
    Positive,
    Regularizer,
)
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.engine.weights.weight import weight
from torchkeras.regularizers import L1L2, PerSample


class KernelLayer(Layer, abstract=True):
    """The options that layers with a kernel and a bias share.

    Options:
        kernel_initializer (name or Initializer, default "glorot_uniform"): the first values of the kernel.
        bias_initializer (name or Initializer, default "zeros"): the first values of the bias.
        kernel_regularizer (name, Regularizer or None, default None): a penalty on the kernel, added to the loss.
        bias_regularizer (name, Regularizer or None, default None): a penalty on the bias, added to the loss.
        activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
        kernel_constraint (name, Constraint or None, default None): applied to the kernel after each update.
        bias_constraint (name, Constraint or None, default None): applied to the bias after each update.
    """

    kernel_initializer: Initializer = "glorot_uniform"
    bias_initializer: Initializer = "zeros"
    kernel_regularizer: Regularizer = None
    bias_regularizer: Regularizer = None
    activity_regularizer: Regularizer = None
    kernel_constraint: Constraint = None
    bias_constraint: Constraint = None


class Dense(KernelLayer):
    """`activation(x @ kernel + bias)` over the last axis.

    Options:
        units (positive integer): the size of the last axis of the output.
        activation (name, function or None, default None): applied to the sum; None applies nothing.
        use_bias (bool, default True): whether a bias is added.

    Shapes:
        (batch, ..., features) -> (batch, ..., units)

    Example:
        >>> Dense(4, activation="relu")(torch.zeros(2, 3)).shape
        torch.Size([2, 4])

    Source: https://keras.io/api/layers/core_layers/dense/
    """

    units: Positive
    activation: ActivationOption = None
    use_bias: bool = True

    kernel = weight("linear.weight", keras="features units", torch="units features")
    bias = weight("linear.bias", keras="units", when="use_bias")

    supports_masking = True

    def _make_modules(self, input_shape: Any) -> None:
        self.linear = nn.Linear(self._known_size(input_shape, -1), self.units, bias=self.use_bias)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.activation(self.linear(inputs))

    class _Facts(Facts):
        min_input_ndim = 2
        product = "linear"

        def shape_from(self, input_shape: Shape) -> Shape:
            return (*input_shape[:-1], self.layer.units)

        def hook_free(self) -> Callable[..., torch.Tensor]:
            layer, inside = self.layer, self.layer._modules

            def run(inputs: torch.Tensor) -> torch.Tensor:
                linear: Any = inside["linear"]
                if type(linear) is not nn.Linear:  # another module has taken its place, or it is parametrized
                    return layer.forward(inputs)  # type: ignore[no-any-return]
                weights: Any = linear._parameters
                outputs = F.linear(inputs, weights["weight"], weights["bias"])
                activation = layer.activation
                # relu without its options is torch's: a call less in every step.
                return torch.relu(outputs) if activation is relu else activation(outputs)

            return run

        @property
        def ends_in(self) -> str | None:  # type: ignore[override]
            return WITH_LOGITS.get(self.layer.activation)

        def logits(self, inputs: torch.Tensor) -> torch.Tensor:
            return self.layer._modules["linear"](inputs)


class Activation(Layer):
    """`activation(x)`.

    Options:
        activation (name or function): the function, such as "relu"; a layer or module without weights will do.

    Shapes:
        any -> the same

    Example:
        >>> Activation("relu")(torch.tensor([[-1.0, 2.0]]))
        tensor([[0., 2.]])
    """

    activation: ActivationOption

    supports_masking = True

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.activation(inputs)

    class _Facts(Facts):
        @property
        def keeps_shape(self) -> bool:  # type: ignore[override]
            return is_pointwise(self.layer.activation)

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.ANY if is_pointwise(self.layer.activation) else Layout.KERAS

        def in_place(self) -> Callable[..., torch.Tensor] | None:
            return torch.relu_ if self.layer.activation is relu else None

        def before_relu(self) -> Callable[..., torch.Tensor] | None:
            return (lambda inputs: inputs) if self.layer.activation is relu else None

        @property
        def ends_in(self) -> str | None:  # type: ignore[override]
            return WITH_LOGITS.get(self.layer.activation)

        def logits(self, inputs: torch.Tensor) -> torch.Tensor:
            return inputs


class ActivityRegularization(Layer):
    """`x`; each call adds `l1 * sum(abs(x)) + l2 * sum(x ** 2)` to the loss.

    The sum is over the whole batch and is not divided by its size.

    Options:
        l1 (float, default 0.0): the factor of the absolute values.
        l2 (float, default 0.0): the factor of the squares.
        per_sample (bool, default False): divide by the number of samples in the batch, as tf.keras and Keras 3 do.

    Shapes:
        any -> the same

    Example:
        >>> ActivityRegularization(l1=0.1)(torch.ones(2, 3)).shape
        torch.Size([2, 3])
    """

    l1: float = 0.0
    l2: float = 0.0
    per_sample: bool = False

    supports_masking = True

    class _Facts(Facts):
        keeps_shape = True
        native_layout = Layout.ANY

    @property
    def activity_regularizer(self) -> L1L2 | PerSample:
        penalty = L1L2(self.l1, self.l2)
        return PerSample(penalty) if self.per_sample else penalty

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs


class Identity(Layer):
    """`x`, which may be one tensor or several, nested in any way.

    Shapes:
        any -> the same

    Example:
        >>> Identity()(torch.tensor([[1.0, 2.0]]))
        tensor([[1., 2.]])
    """

    supports_masking = True

    class _Facts(Facts):
        native_layout = Layout.ANY

    def forward(self, inputs: Any) -> Any:
        return inputs


class Masking(Layer):
    """`x`, with the time steps masked where all features are `mask_value`.

    Masked steps are set to zero. Layers after this one get the mask, which has the shape (batch, time, ...).

    Options:
        mask_value (float, default 0.0): the value that all features of a masked step have.

    Shapes:
        (batch, time, ..., features) -> the same

    Example:
        >>> Masking().compute_mask(torch.tensor([[[1.0, 2.0], [0.0, 0.0]]]))
        tensor([[ True, False]])
    """

    mask_value: float = 0.0

    supports_masking = True
    _makes_masks = True

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs * (inputs != self.mask_value).any(-1, keepdim=True)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """True at the time steps where a feature differs from `mask_value`."""
        return torch.ne(inputs, self.mask_value).any(-1)
