"""`keras.datasets.cifar100`."""

from __future__ import annotations

from torchkeras.keras3.datasets.loaded import Data, of

__all__ = ["load_data"]


def load_data(label_mode: str = "fine") -> tuple[Data, Data]:
    """60,000 colour images of 32 by 32 pixels: `(x_train, y_train), (x_test, y_test)`.

    Pixels from 0 to 255, in the data format that is set, and classes, of the shape (n, 1).

    Arguments:
        label_mode (text, default "fine"): "fine" for 100 classes, "coarse" for 20.

    Errors:
        ValueError: another `label_mode`.
        OSError: the files are not in `~/.keras/datasets` and cannot be downloaded.

    Source: https://keras.io/api/datasets/cifar100/
    """
    return of("cifar100").load_data(label_mode)
