"""`keras.applications.resnet_v2`."""

from torchkeras.keras3.applications.imagenet_utils import decode_predictions, preprocessing
from torchkeras.keras3.applications.resnet import network

__all__ = ["ResNet50V2", "ResNet101V2", "ResNet152V2", "decode_predictions", "preprocess_input"]

ResNet50V2 = network(50, version=2)
ResNet101V2 = network(101, version=2)
ResNet152V2 = network(152, version=2)
preprocess_input = preprocessing("tf")
