"""Metrics that are a mean or sum of numbers, among them those of a function of (y_true, y_pred)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from inspect import Signature, signature
from typing import Any, ClassVar

import torch
from torch import Tensor

from torchkeras import registry
from torchkeras.activations.logits import carried
from torchkeras.base.naming import snake_case
from torchkeras.base.rules import SIGNATURE_OF_INIT
from torchkeras.declared import check_options, function_named, options_of
from torchkeras.losses.shared import HALF_TYPES, divide_no_nan, same_rank
from torchkeras.metrics.direction import higher_is_better
from torchkeras.metrics.metric import Metric


class Sum(Metric, by_class=True):
    """sum(values * sample_weight).

    Example:
        >>> Sum()(torch.tensor([1.0, 2.0, 4.0]), sample_weight=torch.tensor([1.0, 1.0, 0.5]))
        tensor(5.)

    Source: https://keras.io/api/metrics/metrics_wrappers/
    """

    def __init__(self, name: str = "sum", dtype: Any = None):
        self._start(name, dtype)
        self.add_variable(name="total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Add values of any shape; sample_weight: one number, or one for each sample, step, ... of them."""
        self.total.add_(self._weighted(self._tensor(values), sample_weight, torch.sum)[0].sum())

    def result(self) -> Tensor:
        """The sum so far."""
        return self.total

    def _weighted(self, values: Tensor, sample_weight: Any, reduce: Callable[..., Tensor]) -> tuple[Tensor, Any]:
        """The weighted values, and the weights, of each sample: axes after the first are reduced by `reduce`."""
        values = self._tensor(values, self._type)
        weight = None if sample_weight is None else self._tensor(sample_weight, self._type)
        if weight is not None:
            values, weight = same_rank(values, weight)
            axes = weight.dim()
            if values.dim() > axes:
                values = reduce(values, dim=tuple(range(axes, values.dim())))
            pairs = zip(weight.shape, values.shape, strict=False)
            if values.dim() != axes or any(found not in (1, size) for found, size in pairs):
                raise self._refuse(
                    f"sample_weight of shape {tuple(weight.shape)} does not fit values of shape {tuple(values.shape)}."
                )
            values = values * weight
            if axes > 1:
                weight = reduce(weight.expand(values.shape), dim=tuple(range(1, axes)))
            elif axes == 1:
                weight = weight.expand(values.shape)
        if values.dim() > 1:
            values = reduce(values, dim=tuple(range(1, values.dim())))
        return values, weight


class Mean(Sum, by_class=True):
    """sum(values * sample_weight) / sum(sample_weight), 0 before the first update.

    Axes of the values that the weights do not have are averaged first. Without weights these are all axes but the
    first: each sample counts once.

    Example:
        >>> mean = Mean()
        >>> mean.update_state(torch.tensor([1.0, 3.0]))
        >>> mean(torch.tensor([8.0]))
        tensor(4.)

    Source: https://keras.io/api/metrics/metrics_wrappers/
    """

    def __init__(self, name: str = "mean", dtype: Any = None):
        super().__init__(name, dtype)
        self.add_variable(name="count")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Add values of any shape; sample_weight: one number, or one for each sample, step, ... of them."""
        values = self._tensor(values)
        if sample_weight is None:
            self._add(values)
            return
        values, weight = self._weighted(values, sample_weight, torch.mean)
        self.total.add_(values.sum())
        self.count.add_(weight.sum())

    def _add(self, values: Tensor) -> None:
        samples = values.shape[0] if values.dim() else 1
        total = values.sum(dtype=self._type)
        self.total.add_(total, alpha=1.0 / max(math.prod(values.shape[1:]), 1))
        self.count.add_(samples)

    def result(self) -> Tensor:
        """The mean so far."""
        return divide_no_nan(self.total, self.count)


class MeanOfFunction(Mean, abstract=True):
    """The mean of a function of (y_true, y_pred), which gives one value a sample or more."""

    def values(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The values of a batch."""
        raise NotImplementedError

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Add a batch; half types count in the type of the states."""
        y_true, y_pred = self._tensor(y_true), self._tensor(y_pred)
        if y_pred.dtype in HALF_TYPES:
            y_pred = carried(y_pred, lambda tensor: tensor.to(self._type))
        super().update_state(self.values(y_true, y_pred), sample_weight)


class MeanMetricWrapper(MeanOfFunction, by_class=True):
    """The mean of `fn(y_true, y_pred, **options)`, one value a sample or more.

    Further options are passed on to the function.

    Options:
        fn (function): gives the values.
        name (text or None, default None): what logs and configs call the metric; None is the function's name.

    Errors:
        TypeError: for an option that the function does not take.

    Example:
        >>> def farther_than(y_true, y_pred, distance=1.0):
        ...     return ((y_pred - y_true).abs() > distance).float()
        >>> MeanMetricWrapper(farther_than, distance=2.0)(torch.zeros(2), torch.tensor([1.0, 3.0]))
        tensor(0.5000)

    Source: https://keras.io/api/metrics/metrics_wrappers/
    """

    adds_up = False  # what a user's function mixes is not known

    def __init__(self, fn: Callable[..., Tensor], name: str | None = None, dtype: Any = None, **options: Any):
        super().__init__(name or getattr(fn, "__name__", type(fn).__name__), dtype)
        check_options(type(self).__name__, fn, options)
        self._function, self._options = fn, options
        self.higher_is_better = higher_is_better(fn)

    def values(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The values of the function."""
        return self._function(y_true, y_pred, **self._options)

    def get_config(self) -> dict[str, Any]:
        """Name, type, the function by its name, and its options."""
        function = registry.metrics.serialize(self._function)
        return {"name": self.name, "dtype": self.dtype, "fn": function, **self._options}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> MeanMetricWrapper:
        """The inverse of `get_config`. Raises ValueError for an unknown function."""
        return cls(**{**config, "fn": function_named(registry.metrics, config.get("fn"))})


class FunctionMetric(MeanOfFunction, abstract=True):
    """The mean of `function`, with its keyword arguments as options.

    A subclass names the function, and as `first` those of the options that come before name and dtype.
    """

    function: ClassVar[Callable[..., Tensor]]
    first: ClassVar[tuple[str, ...]] = ()
    default_name: ClassVar[str] = ""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        own = "__init__" in cls.__dict__
        cls.__signature__ = SIGNATURE_OF_INIT if own else _signature(cls)

    def __init__(self, *values: Any, **options: Any):
        bound = self._bind(values, options)
        super().__init__(bound.pop("name"), bound.pop("dtype"))
        self.keep(**bound)
        self._options = {option: getattr(self, option) for option in bound}

    def values(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The values of the function."""
        return type(self).function(y_true, y_pred, **self._options)


def _signature(cls: type[FunctionMetric]) -> Signature:
    options = options_of(cls.function)
    first = [option for option in options if option.name in cls.first]
    shared = signature(Metric).parameters
    name = shared["name"].replace(default=cls.default_name or snake_case(cls.__name__))
    return Signature([*first, name, shared["dtype"], *(option for option in options if option not in first)])
