"""Elements of a `tf.data.Dataset`: nested tuples and dicts of tensors, their types and shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.dtypes import dtype_of

STRING = "string"
FROM_PYTHON = {torch.float64: torch.float32, torch.int64: torch.int32}  # TensorFlow's types of Python's numbers


class StringTensor(np.ndarray):
    """Strings as TensorFlow has them: an array of bytes objects, which torch has no tensors for.

    Example:
        >>> StringTensor.of(["a", "b"]).numpy()
        array([b'a', b'b'], dtype=object)
        >>> StringTensor.of("a").numpy()
        b'a'
    """

    @classmethod
    def of(cls, values: Any) -> StringTensor:
        """Strings, bytes or arrays of them. Raises TypeError for anything else."""
        found = np.asarray(values, dtype=object)
        flat = [_bytes(each) for each in found.ravel().tolist()]
        made = np.empty(len(flat), dtype=object)
        made[:] = flat
        return made.reshape(found.shape).view(cls)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return found if isinstance(found, StringTensor) else StringTensor.of(found)

    def __str__(self) -> str:
        return str(self.numpy())

    def __hash__(self) -> int:  # type: ignore[override]  # NumPy's arrays have none; a path may be a key
        return hash(self.numpy())

    def __fspath__(self) -> str:
        return str(self.numpy().decode())

    def numpy(self) -> Any:
        """The strings as an array of bytes objects, one alone as bytes."""
        return np.asarray(self)[()]


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise TypeError(f"Strings must be texts or bytes; found {type(value).__name__}: {value!r:.80}.")


# --- structures -----------------------------------------------------------------------------------------------------


def mapped(change: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """A structure of tuples and dicts with each leaf changed, next to the leaves of others of the same form.

    Not as in `keras.tree`, a list is a leaf, of which `tf.data` makes a tensor, and None stays.

    Raises ValueError where the forms differ.
    """
    if isinstance(structure, Mapping):
        for other in others:
            if not isinstance(other, Mapping) or other.keys() != structure.keys():
                raise ValueError(f"Structures differ: {list(structure)} and {other!r:.100}.")
        found = {key: mapped(change, item, *(other[key] for other in others)) for key, item in structure.items()}
        return found if type(structure) is dict else type(structure)(found)  # type: ignore[call-arg]
    if isinstance(structure, tuple):
        for other in others:
            if not isinstance(other, (tuple, list)) or len(other) != len(structure):
                raise ValueError(f"Structures differ: a tuple of {len(structure)} and {other!r:.100}.")
        items = [mapped(change, *each) for each in zip(structure, *others, strict=True)]
        return type(structure)(*items) if hasattr(structure, "_fields") else tuple(items)
    return None if structure is None else change(structure, *others)


def leaves(structure: Any) -> list[Any]:
    """The leaves of a structure, in its order."""
    found: list[Any] = []
    mapped(found.append, structure)
    return found


# --- tensors --------------------------------------------------------------------------------------------------------


def as_element(value: Any) -> Any:
    """A structure with a tensor for each array, number, text or list; datasets stay."""
    return mapped(as_leaf, value)


def as_leaf(value: Any) -> Any:
    """The tensor of an array, number, text or list, with TensorFlow's type: Python's numbers are int32 and float32."""
    if isinstance(value, (Tensor, StringTensor)) or hasattr(value, "element_spec"):
        return value
    if isinstance(value, Sequence) and any(isinstance(each, (Tensor, StringTensor)) for each in value):
        return stacked([as_leaf(each) for each in value])
    held = getattr(value, "value", None)  # of a variable of Keras
    if isinstance(held, Tensor):
        return held.detach()
    array = np.asarray(value)
    if array.dtype.kind in "USO":
        return StringTensor.of(array)
    tensor = torch.as_tensor(array if array.flags.writeable and array.flags.c_contiguous else array.copy())
    return tensor.to(FROM_PYTHON.get(tensor.dtype, tensor.dtype)) if _of_python(value) else tensor


def _of_python(value: Any) -> bool:
    """Whether a value is a number of Python, or a list of these."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, (bool, int, float, list, tuple)) and not isinstance(value, np.generic)


def stacked(tensors: Sequence[Any]) -> Any:
    """Tensors of one shape along a new first axis. Raises ValueError where shapes or types differ."""
    first = tensors[0]
    for number, tensor in enumerate(tensors):
        if tensor.shape != first.shape or type_of(tensor) != type_of(first):
            raise ValueError(
                f"Dataset.batch: the elements of a batch must have one shape and type. The first has "
                f"{tuple(first.shape)}, {type_of(first)}; that at {number} has {tuple(tensor.shape)}, "
                f"{type_of(tensor)}. padded_batch fills shorter ones up."
            )
    return np.stack(tensors).view(StringTensor) if isinstance(first, StringTensor) else torch.stack(list(tensors))


def padded(tensors: Sequence[Any], shape: Any, value: Any) -> Any:
    """Tensors filled up with a value at the end of each axis, and stacked.

    shape: the length of each axis; None, for one or all, is that of the longest. Raises ValueError for a longer tensor
    or another rank.
    """
    given = sizes_of(shape)
    sizes = (None,) * tensors[0].ndim if given is None else given
    for tensor in tensors:
        fits = len(sizes) == tensor.ndim and all(s is None or n <= s for n, s in zip(tensor.shape, sizes, strict=True))
        if not fits:
            raise ValueError(
                f"Dataset.padded_batch: padded_shapes must have an axis for each of an element, at least as long; "
                f"found {list(sizes)} for an element of shape {tuple(tensor.shape)}."
            )
    longest = [max(axis) for axis in zip(*(tensor.shape for tensor in tensors), strict=True)]
    made_shape = (len(tensors), *(most if size is None else size for most, size in zip(longest, sizes, strict=True)))
    if isinstance(tensors[0], StringTensor):
        filler = b"" if value is None else StringTensor.of(value).numpy()
        made: Any = StringTensor.of(np.full(made_shape, filler, dtype=object))
    else:
        made = tensors[0].new_full(made_shape, 0 if value is None else as_leaf(value).item())
    for row, tensor in zip(made, tensors, strict=True):
        row[tuple(map(slice, tensor.shape)) or ...] = tensor
    return made


def as_numpy(value: Any) -> Any:
    """The NumPy array of a tensor, a scalar of NumPy for one without axes; datasets give iterators of their own."""
    if hasattr(value, "as_numpy_iterator"):
        return value
    return value.numpy() if isinstance(value, StringTensor) else value.detach().cpu().numpy()[()]


# --- types and shapes -----------------------------------------------------------------------------------------------


def type_of(value: Any) -> Any:
    """The type of a tensor: one of torch, or "string"."""
    return STRING if isinstance(value, StringTensor) else value.dtype


def dtype_from(given: Any) -> Any:
    """A type of torch or "string", of an object, a name or a type of NumPy or torch."""
    if isinstance(given, torch.dtype):
        return given
    name = getattr(given, "name", None) or (np.dtype(given).name if isinstance(given, type) else str(given))
    return STRING if name in (STRING, "str", "str_", "object", "bytes", "bytes_") else dtype_of(name)


def cast(value: Any, dtype: Any) -> Any:
    """A tensor of a type, or the strings themselves."""
    leaf = as_leaf(value)
    if dtype == STRING or isinstance(leaf, StringTensor):
        return leaf if isinstance(leaf, StringTensor) else StringTensor.of(leaf)
    return leaf.to(dtype)


def sizes_of(shape: Any) -> tuple[int | None, ...] | None:
    """A shape as a tuple; None for an unknown rank. -1 is an unknown size."""
    if shape is None or getattr(shape, "rank", 0) is None:
        return None
    if isinstance(shape, int):
        return (shape,)
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    found = [getattr(size, "value", size) for size in shape]
    return tuple(None if size is None or size == -1 else int(size) for size in found)


@dataclass(frozen=True)
class TensorSpec:
    """The shape and type of a tensor of each element; a size of None differs from element to element.

    Arguments:
        shape (list of integers and None): the sizes; None in place of the list is an unknown rank.
        dtype (text or type, default torch.float32): the type; "string" for texts.
        name (text or None, default None): a name.
    """

    shape: Any
    dtype: Any = torch.float32
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", sizes_of(self.shape))
        object.__setattr__(self, "dtype", dtype_from(self.dtype))

    @classmethod
    def of(cls, tensor: Any) -> TensorSpec:
        """That of a tensor."""
        return cls(tuple(tensor.shape), type_of(tensor))

    from_tensor = of

    def holds(self, tensor: Any) -> bool:
        """Whether a tensor is of this shape."""
        if self.shape is None:
            return True
        return len(self.shape) == tensor.ndim and all(
            size in (None, found) for size, found in zip(self.shape, tensor.shape, strict=True)
        )

    def batched(self, size: int | None) -> TensorSpec:
        """That of a batch."""
        return TensorSpec(None if self.shape is None else (size, *self.shape), self.dtype, self.name)

    def unbatched(self) -> TensorSpec:
        """That of an element of a batch."""
        return TensorSpec(None if self.shape is None else self.shape[1:], self.dtype, self.name)

    def with_shape(self, shape: Iterable[int | None] | None) -> TensorSpec:
        """The same type with another shape."""
        return TensorSpec(shape, self.dtype, self.name)


@dataclass(frozen=True)
class DatasetSpec:
    """The spec of an element that is a dataset itself, as those of `Dataset.window`."""

    element_spec: Any
    shape: tuple[int, ...] = ()


def spec_of(element: Any) -> Any:
    """The specs of an element."""
    return mapped(
        lambda leaf: DatasetSpec(leaf.element_spec) if hasattr(leaf, "element_spec") else TensorSpec.of(leaf), element
    )


def common(one: Any, other: Any) -> Any:
    """The spec that holds for two; sizes that differ are None."""
    if one.shape is None or other.shape is None or len(one.shape) != len(other.shape):
        return one.with_shape(None)
    return one.with_shape([a if a == b else None for a, b in zip(one.shape, other.shape, strict=True)])
