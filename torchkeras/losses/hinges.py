"""Hinge losses, of scores whose sign is the answer."""

import torch
from torch import Tensor

from torchkeras.losses.shared import like


def squared_hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(max(1 - y_true * y_pred, 0)**2), targets -1 or 1"""
    return torch.relu(1.0 - like(y_true, y_pred) * y_pred).square().mean(-1)


def hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """mean(max(1 - y_true * y_pred, 0)), targets -1 or 1"""
    return torch.relu(1.0 - like(y_true, y_pred) * y_pred).mean(-1)


def categorical_hinge(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """max(0, 1 + max((1 - y_true) * y_pred) - sum(y_true * y_pred))"""
    right = like(y_true, y_pred) * y_pred
    return torch.relu(1.0 + (y_pred - right).amax(-1) - right.sum(-1))
