"""What layers store in a way of their own, as in Keras 3: files beside the weights, and values in place of these.

A class of the user's may have `save_assets(folder)` and `load_assets(folder)`, whose files stand in a `.keras` archive
below `assets/`, in a folder of the layer's path, and `save_own_variables(store)` and `load_own_variables(store)`, whose
values stand where its weights would.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from torchkeras.engine.facts import facts_of
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.weights.weight import own_variables
from torchkeras.engine.weights.weight_lists import sublayers
from torchkeras.errors import UnknownFormatError, UnreadableFileError
from torchkeras.legacy.weights import Recipe
from torchkeras.saving.containers.archive import Archive
from torchkeras.saving.containers.vocabularies import MEMBER
from torchkeras.saving.weights import paths
from torchkeras.saving.weights.matching import Match, Named
from torchkeras.saving.weights.origin import Origin


def _within(layer: Layer) -> list[Layer]:
    return [layer, *(inside for each in sublayers(layer) for inside in _within(each))]


def check_form(model: Layer, where: Any, holds_assets: bool, holds_values: bool) -> None:
    """Raise ValueError for a layer that stores what a format has no place for."""
    for layer in _within(model):
        facts = facts_of(layer)
        for found, holds, method, suffixes in (
            (facts.has_assets, holds_assets, "save_assets", ".keras"),
            (facts.stores_itself, holds_values, "save_own_variables", ".keras or .weights.h5"),
        ):
            if found and not holds:
                raise ValueError(
                    f"{where}: {type(layer).__name__} {layer.name!r} has a {method} or its counterpart of its own, "
                    f"which only files that end in {suffixes} hold."
                )


def stores_itself(model: Layer) -> bool:
    """Whether a layer of a model has values of its own in place of its weights."""
    return any(facts_of(layer).stores_itself for layer in _within(model))


def read_values(group: Any, model: Network, taking: Any, origin: Origin) -> list[Match]:
    """Let layers take their own values from a file's weights by paths; returns what their weights then are."""
    made: list[Match] = []
    for layer, store in paths.own_stores(group, model, taking, origin.layer_order):
        layer.load_own_variables(store)
        made += [Match(each, (Named(each.full_name, each.numpy()),), Recipe((0,))) for each in own_variables(layer)]
    return made


def write_assets(model: Layer, folder: Path) -> None:
    """Let layers write their files, each into a folder of its path."""
    for layer, path in paths.folders(model):
        if facts_of(layer).has_assets:
            (folder / path).mkdir(parents=True, exist_ok=True)
            layer.save_assets(str(folder / path))


def read_assets(model: Layer, archive: Archive, where: str) -> None:
    """Let layers read their files. Raises ModelFileError for a file that is below the folder of no such layer."""
    owners = {path: layer for layer, path in paths.folders(model) if facts_of(layer).has_assets}
    for name in archive.assets:
        if not any(str(parent) in {f"assets/{path}".rstrip("/") for path in owners} for parent in Path(name).parents):
            raise _of_no_layer(name, where)
    if not owners:
        return
    with TemporaryDirectory(prefix="torchkeras-") as made:
        archive.extract_assets(Path(made))
        for path, layer in owners.items():
            folder = Path(made) / path
            layer.load_assets(str(folder) if folder.is_dir() else None)


def _of_no_layer(name: str, where: str) -> Exception:
    if MEMBER.fullmatch(name):
        return UnreadableFileError(f"{where}: {name!r} is of no layer that lacks a vocabulary.")
    return UnknownFormatError(
        f"{where}: member {name!r} belongs to a layer that keeps a vocabulary or something else in a file of its own, "
        "and the model has no such layer: of such files those are read that are the vocabulary.txt of one layer, or "
        "of a layer with a load_assets."
    )
