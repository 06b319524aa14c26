"""`Variable`: a weight with Keras's `assign`, `value` and `path`, that torch's functions take as a tensor.

What `add_weight` returns, the attribute of the layer and the entry of `weights` are one object. Its tensors are the
parameters and buffers of the layer's torch modules, read under their paths: whatever moves or trains these changes it.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from torchkeras import config
from torchkeras.base.arrays import to_numpy
from torchkeras.base.dtypes import dtype_name, dtype_of
from torchkeras.base.extensions import replaceable
from torchkeras.base.keras_axes import IN_ORDER
from torchkeras.base.naming import count_name
from torchkeras.base.nested import Symbolic, mapped
from torchkeras.base.tracing import traced
from torchkeras.engine.weights.expressions import following
from torchkeras.engine.weights.weight import Value, Variable as Weight, tensor_at
from torchkeras.keras3 import initializers
from torchkeras.tensor_functions.operations.values import tensor_of

AGGREGATIONS = ("none", "mean", "sum", "only_first_replica")
SYNCHRONIZATIONS = ("auto", "none", "on_write", "on_read")
# The attributes of a tensor that are set on the tensors of a weight.
OF_TENSORS = ("data", "grad", "requires_grad")


def value_of(value: Any) -> Any:
    """A value, with the tensor of each `TensorLike` in its place, also in lists and tuples."""
    if isinstance(value, TensorLike):
        return value.value
    if type(value) in (list, tuple):
        return type(value)(map(value_of, value))
    return value


def _operand(value: Any, like: Tensor) -> Any:
    """The other side of an operator: a number, a symbolic tensor or a tensor, which arrays and lists become."""
    if isinstance(value, TensorLike):
        return value.value
    return value if isinstance(value, (Tensor, int, float, complex, Symbolic)) else tensor_of(value, like.device)


def _of_values(name: str) -> Callable[..., Any]:
    """The operator of tensors, on the value."""

    def apply(operand: TensorLike, *others: Any) -> Any:
        if any(isinstance(other, Symbolic) for other in others):
            return NotImplemented  # the symbolic tensor makes a node, which reads the variable at each use
        value = operand.value
        return getattr(value, name)(*(_operand(other, value) for other in others))

    apply.__name__ = name
    return apply


class TensorLike:
    """What stands for a tensor, its `value`, in the functions of torch and of `keras.ops`, and in arithmetic."""

    __array_priority__ = 1000  # an array leaves operators to it, as to torch's tensors

    @property
    def value(self) -> Tensor:
        """The tensor."""
        raise NotImplementedError

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(issubclass(kind, Symbolic) for kind in types):
            return NotImplemented
        return func(*map(value_of, args), **{name: value_of(value) for name, value in (kwargs or {}).items()})

    @property
    def shape(self) -> Any:
        """The sizes of the axes."""
        return tuple(self.value.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        """The name of the type: "float32"."""
        return dtype_name(self.value.dtype)

    def numpy(self) -> np.ndarray:
        """A copy of the values."""
        return to_numpy(self.value).copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """What a function of NumPy gives for the array of the values."""
        args, kwargs = mapped((args, kwargs), np.asarray, (TensorLike,))
        return function(*args, **kwargs)

    def __float__(self) -> float:
        return float(self.value.detach())

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.value)

    def __getitem__(self, key: Any) -> Tensor:
        return self.value[value_of(key)]

    def __format__(self, text: str) -> str:
        return format(self.value.item() if not self.shape else str(self), text)

    def __round__(self, ndigits: int | None = None) -> Tensor:
        return torch.round(self.value, decimals=ndigits or 0)

    def __pos__(self) -> Tensor:
        return self.value

    __hash__ = object.__hash__
    __add__ = _of_values("__add__")
    __radd__ = _of_values("__radd__")
    __sub__ = _of_values("__sub__")
    __rsub__ = _of_values("__rsub__")
    __mul__ = _of_values("__mul__")
    __rmul__ = _of_values("__rmul__")
    __truediv__ = _of_values("__truediv__")
    __rtruediv__ = _of_values("__rtruediv__")
    __floordiv__ = _of_values("__floordiv__")
    __rfloordiv__ = _of_values("__rfloordiv__")
    __mod__ = _of_values("__mod__")
    __rmod__ = _of_values("__rmod__")
    __pow__ = _of_values("__pow__")
    __rpow__ = _of_values("__rpow__")
    __matmul__ = _of_values("__matmul__")
    __rmatmul__ = _of_values("__rmatmul__")
    __and__ = _of_values("logical_and")
    __rand__ = _of_values("logical_and")
    __or__ = _of_values("logical_or")
    __ror__ = _of_values("logical_or")
    __xor__ = _of_values("logical_xor")
    __rxor__ = _of_values("logical_xor")
    __lt__ = _of_values("__lt__")
    __le__ = _of_values("__le__")
    __gt__ = _of_values("__gt__")
    __ge__ = _of_values("__ge__")
    __neg__ = _of_values("__neg__")
    __abs__ = _of_values("__abs__")
    __invert__ = _of_values("__invert__")
    __eq__ = _of_values("__eq__")  # type: ignore[assignment]
    __ne__ = _of_values("__ne__")  # type: ignore[assignment]


@replaceable("shape")
class Variable(Weight, TensorLike):
    """A tensor that is assigned, and trained where it is `trainable`: torch's functions take it as it is.

    Set as an attribute of a layer it is a weight of that layer: a parameter, or a buffer where it is not trainable.
    The methods of its tensor are its own: `variable.sum()`.

    Options:
        initializer (array, number, tensor, or a function of shape and dtype): the first values.
        shape (tuple of integers or None, default None): the shape, for a function.
        dtype (name or None, default None): the type; None is that of the values, or `config.floatx()`.
        trainable (bool, default True): whether training changes it.
        autocast (bool, default True): whether the code of a layer reads it in the type that the layer computes in.
        aggregation (text, default "none"): how replicas would be joined; torch's distribution keeps them equal.
        synchronization (text, default "auto"): when they would be; they are always equal.
        name (text or None, default None): the name; None counts.

    Errors:
        ValueError: a function without a shape, or an option with a bad value.
        TypeError: an option is unknown.

    Example:
        >>> count = Variable(0.0, trainable=False)
        >>> float(count.assign_add(2.0))
        2.0

    Source: https://keras.io/api/
    """

    def __init__(
        self,
        initializer: Any = None,
        shape: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        aggregation: str | None = "none",
        synchronization: str | None = "auto",
        name: str | None = None,
    ) -> None:
        for option, value, known in (
            ("aggregation", aggregation, AGGREGATIONS),
            ("synchronization", synchronization, SYNCHRONIZATIONS),
        ):
            if value is not None and value not in known:
                raise ValueError(f"Variable: {option} must be one of {', '.join(map(repr, known))}; found {value!r}.")
        name = count_name("variable") if name is None else name
        if not isinstance(name, str) or "/" in name:
            raise ValueError(f"Variable: name must be a text without '/'; found {name!r}.")
        values = _first_values(initializer, shape, dtype)
        trains = bool(trainable) and (values.is_floating_point() or values.is_complex())
        self._held = nn.Parameter(values) if trains else values
        fields: dict[str, Any] = {"layer": None, "paths": (), "arrangement": IN_ORDER, "trainable": trains}
        vars(self).update(fields, name=name, _path=f"{_SCOPE.path}/{name}".removeprefix("/"))
        self.autocast, self.aggregation, self.synchronization = bool(autocast), aggregation, synchronization

    autocast = True
    aggregation: str | None = "none"
    synchronization: str | None = "auto"
    overwrite_with_gradient = False
    _path: str | None = None
    _held: Tensor | None = None  # the tensor of a variable that is no weight of a layer yet

    @classmethod
    def of(cls, weight: Weight, path: str | None = None) -> Variable:
        """The object for a weight of a layer. `path`: None follows the names of the layers."""
        made = object.__new__(cls)
        vars(made).update(vars(weight), _path=path)
        return made

    def follow(self, weight: Weight) -> None:
        """Take over how a layer stores the weight now."""
        if self.paths != weight.paths:
            vars(self).update(paths=weight.paths, arrangement=weight.arrangement)

    def join(self, layer: Any, path: str) -> None:
        """Become a weight of a layer, which has registered its tensor under a path."""
        vars(self).update(layer=layer, paths=(path,), _held=None)

    def renamed(self, path: str) -> Variable:
        """The same weight, under another path in its layer."""
        vars(self)["paths"] = (path,)
        return self

    @property
    def is_penalized(self) -> bool:
        """Whether its regularizer adds to the loss: in Keras 3 that of a frozen weight does not."""
        return self.regularizer is not None and self.trains

    @property
    def attribute(self) -> Variable:
        """What an attribute of a layer is for this weight: the weight itself."""
        return self

    @property
    def in_graph(self) -> Tensor:
        """The tensor that a function of symbolic tensors takes: it follows the values, but the graph trains nothing."""
        return following(self)

    @property
    def tensors(self) -> list[Tensor]:
        """The parameters or buffers themselves, in torch's layout."""
        return list(map(partial(tensor_at, self.layer), self.paths)) if self._held is None else [self._held]

    @property
    def value(self) -> Tensor:
        """The tensor in Keras's order of axes, through which gradients flow; its `grad` is the gradient.

        It is the parameter or buffer itself where this has that order, else an array made of it.
        """
        array, compute_type = self.array, _SCOPE.compute_type
        if compute_type is not None and self.autocast and array.is_floating_point():
            return array.to(compute_type)
        return array if traced() or array is self.tensors[0] else Value.of(array, self)

    def numpy(self) -> np.ndarray:
        """A copy of the values."""
        return to_numpy(self.array).copy()

    @property
    def path(self) -> str:
        """The name, after those of the layers around it."""
        if self._path is not None:
            return self._path
        cell = getattr(self.layer, "_cell_name", None)
        return "/".join((path_of(self.layer), *([cell] if cell else []), self.name))

    @property
    def layer_path(self) -> str:
        """The path without its own name."""
        return self.path.rpartition("/")[0]

    @property
    def dtype(self) -> Any:
        """The name of the type: "float32"; in code that computes under a mixed policy, that of the computation."""
        kind, compute_type = self.tensors[0].dtype, _SCOPE.compute_type
        if compute_type is not None and self.autocast and kind.is_floating_point:
            kind = compute_type
        return dtype_name(kind)

    @property
    def trainable(self) -> bool:  # type: ignore[override]
        """Whether training changes it: torch's `requires_grad`. Raises ValueError where no optimizer could train it."""
        return self.trains

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if value and not self.made_to_train:
            if self.layer is not None:
                raise ValueError(
                    f"Variable {self.path!r}: trainable cannot become True: its layer stores it as a buffer, which no "
                    "optimizer of torch sees. Make it with trainable=True, and set trainable to False until it trains."
                )
            self._held = nn.Parameter(self.tensors[0])
            vars(self)["trainable"] = True
        for tensor in self.tensors:
            tensor.requires_grad_(bool(value) and self.made_to_train)

    @property
    def regularizer(self) -> Any:  # type: ignore[override]
        """The penalty on it that is added to the loss; None for none."""
        return self._penalty("regularizer")

    @regularizer.setter
    def regularizer(self, value: Any) -> None:
        self._set_penalty("regularizer", value)

    @property
    def constraint(self) -> Any:  # type: ignore[override]
        """The function that is applied to it after each update; None for none."""
        return self._penalty("constraint")

    @constraint.setter
    def constraint(self, value: Any) -> None:
        self._set_penalty("constraint", value)

    def _penalty(self, kind: str) -> Any:
        option = f"{self.option}_{kind}"
        if self.option is not None and hasattr(self.layer, option):
            return getattr(self.layer, option)
        return vars(self).get(kind)

    def _set_penalty(self, kind: str, value: Any) -> None:
        if value is not None and not callable(value):
            raise ValueError(f"Variable {self.path!r}: {kind} must be a function or None; found {value!r}.")
        option = f"{self.option}_{kind}"
        if self.option is not None and hasattr(self.layer, option):
            setattr(self.layer, option, value)
        vars(self)[kind] = value

    def assign(self, value: Any) -> Tensor:  # type: ignore[override]
        """Set the values, and return them. Raises ValueError for values of another shape."""
        values = tensor_of(value).to(self.tensors[0].dtype)
        if tuple(values.shape) != self.shape:
            raise ValueError(
                f"Variable {self.path!r}: its shape is {self.shape}; the values given have the shape "
                f"{tuple(values.shape)}."
            )
        with torch.no_grad():
            self._set(values)
        return values

    def assign_add(self, value: Any) -> Tensor:
        """Add to the values, and return them."""
        return self.assign(self + value)

    def assign_sub(self, value: Any) -> Tensor:
        """Subtract from the values, and return them."""
        return self.assign(self - value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"Variable has no {name!r}.")
        return getattr(self.value, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OF_TENSORS:
            setattr(self.value, name, value)
        else:
            object.__setattr__(self, name, value)

    def __bool__(self) -> bool:
        raise TypeError(f"Variable {self.path!r}: a variable is no truth value: compare it, or ask its value.")

    def __repr__(self) -> str:
        values = "on meta" if self.tensors[0].is_meta else to_numpy(self.value)
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}, value={values}>"

    __hash__ = object.__hash__
    __eq__ = TensorLike.__eq__  # type: ignore[assignment]


def kept(weight: Weight) -> Variable:
    """The one object for a weight, which its layer keeps."""
    if isinstance(weight, Variable):
        return weight
    attributes, place = vars(weight.layer), weight.paths[0]
    attribute = attributes.get(place)
    if isinstance(attribute, Variable):  # a weight of another layer
        return attribute
    found = attributes.get("_variables", {}).get(place)
    if found is None:
        found = Variable.of(weight)
        if not traced():
            attributes.setdefault("_variables", {})[place] = found
    elif not traced():
        found.follow(weight)
    return found  # type: ignore[no-any-return]


class _Scope(threading.local):
    """`path`: the names of the layers whose first call or `build` runs in this thread.

    `compute_type`: the type in which the running code of a user's layer reads its variables; None: that which they
    have.
    """

    def __init__(self) -> None:
        self.path = ""
        self.compute_type: torch.dtype | None = None


_SCOPE = _Scope()


@contextmanager
def names_within(layer: Any) -> Iterator[None]:
    """Let the paths of weights that are made within the block begin with the layer's."""
    vars(layer).setdefault("_parent_path", _SCOPE.path)
    before, _SCOPE.path = _SCOPE.path, path_of(layer)
    try:
        yield
    finally:
        _SCOPE.path = before


@contextmanager
def reading_in(compute_type: torch.dtype | None) -> Iterator[None]:
    """Let the values of floating-point variables be cast to a type within the block; None: let them have their own."""
    before, _SCOPE.compute_type = _SCOPE.compute_type, compute_type
    try:
        yield
    finally:
        _SCOPE.compute_type = before


def reads_in_other_type() -> bool:
    """Whether the running code reads variables in the type of a computation."""
    return _SCOPE.compute_type is not None


@contextmanager
def name_scope(name: str) -> Iterator[None]:
    """Let the paths of variables that are made within the block begin with `name`; scopes may nest.

    Errors:
        ValueError: `name` is no text, is empty, or has a "/".

    Example:
        >>> with name_scope("encoder"):
        ...     Variable(1.0, name="scale").path
        'encoder/scale'

    Source: https://keras.io/api/utils/backend_utils/
    """
    if not isinstance(name, str) or not name or "/" in name:
        raise ValueError(f"name_scope: name must be a text without '/'; found {name!r}.")
    before, _SCOPE.path = _SCOPE.path, f"{_SCOPE.path}/{name}".removeprefix("/")
    try:
        yield
    finally:
        _SCOPE.path = before


def building_within(build: Callable[..., Any]) -> Callable[..., Any]:
    """A `build` of a class, within which paths begin with the layer's."""

    @wraps(build)
    def within(layer: Any, *args: Any, **kwargs: Any) -> Any:
        with names_within(layer):
            return build(layer, *args, **kwargs)

    return within


def path_of(layer: Any) -> str:
    """The names of the layers around a layer, and its own."""
    return f"{vars(layer).get('_parent_path', '')}/{layer.name}".lstrip("/")


def _first_values(initializer: Any, shape: Any, dtype: Any) -> Tensor:
    """The values that a variable begins with, memory of its own."""
    kind = None if dtype is None else dtype_of(dtype)
    if isinstance(initializer, str) or (callable(initializer) and not isinstance(initializer, (Tensor, TensorLike))):
        if shape is None:
            raise ValueError(f"Variable: shape must be a tuple of integers for an initializer; found {shape!r}.")
        return tensor_of(initializers.get(initializer)(tuple(shape), dtype=dtype or config.floatx())).detach()
    values = tensor_of(initializer).detach().clone()
    if kind is None and isinstance(initializer, (int, float, list, tuple)) and values.dtype != torch.bool:
        kind = dtype_of(config.floatx())
    return values if kind is None else values.to(kind)
