"""`tf.nn.*`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras import activations
from torchkeras.keras2.lambdas.keras_functions import FUNCTIONS as KERAS, Function
from torchkeras.keras2.lambdas.signatures import named
from torchkeras.tensor_functions.by_name import FUNCTIONS as GRAPH


def _images(function: str, mode: str | None = None) -> Function:
    """A pooling or convolution of the backend, with TensorFlow's sizes of four axes."""

    def compute(x: Tensor, window: Any, strides: Any, padding: str, data_format: Any, dilations: Any = None) -> Tensor:
        if data_format not in ("NHWC", None):
            raise ValueError(f"data_format {data_format!r}")
        options = {"pool_mode": mode} if mode else {"dilation_rate": _inner(dilations) if dilations else (1, 1)}
        window = _inner(window) if mode else window
        return KERAS[function](x, window, _inner(strides), padding.lower(), "channels_last", **options)

    return compute


def _inner(sizes: Sequence[int]) -> tuple[int, int]:
    """Two sizes for rows and columns, from one number, two, or four of which the outer ones are 1."""
    if isinstance(sizes, int):
        return sizes, sizes
    if len(sizes) == 4 and (sizes[0], sizes[3]) != (1, 1):
        raise ValueError(f"windows over samples or channels, {list(sizes)}")
    return tuple(sizes[1:3] if len(sizes) == 4 else sizes)  # type: ignore[return-value]


def _moments(x: Tensor, axes: Any, shift: Any, keepdims: bool) -> tuple[Tensor, Tensor]:
    return GRAPH["mean"](x, axes, keepdims), GRAPH["var"](x, axes, keepdims)


def _normalized(x: Tensor, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float) -> Tensor:
    factor = (variance + variance_epsilon) ** -0.5 * (1 if scale is None else scale)
    return x * factor + ((0 if offset is None else offset) - mean * factor)


def _across_channels(x: Tensor, depth_radius: int, bias: float, alpha: float, beta: float) -> Tensor:
    """x / (bias + alpha * (sum of squares of the nearest channels)) ** beta"""
    squares = F.pad(x.square(), (depth_radius, depth_radius))
    return x / (bias + alpha * squares.unfold(-1, 2 * depth_radius + 1, 1).sum(-1)) ** beta


def _largest(x: Tensor, k: int, in_order: bool) -> tuple[Tensor, Tensor]:
    """The largest values along the last axis and their places; of equal ones the first comes first."""
    values, places = torch.sort(x, stable=True, dim=-1, descending=True)
    return values[..., :k], places[..., :k].int()


def _dropout(x: Tensor, keep_prob: float | None, noise_shape: Any, seed: Any, rate: float | None) -> Tensor:
    if (keep_prob is None) == (rate is None):
        raise ValueError("keep_prob, or else rate")
    return KERAS["dropout"](x, 1 - keep_prob if keep_prob is not None else rate, noise_shape, seed)


def _crossentropy(_: None, labels: Tensor, logits: Tensor, axis: int) -> Tensor:
    return -(labels * F.log_softmax(logits, axis)).sum(axis)


def _sparse_crossentropy(_: None, labels: Tensor, logits: Tensor) -> Tensor:
    return -F.log_softmax(logits, -1).gather(-1, labels.long().unsqueeze(-1)).squeeze(-1)


def _binary_crossentropy(_: None, labels: Tensor, logits: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, labels.to(logits.dtype), reduction="none")


_LABELS = "_sentinel=None labels=None logits=None"
_RESPONSE = named(_across_channels, "input depth_radius=5 bias=1.0 alpha=1.0 beta=0.5")
NN: Mapping[str, Function] = {
    **{name: named(getattr(F, name), "features") for name in ("relu", "relu6", "elu", "softsign", "softplus")},
    **{name: named(getattr(torch, name), "x") for name in ("sigmoid", "tanh")},
    **{
        f"{name}_pool": named(_images("pool2d", name), "value ksize strides padding data_format='NHWC'")
        for name in ("avg", "max")
    },
    "batch_normalization": named(_normalized, "x mean variance offset scale variance_epsilon"),
    "bias_add": named(lambda value, bias, data_format: KERAS["bias_add"](value, bias), "value bias data_format=None"),
    "conv2d": named(
        lambda x, kernel, strides, padding, _, data_format, dilations: _images("conv2d")(
            x, kernel, strides, padding, data_format, dilations
        ),
        "input filter strides padding use_cudnn_on_gpu=True data_format='NHWC' dilations=None",
    ),
    "crelu": named(lambda x, axis: torch.cat([x.relu(), (-x).relu()], axis), "features axis=-1"),
    "depthwise_conv2d": named(
        lambda x, kernel, strides, padding, rate, data_format: _images("depthwise_conv2d")(
            x, kernel, strides, padding, data_format, rate
        ),
        "input filter strides padding rate=None data_format=None",
    ),
    "dropout": named(_dropout, "x keep_prob=None noise_shape=None seed=None rate=None"),
    "embedding_lookup": named(lambda params, ids: KERAS["gather"](params, ids), "params ids"),
    "l2_loss": named(lambda t: t.square().sum() / 2, "t"),
    "l2_normalize": named(GRAPH["unit"], "x axis=None epsilon=1e-12"),
    "leaky_relu": named(F.leaky_relu, "features alpha=0.2"),
    "local_response_normalization": _RESPONSE,
    "log_softmax": named(lambda x, axis: F.log_softmax(x, -1 if axis is None else axis), "logits axis=None"),
    "lrn": _RESPONSE,
    "moments": named(_moments, "x axes shift=None keepdims=False"),
    "selu": named(activations.selu, "features"),
    "sigmoid_cross_entropy_with_logits": named(_binary_crossentropy, _LABELS),
    "softmax": named(lambda x, axis: KERAS["softmax"](x, -1 if axis is None else axis), "logits axis=None"),
    "softmax_cross_entropy_with_logits": named(_crossentropy, f"{_LABELS} axis=-1"),
    "softmax_cross_entropy_with_logits_v2": named(lambda *given: _crossentropy(None, *given), "labels logits axis=-1"),
    "sparse_softmax_cross_entropy_with_logits": named(_sparse_crossentropy, _LABELS),
    "swish": named(lambda x: x * x.sigmoid(), "features"),
    "top_k": named(_largest, "input k=1 sorted=True"),
}
