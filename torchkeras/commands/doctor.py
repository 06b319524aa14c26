"""`torchkeras doctor FILE`: what `inspect` finds, what to do about it, and the Python that loads the file, tried."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torchkeras.commands.advice import Told, of_error, of_finding, of_loading, without_name
from torchkeras.commands.contents import Contents, Finding
from torchkeras.commands.examination import examine, options_of
from torchkeras.commands.exits import FOUND, WELL, code_of, kind_of
from torchkeras.commands.facts import facts, needs_backend
from torchkeras.commands.inspect import about_file, heading
from torchkeras.commands.other_files import architecture_alone, other_kind
from torchkeras.commands.output import show
from torchkeras.commands.stand_ins import Wanted, described
from torchkeras.commands.treatment import CHOICES, Treatment, treat
from torchkeras.commands.ways import Apart, Whole, by_code, variable
from torchkeras.errors import ModelFileError, UnreadableFileError

Way = Any  # one of `ways`
TRIED, WITH_STAND_INS = "tried: it loads", "tried with stand-ins for what is yours: it loads"
NOT_TRIED = "not tried: it needs your code"
WITH_WEIGHTS = "build the model from it, as shown below; then call model.load_weights(...) of the file that has them"
HOW = ("file", "bytes", "layout", "whole_model", "keras_version", "backend", "data_format", "totals", "optimizer")


@dataclass(frozen=True)
class Call:
    """Python that loads the file, and whether it was tried."""

    python: tuple[str, ...]
    tried: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Diagnosis:
    """All that is said of a file: what it is, what was found, how to load it, and the exit code."""

    heading: tuple[str, ...]
    about: Mapping[str, Any]
    found: tuple[Told, ...]
    calls: tuple[Call, ...]
    code: int


def run(arguments: argparse.Namespace) -> int:
    """Say what to do. Returns WELL for a file that loads as it is, FOUND for one that loads as is said.

    Returns the code of the error for another one. Raises CommandError for a missing file.
    """
    diagnosis = _of_file(arguments)
    about = {**diagnosis.about, "found": diagnosis.found, "calls": diagnosis.calls, "exit": diagnosis.code}
    show(_lines(diagnosis), arguments.json, about)
    return diagnosis.code


def _of_file(arguments: argparse.Namespace) -> Diagnosis:
    given = options_of(arguments)
    try:
        try:
            return _examined(arguments, given, "file")
        except UnreadableFileError as error:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                return _examined(arguments, {**given, "strict": False}, "doubtful model", error)
    except ModelFileError as error:
        return _unread(arguments, error)


def _examined(
    arguments: argparse.Namespace, given: Mapping[str, Any], kind: str, doubt: Exception | None = None
) -> Diagnosis:
    """The diagnosis of a file whose contents can be read. `doubt`: what `strict=False` overcomes."""
    path = arguments.file
    way: Way = Apart(path, arguments) if arguments.architecture else Whole(path)

    def load(contents: Contents, copy: Path) -> Treatment:
        if doubt is not None:
            contents.find("doubt", "", str(doubt))
        if contents.whole or arguments.architecture:
            return treat(way, copy, given, contents)
        return Treatment("weights alone", given=given)

    contents, treatment, size = examine(arguments, load, kind)
    found = (*(of_finding(each, treatment, path) for each in contents.findings), *facts(contents, treatment, path))
    about = about_file(contents, treatment, path, size)
    calls = _calls(way, treatment, contents)
    code = _code(treatment, bool(contents.findings))
    return Diagnosis(tuple(heading(about)), {key: about[key] for key in HOW}, found, calls, code)


def _calls(way: Way, treatment: Treatment, contents: Contents | None) -> tuple[Call, ...]:
    """The Python for each try that loads; where none does, for what could not be tried."""
    asked = {each.name: each for each in treatment.asked}
    if treatment.loads or asked:
        made = [each.options for each in treatment.loads] or [{"custom_objects": asked}]
        return tuple(_call(way, options, asked, contents, bool(treatment.loads)) for options in made)
    options = [treatment.given]
    if contents is not None and needs_backend(contents):
        options = [{"original_backend": each, **treatment.given} for each in CHOICES["original_backend"]]
    return tuple(Call(tuple(by_code(way.path, each)), NOT_TRIED, _named(each)) for each in options)


def _call(
    way: Way, options: Mapping[str, Any], asked: Mapping[str, Wanted], contents: Contents | None, loads: bool
) -> Call:
    own = [asked[name] for name in options.get("custom_objects", ())]
    comments = [f"# {variable(each.name)}: {described(each, contents)}" for each in own]
    how = WITH_STAND_INS if own else TRIED
    if not loads:
        how = NOT_TRIED
    return Call((*comments, *way.lines(options)), how, _named(options))


def _named(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as plain data, with the name of a variable for each custom object."""
    return {
        name: {key: variable(key) for key in value} if isinstance(value, Mapping) else value
        for name, value in options.items()
    }


def _code(treatment: Treatment, suspicious: bool) -> int:
    if treatment.hindrance is not None:
        return code_of(treatment.hindrance)
    return WELL if treatment.plain and not suspicious else FOUND


def _unread(arguments: argparse.Namespace, error: ModelFileError) -> Diagnosis:
    """The diagnosis of a file that cannot be read, or that is no model."""
    path, alone = arguments.file, architecture_alone(arguments)
    if alone is not None:
        return _of_text(*alone)
    other = other_kind(path)
    if other is not None:
        return _short(path, (Told("other file", "", *other),), (), code_of(error))
    return _short(path, (_told(error, path),), (), code_of(error))


def _of_text(way: Way, treatment: Treatment) -> Diagnosis:
    """The diagnosis of an architecture alone."""
    path, code = way.path, _code(treatment, False)
    alone = Told("architecture", "", "an architecture, without weights", WITH_WEIGHTS)
    if treatment.last is not None and not treatment.asked:
        return _short(path, (alone, _told(treatment.last, path)), (), code)
    asked = () if treatment.error is None else (_told(treatment.error, path, of_loading(treatment, path)),)
    return _short(path, (alone, *asked), _calls(way, treatment, None), code)


def _told(error: Exception, path: str, advice: str = "") -> Told:
    return Told(kind_of(error), "", without_name(str(error), path), advice or of_error(error, path))


def _short(path: str, found: tuple[Told, ...], calls: tuple[Call, ...], code: int) -> Diagnosis:
    return Diagnosis((path,), {"file": path}, found, calls, code)


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    yield from diagnosis.heading
    yield f"found: {len(diagnosis.found) or 'nothing'}"
    for finding in diagnosis.found:
        yield f"  {Finding(finding.kind, finding.where, finding.text)}"
        yield f"    -> {finding.advice}"
    if not diagnosis.calls:
        yield "to load it: no way is known"
        return
    first, *others = diagnosis.calls
    yield f"to load it ({first.tried}{'; choose one of these' if others else ''})"
    for line in dict.fromkeys(line for call in diagnosis.calls for line in call.python):
        yield f"  {line}"
