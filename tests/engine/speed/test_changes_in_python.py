"""What a callback changes in Python between epochs counts in compiled steps: torch's guards see it."""

from types import ModuleType

import pytest
import torch
from jitted import Graphs, alike, trained

from torchkeras import Input, Model, config
from torchkeras.callbacks import Callback
from torchkeras.layers import BatchNormalization, Dense, Layer, LeakyReLU
from torchkeras.regularizers import L1L2

pytestmark = pytest.mark.torch("2.8", "compiled steps")

FACTOR = 1.0
settings = ModuleType("settings")
settings.factor = 1.0  # type: ignore[attr-defined]


class Change(Callback):
    """Calls a function with the model and the epoch's number."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def on_epoch_begin(self, epoch, logs=None):
        self.change(self.model, epoch)


def changeable():
    held = {"factor": 1.0}

    class Scaled(Layer):
        factor = 1.0

        def call(self, inputs):
            return inputs * self.factor * FACTOR * held["factor"] * settings.factor

    inputs = Input((6,))
    hidden = Dense(8, activation="relu", kernel_regularizer=L1L2(l2=0.01), name="dense")(inputs)
    hidden = BatchNormalization(momentum=0.5, name="normalization")(Scaled(name="scaled")(hidden))
    hidden = LeakyReLU(0.1, name="leaky")(hidden)
    model = Model(inputs, Dense(3, activation="softmax", name="last")(hidden))
    model.held = held
    return model


def set_slope(model, number):
    model.get_layer("leaky").alpha = 0.1 + 0.1 * number


def set_penalty(model, number):
    object.__setattr__(model.get_layer("dense").kernel_regularizer, "l2", 0.01 * number)


def set_own_attribute(model, number):
    model.get_layer("scaled").factor = 1.0 + 0.1 * number


def set_attribute_of_the_class(model, number):
    type(model.get_layer("scaled")).factor = 1.0 + 0.1 * number


def set_global(model, number):
    global FACTOR
    FACTOR = 1.0 + 0.1 * number


def set_attribute_of_a_module(model, number):
    settings.factor = 1.0 + 0.1 * number  # type: ignore[attr-defined]


def set_what_is_closed_over(model, number):
    model.held["factor"] = 1.0 + 0.1 * number


def set_activation(model, number):
    model.get_layer("dense").activation = torch.tanh if number % 2 else torch.relu


def move_weights(model, number):
    parameter = model.get_layer("last").linear.weight
    parameter.data = parameter.data.clone() * 0.9


def stop_training(model, number):
    model.get_layer("normalization").train(bool(number % 2))


def set_epsilon(model, number):
    config.set_epsilon(0.1 + 0.01 * number)


CHANGES = [
    *(set_slope, set_penalty, set_own_attribute, set_attribute_of_the_class, set_global, set_attribute_of_a_module),
    *(set_what_is_closed_over, set_activation, move_weights, stop_training, set_epsilon),
]


@pytest.mark.torch("2.10", "a compiled step stays while nothing in it changes")
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_in_python_counts(monkeypatch, change):
    found, graphs = [], Graphs()
    for setting in (graphs.setting, False):
        set_global(None, 0)
        set_attribute_of_a_module(None, 0)
        monkeypatch.setattr(config.SETTINGS, "epsilon", 1e-7)
        found.append(trained(changeable, setting, epochs=4, callbacks=[Change(change)], metrics=None))
    alike(*found)
    assert len(graphs.found) == {move_weights: 1, set_activation: 2, stop_training: 2}.get(change, 4)
    monkeypatch.undo()
    unchanged = trained(changeable, False, epochs=4, metrics=None)
    assert unchanged[0]["loss"] != found[1][0]["loss"]  # it is a change
