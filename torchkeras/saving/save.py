"""Save weights and whole models, in the format of the suffix; a file appears whole or not at all."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from torchkeras.base.python import collector_resting
from torchkeras.base.rules import FLAG_OR_DIGIT, check, is_number, read_path, rule
from torchkeras.engine.graph.network import Network
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.step.optimizer_reach import warn_of_unseen
from torchkeras.engine.weights.weight import is_wrapper
from torchkeras.errors import ModelFileError
from torchkeras.saving.containers import json_text, shards
from torchkeras.saving.containers.limits import GIB
from torchkeras.saving.containers.open_file import shown
from torchkeras.saving.extra_keys import extra_facts
from torchkeras.saving.formats import FORMATS, WEIGHTS, WHOLE, Format, check_name, named, suffix_of
from torchkeras.saving.graph_config import KERAS_VERSION, layer_config
from torchkeras.saving.model_file import STATE
from torchkeras.saving.optimizer.by_name import state_by_name
from torchkeras.saving.optimizer.state import bound_for_file
from torchkeras.saving.own_assets import check_form
from torchkeras.saving.training_config import own_training_config, training_config
from torchkeras.saving.unsaveable import changed_by_hand, check_names, check_size, left_out, unloadable, unwritten
from torchkeras.saving.weights.either_backend import warn_of_torch
from torchkeras.saving.weights.origin import SORTED
from torchkeras.saving.write.keras2_training import training_for_keras2
from torchkeras.world.one_process import sharing

if TYPE_CHECKING:
    from torchkeras.models.model import Model

PathLike = str | os.PathLike[str]

SHARD_SIZE = rule("must be a positive number, of GB", lambda v: is_number(v) and v > 0, float)


def write_weights(model: Model, path: PathLike, overwrite: bool, skipped: Sequence[Layer] = ()) -> None:
    """Write a model's weights, without those of the layers in `skipped`.

    Raises FileExistsError for an existing file, unless `overwrite` is True; ValueError if the format cannot skip.
    """
    read_path("save_weights", "filepath", path)
    check("save_weights", FLAG_OR_DIGIT, overwrite=overwrite)
    kind = WEIGHTS.get(check_name(path, WEIGHTS, "save_weights"), FORMATS[0])
    if _is_anothers(model):
        return
    _may_write(path, overwrite)
    if skipped and not kind.by_paths:
        raise ValueError(f"{path}: only .weights.h5 can leave out layers; found the skipped {skipped[0].name!r}.")
    _has_a_form(model, path, kind, weights_only=True)
    if not kind.tensors:
        warn_of_torch(model, path)
    with sharing().collected(_shared(model)) as writes:
        if writes and kind.tensors:
            named(kind.tensors).write(path, model)
        elif writes:
            named(kind.weights)(model, path, *([skipped] if skipped else []))


def write_shards(
    model: Model, path: PathLike, overwrite: bool, skipped: Sequence[Layer] = (), *, max_shard_size: float
) -> None:
    """Write a model's weights as Keras 3 does in several files, `model_00000.weights.h5`, and an index of them.

    `path`: the index, which ends in `.weights.json`. `max_shard_size`: the GB of weights in a file, at most.

    Raises FileExistsError for an existing index or first file, unless `overwrite` is True; ValueError for another name.
    """
    read_path("save_weights", "filepath", path)
    check("save_weights", FLAG_OR_DIGIT, overwrite=overwrite)
    check("save_weights", SHARD_SIZE, max_shard_size=max_shard_size)
    if not Path(path).name.endswith(".weights.json"):
        raise ValueError(f"{path}: save_weights with max_shard_size writes an index, which ends in .weights.json.")
    if _is_anothers(model):
        return
    for each in (Path(path), Path(path).with_name(shards.shard_name(path, 0))):
        _may_write(each, overwrite)
    _has_a_form(model, path, WEIGHTS[".weights.h5"], weights_only=True)
    warn_of_torch(model, path)
    with sharing().collected(_shared(model)) as writes:
        if writes:
            named("saving.write.files:write_shards")(model, path, skipped, max_shard_size * GIB)


def write_model(model: Model, path: PathLike, overwrite: bool, include_optimizer: bool, zipped: bool = True) -> None:
    """Write a whole model. `zipped`: False for a folder of what the `.keras` archive has.

    Raises FileExistsError for an existing file, unless `overwrite` is True; ValueError for a folder called `.keras`.
    """
    read_path("save", "filepath", path)
    check("save", FLAG_OR_DIGIT, overwrite=overwrite, include_optimizer=include_optimizer)
    if not zipped and str(path).lower().endswith(".keras"):
        raise ValueError(f"{path}: save with zipped=False writes a folder, whose name must not end in .keras.")
    kind = WHOLE.get(check_name(path, WHOLE, "save"), FORMATS[0]) if zipped else WHOLE[".keras"]
    if _is_anothers(model):
        return
    _may_write(path, overwrite)
    if kind.exporter:
        model.export(path)
        return
    with collector_resting():
        _has_a_form(model, path, kind, weights_only=False)
        if kind is WHOLE[".keras"]:  # whose config `get_config`, which warns, does not make
            networks: list[Any] = [module for module in model.modules() if isinstance(module, Network)]
            for network in networks:
                network._warn_of_lost(stacklevel=5)
        for what in unloadable(model):
            warnings.warn(f"{path}: load_model will fail: {what}", stacklevel=3)
        for what in changed_by_hand(model):
            warnings.warn(f"{path}: {what}, which the file does not hold.", stacklevel=3)
        include_optimizer = include_optimizer and model.optimizer is not None and _told(model, path)
        with sharing().collected(_shared(model, include_optimizer)) as writes:
            if writes and kind.tensors:
                _write_tensors(named(kind.tensors).write, model, path, include_optimizer)
            elif writes:
                named(kind.model if zipped else "saving.write.files:write_folder")(model, path, include_optimizer)


def check_saving(model: Model, path: PathLike, weights_only: bool, who: str) -> None:
    """Raise ValueError, in the name of `who`, if `save` or `save_weights` would refuse the model; writes nothing.

    The error says what can be saved in its place. A model without weights yet is not looked at.
    """
    formats = WEIGHTS if weights_only else WHOLE
    kind = formats.get(suffix_of(path, formats), FORMATS[0])
    if kind.exporter or not model.built:
        return
    problem = _problem(model, path, kind, weights_only)
    if problem is None:
        return
    method = "save_weights" if weights_only else "save"
    instead = _instead_of(kind, model, path, weights_only)
    text = f"{who}: {method} will fail, so it is said before the first epoch: {problem}"
    raise ValueError(f"{text} {instead}".rstrip()) from problem


def _instead_of(kind: Format, model: Model, path: PathLike, weights_only: bool) -> str:
    """What can be saved of a model that a format cannot hold, as a sentence; "" for nothing."""
    for other in FORMATS:
        is_able = other.weights or other.tensors if weights_only else other.whole
        if other is kind or other.exporter or not is_able:
            continue
        if _problem(model, path, other, weights_only) is None:
            return f"A file that ends in {other.suffixes[0]} can hold it."
    if not weights_only and _problem(model, path, FORMATS[0], True) is None:
        return "Its weights can be saved: save_weights_only=True."
    return ""


def _problem(model: Model, path: PathLike, kind: Format, weights_only: bool) -> Exception | None:
    """What writing a model in a format would raise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they come when the file is written
        try:
            _has_a_form(model, path, kind, weights_only)
            if not weights_only:
                include_optimizer = model.optimizer is not None and unwritten(model) is None
                json_text.written(named(kind.form)(model, include_optimizer), shown(path))
        except (ValueError, TypeError, NotImplementedError, AttributeError, ModelFileError) as error:
            return error
    return None


def _is_anothers(model: Model) -> bool:
    """Whether another process writes the model: the main one, where several train replicas of it together."""
    training = getattr(model, "_training", None)
    return training is not None and not training.processes.writes_files_of(model)


def _shared(model: Model, include_optimizer: bool = False) -> list[tuple[Any, Any]]:
    """The tensors that processes share: the main one writes all, and needs them whole."""
    weights = sharing().shared_in(model.state_dict(keep_vars=True).values())
    state = getattr(model.optimizer, "shared_tensors", list) if include_optimizer and weights else list
    return [*weights, *state()]


def _told(model: Model, path: PathLike) -> bool:
    """Whether the file can hold how the model was compiled. Warns of what it cannot hold."""
    reason = unwritten(model)
    if reason is not None:
        warnings.warn(f"{path}: {reason}, so the model is saved without: compile it again after loading.", stacklevel=4)
    for what in left_out(model):
        warnings.warn(f"{path}: {what} are not in the file: give them again after loading.", stacklevel=4)
    return reason is None


def _write_tensors(write: Callable[..., None], model: Model, path: PathLike, include_optimizer: bool) -> None:
    about: dict[str, Any] = {"keras_version": KERAS_VERSION, SORTED: True, "model_config": layer_config(model)}
    about |= extra_facts(model)
    tensors: Mapping[str, Tensor] = {}
    if include_optimizer:
        about["training_config"], _ = training_for_keras2(
            training_config(model, True), own_training_config(model, True)
        )
        tensors, about[STATE] = state_by_name(model, bound_for_file(model, path))
    write(path, model, json_text.written(about, shown(path)), tensors)


def _may_write(path: PathLike, overwrite: bool) -> None:
    if not overwrite and Path(path).exists():
        raise FileExistsError(f"{path}: the file exists already, and overwrite is False.")


def _has_a_form(model: Model, path: PathLike, kind: Format, weights_only: bool) -> None:
    """Raise ValueError for what no such file holds, TypeError for a weight, such as a quantized one, that has no form.

    Warns of tensors that are no weights though they look it.
    """
    warn_of_unseen(model, str(path), stacklevel=4)
    check_size(model, path)
    check_names(model, path)
    check_form(model, path, holds_assets=".keras" in kind.suffixes or weights_only, holds_values=kind.by_paths)
    for name, tensor in model.state_dict(keep_vars=True).items():
        if is_wrapper(tensor):
            raise TypeError(
                f"{path}: {name!r} has the type {type(tensor).__name__}, which such a file cannot hold: save it with "
                "torch.save(model.state_dict(), path), or save the model before it is quantized."
            )
        if tensor.is_complex() and not kind.tensors:
            raise TypeError(f"{path}: {name!r} is complex, which no file of Keras holds: save as .safetensors or .pt.")
