"""`keras.ops` in graphs: a model of Keras 3.15 gives its outputs, or is refused by the name of the operation."""

import gzip
import json
from typing import Any

import numpy as np
import pytest
import torch
from test_paths import GOLDEN

from torchkeras.errors import ArchitectureError
from torchkeras.models import Model
from torchkeras.saving.dialects.keras3 import FUNCTIONS, modern_config
from torchkeras.saving.graph_config import model_from_config

FOLDER = GOLDEN / "keras-3.15-operations"
CONFIGS: dict[str, Any] = json.loads(gzip.decompress((FOLDER / "configs.json.gz").read_bytes()))
ARRAYS = dict(np.load(FOLDER / "io.npz"))
X, S, T = (ARRAYS[f"input/{name}"] for name in "xst")

# Where Keras 3.15 on torch, which made the files, departs from its own documentation and its other backends.
AS_DOCUMENTED: dict[str, Any] = {
    **{f"{name}_kept": getattr(np, name)(S, keepdims=True) for name in ("sum", "prod", "max", "min", "amax", "amin")},
    "count_nonzero_axis": np.count_nonzero(S, axis=1),
    "dot": np.dot(S, T),
    "pad_number": np.pad(S, 1),
    "pad_pair": np.pad(S, (1, 2)),
    "pad_symmetric": np.pad(S, [[0, 0], [1, 2], [0, 1]], mode="symmetric"),
    "ptp_kept": np.ptp(S, keepdims=True),
}
# What is refused though the operation is read, with the reason.
REFUSED = {
    "cholesky_upper": "Cholesky 'cholesky_1': upper must be False; found True.",
    "convert_to_tensor_dtype": "ConvertToTensor 'convert_to_tensor_1': dtype must be None; found 'float16'.",
    **dict.fromkeys(("quantile_lower", "quantile_higher", "quantile_midpoint", "quantile_nearest"), "method must be"),
}


def model_of(name: str) -> Model:
    return model_from_config(modern_config({key: CONFIGS[name][key] for key in ("class_name", "config")}))


def is_read(name: str) -> bool:
    layers = CONFIGS[name]["config"]["layers"]
    return all(each["class_name"] in ("InputLayer", "Einsum", *FUNCTIONS) for each in layers)


def difference(name: str) -> str | None:
    model = model_of(name)
    given = [torch.tensor(ARRAYS[f"input/{t._keras_history.layer.name.removeprefix('input_')}"]) for t in model.inputs]
    found = model(given if len(given) > 1 else given[0])
    outputs = [out.detach().numpy() for out in (found if isinstance(found, (list, tuple)) else [found])]
    wanted = [ARRAYS[f"{name}/{k}"] for k in range(sum(key.rpartition("/")[0] == name for key in ARRAYS))]
    wanted = [AS_DOCUMENTED[name].astype(wanted[0].dtype)] if name in AS_DOCUMENTED else wanted
    if [(o.shape, o.dtype.kind) for o in outputs] != [(w.shape, w.dtype.kind) for w in wanted]:
        return f"{[(o.shape, o.dtype) for o in outputs]} for {[(w.shape, w.dtype) for w in wanted]}"
    if [o.shape for o in outputs] != [tensor.shape for tensor in model.outputs]:
        return f"{[o.shape for o in outputs]}, though its graph has {[tensor.shape for tensor in model.outputs]}"
    close = [np.allclose(o, w, rtol=2e-4, atol=2e-5, equal_nan=True) for o, w in zip(outputs, wanted, strict=True)]
    return None if all(close) else "other values"


def test_the_cases():
    read = {name for name in CONFIGS if is_read(name)}
    assert (len(CONFIGS), len(read - {*REFUSED}), len(read & {*REFUSED})) == (1030, 875, 6)


@pytest.mark.parametrize("letter", sorted({name[0] for name in CONFIGS}))
def test_what_is_read_gives_the_outputs_of_keras_3(letter: str):
    names = [name for name in CONFIGS if name[0] == letter and is_read(name) and name not in REFUSED]
    assert {name: found for name in names if (found := difference(name)) is not None} == {}


@pytest.mark.parametrize("name", [name for name in CONFIGS if not is_read(name)])
def test_other_operations_are_refused_by_name(name: str):
    with pytest.raises(ArchitectureError, match=r"the operation '\w+' of Keras 3 is not one that is read\.$"):
        model_of(name)


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_are_not_read_are_refused(name: str):
    with pytest.raises(ArchitectureError) as raised:
        model_of(name)
    assert REFUSED[name] in str(raised.value)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ({"value": [[0], [1, 2]], "dtype": "int64"}, "An array of int64 has other values: "),
        ({"value": [2**70], "dtype": "int64"}, "An array of int64 has other values: "),
        ({"value": [0], "dtype": "nope"}, "An array of nope has other values: dtype must be the name of a torch dtype"),
        ({"dtype": "int64"}, "An array has a 'value' and a 'dtype'; found {'dtype': 'int64'}."),
        (7, "An array has a 'value' and a 'dtype'; found 7."),
    ],
)
def test_an_array_that_is_none(found: Any, text: str):
    config = json.loads(json.dumps(CONFIGS["take_array"]["config"]))
    config["layers"][-1]["inbound_nodes"][0]["args"][1]["config"] = found
    with pytest.raises(ArchitectureError) as raised:
        modern_config({"class_name": "Functional", "config": config})
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize("given", [None, [1]])
def test_a_form_of_ones_own_needs_a_config(given: Any):
    with pytest.raises(ArchitectureError) as raised:
        modern_config({"class_name": "torchkeras>Model", "config": given})
    assert str(raised.value) == f"The config of torchkeras>Model must be a dictionary; found {given}."
