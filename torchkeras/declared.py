"""Objects whose config is the arguments of their constructor: losses and metrics.

An option is an attribute of the same name, checked by the rule of that name. So checks, config and `repr` are written
once. A class made from a function has the function's keyword arguments as options.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from inspect import Parameter
from typing import Any, ClassVar, TypeVar

import torch

from torchkeras.base import docstrings
from torchkeras.base.fixed_lists import OptionValues
from torchkeras.base.rules import (
    ABOVE_0,
    AT_LEAST_0,
    FINITE,
    FLAG,
    SHARE,
    STRING,
    KnownOptions,
    Rule,
    integer,
    number,
    optional,
    read,
    several,
)
from torchkeras.base.tracing import made_once
from torchkeras.registry import Family

D = TypeVar("D", bound="Declared")

VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def _type_name(value: Any) -> str:
    """The name of a number type, which is given by name or as torch's dtype."""
    name = str(value).removeprefix("torch.") if isinstance(value, (str, torch.dtype)) else ""
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype) or found == torch.bool or found.is_complex:
        raise ValueError(f"must be a type of numbers such as 'float32'; found {value!r}.")
    return str(found).removeprefix("torch.")


RULES: Mapping[str, Rule] = {
    "name": STRING,
    "dtype": optional(Rule(_type_name)),
    **dict.fromkeys(("from_logits", "apply_class_balancing", "remove_diagonal", "from_sorted_ids"), FLAG),
    **dict.fromkeys(("sparse_y_true", "sparse_y_pred", "multi_label"), FLAG),
    **dict.fromkeys(("alpha", "beta", "margin", "threshold"), FINITE),
    **dict.fromkeys(("label_smoothing", "specificity", "sensitivity", "recall", "precision"), SHARE),
    **dict.fromkeys(("k", "num_thresholds", "num_classes"), integer(1)),
    **dict.fromkeys(("ignore_class", "class_id"), optional(integer())),
    "axis": integer(),
    "delta": ABOVE_0,
    "gamma": AT_LEAST_0,
    "q": number("between 0 and 1", lambda v: 0 < v < 1),
    "thresholds": optional(several(SHARE)),
    "top_k": optional(integer(1)),
}


class Declared(KnownOptions):
    """The base class: `keep` checks and sets options; `get_config` reads those that the constructor takes."""

    rules: ClassVar[Mapping[str, Rule]] = {}  # a class's own rules, by option
    changeable: ClassVar[tuple[str, ...]] = ("name",)  # options that are read whenever they are needed

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute. Raises AttributeError for an option by which an object of this package is made already."""
        kind = type(self)
        if name in vars(self) and kind.__module__.startswith("torchkeras.") and name in option_names(kind):
            if name not in self.changeable:
                raise AttributeError(
                    f"{kind.__name__}: {name} is settled when the object is made: make another with {name}={value!r}."
                )
            value = self._read(name, value)
        super().__setattr__(name, value)

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        docstrings.complete_when_read(cls, _explained)

    def keep(self, **options: Any) -> None:
        """Keep each option as an attribute. Raises ValueError, with class and option, for a bad value."""
        for name, value in options.items():
            object.__setattr__(self, name, self._read(name, value))

    def _read(self, name: str, value: Any) -> Any:
        rule = self.rules.get(name) or RULES.get(name)
        found = value if rule is None else read(type(self).__name__, name, rule, value)
        return OptionValues(found) if type(found) is list else found

    def get_config(self) -> dict[str, Any]:
        """The options, as plain data.

        Raises NotImplementedError for a user's class that stores an option under another name and has no
        `get_config`.
        """
        config = {}
        for name in option_names(type(self)):
            value = getattr(self, name, ...)
            if value is not ... and (name, value) != ("dtype", None):
                config[name] = list(value) if isinstance(value, (tuple, OptionValues)) else value
            elif value is ... and type(self).get_config is Declared.get_config:
                raise NotImplementedError(
                    f"{type(self).__name__}: the option {name!r} is no attribute of the object: keep it as "
                    f"`self.{name}`, or define get_config."
                )
        return config

    @classmethod
    def from_config(cls: type[D], config: Mapping[str, Any]) -> D:
        """The inverse of `get_config`. Raises TypeError for an unknown option and ValueError for a bad value."""
        return cls(**config)

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={getattr(self, name, ...)!r}" for name in option_names(type(self)))
        return f"{type(self).__name__}({options})"

    def _bind(self, values: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """All options of a class made from a function, from the arguments of the constructor."""
        signatures = (base.__dict__.get("__signature__") for base in type(self).__mro__)
        signature = next(found for found in signatures if isinstance(found, inspect.Signature))
        try:
            bound = signature.bind(*values, **options)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}.") from error
        bound.apply_defaults()
        return bound.arguments


def _explained(cls: type) -> str | None:
    """The docstring with all options of the constructor; a function explains those that are its arguments."""
    defaults = {name: each.default for name, each in inspect.signature(cls).parameters.items()}
    return docstrings.complete(cls, defaults, defaults, [getattr(cls.__dict__.get("function"), "__doc__", None)])


def options_of(function: Callable[..., Any], names: Sequence[str] | None = None) -> list[Parameter]:
    """The keyword arguments of a function of (y_true, y_pred): all, or those named, in that order."""
    found = dict(list(inspect.signature(function).parameters.items())[2:])
    return [found[name] for name in names or found]


def check_options(owner: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raise TypeError, with the owner's name, for options that a function of (y_true, y_pred) does not take."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # for a function that is not written in Python
        return
    try:
        signature.bind(None, None, **options)
    except TypeError as error:
        raise TypeError(f"{owner}: {getattr(function, '__name__', function)}: {error}.") from error


def function_named(family: Family[Any], name: Any) -> Any:
    """The function that a config names. Raises ValueError for an unknown name, and for one of a class."""
    found = family.find(name) if isinstance(name, str) else None
    if found is None or inspect.isclass(found):
        raise ValueError(f"'fn' must be the name of a {family.kind}; found {name!r:.200}.")
    return found


@lru_cache
def option_names(cls: type) -> tuple[str, ...]:
    """The names of the constructor's arguments, with those of the base if it takes further ones."""
    parameters = inspect.signature(cls).parameters
    names = [name for name, each in parameters.items() if each.kind not in VARIADIC]
    if any(each.kind == Parameter.VAR_KEYWORD for each in parameters.values()):
        base = next(base for base in cls.__mro__ if "__init__" in base.__dict__)
        after = base.__mro__[1]
        names += [name for name in option_names(after) if name not in names] if after is not object else []
    return tuple(names)


@made_once
def constants(values: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Numbers on a device, made once: made in each step, they would be a transfer each time."""
    with torch.inference_mode(False):
        return torch.tensor(values, dtype=dtype, device=device)
