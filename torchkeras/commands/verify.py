"""`torchkeras verify FILE --against io.npz`: compare a model's outputs with a record."""

from __future__ import annotations

import argparse
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from torchkeras.commands import trace
from torchkeras.commands.exits import ASKED, FOUND, WELL, CommandError, faults_of
from torchkeras.commands.files import safe
from torchkeras.commands.output import show
from torchkeras.commands.whole_model import whole_model
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.errors import UnreadableFileError

BATCH = 32
KEYS = re.compile(r"x\d+$|(second_)?y\d+$|layer:")
DAMAGE = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)


@dataclass(frozen=True)
class Tolerance:
    """Values are equal if `|found - expected| <= absolute + relative * |expected|`."""

    absolute: float
    relative: float


@dataclass(frozen=True)
class Compared:
    """The result of comparing an array with the record's."""

    name: str
    equal: bool
    shape: tuple[int, ...]
    expected_shape: tuple[int, ...]
    largest_error: float | None = None
    at: tuple[int, ...] = ()
    found: float | None = None
    expected: float | None = None
    outside: float = 0.0
    not_finite: int = 0

    def __str__(self) -> str:
        if self.shape != self.expected_shape:
            return f"{self.name}: shape {self.shape}, expected {self.expected_shape}"
        error = "no values" if self.largest_error is None else f"largest error {self.largest_error:.3g}"
        text = f"{self.name} {self.shape}: {'equal' if self.equal else 'differs'}, {error}"
        if not self.equal:
            text += (
                f" at {list(self.at)} ({self.found:.6g}, expected {self.expected:.6g}), {self.outside:.2%} of the "
                "values outside the tolerance"
            )
        return text + (f", {self.not_finite} not finite" if self.not_finite else "")


def compare(name: str, found: np.ndarray, expected: np.ndarray, tolerance: Tolerance) -> Compared:
    """Compare two arrays. NaN is equal to NaN, and an infinity to itself."""
    if found.shape != expected.shape:
        return Compared(name, False, found.shape, expected.shape)
    if not found.size:
        return Compared(name, True, found.shape, expected.shape)
    ours, theirs = found.astype(np.float64), expected.astype(np.float64)
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(ours - theirs))
        inside = same | (error <= tolerance.absolute + tolerance.relative * np.abs(theirs))
    inside &= same | (np.isfinite(ours) & np.isfinite(theirs))
    ranked = np.where(np.isnan(error), np.inf, error)
    # The largest difference among the values out of tolerance: a large number may differ by more and be right.
    at = np.unravel_index(int(np.argmax(np.where(inside, -1.0, ranked) if not inside.all() else ranked)), found.shape)
    place = tuple(int(index) for index in at)
    return Compared(
        name,
        bool(inside.all()),
        found.shape,
        expected.shape,
        float(ranked.max()),
        place,
        float(ours[place]),
        float(theirs[place]),
        float(np.mean(~inside)),
        int(np.count_nonzero(~np.isfinite(ours))),
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare; returns FOUND if an output differs. Raises CommandError and the errors of reading the files."""
    path, tolerance = arguments.file, Tolerance(arguments.atol, arguments.rtol)
    record = _record(arguments)
    with whole_model(arguments, "computing") as model:
        outputs, layers, first_not_finite = _results(model, record, arguments.against, tolerance)
    equal = all(found.equal for found in outputs)
    first = next((found for found in layers if not found.equal), None)
    about = {
        "file": path,
        "against": arguments.against,
        "equal": equal,
        "outputs": outputs,
        "layers": layers,
        "first_difference": first,
        "first_not_finite": first_not_finite,
    }
    show(_lines(about), arguments.json, about)
    return WELL if equal and first is None else FOUND


def _record(arguments: argparse.Namespace) -> dict[str, np.ndarray]:
    path = arguments.against
    with faults_of(path), safe(path, arguments, "arrays") as copy, copy.open("rb") as file:
        try:
            found = np.load(file, allow_pickle=False)
            if not isinstance(found, NpzFile):
                raise UnreadableFileError(f"{path}: it must be an .npz file.")
            arrays = {name: found[name] for name in found.files if KEYS.match(name)}
        except UnreadableFileError:
            raise
        except DAMAGE as error:
            raise UnreadableFileError(f"{path}: not a readable .npz file ({error}).") from error
    for name in ("x0", "y0"):
        if name not in arrays:
            raise CommandError(f"{path}: there is no {name!r} in it; found {', '.join(arrays) or 'nothing'}.")
    wrong = [name for name, array in arrays.items() if array.dtype.kind not in "fiub"]
    if wrong:
        raise UnreadableFileError(f"{path}: {wrong[0]!r} holds {arrays[wrong[0]].dtype}, not numbers.")
    return arrays


def _numbered(record: Mapping[str, np.ndarray], letter: str) -> list[np.ndarray]:
    found = []
    while f"{letter}{len(found)}" in record:
        found.append(record[f"{letter}{len(found)}"])
    return found


def _results(
    model: Any, record: Mapping[str, np.ndarray], against: str, tolerance: Tolerance
) -> tuple[list[Compared], list[Compared], str | None]:
    """The compared outputs; the compared layers of the record; the first layer whose output is not finite."""
    inputs = _numbered(record, "x")
    _check_numbers(model, inputs, _numbered(record, "y"), against)
    size = model.inputs[0].shape[0] or BATCH
    given = inputs if len(inputs) > 1 else inputs[0]
    outputs: list[Compared] = []
    finite = True
    for prefix in ("", "second_"):  # a stateful model continues from its first call
        expected = _numbered(record, f"{prefix}y")
        for index, found in enumerate(as_list(model.predict(given, batch_size=size))) if expected else ():
            outputs.append(compare(f"{prefix}y{index}", found, expected[index], tolerance))
            finite = finite and bool(np.isfinite(found).all())
    layers = trace.by_layer(model, given, size, record, partial(compare, tolerance=tolerance))
    return outputs, layers, None if finite else trace.first_not_finite(model, given, size)


def _check_numbers(model: Any, inputs: list[np.ndarray], outputs: list[np.ndarray], against: str) -> None:
    for what, given, wanted in (("inputs", inputs, model.inputs), ("outputs", outputs, model.outputs)):
        if len(given) != len(wanted):
            raise CommandError(f"{against}: it has {len(given)} {what}; the model has {len(wanted)}.", ASKED)


def _lines(about: Mapping[str, Any]) -> Iterator[str]:
    yield f"{about['file']} against {about['against']}: {'equal' if about['equal'] else 'differs'}"
    for found in about["outputs"]:
        yield f"  {found}"
    if about["layers"]:
        yield f"layers in the record: {len(about['layers'])}"
        yield f"  the first that differs: {about['first_difference'] or 'none'}"
    if about["first_not_finite"]:
        yield f"  the first layer whose output is not finite: {about['first_not_finite']}"
