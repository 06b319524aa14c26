"""The arguments of a function in a graph, as plain values that a config may hold.

Numbers, texts, None and lists (tuples, when the function is called) stand for themselves; else a mapping says what is
meant: `{"input": k}` the k-th symbolic tensor, `{"constant": k}` and `{"parameter": k}` tensors that the layer holds,
`{"expression": k}` what is computed from weights at each call,
`{"slice": [start, stop, step]}`, `{"ellipsis": True}`, `{"dtype": "float16"}`, `{"memory_format": "channels_last"}`,
`{"complex": [real, imaginary]}`, `{"size": [k, axis]}` that of an input, or `{"size": ["*", left, right]}` of whole
numbers and such sizes, and `{"array": nested lists}`, a constant of the type of the first input.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.dtype_names import dtype_name, dtype_of
from torchkeras.engine.symbolic.tensor import KerasTensor, index_of
from torchkeras.engine.symbolic.unknown_sizes import ARITHMETIC, SymbolicSize
from torchkeras.engine.weights.expressions import frozen, is_frozen, value_now
from torchkeras.engine.weights.weight import Variable

Reader = Callable[[Any, Any], Any]  # (the layer, its inputs) -> the argument

PLAIN = (int, float, bool, str, type(None))
HELD = ("constant", "parameter", "expression")
MEMORY_FORMATS = ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")


# --- from a call -----------------------------------------------------------------------------------------------------


def encoded(value: Any, inputs: list[KerasTensor], floating: torch.dtype) -> Any:
    """An argument of a call as a plain value, in which tensors still stand; symbolic ones are added to `inputs`.

    `floating`: the type that arrays of floating-point numbers get. Raises TypeError for what no graph can have.
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
        return value.value
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        found = torch.tensor(value)
        return found.to(floating) if found.is_floating_point() else found
    if isinstance(value, slice):
        return {"slice": parts((value.start, value.stop, value.step))}
    if isinstance(value, (list, tuple)):
        return parts(value)
    return _as_config(value)


def _input_number(tensor: KerasTensor, inputs: list[KerasTensor]) -> int:
    """The number of a tensor among the inputs, where it is put if it is not there."""
    found = index_of(tensor, inputs)
    if found is not None:
        return found
    inputs.append(tensor)
    return len(inputs) - 1


def _as_config(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, torch.memory_format):
        return {"memory_format": dtype_name(value)}  # type: ignore[arg-type]
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if not isinstance(value, PLAIN):
        raise TypeError(
            "a function in a graph takes tensors, arrays, numbers, texts, slices and types as arguments; found "
            f"{type(value).__name__}."
        )
    return value


def index(value: Any) -> Any:
    """What stands in the brackets of `x[...]`, so that its shape is known before the values are: lists as tensors,
    constant masks as the numbers of their elements.
    """
    if isinstance(value, tuple):
        return tuple(part for found in value for part in _positions(found))
    found = _positions(value)
    return found[0] if len(found) == 1 else tuple(found)


def _positions(value: Any) -> list[Any]:
    is_list = isinstance(value, (list, np.ndarray)) and not any(isinstance(part, KerasTensor) for part in value)
    found = torch.tensor(value) if is_list else value
    if not isinstance(found, Tensor):
        return [found]
    if found.dtype is torch.bool and found.dim():
        return list(found.nonzero(as_tuple=True))
    return [found.long()] if found.dim() else [found.item()]


# --- tensors in configs ----------------------------------------------------------------------------------------------


def written(tensor: Tensor) -> dict[str, Any]:
    """A constant's type, shape and bytes, for a config."""
    flat = tensor.detach().cpu().contiguous().flatten()
    data = b"" if flat.numel() == 0 else flat.view(torch.uint8).numpy().tobytes()
    shape = list(tensor.shape)
    return {"dtype": dtype_name(tensor.dtype), "shape": shape, "data": base64.b64encode(data).decode()}


def read(entry: Mapping[str, Any]) -> Tensor:
    """The constant of a config. Raises ValueError for bytes that are not those of its type and shape."""
    dtype, shape = dtype_of(str(entry.get("dtype"))), _as_shape(entry.get("shape"))
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
    """The shape that a config has for a tensor. Raises ValueError for another form."""
    return _as_shape(entry.get("shape"))


def _as_shape(value: Any) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)) or not all(type(size) is int and size >= 0 for size in value):
        raise ValueError(f"a tensor's shape is a list of sizes; found {value!r:.200}.")
    return tuple(value)


# --- held by a layer -------------------------------------------------------------------------------------------------


def held(value: Any, hold: Callable[[Any], dict[str, Any]]) -> Any:
    """A plain value, its tensors and the config's entries of such replaced by what `hold` says of them."""
    if isinstance(value, Tensor) or (isinstance(value, Mapping) and not value.keys().isdisjoint(HELD)):
        return hold(value)
    if isinstance(value, Mapping) and "slice" in value:
        return {"slice": [held(part, hold) for part in value["slice"]]}
    if isinstance(value, (list, tuple)):
        return [held(part, hold) for part in value]
    return value


def check(value: Any) -> None:
    """Hold an argument to the forms above. Raises ValueError."""
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
    if fits is None or not fits(value) or (len(entry) > 1 and kind not in HELD):
        raise ValueError(f"has {dict(entry)!r:.200}, which stands for no argument.")
    if kind == "slice":
        for part in value:  # type: ignore[union-attr]
            check(part)


def _is_number(value: Any) -> bool:
    """Whether a value is a whole number from 0 on, as of an input, an axis or a tensor that the layer holds."""
    return type(value) is int and value >= 0


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


# What may stand in an entry, by its key.
FORMS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("input", *HELD), _is_number),
    "slice": lambda value: isinstance(value, (list, tuple)) and len(value) == 3,
    "ellipsis": lambda value: value is True,
    "dtype": lambda value: isinstance(value, str) and isinstance(getattr(torch, value, None), torch.dtype),
    "memory_format": lambda value: value in MEMORY_FORMATS,
    "complex": lambda value: (
        isinstance(value, (list, tuple)) and len(value) == 2 and {*map(type, value)} <= {int, float}
    ),
    "array": lambda value: True,
    "size": _is_size_form,
}


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """(kind, what) of each entry among arguments, also of those in slices and in operations on sizes."""
    if isinstance(value, Mapping):
        kind, what = next(iter(value.items()))
        yield kind, what
        if kind in ("slice", "size"):
            yield from _entries(what)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _entries(part)


def is_fixed(value: Any) -> bool:
    """Whether an argument has nothing of the inputs or the layer in it."""
    return all(kind in FIXED or kind == "slice" for kind, _ in _entries(value))


def has_size(value: Any) -> bool:
    """Whether a size of an input is among arguments, which holds in one order of axes alone."""
    return any(kind == "size" for kind, _ in _entries(value))


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
    """What gives an argument for a layer and its inputs."""
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


def _held_reader(kind: str) -> Callable[[int], Reader]:
    """The reader of what a layer holds as an attribute: `constant_0`, `parameter_1`."""

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


# The value of an entry that is the same in all calls.
FIXED: Mapping[str, Callable[[Any], Any]] = {
    "ellipsis": lambda what: Ellipsis,
    "complex": lambda what: complex(*what),
    "dtype": _torch_attribute,
    "memory_format": _torch_attribute,
}
# The readers of the other entries.
READERS: Mapping[str, Callable[[Any], Reader]] = {
    "input": lambda number: lambda layer, tensors: tensors[number],
    "constant": _held_reader("constant"),
    "parameter": _held_reader("parameter"),
    "expression": _expression_reader,
    "slice": _slice_reader,
    "size": _size_reader,
    "array": lambda values: lambda layer, tensors: _as_tensor(values, tensors[0]),
}


def with_device(tensor: Tensor) -> Tensor:
    """A constant where new weights are made. Raises ValueError for one that could train but would not."""
    if is_frozen(tensor):
        raise ValueError(f"an argument {frozen(tensor)}")
    if tensor.requires_grad:
        raise ValueError(
            f"a tensor of shape {tuple(tensor.shape)} needs a gradient but is no nn.Parameter, so it would not be "
            "trained. Make it an nn.Parameter, or take x.detach()."
        )
    if tensor.is_meta:
        raise ValueError(f"a constant of shape {tuple(tensor.shape)} lies on 'meta' and has no values.")
    return tensor.to(config.device())
