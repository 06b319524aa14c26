"""Masks that tensors carry, as `_keras_mask`: from layer to layer inside code of the user's, and out of it.

In a graph a mask is a value of its own. Layers whose facts say `carries_masks` get their inputs with their masks, and
the mask of an output is the one that it carries; one that carries none has what `compute_mask` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from torchkeras.base.nested import leaves
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.symbolic.tensor import as_list

MASK = "_keras_mask"


def mask_of(value: Any) -> Any:
    """The mask that a tensor carries; None without one."""
    return getattr(value, MASK, None)


def marked(value: Any, mask: Any) -> Any:
    """A tensor that carries a mask from now on; None leaves it as it is."""
    if mask is not None:
        setattr(value, MASK, mask)
    return value


def mark_masks(outputs: Iterable[Any], masks: Iterable[Any]) -> None:
    """Attach their masks to outputs."""
    for output, mask in zip(outputs, masks, strict=False):
        marked(output, mask)


def masks_after(layer: AnyLayer, inputs: Any, masks: Any, outputs: Any) -> list[Any]:
    """The mask of each output of a call: the one that it carries, else that of `compute_mask`."""
    tensors = leaves(outputs)
    found = list(map(mask_of, tensors))
    if any(mask is None for mask in found) or not layer.supports_masking:  # then it says so, of a mask that arrives
        computed = as_list(layer.compute_mask(inputs, masks))
        computed += [None] * (len(tensors) - len(computed))
        found = [other if mask is None else mask for mask, other in zip(found, computed, strict=False)]
    return found


def mask_after(layer: AnyLayer, inputs: Any, masks: Any, outputs: Sequence[Any], index: int) -> Any:
    """The mask of one of the outputs of a call, as `masks_after`."""
    return masks_after(layer, inputs, masks, outputs)[index]
