"""A layer of a graph replaced: `model.head = nn.Linear(...)`."""

import copy

import numpy as np
import pytest
import torch
from hand_written import data, fit, steps
from torch import nn

import torchkeras
from torchkeras.layers import Dense, Input
from torchkeras.models import Model, Sequential


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def classifier():
    x = Input((6,))
    return Model(x, Dense(3, name="head")(Dense(4, activation="relu", name="body")(x)))


def test_a_head_replaced_by_a_module_trains_as_by_hand():
    model, head = classifier(), nn.Linear(4, 2)
    by_hand = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), copy.deepcopy(head))
    by_hand[0].load_state_dict(model.body.linear.state_dict())
    model.compile("sgd", "mse")
    model.fit(np.zeros((4, 6)), np.zeros((4, 3)), epochs=1, verbose=0)
    model.body.linear.load_state_dict(by_hand[0].state_dict())
    model.head = head
    assert (model.output_shape, model.head.module) == ((None, 2), head)
    x, y = data(16, 6, outputs=2)
    fit(model, x, y)
    steps(by_hand, torch.optim.SGD(by_hand.parameters(), 0.01), x, y)
    for found, expected in zip(model.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(found, expected)
    assert model.count_params() == 6 * 4 + 4 + 4 * 2 + 2


def test_what_comes_after_a_replaced_layer_is_called_again():
    model = classifier()
    inner = Dense(4, activation="tanh", name="other")
    model.body = inner
    x = torch.randn(3, 6)
    torch.testing.assert_close(model(x), model.head.linear(torch.tanh(inner.linear(x))))
    assert [layer.name for layer in model.layers[1:]] == ["other", "head"]


def test_a_layer_of_a_sequential_replaced():
    model = Sequential([Dense(4, input_shape=(6,)), Dense(3, name="head")])
    model.head = Dense(2)
    model.add(Dense(5))
    assert [layer.name for layer in model.layers] == ["dense_1", "dense_2", "dense_3"]
    assert model(torch.randn(2, 6)).shape == (2, 5)


def test_a_module_that_does_not_fit_changes_nothing():
    model = classifier()
    code, before = model.code, list(model.state_dict())
    with pytest.raises(ValueError, match="cannot compute on input shape"):
        model.head = nn.Linear(9, 2)
    assert (model.code, list(model.state_dict())) == (code, before)


def test_a_module_beside_the_graph_is_a_weight_of_the_model(tmp_path):
    model = classifier()
    model.extra = nn.Linear(2, 2)
    assert model.count_params() == sum(p.numel() for p in model.parameters())
    for name in ("w.h5", "w.weights.h5", "w.pt"):
        model.save_weights(tmp_path / name)
        again = classifier()
        again.extra = nn.Linear(2, 2)
        again.load_weights(tmp_path / name)
        torch.testing.assert_close(again.extra.weight, model.extra.weight)
