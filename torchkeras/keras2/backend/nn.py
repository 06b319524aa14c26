"""Activations, crossentropies, and what else networks are made of, as functions of tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from torchkeras import activations, losses
from torchkeras.base import rules
from torchkeras.keras2.backend.nodes import node, pointwise, sizes, tensor, whole
from torchkeras.keras2.backend.random_numbers import generator
from torchkeras.losses.crossentropy import elementwise_binary
from torchkeras.tensor_functions.by_name import FUNCTIONS


@pointwise
def relu(x: Any, alpha: Any = 0.0, max_value: Any = None, threshold: float = 0.0) -> Tensor:
    """max(x, 0); with options x above `threshold`, at most `max_value`, else alpha * (x - threshold).

    >>> relu(torch.tensor([-1.0, 9.0]), max_value=6.0)
    tensor([0., 6.])
    """
    if isinstance(alpha, Tensor) or isinstance(max_value, Tensor):
        x = tensor(x)
        kept = torch.where(x > threshold, x, torch.zeros_like(x))
        kept = kept if max_value is None else torch.minimum(kept, tensor(max_value, x)).clamp(min=0)
        return kept - alpha * torch.relu(threshold - x)
    return activations.relu(tensor(x), alpha, max_value, threshold)


@pointwise
def elu(x: Any, alpha: float = 1.0) -> Tensor:
    """x where x > 0, else alpha * (exp(x) - 1).

    >>> elu(torch.tensor([-1.0, 1.0]))
    tensor([-0.6321,  1.0000])
    """
    return activations.elu(tensor(x), alpha)


@node
def softmax(x: Any, axis: int = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along `axis`.

    >>> softmax(torch.zeros(1, 2))
    tensor([[0.5000, 0.5000]])
    """
    x = tensor(x)
    return activations.softmax(x, axis) if x.dim() > 1 else torch.softmax(x, axis)


@pointwise
def softplus(x: Any) -> Tensor:
    """log(1 + exp(x)).

    >>> softplus(torch.tensor([1.0]))
    tensor([1.3133])
    """
    return activations.softplus(tensor(x))


@pointwise
def softsign(x: Any) -> Tensor:
    """x / (1 + abs(x)).

    >>> softsign(torch.tensor([1.0]))
    tensor([0.5000])
    """
    return activations.softsign(tensor(x))


@pointwise
def tanh(x: Any) -> Tensor:
    """tanh(x).

    >>> tanh(torch.tensor([1.0]))
    tensor([0.7616])
    """
    return activations.tanh(tensor(x))


@pointwise
def sigmoid(x: Any) -> Tensor:
    """1 / (1 + exp(-x)).

    >>> sigmoid(torch.tensor([1.0]))
    tensor([0.7311])
    """
    return activations.sigmoid(tensor(x))


@pointwise
def hard_sigmoid(x: Any) -> Tensor:
    """clip(0.2 * x + 0.5, 0, 1).

    >>> hard_sigmoid(torch.tensor([1.0]))
    tensor([0.7000])
    """
    return activations.hard_sigmoid(tensor(x))


# --- losses ----------------------------------------------------------------------------------------------------------


@node
def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Tensor:
    """-sum(target * log(p)) along `axis`, p the clipped output / sum(output). Keras 1 had `output` first.

    Shapes:
        (batch, ..., classes) twice -> (batch, ...)

    >>> categorical_crossentropy(torch.tensor([[0.0, 1.0]]), torch.tensor([[0.5, 0.5]]))
    tensor([0.6931])
    """
    output = tensor(output)
    return losses.categorical_crossentropy(tensor(target, output), output, from_logits, axis=axis)


@node
def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Tensor:
    """-log(p[target]) of class numbers, p the clipped output / sum(output). Keras 1 had `output` first.

    Shapes:
        (batch, ...), (batch, ..., classes) -> (batch, ...)

    >>> sparse_categorical_crossentropy(torch.tensor([1]), torch.tensor([[0.5, 0.5]]))
    tensor([0.6931])
    """
    output = tensor(output)
    return losses.sparse_categorical_crossentropy(tensor(target, output), output, from_logits, axis=axis)


@node
def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Tensor:
    """-target * log(output) - (1 - target) * log(1 - output) of each number, `output` clipped. Keras 1 had it first.

    >>> binary_crossentropy(torch.tensor([1.0]), torch.tensor([0.5]))
    tensor([0.6931])
    """
    output = tensor(output)
    return elementwise_binary(tensor(target, output), output, from_logits, 0.0, clipped=not from_logits)


# --- others ----------------------------------------------------------------------------------------------------------


@node
def dropout(x: Any, level: float, noise_shape: Any = None, seed: Any = None) -> Tensor:
    """`x` with a share `level` of its numbers set to 0, and the others divided by 1 - level, in every mode.

    `noise_shape`: the shape of the choice, 1 or None where an axis shares it. Use `K.in_train_phase` around it.

    >>> dropout(torch.ones(2), 0.0)
    tensor([1., 1.])
    """
    x = tensor(x)
    level = rules.read("keras.backend.dropout", "level", rules.BELOW_1, level)
    shape = x.shape if noise_shape is None else _noise_sizes(noise_shape, x)
    own = None if x.is_meta else generator(seed, x.device)
    kept = torch.rand(shape, generator=own, device=x.device) >= level
    return x * kept.to(x.dtype) / (1.0 - level)


def _noise_sizes(noise_shape: Any, x: Tensor) -> tuple[int, ...]:
    """A shape of noise, None in it being the size that `x` has."""
    if isinstance(noise_shape, Tensor):
        return sizes(noise_shape)
    return tuple(x.shape[axis] if size is None else int(size) for axis, size in enumerate(noise_shape))


@node
def l2_normalize(x: Any, axis: Any = None) -> Tensor:
    """x / sqrt(max(sum(x ** 2), 1e-12)), the sum along `axis`, or over all axes.

    >>> l2_normalize(torch.tensor([3.0, 4.0]), 0)
    tensor([0.6000, 0.8000])
    """
    return FUNCTIONS["unit"](tensor(x), axis)


@node
def in_top_k(predictions: Any, targets: Any, k: Any) -> Tensor:
    """Whether fewer than `k` classes have a larger prediction than the target, which must be finite and a class.

    Shapes:
        (batch, classes), (batch,) -> (batch,)

    >>> in_top_k(torch.tensor([[0.1, 0.7, 0.2]]), torch.tensor([2]), 2)
    tensor([True])
    """
    predictions, targets = tensor(predictions), tensor(targets).long()
    known = (targets >= 0) & (targets < predictions.shape[1])
    own = predictions.gather(1, targets.clamp(0, predictions.shape[1] - 1).unsqueeze(1))
    larger = (predictions > own).sum(1)
    return known & own.squeeze(1).isfinite() & (larger < whole(k))
