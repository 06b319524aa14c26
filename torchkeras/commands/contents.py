"""What stands in a file of weights or of a model: layers, arrays, versions, as far as they can be told.

Nothing here fails for what is missing or contradictory; it becomes a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

Pieces = Callable[[], Iterator[np.ndarray]]


@dataclass(frozen=True)
class Finding:
    """Something suspicious: its kind (a word of `findings.KINDS`), where it is, and what."""

    kind: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.text}" if self.where else f"{self.kind}: {self.text}"


@dataclass(frozen=True)
class Array:
    """An array of a file; `pieces` reads its values, some rows at a time."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    size: int
    pieces: Pieces = field(repr=False, compare=False)

    @property
    def parameters(self) -> int:
        """The number of its values."""
        return prod(self.shape)

    def about(self) -> dict[str, Any]:
        """The array as plain data."""
        return {"path": self.path, "shape": self.shape, "dtype": self.dtype, "parameters": self.parameters}


@dataclass(frozen=True)
class Stored:
    """A layer of a file with its arrays; `class_name` is None where the file does not tell it."""

    name: str
    class_name: str | None
    arrays: tuple[Array, ...] = ()

    @property
    def parameters(self) -> int:
        """The number of values of all its arrays."""
        return sum(array.parameters for array in self.arrays)

    def about(self) -> dict[str, Any]:
        """The layer as plain data."""
        return {
            "name": self.name,
            "class_name": self.class_name,
            "parameters": self.parameters,
            "weights": [array.about() for array in self.arrays],
        }


@dataclass
class Contents:
    """All that was found."""

    layout: str
    whole: bool = False  # with an architecture
    keras_version: str | None = None
    backend: str | None = None
    data_format: str | None = None
    config: Any = None
    training: Any = None
    layers: list[Stored] = field(default_factory=list)
    state: list[Array] = field(default_factory=list)  # the optimizer's
    findings: list[Finding] = field(default_factory=list)

    def find(self, kind: str, where: str, text: str) -> None:
        """Note something suspicious."""
        self.findings.append(Finding(kind, where, text))

    @property
    def arrays(self) -> list[Array]:
        """The arrays of all layers."""
        return [array for layer in self.layers for array in layer.arrays]


def entries(config: Any) -> Iterator[Mapping[str, Any]]:
    """All that a config keeps as a class with options, outermost first."""
    pending = [config]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            if isinstance(value.get("class_name"), str) and isinstance(value.get("config"), (Mapping, list)):
                yield value
            pending += reversed(list(value.values()))
        elif isinstance(value, list):
            pending += reversed(value)


def classes(config: Any) -> dict[str, str]:
    """The class of each layer that a config names."""
    found: dict[str, str] = {}
    for entry in entries(config):
        options = entry["config"]
        name = entry.get("name") or (options.get("name") if isinstance(options, Mapping) else None)
        if isinstance(name, str):
            found.setdefault(name, entry["class_name"])
    return found
