"""Stateful layers that train, evaluate and predict in turns, by a loop in plain torch.

Keras 2.2.4 on TensorFlow 1 is no measure here: it reads and updates states at the same time, in no fixed order.
"""

from pathlib import Path

import pytest
from old_scripts import passed

BY_HAND = '''
import numpy as np
import torch
from keras.layers import GRU, LSTM, Dense, SimpleRNN, TimeDistributed
from keras.models import Sequential
from keras.optimizers import SGD


def gate(x):
    return torch.clamp(0.2 * x + 0.5, 0, 1)


def simple(x, kernel, recurrent, bias, states):
    new = torch.tanh(x @ kernel + bias + states[0] @ recurrent)
    return [new]


def lstm(x, kernel, recurrent, bias, states):
    take, forget, cell, out = (x @ kernel + states[0] @ recurrent + bias).split(6, 1)
    memory = gate(forget) * states[1] + gate(take) * torch.tanh(cell)
    return [gate(out) * torch.tanh(memory), memory]


def gru(x, kernel, recurrent, bias, states):
    update, reset, new = (x @ kernel + bias).split(6, 1)
    for_update, for_reset, for_new = recurrent.split(6, 1)
    update, reset = gate(update + states[0] @ for_update), gate(reset + states[0] @ for_reset)
    return [update * states[0] + (1 - update) * torch.tanh(new + (reset * states[0]) @ for_new)]


class Loop:
    """The model by hand: the state goes on from each call to the next, whatever the call is for."""

    def __init__(self, step, weights, count):
        self.step, self.count = step, count
        self.weights = [torch.tensor(each, requires_grad=True) for each in weights]
        self.reset()

    def reset(self):
        self.states = [torch.zeros(5, 6)] * self.count

    def loss(self, x, y):
        return ((self.outputs(x) - torch.tensor(y)) ** 2).mean()

    def outputs(self, x):
        *own, kernel, bias = self.weights
        states, found = self.states, []
        for moment in torch.tensor(x).unbind(1):
            states = self.step(moment, *own, states)
            found.append(states[0])
        self.states = [each.detach() for each in states]
        return torch.stack(found, 1) @ kernel + bias

    def train(self, x, y):
        loss = self.loss(x, y)
        with torch.no_grad():
            for weight, gradient in zip(self.weights, torch.autograd.grad(loss, self.weights)):
                weight -= 0.1 * gradient
        return loss.item()


def near(found, expected):
    expected = expected.detach() if isinstance(expected, torch.Tensor) else expected
    assert np.allclose(found, expected, rtol=0, atol=1e-6), (found, expected)


random = np.random.RandomState(1)
x, y = random.randn(2, 8, 5, 4, 1).astype("f")
layer = KIND(6, batch_input_shape=(5, 4, 1), return_sequences=True, stateful=True)
model = Sequential([layer, TimeDistributed(Dense(1))])
model.compile(SGD(0.1), "mse")
model.set_weights([0.4 * random.randn(*each.shape) for each in model.get_weights()])
loop = Loop(STEP, model.get_weights(), COUNT)
for i in range(6):
    near(model.train_on_batch(x[i], y[i]), loop.train(x[i], y[i]))
    near(model.predict(x[i], 5), loop.outputs(x[i]))
    near(model.test_on_batch(x[i + 1], y[i + 1]), loop.loss(x[i + 1], y[i + 1]))
    near(model.predict_on_batch(x[i + 1]), loop.outputs(x[i + 1]))
    near(model.evaluate(x[i], y[i], batch_size=5, verbose=0), loop.loss(x[i], y[i]))
    if i == 3:
        model.reset_states()
        loop.reset()
history = model.fit(
    x[0], y[0], epochs=3, batch_size=5, shuffle=False, verbose=0, validation_data=(x[1], y[1])
).history
for loss, validation in zip(history["loss"], history["val_loss"]):
    near(loss, loop.train(x[0], y[0]))
    near(validation, loop.loss(x[1], y[1]))
options = {"epochs": 1, "batch_size": 5, "shuffle": False, "verbose": 0}
history = model.fit(np.concatenate(x[:4]), np.concatenate(y[:4]), **options).history
near(history["loss"][0], np.mean([loop.train(x[k], y[k]) for k in range(4)]))
near(model.predict(np.concatenate(x[:4]), 5), torch.cat([loop.outputs(x[k]) for k in range(4)]))
for found, expected in zip(model.get_weights(), loop.weights):
    near(found, expected)
'''


@pytest.mark.parametrize(
    ("kind", "step", "count"), [("SimpleRNN", "simple", 1), ("LSTM", "lstm", 2), ("GRU", "gru", 1)]
)
def test_train_test_and_predict_in_turns(kind: str, step: str, count: int, tmp_path: Path):
    code = BY_HAND.replace("KIND", kind).replace("STEP", step).replace("COUNT", str(count))
    passed(code, tmp_path)
