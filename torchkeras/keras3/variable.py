"""`Variable`: a tensor with Keras's `assign`, `value` and `trainable`; what `add_weight` of the dialect returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.naming import count_name
from torchkeras.keras3 import initializers
from torchkeras.tensor_functions.operations.values import tensor_of

AGGREGATIONS = ("none", "mean", "sum", "only_first_replica")
SYNCHRONIZATIONS = ("auto", "none", "on_write", "on_read")


class Variable(nn.Parameter):
    """A tensor that is assigned, and trained where it is `trainable`: torch's functions take it as it is.

    Set as an attribute of a layer it is a weight of that layer: a parameter, or a buffer where it is not trainable.

    Options:
        initializer (array, number, tensor, or a function of shape and dtype): the first values.
        shape (tuple of integers or None, default None): the shape, for a function.
        dtype (name or None, default None): the type; None is that of the values, or `config.floatx()`.
        trainable (bool, default True): whether training changes it.
        autocast (bool, default True): True, or False for a variable that no layer casts; none is cast here.
        aggregation (text, default "none"): how replicas would be joined; torch's distribution keeps them equal.
        synchronization (text, default "auto"): when they would be; they are always equal.
        name (text or None, default None): the name; None counts.

    Errors:
        ValueError: a function without a shape, or an option with a bad value.
        TypeError: an option is unknown.

    Example:
        >>> count = Variable(0.0, trainable=False)
        >>> count.assign_add(2.0)
        >>> float(count)
        2.0

    Source: https://keras.io/api/
    """

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    _name: str | None = None
    _path: str | None = None
    regularizer: Any = None
    constraint: Any = None

    def __new__(
        cls,
        initializer: Any = None,
        shape: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        autocast: bool = True,
        aggregation: str = "none",
        synchronization: str = "auto",
        name: str | None = None,
    ) -> Variable:
        for option, value, known in (
            ("aggregation", aggregation, AGGREGATIONS),
            ("synchronization", synchronization, SYNCHRONIZATIONS),
        ):
            if value not in known:
                raise ValueError(f"Variable: {option} must be one of {', '.join(map(repr, known))}; found {value!r}.")
        values = _first_values(initializer, shape, dtype)
        made = Tensor._make_subclass(cls, values, trainable and values.is_floating_point())
        made._name = count_name("variable") if name is None else name
        return made

    @staticmethod
    def of(tensor: Tensor, name: str, path: str) -> Variable:
        """The same tensor, a parameter or a buffer, as a `Variable` of this name."""
        tensor.__class__ = Variable
        tensor._name, tensor._path = name, path  # type: ignore[attr-defined]
        return tensor  # type: ignore[return-value]

    @property
    def name(self) -> str | None:  # type: ignore[override]
        """The name."""
        return self._name

    @property
    def path(self) -> str | None:
        """The name with those of the layers around it."""
        return self._path or self._name

    @property
    def value(self) -> Tensor:
        """The tensor itself, through which gradients flow."""
        return self

    @property
    def trainable(self) -> bool:
        """Whether training changes it: torch's `requires_grad`."""
        return self.requires_grad

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.requires_grad_(bool(value))

    def assign(self, value: Any) -> Variable:
        """Set the values. Raises ValueError for values of another shape."""
        return self._set("copy_", value)

    def assign_add(self, value: Any) -> Variable:
        """Add to the values."""
        return self._set("add_", value)

    def assign_sub(self, value: Any) -> Variable:
        """Subtract from the values."""
        return self._set("sub_", value)

    def _set(self, method: str, value: Any) -> Variable:
        values = tensor_of(value)
        if values.shape != self.shape:
            raise ValueError(
                f"Variable {self.path!r}: its shape is {tuple(self.shape)}; the values given have the shape "
                f"{tuple(values.shape)}."
            )
        with torch.no_grad():
            getattr(self, method)(values)
        return self

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """A copy of the values."""
        return self.detach().cpu().numpy(force=force).copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def detach(self) -> Tensor:  # type: ignore[override]
        """The values as a plain tensor, without history of gradients."""
        return super().detach().as_subclass(Tensor)

    def __repr__(self, **options: Any) -> str:
        kind = str(self.dtype).removeprefix("torch.")
        return f"<Variable path={self.path}, shape={tuple(self.shape)}, dtype={kind}, value={self.detach().cpu()}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        memo[id(self)] = made = _made_again(self.detach().clone(), self.requires_grad, self._name, self._path)
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _made_again, (self.detach(), self.requires_grad, self._name, self._path)


def _made_again(values: Tensor, trains: bool, name: str | None, path: str | None) -> Variable:
    """A copied or pickled variable."""
    made = Tensor._make_subclass(Variable, values, trains)
    made._name, made._path = name, path
    return made


def _first_values(initializer: Any, shape: Any, dtype: Any) -> Tensor:
    """The values that a variable begins with, memory of its own."""
    kind = None if dtype is None else dtype_of(dtype)
    if isinstance(initializer, str) or (callable(initializer) and not isinstance(initializer, Tensor)):
        if shape is None:
            raise ValueError(f"Variable: shape must be a tuple of integers for an initializer; found {shape!r}.")
        return tensor_of(initializers.get(initializer)(tuple(shape), dtype=dtype or config.floatx())).detach()
    values = tensor_of(initializer).detach().clone()
    if kind is None and isinstance(initializer, (int, float, list, tuple)) and values.dtype != torch.bool:
        kind = dtype_of(config.floatx())
    return values if kind is None else values.to(kind)
