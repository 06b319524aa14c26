"""Optimizers by name and by config, in Keras 3's form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchkeras import optimizers as base, registry
from torchkeras.base.naming import snake_case
from torchkeras.keras3.optimizers.loss_scale import LossScaleOptimizer
from torchkeras.keras3.optimizers.multi import MultiOptimizer
from torchkeras.keras3.optimizers.optimizer import Optimizer
from torchkeras.keras3.optimizers.table import TWINS
from torchkeras.keras3.optimizers.written import serialize
from torchkeras.optimizers.given_torch import is_torch
from torchkeras.saving.optimizer.options import in_keras3

__all__ = ["deserialize", "get", "serialize"]

CLASSES: dict[str, Any] = {**TWINS, "LossScaleOptimizer": LossScaleOptimizer, "MultiOptimizer": MultiOptimizer}
BY_LOWER_NAME = {name.lower(): each for name, each in CLASSES.items()}


def deserialize(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The optimizer of a config that `serialize` gave; the name of a class of Keras's may be in any case.

    Arguments:
        config (dictionary): "class_name" and "config".
        custom_objects (dictionary or None, default None): further classes, by name.

    Errors:
        ValueError: for an unknown class, and for options that it does not have.

    Example:
        >>> deserialize({"class_name": "sgd", "config": {"momentum": 0.9}}).momentum
        0.9

    Source: https://keras.io/api/optimizers/
    """
    own = {**registry.get_custom_objects(), **(custom_objects or {})}
    name = config.get("class_name")
    if not isinstance(name, str):
        raise ValueError(f"An optimizer config needs a 'class_name' and a 'config'; found {dict(config)!r:.500}.")
    if name not in own and name.lower() in BY_LOWER_NAME:
        name = BY_LOWER_NAME[name.lower()].__name__
    return _FAMILY.from_config({"class_name": name, "config": config.get("config")}, own)


def twin_of(optimizer: Any) -> Any:
    """An optimizer of `torchkeras.optimizers`, such as a file gives, as that of Keras 3's form, with its state.

    One that has no such form stays as it is.
    """
    if isinstance(optimizer, Optimizer) or not isinstance(optimizer, base.Optimizer):
        return optimizer
    try:
        kind, config = in_keras3(optimizer)
    except ValueError:
        return optimizer
    made = TWINS[kind].from_config({"name": snake_case(kind), **config})  # not counted: it is no new one
    if optimizer.no_weight_decay:
        made.exclude_from_weight_decay(var_names=optimizer.no_weight_decay)
    if optimizer._parameters:
        made.bind(optimizer._given, optimizer._arrangements, optimizer._layers, optimizer._names)
        made.load_state_dict({**optimizer.state_dict(), "options": {}})
    return made


_FAMILY: registry.Family[Any] = registry.Family("optimizer")
for _name, _class in CLASSES.items():
    _FAMILY.register(_name, _class)


def get(identifier: Any) -> Any:
    """An optimizer from a name, in any case, or a config; an `Optimizer` is returned, and None stays None.

    Those of `torchkeras.optimizers` and `torch.optim` are taken, too, as there.

    Arguments:
        identifier (name, config, Optimizer or None): the optimizer.

    Errors:
        ValueError: for an unknown name, and for something else.

    Example:
        >>> get("adam").beta_1
        0.9

    Source: https://keras.io/api/optimizers/
    """
    if identifier is None:
        return None
    if isinstance(identifier, str):
        identifier = {"class_name": identifier, "config": {}}
    found = deserialize(identifier) if isinstance(identifier, Mapping) else identifier
    if isinstance(found, base.TorchOptimizer) or is_torch(found):
        return base.get(found)
    if not isinstance(found, base.Optimizer):
        raise ValueError(
            f"Could not interpret {identifier!r:.200} as an optimizer: give a name, a config or an instance of a "
            "subclass of keras.optimizers.Optimizer."
        )
    return found
