"""`eject`: a model as a folder of plain PyTorch, which is kept only if it computes the same."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from torchkeras.base.extras import extra
from torchkeras.export.errors import UnequalError
from torchkeras.export.plain import facts, proof
from torchkeras.export.plain.module_text import Written, write

FILES = {"safetensors": "model.safetensors", "pt": "model.pt"}
OWN = {"model.py", *FILES.values(), "__pycache__"}


def eject(network: Any, folder: str | os.PathLike[str], overwrite: bool = False, weights: str = "safetensors") -> Path:
    """Write a model as `folder/model.py`, a module that imports only torch, and its weights in the same folder.

    `weights`: "safetensors" for `model.safetensors`, "pt" for `model.pt`, a `state_dict` by `torch.save`. The folder
    appears whole or not at all: first a process in which torchkeras cannot be imported runs the written module on
    random inputs, and its outputs must be the model's. If a model calls the user's own functions (a Lambda's, an
    activation), the comparison runs in this process, and the written class takes the functions as arguments.

    Returns the folder. Raises EjectError for a layer that cannot be written, UnequalError if outputs differ,
    FileExistsError for a folder that is not empty (with `overwrite`: one with files that no eject wrote), ImportError
    without the package safetensors, RuntimeError for a model that has no graph yet.
    """
    target = Path(folder)
    if weights not in FILES:
        raise ValueError(f"eject: weights must be one of {', '.join(map(repr, FILES))}; found {weights!r}.")
    _check_target(target, overwrite)
    save = _saving(weights)
    written = write(network, FILES[weights])
    made = Path(tempfile.mkdtemp(prefix=f".{target.name[:64]}.", dir=target.parent))
    try:
        new = made / "new"
        new.mkdir()
        (new / "model.py").write_text(written.text, encoding="utf-8")
        save(_plain(written.state), new / FILES[weights])
        _prove(network, written, new, made)
        shutil.rmtree(new / "__pycache__", ignore_errors=True)
        _move(new, target, made / "old")
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return target


def _check_target(target: Path, overwrite: bool) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no folder {str(target.parent)!r} to put it into.")
    if not target.exists():
        return
    if not target.is_dir():
        raise FileExistsError(f"{target}: it is a file; eject writes a folder.")
    there = {path.name for path in target.iterdir()}
    if there and not overwrite:
        raise FileExistsError(f"{target}: the folder is not empty. Give overwrite=True to replace an ejected model.")
    others = sorted(there - OWN)
    if others:
        raise FileExistsError(
            f"{target}: the folder holds {others[0]!r}, which no eject wrote; overwrite=True replaces a whole folder, "
            "and only one of an ejected model."
        )


def _saving(weights: str) -> Any:
    """The function that writes named tensors. Raises ImportError without the package safetensors."""
    if weights == "pt":
        return torch.save
    safetensors = extra("safetensors.torch", "eject", "give weights='pt' (--weights pt)")
    return lambda state, path: safetensors.save_file(state, path, metadata={"format": "pt"})


def _plain(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies on the CPU, since tensors of the model may share memory or have another order in it."""
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in state.items()}


def _prove(network: Any, written: Written, folder: Path, scratch: Path) -> None:
    """Raise UnequalError unless the written module computes what the model does."""
    batches, wanted = proof.expected(network)
    try:
        found = proof.found_by(written, folder, scratch, batches)
    except UnequalError as error:
        raise UnequalError(f"{facts.title_of(network)}: {error}") from error
    proof.check(network, wanted, found)


def _move(new: Path, target: Path, old: Path) -> None:
    """Move a folder to a path, replacing the folder there, if any."""
    if target.exists():
        target.rename(old)
    try:
        new.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
