"""A layer that a callback freezes stays as it is from the next step on, and the fit goes on."""

from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, Sequential, optimizers
from torchkeras.callbacks import Callback
from torchkeras.layers import BatchNormalization, Dense

X, Y = np.random.default_rng(0).random((12, 4), dtype="float32"), np.ones((12, 3), "float32")


def three_layers() -> Any:
    return Sequential(
        [Dense(4, input_shape=(4,), name="first"), BatchNormalization(name="norm"), Dense(3, name="last")]
    )


class Freezing(Callback):
    """Freezes layers at a hook, once, and keeps their weights."""

    def __init__(self, hook: str, *names: str):
        super().__init__()
        self.names, self.kept = names, []
        setattr(self, hook, self.freeze)

    def freeze(self, number: int, logs: Any = None) -> None:
        if number == 1 and not self.kept:
            for name in self.names:
                self.model.get_layer(name).trainable = False
            self.kept = self.trained()

    def trained(self) -> list[Any]:
        return [np.array(weight) for name in self.names for weight in self.model.get_layer(name).get_weights()[:2]]


def check(callback: Freezing) -> None:
    assert callback.kept
    for before, after in zip(callback.kept, callback.trained(), strict=True):
        np.testing.assert_array_equal(before, after)


OPTIMIZERS: dict[str, Any] = {
    "sgd": "sgd",
    "nesterov": lambda: optimizers.SGD(momentum=0.9, nesterov=True),
    "adam, clipped": lambda: optimizers.Adam(global_clipnorm=1.0),
    "adam, each clipped": lambda: optimizers.Adam(clipvalue=0.1),
    "adam, accumulated": lambda: optimizers.Adam(gradient_accumulation_steps=2),
    "muon": "muon",
    "lamb": "lamb",
    "adafactor": "adafactor",
    "torch's": lambda: (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
}


@pytest.mark.parametrize("names", [["first"], ["last"], ["first", "norm", "last"]], ids=" ".join)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_with_every_kind_of_optimizer(optimizer, names):
    model, made, callback = three_layers(), OPTIMIZERS[optimizer], Freezing("on_train_batch_end", *names)
    model.compile(made() if callable(made) else made, "mse")
    history = model.fit(X, Y, batch_size=3, epochs=2, verbose=0, callbacks=[callback]).history
    assert np.isfinite(history["loss"]).all()
    check(callback)


@pytest.mark.parametrize("policy", ["skip", "stop", "raise"])
@pytest.mark.parametrize("hook", ["on_epoch_begin", "on_epoch_end", "on_train_batch_begin", "on_train_batch_end"])
def test_at_every_hook_and_under_a_guard(hook, policy):
    model, callback = three_layers(), Freezing(hook, "first", "last")
    model.compile("adam", "mse", on_nonfinite=policy)
    model.fit(X, Y, batch_size=4, epochs=3, verbose=0, callbacks=[callback])
    check(callback)


def test_a_fit_goes_on_when_only_what_the_loss_does_not_see_can_train():
    inputs = Input((4,))
    aside = Dense(2, name="aside")(inputs)
    model = Model(inputs, [Dense(3, name="first")(inputs), aside])
    model.compile("sgd", ["mse", None])
    callback = Freezing("on_train_batch_end", "first")
    history = model.fit(X, [Y], batch_size=3, epochs=2, verbose=0, callbacks=[callback]).history
    assert np.isfinite(history["loss"]).all()
    check(callback)


def test_the_next_fit_says_that_the_model_is_not_compiled_for_it():
    model = three_layers()
    model.compile("sgd", "mse")
    model.fit(X, Y, batch_size=3, verbose=0, callbacks=[Freezing("on_train_batch_end", "first")])
    with pytest.warns(UserWarning, match="^Discrepancy between trainable weights and collected trainable weights"):
        model.fit(X, Y, verbose=0)
