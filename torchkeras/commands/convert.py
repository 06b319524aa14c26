"""`torchkeras convert IN OUT`: a model, or its weights, in another format; read back and compared before it is kept."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import zip_longest
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch

from torchkeras.base.atomic_file import replacing
from torchkeras.commands.exits import ASKED, FOUND, WELL, CommandError, faults_of
from torchkeras.commands.files import safe
from torchkeras.commands.output import Progress, counted, progress, show
from torchkeras.errors import ArchitectureError, UnreadableFileError
from torchkeras.models import clone_model, load_model, model_from_json, model_from_yaml
from torchkeras.saving.containers import json_text
from torchkeras.saving.containers.open_file import require_file, shown_as
from torchkeras.saving.data_format.convert import convert_data_format
from torchkeras.saving.extra_keys import stored_alone
from torchkeras.saving.formats import FORMATS, WEIGHTS, Format, suffix_of
from torchkeras.saving.load import is_whole
from torchkeras.saving.weights.matching import Report
from torchkeras.saving.write.keras3_writing import keras3_form

PASSES = 4  # of a file: the clean copy, the model, the new file, the comparison


# By suffix; the longest that fits is taken.
BY_SUFFIX = {suffix: each for each in FORMATS if each.title for suffix in each.suffixes}


@dataclass(frozen=True)
class Read:
    """A loaded model, and what was done to each weight."""

    model: Any
    report: Report


def run(arguments: argparse.Namespace) -> int:
    """Convert a file. Raises CommandError and the errors of reading; then OUT is unchanged."""
    path, out = arguments.file, Path(arguments.out)
    made = _format(out)
    _check(arguments, out, made)
    whole = made.whole and not arguments.weights_only
    with faults_of(path):
        require_file(path)
        size = Path(path).stat().st_size
    with progress(size, PASSES, arguments.progress) as shown:
        with faults_of(path):
            read = _read(arguments, shown, size)
            model, left_out = _changed(read.model, arguments, made, whole)
        with faults_of(out), replacing(out) as part, _beside(part, out.name) as fresh:
            shown.doing("writing")
            _write(model, fresh, whole, arguments.dtype)
            shown.advance(size)
            shown.doing("comparing")
            with shown_as(fresh, out):
                _compare(model, _read_back(model, fresh, whole), out, shown)
            os.replace(fresh, part)
    about = _about(arguments, read, model, made, whole, left_out)
    show(_lines(about), arguments.json, about)
    return WELL


def _format(out: Path) -> Format:
    found = suffix_of(out, BY_SUFFIX)
    if not found:
        raise CommandError(f"{out}: the suffix must be one of {', '.join(BY_SUFFIX)}.")
    return BY_SUFFIX[found]


def _check(arguments: argparse.Namespace, out: Path, made: Format) -> None:
    if arguments.weights_only and made not in WEIGHTS.values():
        raise CommandError(f"{out}: a {made.suffixes[0]} archive holds the architecture; --weights-only goes with .h5.")
    if arguments.dtype and arguments.dtype not in made.numbers:
        others = " and ".join(each.suffixes[0] for each in FORMATS if arguments.dtype in each.numbers)
        raise CommandError(f"{out}: {arguments.dtype} goes with {others}; HDF5 has no such numbers.")
    if out.exists() and not arguments.overwrite:
        raise CommandError(f"{out}: the file exists already; --overwrite replaces it.")
    if not out.parent.is_dir():
        raise CommandError(f"{out}: there is no folder {str(out.parent)!r}.")


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(arguments: argparse.Namespace, shown: Progress, size: int) -> Read:
    given_options = {
        "original_backend": arguments.original_backend,
        "original_data_format": arguments.original_data_format,
    }
    shown.doing("checking")
    with safe(arguments.file, arguments) as copy:
        shown.advance(size)
        shown.doing("loading")
        if arguments.architecture:
            model = architecture(arguments.architecture, arguments)
            report = model.load_weights(copy, report=True, **given_options)
        elif not is_whole(copy):
            raise CommandError(
                f"{arguments.file}: it holds only weights; give their model by --architecture FILE.json."
            )
        else:
            compiled = not arguments.without_optimizer
            model, report = load_model(copy, compile=compiled, report=True, lambdas=arguments.lambdas, **given_options)
    shown.advance(size)
    return Read(model, report)


def architecture(
    path: str, arguments: argparse.Namespace, custom_objects: Mapping[str, Any] | None = None, as_yaml: bool = False
) -> Any:
    """The model, with fresh weights, of a file of JSON or YAML. Raises the errors of model files."""
    with faults_of(path), safe(path, arguments, "text") as copy:
        try:
            text = copy.read_text("utf-8")
        except UnicodeDecodeError as error:
            raise UnreadableFileError(f"{path}: it is not UTF-8 ({error}).") from error
        if not as_yaml:
            json_text.parse(text, path)
        try:
            model = (model_from_yaml if as_yaml else model_from_json)(text, custom_objects, arguments.lambdas)
        except ValueError as error:
            raise ArchitectureError(f"{path}: {error}") from error
    return model.eval()


# --- changing --------------------------------------------------------------------------------------------------------


def _changed(model: Any, arguments: argparse.Namespace, made: Format, whole: bool) -> tuple[Any, str | None]:
    """The model to be written, and why its optimizer is left out, if it is."""
    compiled, reason = getattr(model, "optimizer", None) is not None, None
    if compiled and not whole:
        reason = "OUT holds weights alone"
    if arguments.data_format:
        model = convert_data_format(model, arguments.data_format)
        reason = "its state is in the other data format" if compiled else reason
    if arguments.dtype:
        _check_range(model, arguments.dtype)
        model = model.to(getattr(torch, arguments.dtype))
    return model, reason


def _check_range(model: Any, dtype: str) -> None:
    """Raise CommandError if finite values would become infinite."""
    for variable in model.weights:
        values = variable.value.detach()
        if values.is_floating_point():
            lost = int((values.isfinite() & ~values.to(getattr(torch, dtype)).isfinite()).sum())
            if lost:
                raise CommandError(f"{variable.full_name}: {lost} of its values are beyond what {dtype} holds.", ASKED)


# --- writing and comparing -------------------------------------------------------------------------------------------


@contextmanager
def _beside(part: Path, name: str) -> Iterator[Path]:
    """The path of a file called `name` in a temporary folder next to `part`."""
    with tempfile.TemporaryDirectory(prefix=".torchkeras-", dir=part.parent) as folder:
        yield Path(folder) / name


def _write(model: Any, path: Path, whole: bool, dtype: str | None) -> None:
    """Raises ValueError for a `.keras` file that Keras 3 would refuse: `save` writes one, for this package alone."""
    if whole and suffix_of(path, BY_SUFFIX) == ".keras":
        unread = keras3_form(model)[1]
        if unread:
            raise ValueError(" ".join(unread))
    if whole:
        with stored_alone() if dtype else nullcontext():  # layers compute as before
            model.save(path)
    else:
        model.save_weights(path)


def _read_back(model: Any, path: Path, whole: bool) -> Any:
    if whole:
        return load_model(path, compile=False)
    fresh = clone_model(model)
    fresh.load_weights(path)
    return fresh


def _compare(model: Any, again: Any, out: Path, shown: Progress) -> None:
    """Raise CommandError unless every weight has the same value in both models, bit by bit except for its type."""
    pairs = list(zip_longest(model.weights, again.weights))
    for wanted, found in pairs:
        if wanted is None or found is None or wanted.full_name != found.full_name or wanted.shape != found.shape:
            raise CommandError(f"{out}: read back, it has {_named(found)} in the place of {_named(wanted)}.", FOUND)
        values, again_values = wanted.numpy(), found.numpy()
        if not np.array_equal(values, again_values, equal_nan=values.dtype.kind == "f"):
            raise CommandError(f"{out}: read back, {wanted.full_name} has other values.", FOUND)
        shown.advance(values.nbytes)


def _named(variable: Any) -> str:
    return "nothing" if variable is None else f"{variable.full_name} {variable.shape}"


# --- what is printed -------------------------------------------------------------------------------------------------


def _about(
    arguments: argparse.Namespace, read: Read, model: Any, made: Format, whole: bool, left_out: str | None
) -> dict[str, Any]:
    weights = model.weights
    compiled = read.model.optimizer is not None
    return {
        "file": arguments.file,
        "out": arguments.out,
        "format": made.title,
        "whole_model": whole,
        "data_format": arguments.data_format,
        "dtype": arguments.dtype,
        "weights": len(weights),
        "parameters": sum(prod(variable.shape) for variable in weights),
        "bytes": Path(arguments.out).stat().st_size,
        "converted": [row for row in read.report.rows if row.conversions],
        "optimizer": _optimizer_kept(compiled, left_out),
        "equal_when_read_back": True,
    }


def _optimizer_kept(compiled: Any, left_out: Any) -> str:
    if not compiled:
        return "none"
    return "kept" if left_out is None else f"left out: {left_out}"


def _lines(about: Mapping[str, Any]) -> Iterator[str]:
    yield f"{about['file']} -> {about['out']}: {about['format']}" + ("" if about["whole_model"] else ", weights alone")
    yield (
        f"  {counted(about['weights'], 'weight')}, {counted(about['parameters'], 'parameter')}, "
        f"{counted(about['bytes'], 'byte')}; equal when read back"
    )
    for key, title in (("data_format", "data format"), ("dtype", "stored as")):
        if about[key]:
            yield f"  {title}: {about[key]}"
    if about["optimizer"] != "none":
        yield f"  optimizer: {about['optimizer']}"
    for row in about["converted"]:
        yield f"  {row}"
