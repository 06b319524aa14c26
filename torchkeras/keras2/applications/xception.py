"""`keras.applications.xception`."""

from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.applications.imagenet_utils import decode_predictions, preprocessing

__all__ = [
    "Xception",
    "decode_predictions",
    "preprocess_input",
]

Xception = frozen("xception", "Xception")
preprocess_input = preprocessing("tf")
