"""Weights as `.safetensors`: the tensors of a model under the names of its `state_dict`, with nothing to execute.

A tensor with several names is written once, under the first. Needs the package safetensors.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from torchkeras.atomic_file import replacing
from torchkeras.errors import FileLimitError, UnreadableFileError
from torchkeras.saving.containers.held import held
from torchkeras.saving.containers.limits import LIMITS
from torchkeras.saving.containers.places import shown
from torchkeras.saving.weights.state import ABOUT, StoredTensors, tensors_of
from torchkeras.shards import whole

FORMAT = {"format": "pt", "written_by": "torchkeras", "version": "1"}  # "pt": the axes are in torch's order
DTYPES: Mapping[str, torch.dtype] = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    **{f"I{bits}": getattr(torch, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"F{bits}": getattr(torch, f"float{bits}") for bits in (16, 32, 64)},
    "BF16": torch.bfloat16,
}


def write(path: str | os.PathLike[str], model: nn.Module, about: str | None = None) -> None:
    """Write the tensors of a model's `state_dict`; the file appears whole or not at all.

    `about`: a text for the file's `__metadata__`. Raises ImportError without the package safetensors.
    """
    package = _package("safetensors.torch")
    tensors = {names[0]: whole(tensor).detach().cpu().contiguous() for names, tensor in tensors_of(model).items()}
    with replacing(path) as part:
        package.save_file(tensors, part, metadata=FORMAT if about is None else {**FORMAT, ABOUT: about})


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[StoredTensors]:
    """Open a file of tensors.

    Raises ImportError without the package safetensors, FileNotFoundError, UnreadableFileError, FileLimitError.
    """
    package, where = _package("safetensors"), shown(path)
    with (
        held(path) as own,
        _readable(package, where),
        package.safe_open(own, framework="pt", device="cpu") as file,
    ):
        names = list(file.keys())
        if len(names) > LIMITS.members:
            raise FileLimitError(f"{where}: it holds {len(names)} tensors; at most {LIMITS.members} are read.")
        described = {name: _description(file.get_slice(name), name, where) for name in names}
        about = (file.metadata() or {}).get(ABOUT)
        yield StoredTensors(described, file.get_tensor, about, lambda name, rows: file.get_slice(name)[rows])


@contextmanager
def _readable(package: Any, where: str) -> Iterator[None]:
    """Whatever the package raises for damage is an UnreadableFileError, or a FileLimitError."""
    try:
        yield
    except package.SafetensorError as error:
        kind = FileLimitError if "toolarge" in str(error).replace(" ", "").lower() else UnreadableFileError
        raise kind(f"{where}: not a readable safetensors file ({error}).") from error


def _description(stored: Any, name: str, path: Any) -> tuple[torch.dtype, tuple[int, ...]]:
    kind = stored.get_dtype()
    if kind not in DTYPES:
        raise UnreadableFileError(f"{path}: {name[:100]!r} holds {kind}; read are {', '.join(DTYPES)}.")
    return DTYPES[kind], tuple(stored.get_shape())


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            "A .safetensors file: the package safetensors is missing. Install it with "
            "`pip install torchkeras[safetensors]`."
        ) from error
