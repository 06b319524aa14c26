"""`keras.losses` of Keras 3.15: `loss(y_true, y_pred)`, as functions and, with options, as classes.

The functions and classes are those of this package, made to take what Keras 3 takes: arrays, lists, numbers and
variables beside tensors, targets and weights of any shapes that torch broadcasts, and the `_keras_mask` of y_pred. A
class computes in its `dtype`, whatever the types of y_true and y_pred.

Functions give numbers in the type of y_pred; whole numbers count as floats. Some of them give float32 at most, as Keras
3 does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from torchkeras import config, losses, registry
from torchkeras.activations.logits import carried
from torchkeras.base.dtypes import dtype_of, policy_of
from torchkeras.base.naming import count_name, snake_case
from torchkeras.base.nested import Symbolic
from torchkeras.engine.carried_masks import marked, mask_of
from torchkeras.keras3.families import Family
from torchkeras.losses import keras3 as later
from torchkeras.losses.loss import FunctionLoss as BaseFunctionLoss
from torchkeras.losses.shared import same_rank
from torchkeras.tensor_functions.operations.values import floats, in_32_bits, is_variable, tensor_of

Function = Callable[..., Any]

__all__ = [
    "CTC",
    "BinaryCrossentropy",
    "BinaryFocalCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalFocalCrossentropy",
    "CategoricalGeneralizedCrossEntropy",
    "CategoricalHinge",
    "Circle",
    "CosineSimilarity",
    "Dice",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "Tversky",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_generalized_cross_entropy",
    "categorical_hinge",
    "circle",
    "cosine_similarity",
    "ctc",
    "deserialize",
    "dice",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "log_cosh",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "poisson",
    "serialize",
    "sparse_categorical_crossentropy",
    "squared_hinge",
    "tversky",
]

# --- functions -------------------------------------------------------------------------------------------------------


def on_values(
    function: Function,
    *,
    read: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] | None = None,
    labels: bool = False,
    as_given: bool = False,
    narrow: bool = False,
) -> Function:
    """A function of two tensors, for tensors, arrays, lists, numbers and variables.

    Arguments:
        function (function): computes from (y_true, y_pred, ...); symbolic tensors reach it as they are.
        read (function or None, default None): what changes the two tensors first, or refuses them.
        labels (bool, default False): whether y_true holds class numbers, which keep their type.
        as_given (bool, default False): whether whole numbers in y_pred stay such.
        narrow (bool, default False): whether the result has 32 bits at most.
    """

    @wraps(function)
    def compute(y_true: Any, y_pred: Any, *values: Any, **options: Any) -> Any:
        if isinstance(y_pred, Symbolic) or isinstance(y_true, Symbolic):
            return function(y_true, y_pred, *values, **options)
        y_pred = tensor_of(y_pred, _device_of(y_true))
        y_pred = y_pred if as_given else floats(y_pred)
        y_true = tensor_of(y_true, y_pred.device)
        if not labels and y_true.dtype != y_pred.dtype:
            y_true = y_true.to(y_pred.dtype)
        if read is not None:
            try:
                y_true, y_pred = read(y_true, y_pred)
            except ValueError as error:
                raise ValueError(f"{compute.__name__}: {error}") from error
        found = function(y_true, y_pred, *values, **options)
        return found.to(in_32_bits(found.dtype)) if narrow else found

    return compute


def _device_of(value: Any) -> torch.device | None:
    return value.device if isinstance(value, Tensor) else None


def _broadcast(y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
    """Both of one shape: torch's kernels warn of others."""
    y_true, y_pred = same_rank(y_true, y_pred)
    if y_true.shape == y_pred.shape:
        return y_true, y_pred
    try:
        shape = torch.broadcast_shapes(y_true.shape, y_pred.shape)
    except RuntimeError as error:
        raise ValueError(
            f"y_true of shape {tuple(y_true.shape)} and y_pred of shape {tuple(y_pred.shape)} do not fit each other."
        ) from error
    return y_true.expand(shape), y_pred.expand(shape)


def _alike(y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
    """Both as they are. Raises ValueError for two shapes."""
    if y_true.shape != y_pred.shape:
        raise ValueError(
            f"y_true of shape {tuple(y_true.shape)} does not fit y_pred of shape {tuple(y_pred.shape)}: a crossentropy "
            "takes two of one shape."
        )
    return y_true, y_pred


def published(function: Function, name: str, module: str) -> Function:
    """The function under a name of a module."""
    function.__signature__ = signature(function)  # type: ignore[attr-defined]
    function.__doc__ = (function.__doc__ or "").replace(f"{function.__name__}(", f"{name}(")  # in its example
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    family = registry.losses if name in registry.losses else registry.metrics
    if name in family:
        function.for_files = family.find(name)  # type: ignore[attr-defined]  # what files hold
    return function


def _generalized(y_true: Tensor, y_pred: Tensor, q: float) -> Tensor:
    """(1 - p**q) / q, p = y_pred[y_true]; for noisy labels.

    Arguments:
        y_true (tensor): class numbers.
        y_pred (tensor): probabilities.
        q (number between 0 and 1): the nearer to 1, the less a wrong label counts.

    Shapes:
        y_true (batch, ...) or (batch, ..., 1), y_pred (batch, ..., classes) -> (batch, ...)

    Example:
        >>> categorical_generalized_cross_entropy([1], [[0.75, 0.25]], q=0.5)
        tensor([1.])

    Source: https://arxiv.org/abs/1805.07836
    """
    return losses.categorical_generalized_cross_entropy(y_true, y_pred, q)


def _circle(
    y_true: Tensor,
    y_pred: Tensor,
    ref_labels: Any = None,
    ref_embeddings: Any = None,
    remove_diagonal: bool = True,
    gamma: float = 80,
    margin: float = 0.4,
) -> Tensor:
    labels, embeddings = (
        None if each is None else tensor_of(each, y_pred.device) for each in (ref_labels, ref_embeddings)
    )
    return losses.circle(y_true, y_pred, labels, embeddings, remove_diagonal, gamma, margin)


_circle.__doc__ = losses.circle.__doc__

# Each function of Keras 3: that of this package, and how it reads its values.
_ROWS: Mapping[str, tuple[Function, dict[str, Any]]] = {
    "mean_squared_error": (losses.mean_squared_error, {"read": _broadcast}),
    "mean_absolute_error": (losses.mean_absolute_error, {"read": same_rank}),
    "mean_absolute_percentage_error": (losses.mean_absolute_percentage_error, {"read": same_rank}),
    "mean_squared_logarithmic_error": (losses.mean_squared_logarithmic_error, {"read": _broadcast, "narrow": True}),
    "cosine_similarity": (losses.cosine_similarity, {"read": same_rank}),
    "huber": (losses.huber, {"read": _broadcast}),
    "log_cosh": (losses.log_cosh, {"read": same_rank}),
    "hinge": (later.hinge, {"narrow": True}),
    "squared_hinge": (later.squared_hinge, {"narrow": True}),
    "categorical_hinge": (losses.categorical_hinge, {"narrow": True}),
    "kl_divergence": (losses.kl_divergence, {}),
    "poisson": (losses.poisson, {}),
    "binary_crossentropy": (losses.binary_crossentropy, {"read": _alike}),
    "binary_focal_crossentropy": (losses.binary_focal_crossentropy, {"read": _alike}),
    "categorical_crossentropy": (losses.categorical_crossentropy, {"read": _alike}),
    "categorical_focal_crossentropy": (losses.categorical_focal_crossentropy, {}),
    "sparse_categorical_crossentropy": (later.sparse_categorical_crossentropy, {"labels": True}),
    "categorical_generalized_cross_entropy": (_generalized, {"labels": True}),
    "ctc": (losses.ctc, {"labels": True}),
    "circle": (_circle, {"labels": True}),
    "dice": (losses.dice, {}),
    "tversky": (losses.tversky, {}),
}
FUNCTIONS: dict[str, Function] = {
    name: published(on_values(function, **how), name, __name__) for name, (function, how) in _ROWS.items()
}
(
    mean_squared_error,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_logarithmic_error,
    cosine_similarity,
    huber,
    log_cosh,
    hinge,
    squared_hinge,
    categorical_hinge,
    kl_divergence,
    poisson,
    binary_crossentropy,
    binary_focal_crossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
    sparse_categorical_crossentropy,
    categorical_generalized_cross_entropy,
    ctc,
    circle,
    dice,
    tversky,
) = FUNCTIONS.values()


# --- classes ---------------------------------------------------------------------------------------------------------


def computed_in(dtype: Any) -> str | None:
    """The type of computation, by name, of a type or a policy; None stays None."""
    return None if dtype is None else policy_of(dtype).compute_dtype


def refuse_new_type(made: Any, name: str) -> None:
    """Raise AttributeError where the type of a loss or metric would be set once it is made."""
    if name == "dtype" and name in vars(made):
        raise AttributeError(f"{type(made).__name__}: dtype is settled when the object is made.")


class Loss(losses.Loss, abstract=True):
    """A loss with options; a subclass defines `call(y_true, y_pred)`.

    `call` gets tensors of the type `dtype`, in the lists and dicts in which they were given, and gives the values to
    reduce. These are multiplied by weights and masks of any shapes that torch broadcasts. A mask may also be the
    `_keras_mask` of y_pred, or of the values.

    Options:
        name (text or None, default None): the loss's name; None counts: `my_loss`, `my_loss_1`.
        dtype (name, DTypePolicy or None, default None): the type of the computation; None is `config.floatx()`.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> class FourthPower(Loss):
        ...     def call(self, y_true, y_pred):
        ...         return ((y_pred - y_true) ** 4).mean(-1)
        >>> FourthPower()([[0, 0]], [[1.0, 2.0]])
        tensor(8.5000)

    Source: https://keras.io/api/losses/
    """

    _broadcasts = True

    def __init_subclass__(cls, abstract: bool = False, **arguments: Any) -> None:
        super().__init_subclass__(abstract=True, **arguments)  # a name stands for this package's own class

    def __setattr__(self, name: str, value: Any) -> None:
        refuse_new_type(self, name)
        super().__setattr__(name, value)

    def keep(self, **options: Any) -> None:
        """Keep each option as an attribute; the type is settled now. Raises ValueError for a bad value."""
        if "dtype" in options:
            options["dtype"] = computed_in(options["dtype"]) or config.floatx()
        super().keep(**options)

    def _automatic_name(self) -> str:
        return count_name(snake_case(type(self).__name__))

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None, mask: Any = None) -> Tensor:
        """The reduced loss.

        Arguments:
            y_true (tensor, array, number, or a list or dict of them): the targets.
            y_pred (the same): the predictions; the loss is computed on their device.
            sample_weight (tensor, array, number or None, default None): weights of the values.
            mask (tensor, array or None, default None): True for the values that count; None is y_pred's own.
        """
        if sample_weight is not None and not isinstance(sample_weight, Tensor):
            sample_weight = tensor_of(sample_weight, _device_of(y_pred) or _device_of(y_true))
        return super().__call__(y_true, y_pred, sample_weight, mask)

    def _given(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        dtype = dtype_of(self.dtype or config.floatx())
        y_pred = _each_tensor(y_pred, dtype, _device_of(y_true))
        return _each_tensor(y_true, None if self.takes_labels else dtype, _device_of(y_pred)), y_pred

    def _checked(self, values: Any, y_pred: Any) -> Tensor:
        found = tensor_of(values, _device_of(y_pred)).to(dtype_of(self.dtype or config.floatx()))
        return marked(found, mask_of(values))

    def get_config(self) -> dict[str, Any]:
        """The options as plain data; a type that is not `config.floatx()` among them."""
        found = super().get_config()
        if found.get("dtype") == config.floatx():
            del found["dtype"]
        return found

    @property
    def for_files(self) -> Any:
        """What files hold of the loss: the same as an object of this package, or itself, if it is a user's."""
        base: Any = vars(type(self)).get("recognized_as")
        return self if base is None else base.from_config(self.get_config())


def _each_tensor(value: Any, dtype: torch.dtype | None, device: torch.device | None) -> Any:
    """The tensors of a type for what is given; a list of numbers is one tensor, one that holds arrays stays a list."""
    if isinstance(value, Mapping):
        return {key: _each_tensor(each, dtype, device) for key, each in value.items()}
    if isinstance(value, (list, tuple)) and _holds_arrays(value):
        return type(value)([_each_tensor(each, dtype, device) for each in value])
    found = tensor_of(value, device)
    return found if dtype is None else carried(found, lambda tensor: tensor.to(dtype))


def _holds_arrays(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_arrays, value))
    return isinstance(value, Mapping) or is_variable(value) or bool(getattr(value, "ndim", 0))


class FunctionLoss(Loss, abstract=True):
    """The base of losses that a function of two tensors computes."""

    __init__ = BaseFunctionLoss.__init__  # type: ignore[assignment]

    def _given(self, y_true: Any, y_pred: Any) -> tuple[Tensor, Tensor]:
        return super()._given(
            *(tensor_of(each) if isinstance(each, (list, tuple)) else each for each in (y_true, y_pred))
        )

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The values of the function; y_true and y_pred may differ by a last axis of 1."""
        if not self.takes_labels:
            y_true, y_pred = same_rank(y_true, y_pred)
        return type(self).function(y_true, y_pred, **self._options)  # type: ignore[attr-defined]


class LossFunctionWrapper(Loss, losses.LossFunctionWrapper, abstract=True):
    """A function of your own, `fn(y_true, y_pred, **options)`, as a loss. Further options are passed on to it.

    Options:
        fn (function): gives the values to reduce, usually one a sample.
        name (text or None, default None): the loss's name; None counts: `loss_function_wrapper`.

    Errors:
        TypeError: for an option that the function does not take.

    Example:
        >>> LossFunctionWrapper(huber, delta=2.0)([[0.0, 1.0]], [[3.0, 2.0]])
        tensor(2.2500)
    """

    def __init__(
        self,
        fn: Function,
        reduction: Any = "sum_over_batch_size",
        name: str | None = None,
        dtype: Any = None,
        **options: Any,
    ):
        losses.LossFunctionWrapper.__init__(self, fn, reduction, name or self._automatic_name(), dtype, **options)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The values of the function; y_true and y_pred may differ by a last axis of 1."""
        if isinstance(y_true, Tensor) and isinstance(y_pred, Tensor):
            y_true, y_pred = same_rank(y_true, y_pred)
        return self.fn(y_true, y_pred, **self._options)

    def get_config(self) -> dict[str, Any]:
        """Name, reduction, the function as Keras 3 writes it, and its options."""
        found = {"name": self.name, "reduction": self.reduction, "fn": serialize(self.fn), **self._options}
        return found if self.dtype == config.floatx() else {**found, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> LossFunctionWrapper:
        """The inverse of `get_config`. Raises ValueError for an unknown function."""
        return cls(**{**config, "fn": get(config.get("fn"))})

    @property
    def for_files(self) -> Any:
        """What files hold: the function, if `as_loss` makes the loss of it, or a wrapper of this package."""
        if self.fn is crossentropy_by_shape:
            return self.name
        fn: Any = getattr(self.fn, "for_files", self.fn)
        own_type = None if self.dtype == config.floatx() else self.dtype
        reduction: Any = self.reduction
        if reduction == "sum_over_batch_size" and not self._options and own_type is None:
            return fn
        return losses.LossFunctionWrapper(fn, reduction, self.name, own_type, **self._options)


# The options of constructors in Keras 3's order, where reduction, name and dtype do not follow the function's options.
_ORDER: Mapping[str, tuple[str, ...]] = {
    "SparseCategoricalCrossentropy": ("from_logits", "ignore_class", "reduction", "axis", "name", "dtype"),
    "Dice": ("reduction", "name", "axis", "dtype"),
    "Tversky": ("alpha", "beta", "reduction", "name", "axis", "dtype"),
}
# The function of a class where its name is not that of this package's function.
_NAMES: Mapping[str, str] = {"kullback_leibler_divergence": "kl_divergence", "logcosh": "log_cosh"}
# These classes have options that their functions have otherwise, or not at all.
_WITH_OWN_FUNCTION = ("CategoricalGeneralizedCrossEntropy", "Circle")


def members_of_twin(base: type, module: str) -> dict[str, Any]:
    """What the class of Keras 3 for a class of this package has of its own: place, docstring and recognition."""
    text = vars(base).get("__doc__")  # completed when it is read
    return {
        "__module__": module,
        "__qualname__": base.__name__,
        "__doc__": getattr(text, "text", text),
        "recognized_as": base,
    }


def _twin(name: str) -> Any:
    """The class of Keras 3 for one of this package."""
    base = getattr(losses, name)
    made = members_of_twin(base, __name__)
    if name not in _WITH_OWN_FUNCTION:
        own = base.function.__name__
        made["function"] = staticmethod(FUNCTIONS[_NAMES.get(own, own)])
    if name in _ORDER:
        made["options"] = _ORDER[name]
    return type(base)(name, (FunctionLoss, base), made, abstract=True)


(
    BinaryCrossentropy,
    BinaryFocalCrossentropy,
    CTC,
    CategoricalCrossentropy,
    CategoricalFocalCrossentropy,
    CategoricalGeneralizedCrossEntropy,
    CategoricalHinge,
    Circle,
    CosineSimilarity,
    Dice,
    Hinge,
    Huber,
    KLDivergence,
    LogCosh,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    SparseCategoricalCrossentropy,
    SquaredHinge,
    Tversky,
) = CLASSES = tuple(
    map(
        _twin,
        (
            *("BinaryCrossentropy", "BinaryFocalCrossentropy", "CTC", "CategoricalCrossentropy"),
            *("CategoricalFocalCrossentropy", "CategoricalGeneralizedCrossEntropy", "CategoricalHinge", "Circle"),
            *("CosineSimilarity", "Dice", "Hinge", "Huber", "KLDivergence", "LogCosh", "MeanAbsoluteError"),
            *("MeanAbsolutePercentageError", "MeanSquaredError", "MeanSquaredLogarithmicError", "Poisson"),
            *("SparseCategoricalCrossentropy", "SquaredHinge", "Tversky"),
        ),
    )
)


# --- by name ---------------------------------------------------------------------------------------------------------

ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("mse", "MSE"), "mean_squared_error"),
    **dict.fromkeys(("mae", "MAE"), "mean_absolute_error"),
    **dict.fromkeys(("mape", "MAPE"), "mean_absolute_percentage_error"),
    **dict.fromkeys(("msle", "MSLE"), "mean_squared_logarithmic_error"),
    **dict.fromkeys(("bce", "BCE"), "binary_crossentropy"),
    **dict.fromkeys(("kld", "KLD", "kullback_leibler_divergence"), "kl_divergence"),
    "logcosh": "log_cosh",
}
FAMILY = Family(
    "loss",
    "keras.losses",
    {
        **{each.__name__: each for each in (Loss, LossFunctionWrapper, *CLASSES)},
        **FUNCTIONS,
        **{name: FUNCTIONS[of] for name, of in ALIASES.items()},
    },
)


def get(identifier: Any) -> Any:
    """The loss of a name, a config or a class: a function, or an object; other callables and None as they are.

    Arguments:
        identifier (text, dict, class, function, object or None): such as "mse", "Huber" or the result of `serialize`.

    Errors:
        ValueError: for an unknown name, and for what is no loss.

    Example:
        >>> get("mse") is mean_squared_error, get({"class_name": "Huber", "config": {"delta": 2.0}}).delta
        (True, 2.0)

    Source: https://keras.io/api/losses/
    """
    return FAMILY.get(identifier)


def serialize(loss: Any) -> Any:
    """The config of a loss, from which `deserialize` makes it.

    Arguments:
        loss (function or object): the loss.

    Errors:
        ValueError: for a function without a name.

    Example:
        >>> serialize(huber)["config"], serialize(Huber())["class_name"]
        ('huber', 'Huber')

    Source: https://keras.io/api/losses/
    """
    return FAMILY.serialize(loss)


def deserialize(name: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The loss of a config or a name.

    Arguments:
        name (dict or text): what `serialize` gave.
        custom_objects (dict or None, default None): your own classes and functions by name.

    Errors:
        ValueError: for an unknown name or a bad option.

    Example:
        >>> deserialize(serialize(Huber(delta=2.0))).delta
        2.0

    Source: https://keras.io/api/losses/
    """
    return FAMILY.deserialize(name, custom_objects)


def crossentropy_by_shape(y_true: Tensor, y_pred: Tensor) -> Any:
    """The crossentropy that the shapes mean: what `compile` makes of "crossentropy" and "ce"."""
    return FUNCTIONS[f"{kind_by_shape(y_true, y_pred)}_crossentropy"](y_true, y_pred)


def kind_by_shape(y_true: Tensor, y_pred: Tensor) -> str:
    """What y_true is, by its shape: "binary" for scores of one number, "sparse_categorical" or "categorical"."""
    if y_pred.shape[-1] == 1:
        return "binary"
    is_number = y_true.dim() < y_pred.dim() or y_true.shape[-1] == 1
    return "sparse_categorical" if is_number else "categorical"


# The class of each function, with which `compile` reduces it.
CLASS_OF: Mapping[str, type[FunctionLoss]] = {
    _NAMES.get(each.function.__name__, each.function.__name__): each  # type: ignore[attr-defined]
    for each in CLASSES
}


def as_loss(identifier: Any) -> Any:
    """The loss of an output as `compile` takes it: functions become objects, which reduce as Keras 3 does.

    "crossentropy" and "ce" go by shapes. A loss of torch stays as it is. Raises ValueError as `get` does.
    """
    by_shape = isinstance(identifier, str) and identifier.lower() in ("crossentropy", "ce")
    found = crossentropy_by_shape if by_shape else get(identifier)
    if found is None or isinstance(found, (losses.Loss, nn.Module)):
        return found
    name = identifier if isinstance(identifier, str) else getattr(found, "__name__", None)
    known = name_of(found)
    if known is not None:
        return CLASS_OF[known](name=name)
    if str(getattr(found, "__module__", "")).partition(".")[0] == "torch":
        return found
    return LossFunctionWrapper(found, name=name if isinstance(name, str) else snake_case(type(found).__name__))


def name_of(function: Any) -> str | None:
    """Keras 3's name of one of its functions; None for another."""
    return next((name for name, each in FUNCTIONS.items() if each is function), None)
