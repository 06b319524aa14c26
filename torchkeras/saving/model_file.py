"""An open model file of any format, and where its parts are, under one set of names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import h5py

from torchkeras import registry
from torchkeras.errors import UnknownFormatError, UnreadableFileError
from torchkeras.saving.containers import archive, hdf5, json_text, shards
from torchkeras.saving.containers.hdf5 import (
    attribute,
    attributes,
    dataset_in,
    group_in,
    has_attribute,
    members,
    reading,
)
from torchkeras.saving.containers.hdf5_folders import with_folders
from torchkeras.saving.containers.open_file import filename, require_file, shown
from torchkeras.saving.extra_keys import NOTHING_FROZEN, WEIGHT_TYPES, Frozen, read_types
from torchkeras.saving.optimizer.keras3_order import SCALE
from torchkeras.saving.optimizer.state import BESIDE
from torchkeras.saving.weights.layer_groups import read_arrays
from torchkeras.saving.weights.matching import Named
from torchkeras.saving.weights.origin import SORTED, has_dicts_as_written
from torchkeras.saving.weights.paths import numbered

# The key of what Keras cannot express about compiling, in metadata or the training configuration of our files.
OWN = registry.OWN
# A key in the metadata of our older `.keras` files of models whose inputs or outputs were no plain lists.
STRUCTURE = "torchkeras_structure"
# The key of the numbers of an optimizer's state, beside the architecture in a file of tensors.
STATE = "optimizer_state"
# The layouts of weights; NAMES, that of a `state_dict`, does not occur in HDF5.
GROUPS, PATHS, NUMBERS, NAMES = "layer groups", "paths", "numbered layers", "names"


@dataclass(frozen=True)
class ModelFile:
    """An open model file.

    `name`: the file's name in errors. `layout`: of the weights in the group `weights`: GROUPS (Keras 1, 2, 3), PATHS
    (`.weights.h5`) or NUMBERS (Keras 0); NAMES has no group. `config`, `training`: the architecture and how the model
    was compiled, None if missing. `version`, `backend`: of the Keras that wrote it, "" if the file does not say.
    `as_written`: whether the dicts of the model count in the order in which they were written, not by their sorted
    keys; `unsure`: whether that depends, for a dict inside a dict, on the backend of Keras 3, which the file does not
    say. `frozen`: what does not train. `types`: of weights whose policy says another. `state`: the numbers of the
    optimizer's state in a file of tensors, None without. `told_optimizer`: whether `training` has the optimizer from
    the file; else it is Keras's default.
    """

    name: str
    weights: Any  # an h5py.Group; None for NAMES
    layout: str
    config: Any = None
    training: Any = None
    version: str = ""
    backend: str = ""
    as_written: bool = False
    unsure: bool = False
    frozen: Frozen = NOTHING_FROZEN
    types: Mapping[str, str] = field(default_factory=dict)
    state: Any = None
    told_optimizer: bool = True
    container: Any = None  # the archive, in which layers may have files of their own

    def optimizer(self) -> list[Named]:
        """The arrays of the optimizer's state, with names; empty if the file has none."""
        if not self.told_optimizer:
            return []
        if self.layout == PATHS:
            return _numbered_state(self.weights, self.version)
        return _optimizer(self.weights.file)


@contextmanager
def opened(path: str | os.PathLike[str], strict: bool = True) -> Iterator[ModelFile]:
    """Open a model file. `strict`: what may be damage, and may be an edit, is an error, not a warning.

    Raises FileNotFoundError, and ModelFileError for an unknown format.
    """
    require_file(path)
    with Path(path).open("rb") as file:
        is_archive = file.read(len(archive.BEGINNING)) == archive.BEGINNING
    if is_archive:
        with archive.opened(path, strict) as found, found.weights() as weights:
            yield _archived(found, with_folders(weights), shown(path))
    elif shards.is_index(path):
        with shards.opened(path, strict) as file:
            yield _hdf5(file)
    else:
        with reading(path, strict) as file:
            yield _hdf5(file)


def described(about: str, name: str) -> ModelFile:
    """The model described by a text stored with its tensors. Raises UnreadableFileError for a text of another form."""
    found = json_text.parse(about, f"{name}: its architecture")
    if not isinstance(found, Mapping) or not isinstance(found.get("model_config"), Mapping):
        raise UnreadableFileError(f"{name}: its architecture must be a JSON object with 'model_config'.")
    version = str(found.get("keras_version", ""))
    training, state = found.get("training_config"), found.get(STATE)
    frozen, types = Frozen.read(found.get, name), read_types(found.get(WEIGHT_TYPES), name)
    return ModelFile(
        name,
        None,
        NAMES,
        found["model_config"],
        training,
        version,
        as_written=SORTED not in found,
        frozen=frozen,
        types=types,
        state=state,
    )


def _archived(found: archive.Archive, weights: h5py.Group, name: str) -> ModelFile:
    training = found.config.get("compile_config") if isinstance(found.config, Mapping) else None
    metadata = found.metadata if isinstance(found.metadata, Mapping) else {}
    version, own = str(metadata.get("keras_version", "")), metadata.get(OWN)
    has_optimizer = not isinstance(training, Mapping) or "optimizer" in training
    training = _with_optimizer(training)
    if isinstance(training, Mapping) and own is not None:
        training = {**training, OWN: own}
    frozen, types = Frozen.read(metadata.get, name), read_types(metadata.get(WEIGHT_TYPES), name)
    as_written = SORTED not in metadata and _was_written_here(metadata, found.config)
    return ModelFile(
        name,
        weights,
        PATHS,
        found.config,
        training,
        version,
        as_written=as_written,
        unsure=version.startswith("3.") and SORTED not in metadata and not as_written,
        frozen=frozen,
        types=types,
        told_optimizer=has_optimizer,
        container=found,
    )


def _was_written_here(metadata: Mapping[str, Any], config: Any) -> bool:
    """Whether we wrote a `.keras` file. Without training nothing says so, but Keras writes a key that we do not."""
    return OWN in metadata or STRUCTURE in metadata or not any("build_config" in found for found in mappings(config))


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every dictionary in a config, at any depth."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping):
            yield found
            waiting += found.values()
        elif isinstance(found, (list, tuple)):
            waiting += found


def _with_optimizer(training: Any) -> Any:
    """How a model was compiled, with the optimizer under the key of HDF5 files; None if it was not compiled.

    Keras compiles with what the file has: an optimizer that it does not name is the default of `compile`.
    """
    if not training or not isinstance(training, Mapping):
        return training or None
    optimizer = training.get("optimizer", "rmsprop")
    named = {"class_name": optimizer, "config": {}} if isinstance(optimizer, str) else optimizer
    return {**{key: value for key, value in training.items() if key != "optimizer"}, "optimizer_config": named}


def has_old_layout(group: h5py.Group) -> bool:
    """Whether a group holds weights as Keras 0 wrote them."""
    return has_attribute(group, "nb_layers") or (not has_attribute(group, "layer_names") and "graph" in members(group))


def _hdf5(file: h5py.Group) -> ModelFile:
    name, version = filename(file), str(attribute(file, "keras_version", ""))
    inside = members(file)
    if "model_weights" in inside and not has_attribute(file, "layer_names"):
        return _whole_model(file, name, version)
    if has_old_layout(file):
        return ModelFile(name, file, NUMBERS, version=version)
    if has_attribute(file, "layer_names") or has_attribute(file, "layer_names0"):
        return ModelFile(name, file, GROUPS, version=version, backend=str(attribute(file, "backend", "")))
    paths = with_folders(file)
    has_paths = not {"layers", "_layer_checkpoint_dependencies", "vars"}.isdisjoint(members(paths))
    # Keras 3 makes a group when it has a weight for it: an empty file is that of a model without weights.
    is_empty = not inside and not attributes(file)
    if has_paths or is_empty:
        as_written = has_attribute(file, OWN) and not has_attribute(file, SORTED)
        version = version or version_by_names(paths)
        return ModelFile(name, paths, PATHS, version=version, as_written=as_written, unsure=version.startswith("3."))
    raise UnknownFormatError(
        f"{name}: an HDF5 file without weights of Keras: no 'layer_names', 'model_weights', 'nb_layers' or 'layers'."
    )


def _whole_model(file: h5py.Group, name: str, version: str) -> ModelFile:
    """A file of a whole model, as Keras 1 and 2 write it: weights by layers in a group, and configs."""
    group = group_in(file, "model_weights")
    version = version or str(attribute(group, "keras_version", ""))
    return ModelFile(
        name,
        group,
        NUMBERS if has_old_layout(group) else GROUPS,
        read_config(file, "model_config"),
        read_config(file, "training_config"),
        version,
        str(attribute(file, "backend", attribute(group, "backend", ""))),
        as_written=has_dicts_as_written(group, version),
        frozen=Frozen.read(partial(read_config, file), name),
        types=read_types(read_config(file, WEIGHT_TYPES), name),
    )


def version_by_names(file: h5py.Group) -> str:
    """The least version of the Keras that wrote weights by paths; "" for our own. Keras 3 tells the names of layers."""
    pending: list[Any] = [] if attribute(file, OWN) is not None else [file]
    version = "2.12" if pending else ""
    while pending:
        for key, found in members(pending.pop()).items():
            if key == "vars" and attribute(found, "name") is not None:
                return "3.0"
            if isinstance(found, h5py.Group):
                pending.append(found)
    return version


def _optimizer(file: h5py.Group) -> list[Named]:
    """An optimizer's state in Keras 2's layout, and what only our files have; empty if the file has none."""
    if "optimizer_weights" not in file:
        return []
    group = group_in(file, "optimizer_weights")
    found = read_arrays(group)
    if OWN in members(group) and not any(named.name.startswith(BESIDE) for named in found):
        found += [Named(f"{BESIDE}{named.name}", named.data) for named in read_arrays(group_in(group, OWN))]
    return found


def read_config(file: h5py.Group, name: str) -> Any:
    """The value of a JSON attribute; None if there is none. Raises UnreadableFileError if it is not JSON."""
    found, where = hdf5.attribute(file, name), f"{filename(file)}: attribute {name!r}"
    if found is None:
        return None
    if not isinstance(found, str):
        raise UnreadableFileError(f"{where} is no text.")
    return json_text.parse(found, where)


def _scale(group: h5py.Group) -> list[Named]:
    """The loss scale among the variables of Keras 3's `LossScaleOptimizer`."""
    return [Named(f"{BESIDE}{name}", dataset_in(group, str(number))) for number, name in enumerate(SCALE, 2)]


def _numbered_state(file: h5py.Group, version: str) -> list[Named]:
    """The state in `optimizer/vars`: the step, in Keras 3 the learning rate, then the slots weight by weight.

    Under mixed_float16 this is in `optimizer/inner_optimizer/vars`, and Keras 3 has the loss scale in `optimizer/vars`.
    """
    inside = members(file).get("optimizer")
    if not isinstance(inside, h5py.Group) or "vars" not in members(inside):
        return []
    is_keras3 = version.startswith("3.")
    scale: list[Named] = []
    if "inner_optimizer" in members(inside):
        scale = _scale(group_in(inside, "vars")) if is_keras3 else []
        inside = group_in(inside, "inner_optimizer")
    group = group_in(inside, "vars")
    names = numbered(list(members(group)))
    found = [dataset_in(group, name) for name in names]
    # A rate that follows a schedule is not stored.
    has_rate = is_keras3 and len(found) > 1 and found[1].shape == ()
    first = ["iteration", "learning_rate"] if has_rate else ["iteration"]
    return scale + [Named(label, data) for label, data in zip([*first, *names[len(first) :]], found, strict=False)]
