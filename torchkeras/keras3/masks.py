"""The masks that real tensors carry from layer to layer, as `_keras_mask`; in a graph they are values of the graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torchkeras.base.nested import leaves, mapped
from torchkeras.engine.facts import is_own
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import graph_if_any
from torchkeras.engine.layer.layer import Layer as BaseLayer

MASK = "_keras_mask"


def mask_of(value: Any) -> Any:
    """The mask that a tensor carries; None without one."""
    return getattr(value, MASK, None)


def carries_masks(layer: BaseLayer, mask: Any, tensors: Sequence[Any]) -> bool:
    """Whether a call has to do with masks: it is given one, one of its tensors carries one, or the layer makes one."""
    if isinstance(layer, Network) and graph_if_any(layer) is not None:
        if any(tensor.keras_mask is not None for tensor in layer.outputs):
            return True
    elif type(layer).compute_mask is not BaseLayer.compute_mask:
        return True
    return mask is not None or any(mask_of(tensor) is not None for tensor in tensors)


def call_with_masks(
    layer: BaseLayer, call: Callable[..., Any], names: list[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Call a layer on real tensors: it gets the masks that these carry, and its outputs carry theirs.

    `names`: the arguments of the call. The mask of a single one is passed as `mask`, of several as `<name>_mask`, where
    the layer has such an argument and none was given.
    """
    kwargs = dict(kwargs)
    named = {**dict(zip(names, args, strict=False)), **kwargs}
    inputs = {name: value for name, value in named.items() if not _is_mask(name) and leaves(value)}
    for name, value in inputs.items():
        argument = "mask" if len(inputs) == 1 else f"{name}_mask"
        is_masked = any(mask_of(each) is not None for each in leaves(value))
        if argument in names and named.get(argument) is None and is_masked:
            kwargs[argument] = mapped(value, mask_of)
    first = next(iter(inputs.values()), None)
    if is_own(type(layer)) and len(inputs) > 1:  # which takes them as a list
        first = list(inputs.values())
    previous = kwargs.get("mask")
    if previous is None:
        previous = mapped(first, mask_of)
    outputs = call(*args, **kwargs)
    _mark(layer, first, previous, outputs)
    return outputs


def _is_mask(name: str) -> bool:
    return name == "mask" or name.endswith("_mask")


def _mark(layer: BaseLayer, inputs: Any, previous: Any, outputs: Any) -> None:
    """Attach the masks of the outputs to those that carry none."""
    masked = bool(leaves(previous))
    if not layer.supports_masking:
        if masked:
            warnings.warn(
                f"{type(layer).__name__} {layer.name!r} does not support masking: its outputs carry no mask, though "
                "its inputs do. Set supports_masking in a layer of your own.",
                stacklevel=4,
            )
        return
    tensors = leaves(outputs)
    if all(mask_of(tensor) is not None for tensor in tensors):
        return
    masks = layer.compute_mask(inputs, previous if masked else None)
    flat = masks if isinstance(masks, (list, tuple)) else [masks]
    for tensor, mask in zip(tensors, flat, strict=False):
        if mask is not None and mask_of(tensor) is None:
            setattr(tensor, MASK, mask)
