"""Mixed precision: 16-bit computation with 32-bit weights; what is cast, and where.

A layer under a mixed policy computes inside `torch.autocast`, which casts weights where torch's kernels need it and
caches the copies until the region ends. Inputs are cast before and outputs after: autocast leaves some in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor

from torchkeras.activations.logits import carried
from torchkeras.base.dtypes import DTypePolicy
from torchkeras.base.nested import mapped, put_together, taken_apart
from torchkeras.engine.base_layer import AnyLayer
from torchkeras.engine.carried_masks import marked, mask_of
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.engine.weights.weight import own_variables
from torchkeras.losses.shared import HALF_TYPES


def take_policy(layer: AnyLayer, policy: DTypePolicy) -> None:
    """Give a layer a policy. Raises ValueError for one with another type of weights than the layer has already."""
    if layer.built and own_variables(layer) and policy.variable_dtype != layer.variable_dtype:
        raise ValueError(
            f"{type(layer).__name__} {layer.name!r}: its weights are {layer.variable_dtype}; the dtype policy "
            f"{policy.name!r} has weights of {policy.variable_dtype}."
        )
    layer._policy, layer._tells_policy = policy, True
    layer._taken_plainly.clear()


def agree_on_policy(layer: AnyLayer) -> None:
    """Give a layer and all layers inside it one mixed policy: they compute in one region of autocast.

    Layers without a policy of their own follow the others. Raises ValueError where these differ.
    """
    if not layer._joined_facts.casts:
        return
    policies: dict[DTypePolicy, AnyLayer] = {}
    followers: list[AnyLayer] = []
    mixed = False
    for inside in casting_layers(layer):
        if inside is not layer:
            inside._is_part = True
        if inside._tells_policy:
            policies[inside._policy] = inside
            mixed |= inside._policy.is_mixed
        else:
            followers.append(inside)
    if not mixed:
        return
    if len(policies) > 1:
        (one, first), (other, second), *_ = policies.items()
        raise ValueError(
            f"{type(first).__name__} {first.name!r} has the dtype policy {one.name!r} and {type(second).__name__} "
            f"{second.name!r} {other.name!r}; a layer and those inside it have one, unless none is mixed."
        )
    for inside in followers:
        take_policy(inside, *policies)


def typed(value: Tensor, dtype: torch.dtype) -> Tensor:
    """A tensor cast to a type, with the logits and the mask that it carries."""
    if value.dtype is dtype:
        return value
    return marked(carried(value, lambda tensor: tensor.to(dtype)), mask_of(value))


def widened(value: Tensor) -> Tensor:
    """An output for losses and metrics: 16-bit numbers cast to float32."""
    return typed(value, torch.float32) if value.dtype in HALF_TYPES else value


def input_type(layer: AnyLayer, index: int) -> torch.dtype | None:
    """The type that the floating-point input of that number is cast to; None: it is not cast."""
    compute_type = layer._policy.compute_type
    return compute_type if layer._joined_facts.casts and compute_type.is_floating_point else None


def cast_type(layer: AnyLayer, tensor: Any, index: int) -> torch.dtype:
    """The type of the input of that number after the layer's cast. A model casts to the type of its own `Input`."""
    if not tensor.dtype.is_floating_point:
        return tensor.dtype
    return layer._input_type(index) or tensor.dtype


def is_mixed(layer: AnyLayer) -> bool:
    """Whether a layer computes in 16 bits with 32-bit weights."""
    return layer._joined_facts.casts and layer._policy.is_mixed


def cast_inputs(layer: AnyLayer, inputs: Any) -> Any:
    """The symbolic inputs, each in the type that the layer casts it to."""
    if isinstance(inputs, (list, tuple)):
        return [_cast_input(layer, tensor, index) for index, tensor in enumerate(inputs)]
    return _cast_input(layer, inputs, 0)


def _cast_input(layer: AnyLayer, tensor: KerasTensor, index: int) -> KerasTensor:
    dtype = cast_type(layer, tensor, index)
    if dtype is tensor.dtype:
        return tensor
    return KerasTensor(tensor.shape, dtype, tensor.name)


def casting_layers(module: torch.nn.Module) -> list[AnyLayer]:
    """The layers in a module, itself included, that cast their inputs."""
    return [inside for inside in module.modules() if isinstance(inside, AnyLayer) and inside._joined_facts.casts]


def mixed_layers(network: torch.nn.Module) -> list[AnyLayer]:
    """The layers that compute in 16 bits with 32-bit weights."""
    return [layer for layer in casting_layers(network) if layer._policy.is_mixed]


def follows_policy(layer: AnyLayer) -> bool:
    """Whether a call of a layer outside of a graph casts by its policy.

    A policy of one type does not cast inside another layer, which has cast already, nor after `model.half()` and the
    like, which give the weights another type.
    """
    if not layer._joined_facts.casts:
        return False
    if layer._policy.is_mixed:
        return True
    weight = next(layer.parameters(), None)
    return not layer._is_part and (weight is None or weight.dtype is layer._policy.variable_type)


def by_policy(layer: AnyLayer, compute: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `compute` outside of a graph, with the inputs cast to the layer's type; under a mixed policy outputs too."""
    form, tensors = taken_apart((args, kwargs))
    device, dtype = tensors[0].device.type, layer._policy.compute_type
    tensors = [typed(tensor, cast_type(layer, tensor, index)) for index, tensor in enumerate(tensors)]
    args, kwargs = put_together(form, tensors)
    if not is_mixed(layer):
        return compute(*args, **kwargs)
    # On `meta`, where a shape is found, the weights have the compute type already.
    with nullcontext() if device == "meta" else torch.autocast(device, dtype):
        outputs = compute(*args, **kwargs)
    if not layer._casts_outputs:
        return outputs
    return mapped(outputs, lambda output: typed(output, dtype) if output.is_floating_point() else output)
