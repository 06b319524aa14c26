"""Metrics of Keras 2 with a state: layers with `stateful`, `reset_states` and a call of (y_true, y_pred)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import in_mode
from torchkeras.keras2.backend import assignments
from torchkeras.metrics import Metric
from torchkeras.saving.training_config import mapped


class LayerMetric(Metric, abstract=True):
    """A layer as a `Metric`: its result is what its last call gave, and its updates are made after each call."""

    _resets_by_batch = False  # Keras 2 counted on

    def __init__(self, layer: Any):
        super().__init__(name=layer.name)
        self.layer, self._last = layer, torch.zeros(())

    def update_state(self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None) -> None:
        if sample_weight is not None:
            raise ValueError(f"The metric {self.name!r} is a layer, which takes no sample weights and no mask.")
        self.layer.to(y_pred.device)
        with in_mode(None), assignments.waiting(self.layer):  # it counts in an evaluation too
            self._last = torch.as_tensor(self.layer(y_true, y_pred)).detach().clone()

    def result(self) -> Tensor:
        return self._last.float() if not self._last.is_floating_point() else self._last

    def reset_state(self) -> None:
        self.layer.reset_states()

    @property
    def variables(self) -> list[Any]:
        return [*self.layer.state_dict(keep_vars=True).values()]

    def state_dict(self) -> dict[str, Any]:
        """The variables of the layer and its last number."""
        return {"last": self._last, **{name: value.clone() for name, value in self.layer.state_dict().items()}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._last = state["last"]
        self.layer.load_state_dict({name: value for name, value in state.items() if name != "last"})

    def get_config(self) -> dict[str, Any]:
        """Refused: a layer that is a metric is not written to a config. Raises ValueError."""
        raise ValueError(f"The metric {self.name!r} is a layer, and not written to a config.")


def converted(metrics: Any) -> Any:
    """What `compile` takes as metrics, with layers as metrics; a layer's class is asked for one."""
    return mapped(metrics, lambda each: LayerMetric(each) if isinstance(each, Layer) else each)
