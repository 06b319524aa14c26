"""What scripts take from `keras.layers` beside the layers, which it lets them write in the manner of Keras 1 and 2."""

from functools import reduce
from typing import Any

from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.symbolic import Shape
from torchkeras.keras2 import old_layers
from torchkeras.layers.merging import broadcast_shapes

old_layers.extend()


class _Merge(Layer, abstract=True):
    """The base of scripts' own layers of several inputs: they define `_merge_function(inputs)`."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        raise NotImplementedError

    def call(self, inputs: list[Any]) -> Any:
        """What `_merge_function` makes of the inputs."""
        return self._merge_function(inputs)

    def compute_output_shape(self, input_shape: list[Shape]) -> Shape:
        """The shape that all inputs broadcast to."""
        return reduce(broadcast_shapes, map(tuple, input_shape))
