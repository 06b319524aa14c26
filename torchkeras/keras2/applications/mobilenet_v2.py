"""`keras.applications.mobilenet_v2`."""

from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.applications.imagenet_utils import decode_predictions, preprocessing

__all__ = [
    "MobileNetV2",
    "decode_predictions",
    "preprocess_input",
]

MobileNetV2 = frozen("mobilenet_v2", "MobileNetV2")
preprocess_input = preprocessing("tf")
