"""`tf.nn`: losses of logits, normalizations, convolutions, beside those of `lambdas.tensorflow_functions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch.nn.functional as F
from torch import Tensor

from torchkeras.keras2 import backend as K
from torchkeras.keras2.backend.nodes import tensor
from torchkeras.keras2.lambdas.keras_functions import Function
from torchkeras.keras2.lambdas.signatures import named

FORMATS = {"NHWC": "channels_last", "NCHW": "channels_first", "NWC": "channels_last"}


def weighted_cross_entropy(targets: Any, logits: Any, pos_weight: Any) -> Tensor:
    """The binary crossentropy of each number, with a weight for what is there."""
    logits, targets = tensor(logits), tensor(targets)
    weight = 1 + (tensor(pos_weight) - 1) * targets
    return (1 - targets) * logits + weight * (F.softplus(-logits.abs()) + F.relu(-logits))


def dropout(x: Any, keep_prob: Any, noise_shape: Any, seed: Any, rate: Any) -> Tensor:
    """Some numbers set to 0, the others divided by the share that is kept."""
    return K.dropout(x, (1 - keep_prob) if rate is None else rate, noise_shape, seed)


def _inner(sizes: Any, data_format: str) -> tuple[int, ...]:
    """The sizes of the spatial axes, of one for each of the four axes."""
    if isinstance(sizes, int):
        return (sizes, sizes)
    if len(sizes) < 4:
        return tuple(sizes) * (2 if len(sizes) == 1 else 1)
    return tuple(sizes[1:3] if data_format == "NHWC" else sizes[2:])


def conv2d(x: Any, kernel: Any, strides: Any, padding: str, use: Any, data_format: str, dilations: Any) -> Tensor:
    """A convolution."""
    steps, rates = (_inner(each, data_format) for each in (strides, dilations))
    return K.conv2d(x, kernel, steps, padding.lower(), FORMATS[data_format], rates)


def depthwise_conv2d(x: Any, kernel: Any, strides: Any, padding: str, rate: Any, data_format: str | None) -> Tensor:
    """A convolution of each channel by itself."""
    steps = _inner(strides, data_format or "NHWC")
    rates = (1, 1) if rate is None else tuple(rate)
    return K.depthwise_conv2d(x, kernel, steps, padding.lower(), FORMATS[data_format or "NHWC"], rates)


def conv2d_transpose(x: Any, kernel: Any, output_shape: Any, strides: Any, padding: str, data_format: str) -> Tensor:
    """A transposed convolution."""
    return K.conv2d_transpose(
        x, kernel, output_shape, _inner(strides, data_format), padding.lower(), FORMATS[data_format]
    )


def _pool(mode: str) -> Function:
    def pool(x: Any, ksize: Any, strides: Any, padding: str, data_format: str) -> Tensor:
        windows, steps = (_inner(each, data_format) for each in (ksize, strides))
        return K.pool2d(x, windows, steps, padding.lower(), FORMATS[data_format], mode)

    return named(pool, "value ksize strides padding data_format='NHWC'")


NODES: Mapping[str, Function] = {
    "weighted_cross_entropy_with_logits": named(weighted_cross_entropy, "targets logits pos_weight"),
    "in_top_k": named(lambda predictions, targets, k: K.in_top_k(predictions, targets, k), "predictions targets k"),
}
PLAIN: Mapping[str, Function] = {
    "dropout": named(dropout, "x keep_prob=None noise_shape=None seed=None rate=None"),
    "conv2d": named(
        conv2d, "input filter strides padding use_cudnn_on_gpu=True data_format='NHWC' dilations=(1,1,1,1)"
    ),
    "depthwise_conv2d": named(depthwise_conv2d, "input filter strides padding rate=None data_format=None"),
    "conv2d_transpose": named(conv2d_transpose, "value filter output_shape strides padding='SAME' data_format='NHWC'"),
    "max_pool": _pool("max"),
    "avg_pool": _pool("avg"),
}
