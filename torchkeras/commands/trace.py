"""The outputs of a model's layers, one by one: compared with a record, or searched for values that are not finite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import torch

from torchkeras.commands.exits import ASKED, CommandError
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import graph_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list
from torchkeras.models import Model

T = TypeVar("T")
PREFIX = "layer:"


def by_layer(
    model: Any, inputs: Any, batch_size: int, record: Mapping[str, np.ndarray], compare: Callable[..., T]
) -> list[T]:
    """Call `compare(name, found, expected)` for the layers whose output is in the record, in the order of computation.

    The record's keys are `layer:<name>`, and `layer:<name>#1`, `#2` for further calls or outputs of a layer. Raises
    CommandError for a key without a layer.
    """
    wanted = {key.removeprefix(PREFIX): array for key, array in record.items() if key.startswith(PREFIX)}
    tensors = {name: tensor for name, tensor in _tensors(model).items() if name in wanted}
    unknown = sorted(wanted.keys() - tensors.keys())
    if unknown:
        raise CommandError(f"The record has {PREFIX}{unknown[0]}, and the model has no such layer.", ASKED)
    if not tensors:
        return []
    model.reset_states()
    found = as_list(Model(model.inputs, list(tensors.values())).predict(inputs, batch_size=batch_size))
    return [compare(name, array, wanted[name]) for name, array in zip(tensors, found, strict=True)]


def _tensors(model: Any) -> dict[str, KerasTensor]:
    """Every tensor of a model's graph by the name of its layer, in the order of computation."""
    found: dict[str, KerasTensor] = {}
    given: dict[Layer, int] = {}
    for node in graph_of(model).nodes:
        for tensor in node.output_tensors if node.input_tensors else ():
            count = given.get(node.layer, 0)
            given[node.layer] = count + 1
            found[f"{node.layer.name}#{count}" if count else node.layer.name] = tensor
    return found


def _is_finite(value: Any) -> bool:
    """Whether a value has neither NaN nor infinities; what is no tensor of floating-point numbers has none."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return True
    return bool(torch.isfinite(value).all())


def first_not_finite(model: Any, inputs: Any, batch_size: int) -> str | None:
    """The first layer, inner ones too, with NaN or infinite outputs; None if the inputs have such values."""
    if not all(np.isfinite(array).all() for array in as_list(inputs)):
        return None
    found: list[str] = []

    def look(layer: Any, _: Any, output: Any) -> None:
        if not found and not all(map(_is_finite, as_list(output))):
            found.append(f"{layer.name} ({type(layer).__name__})")

    layers = [module for module in model.modules() if isinstance(module, Layer) and not isinstance(module, Network)]
    hooks = [layer.register_forward_hook(look) for layer in layers]
    try:
        model.reset_states()
        model.predict(inputs, batch_size=batch_size)
    finally:
        for hook in hooks:
            hook.remove()
    return found[0] if found else None
