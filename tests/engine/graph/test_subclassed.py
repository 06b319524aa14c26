"""Models whose class computes by a `call` or `forward` of its own, and inputs and outputs in any form."""

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from hand_written import assert_equal_states, data, fit, steps
from torch import nn

import torchkeras
from torchkeras.engine.layer.layer import Layer
from torchkeras.errors import ArchitectureError
from torchkeras.layers import BatchNormalization, Concatenate, Dense, Dropout, Embedding, Input
from torchkeras.models import Model, Sequential, clone_model, load_model


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


class ByCall(Model):
    def __init__(self, units=8):
        super().__init__()
        self.first = Dense(units, activation="relu")
        self.blocks = [Dense(units), nn.ReLU()]
        self.last = Dense(3)

    def call(self, inputs):
        x = self.first(inputs)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


class ByForward(Model):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.LazyLinear(8), nn.ReLU())
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))


class ByBuild(Model):
    """Makes its layers when it sees a shape, as Keras lets it."""

    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", (input_shape[-1], 8))
        self.first = Dense(8)
        self.last = Dense(3)
        super().build(input_shape)

    def call(self, inputs, training=None):
        x = torch.relu(inputs @ self.kernel)
        return self.last(torch.relu(self.first(x)))


KINDS = [ByCall, ByForward, ByBuild]


def plain():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))


@pytest.mark.parametrize("kind", [ByCall, ByForward])
def test_it_trains_as_by_hand(kind):
    model, by_hand = kind(), plain()
    model.compile("sgd", "mse", metrics=["mae"])
    model.build((None, 6))
    order = ["first", "blocks", "last"] if kind is ByCall else ["body", "head"]
    found = {k: v for part in order for k, v in model.state_dict().items() if k.startswith(part)}
    by_hand.load_state_dict(dict(zip(by_hand.state_dict(), found.values(), strict=True)))
    x, y = data(16, 6)
    fit(model, x, y)
    steps(by_hand, torch.optim.SGD(by_hand.parameters(), 0.01), x, y)
    found = {k: v for part in order for k, v in model.state_dict().items() if k.startswith(part)}
    assert_equal_states(found, by_hand.state_dict())


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_data_builds_it(kind):
    model = kind()
    model.compile("adam", "mse", metrics=["mae"])
    x, y = data(32, 6)
    history = model.fit(x.numpy(), y.numpy(), epochs=2, validation_split=0.25, verbose=0)
    assert set(history.history) == {"loss", "mean_absolute_error", "val_loss", "val_mean_absolute_error"}
    assert model.metrics_names == ["loss", "mean_absolute_error"]
    outputs = model.predict(x.numpy())
    np.testing.assert_allclose(outputs, model.eval()(x).detach().numpy(), rtol=1e-5, atol=1e-6)
    loss, _ = model.evaluate(x.numpy(), y.numpy(), verbose=0)
    np.testing.assert_allclose(loss, ((outputs - y.numpy()) ** 2).mean(), rtol=1e-5)
    assert (model.input_shape, model.output_shape) == ((None, 6), (None, 3))
    covered = {id(t) for variable in model.weights for t in variable.covered}
    assert covered == set(map(id, model.parameters()))
    assert model.count_params() == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", [".h5", ".weights.h5", ".pt", ".safetensors"])
def test_its_weights_go_to_every_format_and_back(kind, suffix, tmp_path):
    model, other = kind(), kind()
    model.build((None, 6))
    other(torch.zeros(1, 6))
    model.save_weights(tmp_path / f"weights{suffix}")
    other.load_weights(tmp_path / f"weights{suffix}")
    assert_equal_states(other.state_dict(), model.state_dict())


@pytest.mark.parametrize("kind", KINDS)
def test_copies_train_on(kind):
    model = kind()
    model.compile("adam", "mse")
    x, y = data(16, 6)
    fit(model, x, y, times=1)
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]  # noqa: S301
    fit(model, x, y)
    for again in copies:
        fit(again, x, y)
        assert_equal_states(again.state_dict(), model.state_dict())


def test_summary(capsys):
    model = ByCall()
    with pytest.raises(RuntimeError, match="has no graph yet"):
        model.summary()
    model(torch.zeros(1, 6))
    model.summary()
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("dense_1 (Dense)              multiple                  56") for line in lines)
    assert "Total params: 155" in lines


def test_summary_has_the_modules_that_are_no_layers(capsys):
    model = ByForward()
    model(torch.zeros(1, 6))
    model.summary()
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "(Seq" in line or "(Lin" in line]
    assert rows == [["body", "(Sequential)", "-", "128"], ["head", "(Linear)", "-", "27"]]


def test_what_needs_a_graph_says_so(tmp_path):
    model = ByCall()
    model.build((None, 6))
    message = (
        "ByCall 'by_call_1' computes by the code of its class, which no file holds: save its weights (save_weights) "
        "and make the model by its class again, or give the class a get_config, and a from_config that calls build."
    )
    saves = [partial(model.save, tmp_path / f"model.{suffix}") for suffix in ("h5", "keras", "pt")]
    for needs in (model.get_config, model.to_json, *saves):
        with pytest.raises(NotImplementedError) as error:
            needs()
        assert str(error.value) == message
    assert list(tmp_path.iterdir()) == []


def test_no_code_is_generated_for_it():
    with pytest.raises(AttributeError) as error:
        _ = ByCall().code
    assert str(error.value) == "ByCall 'by_call_1' runs the code of its class; none is generated."


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("kind", [ByCall, ByForward])
def test_torch_jit_traces_it(kind):
    model, x = kind(), torch.rand(4, 6)
    model(x)
    traced: Any = torch.jit.trace(model.eval(), x[:2])
    torch.testing.assert_close(traced(x), model(x))


class Told(ByCall):
    """Has a config; what is made of it is built by `made`."""

    made = staticmethod(lambda model: model.build((None, 6)))

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        model = cls(**config)
        cls.made(model)
        return model


@pytest.mark.parametrize("suffix", ["h5", "keras", "safetensors"])
def test_a_class_with_a_config_goes_to_whole_files(tmp_path, suffix):
    model, path = Told(), tmp_path / f"model.{suffix}"
    model.compile("sgd", "mse")
    fit(model, *data(16, 6))
    model.save(path)
    again = load_model(path, custom_objects={"Told": Told})
    assert_equal_states(again.state_dict(), model.state_dict())
    fit(again, *data(16, 6))


def test_a_config_alone_does_not_load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Told, "made", staticmethod(lambda model: None))
    model = Told()
    model.build((None, 6))
    model.save("model.keras")
    with pytest.raises(ArchitectureError) as error:
        load_model("model.keras", custom_objects={"Told": Told})
    assert str(error.value) == (
        "model.keras: Told 'told_1', as its from_config made it, has no weights yet: let from_config call "
        "build(input_shape)."
    )
    monkeypatch.delattr(Told, "from_config")
    with pytest.warns(
        UserWarning, match="^model.keras: load_model will fail: Told has no from_config, which would make "
    ):
        model.save("model.keras")
    with pytest.raises(ArchitectureError) as error:
        load_model("model.keras", custom_objects={"Told": Told})
    assert str(error.value) == (
        "model.keras: Told computes by the code of its class: it needs a from_config of its own, which makes the "
        "model from what its get_config returned, and calls build."
    )


def test_a_model_of_nothing():
    with pytest.raises(TypeError) as error:
        Model()
    assert str(error.value) == (
        "Model: a model is made of inputs and outputs, or is of a class with a `call` or `forward` of its own; found "
        "no inputs."
    )


def test_in_a_graph_and_in_a_sequential():
    x = Input((6,))
    model = Model(x, Dense(2)(ByCall()(x)))
    whole = Sequential([ByForward(), Dense(2)])
    inputs, targets = (tensor.numpy() for tensor in data(8, 6, outputs=2))
    for each in (model, whole):
        each.compile("sgd", "mse")
        each.fit(inputs, targets, verbose=0)
        before = each.get_weights()
        each.fit(inputs, targets, verbose=0)
        assert all((a != b).any() for a, b in zip(before, each.get_weights(), strict=True))


def test_integers_stay_integers():
    class Tokens(Model):
        def __init__(self):
            super().__init__()
            self.embedding, self.last = nn.Embedding(10, 4), Dense(2, activation="softmax")

        def call(self, tokens):
            return self.last(self.embedding(tokens).mean(1))

    model = Tokens()
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(np.arange(20).reshape(4, 5) % 10, np.array([0, 1, 0, 1]), verbose=0)
    assert set(history.history) == {"loss", "acc"}


def test_modes_reach_its_layers():
    class Both(Model):
        def __init__(self):
            super().__init__()
            self.norm, self.drop = BatchNormalization(), Dropout(0.5)

        def call(self, inputs, training=None):
            assert training is self.training
            return self.drop(self.norm(inputs))

    model = Both()
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
    model.fit(x, x, verbose=0)
    assert model.norm.moving_mean.abs().sum() > 0
    np.testing.assert_array_equal(model.predict(x), model.predict(x))
    model.trainable = False
    before = model.get_weights()
    model.compile("sgd", "mse")
    model.fit(x, x, verbose=0)
    for a, b in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


class Two(Model):
    """Two inputs, each an argument, and outputs by name."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 4), nn.Linear(2, 4)

    def forward(self, a, b):
        y = self.a(a) + self.b(b)
        return {"y": y, "total": y.sum(-1, keepdim=True)}


A, B = np.ones((8, 5)), np.ones((8, 2))


@pytest.mark.parametrize("x", [{"a": A, "b": B}, [A, B]], ids=["dict", "list"])
def test_several_inputs_and_outputs_by_name(x):
    model = Two()
    model.compile("sgd", {"y": "mse", "total": "mae"}, metrics={"y": "mae"})
    y = {"y": np.zeros((8, 4)), "total": np.zeros((8, 1))}
    history = model.fit(x, y, verbose=0)
    assert set(history.history) == {"loss", "y_loss", "total_loss", "y_mean_absolute_error"}
    outputs = model.predict(x)
    assert {name: array.shape for name, array in outputs.items()} == {"y": (8, 4), "total": (8, 1)}
    called = model(a=A, b=B)
    for name, array in outputs.items():
        np.testing.assert_allclose(called[name].detach().numpy(), array, rtol=1e-5)


def functional():
    a, b = Input((5,), name="left"), Input((2,), name="right")
    h = Concatenate()([a, b])
    return Model({"a": a, "b": b}, {"y": Dense(2, name="first")(h), "z": [Dense(1, name="second")(h)]})


def test_a_graph_with_dicts():
    model = functional()
    outputs = model({"a": A, "b": B})
    assert {"y": outputs["y"].shape, "z": [outputs["z"][0].shape]} == {"y": (8, 2), "z": [(8, 1)]}
    for again in (model(left=A, right=B), model({"left": A, "right": B})):
        assert torch.equal(again["y"], outputs["y"])
    predicted = model.predict({"a": A, "b": B})
    np.testing.assert_allclose(predicted["z"][0], outputs["z"][0].detach().numpy(), rtol=1e-5)
    model.compile("sgd", "mse")
    model.fit({"a": A, "b": B}, {"y": np.zeros((8, 2)), "z": [np.zeros((8, 1))]}, verbose=0)


@pytest.mark.parametrize("name", ["model.h5", "model.keras"])
def test_dicts_are_kept_in_files_and_copies(name, tmp_path):
    model = functional()
    model.save(tmp_path / name)
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), clone]  # noqa: S301
    expected = model({"a": A, "b": B})
    for again in (load_model(tmp_path / name), *copies):
        found = again({"a": A, "b": B})
        assert (list(found), type(found["z"])) == (["y", "z"], list)
        torch.testing.assert_close(found["y"], expected["y"])
        torch.testing.assert_close(found["z"][0], expected["z"][0])


def test_a_graph_with_dicts_trains_as_by_hand():
    a, b = Input((5,)), Input((2,))
    h = Concatenate()([a, b])
    model = Model({"a": a, "b": b}, {"y": Dense(2)(h)})
    by_hand = nn.Linear(7, 2)
    by_hand.load_state_dict(model.layers[-1].linear.state_dict())
    x, y = data(8, 7, outputs=2)
    model.compile("sgd", {"y": "mse"})
    for _ in range(3):
        model.train_on_batch({"a": x[:, :5].numpy(), "b": x[:, 5:].numpy()}, {"y": y.numpy()})
    steps(by_hand, torch.optim.SGD(by_hand.parameters(), 0.01), x, y)
    assert_equal_states(model.state_dict(), by_hand.state_dict())


def test_inputs_that_are_not_there():
    model = functional()
    for given, message in (
        ({"a": A}, "Model 'model_1': its call takes a dict with the keys a, b; found ['a']."),
        ({"a": A, "c": B}, "Model 'model_1': its call takes a dict with the keys a, b; found ['a', 'c']."),
        ([A, B, B], "Model 'model_1': its call takes a dict with the keys a, b; found list."),
    ):
        with pytest.raises(ValueError, match="takes a dict") as error:
            model(given)
        assert str(error.value) == message
    with pytest.raises(ValueError, match="by position or by name") as error:
        model({"a": A}, right=B)
    assert str(error.value) == (
        "Model 'model_1': each input comes once, by position or by name; found dict by position, right by name."
    )
    with pytest.raises(ValueError, match="found left, a, b by name"):
        model(left=A, a=A, b=B)  # the name of an input, and its key in the dict


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_arrays_are_taken_in_the_type_of_the_input(dtype):
    model = Sequential([Dense(2, input_shape=(5,))])
    assert model(A.astype(dtype)).dtype is torch.float32
    assert model.double()(A.astype(dtype)).dtype is torch.float64
    tokens = Sequential([Embedding(9, 2, input_length=3)])
    assert tokens(np.zeros((2, 3), dtype)).shape == (2, 3, 2)


class OfType(Model):
    """Its layers have no policy of their own, but for one."""

    def __init__(self, dtype):
        super().__init__(dtype=dtype)
        self.first = Dense(8, kernel_initializer="ones")
        self.own = Dense(3, dtype="float32")

    def build(self, input_shape):
        self.last = Dense(2, kernel_initializer="ones")
        super().build(input_shape)

    def call(self, inputs):
        return self.last(self.first(inputs))


@pytest.mark.parametrize("by", ["call", "fit", "build"])
@pytest.mark.parametrize("dtype", ["float64", "float16", "float32"])
def test_its_type_is_that_of_its_layers(dtype, by):
    model = OfType(dtype)
    if by == "call":
        assert model(A).dtype is getattr(torch, dtype)
    elif by == "fit":
        model.compile("sgd", "mse")
        model.fit(A, A[:, :2], verbose=0)
    else:
        model.build((None, 5))
    assert [model.dtype_policy.name, model.first.dtype, model.last.dtype] == [dtype] * 3
    assert (next(model.first.parameters()).dtype, model.own.dtype) == (getattr(torch, dtype), "float32")
    assert model.predict(A, verbose=0).dtype == dtype


def test_its_mixed_policy_is_that_of_its_layers():
    class Mixed(ByCall):
        def __init__(self):
            Model.__init__(self, dtype="mixed_bfloat16")
            self.first, self.blocks, self.last = Dense(8), [], Dense(3)

    model = Mixed()
    assert model(A).dtype is torch.bfloat16
    assert model.last.dtype_policy.name == "mixed_bfloat16"
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}


@pytest.mark.parametrize("of_layer", [True, False])
def test_arrays_of_doubles_are_not_rounded(of_layer):
    class Doubles(Model):
        def __init__(self):
            super().__init__(dtype=None if of_layer else "float64")
            self.dense = Dense(1, kernel_initializer="ones", dtype="float64" if of_layer else None)

        def call(self, inputs):
            return self.dense(inputs)

    model = Doubles()
    x = A / 3
    for _ in range(2):  # before the layer has weights, and after
        np.testing.assert_allclose(model(x).detach(), x.sum(1, keepdims=True), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(model.predict(x, verbose=0), x.sum(1, keepdims=True), rtol=1e-15, atol=1e-15)


def test_a_functional_model_with_a_call_of_its_own():
    class Scaled(Model):
        def call(self, inputs):
            return self.get_layer("only")(inputs) * 2

    x = Input((6,))
    model = Scaled(x, Dense(3, name="only")(x))
    plain_layer = nn.Linear(6, 3)
    plain_layer.load_state_dict(model.get_layer("only").linear.state_dict())

    class Doubled(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = plain_layer

        def forward(self, values):
            return self.layer(values) * 2

    by_hand = Doubled()
    model.compile("sgd", "mse")
    x, y = data(16, 6)
    fit(model, x, y)
    steps(by_hand, torch.optim.SGD(by_hand.parameters(), 0.01), x, y)
    assert_equal_states(model.state_dict(), by_hand.state_dict())
    np.testing.assert_allclose(model.predict(x.numpy()), by_hand(x).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_hooks_of_the_model_are_called():
    model = ByCall()
    seen = []
    model.register_forward_hook(lambda module, inputs, outputs: seen.append(tuple(outputs.shape)))
    model.compile("sgd", "mse")
    x, y = data(16, 6)
    model.fit(x.numpy(), y.numpy(), verbose=0)
    assert (16, 3) in seen


def test_a_model_in_a_layer_in_a_model():
    class Holder(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.net = ByCall()

        def call(self, inputs):
            return self.net(inputs) + 1

    model = Model(x := Input((6,)), Holder()(x))
    assert model.count_params() == 155
    assert len(model.weights) == len(list(model.parameters())) == 6
