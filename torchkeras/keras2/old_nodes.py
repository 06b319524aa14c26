"""`_add_inbound_node`, by which a layer of Keras 2 with a `__call__` of its own says what came of what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras.base import extensions
from torchkeras.engine.layer.call import attach
from torchkeras.engine.shapes.output_shapes import overrides
from torchkeras.engine.symbolic.tensor import History, Node, as_list, calls_of, unpacked
from torchkeras.layers import Layer


def add_inbound_node(
    node: Any,
    input_tensors: Any,
    output_tensors: Any,
    input_masks: Any = None,
    output_masks: Any = None,
    input_shapes: Any = None,
    output_shapes: Any = None,
    arguments: Mapping[str, Any] | None = None,
) -> None:
    """Make a call of this layer what the outputs come of, with their masks; its `call` computes them from then on.

    The outputs of a layer without a `call` stay what they are: functions of the inputs and of its weights. Shapes are
    those of the tensors, whatever is given.
    """
    inputs, outputs = as_list(input_tensors), as_list(output_tensors)
    for tensor, mask in zip(outputs, as_list(output_masks), strict=False):
        tensor._keras_mask = mask
    if not overrides(node, "call"):
        return
    for place, tensor in enumerate(outputs):
        tensor._keras_history = History(node, len(calls_of(node)), place)
    attach(Node(node, unpacked(inputs), unpacked(outputs), dict(arguments or {})), inputs)


def extend() -> None:
    """Add it to `Layer`."""
    extensions.extend(Layer, _add_inbound_node=add_inbound_node)
