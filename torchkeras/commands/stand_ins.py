"""What stands for a user's own class or function while the doctor tries to load a file that needs it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torchkeras.commands.contents import Array, Contents, entries
from torchkeras.engine.layer.layer import Layer

QUOTED = r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"  # as `repr` writes a text
UNKNOWN = re.compile(rf"Unknown ([a-z ]+): {QUOTED}")  # in the errors of `registry`
WANTED = re.compile(rf"custom_objects=\{{{QUOTED}: (class|function|module)\}}")  # in all others
NAME = re.compile(r"([A-Za-z_]\w*)(:0)?$")  # of a weight, at the end of its array's path
OF_USER = "stand_ins"  # a module that is not the package's: its layers are a user's, and not known by their names
OF_LAYERS = ("name", "trainable", "dtype", "batch_input_shape", "input_shape")


@dataclass(frozen=True)
class Wanted:
    """What an error asks for: the key in `custom_objects`, and what it is, such as "layer" or "function"."""

    name: str
    kind: str

    @property
    def of_training(self) -> bool:
        """Whether a model can be loaded without it, if it is not compiled."""
        return self.kind in ("loss function", "metric function", "optimizer")


def wanted(error: Exception | None) -> Wanted | None:
    """The object of the user's that an error asks for; None if it asks for none."""
    text = str(error)
    unknown, others = UNKNOWN.search(text), WANTED.findall(text)
    try:
        if others:  # the last one: before it may be why a function could not be read
            quoted, kind = others[-1]
            return Wanted(ast.literal_eval(quoted), "layer" if kind == "class" else kind)
        if unknown is not None:
            return Wanted(ast.literal_eval(unknown[2]).rpartition(">")[2], unknown[1])
    except (SyntaxError, ValueError):  # not what `repr` wrote: a name in the file that looks like an error
        pass
    return None


def described(asked: Wanted, contents: Contents | None) -> str:
    """What the user's object has to be, in a line: for a layer, its options and weights in the file."""
    known = [] if contents is None or asked.kind != "layer" else list(entries(contents.config))
    for entry in known:
        if entry["class_name"].rpartition(">")[2] == asked.name and isinstance(entry["config"], Mapping):
            name = entry["config"].get("name")
            options = {key: value for key, value in entry["config"].items() if key not in OF_LAYERS}
            shapes = [array.shape for array in _arrays(contents).get(str(name), ())]
            return (
                f"your own layer; in the file {name!r} has options {options!r:.300}, weights of shapes {shapes!r:.300}"
            )
    return f"your own {asked.kind}"


def _arrays(contents: Contents | None) -> dict[str, tuple[Array, ...]]:
    """The arrays of each layer of a file, by its name."""
    layers = [] if contents is None else contents.layers
    return {layer.own_name or layer.name: layer.arrays for layer in layers}


def stand_in(asked: Wanted, contents: Contents | None) -> Any:
    """An object that does nothing, in the place of the user's; None where no other thing can stand for it."""
    if asked.kind in ("module", "optimizer"):
        return None
    if asked.kind == "layer":
        return type(asked.name, (_layer(contents),), {"__module__": OF_USER})
    return _first if asked.kind == "function" else _Object


def _layer(contents: Contents | None) -> type[Layer]:
    """A layer that returns its input, with the weights that the file has for it."""
    stored = _arrays(contents)

    class StandIn(Layer):
        __module__ = OF_USER

        def __init__(self, **options: Any):
            super().__init__(**{name: options[name] for name in OF_LAYERS if name in options})

        def build(self, input_shape: Any) -> None:
            for number, array in enumerate(stored.get(self.name, ())):
                found = NAME.search(array.path)
                self.add_weight(name=found[1] if found else f"weight_{number}", shape=array.shape)
            super().build(input_shape)

        def call(self, inputs: Any) -> Any:
            return _first(inputs)

    return StandIn


def _first(inputs: Any, *others: Any, **options: Any) -> Any:
    return inputs[0] if isinstance(inputs, (list, tuple)) else inputs


class _Object:
    """An activation, initializer, regularizer or constraint that does nothing."""

    __name__ = "stand_in"

    def __init__(self, *arguments: Any, **options: Any):
        self.options: Mapping[str, Any] = options

    __call__: Callable[..., Any] = staticmethod(_first)

    def get_config(self) -> dict[str, Any]:
        return dict(self.options)
