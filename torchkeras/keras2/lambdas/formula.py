"""A function as a formula: named operations of its arguments, as data that can be printed, stored and computed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Set
from typing import Any

import torch
from torch import Tensor

from torchkeras.keras2.lambdas import functions
from torchkeras.keras2.lambdas.arithmetic import truth
from torchkeras.keras2.lambdas.expression import STEP, TRAINING, Argument, Choice, Inner, Step, names_in
from torchkeras.keras2.lambdas.formula_text import in_one_line
from torchkeras.keras2.lambdas.keras_functions import Scope
from torchkeras.keras2.lambdas.limits import OPERATION, Budget


class Formula:
    """A function that is a formula.

    `parameters`: the names of its arguments. `own`: functions of the user's that it calls, by name.
    """

    is_formula = True  # by which layers know one, without importing this module

    def __init__(self, name: str, parameters: tuple[str, ...], result: Any, own: Mapping[str, Callable[..., Any]]):
        self.__name__ = name
        self.parameters, self.result, self.own = parameters, result, dict(own)
        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(each, positional) for each in parameters])

    def __repr__(self) -> str:
        return in_one_line(self.result, self.parameters)

    def line(self, several: bool) -> str:
        """The formula for a line of generated code, with `{0}` for its input unless there are several."""
        names = {} if several else {self.parameters[0]: "\0"}
        text = in_one_line(self.result, self.parameters, names).replace("{", "{{").replace("}", "}}")
        return (text if len(text) <= 160 else f"{text[:157]}...").replace("\0", "{0}")

    def __call__(self, *values: Any, training: bool = False, **named: Any) -> Any:
        given = {**dict(zip(self.parameters, values, strict=False)), **named}
        if len(values) > len(self.parameters) or set(given) != set(self.parameters):
            raise TypeError(f"{self.__name__} takes {', '.join(self.parameters)}; found {', '.join(given)}.")
        run = _Run(self, {**given, TRAINING: training})
        if not any(tensor.is_meta for tensor in run.tensors):
            return run.value(self.result)
        try:
            return run.value(self.result)
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise ValueError(f"its {run.doing} fails: {error}") from error


class _Run:
    """One computation of a formula."""

    def __init__(self, formula: Formula, given: Mapping[str, Any], outer: _Run | None = None):
        self.formula, self.given, self.outer = formula, given, outer
        self.budget: Budget = outer.budget if outer else Budget()
        self.outside: Set[int] = frozenset()  # the steps that `outer` computes, once for all values
        self.known: dict[int, Any] = {}
        self.doing = "formula"  # the operation, for an error

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors among the arguments."""
        given = [
            value for each in self.given.values() for value in (each if isinstance(each, (tuple, list)) else [each])
        ]
        return [value for value in given if isinstance(value, Tensor)]

    @property
    def scope(self) -> Scope:
        """How the layer runs."""
        device = next((tensor.device for tensor in self.tensors), torch.device("cpu"))
        return Scope(bool(self.given[TRAINING]), device)

    def value(self, value: Any) -> Any:
        """A value with the results of the steps that stand in it."""
        if isinstance(value, STEP):
            if self.outer is not None and id(value) in self.outside:
                return self.outer.value(value)
            if id(value) not in self.known:
                self.known[id(value)] = self._step(value)
            return self.known[id(value)]
        if isinstance(value, (tuple, list)):
            return type(value)(self.value(part) for part in value)
        if isinstance(value, slice):
            return slice(self.value(value.start), self.value(value.stop), self.value(value.step))
        if isinstance(value, Mapping):
            return {key: self.value(part) for key, part in value.items()}
        return value

    def _step(self, step: Step) -> Any:
        if isinstance(step, Argument):
            return self.given[step.name]
        self.budget.spend(OPERATION)
        if isinstance(step, Inner):
            return self._function(step)
        if isinstance(step, Choice):
            return self.value(step.yes if truth(self.value(step.condition)) else step.no)
        arguments = [self.value(each) for each in step.arguments]
        named = {name: self.value(each) for name, each in step.keywords.items()}
        self.doing = step.operation
        own = self.formula.own.get(step.operation.removeprefix(functions.OWN))
        if step.operation.startswith(functions.OWN) and own is not None:
            return own(*arguments, **named)
        if step.operation in functions.SCOPED:
            return functions.SCOPED[step.operation](self.scope, *arguments, **named)
        return functions.operation(step.operation)(*arguments, **named)

    def _function(self, step: Inner) -> Callable[..., Any]:
        """A function inside the formula, which computes what depends on its arguments in each call."""
        outside = {key for key, names in names_in(step.result).items() if names <= self.given.keys()}

        def function(*values: Any) -> Any:
            given = dict(zip(step.parameters, values, strict=True))
            run = _Run(self.formula, {**self.given, **given}, self)
            run.outside = outside
            return run.value(step.result)

        return function
