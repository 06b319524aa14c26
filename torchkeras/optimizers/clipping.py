"""Gradients scaled down to a norm, and clipped element by element."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from torchkeras.optimizers.parameter_groups import Gradients, Group


def clipped(
    groups: list[Group], gradients: Gradients, each: float | None, norm: float | None, value: float | None
) -> list[Tensor | None]:
    """g * min(1, norm / norm of all gradients), then each element within [-value, value]; None or 0 turns one off.

    `each`: the norm that the gradient of each of Keras's arrays is scaled down to first.
    """
    result = list(gradients)
    present: list[tuple[Group, list[int]]] = []  # each group that has a gradient, and the places of those in it
    lists: list[Any] = []
    for group in groups:
        kept = [k for k, i in enumerate(group.index) if gradients[i] is not None]
        if kept:
            found: Any = [gradients[group.index[k]] for k in kept]
            present.append((group, kept))
            lists.append(_clipped_each(found, group, kept, each) if each else found)
    if norm and lists:
        lists = _clipped_together(lists, present, norm)
    if value:
        lists = [torch._foreach_clamp_min(torch._foreach_clamp_max(found, value), -value) for found in lists]
    for found, (group, kept) in zip(lists, present, strict=True):
        for k, gradient in zip(kept, found, strict=True):
            result[group.index[k]] = gradient
    return result


def _clipped_together(lists: list[Any], present: list[tuple[Group, list[int]]], norm: float) -> list[Any]:
    """The gradients of groups, scaled down to one norm together."""
    norms = [torch.stack(group.norms(found, kept)) for found, (group, kept) in zip(lists, present, strict=True)]
    scale = (norm / torch.linalg.vector_norm(torch.cat([n.to(norms[0]) for n in norms]))).clamp(max=1.0)
    return [torch._foreach_mul(found, scale.to(found[0])) for found in lists]


def _clipped_each(gradients: list[Tensor], group: Group, places: Sequence[int], norm: float) -> list[Tensor]:
    scales = (norm / group.array_norms(gradients, places)).clamp(max=1.0).to(gradients[0].dtype)
    return list(torch._foreach_mul(gradients, list(scales.unbind())))
