"""Functions as people write them, compiled by every Python: read as formulas, they compute what Keras 2.2.4 did.

`scripts/golden_lambdas.py` wrote the bytecode and the outputs.
"""

import base64
import json
import lzma
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.keras2.lambdas.instructions import decoded
from torchkeras.keras2.lambdas.marshalled import parse
from torchkeras.layers import Lambda

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "golden" / "lambdas"
FILES = ("bodies.py", "bodies_of_tensorflow.py")
BODIES = {name: body for file in FILES for name, body in runpy.run_path(str(HERE / file))["BODIES"].items()}
CODES: dict[str, dict[str, Any]] = json.loads(lzma.decompress((GOLDEN / "codes.json.xz").read_bytes()))
OUTPUTS = np.load(GOLDEN / "outputs.npz")

OLD = ["2.7", "3.6", "3.7"]


def inputs_of(shapes: Any) -> Any:
    """The inputs that the script gave, symbolic and as values."""
    made = [
        np.sin(np.arange(int(np.prod(shape))) * 0.7 + place).reshape(shape).astype("float32")
        for place, shape in enumerate(shapes)
    ]
    return [torchkeras.Input(shape[1:]) for shape in shapes], made


def model_of(name: str, version: str) -> torchkeras.Model:
    _, shapes, arguments = BODIES[name]
    config = {"name": "read", "function": CODES[version][name], "function_type": "lambda", "arguments": arguments}
    inputs, _ = inputs_of(shapes)
    return torchkeras.Model(inputs, Lambda.from_config(config)(inputs if len(inputs) > 1 else inputs[0]))


def test_all_versions_are_there():
    assert sorted(CODES) == ["2.7", "3.10", "3.11", "3.12", "3.13", "3.14", "3.6", "3.7", "3.8", "3.9"]
    assert all(set(found) == set(BODIES) for found in CODES.values())
    assert set(OUTPUTS) == set(BODIES)


@pytest.mark.parametrize("version", sorted(CODES))
def test_the_version_is_told_by_the_instructions(version: str):
    codes = [parse(base64.b64decode(code)) for code, *_ in CODES[version].values()]
    found = {decoded(code)[0] for code in codes}
    alike = {"3.7": {"3.6"}, "3.9": {"3.8"}, "3.12": {"3.11", "3.12"}}  # some functions of 3.12 are those of 3.11
    assert found == alike.get(version, {version})


@pytest.mark.parametrize("version", sorted(CODES))
@pytest.mark.parametrize("name", sorted(BODIES))
def test_outputs_are_those_of_keras(name: str, version: str):
    model = model_of(name, version)
    expected = OUTPUTS[name]
    _, values = inputs_of(BODIES[name][1])
    found = model.predict(values if len(values) > 1 else values[0])
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", sorted(BODIES))
def test_every_python_gives_one_formula(name: str):
    texts = {str(model_of(name, version).layers[-1].function) for version in CODES if version != "2.7"}
    assert len(texts - {""}) <= 2  # 3.11 and later ask `is None` the other way round


@pytest.mark.parametrize("name", sorted(BODIES))
def test_a_formula_survives_files_and_copies(name: str, tmp_path: Path):
    model = model_of(name, "3.6")
    _, values = inputs_of(BODIES[name][1])
    given = values if len(values) > 1 else values[0]
    expected = model.predict(given)
    copies = [torchkeras.models.clone_model(model), torchkeras.models.model_from_json(model.to_json())]
    for suffix in ("h5", "keras"):
        model.save(tmp_path / f"model.{suffix}")
        copies.append(torchkeras.models.load_model(tmp_path / f"model.{suffix}"))
    for copy in copies:
        np.testing.assert_array_equal(copy.predict(given), expected)
        assert str(copy.layers[-1].function) == str(model.layers[-1].function)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scaled", "x * 0.1"),
        ("normalized", "x / 127.5 - 1.0"),
        ("sliced", "x[:, :, :, 1:3]"),
        ("resized", "K.resize_images(x, 2, 3, 'channels_last', 'bilinear')"),
        ("l2", "K.l2_normalize(x, axis=1)"),
        ("tf_sum", "tf.reduce_sum(x, 2)"),
        ("by_format", "x[..., :1]"),
        ("arguments", "x * 3 + 1.0"),
        ("by_phase", "x * 100.0 if training else x * 0.5"),
        (
            "by_rank_2",
            "K.mean(x, axis=[1, 2]) + 1 if K.ndim(x) == 4 else (K.mean(x, axis=1) + 1 if K.ndim(x) == 3 else x + 1)",
        ),
        ("swapped", "x * 2 + 1"),
        ("same_used_twice", "a = x * 2; b = a + a; c = b + b; d = c + c; e = d + d; e + e"),
        ("unpacked", "a = tensors[0]; a * tensors[1] - a"),
    ],
)
def test_a_formula_reads_as_a_person_would_write_it(name: str, text: str):
    assert str(model_of(name, "3.7").layers[-1].function) == text


def test_generated_code_shows_the_formula():
    model = model_of("normalized", "3.7")
    assert f"# {model.input_names[0]} / 127.5 - 1.0 -> (None, 4, 6, 3)" in model.code


def test_the_phase_is_the_mode():
    model = model_of("by_phase", "3.9")
    x = torch.ones(1, 4)
    assert model.eval()(x).tolist() == [[0.5] * 4]
    assert model.train()(x).tolist() == [[100.0] * 4]
