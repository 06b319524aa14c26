"""Options declared once, as class fields: signature, checks, `repr` and config all come from the declaration.

    class Dense(KernelLayer):
        units: Positive
        use_bias: bool = True

An annotation is a plain type (`int`, `float`, `bool`, `str`) or `Annotated[..., Rule(...)]`. The order of positional
arguments is a class's own fields first, then those of its bases: what a layer is about comes before what it shares. As
in a function, options without a default go before those that have one.

    groups: Annotated[Positive, NEWER] = 1

An option that Keras 2.2.4's class does not have is marked `NEWER`: a config has it only when it is not the default, so
that Keras 2.2.4 reads the configs of all models that it can compute.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin
from weakref import WeakKeyDictionary

import numpy as np

from torchkeras import activations, config, constraints, initializers, regularizers

REQUIRED = inspect.Parameter.empty
NEWER = "newer"
INTEGERS = "int | Sequence[int]"
OBJECT = "str | Callable[..., Any] | Mapping[str, Any]"  # by name, as it is, or by its config


@dataclass(frozen=True)
class Rule:
    """How an option is read and written.

    `read(value)` gives the value kept, or raises ValueError whose text says the rule ("must be positive");
    `write(kept)` gives what stands in a config. With `by_rank`, `read` gets the class's `rank` as well. What is not
    `shown` is left out of `repr`, where it stands as a module inside. `takes`: the type of a value, as the stubs that
    `scripts/write_stubs.py` makes say it to editors, or a function of the rank that gives it; empty: the annotation's.
    """

    read: Callable[..., Any]
    write: Callable[[Any], Any] = lambda kept: kept
    by_rank: bool = False
    shown: bool = True
    takes: str | Callable[[int], str] = ""


@dataclass(frozen=True)
class Called:
    """In an Annotated: the name of an option that its field cannot have, since it is a property of every layer."""

    name: str


@dataclass(frozen=True)
class Option:
    """One declared option: its name, its default (`REQUIRED` when there is none), its rule; whether it is `NEWER`.

    `field`: the attribute that keeps its value. `plain`: the type that its annotation says, without the marks.
    """

    name: str
    default: Any
    rule: Rule
    newer: bool = False
    field: str = ""
    plain: Any = Any


def collect(cls: type, root: type) -> dict[str, Option]:
    """The options of a class in positional order: own fields, then each base's; the most derived default holds.

    Those that must be given go before the others.
    Looks at the bases below `root`. A class with an `__init__` of its own takes no options, it hands them to its base:
    it and those derived from it declare none. Neither does a private field. A class takes away an option of its bases
    by an annotation that declares none (`unroll: ClassVar[bool] = False`).
    """
    found: dict[str, Option | None] = {}
    bases = cls.__mro__[: cls.__mro__.index(root)]
    by_hand = [place for place, base in enumerate(bases) if issubclass(base, root) and not declares(base)]
    for base in bases[by_hand[-1] + 1 if by_hand else 0 :]:
        if not declares(base):
            continue
        for field, annotation in _annotations(base).items():
            marks = get_args(annotation)
            name = next((mark.name for mark in marks if isinstance(mark, Called)), field)
            if name in found or name.startswith("_"):
                continue
            found[name] = None
            if (found_rule := rule_of(annotation)) is not None:
                plain = marks[0] if marks else annotation
                found[name] = Option(name, _default(cls, field), found_rule, NEWER in marks, field, plain)
    options = [option for option in found.values() if option is not None]
    return {option.name: option for option in sorted(options, key=lambda option: option.default is not REQUIRED)}


def declares(cls: type) -> bool:
    """Whether a class takes options as declared: its `__init__`, if it has one, is of the form `(*args, **given)`."""
    if "__init__" not in cls.__dict__:
        return True
    code = getattr(inspect.unwrap(cls.__dict__["__init__"]), "__code__", None)
    if code is None or code.co_argcount > 1 or code.co_kwonlyargcount:
        return False
    return bool(code.co_flags & inspect.CO_VARARGS and code.co_flags & inspect.CO_VARKEYWORDS)


def _annotations(cls: type) -> Mapping[str, Any]:
    """A class's own annotations, evaluated once: each class derived from it asks for them."""
    if cls not in _evaluated:
        _evaluated[cls] = inspect.get_annotations(cls, eval_str=True)
    return _evaluated[cls]


_evaluated: WeakKeyDictionary[type, Mapping[str, Any]] = WeakKeyDictionary()


def rule_of(annotation: Any) -> Rule | None:
    """The rule that an annotation carries; None when it declares no option (ClassVar, a module's own attribute)."""
    if get_origin(annotation) is Annotated:
        plain, *extras = get_args(annotation)
        return next((extra for extra in extras if isinstance(extra, Rule)), PLAIN.get(plain))
    return PLAIN.get(annotation) if isinstance(annotation, type) else None


def signature(options: Mapping[str, Option], rest: str) -> inspect.Signature:
    """The signature that `help` shows: the options in order, then `**rest`."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(o.name, kind, default=o.default) for o in options.values()]
    return inspect.Signature([*parameters, inspect.Parameter(rest, inspect.Parameter.VAR_KEYWORD)])


def bind(owner: type, options: Mapping[str, Option], args: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Values for all options from a call's arguments, each read by its rule; takes what it uses out of `given`.

    Raises TypeError for a missing, doubled or surplus argument and ValueError for a value that breaks its rule.
    """
    if len(args) > len(options):
        raise TypeError(f"{owner.__name__} takes at most {len(options)} positional arguments; found {len(args)}.")
    values = dict(zip(options, args, strict=False))
    for name in values:
        if name in given:
            raise TypeError(f"{owner.__name__}: option {name!r} is given twice, by position and by name.")
    for name, option in options.items():
        if name in values:
            continue
        value = given.pop(name, option.default)
        if value is REQUIRED:
            raise TypeError(f"{owner.__name__}: option {name!r} is missing.")
        values[name] = value
    return {name: read(owner, options[name], value) for name, value in values.items()}


def read(owner: type, option: Option, value: Any) -> Any:
    """One value by its rule. Raises ValueError that names the class, the option, the rule and the value."""
    try:
        if option.rule.by_rank:
            return option.rule.read(value, owner.rank)  # type: ignore[attr-defined]
        return option.rule.read(value)
    except (ValueError, TypeError) as error:
        # "units must be ...", but "activation: Unknown activation function ..."
        colon = ":" if str(error).startswith(("Unknown", "Could not")) else ""
        raise ValueError(f"{owner.__name__}: {option.name}{colon} {error}") from error


def written(options: Mapping[str, Option], owner: object) -> dict[str, Any]:
    """The config of an object: every option as its rule writes it, a `NEWER` one only when it has another value."""
    return {
        name: option.rule.write(getattr(owner, option.field))
        for name, option in options.items()
        if not (option.newer and getattr(owner, option.field) == read(type(owner), option, option.default))
    }


def _default(cls: type, name: str) -> Any:
    value = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), REQUIRED)
    return REQUIRED if inspect.isdatadescriptor(value) else value


# --- rules -----------------------------------------------------------------------------------------------------------


def rule(text: str, holds: Callable[[Any], bool], convert: Callable[[Any], Any] = lambda v: v, takes: str = "") -> Rule:
    """A rule from a condition; `text` is what the error says before the value found.

    It `takes` what it converts to, unless that is said.
    """

    def check(value: Any) -> Any:
        if not holds(value):
            raise ValueError(f"{text}; found {value!r}.")
        return convert(value)

    return Rule(check, takes=takes or (convert.__name__ if convert in (int, float, bool) else ""))


def is_integer(value: Any) -> bool:
    """True for Python and NumPy integers, False for booleans."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def is_number(value: Any) -> bool:
    """True for real numbers, False for booleans, NaN and strings."""
    return (is_integer(value) or isinstance(value, (float, np.floating))) and value == value


def one_of(*allowed: Any) -> Rule:
    """The value must be one of those listed."""
    text = f"must be one of {', '.join(map(repr, allowed))}"
    return rule(text, lambda v: any(v == a for a in allowed), takes=literal(*allowed))


def literal(*allowed: Any) -> str:
    """The type of one of these values."""
    return f"Literal[{', '.join(map(repr, allowed))}]"


def optional(inner: Rule) -> Rule:
    """`None` is allowed beside what `inner` allows."""
    return Rule(
        lambda v, *rank: None if v is None else inner.read(v, *rank),
        lambda kept: None if kept is None else inner.write(kept),
        inner.by_rank,
        takes=_or_none(inner.takes),
    )


def _or_none(takes: str | Callable[[int], str]) -> str | Callable[[int], str]:
    if callable(takes):
        return lambda rank: f"{takes(rank)} | None"
    return takes and f"{takes} | None"


def sizes(least: int = 1) -> Rule:
    """One integer for all spatial axes, or one for each: kept as a tuple `rank` long."""

    def read_sizes(value: Any, rank: int) -> tuple[int, ...]:
        found = (value,) * rank if is_integer(value) else value
        if not isinstance(found, (tuple, list)) or len(found) != rank:
            raise ValueError(f"must be an integer or {rank} integers; found {value!r}.")
        if not all(is_integer(v) and v >= least for v in found):
            raise ValueError(f"must hold integers of at least {least}; found {value!r}.")
        return tuple(int(v) for v in found)

    return Rule(read_sizes, by_rank=True, takes=lambda rank: f"int | list[int] | tuple[{', '.join(['int'] * rank)}]")


def integers(text: str, holds: Callable[[tuple[int, ...]], bool] = lambda v: True) -> Rule:
    """A tuple of integers under a condition; a single integer counts as a tuple of one."""

    def check(value: Any) -> tuple[int, ...]:
        found = (value,) if is_integer(value) else value
        if not isinstance(found, (tuple, list)) or not all(map(is_integer, found)) or not holds(tuple(found)):
            raise ValueError(f"{text}; found {value!r}.")
        return tuple(int(v) for v in found)

    return Rule(check, takes=INTEGERS)


def _read_data_format(value: Any) -> str:
    if value is None:
        return config.image_data_format()
    if value not in config.DATA_FORMATS:
        raise ValueError(f"must be one of {', '.join(map(repr, config.DATA_FORMATS))}, or None; found {value!r}.")
    return value


PLAIN: dict[type, Rule] = {
    bool: rule("must be True or False", lambda v: isinstance(v, (bool, np.bool_)) or v in (0, 1), bool),
    int: rule("must be an integer", is_integer, int),
    float: rule("must be a number", is_number, float),
    str: rule("must be a string", lambda v: isinstance(v, str), takes="str"),
}

Positive = Annotated[Any, rule("must be a positive integer", lambda v: is_integer(v) and v > 0, int)]
OptionalPositive = Annotated[
    Any, optional(rule("must be a positive integer or None", lambda v: is_integer(v) and v > 0, int))
]
OptionalInt = Annotated[Any, optional(rule("must be an integer or None", is_integer, int))]
OptionalFloat = Annotated[Any, optional(rule("must be a number or None", is_number, float))]
NotNegative = Annotated[float, rule("must be a number of at least 0", lambda v: is_number(v) and v >= 0, float)]
OptionalNotNegative = Annotated[
    Any, optional(rule("must be a number of at least 0, or None", lambda v: is_number(v) and v >= 0, float))
]
Share = Annotated[float, rule("must be a number from 0 to 1", lambda v: is_number(v) and 0 <= v <= 1, float)]
Fraction = Annotated[
    Any, rule("must be a number from 0 up to, not including, 1", lambda v: is_number(v) and 0 <= v < 1, takes="float")
]
Sizes = Annotated[Any, sizes()]
OptionalSizes = Annotated[Any, optional(sizes())]
DataFormat = Annotated[Any, Rule(_read_data_format, takes=literal(*config.DATA_FORMATS, None))]
Activation = Annotated[Any, Rule(activations.get, activations.serialize, takes=f"{OBJECT} | None")]
Initializer = Annotated[Any, Rule(initializers.get, initializers.serialize, takes=f"{OBJECT} | None")]
Regularizer = Annotated[Any, optional(Rule(regularizers.get, regularizers.serialize, takes=OBJECT))]
Constraint = Annotated[Any, optional(Rule(constraints.get, constraints.serialize, takes=OBJECT))]
