"""`keras.ops` against genuine Keras 3.15 on torch: values, types and forms of results; as nodes of a graph; signatures.

`scripts/golden_operations.py` wrote the results.
"""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.keras3.cases.inputs import Case
from torchkeras import Input, Model
from torchkeras.base.dtypes import dtype_name
from torchkeras.keras3 import ops
from torchkeras.tensor_functions.operations.table import OPERATIONS

# Genuine Keras warns of this old option, too.
pytestmark = pytest.mark.filterwarnings("ignore:layer_normalization. rms_scaling is old:UserWarning")

GOLDEN = Path(__file__).parents[1] / "golden/operations"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.npz"))
SIGNATURES: dict[str, str] = json.loads((GOLDEN / "signatures.json").read_text())


class Known:
    """A call, the form of its result by Keras, and the arrays in it, in order."""

    def __init__(self, case: Case, form: Any, arrays: list[Any]):
        self.case, self.form, self.arrays = case, form, arrays

    @property
    def is_error(self) -> bool:
        return isinstance(self.form, dict) and "error" in self.form


def known(name: str) -> list[Any]:
    cases: list[Case] = importlib.import_module(f"tests.keras3.cases.{name}").CASES
    found = []
    with np.load(GOLDEN / f"{name}.npz") as file:
        forms = json.loads(str(file["forms"]))
        assert [form[0] for form in forms] == [case.name for case in cases], "run scripts/golden_operations.py"
        arrays: dict[int, list[Any]] = {number: [] for number in range(len(cases))}
        for key in file.files:
            if key != "forms":
                arrays[int(key.partition(".")[0])].append(file[key])
        for number, (case, (_, form)) in enumerate(zip(cases, forms, strict=True)):
            found.append(pytest.param(Known(case, form, arrays[number]), id=f"{name}-{number}-{case.name}"))
    return found


def is_input(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0 and value.size > 0


def has_input(value: Any) -> bool:
    return any(map(has_input, value)) if isinstance(value, (list, tuple)) else is_input(value)


CASES = [each for name in NAMES for each in known(name)]
NODES = [
    each
    for each in CASES
    if each.values[0].case.symbolic
    and not each.values[0].is_error
    and has_input([*each.values[0].case.args, *each.values[0].case.kwargs.values()])
]


def function_of(name: str) -> Any:
    function: Any = ops
    for part in name.split("."):
        function = getattr(function, part)
    return function


def check(found: Any, form: Any, arrays: list[Any], exact_form: bool = True) -> None:
    if isinstance(form, list):
        assert isinstance(found, (list, tuple))
        assert len(found) == len(form)
        for each, one in zip(found, form, strict=True):
            check(each, one, arrays, exact_form)
    elif "dtype" in form:
        expected = arrays.pop(0)
        assert isinstance(found, Tensor)
        assert dtype_name(found.dtype) == form["dtype"]
        assert tuple(found.shape) == expected.shape
        kind = torch.complex128 if found.is_complex() else torch.float64
        loose = form["dtype"] in ("float16", "bfloat16")
        torch.testing.assert_close(
            found.detach().to(kind),
            torch.as_tensor(expected).to(kind),
            rtol=2e-3 if loose else 2e-5,
            atol=2e-3 if loose else 2e-6,
            equal_nan=True,
        )
    else:
        value = found if isinstance(found, (bool, int, float, str, type(None))) else str(found)
        assert value == form["value"]


@pytest.mark.filterwarnings("ignore:`torch.jit")  # torch's own formulas for jvp are scripts
@pytest.mark.parametrize("known", CASES)
def test_values_and_types(known: Known):
    case = known.case
    if known.is_error:
        with pytest.raises((ValueError, TypeError, RuntimeError, IndexError, NotImplementedError)):
            function_of(case.name)(*case.args, **case.kwargs)
    else:
        check(function_of(case.name)(*case.args, **case.kwargs), known.form, list(known.arrays))


def as_symbols(value: Any, inputs: list[Any], arrays: list[Any]) -> Any:
    if is_input(value):
        inputs.append(Input(batch_shape=value.shape, dtype=str(value.dtype)))
        arrays.append(value)
        return inputs[-1]
    if isinstance(value, (list, tuple)) and has_input(value):
        return type(value)(as_symbols(each, inputs, arrays) for each in value)
    return value


@pytest.mark.parametrize("known", NODES)
def test_as_a_node_of_a_graph(known: Known):
    case, inputs, arrays = known.case, [], []
    args = as_symbols(list(case.args), inputs, arrays)
    kwargs = {name: as_symbols(value, inputs, arrays) for name, value in case.kwargs.items()}
    outputs = function_of(case.name)(*args, **kwargs)
    tensors = list(map(torch.as_tensor, arrays))
    found = Model(inputs, outputs)(tensors if len(tensors) > 1 else tensors[0])
    check(found, known.form, list(known.arrays))


def test_signatures_are_keras_3s():
    names = {*OPERATIONS, *ops.__all__}
    assert {name: without_annotations(function_of(name)) for name in names} == {
        name: SIGNATURES[name] for name in names
    }


def without_annotations(function: Any) -> str:
    signature = inspect.signature(function)
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def test_every_operation_has_a_case():
    assert {each.values[0].case.name for each in CASES} >= set(OPERATIONS)
