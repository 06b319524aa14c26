"""`keras.applications.nasnet`."""

from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.applications.imagenet_utils import decode_predictions, preprocessing

__all__ = [
    "NASNetLarge",
    "NASNetMobile",
    "decode_predictions",
    "preprocess_input",
]

NASNetLarge = frozen("nasnet", "NASNetLarge")
NASNetMobile = frozen("nasnet", "NASNetMobile")
preprocess_input = preprocessing("tf")
