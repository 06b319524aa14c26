"""The metrics of an output: functions, averaged over the batches, and objects, which keep state of their own.

Where the output ends in a softmax or sigmoid that nothing but a crossentropy needs, a step has the logits alone;
`LOGITS` tells which functions give the same for these, or by which other function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from torchkeras import losses as loss_functions, metrics as metric_functions
from torchkeras.base.lazy import lazy_property
from torchkeras.base.naming import snake_case
from torchkeras.data.target_kinds import BINARY, CLASSES, LIKE, ONE_HOT, SOME_CLASSES
from torchkeras.engine.facts import facts_of
from torchkeras.engine.step.by_sample import adds_up
from torchkeras.engine.step.output_loss import Objective, Score, unwrapped
from torchkeras.engine.step.unchanged import is_users
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.losses.loss import function_of
from torchkeras.losses.shared import OF_PROBABILITIES, exactly
from torchkeras.metrics.confusion import Confusion
from torchkeras.metrics.direction import rising
from torchkeras.metrics.keras3 import binary_accuracy


@dataclass(frozen=True)
class Measure:
    """A metric of one output: its reported name, a function or a `Metric`, and whether sample weights count.

    `keeps_state`: whether it is an object with `update_state` and `result`. `scores`: which output of the trained
    network holds its numbers, where the graph computes it. `of_probabilities`: whether it gets what `Target.link` makes
    of the output's logits. `is_users`: whether the metric is neither the package's nor torch's.
    """

    name: str
    metric: Any
    weighted: bool
    keeps_state: bool
    scores: int | None = None
    of_probabilities: bool = False
    is_users: bool = False

    @lazy_property
    def adds_up(self) -> bool:
        """Whether what it is of parts of a batch tells what it is of the whole: by means, or by sums of its states."""
        if self.scores is not None:  # numbers of samples, which the graph computes
            return True
        if self.keeps_state:
            return self.metric.adds_up and getattr(self.metric, "axis", -1) == -1
        return adds_up(self.metric) or self.metric in (_binary_hits, _channel_hits, _sign_hits, _hits_by_shape)


class TorchMetric(metric_functions.Metric, abstract=True):
    """A metric in the manner of torchmetrics (`update(preds, target)`, `compute()`, `reset()`), as a `Metric`.

    Class numbers come without a last axis of 1, and whole for those of `torchmetrics.classification`. Raises ValueError
    for sample weights, which it has no place for.
    """

    adds_up = False

    def __init__(self, metric: Any):
        super().__init__(name=snake_case(type(metric).__name__))
        self.metric: Any = metric
        metric.sync_on_compute = False  # what several processes share is settled by the step
        self.higher_is_better = getattr(metric, "higher_is_better", None)  # torchmetrics says so
        self._takes_classes = type(metric).__module__.startswith("torchmetrics.classification")

    def update_state(self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None) -> None:
        if sample_weight is not None:
            raise ValueError(f"The metric {type(self.metric).__name__} takes no sample weights and no mask.")
        if hasattr(self.metric, "to"):
            self.metric.to(y_pred.device)
        if y_true.dim() == y_pred.dim() and y_true.shape[-1] == 1 < y_pred.shape[-1]:
            y_true = y_true.squeeze(-1)
        if self._takes_classes and y_true.is_floating_point():
            y_true = y_true.long()
        self.metric.update(y_pred, y_true)

    def result(self) -> Tensor:
        found = self.metric.compute()
        if isinstance(found, Mapping):
            raise ValueError(
                f"The metric {type(self.metric).__name__} gives {', '.join(map(str, found))}; give each as a metric of "
                "its own."
            )
        return torch.as_tensor(found)

    def reset_state(self) -> None:
        self.metric.reset()

    @property
    def variables(self) -> list[Any]:
        return [value for value in self._states().values() if isinstance(value, Tensor)]

    def _states(self) -> dict[str, Any]:
        names = getattr(self.metric, "_defaults", None)  # torchmetrics', by name
        kept = vars(self.metric) if names is None else {name: getattr(self.metric, name) for name in names}
        return {name: value for name, value in kept.items() if names is not None or isinstance(value, Tensor)}

    def state_dict(self) -> dict[str, Any]:
        """The tensors of the metric, and lists of them, by their names, as they are now."""
        return {name: v.clone() if isinstance(v, Tensor) else list(v) for name, v in self._states().items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            setattr(self.metric, name, value.clone() if isinstance(value, Tensor) else list(value))
        if hasattr(self.metric, "_computed"):  # torchmetrics keeps its last result, and warns before an update
            self.metric._computed, self.metric._update_count = None, max(1, self.metric._update_count)

    def get_config(self) -> dict[str, Any]:
        """Refused: what is not a metric of this package is not written to a config. Raises ValueError."""
        raise ValueError(f"The metric {type(self.metric).__name__} is not written to a config.")


def as_reported(name: str, value: Any) -> Tensor:
    """What a metric gives, a number or an array, as a tensor, without waiting. Raises TypeError for anything else."""
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (Real, np.ndarray)):
        raise TypeError(f"The metric {name!r} must give a number or an array; found {type(value).__name__}.")
    return torch.as_tensor(value)


def measures(
    identifier: Any, objective: Objective, output: KerasTensor, weighted: bool, link: Callable[[Tensor], Tensor] | None
) -> list[Measure]:
    """A metric, or each of those in a collection of torchmetrics, by the names that it gives them.

    `link`: see `link_of`.
    Raises as `name_and_metric` does, and ValueError for a metric of the loss's other axis, or of other targets.
    """
    collected = is_collection(identifier)
    found = identifier.items() if collected else [name_and_metric(identifier, objective, output, link)]
    pairs = [(name, TorchMetric(metric) if collected else metric) for name, metric in found]
    found = [_measure(name, each, weighted) for name, each in pairs]
    if link is not None:
        found = [replace(each, of_probabilities=expects_probabilities(each.metric)) for each in found]
    _check_against_loss(found, objective, output)
    return found


def _measure(name: str, metric: Any, weighted: bool) -> Measure:
    of_package = type(metric) is FunctionType and (metric.__module__ or "").startswith("torchkeras.")  # most often
    is_own = not of_package and is_users(metric)
    return Measure(name, metric, weighted, isinstance(metric, metric_functions.Metric), is_users=is_own)


def _check_against_loss(found: list[Measure], objective: Objective, output: KerasTensor) -> None:
    """Raise ValueError for a metric that would take axes or targets of a loss of torch for others."""
    loss, options = _options_of(objective.given)
    name = getattr(loss, "__name__", type(loss).__name__)
    for each in found:
        if _has_channels(objective, output) and _is_over_last_axis(each.metric):
            raise ValueError(
                f"compile: the metric {each.name!r} has the classes on the last axis, and {name} has those of an "
                f"output of shape {output.shape} on axis 1: use 'accuracy'."
            )
        if each.of_probabilities and options.get("log_target", getattr(loss, "log_target", False)):
            raise ValueError(
                f"compile: the metric {each.name!r} expects probabilities as targets, and {name} with log_target=True "
                "has their logarithms: give probabilities, and log_target=False."
            )


def _is_over_last_axis(metric: Any) -> bool:
    """Whether a metric has the classes on the last axis; some objects have an option for it."""
    if isinstance(metric, _OBJECTS_OVER_LAST_AXIS):
        return getattr(metric, "axis", -1) == -1 and not getattr(metric, "sparse_y_pred", False)
    function, options = _options_of(metric)
    return any(function is each for each in _OVER_LAST_AXIS) and options.get("axis", -1) == -1


def _has_channels(objective: Objective, output: KerasTensor) -> bool:
    """Whether the loss has the classes of an output of (batch, classes, ...) on axis 1."""
    return len(output.shape) > 2 and _among(_OF_CHANNELS, _options_of(objective.given)[0]) is not None


def is_collection(metric: Any) -> bool:
    """Whether it is several metrics by name, as `torchmetrics.MetricCollection`."""
    return _is_in_torchs_manner(metric) and all(hasattr(metric, method) for method in ("keys", "items"))


def name_and_metric(identifier: Any, objective: Objective, output: KerasTensor, link: Any = None) -> tuple[str, Any]:
    """Name and function or object of a metric. `accuracy` and `crossentropy` go by the output's shape and loss.

    Raises ValueError for an unknown name, TypeError for what is none.
    """
    if isinstance(identifier, str) and identifier in ("accuracy", "acc", "crossentropy", "ce"):
        return _by_kind(identifier, _target_kind(objective, output, link))
    found: Any = identifier if _is_in_torchs_manner(identifier) else metric_functions.get(identifier)
    if found is None:
        raise TypeError("compile: a metric must be a name, a function, a config or an object; found None.")
    if _is_in_torchs_manner(found):  # also one of a class that was given
        found = TorchMetric(found)
    name = getattr(found, "name", getattr(found, "__name__", None))  # a partial may have a name of its own
    return name if isinstance(name, str) else getattr(unwrapped(found), "__name__", type(found).__name__), found


def _is_in_torchs_manner(metric: Any) -> bool:
    methods = ("update", "compute", "reset")
    return not isinstance(metric, type) and all(hasattr(metric, method) for method in methods)


def _by_kind(identifier: str, kind: str) -> tuple[str, Score]:
    if identifier in ("accuracy", "acc"):
        return "acc", _ACCURACIES[kind]
    if kind not in _CROSSENTROPIES:
        raise ValueError(
            f"compile: the metric {identifier!r} goes by the loss, and the loss does not say what targets it takes: "
            "give an object such as metrics.SparseCategoricalCrossentropy(from_logits=True)."
        )
    return "ce", _CROSSENTROPIES[kind]


def _target_kind(objective: Objective, output: KerasTensor, link: Any) -> str:
    """How the targets of an output name classes, as far as its loss tells."""
    given = objective.function
    if _has_channels(objective, output):
        return "channels"
    if _among(_OF_SIGNS, _options_of(objective.given)[0]) is not None:
        return "signs"
    if link is _sigmoid:
        return "binary logits"
    if output.shape[-1] == 1 or given in _BINARY or type(given) in _BINARY:
        return "binary scores" if _options_of(objective.given)[1].get("from_logits") else "binary"
    if objective.target_kind in (CLASSES, SOME_CLASSES):
        return "sparse"
    return "categorical" if objective.target_kind in (LIKE, BINARY, ONE_HOT) else "by shape"


@rising
def _binary_hits(y_true: Tensor, logits: Tensor) -> Tensor:
    """y_true == (logits > 0): a sigmoid over 0.5, as booleans"""
    return y_true == (logits > 0)


@rising
def _sign_hits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """y_true, 1 or -1, has the sign of y_pred."""
    return (y_true > 0) == (y_pred > 0)


@rising
def _hits_by_shape(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """The highest score is that of the class number, or of the one-hot row, whichever y_true is."""
    sparse = y_true.dim() < y_pred.dim() or y_true.shape[-1] == 1
    return (metric_functions.sparse_categorical_hits if sparse else metric_functions.categorical_hits)(y_true, y_pred)


@rising
def _channel_hits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """argmax(y_pred, 1) is the class number, or argmax(y_true, 1), as torch's losses have classes on axis 1."""
    return (y_true.argmax(1) if y_true.shape == y_pred.shape else y_true) == y_pred.argmax(1)


_BINARY = (
    *(loss_functions.binary_crossentropy, loss_functions.BinaryCrossentropy),
    *(nn.BCELoss, nn.functional.binary_cross_entropy),
)
_ACCURACIES: Mapping[str, Score] = {
    "binary": metric_functions.binary_accuracy,
    "binary logits": _binary_hits,
    "binary scores": binary_accuracy,  # logits, of which Keras 3 counts those over 0.5; rounded, 1.7 would be no 1
    "channels": _channel_hits,
    "signs": _sign_hits,
    "sparse": metric_functions.sparse_categorical_hits,
    "categorical": metric_functions.categorical_hits,
    "by shape": _hits_by_shape,
}
_CROSSENTROPIES: Mapping[str, Score] = {
    "binary": loss_functions.binary_crossentropy,
    "binary logits": loss_functions.binary_crossentropy,
    "sparse": loss_functions.sparse_categorical_crossentropy,
    "categorical": loss_functions.categorical_crossentropy,
}


# --- probabilities of an output whose loss takes logits --------------------------------------------------------------


def _sigmoid(logits: Tensor) -> Tensor:
    return _carrying(torch.sigmoid(logits), logits, "sigmoid")


def _softmax(logits: Tensor) -> Tensor:
    return _carrying(torch.softmax(logits, -1), logits, "softmax")


def _softmax_over_channels(logits: Tensor) -> Tensor:
    """As torch's losses have the classes of (batch, classes, ...)."""
    return torch.softmax(logits, 1) if logits.dim() > 2 else _softmax(logits)


def _carrying(probabilities: Tensor, logits: Tensor, activation: str) -> Tensor:
    """Probabilities with their logits, of which a crossentropy is exact."""
    probabilities._keras_logits, probabilities._keras_activation = logits, activation  # type: ignore[attr-defined]
    return probabilities


# What makes probabilities of what a loss takes: of Keras's if it was made with from_logits=True, of torch's always.
_LINKS: Mapping[Any, Callable[[Tensor], Tensor]] = {
    **dict.fromkeys((loss_functions.binary_crossentropy, loss_functions.binary_focal_crossentropy), _sigmoid),
    loss_functions.categorical_crossentropy: _softmax,
    loss_functions.sparse_categorical_crossentropy: _softmax,
    loss_functions.categorical_focal_crossentropy: _softmax,
}
_LINKS_OF_TORCH: Mapping[Any, Callable[[Tensor], Tensor]] = {
    **dict.fromkeys((nn.BCEWithLogitsLoss, nn.functional.binary_cross_entropy_with_logits), _sigmoid),
    **dict.fromkeys((nn.MultiLabelSoftMarginLoss, nn.functional.multilabel_soft_margin_loss), _sigmoid),
    **dict.fromkeys((nn.CrossEntropyLoss, nn.functional.cross_entropy), _softmax_over_channels),
    **dict.fromkeys((nn.NLLLoss, nn.functional.nll_loss, nn.KLDivLoss, nn.functional.kl_div), torch.exp),
}
# What compares with a threshold of probabilities, or takes their logarithm. All else sees what the model gives.
_OF_PROBABILITIES = (
    *(metric_functions.BinaryAccuracy, metric_functions.AUC, Confusion, metric_functions.FBetaScore),
    *(metric_functions.BinaryIoU, metric_functions.BinaryCrossentropy, metric_functions.CategoricalCrossentropy),
    *(metric_functions.SparseCategoricalCrossentropy, metric_functions.KLDivergence, nn.BCELoss),
)
_FUNCTIONS_OF_PROBABILITIES: tuple[Callable[..., Tensor], ...] = (
    *OF_PROBABILITIES,
    metric_functions.binary_accuracy,
    nn.functional.binary_cross_entropy,
)
_OF_CHANNELS = dict.fromkeys(
    (nn.CrossEntropyLoss, nn.functional.cross_entropy, nn.NLLLoss, nn.functional.nll_loss), True
)
_OF_SIGNS = dict.fromkeys((nn.SoftMarginLoss, nn.functional.soft_margin_loss), True)
_MODULES_OF_PROBABILITIES = ("torchmetrics.classification", "torcheval.metrics.classification")


def link_of(objective: Objective, output: KerasTensor) -> Callable[[Tensor], Tensor] | None:
    """What makes probabilities of an output: None where its loss takes no logits, or where it has them already."""
    function, options = _options_of(objective.given)
    found = _among(_LINKS if options.get("from_logits") else _LINKS_OF_TORCH, function)
    return None if found is None or facts_of(output._keras_history.layer).ends_in is not None else found


# What computes from the logits of its predictions, where they are marked to be exact.
_EXACT: tuple[Callable[..., Tensor], ...] = (
    *(loss_functions.categorical_crossentropy, loss_functions.sparse_categorical_crossentropy),
    loss_functions.binary_crossentropy,
)


def is_exact_of(activation: str, what: Any) -> bool:
    """Whether a loss or metric gives the same for exact logits of an activation as for its exact result."""
    function, options = _options_of(what)
    default = not options.get("from_logits") and options.get("axis", -1) == -1
    of_scores = any(function is each for each in _ORDER_ALONE) and activation == "softmax"
    return (default and any(function is each for each in _EXACT)) or of_scores


def exact_link(activation: str) -> Callable[[Tensor], Tensor]:
    """What makes exact probabilities of the logits of an activation."""
    link = {"softmax": _softmax, "sigmoid": _sigmoid}[activation]
    return lambda logits: exactly(link(logits))


def expects_probabilities(metric: Any) -> bool:
    """Whether a metric expects probabilities; `from_logits` and thresholds that it was made with decide."""
    if isinstance(metric, TorchMetric):
        return type(metric.metric).__module__.startswith(_MODULES_OF_PROBABILITIES)
    function, options = _options_of(metric)
    if not (isinstance(metric, _OF_PROBABILITIES) or any(function is each for each in _FUNCTIONS_OF_PROBABILITIES)):
        return False
    given = options.get("thresholds", options.get("threshold"))
    thresholds = [] if given is None else given if isinstance(given, (list, tuple)) else [given]
    of_logits = options.get("from_logits") or (thresholds and not any(0 < each < 1 for each in thresholds))
    return not of_logits


def _options_of(what: Any) -> tuple[Any, Mapping[str, Any]]:
    """The function of a loss or metric, or itself, and the options that it was made with."""
    if isinstance(what, partial):
        function, options = _options_of(what.func)
        return function, {**options, **what.keywords}
    if isinstance(what, (loss_functions.LossFunctionWrapper, metric_functions.MeanMetricWrapper)):
        function = what.fn if isinstance(what, loss_functions.Loss) else what._function
        return function, what._options
    if isinstance(what, loss_functions.Loss):
        return function_of(what), vars(what)
    return what, vars(what) if isinstance(what, metric_functions.Metric) else {}


def _among(links: Mapping[Any, Any], loss: Any) -> Any:
    """The entry of a function, or of the class of a module."""
    return next((link for known, link in links.items() if loss is known or type(loss) is known), None)


# --- metrics of an output of which a step has the logits alone -------------------------------------------------------

_ORDER_ALONE: tuple[Callable[..., Tensor], ...] = (  # which score is larger, the logits tell as well
    *(metric_functions.categorical_hits, metric_functions.sparse_categorical_hits),
    *(metric_functions.categorical_accuracy, metric_functions.sparse_categorical_accuracy),
)
_OVER_LAST_AXIS: tuple[Callable[..., Tensor], ...] = (
    *(*_ORDER_ALONE, metric_functions.top_k_categorical_accuracy, metric_functions.sparse_top_k_categorical_accuracy),
    *(loss_functions.categorical_crossentropy, loss_functions.sparse_categorical_crossentropy),
    loss_functions.categorical_focal_crossentropy,
)
_OBJECTS_OVER_LAST_AXIS = (
    *(metric_functions.CategoricalAccuracy, metric_functions.SparseCategoricalAccuracy),
    *(metric_functions.TopKCategoricalAccuracy, metric_functions.SparseTopKCategoricalAccuracy),
    *(metric_functions.CategoricalCrossentropy, metric_functions.SparseCategoricalCrossentropy),
    *(metric_functions.MeanIoU, metric_functions.OneHotIoU),
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
# The objects that need the logits alone, by their exact class; a loss among them must take probabilities.
LOGITS_OBJECTS: Mapping[str, tuple[type, ...]] = {
    "softmax": (
        *(loss_functions.CategoricalCrossentropy, loss_functions.SparseCategoricalCrossentropy),
        *(metric_functions.CategoricalAccuracy, metric_functions.SparseCategoricalAccuracy),
    ),
    "sigmoid": (loss_functions.BinaryCrossentropy,),
}


def takes_logits(activation: str, what: Any) -> bool:
    """Whether a loss or metric gives the same for the marked logits of an activation as for its result."""
    if type(what) in LOGITS_OBJECTS[activation]:
        of_probabilities = not getattr(what, "from_logits", False) and getattr(what, "axis", -1) == -1
        return of_probabilities and getattr(what, "dtype", None) in (None, "float32")
    return callable(getattr(what, "__hash__", None)) and what in LOGITS[activation]
