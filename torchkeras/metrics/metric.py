"""The base of metrics with a state, which lies on the device of the predictions and is never copied to the host."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from torchkeras import config, initializers, registry
from torchkeras.base.fixed_lists import States
from torchkeras.base.naming import snake_case
from torchkeras.base.python import attributes_of, first
from torchkeras.declared import Declared


class State(Tensor):
    """A number of a metric that is added up: a tensor, with Keras's `assign` beside torch's in-place methods."""

    # Results are plain tensors, as those of nn.Parameter are.
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    path: str = ""  # the names of the metric and of the state: "auc/thresholds"

    @staticmethod
    def of(values: Tensor, path: str = "") -> State:
        """A state that starts with these values."""
        made = values.detach().clone().as_subclass(State)
        made.path = path
        return made

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the state: "thresholds"."""
        return self.path.rpartition("/")[2]

    @property
    def value(self) -> Tensor:
        """The values as a plain tensor, which changes with them."""
        return self.detach()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """A copy of the values as an array."""
        return self.detach().cpu().numpy(force=force).copy()

    def assign(self, value: Any) -> State:
        """Set these values: a tensor, an array, a list or a number."""
        return self.copy_(self._given(value))  # type: ignore[return-value]

    def assign_add(self, value: Any) -> State:
        """Add these values."""
        return self.add_(self._given(value))  # type: ignore[return-value]

    def assign_sub(self, value: Any) -> State:
        """Subtract these values."""
        return self.sub_(self._given(value))  # type: ignore[return-value]

    def _given(self, value: Any) -> Tensor:
        return value if isinstance(value, Tensor) else torch.as_tensor(value, device=self.device)

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        memo[id(self)] = State.of(self, self.path)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return State.of, (self.detach(), self.path)


class Metric(Declared):
    """A number over many batches: `update_state` adds a batch, `result` gives the number so far, on the device.

    A subclass makes its states with `add_variable`, and defines `update_state(y_true, y_pred, sample_weight=None)` and
    `result()`. An update records nothing for gradients. States start as zeros, unless `add_variable` is passed other
    values; `reset_state` sets them to zero. They move to the device of the batches that are added.

    If several processes share each batch, every process counts the whole batch. A class with `adds_up = True` says that
    its update only adds sums over samples to its states: each process then counts its own samples, and the states are
    added up when the number is read.

    A class, or an object, declares by `higher_is_better` (True or False; None, the default, declares nothing) whether
    more is better. Callbacks that monitor the metric use it.

    Options:
        dtype (text, torch.dtype or None, default None): the type of the states; None is the default float type. float32
            counts up to 2**24 without error.
        name (text or None, default None): what logs and configs call the metric; None is the class's name in snake
            case.

    Errors:
        ValueError: for a bad option.

    Example:
        >>> class Largest(Metric):
        ...     def __init__(self, name="largest", dtype=None):
        ...         super().__init__(dtype, name)
        ...         self.add_variable(name="largest")
        ...     def update_state(self, y_true, y_pred, sample_weight=None):
        ...         self.largest.assign(torch.maximum(self.largest, y_pred.max()))
        ...     def result(self):
        ...         return self.largest.clone()
        >>> Largest()(torch.zeros(3), torch.arange(3.0))
        tensor(2.)

    Source: https://keras.io/api/metrics/
    """

    adds_up: ClassVar[bool] = False
    has_counted = True  # False for one that nobody updated, of which another number of its name is reported
    higher_is_better: bool | None = None
    recognized_as: ClassVar[type | None] = None  # see `losses.loss.kind_of`
    _resets_by_batch = True  # where train_on_batch and test_on_batch have no option of their own

    name: str
    dtype: str

    def __init__(self, dtype: Any = None, name: str | None = None):
        self._start(name, dtype)

    def _start(self, name: str | None, dtype: Any) -> None:
        self._variables: dict[str, State] = {}
        self._device: torch.device | None = None
        self.keep(name=name or snake_case(type(self).__name__), dtype=dtype or config.floatx())

    def __init_subclass__(cls, abstract: bool = False, by_class: bool = False, **arguments: Any) -> None:
        """`by_class`: the name in snake case is not this metric's."""
        super().__init_subclass__(**arguments)
        # Of a user's class it is not known.
        cls.adds_up = cls.__dict__.get("adds_up", cls.__module__.startswith("torchkeras."))
        name = snake_case(cls.__name__)
        if not abstract:
            registry.metrics.own(cls, *([] if by_class or name in registry.metrics else [name]))
        if "update_state" in cls.__dict__:
            cls.update_state = _updating(cls.update_state)  # type: ignore[method-assign]
        if "result" in cls.__dict__:
            cls.result = _copying(cls.result)  # type: ignore[method-assign]

    def update_state(self, *values: Any, **options: Any) -> None:
        """Add a batch: `update_state(y_true, y_pred, sample_weight=None)`."""
        raise NotImplementedError(f"{type(self).__name__}: a metric defines update_state(y_true, y_pred, ...).")

    def result(self) -> Tensor:
        """The number over all batches since the last reset, or several in an array: a tensor on the device."""
        raise NotImplementedError(f"{type(self).__name__}: a metric defines result().")

    def __call__(self, *values: Any, **options: Any) -> Tensor:
        """Add a batch, then give the result."""
        self.update_state(*values, **options)
        return self.result()

    @torch.no_grad()
    def reset_state(self) -> None:
        """Start over: all states become 0."""
        for state in self.variables:
            state.zero_()

    def reset_states(self) -> None:
        """`reset_state`, under its older name."""
        self.reset_state()

    # --- states ------------------------------------------------------------------------------------------------------

    def add_variable(
        self, shape: Sequence[int] = (), initializer: Any = "zeros", dtype: Any = None, name: str | None = None
    ) -> State:
        """Make a state. Raises ValueError for a name that another state has."""
        name = name or f"variable_{len(self._variables)}"
        if name in self._variables:
            raise ValueError(f"{type(self).__name__} {self.name!r}: a state is called {name!r} already.")
        kind = getattr(torch, str(dtype or self.dtype).removeprefix("torch."))
        with torch.inference_mode(False), torch.no_grad():
            found = torch.empty(tuple(shape), dtype=kind, device=self._device or "cpu")
            if initializer in (None, "zeros"):
                found.zero_()
            else:
                found.copy_(initializers.get(initializer)(tuple(shape)))
            self._variables[name] = State.of(found, f"{self.name}/{name}")
        return self._variables[name]

    def add_weight(
        self, shape: Sequence[int] = (), initializer: Any = "zeros", dtype: Any = None, name: str | None = None
    ) -> State:
        """The same as `add_variable`."""
        return self.add_variable(shape, initializer, dtype, name)

    def __getattr__(self, name: str) -> Any:
        variables = self.__dict__.get("_variables", {})
        if name not in variables:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return variables[name]

    @property
    def variables(self) -> list[State]:
        """The states, in the order in which they were made; some metrics make them at the first update."""
        return States(self._variables.values())

    def to(self, device: torch.device | str) -> Metric:
        """Move the states to a device, in place."""
        self._device = torch.device(device)
        for state in self._variables.values():
            if state.device != self._device:
                torch.utils.swap_tensors(state, State.of(state.to(self._device), state.path))
        return self

    def state_dict(self) -> dict[str, Tensor]:
        """The states by name, as they are now."""
        return {name: state.detach().clone() for name, state in self._variables.items()}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from these states. Raises ValueError when their names or shapes are not the metric's."""
        if not self._variables:  # made at the first update
            for name, values in state.items():
                self.add_variable(values.shape, name=name, dtype=values.dtype)
        found = {name: tuple(values.shape) for name, values in state.items()}
        wanted = {name: tuple(values.shape) for name, values in self._variables.items()}
        if found != wanted:
            raise ValueError(f"{type(self).__name__} {self.name!r}: its states are {wanted}; found {found}.")
        with torch.no_grad():
            for name, values in state.items():
                self._variables[name].copy_(values)

    def __deepcopy__(self, memo: dict[int, Any]) -> Metric:
        made = memo[id(self)] = self.__class__.__new__(self.__class__)
        made.__dict__.update({name: copy.deepcopy(value, memo) for name, value in attributes_of(self).items()})
        return made

    # --- what is given -----------------------------------------------------------------------------------------------

    def _tensor(self, value: Any, dtype: torch.dtype | None = None) -> Tensor:
        """A tensor or array on the metric's device."""
        found = value if isinstance(value, Tensor) else torch.as_tensor(value, device=self._device)
        return found if dtype is None or found.dtype == dtype else found.to(dtype)

    @property
    def _type(self) -> torch.dtype:
        return getattr(torch, self.dtype)

    def _refuse(self, text: str) -> ValueError:
        return ValueError(f"{type(self).__name__} {self.name!r}: {text}")


_finds_shapes: ContextVar[bool] = ContextVar("_finds_shapes", default=False)


@contextmanager
def uncounted() -> Iterator[None]:
    """Let metrics leave out tensors on `meta` inside the `with` block: they are shapes, with nothing to count."""
    token = _finds_shapes.set(True)
    try:
        yield
    finally:
        _finds_shapes.reset(token)


def _updating(update: Callable[..., Any]) -> Callable[..., Any]:
    """An `update_state` that first moves the states to the device of the predictions, and records no gradients."""

    @wraps(update)
    def update_state(metric: Metric, /, *values: Any, **options: Any) -> None:
        given = (options.get("y_pred"), *reversed(values[:2]), *options.values())
        device = first((value.device for value in given if isinstance(value, Tensor)), metric._device)
        if device is not None and device.type == "meta" and _finds_shapes.get():
            return
        if device is not None and device != metric._device:
            metric.to(device)
        with torch.no_grad():
            update(metric, *values, **options)

    return update_state


def _copying(result: Callable[..., Any]) -> Callable[..., Any]:
    """A `result` whose values stay as they are while the states change, also where it returns one of them."""

    @wraps(result)
    def copied(metric: Metric) -> Any:
        found = result(metric)
        return found.detach().clone() if isinstance(found, Tensor) else found

    return copied
