"""`torchkeras run SCRIPT`: run a script of Keras 1, 2 or 3, whose `import keras` means this package."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
from pathlib import Path

from torchkeras.base.annexes import annex
from torchkeras.commands.exits import WELL, CommandError

KERAS3 = "keras3"
FAILED = 1  # as Python itself ends when a script raises


def run(arguments: argparse.Namespace) -> int:
    """Run the script as `python SCRIPT` would; returns its exit code.

    Raises CommandError for a missing file, and for a name that cannot be answered.
    """
    script = Path(arguments.script)
    if not script.is_file():
        raise CommandError(f"{script}: no such file.")
    try:
        _answer_imports(arguments.answers or [])
    except (ValueError, ImportError) as error:
        raise CommandError(f"--as: {error}") from error
    sys.argv = [os.fspath(script), *arguments.arguments]
    sys.path.insert(0, os.fspath(script.resolve().parent))
    try:
        runpy.run_path(os.fspath(script), run_name="__main__")
    except SystemExit as end:
        return _code(end)
    except Exception as error:  # noqa: BLE001  (whatever the script raises is shown, as by Python)
        # What Python shows, from the script's own first line on.
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != os.fspath(script):
            frames = frames.tb_next
        traceback.print_exception(type(error), error, frames or error.__traceback__)
        return FAILED
    return WELL


def _answer_imports(names: list[str]) -> None:
    """Let `import keras` mean this package: as Keras 2, with what is answered beside it, or as Keras 3."""
    if KERAS3 not in names:
        annex("import keras").install(["keras", *names])
    elif len(names) == 1:
        annex("import keras 3").install()
    else:
        others = ", ".join(repr(name) for name in names if name != KERAS3)
        raise ValueError(
            f"{KERAS3!r} answers `import keras` alone, as Keras 3, and goes with no other name; found {others}."
        )


def _code(end: SystemExit) -> int:
    """The exit code of a script that ended itself; a text is shown and counts as a failure, as in Python."""
    if end.code is None or isinstance(end.code, int):
        return end.code or WELL
    print(end.code, file=sys.stderr)
    return FAILED
