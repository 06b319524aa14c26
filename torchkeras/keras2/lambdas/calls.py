"""Calls inside a stored function: of the closed list, of methods, of functions inside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torchkeras.keras2.lambdas.expression import STEP, TRAINING, Argument, Call, Choice, made
from torchkeras.keras2.lambdas.functions import OWN, PURE
from torchkeras.keras2.lambdas.limits import Budget, Refused, weigh
from torchkeras.keras2.lambdas.marshalled import Code
from torchkeras.keras2.lambdas.names import CLASSES, Named
from torchkeras.keras2.lambdas.values import Cell, Function, OwnList, described, frozen, is_known

GENERATOR, REST, KEYWORDS = 0x20, 0x04, 0x08  # flags of code

# What a tensor, or its shape, is asked for, and the operation that answers.
ATTRIBUTES: Mapping[str, str] = {"shape": "shape", "_keras_shape": "shape", "dtype": "dtype", "ndim": "K.ndim"}
METHODS: Mapping[str, str] = {"get_shape": "shape", "as_list": "list"}
OF_ARRAYS: Mapping[str, str] = {"astype": "np.astype", "reshape": "np.reshape"}  # tensors of TensorFlow 1 have neither
OF_SHAPES: Mapping[str, str] = {"ndims": "len", "rank": "len"}
OF_PARTS = ("+", "len", "list", "tuple", "zip", "enumerate", "reversed")
BY_FUNCTIONS = ("K.switch", "tf.cond")  # their arguments may be functions without arguments
BY_ELEMENTS: Mapping[str, int] = {"K.map_fn": 1, "tf.map_fn": 1, "K.foldl": 2, "K.foldr": 2}  # a function of so many


def operation(name: str, arguments: Sequence[Any], keywords: Mapping[str, Any], budget: Budget) -> Any:
    """The result of an operation: at once, where it is one of numbers and they are known, else a step.

    Raises Refused if it fails, or beyond a limit.
    """
    given, named = tuple(map(frozen, arguments)), {key: frozen(value) for key, value in keywords.items()}
    weigh((given, named), budget)
    if name in ("is", "is not") and any(part is None for part in given) and any(map(_is_something, given)):
        return name == "is not"
    if name not in PURE or not (is_known((given, named)) or _is_of_parts(name, given, named)):
        return made(Call, name, given, named)
    try:
        result = PURE[name](*given, **named)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise Refused(f"{name} fails: {error}") from error
    weigh(result, budget)
    return result


def _is_something(value: Any) -> bool:
    """Whether a step is sure not to be None: what an operator or a function of the list gives."""
    is_open = isinstance(value, Call) and (value.operation in ("[]", "unpacked") or value.operation.startswith(OWN))
    return isinstance(value, (Call, tuple, list)) and not is_open


def _is_of_parts(name: str, given: Sequence[Any], named: Mapping[str, Any]) -> bool:
    """Whether an operation cuts or joins lists, whatever stands in them."""
    if named or not given:
        return False
    are_lists = [isinstance(part, (tuple, list)) for part in given]
    if name == "[]":
        return are_lists[0] and is_known(given[1])
    if name == "*":
        return any(are_lists) and any(isinstance(part, int) for part in given)
    return name in OF_PARTS and all(are_lists)


def attribute(value: Any, name: str) -> Any:
    """What a step has by this name: (the operation that gives it, whether it is a method).

    Raises Refused for any other name.
    """
    if name in ATTRIBUTES:
        return ATTRIBUTES[name], False
    if name in METHODS or name in OF_ARRAYS:
        return METHODS.get(name, name), True
    if name in OF_SHAPES:
        return OF_SHAPES[name], False
    raise Refused(f"the attribute {name!r} of {described(value)}")


def frame_variables(function: Function, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The local variables with which a call begins. Raises Refused for arguments that do not fit."""
    code = function.code
    if code.flags & KEYWORDS:
        raise Refused("a function that takes any keywords")
    count, only = code.arguments, code.keyword_only
    names = code.variables[: count + only]
    found = dict(zip(names[:count], arguments, strict=False))
    if code.flags & REST:
        if count + only >= len(code.variables):
            raise Refused("a function without a name for its arguments")
        found[code.variables[count + only]] = tuple(arguments[count:])
    elif len(arguments) > count:
        raise Refused(f"{len(arguments)} arguments for {code.name}, which takes {count}")
    for name, value in keywords.items():
        if name not in names or name in found:
            raise Refused(f"the argument {name!r} of {code.name}")
        found[name] = value
    _add_defaults(function, names, found)
    return {key: frozen_list(value) for key, value in found.items()}


def _add_defaults(function: Function, names: Sequence[str], found: dict[str, Any]) -> None:
    """Add to the arguments of a call those that it leaves out. Raises Refused for one without a default."""
    count = function.code.arguments
    with_defaults = names[:count][count - len(function.defaults) :]
    defaults = {**function.keyword_defaults, **dict(zip(with_defaults, function.defaults, strict=False))}
    for name in names:
        if name not in found and name not in defaults:
            raise Refused(f"{function.code.name} without its argument {name!r}")
        found.setdefault(name, defaults.get(name))


def frozen_list(value: Any) -> Any:
    """A value that goes to another function: a list may not be changed there."""
    return [frozen_list(each) for each in value] if isinstance(value, OwnList) else value


def frame_cells(function: Function, variables: Mapping[str, Any]) -> dict[str, Cell]:
    """The cells of a call: its own, with the arguments that are shared, and those that its function closes over."""
    code: Code = function.code
    if len(function.cells) != len(code.free):
        raise Refused(f"{code.name} closes over {len(code.free)} variables; found {len(function.cells)}")
    own = {name: Cell(name, variables[name]) if name in variables else Cell(name) for name in code.cells}
    return {**own, **dict(zip(code.free, function.cells, strict=True))}


def by_phase(name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """(condition, in training, else) of `K.in_train_phase` and `K.in_test_phase`."""
    given = {**dict(zip(("x", "alt", "training"), arguments, strict=False)), **keywords}
    if set(given) - {"training"} != {"x", "alt"} or len(arguments) > 3:
        raise Refused(f"{name} of {', '.join(given)}")
    training = given.get("training")
    condition = made(Argument, TRAINING) if training is None else training
    first, second = (given["x"], given["alt"]) if name == "K.in_train_phase" else (given["alt"], given["x"])
    return condition, first, second


def is_instance(value: Any, classes: Any, budget: Budget) -> Any:
    """`isinstance`, of classes of Python's own."""
    kinds = classes if isinstance(classes, tuple) else (classes,)
    if not all(isinstance(kind, Named) and kind.name in CLASSES for kind in kinds):
        raise Refused(f"isinstance of {', '.join(map(described, kinds))}")
    return operation("isinstance", (value, tuple(kind.name for kind in kinds)), {}, budget)


def own_call(name: str, arguments: Sequence[Any], keywords: Mapping[str, Any], budget: Budget) -> Any:
    """A call of a function that the user gave."""
    return operation(OWN + name, arguments, keywords, budget)


def chosen(condition: Any, yes: Any, no: Any) -> Any:
    """One of two values, by what is known when the layer runs."""
    if yes is no or (is_known((yes, no)) and type(yes) is type(no) and repr(yes) == repr(no)):
        return yes
    return made(Choice, condition, frozen(yes), frozen(no))


def is_step(value: Any) -> bool:
    """Whether a value is known only when the layer runs."""
    return isinstance(value, STEP)
