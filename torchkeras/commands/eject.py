"""`torchkeras eject IN FOLDER`: a model as plain PyTorch, which is kept only if it computes the same."""

from __future__ import annotations

import argparse
from pathlib import Path

from torchkeras.commands.exits import FOUND, WELL, CommandError
from torchkeras.commands.output import show
from torchkeras.commands.whole_model import whole_model
from torchkeras.export.errors import UnequalError
from torchkeras.export.plain.eject import FILES

WEIGHTS = tuple(FILES)


def run(arguments: argparse.Namespace) -> int:
    """Eject a model. Raises CommandError and the errors of reading the file; then FOLDER is unchanged."""
    path, folder = arguments.file, Path(arguments.folder)
    with whole_model(arguments, "ejecting") as model:
        try:
            model.eject(folder, overwrite=arguments.overwrite, weights=arguments.weights)
        except UnequalError as error:
            raise CommandError(f"{folder}: {error} Nothing is kept.", FOUND) from error
    about = {"file": path, "folder": str(folder), "files": ["model.py", FILES[arguments.weights]], "equal": True}
    line = f"{path} -> {folder}: model.py and {FILES[arguments.weights]}, outputs equal on random inputs"
    show([line], arguments.json, about)
    return WELL
