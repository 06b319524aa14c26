"""Integers as indices into a vocabulary."""

import torch


def look_up(tokens, keys, values, unknown):
    """The value of each token; `keys` are sorted, and what is not among them is `unknown`."""
    found = torch.searchsorted(keys, tokens.contiguous()).clamp(max=len(keys) - 1)
    return torch.where(keys[found] == tokens, values[found], unknown)
