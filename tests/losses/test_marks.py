"""What a loss says about itself where it is defined: `elementwise`, `mixes_samples`, `of_probabilities`."""

import numpy as np
import pytest
import torch

from torchkeras import losses, registry
from torchkeras.engine.step.output_loss import adds_up, is_by_sample
from torchkeras.layers import Dense
from torchkeras.losses.shared import ELEMENTWISE, MIXING, OF_PROBABILITIES
from torchkeras.models import Sequential

OF_LABELS = (losses.sparse_categorical_crossentropy, losses.categorical_generalized_cross_entropy)


def is_a_mean_over_samples(function):
    """Whether the loss of a batch is the mean of the losses of its halves."""
    generator = torch.Generator().manual_seed(0)
    y_pred = torch.rand((8, 3), generator=generator)
    y_true = (torch.rand((8, 3), generator=generator) > torch.arange(8)[:, None] / 8).float()
    halves = [function(*(half[part] for half in (y_true, y_pred))).mean() for part in (slice(4), slice(4, 8))]
    return torch.allclose(function(y_true, y_pred).mean(), sum(halves) / 2, atol=1e-6)


@pytest.mark.parametrize("function", ELEMENTWISE, ids=lambda function: function.__name__)
def test_a_loss_is_a_mean_over_samples_or_says_that_it_is_none(function):
    assert is_by_sample(function) == is_a_mean_over_samples(function), "mark it @mixes_samples, or remove the mark"


def test_a_class_mixes_samples_if_its_function_does():
    mixing = {name for name, kind in registry.losses.classes().items() if getattr(kind, "function", None) in MIXING}
    assert mixing == {"Circle", "Dice", "Tversky"}
    assert not any(adds_up(getattr(losses, name)()) for name in mixing)
    assert adds_up(losses.Huber())


@pytest.mark.parametrize("function", OF_PROBABILITIES, ids=lambda function: function.__name__)
def test_as_a_metric_of_logits_a_loss_of_probabilities_gets_these(function):
    binary = function.__name__ in ("binary_crossentropy", "binary_focal_crossentropy", "dice", "tversky")
    units = 1 if binary else 3
    x = np.random.RandomState(0).rand(12, 4).astype("float32")
    y = (np.arange(12) % (2 if binary else 3)).astype("int64")
    if binary:
        y = y[:, None].astype("float32")
    elif function not in OF_LABELS:
        y = np.eye(3, dtype="float32")[y]
    kind = losses.BinaryCrossentropy if binary else losses.CategoricalCrossentropy
    if function in OF_LABELS:
        kind = losses.SparseCategoricalCrossentropy
    model = Sequential([Dense(units, input_shape=(4,))])
    model.compile("sgd", kind(from_logits=True), metrics=[function])
    found = model.evaluate(x, y, batch_size=12, verbose=0)[1]
    logits = model(torch.from_numpy(x)).detach()
    activated = logits.sigmoid() if binary else logits.softmax(-1)
    np.testing.assert_allclose(found, function(torch.from_numpy(y), activated).mean(), rtol=1e-4)
