"""Configs of classes of one's own without a `get_config`: the arguments of their constructor, where these are plain.

The arguments are those of the call that made the object, as in Keras 3: numbers, texts, booleans and None, in lists,
tuples and dicts. A class with other arguments needs a `get_config`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from torchkeras.engine.facts import is_own, is_users_method
from torchkeras.engine.layer.layer import Layer as BaseLayer

PLAIN = (str, int, float, bool, type(None))
WITHOUT_OPTIONS = ("Layer", "Model")  # the classes whose own options are `BASE`
BASE = ("name", "trainable", "dtype")


def arguments_of(cls: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments of a constructor by name, if all are plain; None otherwise."""
    signature = inspect.signature(cls.__init__)
    try:
        given = signature.bind_partial(None, *args, **kwargs).arguments
    except TypeError:  # which the constructor itself raises
        return None
    found: dict[str, Any] = {}
    for name, value in list(given.items())[1:]:
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            return None
        found.update(value if kind is inspect.Parameter.VAR_KEYWORD else {name: value})
    found = {name: value for name, value in found.items() if name not in BASE}
    return found if _is_plain(found) else None


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_plain, (*value.keys(), *value.values())))
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return isinstance(value, PLAIN)


def automatic_config(layer: BaseLayer) -> dict[str, Any] | None:
    """The arguments of a layer or model of one's own, if its config is made of these; None otherwise."""
    cls = type(layer)
    nearest = next(each for each in cls.__mro__ if is_own(each))
    if cls is nearest or nearest.__name__ not in WITHOUT_OPTIONS or is_users_method(cls, "get_config"):
        return None
    return layer.__dict__.get("_arguments")


def made_of(cls: Any, config: Mapping[str, Any]) -> Any:
    """An object of a class of one's own; a name and `trainable` that its constructor does not take are set."""
    parameters = inspect.signature(cls.__init__).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    left = {name: config[name] for name in BASE if name in config and not (takes_any or name in parameters)}
    made = cls(**{name: value for name, value in config.items() if name not in left})
    for name in ("name", "trainable"):
        if name in left and getattr(made, name) != left[name]:
            setattr(made, name, left[name])
    return made
