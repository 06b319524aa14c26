"""What layers of scripts for Keras 1 and 2 find in `Layer`, beside what it has: added to it when `keras` is answered.

`extend()` adds the methods below to `Layer`; nothing else of the package is changed, and a process that never asks for
`keras` never has them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import wraps
from types import FunctionType
from typing import Any

from torch import Tensor, nn

from torchkeras.base import extensions
from torchkeras.base.extensions import members_of
from torchkeras.base.keras_axes import IN_ORDER
from torchkeras.base.rules import BELOW_1, is_number
from torchkeras.base.torch_tables import own_buffers, own_parameters
from torchkeras.engine.building.building import check_inputs, free_path
from torchkeras.engine.layer.layer import Layer, added_as
from torchkeras.engine.options import options_of, replace_rule
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, as_list
from torchkeras.engine.users_code import is_users_layer
from torchkeras.engine.weights.weight import Variable, own_variables
from torchkeras.keras2 import old_builds, old_states
from torchkeras.keras2.added import LOSSES, UPDATES, keep, warn_of_none
from torchkeras.keras2.backend import assignments
from torchkeras.keras2.interfaces import add_weight_args_preprocessing
from torchkeras.keras2.old_values import ScriptWeight, taking_values
from torchkeras.keras2.put_into import OfLayer
from torchkeras.layers import Dropout
from torchkeras.layers.resize import Cropping

_add_weight, _add_loss, _set = Layer.add_weight, Layer.add_loss, Layer.__setattr__
_declare = Layer.__init_subclass__.__func__  # type: ignore[attr-defined]


class WeightList(list[Any]):
    """The weights of a layer of one kind; what is put into it becomes a weight of the layer."""

    def __init__(self, layer: Any, trainable: bool) -> None:
        super().__init__(each.tensors[0] for each in own_variables(layer) if each.trainable is trainable)
        self._layer, self._trainable = layer, trainable

    def append(self, weight: Any) -> None:
        """Make a tensor a weight of the layer."""
        super().append(_as_weight(self._layer, weight, self._trainable))

    def extend(self, weights: Iterable[Any]) -> None:
        """Make tensors weights of the layer."""
        for each in weights:
            self.append(each)

    def __iadd__(self, weights: Iterable[Any]) -> WeightList:
        self.extend(weights)
        return self


class OldLayer(OfLayer):
    """The further names; never an object."""

    def __init_subclass__(cls, **options: Any) -> None:
        made: Any = cls
        _declare(made, **options)
        own = vars(cls)
        if not is_users_layer(made):
            return
        if "get_output_shape_for" in own and "compute_output_shape" not in own:
            made.compute_output_shape = own["get_output_shape_for"]
        if "build" in own:
            made.build = old_builds.recording(own["build"])
        if "call" in own:
            made.call = _assigning(taking_values(own["call"]))

    def __setattr__(self, name: str, value: Any) -> None:
        """As `Layer`'s; a variable that is no weight of the layer, such as `K.ones(shape)`, stays none.

        A plain value may hide a method of a script's layer, such as `self.build = True` for `self.built`.
        """
        hides = isinstance(getattr(type(self), name, None), FunctionType) and not callable(value)
        if hides and is_users_layer(self):
            object.__setattr__(self, name, value)
            return
        is_made = is_users_layer(self) and "_added" in self.__dict__
        if not (is_made and isinstance(value, nn.Parameter)) or added_as(self, value) is not None:
            _set(self, name, value)
            return
        for held in (self.__dict__, self._parameters, self._buffers):
            held.pop(name, None)
        self._buffers[name] = value
        self._non_persistent_buffers_set.add(name)

    def add_weight(self, *args: Any, **options: Any) -> Tensor:
        """`Layer.add_weight`, also by Keras 1's `add_weight(shape, initializer, name=...)`."""
        given = (self, *args)
        given, options, _ = add_weight_args_preprocessing(given, options)
        options.setdefault("name", None)
        names = ("name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint")
        if len(given) > 1:
            options.pop("name")
        options.update(zip(names, given[1:], strict=False))
        options["name"] = options["name"] or f"weight_{len(self._added)}"
        if isinstance(options["shape"], int):
            options["shape"] = (options["shape"],)
        if options.get("trainable") is None:
            options.pop("trainable", None)
        made = _add_weight(self, **options)
        if isinstance(made, nn.Parameter):
            made.__class__ = ScriptWeight
        return made

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """In `call`: assignments that a step of training makes once the layer has computed.

        Arguments:
            updates (assignment or list): what `K.update` and the like gave, or pairs of a variable and its new value.
            inputs (tensor or None): what they depend on; a call knows it without this.
        """
        if not assignments.waits():
            keep(UPDATES, self, updates, inputs)
        if assignments.waits() or not isinstance(updates, (int, float)):
            assignments.of_layer(self, updates)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """`Layer.add_loss`; outside of a `call` also numbers and symbolic tensors, which `losses` lists."""
        warn_of_none(self, losses)
        own = [each for each in as_list(losses) if isinstance(each, (int, float, KerasTensor))]
        keep(LOSSES, self, own, inputs)
        if others := [each for each in as_list(losses) if not any(each is one for one in own)]:
            _add_loss(self, others, inputs)

    def get_output_shape_for(self, input_shape: Any) -> Any:
        """Keras 1's name of `compute_output_shape`."""
        return self.compute_output_shape(input_shape)

    @property
    def trainable_weights(self) -> list[Variable]:
        """The weights that training changes; a list sets which, and their order."""
        return list(_trained.fget(self))

    @trainable_weights.setter
    def trainable_weights(self, given: Iterable[Any]) -> None:
        _take(self, list(given), True)

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The weights that training leaves alone; a list sets which, and their order."""
        return list(_untrained.fget(self))

    @non_trainable_weights.setter
    def non_trainable_weights(self, given: Iterable[Any]) -> None:
        _take(self, list(given), False)

    @property
    def _trainable_weights(self) -> WeightList:
        """The weights of the layer itself that train, to which scripts append."""
        return WeightList(self, True)

    @_trainable_weights.setter
    def _trainable_weights(self, given: Iterable[Any]) -> None:
        _take(self, list(given), True)

    @property
    def _non_trainable_weights(self) -> WeightList:
        """The weights of the layer itself that do not train, to which scripts append."""
        return WeightList(self, False)

    @_non_trainable_weights.setter
    def _non_trainable_weights(self, given: Iterable[Any]) -> None:
        _take(self, list(given), False)

    @property
    def inbound_nodes(self) -> list[Node]:
        """The calls of the layer."""
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Node]:
        """The calls of other layers on its outputs; a list replaces them."""
        return self._outbound_nodes

    @outbound_nodes.setter
    def outbound_nodes(self, given: list[Node]) -> None:
        self._outbound_nodes = given

    def assert_input_compatibility(self, inputs: Any) -> None:
        """Raise ValueError where inputs do not fit `input_spec`."""
        check_inputs(self, [tuple(tensor.shape) for tensor in as_list(inputs)])


_trained: Any = Layer.trainable_weights
_untrained: Any = Layer.non_trainable_weights
REPLACED = ("trainable_weights", "non_trainable_weights", "add_weight", "add_loss", "__setattr__")
NAMES = (
    *("__setattr__", "add_weight", "add_update", "get_output_shape_for"),
    *("trainable_weights", "non_trainable_weights", "inbound_nodes", "outbound_nodes", "assert_input_compatibility"),
    *("add_loss", "_trainable_weights", "_non_trainable_weights"),
)


def _rate(value: Any) -> float:
    """The rate of a Dropout as Keras 2 takes it: from 1 on nothing is dropped."""
    if is_number(value) and value >= 1:
        warnings.warn(f"Dropout: a rate of {value} drops nothing; it is taken as 0.", stacklevel=2)
        return 0.0
    return BELOW_1.read(value)


def _fits(layer: Any, input_shape: Any) -> None:
    """Raise ValueError where a cropping takes more than there is; in Keras 2 it may leave nothing."""
    layer._check_window("cropping", map(sum, layer.cropping), input_shape)


def extend() -> None:
    """Add the names to `Layer`; let `Dropout` take any rate, and a cropping leave nothing."""
    extensions.extend(Cropping, _make_modules=_fits)
    rate = options_of(Dropout)["rate"].rule
    replace_rule(Dropout, "rate", replace(rate, convert=_rate, holds=None))
    declare: Any = OldLayer.__init_subclass__
    extensions.extend(Layer, __init_subclass__=classmethod(declare.__func__))
    own = [name for name in NAMES if name in vars(Layer) or name in REPLACED or not hasattr(Layer, name)]
    extensions.extend(Layer, **members_of(OldLayer, *own))


def _assigning(call: Callable[..., Any]) -> Callable[..., Any]:
    """A `call` whose assignments wait until it has computed, and are made in training only."""

    @wraps(call)
    def computed(layer: Any, /, *args: Any, **kwargs: Any) -> Any:
        with (
            old_states.of_one_run(layer, args[0] if args else None),
            old_builds.with_current_values(layer),
            assignments.waiting(layer),
        ):
            return call(layer, *args, **kwargs)

    return computed


def _take(layer: Any, given: list[Any], trainable: bool) -> None:
    """Make these tensors the layer's weights of one kind, in this order, as Keras 1's layers set them."""
    taken = [_as_weight(layer, each, trainable) for each in given]
    for parameter in own_parameters(layer).values() if trainable else ():
        if parameter is not None:
            parameter.requires_grad_(any(parameter is each for each in taken))


def _removed(layer: Any, tensor: Tensor) -> str | None:
    """Remove a tensor from the attributes of a layer; returns the name of the first, None where none held it."""
    holders = (layer.__dict__, own_parameters(layer), own_buffers(layer))
    names = [name for held in holders for name, value in held.items() if value is tensor]
    for held in holders:
        for name in names:
            held.pop(name, None)
    return names[0] if names else None


def _as_weight(layer: Any, given: Any, trainable: bool) -> Tensor:
    """A tensor as a weight of the layer, in the attribute that holds it; it may be one already."""
    tensor = given.tensors[0] if isinstance(given, Variable) else given
    if added_as(layer, tensor) is not None:
        return tensor
    name = _removed(layer, tensor) or free_path(layer, "weight")
    kept = tensor
    if trainable and not isinstance(tensor, nn.Parameter):
        kept = nn.Parameter(tensor, requires_grad=tensor.is_floating_point())
    elif not trainable:
        kept = tensor.detach()
    (own_parameters(layer) if trainable else own_buffers(layer))[name] = kept
    layer._added.append(Variable(layer, name, (name,), IN_ORDER, trainable))
    return kept
