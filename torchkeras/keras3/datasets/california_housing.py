"""`keras.datasets.california_housing`."""

from __future__ import annotations

from torchkeras.keras3.datasets.loaded import Data, check_split, numpy_state_kept, of

__all__ = ["load_data"]

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/california_housing.npz"
HASH = "1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f"
ROWS = {"small": 600, "large": None}


def load_data(
    version: str = "large", path: str = "california_housing.npz", test_split: float = 0.2, seed: int = 113
) -> tuple[Data, Data]:
    """20,640 districts by 8 numbers, and the median price of a house: `(x_train, y_train), (x_test, y_test)`.

    The numbers are the median income, the age of houses, rooms and bedrooms by household, people, people by household,
    latitude and longitude.

    Arguments:
        version (text, default "large"): "small" for the first 600 districts.
        path (text, default "california_housing.npz"): the file in `~/.keras/datasets`, or a whole path.
        test_split (float, default 0.2): the part of the districts that makes the test set.
        seed (integer, default 113): the order.

    Errors:
        ValueError: another `version`, or `test_split` is less than 0, or 1 and more.
        OSError: the file is not there and cannot be downloaded.

    Source: https://keras.io/api/datasets/california_housing/
    """
    check_split("california_housing", test_split)
    if version not in ROWS:
        raise ValueError(f"california_housing.load_data: version must be 'small' or 'large'; found {version!r}.")
    with numpy_state_kept():
        return of("boston_housing").of_file(path, ORIGIN, HASH, test_split, seed, ROWS[version])
