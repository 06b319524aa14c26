"""Random models, the same in each run: in every format and copy they compute and train on as they were, bit by bit."""

from __future__ import annotations

import copy
import json
import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from torchkeras import clear_session, constraints, layers, optimizers
from torchkeras.base.nested import put_together
from torchkeras.layers import Dense, Layer, TorchModule
from torchkeras.models import Input, Model, Sequential, clone_model, load_model, model_from_json

NAMES = ("a b", "ä-ö", "x/y", "数", "Z", "a.b", "q_1")
RATES = {"Adam": {"amsgrad": True}, "SGD": {"momentum": 0.9, "decay": 0.1}, "RMSprop": {"decay": 0.1}, "Adagrad": {}}
RATES |= {"Adadelta": {"decay": 0.1}, "Nadam": {}, "Adamax": {"use_ema": True}, "AdamW": {"clipnorm": 1.0}, "Ftrl": {}}
FUNCTIONS = (
    lambda x: F.gelu(x) + x,
    lambda x: torch.cat([x, x * 2], 1)[:, 2:6],
    lambda x: x @ torch.ones(4, 4),
    lambda x: torch.softmax(x, -1),
)


class Parts(Layer):
    """Layers in a list and a dict, a weight, and one that does not train."""

    def __init__(self, count: int = 2, **options: Any):
        super().__init__(**options)
        self.count = count
        self.listed = [Dense(4, activation="tanh", name=f"l{k}") for k in range(count)]
        self.named = {"z/b": Dense(4, name="zb"), "a": Dense(4, name="na")}
        self.norm = layers.BatchNormalization(name="norm")

    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(4,), initializer="ones", regularizer="l2")
        self.seen = self.add_weight(name="seen", shape=(4,), initializer="zeros", trainable=False)
        super().build(input_shape)

    def call(self, x):
        for each in self.listed:
            x = each(x)
        return self.norm(self.named["z/b"](x) + self.named["a"](x)) * self.scale + self.seen

    def get_config(self):
        return {**super().get_config(), "count": self.count}


class OwnModel(Model):
    """A class of the user's."""


def halved(x):
    return x * 0.5


class Maker:
    """A model, as a seed says."""

    def __init__(self, seed: int):
        self.random, self.count, self.shared = random.Random(seed), 0, []
        self.core: Any = None

    def pick(self, *items: Any) -> Any:
        return self.random.choice(items)

    def maybe(self, chance: float = 0.3) -> bool:
        return self.random.random() < chance

    def name(self) -> str | None:
        self.count += 1
        return f"{self.pick(*NAMES)} {self.count}" if self.maybe() else None

    def options(self) -> dict[str, Any]:
        return {"name": self.name(), "trainable": not self.maybe(0.15)}

    def dense(self) -> Dense:
        options = self.options()
        if self.maybe():
            options |= {"kernel_regularizer": "l2", "kernel_constraint": constraints.MaxNorm(2.0)}
        if self.maybe(0.15):
            options["dtype"] = self.pick("mixed_bfloat16", "float64")
        return Dense(4, activation=self.pick(None, "relu", "tanh"), use_bias=self.maybe(0.8), **options)

    def plain(self) -> Any:
        """A layer of vectors."""
        kinds = (layers.BatchNormalization, layers.LayerNormalization, layers.PReLU, Parts)
        made = {kind.__name__: lambda kind=kind: kind(**self.options()) for kind in kinds}
        made |= {
            "Dense": self.dense,
            "Lambda": lambda: layers.Lambda(halved, name=self.name()),
            "TorchModule": lambda: TorchModule(nn.Linear(4, 4), name=f"module {self.random.random()}"),
            "SpectralNormalization": lambda: layers.SpectralNormalization(Dense(4), name=self.name()),
            "Sequential": lambda: Sequential([self.dense(), self.dense()], name=self.name()),
        }
        return made[self.pick(*made)]()

    def sequence(self) -> Any:
        """A layer of sequences of two vectors of size 2, which gives a vector."""
        return self.pick(
            lambda: layers.GRU(4, reset_after=self.maybe(0.5), **self.options()),
            lambda: layers.LSTM(4, **self.options()),
            lambda: layers.Bidirectional(layers.SimpleRNN(2), name=self.name()),
            lambda: layers.RNN([layers.LSTMCell(3), layers.SimpleRNNCell(4)], name=self.name()),
        )()

    def inner(self, x: Any, depth: int) -> Any:
        """A model inside."""
        i = Input((4,))
        made = self.pick(Model, OwnModel)(i, self.body(i, depth + 1), name=self.name())
        if self.maybe():
            made.trainable = False
        return made(x)

    def nest(self, x: Any) -> Any:
        """A model inside with nested inputs and outputs."""
        i = {"z": Input((4,)), "b": Input((4,)), "a": [Input((4,))]}
        last = layers.Subtract()([i["a"][0], i["b"]])
        made = Model(i, {"y": self.dense()(i["z"]), "c": (self.dense()(i["b"]), last)}, name=self.name())
        found: Any = made({"z": x, "b": x * 2.0, "a": [x * 3.0]})
        return layers.Add()([found["y"], *found["c"]])

    def step(self, x: Any, depth: int) -> Any:
        """A vector of what came before."""
        kind = self.pick(*("plain" for _ in range(4)), "sequence", "function", "shared", "core", "inner", "nest")
        if kind == "function":
            return self.pick(*FUNCTIONS)(x)
        if kind == "sequence":
            s = layers.Reshape((2, 2), name=self.name())(x)
            return self.sequence()(layers.Masking(name=self.name())(s) if self.maybe() else s)
        if kind == "shared":
            if not self.shared or self.maybe():
                self.shared.append(self.dense())
            return self.pick(*self.shared)(x)
        if kind == "core":
            if self.core is None:
                i = Input((4,))
                self.core = Model(i, self.dense()(layers.BatchNormalization(momentum=0.8)(i)), name=self.name())
            return self.core(x)
        if kind == "inner" and depth < 2:
            return self.inner(x, depth)
        return self.nest(x) if kind == "nest" and depth < 2 else self.plain()(x)

    def body(self, x: Any, depth: int = 0) -> Any:
        for _ in range(self.random.randint(1, 2 if depth else 4)):
            x = self.step(x, depth)
        return x

    def model(self) -> Model:
        a, b = Input((4,), name="ia"), Input((4,), name="ib")
        x = self.body(a)
        form = self.pick("one", "list", "dict", "deep")
        if form == "one":
            return Model(a, [x, self.dense()(x)], name=self.name())
        y = self.body(b)
        z = self.dense()(layers.Concatenate()([x, y]))
        forms = {
            "list": ([b, a], [z, x]),
            "dict": ({"z": b, "c": a}, {"w": z, "v": y}),
            "deep": ({"z": {"k": b, "d": a}}, {"w": [z, {"n": x, "e": y}]}),
        }
        return Model(*forms[form], name=self.name())


def mapped(value: Any, change: Any) -> Any:
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    return [mapped(item, change) for item in value] if isinstance(value, (list, tuple)) else change(value)


def leaves(value: Any) -> list[Any]:
    found: list[Any] = []
    mapped({0: value}, found.append)
    return found


def trained(model: Any, x: Any, y: Any) -> Any:
    torch.manual_seed(5)
    for _ in range(3):
        model.train_on_batch(x, y)
    return model.predict(x)


def facts(model: Any) -> dict[str, Any]:
    """What a user sees of a model."""
    return {
        "layers": [(type(each).__name__, each.name, each.trainable, each.dtype_policy.name) for each in model.layers],
        "weights": [(each.full_name, each.trains, each.shape) for each in model.weights],
        "state_dict": sorted(model.state_dict()),
        "parameters": len([*model.parameters()]),
        "names": (model.input_names, model.output_names),
    }


def equal(found: Any, wanted: Any) -> None:
    assert mapped(found, lambda _: None) == mapped(wanted, lambda _: None)
    pairs = [(leaves(found), leaves(wanted))]
    if isinstance(wanted, dict):  # the order of keys is not a matter of Keras's
        pairs = [(leaves(found[key]), leaves(wanted[key])) for key in sorted(wanted)]
    for ours, theirs in pairs:
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", range(8))
def test_a_random_model_stays_what_it_is(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    clear_session()
    torch.manual_seed(seed)
    maker = Maker(seed)
    model, name = maker.model(), maker.pick(*RATES)
    model.compile(getattr(optimizers, name)(lr=0.01, **RATES[name]), "mse")
    draw = np.random.RandomState(seed)
    inputs = [draw.randn(8, 4).astype("float32") for _ in model.inputs]
    x = put_together(model._input_form, inputs) if model._input_form is not None else inputs
    x = x[0] if model._input_form is None and len(x) == 1 else x
    y = mapped(model.predict(x), lambda each: draw.randn(*each.shape).astype("float32"))
    outputs, said, config = trained(model, x, y), facts(model), model.to_json()
    later = trained(pickle.loads(pickle.dumps(model)), x, y)  # noqa: S301
    custom: dict[str, Any] = {"Parts": Parts, "OwnModel": OwnModel, "halved": halved}
    custom |= {each.name: nn.Linear(4, 4) for each in model.modules() if isinstance(each, TorchModule)}

    def check(again: Any, goes_on: bool = True) -> None:
        equal(again.predict(x), outputs)
        assert facts(again) == said
        if goes_on:
            equal(trained(again, x, y), later)

    warnings.filterwarnings("ignore", message=".*(Keras 3 refuses it|Keras 2.2.4 has no|not on torch)")
    for suffix in (".h5", ".keras", ".pt", ".safetensors"):
        first, second, third = (tmp_path / f"{k}{suffix}" for k in "abc")
        model.save(first)
        again = load_model(first, custom_objects=custom)
        again.save(second)
        if suffix == ".keras":  # its form has every option, and other names of functions
            load_model(second, custom_objects=custom).save(third)
            first, second = second, third
        else:
            assert json.loads(again.to_json()) == json.loads(config)
        assert first.read_bytes() == second.read_bytes()
        check(again)
    for suffix in (".h5", ".weights.h5", ".pt", ".safetensors"):
        made = model_from_json(config, custom_objects=custom)
        model.save_weights(tmp_path / f"w{suffix}")
        made.load_weights(tmp_path / f"w{suffix}")
        check(made, goes_on=False)
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    check(clone, goes_on=False)
    check(copy.deepcopy(model))
    equal(model.predict(x), outputs)
