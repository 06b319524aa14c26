"""Several processes, and models in parts: `fit` and `evaluate` refuse them, and a loop by hand is left alone."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import distribute_tensor

from torchkeras.layers import Dense
from torchkeras.models import Sequential

X, Y = np.ones((4, 3), "float32"), np.ones((4, 2), "float32")
HAND = "Train it by a loop of your own, in which it is an nn.Module like any other"
SEVERAL = (
    "{0}: {1} has 2 processes, and {0} does not synchronize them yet: each would take all of its data for itself, and "
    f"gradients, weights and numbers would be of one process alone. {HAND}, or start one process."
)
METHODS: dict[str, Any] = {
    "fit": lambda model: model.fit(X, Y, verbose=0),
    "evaluate": lambda model: model.evaluate(X, Y, verbose=0),
    "train_on_batch": lambda model: model.train_on_batch(X, Y),
    "test_on_batch": lambda model: model.test_on_batch(X, Y),
}
# Each process prints the error that it gets, and the bias after a step by hand on its own batch.
PROCESS = """
import json, sys
import numpy as np, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torchkeras.layers import Dense
from torchkeras.models import Sequential

rank, store = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
model = Sequential([Dense(2, input_shape=(3,), name="dense")])
model.compile("sgd", "mse")
x, y = np.ones((4, 3), "float32"), np.ones((4, 2), "float32")
told = {}
for name, options in (("fit", {"verbose": 0}), ("evaluate", {"verbose": 0}), ("train_on_batch", {}),
                      ("test_on_batch", {})):
    try:
        getattr(model, name)(x, y, **options)
    except RuntimeError as error:
        told[name] = str(error)
assert model.predict(x).shape == (4, 2)
parallel = DistributedDataParallel(model)
optimizer = torch.optim.SGD(parallel.parameters(), lr=1.0)
(parallel(torch.from_numpy(x)).sum() * (rank + 1)).backward()
optimizer.step()
print(json.dumps([told, model.get_weights()[1].tolist()]))
dist.destroy_process_group()
"""


def made() -> Sequential:
    model = Sequential([Dense(2, input_shape=(3,), name="dense")])
    model.compile("sgd", "mse")
    return model


def refused(text: str) -> Any:
    return pytest.raises(RuntimeError, match=f"^{re.escape(text)}$")


def run_two(store: Path) -> list[Any]:
    """What two processes of one group print."""
    command = [sys.executable, "-c", PROCESS]
    started = [
        subprocess.Popen([*command, str(rank), str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    try:
        ended = [process.communicate(timeout=120) for process in started]
    finally:
        for process in started:
            process.kill()
    for process, (_, errors) in zip(started, ended, strict=True):
        assert process.returncode == 0, errors
    return [json.loads(printed) for printed, _ in ended]


@pytest.fixture
def group(tmp_path: Path) -> Iterator[None]:
    """A process group of this process alone."""
    dist.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_a_group_of_two_processes_is_refused_and_their_own_loop_works(tmp_path: Path):
    group = "the process group of torch.distributed"
    for told, bias in run_two(tmp_path / "store"):
        assert told == {name: SEVERAL.format(name, group) for name in METHODS}
        assert bias == [-6.0, -6.0]  # minus the mean of 4 and 8, which both processes have


@pytest.mark.parametrize("method", METHODS)
def test_a_job_of_torchrun_without_a_group_is_refused(method: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with refused(SEVERAL.format(method, "the job that torchrun started")):
        METHODS[method](made())
    monkeypatch.setenv("WORLD_SIZE", "1")
    METHODS[method](made())


def test_a_number_of_processes_that_torchrun_did_not_set_is_not_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    made().fit(X, Y, verbose=0)


@pytest.mark.usefixtures("group")
def test_a_group_of_one_process_is_fine():
    model = made()
    before = model.get_weights()[0]
    for act in METHODS.values():
        act(model)
    assert not np.array_equal(model.get_weights()[0], before)


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("method", [*METHODS, "predict"])
def test_a_model_in_shards_is_refused(method: str):
    model = made()
    fully_shard(model)
    act = METHODS.get(method, lambda model: model.predict(X))
    text = f"{method}: the model is wrapped for several processes (FSDPSequential), which {method} does not synchronize"
    with refused(f"{text} yet. {HAND}."):
        act(model)


@pytest.mark.usefixtures("group")
def test_a_parameter_that_is_distributed_is_refused():
    model, mesh = made(), init_device_mesh("cpu", (1,))
    layer: Any = model.layers[0]
    name = next(name for name, _ in model.named_parameters())
    holder = model.get_submodule(name.rpartition(".")[0])
    own = name.rpartition(".")[2]
    setattr(holder, own, nn.Parameter(distribute_tensor(getattr(holder, own).detach(), mesh)))
    assert layer.weights
    text = f"fit: the parameter {name!r} is a DTensor, of which each process holds a part, and fit does not train such"
    with refused(f"{text} parameters yet. {HAND}."):
        model.fit(X, Y, verbose=0)


@pytest.mark.usefixtures("group")
def test_a_module_inside_that_synchronizes_is_refused():
    model = made()
    model.add_module("wrapped", nn.parallel.DistributedDataParallel(nn.Linear(3, 2)))
    text = "fit: the module 'wrapped' is wrapped for several processes (DistributedDataParallel), which fit does not"
    with refused(f"{text} synchronize yet. {HAND}."):
        model.fit(X, Y, verbose=0)


@pytest.mark.usefixtures("group")
def test_a_loop_by_hand_trains_a_model_in_shards():
    model = made()
    fully_shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model(torch.from_numpy(X)).sum().backward()
    optimizer.step()
    bias = next(parameter for name, parameter in model.named_parameters() if name.endswith("bias"))
    assert bias.full_tensor().tolist() == [-4.0, -4.0]  # type: ignore[attr-defined]
