"""`keras.ops` in graphs: a model of Keras 3.15 gives its outputs, or is refused by the name of the operation."""

import gzip
import json
from typing import Any

import numpy as np
import pytest
import torch
from test_paths import GOLDEN

from torchkeras.errors import ArchitectureError
from torchkeras.layers import AveragePooling2D
from torchkeras.models import Model
from torchkeras.saving.dialects.keras3 import modern_config
from torchkeras.saving.graph_config import model_from_config
from torchkeras.saving.keras3_operations import FUNCTIONS

FOLDER = GOLDEN / "keras-3.15-operations"
CONFIGS: dict[str, Any] = json.loads(gzip.decompress((FOLDER / "configs.json.gz").read_bytes()))
ARRAYS = dict(np.load(FOLDER / "io.npz"))
X, S, T = (ARRAYS[f"input/{name}"] for name in "xst")

G, J = ARRAYS["input/g"], ARRAYS["input/j"]


def projected(x: Any, axis: int = -1) -> Any:
    """The nearest point to x whose numbers are at least 0 and sum to 1: sparsemax, by its definition."""
    low, high = x.min(axis, keepdims=True) - 1, x.max(axis, keepdims=True)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            np.where(np.maximum(x - middle, 0).sum(axis, keepdims=True) > 1, a, b)
            for a, b in ((middle, low), (high, middle))
        )
    return np.maximum(x - high, 0)


# Where Keras 3.15 on torch, which made the files, departs from its own documentation and its other backends.
AS_DOCUMENTED: dict[str, Any] = {
    **{f"{name}_kept": getattr(np, name)(S, keepdims=True) for name in ("sum", "prod", "max", "min", "amax", "amin")},
    "argpartition": np.sort(X, axis=1)[:, :3],
    "average_pool_same": AveragePooling2D(4, 3, padding="same")(torch.tensor(G)).numpy(),
    "count_nonzero_axis": np.count_nonzero(S, axis=1),
    "dot": np.dot(S, T),
    "pad_number": np.pad(S, 1),
    "pad_pair": np.pad(S, (1, 2)),
    "pad_symmetric": np.pad(S, [[0, 0], [1, 2], [0, 1]], mode="symmetric"),
    "ptp_kept": np.ptp(S, keepdims=True),
    **{f"quantile_{way}": np.quantile(X, 0.33, 1, method=way) for way in ("lower", "higher", "midpoint", "nearest")},
    "sparsemax": projected(X),
    "sparsemax_axis": projected(S, 1),
    "sparsemax_of_whole_numbers": projected(J.astype("float32")),
}
# What is refused, with the reason: results that are no tensors, and shapes that depend on values.
REFUSED = {
    **dict.fromkeys(("ndim", "ndim_of_whole_numbers"), "a function in a graph gives tensors; found int."),
    **dict.fromkeys(("bincount", "nonzero", "unique"), "the shape of its result depends on values"),
}
# Values times 0 of memory as it is found, where a NaN may stand: only shapes and types are compared.
AS_FOUND = ("empty_like_zeroed",)


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
    if name in AS_FOUND:
        return None
    close = [np.allclose(o, w, rtol=2e-4, atol=2e-5, equal_nan=True) for o, w in zip(outputs, wanted, strict=True)]
    return None if all(close) else "other values"


def test_the_cases():
    read = {name for name in CONFIGS if is_read(name)}
    assert (len(CONFIGS), len(read - {*REFUSED}), len(read & {*REFUSED})) == (1030, 1025, 5)


@pytest.mark.parametrize("letter", sorted({name[0] for name in CONFIGS}))
def test_what_is_read_gives_the_outputs_of_keras_3(letter: str):
    names = [name for name in CONFIGS if name[0] == letter and is_read(name) and name not in REFUSED]
    assert {name: found for name in names if (found := difference(name)) is not None} == {}


def test_an_unknown_operation_is_refused_by_name():
    config = json.loads(json.dumps(CONFIGS["ndim"]).replace('"Ndim"', '"Axes"'))
    with pytest.raises(ArchitectureError, match=r"the operation 'Axes' of Keras 3 is not one that is read\.$"):
        model_from_config(modern_config({key: config[key] for key in ("class_name", "config")}))


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('"axis": ', '"colour": 1, "axis": ', "arguments of its call that are not read: colour."),
        ('"kwargs": {}', '"kwargs": {"colour": 1}', "arguments of its call that are not read: colour."),
    ],
)
def test_options_that_an_operation_does_not_have(old: str, new: str, text: str):
    config = json.loads(json.dumps(CONFIGS["sparsemax"]).replace(old, new))
    with pytest.raises(ArchitectureError, match=text):
        model_from_config(modern_config({key: config[key] for key in ("class_name", "config")}))


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
