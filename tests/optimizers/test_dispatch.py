"""What a step asks of torch: one fused kernel where there is one, no host transfer, no number made a tensor."""

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from torchkeras.optimizers import (
    SGD,
    Adadelta,
    Adafactor,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Ftrl,
    Lamb,
    Lion,
    Muon,
    Nadam,
    RMSprop,
)

# What waits for the device, or makes a tensor of a Python number.
FORBIDDEN = ("_local_scalar_dense", "scalar_tensor", "lift_fresh", "_to_copy", "is_nonzero", "full", "item")


class Recorded(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def dispatched(optimizer: Any, count: int = 6) -> list[str]:
    """The names of the operations of a second step."""
    parameters = [torch.randn(3, 2) for _ in range(count)]
    gradients = [torch.randn(3, 2) for _ in range(count)]
    optimizer.bind(parameters, None)
    optimizer.update(parameters, gradients, 4)
    optimizer.update(parameters, gradients, 4)
    with Recorded() as recorded:
        optimizer.update(parameters, gradients, 4)
    return recorded.names


@pytest.mark.parametrize(
    ("optimizer", "kernel"),
    [
        (SGD(), "_fused_sgd_"),
        (SGD(momentum=0.9), "_fused_sgd_"),
        (Adam(), "_fused_adam_"),
        (Adam(amsgrad=True, decay=0.1), "_fused_adam_"),
        (Adam(weight_decay=0.1), "_fused_adamw_"),
        (AdamW(), "_fused_adamw_"),
        (RMSprop(), "_fused_adam_"),
        (Adagrad(), "_fused_adagrad_"),
    ],
)
def test_a_step_is_one_kernel(optimizer: Any, kernel: str):
    assert dispatched(optimizer) == [kernel]


@pytest.mark.parametrize(
    "make",
    [
        lambda: SGD(clipnorm=1.0, each_clipnorm=1.0, clipvalue=0.5, weight_decay=0.1),
        lambda: Adam(use_ema=True, ema_overwrite_frequency=1, gradient_accumulation_steps=3),
        lambda: RMSprop(momentum=0.5, centered=True),
        lambda: Adagrad(epsilon_inside_root=True),
        Adadelta,
        Adamax,
        Nadam,
        Lion,
        Lamb,
        Muon,
        Adafactor,
        lambda: Ftrl(l1_regularization_strength=0.1, l2_shrinkage_regularization_strength=0.1),
    ],
)
def test_a_step_waits_for_nothing(make: Any):
    names = dispatched(make())
    assert names
    assert not set(names) & set(FORBIDDEN)


@pytest.mark.parametrize("make", [Adadelta, Adamax, Nadam, Lion, Ftrl, lambda: RMSprop(epsilon_inside_root=True)])
def test_operations_are_over_whole_lists(make: Any):
    assert len(dispatched(make(), 2)) == len(dispatched(make(), 9)) <= 16
