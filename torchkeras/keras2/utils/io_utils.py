"""`keras.utils.io_utils`: data in HDF5 files, and a question before a file is replaced."""

from __future__ import annotations

import os
from typing import Any

import h5py
import numpy as np

from torchkeras.keras2.utils.h5dict import H5Dict, h5dict
from torchkeras.utils import HDF5Matrix

__all__ = ["H5Dict", "HDF5Matrix", "ask_to_proceed_with_overwrite", "h5dict", "load_array", "save_array"]

ARRAY = "data"  # the dataset of `save_array`


def ask_to_proceed_with_overwrite(filepath: str | os.PathLike[str]) -> bool:
    """Ask on the terminal whether a file may be replaced, until the answer is y or n."""
    answer = input(f"[WARNING] {filepath} already exists - overwrite? [y/n]").strip().lower()
    while answer not in ("y", "n"):
        answer = input('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    if answer == "y":
        print("[TIP] Next time specify overwrite=True!")
    return answer == "y"


def save_array(array: Any, name: str | os.PathLike[str]) -> None:
    """Write one array to an HDF5 file, as Keras 1 did."""
    with h5py.File(name, "w") as file:
        file[ARRAY] = array


def load_array(name: str | os.PathLike[str]) -> np.ndarray:
    """The array that `save_array` wrote."""
    with h5py.File(name, "r") as file:
        return np.asarray(file[ARRAY])
