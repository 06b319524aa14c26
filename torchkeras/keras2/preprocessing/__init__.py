"""`keras.preprocessing`: the package keras-preprocessing, which Keras 2.2.4 used, with this package's settings."""

from torchkeras.keras2.preprocessing import image, sequence, text

__all__ = ["image", "sequence", "text"]
