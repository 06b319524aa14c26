"""Lambdas in configs and files as Keras 2 had them: as bytecode, which the same process takes for the function it is.

A script that saves a model and loads it again has its own functions back. Another process reads the bytecode as a
formula, or refuses it, as that of any file.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from torchkeras import bytecode
from torchkeras.keras2.utils.function_dump import func_dump
from torchkeras.layers.functions import Lambda

OPTIONS = {"function": "function", "output_shape": "told_shape"}
_get_config = Lambda.get_config


def extend() -> None:
    """Let the configs of Lambdas have functions as bytecode."""
    Lambda.get_config = _with_bytecode


def _with_bytecode(layer: Any) -> dict[str, Any]:
    config = _get_config(layer)
    for option, field in OPTIONS.items():
        function = getattr(layer, field)
        if not isinstance(function, FunctionType):
            continue
        dump = list(func_dump(function))
        key = bytecode.key_of(dump)
        if key is not None:  # what it closes over is plain; else it goes by its name
            bytecode.WRITTEN[key] = function
            config |= {option: dump, f"{option}_type": "lambda"}
    return config
