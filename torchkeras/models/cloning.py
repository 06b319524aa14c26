"""`clone_model`: the same architecture with new layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torchkeras import registry
from torchkeras.base.python import attributes_of
from torchkeras.base.rules import CUSTOM_OBJECTS, FLAG_OR_DIGIT, check, known_options
from torchkeras.engine.facts import is_users_method
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.graph.network import as_given
from torchkeras.engine.graph.trace import graph_if_any, graph_of, has_own_code
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import options_of
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list
from torchkeras.models.model import Model, trainable_as, with_trainable
from torchkeras.models.on_use import extra_keys, graph_config, ties
from torchkeras.models.sequential import Sequential

OURS = __name__.partition(".")[0]


@known_options
def clone_model(
    model: Model,
    input_tensors: Any = None,
    clone_function: Callable[[Any], Any] | None = None,
    call_function: Callable[..., Any] | None = None,
    recursive: bool = False,
    custom_objects: Mapping[str, Any] | None = None,
) -> Model:
    """The same architecture with new layers and fresh weights.

    Layers, functions and objects of your own need no `custom_objects`: the model has them. A layer that several models
    or layers inside share is one layer in the copy, too; `clone_function` is called once for it.

    Arguments:
        model (model): the model; it stays as it is.
        input_tensors (symbolic tensors or None, default None): the inputs of the new model; None makes new ones.
        clone_function (function or None, default None): makes the new layer of each layer, an inner model included,
            but not of an input; None makes it from the layer's config.
        call_function (function or None, default None): `call_function(layer, *args, **kwargs)` calls each new layer of
            a graph, and may put layers before or after it; None calls the layer.
        recursive (bool, default False): whether `clone_function` and `call_function` are given the layers of inner
            models too, and not those models.
        custom_objects (dict or None, default None): classes and functions by name, in place of the model's own.

    Returns:
        The new model, not compiled.

    Errors:
        TypeError: `model` is no model, `input_tensors` holds something else, or `clone_function` returns no layer.
        ValueError: the number of inputs is not the model's, or `call_function` is given for a Sequential.

    Example:
        >>> model = Sequential([Dense(2, input_shape=(4,))])
        >>> clone_model(model).output_shape
        (None, 2)

    Source: https://keras.io/api/models/model/
    """
    if not isinstance(model, Model):
        raise TypeError(f"clone_model: model must be a model of torchkeras; found {type(model).__name__}.")
    check("clone_model", CUSTOM_OBJECTS, custom_objects=custom_objects)
    check("clone_model", FLAG_OR_DIGIT, recursive=recursive)
    for option, function in (("clone_function", clone_function), ("call_function", call_function)):
        if function is not None and not callable(function):
            raise TypeError(f"clone_model: {option} must be a function; found {function!r}.")
    if call_function is not None and isinstance(model, Sequential):
        raise ValueError(f"clone_model: call_function is for graphs; {model.name!r} is a Sequential.")
    inputs = None if input_tensors is None else _checked(model, as_list(input_tensors))
    with registry.layers.writing(None, copying=True) as written, registry.layers.reading() as made:
        copied = _Copied(written, made)
        cloning = _Cloning(clone_function, call_function, bool(recursive), custom_objects or {}, copied)
        new = cloning.copy(model, inputs)
    if clone_function is None:
        ties.tie(new, ties.ties_of(model, written.held))
    return new


def _checked(model: Model, given: list[Any]) -> list[KerasTensor]:
    strange = [each for each in given if not isinstance(each, KerasTensor)]
    if strange:
        raise TypeError(f"clone_model: input_tensors must be symbolic tensors, as Input gives; found {strange[0]!r}.")
    if len(given) != len(model.inputs):
        raise ValueError(f"clone_model: {model.name!r} has {len(model.inputs)} inputs; found {len(given)}.")
    return given


@dataclass(frozen=True)
class _Copied:
    """The copies that were made: each layer has a number, by which configs name it, too."""

    written: registry.Written
    made: dict[int, Any]

    def of(self, layer: Layer, copy: Callable[[Any], Any]) -> Any:
        """The copy of a layer, made once."""
        self.written.hold(layer)
        number = self.written.number_of(layer)
        if self.made.get(number) is None:
            self.made[number] = copy(layer)
        return self.made[number]


class _Cloning:
    """The options of `clone_model`, and what they make of a model and of a layer."""

    def __init__(
        self,
        clone_function: Callable[[Any], Any] | None,
        call_function: Callable[..., Any] | None,
        recursive: bool,
        custom_objects: Mapping[str, Any],
        copied: _Copied,
    ):
        self.clone_function, self.call_function = clone_function, call_function
        self.recursive, self.custom_objects, self.copied = recursive, custom_objects, copied

    def copy(self, model: Model, inputs: list[KerasTensor] | None) -> Any:
        """The copy of a model, with what is frozen in it."""
        made = self.model(model, inputs)
        if self.clone_function is None:
            frozen, known = extra_keys.Frozen.of(model).layers, dict(made.named_modules())
            extra_keys.Frozen([name for name in frozen if name in known]).freeze_layers(made, "clone_model")
        return made

    def model(self, model: Model, inputs: list[KerasTensor] | None = None) -> Any:
        """The copy of a model, on new inputs or on these."""
        own = is_users_method(type(model), "from_config")
        if own or (graph_if_any(model) is None and has_own_code(model)) or getattr(model, "_branches", ()):
            return self.from_config(model)
        with registry.layers.writing(model):
            return self.sequential(model, inputs) if isinstance(model, Sequential) else self.functional(model, inputs)

    def sequential(self, model: Sequential, inputs: list[KerasTensor] | None) -> Any:
        """A Sequential of copies."""
        made = type(model)(name=model.name)
        listed = model._listed()
        if inputs is not None:
            made.add(inputs[0].keras_history.layer)
        elif listed and isinstance(listed[0], InputLayer):
            made.add(InputLayer.from_config(listed[0].get_config()))
        for layer in model.layers:
            copy = self.layer(layer)
            if inputs is not None:
                copy.batch_input_shape = None  # that of the input counts
            made.add(copy)
        return trainable_as(with_trainable(model, {}), made)

    def functional(self, model: Model, inputs: list[KerasTensor] | None) -> Any:
        """A graph, with copies of its layers."""
        config = model.get_config()
        layers = [layer for layer in graph_of(model).layers if not isinstance(layer, InputLayer)]
        copies = {layer.name: (layer, self.layer(layer)) for layer in layers}
        given = None if inputs is None else dict(zip(model.input_names, inputs, strict=True))
        calling = {} if self.call_function is None else {"calling": self.call_function}
        tensors = graph_config.connect(config, self.custom_objects, given, copies, **calling)
        return trainable_as(config, type(model)(*as_given(model, *tensors), name=model.name))

    def layer(self, layer: Layer) -> Any:
        """The copy of a layer. Raises TypeError if `clone_function` returns something else."""
        return self.copied.of(layer, self.new_layer)

    def new_layer(self, layer: Layer) -> Any:
        """A new copy of a layer."""
        if isinstance(layer, Model) and self.recursive:
            return self.model(layer)
        if self.clone_function is None:
            plain = _Cloning(None, None, False, self.custom_objects, self.copied)
            return plain.model(layer) if isinstance(layer, Model) else plain.from_config(layer)
        made = self.clone_function(layer)
        if not isinstance(made, Layer):
            raise TypeError(f"clone_model: clone_function must return a layer; of {layer.name!r} it made {made!r}.")
        return made

    def from_config(self, layer: Layer) -> Any:
        """A layer or model made from its config, by the classes and functions that it has itself."""
        return registry.layers.from_config(
            graph_config.layer_config(layer), {**_objects_of(layer), **self.custom_objects}
        )


def _objects_of(layer: Layer) -> dict[str, Any]:
    """The classes and functions of the user's own that a layer has, by the names that its config has for them."""
    found: dict[str, Any] = {}
    pending = [layer, *(value for value in attributes_of(layer).values() if isinstance(value, Layer))]
    for each in (part for owner in pending for part in owner.modules() if isinstance(part, Layer)):
        found |= _users(each)
        for value in attributes_of(each).values():
            found |= _users(value)
        found |= _users_options(each)
    return found


def _users_options(layer: Layer) -> dict[str, Any]:
    """The options of a layer that are functions of the user's, by the names that its config has for them."""
    options = {name: getattr(layer, option.field, None) for name, option in options_of(layer).items()}
    functions = {name: value for name, value in options.items() if callable(value) and not _is_of_package(value)}
    config = layer.get_config() if functions else {}
    return {config[name]: value for name, value in functions.items() if isinstance(config.get(name), str)}


def _users(value: Any) -> dict[str, Any]:
    """A function, or the class of an object with a config, by its name; nothing for what is not the user's."""
    if not hasattr(value, "get_config"):
        name = getattr(value, "__name__", None)
        return {name: value} if callable(value) and isinstance(name, str) and not _is_of_package(value) else {}
    return {} if _is_of_package(type(value)) else {type(value).__name__: type(value)}


def _is_of_package(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] == OURS
