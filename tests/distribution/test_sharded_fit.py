"""`fit`, `evaluate` and `predict` of models whose weights processes share: all is as in one process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from pool import POOLS
from sharded_models import MODELS
from sharded_runs import data_for, residual, seeded
from torch.distributed.device_mesh import init_device_mesh

from torchkeras import Input, Model, Sequential, callbacks, config, layers, optimizers
from torchkeras.distribution.sharding import shard, shared_mesh

pytestmark = pytest.mark.torch("2.8", "weights that processes share")

KINDS = {**MODELS, "residual": residual}


def fitted(kind: str, distribute: Any) -> dict[str, Any]:
    model = seeded(KINDS[kind])
    inputs, targets = data_for(model, 23)
    x, y = ([each.numpy() for each in tensors] for tensors in (inputs, targets))
    if distribute == "auto":  # in units of a few weights
        shard(model, init_device_mesh("cpu", (dist.get_world_size(),)), 10)
    optimizer = optimizers.Adam(0.01, clipnorm=1.0)
    model.compile(optimizer, "categorical_crossentropy", metrics=["mse"], distribute=distribute)
    history = model.fit(x, y, batch_size=4, epochs=2, validation_split=0.2, verbose=0).history
    return {
        "shared": shared_mesh(model) is not None,
        "numbers": [*history.values(), model.evaluate(x, y, batch_size=5, verbose=0)],
        "arrays": [*np.atleast_1d(model.predict(x, batch_size=5)), *model.get_weights()]
        if len(y) == 1
        else [*model.predict(x, batch_size=5), *model.get_weights()],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_fit_is_that_of_one_process(kind: str) -> None:
    check_fit(kind, 2, "auto")


@pytest.mark.parametrize("kind", ["residual", "nested"])
def test_fit_with_parts_that_are_uneven(kind: str) -> None:
    check_fit(kind, 3, "fsdp")


def check_fit(kind: str, processes: int, distribute: str) -> None:
    (alone,) = POOLS.run(fitted, 1, kind, None)
    for found in POOLS.run(fitted, processes, kind, distribute):
        assert (found["shared"], alone["shared"]) == (True, False)
        for what in ("numbers", "arrays"):
            for one, other in zip(found[what], alone[what], strict=True):
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)


def mixed(distribute: Any) -> list[np.ndarray]:
    torch.manual_seed(0)
    config.set_dtype_policy("mixed_bfloat16")
    model = Sequential([layers.Dense(8, activation="relu", input_shape=(4,)), layers.LayerNormalization()])
    model.add(layers.Dense(3, dtype="float32"))
    config.set_dtype_policy("float32")
    if distribute is not None:
        shard(model, init_device_mesh("cpu", (dist.get_world_size(),)), 10)
    model.compile(optimizers.SGD(0.1), "mse", distribute=distribute)
    rows = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
    model.fit(rows, rows[:, :3], batch_size=4, epochs=1, shuffle=False, verbose=0)
    return model.get_weights()


def assert_trained_as_alone(train: Callable[[Any], list[np.ndarray]], distribute: str, limit: float) -> None:
    """The weights that two processes come to are those of one."""
    (alone,) = POOLS.run(train, 1, None)
    for weights in POOLS.run(train, 2, distribute):
        for ours, theirs in zip(weights, alone, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=limit)


def test_a_mixed_policy_gives_the_numbers_of_one_process() -> None:
    # Gradients of half the rows are rounded to 8 bits before they are summed.
    assert_trained_as_alone(mixed, "auto", 2e-3)


class OwnStep(Model):
    """Minimizes its loss by a step of its own, and with `by_hand` as in torch."""

    by_hand = False

    def train_step(self, data: Any) -> Any:
        x, y = data[:2]
        loss = (self(x) - y).square().mean()
        if self.by_hand:
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        else:
            self.minimize(loss)
        return {"loss": loss.detach()}


def own_step(by_hand: bool = False) -> OwnStep:
    inputs = Input((4,))
    model = OwnStep(inputs, layers.Dense(2)(layers.Dense(3, activation="tanh")(inputs)))
    model.by_hand = by_hand
    return model


def by_own_step(distribute: Any) -> list[np.ndarray]:
    model = seeded(own_step)
    model.compile("sgd", distribute=distribute)
    rows = np.random.default_rng(0).normal(size=(7, 4))
    model.fit(rows, rows[:, :2], batch_size=4, epochs=2, verbose=0)
    return model.get_weights()


def test_a_step_of_the_users_own_that_minimizes() -> None:
    assert_trained_as_alone(by_own_step, "fsdp", 1e-10)


class TwoPlaces(layers.Layer):
    def build(self, input_shape: Any) -> None:
        self.weight = self.add_weight("weight", (2,))
        self.again = [self.weight]

    def call(self, inputs: Any) -> Any:
        return inputs * self.again[0]


def refused() -> list[str]:
    mesh, told = init_device_mesh("cpu", (dist.get_world_size(),)), []
    own = seeded(partial(own_step, by_hand=True))
    own.compile("sgd", distribute="fsdp")
    alone = seeded(own_step)
    twice = Sequential([layers.Dense(2, input_shape=(2,)), TwoPlaces(name="twice")])
    for attempt in (
        lambda: own.train_on_batch(np.zeros((2, 4)), np.zeros((2, 2))),
        lambda: alone.compile(distribute="fsdp"),
        lambda: shard(twice, mesh),
        lambda: own.export("model.pt2"),
        lambda: own.compile("sgd", distribute=None),
        lambda: shard(Sequential([layers.Dense(2)], name="unbuilt"), mesh),
    ):
        with pytest.raises((ValueError, RuntimeError)) as error:
            attempt()
        told.append(str(error.value))
    return told


OWN_STEP = (
    "A train_step that calls loss.backward() and optimizer.step() does not train weights that processes share: call "
    "self.minimize(loss), which does both."
)
OWN_OPTIMIZER = (
    "A train_step with an optimizer of its own does not train weights that processes share: give compile the "
    "optimizer, and call self.minimize(loss)."
)
SHARED = "processes share the weights of the model. Save it, and do this in one process with what load_model gives."
TWICE = (
    "TwoPlaces 'twice' keeps a weight in 'again' too, where it would not be gathered when processes share it: keep "
    "each weight in one attribute, not in a list."
)


def test_what_cannot_be_shared_is_refused() -> None:
    for told in POOLS.run(refused, 2):
        assert told == [
            OWN_STEP,
            OWN_OPTIMIZER,
            TWICE,
            f"export: {SHARED}",
            f"compile without other processes: {SHARED}",
            "Sequential 'unbuilt' has no weights to share yet: call it on data, or build(input_shape).",
        ]


def in_a_mesh_of_two_axes(processes: int) -> list[np.ndarray]:
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("copies", "rows")) if processes > 1 else None
    model = seeded(KINDS["attending"])
    inputs, targets = data_for(model, 23)
    if mesh is not None:
        shard(model, mesh, 10)
    model.compile(optimizers.Lamb(0.01, clipnorm=1.0), "categorical_crossentropy", distribute=mesh)
    model.fit(inputs, targets, batch_size=7, epochs=1, verbose=0)
    return model.get_weights()


@pytest.mark.slow
def test_rows_along_one_axis_of_a_mesh_and_copies_along_the_other() -> None:
    (alone,) = POOLS.run(in_a_mesh_of_two_axes, 1, 1)
    for weights in POOLS.run(in_a_mesh_of_two_axes, 4, 4):
        for ours, theirs in zip(weights, alone, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)


def saved_on_the_way(folder: Path) -> list[np.ndarray]:
    model = seeded(residual)
    inputs, targets = data_for(model, 12)
    model.compile(optimizers.Adam(0.01), "categorical_crossentropy", distribute="fsdp", on_nonfinite="skip")
    saving = callbacks.ModelCheckpoint(str(folder / "model.h5"))
    stopping = callbacks.EarlyStopping("loss", restore_best_weights=True)
    model.fit(inputs[0], targets[0], batch_size=4, epochs=3, verbose=0, callbacks=[saving, stopping])
    return model.get_weights()


def test_callbacks_write_and_restore_whole_weights(tmp_path: Path) -> None:
    found = POOLS.run(saved_on_the_way, 2, tmp_path)
    again = seeded(residual)
    again.load_weights(tmp_path / "model.h5")
    for weights in found:
        for ours, theirs in zip(weights, again.get_weights(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
