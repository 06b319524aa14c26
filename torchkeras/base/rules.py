"""Rules: how the value of an option is checked and kept, how a config has it, and what an editor says it may be.

    self.patience = read("EarlyStopping", "patience", integer(0), patience)

One rule has one wording. An error has the owner, the option, the rule and the value found: "EarlyStopping: patience
must be an integer of at least 0; found -1."
"""

from __future__ import annotations

import difflib
import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, wraps
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch

OBJECT = "str | Callable[..., Any] | Mapping[str, Any]"  # by name, as it is, or by its config
INTEGERS = "int | Sequence[int]"
PLAIN = (str, int, float, np.generic, type(None))  # values that are compared with others


@dataclass(frozen=True)
class Rule:
    """How an option is read and written.

    `convert(value)` gives the value kept, or raises ValueError whose text says the rule. A condition may come before
    it: what does not `holds` breaks the rule `text` ("must be a string"). `write(kept)` gives what stands in a config.
    With `by_rank`, `convert` gets a layer's `rank` as well. What is not `shown` is left out of `repr`, where it stands
    as a module inside. `takes`: the type of a value, as the stubs that `scripts/write_stubs.py` makes say it to
    editors, or a function of the rank that gives it; empty: the annotation's. `settled`: one value is always read the
    same, whatever the configuration says.
    """

    convert: Callable[..., Any]
    write: Callable[[Any], Any] = lambda kept: kept
    by_rank: bool = False
    shown: bool = True
    takes: str | Callable[[int], str] = ""
    text: str = ""
    holds: Callable[[Any], bool] | None = None
    settled: bool = True

    def read(self, value: Any, *rank: int) -> Any:
        """The value kept. Raises ValueError, with the rule and the value, for one that breaks it."""
        if self.holds is not None and not self.holds(value):
            raise ValueError(f"{self.text}; found {value!r}.")
        return self.convert(value, *rank)


def read(owner: str, option: str, rule: Rule, value: Any, *rank: int) -> Any:
    """A value by its rule. Raises ValueError with the owner, the option, the rule and the value."""
    try:
        return rule.read(value, *rank)
    except (ValueError, TypeError) as error:
        # "units must be ...", but "activation: Unknown activation function ..."
        colon = "" if str(error).startswith(("must ", "of ")) else ":"
        raise ValueError(f"{owner}: {option}{colon} {error}") from error


def refuse_unknown(owner: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError, which lists the known options, for the first name given that is none of them."""
    names = list(known)
    for name in given:
        if name not in names:
            meant = did_you_mean(name, names)
            raise TypeError(f"{owner}: unknown option {name!r}.{meant} Its options are {', '.join(names)}.")


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """A sentence with the known name that is nearest to one that is not known; empty for none, and for a known name."""
    nearest = [] if name in known else difflib.get_close_matches(name, known, 1, 0.7)
    return f" Did you mean {nearest[0]!r}?" if nearest else ""


Function = TypeVar("Function", bound=Callable[..., Any])
Known = TypeVar("Known", bound="KnownOptions")


def known_options(function: Function) -> Function:
    """Let a function refuse an option that it does not have by `refuse_unknown`."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(function)
    def refusing(*args: Any, **given: Any) -> Any:
        if not given.keys() <= known:
            refuse_unknown(owner, given, options)
        return function(*args, **given)

    known, options = frozenset(names), names[names[:1] == ("self",) :]
    owner = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    return refusing  # type: ignore[return-value]


class _SignatureOfInit:
    """The signature of a class, for which Python before 3.11.4 takes that of an inherited `__new__`.

    An object has none of its own: its signature is that of `__call__`.
    """

    def __get__(self, instance: Any, cls: type) -> inspect.Signature:
        if instance is not None:
            raise AttributeError("__signature__")
        return _signature_of_init(cls)


@lru_cache
def _signature_of_init(cls: type) -> inspect.Signature:
    if cls.__init__ is object.__init__:
        return inspect.Signature()
    made = inspect.signature(cls.__init__)
    return made.replace(parameters=list(made.parameters.values())[1:])


SIGNATURE_OF_INIT = _SignatureOfInit()


class KnownOptions:
    """A base of classes whose constructor refuses an unknown option by `refuse_unknown`, before anything is made."""

    __signature__: ClassVar[Any] = SIGNATURE_OF_INIT

    def __new__(cls: type[Known], *args: Any, **given: Any) -> Known:
        if cls.__init__ is object.__init__ and (args or given):  # which would ignore them
            raise TypeError(f"{cls.__name__}() takes no arguments")
        if given:
            parameters = cls.__signature__.parameters
            if not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
                refuse_unknown(cls.__name__, given, parameters)
        return object.__new__(cls)


def read_path(owner: str, option: str, value: Any) -> str:
    """A path as text. Raises TypeError, with the owner, the option and the value, for something else."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{owner}: {option} must be a path; found {value!r}.")
    return os.fspath(value)


def check(owner: str, rule: Rule, **values: Any) -> None:
    """Look at several values by one rule. Raises ValueError as `read` does."""
    for option, value in values.items():
        read(owner, option, rule, value)


class Checked:
    """A base of dataclasses whose fields have `rules`: what is given is kept as it is, if its rule allows it.

    `ordered`: two fields of which the first must be at most the second.
    """

    rules: ClassVar[Mapping[str, Rule]] = {}
    ordered: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, each in self.rules.items():
            read(type(self).__name__, name, each, getattr(self, name))
        values = [getattr(self, name) for name in self.ordered]
        if values != sorted(values):
            names, found = " must be at most ".join(self.ordered), " and ".join(map(str, values))
            raise ValueError(f"{type(self).__name__}: {names}; found {found}.")


# --- conditions ------------------------------------------------------------------------------------------------------


def is_integer(value: Any) -> bool:
    """True for Python and NumPy integers, False for booleans."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """True for real numbers and for arrays and tensors of one, without axes; False for booleans, NaN and strings."""
    value = _item(value)
    return is_integer(value) or (isinstance(value, (float, np.floating)) and not math.isnan(value))


def is_named(value: Any) -> bool:
    """True for a mapping whose keys are strings."""
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _item(value: Any) -> Any:
    """The number in an array or tensor without axes; all else as it is."""
    return value.item() if isinstance(value, (np.ndarray, torch.Tensor)) and value.ndim == 0 else value


# --- how rules are made ----------------------------------------------------------------------------------------------


def rule(text: str, holds: Callable[[Any], bool], convert: Callable[[Any], Any] = lambda v: v, takes: str = "") -> Rule:
    """A rule from a condition; `text` is what the error says before the value found.

    It `takes` what it converts to, unless that is said.
    """
    takes = takes or (convert.__name__ if convert in (int, float, bool) else "")
    return Rule(convert, takes=takes, text=text, holds=holds)


def optional(inner: Rule) -> Rule:
    """`None`, or what `inner` allows."""
    holds, takes = inner.holds, inner.takes
    return replace(
        inner,
        convert=lambda v, *rank: None if v is None else inner.convert(v, *rank),
        write=lambda kept: None if kept is None else inner.write(kept),
        takes=(lambda rank: f"{takes(rank)} | None") if callable(takes) else takes and f"{takes} | None",
        text=f"{inner.text}, or None",
        holds=holds and (lambda v: v is None or holds(v)),
    )


def integer(least: int | None = None, most: int | None = None) -> Rule:
    """An integer, of at least `least` and at most `most`."""
    bounds = "" if least is None else f" of at least {least}"
    if most is not None:
        bounds = f" from {least} to {most}"
    return rule(
        f"must be an integer{bounds}",
        lambda v: is_integer(v) and (least is None or v >= least) and (most is None or v <= most),
        int,
    )


def number(text: str, holds: Callable[[float], bool]) -> Rule:
    """A number for which `holds` is true; `text` describes it, after "must be a number"."""
    return rule(f"must be a number {text}", lambda v: is_number(v) and holds(float(_item(v))), _float, "float")


def _float(value: Any) -> float:
    return float(_item(value))


def one_of(*allowed: Any) -> Rule:
    """One of these values: words, numbers, True, False or None."""
    text = f"must be {'one of ' * (len(allowed) > 1)}{', '.join(map(repr, allowed))}"
    return rule(text, lambda v: isinstance(v, PLAIN) and v in allowed, takes=literal(*allowed))


@cache
def word(*allowed: str) -> Rule:
    """One of these words in upper or lower case, which is kept as it stands here."""
    known = {each.lower(): each for each in allowed}
    return replace(
        one_of(*allowed),
        holds=lambda v: isinstance(v, str) and v.lower() in known,
        convert=lambda v: known[v.lower()],
    )


def literal(*allowed: Any) -> str:
    """The type of one of these values."""
    return f"Literal[{', '.join(map(repr, allowed))}]" if allowed != (None,) else "None"


def several(each: Rule) -> Rule:
    """A value that `each` allows, or a list, tuple or array of them, which becomes a list."""

    def convert(value: Any) -> Any:
        if isinstance(value, (np.ndarray, torch.Tensor)):
            value = value.tolist()
        return list(map(each.read, value)) if isinstance(value, (list, tuple)) else each.read(value)

    return Rule(convert)


def integers(text: str, holds: Callable[[tuple[int, ...]], bool] = lambda v: True) -> Rule:
    """A tuple of integers under a condition; a single integer counts as a tuple of one."""

    def holds_integers(value: Any) -> bool:
        found = (value,) if is_integer(value) else value
        return isinstance(found, (tuple, list)) and all(map(is_integer, found)) and holds(tuple(found))

    return rule(text, holds_integers, lambda v: (int(v),) if is_integer(v) else tuple(map(int, v)), INTEGERS)


def sizes(least: int = 1) -> Rule:
    """One integer for all spatial axes, or one for each: kept as a tuple `rank` long."""

    def convert(value: Any, rank: int) -> tuple[int, ...]:
        found = (value,) * rank if is_integer(value) else value
        if not isinstance(found, (tuple, list)) or len(found) != rank:
            raise ValueError(f"must be an integer or {rank} integers; found {value!r}.")
        if not all(is_integer(v) and v >= least for v in found):
            raise ValueError(f"must hold integers of at least {least}; found {value!r}.")
        return tuple(int(v) for v in found)

    return Rule(convert, by_rank=True, takes=lambda rank: f"int | list[int] | tuple[{', '.join(['int'] * rank)}]")


def _read_names(value: Any) -> list[str]:
    found = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else None
    if found is None or not all(isinstance(each, str) for each in found):
        raise ValueError(f"must be a list of strings; found {value!r}.")
    return found


# --- ready rules -----------------------------------------------------------------------------------------------------

FLAG = rule("must be True or False", lambda v: isinstance(v, (bool, np.bool_)), bool)
# Of layers, callbacks and functions: old scripts and configs have 1 and 0.
FLAG_OR_DIGIT = rule("must be True, False, 1 or 0", lambda v: isinstance(v, PLAIN) and v in (0, 1), bool)
STRING = rule("must be a string", lambda v: isinstance(v, str), takes="str")
FUNCTION = rule("must be a function, or None", lambda v: v is None or callable(v))
NAMES = Rule(_read_names, takes="Iterable[str]")
CUSTOM_OBJECTS = rule(
    "must be a dictionary from names to classes and functions, or None", lambda v: v is None or is_named(v)
)
# Of a callback: 0 prints nothing.
VERBOSE = rule(
    "must be an integer of at least 0, True or False",
    lambda v: isinstance(v, (bool, np.bool_)) or (is_integer(v) and v >= 0),
)
NUMBER = rule("must be a number", is_number, _float, "float")
FINITE = rule("must be a finite number", lambda v: is_number(v) and math.isfinite(_item(v)), _float, "float")
ABOVE_0 = number("above 0", lambda v: 0 < v < math.inf)
AT_LEAST_0 = number("of at least 0", lambda v: 0 <= v < math.inf)
UP_TO_INFINITY = number("of at least 0, infinity too", lambda v: v >= 0)
SHARE = number("from 0 to 1", lambda v: 0 <= v <= 1)
BELOW_1 = number("from 0 to below 1", lambda v: 0 <= v < 1)
