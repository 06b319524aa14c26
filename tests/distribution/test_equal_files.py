"""Files that two processes write have the bytes of those that one writes."""

import os
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from pool import Pools

from torchkeras import clear_session, config
from torchkeras.distribution.shared_tensors import is_sharded
from torchkeras.layers import Dense
from torchkeras.models import Sequential
from torchkeras.optimizers import SGD

FILES = ("model.h5", "model.keras", "model.safetensors", "model.pt")
WEIGHTS = ("weights.h5", "by_paths.weights.h5", "weights.safetensors", "weights.pt")


def exact(distribute: Any) -> Sequential:
    """A model that has trained. All numbers are sums of few powers of 2, so no process rounds any."""
    clear_session()
    before = config.floatx()
    config.set_floatx("float64")
    try:
        model = Sequential([Dense(4, "relu", input_shape=(3,)), Dense(2)])
    finally:
        config.set_floatx(before)
    start = [(np.arange(each.size) % 5 - 2).reshape(each.shape) / 2 for each in model.get_weights()]
    model.set_weights(start)
    model.compile(SGD(0.25, momentum=0.5), "mse", metrics=["mae"], distribute=distribute)
    x = (np.arange(24).reshape(8, 3) * 7 % 11 - 5) / 4
    model.fit(x, x[:, :2] - x[:, 1:], batch_size=4, verbose=0)
    assert any(map(is_sharded, model.parameters())) is (distribute == "fsdp")
    assert all((now != before).any() for now, before in zip(model.get_weights(), start, strict=True))
    return model


def write(distribute: Any, folder: Path) -> list[list[float]]:
    model = exact(distribute)
    with mock.patch.dict(os.environ, SOURCE_DATE_EPOCH="0"):
        for name in FILES:
            model.save(folder / name)
        for name in WEIGHTS:
            model.save_weights(folder / name)
    return [weight.tolist() for weight in model.get_weights()]


@pytest.mark.parametrize(
    "distribute", ["ddp", pytest.param("fsdp", marks=pytest.mark.torch("2.8", "weights that processes share"))]
)
def test_two_processes_write_the_bytes_of_one(pools: Pools, tmp_path: Path, distribute: str):
    ours, theirs = tmp_path / "two", tmp_path / "one"
    for folder in (ours, theirs):
        folder.mkdir()
    weights = pools.run(write, 2, distribute, ours)
    assert [weights[0]] == [weights[1]] == pools.run(write, 1, None, theirs)
    for name in (*FILES, *WEIGHTS):
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
