"""`keras.applications.densenet`."""

from torchkeras.keras2.applications.frozen import frozen
from torchkeras.keras2.applications.imagenet_utils import decode_predictions, preprocessing

__all__ = [
    "DenseNet121",
    "DenseNet169",
    "DenseNet201",
    "decode_predictions",
    "preprocess_input",
]

DenseNet121 = frozen("densenet", "DenseNet121")
DenseNet169 = frozen("densenet", "DenseNet169")
DenseNet201 = frozen("densenet", "DenseNet201")
preprocess_input = preprocessing("torch")
