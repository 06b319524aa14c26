"""Functions of the user's on symbolic tensors: as a `Lambda`, whose code is the function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchkeras.base.naming import unique_name
from torchkeras.base.nested import put_together, taken_apart
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list, unpacked
from torchkeras.layers.functions import Lambda


def as_node(name: str, compute: Callable[[Any], Any], given: Any, output_shape: Any = None) -> Any:
    """`compute(given)` as one node of the graph, the symbolic tensors in `given` being its inputs.

    `given`: nested lists and tuples. The layer is named after `name`; a file has the function under the layer's name.
    `output_shape`: a function of the input's shapes, for results whose shape depends on values.
    """
    form, tensors = taken_apart(given, KerasTensor)
    layer = Lambda(lambda values: compute(put_together(form, as_list(values))), output_shape, name=unique_name(name))
    return layer(unpacked(tensors))
