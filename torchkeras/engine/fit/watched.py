"""All that a training step of a model changes in place, for the guards of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from torchkeras.world.one_process import sharing

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training


class Changing:
    """What a training step of a model changes in place; see `engine.step.nonfinite.Watched`."""

    def __init__(self, training: Training):
        self._training = training

    def trained(self) -> dict[Any, torch.Tensor]:
        compiled, optimizer = self._training.ready(), self._training.model.optimizer
        state = () if optimizer is None else optimizer.tensors()
        return {id(tensor): sharing().part(tensor) for tensor in (*compiled.parameters, *state)}

    def counted(self) -> dict[Any, torch.Tensor]:
        buffers = self._training.model.named_buffers()
        found: dict[Any, torch.Tensor] = {name: buffer for name, buffer in buffers if buffer.numel()}
        for metric in self._training.ready().kept.values():
            found |= {id(tensor): tensor for tensor in metric.variables}
        return found

    def forget(self, known: set[Any]) -> None:
        compiled, optimizer = self._training.ready(), self._training.model.optimizer
        if optimizer is not None:
            optimizer.forget(known)
        for metric in compiled.kept.values():
            if not known.issuperset(map(id, metric.variables)):
                metric.reset_state()


class ChangingWeights(Changing):
    """What an update of the weights changes in place, unless the optimizer itself can skip it."""

    def trained(self) -> dict[Any, torch.Tensor]:
        if getattr(self._training.model.optimizer, "can_skip", False):
            return {}
        return super().trained()

    def counted(self) -> dict[Any, torch.Tensor]:
        return {}

    def forget(self, known: set[Any]) -> None:
        self._training.model.optimizer.forget(known)
