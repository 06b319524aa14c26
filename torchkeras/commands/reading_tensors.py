"""The contents of safetensors files and state_dicts, for `inspect`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from torchkeras.base.arrays import to_numpy
from torchkeras.commands.contents import Array, Contents, StoredLayer
from torchkeras.errors import ModelFileError
from torchkeras.saving import model_file
from torchkeras.saving.containers import tensor_header
from torchkeras.saving.containers.limits import MIB
from torchkeras.saving.containers.open_file import shown
from torchkeras.saving.containers.tensor_header import DTYPES
from torchkeras.saving.weights import origin, state
from torchkeras.saving.weights.safetensors import PREFIX

SAFETENSORS, STATE = "safetensors, names of a state_dict", "torch state_dict (.pt)"

SLAB = 16 * MIB


@contextmanager
def contents_of_safetensors(path: str | os.PathLike[str]) -> Iterator[Contents]:
    """The contents of a safetensors file, by its header.

    Raises UnreadableFileError if the header or a place in it is wrong, FileLimitError.
    """
    header = tensor_header.read(path)
    arrays = [
        Array(
            place.name,
            place.shape,
            DTYPES[place.dtype][0],
            place.size,
            partial(_mapped, path, place.dtype, place.begin, place.size),
        )
        for place in header.places
    ]
    about = header.metadata.get(state.ABOUT) if isinstance(header.metadata, dict) else None
    contents = _contents(SAFETENSORS, arrays, about, path)
    if header.trailing:
        contents.find("trailing", "", f"{header.trailing} bytes follow the last array")
    yield contents


def _mapped(path: Any, dtype: str, at: int, size: int) -> Iterator[np.ndarray]:
    with Path(path).open("rb") as file:
        file.seek(at)
        while size > 0:
            found = np.frombuffer(file.read(min(size, SLAB)), DTYPES[dtype][1])
            if not found.size:
                return
            size -= found.nbytes
            yield (found.astype(np.uint32) << 16).view(np.float32) if dtype == "BF16" else found


@contextmanager
def contents_of_state(path: str | os.PathLike[str]) -> Iterator[Contents]:
    """The contents of a state_dict that `torch.save` wrote. Raises the errors of `state.opened`."""
    with state.opened(path) as stored:
        arrays = [_array(name, partial(stored.value_of, name)) for name in stored.tensors]
        arrays += [_array(f"{PREFIX}{name}", value_of) for name, (_, value_of) in stored.optimizer.items()]
    yield _contents(STATE, arrays, stored.about, path)


def _array(name: str, value_of: Callable[[], torch.Tensor]) -> Array:
    value = value_of()
    size = value.numel() * value.itemsize
    return Array(name, tuple(value.shape), str(value.dtype).removeprefix("torch."), size, partial(_whole, value_of))


def _whole(value_of: Callable[[], torch.Tensor]) -> Iterator[np.ndarray]:
    yield to_numpy(value_of())


def _contents(format: str, arrays: list[Array], about: str | None, path: str | os.PathLike[str]) -> Contents:
    """The arrays, and the model that the text stored with them describes, if there is one."""
    weights = [array for array in arrays if about is None or not array.path.startswith(PREFIX)]
    contents = Contents(f"{format}: {'weights alone' if about is None else 'a whole model'}", layers=_by_layer(weights))
    contents.whole, contents.state = about is not None, [array for array in arrays if array not in weights]
    if about is not None:
        try:
            described = model_file.described(about, shown(path))
        except ModelFileError as error:
            contents.find("text", f"metadata {state.ABOUT!r}", str(error))
        else:
            contents.config, contents.training = described.config, described.training
            contents.keras_version = described.version or None
            contents.data_format = origin.format_of_config(described.config)
    return contents


def _by_layer(arrays: list[Array]) -> list[StoredLayer]:
    """The arrays grouped by module: the part of the name before the last dot."""
    found: dict[str, list[Array]] = {}
    for array in arrays:
        found.setdefault(array.path.rpartition(".")[0], []).append(array)
    return [StoredLayer(name, None, tuple(held)) for name, held in found.items()]
