"""Images changed at random in training, channels first, as Keras changes them; each by numbers of its own."""

# pyright: reportCallIssue=false
# Attributes of modules may be tensors, for all that pyright knows.

import math

import torch
import torch.nn.functional as F
from torch import nn


def draw(x, low, high):
    """A number for each image, uniform from `low` to `high`: (batch, 1, 1, 1)."""
    return torch.rand(len(x), 1, 1, 1, device=x.device) * (high - low) + low


class RandomFlip(nn.Module):
    """In training, each image with a chance of 1/2 flipped along these axes, all at once."""

    def __init__(self, *axes):
        super().__init__()
        self.axes = axes

    def forward(self, x):
        return torch.where(draw(x, 0, 1) <= 0.5, x.flip(self.axes), x) if self.training else x


class RandomContrast(nn.Module):
    """In training, (x - mean) * c + mean with the mean of each channel and a c for each image, cut to a range."""

    def __init__(self, low, high, value_range):
        super().__init__()
        self.low, self.high, self.value_range = low, high, value_range

    def forward(self, x):
        if not self.training:
            return x
        mean = x.mean((2, 3), keepdim=True)
        return ((x - mean) * draw(x, self.low, self.high) + mean).clamp(*self.value_range)


class RandomCrop(nn.Module):
    """In training, a window at one random place for all images; else the middle, made to fit by `fit`."""

    def __init__(self, height, width):
        super().__init__()
        self.size = height, width

    def forward(self, x):
        top, left = (there - wanted for there, wanted in zip(x.shape[2:], self.size, strict=True))
        if not self.training or min(top, left) <= 0:
            return fit(x, *self.size)
        row, column = int(torch.randint(top + 1, ())), int(torch.randint(left + 1, ()))
        return x[:, :, row : row + self.size[0], column : column + self.size[1]]


class RandomAffine(nn.Module):
    """The base of what moves pixels in training: `source` gives where those at (x, y), seen from the centre, come from.

    `beyond`: what lies beyond the edge, as F.grid_sample calls it, with "zeros" for `fill_value`.
    """

    def __init__(self, *factors, beyond="reflection", interpolation="bilinear", fill_value=0.0):
        super().__init__()
        self.factors, self.beyond, self.interpolation, self.fill_value = factors, beyond, interpolation, fill_value

    def forward(self, images):
        if not self.training:
            return images
        height, width = images.shape[2:]
        y = torch.arange(height, device=images.device) - (height - 1) / 2
        x = torch.arange(width, device=images.device) - (width - 1) / 2
        columns, rows = torch.broadcast_tensors(*self.source(images, x, y.unsqueeze(1)))
        if self.interpolation == "nearest":  # rounded here, where a half is exact
            columns = (columns + (width - 1) / 2).round() - (width - 1) / 2
            rows = (rows + (height - 1) / 2).round() - (height - 1) / 2
        grid = torch.stack([columns * (2 / width), rows * (2 / height)], -1).squeeze(1)
        moved = F.grid_sample(images - self.fill_value, grid, self.interpolation, self.beyond, align_corners=False)
        return moved + self.fill_value


class RandomRotation(RandomAffine):
    """In training, each image turned counter-clockwise about its centre, by an angle from a range of whole turns."""

    def source(self, images, x, y):
        angle = draw(images, *self.factors) * (2 * math.pi)
        return x * angle.cos() - y * angle.sin(), y * angle.cos() + x * angle.sin()


class RandomTranslation(RandomAffine):
    """In training, each image moved down and right by shares of its height and width."""

    def source(self, images, x, y):
        down, right = (draw(images, *factor) for factor in self.factors)
        return x - right * len(x), y - down * len(y)


class RandomZoom(RandomAffine):
    """In training, each image smaller about its centre (by a factor above 0) or larger (below 0)."""

    def source(self, images, x, y):
        factors = [1 + draw(images, *factor) for factor in self.factors]
        return x * factors[-1], y * factors[0]


def fit(x, height, width):
    """The largest window in the middle with the aspect ratio of height and width, stretched to these."""
    return F.interpolate(window(x, height, width), (height, width), mode="bilinear")


def window(x, height, width):
    """The largest window in the middle of images that has this aspect ratio."""
    rows = max(min(x.shape[2], x.shape[3] * height // width), 1)
    columns = max(min(x.shape[3], x.shape[2] * width // height), 1)
    return middle(x, rows, columns)


def middle(x, height, width):
    """The window in the middle of images."""
    top, left = (x.shape[2] - height) // 2, (x.shape[3] - width) // 2
    return x[:, :, top : top + height, left : left + width]


def center_crop(x, height, width):
    """The middle of images; of smaller ones the largest window of the same aspect ratio, stretched."""
    too_small = x.shape[2] < height or x.shape[3] < width
    return fit(x, height, width) if too_small else middle(x, height, width)
