"""Calls on real tensors that carry masks: see `engine/carried_masks.py`. In a graph masks are values of the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras.base import python
from torchkeras.base.nested import leaves, mapped
from torchkeras.base.tracing import is_compiling
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.carried_masks import mark_masks, mask_of, masks_after
from torchkeras.engine.facts import is_own, takes
from torchkeras.engine.layer.call import call_on_tensors
from torchkeras.engine.symbolic.tensor import as_list


def has_masks(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call gets masks: one that is given, or one that a tensor carries."""
    is_given = any(is_mask(name) and value is not None for name, value in kwargs.items())
    return is_given or any(mask_of(tensor) is not None for tensor in leaves((args, kwargs)))


def call_with_masks(layer: AnyLayer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a layer on real tensors: it gets the masks that these carry, and its outputs carry theirs.

    The mask of a single input is passed as `mask`, of several as `<name>_mask`, where the layer has such an argument
    and none was given. Raises as `compute_mask` does.
    """
    names, kwargs = list(layer._call_signature.parameters)[1:], dict(kwargs)
    named = {**dict(zip(names[: len(args)], args[: len(names)], strict=True)), **kwargs}
    inputs = {name: value for name, value in named.items() if not is_mask(name) and leaves(value)}
    for name, value in inputs.items():
        argument = "mask" if len(inputs) == 1 else f"{name}_mask"
        is_masked = any(mask_of(each) is not None for each in leaves(value))
        if argument in names and named.get(argument) is None and is_masked:
            kwargs[argument] = mapped(value, mask_of)
    if takes(layer, "details"):  # a model with a graph, which gives its outputs with their masks
        if kwargs.get("details"):
            return call_on_tensors(layer, args, kwargs)
        outputs, masks, _ = call_on_tensors(layer, args, {**kwargs, "details": True})
        mark_masks(as_list(outputs), masks)
        return outputs
    first: Any = python.first(inputs.values(), None)
    if is_own(type(layer)) and len(inputs) > 1:  # which takes them as a list
        first = list(inputs.values())
    previous = kwargs.get("mask")
    if previous is None:
        previous = mapped(first, mask_of)
    if not leaves(previous):
        previous = None
    if is_compiling() and not layer._is_users:  # after a graph break in the call Dynamo warns of a look at its outputs
        masks = as_list(layer.compute_mask(first, previous))
        if all(mask is None for mask in masks):
            return call_on_tensors(layer, args, kwargs)
        outputs = call_on_tensors(layer, args, kwargs)
        mark_masks(leaves(outputs), masks)
        return outputs
    outputs = call_on_tensors(layer, args, kwargs)
    mark_masks(leaves(outputs), masks_after(layer, first, previous, outputs))
    return outputs


def is_mask(name: str) -> bool:
    """Whether an argument of a call with this name is a mask."""
    return name == "mask" or name.endswith("_mask")
