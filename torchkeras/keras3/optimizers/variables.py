"""What an optimizer reads and sets by the names of Keras's variables: weights, its own state, its rate, its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.arrays import as_tensor, to_numpy
from torchkeras.base.dtypes import dtype_name
from torchkeras.base.keras_axes import IN_ORDER, Arrangement
from torchkeras.keras3.variable import TensorLike, value_of


class OptimizerVariable(TensorLike):
    """A value with a name, a shape and a type, that is read and assigned: a subclass has `value` and `_set`.

    It stands for its value as a `TensorLike`.
    """

    trainable = False
    constraint: Any = None
    regularizer: Any = None
    overwrite_with_gradient = False

    def __init__(self, name: str, path: str):
        self.name, self.path = name, path

    @property
    def value(self) -> Tensor:
        """The values, in Keras's order of axes, without history of gradients."""
        raise NotImplementedError

    def _set(self, values: Tensor) -> None:
        raise NotImplementedError

    def assign(self, value: Any) -> OptimizerVariable:
        """Set the values. Raises ValueError for values of another shape."""
        with torch.no_grad():
            values = as_tensor(value_of(value))
            if tuple(values.shape) != self.shape:
                raise ValueError(
                    f"{self.path}: the variable has the shape {self.shape}; the values given have the shape "
                    f"{tuple(values.shape)}."
                )
            self._set(values)
        return self

    def assign_add(self, value: Any) -> OptimizerVariable:
        """Add to the values."""
        return self.assign(self + value)

    def assign_sub(self, value: Any) -> OptimizerVariable:
        """Subtract from the values."""
        return self.assign(self - value)

    def __repr__(self) -> str:
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}, value={to_numpy(self.value)}>"


class Held(OptimizerVariable):
    """The array that tensors make: a weight, or a part of the state.

    Arguments:
        tensors (list of tensors): they have the values, in torch's layout.
        arrangement (Arrangement): how they make Keras's array.
        name (text): the last part of the path.
        path (text): the path.
    """

    gradient_has_keras_axes = True  # which `apply` asks

    def __init__(self, tensors: Sequence[Tensor], arrangement: Arrangement, name: str, path: str):
        super().__init__(name, path)
        self.tensors, self.arrangement = list(tensors), arrangement

    @property
    def value(self) -> Tensor:
        return self.arrangement.array(self.tensors).detach()

    def _set(self, values: Tensor) -> None:
        self.arrangement.assign(self.tensors, values)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.arrangement.shape(self.tensors)

    @property
    def dtype(self) -> str:
        return dtype_name(self.tensors[0].dtype)

    @property
    def view(self) -> Tensor | None:
        """The array as a view of one tensor; None if it lies in several tensors or pieces."""
        found = self.arrangement.pieces(*self.tensors) if len(self.tensors) == 1 else None
        return found.detach() if isinstance(found, Tensor) else None


class Negated(Held):
    """An array that tensors make with the other sign."""

    @property
    def value(self) -> Tensor:
        return 0.0 - super().value  # which gives no -0

    def _set(self, values: Tensor) -> None:
        super()._set(-values)


class Computed(OptimizerVariable):
    """A number or array that is kept in another form.

    Arguments:
        name (text): the last part of the path.
        path (text): the path.
        dtype (dtype): its type.
        read (function): gives the value.
        write (function): sets it, from a number for a value without axes, else from a tensor.
    """

    def __init__(self, name: str, path: str, dtype: torch.dtype, read: Callable[[], Any], write: Callable[[Any], Any]):
        super().__init__(name, path)
        self._dtype, self._read, self._write = dtype, read, write

    @property
    def value(self) -> Tensor:
        found = self._read()
        return found.to(self._dtype) if isinstance(found, Tensor) else torch.tensor(found, dtype=self._dtype)

    def _set(self, values: Tensor) -> None:
        self._write(values.item() if not values.dim() else values)

    def __float__(self) -> float:
        return float(self._read())  # as it is kept: float32 would round it


class Count(int):
    """The number of steps of an optimizer, which may be assigned."""

    _owner: Any

    @classmethod
    def of(cls, value: int, owner: Any) -> Count:
        """The number of steps of `owner`."""
        found = cls(value)
        found._owner = owner
        return found

    name = "iteration"
    shape = ()
    dtype = "int32"

    @property
    def path(self) -> str:
        """The path of the variable."""
        return f"{self._owner.name}/{self.name}"

    @property
    def value(self) -> Tensor:
        """The number as a tensor."""
        return torch.tensor(int(self), dtype=torch.int32)

    def numpy(self) -> np.ndarray:
        """The number as an array."""
        return np.array(int(self), np.int32)

    def assign(self, value: Any) -> Any:
        """Set the number of steps."""
        self._owner.iterations = int(value)
        return self._owner.iterations

    def assign_add(self, value: Any) -> Any:
        """Add to the number of steps."""
        return self.assign(int(self) + int(value))

    def __reduce__(self) -> Any:
        return int, (int(self),)


class Rate(float):
    """The rate of a step, with what a tensor of one number has."""

    shape = ()
    dtype = "float32"

    def numpy(self) -> np.ndarray:
        """The number as an array."""
        return np.array(float(self), np.float32)

    def item(self) -> float:
        """The number itself."""
        return float(self)


def weight_of(variable: Any) -> Held:
    """A weight of a model, a variable or a parameter of torch, as what optimizers here train.

    Raises TypeError for something else.
    """
    if isinstance(variable, Held):
        return variable
    tensors = getattr(variable, "tensors", None)
    if isinstance(tensors, list):  # of a layer of this package
        layer = getattr(getattr(variable, "layer", None), "name", "")
        path = getattr(variable, "path", None) or f"{layer}/{variable.name}".lstrip("/")
        found = Held(tensors, variable.arrangement, variable.name, path)
    else:
        tensor = variable if isinstance(variable, Tensor) else getattr(variable, "value", None)
        if not isinstance(tensor, Tensor):
            raise TypeError(f"An optimizer trains variables and parameters of torch; found {variable!r:.200}.")
        name = str(getattr(variable, "name", None) or "variable")
        found = Held([tensor], IN_ORDER, name, str(getattr(variable, "path", None) or name))
    found.constraint = getattr(variable, "constraint", None)
    found.trainable = True
    return found


def weights_of(
    tensors: Iterable[Tensor],
    arrangements: Sequence[Arrangement],
    layers: Sequence[str] | None,
    names: Sequence[str] | None,
) -> list[Held]:
    """The weights that an optimizer is bound to. `layers`, `names`: those of their layers and their own, if known."""
    count, each, found = len(arrangements), iter(tensors), []
    for made, layer, name in zip(arrangements, layers or [""] * count, names or ["variable"] * count, strict=True):
        found.append(Held(list(islice(each, made.count)), made, name, f"{layer}/{name}".lstrip("/")))
        found[-1].trainable = True
    return found


def key_of(variable: Any) -> int:
    """Equal for two objects that stand for one weight."""
    return id(weight_of(variable).tensors[0])
