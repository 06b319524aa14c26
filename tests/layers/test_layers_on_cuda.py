"""Every layer on a CUDA device: the numbers of the CPU, forward and backward, and no wait for the device."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from table import ROWS, STRINGS, Row

from torchkeras import config
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import as_list

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("float32_as_it_is")]

NUMBERS = [row for row in ROWS if row.differs != STRINGS]
# Cells are called with their states.
CALLED = [row for row in NUMBERS if "cell" not in str(row.differs.get("shapes", ""))]
every = pytest.mark.parametrize("row", CALLED, ids=[f"{row.call}-{row.inputs}" for row in CALLED])


@pytest.fixture
def waits_refused() -> Iterator[Any]:
    """Called, it has everything that waits for the device raise an error until the test ends."""
    yield lambda: torch.cuda.set_sync_debug_mode("error")
    torch.cuda.set_sync_debug_mode("default")


def made_on(device: str, row: Row) -> tuple[Layer, Any]:
    """The layer, its weights made on a device, and its inputs there."""
    config.set_device(device)
    layer = row.make().eval()
    tensors = row.tensors()
    there = [t.to(device) for t in tensors] if isinstance(tensors, list) else tensors.to(device)
    layer(there)
    return layer, there


def numbers(layer: Layer, given: Any) -> list[torch.Tensor]:
    """The outputs, and the gradients of all floating-point inputs and weights."""
    given = [t.clone().requires_grad_(t.is_floating_point()) for t in as_list(given)]
    outputs = as_list(layer(given if len(given) > 1 else given[0]))
    sources = [t for t in (*given, *layer.parameters()) if t.requires_grad]
    total = sum((output * torch.linspace(0.5, 1.5, output.numel(), device=output.device).view_as(output)).sum()
                for output in outputs)  # fmt: skip
    gradients: Any = ()
    if isinstance(total, torch.Tensor) and total.requires_grad:
        gradients = torch.autograd.grad(total, sources, allow_unused=True)
    return [value.detach() for value in (*outputs, *gradients) if value is not None]


def assert_same(found: list[torch.Tensor], expected: list[torch.Tensor]) -> None:
    for mine, other in zip(found, expected, strict=True):
        assert mine.is_cuda
        torch.testing.assert_close(mine.cpu(), other, rtol=1e-4, atol=1e-5)


@every
def test_a_layer_made_there_gives_the_numbers_of_the_cpu(row: Row):
    layer, tensors = made_on("cpu", row)
    there, moved = made_on("cuda", row)
    assert all(value.is_cuda for value in (*there.parameters(), *there.buffers()))
    there.set_weights(layer.get_weights())
    assert_same(numbers(there, moved), numbers(layer, tensors))


@every
def test_a_layer_moved_there_gives_the_numbers_of_the_cpu(row: Row):
    layer, tensors = made_on("cpu", row)
    expected = numbers(layer, tensors)
    moved = [t.cuda() for t in tensors] if isinstance(tensors, list) else tensors.cuda()
    assert_same(numbers(layer.cuda(), moved), expected)


@every
@pytest.mark.parametrize("training", [True, False])
def test_no_call_waits(row: Row, training: bool, waits_refused: Any):
    layer, tensors = made_on("cuda", row)
    layer.train(training)
    numbers(layer, tensors)
    waits_refused()
    found = numbers(layer, tensors)
    assert all(value.is_cuda for value in found)
