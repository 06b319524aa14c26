"""`keras.applications.mobilenet`."""

from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.applications.imagenet_utils import decode_predictions, preprocessing

__all__ = [
    "MobileNet",
    "decode_predictions",
    "preprocess_input",
]

MobileNet = frozen("mobilenet", "MobileNet")
preprocess_input = preprocessing("tf")
