"""A saved model goes on as if it had not been saved: moments, averages, accumulated gradients, rates, bit by bit."""

import itertools

import h5py
import numpy as np
import pytest
import torch
from torch.nn.utils import parametrizations, parametrize, prune

from torchkeras import Input, Model, clear_session, layers, optimizers
from torchkeras.models import load_model

X = np.random.default_rng(0).standard_normal((9, 8, 4)).astype("float32")
Y = X[:, :, :3] * np.float32(0.5)
X[1, 2] = np.nan

OPTIMIZERS = {
    "adam": lambda **options: optimizers.Adam(0.02, **options),
    "sgd": lambda **options: optimizers.SGD(0.02, momentum=0.9, decay=0.01, **options),
    "adamw": lambda **options: optimizers.AdamW(0.02, **options),
    "adafactor": lambda **options: optimizers.Adafactor(0.01, **options),
    "muon": lambda **options: optimizers.Muon(0.01, **options),
    "schedule": lambda **options: optimizers.Adam(optimizers.schedules.ExponentialDecay(0.05, 5, 0.9), **options),
}
OPTIONS = [
    {},
    {"use_ema": True, "ema_momentum": 0.9},
    {"gradient_accumulation_steps": 3},
    {"use_ema": True, "gradient_accumulation_steps": 3, "ema_overwrite_frequency": 2},
]


def made(optimizer):
    clear_session()
    torch.manual_seed(0)
    inputs = Input((4,))
    x = layers.BatchNormalization()(layers.Dense(5, activation="relu")(inputs))
    model = Model(inputs, layers.Dense(3)(x))
    model.compile(optimizer, "mse", on_nonfinite="skip")
    return model


@pytest.mark.parametrize("suffix", ["h5", "keras", "pt", "safetensors"])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options) or "plain")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_loaded_model_goes_on_as_the_saved_one(name, options, suffix, tmp_path):
    for before in (0, 4, 5):  # before the first step, and between the batches of one
        model = made(OPTIMIZERS[name](**options))
        for x, y in itertools.islice(zip(X, Y, strict=True), before):
            model.train_on_batch(x, y)
        model.save(tmp_path / f"model.{suffix}")
        loaded = load_model(tmp_path / f"model.{suffix}")
        for each in (model, loaded):
            for x, y in zip(X[before:], Y[before:], strict=True):
                each.train_on_batch(x, y)
            if options.get("use_ema"):
                each.optimizer.swap_ema()
        for one, other in zip(model.get_weights(), loaded.get_weights(), strict=True):
            np.testing.assert_array_equal(one, other)


KINDS = (
    "SGD",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "Adam",
    "Adamax",
    "Nadam",
    "AdamW",
    "Lion",
    "Lamb",
    "Muon",
    "Adafactor",
)
KINDS = (*KINDS, "Ftrl")
OF_KERAS3 = {"RMSprop": {"epsilon_inside_root": True}, "Adagrad": {"epsilon_inside_root": True}}
OF_KERAS3["Nadam"] = {"schedule_decay": 1.0}
WITH_DECAY = ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "AdamW")
RATES = {
    "plain": {},
    "decay": {"decay": 0.3},
    "schedule": {"lr": optimizers.schedules.InverseTimeDecay(0.02, 2, 0.5)},
    "clipnorm": {"clipnorm": 0.1},
    "clipvalue": {"clipvalue": 0.01},
    "each_clipnorm": {"each_clipnorm": 0.1},
    "weight_decay": {"weight_decay": 0.1},
}


def rates(kind):
    return [name for name in RATES if name != "decay" or kind in WITH_DECAY]


@pytest.mark.parametrize("suffix", ["h5", "keras", "pt", "safetensors"])
@pytest.mark.parametrize(("kind", "rate"), [(kind, rate) for kind in KINDS for rate in rates(kind)])
def test_every_optimizer_goes_on(kind, rate, suffix, tmp_path):
    clear_session()
    dtype = "float64" if rate == "decay" else "float32"
    torch.manual_seed(0)
    inner = Model(inner_in := Input((4,), dtype=dtype), layers.Dense(5, activation="tanh", dtype=dtype)(inner_in))
    x = layers.BatchNormalization(dtype=dtype)(inner(inputs := Input((4,), dtype=dtype)))
    model = Model(inputs, layers.Dense(3, dtype=dtype)(x))
    options = {"lr": 0.02, **(OF_KERAS3.get(kind, {}) if suffix == "keras" else {}), **RATES[rate]}
    model.compile(getattr(optimizers, kind)(**options), "mse")
    x, y = np.nan_to_num(X).astype(dtype), Y.astype(dtype)
    y[np.isnan(y)] = 0
    for k in range(4):
        model.train_on_batch(x[k], y[k])
    model.save(tmp_path / f"model.{suffix}")
    loaded = load_model(tmp_path / f"model.{suffix}")
    assert loaded.optimizer.iterations == 4
    for k in range(4, 8):
        model.train_on_batch(x[k], y[k])
        loaded.train_on_batch(x[k], y[k])
    for one, other in zip(model.get_weights(), loaded.get_weights(), strict=True):
        assert one.dtype == dtype
        np.testing.assert_array_equal(one, other)


class Twice(torch.nn.Module):
    def forward(self, weight):
        return 2 * weight

    def right_inverse(self, weight):
        return weight / 2


def half(module):
    prune.l1_unstructured(module, "weight", 0.5)


def spectral(module):
    parametrizations.spectral_norm(module, "weight")


def twice(module):
    parametrize.register_parametrization(module, "weight", Twice())


def plain(module):
    if parametrize.is_parametrized(module):
        parametrize.remove_parametrizations(module, "weight")
    else:
        prune.remove(module, "weight")


@pytest.mark.parametrize("suffix", ["h5", "keras", "pt", "safetensors"])
@pytest.mark.parametrize(("path", "put"), [("dense.linear", half), ("dense.linear", spectral), ("dense.linear", twice)])
def test_what_is_removed_after_compile_does_not_exchange_states(path, put, suffix, tmp_path):
    removed_after_compile(path, put, suffix, tmp_path)


@pytest.mark.parametrize("suffix", ["h5", "keras", "pt", "safetensors"])
@pytest.mark.parametrize("put", [half, twice])
def test_gamma_and_beta_have_equal_shapes(put, suffix, tmp_path):
    removed_after_compile("norm.norm", put, suffix, tmp_path)


def removed_after_compile(path, put, suffix, tmp_path):
    clear_session()
    torch.manual_seed(0)
    model = Model(
        inputs := Input((4,)),
        layers.Dense(3)(layers.BatchNormalization(name="norm")(layers.Dense(5, name="dense")(inputs))),
    )
    put(model.get_submodule(path))
    model.compile(optimizers.Adam(0.02, use_ema=True), "mse")
    for k in (0, 2, 3):
        model.train_on_batch(X[k], Y[k])
    plain(model.get_submodule(path))
    model.save(tmp_path / f"model.{suffix}")
    loaded = load_model(tmp_path / f"model.{suffix}")
    for k in (4, 5):
        model.train_on_batch(X[k], Y[k])
        loaded.train_on_batch(X[k], Y[k])
    for one, other in zip(model.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    averages = zip(model.trainable_weights, loaded.trainable_weights, strict=True)
    for each in (model, loaded):
        each.optimizer.swap_ema()
    for one, other in averages:
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("suffix", ["h5", "keras", "pt", "safetensors"])
def test_another_parameter_in_a_place_has_no_state(suffix, tmp_path):
    """weight_norm trains two parameters, and leaves a third."""
    clear_session()
    model = Model(inputs := Input((4,)), layers.Dense(3, name="dense")(inputs))
    parametrizations.weight_norm(model.dense.linear, "weight")
    model.compile("adam", "mse")
    model.train_on_batch(X[0], Y[0])
    plain(model.dense.linear)
    with pytest.warns(UserWarning, match="since compile other") as caught:
        model.save(tmp_path / f"model.{suffix}")
    assert [str(warning.message).replace(f"{tmp_path}/", "") for warning in caught] == [
        (
            f"model.{suffix}: since compile other parameters are in the place of dense/kernel:0: the file has no state "
            "of the optimizer for them, and they begin to train without."
        )
    ]
    assert caught[0].filename == __file__
    _, *moments = load_model(tmp_path / f"model.{suffix}").optimizer.get_weights()
    assert [bool(moment.any()) for moment in moments[:4]] == [False, True, False, True]


def test_a_model_whose_loss_was_set_keeps_its_state(tmp_path):
    model = made(optimizers.Adam(0.02))
    model.train_on_batch(X[0], Y[0])
    model.loss = "mae"
    model.save(tmp_path / "model.h5")
    assert load_model(tmp_path / "model.h5").optimizer.iterations == 1


def test_a_model_frozen_since_compile_is_saved_as_it_is(tmp_path):
    model = made(optimizers.Adam(0.02))
    model.train_on_batch(X[0], Y[0])
    model.layers[1].trainable = False
    for suffix in ("h5", "keras", "pt", "safetensors"):
        model.save(tmp_path / f"model.{suffix}")
        loaded = load_model(tmp_path / f"model.{suffix}")
        assert len(loaded.trainable_weights) == 4
        state = loaded.optimizer.get_weights()[: 1 + 2 * 4]
        assert all(array.any() for array in state)


def without_steps(path):
    """A file as earlier releases wrote it, without the number of steps."""
    with h5py.File(path, "r+") as file:
        del file["optimizer_weights/torchkeras"]


@pytest.mark.parametrize(
    ("kind", "rate"),
    [(kind, {"decay": 0.1}) for kind in ("RMSprop", "Adagrad", "Adadelta")]
    + [("RMSprop", {"lr": optimizers.schedules.ExponentialDecay(0.05, 5, 0.9)})],
)
def test_an_older_file_without_the_number_of_steps_says_so(kind, rate, tmp_path):
    model, path = made(getattr(optimizers, kind)(**rate)), tmp_path / "model.h5"
    x, y = np.nan_to_num(X), np.nan_to_num(Y)
    for k in range(4):
        model.train_on_batch(x[k], y[k])
    model.save(path)
    without_steps(path)
    with pytest.warns(UserWarning, match="changes with the steps") as caught:
        loaded = load_model(path)
    (found,) = caught
    assert str(found.message) == (
        f"{path}: {kind} has a learning rate that changes with the steps, and the file, which an earlier release of "
        "torchkeras wrote, does not hold their number: the rate begins as at the first step. To go on exactly, set "
        "model.optimizer.iterations to the number of batches trained so far, and save again."
    )
    assert found.filename == __file__
    loaded.optimizer.iterations = 4
    for each in (model, loaded):
        for k in range(4, 8):
            each.train_on_batch(x[k], y[k])
    for one, other in zip(model.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("trained", [0, 4])
def test_an_older_file_whose_rate_does_not_change_says_nothing(trained, tmp_path):
    model, path = made(optimizers.RMSprop(**({} if trained else {"decay": 0.1}))), tmp_path / "model.h5"
    for k in range(trained):
        model.train_on_batch(np.nan_to_num(X)[k], np.nan_to_num(Y)[k])
    model.save(path)
    if trained:
        without_steps(path)
    assert load_model(path).optimizer.iterations == 0
