"""What wrote a file's weights, and what its arrays have to go through to be those of Keras 2 on TensorFlow.

Keras 1 kept some arrays in other shapes and numbers (`torchkeras.legacy.weights`). Theano computed true convolutions:
its kernels lie the other way round along the spatial axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import h5py
import numpy as np

from torchkeras.engine.weight import Variable
from torchkeras.legacy.weights import modern, stored_count
from torchkeras.saving.errors import ModelFileError
from torchkeras.saving.hdf5 import read_names, text

# Layers whose kernels Theano turned round; depthwise and separable ones it did not.
TURNED = frozenset(("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose", "ConvLSTM2D", "ConvLSTM2DCell"))


@dataclass(frozen=True)
class Origin:
    """The generation of Keras (1 or 2) that wrote a file, and whether it ran on Theano."""

    generation: int
    theano: bool

    @classmethod
    def of(cls, group: h5py.Group) -> Origin:
        """The origin of a group of weights. Raises ModelFileError when it is none of Keras 1 or 2.

        Keras 1 does not say its backend: TensorFlow's names of variables end with ":0", Theano's do not.
        """
        file = group.file
        if "layer_names" not in group.attrs and "layer_names0" not in group.attrs:
            raise ModelFileError(f"{file.filename}: {group.name} has no 'layer_names': not a weight file of Keras 2.")
        version = text(group.attrs.get("keras_version", file.attrs.get("keras_version", "")))
        if version[:2] not in ("1.", "2."):
            raise ModelFileError(
                f"{file.filename}: written by Keras {version or 'of an unknown version'}; "
                "files of Keras 1 and 2 are read so far."
            )
        if version.startswith("1."):
            names = [name for layer in read_names(group, "layer_names") for name in _names(group, layer)]
            return cls(1, bool(names) and not any(name.endswith(":0") for name in names))
        backend = text(group.attrs.get("backend", file.attrs.get("backend", "tensorflow")))
        if backend not in ("tensorflow", "theano"):
            raise ModelFileError(
                f"{file.filename}: written on {backend}; files written on TensorFlow or Theano are read."
            )
        return cls(2, backend == "theano")

    def arrays(self, variables: list[Variable], stored: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """The arrays stored for some weights, with their names, as many and in the shapes that Keras 2 has them."""
        if self.generation == 2:
            return stored
        result: list[tuple[str, Any]] = []
        for group in _by_owner(variables):
            owner = group[0].layer
            count = stored_count(owner, len(group), stored[0][0]) if stored else len(group)
            taken, stored = stored[:count], stored[count:]
            made = modern(owner, [np.asarray(array) for _, array in taken])
            names = [name for name, _ in taken] if len(made) == len(taken) else [v.full_name for v in group]
            result += zip(names, made, strict=True)
        return [*result, *stored]

    def values(self, variable: Variable, array: np.ndarray) -> np.ndarray:
        """A weight's values, turned round where Theano had them so."""
        turned = variable.name in ("kernel", "recurrent_kernel") and any(
            cls.__name__ in TURNED for cls in type(variable.layer).__mro__
        )
        if not (self.theano and turned):
            return array
        return np.flip(array, tuple(range(array.ndim - 2))).copy()


def _names(group: h5py.Group, layer: str) -> list[str]:
    found = group.get(layer)
    return read_names(found, "weight_names") if isinstance(found, h5py.Group) else []


def _by_owner(variables: list[Variable]) -> list[list[Variable]]:
    """The weights in groups that follow each other, of one layer and one kind (training or not) each."""
    return [list(group) for _, group in groupby(variables, key=lambda v: (id(v.layer), v.trainable))]
