"""Files of Keras 3 with operations: genuine models are read, and ours say the same of each operation.

`scripts/golden_operations.py` wrote the models, one for a call in `cases`.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
import torch

from tests.keras3.test_operations import CASES, GOLDEN, Known, as_symbols, check, function_of
from torchkeras import Model
from torchkeras.models import model_from_json
from torchkeras.saving.write.files import form_of_keras3

BY_PLACE = {tuple(each.id.split("-")[:2]): each.values[0] for each in CASES}
MODELS = [
    pytest.param(BY_PLACE[name, str(number)], config, id=f"{name}-{number}-{BY_PLACE[name, str(number)].case.name}")
    for name, number, config in json.loads(gzip.decompress((GOLDEN / "models.json.gz").read_bytes()))
    if not BY_PLACE[name, str(number)].is_error
]


def symbols(known: Known) -> tuple[list[Any], list[Any], Any]:
    """The inputs, their values and the outputs of the call on symbolic tensors."""
    inputs: list[Any] = []
    arrays: list[Any] = []
    args = as_symbols(list(known.case.args), inputs, arrays)
    kwargs = {name: as_symbols(value, inputs, arrays) for name, value in known.case.kwargs.items()}
    return inputs, list(map(torch.as_tensor, arrays)), function_of(known.case.name)(*args, **kwargs)


@pytest.mark.parametrize(("known", "config"), MODELS)
def test_a_genuine_model_is_read(known: Known, config: Any):
    model = model_from_json(json.dumps(config))
    _, tensors, _ = symbols(known)
    form = known.form
    if known.case.name in OF_PLACES and model.layers[-1].function != f"ops.{known.case.name}":
        form = {"dtype": "int64"}
    check(model(tensors if len(tensors) > 1 else tensors[0]), form, list(known.arrays))


# Functions whose whole numbers are torch's int64 where they are read as torch's own function, as floats allow.
OF_PLACES = ("argmax", "argmin", "argsort", "count_nonzero", "digitize")


def said(config: Any) -> Any:
    """What a config says of its operation: module, class, options, and the arguments of its call."""
    (entry,) = (each for each in config["layers"] if str(each["module"]).startswith("keras.src.ops."))
    options = {name: value for name, value in entry["config"].items() if name not in ("name", *SAYS_NOTHING)}
    options |= {"dtype": "float32"} if "dtype" in options and options["dtype"] is None else {}  # the default
    (node,) = entry["inbound_nodes"]
    called = [*node["args"], *node["kwargs"].values()]
    while called and called[-1] is None:
        called = called[:-1]
    return entry["module"], entry["class_name"], options, json.loads(json.dumps(called), object_hook=without_names)


SAYS_NOTHING = ("data_format", "rms_scaling")  # ours say which order of axes; theirs may say none


def without_names(value: dict[str, Any]) -> Any:
    """A tensor by the number of its input."""
    return {"tensor": value["dtype"]} if "keras_history" in value else value


@pytest.mark.parametrize(("known", "config"), MODELS)
def test_ours_say_the_same(known: Known, config: Any):
    inputs, _, outputs = symbols(known)
    ours = json.loads(json.dumps(form_of_keras3(Model(inputs, outputs), False)))["config"]
    assert said(ours) == said(config["config"])
