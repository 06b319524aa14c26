"""Whether a symbolic tensor or a layer depends on the learning phase: `_uses_learning_phase`, `uses_learning_phase`."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.symbolic import KerasTensor, Node, node_of
from torchkeras.layers import BatchNormalization

RATES = (
    "rate",
    "dropout",
    "recurrent_dropout",
    "stddev",
    "maxval",
)  # a layer that knows the phase acts if one is not 0
_told: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def of_tensor(tensor: Any) -> bool:
    """Whether some call on the way to a symbolic tensor does in training what it does not do otherwise."""
    pending, seen = [tensor], set()
    while pending:
        each = pending.pop()
        if _told.get(each):
            return True
        node = node_of(each)
        if node in seen:
            continue
        seen.add(node)
        if node.input_tensors and _of_call(node):
            return True
        pending += node.input_tensors
    return False


def _of_call(node: Node) -> bool:
    return node.arguments.get("training") is None and of_layer(node.layer)


def of_layer(layer: Any) -> bool:
    """Whether a layer does in training what it does not do otherwise; a script may have said so of its own."""
    if layer in _told:
        return _told[layer]
    if isinstance(layer, Network) and layer._is_connected:
        return any(map(of_tensor, layer.outputs))
    inside = [each for each in layer.modules() if isinstance(each, Layer)]
    return any(map(_acts, inside))


def _acts(layer: Any) -> bool:
    if layer._is_users:
        return "training" in layer._call_parameters
    if isinstance(layer, BatchNormalization):
        return layer.mode == 0
    return "training" in layer._call_parameters and any(getattr(layer, name, 0) for name in RATES)


def extend() -> None:
    """Add both names; scripts may set them."""
    KerasTensor._uses_learning_phase = property(of_tensor, _told.__setitem__)  # type: ignore[attr-defined]
    Layer.uses_learning_phase = property(of_layer, _told.__setitem__)  # type: ignore[attr-defined]
