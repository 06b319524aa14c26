"""Which format the name of a file stands for: one table for everything that writes files by name."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

# The formats of whole models, and of weights alone; "" is HDF5 in Keras 2's form, for any other name.
HDF5 = (".h5", ".hdf5", ".hdf")
EXPORTED = (".onnx", ".pt2")  # by torch's exporters, for programs other than this package
WHOLE = (*HDF5, ".keras", ".safetensors", ".pt", ".pth", *EXPORTED)
WEIGHTS = (".weights.h5", *HDF5, ".safetensors", ".pt", ".pth")

# Suffixes of other formats: an HDF5 file under such a name would not be what the name says.
OTHERS = (
    *(".bin", ".ckpt", ".gguf", ".mar", ".mlmodel", ".mlpackage", ".msgpack", ".ort", ".pb", ".pbtxt", ".pte", ".ptl"),
    *(".tflite", ".joblib", ".npy", ".npz", ".pickle", ".pkl", ".parquet"),
    *(".csv", ".json", ".md", ".py", ".toml", ".txt", ".xml", ".yaml", ".yml"),
    *(".7z", ".bz2", ".gz", ".tar", ".tgz", ".xz", ".zip", ".zst"),
    *(".dot", ".jpeg", ".jpg", ".pdf", ".png", ".svg"),
)
INSTEAD = {
    ".json": "; `to_json` gives the architecture",
    ".yaml": "; `to_yaml` gives the architecture",
    ".yml": "; `to_yaml` gives the architecture",
    **dict.fromkeys((".dot", ".pdf", ".png", ".svg"), "; `plot_model` draws the model"),
    **dict.fromkeys(set(WHOLE) - set(WEIGHTS), "; `save` writes the whole model"),
}


def suffix_of(path: str | os.PathLike[str], formats: Collection[str], method: str) -> str:
    """The longest of `formats` that a name ends with, in any case; "" for a name without a known suffix.

    Raises ValueError, in the name of `method`, for the suffix of a known format that is not among them.
    """
    name = Path(path).name.lower()
    found = max((suffix for suffix in formats if name.endswith(suffix)), key=len, default="")
    last = Path(name).suffix
    if not found and last in (*WHOLE, *OTHERS):
        raise ValueError(
            f"{path}: {method} writes no {last} file. By the suffix it writes {', '.join(formats)}; HDF5 for a name "
            f"without a known suffix{INSTEAD.get(last, '')}."
        )
    return found
