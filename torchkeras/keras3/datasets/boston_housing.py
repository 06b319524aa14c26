"""`keras.datasets.boston_housing`."""

from __future__ import annotations

from torchkeras.keras3.datasets.loaded import Data, check_split, numpy_state_kept, of

__all__ = ["load_data"]


def load_data(path: str = "boston_housing.npz", test_split: float = 0.2, seed: int = 113) -> tuple[Data, Data]:
    """506 houses by 13 numbers, and their prices: `(x_train, y_train), (x_test, y_test)`.

    Arguments:
        path (text, default "boston_housing.npz"): the file in `~/.keras/datasets`, or a whole path.
        test_split (float, default 0.2): the part of the houses that makes the test set.
        seed (integer, default 113): the order.

    Errors:
        ValueError: `test_split` is less than 0, or 1 and more.
        OSError: the file is not there and cannot be downloaded.

    Source: https://keras.io/api/datasets/boston_housing/
    """
    check_split("boston_housing", test_split)
    with numpy_state_kept():
        return of("boston_housing").load_data(path, test_split, seed)
