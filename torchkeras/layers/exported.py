"""The walk along time as one operation, torch's `scan`: exported programs stay short and take any number of steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from torchkeras.base.torch_versions import scan

States = tuple[Tensor, ...]
# The output at a masked step: (output, states before the step, output before the step) -> output
Held = Callable[[Tensor, States, Tensor], Tensor]


def where(valid: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """`new` for the samples where `valid`, of shape (batch,), is True, `old` for the others."""
    return torch.where(valid.reshape(-1, *[1] * (new.dim() - 1)), new, old)


def _contiguous_copy(tensor: Tensor) -> Tensor:
    """A contiguous copy: tensors that a scan carries must not share memory or change their strides."""
    return tensor.clone(memory_format=torch.contiguous_format)


def scanned(
    step: Callable[[Any, States], tuple[Tensor, States]],
    inputs: Tensor,
    mask: Tensor | None,
    states: States,
    first: Tensor,
    held: Held,
) -> tuple[Tensor, States]:
    """`output[t], states = step(inputs[t], states)`: the outputs of all steps, time first, and the final states.

    Arguments:
        step (function): one step.
        inputs (tensor): (time, batch, ...).
        mask (tensor or None): (batch, time), True at the valid steps.
        states (tuple of tensors): the initial states.
        first (tensor): the output before the first step, for `held`.
        held (function): gives the output at a masked step.
    """

    def plain(carried: Any, given: Any) -> Any:
        output, found = step(given, carried)
        return tuple(map(_contiguous_copy, found)), _contiguous_copy(output)

    def masked(carried: Any, given: Any) -> Any:
        (before, *old), (each, valid) = carried, given
        output, found = step(each, tuple(old))
        output = where(valid, output, held(output, tuple(old), before))
        found = map(partial(where, valid), found, old)
        return tuple(map(_contiguous_copy, (output, *found))), _contiguous_copy(output)

    begin = tuple(map(_contiguous_copy, states))
    if mask is None:
        final, outputs = scan(plain, begin, inputs, dim=0)
        return outputs, tuple(final)
    final, outputs = scan(masked, (first, *begin), (inputs, mask.t()), dim=0)
    return outputs, tuple(final[1:])
