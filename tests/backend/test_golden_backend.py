"""Every call of the table gives what genuine Keras 2.2.4 gave (`scripts/golden_backend.py`): at once on tensors, and
on symbolic ones through `K.function`, a model, and that model's files.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cases import CASES, CONSTANTS, DATA, step

import torchkeras
from torchkeras import Input, Model, backend as K
from torchkeras.engine.layer.symbolic import KerasTensor

GOLDEN = Path(__file__).parent.parent / "golden"
FACTS = json.loads((GOLDEN / "backend.json").read_text())
VALUES = np.load(GOLDEN / "backend.npz")
# TensorFlow's kernels for images and the logarithms of ctc differ in the last digits.
CLOSE = {"rtol": 2e-5, "atol": 2e-5}


def constants() -> dict[str, Any]:
    return {name: K.variable(array).detach() for name, array in CONSTANTS.items()}


def evaluated(call: str, data: dict[str, Any]) -> Any:
    return eval(call, {"K": K, "STEP": step(K), "np": np, **constants(), **data})


def check(call: str, value: np.ndarray) -> None:
    expected = VALUES[str(CASES.index(call))]
    assert value.shape == expected.shape
    assert str(value.dtype) == str(expected.dtype)
    np.testing.assert_allclose(value, expected, **CLOSE)


def test_genuine_keras_took_every_call():
    assert list(FACTS) == CASES
    assert [call for call, fact in FACTS.items() if "error" in fact] == []


@pytest.mark.parametrize("call", CASES)
def test_at_once(call):
    data = {name: torch.tensor(array, requires_grad=array.dtype == np.float32) for name, array in DATA.items()}
    found = evaluated(call, data)
    if not isinstance(found, (np.ndarray, int)):
        assert K.dtype(found) == FACTS[call]["dtype"]
        assert K.int_shape(found) == tuple(VALUES[str(CASES.index(call))].shape)
    check(call, found if isinstance(found, np.ndarray) else K.eval(found))
