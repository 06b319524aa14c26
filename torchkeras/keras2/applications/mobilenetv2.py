"""`keras.applications.mobilenetv2`: the older name of `mobilenet_v2`."""

from torchkeras.keras2.applications.mobilenet_v2 import MobileNetV2, decode_predictions, preprocess_input

__all__ = ["MobileNetV2", "decode_predictions", "preprocess_input"]
