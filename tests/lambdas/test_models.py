"""Whole files of Keras 2.2.4 with Lambdas: they load with nothing given, and compute what Keras did."""

import json
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras.commands import main
from torchkeras.errors import ForbiddenContentError
from torchkeras.export.errors import EjectError
from torchkeras.layers import Lambda
from torchkeras.models import Model, Sequential, load_model, model_from_config, model_from_json

MODELS = Path(__file__).parent.parent / "golden" / "lambdas" / "models"
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
    code = "import sys, torchkeras; print([name for name in sys.modules if name.startswith('torchkeras.lambdas')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
