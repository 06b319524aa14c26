"""`torch.utils.checkpoint`: inside a user's layer, around layers of a model, and around whole models."""

import copy

import numpy as np
import pytest
import torch
from shared import ROWS, SERIES, TARGETS, assert_equal_states, dense_model, fit, series_model, train_by_hand
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import apply_activation_checkpointing
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from torchkeras import Input, Model
from torchkeras.layers import BatchNormalization, Dense, Dropout, Layer

pytestmark = pytest.mark.slow


class Block(Layer):
    """Two layers, the values between them computed again for the gradients, if that is asked for."""

    runs = 0

    def __init__(self, checkpointed, **options):
        super().__init__(**options)
        self.checkpointed = checkpointed
        self.first, self.second = Dense(9, activation="tanh"), Dense(6)
        self.drop = Dropout(0.3)

    def inside(self, x):
        type(self).runs += not x.is_meta
        return x + self.second(self.drop(self.first(x)))

    def call(self, x):
        return checkpoint(self.inside, x, use_reentrant=False) if self.checkpointed else self.inside(x)


def blocks(checkpointed: bool) -> Model:
    inputs = Input((6,))
    hidden = Block(checkpointed, name="one")(inputs)
    return Model(inputs, Dense(4, name="head")(Block(checkpointed, name="two")(hidden)))


def test_a_layer_that_checkpoints_trains_as_one_that_does_not():
    plain, saving = blocks(False), blocks(True)
    saving.set_weights(plain.get_weights())
    for model, runs in ((plain, 2 * 3), (saving, 2 * 2 * 3)):
        torch.manual_seed(3)
        Block.runs = 0
        fit(model, ROWS, TARGETS)
        assert Block.runs == runs
    assert_equal_states(saving, plain, atol=0)


def test_around_a_model_and_by_hand():
    model = dense_model()
    twin = copy.deepcopy(model)
    train_by_hand(lambda x: checkpoint(model, x, use_reentrant=False), model.parameters(), ROWS, TARGETS)
    train_by_hand(twin, twin.parameters(), ROWS, TARGETS)
    assert_equal_states(model, twin, atol=0)


def test_around_layers_in_sequence_by_hand():
    model = dense_model()
    twin = copy.deepcopy(model)
    layers = list(model.children())
    train_by_hand(lambda x: checkpoint_sequential(layers, 2, x, use_reentrant=False), model.parameters(), ROWS, TARGETS)
    train_by_hand(twin, twin.parameters(), ROWS, TARGETS)
    assert_equal_states(model, twin, atol=0)


@pytest.mark.parametrize(("make", "x"), [(dense_model, ROWS), (series_model, SERIES)])
def test_by_a_forward_put_into_a_layers_place(make, x):
    model = make()
    twin = copy.deepcopy(model)
    layer, calls = model.layers[1], []
    own = layer.forward

    def forward(inputs):
        calls.append(1)
        return checkpoint(own, inputs, use_reentrant=False)

    layer.forward = forward
    fit(model, x, TARGETS)
    fit(twin, x, TARGETS)
    assert len(calls) >= 3
    assert_equal_states(model, twin, atol=0)


def test_by_torchs_wrapper_around_the_modules_inside():
    model = dense_model()
    twin = copy.deepcopy(model)
    apply_activation_checkpointing(model, check_fn=lambda module: isinstance(module, torch.nn.Linear))
    assert type(model.layers[1].linear).__name__ == "CheckpointWrapper"
    fit(model, ROWS, TARGETS)
    fit(twin, ROWS, TARGETS)
    np.testing.assert_array_equal(model.predict(ROWS), twin.predict(ROWS))


def test_statistics_are_counted_once_where_torchs_own_are():
    """A batch normalization in a checkpoint runs twice, in torch too: its statistics move twice."""
    inputs = Input((6,))
    model = Model(inputs, BatchNormalization()(inputs))
    plain = torch.nn.BatchNorm1d(6, eps=1e-3, momentum=0.01)
    x = torch.from_numpy(ROWS)
    for module in (model, plain):
        F.mse_loss(checkpoint(module.train(), x, use_reentrant=False), x).backward()
    torch.testing.assert_close(torch.from_numpy(model.get_weights()[2]), plain.running_mean)
