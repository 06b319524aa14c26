"""The arguments of Keras 3's operations as tensors, and the types that its results have.

An operation is a function of tensors. The annotations of its parameters say which take them: `Tensor` or
`Tensor | None`, and `Tensors` for a sequence. `on_values` makes of it the function that takes arrays, numbers and lists
in their place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.python import first

Function = Callable[..., Any]
Tensors = Sequence[Tensor]  # as an annotation of an operation's parameter

PLACES = (("torch", torch), ("torch.nn.functional", torch.nn.functional), ("torch.special", torch.special))


def tensor_of(value: Any, device: torch.device | None = None) -> Tensor:
    """A tensor as it is; numbers and lists in Keras 3's types: bool, int32, float32 (`config.floatx()`), complex64.

    Arrays of NumPy keep their type, tensors in a list are stacked, a `Variable` gives its value. `device`: of a new
    tensor; that of the weights by default.
    """
    if isinstance(value, Tensor):
        return value
    if is_variable(value):
        return value.value
    if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) or is_variable(each) for each in value):
        return torch.stack([tensor_of(each, device) for each in value])
    if isinstance(value, (bool, int, float, complex)):  # torch.export would hold an array of 64 bits
        return torch.full((), value, dtype=_type_of(value), device=config.device() if device is None else device)
    array = np.asarray(value)
    if any(step < 0 for step in array.strides):  # torch has none such
        array = array.copy()
    if isinstance(value, (list, tuple)):
        kind: torch.dtype | None = _type_of(value)
    else:
        kind = torch.int64 if array.dtype == np.uint32 else None
    place = config.device() if device is None else device
    if array.dtype.isbuiltin == 2:  # bfloat16 and float8, which another package adds to NumPy
        return torch.as_tensor(array.view(f"u{array.itemsize}"), device=place).view(dtype_of(array.dtype.name))
    return torch.as_tensor(array, dtype=kind, device=place)


def is_variable(value: Any) -> bool:
    """Whether it is a weight of a layer, whose tensor is its `value`."""
    return isinstance(getattr(value, "value", None), Tensor)


def _type_of(value: Any) -> torch.dtype:
    """The type of a number, or of a list of numbers: the widest of what is in it."""
    if isinstance(value, (list, tuple)):
        return max(map(_type_of, value), key=_width, default=dtype_of(config.floatx()))
    if isinstance(value, (np.ndarray, np.generic)):
        return torch.as_tensor(value).dtype
    if isinstance(value, bool):
        return torch.bool
    if isinstance(value, int):
        return torch.int32 if -(2**31) <= value < 2**31 else torch.int64
    return torch.complex64 if isinstance(value, complex) else dtype_of(config.floatx())


def _width(kind: torch.dtype) -> tuple[bool, bool, bool, int]:
    return kind.is_complex, kind.is_floating_point, kind is not torch.bool, kind.itemsize


def floats(x: Tensor) -> Tensor:
    """Whole numbers and truth values as numbers of `config.floatx()`, as Keras 3 has them for what divides."""
    return x if x.is_floating_point() or x.is_complex() else x.to(dtype_of(config.floatx()))


# --- types of results ------------------------------------------------------------------------------------------------

_IN_32_BITS = {torch.float64: torch.float32, torch.int64: torch.int32, torch.complex128: torch.complex64}


def in_32_bits(kind: torch.dtype) -> torch.dtype:
    """The type of Keras 3's results: that of 32 bits in place of one of 64."""
    return _IN_32_BITS.get(kind, kind)


def of_any_floats(kind: torch.dtype) -> torch.dtype:
    """The type of a quotient in Keras 3: `config.floatx()` for whole numbers and truth values, at most 32 bits."""
    return in_32_bits(kind if kind.is_floating_point or kind.is_complex else dtype_of(config.floatx()))


def common_type(*tensors: Tensor) -> torch.dtype:
    """The type that tensors have together, whatever their shapes."""
    kind = tensors[0].dtype
    for tensor in tensors[1:]:
        kind = torch.promote_types(kind, tensor.dtype)
    return kind


def promoted(*tensors: Tensor) -> list[Tensor]:
    """Tensors in the type that they have together."""
    kind = common_type(*tensors)
    return [tensor.to(kind) for tensor in tensors]


def cast(x: Tensor, dtype: Any) -> Tensor:
    """The tensor in a type; as it is for None."""
    return x if dtype is None else x.to(dtype_of(dtype))


def integers(values: Any) -> list[int]:
    """Whole numbers in a list, tuple, array or tensor."""
    return [int(value) for value in values]


# --- rows of the table -----------------------------------------------------------------------------------------------

_TENSOR, _TENSORS = "Tensor", "Tensors"  # in annotations
_REQUIRED = inspect.Parameter.empty


class Torchs(NamedTuple):
    """A function of torch that computes what an operation does, in fewer calls.

    `arguments`: those of its call, as Python code with the operation's parameters; None for the same ones. `when`: the
    condition, as Python code; None for tensors of float32.
    """

    function: Function
    arguments: str | None = None
    when: str | None = None


class Row(NamedTuple):
    """An operation: its function of tensors, and the signature that Keras 3 has for it."""

    function: Function
    signature: inspect.Signature
    torchs: Torchs | None = None

    @property
    def text(self) -> str:
        """The docstring; of a function of torch its name."""
        is_torchs = self.torchs is not None and self.torchs.arguments is None
        function = self.torchs.function if self.torchs and is_torchs else self.function
        if isinstance(function, FunctionType) and not function.__module__.startswith("torch."):
            return function.__doc__ or ""
        place = next((name for name, module in PLACES if hasattr(module, function.__name__)), "torch.nn.functional")
        return f"The same as `{place}.{function.__name__}`, in the types of Keras 3."

    @property
    def taken(self) -> dict[str, str]:
        """The parameters that take tensors, each with the word of its annotation."""
        words = {name: str(each.annotation).split(" | ")[0] for name, each in self.signature.parameters.items()}
        return {name: word for name, word in words.items() if word in (_TENSOR, _TENSORS)}


def rows(
    unary: Mapping[str, Function] | None = None,
    of_floats: Mapping[str, Function] | None = None,
    pairs: Mapping[str, Function] | None = None,
    pairs_xy: Mapping[str, Function] | None = None,
    functions: Mapping[str, Function] | None = None,
) -> dict[str, Row]:
    """A table of operations.

    Arguments:
        unary: functions of one tensor `x`.
        of_floats: the same, which compute whole numbers as floating-point ones.
        pairs: functions of two tensors, `x1` and `x2`.
        pairs_xy: functions of two tensors that Keras calls `x` and `y`.
        functions: those with options; their signature is the operation's.
    """
    return {
        **{name: _row(function, _SIGNATURES["x"]) for name, function in (unary or {}).items()},
        **{name: _row(_of_floats(function), _SIGNATURES["x"]) for name, function in (of_floats or {}).items()},
        **{name: _row(function, _SIGNATURES["x1 x2"]) for name, function in (pairs or {}).items()},
        **{name: _row(function, _SIGNATURES["x y"]) for name, function in (pairs_xy or {}).items()},
        **{name: _row(function, inspect.signature(function)) for name, function in (functions or {}).items()},
    }


def _of_floats(function: Function) -> Function:
    return as_torch(function)(lambda x: function(floats(x)))


def as_torch(torchs: Function, arguments: str | None = None, when: str | None = None) -> Callable[[Function], Function]:
    """Say of an operation's function that this one of torch computes the same: see `Torchs`."""

    def mark(function: Function) -> Function:
        vars(function)["torchs"] = Torchs(torchs, arguments, when)
        return function

    return mark


def number_follows(function: Function) -> Function:
    """Say of an operation's function that a number takes the type of a tensor beside it, also of one without axes.

    For others such a number is an int32 or float32 tensor, as Keras 3 on torch has it.
    """
    vars(function)["numbers_follow"] = True
    return function


def _row(function: Function, signature: inspect.Signature) -> Row:
    return Row(function, signature, getattr(function, "torchs", None))


def _signature(names: str) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(name, kind, annotation=_TENSOR) for name in names.split()])


_SIGNATURES = {names: _signature(names) for names in ("x", "x1 x2", "x y")}


# --- calls -----------------------------------------------------------------------------------------------------------


def on_values(row: Row) -> Function:
    """The operation on tensors, arrays, numbers and lists."""
    taken = row.taken

    follows = getattr(row.function, "numbers_follow", False)

    def convert(*args: Any, **kwargs: Any) -> Any:
        bound = row.signature.bind(*args, **kwargs)
        bound.arguments = converted(_following(bound.arguments) if follows else bound.arguments, taken)
        return row.function(*bound.args, **bound.kwargs)

    return with_short_way(row, convert)


def converted(values: Mapping[str, Any], taken: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of a call, those that are `taken` as tensors made tensors, on the device of those that are one."""
    device = first(
        (each.device for name in taken for each in _flat(values.get(name)) if isinstance(each, Tensor)), None
    )
    made = dict(values)
    for name in taken.keys() & values.keys():
        value = values[name]
        if taken[name] == _TENSORS and isinstance(value, (list, tuple)):
            made[name] = [tensor_of(each, device) for each in value]
        elif value is not None:
            made[name] = tensor_of(value, device)
    return made


def _following(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a call, a number in the type that it has beside a tensor without axes."""
    tensor = first((value for value in values.values() if isinstance(value, Tensor) and not value.dim()), None)
    if tensor is None:
        return values
    return {
        name: torch.as_tensor(value, dtype=torch.result_type(tensor, value), device=tensor.device)
        if isinstance(value, (int, float, complex))
        else value
        for name, value in values.items()
    }


def _flat(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else (value,)


def with_short_way(row: Row, otherwise: Function) -> Function:
    """`otherwise`, but for tensors the function itself, or torch's where that computes the same.

    The function is written out, with the operation's signature: so a call costs a comparison or two for each tensor
    more than the function. What torch refuses the function refuses again, with the error that Keras's users get.
    """
    parameters = row.signature.parameters
    tensors = [name for name in row.taken if parameters[name].default is _REQUIRED]
    if not tensors or not all(map(_is_plain, parameters.values())):
        return otherwise
    heads = [name if each.default is _REQUIRED else f"{name}=_of_{name}" for name, each in parameters.items()]
    tests = [_TESTS[row.taken[name]].format(name) for name in tensors]
    tests += [
        f"({name} is None or {_TESTS[word].format(name)})" for name, word in row.taken.items() if name not in tensors
    ]
    names = ", ".join(parameters)
    text = f"def call({', '.join(heads)}):\n    if {' and '.join(tests)}:\n"
    if row.torchs is not None:
        condition = row.torchs.when or " and ".join(f"{name}.dtype is float32" for name in tensors)
        text += (
            "        try:\n"
            f"            if {condition}:\n"
            f"                return _torchs({row.torchs.arguments or names})\n"
            "        except _refusals:\n"
            "            pass\n"
        )
    text += f"        return _function({names})\n    return _otherwise({names})\n"
    space: dict[str, Any] = {
        "_function": row.function,
        "_otherwise": otherwise,
        "_refusals": (RuntimeError, IndexError),
    }
    space |= {
        "Tensor": Tensor,
        "Parameter": nn.Parameter,
        "_are_plain": _are_plain,
        "float32": torch.float32,
        "REVERSED": REVERSED,
    }
    space |= {"_torchs": row.torchs.function} if row.torchs else {}
    space |= {f"_of_{name}": each.default for name, each in parameters.items()}
    exec(text, space)  # noqa: S102  # the text is our own
    return space["call"]


REVERSED = [tuple(range(rank))[::-1] for rank in range(65)]  # the axes of each rank that torch has, the last one first
_TESTS = {
    _TENSOR: "(type({0}) is Tensor or type({0}) is Parameter)",
    _TENSORS: "(type({0}) is list or type({0}) is tuple) and _are_plain({0})",
}


def _are_plain(values: Sequence[Any]) -> bool:
    """Whether all are tensors that need no conversion."""
    for value in values:  # noqa: SIM110  (half the time of a generator or a set for a few)
        if type(value) is not Tensor and type(value) is not nn.Parameter:
            return False
    return True


def _is_plain(parameter: inspect.Parameter) -> bool:
    return parameter.kind is parameter.POSITIONAL_OR_KEYWORD
