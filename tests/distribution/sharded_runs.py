"""Small models and runs of a few steps, in one process or sharded, which tests of sharding compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from torchkeras import Input, Model, clear_session, config, layers, optimizers
from torchkeras.data.batch import Batch
from torchkeras.data.part import bounds
from torchkeras.distribution.sharding import shard
from torchkeras.distribution.shared_batch import SharedBatch
from torchkeras.engine.graph.layer_calls import HookFreeCalls
from torchkeras.engine.step import step
from torchkeras.world.one_process import CURRENT, WHOLE

Built = Callable[[], Model]


def seeded(build: Built) -> Model:
    """A model in float64, the same in every process, names too."""
    torch.manual_seed(0)
    clear_session()
    before = config.floatx()
    config.set_floatx("float64")
    try:
        return build()
    finally:
        config.set_floatx(before)


def residual() -> Model:
    inputs = Input((5,))
    x = layers.Dense(7, activation="relu")(inputs)
    x = layers.Add()([x, layers.Dense(7)(x)])
    x = layers.Dense(9, activation="tanh", kernel_regularizer="l2", kernel_constraint="max_norm")(x)
    return Model(inputs, layers.Dense(3, activation="softmax")(x))


def data_for(model: Model, samples: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Inputs and one-hot targets."""
    generator = torch.Generator().manual_seed(1)
    inputs = []
    for each in model.inputs:
        shape = (samples, *each.shape[1:])
        if each.dtype.is_floating_point:
            inputs.append(torch.randn(shape, generator=generator, dtype=torch.float64))
        else:
            inputs.append(torch.randint(0, 11, shape, generator=generator))
    targets = []
    for each in model.outputs:
        classes = torch.randint(0, each.shape[-1], (samples, *each.shape[1:-1]), generator=generator)
        targets.append(torch.nn.functional.one_hot(classes, each.shape[-1]).double())
    return inputs, targets


def trained(model: Model, optimizer: Any, sizes: Sequence[int] = (8, 8, 8, 5)) -> Model:
    """The model after a step on each of some batches, of which each process has its slice."""
    together = dist.is_initialized()
    rank, processes = (dist.get_rank(), dist.get_world_size()) if together else (0, 1)
    model.compile(optimizer, "categorical_crossentropy")
    compiled = model._training.ready()
    compiled.calls = HookFreeCalls(compiled.network)
    model.train()
    inputs, targets = data_for(model, sum(sizes))
    begin = 0
    for size in sizes:
        first, last = (begin + bound for bound in bounds(size, rank, processes))
        part = slice(first, last) if last > first else slice(begin, begin + 1)
        weights: list[Any] = [None] * len(targets)
        inputs_here, targets_here = [each[part] for each in inputs], [each[part] for each in targets]
        batch = Batch(inputs_here, targets_here, weights, last - first, others=size - (last - first))
        shared = SharedBatch(last - first, size) if together else WHOLE
        with CURRENT.on(shared):
            step.train_step(compiled, batch)
        begin += size
    return model


def sharded(build: Built, least: int = 10) -> Model:
    """A model whose weights the processes of the group share."""
    model = seeded(build)
    shard(model, init_device_mesh("cpu", (dist.get_world_size(),)), least)
    return model


def found_in(model: Model) -> list[np.ndarray]:
    """The weights, and the state of an optimizer of Keras."""
    optimizer = model.optimizer
    if not isinstance(optimizer, optimizers.Optimizer):
        return model.get_weights()
    return [*model.get_weights(), *optimizer.get_weights(), *optimizer.get_averages(), *optimizer.get_accumulated()]


def run_sharded(build: Built, optimizer: Callable[[], Any]) -> list[np.ndarray]:
    """What a sharded model and its optimizer are after some steps."""
    return found_in(trained(sharded(build), optimizer()))
