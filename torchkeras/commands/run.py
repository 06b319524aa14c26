"""`torchkeras run SCRIPT`: run a script of Keras 1, 2 or 3, or of tf.keras, whose imports mean this package."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
from pathlib import Path

from torchkeras.base.annexes import annex
from torchkeras.commands.exits import WELL, CommandError
from torchkeras.commands.script_checks import asks_for_keras3

KERAS3 = "keras3"
TENSORFLOW, TENSORFLOW1, TENSORFLOW2 = "tensorflow", "tensorflow1", "tensorflow2"
ALONE = {KERAS3: "import keras 3", TENSORFLOW2: "import tensorflow 2"}  # and what answers then
FAILED = 1  # as Python itself ends when a script raises


def run(arguments: argparse.Namespace) -> int:
    """Run the script as `python SCRIPT` would; returns its exit code.

    Raises CommandError for a missing file, and for a name that cannot be answered.
    """
    script = Path(arguments.script)
    if not script.is_file():
        raise CommandError(f"{script}: no such file.")
    answers = arguments.answers or []
    if not answers and asks_for_keras3(script.read_text(encoding="utf-8", errors="replace")):
        print(
            f"torchkeras: {script.name} asks for Keras 3, so `import keras` is answered as by --as keras3.",
            file=sys.stderr,
        )
        answers = [KERAS3]
    try:
        _answer_imports([_by_its_text(name, script) for name in answers])
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


def _by_its_text(name: str, script: Path) -> str:
    """The name itself; for "tensorflow" the version whose names the script has."""
    if name == TENSORFLOW:
        try:
            name = f"{TENSORFLOW}{annex('years of a script').version_of(script.read_text(encoding='utf-8'))}"
        except (SyntaxError, UnicodeDecodeError):  # which running it shows
            return name
    return TENSORFLOW if name == TENSORFLOW1 else name


def _answer_imports(names: list[str]) -> None:
    """Let imports mean this package: `keras` as Keras 2, with what is answered beside it, or what stands alone."""
    alone = next((name for name in names if name in ALONE), None)
    if alone is None:
        annex("import keras").install(["keras", *names])
    elif len(set(names)) == 1:
        annex(ALONE[alone]).install()
    elif set(names) == {KERAS3, TENSORFLOW2}:
        annex(ALONE[KERAS3]).install()
        annex(ALONE[TENSORFLOW2]).install(beside_keras3=True)
    else:
        others = ", ".join(repr(name) for name in names if name != alone)
        raise ValueError(f"{alone!r} answers {_ANSWERED[alone]}, and goes with no other name; found {others}.")


_ANSWERED = {
    KERAS3: "`import keras` alone, as Keras 3",
    TENSORFLOW2: "`import tensorflow` and `import keras`, as TensorFlow 2",
}


def _code(end: SystemExit) -> int:
    """The exit code of a script that ended itself; a text is shown and counts as a failure, as in Python."""
    if end.code is None or isinstance(end.code, int):
        return end.code or WELL
    print(end.code, file=sys.stderr)
    return FAILED
