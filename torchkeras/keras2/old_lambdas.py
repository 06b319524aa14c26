"""Configs of Lambdas that carry their functions within a process, as `from_config(get_config())` of Keras 2 does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras.layers import Lambda

OPTIONS = {"function": "function", "output_shape": "told_shape", "mask": "mask"}
_written, _read = Lambda.get_config, Lambda.from_config.__func__  # type: ignore[attr-defined]


class Named(str):
    """The name of a function in a config, and the function; a file has the name alone."""

    function: Any

    def __deepcopy__(self, memo: Any) -> Named:
        return self

    def __reduce__(self) -> Any:
        return str, (str(self),)


def get_config(self: Any) -> dict[str, Any]:
    """The options; functions by name, which this process finds again by it."""
    config = _written(self)
    for option, field in OPTIONS.items():
        function = getattr(self, field)
        if callable(function) and isinstance(config[option], str):
            config[option] = Named(config[option])
            config[option].function = function
    return config


def from_config(cls: Any, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """A new layer; its functions come from `custom_objects`, or are those of the layer that the config is of."""
    carried = {str(each): each.function for each in map(config.get, OPTIONS) if isinstance(each, Named)}
    return _read(cls, config, {**carried, **(custom_objects or {})})


def extend() -> None:
    """Let `Lambda` write and read such configs."""
    Lambda.get_config, Lambda.from_config = get_config, classmethod(from_config)  # type: ignore
