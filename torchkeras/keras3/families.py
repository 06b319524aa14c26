"""Initializers, regularizers, constraints and activations by name, in the form in which Keras 3 writes them.

{"module": "keras.initializers", "class_name": "Zeros", "config": {}, "registered_name": None}
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from torchkeras import registry
from torchkeras.registry import IdentifierError, registered_name, registered_or_own
from torchkeras.saving import keras3_entry

FUNCTION = "function"  # the class name of a user's function


class Family(registry.Family[Any]):
    """The objects of one kind, as Keras 3 reads and writes them.

    Options:
        kind (text): the word for it in errors.
        module (text): the module that its entries name.
        objects (dict): the classes by all their names.
    """

    def __init__(self, kind: str, module: str, objects: Mapping[str, Any]):
        super().__init__(kind)
        self.module = module
        self._objects.update(objects)

    def get(self, identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The object for a name or a config; a class is called without arguments, another callable returned as it is.

        Raises ValueError for an unknown name and for what names nothing.
        """
        try:
            return super().get(identifier, custom_objects)
        except IdentifierError as error:
            raise ValueError(str(error)) from error

    def from_config(self, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The object of an entry, which may lack `module` and `registered_name`. Raises ValueError for another form."""
        if config.get("class_name") == FUNCTION and isinstance(config.get("config"), str):
            return self.find(config["config"], custom_objects)
        named = {**config, "class_name": registered_or_own(config)} if "class_name" in config else config
        return super().from_config(named, custom_objects)

    def deserialize(self, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """The inverse of `serialize`; a name will do as well."""
        return self.get(config, custom_objects)

    def serialize(self, value: Any) -> Any:
        """The entry of an object or of a user's function; None and names stay as they are.

        Raises ValueError for what has neither a config nor a name.
        """
        if value is None or isinstance(value, str):
            return value
        if hasattr(value, "get_config"):
            return self._entry(value)
        return function_entry(value, self.kind)

    def _entry(self, value: Any) -> dict[str, Any]:
        name = type(value).__name__
        if self._objects.get(name) is type(value):
            return keras3_entry.entry(self.module, name, value.get_config())
        module = None if type(value).__module__ == "__main__" else type(value).__module__
        return {**keras3_entry.entry(module, name, value.get_config()), "registered_name": registered_name(type(value))}


def function_entry(function: Any, kind: str) -> dict[str, Any]:
    """The entry of a user's function. Raises ValueError for a function without a name."""
    name = getattr(function, "__name__", "<lambda>")
    if name == "<lambda>":
        raise ValueError(f"A {kind} is written to a config by its name; {function!r} has none: define it with `def`.")
    return {
        "module": "builtins",
        "class_name": FUNCTION,
        "config": registered_name(function) if inspect.isfunction(function) else name,
        "registered_name": FUNCTION,
    }
