"""Between channels first and channels last: a model's weights for the same model of the other data format.

A kernel is the same in both. What differs depends on the place of the channels: the rows of a Dense after a Flatten,
weights with an axis for each axis of an image, and options that name an axis. `Tracker` follows this through the model.
A layer that cannot be the same function in the other data format is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torchkeras import config as settings
from torchkeras.engine.building.building import on_meta
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import Node, as_list
from torchkeras.engine.weights.weight import own_variables
from torchkeras.layers.activation import Parametric, Softmax
from torchkeras.layers.conv_recurrent import ConvRNN2D
from torchkeras.layers.layer_normalization import AlongAxes, UnitNormalization
from torchkeras.layers.merging import Concatenate
from torchkeras.layers.noise import Shaped
from torchkeras.layers.normalization import Channelwise
from torchkeras.layers.shaping import Flatten, Permute, Reshape
from torchkeras.layers.transposed import ConvTranspose
from torchkeras.layers.wrappers import SpectralNormalization, TimeDistributed
from torchkeras.saving.data_format.orders import find_orders, is_ours, over_images
from torchkeras.saving.data_format.relation import Order, Reordering, arranged, lowered, unmoved
from torchkeras.saving.data_format.tracker import Key, Tracker, pairs_of

if TYPE_CHECKING:
    from torchkeras.models.model import Model

Config = dict[str, Any]
Follow = Callable[[Config, Order, Order, str], Config]


@dataclass(frozen=True)
class Transferred:
    """A weight that was set: its layer, name and shape in the target, and what was done to the source's array."""

    layer: str
    weight: str
    shape: tuple[int, ...]
    conversion: str


def transfer_weights(source: Network, target: Network) -> list[Transferred]:
    """Give `target` the weights of `source`, the same model in the other data format, so that both compute the same.

    Inputs and outputs that are images lie in either model as its data format has them.

    Arguments:
        source (model): the model whose weights are read.
        target (model): the model whose weights are set.

    Returns:
        A list with an entry for each weight, which says what was done with it.

    Errors:
        ValueError: the models are not of one architecture or cannot be one function; nothing is set then.

    Example:
        >>> first = Sequential([Conv2D(2, 3, input_shape=(8, 8, 1))])
        >>> other = Sequential([Conv2D(2, 3, input_shape=(1, 8, 8), data_format="channels_first")])
        >>> len(transfer_weights(first, other))
        2
    """
    reorderings = Tracker(source, target).reorderings
    found = []
    for layer, other in dict(pairs_of(source, target)).items():
        for variable, taking in zip(own_variables(layer), own_variables(other), strict=True):
            reordering = reorderings.get((id(other), taking.paths), Reordering())
            array = reordering(variable.value.detach())
            if tuple(array.shape) != taking.shape:
                raise ValueError(
                    f"{type(other).__name__} {other.name!r}: weight {taking.name!r} has shape {taking.shape}; that of "
                    f"the other data format gives {tuple(array.shape)}."
                )
            found.append((taking, array, reordering))
    for taking, array, _ in found:
        taking.assign(array)
    return [Transferred(v.layer.name, v.name, v.shape, str(reordering)) for v, _, reordering in found]


def convert_data_format(model: Model, data_format: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """A new model with the weights of `model`, whose layers of images and volumes have this data format.

    Inputs and outputs that are images lie as `data_format` says. Layers of sequences become channels last: Keras's data
    format is not about them. Options that name an axis follow. A `Flatten` of images takes `data_format`, so that what
    it returns keeps its order. The new model is not compiled.

    Arguments:
        model (model): the model; it stays as it is.
        data_format (text): "channels_last" or "channels_first".
        custom_objects (dict or None, default None): your own classes and functions by name.

    Returns:
        The new model.

    Errors:
        ValueError: a layer would be another function, which nothing but a new layer could make right.

    Example:
        >>> model = Sequential([Conv2D(2, 3, input_shape=(8, 8, 1))])
        >>> convert_data_format(model, "channels_first").output_shape
        (None, 2, 6, 6)
    """
    made = counterpart(model, data_format, custom_objects, allocated=True)
    transfer_weights(model, made)
    return made.train(model.training)


def reorderings(
    target: Any, original_data_format: str, keras1: bool = False, custom_objects: Mapping[str, Any] | None = None
) -> dict[Key, Reordering]:
    """For each weight of `target`, what converts the array of the same model in `original_data_format`.

    The key of a weight is `(id(variable.layer), variable.paths)`. The function takes and returns a tensor in Keras's
    layout. `keras1`: the arrays are from Keras 1, whose Flatten kept the order of axes in every data format.
    Raises ValueError if the models cannot compute the same function.
    """
    source = counterpart(target, original_data_format, custom_objects)
    if keras1:
        for layer in source.modules():
            if isinstance(layer, Flatten):
                layer._follow_keras1()
    return Tracker(source, target).reorderings


def counterpart(
    model: Model, data_format: str, custom_objects: Mapping[str, Any] | None = None, allocated: bool = False
) -> Any:
    """The same architecture in this data format; its weights are on `meta` unless `allocated`. Raises ValueError."""
    if data_format not in settings.DATA_FORMATS:
        raise ValueError(f"data_format must be one of {settings.DATA_FORMATS}; found {data_format!r}.")
    config = _Rewriting(model, data_format).network(model)
    try:
        with nullcontext() if allocated else on_meta():
            made = type(model).from_config(config, custom_objects)
    except ValueError as error:
        raise ValueError(f"{model.name!r} cannot be made {data_format}: {error}") from error
    for layer in made.modules():
        images = over_images(layer) if isinstance(layer, Layer) else None
        if images is not None and images.data_format != _becomes(images, data_format):
            raise ValueError(
                f"{type(layer).__name__} {layer.name!r}: its data_format cannot be changed where it stands; "
                f"it must be {data_format!r}, found {images.data_format!r}."
            )
    return made


def _becomes(images: Any, data_format: str) -> str:
    return data_format if images.rank > 1 or data_format == "channels_last" else images.data_format


# --- configs ---------------------------------------------------------------------------------------------------------


def _axis(axis: int, order: Order) -> int:
    """The new place of one of the source's axes; the last one is -1, Keras's default."""
    found = order.index(axis % len(order))
    return -1 if found == len(order) - 1 else found


def _with_axes(config: Config, before: Order, after: Order, data_format: str) -> Config:
    axes = as_list(config["axis"])
    found = [_axis(axis, before) for axis in axes]
    if len(found) > 1:
        found = sorted(axis % len(before) for axis in found)
    return {**config, "axis": found if isinstance(config["axis"], (list, tuple)) else found[0]}


def _with_shared_axes(config: Config, before: Order, after: Order, data_format: str) -> Config:
    shared = config["shared_axes"]
    return {**config, "shared_axes": shared and sorted(before.index(axis) for axis in shared)}


def _with_noise_shape(config: Config, before: Order, after: Order, data_format: str) -> Config:
    shape = config["noise_shape"]
    return {**config, "noise_shape": shape and arranged(shape, before)}


def _with_data_format(config: Config, before: Order, after: Order, data_format: str) -> Config:
    return {**config, "data_format": data_format}


def _with_dims(config: Config, before: Order, after: Order, data_format: str) -> Config:
    source = (0, *config["dims"])
    return {**config, "dims": [before.index(source[axis]) for axis in after[1:]]}


def _with_whole_shape(config: Config, before: Order, after: Order, data_format: str) -> Config:
    shape = config.get("target_shape")  # written only if it is used
    return {**config, "target_shape": arranged(shape, after)} if shape else config


def _with_target_shape(config: Config, before: Order, after: Order, data_format: str) -> Config:
    return {**config, "target_shape": arranged((None, *config["target_shape"]), after)[1:]}


# How the options of a layer change with the order of axes of its (first) input and output.
FOLLOWING: Mapping[type, Follow] = {
    **dict.fromkeys((AlongAxes, Channelwise, Concatenate, Softmax, UnitNormalization), _with_axes),
    Flatten: _with_data_format,
    Parametric: _with_shared_axes,
    Permute: _with_dims,
    Reshape: _with_target_shape,
    Shaped: _with_noise_shape,
    ConvTranspose: _with_whole_shape,
}
INSIDE: Mapping[type, str] = {ConvRNN2D: "cell", SpectralNormalization: "layer", TimeDistributed: "layer"}


class _Rewriting:
    """Rewrites the configs of a model for another data format."""

    def __init__(self, model: Network, data_format: str):
        self.data_format = data_format
        self.orders = find_orders(model, lambda images: _becomes(images, data_format))

    def network(self, network: Network) -> Config:
        """The config of a model, or of an inner model."""
        graph = graph_of(network)
        layers = {layer.name: layer for layer in graph.layers}
        config = network.get_config()
        entries = []
        for entry in config["layers"]:
            layer = layers[entry["config"]["name"]]
            calls = [self._orders_of(node) for node in graph.nodes_of(layer)]
            entries.append({**entry, "config": self.layer(layer, calls)})
        return {**config, "layers": entries}

    def _orders_of(self, node: Node) -> tuple[Order, Order]:
        before, after = ((node.input_tensors or node.output_tensors)[0], node.output_tensors[0])
        return self.orders[before], self.orders[after]

    def layer(self, layer: Layer, calls: list[tuple[Order, Order]]) -> Config:
        """The config of a layer whose inputs and outputs have these orders of axes."""
        if isinstance(layer, Network):
            return self.network(layer)
        config = layer.get_config()
        if len(config.get("batch_input_shape") or ()) == len(calls[0][0]):
            config["batch_input_shape"] = arranged(config["batch_input_shape"], calls[0][0])
        if over_images(layer) is layer and "data_format" in config:
            config["data_format"] = _becomes(layer, self.data_format)
        for option in _of_classes(layer, INSIDE):
            inside = self.layer(getattr(layer, option), _inner_calls(layer, calls))
            config[option] = {**config[option], "config": inside}
        for follow in _of_classes(layer, FOLLOWING):
            config = self._followed(layer, follow, config, calls)
        return config

    def _followed(self, layer: Layer, follow: Follow, config: Config, calls: list[tuple[Order, Order]]) -> Config:
        """A config changed for the orders of the layer's calls. Raises ValueError if these need different options."""
        moved = [call for call in calls if any(map(_moves, call))]
        if not moved:
            return config
        first, *others = [follow(config, *call, self.data_format) for call in moved]
        if len(moved) < len(calls) or any(other != first for other in others):
            raise ValueError(
                f"{type(layer).__name__} {layer.name!r}: its calls would need different options in the other data "
                "format."
            )
        return first


def _of_classes(layer: Layer, table: Mapping[Any, Any]) -> list[Any]:
    """What a table by classes has for the class of a layer and its bases; nothing for a user's class."""
    return [table[cls] for cls in type(layer).__mro__ if cls in table] if is_ours(layer) else []


def _inner_calls(layer: Layer, calls: list[tuple[Order, Order]]) -> list[tuple[Order, Order]]:
    """The orders of axes of the layer inside a wrapper, which one around each step calls without the axis of time."""
    times = int(isinstance(layer, TimeDistributed))
    return [(lowered(before, times) or before, lowered(after, times) or after) for before, after in calls]


def _moves(order: Order) -> bool:
    return order != unmoved(len(order))
