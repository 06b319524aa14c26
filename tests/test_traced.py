"""How much code of the package a small model passes: what docs/speed_notes.md says of it holds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.engine.operations import Counted
from torchkeras import Input
from torchkeras.layers import Conv2D, Dense
from torchkeras.models import Model, Sequential, load_model


@pytest.fixture(scope="module")
def traced(script) -> Any:
    """The benchmark as a module."""
    module = script("benchmarks/traced.py")
    module.warm_up()
    return module


def test_the_table_of_the_page(traced: Any):
    page = (Path(__file__).parents[1] / "docs" / "speed_notes.md").read_text().replace("`", "").replace(",", "")
    for name, trace in traced.rows().items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {name} |")]
        assert len(trace.calls) == pytest.approx(int(row.split("|")[2]), rel=0.02), row


def test_a_layer_called_on_a_symbol(traced: Any):
    inputs = Input((20,))
    called = traced.traced(lambda: Dense(64)(inputs))
    assert called.changes <= 46
    assert len(called.calls) <= 180


def test_a_model_of_symbols(traced: Any):
    inputs = Input((20,))
    outputs = Dense(10)(Dense(64)(inputs))
    assert len(traced.traced(lambda: Model(inputs, outputs)).calls) <= 150


def test_compile(traced: Any):
    model = traced.mlp()
    assert (
        traced.traced(lambda: model.compile("adam", "sparse_categorical_crossentropy", metrics=["acc"])).changes <= 70
    )


def test_a_first_fit(traced: Any):
    assert len(traced.traced(traced.first_fit()).calls) <= 1800


def test_the_operations_of_a_first_fit(traced: Any):
    run = traced.first_fit()
    with Counted() as first:
        run()
    with Counted() as second:
        run()  # compiles again, with a new optimizer
    assert first.seen == second.seen  # the first call finds nothing by computing
    assert first.seen["zeros_like"] == 12  # Adam's two averages of six weights
    assert first.seen.total() <= 88


def test_a_further_batch_of_fit(traced: Any):
    few, many = traced.fitted(20), traced.fitted(84)
    assert (len(many.calls) - len(few.calls)) / 64 <= 41


@pytest.mark.parametrize("compiled", [False, True])
def test_one_sample(traced: Any, compiled: bool):
    model, sample = traced.mlp(), np.zeros((1, 20), "float32")
    if compiled:
        model.compile("adam", "sparse_categorical_crossentropy")
    model.predict(sample)
    assert len(traced.traced(lambda: model.predict(sample)).calls) <= 28
    with torch.inference_mode():
        model(torch.from_numpy(sample))
        assert len(traced.traced(lambda: model(torch.from_numpy(sample))).calls) <= 21


def test_one_train_step(traced: Any):
    step = traced.one_step()
    assert len(set(step.calls)) <= 35
    assert len({file for file, _ in step.calls}) <= 12


def small(layers: int) -> Any:
    """A model of so many convolutions."""
    further = [Conv2D(4, 3, padding="same") for _ in range(layers - 1)]
    return Sequential([Conv2D(4, 3, padding="same", input_shape=(8, 8, 3)), *further])


@pytest.mark.parametrize(("suffix", "most"), [(".h5", 780), (".keras", 990), (".safetensors", 460), (".pt", 535)])
def test_each_further_layer_of_a_file(traced: Any, tmp_path: Path, suffix: str, most: int):
    def calls(layers: int) -> int:
        small(layers).save(path := tmp_path / f"{layers}{suffix}")
        load_model(path)
        return len(traced.traced(lambda: load_model(path)).calls)

    assert calls(3) - calls(2) <= most


def test_a_config_is_searched_for_bytecode_once(traced: Any, tmp_path: Path):
    small(2).save(path := tmp_path / "model.h5")
    calls = traced.traced(lambda: load_model(path)).calls
    assert sum(file == "/base/bytecode.py" and name.startswith("read:") for file, name in calls) == 1
