"""`torchkeras verify`: outputs compared with a record, and where they begin to differ."""

# pyright: reportArgumentType=false
# numpy types what savez takes by name as its own options.

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras import registry
from torchkeras.commands import main
from torchkeras.commands.verify import Tolerance, compare
from torchkeras.layers import LSTM, Activation, Add, Dense, Input
from torchkeras.models import Model, Sequential

GOLDEN = Path(__file__).parents[1] / "golden"
X = np.array([[1.0, 2.0], [3.0, -4.0]], "float32")


@pytest.fixture(autouse=True)
def fresh_session(tmp_path, monkeypatch):
    torchkeras.clear_session()
    torch.manual_seed(0)
    monkeypatch.chdir(tmp_path)


def ones():
    """Two layers of ones: sums of the inputs, twice."""
    model = Sequential(
        [
            Dense(2, input_shape=(2,), kernel_initializer="ones", name="first"),
            Dense(1, kernel_initializer="ones", name="last"),
        ]
    )
    model.save("m.h5")
    return model


def told(capsys, *arguments):
    """The exit code and the JSON of `verify`."""
    code = main(["verify", "m.h5", "--against", "io.npz", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "case",
    [
        "keras-2.2.4-tensorflow/model_nested_model",
        "keras-2.2.4-theano/conv2d_00",
        "keras-2.2.4-tensorflow/model_multi_output_layer_reuse",
    ],
)
def test_files_of_genuine_keras_against_their_records(case):
    folder = GOLDEN / case
    assert main(["verify", str(folder / "model.h5"), "--against", str(folder / "io.npz")]) == 0


def test_equal_as_text(capsys):
    ones()
    np.savez("io.npz", x0=X, y0=np.array([[6.0], [-2.0]]))
    assert main(["verify", "m.h5", "--against", "io.npz"]) == 0
    assert capsys.readouterr().out == "m.h5 against io.npz: equal\n  y0 (2, 1): equal, largest error 0\n"


def test_a_difference_as_text(capsys):
    ones()
    np.savez("io.npz", x0=X, y0=np.array([[6.0], [-2.5]]))
    assert main(["verify", "m.h5", "--against", "io.npz"]) == 1
    assert capsys.readouterr().out == (
        "m.h5 against io.npz: differs\n"
        "  y0 (2, 1): differs, largest error 0.5 at [1, 0] (-2, expected -2.5), 50.00% of the values outside the "
        "tolerance\n"
    )


def test_a_difference_as_json(capsys):
    ones()
    np.savez("io.npz", x0=X, y0=np.array([[6.0], [-2.5]]))
    assert told(capsys) == (
        1,
        {
            "file": "m.h5",
            "against": "io.npz",
            "equal": False,
            "outputs": [
                {
                    "name": "y0",
                    "equal": False,
                    "shape": [2, 1],
                    "expected_shape": [2, 1],
                    "largest_error": 0.5,
                    "at": [1, 0],
                    "found": -2.0,
                    "expected": -2.5,
                    "outside": 0.5,
                    "not_finite": 0,
                }
            ],
            "layers": [],
            "first_difference": None,
            "first_not_finite": None,
        },
    )


def test_the_tolerances_are_those_asked_for(capsys):
    ones()
    np.savez("io.npz", x0=X, y0=np.array([[6.0], [-2.5]]))
    assert told(capsys, "--atol", "0.5", "--rtol", "0")[0] == 0
    assert told(capsys, "--atol", "0", "--rtol", "0.2")[0] == 0
    assert told(capsys, "--atol", "0.4", "--rtol", "0")[0] == 1


def test_another_shape(capsys):
    ones()
    np.savez("io.npz", x0=X, y0=np.zeros((2, 3)))
    assert main(["verify", "m.h5", "--against", "io.npz"]) == 1
    assert capsys.readouterr().out == "m.h5 against io.npz: differs\n  y0: shape (2, 1), expected (2, 3)\n"


def test_the_first_layer_that_differs(capsys):
    ones()
    sums = np.array([[3.0, 3.0], [-1.0, -1.0]])
    layers = {"layer:last": np.array([[6.0], [9.0]]), "layer:first": sums + np.diag([0, 1])}
    np.savez("io.npz", x0=X, y0=np.array([[6.0], [9.0]]), **layers)
    assert main(["verify", "m.h5", "--against", "io.npz"]) == 1
    assert capsys.readouterr().out.splitlines()[2:] == [
        "layers in the record: 2",
        (
            "  the first that differs: first (2, 2): differs, largest error 1 at [1, 1] (-1, expected 0), 25.00% of "
            "the values outside the tolerance"
        ),
    ]
    code, found = told(capsys)
    assert (code, [layer["name"] for layer in found["layers"]]) == (1, ["first", "last"])
    assert found["first_difference"]["name"] == "first"


def test_a_layer_that_differs_is_found_although_the_outputs_agree(capsys):
    ones()
    np.savez("io.npz", x0=X, y0=np.array([[6.0], [-2.0]]), **{"layer:first": np.zeros((2, 2))})
    code, found = told(capsys)
    assert (code, found["equal"], found["first_difference"]["name"]) == (1, True, "first")


def test_a_layer_called_twice_has_its_calls_numbered(capsys):
    a, b = Input((2,)), Input((2,))
    shared = Dense(1, kernel_initializer="ones", name="shared")
    Model([a, b], Add()([shared(a), shared(b)])).save("m.h5")
    one, two = X.sum(1, keepdims=True), 2 * X.sum(1, keepdims=True)
    np.savez("io.npz", x0=X, x1=2 * X, y0=one + two, **{"layer:shared": one, "layer:shared#1": two})
    code, found = told(capsys)
    assert (code, [layer["name"] for layer in found["layers"]]) == (0, ["shared", "shared#1"])


def test_the_first_layer_whose_output_is_not_finite(capsys):
    inner = Sequential([Dense(1, input_shape=(2,), name="d"), Activation(torch.log, name="logarithm")], name="inner")
    outer = Sequential([inner, Activation("relu", name="after")])
    inner.get_layer("d").set_weights([np.ones((2, 1)), np.zeros(1)])
    with registry.custom_object_scope({"log": torch.log}):
        outer.save("m.h5")
        np.savez("io.npz", x0=X, y0=np.log(np.array([[3.0], [1.0]])))
        code, found = told(capsys)
    assert code == 1
    assert found["first_not_finite"] == "logarithm (Activation)"
    assert found["outputs"][0]["not_finite"] == 1
    assert found["outputs"][0]["largest_error"] == "inf"


def test_a_stateful_model_is_called_twice(capsys):
    model = Sequential([LSTM(2, batch_input_shape=(2, 1, 2), stateful=True)])
    model.save("m.h5")
    first, second = model.predict(X[:, None], batch_size=2), model.predict(X[:, None], batch_size=2)
    np.savez("io.npz", x0=X[:, None], y0=first, second_y0=second)
    assert told(capsys)[0] == 0
    np.savez("io.npz", x0=X[:, None], y0=first, second_y0=first)
    code, found = told(capsys)
    assert (code, [output["equal"] for output in found["outputs"]]) == (1, [True, False])


@pytest.mark.parametrize(
    ("found", "expected", "equal"),
    [
        ([np.nan], [np.nan], True),
        ([np.inf], [np.inf], True),
        ([np.inf], [-np.inf], False),
        ([1.0], [np.inf], False),
        ([np.nan], [1.0], False),
        ([1.0], [np.nan], False),
        ([], [], True),
    ],
)
def test_values_that_are_not_finite_are_equal_to_themselves_alone(found, expected, equal):
    assert compare("y0", np.array(found), np.array(expected), Tolerance(1e-4, 1e-3)).equal is equal


# --- what it ends with -----------------------------------------------------------------------------------------------


def failure(capsys, *arguments):
    code, found = told(capsys, *arguments)
    return code, found["error"]["kind"], found["error"]["message"]


def test_no_record(capsys):
    ones()
    assert failure(capsys) == (2, "UsageError", "io.npz: there is no such file.")


def test_a_record_of_something_else(capsys):
    ones()
    np.savez("io.npz", a=X)
    assert failure(capsys) == (2, "UsageError", "io.npz: there is no 'x0' in it; found nothing.")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"neither"])
def test_a_record_that_is_damaged(capsys, content):
    ones()
    Path("io.npz").write_bytes(content)
    code, kind, text = failure(capsys)
    assert (code, kind) == (3, "UnreadableFileError")
    assert text.startswith("io.npz: not a readable .npz file (")


def test_a_record_that_is_one_array(capsys):
    ones()
    with Path("io.npz").open("wb") as file:
        np.save(file, X)
    assert failure(capsys) == (3, "UnreadableFileError", "io.npz: it must be an .npz file.")


def test_a_record_with_pickled_objects_is_not_unpickled(capsys):
    ones()
    np.savez("io.npz", x0=np.array([Path("x")], object), y0=X)
    assert failure(capsys) == (5, "ForbiddenContentError", "io.npz: 'x0.npy' holds Python objects.")


def test_a_record_of_another_model(capsys):
    ones()
    np.savez("io.npz", x0=X, x1=X, y0=X)
    assert failure(capsys) == (10, "RequestError", "io.npz: it has 2 inputs; the model has 1.")
    np.savez("io.npz", x0=X, y0=X, y1=X)
    assert failure(capsys) == (10, "RequestError", "io.npz: it has 2 outputs; the model has 1.")
    np.savez("io.npz", x0=np.zeros((2, 5)), y0=X)
    code, kind, _ = failure(capsys)
    assert (code, kind) == (10, "RequestError")


def test_a_layer_that_the_model_does_not_have(capsys):
    ones()
    np.savez("io.npz", x0=X, y0=np.array([[6.0], [-2.0]]), **{"layer:none": X})
    assert failure(capsys) == (
        10,
        "RequestError",
        "The record has layer:none, and the model has no such layer.",
    )


def test_tensors_alone(capsys):
    ones().save_weights("w.pt")
    Path("w.pt").rename("m.h5")
    np.savez("io.npz", x0=X, y0=X)
    assert failure(capsys) == (
        4,
        "UnknownFormatError",
        (
            "m.h5: it holds only weights, no architecture. Build the model as it was, and load them with "
            "`model.load_weights`."
        ),
    )


@pytest.mark.parametrize("name", ["m.pt", "m.safetensors"])
def test_a_whole_model_under_torch_s_names(capsys, name):
    model = ones()
    model.save(name)
    np.savez("io.npz", x0=X, y0=model.predict(X))
    assert main(["verify", name, "--against", "io.npz"]) == 0


def test_weights_alone(capsys):
    ones().save_weights("m.h5")
    np.savez("io.npz", x0=X, y0=X)
    code, kind, text = failure(capsys)
    assert (code, kind) == (4, "UnknownFormatError")
    assert text.startswith("m.h5: there is no 'model_config' in it.")


def test_a_hostile_archive(capsys):
    ones().save("m.keras")
    with zipfile.ZipFile("m.keras", "a") as archive:
        archive.writestr("extra", "")
    Path("m.h5").unlink()
    Path("m.keras").rename("m.h5")  # the first bytes give the format
    np.savez("io.npz", x0=X, y0=X)
    code, kind, _ = failure(capsys)
    assert (code, kind) == (5, "ForbiddenContentError")
