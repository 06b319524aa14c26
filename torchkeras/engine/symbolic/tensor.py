"""Symbolic tensors and the nodes that make them: the graph that calls of layers write.

A `Node` is one *call* of a layer, so a layer that is called twice has two nodes and the graph has no cycle.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from torchkeras import config
from torchkeras.base.extensions import replaceable
from torchkeras.base.nested import Symbolic, leaves
from torchkeras.base.texts import type_name
from torchkeras.engine.adapters import einops_backend
from torchkeras.engine.symbolic.unknown_sizes import SymbolicSize
from torchkeras.tensor_functions import torch_functions

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

Shape = tuple["int | None", ...]


def fits_shape(found: Sequence[int | None], expected: Sequence[int | None]) -> bool:
    """Whether a shape is the expected one, in which None stands for any size."""
    return len(found) == len(expected) and all(size in (None, axis) for axis, size in zip(found, expected, strict=True))


def channels_hint(found: Sequence[int | None], expected: Sequence[int | None]) -> str | None:
    """Advice for a shape that only the place of its channels keeps from fitting; both have the axis of samples."""
    axes, sample = tuple(found[1:]), tuple(expected[1:])
    if len(sample) < 3:
        return None
    if fits_shape(axes, (sample[-1], *sample[:-1])):
        return (
            "Its channels come first: give x.movedim(1, -1) (np.moveaxis(x, 1, -1) of an array), or end the transforms "
            'of its Dataset with operator.methodcaller("movedim", 0, -1).'
        )
    if fits_shape(axes, (*sample[1:], sample[0])):
        return "Its channels come last: give x.movedim(-1, 1) (np.moveaxis(x, -1, 1) of an array)."
    return None


class History(NamedTuple):
    """What made a symbolic tensor: the layer, the index of its node, and the index among the node's outputs."""

    layer: Layer
    node_index: int
    tensor_index: int


def _another_name(name: str) -> Any:
    """Another name of an attribute."""
    return property(
        operator.attrgetter(name), lambda self, value: setattr(self, name, value), lambda self: delattr(self, name)
    )


@replaceable("__eq__", "__ne__", "__len__", "__getitem__", "_keras_shape", "shape")
class KerasTensor(Symbolic):
    """A symbolic tensor: a shape and a type, without values. `Input` and calls of layers make them.

    Operators, slices, torch's functions and the methods of `torch.Tensor` make nodes of the graph, in Keras's order of
    axes. So does `==`; use `is` to ask whether two are the same tensor.

    Options:
        shape (tuple): the sizes of the axes, the batch axis first; None for an unknown size.
        dtype (torch dtype): the type of the elements.
        name (text, default ""): the name of the tensor.

    Example:
        >>> inputs = Input((3,))
        >>> (2 * inputs + 1).shape
        (None, 3)
    """

    __slots__ = ("__weakref__", "_probed", "dtype", "keras_history", "keras_mask", "name", "shape")

    shape: Shape
    dtype: torch.dtype
    name: str
    keras_history: History
    keras_mask: KerasTensor | None
    _probed: tuple[Any, Any] | None  # if a function made it: its sizes in the two runs that found its shape

    __array_ufunc__ = None  # NumPy leaves `np.float32(2) * tensor` to the operators below

    # Makes the node of a function. `engine/graph/input.py` sets it: this module cannot import layers.
    apply_function: Callable[..., Any]

    def __init__(self, shape: Iterable[int | None], dtype: torch.dtype, name: str = ""):
        self.shape = tuple(shape)
        self.dtype = dtype
        self.name = name
        self.keras_mask = self._probed = None
        if "einops._backends" in sys.modules:
            einops_backend.offer()

    @property
    def _keras_shape(self) -> Shape:
        return self.shape

    # Keras's names of the two, which scripts and pickles have.
    _keras_history = _another_name("keras_history")
    _keras_mask = _another_name("keras_mask")

    @property
    def ndim(self) -> int:
        """The number of axes, with the batch axis."""
        return len(self.shape)

    def dim(self) -> int:
        """The number of axes, under torch's name."""
        return len(self.shape)

    ndimension = dim

    def size(self, dim: int | None = None) -> Any:
        """All sizes, or that of one axis. An unknown one is a `SymbolicSize`, which functions take as a size."""
        if dim is None:
            return tuple(map(self.size, range(self.ndim)))
        known = self.shape[dim]
        if known is None:
            return SymbolicSize(self, dim % self.ndim)
        return known

    def numel(self) -> Any:
        """The number of elements: a `SymbolicSize` if a size is unknown."""
        return prod(self.size())

    nelement = numel

    def is_floating_point(self) -> bool:
        """Whether the type is one of floating-point numbers."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the type is one of complex numbers."""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the type has negative numbers."""
        return self.dtype.is_signed

    def element_size(self) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    @property
    def device(self) -> torch.device:
        """The device of new weights and constants. The graph itself computes on its model's device."""
        return config.device()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or (function := torch_functions.member(name)) is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        if name in torch_functions.PROPERTIES:
            return KerasTensor.apply_function(function, (self,), {})
        return lambda *args, **kwargs: KerasTensor.apply_function(function, (self, *args), kwargs)

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape)).replace("None", "?")
        if len(self.shape) == 1:
            shape += ","
        return f"<KerasTensor '{self.name}' shape=({shape}) dtype={type_name(self.dtype)}>"

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return KerasTensor.apply_function(func, args, dict(kwargs or {}))

    if TYPE_CHECKING:  # the operators are set below, from their table

        def _operate(self, *others: Any) -> Any: ...

        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __matmul__ = _operate
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = _operate
        __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = __invert__ = _operate
        __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _operate
        __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _operate

    __hash__ = object.__hash__

    def __setitem__(self, place: Any, value: Any) -> None:
        KerasTensor.apply_function(torch.Tensor.__setitem__, (self, place, value), {})

    def __int__(self) -> int:
        raise TypeError(f"{self!r} has no value yet, so it is no number: a graph cannot count by it.")

    def __float__(self) -> float:
        return self.__int__()

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} has no value yet, so it has no truth value: a graph cannot branch on it. Use torch.where."
        )

    def __len__(self) -> int:
        raise TypeError(f"{self!r} has no length; its shape is {self.shape}.")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self!r} cannot be iterated over; take slices of it.")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self!r} has no values yet and is no array: NumPy cannot compute on it.")


def _operator(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(tensor: KerasTensor, *others: Any) -> Any:
        return KerasTensor.apply_function(function, (tensor, *others), {})

    return apply


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    """The operator of a right operand, such as `__radd__`."""

    def apply(tensor: KerasTensor, *others: Any) -> Any:
        return KerasTensor.apply_function(function, (*others, tensor), {})

    return apply


COMPARED = (KerasTensor, SymbolicSize, torch.Tensor, np.ndarray, np.generic, int, float, complex)


def _comparison(function: Callable[..., Any]) -> Callable[..., Any]:
    """`==` or `!=` with what can be compared; with anything else, such as None, a tensor is not equal."""

    def apply(tensor: KerasTensor, other: Any) -> Any:
        if isinstance(other, COMPARED):
            return KerasTensor.apply_function(function, (tensor, other), {})
        return NotImplemented

    return apply


def _by_name(*names: str) -> dict[str, Callable[..., Any]]:
    return {name.rstrip("_"): getattr(operator, name) for name in names}


_ARITHMETIC = _by_name("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_ARITHMETIC |= _by_name("and_", "or_", "xor", "lshift", "rshift")
_OTHERS = _by_name("neg", "invert", "abs", "lt", "le", "gt", "ge", "getitem")
_COMPARISONS = _by_name("eq", "ne")
# The Python operators of symbolic tensors, by their names in a config.
OPERATORS = {**_ARITHMETIC, **_OTHERS, **_COMPARISONS}

for _prefix, _operators, _made in (
    ("", {**_ARITHMETIC, **_OTHERS}, _operator),
    ("r", _ARITHMETIC, _reflected),
    ("", _COMPARISONS, _comparison),
):
    for _name, _function in _operators.items():
        setattr(KerasTensor, f"__{_prefix}{_name}__", _made(_function))


@dataclass(frozen=True, eq=False)
class Node:
    """One call of a layer: its inputs, its outputs, and the other arguments."""

    layer: Layer
    inputs: Any  # a symbolic tensor or a list of them
    outputs: Any  # as the call returned them: a symbolic tensor, or a nested value of symbolic tensors
    arguments: Mapping[str, Any]

    @property
    def input_tensors(self) -> list[KerasTensor]:
        """The inputs as a list."""
        return as_list(self.inputs)

    @property
    def output_tensors(self) -> list[KerasTensor]:
        """The outputs as a list."""
        return leaves(self.outputs)

    @property
    def has_own_mode(self) -> bool:
        """Whether the call sets `training`, whatever mode the model is in."""
        return self.arguments.get("training") is not None

    @property
    def inbound_layers(self) -> list[Layer]:
        """The layers whose outputs are the inputs of this call."""
        return [tensor.keras_history.layer for tensor in self.input_tensors]

    @property
    def node_indices(self) -> list[int]:
        """For each input, which call of its layer made it."""
        return [tensor.keras_history.node_index for tensor in self.input_tensors]

    @property
    def tensor_indices(self) -> list[int]:
        """For each input, which output of that call it is."""
        return [tensor.keras_history.tensor_index for tensor in self.input_tensors]

    @property
    def input_shapes(self) -> list[Shape]:
        """The shapes of the inputs."""
        return [tensor.shape for tensor in self.input_tensors]

    @property
    def output_shapes(self) -> list[Shape]:
        """The shapes of the outputs."""
        return [tensor.shape for tensor in self.output_tensors]


def calls_of(layer: Layer) -> list[Node]:
    """The calls of a layer on symbolic tensors, in their order; the layer's own list."""
    return layer._call_nodes


def node_of(tensor: KerasTensor) -> Node:
    """The call that made a symbolic tensor."""
    layer, node_index, _ = tensor.keras_history
    return layer._call_nodes[node_index]


def index_of(tensor: Any, tensors: Iterable[Any]) -> int | None:
    """The index of a tensor among others, or None: `in` and `list.index` would make a node of `==`."""
    return next((place for place, other in enumerate(tensors) if other is tensor), None)


def as_list(value: Any) -> list[Any]:
    """`[]` for None, the items of a list or tuple, else the value alone."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def unpacked(values: Sequence[Any]) -> Any:
    """The inverse of `as_list`: the only item of a sequence of one, else the sequence."""
    return values[0] if len(values) == 1 else values
