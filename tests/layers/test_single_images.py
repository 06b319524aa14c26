"""Image layers on one image: three axes, of a tensor and of a symbolic tensor."""

import pytest
import torch

from torchkeras.layers import (
    CenterCrop,
    Input,
    RandAugment,
    RandomFlip,
    RandomRotation,
    Rescaling,
    Resizing,
    STFTSpectrogram,
)
from torchkeras.layers.preprocessing import CategoryEncoding
from torchkeras.models import Model


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("layer", [Resizing, CenterCrop])
def test_a_model_of_single_images(layer, data_format):
    shape = {"channels_last": (6, 7, 3), "channels_first": (3, 6, 7)}[data_format]
    made = layer(4, 5, data_format=data_format)
    inputs = Input(batch_shape=shape)
    outputs = made(inputs)
    image = torch.rand(shape)
    assert outputs.shape == made.compute_output_shape(shape) == tuple(made(image).shape)
    torch.testing.assert_close(Model(inputs, outputs)(image), made(image))


@pytest.mark.parametrize("layer", [RandomFlip(), RandomRotation(0.1), Rescaling(0.5)])
def test_built_by_hand_for_a_single_image(layer):
    layer.build((6, 7, 3))
    assert layer.built
    assert layer.compute_output_shape((6, 7, 3)) == (6, 7, 3)


def test_value_range_is_a_tuple_again_after_a_config_came_as_text():
    layer = RandAugment([0, 255])
    assert layer.value_range == RandAugment.from_config(layer.get_config()).value_range == (0, 255)


def test_rand_augment_of_no_operations_changes_nothing():
    images = torch.rand(2, 4, 4, 3)
    torch.testing.assert_close(RandAugment(num_ops=0)(images, training=True), images)


def test_weights_count_with_their_category():
    layer = CategoryEncoding(3, output_mode="count")
    found = layer(torch.tensor([[0, 2], [-1, 2]]), count_weights=[[0.5, 2.0], [9.0, 1.0]])
    assert found.tolist() == [[0.5, 0.0, 2.0], [0.0, 0.0, 1.0]]
    with pytest.raises(ValueError, match="count_weights goes with output_mode='count'; found 'multi_hot'"):
        CategoryEncoding(3)(torch.tensor([[0]]), count_weights=torch.ones(1, 1))


def test_build_by_hand_follows_trainable():
    layer = STFTSpectrogram(frame_length=16, frame_step=4, fft_length=16, trainable=False)
    layer.build((None, 64, 1))
    assert not layer.trainable_weights
    assert len(layer.non_trainable_weights) == 2
