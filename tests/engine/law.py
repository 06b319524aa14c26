"""The one law: what torch sees in a model, and what Keras sees, is the same."""

from __future__ import annotations

from typing import Any

import torch

from torchkeras.models import Model


def saved_buffers(model: torch.nn.Module) -> list[torch.Tensor]:
    """The buffers that a `state_dict` has."""
    return [
        buffer
        for module in model.modules()
        for name, buffer in module._buffers.items()
        if buffer is not None and name not in module._non_persistent_buffers_set
    ]


def ids(tensors: Any) -> set[int]:
    return {id(tensor) for tensor in tensors}


def assert_law(model: Model) -> None:
    """Parameters and saved buffers are what `weights` covers, and what `summary` and `count_params` count."""
    variables = model.weights
    covered = [tensor for variable in variables for tensor in variable.covered]
    assert ids(covered) == ids([*model.parameters(), *saved_buffers(model)])
    assert ids(covered) == ids(model.state_dict(keep_vars=True).values())
    training = ids(tensor for variable in model.trainable_weights for tensor in variable.tensors)
    assert training == ids(parameter for parameter in model.parameters() if parameter.requires_grad)
    counted = sum(tensor.numel() for variable in variables for tensor in variable.tensors)
    lines: list[str] = []
    model.summary(print_fn=lines.append)
    assert f"Total params: {counted:,}" in lines
    assert model.count_params() == counted
