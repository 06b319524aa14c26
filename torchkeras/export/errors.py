"""What ejecting a model raises."""

from __future__ import annotations


class EjectError(ValueError):
    """A model that cannot be written as plain PyTorch."""


class UnequalError(EjectError):
    """A model whose written form does not run, or computes something else; it is not kept."""
