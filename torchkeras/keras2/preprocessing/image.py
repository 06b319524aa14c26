"""`keras.preprocessing.image`: images read, written and changed at random."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from torchkeras.keras2.extras import extra
from torchkeras.keras2.preprocessing.frozen import image, with_settings
from torchkeras.keras2.renamed import renamed
from torchkeras.utils import Sequence

extra("PIL.Image")
ndimage = extra("scipy.ndimage")
# keras-preprocessing looks for `affine_transform` in a module that SciPy 2 does not have.
image.affine_transformations.ndimage = SimpleNamespace(interpolation=ndimage)

apply_affine_transform = image.apply_affine_transform
apply_brightness_shift = image.apply_brightness_shift
apply_channel_shift = image.apply_channel_shift
flip_axis = image.flip_axis
load_img = image.load_img
random_brightness = image.random_brightness
random_channel_shift = renamed(intensity="intensity_range")(image.random_channel_shift)
random_rotation = image.random_rotation
random_shear = image.random_shear
random_shift = image.random_shift
random_zoom = image.random_zoom
transform_matrix_offset_center = image.transform_matrix_offset_center

array_to_img = with_settings(image.array_to_img)
img_to_array = with_settings(image.img_to_array)
save_img = with_settings(image.save_img)


def list_pictures(directory: str, ext: Any = "jpg|jpeg|bmp|png|ppm|tif|tiff") -> list[str]:
    """The paths of the pictures in a folder and those inside; `ext`: their suffixes, as a list or joined by `|`."""
    return image.list_pictures(directory, ext.split("|") if isinstance(ext, str) else ext)


def apply_transform(
    x: np.ndarray, transform_matrix: Any, channel_axis: int = 0, fill_mode: str = "nearest", cval: float = 0.0
) -> np.ndarray:
    """An image moved by a matrix (3, 3) of rows and columns: each channel, by its nearest pixels.

    Arguments:
        x (array): the image.
        transform_matrix (array): from places in the result to places in the image.
        channel_axis (integer, default 0): the axis of the channels.
        fill_mode (text, default "nearest"): what lies outside: "nearest", "constant", "reflect" or "wrap".
        cval (float, default 0): the value outside for "constant".
    """
    matrix = np.asarray(transform_matrix)
    channels = [
        ndimage.affine_transform(channel, matrix[:2, :2], matrix[:2, 2], order=0, mode=fill_mode, cval=cval)
        for channel in np.moveaxis(x, channel_axis, 0)
    ]
    return np.moveaxis(np.stack(channels), 0, channel_axis)


class Iterator(image.Iterator, Sequence):
    """Batches of images; a subclass defines `_get_batches_of_transformed_samples(index_array)`."""


class NumpyArrayIterator(image.NumpyArrayIterator, Iterator):
    """Batches from an array of images."""

    __init__ = with_settings(image.NumpyArrayIterator.__init__)


class DirectoryIterator(image.DirectoryIterator, Iterator):
    """Batches from the pictures in a folder, which has a folder for each class."""

    __init__ = with_settings(image.DirectoryIterator.__init__)


class ImageDataGenerator(image.ImageDataGenerator):
    """Images changed at random; the options are those of keras-preprocessing."""

    __init__ = with_settings(image.ImageDataGenerator.__init__)
    flow = renamed(X="x")(image.ImageDataGenerator.flow)

    def flow_from_directory(self, *args: Any, **kwargs: Any) -> Any:
        """Batches from the pictures in a folder; `nb_sample` and `nb_class` are Keras 1's names of their numbers."""
        batches = super().flow_from_directory(*args, **kwargs)
        batches.nb_sample, batches.nb_class = batches.samples, batches.num_classes
        return batches
