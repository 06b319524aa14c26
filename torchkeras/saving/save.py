"""Save weights and whole models, in the format of the suffix; a file appears whole or not at all."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchkeras.engine.fit.compile_options import own_training_config, training_config
from torchkeras.engine.layer.unseen import warn_of_unseen
from torchkeras.engine.layer.weight import is_wrapper
from torchkeras.processes import is_main
from torchkeras.rules import FLAG_OR_DIGIT, check, read_path
from torchkeras.saving.containers import json_text
from torchkeras.saving.containers.places import shown
from torchkeras.saving.formats import FORMATS, WEIGHTS, WHOLE, Format, check_name, named
from torchkeras.saving.frozen import KEY, frozen_alone
from torchkeras.saving.graph_config import KERAS_VERSION, layer_config
from torchkeras.saving.unsaveable import changed_by_hand, check_names, check_size, left_out, tied, unloadable, unwritten
from torchkeras.saving.weights.origin import SORTED
from torchkeras.saving.write.keras2_training import training_for_keras2
from torchkeras.shards import collected, shared_in

PathLike = str | os.PathLike[str]


def write_weights(model: Any, path: PathLike, overwrite: bool) -> None:
    """Write a model's weights. Raises FileExistsError for an existing file, unless `overwrite` is True."""
    read_path("save_weights", "filepath", path)
    check("save_weights", FLAG_OR_DIGIT, overwrite=overwrite)
    kind = WEIGHTS.get(check_name(path, WEIGHTS, "save_weights"), FORMATS[0])
    if _is_anothers(model):
        return
    _may_write(path, overwrite)
    _has_a_form(model, path, kind)
    with collected(_shared(model)) as writes:
        if writes and kind.tensors:
            named(kind.tensors).write(path, model)
        elif writes:
            named(kind.weights)(model, path)


def write_model(model: Any, path: PathLike, overwrite: bool, include_optimizer: bool) -> None:
    """Write a whole model. Raises FileExistsError for an existing file, unless `overwrite` is True."""
    read_path("save", "filepath", path)
    check("save", FLAG_OR_DIGIT, overwrite=overwrite, include_optimizer=include_optimizer)
    kind = WHOLE.get(check_name(path, WHOLE, "save"), FORMATS[0])
    if _is_anothers(model):
        return
    _may_write(path, overwrite)
    if kind.exporter:
        model.export(path)
        return
    _has_a_form(model, path, kind)
    for what in unloadable(model):
        warnings.warn(f"{path}: load_model will fail: {what}", stacklevel=3)
    for what in (*changed_by_hand(model), *tied(model)):
        warnings.warn(f"{path}: {what}, which the file does not hold.", stacklevel=3)
    include_optimizer = include_optimizer and model.optimizer is not None and _told(model, path)
    with collected(_shared(model, include_optimizer)) as writes:
        if writes and kind.tensors:
            _write_tensors(named(kind.tensors).write, model, path, include_optimizer)
        elif writes:
            named(kind.model)(model, path, include_optimizer)


def _is_anothers(model: Any) -> bool:
    """Whether another process writes the model: the main one, where several train replicas of it together."""
    together = getattr(model, "_processes", None) is not None and not shared_in(model.parameters())
    return together and not is_main()


def _shared(model: Any, include_optimizer: bool = False) -> list[tuple[Any, Any]]:
    """The tensors that processes share: the main one writes all, and needs them whole."""
    weights = shared_in(model.state_dict(keep_vars=True).values())
    state = getattr(model.optimizer, "shared_tensors", list) if include_optimizer and weights else list
    return [*weights, *state()]


def _told(model: Any, path: PathLike) -> bool:
    """Whether the file can hold how the model was compiled. Warns of what it cannot hold."""
    reason = unwritten(model)
    if reason is not None:
        warnings.warn(f"{path}: {reason}, so the model is saved without: compile it again after loading.", stacklevel=4)
    for what in left_out(model):
        warnings.warn(f"{path}: {what} are not in the file: give them again after loading.", stacklevel=4)
    return reason is None


def _write_tensors(write: Callable[..., None], model: Any, path: PathLike, include_optimizer: bool) -> None:
    about: dict[str, Any] = {"keras_version": KERAS_VERSION, SORTED: True, "model_config": layer_config(model)}
    frozen = frozen_alone(model)
    about |= {KEY: frozen} if frozen else {}
    if include_optimizer:
        about["training_config"], _ = training_for_keras2(
            training_config(model, True), own_training_config(model, True)
        )
        if model.optimizer.iterations:
            warnings.warn(
                f"{path}: the optimizer's options are in the file, but not its state: to go on training from where it "
                "is, save as .h5 or .keras.",
                stacklevel=4,
            )
    write(path, model, json_text.written(about, shown(path)))


def _may_write(path: PathLike, overwrite: bool) -> None:
    if not overwrite and Path(path).exists():
        raise FileExistsError(f"{path}: the file exists already, and overwrite is False.")


def _has_a_form(model: Any, path: PathLike, kind: Format) -> None:
    """Raise ValueError for what no file holds, TypeError for a weight, such as a quantized one, that has no form.

    Warns of tensors that are no weights though they look it.
    """
    warn_of_unseen(model, str(path), stacklevel=4)
    check_size(model, path)
    check_names(model, path)
    for name, tensor in model.state_dict(keep_vars=True).items():
        if is_wrapper(tensor):
            raise TypeError(
                f"{path}: {name!r} has the type {type(tensor).__name__}, which such a file cannot hold: save it with "
                "torch.save(model.state_dict(), path), or save the model before it is quantized."
            )
        if tensor.is_complex() and not kind.tensors:
            raise TypeError(f"{path}: {name!r} is complex, which no file of Keras holds: save as .safetensors or .pt.")
