"""`keras.applications.vgg19`."""

from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.applications.imagenet_utils import decode_predictions, preprocessing

__all__ = [
    "VGG19",
    "decode_predictions",
    "preprocess_input",
]

VGG19 = frozen("vgg19", "VGG19")
preprocess_input = preprocessing("caffe")
