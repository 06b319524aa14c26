"""Operations of Keras 3 on each element by itself: `keras.ops.exp`, `keras.ops.add`.

Where Keras settles the type of a result by its own rule, this has at most 32 bits (`in_32_bits`); where it leaves the
type to the backend, it is torch's.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from torchkeras import config
from torchkeras.base.dtypes import dtype_of
from torchkeras.tensor_functions.operations.values import (
    as_torch,
    cast,
    common_type,
    floats,
    in_32_bits,
    number_follows,
    of_any_floats,
    promoted,
    rows,
)

# --- types of arguments ----------------------------------------------------------------------------------------------


def _whole_or_double(x: Tensor) -> Tensor:
    """Whole numbers as `floats` has them, those of 64 bits as float64."""
    return x.double() if x.dtype is torch.int64 else floats(x)


def _of_wide_floats(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: function(_whole_or_double(x))


def _in_short_floats(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    @as_torch(function)
    def apply(x: Tensor) -> Tensor:
        found = function(floats(x))
        return found.to(in_32_bits(found.dtype))

    return apply


def _pair_of_floats(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Both in the floating-point type that they have together; a number counts as much as a tensor."""

    @as_torch(function)
    def apply(x1: Tensor, x2: Tensor) -> Tensor:
        kind = of_any_floats(common_type(x1, x2))
        return function(x1.to(kind), x2.to(kind))

    return apply


def _pair_in_32_bits(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Both in the type that they have together; a number takes that of the tensor beside it."""

    @as_torch(function)
    def apply(x1: Tensor, x2: Tensor) -> Tensor:
        kind = in_32_bits(torch.result_type(x1, x2))
        return function(x1.to(kind), x2.to(kind))

    return apply


def _pair_of_numbers(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Two truth values as whole numbers."""

    @as_torch(function)
    def apply(x1: Tensor, x2: Tensor) -> Tensor:
        if x1.dtype is torch.bool and x2.dtype is torch.bool:
            return function(x1.int(), x2.int())
        return function(x1, x2)

    return apply


# --- of one tensor ---------------------------------------------------------------------------------------------------


def absolute(x: Tensor) -> Tensor:
    """The distance from zero."""
    return x if x.dtype is torch.bool else torch.abs(x)


def fabs(x: Tensor) -> Tensor:
    """The distance from zero, a floating-point number. Raises TypeError for complex numbers."""
    if x.is_complex():
        raise TypeError(f"fabs: x must be real; found values of {x.dtype}.")
    return torch.abs(floats(x))


def cbrt(x: Tensor) -> Tensor:
    """The cube root, which has the sign of the number."""
    x = _whole_or_double(x)
    return x.sign() * x.abs() ** (1 / 3)


def conjugate(x: Tensor) -> Tensor:
    """The number with its imaginary part negated; a real number as it is."""
    return torch.conj(x).resolve_conj()


def square(x: Tensor) -> Tensor:
    """`x * x`, of truth values as whole numbers."""
    return torch.square(x.int() if x.dtype is torch.bool else x)


def trunc(x: Tensor) -> Tensor:
    """The number without what is behind its point."""
    return x if x.dtype is torch.bool else torch.trunc(x)


def round(x: Tensor, decimals: int = 0) -> Tensor:
    """The nearest number with so many decimals, the even one of two; fewer than none for tens and hundreds."""
    if x.is_floating_point() or x.is_complex():
        return torch.round(x) if decimals == 0 else torch.round(x, decimals=decimals)
    return x if decimals >= 0 else torch.round(floats(x), decimals=decimals).to(x.dtype)


def nan_to_num(x: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """`x` with numbers in place of NaN and of the infinities: for None the greatest and the least of its type."""
    return torch.nan_to_num(x, nan, posinf, neginf)


def clip(x: Tensor, x_min: Tensor, x_max: Tensor) -> Tensor:
    """`x` with `x_min` where it is less, and `x_max` where it is more."""
    if x.dtype is torch.float16:
        return torch.clip(x, x_min, x_max).half()
    return torch.clip(x.int() if x.dtype is torch.bool else x, x_min, x_max)


def saturate_cast(x: Tensor, dtype: Any) -> Tensor:
    """`x` in the type `dtype`, where a value beyond its limits becomes the limit."""
    kind = dtype_of(config.floatx() if dtype is None else dtype)
    (own_low, own_high), (low, high) = _limits(x.dtype), _limits(kind)
    bounds: list[Any] = [_toward_zero(each, x.dtype) for each in (max(own_low, low), min(own_high, high))]
    if x.is_floating_point():
        bounds = [float(bound) for bound in bounds]  # some are too long for whole numbers of torch
    return torch.clip(x.int() if x.dtype is torch.bool else x, *bounds).to(kind)


def _limits(kind: torch.dtype) -> tuple[int, int]:
    """The least and the greatest number of a type."""
    if kind is torch.bool:
        return 0, 1
    limits = torch.finfo(kind) if kind.is_floating_point else torch.iinfo(kind)
    return int(limits.min), int(limits.max)


def _toward_zero(number: int, kind: torch.dtype) -> int:
    """The number, or the next one nearer to zero that a floating-point type has."""
    if not kind.is_floating_point:
        return number
    digits = 1 - builtins.round(math.log2(torch.finfo(kind).eps))
    spare = max(0, number.bit_length() - digits)
    size = abs(number) >> spare << spare
    return size if number > 0 else -size


def view_as_complex(x: Tensor) -> Tensor:
    """Complex numbers of the pairs along the last axis, real and imaginary parts. Raises ValueError for no pairs."""
    if x.dim() < 1 or x.shape[-1] != 2:
        raise ValueError(f"view_as_complex: the last axis of x must have two values; found shape {tuple(x.shape)}.")
    return torch.complex(x[..., 0].float(), x[..., 1].float())


# --- of two tensors --------------------------------------------------------------------------------------------------


def subtract(x1: Tensor, x2: Tensor) -> Tensor:
    """`x1 - x2`; truth values count as numbers of the other's type."""
    if x1.dtype is torch.bool:
        x1 = x1.to(x2.dtype)
    elif x2.dtype is torch.bool:
        x2 = x2.to(x1.dtype)
    return torch.subtract(x1, x2)


@number_follows
@as_torch(torch.divide)
def divide(x1: Tensor, x2: Tensor) -> Tensor:
    """`x1 / x2`."""
    return torch.divide(x1, x2)


@number_follows
def floor_divide(x1: Tensor, x2: Tensor) -> Tensor:
    """The greatest whole number that is not above `x1 / x2`."""
    found = torch.floor_divide(x1, x2)
    return found.to(in_32_bits(found.dtype))


def divide_no_nan(x1: Tensor, x2: Tensor) -> Tensor:
    """`x1 / x2`, and zero where `x2` is zero."""
    kind = of_any_floats(torch.result_type(x1, x2))
    x1, x2 = x1.to(kind), x2.to(kind)
    is_zero = x2 == 0
    return torch.where(is_zero, 0.0, x1 / torch.where(is_zero, 1.0, x2))


def heaviside(x1: Tensor, x2: Tensor) -> Tensor:
    """0 where `x1` is negative, 1 where it is positive, and `x2` where it is zero."""
    kind = common_type(x1, x2)
    kind = kind if kind is torch.bool else of_any_floats(kind)
    return torch.heaviside(x1.to(kind), x2.to(kind))


def ldexp(x1: Tensor, x2: Tensor) -> Tensor:
    """`x1 * 2**x2`. Raises TypeError where `x2` is not of whole numbers."""
    if x2.dtype is torch.bool or x2.is_floating_point() or x2.is_complex():
        raise TypeError(f"ldexp: x2 must be of whole numbers; found values of {x2.dtype}.")
    found = torch.ldexp(*torch.broadcast_tensors(x1, x2))
    return found.to(of_any_floats(common_type(x1, x2)))


def isclose(x1: Tensor, x2: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether `|x1 - x2| <= atol + rtol * |x2|`; whole numbers are close if they are equal.

    `equal_nan`: whether NaN is close to NaN.
    """
    x1, x2 = promoted(x1, x2)
    if x1.is_floating_point() or x1.is_complex():
        return torch.isclose(x1, x2, rtol, atol, equal_nan)
    return x1 == x2


def where(condition: Tensor, x1: Tensor | None = None, x2: Tensor | None = None) -> Tensor:
    """`x1` where the condition is true and `x2` elsewhere; without these the indices of what is true, a row per axis.

    Raises ValueError for one of `x1` and `x2` alone.
    """
    condition = condition.bool()
    if x1 is not None and x2 is not None:
        return torch.where(condition, x1, x2)
    if x1 is not None or x2 is not None:
        raise ValueError("where: give both x1 and x2, or neither.")
    return torch.stack(torch.where(condition))


# --- tensors like another --------------------------------------------------------------------------------------------


def full_like(x: Tensor, fill_value: Tensor, dtype: Any = None) -> Tensor:
    """A tensor of the shape of `x`, and of its type unless `dtype` is given, filled with a value."""
    return cast(fill_value, x.dtype if dtype is None else dtype).expand(x.shape).clone()


def ones_like(x: Tensor, dtype: Any = None) -> Tensor:
    """Ones in the shape of `x`, in its type unless `dtype` is given."""
    return torch.ones_like(x, dtype=dtype and dtype_of(dtype))


def zeros_like(x: Tensor, dtype: Any = None) -> Tensor:
    """Zeros in the shape of `x`, in its type unless `dtype` is given."""
    return torch.zeros_like(x, dtype=dtype and dtype_of(dtype))


def empty_like(x: Tensor, dtype: Any = None) -> Tensor:
    """A tensor of the shape of `x`, in its type unless `dtype` is given, whose values are not set."""
    return torch.empty_like(x, dtype=dtype and dtype_of(dtype))


OPERATIONS = rows(
    unary={
        "abs": absolute,
        "absolute": absolute,
        "bitwise_invert": torch.bitwise_not,
        "bitwise_not": torch.bitwise_not,
        "cbrt": cbrt,
        "ceil": _in_short_floats(torch.ceil),
        "conj": conjugate,
        "conjugate": conjugate,
        "copy": torch.clone,
        "deg2rad": _of_wide_floats(torch.deg2rad),
        "fabs": fabs,
        "floor": _in_short_floats(torch.floor),
        "i0": _of_wide_floats(torch.i0),
        "imag": torch.imag,
        "isfinite": torch.isfinite,
        "isinf": torch.isinf,
        "isnan": torch.isnan,
        "isneginf": torch.isneginf,
        "isposinf": torch.isposinf,
        "isreal": torch.isreal,
        "logical_not": torch.logical_not,
        "negative": torch.negative,
        "rad2deg": _of_wide_floats(torch.rad2deg),
        "real": torch.real,
        "sign": torch.sign,
        "signbit": torch.signbit,
        "square": square,
        "trunc": trunc,
        "view_as_complex": view_as_complex,
        "view_as_real": torch.view_as_real,
    },
    of_floats={
        "angle": torch.angle,
        "arccos": torch.arccos,
        "arccosh": torch.arccosh,
        "arcsin": torch.arcsin,
        "arcsinh": torch.arcsinh,
        "arctan": torch.arctan,
        "arctanh": torch.arctanh,
        "cos": torch.cos,
        "cosh": torch.cosh,
        "erf": torch.erf,
        "erfc": torch.erfc,
        "erfinv": torch.erfinv,
        "exp": torch.exp,
        "exp2": torch.exp2,
        "expm1": torch.expm1,
        "log": torch.log,
        "log10": torch.log10,
        "log1p": torch.log1p,
        "log2": torch.log2,
        "reciprocal": torch.reciprocal,
        "rsqrt": torch.rsqrt,
        "sin": torch.sin,
        "sinc": torch.sinc,
        "sinh": torch.sinh,
        "sqrt": torch.sqrt,
        "tan": torch.tan,
        "tanh": torch.tanh,
    },
    pairs={
        "add": torch.add,
        "arctan2": _pair_of_floats(torch.arctan2),
        "divide": divide,
        "divide_no_nan": divide_no_nan,
        "equal": torch.eq,
        "floor_divide": floor_divide,
        "fmax": _pair_in_32_bits(torch.fmax),
        "fmin": _pair_in_32_bits(torch.fmin),
        "fmod": _pair_of_numbers(torch.fmod),
        "gcd": torch.gcd,
        "greater": torch.greater,
        "greater_equal": torch.greater_equal,
        "heaviside": heaviside,
        "hypot": _pair_of_floats(torch.hypot),
        "lcm": torch.lcm,
        "ldexp": ldexp,
        "less": torch.less,
        "less_equal": torch.less_equal,
        "logaddexp": _pair_of_floats(torch.logaddexp),
        "logaddexp2": _pair_of_floats(torch.logaddexp2),
        "logical_and": torch.logical_and,
        "logical_or": torch.logical_or,
        "logical_xor": torch.logical_xor,
        "maximum": number_follows(_pair_in_32_bits(torch.maximum)),
        "minimum": number_follows(_pair_in_32_bits(torch.minimum)),
        "mod": _pair_of_numbers(torch.remainder),
        "multiply": torch.multiply,
        "nextafter": _pair_of_floats(torch.nextafter),
        "not_equal": torch.not_equal,
        "power": torch.pow,
        "subtract": subtract,
        "true_divide": divide,
    },
    pairs_xy={
        "bitwise_and": torch.bitwise_and,
        "bitwise_left_shift": torch.bitwise_left_shift,
        "bitwise_or": torch.bitwise_or,
        "bitwise_right_shift": torch.bitwise_right_shift,
        "bitwise_xor": torch.bitwise_xor,
        "left_shift": torch.bitwise_left_shift,
        "right_shift": torch.bitwise_right_shift,
    },
    functions={
        "clip": clip,
        "empty_like": empty_like,
        "full_like": full_like,
        "isclose": isclose,
        "nan_to_num": nan_to_num,
        "ones_like": ones_like,
        "round": round,
        "saturate_cast": saturate_cast,
        "where": where,
        "zeros_like": zeros_like,
    },
)
