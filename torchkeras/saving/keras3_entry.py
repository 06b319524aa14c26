"""An object as Keras 3 writes it, in every file of its form."""

from __future__ import annotations

from typing import Any

from torchkeras import registry


def entry(module: str | None, class_name: str, config: dict[str, Any]) -> dict[str, Any]:
    """An object of Keras's `module`; None for one that Keras finds by its registered name."""
    registered = class_name if module is None else None
    return {"module": module, "class_name": class_name, "config": config, "registered_name": registered}


def users_entry(name: str, config: dict[str, Any], kind: type | None = None) -> dict[str, Any]:
    """An object of a user's class. `name`: as in configs of this package. `kind`: the class, where it is known."""
    registered = registry.registered(name) if kind is None else registry.registered_name(kind)
    known = registry.get_custom_objects().get(registered)
    own = registered.rpartition(">")[2] if known is None else known.__name__
    return {**entry(None, own, config), "registered_name": registered}
