"""Optimizers: they update parameters by gradients, in place: Keras's formulas on torch's kernels over lists.

In the formulas lr_t = lr / (1 + decay * iterations) is the rate of the step, with `iterations` counted from 0. SGD,
RMSprop, Adagrad, Adadelta, Adam, Adamax and Nadam are those of Keras 2.2.4, with its formulas and defaults; AdamW,
Lion, Lamb, Muon, Adafactor, Ftrl and ScheduleFreeAdamW are those of Keras 3. `TorchOptimizer` takes any optimizer of
`torch.optim`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torchkeras import registry
from torchkeras.base.missing_names import missing_from as _missing_from
from torchkeras.optimizers import schedules
from torchkeras.optimizers.adaptive_moments import Adam, AdamW
from torchkeras.optimizers.base import Optimizer
from torchkeras.optimizers.factored import Adafactor
from torchkeras.optimizers.given_torch import is_torch
from torchkeras.optimizers.leader import Ftrl
from torchkeras.optimizers.moments import Adamax, Lamb, Nadam
from torchkeras.optimizers.momentum import SGD, Lion
from torchkeras.optimizers.orthogonal import Muon
from torchkeras.optimizers.root_mean_square import Adadelta, Adagrad, RMSprop
from torchkeras.optimizers.schedule_free import ScheduleFreeAdamW
from torchkeras.optimizers.torch_optimizer import TorchOptimizer

__all__ = [
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "Lamb",
    "Lion",
    "Muon",
    "Nadam",
    "Optimizer",
    "RMSprop",
    "ScheduleFreeAdamW",
    "TorchOptimizer",
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "deserialize",
    "get",
    "nadam",
    "rmsprop",
    "schedules",
    "serialize",
    "sgd",
]

sgd = SGD
rmsprop = RMSprop
adagrad = Adagrad
adadelta = Adadelta
adam = Adam
adamax = Adamax
nadam = Nadam


def get(identifier: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """An optimizer from a name in any case, a config, an optimizer of torch, or an `Optimizer`, which is returned.

    One of `torch.optim` is an instance, a class, a `functools.partial` of it or a pair of class and options; it becomes
    a `TorchOptimizer`.

    Arguments:
        identifier (name, config or optimizer): the optimizer.
        custom_objects (dictionary or None, default None): further classes, by name.

    Errors:
        ValueError: for an unknown name.
        TypeError: for an object of another kind.

    Example:
        >>> get("Adam").beta_1
        0.9
    """
    if isinstance(identifier, (Optimizer, TorchOptimizer)):
        return identifier
    if isinstance(identifier, str):
        found: Any = _known_name(identifier, custom_objects)
    elif isinstance(identifier, Mapping) and isinstance(identifier.get("class_name"), str):
        found = {**identifier, "class_name": _known_name(identifier["class_name"], custom_objects)}
    elif is_torch(identifier):
        return TorchOptimizer(identifier)
    else:
        found = identifier
    optimizer = registry.optimizers.get(found, custom_objects)
    if not isinstance(optimizer, (Optimizer, TorchOptimizer)):
        raise TypeError(
            f"Could not interpret {identifier!r} as an optimizer: give a name, a config or an instance of a subclass "
            "of torchkeras.optimizers.Optimizer."
        )
    return optimizer


def _known_name(name: str, custom_objects: Mapping[str, Any] | None) -> str:
    own = {**registry.get_custom_objects(), **(custom_objects or {})}
    return name.lower() if name not in own and name.lower() in registry.optimizers else name


def serialize(value: Any) -> Any:
    """`{"class_name", "config"}` of an optimizer; a name stays a name.

    Arguments:
        value (optimizer, name or None): the optimizer.

    Example:
        >>> serialize(SGD())["config"]["lr"]
        0.01
    """
    if isinstance(value, Optimizer):
        found = value.for_files
        return {"class_name": type(found).__name__, "config": found.own_config}
    return registry.optimizers.serialize(value)


deserialize = get

if not TYPE_CHECKING:  # which would take any name for one of the module
    __getattr__ = _missing_from(__name__)
