"""From the relation of a layer's input between two data formats to that of its output, and to its weights.

`RULES` has a rule for each family of layers. A layer without a rule, or with one that does not fit, accepts only inputs
that are the same in both models.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Protocol

import numpy as np
import torch

from torchkeras.activations import is_pointwise, log_softmax, softmax
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape, as_list
from torchkeras.engine.weights.weight import own_variables
from torchkeras.layers.activation import Parametric, Pointwise, Softmax
from torchkeras.layers.adaptive_pooling import (
    AdaptivePooling,
)
from torchkeras.layers.bidirectional import Bidirectional
from torchkeras.layers.conv import Conv
from torchkeras.layers.conv_recurrent import ConvLSTMStep, ConvRNN2D
from torchkeras.layers.core import Activation, ActivityRegularization, Dense, Masking
from torchkeras.layers.elementwise import Elementwise
from torchkeras.layers.global_pooling import (
    GlobalPooling,
)
from torchkeras.layers.keras1 import MaxoutDense
from torchkeras.layers.layer_normalization import AlongAxes, UnitNormalization
from torchkeras.layers.local import LocallyConnected2D
from torchkeras.layers.merging import Concatenate
from torchkeras.layers.normalization import Channelwise, GroupNormalization
from torchkeras.layers.pooling import Pooling
from torchkeras.layers.resize import Cropping, UpSampling, ZeroPadding
from torchkeras.layers.shaping import Flatten, Permute, RepeatVector, Reshape
from torchkeras.layers.spatial import Spatial, axis_of_channels
from torchkeras.layers.torch_recurrence import TorchRecurrent
from torchkeras.layers.wrappers import SpectralNormalization, TimeDistributed
from torchkeras.saving.data_format.orders import by_value, image_order, over_images
from torchkeras.saving.data_format.relation import (
    Order,
    Places,
    Relation,
    Take,
    Turn,
    along,
    blocks,
    find,
    lifted,
    lowered,
    orders_of,
    unmoved,
)

# The axis of a layer's kernel for the incoming features.
ROWS: Mapping[type, int] = {Dense: 0, MaxoutDense: 1, Conv: -2, TorchRecurrent: 0}
# Layers that treat every channel alike.
EACH_CHANNEL = (Pooling, AdaptivePooling, GlobalPooling, Cropping, UpSampling, ZeroPadding)
PROBES = ((12, 60), (36, 180))  # the sizes tried for a first and a second unknown axis


class Followed(Protocol):
    """What a rule may ask of the walk through the graph."""

    chosen: dict[Layer, Places]  # the order of a Dense's features, if a later call needs one

    def follow(self, call: TrackedCall) -> list[Relation]:
        """The relations of the outputs of a call, such as one of an inner layer."""
        ...

    def through(self, source: Network, target: Network, given: list[Relation]) -> list[Relation]:
        """The relations of the outputs of an inner network."""
        ...

    def choose(self, call: TrackedCall, places: Places) -> None:
        """Make a Dense give the features of this call in this order. Raises ValueError if no Dense can."""
        ...


@dataclass
class TrackedCall:
    """A call of a layer in both models. Shapes are the source's; `wanted` are the orders its outputs should have."""

    source: Any
    target: Any
    given: list[Relation]
    shapes: list[Shape]
    output_shapes: list[Shape]
    wanted: list[Order | None]
    tensor: KerasTensor | None  # the first input, if it is a tensor of the graph
    tracker: Followed
    steps: dict[str, list[Take | Turn]] = field(default_factory=dict)

    def reorder(self, name: str, *steps: Take | Turn) -> None:
        """Note what is done to a weight."""
        self.steps.setdefault(name, []).extend(steps)

    def need(self, *orders: Order, places: bool = False) -> None:
        """Raise ValueError for an input in another order or, without `places`, with reordered features."""
        for given, order, shape in zip(self.given, orders, self.shapes, strict=True):
            needed = Relation(order, given.places if places else None)
            if not given.agrees(needed, shape):
                self.refuse(f"in the other data format its input {shape} has {given}; it must have {needed}.")

    def need_same(self, places: bool = False) -> None:
        """Raise ValueError for an input whose axes are moved or, without `places`, whose features are reordered."""
        self.need(*(unmoved(len(shape)) for shape in self.shapes), places=places)

    def same(self) -> list[Relation]:
        """The relations of outputs that equal those of the source."""
        return [Relation(unmoved(len(shape))) for shape in self.output_shapes]

    def refuse(self, problem: str) -> NoReturn:
        raise ValueError(f"{type(self.source).__name__} {self.source.name!r}: {problem}")


# --- the rules -------------------------------------------------------------------------------------------------------


def unknown(call: TrackedCall) -> list[Relation]:
    call.need_same()
    return call.same()


def _images(call: TrackedCall) -> list[Relation]:
    """A layer over images, whose kernels are the same; channels in another order reorder the rows of these."""
    source, target = over_images(call.source), over_images(call.target)
    becomes = target.data_format
    orders = [[image_order(source, len(shape), becomes) for shape in s] for s in (call.shapes, call.output_shapes)]
    call.need(*orders[0], places=becomes == source.data_format and isinstance(source, (Conv, *EACH_CHANNEL)))
    if becomes != source.data_format:
        _check_pointwise(call, source)
        if isinstance(source, LocallyConnected2D):
            _reorder_places(call, source, becomes)
    places = call.given[0].places
    if places is not None and isinstance(source, Conv):
        _rows(call, places)
        places = None
    return [Relation(order, places) for order in orders[1]]


def _check_pointwise(call: TrackedCall, layer: Layer) -> None:
    """Refuse an activation along the channels' axis."""
    for option in ("activation", "recurrent_activation"):
        function = getattr(layer, option, None)
        if function is not None and not is_pointwise(function):
            call.refuse(f"its {option} works along the last axis, which is another one in the other data format.")


def _reorder_places(call: TrackedCall, layer: LocallyConnected2D, becomes: str) -> None:
    """Reorder a kernel whose windows have the channels where the input has them, and the bias."""
    to_last = becomes == "channels_last"
    order = (1, 2, 0) if to_last else (2, 0, 1)

    def view(channels: int, sizes: Any) -> tuple[int, ...]:
        return (channels, *sizes) if to_last else (*sizes, channels)

    window = view(call.shapes[0][axis_of_channels(layer)] or 0, layer.kernel_size)
    ids = np.arange(np.prod(window)).reshape(window).transpose(order)
    call.reorder("kernel", Take(1, tuple(ids.ravel().tolist())))
    call.reorder("bias", Turn(view(layer.filters, layer._lengths), order, (*layer._lengths, layer.filters)))


def _projection(call: TrackedCall) -> list[Relation]:
    """The last axis goes through a kernel, so the rows of the kernel follow the order of the features."""
    first, *others = call.given
    call.need_same(places=all(given.places is None for given in others))
    if first.places is not None:
        _rows(call, first.places)
    chosen = call.tracker.chosen.get(call.source)
    if chosen is None:
        return call.same()
    call.reorder("kernel", Take(-1, chosen))
    call.reorder("bias", Take(-1, chosen))
    return [Relation(order.order, chosen) for order in call.same()]


def _rows(call: TrackedCall, places: Places) -> None:
    axis = next(ROWS[cls] for cls in type(call.source).__mro__ if cls in ROWS)
    call.reorder("kernel", Take(axis, places))


def _alike(call: TrackedCall) -> list[Relation]:
    """Value by value: the output has the relation of the inputs, if they all have the same."""
    ndims = [len(shape) for shape in (*call.shapes, *call.output_shapes)]
    softmaxes = isinstance(call.source, Activation) and call.source.activation in (softmax, log_softmax)
    if not (by_value(call.source) and len(set(ndims)) == 1):
        call.need_same(places=softmaxes)
        return call.given[:1] if softmaxes else call.same()
    return [_common(call, call.given)]


def _common(call: TrackedCall, relations: list[Relation]) -> Relation:
    """The relation of all inputs, taken from the first without an axis of size 1, whose place is open."""
    found = relations[next((k for k, shape in enumerate(call.shapes) if 1 not in shape[1:]), 0)]
    for relation, shape in zip(relations, call.shapes, strict=True):
        if not relation.agrees(found, shape):
            call.refuse(
                f"its inputs must have the same order of axes in the other data format; found {found} and {relation}."
            )
    return found


def _features(call: TrackedCall) -> list[Relation]:
    """The last axis passes as it is; the others may not move."""
    call.need_same(places=True)
    return [Relation(unmoved(len(call.output_shapes[0])), call.given[0].places)]


def _along_axes(call: TrackedCall) -> list[Relation]:
    """Along the axes named by an option: they must be the same in both models, and weights over them follow."""
    (given,), ndim = call.given, len(call.shapes[0])
    source, target = (sorted(axis % ndim for axis in as_list(layer.axis)) for layer in (call.source, call.target))
    _check_axes(call, given, source, target)
    last = ndim - 1
    if given.places is not None and last in target and isinstance(call.source, GroupNormalization):
        call.refuse("its groups are of neighbours, which have another order in the other data format.")
    for variable in own_variables(call.source):
        call.reorder(variable.name, *along(variable.shape, tuple(source.index(given.order[axis]) for axis in target)))
        if given.places is not None and last in target:
            call.reorder(variable.name, Take(-1, given.places))
    return [given]


def _check_axes(call: TrackedCall, given: Relation, source: list[int], target: list[int]) -> None:
    if sorted(given.order[axis] for axis in target) != source:
        call.refuse(f"in the other data format its axis must be that of {source}, with {given}; found {target}.")


def _parametric(call: TrackedCall) -> list[Relation]:
    """Weights with the shape of a sample have the relation of the sample."""
    (given,) = call.given
    shared = [layer.shared_axes or () for layer in (call.source, call.target)]
    _check_axes(call, given, sorted(shared[0]), sorted(shared[1]))
    for variable in own_variables(call.source):
        call.reorder(variable.name, *along(variable.shape, tuple(axis - 1 for axis in given.order[1:])))
        if given.places is not None and variable.shape[-1] > 1:
            call.reorder(variable.name, Take(-1, given.places))
    return [given]


def _concatenate(call: TrackedCall) -> list[Relation]:
    """Concatenated along the same axis; features reordered in a part are reordered in the whole."""
    ndim = len(call.shapes[0])
    source, target = (layer.axis % ndim for layer in (call.source, call.target))
    if target == ndim - 1:
        parts = [(given.places, shape[source]) for given, shape in zip(call.given, call.shapes, strict=True)]
        found = Relation(_common(call, [Relation(given.order) for given in call.given]).order, blocks(parts))
    else:
        found = _common(call, call.given)
    _check_axes(call, found, [source], [target])
    return [found]


def _rearranged(call: TrackedCall) -> list[Relation]:
    """Values that move: found by running both layers on numbered values, with two sizes for unknown axes."""
    (given,), shape = call.given, call.shapes[0]
    wanted = [order for order in call.wanted if order is not None]
    found = []
    for probes in PROBES[: 1 + (None in shape[1:])]:
        ids = _numbered(shape, probes)
        source, target = _outputs_for(call.source, ids), _outputs_for(call.target, given.applied(ids))
        found.append(find(source, target, [*wanted, *orders_of(source.ndim)]))
    first, last = found[0], found[-1]
    if first is not None and first == last and (len(found) == 1 or first.places is None):
        return [first]
    if not wanted or len(shape) > 2 or call.tensor is None:
        call.refuse(
            f"it would mix other values in the other data format: its input {shape} has {given}. "
            "Values keep together where the channels stay an axis of their own."
        )
    # The incoming features can be given in the order that the result needs.
    call.tracker.choose(call, tuple(source.transpose(wanted[0]).ravel().tolist()))
    return [Relation(wanted[0])]


def _numbered(shape: Any, probes: Sequence[int]) -> np.ndarray:
    """One sample of this shape in which each value has a number of its own; unknown axes have the sizes `probes`."""
    sizes = itertools.cycle(probes)
    known = (1, *(next(sizes) if size is None else size for size in shape[1:]))
    return np.arange(np.prod(known)).reshape(known)


def _outputs_for(layer: Layer, ids: np.ndarray) -> np.ndarray:
    return layer.forward(torch.from_numpy(np.ascontiguousarray(ids))).numpy()


def _over_time(call: TrackedCall) -> list[Relation]:
    """TimeDistributed: the inner layer's rule for the axes after that of time, which may not move."""
    orders = [lowered(given.order) for given in call.given]
    if None in orders:
        call.refuse(f"its axis of time must stay where it is; its input {call.shapes[0]} has {call.given[0]}.")
    inner = TrackedCall(
        call.source.layer,
        call.target.layer,
        [Relation(order, given.places) for order, given in zip(orders, call.given, strict=True) if order is not None],
        [(shape[0], *shape[2:]) for shape in call.shapes],
        [(shape[0], *shape[2:]) for shape in call.output_shapes],
        [None if order is None else lowered(order) for order in call.wanted],
        None,
        call.tracker,
    )
    return [Relation(lifted(found.order), found.places) for found in call.tracker.follow(inner)]


def _spectral(call: TrackedCall) -> list[Relation]:
    """SpectralNormalization: the inner layer's rule, as long as the kernel's matrix stays the same."""
    inner = replace(call, source=call.source.layer, target=call.target.layer, steps={})
    found = call.tracker.follow(inner)
    if any(inner.steps.values()):
        call.refuse("the kernel inside would have to be reordered, which its singular vectors do not follow.")
    return found


def _both_directions(call: TrackedCall) -> list[Relation]:
    """Bidirectional: both layers take the same features; other than LSTM, GRU and the like must get what they had."""
    if not isinstance(call.source.forward_layer, TorchRecurrent):
        return unknown(call)
    for source, target in zip(call.source.inner_layers, call.target.inner_layers, strict=True):
        call.tracker.follow(replace(call, source=source, target=target, steps={}))
    return call.same()


def _network(call: TrackedCall) -> list[Relation]:
    return call.tracker.through(call.source, call.target, call.given)


Rule = Callable[[TrackedCall], "list[Relation]"]

RULES: Mapping[type, Rule] = {
    **dict.fromkeys((Spatial, ConvLSTMStep, ConvRNN2D), _images),
    **dict.fromkeys((Dense, MaxoutDense, TorchRecurrent), _projection),
    **dict.fromkeys((Activation, ActivityRegularization, Elementwise, Operation, Pointwise), _alike),
    **dict.fromkeys((Masking, RepeatVector), _features),
    **dict.fromkeys((AlongAxes, Channelwise, Softmax, UnitNormalization), _along_axes),
    **dict.fromkeys((Flatten, Permute, Reshape), _rearranged),
    Bidirectional: _both_directions,
    Concatenate: _concatenate,
    Network: _network,
    Parametric: _parametric,
    SpectralNormalization: _spectral,
    TimeDistributed: _over_time,
}
