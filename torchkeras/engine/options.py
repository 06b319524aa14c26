"""Options declared once, as class fields: signature, checks, `repr` and config all come from the declaration.

    class Dense(KernelLayer):
        units: Positive
        use_bias: bool = True

An annotation is a plain type (`int`, `float`, `bool`, `str`) or `Annotated[..., Rule(...)]`. Positional arguments are
in the order of a class's own fields, then those of its bases: what is special to a layer comes before what it shares.
As in a function, options without a default go before those that have one. Where Keras has another order, a class states
that: the options in `_option_order` stand after the others, in its order.

    groups: Annotated[Positive, NEWER] = 1

An option that the class of Keras 2.2.4 does not have is marked `NEWER`. It comes after the others, unless
`_option_order` names it. A config has it only when it is not the default, so that Keras 2.2.4 can read the config of
every model that it can compute.
"""

import difflib
import inspect
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from torchkeras import activations, config, constraints, initializers, registry, regularizers
from torchkeras.base import rules
from torchkeras.base.python import lazy_property
from torchkeras.base.rules import OBJECT, Rule, integer, optional, sizes

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

REQUIRED = inspect.Parameter.empty
NEWER = "newer"
ANY_ARGUMENTS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS  # flags of the code of a function
CONSTANTS = (type(None), bool, int, float, str, tuple)
SHARED = (*CONSTANTS, FunctionType)


@dataclass(frozen=True)
class Called:
    """In an Annotated: the name of an option whose field has another name, since every layer has such a property."""

    name: str


@dataclass(frozen=True)
class Option:
    """One declared option: its class, its name, its default (`REQUIRED` when there is none) and its rule.

    `newer`: whether it is marked `NEWER`. `field`: the attribute that stores its value. `plain`: the type in its
    annotation, without the marks.
    """

    owner: Any
    name: str
    default: Any
    rule: Rule
    newer: bool = False
    field: str = ""
    plain: Any = Any

    def read(self, value: Any) -> Any:
        """A value read by the rule. Raises ValueError with the class, the option, the rule and the value."""
        # Of most values the first question is answered at once; the second runs code of torch's.
        if isinstance(value, Tensor) and isinstance(value, nn.Parameter) and not value.dim():
            raise ValueError(
                f"{self.owner.__name__}: {self.name} must be a number; found a variable, whose later values would not "
                f"count: set the option itself, layer.{self.name} = 0.5, which the next batch reads."
            )
        rank = (self.owner.rank,) if self.rule.by_rank else ()
        return rules.read(self.owner.__name__, self.name, self.rule, value, *rank)

    def read_default(self) -> Any:
        """The default read by the rule: only once where the result can be shared or, for an initializer, copied."""
        is_custom = isinstance(self.default, str) and self.default in registry.CUSTOM_OBJECTS.get()
        if self.rule.settled and isinstance(self.default, CONSTANTS) and not is_custom:
            first = self._first_default
            if isinstance(first, SHARED):
                return first
            if isinstance(first, initializers.Initializer):
                return copy(first)
        return self.read(self.default)

    @lazy_property
    def _first_default(self) -> Any:
        return self.read(self.default)


def collect(cls: Any, root: type) -> dict[str, Option]:
    """The options of a class in positional order; the most derived class gives the default.

    Only the bases below `root` count. A class with an `__init__` of its own passes options to its base: neither it nor
    a class derived from it declares any. A private field is no option. A class removes an option of its bases by an
    annotation that declares none (`unroll: ClassVar[bool] = False`).
    """
    found: dict[str, Option | None] = {}
    for base in _declaring_bases(cls, root):
        for field, annotation in _annotations(base).items():
            name = next((mark.name for mark in get_args(annotation) if isinstance(mark, Called)), field)
            if not (name in found or name.startswith("_")):
                found[name] = _declared(cls, name, field, annotation)
    places = {name: place for place, name in enumerate(cls._option_order)}

    def order(option: Option) -> tuple[Any, ...]:
        named = option.name in places
        return option.default is not REQUIRED, option.newer and not named, places.get(option.name, -1)

    return {option.name: option for option in sorted(filter(None, found.values()), key=order)}


def _declaring_bases(cls: Any, root: type) -> list[Any]:
    """The bases of a class below `root` that declare its options, the most derived first."""
    declaring: list[Any] = []
    for base in reversed(cls.__mro__[: cls.__mro__.index(root)]):
        if declares(base):
            declaring.insert(0, base)
        elif issubclass(base, root):
            break
    return declaring


def _declared(cls: Any, name: str, field: str, annotation: Any) -> Option | None:
    """The option that a field declares; None where its annotation has no rule (ClassVar, a module)."""
    plain, marks = annotation, ()
    if get_origin(annotation) is Annotated:
        plain, *marks = get_args(annotation)
    by_type = PLAIN.get(plain) if isinstance(plain, type) else None
    rule = next((mark for mark in marks if isinstance(mark, Rule)), by_type)
    if rule is None:
        return None
    return Option(cls, name, _default(cls, field), rule, NEWER in marks, field, plain)


def declares(cls: type) -> bool:
    """Whether a class takes options as declared: it has no `__init__`, or one of the form `(*args, **kwargs)`."""
    if "__init__" not in cls.__dict__:
        return True
    code = getattr(inspect.unwrap(cls.__dict__["__init__"]), "__code__", None)
    if code is None or code.co_argcount > 1 or code.co_kwonlyargcount:
        return False
    return code.co_flags & ANY_ARGUMENTS == ANY_ARGUMENTS


def _annotations(cls: type) -> Mapping[str, Any]:
    """A class's own annotations, evaluated once: each class derived from it reads them."""
    if cls not in _evaluated:
        _evaluated[cls] = inspect.get_annotations(cls, eval_str=True)
    return _evaluated[cls]


_evaluated: WeakKeyDictionary[type, Mapping[str, Any]] = WeakKeyDictionary()


def options_of(layer: "Layer | type[Layer]") -> Mapping[str, Option]:
    """The options that the class of a layer declares, with its bases, by name."""
    return layer._options


def replace_rule(cls: "type[Layer]", name: str, rule: Rule) -> None:
    """Read an option of a class, and of classes that are made from it later, by another rule."""
    options: Any = options_of(cls)
    options[name] = replace(options[name], rule=rule)


def signature(options: Mapping[str, Option], rest: str) -> inspect.Signature:
    """The signature that `help` shows: the options in order, then `**rest`."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(o.name, kind, default=o.default) for o in options.values()]
    return inspect.Signature([*parameters, inspect.Parameter(rest, inspect.Parameter.VAR_KEYWORD)])


def bind(owner: type, options: Mapping[str, Option], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Values for all options from a call's arguments, each read by its rule; removes those that it uses from `kwargs`.

    Raises TypeError for a missing, doubled or surplus argument and ValueError for a value that breaks its rule.
    """
    if len(args) > len(options):
        raise TypeError(f"{owner.__name__} takes at most {len(options)} positional arguments; found {len(args)}.")
    passed = dict(zip(options, args, strict=False))
    for name, option in options.items():
        if name in kwargs:
            if name in passed:
                raise TypeError(f"{owner.__name__}: option {name!r} is given twice, by position and by name.")
            passed[name] = kwargs.pop(name)
        elif name not in passed and option.default is REQUIRED:
            misspelled = difflib.get_close_matches(name, kwargs, 1, 0.7)
            end = f"; is it misspelled as {misspelled[0]!r}?" if misspelled else "."
            raise TypeError(f"{owner.__name__}: option {name!r} is missing{end}")
    values: dict[str, Any] = {}
    for name, option in options.items():
        values[name] = option.read(passed[name]) if name in passed else option.read_default()
    return values


def written(options: Mapping[str, Option], owner: object) -> dict[str, Any]:
    """The config of an object: every option as its rule writes it, a `NEWER` one only when it has another value."""
    return {
        name: option.rule.write(getattr(owner, option.field))
        for name, option in options.items()
        if not (option.newer and getattr(owner, option.field) == option.read_default())
    }


def _default(cls: type, name: str) -> Any:
    for base in cls.__mro__:
        if name in vars(base):
            value = vars(base)[name]
            return REQUIRED if inspect.isdatadescriptor(value) else value
    return REQUIRED


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
