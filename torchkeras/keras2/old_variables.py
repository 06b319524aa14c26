"""What scripts compute from weights outside of layers, and use in the graph: `K.dot(x, K.transpose(layer.kernel))`.

Functions of the backend give expressions, which are computed again at each use (`engine/layer/expressions.py`). For
scripts operators on weights give these too: `layer.kernel * 2`, `layer.kernel[0]`.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from torchkeras import backend as K
from torchkeras.backend import assignments
from torchkeras.engine.layer.expressions import expression_of
from torchkeras.engine.layer.users_code import CODE
from torchkeras.engine.layer.weight import Weight
from torchkeras.keras2.old_values import giving_values

_get = Weight.__get__


def get(self: Any, layer: Any, owner: type) -> Any:
    """A weight of a layer; outside of a layer's code an expression, which what is computed from it is too."""
    found = _get(self, layer, owner)
    if not isinstance(found, Tensor) or CODE.owner is not None or assignments.waits():
        return found
    expression = expression_of(found)
    return found if expression is None else expression


def extend() -> None:
    """Let weights and functions of the backend give what scripts take."""
    for name in K.__all__:
        function = getattr(K, name)
        if hasattr(function, "__wrapped__"):
            setattr(K, name, giving_values(function))
    K.constant = giving_values(K.constant)  # type: ignore[assignment]
    Weight.__get__ = get  # type: ignore[method-assign]
