"""Compare a file with the model that it was made from: equal outputs for random inputs of two sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import torch
from torch import Tensor

from torchkeras.export.errors import ExportError, reason
from torchkeras.export.examples import UNFIT, Examples

Compute = Callable[[list[Tensor]], list[Tensor]]

BATCHES = (1, 5)
# Relative to the largest output, by the type of the outputs, for sums in another order.
TOLERANCES = {torch.float16: 1e-2, torch.bfloat16: 5e-2, torch.float64: 1e-9}
TOLERANCE = 1e-4


def check(written: Compute, compute: Compute, examples: Examples, names: Sequence[str]) -> None:
    """Raise ExportError unless the written file gives the model's outputs, `names`, for examples of each size."""
    for batch in BATCHES:
        inputs, wanted = computed(compute, examples, batch)
        try:
            found = written(inputs)
        except Exception as error:
            raise ExportError(f"the written file fails on a batch of {batch}: {reason(error)}") from error
        if len(found) != len(wanted):
            raise ExportError(f"the written file has {len(found)} outputs; the model has {len(wanted)}.")
        for name, mine, other in zip(names, wanted, found, strict=True):
            difference = differing(mine, other)
            if difference is not None:
                raise ExportError(
                    f"the written file gives another output {name!r} for a batch of {batch}: {difference}"
                )


def computed(compute: Compute, examples: Examples, batch: int) -> tuple[list[Tensor], list[Tensor]]:
    """Inputs and outputs. For several samples, unknown axes have odd sizes or, if these do not work, double ones."""
    for more in (1, examples.size) if batch > 1 else ():
        inputs = examples.draw(batch, more)
        with suppress(*UNFIT):
            return inputs, compute(inputs)
    inputs = examples.draw(batch)
    return inputs, compute(inputs)


def differing(wanted: Tensor, found: Tensor) -> str | None:
    """How an output differs from the model's; None if it is equal up to rounding."""
    for what in ("dtype", "shape"):
        if getattr(wanted, what) != getattr(found, what):
            return f"its {what} is {getattr(found, what)}; the model's is {getattr(wanted, what)}."
    if not wanted.is_floating_point():
        return None if torch.equal(wanted, found) else "its values differ."
    finite = wanted[wanted.isfinite()].double().abs()
    tolerance = TOLERANCES.get(wanted.dtype, TOLERANCE) * (float(finite.max()) if finite.numel() else 1.0)
    if torch.allclose(wanted.double(), found.double(), rtol=0.0, atol=tolerance, equal_nan=True):
        return None
    return f"it differs by up to {float((wanted.double() - found.double()).abs().max()):.2g}."
