"""Whether an optimizer reaches all that should train: what it would pass over is an error, unless somebody froze it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.tracked import hidden


def check_reach(model: Any, parameters: Iterable[torch.Tensor], losses: Iterable[Any]) -> None:
    """Raise ValueError for a parameter that would not train though nobody froze it; `losses`: those of `compile`."""
    what = f"{type(model).__name__} {model.name!r}"
    for layer, attribute, value in _hiding(model):
        raise ValueError(
            f"compile: {what} does not see what {type(layer).__name__} keeps in {attribute!r}, a "
            f"{type(value).__name__}: keep modules and parameters in attributes, or in a plain list, tuple or dict."
        )
    reached = set(map(id, parameters))
    for name, parameter in model.named_parameters():
        if is_lazy(parameter):
            raise ValueError(
                f"compile: the parameter {name!r} of {what} has no shape yet: call the model on data, or "
                "build(input_shape), before compile."
            )
        if parameter.requires_grad and id(parameter) not in reached:
            raise ValueError(
                f"compile: the optimizer would not reach the parameter {name!r} of {what}: freeze it by "
                "requires_grad_(False) if it is not to train."
            )
    for loss, name, parameter in _of_losses(losses):
        if parameter.requires_grad and id(parameter) not in reached:
            raise ValueError(
                f"compile: the loss {type(loss).__name__} has a parameter {name!r} of its own, which the optimizer of "
                f"{what} would not reach: make it a part of the model, or freeze it by requires_grad_(False)."
            )


def _hiding(model: nn.Module) -> Iterator[tuple[nn.Module, str, Any]]:
    """The attributes of users' layers that hold modules or parameters where torch does not see them."""
    for layer in model.modules():
        if isinstance(layer, Layer) and layer._is_users:
            for attribute, value in vars(layer).items():
                if not attribute.startswith("_") and next(hidden(value), None) is not None:
                    yield layer, attribute, value


def _of_losses(losses: Iterable[Any]) -> Iterator[tuple[nn.Module, str, nn.Parameter]]:
    for loss in losses:
        if isinstance(loss, nn.Module):
            yield from ((loss, name, parameter) for name, parameter in loss.named_parameters())
