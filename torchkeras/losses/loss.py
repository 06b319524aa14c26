"""The base of the classes of losses, and of those that are made of a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Signature, signature
from typing import Any, ClassVar

import torch
from torch import Tensor

from torchkeras import config, registry
from torchkeras.activations.logits import carried
from torchkeras.base.naming import snake_case
from torchkeras.base.rules import SIGNATURE_OF_INIT, Rule, one_of
from torchkeras.declared import Declared, check_options, function_named, options_of
from torchkeras.losses.reduction import REDUCTIONS, Reduction, reduce_weighted
from torchkeras.losses.shared import check_scores, same_rank


class Loss(Declared):
    """A loss with options; a subclass defines `call(y_true, y_pred)`.

    `call` gives the values to reduce, usually one a sample.

    Options:
        name (text or None, default None): the loss's name in errors and configs; None is the class's, in snake case.
        reduction (text or None, default "sum_over_batch_size"): how the weighted values of a batch become one number.
            "sum_over_batch_size" and "mean" divide their sum by the number of values that no mask leaves out,
            "mean_with_sample_weight" by the sum of the weights. "sum" is the sum. "none" and None keep the values.
        dtype (text, torch.dtype or None, default None): the type of the computation. None takes the type of `y_pred`,
            but at least the default float type: half types are computed in float32.

    Errors:
        ValueError: for a bad option.

    Example:
        >>> class FourthPower(Loss):
        ...     def call(self, y_true, y_pred):
        ...         return ((y_pred - y_true) ** 4).mean(-1)
        >>> FourthPower()(torch.zeros(2, 3), torch.full((2, 3), 2.0))
        tensor(16.)

    Source: https://keras.io/api/losses/
    """

    rules: ClassVar[Mapping[str, Rule]] = {"reduction": one_of(*REDUCTIONS)}
    changeable = ("name", "reduction")
    higher_is_better: bool | None = False
    takes_labels: ClassVar[bool] = False  # whether y_true holds class numbers, which keep their type
    recognized_as: ClassVar[type | None] = None  # see `kind_of`
    _broadcasts: ClassVar[bool] = False  # whether weights and masks may have any shape that torch broadcasts

    name: str
    reduction: str | None
    dtype: str | None

    def __init_subclass__(cls, abstract: bool = False, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if not abstract:
            registry.losses.own(cls)

    def __init__(self, name: str | None = None, reduction: Reduction | None = "sum_over_batch_size", dtype: Any = None):
        self.keep(name=name or self._automatic_name(), reduction=reduction, dtype=dtype)

    def _automatic_name(self) -> str:
        return snake_case(type(self).__name__)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The values to reduce, one a sample (and step); y_true and y_pred come in the type of the computation."""
        raise NotImplementedError(f"{type(self).__name__}: a loss defines call(y_true, y_pred).")

    def own_mask(self, y_true: Tensor, y_pred: Tensor, values: Tensor) -> Tensor | None:
        """True for the values that count, where the loss itself leaves some out; None where it does not.

        As in Keras 3 values may carry it, as `_keras_mask`.
        """
        return getattr(values, "_keras_mask", None)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None, mask: Any = None) -> Tensor:
        """The reduced loss.

        Arguments:
            y_true (tensor or array): the targets.
            y_pred (tensor or array): the predictions; the loss is computed on their device.
            sample_weight (tensor, array or None, default None): weights of the values, with the same number of axes,
                each of the same size or of size 1.
            mask (tensor, array or None, default None): True for the values that count; None takes the mask that y_pred
                carries as `_keras_mask`.
        """
        if mask is None:
            mask = getattr(y_pred, "_keras_mask", None)
        y_true, y_pred = self._given(y_true, y_pred)
        if sample_weight is None and mask is None:
            alone = self._mean_alone(y_true, y_pred)
            if alone is not None:
                return alone
        values = self._checked(self.call(y_true, y_pred), y_pred)
        sample_weight, mask = (_on(values.device, each) for each in (sample_weight, mask))
        mask = _both(mask, self.own_mask(y_true, y_pred, values))
        try:
            return reduce_weighted(values, sample_weight, mask, self.reduction, self._broadcasts)
        except ValueError as error:
            raise ValueError(f"{type(self).__name__} {self.name!r}: {error}") from error

    def _given(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        """y_true and y_pred as `call` gets them."""
        y_pred = y_pred if isinstance(y_pred, Tensor) else torch.as_tensor(y_pred)
        y_true = _on(y_pred.device, y_true)
        dtype = self._type_for(y_pred)
        if y_pred.dtype != dtype:
            y_pred = carried(y_pred, lambda tensor: tensor.to(dtype))
        if not self.takes_labels and y_true.dtype != dtype:
            y_true = y_true.to(dtype)
        return y_true, y_pred

    def _mean_alone(self, y_true: Any, y_pred: Any) -> Tensor | None:
        """The loss without weights and masks, where there is a shorter way to it; None where there is not."""
        return None

    def _checked(self, values: Any, y_pred: Any) -> Tensor:
        """What `call` gave, as numbers with a point. Raises TypeError or ValueError for what is no loss."""
        check_scores(self, values, None if isinstance(self, FunctionLoss) or not y_pred.dim() else y_pred)
        return values if values.is_floating_point() else values.to(y_pred.dtype)

    def _type_for(self, y_pred: Tensor) -> torch.dtype:
        if self.dtype is not None:
            return getattr(torch, self.dtype)
        return torch.promote_types(y_pred.dtype, getattr(torch, config.floatx()))


def _both(mask: Tensor | None, own: Tensor | None) -> Tensor | None:
    """One mask for two."""
    if mask is None or own is None:
        return own if mask is None else mask
    return torch.logical_and(*same_rank(mask, own))


class FunctionLoss(Loss, abstract=True):
    """A loss whose values are those of `function`, and whose options are its keyword arguments.

    A subclass names the function, and as `options` those of its arguments that are options, if not all are, in the
    order of the constructor's; reduction, name and dtype follow, unless they stand among them. y_true and y_pred may
    differ by a last axis of 1. Otherwise they must have the same shape, where Keras 3 would broadcast.

    Options:
        name (text, default the class's in snake case): the loss's name in errors and configs.

    Errors:
        ValueError: for y_true and y_pred of shapes that do not fit.
    """

    function: ClassVar[Callable[..., Tensor]]
    # The mean of all values, by fewer kernels, for the last axis; of labels it may be None, where no way is shorter.
    mean: ClassVar[Callable[..., Tensor | None] | None] = None
    options: ClassVar[tuple[str, ...] | None] = None
    default_name: ClassVar[str] = ""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        own = "__init__" in cls.__dict__
        cls.__signature__ = SIGNATURE_OF_INIT if own else _signature(cls)

    def __init__(self, *values: Any, **options: Any):
        bound = self._bind(values, options)
        self.keep(**bound)
        self._options = {name: getattr(self, name) for name in bound if name not in ("reduction", "name", "dtype")}

    def _mean_alone(self, y_true: Any, y_pred: Any) -> Tensor | None:
        mean = kind_of(self).__dict__.get("mean")  # not that of a base: a subclass may compute otherwise
        if mean is None or self.reduction in ("sum", "none", None) or getattr(self, "axis", -1) != -1:
            return None
        fits = self.takes_labels or y_true.shape == y_pred.shape
        return mean(y_true, y_pred, **self._options) if fits and y_pred.numel() else None

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The values of the function."""
        if not self.takes_labels:
            y_true, y_pred = same_rank(y_true, y_pred)
            if y_true.shape != y_pred.shape:
                raise ValueError(
                    f"{type(self).__name__} {self.name!r}: y_true of shape {tuple(y_true.shape)} does not fit y_pred "
                    f"of shape {tuple(y_pred.shape)}."
                )
        return type(self).function(y_true, y_pred, **self._options)


class LossFunctionWrapper(Loss):
    """A function of your own, `fn(y_true, y_pred, **options)`, as a loss that reduces by the rules of Keras 3.

    Further options are passed on to the function. y_true comes in the type of y_pred.

    Options:
        fn (function): gives the values to reduce, usually one a sample.
        name (text or None, default None): the loss's name in errors and configs; None is the function's.

    Errors:
        TypeError: for an option that the function does not take.

    Example:
        >>> def scaled(y_true, y_pred, scale=1.0):
        ...     return scale * (y_pred - y_true).abs().mean(-1)
        >>> LossFunctionWrapper(scaled, scale=10.0)(torch.zeros(2, 3), torch.ones(2, 3))
        tensor(10.)
    """

    fn: Callable[..., Tensor]

    def __init__(
        self,
        fn: Callable[..., Tensor],
        reduction: Reduction | None = "sum_over_batch_size",
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ):
        super().__init__(name or getattr(fn, "__name__", type(fn).__name__), reduction, dtype)
        check_options(type(self).__name__, fn, options)
        self.fn, self._options = fn, options

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The values of the function."""
        return self.fn(y_true, y_pred, **self._options)

    def get_config(self) -> dict[str, Any]:
        """Name, reduction, type, the function by its name, and its options."""
        kept = {"name": self.name, "reduction": self.reduction, "fn": registry.losses.serialize(self.fn)}
        return {**kept, **({} if self.dtype is None else {"dtype": self.dtype}), **self._options}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> LossFunctionWrapper:
        """The inverse of `get_config`. Raises ValueError for an unknown function."""
        return cls(**{**config, "fn": function_named(registry.losses, config.get("fn"))})


def function_of(loss: Any) -> Any:
    """The function that a loss of Keras computes: `huber` for `Huber()`; any other loss is given back.

    Losses are recognized by it.

    Arguments:
        loss (function or object): a loss.

    Example:
        >>> function_of(Huber()) is huber
        True
    """
    return registry.losses.find(type(loss).function.__name__) if isinstance(loss, FunctionLoss) else loss


def kind_of(what: Any) -> type:
    """The class by which a loss or metric is recognized: the class that its own computes the same as, else its own.

    A class says by `recognized_as` that its objects compute what those of another class do; for its subclasses it does
    not.

    Arguments:
        what (object): a loss or metric.

    Example:
        >>> kind_of(Huber()).__name__
        'Huber'
    """
    return type(what).__dict__.get("recognized_as") or type(what)


def _signature(cls: type[FunctionLoss]) -> Signature:
    shared = signature(Loss).parameters
    name = shared["name"].replace(default=cls.default_name or snake_case(cls.__name__))
    last = {"reduction": shared["reduction"], "name": name, "dtype": shared["dtype"]}
    names = None if cls.options is None else [each for each in cls.options if each not in last]
    found = {**{each.name: each for each in options_of(cls.function, names)}, **last}
    order = [*(cls.options or ()), *(each for each in found if each not in (cls.options or ()))]
    return Signature([found[each] for each in order])


def _on(device: torch.device, value: Any) -> Any:
    return value if value is None or isinstance(value, Tensor) else torch.as_tensor(value, device=device)
