"""The architecture of any file in today's form: find out which Keras wrote it, and translate it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import h5py

from torchkeras import bytecode, registry
from torchkeras.saving.config_checks import building, check_entry, check_model
from torchkeras.saving.dialects import keras0, keras1, keras3, tf_keras
from torchkeras.saving.dialects.class_names import as_meant
from torchkeras.saving.dialects.dialect import KERAS1, KERAS2, KERAS3, TF_KERAS, dialect
from torchkeras.saving.model_file import GROUPS, ModelFile
from torchkeras.saving.weights.layer_groups import stored_layers
from torchkeras.saving.weights.origin import backend_by_names

Custom = Mapping[str, Any] | None


def of_source(
    source: ModelFile,
    backend: str | None = None,
    data_format: str | None = None,
    custom_objects: Custom = None,
    lambdas: str = bytecode.READ,
) -> Any:
    """The architecture of an open file. `backend`, `data_format`: from the caller, if the file does not say them.

    `lambdas`: what is done with functions that are bytecode.

    Warns if a file of Keras 1 leaves something open and Keras 1's own choice is taken. Raises ArchitectureError,
    ForbiddenContentError, UnknownFormatError.
    """
    kind = _kind(source.config, source.version, source.backend)
    config = _as_read(source.config, kind, custom_objects, lambdas)
    if kind != KERAS1:
        return _todays(config, kind)
    stored = _stored(source.weights) if source.layout == GROUPS else {}
    found = backend_by_names(source.weights) if source.layout == GROUPS else None
    with building():
        made = keras1.modern_config(config, stored, found or backend, data_format, custom_objects)
        doubts = keras1.doubts(config, data_format)
    for doubt in doubts:
        warnings.warn(f"{source.name}: {doubt}", stacklevel=6)
    return made


def of_config(
    config: Any,
    version: str | None = None,
    backend: str | None = None,
    custom_objects: Custom = None,
    lambdas: str = bytecode.READ,
) -> Any:
    """The same for an architecture alone, from JSON or YAML."""
    kind = _kind(config, version, backend)
    return _todays(_as_read(config, kind, custom_objects, lambdas), kind, backend, custom_objects)


def _as_read(config: Any, kind: str, custom_objects: Custom, lambdas: str) -> Any:
    """A config with formulas in the place of bytecode, in which every name is one that the file's Keras had."""
    known = {**registry.get_custom_objects(), **(custom_objects or {})}
    return as_meant(bytecode.read(config, known, lambdas), kind, known)


def _todays(config: Any, kind: str, backend: str | None = None, custom_objects: Custom = None) -> Any:
    with building():
        if kind == KERAS1:
            return keras1.modern_config(config, {}, backend, None, custom_objects)
        return _TRANSLATED[kind](config)


_TRANSLATED = {KERAS2: lambda config: config, TF_KERAS: tf_keras.modern_config, KERAS3: keras3.modern_config}


def dialect_of(source: ModelFile) -> str:
    """Which Keras wrote a file."""
    return _kind(source.config, source.version, source.backend)


def _kind(config: Any, version: str | None, backend: str | None) -> str:
    check_model(config)
    if keras0.is_config(config):
        return KERAS1
    check_entry(config)
    return dialect(config, version or None, backend or None)


def _stored(group: h5py.Group) -> dict[str, list[tuple[str, tuple[int, ...]]]]:
    """The names and shapes of each layer's arrays."""
    return {name: [(source.name, source.shape) for source in found] for name, found in stored_layers(group).items()}
