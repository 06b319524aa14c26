"""`keras.preprocessing.sequence`."""

from torchkeras.keras3.utils import pad_sequences

__all__ = ["pad_sequences"]
