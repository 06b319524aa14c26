"""What an annex may add to the package's classes and modules, or replace there, in a process that asks for it.

Scripts of old Keras, for example, need layers and models that behave as those of Keras 1 and 2 did. A class declares
with `@replaceable` which of its members may be replaced, a module with `replaceable_in`. All else is refused, so that a
change of the core finds out what depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

# The names that may be replaced, by the class or the name of the module.
_replaceable: dict[Any, frozenset[str]] = {}
_PACKAGE = __name__.partition(".")[0]


def replaceable(*names: str) -> Callable[[Class], Class]:
    """Declare members of a class that `extend` may replace."""

    def declare(cls: Class) -> Class:
        _replaceable[cls] = frozenset(names)
        return cls

    return declare


def replaceable_in(module: str, *names: str) -> None:
    """Declare functions of a module that `extend` may replace, for callers that ask the module at each call."""
    _replaceable[module] = frozenset(names)


def extend(owner: type | ModuleType, **members: Any) -> None:
    """Add members to a class or a module of the package, or replace those that it declares.

    Raises TypeError for a member that is there and may not be replaced.

    Example:
        >>> @replaceable("greet")
        ... class Greeter:
        ...     def greet(self):
        ...         return "Hello."
        >>> extend(Greeter, greet=lambda self: "Good day.", leave=lambda self: "Goodbye.")
        >>> Greeter().greet(), Greeter().leave()
        ('Good day.', 'Goodbye.')
    """
    for name, member in members.items():
        if _has(owner, name):
            _check(owner, name)
        setattr(owner, name, member)


def members_of(cls: type, *names: str) -> dict[str, Any]:
    """Members that stand in a class, for `extend` to add to another."""
    return {name: vars(cls)[name] for name in names}


def withdraw(owner: type, name: str) -> None:
    """Remove a member that a class declares, if it has it. Raises TypeError for one that it does not declare."""
    _check(owner, name)
    if name in vars(owner):
        delattr(owner, name)


def _check(owner: type | ModuleType, name: str) -> None:
    """Raise TypeError for a member that may not be replaced."""
    declared = _declared_for(owner)
    if name not in declared:
        raise TypeError(f"{owner.__name__}.{name} may not be replaced; these may: {', '.join(sorted(declared))}.")


def _declared_for(owner: type | ModuleType) -> frozenset[str]:
    """What may be replaced in a class, or in a base of it; in a module."""
    if isinstance(owner, ModuleType):
        return _replaceable.get(owner.__name__, frozenset())
    return frozenset().union(*(_replaceable.get(base, ()) for base in owner.__mro__))


def _has(owner: type | ModuleType, name: str) -> bool:
    """Whether a module, or a class of the package or a base of it in the package, has a member of that name."""
    if isinstance(owner, ModuleType):
        return hasattr(owner, name)
    own = [base for base in owner.__mro__ if base.__module__.partition(".")[0] == _PACKAGE]
    return any(name in vars(base) for base in own)
