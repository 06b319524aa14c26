"""Weights by paths of a model with dicts inside dicts: Keras 3 sorts their keys on some backends, not on torch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from torchkeras.engine.graph.network import Network, layers_in
from torchkeras.engine.weights.weight_lists import TORCH
from torchkeras.errors import ModelFileError, WeightMismatchError
from torchkeras.saving.containers.hdf5 import attribute
from torchkeras.saving.weights.matching import Match

if TYPE_CHECKING:
    pass


def depends(model: Network) -> bool:
    """Whether Keras 3 orders the layers of a model, or of one inside, otherwise on torch than on other backends."""
    models = (each for each in model.modules() if isinstance(each, Network))
    return any(layers_in(each, TORCH) != each.layers for each in models)


def warn_of_torch(model: Network, path: Any) -> None:
    """Say that weights alone, written in the order of other backends, are in another order for Keras 3 on torch."""
    if depends(model):
        warnings.warn(
            f"{path}: {model.name!r} has a dict inside a dict, whose keys Keras 3 sorts, but not on torch: there it "
            "reads these weights in another order, unless the model is made with the keys in sorted order. A whole "
            "model, saved as .keras, has one order on every backend.",
            stacklevel=4,
        )


def settle(file: str, matched: Callable[[bool], tuple[list[Match], Any]]) -> tuple[list[Match], Any]:
    """What `matched` gives in the order that fits, sorted (False) or torch's (True).

    If both fit, names that count up tell in which order the layers were made, in the file and in the model. Raises
    ModelFileError if they do not tell it, WeightMismatchError if no order fits.
    """
    try:
        found = matched(False)
    except WeightMismatchError:
        return matched(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            on_torch = matched(True)
    except WeightMismatchError:
        return found
    differing = [_differing(*pair) for pair in ((found[0], on_torch[0]), (on_torch[0], found[0]))]
    if not any(differing):
        return found
    in_turn = [each for each, matches in zip((found, on_torch), differing, strict=True) if _in_turn(matches)]
    if len(in_turn) != 1:
        names = ", ".join(match.variable.full_name for match in differing[0])
        raise ModelFileError(
            f"{file}: Keras 3 sorts the keys of a dict inside a dict, but not on torch. The file does not say on which "
            f"backend it was written, and both orders fit {names}. Give the layers the names that they have in the "
            "file."
        )
    return in_turn[0]


def _arrays(match: Match) -> list[str]:
    return [source.path for source in match.sources]


def _differing(matches: Iterable[Match], others: Iterable[Match]) -> list[Match]:
    """The matches of weights for which the others have other arrays."""
    arrays = {match.variable.identity: _arrays(match) for match in others}
    return [match for match in matches if _arrays(match) != arrays.get(match.variable.identity)]


def _in_turn(matches: Iterable[Match]) -> bool:
    """Whether the names of the layers, in the model and in the file, count up in one order."""
    numbers = []
    for match in matches:
        stored_name = str(attribute(match.sources[0].data.parent, "name", ""))
        (own, number), (stem, counted) = _name_parts(match.variable.layer.name), _name_parts(stored_name)
        if own != stem:
            return False
        numbers.append((own, number, counted))
    counts = [(own, counted) for own, _, counted in sorted(numbers)]
    return counts == sorted(counts)


def _name_parts(name: str) -> tuple[str, int]:
    """The parts of the name of a layer that was given none: `dense_2`; the first one of Keras 3 has no number."""
    stem, _, number = name.rpartition("_")
    return (stem, int(number)) if stem and number.isdecimal() else (name, 0)
