"""Parameters in groups of one device and type: what torch's kernels over lists take at once."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Gradients = Sequence[Tensor | None]


@dataclass(eq=False)
class Group:
    """Parameters of one device and type, where they stand in the list they come from, and their moments.

    `forever`: steps taken, one a parameter, for torch's Adam: so many that its bias correction is 1.
    """

    index: list[int]
    parameters: list[Tensor]
    strides: list[tuple[int, ...]]
    forever: list[Tensor]
    moments: list[list[Tensor]]

    def takes(self, gradients: Gradients) -> bool:
        """Whether every gradient is there and lies in memory as its parameter does: the CPU's kernels do not look."""
        for gradient, stride in zip(gradients, self.strides, strict=True):
            if gradient is None or gradient.stride() != stride:
                return False
        return True

    def fitted(self, gradients: Gradients) -> tuple["Group", list[Tensor]]:
        """The part of the group that has a gradient, and those gradients laid out as their parameters."""
        kept = [i for i, gradient in enumerate(gradients) if gradient is not None]

        def part(values: Sequence[Any]) -> list[Any]:
            return [values[i] for i in kept]

        laid_out = [_laid_out_as(p, g) for p, g in zip(part(self.parameters), part(gradients), strict=True)]
        moments = [part(moment) for moment in self.moments]
        return Group(kept, part(self.parameters), part(self.strides), part(self.forever), moments), laid_out


def grouped(parameters: Sequence[Tensor]) -> list[Group]:
    """Groups without moments. Raises ValueError for a parameter with gaps or overlaps in memory."""
    found: dict[Any, list[int]] = {}
    for i, parameter in enumerate(parameters):
        # A tensor that fills its memory, and no other, is made anew with the strides it has.
        if torch.empty_like(parameter, device="meta").stride() != parameter.stride():
            raise ValueError(
                f"Parameter {i} of shape {tuple(parameter.shape)} and strides {parameter.stride()} has gaps or "
                "overlaps in memory: an optimizer needs it whole, as `parameter.contiguous()` is."
            )
        found.setdefault((parameter.device, parameter.dtype), []).append(i)
    groups = []
    for (device, _), index in found.items():
        of_group = [parameters[i] for i in index]
        forever = [torch.full((), math.inf, dtype=torch.float32, device=device)] * len(index)
        groups.append(Group(index, of_group, [p.stride() for p in of_group], forever, []))
    return groups


def in_order(groups: list[Group], moment: int) -> list[Tensor]:
    """The tensors of a moment in the order of the parameters."""
    found = {i: t for group in groups for i, t in zip(group.index, group.moments[moment], strict=True)}
    return [found[i] for i in range(len(found))]


def clipped(groups: list[Group], gradients: Gradients, norm: float | None, value: float | None) -> list[Tensor | None]:
    """g * min(1, norm / norm of all gradients), then each element within [-value, value]; None or 0 leaves one out."""
    result = list(gradients)
    present = [[i for i in group.index if gradients[i] is not None] for group in groups]
    lists: list[Any] = [[gradients[i] for i in index] for index in present if index]
    if norm and lists:
        norms = [_norms(of_group) for of_group in lists]
        scale = (norm / torch.linalg.vector_norm(torch.cat([n.to(norms[0]) for n in norms]))).clamp(max=1.0)
        lists = [torch._foreach_mul(found, scale.to(found[0])) for found in lists]
    if value:
        lists = [torch._foreach_clamp_min(torch._foreach_clamp_max(found, value), -value) for found in lists]
    for index, found in zip([index for index in present if index], lists, strict=True):
        for i, gradient in zip(index, found, strict=True):
            result[i] = gradient
    return result


def _norms(gradients: list[Tensor]) -> Tensor:
    # Half types are squared in float32: a sum of squares overflows float16.
    return torch.stack(torch._foreach_norm(gradients, 2, dtype=torch.promote_types(gradients[0].dtype, torch.float32)))


def _laid_out_as(parameter: Tensor, gradient: Tensor) -> Tensor:
    if gradient.stride() == parameter.stride():
        return gradient
    return torch.empty_like(parameter, requires_grad=False).copy_(gradient)
