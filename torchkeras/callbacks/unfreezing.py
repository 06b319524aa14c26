"""`GradualUnfreezing`: layers that begin to train at a given epoch."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch

from torchkeras.base.rules import FLAG_OR_DIGIT, integer, read, rule
from torchkeras.callbacks.base import Callback


class GradualUnfreezing(Callback):
    """Freezes layers until their epoch: `GradualUnfreezing({1: ["block4", "block5"], 3: ["block3"]})`.

    Layers that the schedule leaves out stay as they are. You need not compile again. Weights that trained before keep
    the optimizer's moments.

    Options:
        schedule (dict): for each epoch, counted from 0, a layer or several, by name or as objects.
        restore (bool, default False): whether the layers get back their old `trainable` after training.

    Errors:
        ValueError: the model has no layer of a name, an epoch is not an integer, or a layer is listed twice.

    Example:
        >>> GradualUnfreezing({0: "head", 2: ["block5", "block4"]}).schedule[2]
        ['block5', 'block4']
    """

    def __init__(self, schedule: Mapping[int, Any], restore: bool = False):
        if not isinstance(schedule, Mapping) or not schedule:
            raise ValueError(
                f"GradualUnfreezing: schedule must be a dictionary from epochs to layers; found {schedule!r}."
            )
        for epoch, layers in schedule.items():
            read("GradualUnfreezing", "an epoch of schedule", integer(0), epoch)
            read("GradualUnfreezing", f"schedule of epoch {epoch}", LAYERS, layers)
        self.schedule = dict(schedule)
        self.restore = read("GradualUnfreezing", "restore", FLAG_OR_DIGIT, restore)
        self._layers: dict[int, list[Any]] = {}
        self._before: list[tuple[Any, bool]] = []
        self._epoch: int | None = None  # the last epoch that began

    def on_train_begin(self, logs: Any = None) -> None:
        self._layers = {epoch: [self._find(each) for each in _several(names)] for epoch, names in self.schedule.items()}
        found = [layer for layers in self._layers.values() for layer in layers]
        for layer in found:
            if sum(other is layer for other in found) > 1:
                raise ValueError(f"GradualUnfreezing: layer {layer.name!r} appears twice in schedule.")
        self._before = [(layer, layer.trainable) for layer in found]
        self._epoch = None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._epoch = epoch
        wanted = [(layer, first <= epoch) for first, layers in self._layers.items() for layer in layers]
        self._set(wanted)

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self._epoch}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if set(state) != {"epoch"}:
            found = ", ".join(sorted(state)) or "nothing"
            raise ValueError(f"GradualUnfreezing: the state must hold epoch; found {found}.")
        if state["epoch"] is not None:
            self.on_epoch_begin(state["epoch"])

    def on_train_end(self, logs: Any = None) -> None:
        if self.restore:
            self._set(self._before)

    def _set(self, wanted: Iterable[tuple[Any, bool]]) -> None:
        changed = [(layer, trainable) for layer, trainable in wanted if layer.trainable is not trainable]
        for layer, trainable in changed:
            layer.trainable = trainable
        if changed:
            self.model._training.settle()

    def _find(self, wanted: Any) -> Any:
        layers = self.model.layers
        for layer in layers:
            if layer is wanted or (isinstance(wanted, str) and layer.name == wanted):
                return layer
        names = ", ".join(layer.name for layer in layers)
        raise ValueError(f"GradualUnfreezing: the model has no layer {wanted!r}; it has {names}.")


def _several(layers: Any) -> list[Any]:
    return list(layers) if isinstance(layers, (list, tuple, set)) else [layers]


LAYERS = rule(
    "must be a layer or several, by name or as objects",
    lambda v: all(isinstance(each, (str, torch.nn.Module)) for each in _several(v)),
)
