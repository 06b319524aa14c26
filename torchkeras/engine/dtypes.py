"""Numbers of 16 bits, where the weights are of 32: what casts, and where torch computes in them.

A layer under a mixed policy computes inside `torch.autocast`, which casts weights where torch's kernels want it and
keeps the copies until the region ends. Inputs are cast before and outputs after: autocast leaves some in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from torchkeras.base.dtype_policy import DTypePolicy
from torchkeras.base.nested import mapped, put_together, taken_apart
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.engine.weights.weight import own_variables
from torchkeras.losses.shared import HALF_TYPES, carried

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer


def take_policy(layer: Layer, policy: DTypePolicy) -> None:
    """Give a layer a policy. Raises ValueError for one that wants another type of the weights that are there."""
    if layer.built and own_variables(layer) and policy.variable_dtype != layer.variable_dtype:
        raise ValueError(
            f"{type(layer).__name__} {layer.name!r}: its weights are {layer.variable_dtype}; the dtype policy "
            f"{policy.name!r} has weights of {policy.variable_dtype}."
        )
    layer._policy, layer._tells_policy = policy, True
    layer._taken_plainly.clear()


def agree_on_policy(layer: Layer) -> None:
    """Give one mixed policy to a layer and all inside it: one region of 16 bits holds them.

    Those that were not given one follow the others. Raises ValueError where these differ.
    """
    if not layer._joined_facts.casts:
        return
    given_policies: dict[DTypePolicy, Layer] = {}
    followers: list[Layer] = []
    for inside in layer.modules():
        if not isinstance(inside, AnyLayer) or not inside._joined_facts.casts:
            continue
        if inside is not layer:
            inside._is_part = True
        if inside._tells_policy:
            given_policies[inside._policy] = inside
        else:
            followers.append(inside)
    if not any(policy.is_mixed for policy in given_policies):
        return
    if len(given_policies) > 1:
        (one, first), (other, second), *_ = given_policies.items()
        raise ValueError(
            f"{type(first).__name__} {first.name!r} has the dtype policy {one.name!r} and {type(second).__name__} "
            f"{second.name!r} {other.name!r}; a layer and those inside it have one, unless none is mixed."
        )
    for inside in followers:
        take_policy(inside, *given_policies)


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


def input_type(layer: Layer, index: int) -> torch.dtype | None:
    """What the input of that number is cast to, if it has floating-point numbers; None: nothing is cast."""
    found = layer._policy.compute_type
    return found if layer._joined_facts.casts and found.is_floating_point else None


def taken_type(layer: Layer, tensor: Any, index: int) -> torch.dtype:
    """The type in which a layer takes its input of that number: a model that of its own input."""
    if not tensor.dtype.is_floating_point:
        return tensor.dtype
    return layer._input_type(index) or tensor.dtype


def is_mixed(layer: Layer) -> bool:
    """Whether a layer computes in 16 bits, with weights of 32."""
    return layer._joined_facts.casts and layer._policy.is_mixed


def taken(layer: Layer, inputs: Any) -> Any:
    """Symbolic inputs as the layer takes them."""
    if isinstance(inputs, (list, tuple)):
        return [_as_taken(layer, tensor, index) for index, tensor in enumerate(inputs)]
    return _as_taken(layer, inputs, 0)


def _as_taken(layer: Layer, tensor: KerasTensor, index: int) -> KerasTensor:
    dtype = taken_type(layer, tensor, index)
    return tensor if dtype is tensor.dtype else KerasTensor(tensor.shape, dtype, tensor.name)


def mixed_layers(network: torch.nn.Module) -> list[Layer]:
    """The layers that compute in 16 bits with weights of 32."""
    return [module for module in network.modules() if isinstance(module, AnyLayer) and is_mixed(module)]


def follows_policy(layer: Layer) -> bool:
    """Whether a call of a layer outside of a graph casts by its policy.

    Of one type it does not where another layer has cast already, or where `model.half()` and the like have given it
    weights of another type.
    """
    casts = layer._joined_facts.casts
    if not casts or layer._policy.is_mixed:
        return casts
    weight = next(layer.parameters(), None)
    return not layer._is_part and (weight is None or weight.dtype is layer._policy.variable_type)


def by_policy(layer: Layer, compute: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `compute` gives for inputs in the layer's type, in that type: a call outside of a graph."""
    form, tensors = taken_apart((args, kwargs))
    first, dtype = tensors[0].device.type, layer._policy.compute_type
    tensors = [typed(tensor, taken_type(layer, tensor, index)) for index, tensor in enumerate(tensors)]
    args, kwargs = put_together(form, tensors)
    # On `meta`, where a shape is found, the weights have the compute type already.
    with torch.autocast(first, dtype) if is_mixed(layer) and first != "meta" else nullcontext():
        outputs = compute(*args, **kwargs)
    if not (is_mixed(layer) and layer._casts_outputs):
        return outputs
    return mapped(outputs, lambda output: typed(output, dtype) if output.is_floating_point() else output)
