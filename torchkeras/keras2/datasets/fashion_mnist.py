"""`keras.datasets.fashion_mnist`: 70,000 clothes of 28 by 28 pixels, in 10 classes."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from torchkeras.keras2.utils.data_utils import get_file

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
FOLDER = Path("datasets", "fashion-mnist")
HEADERS = {"labels-idx1": 8, "images-idx3": 16}  # bytes before the values

Data = tuple[np.ndarray, np.ndarray]


def load_data() -> tuple[Data, Data]:
    """`(x_train, y_train), (x_test, y_test)`: pixels from 0 to 255, and classes.

    OSError if the files are not in `~/.keras/datasets/fashion-mnist` and cannot be downloaded.
    """
    return _part("train"), _part("t10k")


def _part(name: str) -> Data:
    labels, images = (_values(f"{name}-{kind}-ubyte.gz", start) for kind, start in HEADERS.items())
    return images.reshape(len(labels), 28, 28), labels


def _values(name: str, start: int) -> np.ndarray:
    with gzip.open(get_file(name, ORIGIN + name, cache_subdir=str(FOLDER))) as file:
        return np.frombuffer(file.read(), "uint8", offset=start)
