"""The metrics of an output: functions, averaged over the batches, and objects with a state of their own.

If an output ends in a softmax or sigmoid that only a crossentropy needs, a step computes only the logits. `LOGITS` has
the functions that give the same for logits, or the function to call in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from torchkeras import losses as loss_functions, metrics as metric_functions
from torchkeras.activations.logits import exactly
from torchkeras.base.naming import snake_case
from torchkeras.base.python import lazy_property
from torchkeras.data.target_kinds import BINARY, CLASSES, LIKE, ONE_HOT, SOME_CLASSES
from torchkeras.engine.facts import facts_of
from torchkeras.engine.step.output_loss import Objective, Score, adds_up, is_one_of, is_users, name_of, unwrapped
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list
from torchkeras.losses.loss import function_of, kind_of
from torchkeras.losses.shared import OF_PROBABILITIES
from torchkeras.metrics.confusion import Confusion
from torchkeras.metrics.direction import rising
from torchkeras.metrics.keras3 import binary_accuracy

Link = Callable[[Tensor], Tensor]  # from logits to probabilities


@dataclass(frozen=True)
class Measure:
    """A metric of one output: its reported name, a function or a `Metric`, and whether sample weights count.

    `keeps_state`: whether it is an object with `update_state` and `result`. `scores`: which output of the trained
    network holds its numbers, where the graph computes it. `of_probabilities`: whether it gets what `Target.link` makes
    of the output's logits. `is_users`: whether the metric is neither the package's nor torch's. `own_name`: the name
    without that of an output and without a number.
    """

    name: str
    metric: Any
    weighted: bool
    keeps_state: bool
    scores: int | None = None
    of_probabilities: bool = False
    is_users: bool = False
    own_name: str = ""

    @lazy_property
    def adds_up(self) -> bool:
        """Whether the value for a batch follows from those for its parts: by their mean, or by the sum of states."""
        if self.scores is not None:  # numbers of samples, which the graph computes
            return True
        if self.keeps_state:
            return self.metric.adds_up and getattr(self.metric, "axis", -1) == -1
        own_hits = (_binary_hits, _channel_hits, _sign_hits, _hits_by_shape)
        return adds_up(self.metric) or is_one_of(self.metric, own_hits)


class TorchMetric(metric_functions.Metric, abstract=True):
    """A metric with the methods of torchmetrics (`update(preds, target)`, `compute()`, `reset()`), as a `Metric`.

    Class numbers reach it without a last axis of 1; those for `torchmetrics.classification` as integers. Raises
    ValueError for sample weights, which it cannot take.
    """

    adds_up = False

    def __init__(self, metric: Any):
        super().__init__(name=snake_case(type(metric).__name__))
        self.metric: Any = metric
        metric.sync_on_compute = False  # the step combines the states of several processes
        self.higher_is_better = getattr(metric, "higher_is_better", None)  # of torchmetrics
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
        names = getattr(self.metric, "_defaults", None)  # of torchmetrics
        if names is None:
            return {name: value for name, value in vars(self.metric).items() if isinstance(value, Tensor)}
        return {name: getattr(self.metric, name) for name in names}

    def state_dict(self) -> dict[str, Any]:
        """Copies of the metric's states by name: tensors, or lists of tensors."""
        return {name: _copied(value) for name, value in self._states().items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            setattr(self.metric, name, _copied(value))
        if hasattr(self.metric, "_computed"):  # torchmetrics stores its last result, and warns before an update
            self.metric._computed, self.metric._update_count = None, max(1, self.metric._update_count)

    def get_config(self) -> dict[str, Any]:
        """Raises ValueError: only the metrics of this package have a config."""
        raise ValueError(f"The metric {type(self.metric).__name__} is not written to a config.")


def _copied(state: Any) -> Any:
    return state.clone() if isinstance(state, Tensor) else list(state)


def as_reported(name: str, value: Any) -> Tensor:
    """The result of a metric, a number or an array, as a tensor, without waiting. Raises TypeError for other types."""
    if not isinstance(value, (Tensor, Real, np.ndarray)):
        raise TypeError(f"The metric {name!r} must give a number or an array; found {type(value).__name__}.")
    return torch.as_tensor(value)


def measures(
    identifier: Any,
    objective: Objective,
    output: KerasTensor,
    weighted: bool,
    link: Link | None,
    as_objects: bool = False,
    own_step: bool = False,
) -> list[Measure]:
    """The measure of a metric, or those of a collection of torchmetrics, under the names that it has for them.

    `link`: see `link_of`. `as_objects`: see `Numerics`. `own_step`: whether the user's code may update them. Raises as
    `name_and_metric` does, and ValueError for a metric whose axis of classes, or whose targets, are not those of the
    loss.
    """
    if is_collection(identifier):
        found = [(name, TorchMetric(metric)) for name, metric in identifier.items()]
    else:
        found = [name_and_metric(identifier, objective, output, link)]
    result: list[Measure] = []
    for name, metric in found:
        if as_objects and isinstance(identifier, str):
            name = identifier
        keeps_state = isinstance(metric, metric_functions.Metric)
        if as_objects and not keeps_state and (weighted or own_step or output.keras_mask is not None):
            metric, keeps_state = metric_functions.MeanMetricWrapper(metric, name=name), True
        of_probabilities = link is not None and expects_probabilities(metric)
        _check_against_loss(name, metric, of_probabilities, objective, output)
        result.append(Measure(name, metric, weighted, keeps_state, None, of_probabilities, is_users(metric), name))
    return result


def _check_against_loss(
    name: str, metric: Any, of_probabilities: bool, objective: Objective, output: KerasTensor
) -> None:
    """Raise ValueError for a metric with another axis of classes, or other targets, than the loss of torch."""
    loss, options = _options_of(objective.given)
    if _has_channels(objective, output) and _is_over_last_axis(metric):
        raise ValueError(
            f"compile: the metric {name!r} has the classes on the last axis, and {name_of(loss)} has those of "
            f"an output of shape {output.shape} on axis 1: use 'accuracy'."
        )
    if of_probabilities and options.get("log_target", getattr(loss, "log_target", False)):
        raise ValueError(
            f"compile: the metric {name!r} expects probabilities as targets, and {name_of(loss)} with "
            "log_target=True has their logarithms: give probabilities, and log_target=False."
        )


def _is_over_last_axis(metric: Any) -> bool:
    """Whether a metric has the classes on the last axis, which is an option of some objects."""
    if isinstance(metric, _OBJECTS_OVER_LAST_AXIS):
        return getattr(metric, "axis", -1) == -1 and not getattr(metric, "sparse_y_pred", False)
    function, options = _options_of(metric)
    return is_one_of(function, _OVER_LAST_AXIS) and options.get("axis", -1) == -1


def _has_channels(objective: Objective, output: KerasTensor) -> bool:
    """Whether the loss has the classes of an output of (batch, classes, ...) on axis 1."""
    return len(output.shape) > 2 and _of_known(_options_of(objective.given)[0], _OF_CHANNELS)


def is_collection(metric: Any) -> bool:
    """Whether it holds several metrics by name, like `torchmetrics.MetricCollection`."""
    return _is_like_torchmetrics(metric) and hasattr(metric, "keys") and hasattr(metric, "items")


def name_and_metric(identifier: Any, objective: Objective, output: KerasTensor, link: Any = None) -> tuple[str, Any]:
    """Name and function or object of a metric. `accuracy` and `crossentropy` depend on the output's shape and loss.

    Raises ValueError for an unknown name, TypeError for None.
    """
    if isinstance(identifier, str) and identifier in _BY_TARGETS:
        return _by_targets(identifier, _target_kind(objective, output, link))
    found: Any = identifier if _is_like_torchmetrics(identifier) else metric_functions.get(identifier)
    if found is None:
        raise TypeError("compile: a metric must be a name, a function, a config or an object; found None.")
    if _is_like_torchmetrics(found):  # `identifier`, or an object of a class
        found = TorchMetric(found)
    name = getattr(found, "name", getattr(found, "__name__", None))  # a partial may have a name of its own
    if not isinstance(name, str):
        name = getattr(unwrapped(found), "__name__", type(found).__name__)
    return name, found


def _is_like_torchmetrics(metric: Any) -> bool:
    methods = ("update", "compute", "reset")
    return not isinstance(metric, type) and all(hasattr(metric, method) for method in methods)


def _by_targets(identifier: str, kind: str) -> tuple[str, Score]:
    name, functions = _BY_TARGETS[identifier]
    if kind not in functions:
        raise ValueError(
            f"compile: the metric {identifier!r} goes by the loss, and the loss does not say what targets it takes: "
            "give an object such as metrics.SparseCategoricalCrossentropy(from_logits=True)."
        )
    return name, functions[kind]


def _target_kind(objective: Objective, output: KerasTensor, link: Link | None) -> str:
    """How the targets of an output encode classes, as far as its loss says."""
    loss, options = _options_of(objective.given)
    if _has_channels(objective, output):
        return "channels"
    if _of_known(loss, _OF_SIGNS):
        return "signs"
    if link is _sigmoid:
        return "binary logits"
    if output.shape[-1] != 1 and not _of_known(objective.function, _BINARY):
        return _CLASSES_BY_KIND.get(objective.target_kind, "by shape")
    if options.get("from_logits"):
        return "binary scores"
    return "binary"


@rising
def _binary_hits(y_true: Tensor, logits: Tensor) -> Tensor:
    """y_true == (logits > 0), as booleans: a sigmoid over 0.5."""
    return y_true == (logits > 0)


@rising
def _sign_hits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """y_true, 1 or -1, has the sign of y_pred."""
    return (y_true > 0) == (y_pred > 0)


@rising
def _hits_by_shape(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """The highest score is that of the class number, or of the one-hot row, whichever y_true is."""
    if y_true.dim() < y_pred.dim() or y_true.shape[-1] == 1:
        return metric_functions.sparse_categorical_hits(y_true, y_pred)
    return metric_functions.categorical_hits(y_true, y_pred)


@rising
def _channel_hits(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """argmax(y_pred, 1) is the class number, or argmax(y_true, 1): torch's losses have the classes on axis 1."""
    if y_true.shape == y_pred.shape:
        y_true = y_true.argmax(1)
    return y_true == y_pred.argmax(1)


_BINARY = (
    *(loss_functions.binary_crossentropy, loss_functions.BinaryCrossentropy),
    *(nn.BCELoss, nn.functional.binary_cross_entropy),
)
_ACCURACIES: Mapping[str, Score] = {
    "binary": metric_functions.binary_accuracy,
    "binary logits": _binary_hits,
    "binary scores": binary_accuracy,  # logits: Keras 3 counts those over 0.5, while rounding would make 2 of 1.7
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
# The names of metrics that depend on the targets: the name that is reported, and the functions.
_BY_TARGETS: Mapping[str, tuple[str, Mapping[str, Score]]] = {
    **dict.fromkeys(("accuracy", "acc"), ("acc", _ACCURACIES)),
    **dict.fromkeys(("crossentropy", "ce"), ("ce", _CROSSENTROPIES)),
}
_CLASSES_BY_KIND: Mapping[str, str] = {
    **dict.fromkeys((CLASSES, SOME_CLASSES), "sparse"),
    **dict.fromkeys((LIKE, BINARY, ONE_HOT), "categorical"),
}


# --- probabilities of an output whose loss takes logits --------------------------------------------------------------


def _sigmoid(logits: Tensor) -> Tensor:
    return _carrying(torch.sigmoid(logits), logits, "sigmoid")


def _softmax(logits: Tensor) -> Tensor:
    return _carrying(torch.softmax(logits, -1), logits, "softmax")


def _softmax_over_channels(logits: Tensor) -> Tensor:
    """softmax along axis 1 of (batch, classes, ...), where torch's losses have the classes."""
    return torch.softmax(logits, 1) if logits.dim() > 2 else _softmax(logits)


def _carrying(probabilities: Tensor, logits: Tensor, activation: str) -> Tensor:
    """Probabilities with their logits, from which a crossentropy is exact."""
    probabilities._keras_logits, probabilities._keras_activation = logits, activation  # type: ignore[attr-defined]
    return probabilities


# Functions from what a loss takes to probabilities: for Keras's losses with from_logits=True, and for torch's.
_LINKS: Mapping[Any, Link] = {
    **dict.fromkeys((loss_functions.binary_crossentropy, loss_functions.binary_focal_crossentropy), _sigmoid),
    loss_functions.categorical_crossentropy: _softmax,
    loss_functions.sparse_categorical_crossentropy: _softmax,
    loss_functions.categorical_focal_crossentropy: _softmax,
}
_LINKS_OF_TORCH: Mapping[Any, Link] = {
    **dict.fromkeys((nn.BCEWithLogitsLoss, nn.functional.binary_cross_entropy_with_logits), _sigmoid),
    **dict.fromkeys((nn.MultiLabelSoftMarginLoss, nn.functional.multilabel_soft_margin_loss), _sigmoid),
    **dict.fromkeys((nn.CrossEntropyLoss, nn.functional.cross_entropy), _softmax_over_channels),
    **dict.fromkeys((nn.NLLLoss, nn.functional.nll_loss, nn.KLDivLoss, nn.functional.kl_div), torch.exp),
}
# Metrics that compare probabilities with a threshold, or take their logarithm. All others get the model's output.
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
_OF_CHANNELS = (nn.CrossEntropyLoss, nn.functional.cross_entropy, nn.NLLLoss, nn.functional.nll_loss)
_OF_SIGNS = (nn.SoftMarginLoss, nn.functional.soft_margin_loss)
_MODULES_OF_PROBABILITIES = ("torchmetrics.classification", "torcheval.metrics.classification")


def link_of(objective: Objective, output: KerasTensor) -> Link | None:
    """The function from an output to probabilities; None if its loss takes no logits, or it ends in an activation."""
    link = _link_of_loss(objective.given)
    return link if link is None or facts_of(output.keras_history.layer).ends_in is None else None


def _link_of_loss(loss: Any) -> Link | None:
    function, options = _options_of(loss)
    links = _LINKS if options.get("from_logits") else _LINKS_OF_TORCH
    return next((link for known, link in links.items() if known is function or known is type(function)), None)


def is_torchs_of_logits(loss: Any) -> bool:
    """Whether it is a loss of torch that applies softmax or sigmoid itself."""
    return not takes_log_probabilities(loss) and _of_known(loss, _LINKS_OF_TORCH)


def takes_log_probabilities(loss: Any) -> bool:
    """Whether a loss takes logarithms of probabilities."""
    return _link_of_loss(loss) is torch.exp


def takes_probabilities(loss: Any) -> bool:
    """Whether a loss takes probabilities: a crossentropy without from_logits=True."""
    function, options = _options_of(loss)
    return is_one_of(function, _LINKS) and not options.get("from_logits")


# Functions that compute from the logits that predictions carry, if these are marked as exact.
_EXACT: tuple[Callable[..., Tensor], ...] = (
    *(loss_functions.categorical_crossentropy, loss_functions.sparse_categorical_crossentropy),
    loss_functions.binary_crossentropy,
)


def is_exact_of(activation: str, what: Any) -> bool:
    """Whether a loss or metric gives the same for exact logits of an activation as for its exact result."""
    function, options = _options_of(what)
    if is_one_of(function, _ORDER_ALONE) or is_one_of(kind_of(what), _OBJECTS_OF_ORDER):
        return activation == "softmax"
    return is_one_of(function, _EXACT) and not options.get("from_logits") and options.get("axis", -1) == -1


def exact_link(activation: str) -> Link:
    """The function from the logits of an activation to exact probabilities."""
    link = {"softmax": _softmax, "sigmoid": _sigmoid}[activation]
    return lambda logits: exactly(link(logits))


def expects_probabilities(metric: Any) -> bool:
    """Whether a metric expects probabilities; its options `from_logits` and `thresholds` say otherwise."""
    if isinstance(metric, TorchMetric):
        return type(metric.metric).__module__.startswith(_MODULES_OF_PROBABILITIES)
    function, options = _options_of(metric)
    if not (isinstance(metric, _OF_PROBABILITIES) or is_one_of(function, _FUNCTIONS_OF_PROBABILITIES)):
        return False
    thresholds = as_list(options.get("thresholds", options.get("threshold")))
    of_logits = options.get("from_logits") or (thresholds and not any(0 < each < 1 for each in thresholds))
    return not of_logits


def _options_of(what: Any) -> tuple[Any, Mapping[str, Any]]:
    """The function of a loss or metric, or the object itself, and the options that it was made with."""
    if isinstance(what, partial):
        function, options = _options_of(what.func)
        return function, {**options, **what.keywords}
    if isinstance(what, (loss_functions.LossFunctionWrapper, metric_functions.MeanMetricWrapper)):
        return (what.fn if isinstance(what, loss_functions.Loss) else what._function), what._options
    if isinstance(what, loss_functions.Loss):
        return function_of(what), vars(what)
    if isinstance(what, metric_functions.Metric):
        return what, vars(what)
    return what, {}


def _of_known(loss: Any, known: Iterable[Any]) -> bool:
    """Whether a loss is one of these functions, or its class one of these classes."""
    return is_one_of(type(loss), known) or is_one_of(loss, known)


# --- metrics of an output of which a step computes only the logits ---------------------------------------------------

_ORDER_ALONE: tuple[Callable[..., Tensor], ...] = (  # only the order of the scores counts, which the logits have too
    *(metric_functions.categorical_hits, metric_functions.sparse_categorical_hits),
    *(metric_functions.categorical_accuracy, metric_functions.sparse_categorical_accuracy),
)
_OBJECTS_OF_ORDER = (metric_functions.CategoricalAccuracy, metric_functions.SparseCategoricalAccuracy)
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
# The objects that need only the logits, by their exact class; a loss among them must take probabilities.
LOGITS_OBJECTS: Mapping[str, tuple[type, ...]] = {
    "softmax": (
        *(loss_functions.CategoricalCrossentropy, loss_functions.SparseCategoricalCrossentropy),
        *(metric_functions.CategoricalAccuracy, metric_functions.SparseCategoricalAccuracy),
    ),
    "sigmoid": (loss_functions.BinaryCrossentropy,),
}


def takes_logits(activation: str, what: Any) -> bool:
    """Whether a loss or metric gives the same for the marked logits of an activation as for its result."""
    kind = kind_of(what) if hasattr(what, "recognized_as") else type(what)
    if kind in LOGITS_OBJECTS[activation]:
        of_probabilities = not getattr(what, "from_logits", False) and getattr(what, "axis", -1) == -1
        return of_probabilities and getattr(what, "dtype", None) in (None, "float32")
    return isinstance(what, Hashable) and what in LOGITS[activation]
