"""`model.freeze_for_inference(example=x)`: which calls its machine code computes, and that this gives the same."""

import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.export import ahead
from torchkeras.export.errors import ExportError
from torchkeras.layers import (
    LSTM,
    Add,
    BatchNormalization,
    Conv2D,
    Dense,
    Embedding,
    Flatten,
    Input,
    MaxPooling2D,
)
from torchkeras.models import Model, Sequential

pytestmark = pytest.mark.torch("2.8", "its compiler follows whole models")


def mlp() -> Sequential:
    return Sequential([Dense(8, activation="relu", input_shape=(4,)), BatchNormalization(), Dense(3)], name="net")


def two() -> Model:
    a, b = Input((4,), name="a"), Input((6,), name="b")
    hidden = Dense(5, name="left")(a)
    return Model({"a": a, "b": b}, {"sum": Add()([hidden, Dense(5)(b)]), "left": hidden}, name="two")


@pytest.fixture
def runs(monkeypatch):
    """Counts the calls of programs, which torch runs as they are: its compiler takes half a minute."""
    calls: Counter[str] = Counter()

    def compiled(program, way):
        module = program.module()

        def run(inputs):
            calls["run"] += 1
            return as_list(module(*inputs))

        return run

    monkeypatch.setattr(ahead, "_compiled", compiled)
    monkeypatch.setattr(ahead, "_seconds", lambda inputs, run: run.__name__ != "run")  # the network is slower
    return calls


def test_calls_like_the_example_run_the_program(runs):
    model = mlp()
    frozen = model.freeze_for_inference(example=torch.rand(2, 4))
    x = torch.randn(2, 4)
    runs.clear()
    found = frozen(x)
    assert runs["run"] == 1
    torch.testing.assert_close(found, model.eval()(x).detach())
    assert not found.requires_grad
    torch.testing.assert_close(frozen(x.numpy()), found)
    torch.testing.assert_close(frozen([x]), found)
    assert runs["run"] == 3


OTHER_CALLS = {
    "another batch size": lambda frozen: frozen(torch.ones(3, 4)),
    "one sample": lambda frozen: frozen(torch.ones(1, 4)),
    "in another order in memory": lambda frozen: frozen(torch.ones(4, 2).T),
    "a mode of training": lambda frozen: frozen(torch.ones(2, 4), training=False),
    "vmap": lambda frozen: torch.func.vmap(frozen)(torch.ones(5, 2, 4)),
}


@pytest.mark.parametrize("call", OTHER_CALLS)
def test_the_network_computes_all_other_calls(runs, call):
    frozen = mlp().freeze_for_inference(example=torch.rand(2, 4))
    runs.clear()
    found = OTHER_CALLS[call](frozen)
    assert runs["run"] == 0
    torch.testing.assert_close(found, OTHER_CALLS[call](frozen.network))


def test_the_network_records_gradients_of_inputs_and_follows_autocast(runs):
    frozen, x = mlp().freeze_for_inference(example=torch.rand(2, 4)), torch.rand(2, 4, requires_grad=True)
    runs.clear()
    frozen(x).sum().backward()
    assert x.grad is not None
    assert x.grad.abs().sum() > 0
    with torch.autocast("cpu", torch.bfloat16):
        assert frozen(x.detach()).dtype is torch.bfloat16
    assert runs["run"] == 0


def test_what_traces_a_call_follows_the_network(runs):
    frozen, x = mlp().freeze_for_inference(example=torch.rand(2, 4)), torch.rand(2, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit warns of itself
        traced = torch.jit.trace(lambda inputs: frozen(inputs), torch.zeros(2, 4))
    torch.testing.assert_close(traced(x), frozen(x))


@pytest.mark.parametrize("bad", [torch.ones(2, 5), torch.ones(2, 4, dtype=torch.float64), torch.ones(4)], ids=str)
def test_inputs_that_do_not_fit_are_refused_as_by_the_network(runs, bad):
    frozen = mlp().freeze_for_inference(example=torch.rand(2, 4))
    told = []
    for call in (frozen, frozen.network):
        with pytest.raises((ValueError, TypeError)) as error:
            call(bad)
        told.append(str(error.value))
    assert told[0] == told[1]


def test_inputs_and_outputs_keep_their_forms(runs):
    x = {"b": torch.rand(2, 6), "a": torch.rand(2, 4)}
    frozen = two().freeze_for_inference(example=x)
    wanted = frozen.network(x)
    runs.clear()
    for found in (frozen(x), frozen(**x), frozen({name: value.numpy() for name, value in x.items()})):
        assert list(found) == list(wanted)
        torch.testing.assert_close(found, wanted)
    assert runs["run"] == 3
    a, b = Input((4,)), Input((4,))
    pair = Model([a, b], (Dense(2)(a), b)).freeze_for_inference(example=[x["a"], x["a"] + 1])
    found = pair([x["a"], x["a"] + 1])
    assert runs["run"] > 3
    assert type(found) is type(pair.network([x["a"], x["a"] + 1]))
    torch.testing.assert_close(found[1], x["a"] + 1)


def test_later_changes_of_the_model_do_not_reach_it(runs):
    model, x = mlp(), torch.rand(2, 4)
    frozen = model.freeze_for_inference(example=x)
    before = frozen(x)
    model.set_weights([weight + 1 for weight in model.get_weights()])
    torch.testing.assert_close(frozen(x), before, rtol=0, atol=0)


def test_it_is_made_and_called_in_inference_mode(runs):
    with torch.inference_mode():
        x = torch.rand(2, 4)
        frozen = mlp().freeze_for_inference(example=x)
        runs.clear()
        torch.testing.assert_close(frozen(x), frozen.network(x))
    assert runs["run"] == 1


def test_a_call_enters_few_functions(runs):
    frozen, x, entered = mlp().freeze_for_inference(example=torch.rand(2, 4)), torch.rand(2, 4), []
    frozen._run = list

    def seen(frame, event, argument):
        if event == "call" and "torchkeras" in frame.f_code.co_filename:
            entered.append(frame.f_code.co_name)

    sys.setprofile(seen)
    try:
        frozen(x)
    finally:
        sys.setprofile(None)
    assert entered == ["__call__", "_flat", "as_list", "_kind", "_is_watched", "traced"]


# --- which program is kept ------------------------------------------------------------------------------------------


def programs(monkeypatch, *kinds):
    """Have the ways to compile give programs of these kinds, and the network take 2 seconds; lists what is called."""
    called, left = [], list(kinds)

    def compiled(program, way):
        kind, module = left.pop(0), program.module()

        def run(inputs):
            called.append(kind)
            return [each * (1.01 if kind == "wrong" else 1) for each in as_list(module(*inputs))]

        seconds[run] = {"fast": 1, "slow": 3, "wrong": 0}[kind]
        return run

    seconds: dict[Any, int] = {}
    monkeypatch.setattr(ahead, "_compiled", compiled)
    monkeypatch.setattr(ahead, "_seconds", lambda inputs, run: seconds.get(run, 2))
    return called


@pytest.mark.parametrize(
    ("kinds", "kept"),
    [
        (("slow", "fast"), ["fast"]),
        (("fast", "slow"), ["fast"]),
        (("wrong", "fast"), ["fast"]),
        (("fast", "wrong"), ["fast"]),
        (("slow", "slow"), []),
    ],
)
def test_the_fastest_is_kept_of_those_that_are_right(monkeypatch, kinds, kept):
    called = programs(monkeypatch, *kinds)
    frozen, x = mlp().freeze_for_inference(example=torch.rand(2, 4)), torch.rand(2, 4)
    called.clear()
    torch.testing.assert_close(frozen(x), frozen.network(x))
    assert called == kept


def test_none_is_kept_where_all_are_wrong(monkeypatch):
    programs(monkeypatch, "wrong", "wrong")
    text = r"'net' cannot be compiled for inference: its machine code gives another output 'dense_\d+': it differs by"
    with pytest.raises(ExportError, match=text):
        mlp().freeze_for_inference(example=torch.rand(2, 4))


# --- what it refuses ------------------------------------------------------------------------------------------------


def with_a_hook() -> Sequential:
    model = mlp()
    model.layers[0].register_forward_hook(lambda *_: None)
    return model


def with_states() -> Sequential:
    return Sequential([LSTM(3, stateful=True, batch_input_shape=(2, 5, 4))], name="net")


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (with_a_hook, "it has hooks, which would not run."),
        (with_states, "it keeps states from call to call: make its layers with stateful=False."),
    ],
)
def test_models_that_cannot_be_compiled(model, text):
    with pytest.raises(ExportError) as error:
        model().freeze_for_inference(example=torch.rand(2, 4))
    assert str(error.value) == f"'net' cannot be compiled for inference: {text}"


def test_an_older_torch(monkeypatch):
    monkeypatch.setattr(ahead, "COMPILES", False)
    with pytest.raises(ExportError) as error:
        mlp().freeze_for_inference(example=torch.rand(2, 4))
    text = f"this needs torch 2.8 or newer; this is torch {torch.__version__}."
    assert str(error.value) == f"'net' cannot be compiled for inference: {text}"


def test_an_example_that_does_not_fit(runs):
    with pytest.raises(ValueError, match=r"has shape \(None, 4\); found shape \(2, 5\)"):
        mlp().freeze_for_inference(example=torch.rand(2, 5))


# --- by torch's compiler --------------------------------------------------------------------------------------------


def images() -> tuple[Model, Tensor, Tensor]:
    inputs = Input((8, 8, 3))
    hidden = BatchNormalization()(Conv2D(4, 3)(inputs))
    model = Model(inputs, Dense(5, activation="softmax")(Flatten()(MaxPooling2D()(hidden))))
    return model, torch.rand(2, 8, 8, 3), torch.rand(3, 8, 8, 3)


def words() -> tuple[Model, Tensor, Tensor]:
    inputs = Input((6,), dtype="int64")
    model = Model(inputs, Dense(2)(LSTM(4)(Embedding(10, 3)(inputs))))
    return model, torch.randint(10, (2, 6)), torch.randint(10, (3, 6))


@pytest.mark.slow
@pytest.mark.parametrize(("made", "way"), [(images, 0), (images, 1), (words, 0)])
def test_machine_code_gives_the_outputs_of_the_model(monkeypatch, capfd, made, way):
    monkeypatch.setattr(ahead, "WAYS", [ahead.WAYS[way]])
    monkeypatch.setattr(ahead, "_seconds", lambda inputs, run: run.__name__ == "compute")  # the network is slower
    model, x, more = made()
    model.set_weights([np.random.default_rng(0).random(weight.shape) for weight in model.get_weights()])
    frozen = model.eval().freeze_for_inference(example=x)
    assert frozen._run.__name__ == "run"
    for given in (x, x.flip(0), more):
        torch.testing.assert_close(frozen(given), model(given).detach(), rtol=0, atol=1e-4)
    assert capfd.readouterr() == ("", "")
    if made is words:
        with pytest.raises((IndexError, RuntimeError)):
            frozen(torch.full((2, 6), 10))


@pytest.mark.slow
def test_without_a_compiler_of_cpp(monkeypatch):
    monkeypatch.setattr("torch._inductor.config.cpp.cxx", ("no-such-compiler",))
    with pytest.raises(ExportError, match="'net' cannot be compiled for inference: torch's compiler fails: "):
        mlp().freeze_for_inference(example=torch.rand(2, 4))
