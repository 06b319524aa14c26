"""What a model whose weights several processes share gives and takes as a whole: weights, files, tables."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pool import POOLS
from sharded_models import MODELS
from sharded_runs import seeded, sharded, trained

from torchkeras import Model, optimizers
from torchkeras.distribution.shared_tensors import is_sharded

pytestmark = pytest.mark.torch("2.8", "weights that processes share")

KINDS = ("convolutional", "masked", "attending")
FILES = ("model.h5", "model.safetensors", "weights.h5", "of_keras3.weights.h5", "tensors.safetensors", "state.pt")


def written(model: Model, folder: Path) -> None:
    for name in FILES:
        (model.save if name.startswith("model") else model.save_weights)(folder / name)


def optimizer() -> Any:
    return optimizers.Adam(0.01, use_ema=True)


def write_shared(folder: Path) -> dict[str, Any]:
    """Files of sharded models; what the models tell of themselves."""
    told = {}
    for kind in KINDS:
        model = trained(sharded(MODELS[kind]), optimizer(), (4, 5))
        written(model, folder / kind)
        told[kind] = look_at(model)
    return told


def write_alone(folder: Path, shared: dict[str, Any]) -> dict[str, Any]:
    """The same of models that are whole; sums over processes are rounded otherwise, so they get the values of those."""
    told = {}
    for kind in KINDS:
        model = trained(seeded(MODELS[kind]), optimizer(), (4, 5))
        own, given = look_at(model), shared[kind]
        for name in ("weights", "optimizer", "averages"):
            for ours, theirs in zip(own[name], given[name], strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10)
        model.set_weights(given["weights"])
        model.optimizer.set_weights(given["optimizer"])
        model.optimizer.set_averages(given["averages"])
        written(model, folder / kind)
        told[kind] = look_at(model)
    return told


def look_at(model: Model) -> dict[str, Any]:
    table = io.StringIO()
    with redirect_stdout(table):
        model.summary()
    return {
        "table": table.getvalue(),
        "count": model.count_params(),
        "weights": model.get_weights(),
        "optimizer": model.optimizer.get_weights(),
        "averages": model.optimizer.get_averages(),
        "values": [variable.value.detach().numpy() for variable in model.weights],
        "state": {name: tensor.numpy() for name, tensor in model.state_dict().items()},
        "strides": {name: tensor.stride() for name, tensor in model.state_dict().items()},
        "shared": sum(map(is_sharded, model.state_dict(keep_vars=True).values())),
    }


def test_files_are_those_of_one_process(tmp_path: Path) -> None:
    for place in ("alone", "shared"):
        for kind in KINDS:
            (tmp_path / place / kind).mkdir(parents=True)
    found = POOLS.run(write_shared, 2, tmp_path / "shared")
    (alone,) = POOLS.run(write_alone, 1, tmp_path / "alone", found[0])
    for kind in KINDS:
        assert found[1][kind].pop("table") == ""  # the main process prints
        for results in found:
            assert results[kind]["shared"] > alone[kind]["shared"] == 0
            for name in results[kind].keys() - {"shared"}:
                assert_same(results[kind][name], alone[kind][name])
        for name in FILES:
            ours, theirs = ((tmp_path / place / kind / name).read_bytes() for place in ("shared", "alone"))
            assert ours == theirs, (kind, name)


def assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        ours, theirs = list(ours.values()), list(theirs.values())
    if isinstance(theirs, list) and theirs and isinstance(theirs[0], np.ndarray):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
    else:
        assert ours == theirs
