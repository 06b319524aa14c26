"""Initializers of Keras 1's scripts: functions of a shape and of the name of the weight."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

from torchkeras.base import extensions
from torchkeras.initializers import distributions as core

_call = core._call_initializer


def extend() -> None:
    """Let weights begin with what `lambda shape, name: ...` gives."""
    extensions.extend(core, _call_initializer=_with_name)


def _with_name(initializer: Any, *given: Any) -> Any:
    try:
        name = inspect.signature(initializer).parameters.get("name")
    except ValueError:  # a builtin without a signature
        name = None
    wants = name is not None and name.default is inspect.Parameter.empty
    return _call(partial(initializer, name=None) if wants else initializer, *given)
