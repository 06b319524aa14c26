"""The arguments of a function in a graph, as plain values that a config can contain.

Numbers, texts, None and lists (tuples in the call of the function) stand for themselves. Anything else is an entry, a
mapping with one key: `{"input": k}` is the k-th symbolic tensor, `{"constant": k}` and `{"parameter": k}` are tensors
of the layer, `{"expression": k}` is computed from weights at each call, `{"size": [k, axis]}` is a size of an input,
`{"size": ["*", left, right]}` an operation on such sizes and whole numbers, `{"array": nested lists}` a constant of the
type of the first input, and `{"permuted": [entry, axes]}` a parameter with its axes in that order. Further ones are
`{"slice": [start, stop, step]}`, `{"ellipsis": True}`, `{"dtype": "float16"}`, `{"memory_format": "channels_last"}` and
`{"complex": [real, imaginary]}`.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.dtypes import dtype_name, dtype_of
from torchkeras.engine.symbolic.tensor import KerasTensor, index_of, unpacked
from torchkeras.engine.symbolic.unknown_sizes import ARITHMETIC, SymbolicSize
from torchkeras.engine.weights.expressions import frozen, is_frozen, value_now
from torchkeras.engine.weights.weight import Variable

Reader = Callable[[Any, Any], Any]  # (the layer, its inputs) -> the argument

PLAIN = (int, float, bool, str, type(None))
OF_LAYER = ("constant", "parameter", "expression")  # the entries for what the layer has as an attribute
MEMORY_FORMATS = ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")


# --- from a call -----------------------------------------------------------------------------------------------------


def encoded(value: Any, inputs: list[KerasTensor], floating: torch.dtype) -> Any:
    """An argument of a call as a plain value, but for its tensors; symbolic ones are added to `inputs`.

    `floating`: the type that arrays of floating-point numbers get. Raises TypeError for what no graph can contain.
    """

    def parts(values: Iterable[Any]) -> list[Any]:
        return [encoded(part, inputs, floating) for part in values]

    if isinstance(value, KerasTensor):
        inputs.append(value)
        return {"input": len(inputs) - 1}
    if isinstance(value, SymbolicSize):
        first, *others = value.form
        if isinstance(first, KerasTensor):
            first = _input_number(first, inputs)
        return {"size": [first, *parts(others)]}
    if isinstance(value, Variable):
        return value.in_graph
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        array = torch.tensor(value)
        if array.is_floating_point():
            array = array.to(floating)
        return array
    if isinstance(value, slice):
        return {"slice": parts((value.start, value.stop, value.step))}
    if isinstance(value, (list, tuple)):
        return parts(value)
    return _as_config(value)


def _input_number(tensor: KerasTensor, inputs: list[KerasTensor]) -> int:
    """The index of a tensor among the inputs; it is added if it is none of them."""
    found = index_of(tensor, inputs)
    if found is None:
        found = len(inputs)
        inputs.append(tensor)
    return found


# The entries for constant values, by the classes of these: (key, how to write the value).
ENTRIES: Mapping[type, tuple[str, Callable[[Any], Any]]] = {
    type(Ellipsis): ("ellipsis", lambda value: True),
    torch.dtype: ("dtype", dtype_name),
    torch.memory_format: ("memory_format", dtype_name),
    complex: ("complex", lambda value: [value.real, value.imag]),
}


def _as_config(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    for kind, (key, write) in ENTRIES.items():
        if isinstance(value, kind):
            return {key: write(value)}
    if not isinstance(value, PLAIN):
        raise TypeError(
            "a function in a graph takes tensors, arrays, numbers, texts, slices and types as arguments; found "
            f"{type(value).__name__}."
        )
    return value


def index(value: Any) -> Any:
    """The index of `x[...]` in a form whose result has a known shape: lists become tensors, and constant masks the
    positions of their elements.
    """
    if isinstance(value, tuple):
        return tuple(itertools.chain.from_iterable(map(_positions, value)))
    return unpacked(tuple(_positions(value)))


def _positions(value: Any) -> Iterable[Any]:
    if isinstance(value, (list, np.ndarray)) and not any(isinstance(part, KerasTensor) for part in value):
        value = torch.tensor(value)
    if not isinstance(value, Tensor):
        return [value]
    if value.dim() == 0:
        return [value.item()]
    if value.dtype is torch.bool:
        return value.nonzero(as_tuple=True)
    return [value.long()]


# --- tensors in configs ----------------------------------------------------------------------------------------------


def written(tensor: Tensor) -> dict[str, Any]:
    """A constant's type, shape and bytes, for a config."""
    flat = tensor.detach().cpu().contiguous().flatten()
    data = flat.view(torch.uint8).numpy().tobytes()
    shape = list(tensor.shape)
    return {"dtype": dtype_name(tensor.dtype), "shape": shape, "data": base64.b64encode(data).decode()}


def read(entry: Mapping[str, Any]) -> Tensor:
    """The constant of a config. Raises ValueError if the bytes do not fit its type and shape."""
    dtype, shape = dtype_of(str(entry.get("dtype"))), shape_of(entry)
    try:
        data = bytearray(base64.b64decode(entry.get("data", ""), validate=True))
    except (ValueError, TypeError) as error:
        raise ValueError("a constant has its bytes as base64.") from error
    if len(data) != prod(shape) * dtype.itemsize:
        raise ValueError(f"a constant of shape {shape} and type {dtype_name(dtype)} has another number of bytes.")
    if data:
        return torch.frombuffer(data, dtype=dtype).reshape(shape)
    return torch.empty(shape, dtype=dtype)


def shape_of(entry: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape of a tensor in a config. Raises ValueError for a value that is no shape."""
    shape = entry.get("shape")
    if not isinstance(shape, (list, tuple)) or not all(map(_is_number, shape)):
        raise ValueError(f"a tensor's shape is a list of sizes; found {shape!r:.200}.")
    return tuple(shape)


# --- stored in a layer -----------------------------------------------------------------------------------------------


def with_entries(value: Any, entry_for: Callable[[Any], dict[str, Any]]) -> Any:
    """A plain value with `entry_for(...)` in place of each tensor, and of each entry for a tensor of the layer."""
    if isinstance(value, Tensor):
        return entry_for(value)
    if isinstance(value, (list, tuple)):
        return [with_entries(part, entry_for) for part in value]
    if not isinstance(value, Mapping):
        return value
    if not value.keys().isdisjoint(OF_LAYER):
        return entry_for(value)
    if "slice" in value:
        return {"slice": with_entries(value["slice"], entry_for)}
    if "permuted" in value:
        parameter, order = value["permuted"]
        return {"permuted": [with_entries(parameter, entry_for), order]}
    return value


def check(value: Any) -> None:
    """Check that an argument has one of the forms above. Raises ValueError."""
    if isinstance(value, (list, tuple)):
        for part in value:
            check(part)
    elif isinstance(value, Mapping):
        _check_entry(value)
    elif not isinstance(value, (*PLAIN, Tensor)):
        raise ValueError(f"has {value!r:.200}, which is no plain value.")


def _check_entry(entry: Mapping[str, Any]) -> None:
    kind, value = next(iter(entry.items()), ("", None))
    fits = FORMS.get(kind)
    if fits is None or not fits(value) or (len(entry) > 1 and kind not in OF_LAYER):
        raise ValueError(f"has {dict(entry)!r:.200}, which stands for no argument.")
    if kind == "slice":
        check(value)


def _is_number(value: Any) -> bool:
    """Whether a value is a whole number from 0 on: a size, or the number of an input, an axis or a tensor."""
    return type(value) is int and value >= 0


def _is_list(value: Any, length: int) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == length


def _is_size(value: Any) -> bool:
    """Whether a value is a whole number, the size of an axis, or an operation on two of these."""
    if isinstance(value, Mapping):
        return set(value) == {"size"} and _is_size_form(value["size"])
    return type(value) is int


def _is_size_form(form: Any) -> bool:
    """Whether a value is `[k, axis]` of an input, or `["*", left, right]`."""
    if not isinstance(form, (list, tuple)) or not form:
        return False
    first, *others = form
    if isinstance(first, str):
        return first in ARITHMETIC and len(others) == 2 and all(map(_is_size, others))
    return len(others) == 1 and all(map(_is_number, form))


def _is_permuted(value: Any) -> bool:
    """Whether a value is the entry of a parameter, and the order of its axes."""
    if not _is_list(value, 2) or not isinstance(value[0], Mapping) or not _is_number(value[0].get("parameter")):
        return False
    shape, order = value[0].get("shape"), value[1]
    if not isinstance(shape, (list, tuple)) or not _is_list(order, len(shape)):
        return False
    return all(map(_is_number, order)) and len(set(order)) == len(order) and max(order, default=-1) < len(order)


# How to check the value of an entry, by its key.
FORMS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("input", *OF_LAYER), _is_number),
    "slice": lambda value: _is_list(value, 3),
    "ellipsis": lambda value: value is True,
    "dtype": lambda value: isinstance(value, str) and isinstance(getattr(torch, value, None), torch.dtype),
    "memory_format": lambda value: value in MEMORY_FORMATS,
    "complex": lambda value: _is_list(value, 2) and {*map(type, value)} <= {int, float},
    "array": lambda value: True,
    "size": _is_size_form,
    "permuted": _is_permuted,
}


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """(key, value) of each entry among arguments, also in slices and in operations on sizes."""
    if isinstance(value, Mapping):
        kind, what = next(iter(value.items()))
        yield kind, what
        if kind in ("slice", "size", "permuted"):
            yield from _entries(what)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _entries(part)


def _keys_in(value: Any) -> set[str]:
    return {kind for kind, _ in _entries(value)}


def is_fixed(value: Any) -> bool:
    """Whether an argument depends neither on the inputs nor on the layer."""
    return _keys_in(value) <= {*FIXED, "slice"}


def has_size(value: Any) -> bool:
    """Whether a size of an input is among arguments."""
    return "size" in _keys_in(value)


def has_axes(value: Any) -> bool:
    """Whether an array, or a size of an input, is among arguments: these are right in one order of axes only."""
    return not _keys_in(value).isdisjoint(("array", "size"))


def inputs_in(value: Any) -> list[int]:
    """The numbers of the inputs among arguments."""
    found: list[int] = []
    for kind, what in _entries(value):
        if kind == "input":
            found.append(what)
        elif kind == "size" and not isinstance(what[0], str):
            found.append(what[0])
    return found


# --- for a call ------------------------------------------------------------------------------------------------------


def reader(value: Any) -> Reader:
    """A function that returns an argument for a layer and its inputs."""
    if isinstance(value, (list, tuple)):
        parts = [reader(part) for part in value]
        return lambda layer, tensors: tuple(part(layer, tensors) for part in parts)
    if not isinstance(value, Mapping):
        return lambda layer, tensors: value
    (kind, what), *_ = value.items()
    if kind in FIXED:
        fixed = FIXED[kind](what)
        return lambda layer, tensors: fixed
    return READERS[kind](what)


def _attribute_reader(kind: str) -> Callable[[int], Reader]:
    """The reader of an attribute of the layer: `constant_0`, `parameter_1`."""

    def make(number: int) -> Reader:
        name = f"{kind}_{number}"
        return lambda layer, tensors: getattr(layer, name)

    return make


def _expression_reader(number: int) -> Reader:
    name = f"expression_{number}"
    return lambda layer, tensors: value_now(getattr(layer, name))


def _slice_reader(parts: Any) -> Reader:
    start, stop, step = map(reader, parts)
    return lambda layer, tensors: slice(start(layer, tensors), stop(layer, tensors), step(layer, tensors))


def _permuted_reader(form: Any) -> Reader:
    parameter, order = reader(form[0]), form[1]
    return lambda layer, tensors: parameter(layer, tensors).permute(order)


def _size_reader(form: Any) -> Reader:
    first, *others = form
    if not isinstance(first, str):
        return lambda layer, tensors: tensors[first].shape[others[0]]
    compute, (left, right) = ARITHMETIC[first], map(reader, others)
    return lambda layer, tensors: compute(left(layer, tensors), right(layer, tensors))


def _as_tensor(values: Any, like: Tensor) -> Tensor:
    return torch.tensor(values, dtype=like.dtype if like.is_floating_point() else None, device=like.device)


def _torch_attribute(name: str) -> Any:
    return getattr(torch, name)


# The values of the entries that are the same in all calls.
FIXED: Mapping[str, Callable[[Any], Any]] = {
    "ellipsis": lambda what: Ellipsis,
    "complex": lambda what: complex(*what),
    "dtype": _torch_attribute,
    "memory_format": _torch_attribute,
}
# The readers of the other entries.
READERS: Mapping[str, Callable[[Any], Reader]] = {
    "input": lambda number: lambda layer, tensors: tensors[number],
    "constant": _attribute_reader("constant"),
    "parameter": _attribute_reader("parameter"),
    "expression": _expression_reader,
    "slice": _slice_reader,
    "size": _size_reader,
    "permuted": _permuted_reader,
    "array": lambda values: lambda layer, tensors: _as_tensor(values, tensors[0]),
}


def with_device(tensor: Tensor) -> Tensor:
    """A constant on the device of new ones. Raises ValueError for one that could train but would not."""
    if is_frozen(tensor):
        raise ValueError(f"an argument {frozen(tensor)}")
    if tensor.requires_grad:
        raise ValueError(
            f"a tensor of shape {tuple(tensor.shape)} needs a gradient but is no nn.Parameter, so it would not be "
            "trained. Make it an nn.Parameter, or take x.detach()."
        )
    if tensor.is_meta:
        raise ValueError(
            f"a constant of shape {tuple(tensor.shape)} lies on 'meta' and has no values: make it on the CPU."
        )
    return tensor.to(config.device_of_constants())
