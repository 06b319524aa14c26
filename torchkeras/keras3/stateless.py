"""A call of a layer with given values of its weights, which leaves the layer as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras.engine.layer.added_losses import losses_of_calls
from torchkeras.engine.weights.weight import penalized
from torchkeras.keras3.variable import Variable
from torchkeras.tensor_functions.operations.values import tensor_of


class Calling(nn.Module):
    """A module whose call is one of a layer, with what the layer then has: outputs, values, losses."""

    def __init__(self, layer: Any, others: Sequence[Variable]) -> None:
        super().__init__()
        self.layer = layer
        self.others, self.penalized = others, penalized(layer)  # as they are with the layer's own values

    def forward(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, list[Tensor], list[Tensor]]:
        """Call the layer."""
        outputs = self.layer(*args, **kwargs)
        penalties = [each.regularizer(each.array) for each in self.penalized]
        return outputs, [each.value for each in self.others], [*losses_of_calls(self.layer), *penalties]


def stateless_call(
    layer: Any, trainable: Sequence[Any], others: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """The outputs of a layer with these values of its weights, the values that the others then have, and the losses.

    Raises ValueError before the layer is built, and for another number of values or another shape.
    """
    what = f"{type(layer).__name__} {layer.name!r}: stateless_call"
    if not layer.built:
        raise ValueError(f"{what} needs weights: call the layer, or build(input_shape), before.")
    given: dict[int, Tensor] = {}
    for name, variables, values in (
        ("trainable_variables", layer.trainable_variables, trainable),
        ("non_trainable_variables", layer.non_trainable_variables, others),
    ):
        if len(values) != len(variables):
            raise ValueError(f"{what}: {name} must have {len(variables)} values; found {len(values)}.")
        for variable, value in zip(variables, values, strict=True):
            given.update(_in_torch(what, variable, tensor_of(value)))
    module = Calling(layer, layer.non_trainable_variables)
    tensors = (*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False))
    by_path = {path: given[id(tensor)] for path, tensor in tensors if id(tensor) in given}
    return torch.func.functional_call(module, by_path, (args, kwargs))  # type: ignore[no-any-return]


def _in_torch(what: str, variable: Variable, value: Tensor) -> dict[int, Tensor]:
    """The tensors in torch's layout that make a value, by the `id` of those of the weight."""
    if tuple(value.shape) != variable.shape:
        raise ValueError(f"{what}: {variable.path!r} has the shape {variable.shape}; found {tuple(value.shape)}.")
    tensors, flat = variable.tensors, value.to(variable.tensors[0]).reshape(-1)
    places = [torch.empty(tensor.shape, dtype=torch.int64, device=flat.device) for tensor in tensors]
    with torch.no_grad():  # where in the array each number of a tensor stands: gradients flow through the index
        variable.arrangement.assign(places, torch.arange(len(flat), device=flat.device).reshape(value.shape))
    return {id(tensor): flat[place] for tensor, place in zip(tensors, places, strict=True)}
