"""What commands print: text or JSON on stdout, errors on stderr or as JSON, a progress bar on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from typing import Any

from tqdm import tqdm

from torchkeras.commands.exits import code_of, kind_of

LARGE = 64 << 20  # bytes of a file from which a bar is shown


def plain(value: Any) -> Any:
    """A value for JSON; numbers that are not finite become their names."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def show(lines: Iterable[str], as_json: bool, value: Any) -> None:
    """Print a command's result."""
    print(json.dumps(plain(value), indent=1) if as_json else "\n".join(map(printable, lines)))


def show_error(error: BaseException, as_json: bool) -> int:
    """Print an error; returns its exit code."""
    if as_json:
        print(json.dumps({"error": {"kind": kind_of(error), "message": str(error), "exit": code_of(error)}}, indent=1))
    else:
        print(printable(f"torchkeras: {kind_of(error)}: {error}"), file=sys.stderr)
    return code_of(error)


def printable(line: str) -> str:
    """A line without control characters: names in a file may hold any character."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)


def counted(number: int, noun: str) -> str:
    """`1 weight`, `1,024 weights`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class Progress:
    """The progress of a command: counts bytes and says what is being done. Does nothing if no bar is shown."""

    def __init__(self, bar: Any = None):
        self._bar = bar

    def doing(self, what: str) -> None:
        """Say what is being done now."""
        if self._bar is not None:
            self._bar.set_description_str(what)

    def advance(self, size: int) -> None:
        """Count finished bytes."""
        if self._bar is not None:
            self._bar.update(size)


@contextmanager
def progress(size: int, passes: int, asked: bool | None) -> Iterator[Progress]:
    """A bar for a file of `size` bytes that is read several times.

    `asked`: True shows it, False does not; None shows it for large files if stderr is a terminal.
    """
    if not (sys.stderr.isatty() and size >= LARGE if asked is None else asked):
        yield Progress()
        return
    with tqdm(total=size * passes, unit="B", unit_scale=True, file=sys.stderr, leave=False) as bar:
        yield Progress(bar)
