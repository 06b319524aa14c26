"""What scripts take from `keras.engine` beside layers and models."""

from __future__ import annotations

from typing import Any

from torchkeras.engine.graph.network import Network as Network
from torchkeras.engine.layer.symbolic import Node as Node
from torchkeras.models import Model

Container = Model  # Keras 1's and early 2's name of a graph that is a layer
