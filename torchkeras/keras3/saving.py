"""`keras.saving` of Keras 3.15: models and weights to and from files, objects to and from plain data."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from torchkeras import models, registry
from torchkeras.base import bytecode
from torchkeras.engine.fit.training import training_of
from torchkeras.keras3 import config, dialect, feature_space
from torchkeras.keras3.file_editor import KerasFileEditor
from torchkeras.keras3.serialization import (
    CustomObjectScope,
    before_registered,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from torchkeras.keras3.stored_model import HUB

__all__ = [
    "CustomObjectScope",
    "KerasFileEditor",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_custom_objects",
    "get_registered_name",
    "get_registered_object",
    "load_model",
    "load_weights",
    "register_keras_serializable",
    "save_model",
    "save_weights",
    "serialize_keras_object",
]

NUMERICS = "keras-3"
Path = str | os.PathLike[str]


def load_model(
    filepath: Path, custom_objects: Mapping[str, Any] | None = None, compile: bool = True, safe_mode: bool = True
) -> Any:
    """A model from a file of any Keras: architecture, weights, optimizer, losses and metrics; or a `FeatureSpace`.

    Nothing in the file is run. Classes and functions of your own are those registered and `custom_objects`.

    Arguments:
        filepath (path): the file, or a folder that was saved with `zipped=False`.
        custom_objects (dict or None, default None): your own classes and functions by name.
        compile (bool, default True): whether the model is compiled as the file says, if it says so.
        safe_mode (bool, default True): whether functions stored as bytecode are refused. With False those that are
            formulas are read, without running them.

    Errors:
        FileNotFoundError: there is no such file.
        ModelFileError: the file cannot be read, or the model cannot be built.
        ValueError: a layer of your own stores its weights in a way of its own, for which the file has no place; or the
            path begins with `hf://`.

    Source: https://keras.io/api/models/model_saving_apis/model_saving_and_loading/
    """
    if str(filepath).startswith(HUB):
        raise ValueError(
            f"{filepath}: load_model reads nothing from Hugging Face: download the model's folder by "
            "huggingface_hub.snapshot_download, and load that."
        )
    if feature_space.is_stored(filepath):
        with registry.custom_object_scope(before_registered(custom_objects)):
            return feature_space.load(filepath)
    lambdas = bytecode.REFUSE if config.in_safe_mode(safe_mode) else bytecode.READ
    with registry.custom_object_scope(before_registered(custom_objects)), dialect.known_anew(written=True):
        model = models.load_model(filepath, None, compile, lambdas=lambdas)
    training = training_of(model)
    if training.is_compiled and training.options.numerics == "tensorflow":  # the same numbers, under Keras 3's names
        training.change("numerics", NUMERICS)
    return model


def save_model(model: Any, filepath: Path, overwrite: bool = True, zipped: bool | None = None, **further: Any) -> None:
    """Write the whole model to a file: `model.save(...)`.

    Arguments:
        model (model): the model.
        filepath (path): the file; its suffix says how it is written, `.keras` as Keras 3 does.
        overwrite (bool, default True): whether a file that is there is replaced.
        zipped (bool or None, default None): False for a folder of what a `.keras` archive has. None is True.
        further (any): `include_optimizer`.

    Errors:
        FileExistsError: the file is there, and `overwrite` is False.
        ValueError: the format has no form for the model.

    Source: https://keras.io/api/models/model_saving_apis/model_saving_and_loading/
    """
    model.save(filepath, overwrite=overwrite, zipped=zipped, **further)


def save_weights(
    model: Any, filepath: Path, overwrite: bool = True, max_shard_size: float | None = None, **further: Any
) -> None:
    """Write the weights to a file: `model.save_weights(...)`.

    Arguments:
        model (model): the model.
        filepath (path): the file; its suffix says how it is written, `.weights.h5` as Keras 3 does.
        overwrite (bool, default True): whether a file that is there is replaced.
        max_shard_size (positive number or None, default None): the GB of weights in a file, at most, of several that
            `filepath`, the index, lists: it ends in `.weights.json`. None for all weights in one file.
        further (any): `objects_to_skip`, a list of layers that are not written.

    Errors:
        FileExistsError: the file is there, and `overwrite` is False.
        ValueError: `max_shard_size` is no positive number, less than a weight takes, or missing for an index.

    Source: https://keras.io/api/models/model_saving_apis/weights_saving_and_loading/
    """
    model.save_weights(filepath, overwrite=overwrite, max_shard_size=max_shard_size, **further)


def load_weights(model: Any, filepath: Path, skip_mismatch: bool = False, **further: Any) -> None:
    """Set the weights from a file of weights, or of a whole model: `model.load_weights(...)`.

    Arguments:
        model (model): the model.
        filepath (path): the file.
        skip_mismatch (bool, default False): whether layers whose weights have other shapes, or are not in the file,
            are left alone, with a warning for each.
        further (any): `objects_to_skip`, a list of layers that stay as they are; `by_name` and other options of
            `torchkeras.Model.load_weights`.

    Errors:
        ModelFileError: the file cannot be read, or its weights are not those of the model.

    Source: https://keras.io/api/models/model_saving_apis/weights_saving_and_loading/
    """
    model.load_weights(filepath, skip_mismatch=skip_mismatch, **further)


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """A new model, with fresh weights, from the text that `to_json` of any Keras wrote.

    Arguments:
        json_string (text): the JSON.
        custom_objects (dict or None, default None): your own classes and functions by name.

    Errors:
        TypeError: `json_string` is no text.
        ModelFileError: the text is no JSON, or its architecture cannot be built.

    Source: https://keras.io/api/models/model_saving_apis/model_config_serialization/
    """
    found = json.loads(json_string) if isinstance(json_string, (str, bytes)) and "module" in str(json_string) else None
    if isinstance(found, dict) and "module" in found:
        return deserialize_keras_object(found, custom_objects)
    with registry.custom_object_scope(before_registered(custom_objects)), dialect.known_anew(written=True):
        return models.model_from_json(json_string, None)
