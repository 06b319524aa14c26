"""The axes of a symbolic tensor are those that Keras shows, in whatever order its values lie."""

import pytest
import torch

import torchkeras
from torchkeras.layers import Conv2D, Input
from torchkeras.models import Model


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def test_axes_are_those_that_keras_shows():
    image = Input((6, 6, 3))
    features = Conv2D(4, 1)(image)
    model = Model(image, torch.cat([features.mean((1, 2)), features.amax((1, 2))], -1))
    given = torch.rand(2, 6, 6, 3)
    shown = model.layers[1](given)
    torch.testing.assert_close(model(given), torch.cat([shown.mean((1, 2)), shown.amax((1, 2))], -1))


def test_a_view_of_features_that_lie_otherwise_in_memory():
    image = Input((6, 6, 3))
    model = Model(image, Conv2D(4, 3)(image).view(-1, 64))
    given = torch.rand(2, 6, 6, 3)
    torch.testing.assert_close(model(given), model.layers[1](given).reshape(2, 64))


def test_elementwise_operators_keep_images_channels_first_and_slices_see_kerass_order():
    image = Input((6, 6, 3))
    y = Conv2D(4, 1)(image)
    model = Model(image, Conv2D(2, 1)((y * 2 - y / 3)[:, 1:, :, 2:]))
    lines = [line.strip().partition("  #")[0] for line in model.code.splitlines()]
    assert sum("permute" in line for line in lines) == 4
    x = torch.rand(2, 6, 6, 3)
    first, last = model.get_layer("conv2d_1"), model.get_layer("conv2d_2")
    torch.testing.assert_close(model(x), last((first(x) * 2 - first(x) / 3)[:, 1:, :, 2:]))
