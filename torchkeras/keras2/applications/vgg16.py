"""`keras.applications.vgg16`."""

from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.applications.imagenet_utils import decode_predictions, preprocessing

__all__ = [
    "VGG16",
    "decode_predictions",
    "preprocess_input",
]

VGG16 = frozen("vgg16", "VGG16")
preprocess_input = preprocessing("caffe")
