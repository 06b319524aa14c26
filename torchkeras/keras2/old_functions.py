"""Functions that scripts give to layers keep the variables of their layer's first call, as in the graphs of Keras 2.

Keras 2 called a function once, when its layer was called: `[Lambda(lambda x: x[:, i])(inputs) for i in range(3)]` are
three slices. Here a function runs at each pass, when `i` is 2 for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import update_wrapper, wraps
from reprlib import repr as shortened
from types import CellType, FunctionType, ModuleType
from typing import Any

from torchkeras.base import extensions
from torchkeras.base.python import EMPTY, loads, used_by
from torchkeras.engine.layer.changed_options import keep_option
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import options_of

WRITES_GLOBAL, WRITES_CLOSURE = ("STORE_GLOBAL", "DELETE_GLOBAL"), ("STORE_DEREF", "DELETE_DEREF")
PLAIN = (bool, int, float, str, tuple, type(None))
_build = Layer.build


def extend() -> None:
    """Let layers keep their functions as they are when their weights are made."""
    extensions.extend(Layer, build=build)


@wraps(_build)
def build(layer: Any, input_shape: Any) -> None:
    """`Layer.build`, whose functions have the variables of now from here on."""
    for option, function in _functions(layer):
        keep_option(layer, option.field, with_variables_of_now(function))
    _build(layer, input_shape)


def variables_of(function: FunctionType) -> dict[str, Any]:
    """What a function uses from around it, but modules, by name."""
    return {name: value for name, value in used_by(function).items() if not isinstance(value, ModuleType)}


def with_variables_of_now(function: FunctionType, given: Mapping[str, Any] | None = None) -> FunctionType:
    """A copy of a function whose closure and globals nothing changes; itself, where it uses none or sets some.

    `given`: values for globals in place of those of now.
    """
    variables, code = variables_of(function), function.__code__
    is_copy = given is None and original(function) is not function
    if is_copy or not variables or _sets_variables(function):
        return function
    everything = {**function.__globals__, **(given or {})}
    used = {name: everything[name] for _, name in loads(code) if isinstance(name, str) and name in everything}
    cells = tuple(each if each == EMPTY else CellType(each.cell_contents) for each in function.__closure__ or ())
    builtins = {"__builtins__": everything["__builtins__"]}
    made = FunctionType(code, {**builtins, **used}, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(made, original(function))
    return made


def _sets_variables(function: FunctionType) -> bool:
    closure = function.__code__.co_freevars
    steps = loads(function.__code__)
    return any(kind in WRITES_GLOBAL or (kind in WRITES_CLOSURE and name in closure) for kind, name in steps)


def original(function: FunctionType) -> FunctionType:
    """The function that `with_variables_of_now` has copied; itself, where it has not."""
    found = getattr(function, "__wrapped__", None)
    return found if isinstance(found, FunctionType) and found.__code__ is function.__code__ else function


def different(one: FunctionType, other: FunctionType) -> Iterator[tuple[str, Any, Any]]:
    """The variables that have other values in the second of two functions of one code, with both values."""
    here, there = variables_of(one), variables_of(other)
    for name, value in here.items():
        if name in there and not _same(value, there[name]):
            yield name, value, there[name]


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and isinstance(one, PLAIN) and one == other)


def check_variables(layer: Any) -> None:
    """Raise ValueError where a function of a built layer would compute something else now: it keeps the first."""
    for option, function in _functions(layer):
        for name, then, now in different(function, original(function)):
            raise ValueError(
                f"{type(layer).__name__} {layer.name!r}: its {option.name} uses {name}, which was {shortened(then)} "
                f"when the layer was first called, and is {shortened(now)} now. A layer keeps the first value: make a "
                "layer for each value."
            )


def _functions(layer: Any) -> list[tuple[Any, FunctionType]]:
    """The options of a layer that are functions, and these."""
    found = [(option, vars(layer).get(option.field)) for option in options_of(layer).values()]
    return [(option, value) for option, value in found if isinstance(value, FunctionType)]
