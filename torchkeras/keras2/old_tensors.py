"""What scripts for Keras 1 and 2 do with symbolic tensors beside computing: `extend()` lets `KerasTensor` have it."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from torch import nn

from torchkeras import layers
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.symbolic import KerasTensor, node_of

NOISE = (
    *(layers.Dropout, layers.SpatialDropout1D, layers.SpatialDropout2D, layers.SpatialDropout3D, layers.AlphaDropout),
    *(layers.GaussianDropout, layers.GaussianNoise, layers.BatchNormalization),
)
_told: WeakKeyDictionary[KerasTensor, bool] = WeakKeyDictionary()


def by_phase(layer: nn.Module) -> bool:
    """Whether a layer, or one inside it, computes something else in training."""
    return any(isinstance(each, NOISE) or _drops(each) for each in layer.modules())


def _drops(layer: nn.Module) -> bool:
    return any(getattr(layer, name, 0) for name in ("dropout", "recurrent_dropout"))


class OldTensor:
    """The further names; never an object."""

    @property
    def _uses_learning_phase(self: Any) -> bool:
        """Whether the tensor has other values in training, or a script has said so."""
        if self in _told:
            return _told[self]
        seen, pending = set(), [self]
        while pending:
            made = node_of(pending.pop())
            if made in seen:
                continue
            seen.add(made)
            if made.arguments.get("training") is None and by_phase(made.layer):
                return True
            pending += made.input_tensors
        return False

    @_uses_learning_phase.setter
    def _uses_learning_phase(self: Any, uses: bool) -> None:
        _told[self] = uses


def extend() -> None:
    """Let a symbolic tensor equal itself alone, as in Keras 2 (`tensor in tensors`), and tell of the learning phase."""
    KerasTensor.__eq__, KerasTensor.__ne__ = object.__eq__, object.__ne__  # type: ignore[method-assign]
    KerasTensor._uses_learning_phase = OldTensor._uses_learning_phase  # type: ignore[attr-defined]
