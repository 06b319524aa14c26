"""What is saved under a name is what the name says: one table for all that write files by name."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch
from safetensors import safe_open

from torchkeras.callbacks import ModelCheckpoint
from torchkeras.errors import UnknownFormatError, UnreadableFileError, WeightMismatchError
from torchkeras.layers import LSTM, BatchNormalization, Dense, Input
from torchkeras.models import Model, Sequential, load_model, save_model
from torchkeras.saving.formats import OTHERS, WEIGHTS, WHOLE, named

X = np.random.default_rng(0).normal(size=(6, 4)).astype("float32")
TENSORS = ["m.pt", "m.pth", "m.safetensors", "m.PT"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def small() -> Model:
    inputs = Input((4,), name="x")
    return Model(inputs, Dense(2, activation="softmax", name="y")(BatchNormalization(name="norm")(inputs)))


def trained() -> Model:
    model = small()
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    model.fit(X, np.eye(2, dtype="float32")[[0, 1] * 3], verbose=0)
    return model


def format_of(path: str) -> str:
    first = Path(path).read_bytes()[:9]
    if first.startswith(b"PK"):
        names = zipfile.ZipFile(path).namelist()
        marks = {"metadata.json": "keras", "/data.pkl": "state", "/models/model.json": "program"}
        return next(kind for mark, kind in marks.items() if any(name.endswith(mark) for name in names))
    return "HDF5" if first.startswith(b"\x89HDF") else "safetensors" if first[8:] == b"{" else "unknown"


FORMATS = {
    **dict.fromkeys(["m.h5", "m.hdf5", "m.hdf", "m.H5", "m", "m.v2", "model.weights", "w.01-0.25"], "HDF5"),
    "m.keras": "keras",
    "m.pt": "state",
    "m.pth": "state",
    "m.safetensors": "safetensors",
    "m.pt2": "program",
}


EXPORTED = pytest.param("m.pt2", marks=pytest.mark.torch("2.8", "its compiler follows whole models"))


@pytest.mark.parametrize("name", [name if name != "m.pt2" else EXPORTED for name in FORMATS])
def test_a_model_is_saved_as_its_name_says(name: str):
    save_model(small(), name)
    assert format_of(name) == FORMATS[name]


def test_weights_are_saved_as_their_name_says():
    for name in ("w.h5", "w.weights.h5", "w", "w.pt", "w.PTH", "w.safetensors"):
        small().save_weights(name)
        suffix = Path(name).suffix.lower()
        assert format_of(name) == {".pt": "state", ".pth": "state", ".safetensors": "safetensors"}.get(suffix, "HDF5")


def test_what_formats_name_is_there():
    every = {*WHOLE.values(), *WEIGHTS.values()}
    places = {place for each in every for place in (each.model, each.weights, each.contents) if place}
    places |= {f"{each.tensors}:{name}" for each in every if each.tensors for name in ("write", "opened")}
    assert all(callable(named(place)) for place in places)


@pytest.mark.parametrize("suffix", OTHERS)
def test_names_of_other_formats_are_refused(suffix: str):
    model = small()
    for write in (model.save, model.save_weights):
        with pytest.raises(ValueError, match=f"writes no {suffix} file"):
            write(f"m{suffix}")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("method", "name", "instead"),
    [
        ("save", "m.npz", ""),
        ("save", "m.json", "; `to_json` gives the architecture"),
        ("save", "m.png", "; `plot_model` draws the model"),
        ("save_weights", "m.keras", "; `save` writes the whole model"),
    ],
)
def test_texts_of_refusals(method: str, name: str, instead: str):
    formats = ", ".join(WHOLE if method == "save" else WEIGHTS)
    with pytest.raises(ValueError, match="writes no") as caught:
        getattr(small(), method)(name)
    assert str(caught.value) == (
        f"{name}: {method} writes no {Path(name).suffix} file. By the suffix it writes {formats}; HDF5 for a name "
        f"without a known suffix{instead}."
    )


@pytest.mark.parametrize(("weights_only", "name"), [(False, "m.{epoch}.npz"), (True, "m.onnx"), (True, "m.keras")])
def test_a_checkpoint_of_another_format_is_refused_before_training(weights_only: bool, name: str):
    with pytest.raises(ValueError, match="ModelCheckpoint writes no"):
        ModelCheckpoint(name, save_weights_only=weights_only)


# --- whole models as tensors and a text ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TENSORS)
def test_a_file_of_tensors_gives_the_whole_model_back(name: str):
    model = trained()
    model.save(name)
    again = load_model(name)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert (again.loss, again.metrics, again.optimizer.iterations) == (
        model.loss,
        model.metrics,
        model.optimizer.iterations,
    )
    for one, other in zip(again.optimizer.get_weights(), model.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.optimizer.get_config() == model.optimizer.get_config()
    assert not again.training
    assert load_model(name, compile=False).optimizer is None


@pytest.mark.parametrize("name", TENSORS)
def test_a_model_that_has_not_trained_loses_nothing(name: str):
    model = Sequential([LSTM(3, input_shape=(5, 4), stateful=False), Dense(1)])
    model.compile("sgd", "mse")
    model.save(name)
    assert load_model(name).loss == "mse"
    model.save(name, include_optimizer=False)
    again, report = load_model(name, report=True)
    assert again.optimizer is None
    assert len(report.rows) == len(model.weights)
    with pytest.raises(FileExistsError):
        model.save(name, overwrite=False)


def test_torch_reads_a_file_of_pt():
    model = small()
    model.save("m.pt")
    found = torch.load("m.pt", weights_only=True)
    assert list(found) == list(model.state_dict())
    assert str(small().load_state_dict(found)) == "<All keys matched successfully>"


def test_others_read_a_file_of_safetensors():
    model = small()
    model.save("m.safetensors")
    found = safetensors.torch.load_file("m.safetensors")
    assert found.keys() == model.state_dict().keys()
    with safe_open("m.safetensors", framework="pt") as file:
        assert json.loads(file.metadata()["torchkeras"])["model_config"]["class_name"] == "Model"


@pytest.mark.parametrize("name", TENSORS)
def test_weights_of_a_whole_model_are_loaded_into_another(name: str):
    model, other = small(), small()
    model.save(name)
    other.load_weights(name)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize("name", TENSORS)
def test_a_file_of_weights_alone_is_no_model(name: str):
    small().save_weights(name)
    text = (
        f"{name}: it holds only weights, no architecture. Build the model as it was, and load them with "
        "`model.load_weights`."
    )
    with pytest.raises(UnknownFormatError) as caught:
        load_model(name)
    assert str(caught.value) == text


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_an_exported_program_is_no_model():
    small().save("m.pt2")
    text = "m.pt2: a program of torch.export, which has no layers to build; `torch.export.load` reads it."
    with pytest.raises(UnknownFormatError) as caught:
        load_model("m.pt2")
    assert str(caught.value) == text


@pytest.mark.parametrize("first", ["m/models/model.json", "m/data/weights/weight_0", "m/archive_format"])
def test_a_program_is_known_by_the_member_that_a_version_of_torch_writes_first(first: str):
    with zipfile.ZipFile("m.pt2", "w") as archive:
        archive.writestr(first, "")
    with pytest.raises(UnknownFormatError, match=r"^m\.pt2: a program of torch\.export, which has no layers to build"):
        load_model("m.pt2")


def test_a_format_is_told_by_the_first_bytes():
    model = small()
    for name in ("m.h5", "m.pt", "m.safetensors"):
        model.save(name)
        Path(name).rename("m.other")
        np.testing.assert_array_equal(load_model("m.other").predict(X), model.predict(X))
        other = small()
        other.load_weights("m.other")
        np.testing.assert_array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize("name", ["m.h5", "m.keras", "m.pt", "m.safetensors"])
def test_another_process_may_look_at_any_format_first(name: str):
    model = small()
    model.save(name)
    again, other = load_model(name, isolated=True), small()
    other.load_weights(name, isolated=True)
    for found in (again, other):
        assert all(map(np.array_equal, found.get_weights(), model.get_weights()))
    content = Path(name).read_bytes()
    Path(name).write_bytes(content[:-8])
    for read in (load_model, other.load_weights):
        with pytest.raises(UnreadableFileError, match=f"^{name}: "):
            read(name, isolated=True)


def of_text(text: str) -> None:
    tensors = small().state_dict()
    tensors._metadata = {"": {"torchkeras": text}}  # type: ignore[attr-defined]
    torch.save(tensors, "m.pt")


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"model_config": 3}'])
def test_a_text_of_another_form_is_refused(text: str):
    of_text(text)
    with pytest.raises(UnreadableFileError, match=r"^m\.pt: its architecture"):
        load_model("m.pt")


def test_tensors_that_are_not_those_of_the_text_are_refused():
    config = {"keras_version": "2.2.4", "model_config": json.loads(Sequential([Dense(3, input_shape=(4,))]).to_json())}
    of_text(json.dumps(config))
    with pytest.raises(WeightMismatchError, match=r"^m\.pt: the tensors must be those of the model's state_dict"):
        load_model("m.pt")


# --- the state of the optimizer --------------------------------------------------------------------------------------


def test_plain_torch_finds_the_state_dict_of_a_pt_file():
    model = trained()
    model.save("m.pt")
    found = torch.load("m.pt", weights_only=True)
    assert list(found) == list(model.state_dict())
    small().load_state_dict(found)
    assert sorted(found._metadata[""]["torchkeras.optimizer"]) == [
        *(f"ms/{name}" for name in ("norm.norm.bias", "norm.norm.weight", "y.linear.bias", "y.linear.weight")),
        *(f"vs/{name}" for name in ("norm.norm.bias", "norm.norm.weight", "y.linear.bias", "y.linear.weight")),
    ]


def test_plain_torch_finds_the_state_dict_of_a_safetensors_file():
    model = trained()
    model.save("m.safetensors")
    found = safetensors.torch.load_file("m.safetensors")
    own = {name: tensor for name, tensor in found.items() if not name.startswith("torchkeras.optimizer/")}
    assert sorted(own) == sorted(model.state_dict())
    assert len(found) == len(own) + 2 * 4
    small().load_state_dict(own)
    with safe_open("m.safetensors", "pt") as file:
        assert json.loads(file.metadata()["torchkeras"])["optimizer_state"] == {"iterations": 1, "more": {}}


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("name", TENSORS)
def test_the_state_is_no_weight(name: str, isolated: bool):
    model = trained()
    model.save(name)
    other = small()
    other.load_weights(name)
    for one, expected in zip(other.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, expected)
    assert load_model(name, isolated=isolated).optimizer.iterations == 1
    model.save(name, include_optimizer=False)
    assert load_model(name).optimizer is None


def changed(name: str, change) -> None:
    """Change the text and the state of the optimizer in a file."""
    if name.endswith(".safetensors"):
        with safe_open(name, "pt") as file:
            metadata = file.metadata()
        tensors = safetensors.torch.load_file(name)
        prefix = "torchkeras.optimizer/"
        state = {key.removeprefix(prefix): tensors.pop(key) for key in list(tensors) if key.startswith(prefix)}
        about = json.loads(metadata["torchkeras"])
        change(about, state)
        tensors |= {f"{prefix}{key}": value for key, value in state.items()}
        safetensors.torch.save_file(tensors, name, metadata={**metadata, "torchkeras": json.dumps(about)})
    else:
        tensors = torch.load(name, weights_only=True)
        own = tensors._metadata[""]
        about = json.loads(own["torchkeras"])
        change(about, own["torchkeras.optimizer"])
        own["torchkeras"] = json.dumps(about)
        torch.save(tensors, name)


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
def test_files_of_version_1_have_no_state_and_load(name: str):
    trained().save(name)

    def without(about, state):
        del about["optimizer_state"]
        state.clear()

    changed(name, without)
    assert load_model(name).optimizer.iterations == 0


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
def test_a_state_of_other_parameters_is_warned_of(name: str):
    trained().save(name)
    changed(name, lambda about, state: state.pop("vs/y.linear.bias"))
    with pytest.warns(UserWarning, match="begins without") as told:
        model = load_model(name)
    (text,) = [str(each.message) for each in told]
    assert text == (
        f"{name}: the state of its optimizer is not taken, and Adam begins without: it is not that of the 4 parameters "
        "that train; first differ vs/y.linear.bias."
    )
    assert told[0].filename == __file__
    assert not any(array.any() for array in model.optimizer.get_weights())


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
@pytest.mark.parametrize(
    "numbers",
    [
        None,
        {"iterations": -1, "more": {}},
        {"iterations": True, "more": {}},
        {"iterations": 1, "more": {"product": 1.0}},
        {"iterations": 1, "more": {}, "scale": {"scale": "8"}},
        {"iterations": 1, "more": {}, "accumulated": {"count": 1, "samples": 2.0, "present": [0]}},
        {"iterations": 1, "more": {}, "accumulated": {"count": 0, "samples": 2.0, "present": [9]}},
    ],
)
def test_bad_numbers_of_a_state_are_refused(name: str, numbers):
    trained().save(name)
    changed(name, lambda about, state: about.update(optimizer_state=[] if numbers is None else numbers))
    with pytest.raises(UnreadableFileError) as caught:
        load_model(name)
    assert str(caught.value) == f"{name}: the numbers of its optimizer's state are {numbers or []!r}."


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
def test_a_state_of_another_shape_is_refused(name: str):
    trained().save(name)
    changed(name, lambda about, state: state.update({"vs/y.linear.bias": torch.zeros(3)}))
    with pytest.raises(WeightMismatchError) as caught:
        load_model(name)
    assert str(caught.value) == (
        f"{name}: the state of its optimizer does not fit: Adam: the state has shape (3,) for a parameter whose is "
        "(2,)."
    )


def test_a_state_that_is_no_tensors_is_refused():
    trained().save("m.pt")
    changed("m.pt", lambda about, state: state.update({"vs/y.linear.bias": 1}))
    with pytest.raises(UnreadableFileError) as caught:
        load_model("m.pt")
    assert str(caught.value) == "m.pt: the state of its optimizer must be tensors by their names."
