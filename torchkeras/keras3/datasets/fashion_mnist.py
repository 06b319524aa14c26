"""`keras.datasets.fashion_mnist`."""

from __future__ import annotations

from torchkeras.keras3.datasets.loaded import Data, of

__all__ = ["load_data"]


def load_data() -> tuple[Data, Data]:
    """70,000 clothes of 28 by 28 pixels: `(x_train, y_train), (x_test, y_test)`, pixels from 0 to 255, and 10 classes.

    Errors:
        OSError: the files are not in `~/.keras/datasets/fashion-mnist` and cannot be downloaded.

    Source: https://keras.io/api/datasets/fashion_mnist/
    """
    return of("fashion_mnist").load_data()
