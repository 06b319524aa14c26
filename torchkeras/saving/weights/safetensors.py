"""Weights as `.safetensors`: the tensors of a model under the names of its `state_dict`, with nothing to execute.

A tensor with several names is written once, under the first. Needs the package safetensors.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import prod
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor, nn

from torchkeras.base.atomic_file import replacing
from torchkeras.base.extras import extra
from torchkeras.errors import FileLimitError, UnreadableFileError
from torchkeras.saving.containers.limits import LIMITS
from torchkeras.saving.containers.open_file import check_same, open_path, shown
from torchkeras.saving.containers.parts import CAN_READ, Part, Stretch
from torchkeras.saving.weights.state import ABOUT, OPTIMIZER, Description, StoredTensors, stretch_of, tensors_of
from torchkeras.world.one_process import sharing

FORMAT = {"format": "pt", "written_by": "torchkeras", "version": "1"}  # "pt": the axes are in torch's order
DTYPES: Mapping[str, torch.dtype] = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    **{f"I{bits}": getattr(torch, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"F{bits}": getattr(torch, f"float{bits}") for bits in (16, 32, 64)},
    "BF16": torch.bfloat16,
    "C64": torch.complex64,
}
PREFIX = f"{OPTIMIZER}/"
A_FILE = "A .safetensors file"
LENGTH = 8  # bytes at the beginning of a file, which tell how long its header is


def write(
    path: str | os.PathLike[str],
    model: nn.Module,
    about: str | None = None,
    optimizer: Mapping[str, Tensor] | None = None,
) -> None:
    """Write the tensors of a model's `state_dict`; the file appears whole or not at all.

    `about`: a text for the file's `__metadata__`. `optimizer`: tensors of the optimizer's state, whose names begin with
    `torchkeras.optimizer/` in the file. Raises ImportError without the package safetensors.
    """
    safetensors = extra("safetensors.torch", A_FILE)
    tensors: dict[str, Tensor] = {}
    for names, tensor in tensors_of(model).items():
        # Layers of a whole model with one tensor under several names may each have their own when it is made again.
        first, *others = names if about is not None else names[:1]
        tensors[first] = sharing().wholes([tensor])[0].detach().cpu().contiguous()
        tensors |= {name: tensors[first].clone() for name in others}
    tensors |= {f"{PREFIX}{name}": tensor for name, tensor in (optimizer or {}).items()}
    with replacing(path) as part:
        safetensors.save_file(tensors, part, metadata=FORMAT if about is None else {**FORMAT, ABOUT: about})
        _order_metadata(part)


def _order_metadata(path: Path) -> None:
    """Put a file's `__metadata__` in order, in place: the package writes them in the order of a hash map."""
    with path.open("r+b") as file:
        length = int.from_bytes(file.read(LENGTH), "little")
        header = json.loads(file.read(length))
        header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
        # As the package writes JSON, so that it is as long as before.
        ordered = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode().ljust(length)
        assert len(ordered) == length
        file.seek(LENGTH)
        file.write(ordered)


@contextmanager
def opened(path: str | os.PathLike[str], maps: bool = False) -> Iterator[StoredTensors]:
    """Open a file of tensors. `maps`: as of `StoredTensors`.

    Raises ImportError without the package safetensors, FileNotFoundError, UnreadableFileError, FileLimitError.
    """
    safetensors, where = extra("safetensors", A_FILE), shown(path)
    with (
        open_path(path) as own,
        _readable(safetensors, where),
        own.open("rb") as raw,
        safetensors.safe_open(own, framework="pt", device="cpu") as file,
    ):
        check_same(raw, own)
        names = list(file.keys())
        if len(names) > LIMITS.members:
            raise FileLimitError(f"{where}: it holds {len(names)} tensors; at most {LIMITS.members} are read.")
        described = {name: _description(file.get_slice(name), name, where) for name in names}
        about = (file.metadata() or {}).get(ABOUT)
        # A file without a model has none of ours, whatever names it has.
        own = {name for name in names if name.startswith(PREFIX) and about is not None}
        yield StoredTensors(
            {name: described_tensor for name, described_tensor in described.items() if name not in own},
            file.get_tensor,
            about,
            lambda name, rows: file.get_slice(name)[rows],
            _stretches(raw, file.offset_keys(), described, where) if CAN_READ else {},
            {name.removeprefix(PREFIX): (described[name][1], partial(file.get_tensor, name)) for name in sorted(own)},
            maps,
        )


@contextmanager
def _readable(safetensors: Any, where: str) -> Iterator[None]:
    """Whatever the package raises for damage is an UnreadableFileError, or a FileLimitError."""
    try:
        yield
    except safetensors.SafetensorError as error:
        kind = FileLimitError if "toolarge" in str(error).replace(" ", "").lower() else UnreadableFileError
        raise kind(f"{where}: not a readable safetensors file ({error}).") from error


def _description(stored: Any, name: str, path: Any) -> tuple[torch.dtype, tuple[int, ...]]:
    kind = stored.get_dtype()
    if kind not in DTYPES:
        raise UnreadableFileError(f"{path}: {name[:100]!r} holds {kind}; read are {', '.join(DTYPES)}.")
    return DTYPES[kind], tuple(stored.get_shape())


def _stretches(
    file: IO[bytes], names: list[str], described: Mapping[str, Description], where: str
) -> dict[str, Stretch]:
    """Where the tensors are: one after the other after the header, in the order of `names`, as the package checked."""
    begin, found = LENGTH + int.from_bytes(file.read(LENGTH), "little"), {}
    part = Part(file.fileno(), 0, os.fstat(file.fileno()).st_size)
    for name in names:
        dtype, shape = described[name]
        stretch = stretch_of(dtype, part, begin, f"{where}: {name[:100]!r}")
        if stretch is not None:
            found[name] = stretch
        begin += dtype.itemsize * prod(shape)
    return found
