"""A model's architecture as Keras 3.15 writes it into `config.json` of a `.keras` file, translated from ours by tables.

What Keras 3 does not have, or computes differently under the same name, is written under a name that it refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from torchkeras import registry
from torchkeras.base.nested import POSITIONAL, bound, put_together
from torchkeras.base.texts import keras_shape, type_name
from torchkeras.engine.facts import is_own
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph.network import Network, input_form_of, output_form_of
from torchkeras.engine.graph.trace import Graph, graph_if_any, graph_of, has_own_code
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, node_of
from torchkeras.engine.weights.weight_lists import is_frozen_layer
from torchkeras.layers.attention import MASKS, Attending, Attention
from torchkeras.layers.bidirectional import Bidirectional
from torchkeras.layers.functions import Lambda
from torchkeras.layers.recurrence import Recurrent
from torchkeras.layers.wrappers import TimeDistributed
from torchkeras.registry import class_name
from torchkeras.saving import keras3_entry
from torchkeras.saving.graph_config import with_ties
from torchkeras.saving.keras3_operations import MODULES
from torchkeras.saving.layer_facts import ANY, FOREIGN, inherited, keras3_name
from torchkeras.saving.model_file import OWN
from torchkeras.saving.training_config import training_config
from torchkeras.saving.write.keras3_checks import check_masks, check_modes, check_outputs
from torchkeras.saving.write.keras3_operations import operation_form
from torchkeras.saving.write.keras3_training import compile_config, function_entry
from torchkeras.tensor_functions.torch_functions import BACKEND

if TYPE_CHECKING:
    from torchkeras.models.model import Model

KERAS3_VERSION = "3.15.0"  # whose form we write

Plain = dict[str, Any]
Call = tuple[Node, list[Plain]]  # of a layer, with its tensors

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


def keras3_form(model: Model, compiled: bool = True) -> tuple[Plain, list[str]]:
    """`config.json` of a built model, and what Keras 3 lacks or computes differently, for which it refuses the file.

    `compiled`: whether it says how the model was compiled. What Keras 3 lacks stands there in this package's own form,
    under names that Keras 3 does not know: an activation, an operation, a layer, an optimizer or, where calls differ,
    the whole model.
    """
    writing = _Writing()
    try:
        with registry.layers.writing(model) as written:
            config = with_ties(writing.layer(model), model, written)
        for entry in (entry for entries in written.shared() for entry in entries):
            entry["shared_object_id"] = entry[OWN][registry.SHARED]
    except _CallsDifferError as difference:
        with registry.layers.writing(model) as written:
            config = with_ties(_foreign(model), model, written)
        writing.unread = [str(difference)]
    compiled_as = model._own_compile_config() if compiled else {}
    if compiled_as is None:
        training = training_config(model) if model.optimizer is not None else None
        compiled_as = {} if training is None else compile_config(training, model, writing.unread)
    return {**config, "compile_config": compiled_as}, writing.unread


def entry_of(layer: Layer) -> Plain:
    """A layer or model in Keras 3's form, by itself or, while a config is being written, as a part of that."""
    if registry.WRITTEN.get() is None and isinstance(layer, Network):
        return keras3_form(layer)[0]  # type: ignore[arg-type]
    return _Writing().layer(layer)


class _CallsDifferError(ValueError):
    """A graph that Keras 3 would compute differently, or cannot make."""


class _Writing:
    """The layers written so far. `unread`: what Keras 3 cannot read, in the words of an error."""

    def __init__(self) -> None:
        self.of_models: set[Layer] = set()
        self.unread: list[str] = []

    def layer(self, layer: Layer) -> Plain:
        """The entry of a layer or model."""
        with registry.layers.writing(layer) as written:
            entry = self.model(layer) if isinstance(layer, Network) else self.single(layer)
        if (built := _build_config(layer)) is not None:
            entry["build_config"] = built
        if left := registry.left_out(layer, entry["config"]):
            entry[OWN] = {**entry.get(OWN, {}), **left}
        return written.add(layer, entry)

    def single(self, layer: Layer) -> Plain:
        """The entry of a layer that is no model."""
        name = type(layer).__name__
        keras3 = keras3_name(name)
        try:
            if not is_own(type(layer)):
                return keras3_entry.users_entry(class_name(layer), self.options(layer), type(layer))
            if (module := getattr(type(layer), "_keras3_module", None)) is not None:  # it is Keras's, and not public
                return {**keras3_entry.entry(module, name, self.options(layer)), "registered_name": name}
            if keras3 is None:
                raise ValueError(f"{name} {layer.name!r} has no form in Keras 3.")
            options = self.options(layer)
        except _CallsDifferError:
            raise
        except ValueError as error:
            self.unread.append(str(error))
            return _foreign(layer)
        entry = keras3_entry.entry("keras.layers", keras3, options)
        trains = {option: getattr(layer, option) for option in TRAINS.get(name, ())}
        if trains != TRAINS.get(name, {}):
            entry[OWN] = trains
        return entry

    def options(self, layer: Layer) -> Plain:
        """A layer's options by Keras 3's names."""
        left_out, refused, renamed = (inherited(type(layer), fact) for fact in ("left_out", "refused", "renamed"))
        config: Plain = {}
        given = _given_options(layer)
        if given.pop("half_pixel", False):
            refused = {}  # "bilinear" means just this there
        for option, value in given.items():
            name = renamed.get(option, option)
            omitted = ANY if option in renamed else left_out.get(option)
            is_written = omitted is None or option in renamed
            if _has_form(value, omitted, refused.get(option, ())):
                if is_written:
                    config[name] = self.value(layer, option, value)
                continue
            problem = f"{type(layer).__name__} {layer.name!r}: {option} {value!r} has no form in Keras 3."
            if omitted or not _is_activation(option):
                raise ValueError(problem)
            self.unread.append(problem)
            config[name] = function_entry(value, FOREIGN)
        # A get_config without that of `Layer` returns all that its __init__ takes.
        if "trainable" in config:  # there, a model that is frozen has frozen each layer inside
            config["trainable"] = layer.trainable and not is_frozen_layer(layer)
        has_policy = "dtype" not in left_out and not getattr(type(layer), "_without_policy", False)
        if (is_own(type(layer)) or "name" in given) and has_policy:
            config["dtype"] = layer.dtype_policy.name
        return config

    def value(self, layer: Layer, option: str, value: Any) -> Any:
        """One option's value. Raises ValueError for one that Keras 3 computes differently."""
        if isinstance(value, Mapping) and "module" in value:  # in Keras 3's form already
            return value
        _check_activity_regularizer(layer)
        is_backward = isinstance(layer, Bidirectional) and option == "backward_layer"
        if is_backward or option in ("layer", "cell", "cells", "layers"):
            return self.inside(layer, option)
        if _is_activation(option) and value is not None:
            return self.activation(getattr(layer, option), value)
        if isinstance(layer, Lambda) and callable(function := getattr(layer, LAMBDA.get(option, ""), None)):
            return _own_function(layer, option, function)
        if option == "activity_regularizer":
            value = _of_each_sample(layer, value)
        family = FAMILIES.get(option.rpartition("_")[2])
        if family and isinstance(value, Mapping) and "class_name" in value:
            return _object_config(family, value)
        return value

    def inside(self, layer: Layer, option: str) -> Any:
        """The entries of the layers that an option holds."""
        found = getattr(layer, option)
        if option in ("cells", "layers"):
            return [self.layer(each) for each in found]
        entry = self.layer(found)
        if isinstance(layer, Bidirectional) and option == "layer":  # the forward layer, under the name that it had
            entry["config"]["trainable"] = not is_frozen_layer(layer.forward_layer)
        return entry

    def activation(self, function: Any, value: Any) -> Any:
        """An activation: a name, a layer, or a user's function."""
        if isinstance(function, Layer):
            return self.layer(function)
        own = value in registry.activations and registry.activations.find(value) is function
        return ACTIVATIONS.get(value, value) if own else function_entry(value)

    # --- models ------------------------------------------------------------------------------------------------------

    def model(self, model: Network) -> Plain:
        """The entry of a model."""
        describes_itself = not is_own(next(cls for cls in type(model).__mro__ if "get_config" in vars(cls)))
        if describes_itself or (graph_if_any(model) is None and has_own_code(model)):
            config = model.get_config()
            if "layers" not in config:  # it is made by its class, not of a graph
                return keras3_entry.users_entry(class_name(model), config, type(model))
        twice = [layer for layer in model.layers if layer in self.of_models]
        if twice:
            raise _CallsDifferError(
                f"{type(twice[0]).__name__} {twice[0].name!r}: a layer of two models, one inside the other, has no "
                "form in Keras 3."
            )
        self.of_models.update(model.layers)
        if class_name(model) != "Model" and any(kind.__name__ == "Sequential" for kind in type(model).__mro__):
            return self.sequential(model)
        return self.functional(model)

    def sequential(self, model: Network) -> Plain:
        """The entry of a Sequential, or of a class that inherits from it."""
        inputs = model.inputs if graph_if_any(model) is not None else []
        first = [tensor.keras_history.layer for tensor in inputs[:1]]
        layers = [self.layer(layer) for layer in (*(each for each in first if each not in model.layers), *model.layers)]
        config = {**_model_options(model), "layers": layers}
        if inputs:
            config["build_input_shape"] = model.input_shape
        if class_name(model) == "Sequential":
            return keras3_entry.entry("keras", "Sequential", config)
        return keras3_entry.users_entry(class_name(model), config, type(model))

    def functional(self, model: Network) -> Plain:
        """The entry of a model of a graph."""
        graph = graph_of(model)
        place = _places_in(graph)
        _check_calls(graph)
        layers = [self.called(layer, graph, place) for layer in graph.layers]
        inputs, outputs = [place(t) for t in graph.inputs], [place(t) for t in graph.outputs]
        functional = {entry["name"] for entry in layers if "input_layers" in entry["config"]}
        for item in outputs:
            item[1] += item[0] in functional  # where outputs are named, its own graph counts as its first call
        config = {
            **_model_options(model),
            "layers": layers,
            "input_layers": _in_form(input_form_of(model), inputs),
            "output_layers": _in_form(output_form_of(model), outputs),
        }
        if class_name(model) not in ("Model", "Sequential"):
            return keras3_entry.users_entry(class_name(model), config, type(model))
        return {
            **keras3_entry.entry("keras.src.models.functional", "Functional", config),
            "registered_name": "Functional",
        }

    def called(self, layer: Layer, graph: Graph, place: Callable[[KerasTensor], list[Any]]) -> Plain:
        """The entry of a layer in a graph, with its calls."""

        def tensor(found: KerasTensor) -> Plain:
            config = {"shape": keras_shape(found), "dtype": type_name(found.dtype), "keras_history": place(found)}
            return {"class_name": "__keras_tensor__", "config": config}

        nodes = [node for node in graph.nodes_of(layer) if node.input_tensors]
        calls = [(node, [tensor(t) for t in node.input_tensors]) for node in nodes]
        if isinstance(layer, Operation):
            entry, written = self.operation(layer, calls)
        else:
            entry, written = self.layer(layer), _calls_of(layer, calls)
        entry.update(name=layer.name, inbound_nodes=written)  # in place: it may be marked as shared
        return entry

    def operation(self, layer: Operation, calls: list[Call]) -> tuple[Plain, list[Plain]]:
        """The entry of an operation, and its calls: in Keras 3's form if it has one."""
        forms: list[Any] = [operation_form(layer, node, tensors) for node, tensors in calls]
        # Options are of the operation: where they follow from a call's shapes, its calls must agree.
        if forms and None not in forms and all(form[:2] == forms[0][:2] for form in forms):
            kind, options, _ = forms[0]
            module = f"keras.src.ops.{MODULES[kind]}"
            entry = {**keras3_entry.entry(module, kind, {"name": layer.name, **options}), "registered_name": kind}
            return entry, [{"args": arguments, "kwargs": {}} for _, _, arguments in forms]
        if not str(layer.function).startswith(f"{BACKEND}."):  # which are no more Keras's than a user's own layers
            self.unread.append(f"Operation {layer.name!r}: {layer.function!r} has no form in Keras 3.")
        return _foreign(layer), _calls_of(layer, calls)


# --- parts of an entry -----------------------------------------------------------------------------------------------


def _foreign(layer: Layer) -> Plain:
    """The entry of a layer or model in this package's own form."""
    return keras3_entry.entry(None, f"{FOREIGN}{class_name(layer)}", layer.get_config())


def _build_config(layer: Layer) -> Any:
    """What a layer says, if it can, of how it was built."""
    get_build_config = getattr(layer, "get_build_config", None)
    return None if get_build_config is None else get_build_config()


def _given_options(layer: Layer) -> Plain:
    """A layer's config, with Keras 3's option of a Bidirectional, and without an option that some classes lack."""
    config = layer.get_config()
    if isinstance(layer, Bidirectional):
        config["backward_layer"] = None
    if config.get("activity_regularizer", ANY) is None:  # some classes have no such option of their own
        del config["activity_regularizer"]
    return config


def _has_form(value: Any, omitted: Any, refused: Collection[str]) -> bool:
    """Whether Keras 3 has an option's value. `omitted`: what alone an option may be that it lacks; `refused`: texts."""
    if omitted:
        return value in omitted
    return not isinstance(value, str) or value not in refused


def _check_activity_regularizer(layer: Layer) -> None:
    if isinstance(layer, TimeDistributed) and layer.activity_regularizer is not None:
        raise ValueError(
            f"TimeDistributed {layer.name!r}: Keras 3 does not count the activity_regularizer of its layer. Put an "
            "ActivityRegularization(per_sample=True) after it."
        )


def _is_activation(option: str) -> bool:
    return option.endswith("activation")


def _object_config(module: str, value: Mapping[str, Any]) -> Plain:
    """An initializer, regularizer or constraint."""
    own = value["class_name"] in OBJECTS[module]
    config = dict(value["config"])
    if value["class_name"] == "VarianceScaling" and config["distribution"] == "normal":
        config["distribution"] = "truncated_normal"
    return keras3_entry.entry(module if own else None, value["class_name"], config)


def _of_each_sample(layer: Layer, value: Any) -> Any:
    """What is inside PerSample. Raises ValueError for another activity regularizer."""
    if not isinstance(value, Mapping) or value["class_name"] != "PerSample":
        raise ValueError(
            f"{type(layer).__name__} {layer.name!r}: Keras 3 divides its activity_regularizer by the samples of a "
            "batch. Use regularizers.PerSample."
        )
    return value["config"]["regularizer"]


def _by_keys(value: Any, inside: bool = False) -> Any:
    """A nested value; a dict inside a dict by its sorted keys, in which order Keras 3 on torch does not bring it."""
    if isinstance(value, Mapping) and "class_name" not in value:
        items = {key: _by_keys(item, True) for key, item in value.items()}
        return {key: items[key] for key in sorted(items)} if inside else items
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_by_keys(item, inside) for item in value)
    return value


# --- graphs ----------------------------------------------------------------------------------------------------------


def _model_options(model: Network) -> Plain:
    return {"name": model.name, "trainable": not is_frozen_layer(model)}


def _check_calls(graph: Graph) -> None:
    """Raise _CallsDifferError for calls that Keras 3 would compute differently."""
    try:
        check_outputs(graph)
        check_masks(graph)
        check_modes(graph)
    except ValueError as error:
        raise _CallsDifferError(str(error)) from error


def _places_in(graph: Graph) -> Callable[[KerasTensor], list[Any]]:
    """What gives the place of a tensor in a graph: the layer's name, the number of its call, and that of the output."""
    calls = {node: (layer.name, index) for layer in graph.layers for index, node in enumerate(graph.nodes_of(layer))}
    return lambda tensor: [*calls[node_of(tensor)], tensor.keras_history.tensor_index]


def _in_form(form: Any, places: list[Any]) -> Any:
    """The places of a model's inputs or outputs, in the form in which the model has them."""
    if form is not None:
        return _by_keys(put_together(form, places))
    return places[0] if len(places) == 1 else places


# --- calls -----------------------------------------------------------------------------------------------------------


def _calls_of(layer: Layer, calls: list[Call]) -> list[Plain]:
    """The arguments of a layer's calls."""
    return [_call_arguments(layer, node, tensors) for node, tensors in calls]


def _attention_arguments(layer: Attending, masks: list[str], given: Plain, tensors: list[Plain]) -> Plain:
    """The arguments of a call of attention, whose masks are the last of its tensors."""
    sources, hidden = tensors[: len(tensors) - len(masks)], tensors[len(tensors) - len(masks) :]
    given = {**given, **dict(zip(masks, hidden, strict=True))}
    if isinstance(layer, Attention):
        two = [given.pop(name, None) for name in MASKS[:2]]
        return {"args": [sources], "kwargs": {**given, **({"mask": two} if masks else {})}}
    key = {"key": sources[2]} if len(sources) > 2 else {}
    return {"args": sources[:2], "kwargs": {**key, **given}}


def _call_arguments(layer: Layer, node: Node, tensors: list[Plain]) -> Plain:
    """A call's arguments. Our list of inputs is split into Keras 3's named arguments."""
    given: Plain = dict(node.arguments)
    masks = given.pop("masks", "").split()
    if isinstance(layer, Attending):
        return _attention_arguments(layer, masks, given, tensors)
    if isinstance(layer, (Recurrent, Bidirectional)):
        states = {"initial_state": tensors[1:]} if len(tensors) > 1 else {}
        return {"args": tensors[:1], "kwargs": {**given, **states}}
    if POSITIONAL in node.arguments:
        args, kwargs = bound(tensors, node.arguments)
        return {"args": _by_keys(list(args)), "kwargs": {key: _by_keys(value) for key, value in kwargs.items()}}
    if isinstance(layer, Network) and input_form_of(layer) is not None:
        return {"args": [_by_keys(put_together(input_form_of(layer), tensors))], "kwargs": given}
    several = isinstance(node.inputs, (list, tuple))
    return {"args": [tensors if several else tensors[0]], "kwargs": given}


def _own_function(layer: Lambda, option: str, function: Any) -> Any:
    """The function that an option of a Lambda holds."""
    written = layer._written(option, function)
    return function_entry(written) if isinstance(written, str) else written
