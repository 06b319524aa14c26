"""Models that are loaded shared among processes: each process reads and holds its rows alone."""

# pyright: reportPrivateImportUsage=false
# torch.distributed.checkpoint lists neither `save` nor `load` among its public names; torch documents them.

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import h5py
import numpy as np
import pytest
import torch.distributed as dist
from pool import POOLS
from sharded_models import MODELS
from sharded_runs import seeded, trained
from torch.distributed import checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh

from torchkeras import Model, Sequential, config, layers, optimizers
from torchkeras.distribution.loading import load_sharded, on_meta
from torchkeras.distribution.sharding import shard
from torchkeras.distribution.shared_tensors import is_sharded, part

pytestmark = pytest.mark.torch("2.8", "weights that processes share")

KINDS = ("convolutional", "attending")
WHOLE = ("model.h5", "model.safetensors")
WEIGHTS = ("of_keras3.weights.h5", "state.pt")


def written(folder: Path) -> dict[str, Any]:
    """Files of models that one process has trained; their weights."""
    told = {}
    for kind in KINDS:
        model = trained(seeded(MODELS[kind]), optimizers.Adam(0.01), (4, 5))
        for name in (*WHOLE, *WEIGHTS):
            (model.save if name in WHOLE else model.save_weights)(folder / f"{kind}.{name}")
        told[kind] = {"weights": model.get_weights(), "optimizer": model.optimizer.get_weights()}
    return told


def loaded(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    config.set_floatx("float64")
    mesh, told = init_device_mesh("cpu", (dist.get_world_size(),)), {}
    for kind in KINDS:
        for name in (*WHOLE, *WEIGHTS):
            path = folder / f"{kind}.{name}"
            if name in WHOLE:
                model = load_sharded(path, mesh, least=10)
            else:
                with on_meta():
                    model = seeded(MODELS[kind])
                shard(model, mesh, 10)
                model.load_weights(path)
            told[kind, name] = {"weights": model.get_weights(), "here": here(model)}
            if model.optimizer is not None:
                told[kind, name]["optimizer"] = model.optimizer.get_weights()
    return told


def here(model: Model) -> int:
    """How many values this process has of the weights that train."""
    return sum(part(each).numel() for each in model.parameters() if is_sharded(each))


def test_every_format(tmp_path: Path) -> None:
    (alone,) = POOLS.run(written, 1, tmp_path)
    found = POOLS.run(loaded, 3, tmp_path)
    for (kind, name), own in found[0].items():
        total = sum(each[kind, name]["here"] for each in found)
        assert own["here"] < total == sum(array.size for array in alone[kind]["weights"] if array.ndim)
        for each in found:
            for what in each[kind, name].keys() - {"here"}:
                for ours, theirs in zip(each[kind, name][what], alone[kind][what], strict=True):
                    np.testing.assert_array_equal(ours, theirs, err_msg=f"{kind}.{name}")


def dense() -> Model:
    return Sequential([layers.Dense(50, input_shape=(40,)), layers.Dense(30)])


def counted(path: Path) -> tuple[int, list[np.ndarray]]:
    """How many numbers this process reads of a file; the weights."""
    read, before = [], h5py.Dataset.__getitem__

    def reading(dataset: h5py.Dataset, place: Any, **options: Any) -> Any:
        values = before(dataset, place, **options)
        if getattr(values, "dtype", None) == np.float64:
            read.append(values.size)
        return values

    with on_meta():
        model = seeded(dense)
    shard(model, init_device_mesh("cpu", (dist.get_world_size(),)), 10)
    with patch.object(h5py.Dataset, "__getitem__", reading):
        model.load_weights(path)
    return sum(read), model.get_weights()


def test_a_process_reads_its_rows_alone(tmp_path: Path) -> None:
    model = seeded(dense)
    model.save_weights(tmp_path / "model.h5")
    found = POOLS.run(counted, 2, tmp_path / "model.h5")
    assert [numbers for numbers, _ in found] == [model.count_params() // 2] * 2
    for _, weights in found:
        for ours, theirs in zip(weights, model.get_weights(), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def save_folder(folder: Path) -> list[np.ndarray]:
    model = seeded(dense)
    shard(model, init_device_mesh("cpu", (dist.get_world_size(),)), 10)
    dcp.save({name: each.detach() for name, each in model.state_dict(keep_vars=True).items()}, checkpoint_id=folder)
    return model.get_weights()


def load_folder(folder: Path) -> list[np.ndarray]:
    with on_meta():
        model = seeded(dense)
    shard(model, init_device_mesh("cpu", (dist.get_world_size(),)), 10)
    dcp.load({name: each.detach() for name, each in model.state_dict(keep_vars=True).items()}, checkpoint_id=folder)
    return model.get_weights()


def test_a_folder_of_torchs_checkpoints(tmp_path: Path) -> None:
    saved = POOLS.run(save_folder, 2, tmp_path)[0]
    for weights in POOLS.run(load_folder, 3, tmp_path):
        for ours, theirs in zip(weights, saved, strict=True):
            np.testing.assert_array_equal(ours, theirs)
