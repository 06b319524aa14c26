"""Files that a genuine Keras wrote: what loading one says, and how far its outputs are from the saved ones."""

import warnings
from pathlib import Path

import numpy as np

from torchkeras.models import Model, load_model


def loaded(path: Path) -> tuple[Model, list[str]]:
    """The model, and what was warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        return load_model(path), [str(each.message) for each in said]


def differs(path: Path, model: Model) -> float:
    """The largest difference."""
    with np.load(path.with_suffix(".npz")) as stored:
        return np.abs(model.predict(stored["x"], verbose=0) - stored["y"]).max()
