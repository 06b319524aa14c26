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
)

FORMULAS = (activation, attention, augmentation, images, lookup, noise, normalization, recurrent)
# What a submodule or buffer must not be called.
TAKEN = frozenset((*dir(nn.Module()), "reset_states"))
HELPER_NAMES = frozenset(  # which no class of a model may have
    name
    for module in FORMULAS
    for name, found in vars(module).items()
    if inspect.isfunction(found) or inspect.isclass(found)
)
GLOBALS = frozenset(("torch", "nn", "F", "Tensor", "math", "self", *dir(builtins)))


class Book:
    """The helpers used so far, the classes written, and how the user's own functions come in. `rules`: by layer."""

    def __init__(self, rules: Mapping[type, Callable[..., Any]]) -> None:
        self.rules = rules
        self._helpers: dict[Any, None] = {}
        self.writers: dict[Any, Any] = {}  # of the models inside, each behind those that it uses
        self.class_names: set[str] = set()
        self.masked: set[Any] = (
            set()
        )  # recurrent layers that a mask reaches somewhere, from the writing before this one
        self.masked_later: set[Any] = set()
        self.notes: dict[str, None] = {}
        self.functions: dict[str, Callable[..., Any]] = {}

    def helper(self, function: Any) -> str:
        """The name of a helper, which the module will have."""
        self._helpers[function] = None
        return function.__name__

    @property
    def helpers(self) -> list[Any]:
        """The helpers used, and what they use, in an order that runs."""
        return in_order(self._helpers)

    @property
    def reserved(self) -> set[str]:
        """What no variable may be called."""
        return {*GLOBALS, *(helper.__name__ for helper in self.helpers), *self.class_names}

    def note(self, text: str) -> None:
        """Say something in the module's docstring about what differs."""
        self.notes[text] = None

    def function_name(self, wanted: str, function: Callable[..., Any]) -> str:
        """The name of the argument by which the user gives a function of his own: the same for the same one."""
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
    """A name of Python that is as near to a name of Keras as can be."""
    cleaned = re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_") or "layer"
    return f"{cleaned}_" if keyword.iskeyword(cleaned) else cleaned if cleaned.isidentifier() else f"layer_{cleaned}"


def unused(wanted: str, used: Any) -> str:
    """The name, or it with a number that makes it new."""
    name, count = wanted, 1
    while name in used:
        count += 1
        name = f"{wanted}_{count}"
    return name
