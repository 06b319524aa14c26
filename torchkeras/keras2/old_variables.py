"""What scripts compute from weights outside of layers, and use in the graph: `K.dot(x, K.transpose(layer.kernel))`.

In Keras that is a part of the graph. Here a function of weights computes at once; its result remembers how it was made,
and where it meets a symbolic tensor it becomes a node that computes it again in each run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map_only

from torchkeras import backend as K
from torchkeras.backend import assignments
from torchkeras.backend.lambdas import Held, as_node
from torchkeras.engine.layer.nested import tensors_in
from torchkeras.engine.layer.symbolic import KerasTensor
from torchkeras.engine.layer.weight import Variable
from torchkeras.keras2.old_values import giving_values

MADE = "_made_of_weights"
_apply: Any = KerasTensor.apply_function


def is_of_weights(value: Any) -> bool:
    """Whether a value is a weight or was computed from one."""
    if isinstance(value, Tensor):
        return isinstance(value, nn.Parameter) or is_computed(value) or "_added_weight" in vars(value)
    return isinstance(value, Variable)


def is_computed(tensor: Tensor) -> bool:
    """Whether a tensor was computed from weights, or is one of them in Keras's order of axes."""
    return MADE in vars(tensor) or (isinstance(tensor._base, nn.Parameter) and not isinstance(tensor, nn.Parameter))


def remembering(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose result, computed from weights, remembers how; in the `call` of a layer it does not."""

    @wraps(function)
    def compute(*args: Any, **given: Any) -> Any:
        found = function(*args, **given)
        if not isinstance(found, Tensor) or found.is_meta or assignments.waits() or isinstance(found, nn.Parameter):
            return found
        if any(is_of_weights(each) for each in tree_leaves((args, given))):
            vars(found)[MADE] = (function, args, given)
        return found

    return compute


def value_now(tensor: Any) -> Any:
    """What a tensor that was computed from weights is with the values of now."""
    if not isinstance(tensor, Tensor) or MADE not in vars(tensor):
        return tensor
    function, args, given = vars(tensor)[MADE]
    args, given = tree_map_only(Tensor, value_now, (args, given))
    return function(*args, **given)


def apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`KerasTensor.apply_function`, with nodes for what was computed from weights."""
    beside = next(tensors_in((args, kwargs)), None)
    if beside is not None and any(
        is_computed(each) for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)
    ):
        args, kwargs = tree_map_only(Tensor, lambda each: _as_node(each, beside), (args, kwargs))
    return _apply(function, args, kwargs)


def _as_node(tensor: Tensor, beside: Any) -> Any:
    if not is_computed(tensor):
        return tensor
    return as_node("weights", lambda _: value_now(tensor), beside, lambda _: tuple(tensor.shape))


def extend() -> None:
    """Let the functions of the backend remember."""
    for name in K.__all__:
        function = getattr(K, name)
        if hasattr(function, "__wrapped__"):
            setattr(K, name, giving_values(remembering(function)))
    K.constant = giving_values(K.constant)  # type: ignore[assignment]
    KerasTensor.apply_function = staticmethod(apply)  # type: ignore[method-assign]
    Held.now = staticmethod(lambda form: tree_map_only(Tensor, value_now, form))  # type: ignore[method-assign]
