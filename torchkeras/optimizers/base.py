"""`Optimizer`: the base of all optimizers of Keras: options, a step over groups of parameters, and state.

`update(parameters, gradients, samples)` is one step; `step()` and `apply(gradients, variables)` are the same by hand.
Options and counts stay on the host: a step waits for nothing, and no number becomes a tensor. State is laid out as
torch lays out the parameters; `get_weights` gives it in Keras's order of arrays and of axes.

An option that Keras 2.2.4 does not have is declared as `newer`: `momentum: float = newer(0.0)`. A config holds it only
when it is not at its default, so that Keras 2.2.4 reads our files.
"""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, InitVar, dataclass, field, fields
from functools import partial
from itertools import islice
from typing import Any, ClassVar

import torch
from torch import Tensor

from torchkeras import config, registry
from torchkeras.base import docstrings
from torchkeras.base.extensions import replaceable
from torchkeras.base.keras_axes import IN_ORDER, Arrangement
from torchkeras.base.python import lazy_property
from torchkeras.base.rules import (
    ABOVE_0,
    AT_LEAST_0,
    BELOW_1,
    FINITE,
    FLAG,
    SHARE,
    KnownOptions,
    Rule,
    integer,
    number,
    optional,
    read,
)
from torchkeras.optimizers import schedules
from torchkeras.optimizers.accumulation import Accumulator
from torchkeras.optimizers.averages import Averages
from torchkeras.optimizers.by_hand import ByHand
from torchkeras.optimizers.clipping import clipped
from torchkeras.optimizers.parameter_groups import (
    Gradients,
    Group,
    excluded_ids,
    grouped,
    treatments,
)
from torchkeras.optimizers.schedules import LearningRateSchedule
from torchkeras.optimizers.state import State, plain
from torchkeras.optimizers.whole_parameters import WHOLE_PARAMETERS, held
from torchkeras.world.processes import has_group

# --- the rule of each option ------------------------------------------------------------------------------------------


def newer(default: Any) -> Any:
    """A keyword-only dataclass field, for an option that Keras 2.2.4 does not have."""
    return field(default=default, kw_only=True, metadata={"newer": True})


def _rate(value: Any) -> Any:
    if isinstance(value, schedules.LearningRateSchedule):
        return value
    if isinstance(value, Mapping):
        return schedules.deserialize(value)
    return AT_LEAST_0.read(value)


def _factors(value: Any) -> Any:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"must be a dictionary of numbers by layer name; found {value!r}.")
    return {name: _factor(name, number) for name, number in value.items()}


def _factor(name: str, value: Any) -> float:
    try:
        return AT_LEAST_0.read(value)
    except ValueError as error:
        raise ValueError(f"of the layer {name!r} {error}") from error


def _patterns(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(pattern, str) for pattern in value or ()):
        raise ValueError(f"must be a list of strings; found {value!r}.")
    return tuple(value or ())


def _epsilon(value: Any) -> float:
    return config.epsilon() if value is None else AT_LEAST_0.read(value)


_at_most_0 = number("of at most 0", lambda v: -math.inf < v <= 0)
RATE = Rule(_rate, takes="float | schedules.LearningRateSchedule | Mapping[str, Any]")

RULES: dict[str, Rule] = {
    **dict.fromkeys(("decay", "momentum", "schedule_decay", "initial_accumulator_value", "adam_lr_ratio"), AT_LEAST_0),
    **dict.fromkeys(("epsilon_1", "epsilon_2", "beta", "l1_regularization_strength"), AT_LEAST_0),
    **dict.fromkeys(("l2_regularization_strength", "l2_shrinkage_regularization_strength"), AT_LEAST_0),
    **dict.fromkeys(("rho", "beta_1", "beta_2", "adam_beta_1", "adam_beta_2"), BELOW_1),
    **dict.fromkeys(("nesterov", "amsgrad", "centered", "epsilon_inside_root", "use_ema"), FLAG),
    **dict.fromkeys(("exclude_embeddings", "relative_step"), FLAG),
    **dict.fromkeys(("clipnorm", "clipvalue", "each_clipnorm", "weight_decay"), optional(AT_LEAST_0)),
    **dict.fromkeys(("adam_weight_decay", "rms_rate"), optional(AT_LEAST_0)),
    **dict.fromkeys(("learning_rate_power", "beta_2_decay"), _at_most_0),
    **dict.fromkeys(("muon_a", "muon_b", "muon_c"), FINITE),
    **dict.fromkeys(("no_weight_decay", "exclude_layers"), Rule(_patterns)),
    "lr": RATE,
    "epsilon": Rule(_epsilon, takes="float | None", settled=False),
    "clip_threshold": ABOVE_0,
    **dict.fromkeys(("ns_steps", "warmup_steps"), integer(0)),
    "ema_momentum": SHARE,
    "ema_overwrite_frequency": optional(integer(1)),
    "gradient_accumulation_steps": optional(integer(1)),
    "lr_multipliers": optional(Rule(_factors)),
}
# Other names, only as arguments of the constructor.
GIVEN: dict[str, Rule] = {"learning_rate": optional(RATE), "global_clipnorm": RULES["clipnorm"]}


# --- the base ---------------------------------------------------------------------------------------------------------


REGROUPING = ("lr_multipliers", "no_weight_decay", "exclude_layers", "exclude_embeddings")


@replaceable("__post_init__", "__init_subclass__", "_check_name", "_set_option")
@dataclass(eq=False, kw_only=True)
class Optimizer(KnownOptions, ByHand, State):
    """The base class; a subclass declares its options as dataclass fields and defines `update_step`.

    `learning_rate` and `global_clipnorm` are other names of `lr` and `clipnorm`, as options and as attributes.
    `iterations` is the number of steps taken.

    Options:
        lr (number of at least 0 or LearningRateSchedule, default 0.01): the learning rate.
        clipnorm (number of at least 0 or None, default None): the norm that all gradients together are scaled down to.
        clipvalue (number of at least 0 or None, default None): after that, each element of a gradient is clipped to
            [-clipvalue, clipvalue].
        each_clipnorm (number of at least 0 or None, default None): before both, the norm that the gradient of each
            weight is scaled down to. Keras 3 and tf.keras call this clipnorm.
        weight_decay (number of at least 0 or None, default None): before the step p -= rate * weight_decay * p.
        no_weight_decay (list of patterns, default ()): the names of weights that `weight_decay` leaves out; see
            `exclude_from_weight_decay`.
        use_ema (bool, default False): whether moving averages of the weights are kept: average = ema_momentum * average
            + (1 - ema_momentum) * p. As in Keras 3 they are updated at each batch, also while gradients accumulate.
        ema_momentum (number from 0 to 1, default 0.99): the share of the average that stays.
        ema_overwrite_frequency (positive integer or None, default None): the weights are set to their averages each
            time after this many steps; None never sets them.
        gradient_accumulation_steps (positive integer or None, default None): how many batches make one step, with the
            mean of their gradients weighted by samples.
        lr_multipliers (dictionary of numbers or None, default None): factors of the learning rate, by the name of a
            layer.
        learning_rate (number of at least 0 or LearningRateSchedule, default None): another name of `lr`.
        global_clipnorm (number of at least 0 or None, default None): another name of `clipnorm`.

    Errors:
        TypeError: for an unknown option, or two names of one.
        ValueError: for a bad value.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(eq=False)
        ... class Signs(Optimizer):
        ...     lr: float = 0.01
        ...     def update_step(self, group, gradients, rate):
        ...         for parameter, gradient in zip(group.parameters, gradients):
        ...             parameter.sub_(rate * gradient.sign())
        >>> weight = torch.zeros(2)
        >>> Signs(0.5).update([weight], [torch.tensor([3.0, -2.0])])
        True
        >>> weight
        tensor([-0.5000,  0.5000])

    Source: https://keras.io/api/optimizers/
    """

    lr: Any = 0.01  # each subclass has it as its first option
    clipnorm: float | None = None
    clipvalue: float | None = None
    each_clipnorm: float | None = newer(None)
    weight_decay: float | None = newer(None)
    no_weight_decay: Sequence[str] = newer(())
    use_ema: bool = newer(False)
    ema_momentum: float = newer(0.99)
    ema_overwrite_frequency: int | None = newer(None)
    gradient_accumulation_steps: int | None = newer(None)
    lr_multipliers: Mapping[str, float] | None = newer(None)
    learning_rate: InitVar[Any] = None
    global_clipnorm: InitVar[float | None] = None

    moment_names: ClassVar[tuple[str, ...]] = ()
    counts_steps: ClassVar[bool] = True  # whether the first of Keras's arrays is `iterations`
    decays_weights: ClassVar[bool] = False  # whether `update_step` does what `weight_decay` asks for
    names_by_path: ClassVar[bool] = False  # whether it knows weights by the names of all layers around them
    takes_arrays: ClassVar[bool] = False  # whether `update_step` needs all parameters of one of Keras's arrays together
    no_form: ClassVar[str] = ""  # why files cannot hold it

    _is_own: ClassVar[bool] = True  # whether the class is this package's, not a user's

    # Without annotation: a field, of whatever kind, would go before those of subclasses in the order of arguments.
    decay = 0.0

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        cls._is_own = cls.__module__.startswith("torchkeras.")
        registry.optimizers.own(cls, cls.__name__.lower())
        if "__init__" not in cls.__dict__:
            names = {**docstrings.entries(cls.__doc__ or ""), **docstrings.entries(cls.__mro__[1].__doc__ or "")}
            own = {name: value for name, value in cls.__dict__.items() if name in names}
            defaults = {name: value.default if isinstance(value, Field) else value for name, value in own.items()}
            cls.__doc__ = docstrings.complete(cls, names, defaults)  # here, since a dataclass reads it

    def __post_init__(self, learning_rate: Any, global_clipnorm: float | None) -> None:
        given = (("lr", "learning_rate", learning_rate), ("clipnorm", "global_clipnorm", global_clipnorm))
        for name, other, value in given:
            if value is None:
                continue
            if getattr(self, name) not in (getattr(type(self), name, None), value):
                raise TypeError(f"{type(self).__name__}: {name} and {other} are one option; found both.")
            setattr(self, name, value)
        for name, value in vars(self).items():
            # The defaults of this package's classes are already in the form that the rules give.
            is_default = type(self)._is_own and value is getattr(type(self), name, self)
            if name in RULES and not (is_default and RULES[name].settled):
                vars(self)[name] = self._read(name, value)
        self.iterations = 0
        self.skipping: Tensor | None = None
        self._given: Any = None
        self._parameters: list[Tensor] = []
        self._arrangements: list[Arrangement] = []
        self._layers: list[str] | None = None
        self._names: list[str] | None = None
        self._kinds: list[str] = []
        self._excluded: list[Any] = []
        self._groups: list[Group] = []  # the last: from here on `__setattr__` checks values

    def __setattr__(self, name: str, value: Any) -> None:
        if "_groups" in vars(self):  # the constructor reads all options together
            if name not in vars(self):
                self._check_name(name)
            if name in RULES and hasattr(type(self), name):  # else an attribute of a user's class that has this name
                self._set_option(name, self._read(name, value))
                return
        object.__setattr__(self, name, value)

    def _check_name(self, name: str) -> None:
        """Raise AttributeError for an attribute that nothing reads; a user's class may read any."""
        if type(self)._is_own and not name.startswith("_") and not hasattr(type(self), name):
            known = ", ".join(field.name for field in fields(self))
            raise AttributeError(f"{type(self).__name__}: there is no option {name!r} to set. Its options are {known}.")

    def _read(self, name: str, value: Any) -> Any:
        return read(type(self).__name__, name, RULES[name], value)

    def _set_option(self, name: str, value: Any) -> None:
        before = getattr(self, name, value)  # a user's class may set an option that it has not declared
        if name == "gradient_accumulation_steps" and value != before:
            self.flush()
        object.__setattr__(self, name, value)
        if any(group.moments and len(group.moments) != len(self.moment_names) for group in self._groups):
            object.__setattr__(self, name, before)
            raise ValueError(f"{type(self).__name__}: {name} cannot change from {before!r} once there is state.")
        if name in REGROUPING and self._groups:
            self.bind(self._given)

    # --- parameters --------------------------------------------------------------------------------------------------

    def bind(
        self,
        parameters: Sequence[Tensor],
        arrangements: Sequence[Arrangement] | None = None,
        layers: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        """Train `parameters` from now on. Those that have trained before keep their state; new ones start at zero.

        The state is also saved while other parameters train, such as those of another model. `arrangements`: how the
        parameters, in their order, make Keras's arrays; by default as when they last trained, or one array each.
        `layers`, `names`: for each of Keras's arrays, the name of its layer and its own ("kernel"). Call it again when
        parameters moved to another device, type or memory format. Raises ValueError for a complex parameter, for one
        with gaps or overlaps in memory, and for `lr_multipliers` of an unknown layer.
        """
        given, self._held = parameters, held(parameters) if has_group() else WHOLE_PARAMETERS
        parameters = self._held.parts(given)
        if True in map(torch.is_complex, parameters):
            raise self._complex_error(parameters)
        layout: Any = None
        aside = None
        if self._parameters:
            aside = self._put_aside()
            layout, self._accumulated = aside.take_list(parameters) or (layout, Accumulator())
        if arrangements is not None:
            self._arrangements = self._held.arranged(arrangements)
        else:
            in_order = self._held.arranged([IN_ORDER] * len(parameters)), None, None
            self._arrangements, layers, names = layout or in_order
        self._layers = None if layers is None else list(layers)
        self._names = None if names is None else list(names)
        self._given, self._parameters, self.skipping = given, parameters, None
        arrays = self._tensors()
        self._kinds = [self._kind(array, tensors) for array, tensors in enumerate(arrays)]
        self._groups = grouped(self._parameters, treatments(self, arrays), self._held)
        if aside is not None:
            self._take_back(aside)

    def _tensors(self) -> list[list[Tensor]]:
        """For each of Keras's arrays its parameters."""
        each = iter(self._parameters)
        return [list(islice(each, made.count)) for made in self._arrangements]

    def _complex_error(self, parameters: Sequence[Tensor]) -> ValueError:
        shape = next(tuple(each.shape) for each in parameters if each.is_complex())
        return ValueError(
            f"{type(self).__name__}: the parameter of shape {shape} is complex: train it by an optimizer of "
            "torch.optim."
        )

    def trains(self, tensors: Iterable[Tensor]) -> bool:
        """Whether it trains some of these parameters; it trains all that it is bound to."""
        return True

    def exclude_from_weight_decay(
        self, var_list: Iterable[Any] | None = None, var_names: Iterable[str] | None = None
    ) -> None:
        """Leave weights out of `weight_decay`: the given ones, and those whose name matches one of the patterns.

        A pattern is a regular expression, searched for in a weight's own name ("bias"); one with a slash is a weight's
        whole path ("dense_1/kernel"). A second call replaces the first.
        """
        self._excluded = list(var_list or ())
        self.no_weight_decay = tuple(var_names or ())

    def _kind(self, array: int, tensors: list[Tensor]) -> str:
        """The name of the update rule for one of Keras's arrays, made of these parameters; for several rules."""
        return ""

    # --- a step ------------------------------------------------------------------------------------------------------

    def update(self, parameters: Sequence[Tensor], gradients: Gradients, samples: float = 1) -> bool:
        """One step in place; a parameter whose gradient is None stays as it is. The gradients do not change.

        `samples`: the number of samples in the mean of the gradients; used when gradients accumulate.
        Returns whether the parameters were updated.
        """
        if parameters is not self._given:  # another model has trained since
            self.bind(parameters)
        gradients = self._held.parts(gradients)
        if True in [gradient is not None and gradient.is_sparse for gradient in gradients]:
            gradients = [gradient if gradient is None else gradient.to_dense() for gradient in gradients]
        with torch.no_grad():
            if self.gradient_accumulation_steps is not None:
                self._accumulated.add(self._parameters, gradients, samples)
                if self._accumulated.count < self.gradient_accumulation_steps:
                    if self.use_ema:
                        self._average()
                    return False
                gradients = self._accumulated.take()
            self._update(gradients)
        return True

    def flush(self) -> bool:
        """Make a step by the accumulated gradients. Returns whether there were any."""
        if "_accumulated" not in vars(self) or not self._accumulated.count:
            return False
        with torch.no_grad():
            self._update(self._accumulated.take())
        return True

    def _update(self, gradients: Gradients) -> None:
        limits = self.limits
        if any(limits):
            gradients = clipped(self._groups, gradients, *limits)
        now = self.current_lr
        for group in self._groups:
            rate = now * group.factor
            found: Any = gradients if len(self._groups) == 1 else [gradients[i] for i in group.index]
            if not group.moments and self.keeps_moments:
                group.moments = self._zeros(group)
            taken, found = (group, found) if group.takes(found) else self._fitted(group, found)
            if found:
                if self.weight_decay and group.decays and not self.decays_weights:
                    torch._foreach_mul_(taken.parameters, 1.0 - rate * self.weight_decay)
                self._step(taken, found, rate)
        if self.use_ema:
            self._average()
        self.__dict__["iterations"] += 1  # without `__setattr__`: it is no option

    def _fitted(self, group: Group, gradients: Gradients) -> tuple[Group, list[Tensor]]:
        if self.takes_arrays:
            present = {array for array, g in zip(group.arrays, gradients, strict=True) if g is not None}
            gradients = [
                torch.zeros_like(p) if g is None and array in present else g
                for p, g, array in zip(group.parameters, gradients, group.arrays, strict=True)
            ]
        return group.fitted(gradients)

    def _average(self) -> None:
        self._averages.update(self._parameters, self.iterations, self.ema_momentum, self.ema_overwrite_frequency)

    @property
    def current_lr(self) -> float:
        """The rate of the next step: lr / (1 + decay * iterations), where a schedule gives the lr.

        A schedule counts batches, as in Keras 3: with accumulated gradients, the last of those that make the step.
        """
        rate = self.lr
        if isinstance(rate, LearningRateSchedule):
            every = self.gradient_accumulation_steps or 1
            rate = float(rate(self.iterations * every + every - 1))
        return rate / (1.0 + self.decay * self.iterations) if self.decay else rate

    @property
    def keeps_moments(self) -> bool:
        """Whether a step needs moments, by the present options."""
        return bool(self.moment_names)

    # The norm of each gradient, that of all together, and the size of their elements; None for no limit.
    limits = property(operator.attrgetter("each_clipnorm", "clipnorm", "clipvalue"))

    # What makes the step of a group; a class whose `update_step` has another form defines a method in its place.
    _step = property(operator.attrgetter("update_step"))

    def update_step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        """Change `group.parameters` and `group.moments` (one list for each of `moment_names`) in place."""
        raise NotImplementedError(f"{type(self).__name__} has no update_step(group, gradients, rate).")

    @lazy_property
    def _accumulated(self) -> Accumulator:
        """The gradients that wait for more batches."""
        return Accumulator()

    @property
    def can_skip(self) -> bool:
        """Whether a step changes nothing if `skipping`, a number on the device, is 1, by the present options."""
        return False

    # --- averages ----------------------------------------------------------------------------------------------------

    @lazy_property
    def _averages(self) -> Averages:
        """The moving averages of the weights."""
        return Averages()

    def swap_ema(self) -> None:
        """Swap the weights with their moving averages, in place. Raises ValueError when none are kept."""
        self._need_averages("swap_ema")
        with torch.no_grad():
            self._averages.swap(self._parameters)

    def overwrite_with_ema(self) -> None:
        """Set the weights to their moving averages, as Keras 3 does when `fit` ends. Raises ValueError without any."""
        self._need_averages("overwrite_with_ema")
        with torch.no_grad():
            self._averages.begin(self._parameters)
            torch._foreach_copy_(self._parameters, self._averages.values)

    def _need_averages(self, method: str) -> None:
        if not self.use_ema:
            raise ValueError(f"{type(self).__name__}: {method} needs use_ema=True; found False.")

    # --- moments -----------------------------------------------------------------------------------------------------

    def _zeros(self, group: Group) -> list[list[Tensor]]:
        return [[torch.zeros_like(p, requires_grad=False) for p in group.parameters] for _ in self.moment_names]

    # --- options -----------------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """The options by name; `clipnorm`, `clipvalue` and those newer than Keras 2.2.4 only where they are set."""
        found = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name == "no_weight_decay":
                value = (*value, *self._excluded_paths())
            may_be_left_out = option.name in ("clipnorm", "clipvalue") or option.metadata.get("newer")
            if not (may_be_left_out and value == option.default):
                found[option.name] = plain(value)
        return found

    @property
    def for_files(self) -> Any:
        """The optimizer that files hold in place of this one: it itself, unless it wraps another."""
        return self

    @property
    def own_config(self) -> dict[str, Any]:
        """The options in the words of this package, which its files have, also where `get_config` has other words."""
        return self.get_config()

    def _excluded_paths(self) -> list[str]:
        if self._excluded and self._names is None:
            raise ValueError(
                f"{type(self).__name__}: weights excluded from weight_decay by var_list have no names before compile; "
                "exclude them by var_names."
            )
        excluded = excluded_ids(self._excluded)
        return [self._path(array) for array, found in enumerate(self._tensors()) if excluded & set(map(id, found))]

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The optimizer whose `get_config` returned `config`."""
        return cls(**config)


# For the dataclass these names were arguments of the constructor; from here on they are attributes.
for _name, _followed in (("learning_rate", "lr"), ("global_clipnorm", "clipnorm")):
    setattr(
        Optimizer,
        _name,
        property(
            operator.attrgetter(_followed),
            lambda self, value, followed=_followed: setattr(self, followed, value),
            doc=f"Another name of `{_followed}`.",
        ),
    )


# --- fused kernels of torch -------------------------------------------------------------------------------------------


fused_sgd: Callable[..., None] = partial(
    torch._fused_sgd_, weight_decay=0.0, nesterov=False, maximize=False, is_first_step=False
)


def fused_adam(
    group: Group,
    gradients: list[Tensor],
    moments: list[list[Tensor]],
    rate: float,
    beta_1: float,
    beta_2: float,
    epsilon: float,
    weight_decay: float = 0.0,
    skipping: Tensor | None = None,
) -> None:
    """m, v, and p -= rate * (m / (sqrt(v) + epsilon) + weight_decay * p): no bias correction but the rate's own.

    Nothing changes where `skipping` is 1.
    """
    # After infinitely many steps torch's correction is 1, and its epsilon stands where Keras's does.
    first, second, *largest = moments
    (torch._fused_adamw_ if weight_decay else torch._fused_adam_)(
        group.parameters,
        gradients,
        first,
        second,
        largest[0] if largest else [],
        group.forever,
        lr=rate,
        beta1=beta_1,
        beta2=beta_2,
        weight_decay=weight_decay,
        eps=epsilon,
        amsgrad=bool(largest),
        maximize=False,
        found_inf=skipping,
    )


def leaky(values: list[Tensor], new: list[Tensor], keep: float) -> None:
    """values = keep * values + (1 - keep) * new"""
    torch._foreach_lerp_(values, new, 1.0 - keep)


def leaky_squares(values: list[Tensor], new: list[Tensor], keep: float) -> None:
    """values = keep * values + (1 - keep) * new**2"""
    torch._foreach_mul_(values, keep)
    torch._foreach_addcmul_(values, new, new, value=1.0 - keep)
