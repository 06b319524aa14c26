"""What scripts take from `keras.engine` beside layers and models."""

from __future__ import annotations

from typing import Any

from torchkeras.engine.graph.network import Network
from torchkeras.engine.symbolic.tensor import KerasTensor, Node, as_list, unpacked
from torchkeras.keras2.layers import Input
from torchkeras.keras2.utils.layer_utils import get_source_inputs
from torchkeras.models import Model

__all__ = [
    "Container",
    "Input",
    "Network",
    "Node",
    "_collect_input_shape",
    "_collect_previous_mask",
    "get_source_inputs",
]

Container = Model  # Keras 1's and early 2's name of a graph that is a layer


def _collect_previous_mask(input_tensors: Any) -> Any:
    """The masks of tensors, None for one that has none; one for a single tensor."""
    return unpacked([each.keras_mask if isinstance(each, KerasTensor) else None for each in as_list(input_tensors)])


def _collect_input_shape(input_tensors: Any) -> Any:
    """The shapes of tensors; one for a single tensor."""
    return unpacked([tuple(each.shape) for each in as_list(input_tensors)])
