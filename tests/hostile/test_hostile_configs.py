"""Hostile architectures: refused with the expected error, no payload run, and never by an error of another kind."""

import copy
import json
import marshal
import os
import time
import types
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from hostile_configs import (
    CODE,
    CONFIGS,
    DUMP,
    ELSEWHERE,
    KERAS3,
    MARKER,
    NESTINGS,
    RAW_DUMP,
    SINKS,
    dense,
    entry,
    graph,
    plain_lambda,
    stack,
)

import torchkeras
from torchkeras.errors import ArchitectureError, ForbiddenContentError, ModelFileError, WeightMismatchError
from torchkeras.layers import Dense, Input, Lambda
from torchkeras.models import Model, Sequential, load_model, model_from_config, model_from_json
from torchkeras.saving.containers import isolated


class Other:
    """Of the user's own, and no layer."""

    def __init__(self, **options):
        pass


KNOWN = {"known": lambda x: x, "Other": Other}


@pytest.fixture(autouse=True)
def fresh_folder(tmp_path, monkeypatch):
    torchkeras.clear_session()
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "whole.h5"
    Sequential([Dense(2, input_shape=(3,), name="l")]).save(path)
    return path.read_bytes()


def write(whole, config, path="model.h5"):
    with open(path, "wb") as file:
        file.write(whole)
    with h5py.File(path, "r+") as file:
        file.attrs["model_config"] = json.dumps(config)
    return path


@pytest.mark.parametrize("hostile", CONFIGS, ids=[found.name for found in CONFIGS])
def test_hostile_config_is_refused(hostile, whole):
    path = write(whole, hostile.config)
    begun = time.monotonic()
    with pytest.raises(hostile.error) as error:
        load_model(path, custom_objects=KNOWN)
    assert hostile.text in str(error.value)
    assert len(str(error.value)) < 3000
    assert time.monotonic() - begun < 5
    assert os.listdir() == ["model.h5"]


OURS = ("_others", "_options", "_function", "_given")  # the names that the generated `forward` uses itself


def test_the_payload_works():
    types.FunctionType(marshal.loads(CODE), {"open": open})(1)
    assert os.path.exists(MARKER)


def test_names_are_written_as_text_into_the_generated_code():
    """A layer's name may hold anything; what is generated from it computes, and runs nothing else."""
    payload = f"x\nopen({MARKER!r}, 'w')\n'\"{{}}{{0}}\\"
    for name in (payload, "__debug__", "self", "lambda", "²", "ﬁ", "a'];b['", "None", "forward", "x" * 5000, *OURS):
        config = graph(dense(), output=("l", 0, 0))
        text = json.dumps(config).replace('"i"', json.dumps(name)).replace('"l"', json.dumps(name + "l"))
        model = model_from_config(json.loads(text))
        assert model.predict(np.zeros((1, 3), "f4")).shape == (1, 2)
    assert os.listdir() == []


def test_names_that_python_takes_for_one_are_two_layers():
    x = Input((1,), name="ﬁ")
    model = Model(
        [x, y := Input((1,), name="fi")], [Lambda(lambda t: t + 1, name="ﬂ")(x), Lambda(torch.neg, name="fl")(y)]
    )
    first, second = model(torch.ones(1, 1), torch.ones(1, 1))
    assert (first.item(), second.item()) == (2, -1)


# --- a function given in the place of bytecode -----------------------------------------------------------------------


@pytest.mark.parametrize("written", [DUMP, RAW_DUMP, KERAS3])
def test_a_function_given_takes_the_place_of_bytecode(written):
    kind = {} if written is KERAS3 else {"function_type": "lambda"}
    layer = {**plain_lambda(), "config": {"name": "l", "function": written, **kind}}
    for config in (stack(layer), graph(layer), graph(stack(layer), output=("s", 1, 0))):
        model = model_from_config(config, {"l": lambda x: x * 2})
        assert model(torch.ones(1, 3)).tolist() == [[2, 2, 2]]
    assert os.listdir() == []


def test_each_option_asks_for_a_function_of_its_own():
    layer = plain_lambda(function=DUMP, function_type="lambda", output_shape=DUMP, output_shape_type="lambda")
    double = {"l": lambda x: x * 2}
    with pytest.raises(ForbiddenContentError) as error:
        model_from_config(stack(layer), double)
    assert str(error.value) == (
        "Lambda 'l': its output_shape is stored as Python bytecode, which is never run; it is no formula that can be "
        "read (the name 'open', which is not known here; pass its value in custom_objects={'open': ...}); "
        "pass the function itself: custom_objects={'l.output_shape': function}."
    )
    model = model_from_config(stack(layer), {**double, "l.output_shape": lambda shape: shape})
    assert model(torch.ones(1, 3)).tolist() == [[2, 2, 2]]


def test_two_lambdas_of_one_layer_come_back_each_as_its_own():
    model = Sequential([Lambda(lambda x: x * 2, output_shape=lambda shape: shape, name="l", input_shape=(3,))])
    given = {"l": lambda x: x * 2, "l.output_shape": lambda shape: shape}
    assert model_from_json(model.to_json(), given)(torch.ones(1, 3)).tolist() == [[2, 2, 2]]


# --- sizes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [10**6, 10**9, 10**12])
def test_sizes_are_compared_with_the_file_before_memory_is_given(units, whole, monkeypatch):
    def allocated(*args):
        raise AssertionError("memory was given")

    monkeypatch.setattr("torchkeras.saving.load.give_memory", allocated)
    path = write(whole, stack(dense(units=units)))
    with pytest.raises(WeightMismatchError, match=f"has shape .3, {units}."):
        load_model(path)


# --- anything at any place -------------------------------------------------------------------------------------------

VALUES = (
    None,
    5,
    -1,
    10**30,
    1.5,
    float("nan"),
    True,
    "x",
    "",
    [],
    {},
    [[]],
    [None],
    {"class_name": "Dense"},
    [[["i", 0, 0]]],
)


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def changed(config, path, value) -> Any:
    if not path:
        return value
    config = copy.deepcopy(config)
    inner = config
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return config


GENUINE = {
    "graph": json.loads(json.dumps(graph(dense("a", units=3), stack(dense("b")), dense(), output=("l", 0, 0)))),
    "layers": stack(
        entry("Reshape", "r", target_shape=[3, 1]),
        entry("Bidirectional", "w", layer=entry("LSTM", "n", units=2, return_sequences=True), merge_mode="concat"),
        entry(
            "TimeDistributed",
            "t",
            layer=dense(
                "d", activation="relu", kernel_regularizer={"class_name": "L1L2", "config": {"l1": 0.1, "l2": 0.1}}
            ),
        ),
        entry("RNN", "c", cell=entry("GRUCell", "g", units=2)),
        entry("Lambda", "f", function="known", function_type="function", arguments={"a": [1]}),
        entry(
            "Operation",
            "o",
            function="torch.add",
            arguments=[{"input": 0}, {"constant": 0, "dtype": "float32", "shape": [1], "data": "AACAPw=="}],
            keywords={"alpha": {"size": ["*", {"size": [0, 1]}, 2]}},
        ),
    ),
}
GENUINE["graph"]["config"]["layers"][-1]["inbound_nodes"] = [[["s", 1, 0, {}]]]


@pytest.mark.parametrize("name", GENUINE)
def test_any_value_at_any_place_is_built_or_refused(name):
    config = GENUINE[name]
    custom = {"known": lambda x, a: x}
    model_from_config(config, custom)
    built = 0
    for path in places(config):
        for value in VALUES:
            try:
                model_from_config(changed(config, path, value), custom)
                built += 1
            except ModelFileError:
                pass
    assert built > 0
    assert os.listdir() == []


@pytest.mark.parametrize("hostile", [*SINKS.values(), *ELSEWHERE.values()], ids=[*SINKS, *ELSEWHERE])
def test_bytecode_is_not_run_by_the_isolated_reader(hostile, whole):
    path = write(whole, NESTINGS["in a Model"](hostile))
    with isolated.cleaned(path) as copied, pytest.raises((ForbiddenContentError, ArchitectureError)):
        load_model(copied, custom_objects=KNOWN)
    assert os.listdir() == ["model.h5"]


def test_models_in_models_are_built_as_deep_as_json_may_be():
    config = stack(dense())
    for level in range(30):
        config = entry("Sequential", f"s{level}", layers=[config])
    assert model_from_config(config)(torch.ones(1, 3)).shape == (1, 2)
