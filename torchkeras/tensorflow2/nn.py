"""`tf.nn`: activations, losses of logits, convolutions and normalization."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.tf.nn import FORMATS, weighted_cross_entropy
from torchkeras.keras3 import activations, ops, random
from torchkeras.tensorflow2 import functions
from torchkeras.tensorflow2.signatures import Function, taking
from torchkeras.tensorflow2.tensors import as_value, sizes_in

# Keras's own functions, so that a layer with one of them is saved by its name.
ACTIVATIONS = """
elu gelu log_softmax relu relu6 selu sigmoid silu softmax softplus softsign swish tanh
"""


def leaky_relu(features: Any, alpha: float = 0.2, name: Any = None) -> Any:
    """features where they are above 0, else alpha * features"""
    return activations.leaky_relu(as_value(features), alpha)


def _format(data_format: str | None) -> str:
    """Keras's word for an order of axes. Raises ValueError for another one."""
    if data_format is None or (data_format.startswith("N") and data_format.endswith("C")):
        return "channels_last"
    if data_format.startswith("NC"):
        return "channels_first"
    raise ValueError(f"tf.nn: data_format must be one of {', '.join(FORMATS)}; found {data_format!r}.")


def _inner(sizes: Any, rank: int, order: str) -> Any:
    """The sizes of the spatial axes, from one number, or one for each of these or of all axes."""
    if sizes is None:
        return 1
    found = sizes_in(sizes)
    if len(found) == rank + 2:
        found = found[1:-1] if order == "channels_last" else found[2:]
    return found[0] if len(found) == 1 else found


def _for_each_axis(sizes: Any, rank: int) -> tuple[int, ...]:
    return sizes if isinstance(sizes, tuple) else (sizes,) * rank


def _conv(rank: int) -> Function:
    def conv(x: Any, filters: Any, strides: Any, padding: Any, data_format: Any, dilations: Any) -> Any:
        order = _format(data_format)
        values = as_value(x)
        if not isinstance(padding, str):
            values, padding = functions.pad(values, padding), "VALID"
        steps, rates = _inner(strides, rank, order), _inner(dilations, rank, order)
        return ops.conv(values, as_value(filters), steps, padding.lower(), order, rates)

    conv.__doc__ = f"A convolution over {rank} axes."
    if rank == 1:
        return taking("input filters stride padding data_format=None dilations=None", conv)
    return taking("input filters strides padding data_format=None dilations=None", conv)


def _conv_transpose(rank: int) -> Function:
    def conv(
        x: Any, filters: Any, output_shape: Any, strides: Any, padding: str, data_format: Any, dilations: Any
    ) -> Any:
        order = _format(data_format)
        values, kernel = as_value(x), as_value(filters)
        steps: Any = _inner(strides, rank, order)
        rates: Any = _inner(dilations, rank, order)
        wanted = sizes_in(output_shape)
        spatial = wanted[1:-1] if order == "channels_last" else wanted[2:]
        found = values.shape[1:-1] if order == "channels_last" else values.shape[2:]
        each = _for_each_axis(steps, rank)
        extra = None
        if padding.upper() == "VALID":
            least = [(n - 1) * s + k for n, s, k in zip(found, each, kernel.shape[:rank], strict=True)]
            extra = tuple(size - smallest for size, smallest in zip(spatial, least, strict=True))
        elif any(size != n * s for size, n, s in zip(spatial, found, each, strict=True)):
            extra = tuple(
                size - ((n - 1) * s + k - 2 * (k // 2))
                for size, n, s, k in zip(spatial, found, each, kernel.shape[:rank], strict=True)
            )
        return ops.conv_transpose(values, kernel, steps, padding.lower(), extra, order, rates)

    conv.__doc__ = f"A transposed convolution over {rank} axes."
    return taking("input filters output_shape strides padding=SAME data_format=None dilations=None", conv)


def depthwise_conv2d(
    x: Any, filter: Any, strides: Any, padding: str, data_format: Any = None, dilations: Any = None
) -> Any:
    """A convolution of each channel by itself."""
    order = _format(data_format)
    steps, rates = _inner(strides, 2, order), _inner(dilations, 2, order)
    return ops.depthwise_conv(as_value(x), as_value(filter), steps, padding.lower(), order, rates)


def separable_conv2d(
    x: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: str,
    data_format: Any = None,
    dilations: Any = None,
) -> Any:
    """A convolution of each channel by itself, then one of 1 by 1."""
    found = depthwise_conv2d(x, depthwise_filter, strides, padding, data_format, dilations)
    return ops.conv(found, as_value(pointwise_filter), 1, "valid", _format(data_format))


def _pool(name: str, rank: int | None = None) -> Function:
    function = getattr(ops, name)

    def pool(x: Any, ksize: Any, strides: Any, padding: str, data_format: Any) -> Any:
        values, order = as_value(x), _format(data_format)
        axes = len(values.shape) - 2 if rank is None else rank
        windows, steps = _inner(ksize, axes, order), _inner(strides, axes, order)
        return function(values, windows, steps, padding.lower(), order)

    pool.__doc__ = "The largest or the mean number of each window."
    return taking("input ksize strides padding data_format=None", pool)


def bias_add(value: Any, bias: Any, data_format: Any = None) -> Any:
    """value + bias, along the channels"""
    values, added = as_value(value), as_value(bias)
    if data_format is not None and _format(data_format) == "channels_first":
        added = ops.reshape(added, (-1, *(1,) * (len(values.shape) - 2)))
    return values + added


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float) -> Any:
    """(x - mean) / sqrt(variance + variance_epsilon) * scale + offset"""
    factor = ops.rsqrt(as_value(variance) + variance_epsilon)
    factor = factor if scale is None else factor * as_value(scale)
    shift = -as_value(mean) * factor
    return as_value(x) * factor + (shift if offset is None else shift + as_value(offset))


def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False) -> functions.Moments:
    """The mean and the variance along axes."""
    values, axes = as_value(x), tuple(axes) if isinstance(axes, (list, tuple)) else axes
    return functions.Moments(ops.mean(values, axes, keepdims), ops.var(values, axes, keepdims))


def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None) -> Any:
    """Some numbers set to 0, at random, the others divided by the share that is kept."""
    return random.dropout(as_value(x), float(rate), noise_shape, seed)


def softmax_cross_entropy(labels: Any, logits: Any, axis: int = -1) -> Any:
    """-sum(labels * log(softmax(logits)))"""
    values = as_value(logits)
    return -ops.sum(ops.cast(as_value(labels), values.dtype) * ops.log_softmax(values, axis), axis)


def sparse_softmax_cross_entropy(labels: Any, logits: Any) -> Any:
    """-log(softmax(logits)) at the class that a label says"""
    return ops.sparse_categorical_crossentropy(as_value(labels), as_value(logits), from_logits=True)


def sigmoid_cross_entropy(labels: Any, logits: Any) -> Any:
    """max(x, 0) - x * labels + log(1 + exp(-abs(x))), of logits x"""
    x = as_value(logits)
    return ops.relu(x) - x * ops.cast(as_value(labels), x.dtype) + ops.log1p(ops.exp(-ops.abs(x)))


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None, max_examples: Any = None
) -> Any:
    """The sum of the losses of samples, divided by the size of the batch."""
    losses = as_value(per_example_loss)
    weighted = losses if sample_weight is None else losses * as_value(sample_weight)
    return ops.sum(weighted) / (losses.shape[0] if global_batch_size is None else global_batch_size)


def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5
) -> Tensor:
    """x / (bias + alpha * (sum of squares of the nearest channels)) ** beta"""
    x = as_value(input)
    squares = torch.nn.functional.pad(x.square(), (depth_radius, depth_radius))
    return x / (bias + alpha * squares.unfold(-1, 2 * depth_radius + 1, 1).sum(-1)) ** beta


def normalized(x: Any, ord: Any = "euclidean", axis: Any = None) -> tuple[Any, Any]:
    """A tensor divided by its norm, and the norm."""
    found = functions.norm(x, ord, axis, True)
    return as_value(x) / found, found


def _blocks(name: str) -> Function:
    function = getattr(ops, name)
    return taking(
        "input block_size data_format=NHWC", lambda x, size, order: function(as_value(x), size, _format(order))
    )


NAMES: dict[str, Any] = {
    **{name: getattr(activations, name) for name in ACTIVATIONS.split()},
    **{f"conv{rank}d": _conv(rank) for rank in (1, 2, 3)},
    **{f"conv{rank}d_transpose": _conv_transpose(rank) for rank in (1, 2, 3)},
    **{f"max_pool{rank}d": _pool("max_pool", rank) for rank in (1, 2, 3)},
    **{f"avg_pool{rank}d": _pool("average_pool", rank) for rank in (1, 2, 3)},
    "avg_pool": _pool("average_pool"),
    "batch_normalization": taking("x mean variance offset scale variance_epsilon", batch_normalization),
    "bias_add": taking("value bias data_format=None", bias_add),
    "compute_average_loss": compute_average_loss,
    "crelu": taking("features axis=-1", lambda x, axis: ops.relu(ops.concatenate([as_value(x), -as_value(x)], axis))),
    "depth_to_space": _blocks("depth_to_space"),
    "depthwise_conv2d": taking("input filter strides padding data_format=None dilations=None", depthwise_conv2d),
    "dropout": taking("x rate noise_shape=None seed=None", dropout),
    "embedding_lookup": taking("params ids max_norm=None", lambda params, ids, _: functions.gather(params, ids)),
    "in_top_k": taking("targets predictions k", lambda y, x, k: ops.in_top_k(as_value(y), as_value(x), k)),
    "l2_loss": taking("t", lambda t: ops.sum(ops.square(as_value(t))) / 2),
    "l2_normalize": functions.NAMES["math.l2_normalize"],
    "leaky_relu": leaky_relu,
    "local_response_normalization": taking(
        "input depth_radius=5 bias=1.0 alpha=1.0 beta=0.5", local_response_normalization
    ),
    "lrn": taking("input depth_radius=5 bias=1.0 alpha=1.0 beta=0.5", local_response_normalization),
    "max_pool": _pool("max_pool"),
    "moments": taking("x axes shift=None keepdims=False", moments),
    "normalize": taking("tensor ord=euclidean axis=None", normalized),
    "scale_regularization_loss": taking("regularization_loss", lambda loss: ops.sum(as_value(loss))),
    "separable_conv2d": taking(
        "input depthwise_filter pointwise_filter strides padding data_format=None dilations=None", separable_conv2d
    ),
    "sigmoid_cross_entropy_with_logits": taking("labels=None logits=None", sigmoid_cross_entropy),
    "softmax_cross_entropy_with_logits": taking("labels logits axis=-1", softmax_cross_entropy),
    "space_to_depth": _blocks("space_to_depth"),
    "sparse_softmax_cross_entropy_with_logits": taking("labels logits", sparse_softmax_cross_entropy),
    "top_k": functions.NAMES["math.top_k"],
    "weighted_cross_entropy_with_logits": taking(
        "labels logits pos_weight", lambda y, x, weight: weighted_cross_entropy(as_value(y), as_value(x), weight)
    ),
    "zero_fraction": taking("value", lambda x: ops.mean(ops.cast(ops.equal(as_value(x), 0), "float32"))),
}
