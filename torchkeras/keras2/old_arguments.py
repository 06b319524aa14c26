"""Arguments of Keras 1 that Keras 2 took and ignored, with a warning; `extend()` lets layers do so."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import Any

from torchkeras.base import extensions
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import LSTM, Conv2DTranspose, ConvLSTM2D

_make = Layer.__init__
PLACE = 3  # of `output_shape` among the arguments of Keras 1's Deconvolution2D


@wraps(_make)
def make(layer: Any, /, *args: Any, **given: Any) -> None:
    """`Layer.__init__`, without what Keras 2 ignores."""
    if isinstance(layer, (LSTM, ConvLSTM2D)) and given.get("forget_bias_init", "one") != "one":
        del given["forget_bias_init"]
        _warn(layer, "forget_bias_init", "unit_forget_bias=False begins with zeros")
    if isinstance(layer, Conv2DTranspose):
        by_position = len(args) > PLACE and isinstance(args[PLACE], (tuple, list))
        if by_position:
            args = (*args[:PLACE], None, *args[PLACE + 1 :])
        if given.pop("output_shape", None) is not None or by_position:
            _warn(layer, "output_shape", "the size follows from strides and padding")
    _make(layer, *args, **given)


def _warn(layer: Any, argument: str, instead: str) -> None:
    warnings.warn(f"{type(layer).__name__}: {argument} is ignored, as in Keras 2; {instead}.", stacklevel=3)


def extend() -> None:
    """Let layers ignore these arguments."""
    extensions.extend(Layer, __init__=make)
