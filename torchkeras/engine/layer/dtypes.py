"""Numbers of 16 bits, where the weights are of 32: what casts, and where torch computes in them.

A layer under a mixed policy computes inside `torch.autocast`, which casts weights where torch's kernels want it and
keeps the copies until the region ends. Inputs are cast before and outputs after: autocast leaves some in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchkeras.dtype_policy import MIXED
from torchkeras.engine.layer.nested import mapped, put_together, taken_apart
from torchkeras.engine.layer.symbolic import KerasTensor, dtype_of
from torchkeras.losses.shared import HALF_TYPES, carried

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer


def typed(value: Tensor, dtype: torch.dtype) -> Tensor:
    """A tensor in a type, with the logits that it carries."""
    return value if value.dtype is dtype else carried(value, lambda tensor: tensor.to(dtype))


def widened(value: Tensor) -> Tensor:
    """An output as losses and metrics take it: numbers of 16 bits in float32, with what it carries."""
    if value.dtype not in HALF_TYPES:
        return value
    wide, mask = typed(value, torch.float32), getattr(value, "_keras_mask", None)
    if mask is not None:
        wide._keras_mask = mask  # type: ignore[attr-defined]
    return wide


def compute_type(layer: Layer) -> torch.dtype | None:
    """What a layer's floating-point inputs are cast to; None for one that takes what comes."""
    found = dtype_of(layer.compute_dtype)
    return found if layer._facts.casts and found.is_floating_point else None


def taken_type(layer: Layer, tensor: Any, index: int) -> torch.dtype:
    """The type in which a layer takes its input of that number: a model that of its own input."""
    if not tensor.dtype.is_floating_point:
        return tensor.dtype
    return layer._input_type(index) or tensor.dtype


def is_mixed(layer: Layer) -> bool:
    """Whether a layer computes in 16 bits, with weights of 32."""
    return layer._facts.casts and layer.dtype_policy.is_mixed


def taken(layer: Layer, inputs: Any) -> Any:
    """Symbolic inputs as the layer takes them."""
    if isinstance(inputs, (list, tuple)):
        return [_as_taken(layer, tensor, index) for index, tensor in enumerate(inputs)]
    return _as_taken(layer, inputs, 0)


def _as_taken(layer: Layer, tensor: KerasTensor, index: int) -> KerasTensor:
    dtype = taken_type(layer, tensor, index)
    return tensor if dtype is tensor.dtype else KerasTensor(tensor.shape, dtype, tensor.name)


def mixed_layers(network: torch.nn.Module) -> list[Any]:
    """The layers that compute in 16 bits with weights of 32."""
    modules: Iterator[Any] = network.modules()
    found = ((module, module.__dict__.get("_policy")) for module in modules)
    return [module for module, policy in found if policy is not None and policy.name in MIXED and is_mixed(module)]


def follows_policy(layer: Layer) -> bool:
    """Whether a call of a layer outside of a graph casts by its policy.

    Of one type it does not where another layer has cast already, or where `model.half()` and the like have given it
    weights of another type.
    """
    casts = layer._facts.casts
    if not casts or layer.dtype_policy.is_mixed:
        return casts
    weight = next(layer.parameters(), None)
    return not layer._is_part and (weight is None or weight.dtype is dtype_of(layer.variable_dtype))


def by_policy(layer: Layer, compute: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `compute` gives for inputs in the layer's type, in that type: a call outside of a graph."""
    form, tensors = taken_apart((args, kwargs))
    first, dtype = tensors[0].device.type, dtype_of(layer.compute_dtype)
    tensors = [typed(tensor, taken_type(layer, tensor, index)) for index, tensor in enumerate(tensors)]
    args, kwargs = put_together(form, tensors)
    # On `meta`, where a shape is found, the weights have the compute type already.
    with torch.autocast(first, dtype) if is_mixed(layer) and first != "meta" else nullcontext():
        outputs = compute(*args, **kwargs)
    if not (is_mixed(layer) and layer._casts_outputs):
        return outputs
    return mapped(outputs, lambda output: typed(output, dtype) if output.is_floating_point() else output)
