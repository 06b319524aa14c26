"""Optimizers: parameters and gradients to new parameters, in place: Keras 2.2.4's formulas on torch's fused kernels.

`apply(parameters, gradients)` is one step. Options and the count of steps stay on the host: a step waits for nothing.
With lr_t = lr / (1 + decay * iterations), the rate of the step, counted from 0:

    SGD      v = momentum * v - lr_t * g; p += v, or with nesterov p += momentum * v - lr_t * g
    RMSprop  a = rho * a + (1 - rho) * g**2; p -= lr_t * g / (sqrt(a) + epsilon)
    Adam     m = beta_1 * m + (1 - beta_1) * g; v = beta_2 * v + (1 - beta_2) * g**2
             p -= lr_t * sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) + epsilon), t counted from 1

State is kept as torch lays the parameters out; `get_weights` gives it in Keras's order of arrays and of axes.
"""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, fields
from functools import partial
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from torchkeras import config, registry
from torchkeras.arrangement import IN_ORDER, Arrangement
from torchkeras.arrays import to_numpy
from torchkeras.parameter_groups import Gradients, Group, clipped, grouped, in_order


def _number(text: str, holds: Callable[[float], bool]) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if isinstance(value, (bool, str)) or not (math.isfinite(number) and holds(number)):
            raise ValueError(f"must be a number {text}; found {value!r}.")
        return number

    return read


def _or_none(read: Callable[[Any], float]) -> Callable[[Any], float | None]:
    return lambda value: None if value is None else read(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"must be True or False; found {value!r}.")
    return bool(value)


_at_least_0 = _number("of at least 0", lambda v: v >= 0)
_share = _number("from 0 to below 1", lambda v: 0 <= v < 1)

# How each option is read, when it is given and whenever it is set.
RULES: dict[str, Callable[[Any], Any]] = {
    "lr": _at_least_0,
    "momentum": _at_least_0,
    "decay": _at_least_0,
    "nesterov": _flag,
    "rho": _share,
    "beta_1": _share,
    "beta_2": _share,
    "epsilon": lambda value: config.epsilon() if value is None else _at_least_0(value),
    "amsgrad": _flag,
    "clipnorm": _or_none(_at_least_0),
    "clipvalue": _or_none(_at_least_0),
}


@dataclass(eq=False, kw_only=True)
class Optimizer:
    """The base class; a subclass declares its options as dataclass fields and defines `step`.

    `clipnorm`: all gradients together are scaled down to this norm. `clipvalue`: each element is clipped to
    [-clipvalue, clipvalue], after that. `learning_rate` is another name of `lr`. `iterations`: the steps taken.
    Raises TypeError for an unknown option and ValueError for a bad value.
    """

    clipnorm: float | None = None
    clipvalue: float | None = None
    learning_rate: InitVar[float | None] = None

    moment_names: ClassVar[tuple[str, ...]] = ()
    counts_steps: ClassVar[bool] = True  # whether the first of Keras's arrays is `iterations`

    lr: ClassVar[Any] = 0.01  # each subclass has it as its first option
    decay: ClassVar[Any] = 0.0

    def __post_init__(self, learning_rate: float | None) -> None:
        if learning_rate is not None:
            if self.lr not in (type(self).lr, learning_rate):
                raise TypeError(f"{type(self).__name__}: lr and learning_rate are one option; found both.")
            self.__setattr__("lr", learning_rate)
        self.iterations = 0
        self._given: Any = None
        self._parameters: list[Tensor] = []
        self._arrangements: list[Arrangement] = []
        self._groups: list[Group] = []

    def __setattr__(self, name: str, value: Any) -> None:
        if name in RULES:
            try:
                value = RULES[name](value)
            except ValueError as error:
                raise ValueError(f"{type(self).__name__}: {name} {error}") from error
        object.__setattr__(self, name, value)

    # --- a step ------------------------------------------------------------------------------------------------------

    def bind(self, parameters: Sequence[Tensor], arrangements: Sequence[Arrangement] | None = None) -> None:
        """Take `parameters` as those to train; moments start at zero, or go on if the parameters are the same.

        `arrangements`: how the parameters, in their order, make Keras's arrays; unless given, each is one as it is.
        Call it again when parameters moved to another device, type or memory format. Raises ValueError for a
        parameter with gaps or overlaps in memory.
        """
        same = len(parameters) == len(self._parameters) and all(map(operator.is_, parameters, self._parameters))
        if arrangements is not None or not same:
            self._arrangements = [IN_ORDER] * len(parameters) if arrangements is None else list(arrangements)
        before = self._groups if same else []
        self._given, self._parameters = parameters, list(parameters)
        self._groups = grouped(self._parameters)
        if any(group.moments for group in before):
            self._carry_over(before)

    def apply(self, parameters: Sequence[Tensor], gradients: Gradients) -> None:
        """One step in place; a parameter whose gradient is None stays as it is. The gradients are left unchanged."""
        if parameters is not self._given:
            self.bind(parameters)
        with torch.no_grad():
            if self.clipnorm or self.clipvalue:
                gradients = clipped(self._groups, gradients, self.clipnorm, self.clipvalue)
            rate = self.lr / (1.0 + self.decay * self.iterations) if self.decay else self.lr
            for group in self._groups:
                found: Any = gradients if len(self._groups) == 1 else [gradients[i] for i in group.index]
                if not group.moments and self.keeps_moments:
                    group.moments = self._zeros(group)
                taken, found = (group, found) if group.takes(found) else group.fitted(found)
                if found:
                    self.step(taken, found, rate)
        self.iterations += 1

    @property
    def keeps_moments(self) -> bool:
        """Whether a step with the present options needs state."""
        return bool(self.moment_names)

    def step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        """Change `group.parameters` and `group.moments` (one list for each of `moment_names`) in place."""
        raise NotImplementedError(f"{type(self).__name__} has no step(group, gradients, rate).")

    # --- state -------------------------------------------------------------------------------------------------------

    def _zeros(self, group: Group) -> list[list[Tensor]]:
        return [[torch.zeros_like(p, requires_grad=False) for p in group.parameters] for _ in self.moment_names]

    def _carry_over(self, before: list[Group]) -> None:
        old = [in_order(before, i) for i in range(len(self.moment_names))]
        for group in self._groups:
            group.moments = self._zeros(group)
            for moment, values in zip(group.moments, old, strict=True):
                for tensor, i in zip(moment, group.index, strict=True):
                    tensor.copy_(values[i])

    def _state(self) -> list[tuple[Arrangement, list[Tensor]]]:
        """Moment by moment Keras's arrays: for each its arrangement, and the tensors of the state that make it."""
        for group in self._groups:
            group.moments = group.moments or self._zeros(group)
        each = [iter(in_order(self._groups, i)) for i in range(len(self.moment_names))]
        return [(made, list(islice(values, made.count))) for values in each for made in self._arrangements]

    weights = property(lambda self: self.get_weights(), doc="The state, as `get_weights` gives it.")

    def get_weights(self) -> list[np.ndarray]:
        """A copy of the state as Keras orders it: `iterations` (not for RMSprop), then moment by moment.

        There is none before `bind` or the first step.
        """
        if not self._parameters:
            return []
        first = [np.array(self.iterations, dtype=np.int64)] if self.counts_steps else []
        return first + [to_numpy(made.array(tensors)).copy() for made, tensors in self._state()]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the state from arrays ordered as `get_weights` gives them; `bind` comes before.

        Raises ValueError when their number or the shape of one is another.
        """
        wanted = self._state() if self._parameters else []
        first = int(self.counts_steps and bool(self._parameters))
        name = type(self).__name__
        if len(weights) != first + len(wanted):
            hint = "" if self._parameters else " Call `bind` with the parameters first."
            raise ValueError(f"{name}: the state has {first + len(wanted)} arrays; found {len(weights)}.{hint}")
        arrays = [np.asarray(array) for array in weights]
        shapes = [()] * first + [made.shape(tensors) for made, tensors in wanted]
        for i, (array, shape) in enumerate(zip(arrays, shapes, strict=True)):
            if array.shape != shape:
                raise ValueError(f"{name}: array {i} of the state has shape {shape}; found {array.shape}.")
        if first:
            self.iterations = int(arrays[0])
        with torch.no_grad():
            for (made, tensors), array in zip(wanted, arrays[first:], strict=True):
                made.assign(tensors, torch.as_tensor(array.copy()))

    def get_config(self) -> dict[str, Any]:
        """The options by name; `clipnorm` and `clipvalue` where they are set."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: v for k, v in options.items() if not (k in ("clipnorm", "clipvalue") and v is None)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """The optimizer whose `get_config` gave `config`."""
        return cls(**config)


# The dataclass has read the name as an argument of the constructor; from here on it is an attribute that follows `lr`.
Optimizer.learning_rate = property(  # type: ignore[assignment]
    lambda self: self.lr, lambda self, value: setattr(self, "lr", value), doc="Another name of `lr`."
)


@dataclass(eq=False)
class SGD(Optimizer):
    """v = momentum * v - lr_t * g; p += v, or with nesterov p += momentum * v - lr_t * g

    Without momentum no velocity is kept, and `get_weights` gives zeros for it.
    """

    lr: float = 0.01  # type: ignore[misc]
    momentum: float = 0.0
    decay: float = 0.0  # type: ignore[misc]
    nesterov: bool = False

    moment_names = ("moments",)

    @property
    def keeps_moments(self) -> bool:
        return self.momentum > 0

    def step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        if not self.momentum:
            _fused_sgd(group.parameters, gradients, [], lr=rate, momentum=0.0, dampening=0.0)
            return
        # torch's buffer with a dampening of 1 - rate is -v: it holds whatever the rate of earlier steps was.
        ahead = self.momentum if self.nesterov else 1.0
        buffers = group.moments[0]
        _fused_sgd(group.parameters, gradients, buffers, lr=ahead, momentum=self.momentum, dampening=1.0 - rate)
        if self.nesterov:
            torch._foreach_add_(group.parameters, gradients, alpha=-rate)

    def get_weights(self) -> list[np.ndarray]:
        weights = super().get_weights()
        return weights[:1] + [0.0 - buffer for buffer in weights[1:]]

    def set_weights(self, weights: Sequence[Any]) -> None:
        super().set_weights([*weights[:1], *(-np.asarray(velocity) for velocity in weights[1:])])


@dataclass(eq=False)
class RMSprop(Optimizer):
    """a = rho * a + (1 - rho) * g**2; p -= lr_t * g / (sqrt(a) + epsilon)

    Hinton's lecture 6, http://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf
    """

    lr: float = 0.001  # type: ignore[misc]
    rho: float = 0.9
    epsilon: float | None = None
    decay: float = 0.0  # type: ignore[misc]

    moment_names = ("accumulators",)
    counts_steps = False

    def step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        # Adam whose first moment is the gradient itself: one kernel, in 0.24 of the time of five foreach calls.
        _fused_adam(group, gradients, [gradients, *group.moments], rate, 0.0, self.rho, self.epsilon)


@dataclass(eq=False)
class Adam(Optimizer):
    """p -= lr_t * sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (sqrt(v) + epsilon); with amsgrad the largest v so far

    Kingma and Ba, https://arxiv.org/abs/1412.6980v8; Reddi et al., https://openreview.net/forum?id=ryQu7f-RZ
    """

    lr: float = 0.001  # type: ignore[misc]
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float | None = None
    decay: float = 0.0  # type: ignore[misc]
    amsgrad: bool = False

    @property
    def moment_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("ms", "vs", "vhats") if self.amsgrad else ("ms", "vs")

    def step(self, group: Group, gradients: list[Tensor], rate: float) -> None:
        t = self.iterations + 1
        rate *= math.sqrt(1.0 - self.beta_2**t) / (1.0 - self.beta_1**t)
        _fused_adam(group, gradients, group.moments, rate, self.beta_1, self.beta_2, self.epsilon)

    def get_weights(self) -> list[np.ndarray]:
        return super().get_weights() + self._unused()

    def set_weights(self, weights: Sequence[Any]) -> None:
        unused = self._unused()
        kept = len(weights) - len(unused)
        if any(np.shape(array) != (1,) for array in weights[kept:]):
            raise ValueError("Adam: without amsgrad the last arrays of the state, one a parameter, have shape (1,).")
        super().set_weights(weights[:kept])

    def _unused(self) -> list[np.ndarray]:
        # Keras writes a zero for each parameter where amsgrad would have its maximum.
        return [] if self.amsgrad else [np.zeros(1, np.float32) for _ in self._arrangements]


# --- kernels ---------------------------------------------------------------------------------------------------------


_fused_sgd: Callable[..., None] = partial(
    torch._fused_sgd_, weight_decay=0.0, nesterov=False, maximize=False, is_first_step=False
)


def _fused_adam(
    group: Group,
    gradients: list[Tensor],
    moments: list[list[Tensor]],
    rate: float,
    beta_1: float,
    beta_2: float,
    epsilon: float | None,
) -> None:
    # After infinitely many steps torch's correction is 1, and its epsilon stands where Keras's does.
    first, second, *largest = moments
    torch._fused_adam_(
        group.parameters,
        gradients,
        first,
        second,
        largest[0] if largest else [],
        group.forever,
        lr=rate,
        beta1=beta_1,
        beta2=beta_2,
        weight_decay=0.0,
        eps=epsilon,  # type: ignore[arg-type]
        amsgrad=bool(largest),
        maximize=False,
    )


# --- names -----------------------------------------------------------------------------------------------------------

sgd = SGD
rmsprop = RMSprop
adam = Adam

for _name in ("SGD", "RMSprop", "Adam", "sgd", "rmsprop", "adam"):
    registry.optimizers.register(_name, vars()[_name])


def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """An optimizer from a name in any case, a config or an `Optimizer`, which is given back as it is.

    Raises ValueError for an unknown name and TypeError for an object of another kind, such as one of `torch.optim`.
    """
    if isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, Mapping) and isinstance(identifier.get("class_name"), str):
        found = {**identifier, "class_name": _known(identifier["class_name"], custom_objects)}
    else:
        found = _known(identifier, custom_objects) if isinstance(identifier, str) else identifier
    optimizer = registry.optimizers.get(found, custom_objects)
    if not isinstance(optimizer, Optimizer):
        raise TypeError(
            f"Could not interpret {identifier!r} as an optimizer: give a name, a config or an instance of a subclass "
            "of torchkeras.optimizers.Optimizer."
        )
    return optimizer


def _known(name: str, custom_objects: Mapping[str, Any] | None) -> str:
    own = {**registry.get_custom_objects(), **(custom_objects or {})}
    return name.lower() if name not in own and name.lower() in registry.optimizers else name


deserialize = get
serialize = registry.optimizers.serialize
