"""The forms of inputs and outputs: dicts, nested values, arguments by name and arrays outside, flat lists inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from torchkeras.base.nested import (
    TENSORS,
    TensorSlot,
    is_flat,
    mapped,
    put_together,
    slots_as_written,
    taken_apart,
)
from torchkeras.engine.graph.trace import layer_names
from torchkeras.engine.symbolic.tensor import as_list, unpacked

if TYPE_CHECKING:
    from torchkeras.engine.graph.network import Network

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


def device_of(network: Network) -> torch.device:
    """The device that a network's inputs go to: that of its first weight, else the default device."""
    return network._device


def others_in(form: Any) -> list[Any]:
    """The values in a form that are no slots."""
    items = form.values() if isinstance(form, Mapping) else form
    if isinstance(form, (Mapping, list, tuple)):
        return list(chain.from_iterable(map(others_in, items)))
    return [] if isinstance(form, TensorSlot) else [form]


def keys_of_form(form: Any) -> list[str] | None:
    """The keys of a flat dict of tensors, in the order of the tensors; None for another form."""
    if isinstance(form, Mapping) and all(isinstance(slot, TensorSlot) for slot in form.values()):
        return sorted(form, key=lambda key: form[key].index)
    return None


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
        if not isinstance(value, Mapping) or set(value) != set(form):
            keys = sorted(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
            raise ValueError(f"{where} takes a dict with the keys {', '.join(map(str, form))}; found {keys}.")
        for key, inner in form.items():
            _match(inner, value[key], f"{where}[{key!r}]", found)
    elif isinstance(form, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(form):
            count = f"{len(value)} items" if isinstance(value, (list, tuple)) else type(value).__name__
            raise ValueError(f"{where} takes a list of {len(form)} items; found {count}.")
        for index, inner in enumerate(form):
            _match(inner, value[index], f"{where}[{index}]", found)


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
        if args:
            raise ValueError(f"{what}: inputs come by position or by name; found both ({', '.join(by_name)}).")
        args = (by_name,)
    elif len(args) > 1:
        args = (list(args),)
    if not args or isinstance(args[0], np.ndarray) or (form is None and is_flat(args[0])):
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


def has_arrays(value: Any) -> bool:
    """Whether a nested value holds NumPy's arrays."""
    return bool(taken_apart(value, (np.ndarray,))[1])


def as_tensors(value: Any, types: Sequence[torch.dtype], device: torch.device) -> Any:
    """The same nested value with NumPy's arrays as tensors on a device, each in the type of its input, if given."""
    remaining_types = iter(types)

    def tensor(value: Any) -> Any:
        dtype = next(remaining_types, None)
        if not isinstance(value, np.ndarray):
            return value
        made = torch.as_tensor(value, device=device)
        if dtype is None:
            dtype = torch.get_default_dtype() if made.is_floating_point() else made.dtype
        return made.to(dtype)

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
    """Flat outputs, one or a list, in the form of the outputs that the model was made with."""
    return outputs if form is None else put_together(form, as_list(outputs))
