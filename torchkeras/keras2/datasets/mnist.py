"""`keras.datasets.mnist`: 70,000 digits of 28 by 28 pixels."""

from __future__ import annotations

import numpy as np

from torchkeras.keras2.datasets.plain_pickle import arrays
from torchkeras.keras2.utils.data_utils import get_file

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"
HASH = "8a61469f7ea1b51cbae51d4f78837e45"

Data = tuple[np.ndarray, np.ndarray]


def load_data(path: str = "mnist.npz") -> tuple[Data, Data]:
    """`(x_train, y_train), (x_test, y_test)`: pixels from 0 to 255, and digits.

    `path` is the file in `~/.keras/datasets`, or a whole path. OSError if it is not there and cannot be downloaded.
    """
    found = arrays(get_file(path, ORIGIN, file_hash=HASH))
    return (found["x_train"], found["y_train"]), (found["x_test"], found["y_test"])
