"""Variables, placeholders and constants: making them, reading and setting values."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from torchkeras import config
from torchkeras.base.arrays import as_tensor, to_numpy
from torchkeras.base.dtypes import dtype_name
from torchkeras.base.naming import unique_name
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.engine.users_code import CODE, draws
from torchkeras.engine.weights.expressions import CONSTANT
from torchkeras.engine.weights.weight import Variable
from torchkeras.keras2.backend import assignments, remembered
from torchkeras.keras2.backend.elementwise import cast
from torchkeras.keras2.backend.nodes import as_type, is_symbolic, node, sizes, tensor
from torchkeras.keras2.backend.questions import PLACEHOLDER, is_sparse
from torchkeras.keras2.backend.random_numbers import random_normal, random_uniform, read
from torchkeras.keras2.backend.sizes import Shape


class Settable:
    """The base of what `set_value` sets by the object's own method."""

    def set_value(self, value: Any) -> None:
        """Set it."""
        raise NotImplementedError


class Update(NamedTuple):
    """An assignment that `K.function` makes at each call: the variable, and the symbolic tensor with its new value."""

    variable: Any
    value: Any


# --- making ----------------------------------------------------------------------------------------------------------


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """A tensor with a state: an `nn.Parameter`, which gradients are computed for when its type is floating-point.

    Arguments:
        value (array, number or tensor): the first value, which is copied. A sparse tensor, or a sparse matrix of SciPy,
            gives a sparse tensor, which has no gradient.
        dtype (name or None, default None): the type; None takes `floatx`.
        name (text or None, default None): kept as `label`, as torch has another meaning for `name`.
        constraint (function or None, default None): kept as `constraint`.

    Example:
        >>> eval(variable([[1, 2], [3, 4]]))
        array([[1., 2.],
               [3., 4.]], dtype=float32)
    """
    if is_symbolic(value):
        raise TypeError(f"a variable begins with values, and {value!r} has none.")
    if draws():
        refuse_in_code("variable", " of random numbers")
    if is_sparse(value) or hasattr(value, "tocoo"):
        return _sparse(value, as_type(dtype))
    return remembered.made(partial(_variable, value, as_type(dtype), name, constraint))


def _variable(value: Any, kind: torch.dtype, name: str | None, constraint: Any) -> nn.Parameter:
    plain = value.value if isinstance(value, Variable) else value
    made = as_tensor(plain)
    made = made.to(config.device(), kind, copy=True)
    found = nn.Parameter(made, requires_grad=kind.is_floating_point)
    vars(found).update(label=name or unique_name("variable"), constraint=constraint)
    return found


def _sparse(value: Any, kind: torch.dtype) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach().to(config.device(), kind, copy=True)
    found = value.tocoo()
    places = torch.as_tensor(np.stack([found.row, found.col]))
    options = {"dtype": kind, "device": config.device(), "check_invariants": True}
    return torch.sparse_coo_tensor(places, found.data, found.shape, **options).coalesce()


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor with a value, of `dtype` (`floatx` for None), filled up to `shape` with its last number.

    >>> constant(3, shape=(2,))
    tensor([3., 3.])
    """
    _check_name(name)
    if draws():
        refuse_in_code("constant", " of random numbers")
    made = _filled_up(as_tensor(value).to(config.device(), as_type(dtype), copy=True), shape)
    vars(made)[CONSTANT] = True
    return made


def _filled_up(made: Tensor, shape: Any) -> Tensor:
    if shape is None:
        return made
    missing = prod(sizes(shape)) - made.numel()
    if missing < 0 or made.numel() == 0:
        raise ValueError(f"a constant of shape {sizes(shape)} cannot have {made.numel()} values.")
    flat = made.flatten()
    return torch.cat([flat, flat[-1:].expand(missing)]).reshape(sizes(shape))


def placeholder(
    shape: Any = None, ndim: int | None = None, dtype: Any = None, sparse: bool = False, name: str | None = None
) -> KerasTensor:
    """A symbolic tensor that `K.function` or a model gets values for, like `Input` with the batch axis in its shape.

    Arguments:
        shape (tuple or None, default None): the sizes of all axes, None for an unknown one.
        ndim (integer or None, default None): the number of axes, in place of `shape`.
        dtype (name or None, default None): the type; None takes `floatx`.
        sparse (bool, default False): only False; sparse tensors are not supported.
        name (text or None, default None): the name of the tensor.

    Example:
        >>> placeholder((2, None, 5)).shape
        (2, None, 5)
    """
    if shape is None and ndim is None:
        raise ValueError("a placeholder needs its shape or its number of axes, ndim.")
    given = (None,) * int(ndim or 0) if shape is None else tuple(shape)
    name, dtype = name or unique_name(PLACEHOLDER), dtype_name(as_type(dtype))
    layer = InputLayer(batch_input_shape=given, dtype=dtype, sparse=sparse, name=name)
    layer.__dict__[PLACEHOLDER] = True
    return layer.input


def _check_name(name: Any) -> None:
    """Raise TypeError for a name that is no text: a plain tensor has no place for one."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"a name must be a text or None; found {name!r}.")


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable full of 0; a plain tensor where a size is known only when the graph runs.

    >>> eval(zeros((2, 3))).sum()
    np.float32(0.0)
    """
    return _filled(shape, 0, dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable full of 1; a plain tensor where a size is known only when the graph runs.

    >>> eval(ones((2, 3))).sum()
    np.float32(6.0)
    """
    return _filled(shape, 1, dtype, name)


def _filled(shape: Any, value: int, dtype: Any, name: str | None) -> Any:
    if is_symbolic(shape):
        return full(shape, value, dtype_name(as_type(dtype)))
    if isinstance(shape, Tensor) or (isinstance(shape, Shape) or any(isinstance(size, Tensor) for size in shape)):
        return full(sizes(shape), value, dtype)
    return variable(np.full(sizes(shape), value), dtype, name)


@node
def full(shape: Any, value: Any, dtype: Any = None) -> Tensor:
    """A tensor full of one number.

    >>> full((2,), 7)
    tensor([7., 7.])
    """
    return torch.full(sizes(shape), value, dtype=as_type(dtype), device=config.device())


def eye(size: int, dtype: Any = None, name: str | None = None) -> nn.Parameter:
    """A variable with 1 on the diagonal.

    >>> eval(eye(2))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return variable(np.eye(int(size)), dtype, name)


@node
def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """0 for each number of `x`.

    >>> zeros_like(torch.ones(2))
    tensor([0., 0.])
    """
    _check_name(name)
    return torch.zeros_like(tensor(x), dtype=None if dtype is None else as_type(dtype))


@node
def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """1 for each number of `x`.

    >>> ones_like(torch.zeros(2))
    tensor([1., 1.])
    """
    _check_name(name)
    return torch.ones_like(tensor(x), dtype=None if dtype is None else as_type(dtype))


@node
def identity(x: Any, name: str | None = None) -> Tensor:
    """A tensor with the values of `x`.

    >>> identity(torch.ones(2))
    tensor([1., 1.])
    """
    _check_name(name)
    return tensor(x).clone()


def refuse_in_code(function: str, of: str = "") -> None:
    """Raise ValueError where the code of a layer makes what would be another one at each call. `of`: its values."""
    if CODE.owner is not None:
        kind = "constant" if function == "constant" else "variable"
        raise ValueError(
            f"{type(CODE.owner).__name__} {CODE.owner.name!r}: K.{function}{of} in a call makes another {kind} each "
            "time. Make it once, outside; a weight by add_weight in build."
        )


def random_uniform_variable(
    shape: Any, low: float, high: float, dtype: Any = None, name: str | None = None, seed: Any = None
) -> nn.Parameter:
    """A variable with numbers from `low` to `high`, all equally likely.

    Raises ValueError in the code of a layer, where each call would draw others.
    """
    refuse_in_code("random_uniform_variable")
    return variable(random_uniform(shape, low, high, dtype, seed), dtype, name)


def random_normal_variable(
    shape: Any, mean: float, scale: float, dtype: Any = None, name: str | None = None, seed: Any = None
) -> nn.Parameter:
    """A variable with numbers of a normal distribution.

    Raises ValueError in the code of a layer, where each call would draw others.
    """
    refuse_in_code("random_normal_variable")
    return variable(random_normal(shape, mean, scale, dtype, seed), dtype, name)


# --- values ----------------------------------------------------------------------------------------------------------


def get_value(x: Any) -> Any:
    """The value of a variable, weight or tensor as an array.

    >>> get_value(variable([1, 2]))
    array([1., 2.], dtype=float32)
    """
    return eval(x)


def eval(x: Any) -> Any:
    """The value of a tensor as an array; of what `K.random_normal` and the like gave, other numbers each time.

    Raises TypeError for a symbolic tensor, which has no value: use `K.function`.

    >>> eval(constant([1, 2]))
    array([1., 2.], dtype=float32)
    """
    if is_symbolic(x):
        raise TypeError(f"{x!r} has no value: K.function(inputs, [tensor])(values) computes it.")
    found = x.numpy() if isinstance(x, Variable) else read(tensor(x))
    array = found if isinstance(found, np.ndarray) else to_numpy(found.to_dense() if is_sparse(found) else found)
    return array.copy() if array.ndim else array[()]


def batch_get_value(ops: Iterable[Any]) -> list[Any]:
    """The values of several variables.

    >>> batch_get_value([variable(1), variable(2)])
    [np.float32(1.0), np.float32(2.0)]
    """
    return [get_value(each) for each in ops]


def set_value(x: Any, value: Any) -> None:
    """Set a variable or a weight.

    Raises TypeError for what cannot be set, ValueError for a value of another shape.

    >>> v = variable([1, 2])
    >>> set_value(v, [3, 4])
    >>> eval(v)
    array([3., 4.], dtype=float32)
    """
    if isinstance(x, Variable):
        x.assign(value)
        return
    if isinstance(x, Settable):
        x.set_value(value)
        return
    if not isinstance(x, Tensor):
        raise TypeError(
            f"set_value takes a variable or a weight; found {x!r}. An option that is a plain number is set by name: "
            "model.optimizer.lr = 0.01."
        )
    given = tensor(value).detach()
    if given.shape != x.shape:
        raise ValueError(f"the variable has the shape {tuple(x.shape)}; found a value of shape {tuple(given.shape)}.")
    with torch.no_grad():
        x.copy_(given)


def batch_set_value(tuples: Iterable[tuple[Any, Any]]) -> None:
    """Set several variables: pairs of a variable and its value."""
    for each, value in tuples:
        set_value(each, value)


def update(x: Any, new_x: Any) -> Any:
    """Set a variable to `new_x`, at once.

    For a symbolic `new_x` it is an `Update`, for `K.function(updates=[...])`; so it is in the `call` of an old script's
    layer, for `add_update`, and in `get_updates` of its optimizer.

    >>> eval(update(variable(1), constant(5)))
    np.float32(5.0)
    """
    if is_symbolic(new_x) or assignments.waits():
        return Update(x, new_x)
    target = x.value if isinstance(x, Variable) else x
    set_value(x, tensor(new_x, target) if isinstance(target, Tensor) else new_x)
    return x


def _operands(x: Any, given: Any) -> tuple[Any, Any]:
    """The value of a variable, and a tensor, symbolic or not, of its type."""
    target = x.value if isinstance(x, Variable) else x
    if not is_symbolic(given):
        return target, tensor(given, target)
    return target, given if isinstance(given, KerasTensor) else cast(given, dtype_name(target.dtype))


def update_add(x: Any, increment: Any) -> Any:
    """Add to a variable, as `update`.

    >>> eval(update_add(variable(1), 2))
    np.float32(3.0)
    """
    target, increment = _operands(x, increment)
    return update(x, target + increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Subtract from a variable, as `update`.

    >>> eval(update_sub(variable(1), 2))
    np.float32(-1.0)
    """
    target, decrement = _operands(x, decrement)
    return update(x, target - decrement)


def moving_average_update(x: Any, value: Any, momentum: float) -> Any:
    """x = momentum * x + (1 - momentum) * value, as `update`; without the correction of TensorFlow's first steps.

    >>> eval(moving_average_update(variable(1), 3.0, 0.5))
    np.float32(2.0)
    """
    target, value = _operands(x, value)
    return update(x, momentum * target + (1.0 - momentum) * value)


@node
def print_tensor(x: Any, message: str = "") -> Tensor:
    """`x`; its values are printed, after `message`, whenever it is computed.

    >>> _ = print_tensor(torch.ones(2), "ones = ")
    ones = tensor([1., 1.])
    """
    found = tensor(x)
    if not found.is_meta:
        print(f"{message}{found.detach()}")
    return found
