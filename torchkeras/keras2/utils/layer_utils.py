"""`keras.utils.layer_utils`: weights counted and converted, a model's summary, where a tensor comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

from torchkeras import layers, registry
from torchkeras.engine.symbolic.tensor import KerasTensor, calls_of
from torchkeras.keras2.backend.wrapped import stand_in
from torchkeras.keras2.utils.conv_utils import convert_kernel

CONVOLUTIONS = (layers.Conv1D, layers.Conv2D, layers.Conv3D, layers.Conv2DTranspose)


def count_params(weights: Iterable[Any]) -> int:
    """The number of scalars in weights; one that comes twice counts once."""
    return sum(
        prod(weight.shape) for weight in {getattr(each, "identity", id(each)): each for each in weights}.values()
    )


def count_total_params(layers: Iterable[Any], layer_set: set[Any] | None = None) -> tuple[int, int]:
    """The numbers of scalars that train and that do not, in the layers that are not in `layer_set`; they join it."""
    seen = set() if layer_set is None else layer_set
    new = [layer for layer in dict.fromkeys(layers) if layer not in seen]
    seen.update(new)
    trained = [weight for layer in new for weight in layer.trainable_weights]
    others = [weight for layer in new for weight in layer.non_trainable_weights]
    return count_params(trained), count_params(others)


def print_summary(model: Any, line_length: int | None = None, positions: Any = None, print_fn: Any = None) -> None:
    """`model.summary(line_length, positions, print_fn)`."""
    model.summary(line_length, positions, print_fn)


def layer_from_config(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """A layer or model from `{"class_name", "config"}`."""
    return registry.layers.from_config(config, custom_objects)


def convert_all_kernels_in_model(model: Any) -> None:
    """Turn the kernels of a model's convolutions round in their spatial axes: Theano's for TensorFlow's, or back."""
    for layer in model.layers:
        if type(layer) in CONVOLUTIONS:
            kernel, *others = layer.get_weights()
            layer.set_weights([convert_kernel(kernel), *others])


def convert_dense_weights_data_format(
    dense: Any, previous_feature_map_shape: tuple[int, int, int], target_data_format: str = "channels_first"
) -> None:
    """Reorder the rows of a Dense layer after a Flatten, for feature maps whose axes have changed places.

    Arguments:
        dense (Dense): the layer.
        previous_feature_map_shape (tuple): the shape before the Flatten, in the order of `target_data_format`.
        target_data_format (text, default "channels_first"): the new order; "channels_last" or "channels_first".
    """
    if target_data_format not in ("channels_last", "channels_first"):
        raise AssertionError(f"target_data_format is channels_last or channels_first; found {target_data_format!r}.")
    kernel, *others = dense.get_weights()
    if target_data_format == "channels_first":
        channels, height, width = previous_feature_map_shape
        maps = kernel.reshape(height, width, channels, -1).transpose(2, 0, 1, 3)
    else:
        height, width, channels = previous_feature_map_shape
        maps = kernel.reshape(channels, height, width, -1).transpose(1, 2, 0, 3)
    dense.set_weights([maps.reshape(kernel.shape), *others])


def get_source_inputs(tensor: Any, layer: Any = None, node_index: int | None = None) -> Any:
    """The inputs that a symbolic tensor is computed from, each once; another tensor is returned as it is.

    `layer` and `node_index` name the call that is begun from; without them it is the one that made the tensor.
    """
    if not isinstance(tensor, KerasTensor):
        return tensor
    if layer is None:
        layer, node_index, _ = tensor.keras_history
    if (stood_for := stand_in(tensor)) is not None:
        return [stood_for]
    sources: list[KerasTensor] = []
    seen: set[int] = set()
    pending = [calls_of(layer)[node_index or 0]]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if not node.input_tensors:
            sources += node.output_tensors
        sources += [made for each in node.input_tensors if (made := stand_in(each)) is not None]
        history = [each.keras_history for each in node.input_tensors if stand_in(each) is None]
        pending += [calls_of(made_by)[index] for made_by, index, _ in reversed(history)]
    return sources
