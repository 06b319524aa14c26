"""The model of a file, checked by another process first, for `verify` and `eject`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torchkeras.commands.exits import faults_of
from torchkeras.commands.files import safe
from torchkeras.commands.output import progress
from torchkeras.models import load_model
from torchkeras.saving.containers.open_file import require_file

PASSES = 2  # of a file: the clean copy and the model


@contextmanager
def whole_model(arguments: argparse.Namespace, doing: str) -> Iterator[Any]:
    """The model. `doing`: what the progress bar says while the block runs.

    Raises the errors of reading the file, and UnknownFormatError for a file of weights alone.
    """
    path = arguments.file
    with faults_of(path):
        require_file(path)
        size = Path(path).stat().st_size
    with progress(size, PASSES, arguments.progress) as shown, faults_of(path):
        shown.doing("checking")
        with safe(path, arguments) as copy:
            shown.advance(size)
            shown.doing("loading")
            model = load_model(
                copy,
                compile=False,
                original_backend=arguments.original_backend,
                original_data_format=arguments.original_data_format,
                lambdas=arguments.lambdas,
            )
        shown.advance(size)
        shown.doing(doing)
        yield model
