"""Subclassed models, whose class has a `call` or `forward` of its own.

Training, names and shapes are read from a graph. Such a model has one too: its inputs, and its own code as the one
layer between them and the outputs. It is made from the first data, or by `build(input_shape)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.nested import TENSORS, TensorSlot, leaves, put_together, taken_apart
from torchkeras.engine.building.building import building_alone, move_modules
from torchkeras.engine.facts import Facts, facts_of
from torchkeras.engine.graph.input import Input
from torchkeras.engine.graph.network import Network, as_tensors, form_of, give_policy, keys_of_form
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import MODE, call_module, in_mode
from torchkeras.engine.symbolic.tensor import Shape, as_list, unpacked

ARRAYS = (*TENSORS, np.ndarray)
NO_INPUTS = ("training", "mask")  # arguments of a model's code


class Code(Layer, abstract=True):
    """The code of a model as a layer: it takes the model's inputs as a flat list, and returns what the code returns."""

    class _Facts(Facts):
        takes_strings = True

        @property
        def carries_masks(self) -> bool:  # type: ignore[override]
            return facts_of(self.layer.model).carries_masks

    def __init__(self, model: Network, form: Any):
        super().__init__(name=f"{model.name}_code")
        self.model, self._form = model, form

    def call(self, inputs: Any) -> Any:
        args, kwargs = _as_arguments(self.model, put_together(self._form, as_list(inputs)))
        with self._mode():
            outputs = call_module(self.model, *args, **kwargs)
        if type(outputs) is tuple and not self.model._gives_tuple:  # the first call, of symbolic tensors
            self.model._gives_tuple = True
        return outputs

    def _mode(self) -> AbstractContextManager[object]:
        """The mode of the layers inside: that of the step, or inference where only code that knows of it trains."""
        model = self.model
        asks = "training" in type(model)._call_signature.parameters or not model._habits.asks_for_mode
        return nullcontext() if asks or MODE.training is not None else in_mode(False, model)


def _as_arguments(model: Network, inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Inputs as arguments of the model's code: several by position or by name, where the code has several inputs."""
    parameters = list(type(model)._call_signature.parameters.values())[1:]
    plain = [each.name for each in parameters if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    names = set(plain).difference(NO_INPUTS)
    if len(names) > 1:
        if isinstance(inputs, Mapping) and set(inputs) <= names:
            return (), dict(inputs)
        if isinstance(inputs, (list, tuple)) and len(inputs) <= len(names):
            return tuple(inputs), {}
    return (inputs,), {}


class OwnCode:
    """The code of one model, and the graph around it.

    `inputs`: the form of the inputs, and the shape and type of each; None before any were seen. `has_run`: whether a
    call has ended, so that the layers which the code calls are built. `is_building`: whether the class's own `build`
    is running; then no graph is made. `network`: its graph as a model, once it is made.
    """

    def __init__(self, model: Network):
        self.model = model
        self.inputs: tuple[Any, list[tuple[Shape, torch.dtype]]] | None = None
        self.has_run = self.is_building = False
        self.network: Network | None = None

    @property
    def is_built(self) -> bool:
        """Whether the layers that the code calls are built."""
        return self.has_run or self.network is not None

    def connect(self) -> Network:
        """Make the graph, if there is none yet; this builds the layers. Raises NotBuiltError before any data."""
        with building_alone():
            if self.network is None:
                self.network = self._make_network()
            return self.network

    def _make_network(self) -> Network:
        model = self.model
        if self.inputs is None:
            self.inputs = self._inputs_of_graph()
        form, specs = self.inputs
        if not model.built:
            self.build([shape for shape, _ in specs])
        else:  # the class's own `build` was called by hand
            self._hand_policy_on()
        names = keys_of_form(form) or _input_names(model.name, len(specs))
        inputs = [Input(batch_shape=s, dtype=t, name=name) for (s, t), name in zip(specs, names, strict=True)]
        outputs = Code(model, form)(unpacked(inputs))
        made = Network(name=model.name)
        made._connect(inputs, leaves(outputs))
        model.__dict__.update(_input_form=None if form == TensorSlot(0) else form, _output_form=form_of(outputs))
        return made

    def _inputs_of_graph(self) -> tuple[Any, list[tuple[Shape, torch.dtype]]]:
        """The inputs of the model's own graph, which its code does not use. Raises NotBuiltError without a graph."""
        form, tensors = taken_apart(unpacked(graph_of(self.model).inputs))
        return form, [(tensor.shape, tensor.dtype) for tensor in tensors]

    def see(self, x: Any) -> None:
        """Learn the form, shapes and types of the inputs from arrays or tensors, if none were seen yet."""
        if self.inputs is not None:
            return
        form, arrays = taken_apart(x, ARRAYS)
        if not all(array.shape for array in arrays):  # a number has no axis of samples: no graph is made of these
            return
        some = as_tensors([array[:1] for array in arrays], (), torch.device("cpu"))
        floats = dtype_of(config.floatx())
        specs: list[tuple[Shape, torch.dtype]] = []
        for array, tensor in zip(arrays, some, strict=True):
            dtype = floats if tensor.is_floating_point() else tensor.dtype
            specs.append(((None, *array.shape[1:]), dtype))
        self.inputs = form, specs

    def see_shapes(self, input_shape: Any) -> None:
        """Expect inputs of floats of this shape, or of several in a list or dict."""
        form, shapes = _shapes_apart(input_shape)
        self.inputs = form, [(shape, dtype_of(config.floatx())) for shape in shapes]

    def see_call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Learn the form, shapes and types of the inputs from the arguments of a call."""
        inputs = {name: value for name, value in kwargs.items() if name not in NO_INPUTS}
        self.see(args[0] if len(args) == 1 and not inputs else args or inputs)

    def build(self, input_shapes: list[Any]) -> None:
        """Run the class's own `build`, during which no graph is made."""
        self.is_building = True
        try:
            self.model.build(unpacked(input_shapes))
        finally:
            self.is_building = False
        self._hand_policy_on()
        move_modules(self.model, config.device())
        self.model.built = True

    def _hand_policy_on(self) -> None:
        """Give the policy that the model was made with to its layers without one of their own."""
        if self.model._hands_policy_on and self.model._tells_policy:
            give_policy(self.model, self.model._policy, override=False)

    def state(self) -> dict[str, Any]:
        """What a copy and a pickle of the model store."""
        return {"_specs": self.inputs, "_has_run": self.has_run}

    def take_state(self, state: Mapping[str, Any]) -> None:
        """The inverse."""
        self.inputs, self.has_run = state.get("_specs"), state.get("_has_run", False)


def _input_names(model: str, count: int) -> list[str]:
    """The names of the inputs of a model's own code: numbered where there are several."""
    return [f"{model}_input_{k + 1}" for k in range(count)] if count > 1 else [f"{model}_input"]


def _shapes_apart(value: Any) -> tuple[Any, list[Shape]]:
    """(form, shapes) of a shape, or of shapes in a list or dict."""
    found: list[Shape] = []

    def slots(item: Any) -> Any:
        if isinstance(item, Mapping):
            return {key: slots(inner) for key, inner in item.items()}
        if all(size is None or isinstance(size, int) for size in item):
            found.append(tuple(item))
            return TensorSlot(len(found) - 1)
        return [slots(inner) for inner in item]

    return slots(value), found
