"""A model's architecture as Keras 3.15 writes it into `config.json` of a `.keras` file, translated from ours by tables.

What Keras 3 does not have, or computes differently under the same name, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torchkeras import bytecode, registry
from torchkeras.engine.fit.compile_options import training_config
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.operators import Operation
from torchkeras.engine.graph.trace import Graph
from torchkeras.engine.layer.facts import is_own
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.nested import POSITIONAL, bound, put_together
from torchkeras.engine.layer.symbolic import KerasTensor, Node, dtype_name, node_of
from torchkeras.engine.layer.torch_functions import BACKEND
from torchkeras.layers.attention import MASKS, Attending, Attention
from torchkeras.layers.bidirectional import Bidirectional
from torchkeras.layers.functions import Lambda
from torchkeras.layers.recurrence import Recurrent
from torchkeras.layers.wrappers import TimeDistributed
from torchkeras.saving.layer_facts import ANY, facts, inherited
from torchkeras.saving.model_file import OWN
from torchkeras.saving.write.keras3_checks import check_masks, check_modes, check_outputs
from torchkeras.saving.write.keras3_training import compile_config, function_entry

KERAS3_VERSION = "3.15.0"  # whose form we write

Plain = dict[str, Any]

# Activations that have another name in Keras 3.
ACTIVATIONS: Mapping[str, str] = {"hard_sigmoid6": "hard_sigmoid"}

FAMILIES: Mapping[str, str] = {
    "initializer": "keras.initializers",
    "regularizer": "keras.regularizers",
    "constraint": "keras.constraints",
}

OBJECTS: Mapping[str, tuple[str, ...]] = {
    "keras.initializers": (
        *("Zeros", "Ones", "Constant", "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling"),
        *("Orthogonal", "Identity"),
    ),
    "keras.regularizers": ("L1L2", "OrthogonalRegularizer"),
    "keras.constraints": ("MaxNorm", "NonNeg", "UnitNorm", "MinMaxNorm"),
}

# The options of a Lambda that may be functions, and the attributes that hold them.
LAMBDA: Mapping[str, str] = {"function": "function", "output_shape": "told_shape", "mask": "mask"}

# How layers of Keras 3 train; where ours has other options, they are written beside its config.
TRAINS: Mapping[str, Plain] = {
    "BatchNormalization": {"variance": "population", "frozen_is_fixed": True},
    "TimeDistributed": {"by_steps": True},
}

# Keras 3's classes for our operators.
OPERATIONS: Mapping[str, str] = {
    "add": "Add",
    "sub": "Subtract",
    "mul": "Multiply",
    "truediv": "TrueDivide",
    "floordiv": "FloorDivide",
    "mod": "Mod",
    "pow": "Power",
    "matmul": "Matmul",
    "neg": "Negative",
    "abs": "Absolute",
    "lt": "Less",
    "le": "LessEqual",
    "gt": "Greater",
    "ge": "GreaterEqual",
    "getitem": "GetItem",
}


def keras3_config(model: Any, compiled: bool = True) -> Plain:
    """`config.json` of a built model; with `compiled` also how it was compiled.

    Raises ValueError, with layer and option, for what Keras 3 lacks or computes differently.
    """
    writing = _Writing()
    config = writing.layer(model)
    writing.mark_shared()
    training = training_config(model) if compiled and model.optimizer is not None else None
    return {**config, "compile_config": {} if training is None else compile_config(training, model)}


class _Writing:
    """The layers written so far. A layer that occurs in several places is marked as the same in each."""

    def __init__(self) -> None:
        self.written: dict[Layer, list[Plain]] = {}
        self.of_models: set[Layer] = set()

    def mark_shared(self) -> None:
        """Number the layers that occur in several places."""
        for number, places in enumerate((p for p in self.written.values() if len(p) > 1), start=1):
            for place in places:
                place["shared_object_id"] = number

    def layer(self, layer: Any) -> Plain:
        """The entry of a layer or model."""
        if isinstance(layer, Network):
            entry = self.model(layer)
        else:
            name = type(layer).__name__
            own = is_own(type(layer))
            keras3 = facts(name).keras3
            if keras3 is None:
                raise ValueError(f"{name} {layer.name!r} has no form in Keras 3.")
            entry = _entry("keras.layers" if own else None, keras3 or name, self.options(layer))
            trains = {option: getattr(layer, option) for option in TRAINS.get(name, ())}
            if trains != TRAINS.get(name, {}):
                entry[OWN] = trains
        self.written.setdefault(layer, []).append(entry)
        return entry

    def options(self, layer: Layer) -> Plain:
        """A layer's options by Keras 3's names."""
        left_out, refused, renamed = (inherited(type(layer), fact) for fact in ("left_out", "refused", "renamed"))
        config: Plain = {}
        given = layer.get_config()
        if isinstance(layer, Bidirectional):
            given["backward_layer"] = None
        if given.pop("half_pixel", False):
            refused = {}  # "bilinear" means just this there
        if given.get("activity_regularizer", ANY) is None:  # some classes have no such option of their own
            del given["activity_regularizer"]
        for option, value in given.items():
            allowed = ANY if option in renamed else left_out.get(option)
            problem = value not in allowed if allowed else isinstance(value, str) and value in refused.get(option, ())
            if problem:
                raise ValueError(f"{type(layer).__name__} {layer.name!r}: {option} {value!r} has no form in Keras 3.")
            if allowed is None or option in renamed:
                config[renamed.get(option, option)] = self.value(layer, option, value)
        # A get_config without that of `Layer` returns all that its __init__ takes.
        told = is_own(type(layer)) or "name" in given
        return {**config, "dtype": layer.dtype_policy.name} if told else config

    def value(self, layer: Layer, option: str, value: Any) -> Any:
        """One option's value."""
        if isinstance(layer, Bidirectional) and option == "backward_layer":
            return self.layer(layer.backward_layer)
        if isinstance(layer, TimeDistributed) and layer.activity_regularizer is not None:
            raise ValueError(
                f"TimeDistributed {layer.name!r}: Keras 3 does not count the activity_regularizer of its layer. Put an "
                "ActivityRegularization(per_sample=True) after it, or save as .h5."
            )
        if option in ("layer", "cell"):
            return self.layer(getattr(layer, option))
        if option == "cells":
            return [self.layer(cell) for cell in getattr(layer, option)]
        if option.endswith("activation") and value is not None:
            return self.activation(getattr(layer, option), value)
        if isinstance(layer, Lambda) and callable(getattr(layer, LAMBDA.get(option, ""), None)):
            return value if bytecode.is_formula(getattr(layer, LAMBDA[option])) else function_entry(str(value))
        if option == "activity_regularizer":
            value = _of_each_sample(layer, value)
        if isinstance(value, Mapping) and "class_name" in value:
            return _object(FAMILIES[option.rpartition("_")[2]], value)
        return value

    def activation(self, function: Any, value: Any) -> Any:
        """An activation: a name, a layer, or a user's function."""
        if isinstance(function, Layer):
            return self.layer(function)
        own = value in registry.activations and registry.activations.find(value) is function
        return ACTIVATIONS.get(value, value) if own else function_entry(value)

    # --- models ------------------------------------------------------------------------------------------------------

    def model(self, model: Network) -> Plain:
        """The entry of a model. Raises ValueError for a layer of two models: Keras confuses its calls."""
        if model._graph is None and model._has_own_code:
            return _entry(None, model._class_name, model.get_config())
        twice = [layer for layer in model.layers if layer in self.of_models]
        if twice:
            raise ValueError(
                f"{type(twice[0]).__name__} {twice[0].name!r}: a layer of two models, one inside the other, "
                "has no form in Keras 3."
            )
        self.of_models.update(model.layers)
        config: Plain = {"name": model.name, "trainable": model.trainable}
        own_class = model._class_name not in ("Model", "Sequential")
        if model._class_name != "Model" and any(kind.__name__ == "Sequential" for kind in type(model).__mro__):
            first = [layer for layer in (model.inputs[0]._keras_history.layer,) if layer not in model.layers]
            layers = [self.layer(layer) for layer in (*first, *model.layers)]
            config |= {"layers": layers, "build_input_shape": model.input_shape}
            return _entry(None if own_class else "keras", model._class_name, config)
        graph = model._graphed
        places = {
            node: (layer.name, index) for layer in graph.layers for index, node in enumerate(graph.nodes_of(layer))
        }

        def place(tensor: KerasTensor) -> list[Any]:
            return [*places[node_of(tensor)], tensor._keras_history.tensor_index]

        check_outputs(graph)
        check_masks(graph)
        check_modes(graph)
        layers = [self.called(layer, graph, place) for layer in graph.layers]
        inputs, outputs = [place(t) for t in graph.inputs], [place(t) for t in graph.outputs]
        config |= {"layers": layers}
        for key, form, found in (
            ("input_layers", model._input_form, inputs),
            ("output_layers", model._output_form, outputs),
        ):
            config[key] = _lone(found) if form is None else put_together(form, found)
        if own_class:
            return _entry(None, model._class_name, config)
        return {**_entry("keras.src.models.functional", "Functional", config), "registered_name": "Functional"}

    def called(self, layer: Layer, graph: Graph, place: Callable[[KerasTensor], list[Any]]) -> Plain:
        """The entry of a layer in a graph, with its calls."""

        def tensor(found: KerasTensor) -> Plain:
            config = {"shape": found.shape, "dtype": dtype_name(found.dtype), "keras_history": place(found)}
            return {"class_name": "__keras_tensor__", "config": config}

        nodes = [node for node in graph.nodes_of(layer) if node.input_tensors]
        if isinstance(layer, Operation) and str(layer.function).startswith(f"{BACKEND}."):
            # As a layer of the user's own: Keras 3 says that it does not know the class.
            entry = _entry(None, type(layer).__name__, layer.get_config())
            calls = [_call(layer, node, [tensor(t) for t in node.input_tensors]) for node in nodes]
        elif isinstance(layer, Operation):
            kind = OPERATIONS.get(layer.function)
            if kind is None:
                raise ValueError(f"Operation {layer.name!r}: {layer.function!r} has no form in Keras 3 here.")
            entry = {**_entry("keras.src.ops.numpy", kind, {"name": layer.name}), "registered_name": kind}
            calls = [_operator_call(layer, [tensor(t) for t in node.input_tensors]) for node in nodes]
        else:
            entry = self.layer(layer)
            calls = [_call(layer, node, [tensor(t) for t in node.input_tensors]) for node in nodes]
        entry.update(name=layer.name, inbound_nodes=calls)  # in place: it may be marked as shared
        return entry


# --- parts of an entry -----------------------------------------------------------------------------------------------


def _entry(module: str | None, class_name: str, config: Plain) -> Plain:
    registered = class_name if module is None else None
    return {"module": module, "class_name": class_name, "config": config, "registered_name": registered}


def _object(module: str, value: Mapping[str, Any]) -> Plain:
    """An initializer, regularizer or constraint."""
    own = value["class_name"] in OBJECTS[module]
    config = dict(value["config"])
    if value["class_name"] == "VarianceScaling" and config["distribution"] == "normal":
        config["distribution"] = "truncated_normal"
    return _entry(module if own else None, value["class_name"], config)


def _of_each_sample(layer: Layer, value: Any) -> Any:
    """What is inside PerSample. Raises ValueError for another activity regularizer."""
    if not isinstance(value, Mapping) or value["class_name"] != "PerSample":
        raise ValueError(
            f"{type(layer).__name__} {layer.name!r}: Keras 3 divides its activity_regularizer by the samples of a "
            "batch. Use regularizers.PerSample, or save as .h5."
        )
    return value["config"]["regularizer"]


def _lone(places: list[Any]) -> Any:
    return places[0] if len(places) == 1 else places


# --- calls -----------------------------------------------------------------------------------------------------------


def _call(layer: Layer, node: Node, tensors: list[Plain]) -> Plain:
    """A call's arguments. Our list of inputs is split into Keras 3's named arguments."""
    given: Plain = dict(node.arguments)
    masks = given.pop("masks", "").split()
    if isinstance(layer, Attending):
        sources, hidden = tensors[: len(tensors) - len(masks)], tensors[len(tensors) - len(masks) :]
        given |= dict(zip(masks, hidden, strict=True))
        if isinstance(layer, Attention):
            two = [given.pop(name, None) for name in MASKS[:2]]
            return {"args": [sources], "kwargs": {**given, **({"mask": two} if masks else {})}}
        key = {"key": sources[2]} if len(sources) > 2 else {}
        return {"args": sources[:2], "kwargs": {**key, **given}}
    if isinstance(layer, (Recurrent, Bidirectional)):
        states = {"initial_state": tensors[1:]} if len(tensors) > 1 else {}
        return {"args": tensors[:1], "kwargs": {**given, **states}}
    if POSITIONAL in node.arguments:
        args, kwargs = bound(tensors, node.arguments)
        return {"args": list(args), "kwargs": kwargs}
    if isinstance(layer, Network) and layer._input_form is not None:
        return {"args": [put_together(layer._input_form, tensors)], "kwargs": given}
    several = isinstance(node.inputs, (list, tuple))
    return {"args": [tensors if several else tensors[0]], "kwargs": given}


def _operator_call(layer: Operation, tensors: list[Plain]) -> Plain:
    return {"args": [_argument(argument, tensors) for argument in layer.arguments], "kwargs": {}}


def _argument(argument: Any, tensors: list[Plain]) -> Any:
    """An argument of an operator. Ours are plain data, with slices as mappings."""
    if isinstance(argument, (list, tuple)):
        return [_argument(part, tensors) for part in argument]
    if not isinstance(argument, Mapping):
        return argument
    if "input" in argument:
        return tensors[argument["input"]]
    if "ellipsis" in argument:
        return {"class_name": "__ellipsis__", "config": {}}
    if "slice" not in argument:
        raise ValueError("An operator with an array among its arguments is not written to Keras 3.")
    parts = zip(("start", "stop", "step"), argument["slice"], strict=True)
    return {"class_name": "__slice__", "config": {name: _argument(part, tensors) for name, part in parts}}
