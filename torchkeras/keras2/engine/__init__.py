"""What scripts take from `keras.engine` beside layers and models."""

from __future__ import annotations

from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.symbolic import Node
from torchkeras.keras2.layers import Input
from torchkeras.keras2.utils.layer_utils import get_source_inputs
from torchkeras.models import Model

__all__ = ["Container", "Input", "Network", "Node", "get_source_inputs"]

Container = Model  # Keras 1's and early 2's name of a graph that is a layer
