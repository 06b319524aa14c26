"""`keras.datasets.cifar`: what CIFAR-10 and CIFAR-100 share."""

from __future__ import annotations

import os

import numpy as np

from torchkeras import config
from torchkeras.keras2.datasets.plain_pickle import unpickled

Data = tuple[np.ndarray, np.ndarray]


def load_batch(fpath: str | os.PathLike[str], label_key: str = "labels") -> tuple[np.ndarray, list[int]]:
    """Images (n, 3, 32, 32) of a file, and their labels."""
    with open(fpath, "rb") as file:
        found = {key.decode(): value for key, value in unpickled(file).items()}
    return found["data"].reshape(-1, 3, 32, 32), found[label_key]


def joined(batches: list[tuple[np.ndarray, list[int]]]) -> Data:
    """Images (n, 32, 32, 3), or (n, 3, 32, 32) where that is the data format that is set, and labels (n, 1)."""
    images = np.concatenate([images for images, _ in batches])
    labels = np.concatenate([labels for _, labels in batches]).reshape(-1, 1)
    return images.transpose(0, 2, 3, 1) if config.image_data_format() == "channels_last" else images, labels
