"""`keras.applications.vgg19`."""

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.vgg16 import network

__all__ = ["VGG19", "decode_predictions", "preprocess_input"]

VGG19 = network(19)
preprocess_input = preprocessing("caffe")
