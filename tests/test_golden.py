"""Files, outputs and training records of genuine Keras 2.2.4 on TensorFlow, for the layers that are here.

Tolerances are those the records are made for: outputs 1e-4 absolute and 1e-3 relative, after training 1e-3 for both.
"""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import torchkeras
from torchkeras import constraints, layers, models, optimizers, registry, regularizers
from torchkeras.engine.input import Input
from torchkeras.models import Model, load_model
from torchkeras.saving.hdf5 import text

FOLDER = Path(__file__).parent / "golden" / "keras-2.2.4-tensorflow"

# Named in the first step of the catalogue, and so expected to load: 68 of the 121 cases.
FIRST_STEP = 68


def layer_classes(folder: Path) -> set[str]:
    with h5py.File(folder / "model.h5") as file:
        config = json.loads(text(file.attrs["model_config"]))
    found: set[str] = set()

    def visit(entry: Any) -> None:
        if isinstance(entry, list):
            for item in entry:
                visit(item)
        elif isinstance(entry, dict):
            inner = entry.get("config")
            is_layer = "class_name" in entry and (
                isinstance(inner, list) or (isinstance(inner, dict) and "name" in inner)
            )
            if is_layer:
                found.add(entry["class_name"])
            for value in entry.values():
                visit(value)

    visit(config)
    return found


ALL = sorted(path for path in FOLDER.iterdir())
HERE = [path for path in ALL if layer_classes(path) <= set(registry.layers.names())]


class Case:
    def __init__(self, folder: Path):
        self.file = folder / "model.h5"
        self.about = json.loads((folder / "case.json").read_text())
        self.arrays = dict(np.load(folder / "io.npz"))

    def numbered(self, letter: str) -> list[np.ndarray]:
        found = []
        while f"{letter}{len(found)}" in self.arrays:
            found.append(self.arrays[f"{letter}{len(found)}"])
        return found

    def model_from_source(self) -> Model:
        """What the case's own code makes, on a fresh session."""
        torchkeras.clear_session()
        torchkeras.config.set_image_data_format(self.about["image_data_format"])
        scope = {
            **vars(layers),
            **vars(models),
            "layers": layers,
            "regularizers": regularizers,
            "constraints": constraints,
        }
        if "model =" in self.about["source"]:
            exec(self.about["source"], scope)  # noqa: S102  # the record's own source text
            return scope["model"]
        inputs = [
            Input(batch_shape=given["batch_shape"], dtype=given["dtype"])
            if given["batch_shape"]
            else Input(given["shape"], dtype=given["dtype"])
            for given in self.about["inputs"]
        ]
        layer = eval(self.about["source"], scope)
        return Model(inputs, layer(inputs if len(inputs) > 1 else inputs[0]))

    def assert_outputs(self, model: Model) -> None:
        found = model.predict(self.numbered("x"), batch_size=len(self.arrays["x0"]))
        for k, (mine, saved) in enumerate(zip(as_list(found), self.numbered("y"), strict=True)):
            np.testing.assert_allclose(mine, saved, atol=1e-4, rtol=1e-3, err_msg=f"output {k}")


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@pytest.fixture
def case(request: pytest.FixtureRequest):
    before = torchkeras.config.image_data_format()
    yield Case(request.param)
    torchkeras.config.set_image_data_format(before)


every_case = pytest.mark.parametrize("case", HERE, indirect=True, ids=[path.name for path in HERE])
every_trained = [path for path in HERE if json.loads((path / "case.json").read_text())["train"]]


def test_all_cases_of_the_layers_that_are_here_are_run():
    assert len(HERE) >= FIRST_STEP


@every_case
def test_file_gives_the_saved_outputs(case: Case):
    case.assert_outputs(load_model(case.file))


@every_case
def test_source_with_the_files_weights_gives_the_saved_outputs(case: Case):
    model = case.model_from_source()
    model.load_weights(case.file)
    case.assert_outputs(model)


@pytest.mark.parametrize("case", every_trained, indirect=True, ids=[path.name for path in every_trained])
def test_training_record_is_met(case: Case):
    train = case.about["train"]
    model = case.model_from_source()
    model.load_weights(case.file)
    model.compile(eval(train["optimizer"], {**vars(optimizers)}), train["loss"])
    batch = case.numbered("x"), case.numbered("t")
    losses = [np.ravel(model.train_on_batch(*batch))[0] for _ in range(train["steps"])]
    np.testing.assert_allclose(losses, case.arrays["losses"], atol=1e-3, rtol=1e-3)
    for name, mine, saved in zip(case.arrays["weight_names"], model.get_weights(), case.numbered("w"), strict=True):
        np.testing.assert_allclose(mine, saved, atol=1e-3, rtol=1e-3, err_msg=str(name))


@every_case
def test_a_saved_copy_gives_the_same_outputs(case: Case, tmp_path: Path):
    load_model(case.file).save(tmp_path / "copy.h5")
    case.assert_outputs(load_model(tmp_path / "copy.h5"))
