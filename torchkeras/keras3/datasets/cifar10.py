"""`keras.datasets.cifar10`."""

from __future__ import annotations

from torchkeras.keras3.datasets.loaded import Data, of

__all__ = ["load_data"]


def load_data() -> tuple[Data, Data]:
    """60,000 colour images of 32 by 32 pixels: `(x_train, y_train), (x_test, y_test)`.

    Pixels from 0 to 255, in the data format that is set, and classes from 0 to 9, of the shape (n, 1).

    Errors:
        OSError: the files are not in `~/.keras/datasets` and cannot be downloaded.

    Source: https://keras.io/api/datasets/cifar10/
    """
    train, (x_test, y_test) = of("cifar10").load_data()
    return train, (x_test, y_test.astype("uint8"))
