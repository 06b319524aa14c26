"""`Network`: a graph of layers as one layer, and as an `nn.Module` that runs a generated `forward`.

Inputs and outputs may be dicts, nested values, arguments by name and arrays; inside they are flat lists of tensors.

A layer with a name of its own is registered as a submodule by it. One without is called `dense_3` because two others
were made before it in the process; the next process, or the next run of a notebook's cell, does not repeat that. So it
is registered by its class and its place among those of its class in the model: `dense_a`, `dense_b`. No layer gets such
a name by itself, so `model.dense_3` is the layer of that name, and `model.dense_a` the first Dense.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain
from math import prod
from operator import attrgetter
from string import ascii_lowercase
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.fx import Proxy

from torchkeras import config
from torchkeras.base import python
from torchkeras.base.dtypes import DTypePolicy, policy_of
from torchkeras.base.fixed_lists import InputNames, Inputs, Layers, OutputNames, Outputs
from torchkeras.base.naming import Unused
from torchkeras.base.nested import (
    TENSORS,
    TensorSlot,
    attributes_of,
    is_flat,
    leaves,
    mapped,
    put_together,
    slots_as_written,
    slots_on_torch,
    taken_apart,
)
from torchkeras.base.rules import integer, known_options, read
from torchkeras.base.texts import STRING, are_strings, tensor_of_strings
from torchkeras.base.torch_tables import own_modules
from torchkeras.base.tracing import compiled_somewhere, is_compiling
from torchkeras.engine.building.building import building_alone
from torchkeras.engine.dtypes import agree_on_policy, cast_inputs, take_policy
from torchkeras.engine.facts import Facts, facts_of
from torchkeras.engine.graph import trace
from torchkeras.engine.graph.codegen import GeneratedFunctions
from torchkeras.engine.graph.fx_tracing import traced
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.graph.layer_calls import DirectCalls
from torchkeras.engine.graph.named_inputs import ByInputNames, parameter_names, with_names
from torchkeras.engine.graph.trace import Graph, graph_if_any, layer_names
from torchkeras.engine.layer.added_losses import ADDED
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import call_module
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, Shape, as_list, channels_hint, unpacked
from torchkeras.engine.weights.weight import NO_MEMORY, Variable, own_variables
from torchkeras.engine.weights.weight_lists import KERAS1, TORCH, WRITTEN, distinct, follow_trainable

# --- forms of inputs and outputs --------------------------------------------------------------------------------------


OPTIONS = ("mask", "details", "logits", "training")  # arguments of a model's call that are no inputs


def form_of(value: Any) -> Any:
    """The form of nested inputs or outputs; None for a tensor, or a plain list of them."""
    form, tensors = taken_apart(value)
    return None if is_flat(value) or not tensors else form


def input_form_of(network: Network) -> Any:
    """The form of a network's inputs, as `form_of` gives it."""
    return network._input_form


def output_form_of(network: Network) -> Any:
    """The form of a network's outputs, as `form_of` gives it."""
    return network._output_form


def as_given(network: Network, inputs: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, Any]:
    """Tensors in place of a network's inputs and outputs, in the forms of those that it was made with.

    Each is one tensor, a list, or another form; outputs may be a tuple.
    """
    of_inputs, of_outputs = unpacked(inputs), tuple(outputs) if network._gives_tuple else unpacked(outputs)
    return (
        of_inputs if network._input_form is None else put_together(network._input_form, inputs),
        of_outputs if network._output_form is None else put_together(network._output_form, outputs),
    )


def device_of(network: Network) -> torch.device:
    """The device that a network's inputs go to: that of its first weight, else the default device."""
    return network._weights_device


PLAIN = (type(None), bool, int, float, str)  # what an output object may hold beside its tensors


def others_in(form: Any, objects: bool) -> list[Any]:
    """The values in a form that are no slots.

    With `objects` it may have objects with tensors, such as dataclasses, which hold plain values too.
    """
    if isinstance(form, TensorSlot):
        return []
    if isinstance(form, (Mapping, list, tuple)):
        items = form.values() if isinstance(form, Mapping) else form
        return [other for item in items for other in others_in(item, objects)]
    if objects and taken_apart(form, TensorSlot)[1]:
        found = others_in(list(attributes_of(form).values()), objects)
        return [other for other in found if not isinstance(other, PLAIN)]
    return [form]


def keys_of_form(form: Any) -> list[str] | None:
    """The keys of a flat dict of tensors, in the order of the tensors; None for another form."""
    if isinstance(form, Mapping) and all(isinstance(slot, TensorSlot) for slot in form.values()):
        return sorted(form, key=lambda key: form[key].index)
    return None


def input_names_of(form: Any, inputs: Sequence[KerasTensor]) -> list[str]:
    """The names of a model's inputs for its `forward`: the keys of the dict that it was made with, else its layers'."""
    if form is None:
        return layer_names(inputs)
    keys = keys_of_form(form) or [None]
    return keys if all(isinstance(key, str) for key in keys) else layer_names(inputs)  # type: ignore[return-value]


def is_deep(form: Any) -> bool:
    """Whether a form has lists or dicts inside a list or dict."""
    parts = form.values() if isinstance(form, Mapping) else form
    return isinstance(form, (list, tuple, Mapping)) and not all(isinstance(each, TensorSlot) for each in parts)


def slots_with(form: Any, value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[int, tuple[Any, ...], Any]]:
    """(index, path, value) of each slot of a form that a value nested in the same way, or a part of it, has.

    None stands for none inside. Raises ValueError for a value of another form.
    """
    if isinstance(form, TensorSlot):
        yield form.index, path, value
    elif isinstance(form, Mapping) and isinstance(value, Mapping) and value.keys() <= form.keys():
        for key, each in value.items():
            yield from slots_with(form[key], each, (*path, key))
    elif isinstance(form, (list, tuple)) and isinstance(value, (list, tuple)) and len(value) == len(form):
        for place, each in enumerate(value):
            yield from slots_with(form[place], each, (*path, place))
    elif value is not None:
        raise ValueError(f"{value!r} is not nested as {form!r}.")


def flat(form: Any, value: Any, what: str) -> list[Any]:
    """The items of a nested value at the slots of a form, in the order of the slots.

    Raises ValueError, which begins with `what`, for a value of another form.
    """
    found: dict[int, Any] = {}
    _match(form, value, what, found)
    return list(map(found.__getitem__, sorted(found)))


def _match(form: Any, value: Any, where: str, found: dict[int, Any]) -> None:
    if isinstance(form, TensorSlot):
        found[form.index] = value
    elif isinstance(form, Mapping):
        _check_keys(form, value, where)
        for key, inner in form.items():
            _match(inner, value[key], f"{where}[{key!r}]", found)
    elif isinstance(form, (list, tuple)):
        _check_count(form, value, where)
        for index, inner in enumerate(form):
            _match(inner, value[index], f"{where}[{index}]", found)
    elif not isinstance(form, PLAIN):
        _check_class(form, value, where)
        for name, inner in attributes_of(form).items():
            _match(inner, getattr(value, name), f"{where}.{name}", found)


def _check_class(form: Any, value: Any, where: str) -> None:
    """Raise ValueError for a value that is no object of the class of a form."""
    if type(value) is not type(form):
        raise ValueError(f"{where} takes a {type(form).__name__}; found {type(value).__name__}.")


def _check_keys(form: Mapping[Any, Any], value: Any, where: str) -> None:
    """Raise ValueError for a value that is no dict with the keys of a form."""
    if not isinstance(value, Mapping) or set(value) != set(form):
        keys = sorted(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
        raise ValueError(f"{where} takes a dict with the keys {', '.join(map(str, form))}; found {keys}.")


def _check_count(form: Sequence[Any], value: Any, where: str) -> None:
    """Raise ValueError for a value that is no list of as many items as a form."""
    if not isinstance(value, (list, tuple)) or len(value) != len(form):
        count = f"{len(value)} items" if isinstance(value, (list, tuple)) else type(value).__name__
        raise ValueError(f"{where} takes a list of {len(form)} items; found {count}.")


def in_order(form: Any, value: Any, tensors: Sequence[Any], what: str) -> Any:
    """The items of a nested value in the order of a model's inputs or outputs, `tensors`; a single one as it is.

    A list in place of a dict has Keras's order, that of the sorted keys. Raises ValueError, which begins with `what`,
    if the dict was written in another order and the shapes leave open which is meant; and as `flat`.
    """
    if isinstance(value, Mapping):
        return flat(form, value, what)
    if len(tensors) == 1 and isinstance(form, Mapping):
        return value
    if not isinstance(value, (list, tuple)) or len(value) != len(tensors) or any(map(_is_nested, value)):
        return flat(form, value, what)
    order = slots_as_written(form)
    if order != sorted(order) and all(tensors[k].shape == each.shape for k, each in zip(order, tensors, strict=True)):
        raise ValueError(
            f"{what} takes the form {_shown(form)}; found a list. Keras sorts the keys of a dict, and they were "
            "written in another order: give a dict."
        )
    return list(value)


def _is_nested(value: Any) -> bool:
    return isinstance(value, (list, tuple, Mapping))


def _shown(form: Any) -> str:
    """A form as text, with a point for each slot."""
    if isinstance(form, Mapping):
        return f"{{{', '.join(f'{key!r}: {_shown(item)}' for key, item in form.items())}}}"
    return f"[{', '.join(map(_shown, form))}]" if isinstance(form, (list, tuple)) else "..."


def inputs_of_call(
    what: str, inputs: Sequence[Any], form: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with its inputs in the form of a model's generated code: one, or a list of them.

    `inputs`: the symbolic ones. Inputs may come in the form that the model was made with, or by name, as arguments or
    in a dict. Raises ValueError for inputs that are missing, doubled, too many or unknown, and for a list in place of a
    dict whose order is in doubt; TypeError for a number.
    """
    by_name = {name: kwargs.pop(name) for name in list(kwargs) if name not in OPTIONS}
    if by_name:
        names = input_names_of(form, inputs)
        renamed = by_name
        if not set(by_name).issubset(names):
            others = (layer_names(inputs), parameter_names(names))  # which the same inputs have
            known = {other: name for each in others for other, name in zip(each, names, strict=True)}
            renamed = {known.get(name, name): value for name, value in by_name.items()}
        first = names[: len(args)]
        doubled = len(renamed) < len(by_name) or not set(renamed).isdisjoint(first)
        if doubled or len(first) < len(args) or any(map(_is_nested, args)):
            by_position = f"{', '.join(type(each).__name__ for each in args)} by position, " if args else ""
            found = f"{by_position}{', '.join(by_name)} by name"
            raise ValueError(f"{what}: each input comes once, by position or by name; found {found}.")
        args = ({**dict(zip(first, args, strict=True)), **renamed},)
    elif len(args) > 1:
        args = (list(args),)
    if not args or isinstance(args[0], (np.ndarray, Proxy)) or (form is None and is_flat(args[0])):
        return args, kwargs
    return (_inputs_in_order(what, inputs, form, args[0]),), kwargs


def _inputs_in_order(what: str, inputs: Sequence[Any], form: Any, value: Any) -> Any:
    """Nested inputs, or inputs by name, in the order of the symbolic `inputs`; a single one as it is."""
    names = layer_names(inputs)
    if is_by_name(form, names, value):
        value = [value[name] for name in names]
    elif form is not None:
        value = in_order(form, value, inputs, f"{what}: its call")
        if is_flat(value):
            return value
    elif isinstance(value, Mapping):
        raise ValueError(f"{what} has the inputs {', '.join(names)}; it was called with {', '.join(map(str, value))}.")
    elif not hasattr(value, "__len__"):
        raise TypeError(f"{what}: its call takes tensors or arrays; found {value!r}, of type {type(value).__name__}.")
    return unpacked(value)


def is_by_name(form: Any, names: Sequence[str], value: Any) -> bool:
    """Whether inputs are a dict by the names of the inputs, and not in the form that the model was made with."""
    if not isinstance(value, Mapping) or set(value) != set(names):
        return False
    return not isinstance(form, Mapping) or set(value) != set(form)


def of_needed_keys(form: Any, names: Sequence[str], value: Any) -> Any:
    """A dict of inputs without the keys that a model has no input for; anything else as it is.

    The keys are those of the dict that the model was made with, or the names of its inputs, in their order.
    """
    needed = names if form is None else form
    if not isinstance(value, Mapping) or (form is not None and not isinstance(form, Mapping)):
        return value
    return {key: value[key] for key in needed} if set(needed) < set(value) else value


def has_arrays(value: Any) -> bool:
    """Whether a nested value holds NumPy's arrays."""
    return bool(taken_apart(value, (np.ndarray,))[1])


def as_tensors(
    value: Any,
    inputs: Sequence[tuple[torch.dtype, int, str]],
    device: torch.device,
    floats: torch.dtype | None = None,
) -> Any:
    """The same nested value with NumPy's arrays as tensors on a device.

    `inputs`: the type and the number of axes of each, and what errors call one of strings. `floats`: the type of arrays
    of floats beyond these, by default their own. Raises TypeError where an input takes strings, and an array has none.
    """
    remaining = iter(inputs)

    def tensor(value: Any) -> Any:
        dtype, ndim, name = python.first(remaining, (None, None, ""))
        if not isinstance(value, np.ndarray):
            return value
        if dtype == STRING:
            return tensor_of_strings(value, name, ndim).to(device)
        if value.dtype.kind in "SUO":
            return value  # of strings, for a model of the user's that takes them
        made = torch.as_tensor(value, device=device)
        if dtype is None and made.is_floating_point():
            dtype = floats
        return made if dtype is None else made.to(dtype)

    return mapped(value, tensor, (np.ndarray, *TENSORS))


def type_of(network: Any, tensor: Any) -> torch.dtype:
    """The type a symbolic tensor has now, which is another after `model.half()` or `model.double()`."""
    return float_type(network, tensor.dtype) if tensor.dtype.is_floating_point else tensor.dtype


def float_type(network: Any, otherwise: torch.dtype) -> torch.dtype:
    """The type of a model's weights, `otherwise` for a model without any."""
    return next((p.dtype for p in parameters_of(network) if p.is_floating_point()), otherwise)


def parameters_of(module: nn.Module) -> Iterator[nn.Parameter]:
    """As `module.parameters()`, but shared ones come again. For a caller that needs the first: it comes sooner."""
    pending: list[nn.Module | None] = [module]
    while pending:
        each = pending.pop()
        if each is not None:
            for parameter in each._parameters.values():
                if parameter is not None:
                    yield parameter
            pending += reversed(each._modules.values())


def in_form(form: Any, outputs: Any) -> Any:
    """Flat outputs, one or a list, in the form of the outputs that the model was made with.

    A value of torch.fx stands for outputs that have the form already.
    """
    return outputs if form is None or isinstance(outputs, Proxy) else put_together(form, as_list(outputs))


# --- names of submodules ----------------------------------------------------------------------------------------------


def keys_of(layers: Iterable[Any]) -> dict[Any, str]:
    """The key of each layer, in their order; without dots, at which torch splits the keys of a state_dict."""
    return Keys(layers).of


class Keys:
    """The keys of layers, and what the keys of further layers depend on.

    `count`: the pattern of what ends an automatic name, where it is not that of each layer.
    """

    def __init__(self, layers: Iterable[Any], count: str | None = None):
        self.of: dict[Any, Any] = dict.fromkeys(layers)
        self.names: dict[str, Any] = {}
        self._used: set[str] = set()
        self._counts: Counter[str] = Counter()
        automatic = []
        for layer in self.of:
            self.names[layer.name] = layer
            if is_automatic(layer, count):
                automatic.append(layer)
            else:
                self.of[layer] = self._named(layer)
        for layer in automatic:  # last, since a layer may have the name `dense_a`
            self.of[layer] = self._counted(layer)

    def follow(self, layer: Any) -> str | None:
        """Add a layer, and return its key; None where its name is the key of an earlier layer."""
        automatic = is_automatic(layer)
        if not automatic and _key_of(layer) in self._used:
            return None
        self.names[layer.name] = layer
        self.of[layer] = self._counted(layer) if automatic else self._named(layer)
        return self.of[layer]

    def _named(self, layer: Any) -> str:
        key = _key_of(layer)
        while key in self._used:
            key += "_"
        self._used.add(key)
        return key

    def _counted(self, layer: Any) -> str:
        base, key = layer._automatic_name, None
        while key is None or key in self._used:
            self._counts[base] += 1
            key = f"{base}_{letters(self._counts[base])}"
        self._used.add(key)
        return key


def _key_of(layer: Any) -> str:
    return layer.name.replace(".", "_")


def is_automatic(layer: Any, count: str | None = None) -> bool:
    """Whether a layer's name is one that Keras gives by itself: `dense_2`. `count`: the pattern of its end."""
    base, name = layer._automatic_name, layer.name
    return name.startswith(base) and re.fullmatch(count or layer._automatic_count, name[len(base) :]) is not None


COUNTS = (r"_\d+", r"(_\d+)?")  # of Keras 2, whose first Dense is `dense_1`, and of Keras 3, whose first is `dense`


def _keys_there(keys: dict[Any, str], present: Iterable[str]) -> dict[Any, str]:
    """The keys of layers in a state_dict with these keys, which another dialect may have counted."""
    there = set(present)
    if there <= set(keys.values()):
        return keys
    counted = (Keys(keys, count).of for count in COUNTS)
    return next((found for found in counted if there <= set(found.values())), keys)


def letters(number: int) -> str:
    """a, b, ..., z, aa, ab, ... for 1, 2, ..."""
    found = ""
    while number:
        number, place = divmod(number - 1, 26)
        found = ascii_lowercase[place] + found
    return found


def renamed(network: Any, names: Iterable[str], prefix: str = "", deep: bool = True) -> dict[str, str]:
    """For each name in a state_dict the name in this network: keys that are names of layers, as older versions wrote
    them, become today's. If it is not `deep`, keys inside the layers stay.
    """
    result = {name: name for name in names}
    present: dict[str, list[str]] = {}
    for name in result:
        first, dot, _ = name[len(prefix) :].partition(".")
        if dot and name.startswith(prefix):
            present.setdefault(first, []).append(name)
    keys = network._layer_keys()
    there = _keys_there(keys, present)
    for layer, key in keys.items():
        source = there[layer] if there[layer] in present else _key_of(layer)
        inside, start = present.get(source, ()), len(prefix) + len(source) + 1
        moved = [f"{prefix}{key}.{name[start:]}" for name in inside]
        if deep and isinstance(layer, Network):
            moved = list(renamed(layer, moved, f"{prefix}{key}.").values())
        result.update(zip(inside, moved, strict=True))
    return result


# --- the network ------------------------------------------------------------------------------------------------------


FRAMES = 40  # of Python, that a call, a copy or a walk by torch needs for each model inside another, with some to spare
SPEC = attrgetter("shape", "dtype")
FORMS = ("_input_form", "_output_form", "_gives_tuple")  # of the inputs and outputs that a network was made with
SLOTS = {WRITTEN: slots_as_written, TORCH: slots_on_torch}  # of the forms of inputs and outputs, in another order


class NotBuiltError(RuntimeError, AttributeError):
    """A model has no graph yet. `hasattr` and `inspect.getmembers` skip the properties that need one."""


class Network(Layer, abstract=True):
    """Layers between symbolic inputs and outputs. `model(x)` computes; on symbolic tensors it is a layer.

    Its submodules are the layers, by the keys that `engine.graph.state_dict_keys` gives them, so `state_dict` has keys
    such as `conv2d_a.conv.weight`, or `stem.conv.weight` for a layer named "stem".
    """

    supports_masking = True
    _is_network = True
    _graph: Graph | None = None
    # Of inputs and outputs that are no tensor and no plain list; see `engine.graph.call_forms`.
    _input_form: Any = None
    _output_form: Any = None
    _gives_tuple = False  # whether the outputs were a plain tuple, for which the form is None as for a list
    _held_keys: Sequence[str] = ()  # of the submodules that are layers of the graph
    _levels = 0  # of models in models, this one included
    _hands_policy_on = True  # in a class with code of its own, to its layers
    _generated: GeneratedFunctions  # the generated `forward`, in its variants

    class _Facts(Facts):
        casts = False  # each layer inside casts its own inputs
        takes_strings = True

        def hook_free(self) -> Callable[..., Any]:
            return partial(self.layer._generated.run, DirectCalls(self.layer._generated, own_modules(self.layer)))

    def __init__(self, name: str | None = None, trainable: bool = True):
        self.__dict__["_generated"] = GeneratedFunctions(self)
        super().__init__(name=name, trainable=trainable)

    # --- a graph -----------------------------------------------------------------------------------------------------

    def _connect(self, inputs: Any, outputs: Any) -> None:
        """Make the graph between these tensors, in any form, the model's own. Raises as `graph.trace`."""
        self.__dict__.update(
            _input_form=form_of(inputs), _output_form=form_of(outputs), _gives_tuple=type(outputs) is tuple
        )
        input_tensors = _symbolic_tensors(self, "inputs", inputs, self._input_form)
        output_tensors = _symbolic_tensors(self, "outputs", outputs, self._output_form)
        if len(set(input_tensors)) < len(input_tensors):
            raise ValueError(f"{type(self).__name__} {self.name!r}: the same tensor is given twice among the inputs.")
        self._take(trace.trace(input_tensors, output_tensors))

    def _connect_like(self, network: Network, graph: Graph) -> None:
        """Take a graph between tensors that stand for those of another network, in the forms that it was made with."""
        self.__dict__.update({name: vars(network)[name] for name in FORMS if name in vars(network)})
        self._take(graph)

    def _take(self, graph: Graph) -> None:
        # Torch has the layers as they were written, which no rule of Keras changes: its names and orders stay.
        layers = trace.layers_as_written(graph, self._input_form, self._output_form)
        self._hold([layer for layer in layers if not isinstance(layer, InputLayer)])
        self._set_graph(graph)
        self._generated.write_later()
        self.built = True  # now other threads may use it
        if not self._freezing.trainable:
            follow_trainable(self, False)

    def _set_graph(self, graph: Graph) -> None:
        hold_graph(self, graph)
        self._generated.clear()

    def _layer_keys(self) -> dict[Layer, str]:
        """The layers of the graph by the keys that they are registered under."""
        return {self._modules[key]: key for key in self._held_keys if key in self._modules}  # type: ignore[misc]

    def _hold(self, layers: list[Layer]) -> None:
        """Make these layers the submodules, in place of the earlier layers; other attributes stay.

        Not by add_module, which refuses the name of an attribute.
        """
        keys = keys_of(layers)
        modules: dict[str, Any] = dict(zip(keys.values(), keys, strict=True))
        replaced = {*self._held_keys, *modules}
        modules |= {key: module for key, module in self._modules.items() if key not in replaced}
        if [*modules.items()] != [*self._modules.items()]:  # else another thread may be walking through them
            self._modules.clear()
            self._modules.update(modules)
        self.__dict__["_held_keys"] = list(keys.values())
        count_levels(self, layers)

    # --- attributes --------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            for layer in self._layer_keys():
                if layer.name == name:
                    return layer
            raise

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        names = renamed(self, state_dict, prefix, deep=False)  # torch comes to the models inside next
        for old, new in names.items():
            if old != new:
                state_dict[new] = state_dict.pop(old)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def __setattr__(self, name: str, value: Any) -> None:
        # A layer may have the name "loss" or "training": torch would put the value in place of the layer. A module that
        # is assigned to a property, such as `self.loss = nn.MSELoss()`, torch would store where the property hides it.
        is_layers = name in self.__dict__.get("_modules", ()) and (hasattr(type(self), name) or name in self.__dict__)
        if is_layers or hasattr(getattr(type(self), name, None), "__set__"):
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._held_keys:
            raise AttributeError(
                f"{type(self).__name__} {self.name!r}: {name!r} is a layer of its graph: put another in its place, or "
                "make a model without it."
            )
        super().__delattr__(name)

    # --- layers, inputs and outputs -----------------------------------------------------------------------------------

    @property
    def _is_connected(self) -> bool:
        """Whether the model has inputs and outputs, and no thread is still building it."""
        return self._graph is not None and self.built

    @property
    def _is_settled(self) -> bool:
        """Whether all layers that it computes with are built."""
        return self.built

    @property
    def _graphed(self) -> Graph:
        """The graph. Raises NotBuiltError where there is none yet."""
        return self._graph_instead() if self._graph is None else self._graph

    def _graph_instead(self) -> Graph:
        """The graph of a model that has none of its own. Raises NotBuiltError."""
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
            return trace.layers_as_written(self._graph, self._input_form, self._output_form, SLOTS[order])
        return self.layers

    @known_options
    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """A layer by its name, or by its place in `layers`.

        Arguments:
            name (text or None, default None): the name.
            index (integer or None, default None): the place. If the name is given as well, it must be that layer's.

        Returns:
            The layer.

        Errors:
            ValueError: there is no such layer, neither is given, or both are given and belong to different layers.

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
        return InputNames(tensor.keras_history.layer.name for tensor in self._graphed.inputs)

    @property
    def output_names(self) -> list[str]:
        """The name of the layer of each output; a layer with several gets `_1`, `_2` and so on added.

        Of outputs in a dict, the keys.
        """
        if self._output_form is not None and (keys := keys_of_form(self._output_form)) is not None:
            return OutputNames(keys)
        return OutputNames(names_by_layers(self))

    @property
    def _output_owners(self) -> list[str]:
        """For each output the name of its layer, which stands for all outputs of the layer; of a dict the keys."""
        return output_layer_names(self) if keys_of_form(self._output_form) is None else self.output_names

    @property
    def stateful(self) -> bool:  # type: ignore[override]
        """Whether any layer carries state from batch to batch."""
        return any(map(attrgetter("stateful"), self.layers))

    def _sublayers(self) -> list[Layer]:
        # The layers of the graph, then those that the model holds in attributes.
        layers = [] if self._graph is None else self._graph.layers
        return list(dict.fromkeys([*layers, *super()._sublayers()]))

    def _sublayers_in(self, order: str) -> list[Layer]:
        return list(dict.fromkeys([*self._layers_in(order), *super()._sublayers()]))

    def _ordered_weights(self) -> list[Variable]:
        # get_weights follows the layers (those of a model that only Keras 1 has, in its order); `weights` lists those
        # that train first.
        return distinct(*[layer.weights for layer in self._sublayers_in(KERAS1)], own_variables(self))

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

    # --- computing ---------------------------------------------------------------------------------------------------

    @ByInputNames
    def forward(self, *inputs: Any, **options: Any) -> Any:
        """The outputs for the inputs: `model(x)`, `model([a, b])`, `model(image=x)`.

        That of a model with a graph has the graph's inputs as its parameters, by their names.

        Arguments:
            inputs (tensors): the inputs, one by one or in a list.
            mask (tensor, list or None, default None): the masks of the inputs.
            details (bool, default False): whether to return (outputs, masks, activity losses).
            logits (numbers, default ()): the outputs, by number, to return without their last activation.

        Returns:
            A tensor, or a list of several.

        Errors:
            ValueError: the number of inputs is wrong.
        """
        graph, generated = self._graph or self._graph_instead(), self._generated
        if isinstance(inputs, Proxy):  # torch.fx traces the function of the class: its inputs are one value
            outputs = traced(graph, inputs.tracer, input_names_of(self._input_form, graph.inputs))
            return unpacked(outputs) if self._output_form is None else put_together(self._output_form, outputs)
        return generated.run(generated.direct_now(inputs), *inputs, **options)

    @property
    def code(self) -> str:
        """The text of the generated `forward`."""
        return self._generated.code

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs for the inputs, in the form that the model was made with.

        Inputs: tensors or arrays, one, several, in a list, in a dict by name, or as arguments by name.
        """
        if self._graph is not None and not (len(args) == 1 and not kwargs and isinstance(args[0], torch.Tensor)):
            if len(args) > 1 and len(args) != len(self.inputs) and self._forward_pre_hooks:
                return in_form(self._output_form, call_module(self, *args, **kwargs))  # a hook makes the inputs of them
            args, kwargs = self._in_order(args, kwargs)
        if compiled_somewhere() and is_compiling():
            return in_form(self._output_form, super().__call__(*args, **kwargs))
        with ADDED.one_pass():
            return in_form(self._output_form, super().__call__(*args, **kwargs))

    def _in_order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call with its inputs in the order of the graph's, one or a list, and arrays as tensors."""
        what = f"{type(self).__name__} {self.name!r}"
        if len(args) == 1 and isinstance(args[0], (list, tuple)) and are_strings(args[0]):
            args = (np.asarray(args[0], dtype=object),)
        args, kwargs = inputs_of_call(what, self.inputs, self._input_form, args, kwargs)
        if has_arrays(args):
            inputs = [
                (type_of(self, tensor), tensor.ndim, f"Input {name!r} of {what}" if tensor.dtype == STRING else "")
                for tensor, name in zip(self.inputs, layer_names(self.inputs), strict=True)
            ]
            args = as_tensors(args, inputs, self._weights_device)
        return args, kwargs

    @property
    def _weights_device(self) -> torch.device:
        """Where the weights are, or will be when it is built. Raises RuntimeError for `meta`."""
        with nullcontext() if self._is_settled else building_alone():  # another thread may be building it, on `meta`
            tensor = python.first(chain(parameters_of(self), self.buffers()), None)
        if tensor is None:
            return config.device()
        if not self._is_settled:
            # What lies on the CPU before a model is built goes to the default device when it is.
            return config.device() if tensor.is_cpu else tensor.device
        if tensor.is_meta:
            raise RuntimeError(f"{type(self).__name__} {self.name!r} {NO_MEMORY}")
        return tensor.device

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for a shape of the input; of several, in the forms that the model was made with.

        Arguments:
            input_shape (tuple, list or dict): the shape of the input with the batch axis; a list or dict of shapes for
                several inputs.

        Returns:
            A tuple, or the shapes of several outputs.
        """
        if isinstance(input_shape, Mapping) and self._graph is not None:
            what = f"{type(self).__name__} {self.name!r}"
            input_shape = _inputs_in_order(what, self.inputs, self._input_form, input_shape)
        found = super().compute_output_shape(input_shape)
        if self._output_form is None:
            return found
        return put_together(self._output_form, [found] if isinstance(found, tuple) else found)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks of the outputs.

        Arguments:
            inputs (tensors): the inputs; a mask on the way may depend on them.
            mask (tensor, list or None, default None): the masks of the inputs.

        Returns:
            A mask or None; a list for several outputs.
        """
        _, masks, _ = self.forward(inputs, mask=mask, details=True)
        return unpacked(masks)

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """Outputs and masks, layer by layer: as for any layer, without adding a node."""
        graph, tensors = self._graphed, as_list(cast_inputs(self, inputs))
        if len(tensors) != len(graph.inputs):
            raise ValueError(
                f"{type(self).__name__} {self.name!r} has {len(graph.inputs)} inputs; "
                f"it was called with {len(tensors)}."
            )
        if _are_those_of(graph, tensors, masks):  # else models in models would be gone through at every level
            outputs = graph.outputs
            output_masks = [None if each.keras_mask is None else _copy(each.keras_mask) for each in outputs]
        else:
            found, found_masks = trace.infer_again(graph, tensors, masks)
            outputs = list(map(found.__getitem__, graph.outputs))
            output_masks = list(map(found_masks.__getitem__, graph.outputs))
        return unpacked(list(map(_copy, outputs))), output_masks

    def _input_type(self, index: int) -> torch.dtype | None:
        """The type of the model's own input of that number."""
        return None if self._graph is None or index >= len(self.inputs) else self.inputs[index].dtype

    def _build(self, input_shapes: list[Shape]) -> None:
        if not self.built:
            self.build(unpacked(input_shapes))
        for tensor, shape in zip(self._graphed.inputs, input_shapes, strict=False):
            fits = len(shape) == tensor.ndim and all(
                a is None or b is None or a == b for a, b in zip(shape[1:], tensor.shape[1:], strict=True)
            )
            if not fits:
                advice = "Give a tensor of that shape, or make the Input for the shape of the data."
                raise ValueError(
                    f"Input {tensor.keras_history.layer.name} of {type(self).__name__} {self.name!r} has shape "
                    f"{tensor.shape}; found shape {tuple(shape)}. {channels_hint(shape, tensor.shape) or advice}"
                )

    # --- types -------------------------------------------------------------------------------------------------------

    @property
    def dtype_policy(self) -> DTypePolicy:
        """The policy of the model. If you set it, all layers get it, those of models inside too.

        Raises ValueError for one with another type of weights, where there are weights. A model around this one must
        be made again; or set the policy of that model instead.
        """
        return self._policy

    @dtype_policy.setter
    def dtype_policy(self, policy: Any) -> None:
        give_policy(self, policy_of(policy), override=True)

    def _find_types(self) -> None:
        """Bring the types of the symbolic tensors, and the code, in line with the layers' policies."""
        for node in self._graphed.calls:
            masks = [tensor.keras_mask for tensor in node.input_tensors]
            outputs, _ = node.layer._infer_outputs(node.inputs, masks, node.arguments)
            for tensor, found in zip(node.output_tensors, leaves(outputs), strict=True):
                tensor.dtype = found.dtype
        self._generated.clear()
        self._generated.function(self._generated.plain)

    # --- copies ------------------------------------------------------------------------------------------------------

    # A copy and a pickle have plain data in place of the graph and its functions: layers with the edges between them,
    # and the texts (`_written`).

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state["_written"] = state.pop("_generated").state()
        state.pop("_named_forward", None)
        if self._graph is not None:
            state["_graph"] = (self._graph.layers, trace.edges(self._graph))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        for name in ("_functions", "_written_at"):  # of earlier versions
            state.pop(name, None)
        written = state.pop("_written", None) or dict.fromkeys(state.pop("_sources", ()))  # of earlier versions
        super().__setstate__(state)
        if self._graph is not None:
            layers, plain = self._graph  # type: ignore[misc]
            count_levels(self, layers)
            hold_graph(self, trace.rebuild(layers, plain))
        self.__dict__["_generated"] = GeneratedFunctions(self, written)


def _symbolic_tensors(network: Network, role: str, value: Any, form: Any) -> list[KerasTensor]:
    """Inputs or outputs as a list. Raises TypeError if one is no symbolic tensor, ValueError if there are none."""
    tensors = as_list(value) if form is None else [*leaves(value), *others_in(form, objects=role == "outputs")]
    what = f"{type(network).__name__} {network.name!r}: {role}"
    for tensor in tensors:
        if not isinstance(tensor, KerasTensor) or not hasattr(tensor, "_keras_history"):
            advice = ""
            if isinstance(tensor, Layer):
                advice = " Call the layer on a symbolic tensor and give its output."
            elif role == "inputs" and isinstance(tensor, torch.Tensor):
                advice = " Begin with Input(shape)."
            elif taken_apart(tensor, TensorSlot)[1]:
                advice = " Give its tensors one by one, or in a list, tuple or dict."
            found = type(tensor).__name__
            raise TypeError(f"{what} must be symbolic tensors, the outputs of layers; found {found}.{advice}")
    if not tensors:
        raise ValueError(f"{what} must not be empty.")
    return tensors


def output_layer_names(network: Network) -> list[str]:
    """The name of the layer of each output."""
    return [tensor.keras_history.layer.name for tensor in network._graphed.outputs]


def names_by_layers(network: Network) -> list[str]:
    """Distinct names of the outputs, made from the names of their layers."""
    names = output_layer_names(network)
    return names if len(set(names)) == len(names) else list(map(Unused(mark="_"), names))


def hold_graph(network: Network, graph: Graph) -> None:
    """Make a graph that of a network, whose first node is itself, as in Keras; its calls as a layer follow."""
    network._graph = graph
    names = tuple(input_names_of(network._input_form, graph.inputs))
    network.__dict__.update(_makes_masks=graph.makes_masks, _named_forward=with_names(Network.forward, names))
    network._call_nodes[:1] = [Node(network, network.inputs, network.outputs, {})]


def count_levels(network: Network, layers: Iterable[Layer]) -> None:
    """Count the levels of models in models, and leave room for torch, which walks them by recursion."""
    inside = chain.from_iterable((layer, *own_modules(layer).values()) for layer in layers)
    levels = max((module._levels + 1 for module in inside if isinstance(module, Network)), default=1)
    network.__dict__["_levels"] = max(network._levels, levels)
    python.at_least(FRAMES * network._levels)


def give_policy(network: Network, policy: DTypePolicy, override: bool) -> None:
    """Set the policy of the layers of a network, with `override` also of those with one of their own."""
    layers: list[Any] = list(filter(_takes_policy, network.modules()))
    before = [(layer, layer._policy, layer._tells_policy) for layer in layers]
    try:
        for layer in layers:
            if override or not layer._tells_policy:
                take_policy(layer, policy)
        for layer in layers:
            agree_on_policy(layer)
    except ValueError:
        for layer, own, tells in before:
            layer._policy, layer._tells_policy = own, tells
        raise
    for layer in reversed(layers):
        if isinstance(layer, Network) and graph_if_any(layer) is not None:
            layer._find_types()


def _takes_policy(module: torch.nn.Module) -> bool:
    """Whether a model around a module may set its policy: it is a layer that casts, or a model."""
    return isinstance(module, Network) or (isinstance(module, Layer) and facts_of(module).casts)


def _are_those_of(graph: Graph, tensors: list[KerasTensor], masks: list[Any]) -> bool:
    """Whether symbolic inputs have the shapes and types of a graph's own, so that its outputs are theirs."""
    return all(mask is None for mask in masks) and list(map(SPEC, tensors)) == list(map(SPEC, graph.inputs))


def _copy(tensor: KerasTensor) -> KerasTensor:
    return KerasTensor(tensor.shape, tensor.dtype)


def layers_in(network: Network, order: str) -> list[Layer]:
    """The layers of a network in another order than Keras 2's: `KERAS1`, `WRITTEN` or `TORCH`."""
    return network._layers_in(order)
