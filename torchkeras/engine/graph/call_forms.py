"""What a person calls a model with, and gets: dicts, nested values, arguments by name, arrays; inside, flat lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    """What stands in a form beside its slots."""
    if isinstance(form, TensorSlot):
        return []
    if isinstance(form, Mapping):
        return [other for item in form.values() for other in others_in(item)]
    return [other for item in form for other in others_in(item)] if isinstance(form, (list, tuple)) else [form]


def keys_of_form(form: Any) -> list[str] | None:
    """The keys of a flat dict of tensors, in the order of the tensors; None for another form."""
    if isinstance(form, Mapping) and all(isinstance(slot, TensorSlot) for slot in form.values()):
        return [key for key, _ in sorted(form.items(), key=lambda item: item[1].index)]
    return None


def flat(form: Any, value: Any, what: str) -> list[Any]:
    """The items of a nested value that stand where a form has its slots, in their order.

    Raises ValueError, which begins with `what`, for a value of another form.
    """
    found: dict[int, Any] = {}
    _match(form, value, what, found)
    return [found[index] for index in sorted(found)]


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
    """The items of a nested value in the order of a model's inputs or outputs, `tensors`; one alone as it was given.

    In place of a dict a list is taken in Keras's order, that of the sorted keys. Raises ValueError, which begins with
    `what`, if the dict was written in another order and the shapes leave open which is meant; and as `flat`.
    """
    if isinstance(value, Mapping):
        return flat(form, value, what)
    if len(tensors) == 1 and isinstance(form, Mapping):
        return value
    plain = isinstance(value, (list, tuple)) and not any(isinstance(item, (list, tuple, Mapping)) for item in value)
    if not plain or len(value) != len(tensors):
        return flat(form, value, what)
    order = slots_as_written(form)
    if order != sorted(order) and all(tensors[k].shape == each.shape for k, each in zip(order, tensors, strict=True)):
        raise ValueError(
            f"{what} takes the form {_shown(form)}; found a list. Keras sorts the keys of a dict, and they were "
            "written in another order: give a dict."
        )
    return list(value)


def _shown(form: Any) -> str:
    """A form as text, with a point for each slot."""
    if isinstance(form, Mapping):
        return f"{{{', '.join(f'{key!r}: {_shown(item)}' for key, item in form.items())}}}"
    return f"[{', '.join(map(_shown, form))}]" if isinstance(form, (list, tuple)) else "..."


def inputs_of_call(
    what: str, inputs: Sequence[Any], form: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with its inputs as a model's generated code takes them: one, or a list of them.

    `inputs`: the symbolic ones. Inputs may come in the form that the model was made with, or by name, as arguments or
    in a dict. Raises ValueError for inputs that are missing, doubled, too many or unknown, and for a list in place of a
    dict whose order is in doubt; TypeError for a number.
    """
    given = {name: kwargs.pop(name) for name in list(kwargs) if name not in OPTIONS}
    if given and args:
        raise ValueError(f"{what}: inputs come by position or by name; found both ({', '.join(given)}).")
    if given:
        args = (given,)
    elif len(args) > 1:
        args = (list(args),)
    if not args or isinstance(args[0], np.ndarray) or (form is None and is_flat(args[0])):
        return args, kwargs
    return (_inputs_in_order(what, inputs, form, args[0]),), kwargs


def _inputs_in_order(what: str, inputs: Sequence[Any], form: Any, value: Any) -> Any:
    """Nested inputs, or inputs by name, in the order of the symbolic `inputs`; one alone as it is."""
    names = [tensor._keras_history.layer.name for tensor in inputs]
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
    return value[0] if len(value) == 1 else value


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

    def tensor(given: Any) -> Any:
        dtype = next(remaining_types, None)
        if not isinstance(given, np.ndarray):
            return given
        found = torch.as_tensor(given, device=device)
        if dtype is None and found.is_floating_point():
            dtype = torch.get_default_dtype()
        return found if dtype is None else found.to(dtype)

    return mapped(value, tensor, (np.ndarray, *TENSORS))


def type_of(network: Any, tensor: Any) -> torch.dtype:
    """The type a symbolic tensor has now, which is another after `model.half()` or `model.double()`."""
    return float_type(network, tensor.dtype) if tensor.dtype.is_floating_point else tensor.dtype


def float_type(network: Any, otherwise: torch.dtype) -> torch.dtype:
    """The type of a model's weights, `otherwise` for a model without any."""
    return next((p.dtype for p in parameters_of(network) if p.is_floating_point()), otherwise)


def parameters_of(module: nn.Module) -> Iterator[nn.Parameter]:
    """`module.parameters()`, shared ones again, for a caller that wants the first: that takes half the time."""
    waiting: list[Iterator[nn.Module | None]] = [iter((module,))]
    while waiting:
        for each in waiting[-1]:
            if each is not None:
                for parameter in each._parameters.values():
                    if parameter is not None:
                        yield parameter
                waiting.append(iter(each._modules.values()))
                break
        else:
            waiting.pop()


def in_form(form: Any, outputs: Any) -> Any:
    """Flat outputs, one or a list, in the form that the model's outputs were given in."""
    if form is None:
        return outputs
    return put_together(form, outputs if isinstance(outputs, (list, tuple)) else [outputs])
