"""`predict` by several processes: each computes its rows, and all have the outputs of all in order."""

import pytest
from launched import as_torchrun, launch, printed

# A model of two outputs, and what one process predicts with it; `apart` predicts as one of several.
MODELS = """
import numpy as np, torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
import torchkeras
from torchkeras import Input, Model
from torchkeras.distribution import initialize, rank, world_size
from torchkeras.distribution import shared_predictions
from torchkeras.layers import LSTM, Dense

initialize(timeout=60)
torch.manual_seed(0)
x = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
inputs = Input((3,))
model = Model(inputs, [Dense(2)(inputs), Dense(4, activation="relu")(inputs)])

def apart(model, *arguments, **options):
    model.compile("sgd", "mse", distribute="ddp")
    try:
        return model.predict(*arguments, **options)
    finally:
        model.compile("sgd", "mse", distribute=None)

def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-6, atol=1e-6)

def message(error, call):
    try:
        call()
    except error as raised:
        return str(raised)

def batches(order):
    for i in order:
        yield x[4 * i : 4 * i + 4]
"""

# Batches of one sample leave processes without any, which stand-ins keep in step.
GATHERS = """
for size in (1, 4, 10, 16):
    assert_equal(apart(model, x, batch_size=size), model.predict(x, batch_size=size))
expected = model.predict(x, batch_size=4)
shared_predictions.MOST_BYTES = 40  # many pieces
assert_equal(apart(model, x, batch_size=4), expected)
assert_equal(apart(model, batches([0, 1, 2]), steps=3), expected)
assert_equal(apart(model, DataLoader(TensorDataset(torch.from_numpy(x)), 4)), expected)
assert_equal(apart(model, x, batch_size=4, steps=2), [each[:8] for each in expected])
sizes = []
told = torchkeras.callbacks.LambdaCallback()
told.on_predict_batch_end = lambda batch, logs=None: sizes.append(logs["size"])
apart(model, x, batch_size=4, callbacks=[told])
assert sizes == [4, 4, 2], sizes

first, last = [10 * place // world_size() for place in (rank(), rank() + 1)]
assert_equal(apart(model, x, batch_size=10, gather=False), [each[first:last] for each in expected])
alone = apart(model, x[:1], gather=False)
assert [each.shape for each in alone] == [(0, 2), (0, 4)] if rank() < world_size() - 1 else [(1, 2), (1, 4)]

class Own(Model):
    def predict_step(self, data):
        y = super().predict_step(data)
        return {"one": [y > 0], "half": [y.bfloat16()], "numbers": [y.sum(-1)], "none": [y[:, :0]]}[self.kind]

own = Own(inputs, Dense(2)(inputs))
for own.kind in ("one", "half", "numbers", "none"):
    assert_equal([apart(own, torch.from_numpy(x), batch_size=4)], [own.predict(x, batch_size=4)])

# What a stateful layer carries to the next batch is of all samples, on every process.
inputs = Input(batch_shape=(2, 3, 1))
stateful = Model(inputs, LSTM(2, stateful=True)(inputs))
steps = x[:8, :, None]
expected = stateful.predict(steps, batch_size=2)
states = [state.clone() for state in stateful.layers[-1].states]
stateful.reset_states()
assert_equal([apart(stateful, steps, batch_size=2)], [expected])
assert_equal(stateful.layers[-1].states, states)
assert "found 8 samples, batch size 4" in message(ValueError, lambda: apart(stateful, steps, batch_size=4))
print("equal")
"""

REFUSES = """
class Mean(Model):
    def predict_step(self, data):
        return super().predict_step(data).mean()

mean = Mean(inputs, Dense(2)(inputs))
print(message(ValueError, lambda: apart(mean, x, batch_size=4)))
print(message(ValueError, lambda: apart(model, batches([rank(), 1 - rank()]), steps=2)))
sampler = DistributedSampler(x, shuffle=False)
loader = DataLoader(x, 2, sampler=sampler)
print(message(ValueError, lambda: apart(model, loader)))
assert_equal(apart(model, loader, gather=False), [each[rank() :: world_size()] for each in model.predict(x)])
"""


@pytest.mark.parametrize("processes", [1, 3])
def test_every_process_has_the_outputs_of_all(processes):
    assert printed(launch(MODELS + GATHERS, as_torchrun(processes))) == ["equal\n"] * processes


def test_what_cannot_be_joined_is_told_by_every_process():
    expected = (
        "predict: an output has not one row for each sample, or rows of several shapes, so that those of all processes "
        "cannot be joined. Give gather=False: each process then has its own.\n"
        "predict: the processes had different batches, of [8, 8] samples in all. Seed every process alike, so that "
        "each makes the same batches, or give gather=False.\n"
        "predict: a DataLoader with a DistributedSampler gives each process samples of which the order is not known. "
        "Give the DataLoader without it, which is divided here, or gather=False.\n"
    )
    assert printed(launch(MODELS + REFUSES, as_torchrun(2))) == [expected] * 2
