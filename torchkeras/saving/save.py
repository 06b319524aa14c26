"""Save weights and whole models, in the format of the suffix; a file appears whole or not at all."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from torchkeras.engine.fit.compile_options import own_training_config, training_config
from torchkeras.engine.layer.weight import is_wrapper
from torchkeras.saving import formats
from torchkeras.saving.containers import archive
from torchkeras.saving.containers.hdf5 import writing
from torchkeras.saving.graph_config import KERAS_VERSION, layer_config
from torchkeras.saving.model_file import OWN, STRUCTURE
from torchkeras.saving.optimizer.keras3_order import write_optimizer
from torchkeras.saving.optimizer.state import scale_arrays, state_arrays
from torchkeras.saving.unsaveable import left_out, unwritten
from torchkeras.saving.weights import layer_groups, paths, safetensors, state
from torchkeras.saving.write import keras2
from torchkeras.saving.write.keras2_training import training_for_keras2
from torchkeras.saving.write.keras3_writing import KERAS3_VERSION, keras3_config

PathLike = str | os.PathLike[str]


def write_weights(model: Any, path: PathLike, overwrite: bool) -> None:
    """Write a model's weights. Raises FileExistsError for an existing file, unless `overwrite` is True."""
    suffix = formats.suffix_of(path, formats.WEIGHTS, "save_weights")
    _may_write(path, overwrite)
    _has_a_form(model, path)
    WEIGHTS.get(suffix, _groups)(model, path)


def _paths(model: Any, path: PathLike) -> None:
    with writing(path) as file:
        paths.write(file, model)


def _groups(model: Any, path: PathLike) -> None:
    with writing(path) as file:
        layer_groups.write_weights(file, model)


# By suffix; all others are `_groups`.
WEIGHTS: Mapping[str, Callable[[Any, PathLike], None]] = {
    ".weights.h5": _paths,
    ".safetensors": lambda model, path: safetensors.write(path, model),
    ".pt": lambda model, path: state.write(path, model),
    ".pth": lambda model, path: state.write(path, model),
}


def write_model(model: Any, path: PathLike, overwrite: bool, include_optimizer: bool) -> None:
    """Write a whole model. Raises FileExistsError for an existing file, unless `overwrite` is True."""
    suffix = formats.suffix_of(path, formats.WHOLE, "save")
    _may_write(path, overwrite)
    if suffix in formats.EXPORTED:
        model.export(path)
        return
    _has_a_form(model, path)
    include_optimizer = include_optimizer and model.optimizer is not None and _told(model, path)
    MODELS.get(suffix, _write_hdf5)(model, path, include_optimizer)


def _write_hdf5(model: Any, path: PathLike, include_optimizer: bool) -> None:
    training = _training_for_keras2(model, path) if include_optimizer else None
    with writing(path) as file:
        keras2.write_model(file, model, layer_config(model), training)
        if training is not None:
            arrays = [*state_arrays(model.optimizer), *scale_arrays(model)] if model._compiled_model is not None else []
            keras2.write_optimizer(file, arrays)


def _told(model: Any, path: PathLike) -> bool:
    """Whether the file can hold how the model was compiled. Warns of what it cannot hold."""
    reason = unwritten(model)
    if reason is not None:
        warnings.warn(f"{path}: {reason}, so the model is saved without: compile it again after loading.", stacklevel=4)
    for what in left_out(model):
        warnings.warn(f"{path}: {what} are not in the file: give them again after loading.", stacklevel=4)
    return reason is None


def _training_for_keras2(model: Any, path: PathLike) -> Any:
    training, unknown = training_for_keras2(training_config(model), own_training_config(model))
    if unknown:
        warnings.warn(
            f"{path}: Keras 2.2.4 has no {', '.join(sorted(set(unknown)))}, and reads the model with compile=False "
            "alone; torchkeras reads all of it.",
            stacklevel=5,
        )
    return training


def _write_archive(model: Any, path: PathLike, include_optimizer: bool) -> None:
    def write(file: Any) -> None:
        paths.write(file, model)
        if include_optimizer:
            write_optimizer(file, model)

    metadata: dict[str, Any] = {"keras_version": KERAS3_VERSION, "date_saved": f"{datetime.now():%Y-%m-%d@%H:%M:%S}"}
    if include_optimizer:
        metadata[OWN] = own_training_config(model)  # Keras does not read it
    if (model._input_form, model._output_form) != (None, None):
        metadata[STRUCTURE] = True
    archive.write(path, keras3_config(model, include_optimizer), metadata, write)


def _write_state(write: Callable[..., None]) -> Callable[[Any, PathLike, bool], None]:
    def write_model(model: Any, path: PathLike, include_optimizer: bool) -> None:
        about: dict[str, Any] = {"keras_version": KERAS_VERSION, "model_config": layer_config(model)}
        if include_optimizer:
            about["training_config"], _ = training_for_keras2(training_config(model), own_training_config(model))
            if model.optimizer.iterations:
                warnings.warn(
                    f"{path}: the optimizer's options are in the file, but not its state: to go on training from where "
                    "it is, save as .h5 or .keras.",
                    stacklevel=4,
                )
        write(path, model, json.dumps(about))

    return write_model


# By suffix; all others, except the exported ones, are `_write_hdf5`.
MODELS: Mapping[str, Callable[[Any, PathLike, bool], None]] = {
    ".keras": _write_archive,
    ".safetensors": _write_state(safetensors.write),
    ".pt": _write_state(state.write),
    ".pth": _write_state(state.write),
}


def _may_write(path: PathLike, overwrite: bool) -> None:
    if not overwrite and Path(path).exists():
        raise FileExistsError(f"{path}: the file exists already, and overwrite is False.")


def _has_a_form(model: Any, path: PathLike) -> None:
    """Raise TypeError for a weight that is not a plain tensor, such as a quantized one."""
    for name, tensor in model.state_dict().items():
        if is_wrapper(tensor):
            raise TypeError(
                f"{path}: {name!r} has the type {type(tensor).__name__}, which such a file cannot hold: save it with "
                "torch.save(model.state_dict(), path), or save the model before it is quantized."
            )
