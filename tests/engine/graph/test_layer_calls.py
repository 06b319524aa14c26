"""What the names in generated code call: `self.dense_a(x)`, whatever is asked of the layer and whatever its name is."""

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model
from torchkeras.engine.graph import codegen
from torchkeras.engine.graph.layer_calls import Call, DirectCalls, Way
from torchkeras.layers import (
    LSTM,
    Activation,
    Add,
    BatchNormalization,
    Concatenate,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Layer,
    Masking,
    MaxPooling2D,
    ReLU,
)
from torchkeras.models import Sequential
from torchkeras.resume import described, earlier_code

LINE = re.compile(r"x\d* = (self\.[a-z]\w*\(.*\)|\w+\.permute\(.*\))(  # .*)?")


def every_way() -> Model:
    """A model whose code calls layers in each of the ways."""
    image = Input((9, 9, 3), name="image")
    x = Activation("relu", name="a")(BatchNormalization(name="b")(Conv2D(4, 3, name="block/1")(image)))
    x = MaxPooling2D(2, name="p")(x)
    x = Add(name="sum")([BatchNormalization(name="b2")(x), x])
    x = Flatten(name="f")(Dropout(0.5, name="d")(x, training=True))
    tokens = Input((5,), dtype="int32", name="tokens")
    steps = LSTM(4, name="l")(Dropout(0.3, name="drop")(Embedding(7, 3, mask_zero=True, name="e")(tokens)))
    inner = Sequential([Dense(4, input_shape=(4,), name="a", activity_regularizer="l2")], name="inner")
    steps = inner(steps)
    joined = Concatenate(name="c")([x, steps, inner(steps, training=False)])
    return Model([image, tokens], Dense(3, activation="softmax", name="o")(joined))


def given() -> list[np.ndarray]:
    rng = np.random.RandomState(0)
    return [rng.rand(4, 9, 9, 3).astype("float32"), rng.randint(0, 7, (4, 5))]


def ways_in(function: Any) -> set[Way]:
    return {call.way for call in function.calls.values() if isinstance(call, Call)}


def test_each_line_is_one_call_of_a_layer_by_its_name() -> None:
    model = every_way()
    _, *lines, last = model.code.splitlines()
    assert [line for line in lines if not LINE.fullmatch(line.strip())] == []
    assert last == "    return x1"
    assert ways_in(model._generated.function(model._generated.plain)) == {*Way} - {Way.LOGITS, Way.ACTIVITY_LOSS}
    model.compile("sgd", "categorical_crossentropy")
    model.train_on_batch(given(), np.eye(3, dtype="float32")[[0, 1, 2, 0]])
    assert any(Way.LOGITS in ways_in(function) for function in model._generated.functions.values())


def test_a_layer_that_is_called_in_two_ways_has_two_names() -> None:
    x = Input((4,))
    relu, first = ReLU(name="relu"), Dense(3, name="first")(x)
    model = Model(x, [Add(name="sum")([relu(first), first]), relu(BatchNormalization(name="b")(first))])
    calls = model._generated.function(model._generated.plain).calls
    assert {name: call.way for name, call in calls.items() if isinstance(call, Call) and call.key == "relu"} == {
        "relu": Way.PLAIN,
        "relu_in_place": Way.IN_PLACE,
    }
    given = torch.randn(5, 4)
    linear = model.get_layer("first")(given)
    torch.testing.assert_close(model.eval()(given)[0], linear.relu() + linear)
    torch.testing.assert_close(model(given)[1], model.get_layer("b")(linear).relu())


@pytest.mark.parametrize(
    "names",
    [
        ("_modules", "_calls"),
        ("_function", "__dict__"),
        ("a b", "a-b"),
        ("self", "class"),
        ("étage", "_tage"),
        ("x", "input_1"),
        ("torch", "typed"),
        ("_", "__"),
        ("relu", "relu_in_place"),
    ],
)
@pytest.mark.parametrize("hooked", [False, True])
def test_a_layer_may_have_any_name(names: tuple[str, str], hooked: bool) -> None:
    one, other = Dense(3, name=names[0]), Dense(2, name=names[1])
    model = Model(x := Input((4,)), other(one(x)))
    if hooked:
        one.register_forward_hook(lambda module, inputs, outputs: None)
    given = torch.randn(5, 4)
    torch.testing.assert_close(model(given), other(one(given)))
    np.testing.assert_allclose(model.predict(given.numpy()), model(given).detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize("hooked", [False, True])
def test_a_layer_put_into_the_place_of_another_is_called(hooked: bool) -> None:
    model = Model(x := Input((4,)), Dense(2, name="top")(Dense(3, name="first")(x)))
    if hooked:
        model.get_layer("top").register_forward_hook(lambda module, inputs, outputs: None)
    given = torch.randn(5, 4)
    before = model(given)
    other = Dense(3)
    other.build((None, 4))
    model._modules["first"] = other
    torch.testing.assert_close(model(given), model.get_layer("top")(other(given)))
    assert not torch.allclose(model(given), before)


def test_a_pickle_of_an_earlier_version_holds_texts_which_are_written_again() -> None:
    model = every_way()
    state = model.__getstate__()
    text = "def forward(self, image, tokens):\n    return self.a._call_module(image)\n"
    state["_sources"] = dict.fromkeys(state.pop("_written"), text)
    earlier = Model.__new__(Model)
    earlier.__setstate__(copy.deepcopy(state))
    assert [*earlier._generated.functions] == [*model._generated.functions]
    assert earlier.code == model.code
    assert pickle.loads(pickle.dumps(earlier)).code == model.code  # noqa: S301


class NoMask(Layer):
    def call(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs * 2


def test_a_form_of_a_model_that_cannot_be_written_is_not_kept() -> None:
    model = Model(x := Input((5, 4)), Dense(2)(NoMask()(Dense(3)(x))))
    given = torch.ones(2, 5, 4)
    before = model(given)
    with pytest.raises(TypeError, match="support"):
        model(given, mask=torch.ones(2, 5, dtype=torch.bool))
    for one in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        np.testing.assert_array_equal(one(given).detach(), before.detach())
        np.testing.assert_allclose(one.predict(given.numpy()), before.detach(), rtol=1e-6)


def test_a_copy_has_a_layer_that_was_put_into_the_place_of_another() -> None:
    model = Model(x := Input((4,)), Dense(2, name="top")(Dense(3, name="first")(x)))
    given = torch.randn(5, 4)
    model(given)
    other = Dense(3)
    other.build((None, 4))
    model._modules["first"] = other
    expected = model(given)
    for one in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        torch.testing.assert_close(one(given), expected)


def test_models_in_models_choose_their_calls_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def nested(depth: int) -> Model:
        inputs = Input((4,))
        x = Dense(4, activity_regularizer="l2")(inputs)
        return Model(inputs, nested(depth - 1)(x) if depth else x)

    model, made = nested(8), 0
    model.compile("sgd", "mse")
    model.train_on_batch(np.ones((2, 4)), np.ones((2, 4)))
    make = DirectCalls.make

    def counted(*given: Any) -> Any:
        nonlocal made
        made += 1
        return make(*given)

    monkeypatch.setattr(DirectCalls, "make", counted)
    copy.deepcopy(model)(torch.ones(2, 4))
    assert made <= 3 * 9  # of each model the forms that there are


def test_a_form_is_written_while_another_thread_renews_them(monkeypatch: pytest.MonkeyPatch) -> None:
    model, other = (Model(x := Input((4,)), Dense(2, activation="relu")(x)) for _ in range(2))
    given = torch.ones(2, 4)
    model(given)
    model.forward(given, details=True)
    other.layers[1].activation = "tanh"
    write = codegen.source

    def during(*arguments: Any) -> Any:  # what another thread does in the middle of it
        monkeypatch.setattr(codegen, "source", write)
        model.forward(given, logits=(0,))
        return write(*arguments)

    monkeypatch.setattr(codegen, "source", during)
    torch.testing.assert_close(model(given), model.layers[1](given))


@pytest.mark.parametrize("training", [False, True])
def test_a_model_that_gives_masks_runs_in_the_mode_of_its_call(training: bool) -> None:
    inner = Model(x := Input((5, 4)), Dropout(0.5)(Masking()(x)))
    model = Model(y := Input((5, 4)), inner(y, training=training))
    for run in (model.train(), model.eval()):
        assert (run(torch.ones(2, 5, 4)) == 0).any() == training


def test_a_checkpoint_of_an_earlier_version_describes_the_same_graph() -> None:
    """Its code called `self.a._call_unrectified(x)` and the like, and `self._modules['block/1']`."""
    lines = [
        "def forward(self, image, tokens):",
        "    x = image.permute(0, 3, 1, 2)",
        "    x = layer0['block/1']._call_module(x)  # (None, 7, 7, 4), channels first",
        "    x = layer1._call_module(x)  # (None, 7, 7, 4), channels first",
        "    x = layer2._call_unrectified(x)  # (None, 7, 7, 4), channels first",
        "    x = layer3._call_rectified(layer2, x)  # (None, 3, 3, 4), channels first",
        "    x1 = layer4._call_module(tokens)  # (None, 5, 3)",
        "    x2 = layer5._call_module(x)  # (None, 3, 3, 4), channels first",
        "    x1 = layer6._call_module(x1)  # (None, 5, 3)",
        "    x = layer7._call_overwriting([x2, x])  # (None, 3, 3, 4), channels first",
        "    x2 = layer4.compute_mask(tokens, None)",
        "    x2 = layer8._call_module(x1, mask=x2)  # (None, 4)",
        "    x = layer9._call_module(x, training=True)  # (None, 3, 3, 4), channels first",
        "    x2 = layer10._call_module(x2)  # (None, 4)",
        "    x = x.permute(0, 2, 3, 1)",
        "    x = layer11._call_module(x)  # (None, 36)",
        "    x1 = layer10._call_in_mode(False, x2)  # (None, 4)",
        "    x1 = layer12._call_module([x, x2, x1])  # (None, 44)",
        "    x1 = layer13._call_module(x1)  # (None, 3)",
        "    return x1",
        "",
        "def forward(self, a_input):",
        "    x = layer2._call_module(a_input)  # (None, 4)",
        "    return x",
        "",
    ]
    now = described.of_model(every_way(), deep=True)
    before = {**now, "code": lines}
    assert described.changes({"model": before}, {"model": now}) == ({}, {})
    other = {**now, "code": [line.replace("training=True", "training=False") for line in lines]}
    deciding, _ = described.changes({"model": other}, {"model": now})
    assert "training=False" in deciding["model"]


@pytest.mark.parametrize(
    ("earlier", "today", "is_same"),
    [
        ("x = layer0['x[1]']._call_module(x)", "x = layer0(x)", True),
        ("x = layer0['a b']._call_module(layer0['a-b']._call_module(x))", "x = layer0(layer1(x))", True),
        ("x = layer0['a b']._call_module(layer0['a b']._call_module(x))", "x = layer0(layer1(x))", False),
        (
            "x = layer1._call_in_mode(False, x, shape=(2, 3,))  # (None, 3)",
            "x = layer0(x, shape=(2, 3,), training=False)  # (None, 3)",
            True,
        ),
        ("x = layer0._call_module(x)  # (None, 3)", "x = layer0(x)  # (None, 4)", False),
        ("x = layer0._call_module(x)", "x = layer0(x, training=True)", False),
        ("x = layer1._call_rectified(layer0, x)", "x = layer0(x)", True),
    ],
)
def test_lines_of_an_earlier_version_are_compared_by_what_they_call(earlier: str, today: str, is_same: bool) -> None:
    assert earlier_code.is_of_earlier([earlier])
    assert not earlier_code.is_of_earlier([today])
    assert (earlier_code.comparable([earlier]) == earlier_code.comparable([today])) is is_same


def test_an_argument_may_look_like_the_name_of_a_layer() -> None:
    class Named(Layer):
        def call(self, inputs: torch.Tensor, mode: str) -> torch.Tensor:
            return inputs * len(mode)

    model = Model(x := Input((4,)), Dense(2)(Named()(x, mode="self.other")))
    assert 'mode="self.other"' in "\n".join(described.of_model(model)["code"])
