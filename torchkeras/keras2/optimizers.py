"""What scripts take from `keras.optimizers` beside the optimizers, which they may write in Keras 2's manner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras import optimizers, registry
from torchkeras.keras2 import old_optimizers

old_optimizers.extend()

_BY_LOWER_NAME = {name.lower() for name in registry.optimizers.names()}


def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The optimizer of a config. As in Keras 2, the name of a class of Keras is made lower case in the config itself."""
    if config["class_name"].lower() in _BY_LOWER_NAME:
        config["class_name"] = config["class_name"].lower()
    return optimizers.deserialize(config, custom_objects)
