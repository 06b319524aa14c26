"""`keras.datasets.cifar100`: 60,000 colour images of 32 by 32 pixels, in 100 classes."""

from __future__ import annotations

from pathlib import Path

from torchkeras.keras2.datasets.cifar import Data, joined, load_batch
from torchkeras.keras2.utils.data_utils import get_file

ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
HASH = "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7"
LABELS = ("fine", "coarse")


def load_data(label_mode: str = "fine") -> tuple[Data, Data]:
    """`(x_train, y_train), (x_test, y_test)`: pixels from 0 to 255 in the data format that is set, and classes (n, 1).

    Arguments:
        label_mode (text, default "fine"): "fine" for 100 classes, "coarse" for 20.

    Errors:
        ValueError: another `label_mode`.
        OSError: the data are not in `~/.keras/datasets` and cannot be downloaded.
    """
    if label_mode not in LABELS:
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    folder = Path(get_file("cifar-100-python", ORIGIN, untar=True, file_hash=HASH))
    train, test = (joined([load_batch(folder / part, f"{label_mode}_labels")]) for part in ("train", "test"))
    return train, test
