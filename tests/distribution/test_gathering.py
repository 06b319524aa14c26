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
from torchkeras.distribution.shared_tensors import is_sharded

pytestmark = pytest.mark.torch("2.8", "weights that processes share")

ROWS = np.random.default_rng(0).normal(size=(12, 5))


class Counted(TorchDispatchMode):
    """How often each operation is called, those of processes among them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.found[func._schema.name] += 1
        if func._schema.name == "c10d::_allgather_base_" and args[0].is_floating_point():
            self.found["weights"] += 1  # not what the processes compare, which are bytes
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
        found.append(counted.found["weights"])
        assert all(map(is_sharded, model.parameters()))
    return tuple(found[1:])  # the first step compares the processes too


@pytest.mark.parametrize(("least", "expected"), [(1000, (1, 1)), (10, (5, 3))])
def test_how_often_a_step_gathers(least: int, expected: tuple[int, int]) -> None:
    """Of three units the last stays whole, with 15 of the 20 values that may; with the one before it there are 43."""
    for found in POOLS.run(gathers, 2, least):
        assert found == expected


def computed(distribute: Any, observed: bool) -> tuple[dict[str, int], list[np.ndarray]]:
    """The activations and losses of a step by the operations that compute them, and the weights afterwards."""
    model = seeded(
        lambda: Sequential([
            layers.Dense(6, activation="relu", input_shape=(5,)), layers.BatchNormalization(),
            layers.Activation("relu"), layers.Dense(3, activation="softmax"),
        ])
    )  # fmt: skip
    model.compile("sgd", "categorical_crossentropy", distribute=distribute)
    if observed:
        model.layers[1].register_forward_hook(lambda *_: None)
    model.train_on_batch(ROWS[:4], np.eye(3)[[0, 1, 2, 1]])
    with Counted() as counted:
        model.train_on_batch(ROWS[4:8], np.eye(3)[[2, 1, 0, 0]])
    return {name: counted.found[f"aten::{name}"] for name in ("relu", "relu_", "_softmax", "_log_softmax")}, (
        model.get_weights()
    )


@pytest.mark.parametrize("observed", [False, True])
def test_a_step_that_keeps_all_weights_computes_as_one_process_does(observed: bool) -> None:
    """By layers that nobody sees, if no hook of the user's looks on."""
    ((operations, alone),) = POOLS.run(computed, 1, None, observed)
    assert bool(operations["relu_"]) != observed
    for found, weights in POOLS.run(computed, 2, "fsdp", observed):
        assert found == operations or observed
        for one, other in zip(weights, alone, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)


class Tripping(layers.Layer):
    """A layer that raises an error at one call."""

    def __init__(self, at: int):
        super().__init__()
        self.calls, self.at = 0, at

    def call(self, inputs: Any) -> Any:
        self.calls += 1
        if self.calls == self.at:
            raise ArithmeticError("stumbled")
        return inputs


class Stumbling:
    """A loss that raises an error at one call."""

    def __init__(self, at: int):
        self.calls, self.at = 0, at

    def __call__(self, true: torch.Tensor, predicted: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.calls == self.at:
            raise ArithmeticError("stumbled")
        return (true - predicted).square().mean(-1)


def broken_off(distribute: Any, stumbles: bool, in_layer: bool) -> list[Any]:
    """What a model gives that was trained, set to other weights, and trained again; with a step broken off between."""

    def build() -> Model:
        model = residual()
        return Model(model.inputs, Tripping(0)(model.outputs[0]))

    model, at = seeded(build), 2 * stumbles
    model.compile(optimizers.Adam(0.01), Stumbling(0 if in_layer else at), distribute=distribute)
    model.layers[-1].calls, model.layers[-1].at = 0, at if in_layer else 0
    model.train_on_batch(ROWS[:4], ROWS[:4, :3])
    if stumbles:
        with pytest.raises(ArithmeticError, match="stumbled"):
            model.train_on_batch(ROWS[4:8], ROWS[4:8, :3])
    model.set_weights([weight * 0.5 for weight in model.get_weights()])
    found = [model.predict(ROWS), model.layers[1](torch.from_numpy(ROWS)).detach().numpy()]
    model.train_on_batch(ROWS[8:], ROWS[8:, :3])
    return [*found, *model.get_weights()]


@pytest.mark.parametrize("in_layer", [False, True])
def test_a_step_that_is_broken_off_leaves_no_old_weights(in_layer: bool) -> None:
    (alone,) = POOLS.run(broken_off, 1, None, False, in_layer)
    for found in POOLS.run(broken_off, 2, "fsdp", True, in_layer):
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
