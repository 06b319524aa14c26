"""Keras 1's normalization of samples."""

import torch
from torch import nn


class SampleNorm(nn.Module):
    """Keras 1's mode 1: each sample along its last axis, by (x - mean) / (sqrt(variance + epsilon) + epsilon)."""

    def __init__(self, features, epsilon):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features))
        self.epsilon = epsilon

    def forward(self, x):
        variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        return (x - mean) / ((variance + self.epsilon).sqrt() + self.epsilon) * self.weight + self.bias
