"""Lambdas in configs, files and pickles as Keras 2 had them: as bytecode, which its process takes for the function.

A script that saves a model and loads it again has its own functions back. Another process reads the bytecode as a
formula, or refuses it, as that of any file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from reprlib import repr as shortened
from types import FunctionType
from typing import Any

from torchkeras.base import bytecode, extensions
from torchkeras.errors import ArchitectureError
from torchkeras.keras2.old_functions import PLAIN, different, original, variables_of, with_variables_of_now
from torchkeras.keras2.old_values import taking_values
from torchkeras.keras2.utils.function_dump import func_dump
from torchkeras.layers.functions import Lambda

OPTIONS = {"function": "function", "output_shape": "told_shape", "mask": "mask"}
_get_config, _get_state, _set_state = Lambda.get_config, Lambda.__getstate__, Lambda.__setstate__


def extend() -> None:
    """Let the configs and pickles of Lambdas have functions as bytecode."""
    extensions.extend(Lambda, get_config=_with_bytecode, forward=taking_values(Lambda.forward))
    extensions.extend(Lambda, __getstate__=_state, __setstate__=_restore)


@dataclass
class Written:
    """The functions that this process has written as one bytecode. They differ in their globals alone."""

    functions: list[FunctionType] = field(default_factory=list)

    def add(self, function: FunctionType) -> None:
        """Add a function, in place of one with the same globals."""
        self.functions = [each for each in self.functions if any(different(each, function))] + [function]

    def __call__(self, given: Mapping[str, Any]) -> FunctionType:
        """The function with the values that `given` (custom objects) has for its globals, as in Keras.

        Raises ArchitectureError for a global that had several values, where `given` has none.
        """
        function = self.functions[-1]
        for other in self.functions[:-1]:
            for name, *values in different(other, function):
                if name not in given:
                    raise ArchitectureError(
                        f"a function {function.__name__} uses the global {name}, which was {shortened(values[0])} and "
                        f"{shortened(values[1])} in functions that were saved; a file has none of them: pass the "
                        f"value, custom_objects={{{name!r}: value}}."
                    )
        globals_ = {name: given[name] for name in function.__globals__ if name in given}
        is_new = any(function.__globals__[name] is not value for name, value in globals_.items())
        return with_variables_of_now(function, globals_) if is_new else function


@dataclass(frozen=True)
class Stored:
    """A function in the state of a layer that is copied or pickled: itself in a copy; in a pickle, what gives it again.

    `again`: the function of a module that returns a function, and its arguments.
    """

    function: FunctionType
    again: tuple[Callable[..., FunctionType], tuple[Any, ...]]

    def __deepcopy__(self, memo: dict[int, Any]) -> Stored:
        return self

    def __reduce__(self) -> Any:
        return _unpickled, self.again


def _unpickled(make: Callable[..., FunctionType], given: tuple[Any, ...]) -> Stored:
    return Stored(make(*given), (make, given))


def from_bytecode(option: str, config: Mapping[str, Any], variables: Mapping[str, Any]) -> Any:
    """The function of this process that has this bytecode, else a formula. Raises ForbiddenContentError."""
    known = bytecode.WRITTEN.get(str(bytecode.key_of(config[option])))
    return bytecode.formula("Lambda", option, config, variables) if known is None else known(variables)


def _state(layer: Any) -> dict[str, Any]:
    state, config = _get_state(layer), _with_bytecode(layer)
    for option, attribute in OPTIONS.items():
        function = state.get(attribute)
        if not isinstance(function, FunctionType):
            continue
        variables = {name: value for name, value in variables_of(function).items() if isinstance(value, PLAIN)}
        if "<" not in function.__qualname__:  # pickle finds it by its name
            state[attribute] = Stored(function, (with_variables_of_now, (original(function), variables)))
        elif config.get(f"{option}_type") == "lambda":
            state[attribute] = Stored(function, (from_bytecode, (option, config, variables)))
    return state


def _restore(layer: Any, state: Mapping[str, Any]) -> None:
    found = {name: each.function if isinstance(each, Stored) else each for name, each in state.items()}
    if bytecode.is_formula(found.get("function")):  # which has the arguments inside it
        found["arguments"] = None
    _set_state(layer, found)


def _known(function: FunctionType) -> list[Any] | None:
    """A function as bytecode, from which this process finds it again; None where what it closes over is not plain."""
    dump = list(func_dump(function))
    key = bytecode.key_of(dump)
    if key is None:
        return None
    bytecode.WRITTEN.setdefault(key, Written()).add(function)
    return dump


def _with_bytecode(layer: Any) -> dict[str, Any]:
    config = _get_config(layer)
    for option, attribute in OPTIONS.items():
        function = getattr(layer, attribute)
        dump = _known(function) if isinstance(function, FunctionType) else None
        if dump is not None:  # else it goes by its name
            config |= {option: dump, f"{option}_type": "lambda"}
    return config
