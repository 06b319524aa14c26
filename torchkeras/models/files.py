"""Models to and from files and texts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from torchkeras.base import bytecode
from torchkeras.base.rules import CUSTOM_OBJECTS, FLAG_OR_DIGIT, check, read_path
from torchkeras.models.model import Model
from torchkeras.saving import load
from torchkeras.saving.containers import json_text, yaml_text
from torchkeras.saving.dialects import modern
from torchkeras.saving.graph_config import model_from_config
from torchkeras.saving.load import Taking


def save_model(
    model: Model, filepath: str | os.PathLike[str], overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Write the whole model to a file: `model.save(...)`.

    Arguments:
        model (model): the model.
        filepath (path): the file. Its suffix says how it is written: `.keras` as Keras 3 does, `.safetensors` and
            `.pt` for torch, `.h5` and other names as Keras 2.2.4 does; docs/files.md has a table of all.
        overwrite (bool, default True): whether an existing file is replaced.
        include_optimizer (bool, default True): whether optimizer, losses and metrics are written.

    Errors:
        FileExistsError: the file is there, and `overwrite` is False.
        TypeError: `model` is no model, or `filepath` no path.
        ValueError: the format cannot hold the model; the error says which format can.

    Example:
        >>> save_model(Sequential([Dense(2, input_shape=(4,))]), "model.h5")

    Source: https://keras.io/api/models/model_saving_apis/
    """
    if not isinstance(model, Model):
        raise TypeError(f"save_model: model must be a model of torchkeras; found {type(model).__name__}.")
    model.save(filepath, overwrite, include_optimizer)


def model_from_json(
    json_string: str, custom_objects: Mapping[str, Any] | None = None, lambdas: str = bytecode.READ
) -> Any:
    """A new model, with fresh weights, from the JSON that `to_json` of any Keras wrote.

    Arguments:
        json_string (text): the JSON.
        custom_objects (dict or None, default None): your own classes and functions by name.
        lambdas (text, default "read"): what to do with functions that the text holds as bytecode and that
            `custom_objects` does not replace: "read" accepts those that are formulas, without running them; "refuse"
            accepts none.

    Returns:
        The model, not compiled.

    Errors:
        TypeError: `json_string` is no text.
        ValueError: `custom_objects` is no dictionary, or a path is given.
        UnreadableFileError: the text is no JSON.
        ArchitectureError: the architecture cannot be built; further errors are those of `model_from_config`.

    Example:
        >>> text = Sequential([Dense(2, input_shape=(4,))]).to_json()
        >>> model_from_json(text).output_shape
        (None, 2)

    Source: https://keras.io/api/models/model_saving_apis/
    """
    _check_text("model_from_json", json_string, custom_objects)
    return _from_text(json_text.parse(json_string, "The architecture"), custom_objects, lambdas)


def model_from_yaml(
    yaml_string: str, custom_objects: Mapping[str, Any] | None = None, lambdas: str = bytecode.READ
) -> Any:
    """A new model, with fresh weights, from the YAML that `to_yaml` wrote. Tags of YAML are not followed.

    Arguments:
        yaml_string (text): the YAML.
        custom_objects (dict or None, default None): your own classes and functions by name.
        lambdas (text, default "read"): what to do with functions that the text holds as bytecode and that
            `custom_objects` does not replace: "read" accepts those that are formulas, without running them; "refuse"
            accepts none.

    Returns:
        The model, not compiled.

    Errors:
        ImportError: the package PyYAML is missing: `pip install torchkeras-graph[yaml]`.
        TypeError: `yaml_string` is no text.
        ValueError: `custom_objects` is no dictionary, or a path is given.
        UnreadableFileError: the text is no YAML.
        ArchitectureError: the architecture cannot be built; further errors are those of `model_from_config`.

    Example:
        >>> text = Sequential([Dense(2, input_shape=(4,))]).to_yaml()
        >>> model_from_yaml(text).output_shape
        (None, 2)

    Source: Keras 2.2.4, https://github.com/keras-team/keras/blob/2.2.4/keras/engine/saving.py
    """
    _check_text("model_from_yaml", yaml_string, custom_objects)
    return _from_text(yaml_text.parse(yaml_string), custom_objects, lambdas)


def _check_text(function: str, text: Any, custom_objects: Any) -> None:
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"{function}: the architecture must be a string; found {type(text).__name__}.")
    if isinstance(text, str) and text.endswith((".json", ".yaml", ".yml")):
        raise ValueError(f"{function} takes the text of an architecture; found a path. Give open({text!r}).read().")
    check(function, CUSTOM_OBJECTS, custom_objects=custom_objects)


def _from_text(config: Any, custom_objects: Mapping[str, Any] | None, lambdas: str) -> Any:
    found = modern.of_config(config, custom_objects=custom_objects, lambdas=lambdas)
    return model_from_config(found, custom_objects, lambdas)


def load_model(
    filepath: str | os.PathLike[str],
    custom_objects: Mapping[str, Any] | None = None,
    compile: bool = True,
    original_backend: str | None = None,
    original_data_format: str | None = None,
    report: bool = False,
    isolated: bool = False,
    lambdas: str = bytecode.READ,
    strict: bool = True,
    mmap: bool = False,
) -> Any:
    """A model from a file of any Keras: architecture, weights, optimizer, losses and metrics.

    The model is in evaluation mode. Nothing in the file is run.

    Arguments:
        filepath (path): the file.
        custom_objects (dict or None, default None): your own classes and functions by name.
        compile (bool, default True): whether the model is compiled as the file says, if it says so.
        original_backend (text or None, default None): the backend on which a model of Keras 1 was trained, such as
            "theano", where its file does not say so.
        original_data_format (text or None, default None): "channels_last" or "channels_first", the data format of the
            weights, where the file does not say so.
        report (bool, default False): whether to return a report on each weight too.
        isolated (bool, default False): whether another process, with limits of time and memory, reads the file.
        lambdas (text, default "read"): what to do with functions that the file holds as bytecode and that
            `custom_objects` does not replace: "read" accepts those that are formulas, without running them; "refuse"
            accepts none.
        strict (bool, default True): whether signs of damage in an HDF5 file, which edits may leave too, are an error;
            otherwise they are a warning.
        mmap (bool, default False): whether the weights of a `.safetensors` or `.pt` file stay in the file, as with
            `torch.load(mmap=True)`: a page is read when it is first used, and processes share it. Training changes
            copies in memory, never the file. Do not let another program write into the file while the model lives:
            its weights would change. `save` is safe, since it puts a new file in its place. Checksums of `.pt` are not
            compared. Weights for another device, or of another type than in the file, are copied as usual.

    Returns:
        The model; with `report` a pair of the model and a `Report`.

    Errors:
        FileNotFoundError: there is no such file.
        TypeError: `filepath` is no path.
        ValueError: another argument has a bad value.
        ModelFileError: the file cannot be read, or the model cannot be built.

    Example:
        >>> Sequential([Dense(2, input_shape=(4,))]).save("model.h5")
        >>> load_model("model.h5").output_shape
        (None, 2)

    Source: https://keras.io/api/models/model_saving_apis/
    """
    read_path("load_model", "filepath", filepath)
    check("load_model", CUSTOM_OBJECTS, custom_objects=custom_objects)
    check("load_model", FLAG_OR_DIGIT, compile=compile, report=report, isolated=isolated, strict=strict, mmap=mmap)
    if mmap and isolated:
        raise ValueError(
            "load_model: isolated=True reads a checked copy of the file, so mmap=True cannot map it; choose one."
        )
    taking = Taking(
        original_backend=original_backend,
        original_data_format=original_data_format,
        strict=strict,
        report=bool(report),
        mmap=bool(mmap),
    )
    model, found = load.load_model(filepath, custom_objects, compile, taking, isolated, lambdas)
    return (model, found) if report else model
