"""A model's inputs with their unknown axes, and random examples of such shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor

from torchkeras.base.dtypes import dtype_of
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.export.errors import ExportError, reason

# Limits of integers, tried until they fit the smallest vocabulary of the model; None: floating-point numbers.
LARGEST = 1000
RANGES = (None, LARGEST, 100, 20, 5, 2, 1)
SIZES = (12, 96, 240)  # of unknown axes: divisible by usual strides and pools; the smallest that works is taken
BYTE = 128  # integers of 8 bits must be below it
SEED = 0
UNFIT = (RuntimeError, IndexError, ValueError, TypeError)  # what a model raises for inputs that it cannot take


@dataclass(frozen=True)
class Signature:
    """One input: the name of its layer, its shape with None for unknown axes, its type."""

    name: str
    shape: Shape
    dtype: torch.dtype

    def random(self, batch: int, size: int, below: int | None, generator: torch.Generator) -> Tensor:
        """Random numbers, with `batch` and `size` for unknown axes: integers `below` a limit, or normal values."""
        shape = [known or (size if axis else batch) for axis, known in enumerate(self.shape)]
        if below is None and self.dtype.is_floating_point:
            return torch.randn(shape, generator=generator).to(self.dtype)
        most = BYTE if self.dtype.itemsize == 1 else LARGEST
        if self.dtype == torch.bool:
            most = 2
        return torch.randint(min(below or most, most), shape, generator=generator).to(self.dtype)


@dataclass(frozen=True)
class Examples:
    """Inputs that the model can take: random, but always the same."""

    signatures: list[Signature]
    size: int
    below: int | None

    def draw(self, batch: int, more: int = 0) -> list[Tensor]:
        """One tensor for each input; unknown axes are longer by `more` than necessary."""
        generator = torch.Generator().manual_seed(SEED)
        return [each.random(batch, self.size + more, self.below, generator) for each in self.signatures]


def examples(compute: Callable[[list[Tensor]], Any], signatures: list[Signature]) -> Examples:
    """Examples for which `compute` gives a result. Raises ExportError if there are none."""
    failure: Exception | None = None
    sizes = SIZES if any(None in each.shape[1:] for each in signatures) else SIZES[:1]
    for size, below in product(sizes, RANGES):
        found = Examples(signatures, size, below)
        try:
            compute(found.draw(2))
        except UNFIT as error:
            failure = failure or error
        else:
            return found
    assert failure is not None
    raise ExportError(f"the model fails on all random inputs that would check the file: {reason(failure)}")


def signatures_of(model: Any, given: Any) -> list[Signature]:
    """The model's inputs. `given`, in the order of the inputs or by their names, fixes unknown axes.

    Each entry is a shape or has one: an InputSpec, a symbolic tensor, a tensor (whose first axis stays unknown). Raises
    ValueError for another number of inputs and for shapes that do not fit the model's.
    """
    own = [Signature(name, t.shape, t.dtype) for name, t in zip(model.input_names, model.inputs, strict=True)]
    if given is None:
        return own
    unknown: list[str] = []
    if isinstance(given, Mapping):
        unknown = sorted(given.keys() - set(model.input_names))
        given = [given.get(name) for name in model.input_names]
    entries = given if isinstance(given, list) else [given]
    if unknown or len(entries) != len(own):
        raise ValueError(
            f"export: input_signature must have an entry for each input ({', '.join(model.input_names)}); found "
            f"{', '.join(map(repr, unknown)) or f'{len(entries)} of them'}."
        )
    return [_fixed(signature, entry) for signature, entry in zip(own, entries, strict=True)]


def _fixed(signature: Signature, entry: Any) -> Signature:
    if entry is None:
        return signature
    shape, dtype = (entry, None) if isinstance(entry, tuple) else (entry.shape, getattr(entry, "dtype", None))
    shape = (None, *shape[1:]) if isinstance(entry, Tensor) else tuple(shape)
    fits = len(shape) == len(signature.shape) and all(
        size in (None, found) for size, found in zip(signature.shape, shape, strict=True)
    )
    if not fits or (dtype is not None and dtype_of(dtype) != signature.dtype):
        raise ValueError(
            f"export: input_signature must fit the input {signature.name!r}, {signature.shape} of "
            f"{signature.dtype}; found {shape} of {dtype or signature.dtype}."
        )
    return Signature(signature.name, shape, signature.dtype)
