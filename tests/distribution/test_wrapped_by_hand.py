"""A model in DistributedDataParallel or FSDP2's `fully_shard`, in a loop by hand, trains as in one process."""

from typing import Any

import pytest
import torch
import torch.distributed as dist
from pool import POOLS
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from torchkeras import clear_session
from torchkeras.layers import Conv2D, Dense, Flatten, Input
from torchkeras.models import Model

STEPS = 3


def network() -> Model:
    clear_session()
    torch.manual_seed(0)
    images = Input((6, 6, 2))
    return Model(images, Dense(3)(Flatten()(Conv2D(4, 1)(Conv2D(4, 3, activation="relu")(images)))))


def trained(way: str, rank: int = 0, processes: int = 1) -> list[torch.Tensor]:
    """The parameters after some steps of SGD, each process with its share of the samples."""
    model: Any = network()
    if way == "fsdp":
        fully_shard(model)
    called = DistributedDataParallel(model) if way == "ddp" else model
    optimizer = torch.optim.SGD(called.parameters(), 0.1)
    x = torch.randn(8, 6, 6, 2, generator=torch.Generator().manual_seed(1)).chunk(processes)[rank]
    for _ in range(STEPS):
        optimizer.zero_grad()
        called(x).square().mean().backward()
        optimizer.step()
    found = (each.full_tensor() if isinstance(each, DTensor) else each for each in model.parameters())
    return [each.detach() for each in found]


def in_a_process(way: str) -> list[torch.Tensor]:
    return trained(way, dist.get_rank(), dist.get_world_size())


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_a_loop_by_hand_gives_the_numbers_of_one_process(way: str):
    expected = trained("alone")
    for found in POOLS(2).run(in_a_process, way):
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other)
