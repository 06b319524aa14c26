"""Models whose class computes by a `call` or `forward` of its own.

Training, names and shapes are read from a graph. Such a model has one too: its inputs, and its own code as the one
layer between them and the outputs. It is made from the first data, or by `build(input_shape)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from torchkeras import config
from torchkeras.base.dtype_names import dtype_of
from torchkeras.base.fixed_lists import Layers, OutputNames
from torchkeras.base.nested import TENSORS, TensorSlot, leaves, put_together, taken_apart
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.building.building import building_alone
from torchkeras.engine.graph.call_forms import as_tensors, form_of, keys_of_form
from torchkeras.engine.graph.input import Input
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import Shape

ARRAYS = (*TENSORS, np.ndarray)


class Code(Layer, abstract=True):
    """The code of a model as a layer: it takes the model's inputs flat, and gives what the model's code gives."""

    def __init__(self, model: Subclassed, form: Any):
        super().__init__(name=f"{model.name}_code")
        self.model, self._form = model, form

    def call(self, inputs: Any) -> Any:
        given = put_together(self._form, inputs if isinstance(inputs, (list, tuple)) else [inputs])
        args, kwargs = _spread(self.model, given)
        return self.model._call_module(*args, **kwargs)


def _spread(model: Subclassed, given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Inputs as arguments of the model's code: several by position or name where it asks for several."""
    asked = [
        name
        for name, each in list(type(model)._call_signature.parameters.items())[1:]
        if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and name not in ("training", "mask")
    ]
    if len(asked) > 1 and isinstance(given, Mapping) and set(given) <= set(asked):
        return (), dict(given)
    if len(asked) > 1 and isinstance(given, (list, tuple)) and len(given) <= len(asked):
        return tuple(given), {}
    return (given,), {}


class Subclassed(Network, abstract=True):
    """The part of a model that makes a graph of its own code."""

    _has_own_code = False  # whether the class computes by a `call` or `forward` of its own, not by the generated one
    _in_own_build = False
    _has_run = False  # whether a call has ended, so that the layers which the code calls are built
    _whole: Network | None = None  # the graph around the model's own code
    _specs: tuple[Any, list[tuple[Shape, torch.dtype]]] | None = None  # the form of the inputs; of each, shape and type

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        cls._has_own_code = cls._by_call or not (cls.forward.__module__ or "").startswith("torchkeras.engine.")

    @property
    def _is_connected(self) -> bool:
        return (self._graph is not None and self.built) or self._specs is not None

    @property
    def _is_settled(self) -> bool:
        return (self._has_run or self._whole is not None) if self._has_own_code else super()._is_settled

    @property
    def _computing(self) -> Network:
        """What a step computes: the model itself, or the graph around its own code."""
        if not self._has_own_code:
            return self
        if self._whole is None:
            self._connect_code()
        assert self._whole is not None
        return self._whole

    def _graph_instead(self) -> Graph:
        if self._has_own_code and self._is_connected:
            return self._computing._graphed
        return super()._graph_instead()

    def _connect_code(self) -> None:
        """Make the graph around the model's own code, which builds what that calls. RuntimeError before any data."""
        with building_alone():
            if self._whole is None:
                self._make_whole()

    def _make_whole(self) -> None:
        if self._specs is None:
            self.__dict__["_specs"] = self._specs_of_graph()
        form, specs = self._specs  # type: ignore[misc]
        if not self.built:
            self._build_own([shape for shape, _ in specs])
        names = keys_of_form(form) or _input_names(self.name, len(specs))
        inputs = [Input(batch_shape=s, dtype=t, name=name) for (s, t), name in zip(specs, names, strict=True)]
        outputs = Code(self, form)(inputs if len(inputs) > 1 else inputs[0])
        whole = Network(name=self.name)
        whole._connect(inputs, leaves(outputs))
        self.__dict__.update(_input_form=None if form == TensorSlot(0) else form, _output_form=form_of(outputs))
        self.__dict__.update(_whole=whole, _compiled_model=None)

    def _specs_of_graph(self) -> tuple[Any, list[tuple[Shape, torch.dtype]]]:
        """The form of the graph's inputs, and of each the shape and type. Raises NotBuiltError without a graph."""
        inputs = (super()._graph_instead() if self._graph is None else self._graph).inputs
        form: Any = TensorSlot(0) if len(inputs) == 1 else [TensorSlot(k) for k in range(len(inputs))]
        return form, [(tensor.shape, tensor.dtype) for tensor in inputs]

    def _connect_to(self, x: Any) -> None:
        """Make the graph for inputs like these, arrays or tensors in any form, if there is none yet."""
        if self._specs is None:
            form, arrays = taken_apart(x, ARRAYS)
            if not all(array.shape for array in arrays):  # a number has no axis of samples: no graph is made of these
                return
            some = as_tensors([array[:1] for array in arrays], (), torch.device("cpu"))
            floats = dtype_of(config.floatx())
            types = [floats if tensor.is_floating_point() else tensor.dtype for tensor in some]
            shapes = [(None, *array.shape[1:]) for array in arrays]
            self.__dict__["_specs"] = form, list(zip(shapes, types, strict=True))

    def build(self, input_shape: Any = None) -> None:
        """Make the weights. A class of your own may override it, to make weights or layers.

        Arguments:
            input_shape (tuple, list or dict, default None): the shape of the input with the batch axis; a list or dict
                of shapes for several inputs.

        Errors:
            ValueError: there is no shape.
        """
        if not self._has_own_code:
            super().build(input_shape)
            return
        self.built = True
        if self._in_own_build or self._specs is not None:
            return
        if input_shape is None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: build needs an input shape.")
        form, shapes = _shapes_apart(input_shape)
        self.__dict__["_specs"] = form, [(shape, dtype_of(config.floatx())) for shape in shapes]
        self._connect_code()

    def _build(self, input_shapes: list[Any], *further: Any) -> None:
        if not (self._has_own_code and self._graph is None):
            super()._build(input_shapes, *further)
        elif not self.built:
            self._build_own(input_shapes)

    def _build_own(self, input_shapes: list[Any]) -> None:
        """What a class of one's own does in its `build`, while no graph is made."""
        self.__dict__["_in_own_build"] = True
        try:
            self.build(input_shapes[0] if len(input_shapes) == 1 else input_shapes)
        finally:
            self.__dict__["_in_own_build"] = False
        self.built = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._has_own_code:
            return super().__call__(*args, **kwargs)
        args, kwargs = as_tensors((args, kwargs), (), self._device)
        if self._specs is None and self._graph is None and leaves((args, kwargs)) and not is_compiling():
            inputs = {name: value for name, value in kwargs.items() if name not in ("training", "mask")}
            self._connect_to(args[0] if len(args) == 1 and not inputs else args or inputs)
        if self._has_run or is_compiling():
            return Layer.__call__(self, *args, **kwargs)
        with building_alone():  # the layers that the code calls
            outputs = Layer.__call__(self, *args, **kwargs)
            self.__dict__["_has_run"] = True
        return outputs

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        if self._has_own_code:
            return Layer._infer_outputs(self, inputs, masks, arguments)
        return super()._infer_outputs(inputs, masks, arguments)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks of the outputs. A model's own code passes the masks of inputs by.

        Arguments:
            inputs (tensors): the inputs; a mask on the way may depend on them.
            mask (tensor, list or None, default None): the masks of the inputs.

        Returns:
            A mask or None; a list for several outputs.
        """
        return None if self._has_own_code else super().compute_mask(inputs, mask)

    @property
    def layers(self) -> list[Any]:
        """The layers: of a graph, farthest from the outputs first; else those that the model's code has, as made."""
        return Layers(Layer._sublayers(self)) if self._graph is None and self._has_own_code else super().layers

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs: keys, where they are a dict; `output_1` and so on for a model's own code."""
        if self._has_own_code and self._graph is None and keys_of_form(self._output_form) is None:
            return OutputNames(f"output_{k + 1}" for k in range(len(self.outputs)))
        return super().output_names

    @property
    def _output_owners(self) -> list[str]:
        return self.output_names if self._has_own_code else super()._output_owners

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_whole": None}


def _input_names(model: str, count: int) -> list[str]:
    """The names of the inputs that a model's own code gets: numbered where there are several."""
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
