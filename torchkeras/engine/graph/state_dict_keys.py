"""The names that layers have as submodules of a model, and so in its `state_dict`.

A layer that was given a name has it. One that was not is called `dense_3` because two others were made before it in the
process, which the next process, or the next run of a notebook's cell, does not repeat. So it is registered by its class
and its place among those of its class in the model: `dense_a`, `dense_b`. No layer has such a name by itself: what
`model.dense_3` gives is the layer of that name, and `model.dense_a` the first Dense, without a doubt between them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from string import ascii_lowercase
from typing import Any


def keys_of(layers: Iterable[Any]) -> dict[Any, str]:
    """The key of each layer, in their order; torch parts the keys of a state_dict at the dots, so they have none."""
    return Keys(layers).of


class Keys:
    """The keys of layers, and what those of the next ones depend on."""

    def __init__(self, layers: Iterable[Any]):
        layers = list(dict.fromkeys(layers))
        self.names = {layer.name: layer for layer in layers}
        self._taken: set[str] = set()
        self._counts: Counter[str] = Counter()
        keys = {layer: self._named(layer) for layer in layers if not is_automatic(layer)}
        self.of: dict[Any, str] = {layer: keys[layer] if layer in keys else self._counted(layer) for layer in layers}

    def follow(self, layer: Any) -> str | None:
        """Take one layer more, and give its key; None where it has a name that one before it would have to leave."""
        automatic = is_automatic(layer)
        if not automatic and _key_of(layer) in self._taken:
            return None
        self.names[layer.name] = layer
        self.of[layer] = self._counted(layer) if automatic else self._named(layer)
        return self.of[layer]

    def _named(self, layer: Any) -> str:
        key = _key_of(layer)
        while key in self._taken:
            key += "_"
        self._taken.add(key)
        return key

    def _counted(self, layer: Any) -> str:
        base, key = layer._automatic_name, None
        while key is None or key in self._taken:
            self._counts[base] += 1
            key = f"{base}_{letters(self._counts[base])}"
        self._taken.add(key)
        return key


def _key_of(layer: Any) -> str:
    return layer.name.replace(".", "_")


def is_automatic(layer: Any) -> bool:
    """Whether a layer's name is one that Keras gives by itself: `dense_2`."""
    return re.fullmatch(re.escape(layer._automatic_name) + r"_\d+", layer.name) is not None


def letters(number: int) -> str:
    """a, b, ..., z, aa, ab, ... for 1, 2, ..."""
    found = ""
    while number:
        number, place = divmod(number - 1, 26)
        found = ascii_lowercase[place] + found
    return found


def renamed(network: Any, names: Iterable[str], prefix: str = "", deep: bool = True) -> dict[str, str]:
    """For each name in a state_dict, that in this network: keys that are names of layers, as older versions wrote them,
    become today's. If it is not `deep`, keys inside the layers stay.
    """
    result = {name: name for name in names}
    present: dict[str, list[str]] = {}
    for name in result:
        first, dot, _ = name[len(prefix) :].partition(".")
        if dot and name.startswith(prefix):
            present.setdefault(first, []).append(name)
    for layer, key in network._layer_keys().items():
        source = key if key in present else _key_of(layer)
        inside = present.get(source, ())
        moved = {f"{prefix}{key}.{name[len(prefix) + len(source) + 1 :]}": name for name in inside}
        goes_on = deep and hasattr(layer, "_layer_keys")
        deeper = renamed(layer, moved, f"{prefix}{key}.") if goes_on else {name: name for name in moved}
        result.update({name: deeper[new] for new, name in moved.items()})
    return result
