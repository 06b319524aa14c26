"""`torchkeras inspect FILE`: what is in a model file, what loading would convert, and what is suspicious."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchkeras.commands import findings
from torchkeras.commands.contents import Contents, StoredLayer
from torchkeras.commands.exits import FOUND, WELL, CommandError, code_of, faults_of, kind_of
from torchkeras.commands.files import safe
from torchkeras.commands.output import Progress, counted, progress, show
from torchkeras.errors import ArchitectureError, ModelFileError
from torchkeras.models import load_model
from torchkeras.saving.containers.first_bytes import format_of
from torchkeras.saving.containers.held import require_file
from torchkeras.saving.formats import Format, named
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


def run(arguments: argparse.Namespace) -> int:
    """Describe a file. Returns the code of the error of loading, if any, else FOUND for anything suspicious.

    Raises the errors of reading the file.
    """
    path, size = arguments.file, 0
    with faults_of(path):
        require_file(path)
        size = Path(path).stat().st_size
    with progress(size, PASSES, arguments.progress) as shown, faults_of(path):
        shown.doing("checking")
        with safe(path, arguments) as copy:
            kind = format_of(copy)
            with named(kind.contents)(copy) as contents:
                shown.advance(size)
                shown.doing("loading")
                dry_run = _load(contents, copy, arguments)
                shown.advance(size)
                shown.doing("looking")
                _find(contents, dry_run, arguments, kind, shown)
    about = _about(contents, dry_run, path, size)
    show(_lines(contents, dry_run, about), arguments.json, about)
    if dry_run.error is not None:
        return code_of(dry_run.error)
    return FOUND if contents.findings else WELL


def _load(contents: Contents, copy: Path, arguments: argparse.Namespace) -> DryRun:
    """Load the model as `load_model` does; without its optimizer, if only that fails."""
    if not contents.whole:
        return DryRun(WEIGHTS_ALONE)
    try:
        return _loaded(copy, arguments, compiled=True)
    except (ModelFileError, CommandError) as error:
        first = error
    if contents.training is not None:
        try:
            found = _loaded(copy, arguments, compiled=False)
        except (ModelFileError, CommandError) as error:
            first = error
        else:
            contents.find("training", "", str(first))
            return found
    contents.find("loading", "", str(first))
    return DryRun(f"it does not load ({kind_of(first)})", error=first)


def _loaded(copy: Path, arguments: argparse.Namespace, compiled: bool) -> DryRun:
    with faults_of(arguments.file):
        _, report = load_model(
            copy,
            compile=compiled,
            original_backend=arguments.original_backend,
            original_data_format=arguments.original_data_format,
            lambdas=arguments.lambdas,
            report=True,
        )
    return DryRun("it loads", report.rows)


def _find(contents: Contents, dry_run: DryRun, arguments: argparse.Namespace, kind: Format, shown: Progress) -> None:
    names = {source: row.weight for row in dry_run.rows for source in row.sources}
    findings.find_in_bytes(contents, arguments.file, kind)
    findings.find_in_architecture(contents, arguments.lambdas)
    if isinstance(dry_run.error, ArchitectureError):
        findings.find_unknown_classes(contents)
    findings.find_in_arrays(contents, names, shown)


# --- what is printed -------------------------------------------------------------------------------------------------


def _about(contents: Contents, dry_run: DryRun, path: str, size: int) -> dict[str, Any]:
    arrays = contents.arrays
    return {
        "file": path,
        "bytes": size,
        "layout": contents.layout,
        "whole_model": contents.whole,
        "keras_version": contents.keras_version,
        "backend": contents.backend,
        "data_format": contents.data_format,
        "layers": [layer.about() for layer in contents.layers],
        "totals": {
            "layers": len(contents.layers),
            "weights": len(arrays),
            "parameters": sum(array.parameters for array in arrays),
            "bytes": sum(array.size for array in arrays),
        },
        "optimizer": _optimizer(contents),
        "training": _training(contents),
        "loading": {
            "text": dry_run.text,
            "error": None if dry_run.error is None else {"kind": kind_of(dry_run.error), "message": str(dry_run.error)},
            "weights": list(dry_run.rows),
        },
        "formulas": contents.formulas,
        "findings": contents.findings,
    }


def _optimizer(contents: Contents) -> dict[str, Any] | None:
    training = contents.training if isinstance(contents.training, Mapping) else {}
    told = training.get("optimizer_config", training.get("optimizer"))
    if not isinstance(told, Mapping) and not contents.state:
        return None
    told = told if isinstance(told, Mapping) else {}
    options = told.get("config")
    return {
        "class_name": told.get("class_name"),
        "options": options if isinstance(options, Mapping) else {},
        "state_arrays": len(contents.state),
    }


def _training(contents: Contents) -> dict[str, Any] | None:
    if not isinstance(contents.training, Mapping):
        return None
    return {key: value for key, value in contents.training.items() if key not in ("optimizer_config", "optimizer")}


def _lines(contents: Contents, dry_run: DryRun, about: Mapping[str, Any]) -> Iterator[str]:
    yield f"{about['file']}: {contents.layout}"
    yield f"  size         {counted(about['bytes'], 'byte')}"
    for title, key in (("Keras", "keras_version"), ("backend", "backend"), ("data format", "data_format")):
        yield f"  {title:12} {about[key] or 'not told'}"
    totals = about["totals"]
    yield (
        f"  in all       {counted(totals['layers'], 'layer')}, {counted(totals['weights'], 'weight')}, "
        f"{counted(totals['parameters'], 'parameter')}, {counted(totals['bytes'], 'byte')}"
    )
    yield from _training_lines(about)
    yield "layers"
    for layer in contents.layers:
        yield from _layer_lines(layer)
    if contents.formulas:
        yield "formulas"
    for place, text in contents.formulas.items():
        yield f"  {place}: {text}"
    yield f"loading: {dry_run.text}"
    if dry_run.rows:
        as_stored = len(dry_run.rows) - len(dry_run.converted)
        yield f"  {as_stored} of {counted(len(dry_run.rows), 'weight')} taken as stored"
    for row in dry_run.converted:
        yield f"  {row}"
    yield f"suspicious: {len(contents.findings) or 'nothing'}"
    for finding in contents.findings:
        yield f"  {finding}"


def _training_lines(about: Mapping[str, Any]) -> Iterator[str]:
    optimizer, training = about["optimizer"], about["training"]
    if optimizer is not None:
        options = ", ".join(f"{key}={value!r}" for key, value in optimizer["options"].items())
        state = counted(optimizer["state_arrays"], "array")
        yield f"  optimizer    {optimizer['class_name'] or 'not told'}({options}), {state} of state"
    for key, value in (training or {}).items():
        if value not in (None, [], {}):
            yield f"  {key:12} {value!r}"


def _layer_lines(layer: StoredLayer) -> Iterator[str]:
    name, kind = layer.name or "(no name)", layer.class_name or "class not told"
    yield f"  {name} ({kind}): {counted(layer.parameters, 'parameter')}"
    for array in layer.arrays:
        yield f"    {array.path} {array.shape} {array.dtype}"
