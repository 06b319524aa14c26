"""Whether an optimizer gets all parameters that should train: one that it would miss is an error, unless frozen."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Set
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchkeras.base.function_values import attributes_of
from torchkeras.engine.adapters.tracked import hidden
from torchkeras.engine.layer.layer import Layer


def check_reach(model: Any, parameters: Iterable[torch.Tensor], losses: Iterable[Any]) -> None:
    """Raise ValueError for a parameter that would not train although it is not frozen; `losses`: those of `compile`."""
    what = f"{type(model).__name__} {model.name!r}"
    _check_hidden(model, what)
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
    for loss in losses:
        for name, parameter in loss.named_parameters() if isinstance(loss, nn.Module) else ():
            if parameter.requires_grad and id(parameter) not in reached:
                raise ValueError(
                    f"compile: the loss {type(loss).__name__} has a parameter {name!r} of its own, which the optimizer "
                    f"of {what} would not reach: make it a part of the model, or freeze it by requires_grad_(False)."
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
    """The warning that other weights would train now than `compile` has collected; it starts with Keras's words.

    `frozen`: the ids of collected parameters that `trainable=False` has frozen since; `lent`: the ids of those that are
    frozen for another model's `compile`, and train in this one.
    """
    collected = set(map(id, parameters))
    cases: dict[str, list[str]] = {THAWED: [], FROZEN: [], LENT: []}
    for each in weights:
        ids = set(each.identity)
        if each.trains and not ids <= collected:
            cases[THAWED].append(each.full_name)
        elif ids & frozen:
            cases[LENT if ids & lent else FROZEN].append(each.full_name)
    text = (
        "Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` without "
        "calling `model.compile` after?"
    )
    for case, names in cases.items():
        if names:
            shown = names if len(names) <= 5 else [*names[:5], "..."]
            text += f" {case} {', '.join(shown)}."
    return text


THAWED = "Until then these stay as they are:"
FROZEN = "These are frozen since, and do not train:"
LENT = "These are frozen in a model that was compiled after this one, and train on in this one:"


def warn_of_hooks(model: nn.Module, parameters: Iterable[torch.Tensor]) -> None:
    """Warn of hooks on parameters that the built-in step does not call, since it leaves nothing in `grad`."""
    hooked = {id(each) for each in parameters if each._post_accumulate_grad_hooks}  # type: ignore[attr-defined]
    if not hooked:
        return
    for name, parameter in model.named_parameters():
        if id(parameter) in hooked:
            warnings.warn(
                f"The parameter {name!r} has a hook of register_post_accumulate_grad_hook, which this training does "
                "not call: it leaves no gradient in `grad`. Use register_hook, or a train_step with loss.backward().",
                stacklevel=5,
            )
            return


def _check_hidden(model: nn.Module, what: str) -> None:
    """Raise ValueError for an attribute of a user's layer with modules or parameters that torch does not find."""
    for layer in model.modules():
        if isinstance(layer, Layer) and layer._is_users:
            for attribute, value in attributes_of(layer).items():
                if not attribute.startswith("_") and next(hidden(value), None) is not None:
                    raise ValueError(
                        f"compile: {what} does not see what {type(layer).__name__} keeps in {attribute!r}, a "
                        f"{type(value).__name__}: keep modules and parameters in attributes, or in a plain list, "
                        "tuple or dict."
                    )
