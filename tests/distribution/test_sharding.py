"""Models whose weights several processes share: the numbers are those of one process."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from pool import POOLS
from sharded_models import MODELS
from sharded_runs import found_in, residual, run_sharded, seeded, trained
from torch.distributed.device_mesh import DeviceMesh

from torchkeras import optimizers
from torchkeras.distribution import of_torch
from torchkeras.distribution.sharding import mesh_of

pytestmark = pytest.mark.torch("2.8", "weights that processes share")

OPTIMIZERS: dict[str, Any] = {
    "sgd": partial(optimizers.SGD, 0.1),
    "nesterov, clipped": partial(optimizers.SGD, 0.1, momentum=0.9, nesterov=True, clipnorm=0.1, weight_decay=0.01),
    "adam": partial(optimizers.Adam, 0.01),
    "adam, averages, each clipped": partial(
        optimizers.Adam, 0.01, each_clipnorm=0.02, clipvalue=0.01, use_ema=True, ema_overwrite_frequency=3
    ),
    "adam, accumulated": partial(optimizers.Adam, 0.01, clipnorm=0.1, gradient_accumulation_steps=3),
    "adamw": partial(optimizers.AdamW, 0.01, no_weight_decay=("bias",)),
    "amsgrad": partial(optimizers.Adam, 0.01, amsgrad=True, lr_multipliers={"dense": 0.5}),
    "adamax": optimizers.Adamax,
    "nadam": optimizers.Nadam,
    "lamb": partial(optimizers.Lamb, 0.01),
    "schedule free": partial(optimizers.ScheduleFreeAdamW, 0.01),
    "lion": optimizers.Lion,
    "rmsprop": partial(optimizers.RMSprop, 0.01, momentum=0.5, centered=True),
    "adagrad": optimizers.Adagrad,
    "adadelta": optimizers.Adadelta,
    "ftrl": optimizers.Ftrl,
    "adafactor": partial(optimizers.Adafactor, 0.01),
    "muon": partial(optimizers.Muon, 0.01),
    "torch adamw, clipped": partial(optimizers.get, (torch.optim.AdamW, {"lr": 0.01, "clipnorm": 0.1})),
    "torch adam, accumulated": partial(
        optimizers.get, (torch.optim.Adam, {"lr": 0.01, "clipnorm": 0.1, "gradient_accumulation_steps": 3})
    ),
    "torch sgd": partial(optimizers.get, (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "each_clipnorm": 0.1})),
}


def named() -> Any:
    model = residual()
    model.layers[1].name = "dense"
    return model


def check(processes: int, build: Any, make: Any) -> None:
    alone = found_in(trained(seeded(build), make()))
    for found in POOLS.run(run_sharded, processes, build, make):
        for ours, theirs in zip(found, alone, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)


NORMS = pytest.param("torch sgd", marks=pytest.mark.torch("2.10", "norms of DTensors"))


@pytest.mark.parametrize("name", [name if name != "torch sgd" else NORMS for name in OPTIMIZERS])
def test_every_optimizer_gives_the_numbers_of_one_process(name: str) -> None:
    check(2, named, OPTIMIZERS[name])


@pytest.mark.parametrize("name", ["nesterov, clipped", "adam, averages, each clipped", "lamb", "adafactor", "muon"])
def test_optimizers_by_whole_weights_in_uneven_parts(name: str) -> None:
    check(3, named, OPTIMIZERS[name])


SGD = partial(optimizers.SGD, 0.1, momentum=0.5, clipnorm=1.0)


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_gives_the_numbers_of_one_process(name: str) -> None:
    check(2, MODELS[name], SGD)


@pytest.mark.parametrize("name", ["masked", "nested", "attending"])
def test_weights_of_fewer_rows_than_processes(name: str) -> None:
    check(3, MODELS[name], SGD)


def test_all_optimizers_are_tested() -> None:
    tested = {type(make()) for make in OPTIMIZERS.values()}
    known = [getattr(optimizers, name) for name in dir(optimizers)]
    classes = {each for each in known if isinstance(each, type) and issubclass(each, optimizers.Optimizer)}
    assert classes - tested == {optimizers.Optimizer}


@pytest.mark.parametrize("setting", ["fsdp", "a mesh"])
def test_a_torch_that_cannot_share_weights_is_named(setting: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(of_torch, "SHARES", False)
    given = setting if setting == "fsdp" else object.__new__(DeviceMesh)
    monkeypatch.setattr(DeviceMesh, "__repr__", lambda _: "DeviceMesh(2)")
    told = r"compile: distribute=('fsdp'|DeviceMesh\(2\)) shares the weights .* needs torch 2\.8 or newer; found "
    with pytest.raises(RuntimeError, match=told):
        mesh_of(given, torch.device("cpu"))
