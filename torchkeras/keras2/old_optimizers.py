"""Optimizers that scripts for Keras 1 and 2 write: classes with `get_updates(loss, params)`.

In Keras such a method runs once and returns the assignments of a step. Here it runs in each step: the variables that it
makes are those of the first step, in the order in which they are made; its assignments are made at its end, all from
the values of before. `extend()` lets subclasses of `Optimizer` be written so.
"""

from __future__ import annotations

import inspect
import weakref
from typing import Any

import torch
from torch import Tensor

from torchkeras.base import extensions
from torchkeras.engine.weights.weight import Variable
from torchkeras.keras2 import backend as K
from torchkeras.keras2.backend import assignments, remembered
from torchkeras.keras2.backend.functions import Minimized
from torchkeras.keras2.backend.nodes import floating
from torchkeras.keras2.backend.variables import Settable
from torchkeras.keras2.put_into import OfOptimizer
from torchkeras.optimizers.base import RULES, Optimizer
from torchkeras.optimizers.clipping import clipped
from torchkeras.optimizers.parameter_groups import Gradients

_declare = Optimizer.__init_subclass__.__func__  # type: ignore[attr-defined]
_finish, _set_option = Optimizer.__post_init__, Optimizer._set_option


class Number(float, Settable):
    """An option of an optimizer that is a number: `K.set_value(optimizer.lr, 0.1)` sets it, as a variable of Keras."""

    _owner: Any
    _name: str

    @classmethod
    def of(cls, value: float, owner: Any, name: str) -> Number:
        """The option `name` of an optimizer."""
        found = cls(value)
        found._owner, found._name = weakref.ref(owner), name
        return found

    shape = ()

    @property
    def dtype(self) -> torch.dtype:
        """The type `floatx`, in which a step counts with it."""
        return floating()

    def set_value(self, value: Any) -> None:
        """Set the option of the optimizer."""
        setattr(self._owner(), self._name, float(value))

    assign = set_value

    def get_value(self) -> float:
        """The option of the optimizer, as it is now."""
        return float(getattr(self._owner(), self._name))

    def __deepcopy__(self, memo: dict[int, Any]) -> float:
        owner = memo.get(id(self._owner()))
        return float(self) if owner is None else Number.of(float(self), owner, self._name)

    def __reduce__(self) -> Any:
        return float, (float(self),)


class NamedArray(Tensor):
    """A weight in a step of an optimizer, with the name that it has in Keras: `dense_1/kernel:0`."""

    name = ""  # torch's own attribute of this name cannot be set
    __torch_function__: Any = torch._C._disabled_torch_function_impl  # what is computed from it is a plain tensor

    @classmethod
    def of(cls, array: Tensor, name: str) -> Tensor:
        """The array itself, with a name."""
        found = array.detach().as_subclass(cls)
        found.name = name
        return found


class OldOptimizer(OfOptimizer):
    """What a class with `get_updates` has in place of `update_step`; never an object."""

    def __init_subclass__(cls, **options: Any) -> None:
        _declare(cls, **options)
        if "get_updates" in vars(cls):
            for name in ("__post_init__", "_update", "get_gradients"):
                setattr(cls, name, vars(OldOptimizer)[name])
            cls.weights = []  # type: ignore[attr-defined]
            cls.updates = []  # type: ignore[attr-defined]

    def __post_init__(self, *given: Any) -> None:
        _finish_settable(self, *given)
        self.iterations = K.variable(0, dtype="int64", name="iterations")
        self._remembered = remembered.Variables()
        self._gradients: dict[int, Tensor] = {}

    def get_gradients(self, loss: Any, params: Any) -> list[Tensor]:
        """The gradients of the step, clipped as the options say; a weight that the loss does not reach has zeros."""
        return [self._gradients.get(id(each), torch.zeros_like(each)) for each in params]

    def _update(self, gradients: Gradients) -> None:
        if self.clipnorm or self.clipvalue or self.each_clipnorm:
            gradients = clipped(self._groups, gradients, self.each_clipnorm, self.clipnorm, self.clipvalue)
        weights = _with_gradients(self, gradients)
        with self._remembered.again(), assignments.collected():
            updates = assignments.flat(_called(self, [array for array, _, _ in weights.values()]) or [])
        values = [(target, torch.as_tensor(K.identity(value)).detach().clone()) for target, value in updates]
        for target, value in values:
            if id(target) in weights:
                _, made, tensors = weights[id(target)]
                made.assign(tensors, value)
            else:
                (target.value if isinstance(target, Variable) else target).copy_(value)
        self._gradients = {}
        if self.use_ema:
            self._average()


def _with_gradients(optimizer: Any, gradients: Gradients) -> dict[int, tuple[Tensor, Any, list[Tensor]]]:
    """The weights that have gradients, as Keras's arrays, with how an array is made of tensors, and these; by id.

    The optimizer gets the gradients of these arrays.
    """
    each, weights = iter(gradients), {}
    optimizer._gradients = {}
    count = len(optimizer._arrangements)
    layers = optimizer._layers or [f"param_{k}" for k in range(count)]
    names = zip(layers, optimizer._names or ["value"] * count, strict=True)
    for made, tensors, name in zip(optimizer._arrangements, optimizer._tensors(), names, strict=True):
        found = [next(each) for _ in tensors]
        if all(gradient is None for gradient in found):
            continue
        array = NamedArray.of(made.array(tensors), f"{'/'.join(name)}:0")
        filled = [torch.zeros_like(t) if g is None else g for t, g in zip(tensors, found, strict=True)]
        optimizer._gradients[id(array)] = made.array(filled)
        weights[id(array)] = array, made, tensors
    return weights


def get_updates(optimizer: Any, /, *args: Any, **named: Any) -> list[Any]:
    """A step that minimizes a symbolic loss, for the updates of `K.function`.

    By Keras 2's `get_updates(loss, params)` or Keras 1's `get_updates(params, constraints, loss)`.
    """
    old = len(args) == 3 or (len(args) == 2 and isinstance(args[1], dict))
    names = ("params", "constraints", "loss") if old else ("loss", "params")
    given = {**dict(zip(names, args, strict=False)), **named}
    return [Minimized(optimizer, given["loss"], list(given["params"]), given.get("constraints") or {})]


def _called(optimizer: Any, params: list[Tensor]) -> Any:
    """The assignments of a step, by Keras 2's `get_updates(loss, params)` or Keras 1's (params, constraints, loss)."""
    names = list(inspect.signature(optimizer.get_updates).parameters)
    given = {"params": params, "constraints": {}, "loss": None}
    if all(name in given for name in names):
        return optimizer.get_updates(**{name: given[name] for name in names})
    return optimizer.get_updates(None, params)


def _finish_settable(optimizer: Any, *given: Any) -> None:
    _finish(optimizer, *given)
    for name in [name for name in vars(optimizer) if name in RULES]:
        _make_settable(optimizer, name)


def _set_settable(optimizer: Any, name: str, value: Any) -> None:
    _set_option(optimizer, name, value)
    _make_settable(optimizer, name)


def _make_settable(optimizer: Any, name: str) -> None:
    value = vars(optimizer).get(name)
    if isinstance(value, float):
        vars(optimizer)[name] = Number.of(value, optimizer, name)


def extend() -> None:
    """Let subclasses of `Optimizer` define `get_updates`, and let `K.set_value` set the numbers of all optimizers.

    As in Keras 2, a script may keep attributes of its own on any optimizer.
    """
    extensions.extend(Optimizer, _check_name=lambda self, name: None, _set_option=_set_settable)
    extensions.extend(Optimizer, get_updates=get_updates, initial_decay=property(lambda self: float(self.decay)))
    declare: Any = OldOptimizer.__init_subclass__
    extensions.extend(Optimizer, __post_init__=_finish_settable, __init_subclass__=classmethod(declare.__func__))
