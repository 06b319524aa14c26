"""`keras.ops`: the functions of Keras 3, with its names, arguments and result types."""

from torchkeras.keras3.operations import FUNCTIONS as _FUNCTIONS
from torchkeras.keras3.ops import image as image, linalg as linalg, nn as nn, numpy as numpy

__all__ = [name for name in _FUNCTIONS if "." not in name]  # pyright: ignore[reportUnsupportedDunderAll]
globals().update({name: _FUNCTIONS[name] for name in __all__})
