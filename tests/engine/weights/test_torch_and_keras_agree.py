"""One law over all there is: what torch sees in a model, what Keras sees, what trains and what files keep is the same.

Every layer of the table, and the golden models; users' code in `test_own_modules.py`.
"""

import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from law import assert_law, ids

from torchkeras import Input, Model, optimizers
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.layers import RNN
from torchkeras.models import load_model

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "layers"), str(ROOT)]

from table import ROWS, Row  # type: ignore  # noqa: E402
from test_golden import RUNNING, Case  # noqa: E402

NO_TENSORS = ("StringLookup", "TextVectorization")  # strings go in
CELLS = ("SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells", "ConvLSTM2DCell")
IN_MODELS = [row for row in ROWS if row.name not in (*NO_TENSORS, *CELLS)]
GIVEN = {"TorchModule": {"Linear": torch.nn.Linear(4, 3)}}


def model_of(row: Row) -> Model:
    given = as_list(row.tensors())
    inputs = [Input(batch_shape=(None, *t.shape[1:]), dtype=str(t.dtype).removeprefix("torch.")) for t in given]
    return Model(inputs, row.make()(inputs if len(inputs) > 1 else inputs[0]))


def assert_reached(model: Model) -> None:
    """A compiled model trains what `requires_grad` asks for, and nothing else."""
    if not model.trainable_weights:
        return
    model.compile(optimizers.SGD(), ["mse"] * len(model.outputs))
    assert ids(model._training.ready().parameters) == ids(p for p in model.parameters() if p.requires_grad)


def drawn(model: Model) -> None:
    """Other values for all weights: not those that a new layer begins with."""
    numbers = np.random.default_rng(1)
    for variable in model.weights:
        variable.assign((numbers.random(variable.shape) * 4 + 1).astype(variable.numpy().dtype))


def assert_kept(model: Model, folder: Path, custom: Any = None, whole: bool = True) -> None:
    """Every format keeps every tensor."""
    expected = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    paths = [folder / name for name in ("w.h5", "w.weights.h5", "w.pt", "w.safetensors")]
    for path in paths:
        model.save_weights(path)
    for path in paths:
        with torch.no_grad():
            for tensor in model.state_dict(keep_vars=True).values():
                tensor.zero_()
        model.load_weights(path)
        assert_values(model, expected)
    if whole:
        model.save(folder / "m.h5", include_optimizer=False)
        assert_values(load_model(folder / "m.h5", custom_objects=custom, compile=False), expected)


def assert_values(model: Model, expected: dict[str, torch.Tensor]) -> None:
    found = model.state_dict()
    assert list(found) == list(expected)
    for name, tensor in found.items():
        assert torch.equal(tensor, expected[name]), name


@pytest.mark.parametrize("row", IN_MODELS, ids=[f"{row.call}-{row.inputs}" for row in IN_MODELS])
def test_every_layer(row, tmp_path):
    model = model_of(row)
    assert_law(model)
    assert_reached(model)
    drawn(model)
    assert_kept(model, tmp_path, GIVEN.get(row.name), whole="Lambda" not in row.call)
    for trainable in (False, True):
        model.trainable = trainable
        assert_law(model)
    assert_reached(model)


@pytest.mark.parametrize("row", [row for row in ROWS if row.name in CELLS[:4]], ids=lambda row: row.call)
def test_every_cell(row):
    inputs = Input(
        (3, *row.tensors()[0].shape[1:]) if isinstance(row.tensors(), list) else (3, *row.tensors().shape[1:])
    )
    model = Model(inputs, RNN(row.make())(inputs))
    assert_law(model)
    assert_reached(model)


def check_golden(folder: Path, tmp_path: Path) -> None:
    case = Case(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a file of Keras 1 leaves out: see test_golden.py
        model = load_model(case.file, compile=False, **case.told)
    assert_law(model)
    assert_reached(model)
    assert_kept(model, tmp_path, whole=False)


@pytest.mark.parametrize("folder", RUNNING[::10], ids=lambda folder: folder.name)
def test_golden_models(folder, tmp_path):
    check_golden(folder, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("folder", RUNNING, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_every_golden_model(folder, tmp_path):
    check_golden(folder, tmp_path)


EXAMPLES = sorted((ROOT.parent / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example(path, tmp_path, monkeypatch):
    """Every model that an example compiles, when it is compiled."""
    seen: list[Model] = []
    compile_ = Model.compile

    def watched(model: Any, *args: Any, **options: Any) -> None:
        compile_(model, *args, **options)
        seen.append(model)

    monkeypatch.setattr(Model, "compile", watched)
    runpy.run_path(str(path), run_name="__main__")
    assert seen
    for model in seen:
        assert_law(model)
        assert ids(model._training.ready().parameters) == ids(p for p in model.parameters() if p.requires_grad)
        assert_kept(model, tmp_path, whole=False)
