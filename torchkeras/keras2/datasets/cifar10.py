"""`keras.datasets.cifar10`: 60,000 colour images of 32 by 32 pixels, in 10 classes."""

from __future__ import annotations

from pathlib import Path

from torchkeras.keras2.datasets.cifar import Data, joined, load_batch
from torchkeras.keras2.utils.data_utils import get_file

ORIGIN = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
HASH = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"


def load_data() -> tuple[Data, Data]:
    """`(x_train, y_train), (x_test, y_test)`: pixels from 0 to 255 in the data format that is set, and classes (n, 1).

    OSError if the data are not in `~/.keras/datasets` and cannot be downloaded.
    """
    folder = Path(get_file("cifar-10-batches-py", ORIGIN, untar=True, file_hash=HASH))
    (x_train, y_train) = joined([load_batch(folder / f"data_batch_{number}") for number in range(1, 6)])
    (x_test, y_test) = joined([load_batch(folder / "test_batch")])
    return (x_train, y_train.astype("uint8")), (x_test, y_test)
