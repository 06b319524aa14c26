"""`keras.datasets.mnist`."""

from __future__ import annotations

from torchkeras.keras3.datasets.loaded import Data, of

__all__ = ["load_data"]


def load_data(path: str = "mnist.npz") -> tuple[Data, Data]:
    """70,000 digits of 28 by 28 pixels: `(x_train, y_train), (x_test, y_test)`, pixels from 0 to 255, and digits.

    Arguments:
        path (text, default "mnist.npz"): the file in `~/.keras/datasets`, or a whole path.

    Errors:
        OSError: the file is not there and cannot be downloaded.

    Source: https://keras.io/api/datasets/mnist/
    """
    return of("mnist").load_data(path)
