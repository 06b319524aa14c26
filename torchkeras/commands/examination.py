"""What `inspect` and `doctor` look at: the contents of a file, how its model loads, and what is suspicious."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from torchkeras.commands import findings
from torchkeras.commands.contents import Contents
from torchkeras.commands.exits import CommandError, faults_of, kind_of
from torchkeras.commands.files import safe
from torchkeras.commands.output import Progress, progress
from torchkeras.errors import ArchitectureError, ModelFileError
from torchkeras.models import load_model
from torchkeras.saving.containers.open_file import require_file
from torchkeras.saving.formats import Format, format_of, named
from torchkeras.saving.weights.matching import Loaded

PASSES = 3  # over a file: the clean copy, the model, the check of its values
WEIGHTS_ALONE = "weights alone: there is no architecture in the file to load"


@dataclass(frozen=True)
class DryRun:
    """The result of loading the model: a row for each weight, or the error."""

    text: str
    rows: tuple[Loaded, ...] = ()
    error: Exception | None = None

    @property
    def converted(self) -> list[Loaded]:
        """The weights that are converted."""
        return [row for row in self.rows if row.conversions]


Run = TypeVar("Run", bound=DryRun)


def examine(
    arguments: argparse.Namespace, load: Callable[[Contents, Path], Run], kind: str = "file"
) -> tuple[Contents, Run, int]:
    """The contents of a file with all findings, what `load(contents, copy)` gave, and the size in bytes.

    `kind`: how the file is copied. Raises the errors of reading the file.
    """
    path, size = arguments.file, 0
    with faults_of(path):
        require_file(path)
        size = Path(path).stat().st_size
    with progress(size, PASSES, arguments.progress) as shown, faults_of(path):
        shown.doing("checking")
        with safe(path, arguments, kind) as copy:
            form = format_of(copy)
            with named(form.contents)(copy) as contents:
                shown.advance(size)
                shown.doing("loading")
                found = load(contents, copy)
                shown.advance(size)
                shown.doing("looking")
                _find(contents, found, arguments, form, shown)
    return contents, found, size


def dry_run(contents: Contents, copy: Path, arguments: argparse.Namespace) -> DryRun:
    """Load the model as `load_model` does; without its optimizer, if only that fails."""
    if not contents.whole:
        return DryRun(WEIGHTS_ALONE)
    given = options_of(arguments)
    first, _ = tried(arguments.file, lambda: load_model(copy, report=True, **given))
    if first.error is not None and contents.training is not None:
        found, _ = tried(arguments.file, lambda: load_model(copy, report=True, **given, compile=False))
        if found.error is None:
            contents.find("training", "", str(first.error))
            return found
        first = found
    if first.error is not None:
        contents.find("loading", "", str(first.error))
    return first


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What a command line says about loading, as options of `load_model`; those that it leaves out are not there."""
    given_options = {name: getattr(arguments, name) for name in ("original_backend", "original_data_format")}
    given_options = {name: value for name, value in given_options.items() if value is not None}
    return given_options if arguments.lambdas == "read" else {**given_options, "lambdas": arguments.lambdas}


def tried(path: str, load: Callable[[], tuple[Any, Any]]) -> tuple[DryRun, Any]:
    """What came of `load`, which gives a model and a report of its weights; and the model. Errors are about `path`."""
    try:
        with faults_of(path):
            model, report = load()
    except (ModelFileError, CommandError) as error:
        return DryRun(f"it does not load ({kind_of(error)})", error=error), None
    return DryRun("it loads", () if report is None else report.rows), model


def _find(contents: Contents, found: DryRun, arguments: argparse.Namespace, form: Format, shown: Progress) -> None:
    names = {source: row.weight for row in found.rows for source in row.sources}
    findings.find_in_bytes(contents, arguments.file, form)
    findings.find_in_architecture(contents, arguments.lambdas)
    if isinstance(found.error, ArchitectureError):
        findings.find_unknown_classes(contents)
    findings.find_in_arrays(contents, names, shown)
