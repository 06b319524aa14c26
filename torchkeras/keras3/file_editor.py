"""`keras.saving.KerasFileEditor`: look at the weights in a file, change them, and write them to another."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import h5py
import numpy as np
import torch

from torchkeras.base.arrays import to_numpy
from torchkeras.saving.containers import archive, hdf5
from torchkeras.saving.containers.hdf5_folders import with_folders
from torchkeras.saving.model_file import OWN
from torchkeras.saving.weights.origin import SORTED

VARS = "vars"  # the group of an object's own weights
WEIGHTS = ".weights.h5"
OPTIMIZER = "optimizer"
ABOUT = (OWN, SORTED)  # what a file says of itself, by which its weights are read


class KerasFileEditor:
    """The weights in a `.keras` or `.weights.h5` file as nested dicts of arrays, to look at, change and write again.

    `weights_dict` has a dict for each object, by its path in the file: `weights_dict["layers"]["dense"]["0"]`.
    `config` and `metadata` are those of a `.keras` file, None for another. The file itself stays as it is.

    `summary` shows the names of layers in brackets: an object has the name of its layer's class, numbered.

    An object is named by its path, `"layers/dense_2"`, or by its last part where that is the only one.

    Arguments:
        filepath (path): the file.

    Errors:
        ValueError: another suffix.
        ModelFileError: the file cannot be read.

    Example:
        >>> model = Sequential([Input((2,)), Dense(3)])
        >>> model.save_weights("old.weights.h5")
        >>> editor = KerasFileEditor("old.weights.h5")
        >>> editor.rename_object("dense", "dense_1")
        >>> editor.summary()
        layers
          dense_1 ('dense')
            0: shape=(2, 3), dtype=float32
            1: shape=(3,), dtype=float32

    Source: https://keras.io/api/models/model_saving_apis/weights_saving_and_loading/
    """

    def __init__(self, filepath: str | os.PathLike[str]):
        self.filepath = str(filepath)
        self.config: Any = None
        self.metadata: Any = None
        self.weights_dict: dict[str, Any] = {}
        # The names of layers and what else a file says of its groups, by their paths.
        self.object_metadata: dict[str, dict[str, Any]] = {}
        with self._opened() as root:
            self._about = {key: True for key in ABOUT if self._says(root, key)}
            self._read(with_folders(root), self.weights_dict, "")

    @contextmanager
    def _opened(self) -> Iterator[h5py.Group]:
        if self.filepath.endswith(".keras"):
            with archive.opened(self.filepath) as found, found.weights() as root:
                self.config, self.metadata = found.config, found.metadata
                yield root
        elif self.filepath.endswith(WEIGHTS):
            with hdf5.reading(self.filepath) as root:
                yield root
        else:
            raise ValueError(f"KerasFileEditor: the file must end in .keras or {WEIGHTS}; found {self.filepath!r}.")

    def _says(self, root: h5py.Group, key: str) -> bool:
        return hdf5.has_attribute(root, key) or (isinstance(self.metadata, Mapping) and key in self.metadata)

    def _read(self, group: h5py.Group, target: dict[str, Any], path: str) -> None:
        """Put the weights of an object, and of those inside it, into a dict; objects without weights are left out."""
        for name, found in hdf5.members(group).items():
            if not isinstance(found, h5py.Group):
                target[name] = hdf5.values(found)
            elif name == VARS and path:
                self._read(found, target, path)
                if about := hdf5.attributes(found):
                    self.object_metadata[path] = about
            else:
                inside: dict[str, Any] = {}
                self._read(found, inside, f"{path}/{name}".lstrip("/"))
                if inside:
                    target[name] = inside

    # --- looking -----------------------------------------------------------------------------------------------------

    def summary(self) -> None:
        """Print the objects, and the shapes and types of their weights."""
        for line in self._lines(self.weights_dict, "", ""):
            print(line)

    def _lines(self, weights: Mapping[str, Any], path: str, indent: str) -> Iterator[str]:
        for name, value in weights.items():
            inside = f"{path}/{name}".lstrip("/")
            if isinstance(value, Mapping):
                known = self.object_metadata.get(inside, {}).get("name", name)
                yield f"{indent}{name}" if known == name else f"{indent}{name} ({known!r})"
                yield from self._lines(value, inside, f"{indent}  ")
            else:
                yield f"{indent}{name}: shape={np.shape(value)}, dtype={np.asarray(value).dtype}"

    def compare(self, reference_model: Any) -> dict[str, Any]:
        """Compare the weights with those of a model, and print each difference. The optimizer's state does not count.

        Arguments:
            reference_model (model): a built model.

        Returns:
            A dict: "status" is "success" or "error"; "error_count" the number of objects or weights that one of both
            lacks, and of other shapes; "match_count" that of the weights with the same shape.
        """
        with TemporaryDirectory(prefix="torchkeras-") as folder:
            reference = Path(folder) / f"reference{WEIGHTS}"
            reference_model.save_weights(reference)
            wanted = KerasFileEditor(reference).weights_dict
        found = {name: value for name, value in self.weights_dict.items() if name != OPTIMIZER}
        matches, problems = _compared(found, wanted, "")
        for problem in problems:
            print(problem)
        status = "error" if problems else "success"
        print(f"{status}: {len(problems)} differences, {matches} matching weights")
        return {"status": status, "error_count": len(problems), "match_count": matches}

    # --- changes -----------------------------------------------------------------------------------------------------

    def rename_object(self, object_name: str, new_name: str) -> None:
        """Give an object another name.

        Arguments:
            object_name (text): its path or name.
            new_name (text): the last part of its new path.

        Errors:
            ValueError: there is no such object, or several; the new name is a path, or is taken.
        """
        if "/" in new_name:
            raise ValueError(f"KerasFileEditor: new_name must be a name, not a path; found {new_name!r}.")
        path = self._path(object_name)
        above, _, last = path.rpartition("/")
        weights = self._at(above)
        if new_name in weights and new_name != last:
            raise ValueError(f"KerasFileEditor: {above or 'the file'!r} has a {new_name!r} already: delete it before.")
        weights[new_name] = weights.pop(last)
        self._move_metadata(path, f"{above}/{new_name}".lstrip("/"))

    def delete_object(self, object_name: str) -> None:
        """Remove an object, with all inside it.

        Arguments:
            object_name (text): its path or name.

        Errors:
            ValueError: there is no such object, or several.
        """
        path = self._path(object_name)
        above, _, last = path.rpartition("/")
        del self._at(above)[last]
        self._move_metadata(path, None)

    def add_object(self, object_path: str, weights: Mapping[str, Any]) -> None:
        """Add an object, in place of one that has the path already.

        Arguments:
            object_path (text): its path, such as "layers/dense_2".
            weights (dict): its weights by name, such as `{"0": kernel, "1": bias}`.

        Errors:
            ValueError: there is no object that it would be in; `weights` is no dict.
        """
        above, _, last = object_path.rpartition("/")
        self._at(above)[last] = _arrays(weights)
        self._move_metadata(object_path, None)

    def add_weights(self, object_name: str, weights: Mapping[str, Any]) -> None:
        """Add weights to an object, in place of those that have the names already.

        Arguments:
            object_name (text): its path or name.
            weights (dict): the weights by name, such as `{"1": bias}`.

        Errors:
            ValueError: there is no such object, or several; `weights` is no dict.
        """
        self._at(self._path(object_name)).update(_arrays(weights))

    def delete_weight(self, object_name: str, weight_name: str) -> None:
        """Remove a weight from an object.

        Arguments:
            object_name (text): the path or name of the object.
            weight_name (text): the name of the weight, such as "0".

        Errors:
            ValueError: there is no such object, or several; it has no such weight.
        """
        path = self._path(object_name)
        weights = self._at(path)
        if weight_name not in weights:
            raise ValueError(f"KerasFileEditor: {path!r} has no weight {weight_name!r}; it has {list(weights)}.")
        del weights[weight_name]

    def _at(self, path: str) -> dict[str, Any]:
        """The dict of an object by its path; "" is the file."""
        found: Any = self.weights_dict
        for part in filter(None, path.split("/")):
            if not isinstance(found, dict) or not isinstance(found.get(part), dict):
                raise ValueError(f"KerasFileEditor: there is no object {path!r}; `summary()` shows all.")
            found = found[part]
        return found

    def _path(self, name: str) -> str:
        """The path of an object by its path or its name."""
        if "/" in name:
            self._at(name)
            return name
        paths = [path for path in _paths(self.weights_dict, "") if path.rpartition("/")[2] == name]
        if len(paths) != 1:
            which = f"several objects: {paths}; pass the path of one" if paths else "no object; `summary()` shows all"
            raise ValueError(f"KerasFileEditor: {name!r} names {which}.")
        return paths[0]

    def _move_metadata(self, before: str, after: str | None) -> None:
        """Let what the file says of an object, and of those inside it, go with it; None to forget it."""
        for path in [each for each in self.object_metadata if f"{each}/".startswith(f"{before}/")]:
            about = self.object_metadata.pop(path)
            if after is not None:
                self.object_metadata[f"{after}{path[len(before) :]}"] = about

    # --- writing -----------------------------------------------------------------------------------------------------

    def save(self, filepath: str | os.PathLike[str]) -> None:
        """Write the weights to a file, which `load_weights` of a model reads.

        Arguments:
            filepath (path): the file; it must end in `.weights.h5`. One that is there is replaced.

        Errors:
            ValueError: another suffix.
        """
        if not str(filepath).endswith(WEIGHTS):
            raise ValueError(
                f"KerasFileEditor: weights are written to a file that ends in {WEIGHTS}; found {filepath}."
            )
        with hdf5.writing(filepath) as file:
            file.attrs.update(self._about)
            self._write(file, self.weights_dict, "")

    def resave_weights(self, filepath: str | os.PathLike[str]) -> None:
        """`save(filepath)`, by its other name."""
        self.save(filepath)

    def _write(self, group: h5py.Group, weights: Mapping[str, Any], path: str) -> None:
        about = self.object_metadata.get(path, {})
        own = group.require_group(VARS) if path and path != VARS else group
        if own is not group:
            own.attrs.update(about)
        for name, value in weights.items():
            if isinstance(value, Mapping):
                self._write(group.require_group(name), value, f"{path}/{name}".lstrip("/"))
            else:
                own.create_dataset(name, data=np.asarray(value))


def _arrays(weights: Any) -> dict[str, Any]:
    """A dict of weights, tensors among them as arrays. Raises ValueError for something else."""
    if not isinstance(weights, Mapping):
        raise ValueError(
            "KerasFileEditor: weights must be a dict of arrays by their names, such as {'0': kernel, '1': bias}; found "
            f"{type(weights).__name__}."
        )
    return {name: _arrays(value) if isinstance(value, Mapping) else _array(value) for name, value in weights.items()}


def _array(value: Any) -> np.ndarray:
    found = getattr(value, "value", value)  # of a Variable its tensor
    return to_numpy(found) if isinstance(found, torch.Tensor) else np.asarray(found)


def _paths(weights: Mapping[str, Any], path: str) -> Iterator[str]:
    """The paths of all objects."""
    for name, value in weights.items():
        if isinstance(value, Mapping):
            inside = f"{path}/{name}".lstrip("/")
            yield inside
            yield from _paths(value, inside)


def _compared(found: Mapping[str, Any], wanted: Mapping[str, Any], path: str) -> tuple[int, list[str]]:
    """The number of weights with the same shape, and the differences in words."""
    matches, problems = 0, []
    for name in dict.fromkeys((*wanted, *found)):
        where = f"{path}/{name}".lstrip("/")
        if name not in found or name not in wanted:
            what = "object" if isinstance(found.get(name, wanted.get(name)), Mapping) else "weight"
            lacks, has = ("file", "model") if name in wanted else ("model", "file")
            problems.append(f"{where}: the {lacks} lacks this {what} of the {has}")
            continue
        ours, theirs = found[name], wanted[name]
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            inside, further = _compared(ours, theirs, where)
            matches += inside
            problems += further
        elif isinstance(ours, Mapping) or isinstance(theirs, Mapping):
            problems.append(f"{where}: an object in one, a weight in the other")
        elif np.shape(ours) != np.shape(theirs):
            problems.append(f"{where}: shape {np.shape(ours)} in the file, {np.shape(theirs)} in the model")
        else:
            matches += 1
    return matches, problems
