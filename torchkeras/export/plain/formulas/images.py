"""Padding, pooling, resizing and local convolutions, as Keras has them; channels at axis 1."""

import torch
import torch.nn.functional as F
from torch import nn


def same_padding(x, window, stride, dilation):
    """What TensorFlow's padding 'same' adds before and after each axis, in the order of F.pad."""
    amounts = []
    for size, span, step, reach in zip(x.shape[2:], window, stride, dilation, strict=True):
        total = max((-(-size // step) - 1) * step + (span - 1) * reach + 1 - size, 0)
        amounts = [total // 2, total - total // 2, *amounts]
    return amounts


def theano_padding(x, window, stride):
    """What Theano's padding 'same' of a pooling adds before and after each axis, in the order of F.pad."""
    amounts = []
    for size, span, step in zip(x.shape[2:], window, stride, strict=True):
        before = span - 2 if span % 2 and span > 1 else span - 1
        amounts = [before, (size - 1) // step * step + span - before - size, *amounts]
    return amounts


def padded_mean(x, padding, pool):
    """The mean of each window of the padded images, without what the padding adds."""
    return pool(F.pad(x, padding)) / pool(F.pad(torch.ones_like(x[:1, :1]), padding))


def resize_as_tensorflow_1(x, factors):
    """Bilinear, output i lying at i / factor of the input: as Keras 2.2.4 did on TensorFlow 1."""
    # With one more value at the end, torch's aligned corners are TensorFlow's i / factor, and one output too many.
    height, width = x.shape[2] * factors[0], x.shape[3] * factors[1]
    longer = F.pad(x, (0, 1, 0, 1), mode="replicate")
    return F.interpolate(longer, (height + 1, width + 1), mode="bilinear", align_corners=True)[..., :height, :width]


class LocallyConnected(nn.Module):
    """A convolution with another kernel at every place: (batch, channels, height, width) -> (batch, filters, ...)."""

    def __init__(self, channels, filters, sizes, kernel_size, stride, bias=True):
        super().__init__()
        self.sizes, self.kernel_size, self.stride = sizes, kernel_size, stride
        places, window = sizes[0] * sizes[1], channels * kernel_size[0] * kernel_size[1]
        self.weight = nn.Parameter(torch.zeros(places, window, filters))
        self.bias = nn.Parameter(torch.zeros(filters, *sizes)) if bias else None

    def forward(self, x):
        windows = F.unfold(x, self.kernel_size, stride=self.stride)  # (batch, window, places)
        x = torch.einsum("bwp,pwf->bfp", windows, self.weight).unflatten(2, self.sizes)
        return x if self.bias is None else x + self.bias
