"""When shared weights are gathered: once for a step of a small model; and never are there old ones afterwards."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from pool import POOLS
from sharded_runs import residual, seeded
from torch.distributed.device_mesh import init_device_mesh
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from torchkeras import Input, Model, Sequential, layers, optimizers
from torchkeras.distribution.sharding import shard
from torchkeras.shards import is_sharded

ROWS = np.random.default_rng(0).normal(size=(12, 5))


class Counted(TorchDispatchMode):
    """How often each operation of processes is called."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "c10d":
            self.found[func._schema.name] += 1
        return func(*args, **kwargs or {})


def gathers(least: int) -> tuple[int, int]:
    """Of a training step and of an evaluation."""
    model = seeded(lambda: Sequential([layers.Dense(6, input_shape=(5,)), layers.Dense(4), layers.Dense(3)]))
    shard(model, init_device_mesh("cpu", (dist.get_world_size(),)), least)
    model.compile("sgd", "mse", distribute="fsdp")
    found = []
    for call in (model.train_on_batch, model.train_on_batch, model.test_on_batch):
        with Counted() as counted:
            call(ROWS[:4], ROWS[:4, :3])
        found.append(counted.found["c10d::_allgather_base_"])
        assert all(map(is_sharded, model.parameters()))
    return tuple(found[1:])  # the first step compares the processes too


@pytest.mark.parametrize(("least", "expected"), [(1000, (1, 1)), (10, (5, 3))])
def test_how_often_a_step_gathers(least: int, expected: tuple[int, int]) -> None:
    """Of three units the last stays whole, with 15 of the 20 values that may; with the one before it there are 43."""
    for found in POOLS.run(gathers, 2, least):
        assert found == expected


class Stumbling:
    """A loss that raises an error at one call."""

    def __init__(self, at: int):
        self.calls, self.at = 0, at

    def __call__(self, true: torch.Tensor, predicted: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.calls == self.at:
            raise ArithmeticError("stumbled")
        return (true - predicted).square().mean(-1)


def broken_off(distribute: Any, stumbles: bool) -> list[Any]:
    """What a model gives that was trained, set to other weights, and trained again; with a step broken off between."""
    model = seeded(residual)
    model.compile(optimizers.Adam(0.01), Stumbling(2 if stumbles else 0), distribute=distribute)
    model.train_on_batch(ROWS[:4], ROWS[:4, :3])
    if stumbles:
        with pytest.raises(ArithmeticError, match="stumbled"):
            model.train_on_batch(ROWS[4:8], ROWS[4:8, :3])
    model.set_weights([weight * 0.5 for weight in model.get_weights()])
    found = [model.predict(ROWS), model.layers[1](torch.from_numpy(ROWS)).detach().numpy()]
    model.train_on_batch(ROWS[8:], ROWS[8:, :3])
    return [*found, *model.get_weights()]


def test_a_step_that_is_broken_off_leaves_no_old_weights() -> None:
    (alone,) = POOLS.run(broken_off, 1, None, False)
    for found in POOLS.run(broken_off, 2, "fsdp", True):
        for one, other in zip(found, alone, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)


class Recomputed(layers.Dense):
    """Its outputs are not kept for the backward pass, but computed once more."""

    def call(self, inputs: Any) -> Any:
        return checkpoint(super().call, inputs, use_reentrant=False)


def recomputed(distribute: Any) -> list[np.ndarray]:
    def build() -> Model:
        inputs = Input((5,))
        return Model(inputs, layers.Dense(3)(Recomputed(6, activation="tanh")(inputs)))

    model = seeded(build)
    model.compile(optimizers.Adam(0.01), "mse", distribute=distribute)
    model.fit(ROWS, ROWS[:, :3], batch_size=4, epochs=2, verbose=0)
    return model.get_weights()


def test_a_layer_that_computes_once_more_in_the_backward_pass() -> None:
    (alone,) = POOLS.run(recomputed, 1, None)
    for found in POOLS.run(recomputed, 2, "fsdp"):
        for one, other in zip(found, alone, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)
