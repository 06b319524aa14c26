"""The names that layers have as submodules of a model, and so in its `state_dict`.

A layer with a name of its own is registered by it. One without is called `dense_3` because two others were made before
it in the process; the next process, or the next run of a notebook's cell, does not repeat that. So it is registered by
its class and its place among those of its class in the model: `dense_a`, `dense_b`. No layer gets such a name by
itself, so `model.dense_3` is the layer of that name, and `model.dense_a` the first Dense.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from string import ascii_lowercase
from typing import Any


def keys_of(layers: Iterable[Any]) -> dict[Any, str]:
    """The key of each layer, in their order; without dots, at which torch splits the keys of a state_dict."""
    return Keys(layers).of


class Keys:
    """The keys of layers, and what the keys of further layers depend on."""

    def __init__(self, layers: Iterable[Any]):
        self.of: dict[Any, Any] = dict.fromkeys(layers)
        self.names: dict[str, Any] = {}
        self._used: set[str] = set()
        self._counts: Counter[str] = Counter()
        automatic = []
        for layer in self.of:
            self.names[layer.name] = layer
            if is_automatic(layer):
                automatic.append(layer)
            else:
                self.of[layer] = self._named(layer)
        for layer in automatic:  # last, since a layer may have the name `dense_a`
            self.of[layer] = self._counted(layer)

    def follow(self, layer: Any) -> str | None:
        """Add a layer, and return its key; None where its name is the key of an earlier layer."""
        automatic = is_automatic(layer)
        if not automatic and _key_of(layer) in self._used:
            return None
        self.names[layer.name] = layer
        self.of[layer] = self._counted(layer) if automatic else self._named(layer)
        return self.of[layer]

    def _named(self, layer: Any) -> str:
        key = _key_of(layer)
        while key in self._used:
            key += "_"
        self._used.add(key)
        return key

    def _counted(self, layer: Any) -> str:
        base, key = layer._automatic_name, None
        while key is None or key in self._used:
            self._counts[base] += 1
            key = f"{base}_{letters(self._counts[base])}"
        self._used.add(key)
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
    """For each name in a state_dict the name in this network: keys that are names of layers, as older versions wrote
    them, become today's. If it is not `deep`, keys inside the layers stay.
    """
    result = {name: name for name in names}
    present: dict[str, list[str]] = {}
    for name in result:
        first, dot, _ = name[len(prefix) :].partition(".")
        if dot and name.startswith(prefix):
            present.setdefault(first, []).append(name)
    for layer, key in network._layer_keys().items():
        source = key if key in present else _key_of(layer)
        inside, start = present.get(source, ()), len(prefix) + len(source) + 1
        moved = [f"{prefix}{key}.{name[start:]}" for name in inside]
        if deep and hasattr(layer, "_layer_keys"):
            moved = list(renamed(layer, moved, f"{prefix}{key}.").values())
        result.update(zip(inside, moved, strict=True))
    return result
