"""Where a model of Keras 1 and 2 begins and ends, as scripts change it: its inputs, its outputs, its list of layers.

`model.layers.pop()` takes a layer off the list that the model has then, and no more. A script goes on from
`model.layers[-1].output`, or sets it as `model.outputs`.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any
from weakref import WeakKeyDictionary

from torchkeras.base import extensions
from torchkeras.base.extensions import members_of
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.graph.trace import Graph, graph_if_any, is_connected
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list, unpacked
from torchkeras.keras2.put_into import OfModel
from torchkeras.models import Model, Sequential

_inputs: Any = Model.inputs
_outputs: Any = Model.outputs
_layers: Any = Model.layers
_stacked: Any = Sequential.layers
_lists: WeakKeyDictionary[Graph, list[Layer]] = WeakKeyDictionary()


class Ends(OfModel):
    """The further names of models; never an object."""

    @property
    def inputs(self) -> list[KerasTensor] | None:
        """The symbolic inputs; None from `model.inputs = None` on, until `_set_inputs` sets them again."""
        return None if "_inputs_taken" in vars(self) else _inputs.fget(self)

    @inputs.setter
    def inputs(self, given: None) -> None:
        if given is not None:
            raise AttributeError(f"{self.name}: inputs may be set to None, and then by _set_inputs; found {given!r}.")
        vars(self)["_inputs_taken"] = True

    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> None:
        """Make the graph of a model without one for inputs like these, arrays or symbolic tensors.

        Raises ValueError where there is a graph already. A model whose inputs were taken away gets its own back.
        """
        given = as_list(inputs)
        own = _inputs.fget(self) if is_connected(self) else None
        taken = vars(self).pop("_inputs_taken", False)
        if own is None:
            self.build(unpacked([(None, *each.shape[1:]) for each in given]))
        elif not taken or any(a is not b for a, b in zip_longest(own, given)):
            raise ValueError(f"{self.name}: model inputs are already set: {own}.")

    @property
    def outputs(self) -> list[KerasTensor]:
        """The symbolic outputs. A list sets others, which the model computes from then on."""
        return _outputs.fget(self)

    @outputs.setter
    def outputs(self, given: Any) -> None:
        wanted = as_list(given)
        if not any(a is not b for a, b in zip_longest(self.outputs, wanted)):
            return
        if not isinstance(self, Sequential):
            self._connect(unpacked(self.inputs or []), unpacked(wanted))
            training_of(self).forget()
            return
        ends = [layer.output for layer in self.layers]
        if len(wanted) != 1 or not any(end is wanted[0] for end in ends):
            raise ValueError(
                f"{self.name}: the outputs of a Sequential are those of one of its layers; found {wanted}."
            )
        while self.outputs[0] is not wanted[0]:
            self.pop()

    @property
    def layers(self) -> list[Layer]:
        """The layers, in a list that a script may change: always the same until the model has another graph."""
        found = list(_layers.fget(self))
        graph = graph_if_any(self)
        return found if graph is None else _lists.setdefault(graph, found)


def layers_of_sequential(model: Any) -> list[Layer]:
    """The layers; of a Sequential without a graph in a list that a script may change."""
    if graph_if_any(model) is not None:
        return list(_stacked.fget(model))
    vars(model)["_keys"] = None
    return model._stack


def extend() -> None:
    """Add the names to models."""
    extensions.extend(Model, **members_of(Ends, "inputs", "_set_inputs", "outputs", "layers"))
    extensions.extend(Sequential, layers=property(layers_of_sequential))
