"""The contents of HDF5 files and `.keras` archives, for `inspect`."""

# pyright: reportAttributeAccessIssue=false
# In h5py's types, a name may stand for any kind of object.

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from torchkeras.commands.contents import Array, Contents, StoredLayer, classes
from torchkeras.errors import ModelFileError
from torchkeras.saving.containers import archive, hdf5_rules
from torchkeras.saving.containers.hdf5 import attribute, dataset_in, group_in, members, read_names, reading, values
from torchkeras.saving.containers.limits import MIB
from torchkeras.saving.containers.parts import Dataset
from torchkeras.saving.model_file import OWN, read_config, version_by_names
from torchkeras.saving.weights import origin

GROUPS, GROUPS_WHOLE = "HDF5, a group a layer: weights alone", "HDF5, a group a layer: a whole model"
NUMBERED, NUMBERED_WHOLE = "HDF5 of Keras 0 (layer_0/param_0): weights alone", "HDF5 of Keras 0: a whole model"
PATHS = "HDF5 by paths (.weights.h5): weights alone"
ZIPPED = ".keras archive: a whole model"
UNKNOWN = "HDF5 of no known layout"

SLAB = 16 * MIB


@contextmanager
def contents_of_archive(path: Path) -> Iterator[Contents]:
    """The contents of a `.keras` archive."""
    with archive.opened(path) as found, found.weights() as weights:
        yield _of_archive(found, weights)


@contextmanager
def contents_of_hdf5(path: Path) -> Iterator[Contents]:
    """The contents of an HDF5 file."""
    with reading(path) as file:
        yield _of_hdf5(file)


def _of_archive(found: archive.Archive, weights: h5py.Group) -> Contents:
    contents = Contents(ZIPPED, whole=True, config=found.config)
    about = found.metadata if isinstance(found.metadata, Mapping) else {}
    version = about.get("keras_version")
    contents.keras_version = version if isinstance(version, str) else None
    if contents.keras_version is None:
        contents.find("version", archive.METADATA, "there is no 'keras_version'")
    compiled = found.config.get("compile_config") if isinstance(found.config, Mapping) else None
    contents.training = compiled if isinstance(compiled, Mapping) else None
    contents.data_format = origin.format_of_config(found.config)
    _take_paths(contents, weights)
    return contents


def _of_hdf5(file: h5py.Group) -> Contents:
    contents = Contents(UNKNOWN)
    inside = members(file)
    contents.config = _config(contents, file, "model_config")
    contents.training = _config(contents, file, "training_config")
    contents.whole = "model_config" in file.attrs
    contents.data_format = origin.format_of_config(contents.config)
    nested = inside.get("model_weights")
    group = nested if isinstance(nested, h5py.Group) and not _has_list(file, "layer_names") else file
    if _has_list(group, "layer_names"):
        contents.layout = GROUPS_WHOLE if contents.whole else GROUPS
        _take_origin(contents, file, group)
        _take_groups(contents, group)
        _take_backend(contents)
    elif attribute(group, "nb_layers") is not None:
        contents.layout = NUMBERED_WHOLE if contents.whole else NUMBERED
        _take_numbered(contents, group)
    elif any(isinstance(found, h5py.Group) and "vars" in members(found) for found in _groups(file)):
        contents.layout, contents.least_version = PATHS, version_by_names(file)
        _take_paths(contents, file)
    else:
        contents.find("layout", _path(group), "there is no list of layers, and there are no 'vars' of Keras 3")
    state = inside.get("optimizer_weights")
    if isinstance(state, h5py.Group):
        _take_state(contents, state)
    _find_unlisted(contents, file)
    return contents


def _config(contents: Contents, file: h5py.Group, name: str) -> Any:
    try:
        return read_config(file, name)
    except ModelFileError as error:
        contents.find("text", f"attribute {name!r}", str(error))
    return None


def _has_list(group: h5py.Group, name: str) -> bool:
    return any(attribute(group, found) is not None for found in (name, f"{name}0"))


def _take_origin(contents: Contents, file: h5py.Group, group: h5py.Group) -> None:
    for name in ("keras_version", "backend"):
        by_place = {place.name: attribute(place, name) for place in (file, group)}
        given = {str(value) for value in by_place.values() if value is not None}
        if len(given) > 1:
            contents.find("version", f"attribute {name!r}", f"it says {' and '.join(sorted(given))}")
        if given:
            setattr(contents, name, min(given))
    if contents.keras_version is None:
        contents.find("version", "", "there is no 'keras_version'")


def _take_backend(contents: Contents) -> None:
    """Set the backend of Keras 1, whose files do not have it: TensorFlow's names of variables end with ":0".

    In a file of Keras 2 that lacks it, kernels may be Theano's.
    """
    if contents.backend is not None:
        return
    version = contents.keras_version or ""
    if version.startswith("2.") and any(len(each.shape) > 2 for each in contents.arrays):
        contents.find("backend", "", "there is no 'backend'; kernels are taken as TensorFlow's")
    if version.startswith("1.") and contents.arrays:
        of_tensorflow = any(array.path.endswith(":0") for array in contents.arrays)
        contents.backend = "tensorflow" if of_tensorflow else "theano"


def _take_state(contents: Contents, state: h5py.Group) -> None:
    """Set the arrays of an optimizer, those that only torchkeras writes last."""
    contents.state = _listed(contents, state)
    own = members(state).get(OWN)
    if isinstance(own, h5py.Group) and _has_list(own, "weight_names"):
        contents.state += _listed(contents, own)


def _take_groups(contents: Contents, group: h5py.Group) -> None:
    known, inside, names = classes(contents.config), members(group), _names(contents, group, "layer_names")
    for name in dict.fromkeys(names):
        try:
            found = group_in(group, name)
        except ModelFileError:
            contents.find("list", _path(group), f"'layer_names' has {name!r}, which has no group")
            continue
        contents.layers.append(StoredLayer(name, known.get(name), tuple(_listed(contents, found))))
    beside = inside.get("top_level_model_weights")
    if isinstance(beside, h5py.Group) and "top_level_model_weights" not in names:
        arrays = _listed(contents, beside)
        contents.layers += [StoredLayer("top_level_model_weights", None, tuple(arrays))] if arrays else []


def _take_numbered(contents: Contents, group: h5py.Group) -> None:
    for name, found in sorted(members(group).items(), key=lambda item: _number(item[0])):
        if not isinstance(found, h5py.Group) or not name.startswith("layer_"):
            continue
        held = sorted(members(found).items(), key=lambda item: _number(item[0]))
        arrays = [_array(item) for _, item in held if isinstance(item, Dataset)]
        contents.layers.append(StoredLayer(name, None, tuple(arrays)))


def _number(name: str) -> tuple[int, str]:
    last = name.rpartition("_")[2]
    return (int(last) if last.isdecimal() and len(last) < 10 else -1, name)


def _take_paths(contents: Contents, file: h5py.Group) -> None:
    known = classes(contents.config)
    for group in _groups(file):
        inside = members(group)
        kept = inside.get("vars")
        if not isinstance(kept, h5py.Group):
            continue
        path = _path(group).strip("/")
        held = sorted(members(kept).items(), key=lambda item: _number(item[0]))
        arrays = tuple(_array(item) for _, item in held if isinstance(item, Dataset))
        if path == "optimizer":
            contents.state = list(arrays)
        elif arrays:
            stored_name = attribute(kept, "name")
            contents.layers.append(
                StoredLayer(path, known.get(str(stored_name)), arrays, "" if stored_name is None else str(stored_name))
            )


def _groups(file: h5py.Group) -> Iterator[h5py.Group]:
    """A group and all groups inside it, each before its own."""
    pending = [file]
    while pending:
        group = pending.pop()
        yield group
        pending += reversed([found for found in members(group).values() if isinstance(found, h5py.Group)])


def _names(contents: Contents, group: h5py.Group, name: str) -> list[str]:
    """A list of names; faults in it become findings."""
    try:
        names = read_names(group, name)
    except ModelFileError as error:
        contents.find("list", _path(group), str(error))
        return []
    for twice, count in Counter(names).items():
        if count > 1:
            contents.find("list", _path(group), f"{name!r} has {twice!r} {count} times")
    return names


def _listed(contents: Contents, group: h5py.Group) -> list[Array]:
    found = []
    for name in _names(contents, group, "weight_names"):
        try:
            found.append(_array(dataset_in(group, name)))
        except ModelFileError as error:
            contents.find("list", _path(group), f"'weight_names' has {name!r}, which cannot be read: {error}")
    return found


def _find_unlisted(contents: Contents, file: h5py.Group) -> None:
    listed = {array.path for array in (*contents.arrays, *contents.state)}
    for group in _groups(file):
        for found in members(group).values():
            if isinstance(found, Dataset) and _path(found) not in listed:
                contents.find("unlisted", _path(found), "an array that no list names")


def _path(place: h5py.Group | Dataset) -> str:
    return str(place.name)


def _array(dataset: Dataset) -> Array:
    bfloat16 = hdf5_rules.is_bfloat16(dataset)
    dtype = "bfloat16" if bfloat16 else str(dataset.dtype)
    return Array(_path(dataset), tuple(dataset.shape or ()), dtype, dataset.nbytes, partial(_pieces, dataset, bfloat16))


def _pieces(dataset: Dataset, bfloat16: bool) -> Iterator[np.ndarray]:
    if bfloat16 or not dataset.shape or dataset.nbytes <= SLAB:
        yield values(dataset)
        return
    rows = max(1, SLAB * len(dataset) // dataset.nbytes)
    for first in range(0, len(dataset), rows):
        with hdf5_rules.readable(hdf5_rules.Place(dataset)):
            yield dataset[first : first + rows]
