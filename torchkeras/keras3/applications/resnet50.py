"""`keras.applications.resnet50`."""

from torchkeras.keras3.applications.resnet import ResNet50, decode_predictions, preprocess_input

__all__ = ["ResNet50", "decode_predictions", "preprocess_input"]
