"""What scripts compute from weights outside of layers, and use in the graph: `K.dot(x, K.transpose(layer.kernel))`.

Functions of the backend give expressions, which are computed again at each use (`engine/weights/expressions.py`). For
scripts operators on weights and variables give these too: `layer.kernel * 2`, `layer.kernel[0]`, `1 - K.variable(0.5)`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from torch import Tensor, nn

from torchkeras.base import extensions
from torchkeras.engine.users_code import CODE
from torchkeras.engine.weights.expressions import expression_of, recorded
from torchkeras.engine.weights.weight import Weight
from torchkeras.keras2 import backend as K
from torchkeras.keras2.backend import assignments
from torchkeras.keras2.old_values import IN_PLACE, ScriptWeight, giving_values

_get = Weight.__get__


def get(attribute: Any, layer: Any, owner: type) -> Any:
    """A weight of a layer; outside of a layer's code an expression, which what is computed from it is too."""
    found = _get(attribute, layer, owner)
    if not isinstance(found, Tensor) or CODE.owner is not None or assignments.waits():
        return found
    expression = expression_of(found)
    return found if expression is None else expression


class ScriptVariable(ScriptWeight):
    """A variable that a script makes outside of layers: what operators compute from it is an expression."""


def _recorded(name: str) -> Callable[..., Any]:
    function = getattr(Tensor, name)

    @wraps(function)
    def operate(*args: Any) -> Any:
        found = function(*args)
        return found if assignments.waits() else recorded(function, args, {}, found)

    return operate


for _name in (*(f"__{side}{name}__" for name in IN_PLACE for side in ("", "r")), "__neg__"):
    setattr(ScriptVariable, _name, _recorded(_name))


def _variable(make: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(make)
    def variable(*args: Any, **kwargs: Any) -> Any:
        made = make(*args, **kwargs)
        if CODE.owner is None and isinstance(made, nn.Parameter):
            made.__class__ = ScriptVariable
        return made

    return variable


def extend() -> None:
    """Let weights and functions of the backend give what scripts take."""
    for name in K.__all__:
        function = getattr(K, name)
        if hasattr(function, "__wrapped__"):
            setattr(K, name, giving_values(function))
    K.constant = giving_values(K.constant)  # type: ignore[assignment]
    K.variable = _variable(K.variable)  # type: ignore[assignment]
    extensions.extend(Weight, __get__=get)
