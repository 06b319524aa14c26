"""What the classes of one written module share: helpers, names, the user's functions."""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

from torchkeras.export.plain.extraction import in_order
from torchkeras.export.plain.formulas import (
    activation,
    attention,
    augmentation,
    images,
    lookup,
    noise,
    normalization,
    recurrent,
    texts,
)

FORMULAS = (activation, attention, augmentation, images, lookup, noise, normalization, recurrent, texts)
# Names that a submodule or buffer must not have.
TAKEN = frozenset((*dir(nn.Module()), "reset_states"))
HELPER_NAMES = frozenset(  # names that no class of a model may have
    name
    for module in FORMULAS
    for name, found in vars(module).items()
    if inspect.isfunction(found) or inspect.isclass(found)
)
GLOBALS = frozenset(("torch", "nn", "F", "Tensor", "math", "self", *dir(builtins)))


class Book:
    """The helpers used so far, the classes written, and the user's own functions. `rules`: by class of layers."""

    def __init__(self, rules: Mapping[type, Callable[..., Any]]) -> None:
        self.rules = rules
        self._helpers: dict[Any, None] = {}
        self.writers: dict[Any, Any] = {}  # of the inner models, each after those that it uses
        self.class_names: set[str] = set()
        self.masked: set[Any] = set()  # recurrent layers that a mask reaches, found by the first pass
        self.masked_later: set[Any] = set()
        self.notes: dict[str, None] = {}
        self.functions: dict[str, Callable[..., Any]] = {}

    def helper(self, function: Any) -> str:
        """The name of a helper, which is added to the module."""
        self._helpers[function] = None
        return function.__name__

    @property
    def helpers(self) -> list[Any]:
        """The helpers used, and those that they use, each after what it needs."""
        return in_order(self._helpers)

    @property
    def reserved(self) -> set[str]:
        """Names that no variable may have."""
        return {*GLOBALS, *(helper.__name__ for helper in self.helpers), *self.class_names}

    def note(self, text: str) -> None:
        """Add a line about a difference to the module's docstring."""
        self.notes[text] = None

    def function_name(self, wanted: str, function: Callable[..., Any]) -> str:
        """The name of the argument for a user's function; one name for each function."""
        for name, known in self.functions.items():
            if known is function:
                return name
        name = unused(identifier(wanted), {*self.functions, *GLOBALS, *TAKEN})
        self.functions[name] = function
        return name

    def class_name(self, wanted: str) -> str:
        """A name for a class of this module: `my_model` gives `MyModel`."""
        words = [word for word in re.split(r"[^0-9A-Za-z]+", wanted) if word]
        name = "".join(word[0].upper() + word[1:] for word in words) or "Net"
        name = unused(name if name.isidentifier() else f"Net{name}", {*self.class_names, *GLOBALS, *HELPER_NAMES})
        self.class_names.add(name)
        return name


def identifier(name: str) -> str:
    """The valid Python name that is nearest to a name of Keras."""
    cleaned = re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_") or "layer"
    if keyword.iskeyword(cleaned):
        return f"{cleaned}_"
    return cleaned if cleaned.isidentifier() else f"layer_{cleaned}"


def unused(wanted: str, used: Any) -> str:
    """The name, with a number if it is taken."""
    name, count = wanted, 1
    while name in used:
        count += 1
        name = f"{wanted}_{count}"
    return name
