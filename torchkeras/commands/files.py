"""Make files safe to read for the commands."""

from __future__ import annotations

import argparse
import os
from contextlib import AbstractContextManager
from pathlib import Path

from torchkeras.saving.containers.isolated import cleaned


def safe(
    path: str | os.PathLike[str], arguments: argparse.Namespace, kind: str = "file"
) -> AbstractContextManager[Path]:
    """The path to read in place of a file: a clean copy, made by a process with the limits of the command line.

    `kind`: "file" for a model, "text" or "arrays". Raises the errors of `isolated.cleaned`.
    """
    return cleaned(path, arguments.seconds, arguments.memory, kind)
