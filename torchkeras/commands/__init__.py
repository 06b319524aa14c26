"""The command `torchkeras`: for model files, for scripts of Keras 1, 2 and 3, and for reports of faults."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from torchkeras import __version__
from torchkeras.base import bytecode
from torchkeras.commands import convert, doctor, eject, env, exits, inspect, run, verify
from torchkeras.commands.exits import INTERRUPTED, WELL, CommandError
from torchkeras.commands.output import show_error
from torchkeras.config import DATA_FORMATS, FLOAT_TYPES
from torchkeras.errors import ModelFileError
from torchkeras.saving.containers.limits import GIB
from torchkeras.saving.weights.origin import BACKENDS

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
LAMBDAS = (bytecode.READ, bytecode.REFUSE)
COMMANDS = {
    "inspect": inspect.run,
    "doctor": doctor.run,
    "convert": convert.run,
    "verify": verify.run,
    "eject": eject.run,
    "run": run.run,
    "env": env.run,
}


class _Parser(argparse.ArgumentParser):
    """A parser that raises an error instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code, one of `exits.MEANINGS`."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given and given[0] != "run"
    try:
        parsed = _parser().parse_args(given)
        return COMMANDS[parsed.command](parsed)
    except SystemExit:  # --help, --version
        return WELL
    except (CommandError, ModelFileError) as error:
        return show_error(error, as_json)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has stopped
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.SYSTEM


def _parser() -> argparse.ArgumentParser:
    form: Any = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="torchkeras",
        description="Files of models that any Keras saved, and scripts that made them.",
        epilog=f"exit codes:\n{exits.table()}",
        formatter_class=form,
    )
    parser.add_argument("--version", action="version", version=f"torchkeras {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar=" | ".join(COMMANDS))

    def command(name: str, deed: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name, help=deed, description=deed, epilog=f"exit codes:\n{exits.table()}", formatter_class=form
        )

    found = command("inspect", "Show what is in a model file, what loading would convert, and what is suspicious.")
    found.add_argument("file", metavar="FILE")
    _add_shared(found)
    found = command("doctor", "Say what to do about each finding of inspect, and how to load the file; it is tried.")
    found.add_argument("file", metavar="FILE")
    found.add_argument("--architecture", metavar="FILE.json", help="the architecture, if FILE holds weights alone")
    _add_shared(found)
    found = command("convert", "Write a model, or its weights, as another format, and read it back to compare.")
    found.add_argument("file", metavar="IN")
    found.add_argument("out", metavar="OUT", help="its suffix is the format: " + ", ".join(convert.BY_SUFFIX))
    found.add_argument("--architecture", metavar="FILE.json", help="the architecture, if IN holds weights alone")
    found.add_argument("--data-format", choices=DATA_FORMATS, help="convert images and kernels to this order of axes")
    found.add_argument("--dtype", choices=FLOAT_TYPES, help="the type in which OUT stores floating-point weights")
    found.add_argument("--weights-only", action="store_true", help="write an .h5 file without the architecture")
    found.add_argument("--without-optimizer", action="store_true", help="leave out how the model was compiled")
    found.add_argument("--overwrite", action="store_true", help="replace OUT if it exists")
    _add_shared(found)
    found = command("verify", "Compare what a model computes with a record of inputs and outputs.")
    found.add_argument("file", metavar="FILE")
    found.add_argument("--against", metavar="io.npz", required=True, help="x0, x1... and y0, y1..., layer:<name>")
    found.add_argument("--atol", type=_tolerance, default=1e-4, help="absolute tolerance (default 1e-4)")
    found.add_argument("--rtol", type=_tolerance, default=1e-3, help="relative tolerance (default 1e-3)")
    _add_shared(found)
    found = command("eject", "Write a model as plain PyTorch: model.py, which imports torch alone, and its weights.")
    found.add_argument("file", metavar="IN")
    found.add_argument("folder", metavar="FOLDER", help="the folder for model.py and the weights")
    found.add_argument("--weights", choices=eject.WEIGHTS, default=eject.WEIGHTS[0], help="the format of the weights")
    found.add_argument("--overwrite", action="store_true", help="replace FOLDER if an eject wrote it")
    _add_shared(found)
    found = command("run", "Run a script of Keras 1, 2 or 3, or of tf.keras: its imports mean torchkeras.")
    found.add_argument(
        "--as",
        dest="answers",
        metavar="NAME",
        action="append",
        help="keras3 to answer keras as Keras 3; tensorflow for tf.keras and the rest of TensorFlow, 1 or 2 as the "
        "script was written for (or tensorflow1, tensorflow2); or what to answer beside keras: tensorflow.keras, "
        "tf_keras",
    )
    found.add_argument("script", metavar="SCRIPT")
    found.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="arguments of the script")
    found = command("env", "Print versions, devices and settings, to paste into a report of a fault.")
    found.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--original-backend", choices=BACKENDS, help="what wrote the weights, if FILE does not say")
    parser.add_argument("--original-data-format", choices=DATA_FORMATS, help="of the weights, if FILE does not say")
    parser.add_argument(
        "--lambdas", choices=LAMBDAS, default=LAMBDAS[0], help="functions kept as bytecode: as formulas"
    )
    parser.add_argument("--seconds", type=_seconds, help="time limit of reading (default 30, plus 1 for each 16 MiB)")
    parser.add_argument("--memory", type=_memory, default=GIB, help="memory limit of reading: 512M, 2G (default 1G)")
    parser.add_argument("--json", action="store_true", help="print JSON, also for errors")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--progress", action="store_true", default=None, help="show a bar for a file of any size")
    shown.add_argument("--no-progress", action="store_false", dest="progress", help="never show a bar")


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"seconds must be a positive number; found {text!r}")
    return value


def _tolerance(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"a tolerance must be 0 or more; found {text!r}")
    return value


def _memory(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMG]?)", text, re.ASCII)
    if found is None or not int(found[1]):
        raise argparse.ArgumentTypeError(f"memory must be a number of bytes, or one with K, M or G; found {text!r}")
    return int(found[1]) * UNITS[found[2]]
