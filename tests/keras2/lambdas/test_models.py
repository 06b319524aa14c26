"""Whole files of Keras 2.2.4 with Lambdas: they load with nothing given, and compute what Keras did."""

import base64
import json
import lzma
import marshal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras.commands import main
from torchkeras.errors import ForbiddenContentError
from torchkeras.export.errors import EjectError
from torchkeras.layers import Lambda
from torchkeras.models import Model, Sequential, load_model, model_from_config, model_from_json

MODELS = Path(__file__).parents[2] / "golden" / "lambdas" / "models"
CODES = json.loads(lzma.decompress((MODELS.parent / "codes.json.xz").read_bytes()))
NAMES = sorted(path.stem for path in MODELS.glob("*.h5"))


def assert_outputs(name: str, model: Model) -> None:
    arrays = dict(np.load(MODELS / f"{name}.npz"))
    given = [arrays[f"x{k}"] for k in range(len(model.inputs))]
    found = model.predict(given if len(given) > 1 else given[0])
    for k, output in enumerate(found if isinstance(found, list) else [found]):
        np.testing.assert_allclose(output, arrays[f"y{k}"], rtol=2e-5, atol=1e-5)


def test_there_are_twelve():
    assert len(NAMES) == 12


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_keras(name: str):
    assert_outputs(name, load_model(MODELS / f"{name}.h5"))


@pytest.mark.parametrize("name", NAMES)
def test_our_own_files_have_formulas_and_no_bytecode(name: str, tmp_path: Path):
    model = load_model(MODELS / f"{name}.h5", compile=False)
    for suffix in ("h5", "keras", "safetensors"):
        path = tmp_path / f"model.{suffix}"
        if suffix == "keras" and name == "masked":
            continue  # Keras 3 has no hard_sigmoid like that of its LSTM
        model.save(path)
        assert_outputs(name, load_model(path, lambdas="refuse"))


@pytest.mark.parametrize("name", NAMES)
def test_refuse_takes_none(name: str):
    text = r"Lambda '\w+': its function is stored as Python bytecode, which is never run; pass the function itself: "
    with pytest.raises(ForbiddenContentError, match=text):
        load_model(MODELS / f"{name}.h5", lambdas="refuse")


def test_json_and_configs_are_read_and_refused_alike():
    config = {"class_name": "Sequential", "config": [LAYER], "keras_version": "2.2.4", "backend": "tensorflow"}
    for model in (model_from_json(json.dumps(config)), model_from_config(config), Sequential.from_config([LAYER])):
        assert model(torch.ones(1, 4)).tolist() == [[pytest.approx(0.1)] * 4]
    for read in (lambda: model_from_json(json.dumps(config), lambdas="refuse"), lambda: refused(config)):
        with pytest.raises(ForbiddenContentError, match="which is never run; pass the function"):
            read()
    with pytest.raises(ValueError, match=r"^lambdas must be 'read' or 'refuse'; found 'run'\.$"):
        model_from_config(config, lambdas="run")


def refused(config: dict) -> Model:
    return model_from_config(config, lambdas="refuse")


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.2.4", [0.0, 4 / 3, 8 / 3]),  # on TensorFlow 1
        ("1.2.2", [0.0, 4 / 3, 8 / 3]),
        ("2.3.0-tf", [1 / 6, 1.5, 17 / 6]),  # on TensorFlow 2
        ("2.4.0", [1 / 6, 1.5, 17 / 6]),
        ("2.2.4-tf", None),  # on either
        ("2.3.1", None),
    ],
)
def test_what_differs_between_tensorflows_is_read_by_the_version(version: str, expected: Any):
    code = base64.b64encode(marshal.dumps(eval("lambda x: tf.image.resize(x, (1, 3))").__code__)).decode()
    options = {"name": "l", "function": [code, None, None], "function_type": "lambda"}
    options["batch_input_shape"] = [None, 1, 4, 1]
    text = json.dumps(
        {
            "class_name": "Sequential",
            "config": [{"class_name": "Lambda", "config": options}],
            "keras_version": version,
            "backend": "tensorflow",
        }
    )
    if expected is None:
        with pytest.raises(
            ForbiddenContentError, match=r"tf\.image\.resize, which is another function in TensorFlow 1"
        ):
            model_from_json(text)
        return
    found = model_from_json(text)(torch.arange(4.0).reshape(1, 1, 4, 1))
    np.testing.assert_allclose(found.detach().numpy().ravel(), expected, rtol=1e-6)


def test_the_users_function_goes_first():
    model = model_from_config({"class_name": "Sequential", "config": [LAYER]}, {"read": lambda x: x + 1})
    assert model(torch.ones(1, 4)).tolist() == [[2.0] * 4]


LAYER = {
    "class_name": "Lambda",
    "config": {
        "name": "read",
        "function": CODES["3.6"]["scaled"],
        "function_type": "lambda",
        "batch_input_shape": [None, 4],
    },
}


def test_keras_3_stores_them_in_another_form():
    code, defaults, closure = CODES["3.11"]["sliced"]
    stored = {"class_name": "__lambda__", "config": {"code": code, "defaults": defaults, "closure": closure}}
    layer = Lambda.from_config({"name": "l", "function": stored})
    assert str(layer.function) == "x[:, :, :, 1:3]"


def model_of(source: str, inputs: int = 1) -> Model:
    """A model with a Lambda of this function on inputs of 4 numbers, as a file of Keras 2.2.4 has it."""
    code = base64.b64encode(marshal.dumps(eval(source).__code__)).decode()
    names = [f"input_{place}" for place in range(inputs)]
    layers: list[dict] = [
        {
            "class_name": "InputLayer",
            "name": name,
            "config": {"batch_input_shape": [None, 4], "dtype": "float32", "name": name},
            "inbound_nodes": [],
        }
        for name in names
    ]
    read = {"name": "read", "function": [code, None, None], "function_type": "lambda"}
    calls = [[[name, 0, 0, {}] for name in names]]
    layers.append({"class_name": "Lambda", "name": "read", "config": read, "inbound_nodes": calls})
    config = {"name": "model", "layers": layers, "output_layers": [["read", 0, 0]]}
    config["input_layers"] = [[name, 0, 0] for name in names]
    return model_from_config({"class_name": "Model", "config": config, "keras_version": "2.2.4"})


X = np.arange(8, dtype="float32").reshape(2, 4)


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        (
            "lambda xs: K.concatenate([x * 2 for x in xs])",
            "K.concatenate([xs[0] * 2, xs[1] * 2, xs[2] * 2])",
            np.concatenate([X * 2, X * 4, X * 6], -1),
        ),
        (
            "lambda xs: sum(w * x for w, x in zip((1.0, 2.0, 3.0), xs)) / len(xs)",
            "sum([1.0 * xs[0], 2.0 * xs[1], 3.0 * xs[2]]) / 3",
            X * 14 / 3,
        ),
        ("lambda xs: xs[0] - xs[1]", "xs[0] - xs[1]", -X),
    ],
)
def test_a_list_of_inputs_is_looped_over_where_the_model_says_how_many(source: str, text: str, expected: np.ndarray):
    model = model_of(source, 3)
    assert str(model.layers[-1].function) == text
    np.testing.assert_allclose(model.predict([X, X * 2, X * 3]), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("lambda x: K.map_fn(lambda row: row - row[0], x)", "K.map_fn(lambda row: row - row[0], x)", X - X[:, :1]),
        (
            "lambda x: K.map_fn(lambda x: x + K.sum(x), x) + K.sum(x)",
            "K.map_fn(lambda x_: x_ + K.sum(x_), x) + K.sum(x)",
            X + X.sum(1, keepdims=True) + X.sum(),
        ),
        ("lambda x: K.map_fn(K.square, x)", "K.map_fn(lambda value_1: K.square(value_1), x)", X**2),
        (
            "lambda x: tf.map_fn(lambda t: t[0] * t[1], (x, x + 1), dtype=tf.float32)",
            "tf.map_fn(lambda t: t[0] * t[1], (x, x + 1), dtype='float32')",
            X * (X + 1),
        ),
        (
            "lambda x: K.map_fn(lambda r: K.map_fn(lambda v: v * r[0] + K.sum(x), r), x)",
            "K.map_fn(lambda r: K.map_fn(lambda v: v * r[0] + K.sum(x), r), x)",
            X * X[:, :1] + X.sum(),
        ),
        (
            "lambda x: K.foldl(lambda total, each: total * 2 + each, K.transpose(x))",
            "K.foldl(lambda total, each: total * 2 + each, K.transpose(x))",
            X @ np.array([8, 4, 2, 1], dtype="float32"),
        ),
        (
            "lambda x: K.conv1d(K.expand_dims(x), K.constant([[[1.0]], [[2.0]]]))[..., 0]",
            "K.conv1d(K.expand_dims(x), K.constant([[[1.0]], [[2.0]]]))[..., 0]",
            X[:, :-1] + 2 * X[:, 1:],
        ),
        (
            "lambda x: K.pool2d(K.reshape(x, (-1, 2, 2, 1)), (2, 2), pool_mode='avg')[:, 0, 0]",
            "K.pool2d(K.reshape(x, (-1, 2, 2, 1)), (2, 2), pool_mode='avg')[:, 0, 0]",
            X.mean(1, keepdims=True),
        ),
    ],
)
def test_functions_inside_and_windows(source: str, text: str, expected: np.ndarray):
    model = model_of(source)
    again = model_from_json(model.to_json(), lambdas="refuse")
    for each in (model, again):
        assert str(each.layers[-1].function) == text
        np.testing.assert_allclose(each.predict(X), expected, rtol=1e-6)


def test_what_a_function_inside_does_not_depend_on_is_computed_once():
    model = model_of("lambda x: K.map_fn(lambda row: row * 0 + K.random_normal((1,)), x)")
    found = model.predict(X)
    assert len(np.unique(found)) == 1


def test_inspect_prints_the_formula(capsys: pytest.CaptureFixture[str]):
    assert main(["inspect", str(MODELS / "driving.h5")]) == 0
    assert "x / 127.5 - 1.0" in capsys.readouterr().out
    assert main(["inspect", "--lambdas", "refuse", str(MODELS / "driving.h5")]) != 0
    assert "is Python bytecode, which is never run" in capsys.readouterr().out


def test_convert_writes_the_formula(tmp_path: Path):
    out = tmp_path / "driving.keras"
    assert main(["convert", str(MODELS / "driving.h5"), str(out)]) == 0
    assert_outputs("driving", load_model(out, lambdas="refuse"))
    assert main(["convert", "--lambdas", "refuse", str(MODELS / "driving.h5"), str(tmp_path / "b.keras")]) != 0


@pytest.mark.parametrize(
    ("name", "text"),
    [("driving", "/ 127.5 - 1.0"), ("cropped", "[:, :, :, 2:4]"), ("siamese", ".clamp(min=1e-07)")],
)
def test_eject_writes_the_formula_as_text(name: str, text: str, tmp_path: Path):
    load_model(MODELS / f"{name}.h5", compile=False).eject(tmp_path / "ejected")
    assert text in (tmp_path / "ejected" / "model.py").read_text()


def test_eject_names_what_it_does_not_write(tmp_path: Path):
    model = load_model(MODELS / "resized.h5", compile=False)
    with pytest.raises(EjectError, match=r"^Lambda '\w+': eject writes no K.resize_images; the formula is "):
        model.eject(tmp_path / "ejected")


def test_only_files_with_bytecode_import_the_reader():
    code = "import sys, torchkeras.layers, torchkeras.models.files\n"
    code += "print([name for name in sys.modules if name.startswith('torchkeras.keras2.lambdas')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("name", ["attention", "capsule", "siamese"])
def test_torch_traces_formulas(name: str):
    arrays = dict(np.load(MODELS / f"{name}.npz"))
    model = load_model(MODELS / f"{name}.h5").eval()
    given = [torch.from_numpy(arrays[f"x{k}"]) for k in range(len(model.inputs))]
    inputs = given if len(given) > 1 else given[0]
    torch.compiler.reset()
    with torch.no_grad():
        for traced in (
            torch.export.export(model, (inputs,)).module(),
            torch.compile(model, backend="eager", fullgraph=True),
        ):
            np.testing.assert_allclose(traced(inputs), arrays["y0"], rtol=2e-5, atol=1e-5)
