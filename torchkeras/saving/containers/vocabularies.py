"""Vocabularies that Keras 3 keeps beside a model's config: put into the configs of their layers, as `vocabulary`.

A layer that found its tokens by `adapt` has a file with one in each line. Its folder is that of the layer's weights:
`assets/layers/functional/layers/integer_lookup_1/vocabulary.txt`, with the classes in snake case, numbered from the
second layer of a class on. The `idf_weights` of such a layer stand among the weights, in that folder's `vars`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import h5py

from torchkeras.base.naming import snake_case
from torchkeras.errors import UnreadableFileError

# With those of a layer inside the layer, which are the same.
MEMBER = re.compile(r"assets/layers/(?:\w+/)+vocabulary\.txt")
INSIDE = "/_lookup_layer/"
# By class, how a line is read.
READS: Mapping[str, Any] = {"IntegerLookup": int, "StringLookup": str, "TextVectorization": str}


Weights = Callable[[], AbstractContextManager[h5py.Group]]


def with_vocabularies(config: Any, texts: Mapping[str, str], weights: Weights, where: str) -> tuple[Any, list[str]]:
    """The config of a model whose layers have the vocabularies of these members, by their names, and the names left.

    `weights` opens the model's weights. Raises UnreadableFileError for a vocabulary that is none of integers.
    """
    left = {name: text for name, text in texts.items() if INSIDE not in name}
    made = _filled(config, "assets/", left, weights, where) if left else config
    return made, list(left)


def _filled(entry: Any, folder: str, left: dict[str, str], weights: Weights, where: str) -> Any:
    """The entry of a layer or model; what it takes is removed from `left`."""
    options = entry.get("config") if isinstance(entry, Mapping) else None
    if not isinstance(options, Mapping):
        return entry
    name, kind = f"{folder}vocabulary.txt", str(entry.get("class_name"))
    if kind in READS and name in left and options.get("vocabulary") is None:
        given: dict[str, Any] = {"vocabulary": tokens(left.pop(name), READS[kind], f"{where}: {name}")}
        if options.get("output_mode") == "tf_idf" and options.get("idf_weights") is None:
            given["idf_weights"] = _idf_weights(folder, weights)
        return {**entry, "config": {**options, **given}}
    layers = options.get("layers")
    if not isinstance(layers, list):
        return entry
    met: Counter[str] = Counter()
    made = []
    for inside in layers:
        found = inside.get("class_name") if isinstance(inside, Mapping) else None
        known = snake_case(found) if isinstance(found, str) else ""
        number = f"_{met[known]}" if met[known] else ""
        met[known] += 1
        made.append(_filled(inside, f"{folder}layers/{known}{number}/", left, weights, where))
    return {**entry, "config": {**options, "layers": made}}


def _idf_weights(folder: str, weights: Weights) -> list[float] | None:
    """The `idf_weights` of the layer with this folder of assets; None where the file has none."""
    with weights() as root:
        found = root.get(f"{folder.removeprefix('assets/')}vars/idf_weights")
        return found[()].tolist() if isinstance(found, h5py.Dataset) and found.ndim == 1 else None


def tokens(text: str, read: Any, where: str) -> list[Any]:
    """The tokens in the lines of a text. Raises UnreadableFileError for a line that `read` does not take."""
    lines = text.splitlines()
    while lines and not lines[-1]:
        lines.pop()
    try:
        return list(map(read, lines))
    except ValueError as error:
        raise UnreadableFileError(f"{where} must have an integer in each line ({error}).") from error
