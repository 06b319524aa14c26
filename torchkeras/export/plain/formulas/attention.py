"""Attention as Keras has it."""

import torch
import torch.nn.functional as F
from torch import nn


class AdditiveScores(nn.Module):
    """sum(scale * tanh(query + key)) for each pair of positions: (batch, queries, keys)."""

    def __init__(self, *shape, factor=False):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(shape))
        self.factor = nn.Parameter(torch.ones(())) if factor else None

    def forward(self, query, key):
        sums = query.unsqueeze(-2) + key.unsqueeze(-3)
        sums = torch.tanh(sums if self.factor is None else sums * self.factor)
        return (sums * self.scale).sum(-1)


def attend(scores, value, visible=None, zeros=False, dropout=0.0):
    """softmax(scores) @ value, and the softmax; `visible` is True where a query may attend to a key.

    Where a query sees nothing it gets the mean of all values, or with `zeros` zeros.
    """
    if visible is not None:
        scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min / 2)
    weights = scores.softmax(-1)
    if visible is not None and zeros:
        weights = weights * visible
    return F.dropout(weights, dropout) @ value, weights


def causal(query, key):
    """True where a position of the query may attend to one of the key: not to a later one."""
    return torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()


def heads(x, count):
    """(..., positions, count * features) -> (..., count, positions, features)"""
    return x.unflatten(-1, (count, -1)).transpose(-2, -3)
