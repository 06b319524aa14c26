"""`torchkeras convert`: what it writes, what it compares, and what it refuses."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# h5py types what stands under a name as anything that may.

import json
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.commands import convert, main
from torchkeras.layers import Conv2D, Dense, Flatten, Input
from torchkeras.models import Model, Sequential, load_model, model_from_json

GOLDEN = Path(__file__).parents[1] / "golden"
X = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")


@pytest.fixture(autouse=True)
def fresh_session(tmp_path, monkeypatch):
    torchkeras.clear_session()
    torch.manual_seed(0)
    monkeypatch.chdir(tmp_path)


def small(compiled=False):
    model = Sequential([Dense(2, input_shape=(3,), name="first"), Dense(1, name="last")])
    if compiled:
        model.compile("adam", "mse")
        model.fit(X, X[:, :1], verbose=0)
    model.save("m.h5")
    return model


def told(capsys, *arguments):
    """The exit code and the JSON of `convert`."""
    code = main(["convert", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def failure(capsys, *arguments):
    """The exit code, the kind of error and its text."""
    code, found = told(capsys, *arguments)
    return code, found["error"]["kind"], found["error"]["message"]


# --- formats ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("out", ["n.h5", "n.hdf5", "n.keras", "n.pt", "n.safetensors"])
def test_whole_models_compute_the_same(out):
    expected = small().predict(X)
    assert main(["convert", "m.h5", out]) == 0
    np.testing.assert_array_equal(load_model(out).predict(X), expected)
    assert main(["convert", out, "back.h5"]) == 0
    np.testing.assert_array_equal(load_model("back.h5").predict(X), expected)


@pytest.mark.parametrize("out", ["n.weights.h5", "n.safetensors", "n.pt"])
def test_weights_and_an_architecture_make_a_model_again(out):
    model = small()
    Path("m.json").write_text(model.to_json())
    assert main(["convert", "m.h5", out]) == 0
    assert main(["convert", out, "back.h5", "--architecture", "m.json"]) == 0
    np.testing.assert_array_equal(load_model("back.h5").predict(X), model.predict(X))


def test_a_state_dict_is_tensors_alone():
    model = small()
    assert main(["convert", "m.h5", "n.pt"]) == 0
    found = torch.load("n.pt", weights_only=True)
    assert list(found) == list(model.state_dict())
    assert all(torch.equal(found[name], tensor) for name, tensor in model.state_dict().items())


def test_weights_alone_in_the_layout_of_keras_2():
    model = small()
    assert main(["convert", "m.h5", "n.h5", "--weights-only"]) == 0
    with h5py.File("n.h5") as file:
        assert list(file.attrs["layer_names"]) == [b"first", b"last"]
        assert "model_config" not in file.attrs
    fresh = model_from_json(model.to_json())
    fresh.load_weights("n.h5")
    np.testing.assert_array_equal(fresh.predict(X), model.predict(X))


def test_a_file_of_theano_tells_what_was_done(capsys):
    path = str(GOLDEN / "keras-2.2.4-theano" / "conv2d_00" / "model.h5")
    assert main(["convert", path, "n.keras"]) == 0
    source = "/model_weights/conv2d_1/training/conv2d_1/kernel"
    assert capsys.readouterr().out == (
        f"{path} -> n.keras: archive of Keras 3\n"
        f"  2 weights, 112 parameters, {Path('n.keras').stat().st_size:,} bytes; equal when read back\n"
        "  optimizer: kept\n"
        f"  conv2d_1/kernel:0 (3, 3, 3, 4) <- {source}  [flipped along the spatial axes]\n"
    )


def test_as_json(capsys):
    small()
    assert told(capsys, "m.h5", "n.safetensors") == (
        0,
        {
            "file": "m.h5",
            "out": "n.safetensors",
            "format": "safetensors, names of the state_dict",
            "whole_model": True,
            "data_format": None,
            "dtype": None,
            "weights": 4,
            "parameters": 11,
            "bytes": Path("n.safetensors").stat().st_size,
            "converted": [],
            "optimizer": "none",
            "equal_when_read_back": True,
        },
    )


# --- the optimizer ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("out", ["n.h5", "n.keras", "n.pt", "n.safetensors"])
def test_the_state_of_the_optimizer_goes_along(capsys, out):
    model = small(compiled=True)
    code, found = told(capsys, "m.h5", out)
    assert (code, found["optimizer"]) == (0, "kept")
    again = load_model(out)
    for array, expected in zip(again.optimizer.get_weights(), model.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(array, expected)


def test_the_optimizer_is_left_out_where_it_has_no_place_or_is_not_wanted(capsys):
    small(compiled=True)
    assert told(capsys, "m.h5", "n.pt", "--weights-only")[1]["optimizer"] == "left out: OUT holds weights alone"
    assert told(capsys, "m.h5", "n.h5", "--without-optimizer")[1]["optimizer"] == "none"
    assert load_model("n.h5").optimizer is None


# --- types of numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("out", "dtype"),
    [
        ("n.h5", "float16"),
        ("n.h5", "float64"),
        ("n.keras", "float16"),
        ("n.pt", "bfloat16"),
        ("n.safetensors", "bfloat16"),
    ],
)
def test_numbers_of_another_size(capsys, out, dtype):
    small()
    assert main(["convert", "m.h5", out, "--dtype", dtype]) == 0
    assert f"  stored as: {dtype}\n" in capsys.readouterr().out
    assert main(["inspect", out, "--json"]) == (1 if dtype != "float32" else 0)
    found = json.loads(capsys.readouterr().out)
    assert {weight["dtype"] for layer in found["layers"] for weight in layer["weights"]} == {dtype}


def test_float64_and_back_changes_nothing():
    expected = small().predict(X)
    assert main(["convert", "m.h5", "n.h5", "--dtype", "float64"]) == 0
    np.testing.assert_array_equal(load_model("n.h5").predict(X), expected)


def test_bfloat16_is_not_of_hdf5(capsys):
    small()
    for out in ("n.h5", "n.keras", "n.weights.h5"):
        assert failure(capsys, "m.h5", out, "--dtype", "bfloat16") == (
            2,
            "UsageError",
            f"{out}: bfloat16 goes with .safetensors and .pt; HDF5 has no such numbers.",
        )


def test_values_that_would_become_infinite(capsys):
    model = small()
    kernel, bias = model.get_layer("last").get_weights()
    model.get_layer("last").set_weights([kernel * 0 + 1e6, bias])
    model.save("m.h5")
    assert failure(capsys, "m.h5", "n.h5", "--dtype", "float16") == (
        10,
        "RequestError",
        "last/kernel:0: 2 of its values are beyond what float16 holds.",
    )
    assert not Path("n.h5").exists()


# --- data formats ----------------------------------------------------------------------------------------------------


def test_the_other_data_format(capsys):
    image = Input((4, 5, 2))
    model = Model(image, Dense(3)(Flatten()(Conv2D(2, (2, 3))(image))))
    model.compile("sgd", "mse")
    model.save("m.h5")
    x = np.random.default_rng(0).normal(size=(2, 4, 5, 2)).astype("float32")
    code, found = told(capsys, "m.h5", "n.h5", "--data-format", "channels_first")
    assert (code, found["data_format"]) == (0, "channels_first")
    assert found["optimizer"] == "left out: its state is in the other data format"
    turned = load_model("n.h5")
    assert turned.inputs[0].shape == (None, 2, 4, 5)
    np.testing.assert_allclose(turned.predict(x.transpose(0, 3, 1, 2)), model.predict(x), atol=1e-5)


# --- what it ends with -----------------------------------------------------------------------------------------------


def test_a_suffix_of_no_format(capsys):
    small()
    assert failure(capsys, "m.h5", "n.onnx") == (
        2,
        "UsageError",
        "n.onnx: the suffix must be one of .h5, .hdf5, .hdf, .keras, .weights.h5, .safetensors, .pt, .pth.",
    )


def test_a_file_that_is_there_is_replaced_only_when_told_to(capsys):
    expected = small().predict(X)
    Path("n.h5").write_text("old")
    assert failure(capsys, "m.h5", "n.h5") == (
        2,
        "UsageError",
        "n.h5: the file exists already; --overwrite replaces it.",
    )
    assert Path("n.h5").read_text() == "old"
    assert main(["convert", "m.h5", "n.h5", "--overwrite"]) == 0
    np.testing.assert_array_equal(load_model("n.h5").predict(X), expected)


def test_a_folder_that_is_not_there(capsys):
    small()
    assert failure(capsys, "m.h5", "no/n.h5") == (2, "UsageError", "no/n.h5: there is no folder 'no'.")


def test_weights_alone_need_an_architecture(capsys):
    small().save_weights("w.h5")
    assert failure(capsys, "w.h5", "n.keras") == (
        2,
        "UsageError",
        "w.h5: it holds only weights; give their model by --architecture FILE.json.",
    )


def test_an_archive_is_never_weights_alone(capsys):
    small()
    assert failure(capsys, "m.h5", "n.keras", "--weights-only") == (
        2,
        "UsageError",
        "n.keras: a .keras archive holds the architecture; --weights-only goes with .h5.",
    )


def test_an_architecture_that_is_not_json(capsys):
    small()
    Path("m.json").write_text("{")
    code, kind, text = failure(capsys, "m.h5", "n.h5", "--architecture", "m.json")
    assert (code, kind) == (3, "UnreadableFileError")
    assert text.startswith("m.json is not JSON (")


def test_an_architecture_of_other_weights(capsys):
    small()
    Path("m.json").write_text(Sequential([Dense(5, input_shape=(3,), name="first")]).to_json())
    assert failure(capsys, "m.h5", "n.h5", "--architecture", "m.json") == (
        8,
        "WeightMismatchError",
        (
            "m.h5: cannot load the weights of 2 layers into a model with 1 layers that have weights: the file has "
            "first, last; the model first. Build the model as it was when its weights were saved."
        ),
    )


def test_an_architecture_that_cannot_be_built(capsys):
    small()
    with h5py.File("m.h5", "a") as file:
        file.attrs["model_config"] = file.attrs["model_config"].replace('"Dense"', '"Mine"').encode()
    code, kind, text = failure(capsys, "m.h5", "n.h5")
    assert (code, kind) == (7, "ArchitectureError")
    assert text.startswith("m.h5: Unknown layer: 'Mine'.")


def test_what_keras_3_does_not_have(capsys):
    image = Input((4, 4, 1))
    Model(image, torchkeras.layers.LocallyConnected2D(1, 2)(image)).save("m.h5")
    code, kind, text = failure(capsys, "m.h5", "n.keras")
    assert (code, kind) == (10, "RequestError")
    assert "LocallyConnected2D" in text
    assert not Path("n.keras").exists()


def test_a_hostile_archive_is_refused_and_nothing_written(capsys):
    small()
    main(["convert", "m.h5", "n.keras"])
    with zipfile.ZipFile("n.keras", "a") as archive:
        archive.writestr("../evil.py", "print()")
    capsys.readouterr()
    assert failure(capsys, "n.keras", "out.h5") == (
        5,
        "ForbiddenContentError",
        "n.keras: member '../evil.py' is not part of a model, which has metadata.json, config.json, model.weights.h5.",
    )
    assert sorted(path.name for path in Path().iterdir()) == ["m.h5", "n.keras"]


def test_a_copy_that_is_not_equal_is_not_kept(capsys, monkeypatch):
    small()
    read_back = convert._read_back

    def damaged(model, path, whole):
        again = read_back(model, path, whole)
        kernel, bias = again.get_layer("last").get_weights()
        again.get_layer("last").set_weights([np.nextafter(kernel, np.float32(9)), bias])
        return again

    monkeypatch.setattr(convert, "_read_back", damaged)
    assert failure(capsys, "m.h5", "n.h5") == (
        1,
        "DifferenceError",
        "n.h5: read back, last/kernel:0 has other values.",
    )
    assert [path.name for path in Path().iterdir()] == ["m.h5"]


def test_a_folder_that_may_not_be_written_to(capsys, monkeypatch):
    small()

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(convert, "_write", refuse)
    assert failure(capsys, "m.h5", "n.h5") == (11, "SystemError", "n.h5: Permission denied.")
    assert [path.name for path in Path().iterdir()] == ["m.h5"]
