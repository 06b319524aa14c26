"""Images displaced at random, and what genuine Keras on torch does not compute as it documents."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch

from tests.keras3.cases.image import BYTES, FIRST, IMAGE, IMAGES, LARGE, MOVED, PLANE, TRANSFORMS, TWO
from torchkeras import Input, Model, config

ops: Any = importlib.import_module("torchkeras.keras3.ops")


def close(found: torch.Tensor, expected: Any, **options: Any) -> None:
    torch.testing.assert_close(found, torch.as_tensor(expected), **(options or {"rtol": 1e-5, "atol": 1e-6}))


# --- displaced at random ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("images", [IMAGES, IMAGE, BYTES])
def test_displacements_are_random_and_repeat_with_a_seed(images: np.ndarray):
    first, second = (ops.image.elastic_transform(images, seed=seed) for seed in (1, 2))
    assert first.shape == images.shape
    assert first.dtype is torch.as_tensor(images).dtype
    assert (first != second).any()
    close(ops.image.elastic_transform(images, seed=1), first)
    torch.manual_seed(3)
    free = ops.image.elastic_transform(images)
    assert (free != ops.image.elastic_transform(images)).any()
    torch.manual_seed(3)
    close(ops.image.elastic_transform(images), free)


def test_displacements_move_all_channels_alike():
    rows, columns = np.meshgrid(np.arange(32.0), np.arange(40.0), indexing="ij")
    places = np.stack([rows, columns], -1).astype("float32")
    found = ops.image.elastic_transform(places, alpha=10.0, sigma=2.0, fill_mode="nearest", seed=5)
    moved = found - torch.as_tensor(places)
    assert 0.3 < moved[4:-4, 4:-4].std() < 10 * 2.0
    assert moved.diff(dim=0).abs().mean() < moved.abs().mean()  # smooth
    first = places.transpose(2, 0, 1).copy()
    other = ops.image.elastic_transform(
        first, alpha=10.0, sigma=2.0, fill_mode="nearest", seed=5, data_format="channels_first"
    )
    close(other, found.permute(2, 0, 1))


def test_displacements_in_a_graph():
    x = Input((7, 6, 3))
    model = Model(x, ops.image.elastic_transform(x, seed=1))
    close(model(torch.as_tensor(IMAGES)), ops.image.elastic_transform(IMAGES, seed=1))


# --- as documented ---------------------------------------------------------------------------------------------------


def test_one_transform_for_all_images_which_stays_as_it_is():  # genuine Keras on torch raises, and changes its argument
    row = TRANSFORMS[0].copy()
    found = ops.image.affine_transform(IMAGES, row)
    assert (row == TRANSFORMS[0]).all()
    close(found, ops.image.affine_transform(IMAGES, TRANSFORMS[[0, 0]]))


def test_points_beyond_the_range_of_bytes():  # genuine Keras has -1 as 255
    start = np.array([[0, 0], [0, 6], [5, 0], [5, 6]], "float32")
    found = ops.image.perspective_transform(BYTES, start, start - 1, "nearest")
    close(found[:, :-1, :-1], BYTES[:, 1:, 1:])
    assert (found[:, -1] == 0).all()
    wide = np.tile(BYTES, (1, 1, 50, 1))
    close(ops.image.perspective_transform(wide, start, start, "nearest"), wide)


@pytest.mark.parametrize("size", [(3, 5), (4, 4), (2, 3), (1, 1)])
def test_blurred_images_keep_their_size(size: tuple[int, int]):  # in genuine Keras square kernels of odd size alone do
    point = np.zeros((9, 12, 1), "float32")
    point[4, 5] = 1.0
    found = ops.image.gaussian_blur(point, size, (2.0, 1.0))[..., 0]
    assert found.shape == (9, 12)
    assert ((found > 0).any(1).sum(), (found > 0).any(0).sum()) == size
    close(found.sum(), np.float32(1))


def test_blurred_images_of_the_configured_format():  # genuine Keras takes None for "channels_first"
    close(ops.image.gaussian_blur(IMAGES), ops.image.gaussian_blur(IMAGES, data_format="channels_last"))
    config.set_image_data_format("channels_first")
    try:
        close(ops.image.gaussian_blur(FIRST), ops.image.gaussian_blur(FIRST, data_format="channels_first"))
        close(ops.image.resize(FIRST, (3, 4)), ops.image.resize(FIRST, (3, 4), data_format="channels_first"))
    finally:
        config.set_image_data_format("channels_last")


def test_blurred_bytes():  # genuine Keras on torch raises
    expected = ops.image.gaussian_blur(BYTES.astype("float32")).round()
    close(ops.image.gaussian_blur(BYTES), expected.to(torch.uint8))


def test_similarity_of_bytes_is_no_whole_number():  # genuine Keras gives it in the type of the images
    images = (LARGE * 255).astype("uint8")
    found = ops.image.ssim(images, images // 2, max_val=255.0)
    assert found.dtype is torch.float32
    close(found, ops.image.ssim(images.astype("float32"), (images // 2).astype("float32"), max_val=255.0))


def test_triangle_is_linear():  # documented; genuine Keras on torch raises
    found, expected = (
        ops.image.scale_and_translate(PLANE, (9, 8), TWO, MOVED, (0, 1), method) for method in ("triangle", "linear")
    )
    close(found, expected)


def test_an_axis_of_one_element_mirrored():  # genuine Keras on torch divides by zero
    close(ops.image.map_coordinates([7.0], [[-3.0, 0.5, 2.0]], 1, "mirror"), np.float32([7, 7, 7]))


def test_a_window_that_does_not_fit():  # genuine Keras on torch gives a smaller one
    with pytest.raises(ValueError, match="negative"):
        ops.image.crop_images(IMAGE, 4, 0, target_height=5, target_width=3)


@pytest.mark.parametrize("images", [BYTES, BYTES > 99])
def test_patches_of_any_type(images: np.ndarray):
    found = ops.image.extract_patches(images, (3, 2))
    assert found.dtype is torch.as_tensor(images).dtype
    close(found[1, 0, 2], images[1, :3, 4:].reshape(-1))
