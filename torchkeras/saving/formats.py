"""What the name of a file says that it holds: one table, for all that write files by name."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

# A whole model, and weights alone, in each of these formats; "" is HDF5 in Keras 2's form, whatever the name.
HDF5 = (".h5", ".hdf5", ".hdf")
EXPORTED = (".onnx", ".pt2")  # by torch's exporters, for programs other than this package
WHOLE = (*HDF5, ".keras", ".safetensors", ".pt", ".pth", *EXPORTED)
WEIGHTS = (".weights.h5", *HDF5, ".safetensors", ".pt", ".pth")

# Names of other formats: a file of HDF5 there would not be what its name says.
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
    """Which of `formats` a name ends in, the longest that does, in any case; "" for a name that says no format.

    Raises ValueError, on behalf of `method`, for the name of a format that is not among them.
    """
    name = Path(path).name.lower()
    found = max((suffix for suffix in formats if name.endswith(suffix)), key=len, default="")
    last = Path(name).suffix
    if not found and last in (*WHOLE, *OTHERS):
        raise ValueError(
            f"{path}: {method} writes no {last} file. By the suffix it writes {', '.join(formats)}; HDF5 where a name "
            f"says no format{INSTEAD.get(last, '')}."
        )
    return found
