"""The ways to load a file: each is tried, and is Python that a user may copy."""

from __future__ import annotations

import argparse
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchkeras.commands.convert import architecture
from torchkeras.models import load_model

Options = Mapping[str, Any]
OF_TEXT = ("custom_objects", "lambdas", "compile")  # the options of an architecture; those of weights are the others


@dataclass(frozen=True)
class Whole:
    """A whole model, by `load_model`."""

    path: str

    def load(self, copy: Path, options: Options) -> tuple[Any, Any]:
        """The model, and a report of its weights."""
        return load_model(copy, report=True, **options)

    def lines(self, options: Options) -> list[str]:
        """The same as Python."""
        return ["from torchkeras.models import load_model", f"model = load_model({_arguments(self.path, options)})"]


@dataclass(frozen=True)
class Apart:
    """Weights of `path` in the model whose architecture is the text `--architecture`."""

    path: str
    arguments: argparse.Namespace

    def load(self, copy: Path, options: Options) -> tuple[Any, Any]:
        """The model, and a report of its weights."""
        model = architecture(self.arguments.architecture, self.arguments, options.get("custom_objects"))
        return model, model.load_weights(copy, report=True, **_of_weights(options))

    def lines(self, options: Options) -> list[str]:
        """The same as Python."""
        weights = f"model.load_weights({_arguments(self.path, _of_weights(options))})"
        return [*_from_text(self.arguments.architecture, options), weights]


@dataclass(frozen=True)
class Text:
    """An architecture alone, by `model_from_json` or `model_from_yaml`."""

    path: str
    arguments: argparse.Namespace
    as_yaml: bool

    def load(self, copy: Path, options: Options) -> tuple[Any, Any]:
        """The model, with fresh weights, and no report."""
        return architecture(self.path, self.arguments, options.get("custom_objects"), self.as_yaml), None

    def lines(self, options: Options) -> list[str]:
        """The same as Python."""
        return _from_text(self.path, options, "model_from_yaml" if self.as_yaml else "model_from_json")


def by_code(path: str, options: Options) -> list[str]:
    """The Python for weights alone. It cannot be tried: the model is the user's."""
    model = "model = ...  # built by your code, as it was when the weights were saved"
    return [model, f"model.load_weights({_arguments(path, _of_weights(options))})"]


def variable(name: str) -> str:
    """The name of a variable of Python for an object that a file calls `name`."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    if keyword.iskeyword(found):
        return f"{found}_"
    return found if found.isidentifier() else f"_{found}"


def _of_weights(options: Options) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in OF_TEXT}


def _from_text(path: str, options: Options, function: str = "model_from_json") -> list[str]:
    text = f"Path({path!r}).read_text('utf-8')"
    given = {name: options[name] for name in OF_TEXT[:2] if name in options}
    return [
        "from pathlib import Path",
        f"from torchkeras.models import {function}",
        f"model = {function}({text}{''.join(f', {each}' for each in _options(given))})",
    ]


def _arguments(path: str, options: Options) -> str:
    return ", ".join([repr(path), *_options(options)])


def _options(options: Options) -> list[str]:
    return [f"{name}={_value(value)}" for name, value in options.items()]


def _value(value: Any) -> str:
    """A value as Python; of custom objects each is a variable, which stands for the user's own."""
    if not isinstance(value, Mapping):
        return repr(value)
    return "{" + ", ".join(f"{name!r}: {variable(name)}" for name in value) + "}"
