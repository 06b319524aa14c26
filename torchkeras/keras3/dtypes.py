"""The names of types in Keras 3, and the type that several have together."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from torchkeras import config
from torchkeras.base.dtypes import dtype_name

UNSIGNED, SIGNED = ("uint8", "uint16", "uint32", "uint64"), ("int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
FLOATS_OF_8_BITS = ("float8_e4m3fn", "float8_e5m2")
NAMES = frozenset(("bool", "string", *UNSIGNED, *SIGNED, *FLOATS, *COMPLEX, *FLOATS_OF_8_BITS))

OF_PYTHON = {bool: "bool", int: "int32", float: "float32", str: "string", complex: "complex64", "int": "int32"}
IN_32_BITS = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


def standardize_dtype(dtype: Any) -> str:
    """The name of a type.

    Arguments:
        dtype (text, type or None): a name, or a type of torch, NumPy or Python; None is `config.floatx()`.

    Errors:
        ValueError: Keras 3 has no such type.

    Example:
        >>> standardize_dtype(torch.bfloat16), standardize_dtype(int), standardize_dtype(None)
        ('bfloat16', 'int32', 'float32')

    Source: https://keras.io/api/utils/config_utils/
    """
    name = config.floatx() if dtype is None else _name(dtype)
    if name not in NAMES:
        raise ValueError(f"dtype must be the name of a type that Keras has, such as 'float32'; found {dtype!r}.")
    return name


def _name(dtype: Any) -> Any:
    if isinstance(dtype, torch.dtype):
        return dtype_name(dtype)
    if isinstance(dtype, (str, type)) and dtype in OF_PYTHON:
        return OF_PYTHON[dtype]
    if isinstance(dtype, type) and issubclass(dtype, np.generic):
        return np.dtype(dtype).name
    return dtype.removeprefix("torch.") if isinstance(dtype, str) else getattr(dtype, "name", dtype)


def is_float_dtype(dtype: Any) -> bool:
    """Whether a type is one of floating-point numbers.

    Arguments:
        dtype (text, type or None): as `standardize_dtype`.

    Example:
        >>> is_float_dtype("bfloat16"), is_float_dtype("int32")
        (True, False)
    """
    return standardize_dtype(dtype) in (*FLOATS, *FLOATS_OF_8_BITS)


def is_int_dtype(dtype: Any) -> bool:
    """Whether a type is one of whole numbers, signed or not.

    Arguments:
        dtype (text, type or None): as `standardize_dtype`.

    Example:
        >>> is_int_dtype("uint8"), is_int_dtype("bool")
        (True, False)
    """
    return standardize_dtype(dtype) in (*UNSIGNED, *SIGNED)


def result_type(*dtypes: Any) -> str:
    """The type that values of several types have together: at most 32 bits wide, as Keras 3 computes.

    Python's own `int` and `float` stand for numbers, which give way to the types of tensors.

    Arguments:
        *dtypes (texts, types or None): the types; none at all is `config.floatx()`.

    Errors:
        ValueError: a type is unknown, or has no type with another, such as "float8_e5m2" and "string".

    Example:
        >>> result_type("bfloat16", int), result_type("int32", float), result_type("uint8", "int8")
        ('bfloat16', 'float32', 'int16')

    Source: https://keras.io/api/utils/config_utils/
    """
    if any(isinstance(each, str) and each in FLOATS_OF_8_BITS for each in dtypes):
        raise ValueError(f"types of 8 bits have no type with others; cast the values yourself. Found {dtypes!r}.")
    numbers = {each for each in dtypes if each is int or each is float}
    names = {standardize_dtype(each) for each in dtypes if not (each is int or each is float)}
    if not dtypes:
        return config.floatx()
    found = names.pop() if len(names) == 1 and not numbers else _together(names, numbers, dtypes)
    return IN_32_BITS.get(found, found)


def _together(names: set[str], numbers: set[type], dtypes: tuple[Any, ...]) -> str:
    if names - {"bool", *UNSIGNED, *SIGNED, *FLOATS, *COMPLEX}:
        raise ValueError(f"these types have none together; cast the values yourself. Found {dtypes!r}.")
    if names & set(COMPLEX):
        return "complex64"
    floats = names & set(FLOATS)
    if floats:
        return floats.pop() if len(floats) == 1 else "float64" if "float64" in floats else "float32"
    bits = config.floatx()[-2:]
    whole = names - {"bool"}
    if float in numbers:
        return f"float{bits}"
    if whole:
        return _integers(whole) or f"float{bits}"
    return f"int{bits}" if numbers else "bool"


def _integers(names: set[str]) -> str | None:
    """The type of whole numbers that holds those of all these; None where there is none."""
    unsigned = max((UNSIGNED.index(name) for name in names & set(UNSIGNED)), default=-1)
    signed = max((SIGNED.index(name) for name in names & set(SIGNED)), default=-1)
    if signed < 0:
        return UNSIGNED[unsigned]
    needed = max(signed, unsigned + 1)
    return SIGNED[needed] if needed < len(SIGNED) else None
