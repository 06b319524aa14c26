"""The base of the optimizers of Keras 3's form, for those of the package and for classes of users.

An optimizer here is that of `torchkeras.optimizers`, of the same kernels and state. What differs is how it is made,
what its options are called, and that it may be used by hand, on variables.
"""

from __future__ import annotations

import inspect
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from torchkeras import config as configuration, initializers
from torchkeras.base import docstrings
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.extensions import replaceable
from torchkeras.base.keras_axes import IN_ORDER, Arrangement
from torchkeras.base.naming import snake_case, unique_name
from torchkeras.base.python import lazy_property
from torchkeras.base.rules import ABOVE_0, AT_LEAST_0, SHARE, Rule, integer, number, optional, read
from torchkeras.keras3.optimizers import schedules
from torchkeras.keras3.optimizers.variables import (
    Computed,
    Count,
    Held,
    Negated,
    OptimizerVariable,
    Rate,
    key_of,
    weight_of,
    weights_of,
)
from torchkeras.keras3.variable import AGGREGATIONS as OF_VARIABLES
from torchkeras.optimizers.accumulation import fitted_to
from torchkeras.optimizers.base import RULES, Optimizer as Base
from torchkeras.optimizers.momentum import SGD
from torchkeras.optimizers.orthogonal import Muon
from torchkeras.optimizers.parameter_groups import Gradients, Group
from torchkeras.optimizers.schedules import LearningRateSchedule
from torchkeras.saving.optimizer.keras3_order import (
    ACCUMULATED,
    AVERAGE,
    FURTHER,
    NOTHING,
    PRODUCT,
    VARIANCE,
    SlotPlace,
    orders,
)
from torchkeras.saving.optimizer.options import from_keras3
from torchkeras.tensor_functions.operations.values import tensor_of

NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD

# Options of which Keras 3 refuses more values than this package.
NARROWER: Mapping[str, Mapping[str, Rule]] = {
    "SGD": {"momentum": SHARE},
    "Lion": {"beta_1": number("above 0 and below 1", lambda value: 0 < value < 1)},
}
# The options of all optimizers, with their defaults, after those of each.
COMMON: Mapping[str, Any] = {
    "weight_decay": None,
    "clipnorm": None,
    "clipvalue": None,
    "global_clipnorm": None,
    "use_ema": False,
    "ema_momentum": 0.99,
    "ema_overwrite_frequency": None,
    "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
    "name": None,
}
GIVEN_APART = ("name", "learning_rate", "kwargs")
# Limits of gradients, of which one may be given.
LIMITS = ("clipnorm", "clipvalue", "global_clipnorm")
# The section of a docstring that explains options.
OF_OPTIONS = re.compile(r"^    Options:\n(?:        .*\n)+\n", re.MULTILINE)
AGGREGATIONS = (None, *OF_VARIABLES)


def signature(before: Mapping[str, Any], after: Mapping[str, Any] | None = None) -> inspect.Signature:
    """The arguments of a constructor: options before the common ones, these, and options after them.

    `inspect.Parameter.empty` is no default.
    """
    options = {**before, **{name: value for name, value in COMMON.items() if name not in before}, **(after or {})}
    found = [inspect.Parameter(name, NAMED, default=value) for name, value in options.items()]
    return inspect.Signature([*found, inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)])


def _constructor(arguments: inspect.Signature) -> Callable[..., None]:
    """The constructor of a class, with its own arguments for editors and errors."""

    def make(optimizer: Optimizer, /, *args: Any, **kwargs: Any) -> None:
        optimizer._make(arguments, args, kwargs)

    itself = inspect.Parameter("self", NAMED)
    shown = arguments.replace(parameters=[itself, *arguments.parameters.values()])
    make.__name__, make.__signature__ = "__init__", shown  # type: ignore[attr-defined]
    return make


class _Unlisted:
    """A class whose subclasses stay out of the package's list of optimizers: their names are those of its own."""

    arguments: ClassVar[inspect.Signature]
    _rule: ClassVar[type[Base]]
    _has_own_step: ClassVar[bool]

    def __init_subclass__(cls, **options: Any) -> None:
        # The next one would put the class in the list.
        cls._is_own = False  # type: ignore[attr-defined]
        cls._rule = next(each for each in cls.__mro__ if each.__module__.startswith("torchkeras.optimizers."))
        own = vars(cls).get("arguments")
        if own is not None and "__init__" not in vars(cls):
            cls.__init__ = _constructor(own)  # type: ignore[misc]
            cls.__doc__ = _documented(cls, own)
        cls._has_own_step = bool(cls.__mro__[1:]) and _defines_step(cls)
        if cls._has_own_step:
            cls.takes_arrays = True  # type: ignore[attr-defined]
            cls.decays_weights = issubclass(cls, Muon)  # type: ignore[attr-defined]


def _documented(cls: Any, arguments: inspect.Signature) -> str | None:
    """The docstring of a class with entries for its own arguments, in place of those for its rule's options."""
    if cls.__doc__ is None or cls._rule is Base:
        return cls.__doc__
    defaults = {name: each.default for name, each in arguments.parameters.items() if name != "kwargs"}
    shared = [name for name, value in defaults.items() if name == "learning_rate" or COMMON.get(name, "") == value]
    cls.__doc__ = OF_OPTIONS.sub("", cls.__doc__)
    cls.__doc__ = docstrings.complete(cls, shared, defaults, others=(Optimizer.__doc__,))
    return docstrings.complete(cls, [*defaults], defaults, others=(cls._rule.__doc__,))


def _defines_step(cls: type) -> bool:
    """Whether a user's class has an `update_step` of its own."""
    found = next(each for each in cls.__mro__ if "update_step" in vars(each))
    return not found.__module__.startswith("torchkeras.")


def _in_type_of(gradient: Any, weight: Any) -> Tensor | None:
    """A gradient, which may be an array, in the type of its weight; None for none."""
    return None if gradient is None else tensor_of(gradient).to(weight.tensors[0].dtype)


@replaceable("_make", "apply_gradients")
class Optimizer(_Unlisted, Base):
    """The base of optimizers of Keras 3's form.

    A class of your own makes its variables in `build(variables)`, after `super().build(variables)`, and changes a
    weight in `update_step(gradient, variable, learning_rate)`; it trains in `fit` and by hand.

    Options:
        learning_rate (number, LearningRateSchedule or function): the learning rate. A function is called without
            arguments at each step.
        weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
        clipnorm (number of at least 0 or None, default None): the norm that the gradient of each weight is scaled down
            to.
        clipvalue (number of at least 0 or None, default None): each element of a gradient is clipped to [-clipvalue,
            clipvalue].
        global_clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled
            down to. One of these three may be given.
        use_ema (bool, default False): whether moving averages of the weights are kept.
        ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
        ema_overwrite_frequency (positive integer or None, default None): every how many steps the weights are set to
            their averages.
        loss_scale_factor (number above 0 or None, default None): `scale_loss` multiplies a loss by it, and `apply`
            divides gradients by it. `fit` needs neither.
        gradient_accumulation_steps (integer of at least 2 or None, default None): how many batches make one step, with
            the mean of their gradients.
        name (text or None, default None): the name; None makes one of the class's.

    Errors:
        ValueError: for an unknown option, or a bad value.

    Example:
        >>> class Signs(Optimizer):
        ...     def update_step(self, gradient, variable, learning_rate):
        ...         self.assign_sub(variable, gradient.sign() * learning_rate)
        >>> weight = torch.zeros(2)
        >>> Signs(0.5).apply([torch.tensor([3.0, -2.0])], [weight])
        >>> weight
        tensor([-0.5000,  0.5000])

    Source: https://keras.io/api/optimizers/
    """

    arguments = signature({"learning_rate": inspect.Parameter.empty})

    names_by_path = True

    name: str
    loss_scale_factor: float | None
    built: bool
    _weights: list[Held]  # that train now
    _built_with: list[Held]  # that `build` got
    _own_variables: list[Held]

    # --- making ------------------------------------------------------------------------------------------------------

    if TYPE_CHECKING:  # each class gets its own

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def _make(self, arguments: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Set all options, and the state of before any step."""
        given = arguments.bind(*args, **kwargs)
        given.apply_defaults()
        options = dict(given.arguments)
        self._refuse(options.pop("kwargs"))
        self._check(options)
        object.__setattr__(self, "_is_begun", True)
        name, scale, rate = (options.pop(each) for each in ("name", "loss_scale_factor", "learning_rate"))
        own = from_keras3({"class_name": self._rule.__name__, "config": options}, True)["config"]
        if "weight_decay" in options:  # None, too, where the class has another default
            own["weight_decay"] = options["weight_decay"]
        self._rule.__init__(self, lr=_as_rate(rate), **own)
        kept = vars(self)
        kept["_global_clipnorm"], kept["clipnorm"], kept["each_clipnorm"] = self.clipnorm, self.each_clipnorm, None
        self.name = unique(type(self).__name__) if name is None else str(name)
        self.loss_scale_factor = self._read_scale(scale)
        self.built = False
        kept["_weights"], kept["_built_with"], kept["_own_variables"] = [], [], []

    def _refuse(self, others: Mapping[str, Any]) -> None:
        """Raise ValueError for arguments that there are not."""
        own = type(self).__name__
        unknown = dict(others)
        if unknown.pop("decay", None) is not None:
            warnings.warn(
                f"{own}: there is no option decay in Keras 3, and it is ignored: give a schedule as the learning_rate, "
                "such as InverseTimeDecay.",
                stacklevel=4,
            )
        if unknown:
            known = ", ".join(name for name in self.arguments.parameters if name != "kwargs")
            raise ValueError(f"{own}: unknown option {min(unknown)!r}. Its options are {known}.")

    def _check(self, options: Mapping[str, Any]) -> None:
        """Raise ValueError for what Keras 3 refuses and this package does not."""
        own = type(self).__name__
        limits = {name: options[name] for name in LIMITS if options[name] is not None}
        if len(limits) > 1:
            found = " and ".join(f"{name}={value!r}" for name, value in limits.items())
            raise ValueError(f"{own}: one of {', '.join(LIMITS)} may be given; found {found}.")
        if options["gradient_accumulation_steps"] not in (None, 0):
            read(own, "gradient_accumulation_steps", integer(2), options["gradient_accumulation_steps"])
        for name, rule in NARROWER.get(self._rule.__name__, {}).items():
            read(own, name, rule, options[name])
        if self.arguments.parameters["weight_decay"].default is not None and self._rule is not Muon:
            read(own, "weight_decay", AT_LEAST_0, options["weight_decay"])

    def _read_scale(self, value: Any) -> Any:
        return read(type(self).__name__, "loss_scale_factor", optional(ABOVE_0), value)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_is_begun" not in vars(self):
            raise RuntimeError(
                f"{type(self).__name__}: call super().__init__(...) first in __init__, before attributes are set."
            )
        if name == "lr":
            value = _as_float32(value)  # in Keras 3 the rate is a variable
        if name in RULES and name not in self._rule.__dataclass_fields__:  # a user's class may keep anything there
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    # --- options -----------------------------------------------------------------------------------------------------

    limits = property(operator.attrgetter("clipnorm", "global_clipnorm", "clipvalue"))

    @property
    def global_clipnorm(self) -> float | None:  # type: ignore[override]
        """The norm that all gradients together are scaled down to."""
        return vars(self).get("_global_clipnorm")

    @global_clipnorm.setter
    def global_clipnorm(self, value: Any) -> None:
        vars(self)["_global_clipnorm"] = self._read("clipnorm", value)

    @property
    def iterations(self) -> Any:  # type: ignore[override]
        """The number of steps taken: an integer that may be assigned."""
        return Count.of(vars(self).get("iterations", 0), self)

    @iterations.setter
    def iterations(self, value: Any) -> None:
        vars(self)["iterations"] = int(value)

    @property
    def _batches(self) -> int:
        """The number of batches: Keras's own count, in which schedules and files are."""
        return vars(self)["iterations"] * (self.gradient_accumulation_steps or 1) + self._accumulated.count

    @_batches.setter
    def _batches(self, value: Any) -> None:
        steps, waiting = divmod(int(value), self.gradient_accumulation_steps or 1)
        vars(self)["iterations"], self._accumulated.count = steps, waiting

    @property
    def learning_rate(self) -> Any:  # type: ignore[override]
        """The rate: a variable that may be assigned; of a schedule or a function, the rate of the next batch."""
        rate = self.lr
        if isinstance(rate, schedules.CalledRate):
            return rate.function()
        return rate(self._batches) if isinstance(rate, LearningRateSchedule) else self._rate_variable()

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        found, now = _as_rate(value), self.lr
        is_number = not isinstance(found, LearningRateSchedule)
        if is_number and isinstance(now, LearningRateSchedule) and not isinstance(now, schedules.CalledRate):
            raise TypeError(
                f"{type(self).__name__}: the learning rate is the schedule {type(now).__name__}, in whose place a "
                f"schedule or a function may be set; found {value!r}."
            )
        self.lr = found

    def _rate_variable(self) -> Computed:
        def write(value: float) -> None:
            self.lr = value

        path = f"{self.name}/learning_rate"
        return Computed("learning_rate", path, torch.float32, lambda: vars(self)["lr"], write)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, learning_rate={self.lr!r}>"

    def get_config(self) -> dict[str, Any]:
        """The options by name, as Keras 3 writes them; a class of a user's adds its own."""
        rate = self.lr
        found = {"name": self.name, "learning_rate": rate}
        if isinstance(rate, LearningRateSchedule):
            found["learning_rate"] = schedules.serialize(rate)
        names = [name for name in self.arguments.parameters if name not in GIVEN_APART]
        for name in names:
            value = getattr(self, name)
            found[name] = list(value) if isinstance(value, tuple) else value
        return found

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The optimizer whose `get_config` returned `config`."""
        options = dict(config)
        if isinstance(options.get("learning_rate"), Mapping):
            options["learning_rate"] = schedules.deserialize(options["learning_rate"], custom_objects)
        return cls(**options)

    @property
    def own_config(self) -> dict[str, Any]:
        if not self.is_of_keras3:
            return self.get_config()
        found = self._rule.get_config(self)
        found.pop("clipnorm", None)
        limits = {"each_clipnorm": self.clipnorm, "clipnorm": self.global_clipnorm}
        return {**found, **{name: value for name, value in limits.items() if value is not None}}

    @property
    def no_form(self) -> str:  # type: ignore[override]
        """Why files cannot hold it."""
        called = isinstance(self.lr, schedules.CalledRate)
        return "a learning rate that is a function has no form in a file" if called else ""

    @property
    def is_of_keras3(self) -> bool:
        """Whether `get_config` is in Keras 3's words for a class that Keras 3 has."""
        return type(self).__module__.startswith("torchkeras.")

    # --- variables ---------------------------------------------------------------------------------------------------

    def build(self, variables: Iterable[Any]) -> None:
        """Train these variables: the weights of a model, or parameters of torch.

        Arguments:
            variables (list): the weights, in the order in which `apply` gets gradients.

        Errors:
            TypeError: for what is no variable.
        """
        weights = [weight_of(each) for each in variables]
        tensors = [tensor for each in weights for tensor in each.tensors]
        if [*map(id, tensors)] != [*map(id, self._given or ())]:
            layers = [each.path.rpartition("/")[0] for each in weights]
            super().bind(tensors, [each.arrangement for each in weights], layers, [each.name for each in weights])
        vars(self).pop("_places", None)
        vars(self)["_weights"] = vars(self)["_built_with"] = weights
        self.built = True

    @lazy_property
    def _places(self) -> dict[int, int]:
        """The places of the weights that `build` got."""
        return {key_of(each): place for place, each in enumerate(self._built_with)}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_places"}  # a copy has other weights

    def bind(
        self,
        parameters: Sequence[Tensor],
        arrangements: Sequence[Arrangement] | None = None,
        layers: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        super().bind(parameters, arrangements, layers, names)
        weights = weights_of(self._given, self._arrangements, self._layers, self._names)
        if any(key_of(each) not in self._places for each in weights):
            vars(self)["_own_variables"] = []
            self.build(weights)
        vars(self)["_weights"] = weights
        for each in self._own_variables if self._parameters else ():
            each.tensors[0].data = each.tensors[0].data.to(self._parameters[0].device)
        self.built = True

    def add_variable(
        self,
        shape: Sequence[int],
        initializer: Any = "zeros",
        dtype: Any = None,
        aggregation: str | None = "none",
        layout: Any = None,
        name: str | None = None,
    ) -> Held:
        """A variable of the optimizer's own, which its files and `variables` have.

        Arguments:
            shape (tuple of integers): its shape.
            initializer (name, function or Initializer, default "zeros"): gives the first values.
            dtype (name or None, default None): its type; None is `config.floatx()`.
            aggregation (text or None, default "none"): "none", "mean", "sum" or "only_first_replica"; processes that
                train together make equal steps, which all of them mean.
            layout (None, default None): only None; processes that share weights share them by torch's own means.
            name (text or None, default None): its name.

        Errors:
            ValueError: for another aggregation, or a layout.
        """
        own = type(self).__name__
        if aggregation not in AGGREGATIONS:
            raise ValueError(
                f"{own}: aggregation must be one of {', '.join(map(repr, AGGREGATIONS))}; found {aggregation!r}."
            )
        if layout is not None:
            raise ValueError(f"{own}: layout must be None: shard the model by torch's fully_shard; found {layout!r}.")
        kind = {None: configuration.floatx(), "int": "int32", "float": configuration.floatx()}.get(dtype, dtype) or ""
        device = self._parameters[0].device if self._parameters else configuration.device()
        values = torch.empty(tuple(shape), dtype=dtype_of(kind), device=device)
        with torch.no_grad():
            initializers.fill(initializers.get(initializer), values)
        name = name or "variable"
        found = Held([values], IN_ORDER, name, f"{self.name}/{name}")
        self._own_variables.append(found)
        return found

    def add_variable_from_reference(
        self, reference_variable: Any, name: str | None = None, initializer: Any = "zeros"
    ) -> Held:
        """A variable of the optimizer's own, of the shape and type of another.

        Arguments:
            reference_variable (variable): the other.
            name (text or None, default None): the end of its name; None is "var".
            initializer (name, function or Initializer, default "zeros"): gives the first values.
        """
        reference = weight_of(reference_variable)
        full = f"{reference.path.replace('/', '_')}_{name or 'var'}"
        return self.add_variable(reference.shape, initializer, reference.dtype, name=full)

    def add_optimizer_variables(self, trainable_variables: Iterable[Any], name: Any, initializer: Any = "zeros") -> Any:
        """A variable of the optimizer's own for each weight, or several.

        Arguments:
            trainable_variables (list): the weights.
            name (text or list of texts): the name of the variables; a list of names makes one for each.
            initializer (name, function, Initializer or list of them, default "zeros"): gives the first values; a list
                has one for each name.

        Returns:
            A list of variables; for a list of names, a tuple of lists.

        Errors:
            ValueError: for another number of initializers than of names.
        """
        names = [name] if isinstance(name, str) else list(name)
        each = list(initializer) if isinstance(initializer, (list, tuple)) else [initializer] * len(names)
        if len(each) != len(names):
            raise ValueError(
                f"{type(self).__name__}.add_optimizer_variables: there must be an initializer for each of the "
                f"{len(names)} names; found {len(each)}."
            )
        found: tuple[list[Held], ...] = tuple([] for _ in names)
        for weight in trainable_variables:
            for variables, own, start in zip(found, names, each, strict=True):
                variables.append(self.add_variable_from_reference(weight, own, start))
        return found[0] if isinstance(name, str) else found

    @property
    def variables(self) -> list[Any]:
        """All state as variables, in Keras's order: steps, the rate, averages, accumulated gradients, moments."""
        batches = Computed("iteration", f"{self.name}/iteration", torch.int32, lambda: self._batches, self._set_batches)
        rate = [] if isinstance(self.lr, LearningRateSchedule) else [self._rate_variable()]
        if not self.built:
            return [batches, *rate, *self._own_variables]
        places = orders(self, len(self._arrangements))[0]
        return [batches, *rate, *map(self._variable_at, places)]

    def _set_batches(self, value: Any) -> None:
        self._batches = value

    def _variable_at(self, place: SlotPlace) -> OptimizerVariable:
        """The variable of a place in the order of the state."""
        if place.what in (PRODUCT, NOTHING):
            return self._number_at(place)
        if place.what == FURTHER:
            return self._own_variables[place.weight]
        weight = self._weights[place.weight]
        what = "gradient_accumulator" if place.what == ACCUMULATED else place.what
        name = f"{weight.path.replace('/', '_')}_{STATE_NAMES.get((self._rule.__name__, what), what)}"
        path = f"{self.name}/{name}"
        if place.what == AVERAGE:
            self._averages.begin(self._parameters)
            return Held(self._part(self._averages.values, place.weight), weight.arrangement, name, path)
        if place.what == ACCUMULATED:
            return self._sum_at(place.weight, name, path)
        slots = {slot.moment: slot for slot in self.slots() if slot.array == place.weight}
        if place.what == VARIANCE:
            rows, columns = (slots[each].tensors[0] for each in ("rows", "columns"))
            # It follows from the two.
            return Computed(name, path, rows.dtype, partial(_variance, rows, columns), _ignore)
        kind = Negated if self._rule is SGD else Held  # whose velocity torch's kernel has with the other sign
        return kind(slots[place.what].tensors, slots[place.what].made, name, path)

    def _part(self, values: list[Tensor], array: int) -> list[Tensor]:
        """What belongs to one of Keras's arrays of a list with a tensor for each parameter."""
        start = sum(made.count for made in self._arrangements[:array])
        return values[start : start + self._arrangements[array].count]

    def _number_at(self, place: SlotPlace) -> Computed:
        """A number of the state that follows from the steps, or means nothing."""
        if place.what == PRODUCT:
            product = partial(attrgetter("momentum_product"), self)
            return Computed("variable", "variable", torch.float32, product, _ignore)
        return Computed("variable", "variable", torch.int32, int, _ignore)

    def _sum_at(self, array: int, name: str, path: str) -> Computed:
        """The sum of the gradients since the last step, of which the mean is kept."""
        made, kept = self._arrangements[array], self._accumulated

        def buffers() -> list[Tensor]:
            if not kept.buffers:
                kept.buffers = fitted_to(self._parameters, [torch.zeros_like(p) for p in self._parameters])
            return self._part(kept.buffers, array)

        def read_sum() -> Tensor:
            return made.array(buffers()) * kept.count

        def write_sum(values: Tensor | float) -> None:
            made.assign(buffers(), torch.as_tensor(values) / max(kept.count, 1))
            kept.samples, kept.present = float(kept.count), set(range(len(self._parameters)))

        return Computed(name, path, self._parameters[0].dtype, read_sum, write_sum)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the state from arrays in the order of `variables`.

        Raises ValueError before `build`, for another number of arrays, and for an array of another shape.
        """
        if not self.built:
            raise ValueError(f"{type(self).__name__}.set_weights: call build(variables) first.")
        variables = self.variables
        if len(weights) != len(variables):
            raise ValueError(f"{type(self).__name__}: the state has {len(variables)} arrays; found {len(weights)}.")
        assign_all(variables, weights)

    def set_keras2_weights(self, weights: Sequence[Any]) -> None:
        self._rule.set_weights(self, weights)

    def further_arrays(self) -> list[np.ndarray]:
        return [each.numpy() for each in self._own_variables]

    def set_further_arrays(self, arrays: Sequence[np.ndarray]) -> None:
        assign_all(self._own_variables, arrays)

    def save_own_variables(self, store: MutableMapping[str, Any]) -> None:
        """Put all state into a dictionary or a group of an HDF5 file, under "0", "1" and so on."""
        for place, variable in enumerate(self.variables):
            store[str(place)] = variable.numpy()

    def load_own_variables(self, store: Mapping[str, Any]) -> None:
        """Set all state from what `save_own_variables` has put there. Warns of another number of arrays."""
        variables = self.variables
        if len(store) != len(variables):
            hint = "" if self.built else " Call build(variables) first."
            warnings.warn(
                f"{type(self).__name__}: the state is not taken: it has {len(variables)} arrays, and {len(store)} are "
                f"stored.{hint}",
                stacklevel=2,
            )
            return
        for place, variable in enumerate(variables):
            variable.assign(np.asarray(store[str(place)]))

    # --- a step ------------------------------------------------------------------------------------------------------

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:  # type: ignore[override]
        """Change one weight, and what belongs to it.

        Arguments:
            gradient (tensor): its gradient, in Keras's order of axes.
            variable (variable): the weight.
            learning_rate (number): the rate of the step.

        Errors:
            NotImplementedError: for a class that does not define it.
        """
        if self._rule is Base:
            raise NotImplementedError(
                f"{type(self).__name__} has no update_step(self, gradient, variable, learning_rate)."
            )
        key = key_of(variable)
        array = next(place for place, each in enumerate(self._weights) if key_of(each) == key)
        given, made = torch.as_tensor(gradient), self._arrangements[array]
        with torch.no_grad():
            for group in self._groups:
                places = group.by_array().get(array, [])
                if not places:
                    continue
                group.moments = group.moments or (self._zeros(group) if self.keeps_moments else [])
                parts: list[Any] = [None] * len(group.parameters)
                for place in places:
                    parts[place] = torch.empty_like(group.parameters[place], requires_grad=False)
                made.assign([parts[place] for place in places], given)
                one, gradients = group.fitted(parts)
                one = replace(one, decays=one.decays and self.decays_weights)
                self._rule.update_step(self, one, gradients, float(learning_rate))

    def _step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        if self._rule is not Base and not self._has_own_step:
            self._rule.update_step(self, group, gradients, rate)
            return
        for array, places in group.by_array().items():
            gradient = self._arrangements[array].array([gradients[place] for place in places])
            self.update_step(gradient, self._weights[array], Rate(rate))

    def update(self, parameters: Sequence[Tensor], gradients: Gradients, samples: Any = 1) -> bool:
        if self.gradient_accumulation_steps is not None:
            # In Keras 3 all batches of a step count as much, however many samples they have. One without finite
            # numbers has no samples.
            samples = (samples > 0).to(torch.float32) if isinstance(samples, Tensor) else 1
        return super().update(parameters, gradients, samples)

    def flush(self) -> bool:
        """Does nothing: gradients of the last batches of an epoch wait for the next one, as in Keras 3."""
        return False

    def apply(self, grads: Iterable[Any], trainable_variables: Iterable[Any] | None = None) -> None:
        """One step by a gradient for each variable; those with None do not change.

        Arguments:
            grads (list of tensors, arrays or None): the gradients, in Keras's order of axes. None at all changes
                nothing.
            trainable_variables (list of variables or None, default None): the weights; None takes those of `build`.

        Errors:
            ValueError: for another number of gradients, another shape, no gradient at all, or a weight that the
                optimizer was not built with.
        """
        gradients, own = list(grads), type(self).__name__
        if not gradients:
            return
        if trainable_variables is None and not self.built:
            raise ValueError(f"{own}.apply: give the variables too, or call build(variables) first.")
        weights = self._weights if trainable_variables is None else [weight_of(each) for each in trainable_variables]
        if not self.built:
            self.build(weights)
        missing = [weight.path for weight, gradient in zip(weights, gradients, strict=False) if gradient is None]
        if missing and len(missing) < len(gradients):
            warnings.warn(f"{own}.apply: there is no gradient for {', '.join(missing)}.", stacklevel=2)
        if len(gradients) == len(weights):
            gradients = list(map(_in_type_of, gradients, weights))
        super().apply(self._unscaled(gradients), weights)
        if self.stepping is None:  # else the model does it
            constrain(weights)

    def _unscaled(self, gradients: list[Any]) -> list[Any]:
        factor = self.loss_scale_factor
        return gradients if factor is None else [None if each is None else each / factor for each in gradients]

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> Any:  # type: ignore[override]
        """`apply`, with pairs (gradient, variable). Returns the number of steps."""
        gradients, variables = zip(*grads_and_vars, strict=True)
        self.apply(gradients, variables)
        return self.iterations

    def stateless_apply(
        self, optimizer_variables: Sequence[Any], grads: Sequence[Any], trainable_variables: Sequence[Any]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """What a step makes of given values; weights and state stay as they are.

        Arguments:
            optimizer_variables (list of tensors): the values of `variables`.
            grads (list of tensors or None): the gradients.
            trainable_variables (list of tensors): the values of the weights.

        Returns:
            The new values of the weights, and those of `variables`.

        Errors:
            ValueError: before `build`, and for another number of values.
        """
        own = type(self).__name__
        if not self.built:
            raise ValueError(f"{own}.stateless_apply: call build(variables) first.")
        state, weights = self.variables, self._weights
        for what, given, known in (
            ("optimizer_variables", optimizer_variables, state),
            ("trainable_variables", trainable_variables, weights),
        ):
            if len(given) != len(known):
                raise ValueError(f"{own}.stateless_apply: {what} must have {len(known)} values; found {len(given)}.")
        known = [*state, *weights]
        before = [each.value.clone() for each in known]
        try:
            assign_all(known, [*optimizer_variables, *trainable_variables])
            self.apply(grads)
            return [each.value.clone() for each in weights], [each.value.clone() for each in self.variables]
        finally:
            assign_all([*self.variables, *weights], before)

    def scale_loss(self, loss: Any) -> Any:
        """The loss times `loss_scale_factor`, by which `apply` divides the gradients."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def finalize_variable_values(self, var_list: Iterable[Any]) -> None:
        """Set these weights to their moving averages, if there are any; `fit` does it when it ends."""
        if not self.use_ema:
            return
        self._averages.begin(self._parameters)
        for each in map(weight_of, var_list):
            array = self._place_now(each)
            each.assign(self._arrangements[array].array(self._part(self._averages.values, array)))

    def exclude_from_weight_decay(
        self, var_list: Iterable[Any] | None = None, var_names: Iterable[str] | None = None
    ) -> None:
        super().exclude_from_weight_decay([weight_of(each) for each in var_list or ()], var_names)

    def assign(self, variable: Any, value: Any) -> None:
        """Set a variable."""
        weight_of(variable).assign(value)

    def assign_add(self, variable: Any, value: Any) -> None:
        """Add to a variable."""
        weight_of(variable).assign_add(value)

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtract from a variable."""
        weight_of(variable).assign_sub(value)

    def _get_variable_index(self, variable: Any) -> int:
        """The place of a weight among those that `build` got. Raises KeyError for another."""
        return self._places[key_of(variable)]

    def _place_now(self, variable: Any) -> int:
        key = key_of(variable)
        return next(place for place, each in enumerate(self._weights) if key_of(each) == key)

    # --- state -------------------------------------------------------------------------------------------------------

    def tensors(self) -> list[Tensor]:
        return [*super().tensors(), *(each.tensors[0] for each in self._own_variables)]

    def state_dict(self) -> dict[str, Any]:
        own = {"iterations": int(self.iterations), "variables": [each.tensors[0] for each in self._own_variables]}
        return {**super().state_dict(), **own}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        with torch.no_grad():
            for each, values in zip(self._own_variables, state.get("variables", ()), strict=True):
                each.tensors[0].copy_(values)

    def _options(self) -> list[str]:
        return [*super()._options(), "global_clipnorm"]


# --- what stands outside ---------------------------------------------------------------------------------------------


def _as_rate(value: Any) -> Any:
    """A learning rate: a schedule, the config of one, a function without arguments, or a number."""
    if isinstance(value, LearningRateSchedule):
        return value
    if isinstance(value, Mapping):
        return schedules.deserialize(value)
    if isinstance(value, OptimizerVariable):
        return float(value)
    return schedules.CalledRate(value) if callable(value) else value


def _as_float32(value: Any) -> Any:
    """A number as a variable of float32 holds it; anything else as it is."""
    return float(np.float32(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def unique(class_name: str) -> str:
    """`adam`, then `adam_1`, and so on."""
    name = snake_case(class_name)
    number = int(unique_name(f"optimizer {name}").rpartition("_")[2]) - 1
    return f"{name}_{number}" if number else name


def assign_all(variables: Iterable[Any], values: Iterable[Any]) -> None:
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def constrain(weights: Iterable[Held]) -> None:
    for weight in weights:
        if weight.constraint is not None:
            with torch.no_grad():
                weight.assign(weight.constraint(weight.value))


def _variance(rows: Tensor, columns: Tensor) -> Tensor:
    """What Adafactor's means over rows and columns stand for."""
    share = (rows / rows.mean(-1, keepdim=True)).nan_to_num()  # 0 before any step
    return share.unsqueeze(-1) * columns.unsqueeze(-2)


def _ignore(value: Any) -> None:
    """Set nothing: the value follows from others."""


# What Keras calls the moments, by the class of the rule and the moment's name here.
STATE_NAMES: Mapping[tuple[str, str], str] = {
    **{(kind, "ms"): "momentum" for kind in ("Adam", "AdamW", "Adamax", "Nadam", "Lamb")},
    **{(kind, "vs"): "velocity" for kind in ("Adam", "AdamW", "Nadam", "Lamb")},
    **{(kind, "vhats"): "velocity_hat" for kind in ("Adam", "AdamW")},
    **{(kind, "momentums"): "momentum" for kind in ("Lion", "Muon", "ScheduleFreeAdamW")},
    **{(kind, "velocities"): "velocity" for kind in ("Muon", "Adafactor", "ScheduleFreeAdamW")},
    **{(kind, "accumulators"): "accumulator" for kind in ("Adagrad", "Ftrl")},
    ("SGD", "moments"): "momentum",
    ("Adamax", "us"): "norm",
    ("RMSprop", "accumulators"): "velocity",
    ("RMSprop", "velocities"): "momentum",
    ("RMSprop", "means"): "average_gradient",
    ("Adadelta", "accumulators"): "accumulated_grad",
    ("Adadelta", "delta_accumulators"): "accumulated_delta_var",
    ("Ftrl", "linears"): "linear",
    ("Adafactor", VARIANCE): "velocity",
}
