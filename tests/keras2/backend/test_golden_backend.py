"""Every call of the table gives what genuine Keras 2.2.4 gave (`scripts/golden_backend.py`): at once on tensors, and
on symbolic ones through `K.function`, a model, and that model's files.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest
import torch
from cases import CASES, CONSTANTS, DATA, KERAS_1, step

import torchkeras
from torchkeras import Input, Model, backend as K
from torchkeras.engine.symbolic.tensor import KerasTensor

GOLDEN = Path(__file__).parents[2] / "golden"
FACTS = json.loads((GOLDEN / "backend-2.2.4-tensorflow.json").read_text())
VALUES = np.load(GOLDEN / "backend-2.2.4-tensorflow.npz")
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


@pytest.mark.parametrize(
    ("backend", "number"), [(each, k) for each, calls in KERAS_1.items() for k in range(len(calls))]
)
def test_what_keras_1_alone_has(backend, number):
    expected = np.load(GOLDEN / f"backend-1.2.2-{backend}.npz")[str(number)]
    found = K.eval(evaluated(KERAS_1[backend][number], {name: torch.tensor(array) for name, array in DATA.items()}))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, **CLOSE)


# --- on symbolic tensors ---------------------------------------------------------------------------------------------


def names_in(call: str) -> list[str]:
    """The data that a call uses."""

    def walk(code: CodeType) -> Iterator[str]:
        yield from code.co_names
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from walk(constant)

    return [name for name in dict.fromkeys(walk(compile(call, call, "eval"))) if name in DATA]


SYMBOLIC = [
    call for call in CASES if names_in(call) and not call.startswith("K.shape(") and "K.shape(t)[1]" not in call
]
SPARSE = [call for call in SYMBOLIC if "to_sparse" in call]  # no node gives a sparse tensor
FIXED_BATCH = ("K.reshape(t, (2, 12))",)
BY_FUNCTIONS = ("map_fn", "foldl", "foldr", "rnn", "ctc_decode")  # layers around a function of the user's


def symbolic(call: str) -> tuple[dict[str, KerasTensor], Any]:
    """The symbolic data that a call uses, with an unknown batch axis, and its result."""
    batch = (2,) if call in FIXED_BATCH else (None,)
    data = {
        name: Input(batch_shape=(*batch, *DATA[name].shape[1:]), dtype=str(DATA[name].dtype)) for name in names_in(call)
    }
    return data, evaluated(call, data)


@pytest.mark.parametrize("call", [call for call in SYMBOLIC if call not in SPARSE])
def test_on_symbolic_tensors(call):
    data, found = symbolic(call)
    assert isinstance(found, KerasTensor)
    assert K.dtype(found) == FACTS[call]["dtype"]
    expected = VALUES[str(CASES.index(call))]
    assert all(size in (None, real) for size, real in zip(found.shape, expected.shape, strict=True))
    (value,) = K.function(list(data.values()), [found])([DATA[name] for name in data])
    check(call, np.asarray(value))


IN_FILES = [
    call
    for call in SYMBOLIC
    if call not in SPARSE and not any(f"K.{name}(" in call for name in (*BY_FUNCTIONS, "gradients"))
]


@pytest.mark.parametrize("suffix", ["h5", "keras"])
@pytest.mark.parametrize("call", IN_FILES)
def test_in_a_model_and_its_file(call, suffix, tmp_path):
    data, found = symbolic(call)
    model = Model(list(data.values()), found)
    model.save(tmp_path / f"model.{suffix}")
    loaded = torchkeras.models.load_model(tmp_path / f"model.{suffix}")
    assert loaded.code == model.code
    check(call, K.eval(loaded([torch.tensor(DATA[name]) for name in data])))
