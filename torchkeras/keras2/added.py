"""What a script gives `add_loss` and `add_update` of a layer outside of a call, kept for the lists of Keras 2."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from torchkeras.engine.symbolic.tensor import as_list


@dataclass(eq=False)
class Added:
    """A loss or an update, the inputs that it is for, and the models whose training has the loss."""

    value: Any
    inputs: Any
    models: WeakSet[Any] = field(default_factory=WeakSet)


LOSSES: WeakKeyDictionary[Any, list[Added]] = WeakKeyDictionary()
UPDATES: WeakKeyDictionary[Any, list[Added]] = WeakKeyDictionary()


def keep(kept: WeakKeyDictionary[Any, list[Added]], layer: Any, values: Any, inputs: Any) -> None:
    """Keep what was given for some inputs, or for None."""
    kept.setdefault(layer, []).extend(Added(each, inputs) for each in as_list(values))


def values(kept: WeakKeyDictionary[Any, list[Added]], layer: Any) -> list[Any]:
    """All that was given."""
    return [each.value for each in kept.get(layer, ())]


def values_for(kept: WeakKeyDictionary[Any, list[Added]], layer: Any, inputs: Any) -> list[Any]:
    """What was given for some inputs, or for None."""
    wanted = as_list(inputs)
    return [
        each.value
        for each in kept.get(layer, ())
        if (not wanted and each.inputs is None) or any(a is b for a in wanted for b in as_list(each.inputs))
    ]


def warn_of_none(layer: Any, losses: Any) -> None:
    """Say that `add_loss` of None adds nothing, as in Keras 2, where it could be a tensor that was lost."""
    if losses is None:
        warnings.warn(
            f"{layer.name}: add_loss is given None, which adds nothing. A tensor that a `call` keeps in an attribute "
            "is not there when it has ended: give it to add_loss in that `call`.",
            stacklevel=3,
        )
