"""Tensors as arrays and arrays as tensors, and their layout in memory."""

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import torch

from torchkeras.base.texts import are_strings

KINDS_OF_NUMBERS = "biuf"  # of NumPy's types: those of real numbers


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """A tensor's values on the CPU; bfloat16, which NumPy does not have, as float32. May share the tensor's memory."""
    values = tensor.detach()
    return (values.float() if values.dtype == torch.bfloat16 else values).cpu().numpy()


def as_tensor(value: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A tensor of an array or tensor, without a copy where type and layout allow it."""
    if isinstance(value, torch.Tensor):
        found = value.detach() if dtype is None else value.detach().to(dtype)
        # Of a tensor made in inference mode autograd takes a copy alone.
        return found.clone() if found.is_inference() and not torch.is_inference_mode_enabled() else found
    array = np.asarray(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.char == "g":  # torch has no numbers of more than 64 bits
        array = array.astype(np.float64)
    if not array.flags.writeable or min(array.strides, default=0) < 0:
        array = array.copy()  # torch has neither read-only tensors nor negative strides
    tensor = torch.from_numpy(array)
    return tensor if dtype is None else tensor.to(dtype)


def as_numbers(value: Any, where: str) -> Any:
    """An array of real numbers that a tensor can hold, or the tensor that was given.

    Objects that are numbers, as in a data frame of several types, become numbers of one type. `where` begins the text
    of errors: ValueError for what holds something else, for lists of unequal lengths, and for an array that masks some
    of its values, which nothing here would leave out; TypeError for a sparse tensor.
    """
    if isinstance(value, torch.Tensor):
        _check_tensor(value, where)
        return value
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(
            f"{where} got a masked array; masked are {np.ma.count_masked(value)} of its values, and nothing here would "
            "leave them out: pass array.filled(value)."
        )
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{where} got lists of unequal lengths; pad them to one length ({error}).") from error
    if array.dtype.kind == "O" and not are_strings(array):
        array = _from_objects(array, where)
    elif _is_extension_type(array.dtype):
        array = array.astype(np.float32)
    if array.dtype.kind not in KINDS_OF_NUMBERS:
        if are_strings(array):
            raise ValueError(
                f"{where} takes numbers; found strings. np.unique(texts, return_inverse=True)[1] numbers texts."
            )
        raise ValueError(f"{where} got an array of {array.dtype} elements; pass real numbers.")
    return array


def _is_extension_type(dtype: np.dtype) -> bool:
    """Whether this is a type of numbers that NumPy itself does not have, such as the bfloat16 of ml_dtypes."""
    return dtype.kind == "V" and dtype.names is None and dtype.type is not np.void


def _check_tensor(tensor: torch.Tensor, where: str) -> None:
    if tensor.is_nested:
        raise ValueError(f"{where} got a nested tensor; pad its parts to one length.")
    if tensor.layout != torch.strided:
        raise TypeError(f"{where} got a sparse torch's Tensor; pass a dense array (`.toarray()`, `.to_dense()`).")
    if tensor.is_meta:
        raise ValueError(f"{where} got a tensor on the device meta, which has no values.")
    if tensor.is_complex() or tensor.is_quantized:
        raise ValueError(f"{where} got an array of {tensor.dtype} elements; pass real numbers.")


def _from_objects(array: np.ndarray, where: str) -> np.ndarray:
    for place, each in np.ndenumerate(array):
        if not isinstance(each, (Real, Decimal, np.bool_)):
            found = f"an {type(each).__name__} of shape {each.shape}" if hasattr(each, "shape") else repr(each)
            at = f" at {list(place)}" if place else ""
            raise ValueError(f"{where} got an array of object elements; pass real numbers. Found {found}{at}.")
    of_one_type = np.array(array.tolist())
    return of_one_type.astype(np.float64) if of_one_type.dtype.kind == "O" else of_one_type


def fills_its_memory(tensor: torch.Tensor) -> bool:
    """Whether a tensor's values fill its memory without gaps, in any order of axes."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size == 0:
            return True
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True
