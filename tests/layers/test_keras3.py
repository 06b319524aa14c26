"""Our layers compute what Keras 3.15 does: all cases of tests/golden/keras-3.15-layers (scripts/golden_keras3.py)."""

import string
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import constraints, initializers, layers, regularizers
from torchkeras.models import Model

FOLDER = Path(__file__).parents[1] / "golden" / "keras-3.15-layers"
NAMES = {"layers": layers, "regularizers": regularizers, "constraints": constraints, "initializers": initializers}


def read(path):
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


def listed(case, name):
    return [case[key] for key in takewhile(case.__contains__, (f"{name}_{k}" for k in range(99)))]


def inputs_of(case):
    return {name: torch.from_numpy(case[name]) for name in string.ascii_lowercase if name in case}


def run(case, layer, inputs):
    found = eval(str(case["call"]), {"layer": layer, **inputs})
    return list(found) if isinstance(found, (tuple, list)) else [found]


def check(found, expected):
    assert len(found) == len(expected)
    for tensor, array in zip(found, expected, strict=True):
        np.testing.assert_allclose(tensor.detach().numpy(), array, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_the_layer_computes_what_keras_3_does(path):
    case = read(path)
    inputs = inputs_of(case)
    layer = eval(str(case["source"]), {**vars(layers), **NAMES}).eval()
    run(case, layer, inputs)
    layer.set_weights(listed(case, "weights"))
    check(run(case, layer, inputs), listed(case, "outputs"))
    for found, expected in zip(layer.get_weights(), listed(case, "after"), strict="after_0" in case):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_a_model_with_the_layer_does_and_is_made_again_from_its_config(path):
    case = read(path)
    inputs = inputs_of(case)
    fixed = len({len(tensor) for tensor in inputs.values()}) > 1  # an input without a batch axis
    symbols = {
        name: layers.Input(
            batch_shape=tuple(tensor.shape) if fixed else (None, *tensor.shape[1:]),
            dtype=str(tensor.dtype).removeprefix("torch."),
        )
        for name, tensor in inputs.items()
    }
    layer = eval(str(case["source"]), {**vars(layers), **NAMES})
    outputs = run(case, layer, symbols)
    expected = listed(case, "outputs")
    assert [tensor.shape[1:] for tensor in outputs] == [array.shape[1:] for array in expected]
    model = Model(list(symbols.values()), outputs)
    for made in (model, Model.from_config(model.get_config())):
        made.eval().layers[-1].set_weights(listed(case, "weights"))
        found = made(list(inputs.values()))
        check(found if isinstance(found, list) else [found], expected)
