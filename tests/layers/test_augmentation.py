"""Images changed at random; what they become for numbers that are given is compared with Keras 3 in test_keras3.py."""

import copy
import pickle
import re
from functools import partial

import pytest
import torch
from golden import compiles, remade

from torchkeras.engine.modes import call_module
from torchkeras.layers import Conv2D, Dense, GlobalAveragePooling2D, Input, Rescaling
from torchkeras.layers.augmentation import (
    RandomContrast,
    RandomCrop,
    RandomFlip,
    RandomRotation,
    RandomTranslation,
    RandomZoom,
)
from torchkeras.models import Sequential

IMAGES = torch.rand(64, 6, 7, 2, generator=torch.Generator().manual_seed(0))
LAYERS = [
    (RandomFlip, ()),
    (RandomRotation, (0.3,)),
    (RandomTranslation, (0.3, (0.1, 0.2))),
    (RandomZoom, (0.3,)),
    (RandomZoom, (0.3, (-0.2, 0.1), "constant", "nearest")),
    (RandomContrast, ((0.3, 0.5), (0, 1))),
    (RandomCrop, (4, 5)),
]


@pytest.mark.parametrize(("cls", "arguments"), LAYERS)
def test_every_image_has_numbers_of_its_own_from_the_layers_generator(cls, arguments):
    images = IMAGES[:1].expand(8, -1, -1, -1).contiguous()
    layer = cls(*arguments, seed=1)
    first, second = layer(images), layer(images)
    assert not torch.equal(first, second)
    if cls is not RandomCrop:  # one place for all
        assert any(not torch.equal(image, first[0]) for image in first)
    for again in (cls(*arguments, seed=1), copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), remade(layer)):  # noqa: S301
        assert torch.equal(again(images), first)
    turned = cls(*arguments, seed=1, data_format="channels_first")(images.permute(0, 3, 1, 2))
    torch.testing.assert_close(turned.permute(0, 2, 3, 1), first)


@pytest.mark.parametrize(("cls", "arguments"), LAYERS)
def test_outside_of_training_nothing_moves(cls, arguments):
    layer = cls(*arguments)
    integers = (IMAGES * 255).to(torch.uint8)
    if cls is RandomCrop:
        assert layer(IMAGES, training=False).shape == (64, 4, 5, 2)
        assert torch.equal(RandomCrop(6, 5)(IMAGES, training=False), IMAGES[:, :, 1:6])
    else:
        assert torch.equal(layer.eval()(IMAGES), IMAGES)
        assert torch.equal(layer(integers), integers.float())
    assert layer.train()(integers).dtype == torch.float32
    assert layer(IMAGES.bfloat16()).dtype == torch.bfloat16
    size = (4, 5) if cls is RandomCrop else (None, None)
    assert layer(Input((None, None, 2))).shape == (None, *size, 2)


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize(("cls", "arguments"), LAYERS)
def test_compiles_whole(cls, arguments):
    layer = cls(*arguments, data_format="channels_first")
    compiles(layer.eval(), IMAGES.permute(0, 3, 1, 2))
    torch._dynamo.reset()
    compiled = torch.compile(partial(call_module, layer.train()), fullgraph=True, backend="eager")
    assert compiled(IMAGES.permute(0, 3, 1, 2)).shape == layer(IMAGES.permute(0, 3, 1, 2)).shape


@pytest.mark.parametrize(
    ("mode", "axes"), [("horizontal", (2,)), ("vertical", (1,)), ("horizontal_and_vertical", (1, 2))]
)
def test_half_of_the_images_are_flipped(mode, axes):
    found = RandomFlip(mode, seed=0)(IMAGES)
    flipped = (found == IMAGES.flip(axes)).flatten(1).all(1)
    assert 16 < int(flipped.sum()) < 48
    assert torch.equal(found[~flipped], IMAGES[~flipped])


def test_the_range_of_contrast():
    for factor, low, high in (((0.5, 0.2), 0.8, 1.5), (0.3, 1.0, 1.3)):  # Keras 3.15 sorts the two, and cuts -0.3 at 0
        found = RandomContrast(factor, (-9, 9), seed=0)(IMAGES)
        mean = IMAGES.mean((1, 2), keepdim=True)
        contrast = ((found - mean) * (IMAGES - mean)).sum((1, 2, 3)) / (IMAGES - mean).square().sum((1, 2, 3))
        torch.testing.assert_close(found, (IMAGES - mean) * contrast.view(-1, 1, 1, 1) + mean)
        assert low <= float(contrast.min()) < low + 0.1
        assert high - 0.1 < float(contrast.max()) <= high


def test_the_whole_range_of_places_is_cropped():
    layer = RandomCrop(5, 6, seed=0)
    windows = [IMAGES[:, top : top + 5, left : left + 6] for top in range(2) for left in range(2)]
    found = [layer(IMAGES) for _ in range(40)]
    assert all(any(torch.equal(crop, window) for window in windows) for crop in found)
    assert all(any(torch.equal(crop, window) for crop in found) for window in windows)


def test_a_wide_range_turns_every_way():
    square = torch.zeros(200, 5, 5, 1)
    square[:, 0, 2] = 1
    found = RandomRotation(0.5, "constant", seed=0)(square)
    side = [float(part.sum()) for part in (found[:, 0, 1:4], found[:, 4, 1:4], found[:, 1:4, 0], found[:, 1:4, 4])]
    assert min(side) > 0.15 * sum(side)


def test_a_model_learns_with_it():
    model = Sequential(
        [
            Rescaling(1 / 255, input_shape=(6, 7, 2)),
            RandomFlip(),
            RandomRotation(0.1),
            RandomZoom(0.1, fill_mode="nearest"),
            RandomCrop(4, 4),
            Conv2D(3, 3),
            GlobalAveragePooling2D(),
            Dense(1),
        ]
    )
    model.compile("sgd", "mse")
    images, targets = (IMAGES * 255).numpy(), torch.zeros(64, 1).numpy()
    losses = model.fit(images, targets, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    assert (model.predict(images) == model.predict(images)).all()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: RandomFlip("both"),
            "RandomFlip: mode must be one of 'horizontal', 'vertical', 'horizontal_and_vertical'; found 'both'.",
        ),
        (
            lambda: RandomRotation(1.5),
            "RandomRotation: factor must be a number from -1 to 1, or two of them; found 1.5.",
        ),
        (
            lambda: RandomTranslation((0.1, 0.2, 0.3), 0),
            "RandomTranslation: height_factor must be a number from -1 to 1, or two of them; found (0.1, 0.2, 0.3).",
        ),
        (
            lambda: RandomZoom(-1),
            "RandomZoom: height_factor must be a number above -1 up to 1, or two of them; found -1.",
        ),
        (
            lambda: RandomContrast((-0.1, 0.1)),
            "RandomContrast: factor must be a number from 0 to 1, or two of them; found (-0.1, 0.1).",
        ),
        (
            lambda: RandomContrast(0.1, (1, 0)),
            "RandomContrast: value_range must be two numbers, the lower first; found (1, 0).",
        ),
        (
            lambda: RandomRotation(0.1, "wrap"),
            "RandomRotation: fill_mode must be one of 'reflect', 'constant', 'nearest'; found 'wrap'.",
        ),
        (
            lambda: RandomRotation(0.1, interpolation="bicubic"),
            "RandomRotation: interpolation must be one of 'nearest', 'bilinear'; found 'bicubic'.",
        ),
        (lambda: RandomCrop(0, 1), "RandomCrop: height must be an integer of at least 1; found 0."),
        (lambda: RandomCrop(1, 1, 0.5), "RandomCrop: seed must be an integer, or None; found 0.5."),
        (
            lambda: RandomFlip(name="f")(torch.zeros(4, 5)),
            (
                "Input 0 is incompatible with layer f: expected ndim=4, found ndim=2 (input shape (4, 5)). "
                "Give it an input of 4 axes: samples, rows, columns and channels."
            ),
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
