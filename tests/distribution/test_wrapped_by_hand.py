"""A model in DistributedDataParallel or FSDP2's `fully_shard`, in a loop by hand, trains as in one process."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from pool import POOLS
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

from torchkeras import clear_session
from torchkeras.layers import Conv2D, Dense, Dropout, Flatten, Input
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


@pytest.mark.parametrize(
    "way", ["ddp", pytest.param("fsdp", marks=pytest.mark.torch("2.10", "`fully_shard` by hand over gloo"))]
)
def test_a_loop_by_hand_gives_the_numbers_of_one_process(way: str):
    expected = trained("alone")
    for found in POOLS(2).run(in_a_process, way):
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other)


def sharded_by_hand(then: str, compiled_before: bool) -> Any:
    """What a method of a model does that `fully_shard` has taken; its text where it is refused."""
    model: Any = network()
    x, y = np.ones((4, 6, 6, 2), "float32"), np.ones((4, 3), "float32")
    expected = model.predict(x)
    if compiled_before:
        model.compile("sgd", "mse")
    fully_shard(model)
    calls = {
        "predict": lambda: np.allclose(model.predict(x), expected),
        "compile": lambda: model.compile("sgd", "mse"),
        "compile as fsdp": lambda: model.compile("sgd", "mse", distribute="fsdp"),
        "fit": lambda: model.fit(x, y, verbose=0),
        "evaluate": lambda: model.evaluate(x, y, verbose=0),
        "train_on_batch": lambda: model.train_on_batch(x, y),
    }
    try:
        return calls[then]()
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("then", ["compile", "compile as fsdp", "fit", "evaluate", "train_on_batch"])
def test_what_trains_refuses_a_model_sharded_by_hand(then: str):
    method = then.partition(" ")[0]
    for found in POOLS(2).run(sharded_by_hand, then, method != "compile"):
        assert found == (
            f"{method}: the model is wrapped for several processes (FSDPModel), and {method} would not see that. Give "
            "the model itself to compile and fit, which wrap it; or train it by a loop of your own."
        )


def test_a_model_sharded_by_hand_predicts():
    assert POOLS(2).run(sharded_by_hand, "predict", False) == [True, True]


def dropped_dtensors() -> list[Any]:
    shared = distribute_tensor(torch.ones(8, 16), init_device_mesh("cpu", (2,)), [Shard(0)])
    outputs: Any = Dropout(0.5)(shared, training=True)
    return [type(outputs) is DTensor, outputs.full_tensor().unique().tolist()]


def test_dropout_of_dtensors():
    assert POOLS(2).run(dropped_dtensors) == [[True, [0.0, 2.0]]] * 2


def dtensors_by_hand() -> str:
    model, mesh = network(), init_device_mesh("cpu", (2,))
    dense = model.layers[-1].linear
    dense.weight = torch.nn.Parameter(distribute_tensor(dense.weight.detach(), mesh, [Shard(0)]))
    try:
        model.compile("sgd", "mse")
    except ValueError as error:
        return str(error)
    return "compiled"


def test_parameters_that_are_dtensors_are_refused():
    for found in POOLS(2).run(dtensors_by_hand):
        assert found == (
            "compile: Model 'model_1' has parameters that are DTensors already. Give the model without to compile, "
            "which shares its weights by distribute='fsdp'; or train it by a loop of your own."
        )
