"""Weights and whole models from files: one way through all formats, in which nothing changes before all has fitted."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import h5py

from torchkeras.config import DATA_FORMATS
from torchkeras.engine.layer import Layer
from torchkeras.engine.network import Network
from torchkeras.engine.symbol import dtype_of
from torchkeras.engine.weight import allocate, on_meta
from torchkeras.saving import hdf5, layer_groups, orderings
from torchkeras.saving.architecture import model_from_config
from torchkeras.saving.errors import ArchitectureError, ModelFileError, UnknownFormatError
from torchkeras.saving.hdf5 import group_in, members, reading
from torchkeras.saving.keras2 import read_config, read_optimizer
from torchkeras.saving.matching import Match, Report
from torchkeras.saving.origin import BACKENDS, Origin
from torchkeras.saving.places import filename, shown
from torchkeras.saving.training import modern_training, restore

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Taking:
    """How weights are taken from a file: the options of `load_weights`."""

    by_name: bool = False
    skip_mismatch: bool = False
    reshape: bool = False
    original_backend: str | None = None
    original_data_format: str | None = None

    def __post_init__(self) -> None:
        if self.skip_mismatch and not self.by_name:
            raise ValueError("load_weights: skip_mismatch goes with by_name=True.")
        for option, value, known in (
            ("original_backend", self.original_backend, BACKENDS),
            ("original_data_format", self.original_data_format, DATA_FORMATS),
        ):
            if value is not None and value not in known:
                raise ValueError(f"{option} must be one of {', '.join(map(repr, known))}, or None; found {value!r}.")


def load_weights(model: Network, path: PathLike, taking: Taking) -> Report:
    """Set a model's weights from a file of weights or of a whole model: all that match or, after an error, none."""
    with reading(path) as file:
        return _take(file, model, taking)[2]


def load_model(
    path: PathLike, custom_objects: Mapping[str, Any] | None, compiled: bool, taking: Taking
) -> tuple[Any, Report]:
    """A model with its weights and, if `compiled` and the file has it, its optimizer, losses and metrics."""
    with reading(path) as file:
        config = read_config(file, "model_config")
        if config is None:
            raise UnknownFormatError(
                f"{shown(path)}: there is no 'model_config' in it. A file of weights alone is read by "
                "`model.load_weights` of a model built by code."
            )
        model = _built(file, config, custom_objects)
        matches, origin, report = _take(file, model, taking, memory=partial(give_memory, model))
        training = read_config(file, "training_config") if compiled else None
        if training is not None:
            _compile(file, model, training, custom_objects)
            arrays = read_optimizer(file)
            if arrays:
                restore(model.optimizer, arrays, matches, model.trainable_weights, origin, filename(file))
    model.eval()
    return model, report


def _built(file: h5py.File, config: Any, custom_objects: Mapping[str, Any] | None) -> Any:
    """The model of a config, on `meta`."""
    try:
        with on_meta():
            model = model_from_config(config, custom_objects)
    except ModelFileError as error:
        raise type(error)(f"{filename(file)}: {error}") from error
    if not isinstance(model, Network):
        raise ArchitectureError(f"{filename(file)}: its architecture is a {type(model).__name__}, and no model.")
    return model


def _compile(file: h5py.File, model: Any, training: Any, custom_objects: Mapping[str, Any] | None) -> None:
    modern = modern_training(training, filename(file))
    try:
        model._compile_as(modern, custom_objects)
    except (ValueError, TypeError) as error:
        raise ArchitectureError(f"{filename(file)}: {error} Load it with compile=False to go without.") from error


def is_whole(file: h5py.File) -> bool:
    """Whether a file has the weights inside `model_weights`, as those of whole models have."""
    return "model_weights" in members(file) and hdf5.attribute(file, "layer_names") is None


def give_memory(model: Layer) -> None:
    """Allocate what was built on `meta`, innermost layers first, without drawing initial values."""
    for module in reversed(list(model.modules())):
        if isinstance(module, Layer):
            allocate(module, module._own_variables(), dtype_of(module.dtype))


def _take(
    file: h5py.File, model: Network, taking: Taking, memory: Callable[[], None] = lambda: None
) -> tuple[list[Match], Origin, Report]:
    """Match all weights, then `memory()`, then take their values."""
    whole = is_whole(file)
    group = group_in(file, "model_weights") if whole else file
    matches, origin = _matched(group, read_config(file, "model_config") if whole else None, model, taking)
    memory()
    layer_groups.follow_origin(group, model, matches, origin, taking.by_name)
    for found in matches:
        found.take()
    left = layer_groups.untaken(group, matches) if taking.by_name else ()
    return matches, origin, Report.of(filename(file), matches, model, left)


def _matched(group: h5py.Group, config: Any, model: Network, taking: Taking) -> tuple[list[Match], Origin]:
    origin = Origin.of(group, taking.original_backend)

    def attempt(data_format: str | None) -> list[Match]:
        made = replace(origin, data_format=data_format)
        if taking.by_name:
            return layer_groups.match_by_name(group, model, made, taking.skip_mismatch, taking.reshape)
        return layer_groups.match_in_order(group, model, made, taking.reshape)

    file, said = filename(group), taking.original_data_format
    told = orderings.of_config(config)
    if told is None and said is None and config is None and origin.generation == 1:
        told = orderings.by_kernels(file, attempt)
    data_format = orderings.agreed(file, said, told, orderings.of_model(model))
    return attempt(data_format), replace(origin, data_format=data_format)
