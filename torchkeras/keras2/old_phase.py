"""The learning phase of graphs: `_uses_learning_phase` of a tensor, `uses_learning_phase` of a layer, and a set phase.

A layer that is called while `K.set_learning_phase` has set a phase is in that phase for good, whatever runs the graph.
"""

from __future__ import annotations

from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from torchkeras.base import extensions
from torchkeras.base.nested import leaves
from torchkeras.engine.facts import takes
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.trace import graph_of, is_connected
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, node_of
from torchkeras.engine.users_code import is_users_layer
from torchkeras.keras2 import backend as K
from torchkeras.keras2.backend import phase
from torchkeras.layers import BatchNormalization
from torchkeras.models import Model

RATES = (
    "rate",
    "dropout",
    "recurrent_dropout",
    "stddev",
    "maxval",
)  # a layer that knows the phase acts if one is not 0
_get_config = Model.get_config
_told: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
_settled: WeakSet[Node] = WeakSet()


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
    if isinstance(layer, Network) and is_connected(layer):
        return any(map(of_tensor, layer.outputs))
    inside = [each for each in layer.modules() if isinstance(each, Layer)]
    return any(map(_acts, inside))


def _acts(layer: Any) -> bool:
    if is_users_layer(layer):
        return takes(layer, "training")
    if isinstance(layer, BatchNormalization):
        return layer.mode == 0
    return takes(layer, "training") and any(getattr(layer, name, 0) for name in RATES)


def settled(layer: Any, training: Any) -> int | None:
    """The phase that is set, for the call of a layer or model that asks for one and receives none."""
    asks = takes(layer, "training") or isinstance(layer, Network)
    return phase.settled() if training is None and asks else None


def keep_settled(outputs: Any) -> None:
    """Remember that the call that gave these outputs received its phase from nobody."""
    _settled.update(map(node_of, leaves(outputs)))


def get_config(model: Any) -> dict[str, Any]:
    """`Model.get_config`, without the phases that were set: they are no arguments of the calls."""
    config = _get_config(model)
    for layer, written in zip(graph_of(model).layers, config.get("layers", ()), strict=False):
        calls = [node for node in graph_of(model).nodes_of(layer) if node.input_tensors]
        for node, places in zip(calls, written.get("inbound_nodes", ()), strict=False):
            for place in places if node in _settled else ():
                place[3].pop("training", None)
    return config


def set_learning_phase(value: int) -> None:
    """Set the phase of `K.learning_phase` and the like, and of layers that are called from now on, to 0 or 1.

    `K.clear_session` ends it. Raises ValueError for another value.
    """
    phase.settle(value)


def extend() -> None:
    """Add the names; scripts may set whether something uses the phase."""
    K.__dict__.update(set_learning_phase=set_learning_phase)
    extensions.extend(Model, get_config=wraps(_get_config)(get_config))
    extensions.extend(KerasTensor, _uses_learning_phase=property(of_tensor, _told.__setitem__))
    extensions.extend(Layer, uses_learning_phase=property(of_layer, _told.__setitem__))
