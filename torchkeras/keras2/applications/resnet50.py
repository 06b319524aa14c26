"""`keras.applications.resnet50`."""

from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.applications.imagenet_utils import decode_predictions, preprocessing

__all__ = [
    "ResNet50",
    "decode_predictions",
    "preprocess_input",
]

ResNet50 = frozen("resnet50", "ResNet50")
preprocess_input = preprocessing("caffe")
