"""The same training written by hand in PyTorch, for tests that hold a model to it."""

import numpy as np
import torch
from torch import nn


def steps(module, optimizer, x, y, times=3, loss=nn.functional.mse_loss, training=True):
    """Train a module of torch for some steps on one batch."""
    module.train(training)
    for _ in range(times):
        optimizer.zero_grad()
        loss(module(x), y).backward()
        optimizer.step()


def fit(model, x, y, times=3):
    """The same steps by `fit`: one batch an epoch."""
    model.fit(x.numpy(), y.numpy(), batch_size=len(x), epochs=times, shuffle=False, verbose=0)


def assert_equal_states(found, expected, **tolerance):
    """Two state_dicts hold the same values in the same order, whatever the names."""
    assert len(found) == len(expected)
    for a, b in zip(found.values(), expected.values(), strict=True):
        torch.testing.assert_close(a, b, **tolerance)


def data(*shape, outputs=3, seed=0):
    """Inputs of a shape and targets of so many numbers, drawn with a seed."""
    random = np.random.default_rng(seed)
    x = torch.from_numpy(random.normal(size=shape).astype("float32"))
    return x, torch.from_numpy(random.normal(size=(shape[0], outputs)).astype("float32"))
