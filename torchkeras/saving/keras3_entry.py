"""An object as Keras 3 writes it, in every file of its form."""

from __future__ import annotations

from typing import Any


def entry(module: str | None, class_name: str, config: dict[str, Any]) -> dict[str, Any]:
    """An object of Keras's `module`; None for one of a user's, which Keras finds by its registered name."""
    registered = class_name if module is None else None
    return {"module": module, "class_name": class_name, "config": config, "registered_name": registered}
