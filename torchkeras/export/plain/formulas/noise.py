"""Noise in training, as Keras draws it."""

import torch
import torch.nn.functional as F
from torch import nn


class GaussianNoise(nn.Module):
    """x + noise in training, normally distributed around 0."""

    def __init__(self, stddev):
        super().__init__()
        self.stddev = stddev

    def forward(self, x):
        return x + self.stddev * torch.randn_like(x) if self.training else x


class GaussianDropout(nn.Module):
    """x * noise in training, normally distributed around 1 with the standard deviation sqrt(rate / (1 - rate))."""

    def __init__(self, rate):
        super().__init__()
        self.stddev = (rate / (1 - rate)) ** 0.5 if rate < 1 else 0.0

    def forward(self, x):
        return x * (1 + self.stddev * torch.randn_like(x)) if self.training else x


class ShapedDropout(nn.Module):
    """Dropout in training of values that share their fate along the axes where `shape` is 1; None: the input's size."""

    def __init__(self, rate, *shape):
        super().__init__()
        self.rate, self.shape = rate, shape

    def forward(self, x):
        sizes = [actual if size is None else size for size, actual in zip(self.shape, x.shape, strict=True)]
        return x * F.dropout(x.new_ones(sizes), self.rate, self.training)


class ShapedAlphaDropout(nn.Module):
    """AlphaDropout in training of values that share their fate along the axes where `shape` is 1."""

    def __init__(self, rate, *shape):
        super().__init__()
        self.rate, self.shape = rate, shape

    def forward(self, x):
        if not self.training or self.rate in (0, 1):
            return x
        least = -1.7580993408473766  # of selu
        scale = ((1 - self.rate) * (1 + self.rate * least**2)) ** -0.5
        sizes = [actual if size is None else size for size, actual in zip(self.shape, x.shape, strict=True)]
        kept = torch.empty(sizes, device=x.device).bernoulli_(1 - self.rate).bool()
        return scale * torch.where(kept, x, least) - scale * least * self.rate


class EmbeddingDropout(nn.Module):
    """Keras 1's dropout of an embedding: in training, the vectors of some integers are zero for the whole batch."""

    def __init__(self, count, rate):
        super().__init__()
        self.count, self.rate = count, rate

    def forward(self, vectors, integers):
        return vectors * F.embedding(integers, F.dropout(vectors.new_ones(self.count, 1), self.rate, self.training))


def drop_features(x, rate, training):
    """Dropout of a sequence's features, the same at all steps: (batch, time, features) -> the same."""
    return x * F.dropout(torch.ones_like(x[:, :1]), rate, training)
