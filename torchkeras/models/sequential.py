"""`Sequential`: a model of layers one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from torch import nn

from torchkeras import registry
from torchkeras.base.dtypes import DTypePolicy, policy_of
from torchkeras.base.extensions import replaceable
from torchkeras.base.fixed_lists import Layers
from torchkeras.base.rules import known_options
from torchkeras.engine.building.building import building_alone
from torchkeras.engine.dtypes import take_policy
from torchkeras.engine.facts import facts_of
from torchkeras.engine.graph import trace
from torchkeras.engine.graph.input import Input, InputLayer
from torchkeras.engine.graph.network import Keys, Network, count_levels, give_policy
from torchkeras.engine.graph.trace import Untraced, check_names, graph_if_any
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape, as_list, calls_of, node_of
from torchkeras.engine.weights.weight_lists import KERAS1, follow_trainable
from torchkeras.layers.torch_module import as_layer
from torchkeras.models.model import Model, trainable_as, with_trainable
from torchkeras.models.on_use import graph_config, ties


@replaceable("layers")
class Sequential(Model):
    """Layers one after another: `Sequential([Dense(8, input_shape=(4,)), Dense(1)])`.

    The model is built at once when the first layer has an `input_shape`; otherwise when it first sees an input.

    Options:
        layers (list of layers or None, default None): the layers, or modules of torch; `add` adds more.
        name (text or None, default None): the name of the model.
        dtype (name, DTypePolicy or None, default None): the policy of the layers without one of their own, such as
            "mixed_bfloat16"; see `dtype_policy`.

    Errors:
        TypeError: something other than a layer is added.
        ValueError: a layer does not fit its input.

    Example:
        >>> model = Sequential([Dense(8, activation="relu", input_shape=(4,)), Dense(1)])
        >>> model(torch.zeros(3, 4)).shape
        torch.Size([3, 1])

    Source: https://keras.io/api/models/sequential/
    """

    _keys: Keys | None = None  # None: to be made from the stack

    @known_options
    def __init__(self, layers: Any = None, name: str | None = None, dtype: Any = None):
        """Make a model of layers one after another, or of none yet."""
        if isinstance(name, nn.Module):
            raise TypeError("Sequential takes its layers in one list: Sequential([first, second]).")
        self._stack: list[Layer] = []
        self._begins_with_input = False
        self._branches: list[Layer] = []
        Network.__init__(self, name=name)
        self._layers_policy: DTypePolicy | None = None if dtype is None else policy_of(dtype)
        for layer in as_list(layers):
            self.add(layer)

    def add(self, layer: nn.Module | KerasTensor) -> None:
        """Put a layer on top.

        Arguments:
            layer (layer, module of torch or Input): the layer; an `Input` comes before all others.

        Errors:
            TypeError: `layer` is none of these.
            ValueError: it does not fit.

        Example:
            >>> model = Sequential([Dense(8, input_shape=(4,))])
            >>> model.add(Dense(1))
            >>> model.output_shape
            (None, 1)
        """
        layer = _layer_of(layer)
        self._give_own_policy(layer)
        if isinstance(layer, InputLayer):
            self._begin_with(layer)
            return
        if not self._stack and self._graph is None and _begins_a_graph(layer):
            self._connect_branches(layer)
            return
        keys = self._keys_so_far()
        self._check_unique(layer, keys)
        if self._graph is not None:
            self._extend(layer)
        elif not self._stack and (tensor := _first_input(layer)) is not None:
            self._connect(tensor, self._called(layer, tensor))
        self._stack.append(layer)
        if self._keys is keys and layer not in keys.of:
            self._register(layer, keys)

    def _register(self, layer: Layer, keys: Keys) -> None:
        """Make the layer on top a submodule."""
        key = keys.follow(layer)
        if key is None or key in self._modules:
            self._hold(self._stack)
        else:
            self._hold_next(layer, key)

    def _hold_next(self, layer: Layer, key: str) -> None:
        """Make one more layer a submodule, after the other layers and before other attributes."""
        others = list(islice(reversed(self._modules), len(self._modules) - len(self._held_keys)))
        self._modules[key] = layer
        for other in reversed(others):
            self._modules[other] = self._modules.pop(other)
        self.__dict__["_held_keys"].append(key)
        count_levels(self, [layer])

    def _check_unique(self, layer: Layer, keys: Keys) -> None:
        """Raise ValueError if another layer of the model has the name of this one."""
        known = {layer, keys.names.get(layer.name, layer)}
        if self._graph is not None:
            known.update([tensor.keras_history.layer for tensor in self._graph.inputs])
        check_names(known)

    def _begin_with(self, layer: InputLayer) -> None:
        """Put an input below all. Raises ValueError if there are layers."""
        if self._stack or self._graph is not None:
            raise ValueError(f"Sequential {self.name!r}: an InputLayer can only come first; found {layer.name!r}.")
        self._begins_with_input = True
        self._connect(layer.input, layer.input)

    def _extend(self, layer: Layer) -> None:
        """Put a layer on top of the graph. What is found by a walk through all of it waits until it is asked for."""
        output = self._called(layer, self._graphed.outputs[0])
        if isinstance(output, KerasTensor) and self._output_form is None:
            self._set_graph(Untraced(self._graphed.inputs, [output]))
            self._generated.write_later()
            if self._frozen:
                follow_trainable(layer, True)
        else:
            self._connect(self.inputs, output)

    def _called(self, layer: Layer, tensor: KerasTensor) -> Any:
        output = layer(tensor)
        if isinstance(output, list):
            raise TypeError(
                f"All layers in a Sequential model should have a single output tensor; {layer.name!r} has "
                f"{len(output)}. For several outputs use Model."
            )
        return output

    def _keys_so_far(self) -> Keys:
        """The layers on the stack by name, and their keys as submodules."""
        if self._keys is None:
            self._hold(self._stack)
        assert self._keys is not None
        return self._keys

    def _hold(self, layers: list[Layer]) -> None:
        super()._hold(layers)
        self.__dict__["_keys"] = Keys(layers)

    def _replace(self, old: Layer, value: nn.Module) -> Layer:
        new = super()._replace(old, value)
        self._stack = [new if layer is old else layer for layer in self._stack]
        return new

    def _give_own_policy(self, layer: Layer) -> None:
        if self._layers_policy is None:
            return
        if isinstance(layer, Network):
            give_policy(layer, self._layers_policy, override=False)
        elif facts_of(layer).casts and not layer._tells_policy:
            take_policy(layer, self._layers_policy)

    def _connect_branches(self, layer: Layer) -> None:
        """Begin with a layer that was called already, such as Keras 1's Merge, and take the graph before it."""
        inputs, self._branches = trace.before(layer.output)
        self._connect(inputs, layer.output)
        self._stack = [found for found in self._graphed.layers if not isinstance(found, InputLayer)]

    def pop(self, index: int = -1) -> Any:
        """Remove a layer and return it.

        Arguments:
            index (integer, default -1): the place of the layer; a negative one counts from the end.

        Returns:
            The layer.

        Errors:
            TypeError: there are no layers.
            IndexError: there is none at the index.
        """
        if not self._stack:
            raise TypeError("There are no layers in the model.")
        removed = self._stack[index]
        if range(len(self))[index] == len(self) - 1:
            self._take_last_away()
        else:
            del self[index]
        return removed

    def _take_last_away(self) -> None:
        removed = self._stack.pop()
        if self._graph is None:
            self._hold(self._stack)
            return
        node = node_of(self._graphed.outputs[0])  # the layer may have been called elsewhere since
        calls_of(removed).remove(node)
        for tensor in node.input_tensors:
            tensor.keras_history.layer._outbound_nodes.remove(node)
        if self._stack or self._begins_with_input:
            self._connect(self.inputs, node.inputs)
        else:
            self._graph = None
            self.__dict__["built"] = False  # a layer of a graph stays built, but this is the model itself
            self._hold([])

    # --- a list of layers, as torch.nn.Sequential is one -------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._stack)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._stack)

    def __getitem__(self, index: int | slice) -> Any:
        """The layer at an index, or for a slice a model of these layers, which share their weights with this one."""
        if not isinstance(index, slice):
            return self._stack[index]
        places = range(len(self))[index]
        tensor = self._tensor_before(places[0]) if places else None
        first = [] if tensor is None else [Input(batch_shape=tensor.shape, dtype=tensor.dtype)]
        return type(self)([*first, *(self._stack[place] for place in places)])

    def __setitem__(self, index: int, layer: nn.Module) -> None:
        place = range(len(self))[index]
        self._put(place, [layer, *self._stack[place + 1 :]], self._tensor_before(place))

    def __delitem__(self, index: int | slice) -> None:
        places = range(len(self))[index] if isinstance(index, slice) else [range(len(self))[index]]
        start = min(places, default=len(self))
        kept = [place for place in range(start, len(self)) if place not in places]
        first = self._tensor_before(kept[0]) if kept else None
        self._put(start, [self._stack[place] for place in kept], first)

    def __add__(self, other: Iterable[nn.Module]) -> Sequential:
        """A model of the layers of both, which share their weights with these."""
        return self[:].extend(other)  # type: ignore[no-any-return]

    def __iadd__(self, other: Iterable[nn.Module]) -> Sequential:
        return self.extend(other)

    def insert(self, index: int, layer: nn.Module) -> Sequential:
        """Put a layer before the one at an index, counted as in `list.insert`. The layers after it keep their weights.

        Arguments:
            index (integer): the place; a negative one counts from the end.
            layer (layer or module of torch): the layer.

        Returns:
            The model.

        Errors:
            TypeError: it is no layer.
            ValueError: the layers do not fit each other. The model then stays as it was.

        Example:
            >>> model = Sequential([Dense(8, input_shape=(4,)), Dense(1)])
            >>> [type(layer).__name__ for layer in model.insert(1, Dropout(0.5))]
            ['Dense', 'Dropout', 'Dense']

        Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html
        """
        place = slice(index, None).indices(len(self))[0]
        self._put(place, [layer, *self._stack[place:]], self._tensor_before(place))
        return self

    def append(self, layer: nn.Module) -> Sequential:
        """`add`, under torch's name.

        Arguments:
            layer (layer, module of torch or Input): the layer.

        Returns:
            The model.

        Errors:
            TypeError: `layer` is none of these.
            ValueError: it does not fit.
        """
        self.add(layer)
        return self

    def extend(self, layers: Iterable[nn.Module]) -> Sequential:
        """`add` each of several layers.

        Arguments:
            layers (iterable of layers or modules of torch): the layers.

        Returns:
            The model.

        Errors:
            TypeError: one of them is neither.
            ValueError: they do not fit each other. The model then stays as it was.
        """
        self._put(len(self), list(layers), None)
        return self

    def _tensor_before(self, place: int) -> KerasTensor | None:
        """The input of the layer at a place; None if the model has no input yet."""
        if self._graph is None:
            return None
        tensor = self._graphed.outputs[0]
        for _ in self._stack[place:]:
            tensor = node_of(tensor).inputs
        return tensor

    def _put(self, start: int, layers: Sequence[nn.Module], first: KerasTensor | None) -> None:
        """Leave the first `start` layers, and put others on them. `first`: shows the input of the model without any."""
        if self._branches:
            raise ValueError(f"Sequential {self.name!r} begins with several branches: it can only `add` and `pop`.")
        layers = list(map(_layer_of, layers))
        before, inputs = self._stack[start:], self.inputs[0] if self._begins_with_input else None
        self._cut(start)
        try:
            if not start and first is not None:
                self.add(Input(batch_shape=first.shape, dtype=first.dtype))
            for layer in layers:
                self.add(layer)
        except Exception:
            self._cut(start)
            if not start and inputs is not None:
                self.add(inputs)
            for layer in before:
                self.add(layer)
            raise

    def _cut(self, start: int) -> None:
        """Take all layers away but the first `start`; the input too, if none is left."""
        while len(self) > start:
            self._take_last_away()
        if not start and self._graph is not None:
            self._graph, self._begins_with_input = None, False
            self.__dict__["built"] = False
            self._hold([])

    def build(self, input_shape: Any = None) -> None:
        """Connect the layers and make their weights, if that has not happened yet.

        Arguments:
            input_shape (tuple, default None): the shape of the input with the batch axis, such as (None, 4).

        Errors:
            ValueError: there is no shape, or no layer.

        Example:
            >>> model = Sequential([Dense(2)])
            >>> model.build((None, 4))
            >>> model.count_params()
            10
        """
        with building_alone():
            if self._graph is not None:
                return
            if input_shape is None or not self._stack:
                raise ValueError(f"Sequential {self.name!r}: build needs an input shape and at least one layer.")
            first = output = _input_for(self._stack[0], input_shape)
            for layer in self._stack:
                output = self._called(layer, output)
            self._connect(first, output)

    def _build(self, input_shapes: list[Shape]) -> None:
        if not self.built:
            shape = input_shapes[0]
            self.build(shape if any(layer.stateful for layer in self._stack) else (None, *shape[1:]))
        super()._build(input_shapes)

    @property
    def layers(self) -> list[Layer]:
        """The layers that were added, without the input."""
        return Layers(self._stack)

    def _layers_in(self, order: str) -> list[Layer]:
        """The layers in another order; in that of Keras 1 branch by branch, where several branches begin the model."""
        return [*self._branches, *self._stack[len(self._branches) :]] if order == KERAS1 else self.layers

    @property
    def _class_name(self) -> str:
        """The class in a config: "Model" when several branches begin the model, which a list of layers cannot say."""
        return "Model" if self._branches else super()._class_name

    def get_config(self) -> dict[str, Any]:
        """The name and the layers' configs; the input's shape is in the first layer's config."""
        if self._branches:
            return super().get_config()
        self._warn_of_lost()
        with registry.layers.writing(self) as written:
            config = {"name": self.name, "layers": [graph_config.layer_config(layer) for layer in self._listed()]}
        if not written.owners:  # it is no part of another config
            ties.warn_of_ties(self, written.held)
        return with_trainable(self, config)

    def _listed(self) -> list[Layer]:
        if not self._stack or self._graph is None:
            return self._stack
        first, history = self._stack[0], self.inputs[0].keras_history
        if first.batch_input_shape is None and not isinstance(first, Network):
            return [history.layer, *self._stack]
        return self._stack

    @classmethod
    def from_config(cls, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Model:
        """A new model with fresh weights. A model that began with several branches comes back as a `Model`.

        Arguments:
            config (dict or list): what `get_config` returned, or the plain list of layers that Keras wrote before
                2.2.3.
            custom_objects (dict or None, default None): your own classes and functions by name.

        Returns:
            The model, not compiled.
        """
        if "input_layers" in config:
            return Model.from_config(config, custom_objects)
        given: Mapping[str, Any] = {"layers": config} if isinstance(config, (list, tuple)) else config
        with registry.layers.reading():
            layers = [registry.layers.from_config(entry, custom_objects) for entry in given["layers"]]
        return trainable_as(given, cls(layers, name=given.get("name")))

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_keys": None}

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """`predict`, under its older name.

        Arguments:
            x (array): the inputs.
            batch_size (positive integer, default 32): samples in a batch.
            verbose (integer, default 0): 1 shows a bar, 2 a line.

        Returns:
            The outputs as a NumPy array.
        """
        return self.predict(x, batch_size, verbose)

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The class numbers: the largest of several outputs, or whether a single output is over 0.5.

        Arguments:
            x (array): the inputs.
            batch_size (positive integer, default 32): samples in a batch.
            verbose (integer, default 0): 1 shows a bar, 2 a line.

        Returns:
            The class numbers as a NumPy array.
        """
        scores = self.predict(x, batch_size, verbose)
        return scores.argmax(-1) if scores.shape[-1] > 1 else (scores > 0.5).astype("int32")


def _layer_of(added: nn.Module | KerasTensor) -> Layer:
    """What is added as a layer: of an `Input` its layer. Raises TypeError for what is no module of torch."""
    if isinstance(added, KerasTensor) and isinstance(added.keras_history.layer, InputLayer):
        return added.keras_history.layer
    layer = as_layer(added)
    if not isinstance(layer, Layer):
        raise _no_layer_error(layer)
    return layer


def _no_layer_error(found: Any) -> TypeError:
    """The error for what is added and is no layer, with advice for a function and for a class."""
    advice = " A function becomes a layer by Lambda(function)." if callable(found) else ""
    if isinstance(found, type):
        advice = f" Make a layer of the class: {found.__name__}(...)."
    shown = f"{found!r} ({type(found).__name__})"
    return TypeError(f"The added layer must be an instance of class Layer. Found: {shown}.{advice}")


def _begins_a_graph(layer: Layer) -> bool:
    """Whether a layer has been called on other tensors already; a model's first node is itself."""
    return not isinstance(layer, Network) and len(calls_of(layer)) == 1


def _first_input(layer: Layer) -> KerasTensor | None:
    """The input that a first layer asks for by its options; None when it does not."""
    if not isinstance(layer, Network):
        return None if layer.batch_input_shape is None else _input_for(layer, layer.batch_input_shape)
    if graph_if_any(layer) is None:
        return None
    inner = layer.inputs[0]
    return Input(batch_shape=inner.shape, dtype=inner.dtype, name=f"{layer.name}_input")


def _input_for(layer: Layer, batch_shape: Any) -> KerasTensor:
    """An input of this shape and of the type that a first layer takes."""
    dtype = getattr(layer, "input_dtype", None) or layer.dtype
    return Input(batch_shape=batch_shape, dtype=dtype, name=f"{layer.name}_input")
