"""`keras.applications.inception_resnet_v2`."""

from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.applications.imagenet_utils import decode_predictions, preprocessing

__all__ = [
    "InceptionResNetV2",
    "decode_predictions",
    "preprocess_input",
]

InceptionResNetV2 = frozen("inception_resnet_v2", "InceptionResNetV2")
preprocess_input = preprocessing("tf")
