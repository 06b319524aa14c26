"""`torchkeras eject IN FOLDER`: a model as plain PyTorch, which is kept only when it computes the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from torchkeras.commands.exits import FOUND, WELL, CommandError, faults_of
from torchkeras.commands.files import safe
from torchkeras.commands.output import progress, show
from torchkeras.export.errors import UnequalError
from torchkeras.export.plain.eject import FILES
from torchkeras.models import load_model
from torchkeras.saving.errors import UnknownFormatError
from torchkeras.saving.files.first_bytes import SAFETENSORS, STATE, format_of

WEIGHTS = tuple(FILES)
PASSES = 2  # of a file: the clean copy and the model


def run(arguments: argparse.Namespace) -> int:
    """Eject. Raises CommandError, and the errors of reading the file; then FOLDER is as it was."""
    path, folder = arguments.file, Path(arguments.folder)
    with faults_of(path):
        kind = format_of(path)
        size = Path(path).stat().st_size
    if kind in (SAFETENSORS, STATE):
        raise UnknownFormatError(f"{path}: it is a {kind}, weights alone; a whole model is needed.")
    with progress(size, PASSES, arguments.progress) as shown, faults_of(path):
        shown.doing("checking")
        with safe(path, kind, arguments.seconds, arguments.memory) as copy:
            shown.advance(size)
            shown.doing("loading")
            model = load_model(
                copy,
                compile=False,
                original_backend=arguments.original_backend,
                original_data_format=arguments.original_data_format,
            )
        shown.advance(size)
        shown.doing("ejecting")
        try:
            model.eject(folder, overwrite=arguments.overwrite, weights=arguments.weights)
        except UnequalError as error:
            raise CommandError(f"{folder}: {error} Nothing is kept.", FOUND) from error
    about = {"file": path, "folder": str(folder), "files": ["model.py", FILES[arguments.weights]], "equal": True}
    told = f"{path} -> {folder}: model.py and {FILES[arguments.weights]}, outputs equal on random inputs"
    show([told], arguments.json, about)
    return WELL
