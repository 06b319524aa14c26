"""`keras.metrics` of Keras 3.15: functions `metric(y_true, y_pred)`, and classes that add up over batches.

The functions and classes are those of this package, made to take what Keras 3 takes: arrays, lists, numbers and
variables beside tensors, and the `_keras_mask` of y_pred. The states of a metric stand on the CPU until it is updated
with tensors of another device.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from inspect import Signature, signature
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchkeras import config, metrics
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.extensions import replaceable
from torchkeras.base.fixed_lists import States
from torchkeras.base.naming import count_name, snake_case
from torchkeras.engine.carried_masks import mask_of
from torchkeras.keras3 import losses
from torchkeras.keras3.families import Family
from torchkeras.keras3.losses import computed_in, members_of_twin, on_values, published, refuse_new_type
from torchkeras.keras3.variable import AGGREGATIONS as OF_VARIABLES, Variable
from torchkeras.losses.reduction import apply_mask
from torchkeras.losses.shared import same_rank
from torchkeras.metrics import keras3 as later
from torchkeras.metrics.direction import rising
from torchkeras.metrics.metric import State
from torchkeras.metrics.reduction import MeanOfFunction
from torchkeras.tensor_functions.operations.values import tensor_of

Function = Callable[..., Any]

__all__ = [
    "AUC",
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "BinaryIoU",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "ConcordanceCorrelation",
    "CosineSimilarity",
    "F1Score",
    "FBetaScore",
    "FalseNegatives",
    "FalsePositives",
    "Hinge",
    "IoU",
    "KLDivergence",
    "LogCoshError",
    "Mean",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanIoU",
    "MeanMetricWrapper",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Metric",
    "OneHotIoU",
    "OneHotMeanIoU",
    "PearsonCorrelation",
    "Poisson",
    "Precision",
    "PrecisionAtRecall",
    "R2Score",
    "Recall",
    "RecallAtPrecision",
    "RootMeanSquaredError",
    "SensitivityAtSpecificity",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SpecificityAtSensitivity",
    "SquaredHinge",
    "Sum",
    "TopKCategoricalAccuracy",
    "TrueNegatives",
    "TruePositives",
    "binary_accuracy",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_accuracy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_hinge",
    "concordance_correlation",
    "deserialize",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "log_cosh",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "pearson_correlation",
    "poisson",
    "serialize",
    "sparse_categorical_accuracy",
    "sparse_categorical_crossentropy",
    "sparse_top_k_categorical_accuracy",
    "squared_hinge",
    "top_k_categorical_accuracy",
]

# --- functions -------------------------------------------------------------------------------------------------------

binary_crossentropy = losses.binary_crossentropy
binary_focal_crossentropy = losses.binary_focal_crossentropy
categorical_crossentropy = losses.categorical_crossentropy
categorical_focal_crossentropy = losses.categorical_focal_crossentropy
categorical_hinge = losses.categorical_hinge
hinge = losses.hinge
huber = losses.huber
kl_divergence = losses.kl_divergence
log_cosh = losses.log_cosh
mean_absolute_error = losses.mean_absolute_error
mean_absolute_percentage_error = losses.mean_absolute_percentage_error
mean_squared_error = losses.mean_squared_error
mean_squared_logarithmic_error = losses.mean_squared_logarithmic_error
poisson = losses.poisson
sparse_categorical_crossentropy = losses.sparse_categorical_crossentropy
squared_hinge = losses.squared_hinge


def _hits(found: Tensor) -> Tensor:
    """Truth values as numbers."""
    return found.to(dtype_of(config.floatx()))


def _accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    """y_true == y_pred, as 1.0 or 0.0, for each number."""
    return _hits(torch.eq(y_true, y_pred))


def _binary_accuracy(y_true: Tensor, y_pred: Tensor, threshold: float = 0.5) -> Tensor:
    return _hits(torch.eq(y_true, y_pred > threshold))


def _categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    return _hits(metrics.categorical_hits(y_true, y_pred))


def _sparse_categorical_accuracy(y_true: Tensor, y_pred: Tensor) -> Tensor:
    found = _hits(metrics.sparse_categorical_hits(y_true, y_pred))
    return found.squeeze(-1) if found.dim() > 1 else found


def _top_k_categorical_accuracy(y_true: Tensor, y_pred: Tensor, k: int = 5) -> Tensor:
    return _sparse_top_k_categorical_accuracy(y_true.argmax(-1), y_pred, k)


def _sparse_top_k_categorical_accuracy(
    y_true: Tensor, y_pred: Tensor, k: int = 5, from_sorted_ids: bool = False
) -> Tensor:
    found = later.sparse_top_k_categorical_accuracy(y_true, y_pred, k, from_sorted_ids)
    return found.reshape(y_true.shape).to(dtype_of(config.floatx()))


def _same_type(y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
    return same_rank(y_true.to(y_pred.dtype), y_pred)


def _without_check(function: Any) -> Function:
    """The function that takes shapes that differ, too."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


_GIVEN: dict[str, Any] = {"labels": True, "as_given": True}
# Each function that the losses do not have: that of tensors, the one with its docstring, and how it reads its values.
_ROWS: Mapping[str, tuple[Function, Any, dict[str, Any]]] = {
    "binary_accuracy": (_binary_accuracy, later.binary_accuracy, {**_GIVEN, "read": same_rank}),
    "categorical_accuracy": (_categorical_accuracy, metrics.categorical_accuracy, _GIVEN),
    "concordance_correlation": (
        _without_check(later.concordance_correlation),
        later.concordance_correlation,
        {"read": same_rank},
    ),
    "pearson_correlation": (
        _without_check(later.pearson_correlation),
        later.pearson_correlation,
        {"read": same_rank},
    ),
    "sparse_categorical_accuracy": (_sparse_categorical_accuracy, metrics.sparse_categorical_accuracy, _GIVEN),
    "sparse_top_k_categorical_accuracy": (
        _sparse_top_k_categorical_accuracy,
        later.sparse_top_k_categorical_accuracy,
        _GIVEN,
    ),
    "top_k_categorical_accuracy": (_top_k_categorical_accuracy, later.top_k_categorical_accuracy, _GIVEN),
}


def _published(name: str, function: Function, explained: Any, how: Mapping[str, Any]) -> Function:
    made = rising(published(on_values(function, **how), name, __name__))
    made.__doc__ = explained.__doc__
    return made


FUNCTIONS: dict[str, Function] = {name: _published(name, *row) for name, row in _ROWS.items()}
(
    binary_accuracy,
    categorical_accuracy,
    concordance_correlation,
    pearson_correlation,
    sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy,
) = FUNCTIONS.values()
# What classes alone compute.
_ACCURACY = on_values(_accuracy, labels=True, as_given=True, read=_same_type)
_SQUARED_ERROR = on_values(_without_check(later.squared_error), read=same_rank)
_COSINE = on_values(_without_check(later.cosine_similarity), read=same_rank)


# --- classes ---------------------------------------------------------------------------------------------------------

AGGREGATIONS = (None, *OF_VARIABLES)


@replaceable("add_weight")
class Metric(metrics.Metric, abstract=True):
    """A number over many batches: `update_state` adds a batch, `result` gives the number so far, on the device.

    A subclass makes its states with `add_variable` or `add_weight`, and defines `update_state` and `result`. Metrics
    that it keeps as attributes, alone or in lists and dicts, belong to it: their states are among its `variables`, and
    `reset_state` resets them.

    Options:
        dtype (name, DTypePolicy or None, default None): the type of the states; None is `config.floatx()`.
        name (text or None, default None): what logs call the metric; None counts: `my_metric`, `my_metric_1`.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> class Largest(Metric):
        ...     def __init__(self, name="largest", **kwargs):
        ...         super().__init__(name=name, **kwargs)
        ...         self.largest = self.add_variable(shape=(), initializer="zeros", name="largest")
        ...     def update_state(self, y_true, y_pred, sample_weight=None):
        ...         self.largest.assign(torch.maximum(self.largest, torch.as_tensor(y_pred).max()))
        ...     def result(self):
        ...         return self.largest
        >>> Largest()([0.0, 0.0], [1.0, 2.0])
        tensor(2.)

    Source: https://keras.io/api/metrics/base_metric/
    """

    def __init_subclass__(cls, abstract: bool = False, **arguments: Any) -> None:
        super().__init_subclass__(abstract=True, **arguments)  # a name stands for this package's own class

    def __setattr__(self, name: str, value: Any) -> None:
        refuse_new_type(self, name)
        super().__setattr__(name, value)

    def _start(self, name: str | None, dtype: Any) -> None:
        super()._start(name or count_name(snake_case(type(self).__name__)), computed_in(dtype))

    # --- states ------------------------------------------------------------------------------------------------------

    def add_variable(  # type: ignore[override]
        self,
        shape: Sequence[int] = (),
        initializer: Any = None,
        dtype: Any = None,
        aggregation: str | None = "sum",
        name: str | None = None,
    ) -> State:
        """Make a state: a tensor, with `assign`, `assign_add`, `assign_sub` and `value`.

        Arguments:
            shape (tuple of integers, default ()): its shape.
            initializer (name, Initializer or None, default None): the first values; None is "zeros".
            dtype (name, torch.dtype or None, default None): its type; None is that of the metric.
            aggregation (text or None, default "sum"): how replicas would be joined; here each of them counts all.
            name (text or None, default None): the name of the state.

        Errors:
            ValueError: an argument has a bad value.
            RuntimeError: the metric's `__init__` did not call `super().__init__()` yet.

        Source: https://keras.io/api/metrics/base_metric/
        """
        if "_variables" not in vars(self):
            raise RuntimeError(f"{type(self).__name__}: __init__ calls super().__init__() before it makes states.")
        if isinstance(shape, str):
            raise self._refuse(
                f"add_variable: shape must be a tuple of integers; found {shape!r}. Give name={shape!r}."
            )
        if aggregation not in AGGREGATIONS:
            raise self._refuse(f"add_variable: aggregation must be one of {AGGREGATIONS}; found {aggregation!r}.")
        if isinstance(initializer, (Tensor, np.ndarray)):
            initializer = partial(_same_values, tensor_of(initializer))
        wanted, known = name or "variable", self._variables
        free = next(
            each for each in (wanted, *(f"{wanted}_{n}" for n in range(1, len(known) + 2))) if each not in known
        )
        return super().add_variable(shape, initializer, dtype, free)

    def add_weight(
        self, shape: Sequence[int] = (), initializer: Any = None, dtype: Any = None, name: str | None = None
    ) -> State:
        """The same as `add_variable`."""
        return self.add_variable(shape, initializer, dtype, name=name)

    @property
    def variables(self) -> list[State]:
        """The states, and then the variables that are attributes and the states of the metrics that it keeps."""
        found = States(self._variables.values())
        for name, value in vars(self).items():
            for _, each in _within(name, value, (metrics.Metric, Variable)):
                list.extend(found, each.variables if isinstance(each, metrics.Metric) else [each])
        return found

    def reset_state(self) -> None:
        """Start over: all states become 0."""
        with torch.no_grad():
            super().reset_state()

    def _inside(self) -> Iterator[tuple[str, metrics.Metric]]:
        """The metrics that are attributes, alone or in lists and dicts, by name."""
        for name, value in vars(self).items():
            yield from _within(name, value, metrics.Metric)

    def to(self, device: torch.device | str) -> Metric:
        """Move the states to a device, in place."""
        for _, each in self._inside():
            each.to(device)
        super().to(device)
        return self

    def state_dict(self) -> dict[str, Tensor]:
        """The states by name, as they are now; those of metrics inside have their attribute's name in front."""
        inside = {f"{name}/{key}": value for name, each in self._inside() for key, value in each.state_dict().items()}
        return {**super().state_dict(), **inside}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from these states. Raises ValueError when their names or shapes are not the metric's."""
        left = dict(state)
        for name, each in self._inside():
            own = [key for key in left if key.startswith(f"{name}/")]
            each.load_state_dict({key.removeprefix(f"{name}/"): left.pop(key) for key in own})
        super().load_state_dict(left)

    # --- without a state of its own ----------------------------------------------------------------------------------

    def stateless_update_state(self, metric_variables: Sequence[Any], *args: Any, **kwargs: Any) -> list[Tensor]:
        """The states after an update that began with `metric_variables`; the metric's own stay as they are.

        Arguments:
            metric_variables (list of tensors): one for each of `variables`.
            args, kwargs (any): what `update_state` takes.

        Errors:
            ValueError: the number of states differs.

        Source: https://keras.io/api/metrics/base_metric/
        """
        made = self._with(metric_variables)
        made.update_state(*args, **kwargs)
        return [state.value for state in made.variables]

    def stateless_result(self, metric_variables: Sequence[Any]) -> Any:
        """The result of `metric_variables`, one for each of `variables`. Raises ValueError for another number."""
        return self._with(metric_variables).result()

    def stateless_reset_state(self) -> list[Tensor]:
        """The states with which counting starts; the metric's own stay as they are."""
        made = copy.deepcopy(self)
        made.reset_state()
        return [state.value for state in made.variables]

    def _with(self, values: Sequence[Any]) -> Metric:
        """A copy with these states."""
        made = copy.deepcopy(self)
        if len(values) != len(made.variables):
            raise self._refuse(f"it has {len(made.variables)} variables; found {len(values)}.")
        with torch.no_grad():
            for state, value in zip(made.variables, values, strict=True):
                state.assign(value)
        return made

    # --- as plain data -----------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """The options as plain data. A user's class adds those that it does not keep under their names."""
        return super().get_config()

    @property
    def for_files(self) -> Any:
        """What files hold of the metric: the same as an object of this package, or itself, if it is a user's."""
        base: Any = vars(type(self)).get("recognized_as")
        return self if base is None else base.from_config(self.get_config())

    # --- what is given -----------------------------------------------------------------------------------------------

    def _tensor(self, value: Any, dtype: torch.dtype | None = None) -> Tensor:
        return super()._tensor(tensor_of(value, self._device or torch.device("cpu")), dtype)


class _WithEnds(Metric, abstract=True):
    """`AUC`: what it compares with begins just below 0 and ends just above 1, which `thresholds` has."""

    @property
    def thresholds(self) -> Any:
        """All thresholds, in ascending order."""
        if "_thresholds" not in vars(self):  # while the object is made
            return self._inner
        inner = self._inner or [k / (self.num_thresholds - 1) for k in range(1, self.num_thresholds - 1)]
        return [-config.epsilon(), *inner, 1.0 + config.epsilon()]

    @thresholds.setter
    def thresholds(self, value: Any) -> None:
        if "_thresholds" in vars(self):
            raise AttributeError(f"{type(self).__name__}: thresholds are settled when the object is made.")
        vars(self)["_inner"] = value

    def get_config(self) -> dict[str, Any]:
        """The options as plain data; `thresholds` without the two ends."""
        return {**super().get_config(), "thresholds": None if self._inner is None else list(self._inner)}


def _same_values(values: Tensor, shape: Sequence[int]) -> Tensor:
    """An initializer that gives these values."""
    return values.expand(tuple(shape))


def _within(name: str, value: Any, kind: Any) -> Iterator[tuple[str, Any]]:
    """The objects of a class that a value is, or has in lists and dicts, by name."""
    if isinstance(value, kind):
        yield name, value
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            yield from _within(f"{name}/{number}", each, kind)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _within(f"{name}/{key}", each, kind)


class _Masked(Metric, abstract=True):
    """A mean of a function of (y_true, y_pred), where what the mask of y_pred leaves out does not count."""

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch.

        Arguments:
            y_true, y_pred (tensors, arrays, lists or numbers): the targets and the predictions.
            sample_weight (tensor, array, list, number or None, default None): weights of the values.
        """
        mask = mask_of(y_pred)
        if mask is not None:
            weight = None if sample_weight is None else self._tensor(sample_weight, self._type)
            sample_weight = apply_mask(weight, self._tensor(mask), self._type, broadcast=True)
        super().update_state(y_true, y_pred, sample_weight)


class MeanMetricWrapper(_Masked, metrics.MeanMetricWrapper, abstract=True):
    """The mean of `fn(y_true, y_pred, **options)`, one value a sample or more. Further options are passed on to it.

    Options:
        fn (function): gives the values.
        name (text or None, default None): what logs call the metric; None counts: `mean_metric_wrapper`.

    Errors:
        TypeError: for an option that the function does not take.

    Example:
        >>> def farther_than(y_true, y_pred, distance=1.0):
        ...     return ((y_pred - y_true).abs() > distance).float()
        >>> MeanMetricWrapper(farther_than, distance=2.0)([0.0, 0.0], [1.0, 3.0])
        tensor(0.5000)

    Source: https://keras.io/api/metrics/metrics_wrappers/
    """

    adds_up = False  # what a user's function mixes is not known

    def __init__(self, fn: Function, name: str | None = None, dtype: Any = None, **options: Any):
        name = name or count_name(snake_case(type(self).__name__))
        metrics.MeanMetricWrapper.__init__(self, fn, name, dtype, **options)

    def get_config(self) -> dict[str, Any]:
        """Name, type, the function as Keras 3 writes it, and its options."""
        return {"name": self.name, "dtype": self.dtype, "fn": FAMILY.serialize(self._function), **self._options}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> MeanMetricWrapper:
        """The inverse of `get_config`. Raises ValueError for an unknown function."""
        fn = config.get("fn")
        is_entry = isinstance(fn, (str, Mapping))
        return cls(**{**config, "fn": _function_of(fn) if is_entry else fn})

    @property
    def for_files(self) -> Any:
        """What files hold of the metric: the wrapper of this package, or the name of what goes by shapes."""
        if self._function is accuracy_by_shape:
            return self.name
        fn = getattr(self._function, "for_files", self._function)
        return metrics.MeanMetricWrapper(fn, self.name, self.dtype, **self._options)


def _function_of(entry: Any) -> Any:
    """The function of an entry, which is that of a loss where metrics have a class of this name."""
    name = entry.get("config") if isinstance(entry, Mapping) and entry.get("class_name") == "function" else entry
    return FUNCTIONS[name] if isinstance(name, str) and name in FUNCTIONS else losses.get(entry)


# The function of a class where it is not the one of its name.
_FUNCTION_OF: Mapping[str, Function] = {
    "Accuracy": _ACCURACY,
    "RootMeanSquaredError": _SQUARED_ERROR,
    "CosineSimilarity": _COSINE,
    "LogCoshError": log_cosh,
    "KLDivergence": kl_divergence,
}
# Options that Keras 3's classes do not have.
_WITHOUT: Mapping[str, tuple[str, ...]] = {"BinaryCrossentropy": ("axis",)}


def _twin(name: str) -> Any:
    """The class of Keras 3 for one of this package."""
    base = getattr(metrics, name)
    made = members_of_twin(base, __name__)
    if hasattr(base, "function"):
        own = base.function.__name__
        made["function"] = staticmethod(_FUNCTION_OF.get(name) or {**losses.FUNCTIONS, **FUNCTIONS}[own])
    of_function = issubclass(base, MeanOfFunction)
    bases = tuple(_TWINS[each] for each in base.__bases__ if each in _TWINS)
    first = _WithEnds if name == "AUC" else _Masked if of_function else Metric
    cls = type(base)(name, (*(bases or (first,)), base), made, abstract=True)
    if name in _WITHOUT:
        taken = signature(cls).parameters
        cls.__signature__ = Signature([each for each in taken.values() if each.name not in _WITHOUT[name]])
    _TWINS[base] = cls
    return cls


_TWINS: dict[type, Any] = {}
_CLASS_NAMES = """
Sum Mean AUC Accuracy BinaryAccuracy BinaryCrossentropy IoU MeanIoU OneHotIoU OneHotMeanIoU BinaryIoU
CategoricalAccuracy CategoricalCrossentropy CategoricalHinge ConcordanceCorrelation CosineSimilarity FBetaScore F1Score
FalseNegatives FalsePositives Hinge KLDivergence LogCoshError MeanAbsoluteError MeanAbsolutePercentageError
MeanSquaredError MeanSquaredLogarithmicError PearsonCorrelation Poisson Precision PrecisionAtRecall R2Score Recall
RecallAtPrecision RootMeanSquaredError SensitivityAtSpecificity SparseCategoricalAccuracy SparseCategoricalCrossentropy
SparseTopKCategoricalAccuracy SpecificityAtSensitivity SquaredHinge TopKCategoricalAccuracy TrueNegatives TruePositives
"""
CLASSES: dict[str, Any] = {name: _twin(name) for name in _CLASS_NAMES.split()}
(
    Sum,
    Mean,
    AUC,
    Accuracy,
    BinaryAccuracy,
    BinaryCrossentropy,
    IoU,
    MeanIoU,
    OneHotIoU,
    OneHotMeanIoU,
    BinaryIoU,
    CategoricalAccuracy,
    CategoricalCrossentropy,
    CategoricalHinge,
    ConcordanceCorrelation,
    CosineSimilarity,
    FBetaScore,
    F1Score,
    FalseNegatives,
    FalsePositives,
    Hinge,
    KLDivergence,
    LogCoshError,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    PearsonCorrelation,
    Poisson,
    Precision,
    PrecisionAtRecall,
    R2Score,
    Recall,
    RecallAtPrecision,
    RootMeanSquaredError,
    SensitivityAtSpecificity,
    SparseCategoricalAccuracy,
    SparseCategoricalCrossentropy,
    SparseTopKCategoricalAccuracy,
    SpecificityAtSensitivity,
    SquaredHinge,
    TopKCategoricalAccuracy,
    TrueNegatives,
    TruePositives,
) = CLASSES.values()


# --- by name ---------------------------------------------------------------------------------------------------------

_ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("bce", "BCE"), "BinaryCrossentropy"),
    **dict.fromkeys(("mse", "MSE"), "MeanSquaredError"),
    **dict.fromkeys(("mae", "MAE"), "MeanAbsoluteError"),
    **dict.fromkeys(("mape", "MAPE"), "MeanAbsolutePercentageError"),
    **dict.fromkeys(("msle", "MSLE"), "MeanSquaredLogarithmicError"),
    **dict.fromkeys(("kld", "KLD"), "KLDivergence"),
}
_KNOWN = {"Metric": Metric, "MeanMetricWrapper": MeanMetricWrapper, **CLASSES}
FAMILY = Family(
    "metric",
    "keras.metrics",
    {
        **losses.FUNCTIONS,  # a class of the same name comes before
        **FUNCTIONS,
        **_KNOWN,
        **{snake_case(name): each for name, each in _KNOWN.items()},
        **{name: CLASSES[of] for name, of in _ALIASES.items()},
    },
)


def get(identifier: Any) -> Any:
    """The metric of a name, a config or a class: an object, or a function; other callables and None as they are.

    Arguments:
        identifier (text, dict, class, function, object or None): such as "mse", "AUC" or the result of `serialize`.

    Errors:
        ValueError: for an unknown name, and for what is no metric.

    Example:
        >>> type(get("mse")).__name__, get({"class_name": "AUC", "config": {"curve": "PR"}}).curve
        ('MeanSquaredError', 'PR')

    Source: https://keras.io/api/metrics/
    """
    if _is_function_entry(identifier):
        return _function_of(identifier)
    return FAMILY.get(identifier)


def serialize(metric: Any) -> Any:
    """The config of a metric, from which `deserialize` makes it.

    Arguments:
        metric (function or object): the metric.

    Errors:
        ValueError: for a function without a name.

    Example:
        >>> serialize(huber)["config"], serialize(AUC())["class_name"]
        ('huber', 'AUC')

    Source: https://keras.io/api/metrics/
    """
    return FAMILY.serialize(metric)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The metric of a config or a name.

    Arguments:
        config (dict or text): what `serialize` gave.
        custom_objects (dict or None, default None): your own classes and functions by name.

    Errors:
        ValueError: for an unknown name or a bad option.

    Example:
        >>> deserialize(serialize(AUC(curve="PR"))).curve
        'PR'

    Source: https://keras.io/api/metrics/
    """
    if _is_function_entry(config) and config["config"] not in (custom_objects or {}):
        return _function_of(config)
    return FAMILY.deserialize(config, custom_objects)


def _is_function_entry(identifier: Any) -> bool:
    return isinstance(identifier, Mapping) and identifier.get("class_name") == "function"


@rising
def accuracy_by_shape(y_true: Any, y_pred: Any) -> Any:
    """The accuracy that the shapes mean: what `compile` makes of "accuracy" and "acc"."""
    return FUNCTIONS[f"{losses.kind_by_shape(y_true, y_pred)}_accuracy"](y_true, y_pred)


def as_metric(identifier: Any) -> Any:
    """The metric of an output as `compile` takes it: an object, with the name under which it is reported.

    A text is the name itself; "accuracy" and "acc" go by shapes. Raises ValueError as `get` does, and for None.
    """
    by_shape = isinstance(identifier, str) and identifier.lower() in ("accuracy", "acc")
    found = accuracy_by_shape if by_shape else get(identifier)
    if found is None:
        raise ValueError("compile: a metric must be a name, a function, a config or an object; found None.")
    name = identifier if isinstance(identifier, str) else getattr(found, "name", getattr(found, "__name__", None))
    if not isinstance(found, metrics.Metric):
        return MeanMetricWrapper(found, name=name if isinstance(name, str) else snake_case(type(found).__name__))
    if isinstance(identifier, str):
        found.name = identifier
    return found
