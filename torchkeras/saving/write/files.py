"""Files in the formats of Keras: whole models, and weights alone."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

from torchkeras.saving.containers import archive, json_text, shards, unzipped
from torchkeras.saving.containers.hdf5 import writing
from torchkeras.saving.extra_keys import extra_facts, with_extra_keys
from torchkeras.saving.graph_config import layer_config
from torchkeras.saving.model_file import OWN
from torchkeras.saving.optimizer.keras3_order import write_optimizer
from torchkeras.saving.optimizer.state import bound_for_file, own_arrays, scale_arrays, state_arrays
from torchkeras.saving.own_assets import write_assets
from torchkeras.saving.training_config import own_training_config, training_config
from torchkeras.saving.weights import layer_groups, paths
from torchkeras.saving.weights.origin import SORTED
from torchkeras.saving.write import keras2
from torchkeras.saving.write.keras2_training import training_for_keras2
from torchkeras.saving.write.keras3_writing import KERAS3_VERSION, keras3_form

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer
    from torchkeras.models.model import Model

PathLike = str | os.PathLike[str]


def write_groups(model: Model, path: PathLike) -> None:
    """Weights as HDF5, a group for each layer, as Keras 2 writes them."""
    with writing(path) as file:
        layer_groups.write_weights(file, model)


def write_paths(model: Model, path: PathLike, skipped: Sequence[Layer] = ()) -> None:
    """Weights as HDF5 by paths, as Keras 3 writes them, without those of the layers in `skipped`."""
    with writing(path) as file:
        file.attrs[OWN] = file.attrs[SORTED] = True  # who wrote it, and how; Keras does not read it
        paths.write(file, model, skipped)


def write_shards(model: Model, path: PathLike, skipped: Sequence[Layer], most: float) -> None:
    """The same in several files of at most `most` bytes of weights, and an index of them."""
    with shards.writing(path, most, {OWN: True, SORTED: True}) as root:
        paths.write(root, model, skipped)


def write_hdf5(model: Model, path: PathLike, include_optimizer: bool) -> None:
    """A model as HDF5, as Keras 2.2.4 writes it. Warns of what Keras 2.2.4 could not read."""
    training = _training_for_keras2(model, path) if include_optimizer else None
    with writing(path) as file:
        keras2.write_model(file, model, with_extra_keys(layer_config(model)), training)
        for key, value in extra_facts(model).items():
            file.attrs[key] = json_text.written(value, f"attribute {key!r}").encode("utf-8")
        if training is not None:
            optimizer = bound_for_file(model, path)
            keras2.write_optimizer(file, state_arrays(optimizer), [*own_arrays(optimizer), *scale_arrays(model)])


def _training_for_keras2(model: Model, path: PathLike) -> Any:
    training, unknown = training_for_keras2(training_config(model, True), own_training_config(model, True))
    if unknown:
        warnings.warn(
            f"{path}: Keras 2.2.4 has no {', '.join(sorted(set(unknown)))}, and reads the model with compile=False "
            "alone; torchkeras reads all of it.",
            stacklevel=5,
        )
    return training


def form_of_keras2(model: Model, include_optimizer: bool) -> dict[str, Any]:
    """What a file in Keras 2.2.4's form says of a model. Raises ValueError for what has no form there."""
    training = training_for_keras2(training_config(model), own_training_config(model)) if include_optimizer else None
    return {"model_config": layer_config(model), "training_config": training}


def form_of_keras3(model: Model, include_optimizer: bool) -> dict[str, Any]:
    """The same of a `.keras` archive."""
    return keras3_form(model, include_optimizer)[0]


def write_folder(model: Model, path: PathLike, include_optimizer: bool) -> None:
    """A model as a folder of what the `.keras` archive has."""
    write_archive(model, path, include_optimizer, unzipped.write)


def write_archive(
    model: Model, path: PathLike, include_optimizer: bool, write_parts: Callable[..., None] = archive.write
) -> None:
    """A model as the `.keras` archive of Keras 3. Warns of what Keras 3 does not have, and refuses to read."""
    metadata: dict[str, Any] = {"keras_version": KERAS3_VERSION, "date_saved": f"{_now():%Y-%m-%d@%H:%M:%S}"}
    if include_optimizer:
        metadata[OWN] = own_training_config(model)  # Keras does not read it
    config, unread = keras3_form(model, include_optimizer)
    if unread:
        warnings.warn(
            f"{path}: torchkeras reads the file, Keras 3 refuses it: {' '.join(dict.fromkeys(unread))}", stacklevel=4
        )
    metadata[SORTED] = True
    metadata |= extra_facts(model)
    optimizer = bound_for_file(model, path) if include_optimizer else None

    def write(file: Any) -> None:
        paths.write(file, model)
        if optimizer is not None:
            write_optimizer(file, model, optimizer)

    write_parts(path, config, metadata, write, partial(write_assets, model))


def _now() -> datetime:
    """The time, or the one that SOURCE_DATE_EPOCH says, for files that are to be equal bit by bit.

    Source: https://reproducible-builds.org/specs/source-date-epoch/
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.now()
    try:
        return datetime.fromtimestamp(int(epoch), timezone.utc)
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(
            "The environment variable SOURCE_DATE_EPOCH must be a whole number, of the seconds since 1970 in UTC; "
            f"found {epoch!r}."
        ) from error
