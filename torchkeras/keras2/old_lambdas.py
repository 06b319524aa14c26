"""Lambdas in configs, files and pickles as Keras 2 had them: as bytecode, which its process takes for the function.

A script that saves a model and loads it again has its own functions back. Another process reads the bytecode as a
formula, or refuses it, as that of any file.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import Any

from torchkeras import bytecode
from torchkeras.keras2.old_values import taking_values
from torchkeras.keras2.utils.function_dump import func_dump
from torchkeras.layers.functions import Lambda

OPTIONS = {"function": "function", "output_shape": "told_shape", "mask": "mask"}
_get_config, _get_state = Lambda.get_config, Lambda.__getstate__


def extend() -> None:
    """Let the configs and pickles of Lambdas have functions as bytecode."""
    Lambda.get_config, Lambda.__getstate__ = _with_bytecode, _pickled  # type: ignore[method-assign]
    Lambda.forward = taking_values(Lambda.forward)  # type: ignore[method-assign]


@dataclass(frozen=True)
class Pickled:
    """A function that pickle does not take, on its way into a pickle."""

    option: str
    dump: list[Any]
    layer_name: str

    def __reduce__(self) -> Any:
        return unpickled, (self.option, self.dump, self.layer_name)


def unpickled(option: str, dump: list[Any], layer_name: str) -> Any:
    """The function of this process that has this bytecode, else a formula. Raises ForbiddenContentError."""
    known = bytecode.WRITTEN.get(str(bytecode.key_of(dump)))
    config = {option: dump, f"{option}_type": "lambda", "name": layer_name}
    return bytecode.formula("Lambda", option, config, {}) if known is None else known


def _pickled(layer: Any) -> dict[str, Any]:
    state = _get_state(layer)
    for option, field in OPTIONS.items():
        function = state.get(field)
        if isinstance(function, FunctionType) and "<" in function.__qualname__ and not layer.arguments:
            dump = _known(function)
            state[field] = function if dump is None else Pickled(option, dump, layer.name)
    return state


def _known(function: FunctionType) -> list[Any] | None:
    """A function as bytecode, from which this process finds it again; None where what it closes over is not plain."""
    dump = list(func_dump(function))
    key = bytecode.key_of(dump)
    if key is None:
        return None
    bytecode.WRITTEN[key] = function
    return dump


def _with_bytecode(layer: Any) -> dict[str, Any]:
    config = _get_config(layer)
    for option, field in OPTIONS.items():
        function = getattr(layer, field)
        dump = _known(function) if isinstance(function, FunctionType) else None
        if dump is not None:  # else it goes by its name
            config |= {option: dump, f"{option}_type": "lambda"}
    return config
