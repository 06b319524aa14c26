"""What a model has once and several of its layers share stays one: in copies, configs and files of every format."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from torchkeras import registry
from torchkeras.errors import ArchitectureError
from torchkeras.layers import (
    RNN,
    Activation,
    BatchNormalization,
    Dense,
    GlobalAveragePooling1D,
    Layer,
    SimpleRNNCell,
    TimeDistributed,
)
from torchkeras.models import Input, Model, Sequential, clone_model, load_model, model_from_config, model_from_json


class Holder(Layer):
    """It has a layer from elsewhere, of which its config says nothing."""

    def __init__(self, inner: Any = None, **options: Any):
        super().__init__(**options)
        self.inner = Dense(4, name="d") if inner is None else inner

    def call(self, x):
        return self.inner(x)


class Listed(Holder):
    """The same in a list."""

    def __init__(self, inner: Any = None, **options: Any):
        Layer.__init__(self, **options)
        self.inside = [Dense(4, name="d") if inner is None else inner]

    def call(self, x):
        return self.inside[0](x)


class Saying(Holder):
    """Its config has the layer."""

    def __init__(self, inner: Any, **options: Any):
        super().__init__(inner if isinstance(inner, Layer) else registry.layers.from_config(inner), **options)

    def get_config(self):
        return {**super().get_config(), "inner": registry.layers.serialize(self.inner)}


CUSTOM = {"Holder": Holder, "Listed": Listed, "Saying": Saying}


def dense(**options: Any) -> Any:
    return Dense(4, name="d", **options)


def outer_and_inner(shared: Any) -> Model:
    i, x = Input((4,)), Input((4,))
    inner = Model(i, Dense(4)(shared(i)), name="inner")
    return Model(x, shared(inner(x)))


def outer_and_sequential() -> Model:
    x, shared = Input((4,)), dense()
    return Model(x, shared(Sequential([Input((4,)), shared], name="inner")(x)))


def two_inner() -> Model:
    i, j, x, shared = Input((4,)), Input((4,)), Input((4,)), dense()
    first, second = Model(i, shared(i), name="a"), Model(j, Activation("tanh")(shared(j)), name="b")
    return Model(x, second(first(x)))


def model_of_two() -> Model:
    i, x, core = Input((4,)), Input((4,)), Sequential([Dense(4, input_shape=(4,), name="d")], name="core")
    return Model(x, core(Model(i, core(i), name="a")(x)))


def sequential_in_sequential() -> Model:
    shared = Dense(4, name="d", input_shape=(4,))
    return Sequential([shared, Sequential([shared], name="inner")])


def wrapper_and_graph() -> Model:
    x, shared = Input((3, 4)), dense()
    return Model(x, shared(GlobalAveragePooling1D()(TimeDistributed(shared, name="td")(x))))


def two_wrappers() -> Model:
    x, shared = Input((3, 4)), dense()
    return Model(x, TimeDistributed(shared, name="b")(TimeDistributed(shared, name="a")(x)))


def one_cell() -> Model:
    x, cell = Input((3, 4)), SimpleRNNCell(4, name="c")
    return Model(x, RNN(cell, name="b")(RNN(cell, return_sequences=True, name="a")(x)))


def of_own(kind: Any) -> Model:
    x, shared = Input((4,)), dense()
    return Model(x, shared(kind(shared, name="own")(x)))


def parameter() -> Model:
    model = Sequential([Dense(4, input_shape=(4,), name="a"), Dense(4, name="b")])
    model.b.linear.weight = model.a.linear.weight
    return model


SAID: dict[str, Callable[[], Model]] = {
    "outer and inner": lambda: outer_and_inner(dense()),
    "with a penalty": lambda: outer_and_inner(dense(kernel_regularizer="l2")),
    "with statistics": lambda: outer_and_inner(BatchNormalization(name="d")),
    "outer and Sequential": outer_and_sequential,
    "two inner models": two_inner,
    "a model of two models": model_of_two,
    "Sequential in Sequential": sequential_in_sequential,
    "wrapper and graph": wrapper_and_graph,
    "two wrappers": two_wrappers,
    "one cell": one_cell,
    "own layer": lambda: of_own(Saying),
}
UNSAID: dict[str, Callable[[], Model]] = {
    "attribute": lambda: of_own(Holder),
    "list": lambda: of_own(Listed),
    "parameter": parameter,
}


def from_config(model: Any) -> Any:
    with registry.custom_object_scope(CUSTOM):
        return with_weights(type(model).from_config(model.get_config()), model)


def with_weights(made: Any, model: Any) -> Any:
    made.set_weights(model.get_weights())
    return made


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),  # noqa: S301
    "clone_model": lambda model: with_weights(clone_model(model), model),
    "clone_function": lambda model: with_weights(clone_model(model, clone_function=lambda each: clone(each)), model),
    "json": lambda model: with_weights(model_from_json(model.to_json(), custom_objects=CUSTOM), model),
    "get_config": from_config,
}
SUFFIXES = (".h5", ".keras", ".pt", ".safetensors")


def clone(layer: Any) -> Any:
    return clone_model(layer) if isinstance(layer, Model) else type(layer).from_config(layer.get_config())


def trained(model: Any, epochs: int = 3) -> Any:
    count = np.random.RandomState(0)
    x = count.randn(8, *model.input_shape[1:]).astype("float32")
    y = count.randn(8, *model.output_shape[1:]).astype("float32")
    model.fit(x, y, epochs=epochs, shuffle=False, verbose=0)
    return model.predict(x)


def same(model: Any, again: Any) -> None:
    """They have as many parameters, and are equal after three more steps."""
    assert len([*again.parameters()]) == len([*model.parameters()])
    assert len(again.losses) == len(model.losses)
    np.testing.assert_array_equal(trained(again), trained(model))
    for found, wanted in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("build", [*SAID.values()], ids=[*SAID])
@pytest.mark.parametrize("way", [way for way in COPIES if way != "clone_function"])
def test_a_copy_shares_what_the_model_shares(way, build):
    model = build()
    again = COPIES[way](model)
    for each in (model, again):
        each.compile("adam", "mse")
    same(model, again)


@pytest.mark.parametrize("build", [*UNSAID.values()], ids=[*UNSAID])
@pytest.mark.parametrize("way", ["deepcopy", "pickle", "clone_model", "json"])
def test_a_copy_shares_what_no_entry_says(way, build):
    test_a_copy_shares_what_the_model_shares(way, build)


@pytest.mark.parametrize("name", ["outer and inner", "two inner models", "two wrappers"])
def test_a_shared_layer_is_given_to_clone_function_once(name):
    model, met = SAID[name](), []

    def copied(layer: Any) -> Any:
        met.append(layer.name)
        return clone(layer)

    clone_model(model, clone_function=copied, recursive=True)
    assert len(met) == len(set(met))


@pytest.mark.parametrize("build", [*SAID.values(), *UNSAID.values()], ids=[*SAID, *UNSAID])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_shares_what_the_model_shares(suffix, build, tmp_path: Path):
    model, path = build(), tmp_path / f"m{suffix}"
    model.compile("adam", "mse")
    trained(model)
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=".*a layer of two models, one inside the other, has no form in Keras 3"
        )
        model.save(path)
        again = load_model(path, custom_objects=CUSTOM)
        again.save(tmp_path / f"again{suffix}")
    same(model, again)
    third = load_model(tmp_path / f"again{suffix}", custom_objects=CUSTOM)
    assert len([*third.parameters()]) == len([*model.parameters()])


@pytest.mark.parametrize("build", [*SAID.values(), *UNSAID.values()], ids=[*SAID, *UNSAID])
@pytest.mark.parametrize("suffix", [".h5", ".weights.h5", ".pt", ".safetensors"])
def test_weights_of_shared_layers_are_read_again(suffix, build, tmp_path: Path):
    model, again = build(), build()
    model.save_weights(tmp_path / f"m{suffix}")
    again.load_weights(tmp_path / f"m{suffix}")
    for found, wanted in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("build", "first", "second"),
    [(UNSAID["attribute"], "d", "own.inner"), (UNSAID["list"], "d", "own.inside.0"), (parameter, *"ab")],
)
def test_get_config_warns_of_what_it_cannot_say(build, first, second):
    model = build()
    paths = [f"{path}.linear.weight" if build is parameter else path for path in (first, second)]
    with pytest.warns(UserWarning, match="are one") as caught:
        model.get_config()
    (found,) = caught
    assert str(found.message) == (
        f"{type(model).__name__} {model.name!r}: {paths[0]!r} and {paths[1]!r} are one, which get_config cannot say: a "
        "model made of its config has each by itself. Files, to_json, clone_model and copies keep them one."
    )
    assert found.filename == __file__


def test_layers_that_are_not_shared_have_no_number():
    i, x = Input((4,)), Input((4,))
    model = Model(x, TimeDistributed(dense())(Model(i, Dense(4)(i))(x)[:, None]))
    assert "shared" not in model.to_json()
    assert "ties" not in model.to_json()


def test_an_own_layer_that_ties_its_parts_itself_is_made_as_before():
    class Twice(Layer):
        def __init__(self, **options: Any):
            super().__init__(**options)
            self.first = nn.Linear(4, 4)
            self.second = self.first

        def call(self, x):
            return self.second(self.first(x))

    x = Input((4,))
    model = Model(x, Twice()(x))
    assert "ties" not in json.loads(model.to_json()).get("torchkeras", {})
    assert len([*clone_model(model).parameters()]) == 2


def broken(change: Callable[[Any], None], build: Callable[[], Model]) -> Any:
    config = json.loads(build().to_json())
    change(config)
    return {key: config[key] for key in ("class_name", "config", "torchkeras") if key in config}


@pytest.mark.parametrize(
    ("ties", "text"),
    [
        (5, "'ties' must be a list of lists of paths; found 5."),
        ([["a"]], "'ties' must be a list of lists of paths; found [['a']]."),
        ([["a.linear.weight", "b.linear.no"]], "'ties' names 'b.linear.no', which the model does not have."),
        ([["a.linear.weight", "no.x.y"]], "'ties' names 'no.x.y', which the model does not have."),
        (
            [["a.linear.weight", "b.linear.bias"]],
            "'ties': 'a.linear.weight' and 'b.linear.bias' are of different kinds, and cannot be one.",
        ),
        ([["a", "b.linear"]], "'ties': 'a' and 'b.linear' are of different kinds, and cannot be one."),
    ],
)
def test_ties_that_do_not_fit_are_refused(ties, text):
    config = broken(lambda made: made["torchkeras"].update(ties=ties), parameter)
    with pytest.raises(ArchitectureError) as error:
        model_from_config(config)
    assert str(error.value) == text


def test_numbers_of_shared_layers_that_do_not_fit_are_refused():
    def other_class(config: Any) -> None:
        layers = config["config"]["layers"]
        assert layers[3]["torchkeras"] == {"shared": 1}
        layers[3].update(class_name="Activation", config={"activation": "relu", "name": "d"})

    with pytest.raises(ArchitectureError, match="A layer config of 'Activation' has the number of Dense 'd'"):
        model_from_config(broken(other_class, wrapper_and_graph))

    def inside_itself(config: Any) -> None:
        config["config"]["layers"][1]["torchkeras"] = {"shared": 1}

    with pytest.raises(ArchitectureError, match="A layer config of 'Dense' has the number of a layer around it"):
        model_from_config(broken(inside_itself, wrapper_and_graph))


def test_frozen_parts_of_shared_layers_stay_frozen(tmp_path: Path):
    model = SAID["outer and inner"]()
    model.get_layer("d").trainable = False
    model.save(tmp_path / "m.h5")
    again = load_model(tmp_path / "m.h5")
    assert again.get_layer("d") is again.get_layer("inner").get_layer("d")
    assert not again.get_layer("d").trainable
    assert [each.trains for each in again.weights] == [each.trains for each in model.weights]
    assert isinstance(again(torch.zeros(1, 4)), torch.Tensor)
