"""Weights in the layout of Keras 0: layers that only have numbers, of which nothing tells the backend."""

from __future__ import annotations

from functools import partial
from typing import Any

import h5py

from torchkeras.engine.network import Network
from torchkeras.legacy.weights import Recipe, Step
from torchkeras.saving.dialects.keras0 import old_pairs, variance
from torchkeras.saving.errors import ModelFileError
from torchkeras.saving.files.places import filename
from torchkeras.saving.layouts import matching
from torchkeras.saving.layouts.matching import Match, Named
from torchkeras.saving.layouts.origin import Origin


def match(group: h5py.Group, model: Network, origin: Origin, backend_is_told: bool) -> list[Match]:
    """Every weight of the model with its arrays. Raises WeightMismatchError.

    Raises ModelFileError for convolutions of a backend that the caller has not told: Theano turned their kernels.
    """
    file = filename(group)
    matches: list[Match] = []
    for layer, arrays in old_pairs(group, model):
        where = f"{file}: layer {layer.name!r} ({type(layer).__name__})"
        named = [Named(name, array) for name, array in arrays]
        matches += map(_with_variance, matching.match(layer._own_variables(), named, origin, where))
    turned = [found for found in matches if Origin(1, True).steps(found.variable)]
    if turned and not backend_is_told:
        raise ModelFileError(
            f"{file}: weights of Keras 0, which do not say on which backend {turned[0].variable.full_name!r} was made. "
            "Say original_backend='theano' or 'tensorflow'."
        )
    return matches


def _with_variance(found: Match) -> Match:
    """The same, for what Keras 0 kept as a standard deviation."""
    if found.variable.name != "moving_variance":
        return found
    epsilon: Any = found.variable.layer.epsilon  # which it has, having this weight
    step = Step("standard deviation made a variance", partial(variance, epsilon=epsilon))
    return Match(found.variable, found.sources, Recipe(found.recipe.sources, after=(step,)))
