"""What scripts take from `keras.layers` beside the layers, which it lets them write in the manner of Keras 1 and 2."""

from torchkeras.keras2.data_tensors import Input
from torchkeras.keras2.merge import _Merge

__all__ = ["Input", "_Merge"]
