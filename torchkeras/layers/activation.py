"""Activations with options or weights, as layers."""

from collections.abc import Callable
from typing import Annotated, Any

import torch
import torch.nn.functional as F
from torch import nn

from torchkeras import activations
from torchkeras.base.rules import INTEGERS, UP_TO_INFINITY, Rule, integers, is_integer, optional
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import (
    NEWER,
    Constraint,
    Initializer,
    NotNegative,
    Regularizer,
)
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.weights.weight import weight
from torchkeras.initializers import Constant

SharedAxes = Annotated[Any, optional(integers("must hold axes of at least 1", lambda v: all(axis > 0 for axis in v)))]


class Pointwise(Layer, abstract=True):
    """A function of each value by itself, so the order of axes does not matter. Masks pass."""

    supports_masking = True

    class _Facts(Facts):
        keeps_shape = True
        native_layout = Layout.ANY


class ReLU(Pointwise):
    """`x` above `threshold`, clipped at `max_value`; else `negative_slope * (x - threshold)`.

    Options:
        max_value (float of at least 0 or None, default None): the largest output; None sets no limit.
        negative_slope (float of at least 0, default 0.0): the slope below the threshold.
        threshold (float, default 0.0): values above it pass.

    Shapes:
        any -> the same

    Example:
        >>> ReLU(max_value=6)(torch.tensor([[-1.0, 2.0, 8.0]]))
        tensor([[0., 2., 6.]])
    """

    max_value: Annotated[Any, optional(UP_TO_INFINITY)] = None
    negative_slope: NotNegative = 0.0
    threshold: float = 0.0

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)

    class _Facts(Facts):
        def in_place(self) -> Callable[..., torch.Tensor] | None:
            return torch.relu_ if self.layer._is_plain else None

        def before_relu(self) -> Callable[..., torch.Tensor] | None:
            return (lambda inputs: inputs) if self.layer._is_plain else None

    @property
    def _is_plain(self) -> bool:
        return self.max_value is None and not (self.negative_slope or self.threshold)


class LeakyReLU(Pointwise):
    """`x` where x >= 0, else `alpha * x`.

    Options:
        alpha (float, default 0.3): the slope below 0.

    Shapes:
        any -> the same

    Example:
        >>> LeakyReLU(0.5)(torch.tensor([[-4.0, 2.0]]))
        tensor([[-2.,  2.]])

    Source: https://ai.stanford.edu/~amaas/papers/relu_hybrid_icml2013_final.pdf
    """

    alpha: float = 0.3

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return F.leaky_relu(inputs, self.alpha)


class ELU(Pointwise):
    """`x` where x > 0, else `alpha * (exp(x) - 1)`.

    Options:
        alpha (float, default 1.0): the factor below 0.

    Shapes:
        any -> the same

    Example:
        >>> ELU()(torch.tensor([[-1.0, 2.0]]))
        tensor([[-0.6321,  2.0000]])

    Source: https://arxiv.org/abs/1511.07289
    """

    alpha: float = 1.0

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return F.elu(inputs, self.alpha)


class ThresholdedReLU(Pointwise):
    """`x` where x > `theta`, else 0.

    Options:
        theta (float, default 1.0): the threshold.

    Shapes:
        any -> the same

    Example:
        >>> ThresholdedReLU()(torch.tensor([[0.5, 2.0]]))
        tensor([[0., 2.]])

    Source: https://arxiv.org/abs/1402.3337
    """

    theta: float = 1.0

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return F.threshold(inputs, self.theta, 0.0)


def _read_axes(value: Any) -> Any:
    found = list(value) if isinstance(value, (list, tuple)) else [value]
    if not found or not all(map(is_integer, found)):
        raise ValueError(f"must be an integer{' or a list of them' * isinstance(value, list)}; found {value!r}.")
    return found[0] if len(found) == 1 else found


class Softmax(Layer):
    """`exp(x) / sum(exp(x))` along an axis.

    Options:
        axis (integer or list of integers, default -1): the axis, or the axes together, to sum over. The batch axis is
            0.

    Shapes:
        any of at least two axes -> the same

    Errors:
        ValueError: at the first call, when the input has no such axis.

    Example:
        >>> Softmax()(torch.zeros(1, 2))
        tensor([[0.5000, 0.5000]])
    """

    axis: Annotated[Any, Rule(_read_axes, takes=INTEGERS)] = -1

    supports_masking = True

    class _Facts(Facts):
        min_input_ndim = 2
        keeps_shape = True
        computes_only = "softmax"

        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.KERAS if isinstance(self.layer.axis, list) else Layout.AXIS

    def _make_modules(self, input_shape: Any) -> None:
        axes = self.axis if isinstance(self.axis, list) else [self.axis]
        if not all(-len(input_shape) <= axis < len(input_shape) for axis in axes):
            raise ValueError(f"axis {self.axis} is not an axis of the input {tuple(input_shape)}.")

    def forward(self, inputs: torch.Tensor, axis: int | None = None) -> torch.Tensor:
        if isinstance(self.axis, list):
            return torch.exp(inputs - inputs.logsumexp(self.axis, keepdim=True))
        return activations.softmax(inputs, self.axis if axis is None else axis)


class Parametric(Layer, abstract=True):
    """A function of each value by itself, with weights for each place of a sample.

    Options:
        shared_axes (integer, tuple of integers or None, default None): the axes along which the weights are shared;
            axis 1 is the first after the batch axis. For images with the channels last, (1, 2) leaves one weight a
            channel.
    """

    shared_axes: SharedAxes = None

    supports_masking = True

    class _Facts(Facts):
        min_input_ndim = 2
        keeps_shape = True

    def _find_weight_shape(self, input_shape: Any) -> tuple[int, ...]:
        """The shape of each weight: a sample's, with 1 along `shared_axes`."""
        self._expected_ndim = ndim = len(input_shape)
        axes = self.shared_axes or ()
        if max(axes, default=0) >= ndim:
            raise ValueError(f"shared_axes {axes}: the input {tuple(input_shape)} has no axis {max(axes)}.")
        return tuple(1 if axis in axes else self._known_size(input_shape, axis) for axis in range(1, ndim))


class PlacewisePReLU(nn.PReLU):
    """torch's PReLU with a weight of any shape that broadcasts to the input's."""

    def __init__(self, shape: tuple[int, ...]):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(shape))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return torch.where(inputs > 0, inputs, self.weight * inputs)


def _with_shared_axes(layer: "PReLU", slopes: torch.Tensor) -> torch.Tensor:
    return slopes.view(layer._weight_shape)


class PReLU(Parametric):
    """`x` where x > 0, else `alpha * x`, with a learned alpha for each place of a sample.

    Options:
        alpha_initializer (name or Initializer, default "zeros"): the first values of alpha.
        alpha_regularizer (name, Regularizer or None, default None): a penalty on alpha, added to the loss.
        alpha_constraint (name, Constraint or None, default None): applied to alpha after each update.

    Shapes:
        any of at least two axes, whose sizes are known where they are not shared -> the same

    Example:
        >>> PReLU("ones", shared_axes=[1])(torch.tensor([[-2.0, 3.0]])).tolist()
        [[-2.0, 3.0]]

    Source: https://arxiv.org/abs/1502.01852
    """

    alpha_initializer: Initializer = "zeros"
    alpha_regularizer: Regularizer = None
    alpha_constraint: Constraint = None

    alpha = weight("prelu.weight", pieces=_with_shared_axes)

    _channels_last: bool = False

    class _Facts(Facts):
        @property
        def native_layout(self) -> Layout:  # type: ignore[override]
            return Layout.CHANNELS_FIRST if self.layer._channels_last else Layout.KERAS

    def _make_modules(self, input_shape: Any) -> None:
        shape = self._weight_shape = self._find_weight_shape(input_shape)
        own = [axis for axis in range(1, len(input_shape)) if axis not in (self.shared_axes or ())]
        self._channels_last = own == [len(shape)]
        self.prelu = nn.PReLU(max(shape)) if own in ([], [1], [len(shape)]) else PlacewisePReLU(shape)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.prelu(inputs)


class Initialized(Parametric, abstract=True):
    """A layer of Keras 1, with an option `<weight>_init` for each weight: a number or an initializer."""

    def _initializer_of(self, option: str) -> Any:
        found = getattr(self, f"{option}_init")
        return Constant(found) if isinstance(found, float) else found

    def _make_modules(self, input_shape: Any) -> None:
        shape = self._find_weight_shape(input_shape)
        for declared in self._weights.values():
            setattr(self, declared.paths[0], nn.Parameter(torch.empty(shape)))


class ParametricSoftplus(Initialized):
    """`alphas * log(1 + exp(betas * x))`, with learned alphas and betas for each place of a sample.

    A layer of Keras 1.

    Options:
        alpha_init (float, default 0.2): the first value of all alphas.
        beta_init (float, default 5.0): the first value of all betas.

    Shapes:
        any of at least two axes, whose sizes are known where they are not shared -> the same

    Example:
        >>> ParametricSoftplus()(torch.zeros(1, 2))
        tensor([[0.1386, 0.1386]], grad_fn=<MulBackward0>)

    Source: https://doi.org/10.1371/journal.pcbi.1003143
    """

    alpha_init: float = 0.2
    beta_init: float = 5.0

    alphas = weight("outer", option="alpha")
    betas = weight("inner", option="beta")

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.outer * F.softplus(self.inner * inputs)


class SReLU(Initialized):
    """`x` from `t_left` to `t`, `t_left + a_left * (x - t_left)` below, and `t + a_right * (x - t)` above.

    `t` is `t_left + abs(t_right)`. The four weights are learned for each place of a sample. A layer of Keras 1.

    Options:
        t_left_init (name or Initializer, default "zeros"): the first values of `t_left`.
        a_left_init (name or Initializer, default "glorot_uniform"): the first values of `a_left`.
        t_right_init (name or Initializer, default "glorot_uniform"): the first values of `t_right`.
        a_right_init (name or Initializer, default "ones"): the first values of `a_right`.
        capped (bool, default False): whether outputs for x below `t_left` are at most `t`, as on Theano; it matters
            where `a_left` is negative.

    Shapes:
        any of at least two axes, whose sizes are known where they are not shared -> the same

    Example:
        >>> SReLU(t_right_init="ones", a_left_init="zeros")(torch.tensor([[-2.0, 0.5, 3.0]])).tolist()
        [[0.0, 0.5, 3.0]]

    Source: https://arxiv.org/abs/1512.07030
    """

    t_left_init: Initializer = "zeros"
    a_left_init: Initializer = "glorot_uniform"
    t_right_init: Initializer = "glorot_uniform"
    a_right_init: Initializer = "ones"
    capped: Annotated[bool, NEWER] = False

    t_left = weight("left")
    a_left = weight("left_slope")
    t_right = weight("right")
    a_right = weight("right_slope")

    def _follow_theano(self) -> None:
        """Cap what comes from below `t_left` at `t`, as Theano did: for weights that Theano made."""
        self.capped = True

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        left, right = self.left, self.left + self.right.abs()
        bent = inputs.clamp(left, right) - self.left_slope * torch.relu(left - inputs)
        if self.capped:
            bent = torch.minimum(bent, right)
        return bent + self.right_slope * torch.relu(inputs - right)
