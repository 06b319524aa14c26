"""`keras.datasets.boston_housing`: 506 houses by 13 numbers, and their prices."""

from __future__ import annotations

import numpy as np

from torchkeras.keras2.datasets import texts
from torchkeras.keras2.datasets.plain_pickle import arrays
from torchkeras.keras2.utils.data_utils import get_file

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/boston_housing.npz"
HASH = "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"

Data = tuple[np.ndarray, np.ndarray]


def load_data(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> tuple[Data, Data]:
    """`(x_train, y_train), (x_test, y_test)`.

    Arguments:
        path (text, default "boston_housing.npz"): the file in `~/.keras/datasets`, or a whole path.
        test_split (float, default 0.2): the part of the houses that makes the test set.
        seed (integer, default 113): the order; it seeds NumPy's global state.

    Errors:
        OSError: the file is not there and cannot be downloaded.
    """
    if not 0 <= test_split < 1:
        raise AssertionError(f"test_split must be at least 0 and less than 1; found {test_split!r}.")
    return of_file(path, ORIGIN, HASH, test_split, seed)


def of_file(
    path: str, origin: str, file_hash: str, test_split: float, seed: int, rows: int | None = None
) -> tuple[Data, Data]:
    """The two parts of a file with `x` and `y`; `rows`: how many of them there are, before they are shuffled."""
    found = arrays(get_file(path, origin, file_hash=file_hash))
    np.random.seed(seed)  # noqa: NPY002 - the state that scripts share
    x, y = texts.shuffled(found["x"][:rows], found["y"][:rows])
    border = int(len(x) * (1 - test_split))
    return (x[:border], y[:border]), (x[border:], y[border:])
