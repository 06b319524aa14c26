"""Files, outputs and training records of genuine Keras 1.2.2, 2.2.4, 3.15 and tf_keras 2.21.

Tolerances are those the records are made for: outputs 1e-4 absolute and 1e-3 relative, after training 1e-3 for both.
"""

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras import constraints, layers, models, optimizers, regularizers
from torchkeras.engine.graph.input import Input
from torchkeras.errors import ArchitectureError
from torchkeras.models import Model, load_model
from torchkeras.saving.containers.hdf5 import text
from torchkeras.saving.weights.matching import Named, match
from torchkeras.saving.weights.origin import Origin

GOLDEN = Path(__file__).parent / "golden"
FOLDERS = {
    "keras-1.2.2-tensorflow": 64,
    "keras-1.2.2-theano": 61,
    "keras-2.2.4-tensorflow": 121,
    "keras-2.2.4-theano": 34,
    "keras-own-cases/keras-1.2.2-tensorflow": 9,  # other options, made alike
    "keras-own-cases/keras-1.2.2-theano": 11,
    "keras-own-cases/keras-2.2.4-theano": 15,
    "tf_keras-2.21": 13,
    "keras-3.15": 13,
    "keras-own-cases/tf_keras-2.21": 12,
    "keras-own-cases/keras-3.15": 16,
}
ALL = [path for folder in FOLDERS for path in sorted((GOLDEN / folder).iterdir())]
NEWEST = [path for path in ALL if path.parent.name in ("tf_keras-2.21", "keras-3.15")]
# Those of our own among them use functions of TensorFlow and of Keras 3 that no source for torchkeras has.
RUNNING = [path for path in ALL if path not in NEWEST or path.parent.parent == GOLDEN]
# A lone layer whose config leaves out where the channels are, and nothing else tells: the caller has to say.
UNTOLD = ("conv_26", "conv_28", "conv_32")
# A lone ConvLSTM2D with a subsample, which its config leaves out: taken as (1, 1), as Keras 1 takes it, with a warning.
WARNED = ("own_rnn_051",)
LOADED = [(path, path / name) for path in ALL for name in ("model.h5", "model.keras") if (path / name).exists()]
# What torchkeras, whose defaults are those of Keras 2.2.4, makes otherwise.
SIGMOID = {"recurrent_activation": "sigmoid"}
OTHER_DEFAULTS: dict[str, dict[str, dict[str, Any]]] = {
    "tf_keras": {"GRU": {**SIGMOID, "reset_after": True}, "LSTM": SIGMOID},
    "keras": {"GRU": {**SIGMOID, "reset_after": True}, "LSTM": SIGMOID, "ConvLSTM2D": SIGMOID},
}


class Case:
    def __init__(self, folder: Path):
        self.folder, self.file = folder, folder / "model.h5"
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
        data_format: str = self.about.get("image_data_format", "channels_last")
        torchkeras.config.set_image_data_format(torchkeras.config.DIM_ORDERINGS.get(data_format, data_format))
        scope = {
            **vars(layers),
            **self.later_defaults(),
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
            if given.get("batch_shape")
            else Input(given["shape"], dtype=given["dtype"])
            for given in self.about["inputs"]
        ]
        layer = eval(self.about["source"], scope)
        return Model(inputs, layer(inputs if len(inputs) > 1 else inputs[0]))

    def later_defaults(self) -> dict[str, Any]:
        """Layers with the defaults of tf.keras and Keras 3, for a case of theirs."""
        others = OTHER_DEFAULTS.get(self.about.get("package", ""), {})
        return {name: partial(getattr(layers, name), **options) for name, options in others.items()}

    @property
    def told(self) -> dict[str, Any]:
        """What the caller has to say about the file."""
        if self.folder.name not in UNTOLD or not self.about["keras_version"].startswith("1."):
            return {}
        return {"original_data_format": torchkeras.config.DIM_ORDERINGS[self.about["image_data_format"]]}

    def assert_weights(self, model: Model) -> None:
        """The weights are those recorded after training, in the shapes that the file's origin makes today's of."""
        variables = model._ordered_weights()
        names = [text(weight) for weight in self.arrays["weight_names"]]
        origin = Origin(int(self.about["keras_version"][0]), self.about["backend"] == "theano")
        stored = [Named(*each) for each in zip(names, self.numbered("w"), strict=True)]
        for found in match(variables, stored, origin, "the record"):
            saved = found.recipe.make([torch.from_numpy(source.data) for source in found.sources])
            np.testing.assert_allclose(found.variable.numpy(), saved, atol=1e-3, rtol=1e-3, err_msg=str(found))

    def assert_outputs(self, model: Model) -> None:
        found = model.predict(self.numbered("x"), batch_size=len(self.arrays["x0"]))
        for k, (mine, saved) in enumerate(zip(as_list(found), self.numbered("y"), strict=True)):
            np.testing.assert_allclose(mine, saved, atol=1e-4, rtol=1e-3, err_msg=f"output {k}")


def as_list(value: Any) -> list[Any]:
    value = [value[key] for key in sorted(value)] if isinstance(value, dict) else value
    return value if isinstance(value, list) else [value]


@pytest.fixture
def case(request: pytest.FixtureRequest):
    before = torchkeras.config.image_data_format()
    yield Case(request.param)
    torchkeras.config.set_image_data_format(before)


def name(path: Path) -> str:
    return f"{path.parent.name}-{path.name}"


def cases(paths: list[Path]) -> Any:
    return pytest.mark.parametrize("case", paths, indirect=True, ids=map(name, paths))


def test_all_cases_are_there():
    assert Counter(path.parent.relative_to(GOLDEN).as_posix() for path in ALL) == FOLDERS


def files(wanted: list[tuple[Path, Path]]) -> Any:
    made = [pytest.param(folder, file, id=f"{name(folder)}-{file.name}") for folder, file in wanted]
    return pytest.mark.parametrize(("case", "file"), made, indirect=["case"])


@files([found for found in LOADED if found[0].name not in WARNED])
@pytest.mark.filterwarnings("ignore:.* is not written; it is taken as")
@pytest.mark.filterwarnings("ignore:.* its causal is not written by tf.keras 2.10 and later; it is taken as False")
@pytest.mark.filterwarnings("ignore:.*its training configuration names no optimizer")
def test_file_gives_the_saved_outputs(case: Case, file: Path):
    case.assert_outputs(load_model(file, **case.told))


@files([found for found in LOADED if found[0].name in UNTOLD and "1.2.2" in str(found[0])])
def test_what_a_file_leaves_open_is_asked_for(case: Case, file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torchkeras.config.SETTINGS, "chosen_image_data_format", None)
    with pytest.raises(ArchitectureError, match="Give original_data_format="):
        load_model(file)
    torchkeras.config.set_image_data_format(case.told["original_data_format"])  # as Keras 1 goes by it
    case.assert_outputs(load_model(file))


@files([found for found in LOADED if found[0].name in WARNED])
def test_what_keras_1_itself_reads_otherwise_is_warned_of(case: Case, file: Path):
    with pytest.warns(UserWarning, match=r"its subsample is not written; it is taken as \(1, 1\)"):
        load_model(file)


@cases([path for path in NEWEST if path in RUNNING])
def test_weights_alone_give_the_saved_outputs(case: Case):
    model = case.model_from_source()
    model.load_weights(case.folder / "model.weights.h5")
    case.assert_outputs(model)


@cases(RUNNING)
def test_source_with_the_files_weights_gives_the_saved_outputs(case: Case):
    model = case.model_from_source()
    model.load_weights(case.file)
    case.assert_outputs(model)


TRAINED = [path for path in ALL if json.loads((path / "case.json").read_text()).get("train")]


@cases(TRAINED)
def test_training_record_is_met(case: Case):
    meets_training_record(case, jit_compile=False)


@pytest.mark.slow
@cases(TRAINED)
def test_training_record_is_met_by_the_graph_that_torch_traces(case: Case):
    meets_training_record(case, jit_compile={"backend": "eager"})


@pytest.mark.slow
@cases(TRAINED[::10])
def test_training_record_is_met_by_compiled_steps(case: Case):
    meets_training_record(case, jit_compile=True)


def meets_training_record(case: Case, **options: Any):
    train = case.about["train"]
    model = case.model_from_source()
    model.load_weights(case.file)
    model.compile(eval(train["optimizer"], {**vars(optimizers)}), train["loss"], **options)
    batch = case.numbered("x"), case.numbered("t")
    losses = [np.ravel(model.train_on_batch(*batch))[0] for _ in range(train["steps"])]
    np.testing.assert_allclose(losses, case.arrays["losses"], atol=1e-3, rtol=1e-3)
    case.assert_weights(model)


@files([found for found in LOADED if found[0].name not in WARNED])
@pytest.mark.filterwarnings("ignore:.* is not written; it is taken as")
@pytest.mark.filterwarnings("ignore:.* its causal is not written by tf.keras 2.10 and later; it is taken as False")
@pytest.mark.filterwarnings("ignore:.*its training configuration names no optimizer")
def test_a_saved_copy_gives_the_same_outputs(case: Case, file: Path, tmp_path: Path):
    load_model(file, **case.told).save(tmp_path / "copy.h5")
    case.assert_outputs(load_model(tmp_path / "copy.h5"))
