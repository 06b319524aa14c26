"""Activations of Keras 3: `keras.ops.gelu`, `keras.ops.softmax`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import activations
from torchkeras.base.torch_versions import softshrink
from torchkeras.tensor_functions.operations.values import as_torch, floats, rows


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where x > 0, else `alpha * (exp(x / alpha) - 1)`."""
    return F.celu(x, alpha)


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where x > 0, else `alpha * (exp(x) - 1)`."""
    return F.elu(x, alpha)


def gelu(x: Tensor, approximate: bool = True) -> Tensor:
    """`x * P(X <= x)`, X standard normal; `approximate`: whether the probability is approximated with a tanh."""
    return F.gelu(x, approximate="tanh" if approximate else "none")


def glu(x: Tensor, axis: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of its second half."""
    return F.glu(x, axis)


def hard_shrink(x: Tensor, threshold: float = 0.5) -> Tensor:
    """x where `abs(x) > threshold`, else 0."""
    return F.hardshrink(x, threshold)


def leaky_relu(x: Tensor, negative_slope: float = 0.2) -> Tensor:
    """x where x >= 0, else `negative_slope * x`."""
    return F.leaky_relu(x, negative_slope)


def soft_shrink(x: Tensor, threshold: float = 0.5) -> Tensor:
    """x moved towards 0 by `threshold`; 0 where `abs(x) <= threshold`."""
    return softshrink(x, threshold)


def squareplus(x: Tensor, b: float = 4) -> Tensor:
    """`(x + sqrt(x**2 + b)) / 2`; `b`: how smooth the bend at 0 is."""
    return activations.squareplus(x, b)


def threshold(x: Tensor, threshold: float, default_value: float) -> Tensor:
    """x where `x > threshold`, else `default_value`."""
    return F.threshold(x, threshold, default_value)


@as_torch(torch.softmax, when="type(axis) is int and x.shape[axis] != 1")
def softmax(x: Tensor, axis: int | Sequence[int] | None = -1) -> Tensor:
    """`exp(x) / sum(exp(x))`, the sum over an axis, over several, or over all for None.

    Warns of an axis of length 1, along which all values become 1.
    """
    if isinstance(axis, int) and -x.dim() <= axis < x.dim() and x.shape[axis] == 1:
        warnings.warn(
            f"softmax along axis {axis} of the shape {tuple(x.shape)}: the axis has the length 1, so that all values "
            "become 1. A sigmoid is probably meant.",
            stacklevel=2,
        )
    return _along(torch.softmax, x, axis)


@as_torch(torch.log_softmax, when="type(axis) is int and -x.dim() <= axis < x.dim()")
def log_softmax(x: Tensor, axis: int | Sequence[int] | None = -1) -> Tensor:
    """`x - log(sum(exp(x)))`, the sum over an axis, over several, or over all for None."""
    return _along(torch.log_softmax, x, axis)


def _along(function: Callable[..., Tensor], x: Tensor, axis: int | Sequence[int] | None) -> Tensor:
    """A function along one axis; several are made one, the last."""
    if isinstance(axis, int):
        rank = max(x.dim(), 1)
        if not -rank <= axis < rank:  # which torch does not check on `meta`
            raise IndexError(f"axis {axis} is out of range for a tensor of {x.dim()} axes.")
        return function(x, axis)
    axes = list(range(x.dim())) if axis is None else [range(x.dim())[one] for one in axis]
    rest = [one for one in range(x.dim()) if one not in axes]
    moved = x.permute([*rest, *axes])
    found = function(moved.flatten(len(rest)), -1).reshape(moved.shape)
    return found.permute([[*rest, *axes].index(one) for one in range(x.dim())])


def sparsemax(x: Tensor, axis: int = -1) -> Tensor:
    """`max(x - t, 0)`, where t is such that the sum along the axis is 1."""
    return activations.sparsemax(floats(x), axis)


OPERATIONS = rows(
    unary={
        "hard_sigmoid": F.hardsigmoid,
        "hard_silu": F.hardswish,
        "hard_swish": F.hardswish,
        "hard_tanh": F.hardtanh,
        "log_sigmoid": F.logsigmoid,
        "relu": torch.relu,
        "relu6": F.relu6,
        "selu": torch.selu,
        "sigmoid": torch.sigmoid,
        "silu": F.silu,
        "softplus": F.softplus,
        "softsign": F.softsign,
        "swish": F.silu,
        "tanh_shrink": F.tanhshrink,
    },
    of_floats={"sparse_plus": activations.sparse_plus, "sparse_sigmoid": activations.sparse_sigmoid},
    functions={
        "celu": celu,
        "elu": elu,
        "gelu": gelu,
        "glu": glu,
        "hard_shrink": hard_shrink,
        "leaky_relu": leaky_relu,
        "log_softmax": log_softmax,
        "soft_shrink": soft_shrink,
        "softmax": softmax,
        "sparsemax": sparsemax,
        "squareplus": squareplus,
        "threshold": threshold,
    },
)
