"""Nested values (lists, dicts, named tuples, output objects) flattened to their tensors, and made again of them."""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import Proxy


class Symbolic:
    """The base of symbolic tensors."""

    __slots__ = ()


TENSORS = (torch.Tensor, Symbolic)


@dataclasses.dataclass(frozen=True)
class TensorSlot:
    """In a form: the place of the tensor of that number."""

    index: int


def ordered(mapping: Mapping[Any, Any]) -> list[Any]:
    """The keys of a dict in Keras's order, which is sorted; as they stand where they cannot be sorted."""
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def tensors_in(value: Any) -> list[Any]:
    """All symbolic tensors, ours or torch.fx's, in nested lists, tuples, dictionaries and output objects.

    They come in Keras's order.
    """
    if isinstance(value, (Symbolic, Proxy)):
        return [value]
    if isinstance(value, (list, tuple)):
        inside: Any = value
    elif isinstance(value, Mapping):
        inside = map(value.__getitem__, ordered(value))
    else:
        inside = attributes_of(value).values()
    found: list[Any] = []
    for item in inside:
        found += tensors_in(item)
    return found


def taken_apart(value: Any, kinds: Any = TENSORS) -> tuple[Any, list[Any]]:
    """(form, tensors): the value with a `TensorSlot` for each tensor, and the tensors, a shared one each time.

    Dicts are walked in the order of their sorted keys, as in Keras; output objects (dataclasses, objects with
    attributes) in that of their fields.
    """
    found: list[Any] = []

    def slot(tensor: Any) -> TensorSlot:
        found.append(tensor)
        return TensorSlot(len(found) - 1)

    return mapped(value, slot, kinds), found


def slots_as_written(form: Any) -> list[int]:
    """The numbers of a form's slots, in the order in which its dicts were written."""
    if isinstance(form, TensorSlot):
        return [form.index]
    if isinstance(form, (list, tuple)):
        inside: Any = form
    elif isinstance(form, Mapping):
        inside = form.values()
    else:
        inside = attributes_of(form).values()
    return [index for item in inside for index in slots_as_written(item)]


def slots_on_torch(form: Any, inside: bool = False) -> list[int]:
    """The numbers of a form's slots in the order of Keras 3 on torch: dicts inside a dict are not sorted there."""
    if isinstance(form, TensorSlot):
        return [form.index]
    if isinstance(form, Mapping):
        keys = list(form) if inside else ordered(form)
        # A call is its arguments by position, and a dict of those by name.
        return [index for key in keys for index in slots_on_torch(form[key], inside or key != POSITIONAL)]
    plain = isinstance(form, (list, tuple))
    values = form if plain else attributes_of(form).values()
    return [index for item in values for index in slots_on_torch(item, inside)]


def leaves(value: Any) -> list[Any]:
    """The tensors in a nested value, in order."""
    if isinstance(value, TENSORS):
        return [value]
    return taken_apart(value)[1]


def put_together(form: Any, tensors: Sequence[Any]) -> Any:
    """The nested value again: the form with these tensors in its slots."""
    return mapped(form, lambda slot: tensors[slot.index], TensorSlot)


def mapped(value: Any, change: Callable[[Any], Any], kinds: Any = TENSORS) -> Any:
    """The same nested value with `change` on everything in it that is of `kinds`."""
    if isinstance(value, kinds):
        return change(value)
    if isinstance(value, Mapping):
        items = {key: mapped(value[key], change, kinds) for key in ordered(value)}
        return _mapping(value, {key: items[key] for key in value})
    if isinstance(value, torch.Size):
        return value
    if isinstance(value, (list, tuple)):
        return _like(value, [mapped(item, change, kinds) for item in value])
    return _mapped_object(value, change, kinds)


def _like(value: Any, items: list[Any]) -> Any:
    """The items in the form of a list or tuple; of classes of their own named tuples and torch's results stay."""
    if isinstance(value, list):
        return items
    if hasattr(value, "_fields"):
        return type(value)(*items)
    return type(value)(items) if type(value).__module__ == "torch.return_types" else tuple(items)


def _mapping(value: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    if type(value) in (dict, OrderedDict):
        return type(value)(items)  # type: ignore[call-arg]
    made: Any = copy.copy(value)  # a class of the user's or of a library: kept, whatever its constructor takes
    for key, item in items.items():
        if item is not value[key]:
            made[key] = item
    return made


def _mapped_object(value: Any, change: Callable[[Any], Any], kinds: Any) -> Any:
    """An object whose attributes hold tensors, such as the outputs of a model of another library."""
    fields = attributes_of(value)
    changed = {name: mapped(item, change, kinds) for name, item in fields.items()}
    if all(changed[name] is item for name, item in fields.items()):
        return value
    made = copy.copy(value)
    for name, item in changed.items():
        object.__setattr__(made, name, item)
    return made


def attributes_of(value: Any) -> Mapping[str, Any]:
    """The attributes of an object that may hold tensors, by name; none of a class, a module or a function."""
    if value is None or isinstance(value, (type, torch.nn.Module, torch.Tensor)) or callable(value):
        return {}
    if dataclasses.is_dataclass(value) and not hasattr(value, "__dict__"):  # it has slots
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return getattr(value, "__dict__", {})


def is_flat(value: Any) -> bool:
    """Whether a value is a tensor, or a plain list or tuple of tensors."""
    if isinstance(value, TENSORS):
        return True
    plain = isinstance(value, list) or type(value) is tuple
    return plain and len(value) > 0 and all(isinstance(item, TENSORS) for item in value)


# --- the arguments of a call -----------------------------------------------------------------------------------------

TENSOR = "__tensor__"
POSITIONAL = "*"  # in the arguments of a node: those given by position, where these are not just its inputs


def encoded(form: Any) -> Any:
    """A form, or the arguments of a node, as plain data: `{"__tensor__": 0}` stands for its first tensor."""
    return mapped(dict(form) if isinstance(form, Mapping) else form, lambda slot: {TENSOR: slot.index}, TensorSlot)


def decoded(arguments: Any) -> Any:
    """The inverse of `encoded`."""
    if isinstance(arguments, Mapping):
        number = arguments.get(TENSOR) if len(arguments) == 1 else None
        return {key: decoded(item) for key, item in arguments.items()} if number is None else TensorSlot(number)
    return [decoded(item) for item in arguments] if isinstance(arguments, (list, tuple)) else arguments


def of_first(inputs: Any, arguments: Mapping[str, Any], values: Sequence[Any]) -> Any:
    """Of a value for each input tensor, those of the first argument of the call: one, or a list where it is several."""
    if POSITIONAL not in arguments:
        return list(values) if isinstance(inputs, (list, tuple)) else values[0]
    first = (*arguments[POSITIONAL], *(item for name, item in arguments.items() if name != POSITIONAL))[0]
    if isinstance(first, TensorSlot):
        return values[first.index]
    return [values[slot.index] for slot in taken_apart(first, TensorSlot)[1]]


def bound(inputs: Any, arguments: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """(args, kwargs) of a call, from the inputs and arguments of its node."""
    if POSITIONAL not in arguments:
        return (inputs,), dict(arguments)
    tensors = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    filled = put_together(dict(arguments), tensors)
    return tuple(filled.pop(POSITIONAL)), filled
