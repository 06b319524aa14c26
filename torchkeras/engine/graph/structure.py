"""What a graph of layers says of itself: its layers, inputs, outputs and weights, and the table of them."""

from __future__ import annotations

from math import prod
from typing import Any

from torchkeras.base.fixed_lists import InputNames, Inputs, Layers, OutputNames, Outputs
from torchkeras.base.naming import Unused
from torchkeras.base.nested import slots_as_written, slots_on_torch
from torchkeras.base.rules import integer, read
from torchkeras.engine.graph.call_forms import keys_of_form
from torchkeras.engine.graph.trace import Graph, layers_as_written
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, unpacked
from torchkeras.engine.weights.weight import Variable, own_variables
from torchkeras.engine.weights.weight_lists import KERAS1, TORCH, WRITTEN, distinct

SLOTS = {WRITTEN: slots_as_written, TORCH: slots_on_torch}  # of the forms of inputs and outputs, in another order


class NotBuiltError(RuntimeError, AttributeError):
    """A model has no graph yet. `hasattr` and `inspect.getmembers` pass over the properties that need one."""


class Structure(Layer, abstract=True):
    """The part of a network that tells what it consists of."""

    _graph: Graph | None = None
    # Of inputs and outputs that are no tensor and no plain list; see `engine.graph.call_forms`.
    _input_form: Any = None
    _output_form: Any = None

    @property
    def _is_connected(self) -> bool:
        """Whether the model knows its inputs and outputs, and no thread is still building it."""
        return self._graph is not None and self.built

    @property
    def _is_settled(self) -> bool:
        """Whether all that it computes with is built."""
        return self.built

    @property
    def _graphed(self) -> Graph:
        return self._graph_instead() if self._graph is None else self._graph

    def _graph_instead(self) -> Graph:
        """What stands for the graph where there is none. Raises NotBuiltError."""
        raise NotBuiltError(
            f"{type(self).__name__} {self.name!r} has no graph yet: its first layer needs an input_shape, or call the "
            "model on data, or call build(input_shape)."
        )

    @property
    def layers(self) -> list[Layer]:
        """The layers, farthest from the outputs first."""
        return Layers(() if self._graph is None else self._graph.layers)

    def _layers_in(self, order: str) -> list[Layer]:
        """The layers in another order: `KERAS1`, `WRITTEN` or `TORCH`."""
        if order in SLOTS and self._graph is not None:
            return layers_as_written(self._graph, self._input_form, self._output_form, SLOTS[order])
        return self.layers

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """A layer by its name, or by its place in `layers`.

        Arguments:
            name (text or None, default None): the name.
            index (integer or None, default None): the place. Where the name is given as well, it must be that layer's.

        Returns:
            The layer.

        Errors:
            ValueError: there is no such layer, neither is given, or both and they are of two layers.

        Example:
            >>> model = Sequential([Dense(8, input_shape=(4,), name="hidden"), Dense(1)])
            >>> model.get_layer("hidden").units
            8

        Source: https://keras.io/api/models/model/
        """
        if index is not None:
            read("get_layer", "index", integer(), index)
            layers = self.layers
            if not -len(layers) <= index < len(layers):
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(layers)} layers."
                )
            if name not in (None, layers[index].name):
                raise ValueError(
                    f"get_layer: name and index are of two layers: found {name!r}, and {layers[index].name!r} at "
                    f"{index}. Give one of them."
                )
            return layers[index]
        if name is None:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name!r}. The layers are {', '.join(layer.name for layer in self.layers)}.")

    @property
    def inputs(self) -> list[KerasTensor]:
        """The symbolic inputs."""
        return Inputs(self._graphed.inputs)

    @property
    def outputs(self) -> list[KerasTensor]:
        """The symbolic outputs."""
        return Outputs(self._graphed.outputs)

    @property
    def input(self) -> Any:
        """The symbolic input, or a list of them."""
        return unpacked(self.inputs)

    @property
    def output(self) -> Any:
        """The symbolic output, or a list of them."""
        return unpacked(self.outputs)

    @property
    def input_shape(self) -> Any:
        """The shape of the input, or a list of them."""
        return unpacked([tensor.shape for tensor in self.inputs])

    @property
    def output_shape(self) -> Any:
        """The shape of the output, or a list of them."""
        return unpacked([tensor.shape for tensor in self.outputs])

    @property
    def input_names(self) -> list[str]:
        """The names of the input layers."""
        return InputNames(tensor._keras_history.layer.name for tensor in self._graphed.inputs)

    @property
    def output_names(self) -> list[str]:
        """The name of the layer of each output; a layer with several gets `_1`, `_2` and so on added.

        Of outputs in a dict, the keys.
        """
        if self._output_form is not None and (keys := keys_of_form(self._output_form)) is not None:
            return OutputNames(keys)
        return OutputNames(self._names_by_layers)

    @property
    def _names_by_layers(self) -> list[str]:
        """Distinct names of the outputs, made of those of their layers."""
        names = self._output_layer_names
        return names if len(set(names)) == len(names) else list(map(Unused(mark="_"), names))

    @property
    def _output_owners(self) -> list[str]:
        """For each output the name that stands for it and all others of its layer: the layer's, or the output's own."""
        by_layers = self._output_form is None or keys_of_form(self._output_form) is None
        return self._output_layer_names if by_layers else self.output_names

    @property
    def _output_layer_names(self) -> list[str]:
        """The name of the layer of each output."""
        return [tensor._keras_history.layer.name for tensor in self._graphed.outputs]

    @property
    def stateful(self) -> bool:  # type: ignore[override]
        """Whether any layer carries state from batch to batch."""
        return any(layer.stateful for layer in self.layers)

    def _sublayers(self) -> list[Layer]:
        return self._with_others([] if self._graph is None else self._graph.layers)

    def _sublayers_in(self, order: str) -> list[Layer]:
        return self._with_others(self._layers_in(order))

    def _with_others(self, layers: list[Layer]) -> list[Layer]:
        """The layers of the graph, then those that the model holds beside it, as attributes."""
        return list(dict.fromkeys([*layers, *super()._sublayers()]))

    def _ordered_weights(self) -> list[Variable]:
        # get_weights follows the layers (those of a model that only Keras 1 has, in its order); `weights` lists those
        # that train first.
        variables = [variable for layer in self._sublayers_in(KERAS1) for variable in layer.weights]
        return distinct([*variables, *own_variables(self)])

    def _check_has_weights(self) -> None:
        """Raise NotBuiltError for a model whose weights are still to be made."""
        if not (self._is_connected or self.built or self.weights):
            self._graph_instead()

    def get_weights(self) -> list[Any]:
        """The values of all weights as NumPy arrays, in Keras's order of axes.

        Returns:
            A list of arrays.

        Errors:
            RuntimeError: the model has no weights yet, since its input shape is not known.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,))])
            >>> [array.shape for array in model.get_weights()]
            [(4, 2), (2,)]
        """
        self._check_has_weights()
        return super().get_weights()

    def count_params(self) -> int:
        """The number of values in all weights, a shared one counted once. Raises RuntimeError before they are made."""
        self._check_has_weights()
        return sum(prod(variable.shape) for variable in self.weights)
