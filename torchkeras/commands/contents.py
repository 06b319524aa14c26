"""The contents of a file of weights or of a model: layers, arrays, versions, as far as they can be found out.

Missing or contradictory parts are no errors here: they become findings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

Pieces = Callable[[], Iterator[np.ndarray]]


@dataclass(frozen=True)
class Finding:
    """Something suspicious: its kind (a word of `findings.KINDS`), its place, and a text."""

    kind: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.text}" if self.where else f"{self.kind}: {self.text}"


@dataclass(frozen=True)
class Array:
    """An array of a file; `pieces` reads its values some rows at a time."""

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
class StoredLayer:
    """A layer of a file with its arrays; `class_name` is None if the file does not have it.

    `own_name`: the name of the layer, if `name` is another thing and the file has both.
    """

    name: str
    class_name: str | None
    arrays: tuple[Array, ...] = ()
    own_name: str = ""

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
    """All contents of a file."""

    layout: str
    whole: bool = False  # whether it has an architecture
    keras_version: str | None = None
    least_version: str = ""  # of the Keras that wrote it, by its form, if it does not tell the version
    backend: str | None = None
    data_format: str | None = None
    config: Any = None
    training: Any = None
    layers: list[StoredLayer] = field(default_factory=list)
    state: list[Array] = field(default_factory=list)  # of the optimizer
    formulas: dict[str, str] = field(default_factory=dict)  # the functions of Lambdas, by place
    findings: list[Finding] = field(default_factory=list)

    def find(self, kind: str, where: str, text: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(kind, where, text))

    @property
    def arrays(self) -> list[Array]:
        """The arrays of all layers."""
        return [array for layer in self.layers for array in layer.arrays]


def entries(config: Any, but: Collection[str] = ()) -> Iterator[Mapping[str, Any]]:
    """Every entry of a config with a class and options, outermost first; none of what is under the keys in `but`."""
    pending = [config]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            if isinstance(value.get("class_name"), str) and isinstance(value.get("config"), (Mapping, list)):
                yield value
            pending += reversed([item for key, item in value.items() if key not in but])
        elif isinstance(value, list):
            pending += reversed(value)


def classes(config: Any) -> dict[str, str]:
    """The class of each layer in a config, by name."""
    found: dict[str, str] = {}
    for entry in entries(config):
        options = entry["config"]
        name = entry.get("name") or (options.get("name") if isinstance(options, Mapping) else None)
        if isinstance(name, str):
            found.setdefault(name, entry["class_name"])
    return found
