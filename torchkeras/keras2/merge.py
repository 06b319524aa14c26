"""The base of scripts' own layers of several inputs."""

from functools import reduce
from typing import Any

from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.layers.elementwise import broadcast_shapes


class _Merge(Layer, abstract=True):
    """A layer of several inputs: scripts define `_merge_function(inputs)`."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        raise NotImplementedError

    def call(self, inputs: list[Any]) -> Any:
        """What `_merge_function` makes of the inputs."""
        return self._merge_function(inputs)

    def compute_output_shape(self, input_shape: list[Shape]) -> Shape:
        """The shape that all inputs broadcast to."""
        return reduce(broadcast_shapes, map(tuple, input_shape))
