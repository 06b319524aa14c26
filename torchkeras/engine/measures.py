"""The metrics of an output: functions, averaged over the batches, and objects, which keep state of their own.

Where the output ends in a softmax or sigmoid that nothing but a crossentropy needs, a step has the logits alone; `LOGITS`
tells which functions give the same for these, or by which other function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras import losses as loss_functions, metrics as metric_functions
from torchkeras.engine.naming import snake_case
from torchkeras.engine.objectives import CLASSES, SOME_CLASSES, Objective, Score
from torchkeras.engine.symbol import KerasTensor


@dataclass(frozen=True)
class Measure:
    """A metric of one output: its reported name, a function or a `Metric`, and whether sample weights count."""

    name: str
    metric: Any
    weighted: bool

    @property
    def keeps_state(self) -> bool:
        """Whether it is an object with `update_state` and `result`."""
        return isinstance(self.metric, metric_functions.Metric)


class TorchMetric(metric_functions.Metric):
    """A metric in the manner of torchmetrics (`update(preds, target)`, `compute()`, `reset()`), as a `Metric`.

    Raises ValueError for sample weights, which it has no place for.
    """

    def __init__(self, metric: Any):
        super().__init__(name=snake_case(type(metric).__name__))
        self.metric = metric

    def update_state(self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None) -> None:
        if sample_weight is not None:
            raise ValueError(f"The metric {type(self.metric).__name__} takes no sample weights and no mask.")
        if isinstance(self.metric, nn.Module):
            self.metric.to(y_pred.device)
        self.metric.update(y_pred, y_true)

    def result(self) -> Tensor:
        return torch.as_tensor(self.metric.compute())

    def reset_state(self) -> None:
        self.metric.reset()

    @property
    def variables(self) -> list[Tensor]:
        return [value for value in vars(self.metric).values() if isinstance(value, Tensor)]

    def state_dict(self) -> dict[str, Any]:
        """The tensors of the metric by their names."""
        return {name: value for name, value in self.metric.metric_state.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            setattr(self.metric, name, value)

    def get_config(self) -> dict[str, Any]:
        """Refused: what is not a metric of this package is not written to a config. Raises ValueError."""
        raise ValueError(f"The metric {type(self.metric).__name__} is not written to a config.")


def measure(identifier: Any, objective: Objective, output: KerasTensor) -> tuple[str, Any]:
    """Name and function or object of a metric. `accuracy` and `crossentropy` go by the output's shape and loss.

    Raises ValueError for an unknown name, TypeError for what is none.
    """
    if isinstance(identifier, str) and identifier in ("accuracy", "acc", "crossentropy", "ce"):
        by_kind = _ACCURACIES if identifier in ("accuracy", "acc") else _CROSSENTROPIES
        kind = "categorical"
        if output.shape[-1] == 1 or loss_functions.function_of(objective.given) is loss_functions.binary_crossentropy:
            kind = "binary"
        elif objective.target_kind in (CLASSES, SOME_CLASSES):
            kind = "sparse"
        return ("acc" if by_kind is _ACCURACIES else "ce"), by_kind[kind]
    if all(hasattr(identifier, method) for method in ("update", "compute", "reset")):
        found: Any = TorchMetric(identifier)
    else:
        found = metric_functions.get(identifier)
    named = getattr(found, "name", None)
    return named if isinstance(named, str) else getattr(found, "__name__", type(found).__name__), found


def _binary_hits(y_true: Tensor, logits: Tensor) -> Tensor:
    """mean(y_true == (logits > 0)): a sigmoid over 0.5"""
    return (y_true == (logits > 0)).mean(-1, dtype=torch.float32)


_ACCURACIES: Mapping[str, Score] = {
    "binary": metric_functions.binary_accuracy,
    "sparse": metric_functions.sparse_categorical_hits,
    "categorical": metric_functions.categorical_hits,
}
_CROSSENTROPIES: Mapping[str, Score] = {
    "binary": loss_functions.binary_crossentropy,
    "sparse": loss_functions.sparse_categorical_crossentropy,
    "categorical": loss_functions.categorical_crossentropy,
}

_ORDER_ALONE: tuple[Callable[..., Tensor], ...] = (  # which score is larger, the logits tell as well
    metric_functions.categorical_hits,
    metric_functions.sparse_categorical_hits,
    metric_functions.categorical_accuracy,
    metric_functions.sparse_categorical_accuracy,
)
LOGITS: Mapping[str, Mapping[Any, Score]] = {
    "softmax": {
        **{function: function for function in _ORDER_ALONE},
        loss_functions.categorical_crossentropy: loss_functions.categorical_crossentropy,
        loss_functions.sparse_categorical_crossentropy: loss_functions.sparse_categorical_crossentropy,
    },
    "sigmoid": {
        metric_functions.binary_accuracy: _binary_hits,
        loss_functions.binary_crossentropy: loss_functions.binary_crossentropy,
    },
}
