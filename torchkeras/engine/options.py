"""Options declared once, as class fields: signature, checks, `repr` and config all come from the declaration.

    class Dense(KernelLayer):
        units: Positive
        use_bias: bool = True

An annotation is a plain type (`int`, `float`, `bool`, `str`) or `Annotated[..., Rule(...)]`. The order of positional
arguments is a class's own fields first, then those of its bases: what a layer is about comes before what it shares. As
in a function, options without a default go before those that have one. Where Keras has another order, a class says it:
the options that `_option_order` names stand after the others, in its order.

    groups: Annotated[Positive, NEWER] = 1

An option that Keras 2.2.4's class does not have is marked `NEWER`. It comes after those that Keras has, unless
`_option_order` names it. A config has it only when it is not the default, so that Keras 2.2.4 reads the configs of all
models that it can compute.
"""

import inspect
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin
from weakref import WeakKeyDictionary

from torch import nn

from torchkeras import activations, config, constraints, initializers, registry, regularizers
from torchkeras.base import rules
from torchkeras.base.lazy import lazy_property
from torchkeras.base.rules import OBJECT, Rule, integer, optional, sizes

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

REQUIRED = inspect.Parameter.empty
NEWER = "newer"
CONSTANTS = (type(None), bool, int, float, str, tuple)
READ_ONCE = (*CONSTANTS, FunctionType, initializers.Initializer)  # a copy of any other than an initializer is itself


@dataclass(frozen=True)
class Called:
    """In an Annotated: the name of an option that its field cannot have, since it is a property of every layer."""

    name: str


@dataclass(frozen=True)
class Option:
    """One declared option: its class, its name, its default (`REQUIRED` when there is none) and its rule.

    `newer`: whether it is marked `NEWER`. `field`: the attribute that keeps its value. `plain`: the type that its
    annotation says, without the marks.
    """

    owner: Any
    name: str
    default: Any
    rule: Rule
    newer: bool = False
    field: str = ""
    plain: Any = Any

    def read(self, value: Any) -> Any:
        """A value by the rule. Raises ValueError that names the class, the option, the rule and the value."""
        if isinstance(value, nn.Parameter) and not value.dim():
            raise ValueError(
                f"{self.owner.__name__}: {self.name} must be a number; found a variable, whose later values would not "
                f"count: set the option itself, layer.{self.name} = 0.5, which the next batch reads."
            )
        rank = (self.owner.rank,) if self.rule.by_rank else ()
        return rules.read(self.owner.__name__, self.name, self.rule, value, *rank)

    def kept_default(self) -> Any:
        """The default as it is kept: read once if it is a constant or names one; each layer has its own initializer."""
        taken = isinstance(self.default, str) and self.default in registry.CUSTOM_OBJECTS.get()
        if taken or not (self.rule.settled and isinstance(self.default, CONSTANTS)):
            return self.read(self.default)
        first = self._first_default
        return copy(first) if isinstance(first, READ_ONCE) else self.read(self.default)

    @lazy_property
    def _first_default(self) -> Any:
        return self.read(self.default)


def collect(cls: Any, root: type) -> dict[str, Option]:
    """The options of a class in positional order; of a default the most derived holds.

    Looks at the bases below `root`. A class with an `__init__` of its own takes no options, it hands them to its base:
    it and those derived from it declare none. Neither does a private field. A class takes away an option of its bases
    by an annotation that declares none (`unroll: ClassVar[bool] = False`).
    """
    found: dict[str, Option | None] = {}
    bases = cls.__mro__[: cls.__mro__.index(root)]
    by_hand = [place for place, base in enumerate(bases) if issubclass(base, root) and not declares(base)]
    first = by_hand[-1] + 1 if by_hand else 0
    for base in filter(declares, bases[first:]):
        for field, annotation in _annotations(base).items():
            name = next((mark.name for mark in get_args(annotation) if isinstance(mark, Called)), field)
            if not (name in found or name.startswith("_")):
                found[name] = _declared(cls, name, field, annotation)
    places = {name: place for place, name in enumerate(cls._option_order)}

    def order(option: Option) -> tuple[Any, ...]:
        named = option.name in places
        return option.default is not REQUIRED, option.newer and not named, places.get(option.name, -1)

    return {option.name: option for option in sorted(filter(None, found.values()), key=order)}


def _declared(cls: Any, name: str, field: str, annotation: Any) -> Option | None:
    """The option that a field declares; None where its annotation declares none."""
    rule, marks = rule_of(annotation), get_args(annotation)
    if rule is None:
        return None
    plain = marks[0] if marks else annotation
    return Option(cls, name, _default(cls, field), rule, NEWER in marks, field, plain)


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


def options_of(layer: "Layer | type[Layer]") -> Mapping[str, Option]:
    """The options that the class of a layer declares, with its bases, by name."""
    return layer._options


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
        if name not in values and option.default is REQUIRED and name not in given:
            raise TypeError(f"{owner.__name__}: option {name!r} is missing.")
        if name in given:
            values[name] = given.pop(name)
    return {
        name: option.read(values[name]) if name in values else option.kept_default() for name, option in options.items()
    }


def written(options: Mapping[str, Option], owner: object) -> dict[str, Any]:
    """The config of an object: every option as its rule writes it, a `NEWER` one only when it has another value."""
    return {
        name: option.rule.write(getattr(owner, option.field))
        for name, option in options.items()
        if not (option.newer and getattr(owner, option.field) == option.kept_default())
    }


def _default(cls: type, name: str) -> Any:
    value = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), REQUIRED)
    return REQUIRED if inspect.isdatadescriptor(value) else value


# --- annotations -----------------------------------------------------------------------------------------------------


def _read_data_format(value: Any) -> str:
    return config.image_data_format() if value is None else value


PLAIN: dict[type, Rule] = {bool: rules.FLAG_OR_DIGIT, int: integer(), float: rules.NUMBER, str: rules.STRING}

Positive = Annotated[Any, integer(1)]
OptionalPositive = Annotated[Any, optional(integer(1))]
OptionalInt = Annotated[Any, optional(integer())]
NotNegative = Annotated[float, rules.AT_LEAST_0]
Share = Annotated[float, rules.SHARE]
Fraction = Annotated[Any, rules.BELOW_1]
Sizes = Annotated[Any, sizes()]
OptionalSizes = Annotated[Any, optional(sizes())]
DataFormat = Annotated[Any, replace(rules.one_of(*config.DATA_FORMATS, None), convert=_read_data_format, settled=False)]
Activation = Annotated[Any, Rule(activations.get, activations.serialize, takes=f"{OBJECT} | None")]
INITIALIZER = Rule(initializers.get, initializers.serialize, takes=f"{OBJECT} | None")
REGULARIZER = optional(Rule(regularizers.get, regularizers.serialize, takes=OBJECT))
CONSTRAINT = optional(Rule(constraints.get, constraints.serialize, takes=OBJECT))
Initializer = Annotated[Any, INITIALIZER]
Regularizer = Annotated[Any, REGULARIZER]
Constraint = Annotated[Any, CONSTRAINT]
