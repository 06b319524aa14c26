"""`tf.image.*` of images (batch, rows, columns, channels), and functions that move blocks of pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras.keras2.backend.images import first, in_format
from torchkeras.keras2.backend.nodes import sizes
from torchkeras.keras2.lambdas.keras_functions import Function
from torchkeras.keras2.lambdas.signatures import named
from torchkeras.layers.resize import interpolated_to
from torchkeras.layers.spatial import pad
from torchkeras.tensor_functions.by_name import FUNCTIONS as GRAPH

LAST = "channels_last"
GREY = (0.2989, 0.587, 0.114)  # red, green and blue in a grey


def _nearest(old: int, new: int, aligned: bool, like: Tensor, from_middles: bool = False) -> Tensor:
    """The places of the old values for new ones, in TensorFlow's own arithmetic."""
    steps = torch.arange(new, device=like.device, dtype=torch.float32) + 0.5 * from_middles
    found = (steps * ((old - 1) / (new - 1)) + 0.5 if aligned and new > 1 else steps * (old / new)).floor().long()
    return found.clamp(max=old - 1)


def _resize(how: str) -> Function:
    def resize(images: Tensor, size: Any, align_corners: bool, half_pixel_centers: bool) -> Tensor:
        x, wanted = first(images, LAST), sizes(size)
        if how == "nearest":
            for axis, new in enumerate(wanted, 2):
                x = x.index_select(axis, _nearest(x.shape[axis], new, align_corners, x, half_pixel_centers))
        elif align_corners or half_pixel_centers:
            x = F.interpolate(x, wanted, mode="bilinear", align_corners=bool(align_corners))
        else:
            x = interpolated_to(x, wanted)
        return in_format(x, LAST)

    return resize


def _resize_images(images: Tensor, size: Any, method: Any, align_corners: bool, preserve_aspect_ratio: bool) -> Tensor:
    ways = {0: "bilinear", 1: "nearest", "bilinear": "bilinear", "nearest": "nearest"}
    if method not in ways or preserve_aspect_ratio:
        raise ValueError(f"tf.image.resize_images by method {method!r}")
    return _resize(ways[method])(images, size, align_corners, False)


def _resize_2(images: Tensor, size: Any, method: Any, preserve_aspect_ratio: bool, antialias: bool) -> Tensor:
    if method not in ("bilinear", "nearest") or preserve_aspect_ratio or antialias:
        raise ValueError(f"tf.image.resize by method {method!r}")
    return _resize(method)(images, size, False, True)


def blocks(to_space: bool) -> Function:
    """tf.depth_to_space, or tf.space_to_depth."""

    def move(x: Tensor, block_size: int, data_format: str) -> Tensor:
        if data_format != "NHWC":
            raise ValueError(f"data_format {data_format!r}")
        batch, height, width, depth = x.shape
        block = (block_size, block_size)
        if to_space:
            cut = x.reshape(batch, height, width, *block, -1).permute(0, 1, 3, 2, 4, 5)
            return cut.reshape(batch, height * block_size, width * block_size, depth // block_size**2)
        height, width = height // block_size, width // block_size
        cut = x.reshape(batch, height, block_size, width, block_size, depth).permute(0, 1, 3, 2, 4, 5)
        return cut.reshape(batch, height, width, depth * block_size**2)

    return move


def patches(x: Tensor, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str) -> Tensor:
    """Windows of images, each as one row of numbers: rows of the window, then columns, then channels."""
    window, stride, rate = (tuple(each[1:3]) for each in (ksizes, strides, rates))
    padded = pad(first(x, LAST), padding.lower(), window, stride, rate)
    size = [
        (whole - (part - 1) * dilation - 1) // step + 1
        for whole, part, step, dilation in zip(padded.shape[2:], window, stride, rate, strict=True)
    ]
    found = F.unfold(padded, window, dilation=rate, stride=stride)
    found = found.reshape(len(x), x.shape[3], window[0] * window[1], *size)
    return found.permute(0, 3, 4, 2, 1).reshape(len(x), *size, -1)


def _grey(images: Tensor) -> Tensor:
    return (images * images.new_tensor(GREY)).sum(-1, keepdim=True)


def _standardized(image: Tensor) -> Tensor:
    axes = (-3, -2, -1)
    variance, mean = torch.var_mean(image, axes, correction=0, keepdim=True)
    return (image - mean) / variance.sqrt().clamp(min=image[(0,) * (image.dim() - 3)].numel() ** -0.5)


def _cropped(image: Tensor, row: int, column: int, height: int, width: int) -> Tensor:
    found = image[..., row : row + height, column : column + width, :]
    if min(row, column) < 0 or found.shape[-3:-1] != (height, width):
        raise ValueError("a box that is not inside of the image")
    return found


IMAGE: Mapping[str, Function] = {
    "crop_to_bounding_box": named(_cropped, "image offset_height offset_width target_height target_width"),
    "extract_image_patches": named(patches, "images ksizes strides rates padding"),
    "flip_left_right": named(lambda x: GRAPH["flip"](x, -2), "image"),
    "flip_up_down": named(lambda x: GRAPH["flip"](x, -3), "image"),
    "grayscale_to_rgb": named(lambda x: torch.cat([x, x, x], -1), "images"),
    "per_image_standardization": named(_standardized, "image"),
    "resize_bilinear": named(_resize("bilinear"), "images size align_corners=False half_pixel_centers=False"),
    "resize_2": named(_resize_2, "images size method='bilinear' preserve_aspect_ratio=False antialias=False"),
    "resize_images": named(_resize_images, "images size method=0 align_corners=False preserve_aspect_ratio=False"),
    "resize_nearest_neighbor": named(_resize("nearest"), "images size align_corners=False half_pixel_centers=False"),
    "rgb_to_grayscale": named(_grey, "images"),
}
