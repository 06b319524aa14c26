"""A saved model goes on as if it had not been saved: moments, averages, accumulated gradients, rates, bit by bit."""

import itertools

import numpy as np
import pytest
import torch

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


@pytest.mark.parametrize("suffix", ["h5", "keras"])
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
