"""An optimizer as Keras 3 writes it."""

from __future__ import annotations

from typing import Any

from torchkeras import registry
from torchkeras.saving.keras3_entry import entry, users_entry


def serialize(optimizer: Any) -> dict[str, Any]:
    """The class and the config of an optimizer, as Keras 3 writes them.

    Arguments:
        optimizer (Optimizer): the optimizer.

    Returns:
        dictionary: "module", "class_name", "config" and "registered_name".

    Example:
        >>> serialize(torchkeras.keras3.optimizers.SGD(0.5))["config"]["learning_rate"]
        0.5

    Source: https://keras.io/api/optimizers/
    """
    return written("keras.optimizers", optimizer)


def written(place: str, value: Any) -> dict[str, Any]:
    """An object as Keras 3 writes it, of a module of Keras's or of a class of a user's."""
    kind = type(value)
    if kind.__module__.startswith("torchkeras."):
        return entry(place, kind.__name__, value.get_config())
    return users_entry(registry.name_in_configs(kind), value.get_config())
