"""Batches that look like one before, which is most of them: only their numbers are checked.

To check a batch of a loader takes as long as a tenth of the step of a small model. All but the checks of its numbers
depend on types and shapes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.arrays import as_tensor
from torchkeras.data import checks
from torchkeras.data.batch import Batch
from torchkeras.engine.symbolic.tensor import Shape, as_list

if TYPE_CHECKING:
    from torchkeras.engine.graph.trace import Graph
    from torchkeras.engine.layer.layer import Layer


MOST_LOOKS = 64  # that are remembered, as of texts of several lengths


class Expected(NamedTuple):
    """What targets are checked against, and how their samples are weighted: an item for each target."""

    names: list[str]
    shapes: list[Shape]
    kinds: list[str]
    types: list[torch.dtype]
    modes: list[str | None]


class Passed(NamedTuple):
    """A batch without weights that has passed all checks.

    `made_for`: what else these depend on. `types`: those of the tensors that the arrays become. `with_axis`: for each,
    whether it gets an axis of length 1. `inputs`: how many of them are inputs. `indices`: the inputs whose numbers
    layers use as indices, by place and name. `expected`: of the targets, if any.
    """

    made_for: tuple[Any, ...]
    types: list[torch.dtype]
    with_axis: list[bool]
    inputs: int
    indices: list[tuple[int, str, list[Layer]]]
    expected: Expected | None

    def alike(self, x: Any, y: Any, made_for: tuple[Any, ...]) -> Batch | None:
        """Another batch of the same look; None if it needs other checks.

        Raises ValueError for indices and labels that are none.
        """
        if not all(map(is_, made_for, self.made_for)):
            return None
        arrays = map(as_tensor, (*as_list(x), *as_list(y)))
        arrays = [array[:, None] if flat else array for array, flat in zip(arrays, self.with_axis, strict=True)]
        for place, name, layers in self.indices:  # before the type changes, which would wrap large numbers around
            checks.check_for_layers(arrays[place], name, layers, streamed=True)
        tensors = [a if a.dtype is dtype else a.to(dtype) for a, dtype in zip(arrays, self.types, strict=True)]
        inputs, targets = tensors[: self.inputs], tensors[self.inputs :]
        if self.expected is not None:
            checks.check_labels(targets, *self.expected[:3], streamed=True)
        return Batch(inputs, targets, [None] * len(targets), len(inputs[0]))


def passed(
    x: Any,
    y: Any,
    batch: Batch,
    made_for: tuple[Any, ...],
    names: Sequence[str],
    graph: Graph,
    expected: Expected | None,
) -> Passed | None:
    """A batch that was made of x and y; None if more was changed than types, and the axes of arrays with a single one.

    `names`: of the inputs.
    """
    given, tensors = [*as_list(x), *as_list(y)], [*batch.inputs, *batch.targets]
    if len(given) != len(tensors) or any(weight is not None for weight in batch.weights):
        return None
    if any(after.shape not in (before.shape, (len(before), 1)) for before, after in zip(given, tensors, strict=True)):
        return None
    if any(map(_are_rounded, given[len(batch.inputs) :], batch.targets)):  # whose numbers are looked at
        return None
    types = [tensor.dtype for tensor in tensors]
    with_axis = [before.ndim < after.ndim for before, after in zip(given, tensors, strict=True)]
    indices = [(place, names[place], layers) for place, layers in enumerate(graph.index_layers) if layers]
    return Passed(made_for, types, with_axis, len(batch.inputs), indices, expected)


def _are_rounded(before: Any, after: Tensor) -> bool:
    return as_tensor(before).is_floating_point() and not after.is_floating_point()


def look_of(x: Any, y: Any) -> tuple[Any, ...] | None:
    """The types and shapes of the arrays of numbers and tensors of a batch; None if it has anything else."""
    inputs = as_list(x)
    look: list[Any] = [len(inputs)]
    for item in (*inputs, *as_list(y)):
        if type(item) is Tensor and not item.is_nested:
            look.append((item.dtype, item.shape, item.device, item.layout))
        elif type(item) is np.ndarray and item.dtype.kind in "biuf":
            look.append((item.dtype, item.shape))
        else:
            return None
    return tuple(look)
