"""The tensors of a graph while it is written, and the variables that hold them."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import Shape


@dataclass(frozen=True)
class Folded:
    """A sequence with its steps in the batch, and a variable that has the batch and the steps as its first axes."""

    value: Value
    lead: int


@dataclass(eq=False)
class Value:
    """A tensor of the graph: its shape in Keras's order, its type, its mask, and the variables that hold it."""

    shape: Shape
    dtype: torch.dtype
    natural: Layout
    held: dict[tuple[Layout, torch.dtype], int] = field(default_factory=dict)
    mask: int | None = None
    folded: Folded | None = None

    @property
    def first(self) -> bool:
        """Whether it was computed with its channels first."""
        return self.natural is Layout.CHANNELS_FIRST
