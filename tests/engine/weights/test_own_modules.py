"""What modules own is owned: parameters, modules and buffers of users' layers are weights in every respect."""

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from law import assert_law, ids
from own_code import CODES, LAZY, Code
from torch import nn
from torch.nn.utils import prune

from torchkeras import Input, Model, layers, optimizers
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import call_module
from torchkeras.models import load_model

EVERY = pytest.mark.parametrize("code", [*CODES, *LAZY], ids=lambda code: code.name)
UNCOPIED = ("old weight_norm", "old spectral_norm", "prune")  # torch itself refuses to copy what they have computed
WEIGHT_FILES = ("w.h5", "w.weights.h5", "w.pt", "w.safetensors")


def made(code: Code) -> Model:
    inputs = Input(code.input_shape)
    return Model(inputs, code.layer_class()(name="own")(inputs))


def batches(code: Code, count: int = 3) -> list[tuple[torch.Tensor, torch.Tensor]]:
    numbers = torch.Generator().manual_seed(5)
    return [
        (torch.randn(8, *code.input_shape, generator=numbers), torch.randn(8, 3, generator=numbers))
        for _ in range(count)
    ]


def plain_of(code: Code, model: Model) -> nn.Module:
    """The same code as an `nn.Module`, with the same values, by names."""
    plain, (x, _) = code.plain(), batches(code)[0]
    if code in LAZY:
        plain(x)
    plain.load_state_dict(model.get_layer("own").state_dict())
    return plain.train()


def by_hand(plain: nn.Module, optimizer: torch.optim.Optimizer, given: Any) -> None:
    for x, y in given:
        optimizer.zero_grad()
        ((plain(x) - y) ** 2).mean().backward()
        optimizer.step()


def assert_same_state(found: nn.Module, expected: nn.Module, **tolerance: Any) -> None:
    mine, other = found.state_dict(), expected.state_dict()
    assert list(mine) == list(other)
    for name, tensor in mine.items():
        torch.testing.assert_close(tensor, other[name], msg=lambda text, name=name: f"{name}: {text}", **tolerance)


EXACT = {"rtol": 0.0, "atol": 0.0}


def trained(code: Code) -> Model:
    model = made(code)
    model.compile(optimizers.SGD(0.05, momentum=0.9), "mse")
    for x, y in batches(code):
        model.train_on_batch(x, y)
    return model


# --- trained, listed, counted ----------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_three_steps_are_those_of_plain_pytorch(code, kind):
    model = made(code)
    plain = plain_of(code, model)
    make = {"SGD": partial(torch.optim.SGD, lr=0.05, momentum=0.9), "Adam": partial(torch.optim.Adam, lr=0.01)}[kind]
    before = copy.deepcopy(plain.state_dict())
    model.compile(make, "mse")
    for x, y in batches(code):
        model.train_on_batch(x, y)
    by_hand(plain, make(plain.parameters()), batches(code))
    assert_same_state(model.get_layer("own"), plain, rtol=1e-4, atol=1e-6)
    assert any(not torch.equal(before[name], tensor) for name, tensor in plain.state_dict().items())


@EVERY
def test_it_is_in_weights_and_counted(code):
    model = made(code)
    assert_law(model)
    assert model.get_layer("own").count_params() == model.count_params() > 0


@EVERY
def test_the_optimizer_reaches_it(code):
    model = trained(code)
    assert ids(model.optimizer._parameters) == ids(p for p in model.parameters() if p.requires_grad)


# --- kept ------------------------------------------------------------------------------------------------------------


@EVERY
def test_every_file_of_weights_keeps_it(code, tmp_path):
    model = trained(code)
    for name in WEIGHT_FILES:
        model.save_weights(tmp_path / name)
        again = made(code)
        again.load_weights(tmp_path / name)
        assert_same_state(again, model, **EXACT)


@EVERY
def test_get_weights_set_weights_and_copies_keep_it(code):
    model = trained(code)
    again = made(code)
    again.set_weights(model.get_weights())
    assert_same_state(again, model, **EXACT)
    for other in [copy.deepcopy(model)] if code.name not in UNCOPIED else []:
        assert_same_state(other, model, **EXACT)
        assert_law(other)
        assert not ids(other.parameters()) & ids(model.parameters())


@EVERY
@pytest.mark.parametrize("suffix", ["h5", "keras"])
def test_a_file_of_the_model_keeps_it_and_the_optimizers_state_so_that_training_goes_on(code, suffix, tmp_path):
    model = trained(code)
    path = tmp_path / f"model.{suffix}"
    model.save(path)
    again = load_model(path, custom_objects={"Own": code.layer_class()})
    assert_same_state(again, model, **EXACT)
    assert_law(again)
    for x, y in batches(code, 2):
        for each in (model, again):
            each.train_on_batch(x, y)
    assert_same_state(again, model, rtol=1e-5, atol=1e-7)


# --- trainable -------------------------------------------------------------------------------------------------------


@EVERY
def test_a_frozen_layer_keeps_all_and_a_thawed_one_trains_what_trained(code):
    model = made(code)
    own, (x, y) = model.get_layer("own"), batches(code)[0]
    trains = ids(p for p in model.parameters() if p.requires_grad)
    own.trainable = False
    assert model.trainable_weights == []
    assert not any(p.requires_grad for p in model.parameters())
    own.trainable = True
    assert ids(p for p in model.parameters() if p.requires_grad) == trains
    inputs = Input(code.input_shape)
    own.trainable = False
    outer = Model(inputs, layers.Dense(3)(own(inputs)))
    before = copy.deepcopy(own.state_dict())
    outer.compile("sgd", "mse")
    outer.fit(x, y, epochs=2, verbose=0)
    if code.name not in ("buffers", "old spectral_norm", "parametrizations.spectral_norm"):
        assert all(torch.equal(before[name], tensor) for name, tensor in own.state_dict().items())


# --- weights of add_weight under whatever name -----------------------------------------------------------------------


class OldNorm(Layer):
    """As old code has it: the weight's name is another than its attribute's, and the class has that attribute too."""

    gamma = None

    def build(self, input_shape):
        self.gamma = self.add_weight(name="{}_gamma".format(self.name), shape=(input_shape[-1],), initializer="ones")  # noqa: UP032
        self.offset = self.add_weight(name=f"{self.name}/some.beta", shape=(input_shape[-1],), initializer="zeros")
        self.also = self.offset
        self.kept = [
            self.add_weight(name=f"kept_{n}", shape=(input_shape[-1],), initializer="ones", trainable=n == 0)
            for n in range(2)
        ]
        super().build(input_shape)

    def call(self, x):
        return x * self.gamma + self.also + self.kept[0] * self.kept[1]


class InInit(Layer):
    """Weights made in `__init__`."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self.gamma = self.add_weight(name="{}_gamma".format(self.name), shape=(3,), initializer="ones")  # noqa: UP032
        self.linear = nn.Linear(3, 3)

    def call(self, x):
        return self.linear(x) * self.gamma


OLD = {"OldNorm": OldNorm, "InInit": InInit}
OLD_KINDS = pytest.mark.parametrize("kind", OLD.values(), ids=list(OLD))
X3 = torch.randn(5, 3, generator=torch.Generator().manual_seed(2))


def old(kind: type[Layer]) -> Model:
    inputs = Input((3,))
    model = Model(inputs, kind(name="own")(inputs))
    for variable in model.weights:
        variable.assign(torch.rand(variable.shape) + 1)
    return model


def computed(model: Model) -> np.ndarray:
    """By all ways there are, which agree."""
    model.eval()
    found = model(X3).detach()
    np.testing.assert_array_equal(model.predict(X3), found.numpy())
    np.testing.assert_array_equal(call_module(model, X3).detach().numpy(), found.numpy())
    return found.numpy()


@OLD_KINDS
def test_an_attribute_that_holds_a_weight_is_that_weight(kind, tmp_path):
    model = old(kind)
    expected = computed(model)
    assert_law(model)
    again = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), old(kind), old(kind)]  # noqa: S301  # our bytes
    again[2].set_weights(model.get_weights())
    again[3].load_state_dict(model.state_dict())
    for suffix in ("h5", "keras"):
        model.save(tmp_path / f"m.{suffix}")
        again.append(load_model(tmp_path / f"m.{suffix}", custom_objects=OLD))
    for name in WEIGHT_FILES:
        model.save_weights(tmp_path / name)
        again.append(old(kind))
        again[-1].load_weights(tmp_path / name)
    for other in again:
        np.testing.assert_array_equal(computed(other), expected)
        assert_law(other)
        own = other.get_layer("own")
        own.gamma.data.mul_(2)
        assert not np.array_equal(computed(other), expected)


@OLD_KINDS
@pytest.mark.parametrize("move", ["double", "half", "to", "meta"])
def test_it_is_that_weight_after_a_move(kind, move):
    model = old(kind)
    expected = computed(model)
    if move == "meta":
        values = model.state_dict()
        model.to_empty(device="meta")
        assert model.get_layer("own").gamma.is_meta
        model.to_empty(device="cpu")
        model.load_state_dict(values)
        np.testing.assert_array_equal(computed(model), expected)
        return
    model = model.to(torch.float64) if move == "to" else getattr(model, move)()
    own, dtype = model.get_layer("own"), torch.float16 if move == "half" else torch.float64
    assert {tensor.dtype for tensor in (*model.parameters(), *model.buffers(), own.gamma)} == {dtype}
    found = model(X3.to(dtype)).detach()
    close = 1e-2 if move == "half" else 1e-6
    np.testing.assert_allclose(found.double().numpy(), expected, rtol=close, atol=close)
    assert_law(model)
    for variable in model.weights:  # and each is still what the layer computes with
        variable.assign(variable.value * 0)
    assert not model(X3.to(dtype)).any()


@OLD_KINDS
def test_such_weights_train_as_in_plain_pytorch(kind):
    model = old(kind)
    state = {name.removeprefix("own."): tensor.clone().requires_grad_() for name, tensor in model.state_dict().items()}
    model.compile(torch.optim.SGD(model.parameters(), lr=0.1), "mse")
    for _ in range(3):
        model.train_on_batch(X3, torch.zeros(5, 3))

    if kind is OldNorm:
        gamma, offset = model.get_layer("own").gamma, model.get_layer("own").offset
        assert ids([gamma, offset]) <= ids(model.parameters())
        names = {id(t): n.removeprefix("own.") for n, t in model.state_dict(keep_vars=True).items()}
        g, o = state[names[id(gamma)]], state[names[id(offset)]]
        first, second = (state[names[id(t)]] for t in model.get_layer("own").kept)
        weights = [g, o, first]

        def forward() -> torch.Tensor:
            return X3 * g + o + first * second
    else:
        weights = list(state.values())

        def forward() -> torch.Tensor:
            return (X3 @ state["linear.weight"].T + state["linear.bias"]) * state["gamma"]

    optimizer = torch.optim.SGD(weights, lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (forward() ** 2).mean().backward()
        optimizer.step()
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(tensor, state[name.removeprefix("own.")].detach())


class Autoencoder(Layer):
    """A decoder that is tied to its encoder."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self.encoder, self.decoder = nn.Linear(3, 3), nn.Linear(3, 3)
        self.decoder.weight = self.encoder.weight

    def forward(self, x):
        return self.decoder(torch.tanh(self.encoder(x)))


def test_a_tied_weight_is_one_weight_through_files_and_copies(tmp_path):
    inputs = Input((3,))
    model = Model(inputs, Autoencoder(name="own")(inputs))
    assert_law(model)
    assert model.count_params() == 9 + 3 + 3
    model.save(tmp_path / "m.h5")
    again = load_model(tmp_path / "m.h5", custom_objects={"Autoencoder": Autoencoder})
    for other in (again, copy.deepcopy(model), model):
        own = other.get_layer("own")
        assert own.decoder.weight is own.encoder.weight
        other.compile("sgd", "mse")
        other.fit(X3, X3, epochs=2, verbose=0)
        assert own.decoder.weight is own.encoder.weight
        assert_law(other)
    assert_same_state(again, model, **EXACT)


@pytest.mark.parametrize("strict", [True, False])
def test_layers_without_weights_load_no_state(strict):
    class Own(Model):
        def __init__(self):
            super().__init__()
            self.dense, self.scale = layers.Dense(2, name="d"), nn.Parameter(torch.ones(2))

        def call(self, inputs):
            return self.dense(inputs) * self.scale

    built, unbuilt = Own(), Own()
    built(torch.ones(1, 3))
    with pytest.raises(RuntimeError) as caught:
        unbuilt.load_state_dict(built.state_dict(), strict=strict)
    assert str(caught.value).endswith(
        "Dense 'd' has no weights yet, and the state_dict has some for it: build the model, or call it, before it "
        "loads."
    )
    unbuilt(torch.ones(1, 3))
    unbuilt.load_state_dict(built.state_dict(), strict=strict)
    assert torch.equal(unbuilt(torch.ones(1, 3)), built(torch.ones(1, 3)))


def test_prune_names_the_module_that_has_a_weight():
    layer = layers.Dense(2, name="d")
    layer(torch.ones(1, 3))
    with pytest.raises(TypeError) as caught:
        prune.l1_unstructured(layer, "kernel", 0.5)
    assert str(caught.value) == (
        "Dense 'd': kernel is no parameter of the layer itself; the module that has it is layer.linear, and its name "
        "there 'weight'."
    )
    prune.l1_unstructured(layer.linear, "weight", 0.5)
    assert (layer(torch.eye(3)) == 0).sum() == 3
