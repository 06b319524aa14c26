"""`torchkeras inspect`: what it tells of files, what it calls suspicious, and how it ends."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# h5py types what stands under a name as anything that may.

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.commands import main, reading_hdf5
from torchkeras.commands.contents import Contents
from torchkeras.commands.exits import MEANINGS
from torchkeras.commands.findings import find_unknown_classes
from torchkeras.layers import BatchNormalization, Conv2D, Dense, Flatten, Input
from torchkeras.models import Model, Sequential

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(autouse=True)
def fresh_session(tmp_path, monkeypatch):
    torchkeras.clear_session()
    torch.manual_seed(0)
    monkeypatch.chdir(tmp_path)


def small():
    model = Sequential([Dense(2, input_shape=(3,), name="first"), Dense(1, use_bias=False, name="last")])
    model.save("m.h5")
    return model


def told(capsys, *arguments):
    """The exit code and the JSON of `inspect`."""
    code = main(["inspect", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_whole_model_as_text(capsys):
    small()
    assert main(["inspect", "m.h5"]) == 0
    assert capsys.readouterr().out == (
        "m.h5: HDF5, a group a layer: a whole model\n"
        f"  size         {Path('m.h5').stat().st_size:,} bytes\n"
        "  Keras        2.2.4\n"
        "  backend      tensorflow\n"
        "  data format  not told\n"
        "  in all       2 layers, 3 weights, 10 parameters, 40 bytes\n"
        "layers\n"
        "  first (Dense): 8 parameters\n"
        "    /model_weights/first/first/kernel:0 (3, 2) float32\n"
        "    /model_weights/first/first/bias:0 (2,) float32\n"
        "  last (Dense): 2 parameters\n"
        "    /model_weights/last/last/kernel:0 (2, 1) float32\n"
        "loading: it loads\n"
        "  3 of 3 weights taken as stored\n"
        "suspicious: nothing\n"
    )


def test_a_whole_model_as_json(capsys):
    model = small()
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.zeros((4, 3), "float32"), np.zeros((4, 1), "float32"), verbose=0)
    model.save("m.h5")
    code, found = told(capsys, "m.h5")
    assert code == 0
    assert found["file"] == "m.h5"
    assert found["whole_model"] is True
    assert (found["keras_version"], found["backend"], found["data_format"]) == ("2.2.4", "tensorflow", None)
    assert found["totals"] == {"layers": 2, "weights": 3, "parameters": 10, "bytes": 40}
    assert found["layers"][1] == {
        "name": "last",
        "class_name": "Dense",
        "parameters": 2,
        "weights": [
            {"path": "/model_weights/last/last/kernel:0", "shape": [2, 1], "dtype": "float32", "parameters": 2}
        ],
    }
    assert found["optimizer"]["class_name"] == "Adam"
    assert found["optimizer"]["options"]["beta_1"] == pytest.approx(0.9)
    assert found["optimizer"]["state_arrays"] == 10
    assert found["training"]["loss"] == "mse"
    assert found["training"]["metrics"] == ["mae"]
    assert found["loading"]["text"] == "it loads"
    assert found["loading"]["weights"][0] == {
        "layer": "first",
        "weight": "first/kernel:0",
        "shape": [3, 2],
        "sources": ["/model_weights/first/first/kernel:0"],
        "conversions": [],
    }
    assert found["findings"] == []


def test_what_is_converted_is_told(capsys):
    path = GOLDEN / "keras-2.2.4-theano" / "conv2d_00" / "model.h5"
    code = main(["inspect", str(path)])
    printed = capsys.readouterr().out
    assert code == 0
    assert "  backend      theano\n" in printed
    source = "/model_weights/conv2d_1/training/conv2d_1/kernel"
    assert f"  conv2d_1/kernel:0 (3, 3, 3, 4) <- {source}  [flipped along the spatial axes]\n" in printed


def test_weights_alone_are_said_to_be(capsys):
    small().save_weights("w.h5")
    code, found = told(capsys, "w.h5")
    assert code == 0
    assert found["layout"] == "HDF5, a group a layer: weights alone"
    assert found["loading"] == {
        "text": "weights alone: there is no architecture in the file to load",
        "error": None,
        "weights": [],
    }
    assert found["layers"][0]["class_name"] is None


@pytest.mark.parametrize(
    ("name", "layout", "path"),
    [
        ("w.weights.h5", "HDF5 by paths (.weights.h5): weights alone", "/layers/dense/vars/0"),
        ("w.safetensors", "safetensors, names of a state_dict: weights alone", "first.linear.weight"),
        ("w.pt", "torch state_dict (.pt): weights alone", "first.linear.weight"),
    ],
)
def test_other_formats_of_weights(capsys, name, layout, path):
    small().save_weights(name)
    code, found = told(capsys, name)
    assert (code, found["layout"], found["findings"]) == (0, layout, [])
    assert path in [weight["path"] for layer in found["layers"] for weight in layer["weights"]]
    assert found["totals"]["parameters"] == 10


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("m.safetensors", "safetensors, names of a state_dict: a whole model"),
        ("m.pt", "torch state_dict (.pt): a whole model"),
    ],
)
def test_whole_models_under_torch_s_names(capsys, name, layout):
    model = small()
    model.compile("sgd", "mse")
    model.save(name)
    code, found = told(capsys, name)
    assert (code, found["layout"], found["whole_model"], found["findings"]) == (0, layout, True, [])
    assert found["loading"]["text"] == "it loads"
    assert found["optimizer"]["class_name"] == "SGD"


def test_a_text_that_is_no_architecture(capsys):
    model = small()
    tensors = model.state_dict()
    tensors._metadata[""] = {"torchkeras": "[]"}
    torch.save(tensors, "m.pt")
    code, found = told(capsys, "m.pt")
    assert (code, found["loading"]["error"]["kind"]) == (3, "UnreadableFileError")
    text = "m.pt: its architecture must be a JSON object with 'model_config'."
    assert {"kind": "text", "where": "metadata 'torchkeras'", "text": text} in found["findings"]


def test_an_archive(capsys):
    small().save("m.keras")
    code, found = told(capsys, "m.keras")
    assert (code, found["layout"], found["findings"]) == (0, ".keras archive: a whole model", [])
    assert found["keras_version"].startswith("3.")
    assert found["layers"][0]["name"] == "layers/dense"
    assert found["loading"]["weights"][0]["weight"] == "first/kernel:0"


def test_a_file_of_keras_0(capsys):
    with h5py.File("w.h5", "w") as file:
        file.attrs["nb_layers"] = 1
        group = file.create_group("layer_0")
        group.attrs["nb_params"] = 2
        group["param_0"] = np.ones((3, 2), "float32")
        group["param_1"] = np.zeros(2, "float32")
    code, found = told(capsys, "w.h5")
    assert (code, found["layout"]) == (0, "HDF5 of Keras 0 (layer_0/param_0): weights alone")
    assert [weight["path"] for weight in found["layers"][0]["weights"]] == ["/layer_0/param_0", "/layer_0/param_1"]


# --- what is suspicious ----------------------------------------------------------------------------------------------


def change(path, **values):
    """Set arrays of a file, by the name of the layer."""
    with h5py.File(path, "a") as file:
        for layer, value in values.items():
            file[f"model_weights/{layer}/{layer}/kernel:0"][...] = value


def findings(capsys, path, expected=1):
    code, found = told(capsys, path)
    assert code == expected
    return [(finding["kind"], finding["where"], finding["text"]) for finding in found["findings"]]


@pytest.mark.parametrize("slab", [4, 16 << 20])
def test_values_that_are_not_finite(slab, capsys, monkeypatch):
    """A large array is read by rows."""
    monkeypatch.setattr(reading_hdf5, "SLAB", slab)
    small()
    change("m.h5", last=[[np.nan], [1.0]])
    assert findings(capsys, "m.h5") == [
        ("not finite", "/model_weights/last/last/kernel:0", "1 of 2 values are NaN or infinite")
    ]


def test_a_kernel_of_zeros_is_suspicious_and_a_bias_is_not(capsys):
    small()
    change("m.h5", last=0.0)
    assert findings(capsys, "m.h5") == [("zeros", "/model_weights/last/last/kernel:0", "all 2 values are 0")]


def test_an_array_that_no_list_names(capsys):
    small().save_weights("w.h5")
    with h5py.File("w.h5", "a") as file:
        file["first/more"] = np.ones(3, "float32")
    assert findings(capsys, "w.h5") == [("unlisted", "/first/more", "an array that no list names")]


def test_lists_that_name_what_is_not_there(capsys):
    small().save_weights("w.h5")
    with h5py.File("w.h5", "a") as file:
        file.attrs["layer_names"] = [b"first", b"gone", b"last"]
        file["last"].attrs["weight_names"] = [b"last/kernel:0", b"last/kernel:0", b"last/bias:0"]
    assert findings(capsys, "w.h5") == [
        ("list", "/", "'layer_names' has 'gone', which has no group"),
        ("list", "/last", "'weight_names' has 'last/kernel:0' 2 times"),
        (
            "list",
            "/last",
            "'weight_names' has 'last/bias:0', which cannot be read: w.h5: /last has no dataset 'last/bias:0'.",
        ),
    ]


def test_versions_that_contradict_and_that_are_missing(capsys):
    small()
    with h5py.File("m.h5", "a") as file:
        file["model_weights"].attrs["keras_version"] = b"2.1.0"
    assert findings(capsys, "m.h5") == [("version", "attribute 'keras_version'", "it says 2.1.0 and 2.2.4")]
    small().save_weights("w.h5")
    with h5py.File("w.h5", "a") as file:
        del file.attrs["keras_version"]
    assert findings(capsys, "w.h5") == [("version", "", "there is no 'keras_version'")]


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_numbers_of_another_size(capsys, dtype):
    small().save_weights("w.h5")
    with h5py.File("w.h5", "a") as file:
        del file["last/last/kernel:0"]
        file["last/last/kernel:0"] = np.ones((2, 1), dtype)
    assert findings(capsys, "w.h5") == [("dtype", "/last/last/kernel:0", f"its values are {dtype}")]


def test_an_array_without_values(capsys):
    small().save_weights("w.h5")
    with h5py.File("w.h5", "a") as file:
        del file["last/last/kernel:0"]
        file["last/last/kernel:0"] = np.ones((2, 0), "float32")
    assert findings(capsys, "w.h5") == [("empty", "/last/last/kernel:0", "it has shape (2, 0), and no values")]


def test_shapes_that_disagree_with_the_architecture(capsys):
    small()
    with h5py.File("m.h5", "a") as file:
        del file["model_weights/last/last/kernel:0"]
        file["model_weights/last/last/kernel:0"] = np.ones((3, 1), "float32")
    assert findings(capsys, "m.h5", 8) == [
        (
            "loading",
            "",
            (
                "m.h5: layer 'last' (Dense): weight 'last/kernel:0' has shape (2, 1), but the saved last/kernel:0 has "
                "shape (3, 1). Build the model as it was when its weights were saved."
            ),
        )
    ]


@pytest.mark.parametrize("more", [b"MZ", b"\0" * 1000])
def test_bytes_behind_the_end(capsys, more):
    small()
    with Path("m.h5").open("ab") as file:
        file.write(more)
    size = Path("m.h5").stat().st_size
    text = f"m.h5: the file has {size} bytes; its first block says {size - len(more)}."
    assert failure(capsys, "m.h5") == (3, "UnreadableFileError", text)


def test_bytes_before_the_beginning(capsys):
    small()
    Path("n.h5").write_bytes(bytes(512) + Path("m.h5").read_bytes())
    assert ("before", "", "512 bytes come before the beginning of HDF5") in findings(capsys, "n.h5")


def architecture(path, change):
    with h5py.File(path, "a") as file:
        config = json.loads(file.attrs["model_config"])
        change(config["config"]["layers"])
        file.attrs["model_config"] = json.dumps(config).encode()


def test_all_unknown_classes_are_named(capsys):
    small()

    def rename(layers):
        for layer, name in zip(layers, ("Mine", "Yours"), strict=True):
            layer["class_name"] = name

    architecture("m.h5", rename)
    found = findings(capsys, "m.h5", 7)
    assert found[0][0] == "loading"
    assert found[0][2].startswith("m.h5: Unknown layer: 'Mine'.")
    assert found[1:] == [
        ("class", "", "the class 'Mine' is not known"),
        ("class", "", "the class 'Yours' is not known"),
    ]


@pytest.mark.parametrize(
    "path",
    [
        "training-goes-on/keras-3.15/objective_dice/model.keras",  # an optimizer, a loss, a metric, policies of types
        "training-goes-on/tf_keras-2.21/gru_cosine/model.keras",  # a schedule
        "mixed-precision/tf_keras-recurrent-mixed_float16.h5",
        "keras-own-cases/keras-3.15/ops_pairs/model.h5",  # functions of tensors
        "keras-own-cases/keras-3.15/ops3_shape/model.keras",
    ],
)
def test_only_layers_are_unknown_classes(path):
    if path.endswith(".keras"):
        with zipfile.ZipFile(GOLDEN / path) as archive:
            config = json.loads(archive.read("config.json"))
    else:
        with h5py.File(GOLDEN / path) as file:
            config = json.loads(file.attrs["model_config"])
    contents = Contents("a layout", config=config)
    find_unknown_classes(contents)
    assert contents.findings == []
    config["config"]["layers"][0]["class_name"] = "Mine"
    find_unknown_classes(contents)
    assert [found.text for found in contents.findings] == ["the class 'Mine' is not known"]


def test_bytecode_is_named_where_it_stands(capsys):
    small()
    code = {
        "class_name": "Lambda",
        "config": {"name": "evil", "function": ["4wEA", None, None], "function_type": "lambda"},
    }
    architecture("m.h5", lambda layers: layers.append(code))
    found = findings(capsys, "m.h5", 5)
    assert [kind for kind, _, _ in found] == ["loading", "bytecode"]
    assert found[1] == (
        "bytecode",
        "Lambda 'evil'",
        (
            "'function' is Python bytecode, which is never run; load_model takes a function in its place by "
            "custom_objects={'evil': function}"
        ),
    )


def test_a_compile_that_cannot_be_restored_is_no_reason_not_to_tell_the_rest(capsys):
    model = small()
    model.compile("sgd", "mse")
    model.save("m.h5")
    with h5py.File("m.h5", "a") as file:
        training = json.loads(file.attrs["training_config"])
        training["optimizer_config"]["class_name"] = "Mine"
        file.attrs["training_config"] = json.dumps(training).encode()
    code, found = told(capsys, "m.h5")
    assert code == 1
    assert [finding["kind"] for finding in found["findings"]] == ["training"]
    assert found["loading"]["text"] == "it loads"
    assert len(found["loading"]["weights"]) == 3


def test_attributes_that_are_no_json(capsys):
    small()
    with h5py.File("m.h5", "a") as file:
        file.attrs["model_config"] = b"{"
    found = findings(capsys, "m.h5", 3)
    assert [(kind, where) for kind, where, _ in found] == [("text", "attribute 'model_config'"), ("loading", "")]


def test_trailing_bytes_of_safetensors(capsys):
    small().save_weights("w.safetensors")
    with Path("w.safetensors").open("ab") as file:
        file.write(b"more")
    assert findings(capsys, "w.safetensors") == [("trailing", "", "4 bytes follow the last array")]


def test_hdf5_of_no_layout_is_described_as_far_as_it_can_be(capsys):
    with h5py.File("x.h5", "w") as file:
        file["table"] = np.ones(3)
    assert findings(capsys, "x.h5") == [
        ("layout", "/", "there is no list of layers, and there are no 'vars' of Keras 3"),
        ("unlisted", "/table", "an array that no list names"),
    ]


def test_names_that_a_terminal_would_obey_are_escaped(capsys):
    model = Sequential([Dense(1, input_shape=(2,), name="a\x1b[31m\nb")])
    model.save_weights("w.h5")
    assert main(["inspect", "w.h5"]) == 0
    assert "\n  a\\x1b[31m\\nb (class not told): 3 parameters\n" in capsys.readouterr().out


# --- what it ends with -----------------------------------------------------------------------------------------------


def failure(capsys, *arguments):
    """The exit code and the error of `inspect`, as text and as JSON."""
    code = main(["inspect", *arguments])
    text = capsys.readouterr()
    assert (main(["inspect", *arguments, "--json"]), text.out) == (code, "")
    found = json.loads(capsys.readouterr().out)["error"]
    assert text.err == f"torchkeras: {found['kind']}: {found['message']}\n"
    assert found["exit"] == code
    return code, found["kind"], found["message"]


def test_a_file_that_is_not_there(capsys):
    assert failure(capsys, "no.h5") == (2, "UsageError", "no.h5: there is no such file.")


def test_options_that_are_not_there(capsys):
    assert failure(capsys, "m.h5", "--fast") == (
        2,
        "UsageError",
        "unrecognized arguments: --fast (see torchkeras --help)",
    )


def test_a_file_that_is_cut_short(capsys):
    small()
    Path("m.h5").write_bytes(Path("m.h5").read_bytes()[:2000])
    code, kind, text = failure(capsys, "m.h5")
    assert (code, kind) == (3, "UnreadableFileError")
    assert text.startswith("m.h5: not a readable HDF5 file (")


def test_a_file_of_another_kind(capsys):
    Path("m.h5").write_bytes(b"GIF89a-------------")
    assert failure(capsys, "m.h5") == (
        4,
        "UnknownFormatError",
        "m.h5: it begins neither as HDF5, nor as a zip, nor as safetensors.",
    )


def test_a_link_to_another_file_is_refused(capsys):
    small()
    with h5py.File("m.h5", "a") as file:
        file["model_weights/first/more"] = h5py.ExternalLink("/etc/passwd", "/x")
    assert failure(capsys, "m.h5") == (
        5,
        "ForbiddenContentError",
        "m.h5: /model_weights/first/more is a link to another file; a model file holds what it names itself.",
    )


def test_a_pickle_of_other_objects_is_refused(capsys):
    torch.save({"first": Path("x")}, "w.pt")
    assert failure(capsys, "w.pt") == (
        5,
        "ForbiddenContentError",
        "w.pt: it holds more than tensors, or no pickled tensors at all.",
    )


def test_a_limit_of_time(capsys):
    small()
    assert failure(capsys, "m.h5", "--seconds", "1e-6") == (
        6,
        "FileLimitError",
        "m.h5: reading it takes longer than 1e-06 seconds.",
    )


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--seconds=0", "argument --seconds: seconds must be a positive number; found '0'"),
        ("--memory=2T", "argument --memory: memory must be a number of bytes, or one with K, M or G; found '2T'"),
    ],
)
def test_limits_that_are_none(capsys, option, text):
    assert failure(capsys, "m.h5", option) == (2, "UsageError", f"{text} (see torchkeras inspect --help)")


def test_a_command_is_asked_for(capsys):
    assert main([]) == 2
    assert capsys.readouterr().err == (
        "torchkeras: UsageError: the following arguments are required: "
        "inspect | doctor | convert | verify | eject | run | env (see torchkeras --help)\n"
    )


def test_help_has_the_table_of_codes(capsys):
    assert main(["--help"]) == 0
    assert "  5  ForbiddenContentError: it holds what no model needs and an attack may use\n" in capsys.readouterr().out


def test_damaged_files_end_with_a_code_and_json(capsys):
    small()
    whole, random = Path("m.h5").read_bytes(), np.random.default_rng(0)
    for _ in range(40):
        damaged = bytearray(whole)
        for at in random.integers(0, 2500, 3):
            damaged[at] = random.integers(0, 256)
        Path("d.h5").write_bytes(damaged)
        code, found = told(capsys, "d.h5")
        assert code in MEANINGS
        assert ("error" in found) == ("layers" not in found)


def test_a_process_of_its_own():
    small()
    command = [sys.executable, "-m", "torchkeras", "inspect", "m.h5", "--json", "--progress"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0
    assert json.loads(found.stdout)["totals"]["parameters"] == 10
    assert "looking" in found.stderr


def test_no_bar_unless_asked_for_on_a_small_file(capsys):
    small()
    main(["inspect", "m.h5"])
    assert capsys.readouterr().err == ""


def test_a_model_of_images_tells_its_data_format(capsys):
    image = Input((4, 4, 2))
    Model(image, Flatten()(BatchNormalization()(Conv2D(2, 3)(image)))).save("m.h5")
    code, found = told(capsys, "m.h5")
    assert (code, found["data_format"]) == (0, "channels_last")
