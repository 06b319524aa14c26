"""Models whose weights several processes share: the numbers are those of one process."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from pool import POOLS
from sharded_models import MODELS
from sharded_runs import all_sharded, found_in, residual, seeded, trained

from torchkeras import optimizers

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


UNEVEN = ("masked", "nested", "attending")  # have weights of fewer rows than processes, or of none
OF_WHOLE_WEIGHTS = ("nesterov, clipped", "adam, averages, each clipped", "lamb", "adafactor", "muon")


def named() -> Any:
    model = residual()
    model.layers[1].name = "dense"
    return model


@pytest.mark.parametrize("processes", [2, 3])
def test_every_optimizer_gives_the_numbers_of_one_process(processes: int) -> None:
    taken = {name: make for name, make in OPTIMIZERS.items() if processes == 2 or name in OF_WHOLE_WEIGHTS}
    found = POOLS.run(all_sharded, processes, {name: (named, make) for name, make in taken.items()})
    for name, make in taken.items():
        alone = found_in(trained(seeded(named), make()))
        for results in found:
            assert len(results[name]) == len(alone)
            for ours, theirs in zip(results[name], alone, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("processes", [2, 3])
def test_every_kind_of_model_gives_the_numbers_of_one_process(processes: int) -> None:
    make = partial(optimizers.SGD, 0.1, momentum=0.5, clipnorm=1.0)
    taken = {name: build for name, build in MODELS.items() if processes == 2 or name in UNEVEN}
    found = POOLS.run(all_sharded, processes, {name: (build, make) for name, build in taken.items()})
    for name, build in taken.items():
        alone = found_in(trained(seeded(build), make()))
        for results in found:
            for ours, theirs in zip(results[name], alone, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10, err_msg=name)


def test_all_optimizers_are_tested() -> None:
    tested = {type(make()) for make in OPTIMIZERS.values()}
    known = [getattr(optimizers, name) for name in dir(optimizers)]
    classes = {each for each in known if isinstance(each, type) and issubclass(each, optimizers.Optimizer)}
    assert classes - tested == {optimizers.Optimizer}
