"""`keras.preprocessing`: older names of what `keras.utils` has."""

from torchkeras.keras3.preprocessing import image, sequence
from torchkeras.keras3.utils import (
    image_dataset_from_directory,
    text_dataset_from_directory,
    timeseries_dataset_from_array,
)

__all__ = [
    "image",
    "image_dataset_from_directory",
    "sequence",
    "text_dataset_from_directory",
    "timeseries_dataset_from_array",
]
