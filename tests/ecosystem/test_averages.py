"""`torch.optim.swa_utils`: averaged models, their schedule, and batch normalizations brought up to date."""

import numpy as np
import pytest
import torch
from shared import BATCH, IMAGES, ROWS, TARGETS, dense_model, fit, image_model, values
from torch.nn import functional as F
from torch.optim import swa_utils

from torchkeras.callbacks import Callback

pytestmark = pytest.mark.slow


class Averaging(Callback):
    """Adds the weights of the model to an average after each epoch, or batch."""

    def __init__(self, averaged, each_batch=False):
        super().__init__()
        self.averaged, self.each_batch = averaged, each_batch
        self.seen = []

    def on_batch_end(self, batch, logs=None):
        if self.each_batch:
            self.add()

    def on_epoch_end(self, epoch, logs=None):
        if not self.each_batch:
            self.add()

    def add(self):
        self.averaged.update_parameters(self.model)
        self.seen.append(values(self.model))


def test_the_average_is_the_mean_of_the_epochs():
    model = dense_model()
    averaged = swa_utils.AveragedModel(model)
    averaging = Averaging(averaged)
    model.compile(torch.optim.SGD(model.parameters(), lr=0.1), "mse")
    model.fit(ROWS, TARGETS, epochs=3, batch_size=BATCH, verbose=0, callbacks=[averaging])

    for name, value in averaged.module.state_dict().items():
        mean = torch.stack([seen[name] for seen in averaging.seen]).mean(0)
        torch.testing.assert_close(value, mean, rtol=1e-5, atol=1e-6)
    assert int(averaged.n_averaged) == 3
    with torch.no_grad():
        np.testing.assert_allclose(averaged.module.predict(ROWS), averaged(torch.from_numpy(ROWS)), rtol=1e-5)


def test_an_exponential_average_follows_each_batch():
    model = dense_model()
    averaged = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9))
    averaging = Averaging(averaged, each_batch=True)
    model.compile(torch.optim.SGD(model.parameters(), lr=0.1), "mse")
    model.fit(ROWS, TARGETS, batch_size=BATCH, verbose=0, callbacks=[averaging])

    name = "dense_a.linear.weight"
    expected = averaging.seen[0][name]
    for seen in averaging.seen[1:]:
        expected = 0.9 * expected + 0.1 * seen[name]
    torch.testing.assert_close(averaged.module.state_dict()[name], expected)


def test_update_bn_gives_the_averages_of_the_data():
    model = image_model()
    averaged = swa_utils.AveragedModel(model)
    fit(model, IMAGES, TARGETS)
    averaged.update_parameters(model)
    swa_utils.update_bn([torch.from_numpy(IMAGES[:8]), torch.from_numpy(IMAGES[8:16])], averaged)

    images = torch.from_numpy(IMAGES.transpose(0, 3, 1, 2).copy())
    with torch.no_grad():
        one, two = F.relu(averaged.module.stem.conv(images[:16])).split(8)
    _, _, mean, variance = averaged.module.layers[2].get_weights()
    axes = (0, 2, 3)
    np.testing.assert_allclose(mean, (one.mean(axes) + two.mean(axes)) / 2, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(variance, (one.var(axes) + two.var(axes)) / 2, rtol=1e-4, atol=1e-5)


def test_the_schedule_of_the_rate_runs_as_a_callback():
    model = dense_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.4)
    model.compile(optimizer, "mse")
    schedule = swa_utils.SWALR(optimizer, swa_lr=0.1, anneal_epochs=2, anneal_strategy="linear")
    model.fit(ROWS, TARGETS, epochs=3, batch_size=BATCH, verbose=0, callbacks=[schedule])
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.1)


def test_an_averaged_model_trains_no_further_than_the_model_it_was_made_of():
    model = dense_model()
    averaged = swa_utils.AveragedModel(model)
    before = values(averaged.module)
    fit(model, ROWS, TARGETS)
    for name, value in averaged.module.state_dict().items():
        assert torch.equal(value, before[name])
