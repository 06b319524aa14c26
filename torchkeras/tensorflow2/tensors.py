"""What TensorFlow calls a tensor: its types, its sizes, and the methods that those of torch lack."""

from __future__ import annotations

import ctypes
import gc
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras import config
from torchkeras.engine.symbolic.tensor import COMPARED, KerasTensor
from torchkeras.engine.symbolic.unknown_sizes import SymbolicSize
from torchkeras.keras2.backend import cast
from torchkeras.keras2.backend.nodes import as_type, is_symbolic, sizes, tensor
from torchkeras.keras3 import ops
from torchkeras.keras3.optimizers.variables import OptimizerVariable
from torchkeras.tensorflow2.elements import STRING, StringTensor

TYPES: dict[str, Any] = {
    **{name: getattr(torch, name) for name in ("float16", "float32", "float64", "bfloat16", "bool", "uint8")},
    **{name: getattr(torch, name) for name in ("int8", "int16", "int32", "int64", "complex64", "complex128")},
    **{name: getattr(torch, name) for name in ("uint16", "uint32", "uint64")},
    "double": torch.float64,
    "half": torch.float16,
    "string": STRING,
    "resource": "resource",
    "variant": "variant",
}


class Sizes(tuple):
    """The sizes of a symbolic tensor, of which some are known when the model runs: arithmetic takes each by itself."""

    def _each(self, compute: Callable[[Any, Any], Any], other: Any) -> Sizes:
        others = other if isinstance(other, (list, tuple)) else [other] * len(self)
        return Sizes(compute(one, another) for one, another in zip(self, others, strict=True))

    def __mul__(self, other: Any) -> Sizes:  # type: ignore[override]
        return self._each(operator.mul, other)

    __rmul__ = __mul__  # type: ignore[assignment]

    def __floordiv__(self, other: Any) -> Sizes:
        return self._each(operator.floordiv, other)

    def __add__(self, other: Any) -> Sizes:  # type: ignore[override]
        return self._each(operator.add, other)

    def __sub__(self, other: Any) -> Sizes:
        return self._each(operator.sub, other)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Sizes(found) if isinstance(index, slice) else found


class TensorShape(tuple):
    """The sizes of the axes, None for one that is unknown: what `x.get_shape()` returns."""

    def __new__(cls, dims: Any = ()) -> TensorShape:
        found = [dims] if isinstance(dims, int) else dims
        return super().__new__(cls, (None if each is None else int(each) for each in found))

    def as_list(self) -> list[int | None]:
        """The sizes as a list."""
        return list(self)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self)

    ndims = rank
    dims = property(as_list)

    def num_elements(self) -> int | None:
        """The product of the sizes; None where one is unknown."""
        return None if None in self else int(np.prod(self, dtype=np.int64))

    def is_fully_defined(self) -> bool:
        """Whether all sizes are known."""
        return None not in self

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both may be the shape of one tensor."""
        found = tuple(other)
        pairs = zip(self, found, strict=False)
        return len(self) == len(found) and all(one == another or None in (one, another) for one, another in pairs)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError where they cannot be the shape of one tensor."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {tuple(other)} are incompatible.")

    def concatenate(self, other: Any) -> TensorShape:
        """The sizes of both, one after the other."""
        return TensorShape((*self, *other))

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return TensorShape(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> TensorShape:  # type: ignore[override]
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape((*other, *self))

    def __repr__(self) -> str:
        return f"TensorShape({self.as_list()})"

    def __str__(self) -> str:
        return str(tuple(self))


def shape_of(x: Any, out_type: Any = None) -> Any:
    """The sizes of the axes as a tensor of whole numbers; of a symbolic tensor they are known when the model runs."""
    if isinstance(x, KerasTensor):
        return Sizes(ops.shape(x))
    found = x.shape if isinstance(x, StringTensor) else as_value(x).shape
    return torch.tensor(tuple(found), dtype=as_type(out_type or "int32"), device="cpu")  # read where sizes are


def sizes_in(shape: Any) -> tuple[Any, ...]:
    """A shape as whole numbers, or sizes of symbolic tensors, from tensors, lists and numbers."""
    if isinstance(shape, (Tensor, np.ndarray)):
        return sizes(shape)
    parts = shape if isinstance(shape, (list, tuple)) else (shape,)
    return tuple(each if each is None or isinstance(each, (SymbolicSize, KerasTensor)) else int(each) for each in parts)


def as_value(value: Any) -> Any:
    """A tensor for arrays, numbers, lists and variables, of TensorFlow's type; symbolic tensors stay as they are."""
    if isinstance(value, (Tensor, KerasTensor, StringTensor)):
        return value
    if isinstance(value, OptimizerVariable):
        return value.value
    if is_symbolic(value):
        return (
            ops.stack([as_value(each) for each in value]) if isinstance(value, (list, tuple)) else cast(value, "int32")
        )
    if _is_text(value):
        return StringTensor.of(value)
    return tensor(value).to(config.device())


def operands(x: Any, y: Any) -> tuple[Any, Any]:
    """Two values for one operation: numbers stay, and an array or list has the type of a tensor beside it."""
    first, second = (each if isinstance(each, (bool, int, float)) else as_value(each) for each in (x, y))
    if isinstance(first, Tensor) and isinstance(y, (np.ndarray, np.generic, list, tuple)):
        second = _alike(second, first)
    elif isinstance(second, Tensor) and isinstance(x, (np.ndarray, np.generic, list, tuple)):
        first = _alike(first, second)
    return first, second


def _alike(value: Any, like: Tensor) -> Any:
    """An array as a tensor of the type of another, unless that is of whole numbers and it is not."""
    loses = isinstance(value, Tensor) and value.is_floating_point() and not like.is_floating_point()
    return value.to(like.dtype) if isinstance(value, Tensor) and not loses and like.dtype != torch.bool else value


def _is_text(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "USO"
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, (str, bytes))


def converted(value: Any, dtype: Any = None, dtype_hint: Any = None) -> Any:
    """A tensor of a value, of its own type or another."""
    found = as_value(value)
    return found if dtype in (None, STRING) else ops.cast(found, dtype)


def constant(value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """A tensor of a value, of its own type or another, and of a shape that one number fills."""
    found = converted(value, dtype)
    if shape is None:
        return found
    sizes = sizes_in(shape)
    return ops.reshape(found, sizes) if found.ndim and found.numel() > 1 else ops.broadcast_to(found, sizes)


# --- methods ----------------------------------------------------------------------------------------------------------

_numpy = Tensor.numpy


def _as_numpy(value: Tensor, *, force: bool = False) -> np.ndarray:
    """The values as an array, or a number of NumPy for a tensor without axes; they have no history of gradients."""
    return _numpy(value.detach(), force=True)[()]


def _as_array(value: Tensor, /, dtype: Any = None, *args: Any, **options: Any) -> np.ndarray:
    found = _numpy(value.detach(), force=True)  # also of a tensor without axes, of which `_as_numpy` makes a number
    return found if dtype is None else found.astype(dtype, copy=False)


def _as_float(value: Tensor) -> float:
    return float(value.detach().item())


def _get_shape(value: Tensor | KerasTensor) -> TensorShape:
    """The sizes of the axes."""
    return TensorShape(value.shape)


def _set_shape(value: Tensor | KerasTensor, shape: Any) -> None:
    """Check the sizes. Raises ValueError for others."""
    TensorShape(value.shape).assert_is_compatible_with(TensorShape(shape))


def _flipped(index: Any, sizes: Sequence[int | None]) -> tuple[list[int], Any]:
    """The axes along which an index goes backwards, and the index that is the same of a tensor flipped along these.

    Raises ValueError for a slice with bounds that goes backwards along an axis of unknown size.
    """
    parts = list(index) if isinstance(index, tuple) else [index]
    taken = sum(_axes_of(part) for part in parts)
    axes, axis = [], 0
    for place, part in enumerate(parts):
        if isinstance(part, slice) and part.step is not None and part.step < 0:
            parts[place] = _forwards(part, sizes[axis])
            axes.append(axis)
        axis += len(sizes) - taken if part is Ellipsis else _axes_of(part)
    return axes, tuple(parts) if isinstance(index, tuple) else parts[0]


def _axes_of(part: Any) -> int:
    """How many axes a part of an index takes."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if getattr(part, "dtype", None) in (torch.bool, np.bool_) else 1


def _forwards(part: slice, size: int | None) -> slice:
    """The slice of a flipped axis with what a slice with a negative step takes, in the same order."""
    if part.start is None and part.stop is None:
        return slice(None, None, -part.step)
    if size is None:
        raise ValueError(f"A slice with the step {part.step} must have no bounds, as the size of its axis is unknown.")
    places = range(size)[part]
    return slice(size - 1 - places.start, size - 1 - places.stop, -part.step)


def _goes_backwards(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(each, slice) and isinstance(each.step, int) and each.step < 0 for each in parts)


def _part_of(own: Callable[..., Any]) -> Callable[..., Any]:
    """`x[index]`, whose slices may go backwards, which those of torch cannot."""

    @wraps(own)
    def part(value: Tensor, index: Any) -> Any:
        if not _goes_backwards(index):
            return own(value, index)
        axes, forwards = _flipped(index, tuple(value.shape))
        return own(ops.flip(value, axes), forwards)

    return part


def _operator(name: str) -> Callable[..., Any]:
    """An operator of tensors whose other side may be an array or a list: torch leaves arrays to NumPy, and gradients
    would end there.
    """
    own = getattr(Tensor, name)

    @wraps(own)
    def apply(value: Tensor, other: Any) -> Any:
        return own(
            value, _alike(as_value(other), value) if isinstance(other, (np.ndarray, np.generic, list)) else other
        )

    return apply


_SIDES = "add sub mul truediv floordiv mod pow matmul"
_COMPARED = "eq ne lt le gt ge"
OPERATORS = {
    f"__{name}__": _operator(f"__{name}__")
    for name in (*_SIDES.split(), *(f"r{name}" for name in _SIDES.split()), *_COMPARED.split())
}

# Of tensors with values, while TensorFlow 2 is answered: torch's own `numpy` refuses a tensor with gradients.
OF_TENSORS = {
    **OPERATORS,
    "numpy": _as_numpy,
    "__array__": _as_array,
    "__float__": _as_float,
    "__getitem__": _part_of(Tensor.__getitem__),
    "get_shape": _get_shape,
    "set_shape": _set_shape,
}


def _equal(symbolic: KerasTensor, other: Any) -> Any:
    """The node of `==`, which compares two symbolic tensors as objects in Keras 3."""
    if isinstance(other, COMPARED):
        return KerasTensor.apply_function(torch.eq, (symbolic, other), {})
    return NotImplemented


_sizes = KerasTensor.shape  # the descriptor of the slot
OF_SYMBOLIC = {
    "__eq__": _equal,
    "__getitem__": _part_of(KerasTensor.__getitem__),
    "get_shape": _get_shape,
    "set_shape": _set_shape,
    "shape": property(lambda symbolic: TensorShape(_sizes.__get__(symbolic)), _sizes.__set__),  # type: ignore[attr-defined]
}
# Of `x.shape` of a tensor with values.
OF_SIZES = {
    name: vars(TensorShape)[name]
    for name in (
        *("as_list", "rank", "ndims", "dims", "num_elements", "is_fully_defined", "is_compatible_with"),
        *("assert_is_compatible_with", "concatenate"),
    )
}


def put_into_sizes(members: Mapping[str, Any] = OF_SIZES) -> None:
    """Give `torch.Size` the members of `TensorShape`. A class of C takes none by `setattr`, and has no subclass."""
    _members_of_sizes().update(members)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(torch.Size))


def take_from_sizes() -> None:
    """Take them out again."""
    for name in OF_SIZES:
        _members_of_sizes().pop(name, None)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(torch.Size))


def _members_of_sizes() -> dict[str, Any]:
    """The dictionary behind the read-only view that `vars` gives."""
    return gc.get_referents(vars(torch.Size))[0]


class _Kind(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (Tensor, StringTensor))


class AnyTensor(metaclass=_Kind):
    """`tf.Tensor`: what any tensor with values is an instance of; never an object."""
