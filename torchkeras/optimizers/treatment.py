"""How each parameter is treated: the factor of its rate, whether it decays, and its rule of training."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from torch import Tensor

from torchkeras.optimizers.parameter_groups import Treatment


def treatments(optimizer: Any) -> list[Treatment]:
    """The treatment of each of an optimizer's parameters. Raises ValueError for factors of an unknown layer."""
    factors, layers, names = optimizer.lr_multipliers or {}, optimizer._layers, optimizer._names
    _check_layers(type(optimizer).__name__, factors, layers)
    if any("/" not in pattern for pattern in optimizer.no_weight_decay) and names is None:
        raise ValueError(
            f"{type(optimizer).__name__}: no_weight_decay {list(optimizer.no_weight_decay)} needs the weights' names; "
            "`bind` was given none."
        )
    excluded, arrays, found = excluded_ids(optimizer._excluded), optimizer._tensors(), []
    kinds = [optimizer._kind(array, tensors) for array, tensors in enumerate(arrays)]
    for array, (tensors, kind) in enumerate(zip(arrays, kinds, strict=True)):
        decays = not (set(map(id, tensors)) & excluded or _is_named(optimizer, array))
        factor = factors.get(layers[array], 1.0) if layers else 1.0
        found += [Treatment(array, factor, decays, kind)] * len(tensors)
    return found


def excluded_ids(excluded: Iterable[Any]) -> set[int]:
    """The identities of the tensors that these weights, or tensors, are made of."""
    return {id(t) for weight in excluded for t in ([weight] if isinstance(weight, Tensor) else weight.tensors)}


def _is_named(optimizer: Any, array: int) -> bool:
    if not optimizer.no_weight_decay:
        return False
    name, path = (optimizer._names or [""])[array], optimizer._path(array)
    return any(path == pattern if "/" in pattern else re.search(pattern, name) for pattern in optimizer.no_weight_decay)


def _check_layers(kind: str, factors: Iterable[str], layers: list[str] | None) -> None:
    unknown = [name for name in factors if name not in (layers or ())]
    if unknown and layers is None:
        raise ValueError(f"{kind}: lr_multipliers needs the names of layers; `bind` was given none.")
    if unknown:
        known = ", ".join(dict.fromkeys(layers or ()))
        raise ValueError(f"{kind}: lr_multipliers names the layer {unknown[0]!r}; those that train are {known}.")
