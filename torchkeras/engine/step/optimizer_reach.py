"""Whether an optimizer reaches all that should train: what it would pass over is an error, unless somebody froze it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Set
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchkeras.base.function_values import attributes_of
from torchkeras.engine.adapters.tracked import hidden
from torchkeras.engine.layer.layer import Layer


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


def bind(optimizer: Any, variables: list[Any], parameters: list[torch.Tensor]) -> None:
    """Bind an optimizer to weights, of which `parameters` are the tensors."""
    optimizer.bind(
        parameters,
        [variable.arrangement for variable in variables],
        layers=[variable.layer.name for variable in variables],
        names=[variable.name for variable in variables],
    )


def discrepancy(
    weights: Iterable[Any],
    parameters: Iterable[torch.Tensor],
    frozen: Set[int] = frozenset(),
    lent: Set[int] = frozenset(),
) -> str:
    """What is said where other weights would train now than `compile` has collected; the first in Keras's words.

    `frozen`: the ids of those collected that `trainable=False` has frozen since; `lent`: those of which another model's
    `compile` knows it, and which train in this one.
    """
    collected = set(map(id, parameters))
    cases: dict[str, list[str]] = {THAWED: [], FROZEN: [], LENT: []}
    for each in weights:
        ids = set(each.identity)
        if each.trains and not ids <= collected:
            cases[THAWED].append(each.full_name)
        elif ids & frozen:
            cases[LENT if ids & lent else FROZEN].append(each.full_name)
    said = (f" {text} {', '.join(names[:5])}{', ...' * (len(names) > 5)}." for text, names in cases.items() if names)
    return (
        "Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` without "
        f"calling `model.compile` after?{''.join(said)}"
    )


THAWED = "Until then these stay as they are:"
FROZEN = "These are frozen since, and do not train:"
LENT = "These are frozen in a model that was compiled after this one, and train on in this one:"


def warn_of_hooks(model: nn.Module, parameters: Iterable[torch.Tensor]) -> None:
    """Warn of hooks on what trains that the built-in step does not call, since it leaves nothing in `grad`."""
    hooked = {id(each) for each in parameters if each._post_accumulate_grad_hooks}  # type: ignore[attr-defined]
    for name, parameter in model.named_parameters() if hooked else ():
        if id(parameter) in hooked:
            warnings.warn(
                f"The parameter {name!r} has a hook of register_post_accumulate_grad_hook, which this training does "
                "not call: it leaves no gradient in `grad`. Use register_hook, or a train_step with loss.backward().",
                stacklevel=5,
            )
            return


def _hiding(model: nn.Module) -> Iterator[tuple[nn.Module, str, Any]]:
    """The attributes of users' layers that hold modules or parameters where torch does not see them."""
    for layer in model.modules():
        if isinstance(layer, Layer) and layer._is_users:
            for attribute, value in attributes_of(layer).items():
                if not attribute.startswith("_") and next(hidden(value), None) is not None:
                    yield layer, attribute, value


def _of_losses(losses: Iterable[Any]) -> Iterator[tuple[nn.Module, str, nn.Parameter]]:
    for loss in losses:
        if isinstance(loss, nn.Module):
            yield from ((loss, name, parameter) for name, parameter in loss.named_parameters())
