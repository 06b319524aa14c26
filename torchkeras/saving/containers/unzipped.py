"""A `.keras` archive as a folder of its members, which Keras 3 writes with `zipped=False` and to Hugging Face."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py

from torchkeras.base.atomic_file import replacing
from torchkeras.errors import FileLimitError, ForbiddenContentError
from torchkeras.saving.containers import archive
from torchkeras.saving.containers.limits import LIMITS, Limits
from torchkeras.saving.containers.open_file import require_file, shown, shown_as

PathLike = str | os.PathLike[str]

ARCHIVE = "model.keras"
PICTURE = "assets/summary_plot.png"  # of the model, which Keras adds when it uploads the folder


@contextmanager
def archived(folder: PathLike, limits: Limits = LIMITS) -> Iterator[Path]:
    """The path of an archive with the files of a model's folder, which exists inside the block.

    Other files beside them, such as a README.md, are left alone. Raises UnreadableFileError for a folder of no model,
    ForbiddenContentError for links, FileLimitError.
    """
    source = Path(folder)
    if not (source / archive.CONFIG).is_file():
        require_file(folder)
    with tempfile.TemporaryDirectory(prefix="torchkeras-") as made:
        copy, left = Path(made) / ARCHIVE, limits.total
        with zipfile.ZipFile(copy, "w") as target:
            for name in _names(source, limits):
                left -= (source / name).stat().st_size
                if left < 0:
                    raise FileLimitError(f"{shown(folder)}: its files take more than {limits.total} bytes.")
                target.write(source / name, name)
        with shown_as(copy, folder):
            yield copy


def _names(folder: Path, limits: Limits) -> list[str]:
    """The files of a model in a folder, by their paths inside it."""
    found = [folder / name for name in archive.MEMBERS]
    for each in (folder / archive.ASSETS).rglob("*"):
        found.append(each)
        if len(found) > limits.parts:
            raise FileLimitError(f"{shown(folder)}: more than {limits.parts} files.")
    for each in (folder / archive.ASSETS, *found):
        if each.is_symlink():
            raise ForbiddenContentError(f"{shown(folder)}: {each.relative_to(folder).as_posix()!r} is a link.")
    return [name for each in found if each.is_file() and (name := each.relative_to(folder).as_posix()) != PICTURE]


def write(
    path: PathLike,
    config: Any,
    metadata: Any,
    write_weights: Callable[[h5py.Group], None],
    write_assets: Callable[[Path], None],
) -> None:
    """Write a folder with what `archive.write` writes into an archive.

    A model that is there is replaced: without its config.json, which comes last, a folder is no model.
    """
    folder = Path(path)
    with tempfile.TemporaryDirectory(prefix="torchkeras-") as made:
        copy = Path(made) / ARCHIVE
        with shown_as(copy, path):
            archive.write(copy, config, metadata, write_weights, write_assets)
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / archive.CONFIG).exists():
            (folder / archive.CONFIG).unlink()
            shutil.rmtree(folder / archive.ASSETS, ignore_errors=True)
        with zipfile.ZipFile(copy) as found:
            for name in sorted(found.namelist(), key=lambda name: name == archive.CONFIG):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with replacing(folder / name) as part, found.open(name) as source, part.open("wb") as target:
                    shutil.copyfileobj(source, target)
