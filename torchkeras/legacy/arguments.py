"""The one place that translates Keras 1's names of arguments to today's."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from torchkeras.base.rules import one_of, read, refuse_unknown
from torchkeras.legacy.names import KEYWORDS, PADS, REFUSED, SIGNATURES, VALUES

F = TypeVar("F", bound=Callable[..., Any])


class Keras1Arrays(list[Any]):
    """Initial values from `weights=` in a call with Keras 1's names; their shapes are Keras 1's, too."""


def layer_arguments(
    cls: type, known: Mapping[str, Any], args: tuple[Any, ...], given: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call's arguments under today's names. `known`: the options of the class.

    Keras 1's signature is used if the call has a name that only Keras 1 had, or gives the sizes of a kernel one by one
    (`Conv2D(64, 3, 3)`, which Keras 2.2.4 accepts, too). Raises TypeError for an option given under both names,
    ValueError for an unknown old value.
    """
    kind = next((base.__name__ for base in cls.__mro__ if base.__name__ in SIGNATURES), None)
    if kind is None:
        return args, given
    row = [argument.partition(">") for argument in SIGNATURES[kind].split()]
    renamed = {old: new for old, arrow, new in row if arrow and old not in known}
    sizes = list(renamed.values()).count("kernel_size")
    if renamed.keys().isdisjoint(given) and (sizes < 2 or not _are_one_by_one(sizes, args)):
        return _with_pairs(kind, args, given) if kind in PADS else (args, given)
    order = list(known) if _are_together(sizes, args) else [old for old, _, _ in row]
    return _with_pairs(kind, (), _today(cls, renamed, order, args, given))


def _are_one_by_one(sizes: int, args: tuple[Any, ...]) -> bool:
    """Whether a call gives the sizes of a kernel, so many, one by one: `Conv2D(64, 3, 3)`."""
    return len(args) > sizes and all(type(size) is int for size in args[1 : sizes + 1])


def _are_together(sizes: int, args: tuple[Any, ...]) -> bool:
    """Whether the sizes are one argument, as today, in a call with an old name: `Conv2D(64, (3, 3), init="normal")`."""
    return sizes > 1 and len(args) > 1 and isinstance(args[1], (tuple, list))


def _with_pairs(kind: str, args: tuple[Any, ...], given: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same, with the padding of a ZeroPadding as pairs."""
    if kind in PADS and args:
        return (_pairs(PADS[kind], args[0]), *args[1:]), given
    if kind in PADS and "padding" in given:
        return args, {**given, "padding": _pairs(PADS[kind], given["padding"])}
    return args, given


def _today(
    cls: type, renamed: Mapping[str, str], order: list[str], args: tuple[Any, ...], given: dict[str, Any]
) -> dict[str, Any]:
    if len(args) > len(order):
        raise TypeError(f"{cls.__name__} took at most {len(order)} positional arguments in Keras 1; found {len(args)}.")
    old = {**dict(zip(order, args, strict=False)), **given}
    result = {name: value for name, value in old.items() if name not in renamed}
    if result.get("weights") is not None:
        result["weights"] = Keras1Arrays(result["weights"])
    for new, values in _renamed_values(cls, renamed, old).items():
        names = [name for name in renamed if new in renamed[name].split("+")]
        if new in result:
            found = " and ".join(name for name in names if name in old)
            raise TypeError(f"{cls.__name__}: {found} and {new} are one option under two names; give one of them.")
        result[new] = values[0] if len(names) == 1 else tuple(values)
    return result


def _renamed_values(cls: type, renamed: Mapping[str, str], old: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The values of today's options, from arguments with other names: several where Keras 1 had one for each value."""
    values: dict[str, list[Any]] = {}
    for name, value in old.items():
        if name in renamed:
            found = _value(cls, name, value)
            for new in filter(None, renamed[name].split("+")):
                values.setdefault(new, []).append(found)
    return values


def _value(cls: type, name: str, value: Any) -> Any:
    known = VALUES.get(name)
    if name == "output_shape" and isinstance(value, (tuple, list)):  # computed by Python 2's division
        return tuple(int(size) if isinstance(size, float) and size.is_integer() else size for size in value)
    if known is None:
        return value
    return known[read(cls.__name__, name, one_of(*known), value)]


def _pairs(names: tuple[tuple[str, str], ...], value: Any) -> Any:
    """Pairs from a dictionary, or from a flat list of four numbers; anything else is unchanged."""
    if isinstance(value, Mapping):
        return _pairs_of_ends(names, value)
    if isinstance(value, (tuple, list)) and len(names) == 2 and len(value) == 4:
        return (tuple(value[:2]), tuple(value[2:]))
    return value


def _pairs_of_ends(names: tuple[tuple[str, str], ...], ends: Mapping[str, Any]) -> tuple[Any, ...]:
    """The padding of each axis, from that of each end by its name; ends that are left out are not padded."""
    known = [name for pair in names for name in pair]
    unknown = sorted(set(ends) - set(known))
    if unknown:
        raise ValueError(f"ZeroPadding{len(names)}D: padding knows the ends {', '.join(known)}; found {unknown[0]!r}.")
    found = tuple((ends.get(first, 0), ends.get(last, 0)) for first, last in names)
    return found[0] if len(found) == 1 else found


def old_names(kind: str) -> Callable[[F], F]:
    """Let a function also accept the old names that `KEYWORDS[kind]` lists; an error names all that it takes."""

    def decorate(function: F) -> F:
        taken = inspect.signature(function).parameters
        takes_all = any(each.kind is each.VAR_KEYWORD for each in taken.values())

        @wraps(function)
        def taking_old_names(*args: Any, **given: Any) -> Any:
            for old, new in KEYWORDS[kind].items():
                if old in given:
                    if new.startswith(REFUSED):
                        raise TypeError(
                            f"{kind}: {old}, of Keras 1, counts samples; give {new.removeprefix(REFUSED)}, which "
                            "counts batches."
                        )
                    if new in given:
                        raise TypeError(f"{kind}: {old} and {new} are one argument under two names; give one of them.")
                    given[new] = given.pop(old)
            if not (takes_all or given.keys() <= taken.keys()):
                refuse_unknown(kind, given, [name for name in taken if name != "self"])
            return function(*args, **given)

        return taking_old_names  # type: ignore[return-value]

    return decorate
