"""`keras.applications.inception_v3`."""

from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.applications.imagenet_utils import decode_predictions, preprocessing

__all__ = [
    "InceptionV3",
    "decode_predictions",
    "preprocess_input",
]

InceptionV3 = frozen("inception_v3", "InceptionV3")
preprocess_input = preprocessing("tf")
