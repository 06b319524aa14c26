"""The user's losses, metrics and steps must not change batches, targets and outputs in place.

A batch may be a view of the data that the user passed, which every epoch reads again, and metrics see the targets and
outputs that the loss saw.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

NAMES = ("y_true", "y_pred", "sample_weight")


def checked(what: Any, compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute(y_true, y_pred, sample_weight, ...)` of a user's loss or metric, under the check of `unchanged`."""
    return partial(_checked, what, compute)


def unchanged(what: str, names: Any, tensors: Any, compute: Callable[[], Any]) -> Any:
    """Return `compute()`. Raises RuntimeError, in the name of `what`, if it changes one of the tensors in place."""
    before = [_version(tensor) for tensor in tensors]
    found = compute()
    for name, tensor, version in zip(names, tensors, before, strict=False):
        if _version(tensor) != version:
            raise RuntimeError(
                f"{what}: it changes {name} in place, which may be the data itself, and what metrics and further "
                f"epochs see. Make a new tensor: {name} = {name} / 2 and not {name} /= 2."
            )
    return found


def _checked(what: Any, compute: Callable[..., Any], *arguments: Any) -> Any:
    # Reading `_version` would break the graph of torch.compile. The first batch of each kind runs uncompiled, and is
    # checked there.
    if torch.compiler.is_compiling():
        return compute(*arguments)
    function = what.func if isinstance(what, partial) else what
    name = getattr(function, "__name__", type(function).__name__)
    return unchanged(f"the loss or metric {name}", NAMES, arguments[: len(NAMES)], partial(compute, *arguments))


def _version(tensor: Any) -> int | None:
    """How often a tensor was changed in place; None where torch does not count it."""
    return tensor._version if isinstance(tensor, Tensor) and not tensor.is_inference() else None
