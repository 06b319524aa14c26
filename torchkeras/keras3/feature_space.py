"""`keras.utils.FeatureSpace`: columns of a table, encoded by preprocessing layers."""

from __future__ import annotations

import os
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import h5py
import numpy as np
import torch

from torchkeras import config, layers as base_layers
from torchkeras.base.dtypes import dtype_of
from torchkeras.base.naming import count_name, snake_case
from torchkeras.engine.layer.layer import Layer as BaseLayer
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.engine.weights.weight_lists import sublayers
from torchkeras.errors import UnreadableFileError
from torchkeras.keras3 import dialect, layers
from torchkeras.keras3.layer import Layer
from torchkeras.keras3.serialization import deserialize_keras_object, serialize_keras_object
from torchkeras.saving import keras3_entry
from torchkeras.saving.containers import archive, hdf5, vocabularies
from torchkeras.saving.write.keras3_writing import KERAS3_VERSION

MODULE = "keras.src.layers.preprocessing.feature_space"  # where genuine files say that the parts are
ENCODINGS = ("int", "one_hot", "float")
BUILD = "build_config"
STRING = "string"

Number = float  # within the class, `float` is a kind of feature
Path_ = str | os.PathLike[str]


class TFDIdentity(Layer, base_layers.Identity, abstract=True):
    """Its input: what a feature of plain numbers is preprocessed by."""

    _is_stateless = True
    _keras3_module = MODULE


dialect.WITHIN_NETWORKS[TFDIdentity.__name__] = dialect.CLASSES[TFDIdentity] = TFDIdentity


class Feature:
    """One column: its type, the layer that preprocesses it, and how what that returns is encoded.

    Options:
        dtype (text): the type of the column, such as "float32", "int32" or "string".
        preprocessor (layer): the layer; one of strings gets arrays of them.
        output_mode ("int", "one_hot" or "float"): "one_hot" makes vectors of the integers that the layer returns; the
            others leave them as they are.

    Errors:
        ValueError: an option has a bad value.
    """

    def __init__(self, dtype: str, preprocessor: Any, output_mode: str):
        _check_option("Feature", "output_mode", output_mode, ENCODINGS)
        self.dtype = dtype
        self.preprocessor = deserialize_keras_object(preprocessor) if isinstance(preprocessor, dict) else preprocessor
        self.output_mode = output_mode
        if not isinstance(self.preprocessor, BaseLayer):
            raise ValueError(f"Feature: preprocessor must be a layer; found {preprocessor!r:.200}.")

    def get_config(self) -> dict[str, Any]:
        """The options as plain values."""
        preprocessor = serialize_keras_object(self.preprocessor)
        return {"dtype": self.dtype, "preprocessor": preprocessor, "output_mode": self.output_mode}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Feature:
        """A feature of such options."""
        return cls(**config)


class Cross:
    """Several columns together: the hash of their values is one integer.

    Options:
        feature_names (sequence of texts): the columns, by name.
        crossing_dim (positive integer): the number of bins of the hash.
        output_mode ("int" or "one_hot", default "one_hot"): whether the integer stays one, or becomes a vector.

    Errors:
        ValueError: `output_mode` is another.
    """

    def __init__(self, feature_names: Sequence[str], crossing_dim: int, output_mode: str = "one_hot"):
        _check_option("Cross", "output_mode", output_mode, ENCODINGS[:2])
        self.feature_names = tuple(feature_names)
        self.crossing_dim = crossing_dim
        self.output_mode = output_mode

    @property
    def name(self) -> str:
        """The names of the columns, joined by "_X_"."""
        return "_X_".join(self.feature_names)

    def get_config(self) -> dict[str, Any]:
        """The options as plain values."""
        return {
            "feature_names": self.feature_names,
            "crossing_dim": self.crossing_dim,
            "output_mode": self.output_mode,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Cross:
        """A cross of such options."""
        return cls(**config)


class FeatureSpace:
    """Columns of a table as numbers: each is preprocessed and encoded by a layer, and all are joined to one vector.

    Call `adapt` with data, then call the object with a dict of columns. The vector has the features sorted by name,
    then the crosses.

    Arguments:
        features (dict): the features by name, each `FeatureSpace.float_normalized()` or another kind, or the name of
            one: "float", "float_rescaled", "float_normalized", "float_discretized", "integer_categorical",
            "string_categorical", "integer_hashed" or "string_hashed".
        output_mode ("concat" or "dict", default "concat"): one vector, or a dict of the encoded features.
        crosses (list or None, default None): tuples of names of features, or `FeatureSpace.cross(...)`.
        crossing_dim (positive integer, default 32): the number of bins of a cross given by its names.
        hashing_dim (positive integer, default 32): that of a feature given as "integer_hashed" or "string_hashed".
        num_discretization_bins (positive integer, default 32): the bins of one given as "float_discretized".
        name (text or None, default None): a name; None counts.

    Errors:
        ValueError: an argument has a bad value, or a cross names an unknown feature.

    Example:
        >>> space = FeatureSpace({"age": "float", "kind": "string_categorical"})
        >>> space.adapt({"age": [1.0, 2.0], "kind": ["b", "a"]})
        >>> space({"age": [3.0], "kind": ["a"]}).tolist()
        [[3.0, 0.0, 0.0, 1.0]]

    Source: https://keras.io/api/utils/feature_space/
    """

    def __init__(
        self,
        features: Mapping[str, Any],
        output_mode: str = "concat",
        crosses: Any = None,
        crossing_dim: int = 32,
        hashing_dim: int = 32,
        num_discretization_bins: int = 32,
        name: str | None = None,
    ):
        if not features:
            raise ValueError(
                "FeatureSpace: features must be a dict of one or more features; it cannot be None or empty."
            )
        _check_option("FeatureSpace", "output_mode", output_mode, ("concat", "dict"))
        self.name = count_name("feature_space") if name is None else name
        self.output_mode = output_mode
        self.crossing_dim = crossing_dim
        self.hashing_dim = hashing_dim
        self.num_discretization_bins = num_discretization_bins
        self.features = {key: self._feature(key, value) for key, value in features.items()}
        self.crosses = [self._cross(each) for each in crosses or ()]
        self.preprocessors = {key: feature.preprocessor for key, feature in self.features.items()}
        self.crossers = {each.name: layers.HashedCrossing(each.crossing_dim, name=each.name) for each in self.crosses}
        self.one_hot_encoders: dict[str, Any] = {}
        self._is_adapted = not self._adaptable()
        self._inputs: dict[str, KerasTensor] = {}
        self._encoded: Any = None

    # --- kinds of features -------------------------------------------------------------------------------------------

    @classmethod
    def cross(cls, feature_names: Sequence[str], crossing_dim: int, output_mode: str = "one_hot") -> Cross:
        """Several features together, hashed to one of `crossing_dim` bins. `output_mode`: "int" or "one_hot"."""
        return Cross(feature_names, crossing_dim, output_mode=output_mode)

    @classmethod
    def feature(cls, dtype: str, preprocessor: Any, output_mode: str) -> Feature:
        """A feature with a layer of your own. `output_mode`: "int", "one_hot" or "float"."""
        return Feature(dtype, preprocessor, output_mode)

    @classmethod
    def float(cls, name: str | None = None) -> Feature:
        """Numbers as they are."""
        return Feature("float32", TFDIdentity(dtype="float32", name=_named("float", name)), "float")

    @classmethod
    def float_rescaled(cls, scale: Number = 1.0, offset: Number = 0.0, name: str | None = None) -> Feature:
        """`x * scale + offset`."""
        layer = layers.Rescaling(scale=scale, offset=offset, name=_named("float_rescaled", name))
        return Feature("float32", layer, "float")

    @classmethod
    def float_normalized(cls, name: str | None = None) -> Feature:
        """Numbers with the mean 0 and the variance 1, by `Normalization`."""
        return Feature("float32", layers.Normalization(axis=-1, name=_named("float_normalized", name)), "float")

    @classmethod
    def float_discretized(
        cls, num_bins: int, bin_boundaries: Any = None, output_mode: str = "one_hot", name: str | None = None
    ) -> Feature:
        """The bin of each number, by `Discretization`: of `num_bins` that `adapt` finds, or between the boundaries."""
        layer = layers.Discretization(
            num_bins=num_bins, bin_boundaries=bin_boundaries, name=_named("float_discretized", name)
        )
        return Feature("float32", layer, output_mode)

    @classmethod
    def integer_categorical(
        cls,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """Integers as categories, by `IntegerLookup`."""
        layer = layers.IntegerLookup(
            max_tokens=max_tokens, num_oov_indices=num_oov_indices, name=_named("integer_categorical", name)
        )
        return Feature("int32", layer, output_mode)

    @classmethod
    def string_categorical(
        cls,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        output_mode: str = "one_hot",
        name: str | None = None,
    ) -> Feature:
        """Strings as categories, by `StringLookup`."""
        layer = layers.StringLookup(
            max_tokens=max_tokens, num_oov_indices=num_oov_indices, name=_named("string_categorical", name)
        )
        return Feature(STRING, layer, output_mode)

    @classmethod
    def string_hashed(cls, num_bins: int, output_mode: str = "one_hot", name: str | None = None) -> Feature:
        """The bin of each string's hash, by `Hashing`."""
        return Feature(STRING, layers.Hashing(num_bins=num_bins, name=_named("string_hashed", name)), output_mode)

    @classmethod
    def integer_hashed(cls, num_bins: int, output_mode: str = "one_hot", name: str | None = None) -> Feature:
        """The bin of each integer's hash, by `Hashing`."""
        return Feature("int32", layers.Hashing(num_bins=num_bins, name=_named("integer_hashed", name)), output_mode)

    def _feature(self, name: str, value: Any) -> Feature:
        """A feature of what `features` may have for one."""
        if isinstance(value, Feature):
            return value
        if isinstance(value, Mapping):
            return Feature.from_config(value["config"])
        options = {
            "float_discretized": (self.num_discretization_bins,),
            "integer_hashed": (self.hashing_dim,),
            "string_hashed": (self.hashing_dim,),
        }
        kinds = (
            *("float", "float_rescaled", "float_normalized", "float_discretized", "integer_categorical"),
            *("string_categorical", "integer_hashed", "string_hashed"),
        )
        _check_option("FeatureSpace", f"the feature {name!r}", value, kinds)
        return getattr(self, value)(*options.get(value, ()), name=name)

    def _cross(self, value: Any) -> Cross:
        """A cross of what `crosses` may have for one."""
        if isinstance(value, Mapping):
            value = Cross.from_config(value["config"])
        if not isinstance(value, Cross):
            if not self.crossing_dim:
                raise ValueError(
                    "FeatureSpace: a cross given by its names takes `crossing_dim`, which must be a positive integer; "
                    f"found {self.crossing_dim!r}."
                )
            value = Cross(value, self.crossing_dim)
        unknown = sorted(set(value.feature_names) - set(self.features))
        if unknown:
            raise ValueError(
                f"FeatureSpace: all features of a cross should be present in features; {value.name!r} has {unknown}."
            )
        return value

    # --- adapt -------------------------------------------------------------------------------------------------------

    def _adaptable(self) -> list[str]:
        """The features whose layers find something in data."""
        return [name for name, layer in self.preprocessors.items() if _is_adaptable(layer)]

    def adapt(self, dataset: Any) -> None:
        """Let the layers find vocabularies, means and boundaries in data, which is passed over once.

        Arguments:
            dataset (dict of columns, or iterable of dicts): a dict of arrays or lists is all data; a DataLoader, a list
                or another iterable has the samples or batches. Of an item that is a tuple the first is taken.

        Errors:
            ValueError: the data have no dicts, or none at all; a feature is missing.
        """
        found: dict[str, list[Any]] = {name: [] for name in self._adaptable()}
        count = 0
        for batch in [dataset] if isinstance(dataset, Mapping) else _iterated(dataset):
            columns = batch[0] if isinstance(batch, (tuple, list)) and batch else batch
            if not isinstance(columns, Mapping):
                raise ValueError(f"FeatureSpace: adapt takes dicts of columns; found {type(columns).__name__}.")
            count += 1
            self._check_names(columns, list(found))
            for name, values in found.items():
                values.append(_as_rows(_host(columns[name])))
        if not count:
            raise ValueError("FeatureSpace: adapt was given no data.")
        for name, values in found.items():
            self.preprocessors[name].adapt(np.concatenate(values))
        self._is_adapted = True
        self._encoded, self.one_hot_encoders = None, {}

    def _check_names(self, columns: Mapping[str, Any], wanted: Iterable[str]) -> None:
        missing = [name for name in wanted if name not in columns]
        if missing:
            raise ValueError(f"FeatureSpace {self.name!r}: the data lack {missing}; they have {sorted(columns)}.")

    def _check_adapted(self) -> None:
        if not self._is_adapted:
            raise ValueError(
                f"FeatureSpace {self.name!r}: its layers know nothing of the data yet. You need to call "
                "`.adapt(dataset)` first."
            )

    # --- the graph ---------------------------------------------------------------------------------------------------

    def get_inputs(self) -> dict[str, KerasTensor]:
        """The symbolic inputs of `get_encoded_features`, by feature. Raises ValueError before `adapt`."""
        self.get_encoded_features()
        return dict(self._inputs)

    def get_encoded_features(self) -> Any:
        """The symbolic vector, or the dict of encoded features. Raises ValueError before `adapt`."""
        self._check_adapted()
        if self._encoded is None:
            self._inputs = {
                name: layers.Input((1,), dtype=feature.dtype, name=name) for name, feature in self.features.items()
            }
            self._encoded = self._merged({name: self.preprocessors[name](x) for name, x in self._inputs.items()})
        return self._encoded

    # --- calls -------------------------------------------------------------------------------------------------------

    def __call__(self, data: Mapping[str, Any]) -> Any:
        """The encoded features of columns, or of one sample.

        Arguments:
            data (dict): for each feature an array, a tensor, a list, or one value.

        Returns:
            A tensor, or with `output_mode="dict"` a dict of them. One sample has no axis of its own.

        Errors:
            ValueError: `data` is no dict or lacks a feature; `adapt` was not called.
        """
        self._check_adapted()
        if not isinstance(data, Mapping):
            raise ValueError(f"FeatureSpace {self.name!r} takes a dict of columns; found {type(data).__name__}.")
        self._check_names(data, self.features)
        columns = {name: self._column(feature, data[name]) for name, feature in self.features.items()}
        is_sample = any(np.ndim(data[name]) == 0 for name in self.features)
        merged = self._merged({name: self.preprocessors[name](column) for name, column in columns.items()})
        if not is_sample:
            return merged
        return {name: _of_sample(each) for name, each in merged.items()} if isinstance(merged, dict) else merged[0]

    def _column(self, feature: Feature, values: Any) -> Any:
        """A column with an axis for the samples and one for its values; numbers are a tensor."""
        if feature.dtype == STRING:
            return _as_rows(_host(values))
        tensor = values.detach() if isinstance(values, torch.Tensor) else torch.as_tensor(np.asarray(values))
        wanted = dtype_of(feature.dtype)
        # Integers keep their own size, which numbers of customers and the like may need.
        if wanted.is_floating_point or tensor.dtype is torch.bool:
            tensor = tensor.to(wanted)
        return _as_rows(tensor.to(config.device()))

    def _merged(self, found: dict[str, Any]) -> Any:
        """The preprocessed features crossed, encoded and joined."""
        crossed = {
            cross.name: self.crossers[cross.name]([found[name] for name in cross.feature_names])
            for cross in self.crosses
        }
        specs = {**self.features, **{cross.name: cross for cross in self.crosses}}
        made = {
            name: self._one_hot(name, values) if specs[name].output_mode == "one_hot" else values
            for each in (found, crossed)
            for name, values in sorted(each.items())
        }
        if self.output_mode == "dict":
            return made
        for name, values in made.items():
            if not values.dtype.is_floating_point:
                raise ValueError(
                    f"FeatureSpace {self.name!r}: {name!r} is of {values.dtype}, which is not joined to one vector: "
                    "encode it by output_mode='one_hot', or take output_mode='dict' for the FeatureSpace."
                )
        joined = list(made.values())
        if not isinstance(joined[0], KerasTensor):
            return torch.cat(joined, dim=-1)
        return layers.Concatenate(axis=-1)(joined) if len(joined) > 1 else joined[0]

    def _one_hot(self, name: str, values: Any) -> Any:
        if name not in self.one_hot_encoders:
            depth = _depth(name, self.preprocessors.get(name) or self.crossers[name])
            self.one_hot_encoders[name] = layers.CategoryEncoding(num_tokens=depth, output_mode="multi_hot")
        return self.one_hot_encoders[name](values)

    # --- files -------------------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """The arguments as plain values, from which `from_config` makes the object again."""
        return {
            "features": {name: _entry(feature) for name, feature in self.features.items()},
            "output_mode": self.output_mode,
            "crosses": [_entry(cross) for cross in self.crosses],
            "crossing_dim": self.crossing_dim,
            "hashing_dim": self.hashing_dim,
            "num_discretization_bins": self.num_discretization_bins,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> FeatureSpace:
        """An object of such arguments."""
        return cls(**config)

    def save(self, filepath: Path_) -> None:
        """Write a `.keras` file, which `keras.models.load_model` reads, here and in Keras 3.

        Arguments:
            filepath (path): the file; it must end in `.keras`.

        Errors:
            ValueError: another name; a layer of your own has layers inside it that have weights.
        """
        if not str(filepath).endswith(".keras"):
            raise ValueError(f"{filepath}: FeatureSpace {self.name!r} is saved in a file that ends in .keras.")
        for name, layer in self.preprocessors.items():
            if any(inside.weights for inside in sublayers(layer)):
                raise ValueError(
                    f"{filepath}: the preprocessor of {name!r} has layers inside that have weights, which have no "
                    "place in the file: save it by itself."
                )
        built = {name: layer.get_build_config() for name, layer in self.preprocessors.items()}
        entry = {**keras3_entry.entry("keras.utils", "FeatureSpace", self.get_config()), BUILD: built}
        metadata = {"keras_version": KERAS3_VERSION, "date_saved": f"{datetime.now():%Y-%m-%d@%H:%M:%S}"}
        archive.write(filepath, entry, metadata, self._write)

    def _write(self, file: h5py.Group) -> None:
        for name, folder in self._folders().items():
            store: dict[str, Any] = {}
            self.preprocessors[name].save_own_variables(store)
            for key, value in store.items():
                file[f"{folder}/vars/{key}"] = value

    def _folders(self) -> dict[str, str]:
        """Where a file has what belongs to the preprocessor of each feature."""
        met: Counter[str] = Counter()
        found = {}
        for name, layer in self.preprocessors.items():
            kind = snake_case(type(layer).__name__)
            found[name] = f"preprocessors/{kind}_{met[kind]}" if met[kind] else f"preprocessors/{kind}"
            met[kind] += 1
        return found

    def _take(self, file: h5py.Group) -> None:
        """Set the weights of the preprocessors to those in a file."""
        for name, folder in self._folders().items():
            layer = self.preprocessors[name]
            if layer.weights:
                group = hdf5.group_in(file, f"{folder}/vars")
                layer.load_own_variables({key: hdf5.values(each) for key, each in hdf5.members(group).items()})


def is_stored(path: Path_) -> bool:
    """Whether a file is one of a `FeatureSpace`, by the beginning of its config."""
    if not Path(path).is_file() or not archive.is_archive(path):
        return False
    try:
        with zipfile.ZipFile(path) as found, found.open(archive.CONFIG) as text:
            return b'"class_name": "FeatureSpace"' in text.read(100)
    except archive.DAMAGE:  # `archive.opened` says what it is
        return False


def load(path: Path_) -> FeatureSpace:
    """The `FeatureSpace` in a file. Raises ModelFileError where it cannot be read."""
    with archive.opened(path) as found, found.weights() as weights:
        entry = found.config
        if not isinstance(entry, Mapping) or not isinstance(entry.get("config"), Mapping):
            raise UnreadableFileError(f"{path}: its config must be that of a FeatureSpace.")
        with dialect.known_anew():
            made = FeatureSpace.from_config(entry["config"])
        for name, built in (entry.get(BUILD) or {}).items():
            if built and not made.preprocessors[name].built:
                made.preprocessors[name].build_from_config(built)
        made._take(weights)
        _take_vocabularies(made, found)
    made._is_adapted = True
    return made


def _take_vocabularies(space: FeatureSpace, found: archive.Archive) -> None:
    """Give the lookups that lack a vocabulary those that genuine Keras stores beside the config."""
    lacking = [name for name, layer in space.preprocessors.items() if getattr(layer, "vocabulary", ()) is None]
    if not lacking or not found.assets:
        return
    with TemporaryDirectory(prefix="torchkeras-") as made:
        found.extract_assets(Path(made))
        for name, folder in space._folders().items():
            file, layer = Path(made, folder, "vocabulary.txt"), space.preprocessors[name]
            if name in lacking and file.is_file():
                read = int if isinstance(layer, base_layers.IntegerLookup) else str
                where = f"{found.path}: {folder}/{file.name}"
                layer.set_vocabulary(vocabularies.tokens(file.read_text(encoding="utf-8"), read, where))


# --- helpers ---------------------------------------------------------------------------------------------------------


def _check_option(who: str, option: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{who}: invalid value for argument `{option}`: it must be one of {allowed}; found {value!r}.")


def _named(kind: str, name: str | None) -> str:
    """The name of a preprocessor."""
    return f"{count_name(kind) if name is None else name}_preprocessor"


def _is_adaptable(layer: Any) -> bool:
    """Whether a layer finds something in data, and has not got it as an option."""
    if isinstance(layer, base_layers.Normalization):
        return layer.adapts
    if isinstance(layer, base_layers.Discretization):
        return layer.num_bins is not None
    return hasattr(layer, "adapt") and not getattr(layer, "_is_given", False)


def _iterated(data: Any) -> Iterable[Any]:
    if not isinstance(data, Iterable):
        raise ValueError(
            "FeatureSpace: adapt takes a dict of columns, or an iterable of dicts such as a DataLoader; found "
            f"{type(data).__name__}."
        )
    return data


def _host(values: Any) -> np.ndarray:
    """A column as an array."""
    return values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)


def _as_rows(values: Any) -> Any:
    """An array or a tensor with an axis for the samples, and at least one more."""
    return values.reshape(-1, 1) if values.ndim < 2 else values


def _of_sample(values: Any) -> Any:
    return values[0] if len(values) == 1 else values


def _depth(name: str, layer: Any) -> int:
    """How many integers a layer may return."""
    if isinstance(layer, (base_layers.IntegerLookup, base_layers.StringLookup)):
        return layer.vocabulary_size()
    if isinstance(layer, base_layers.Discretization):
        return layer.num_bins or len(layer.bin_boundaries) + 1
    if isinstance(layer, base_layers.CategoryEncoding):
        return layer.num_tokens
    if isinstance(layer, (base_layers.Hashing, base_layers.HashedCrossing)):
        return layer.num_bins
    raise ValueError(
        f"FeatureSpace: the feature {name!r} has output_mode 'one_hot', and its preprocessor {type(layer).__name__} "
        "does not say how many integers it may return: use 'int' or 'float'."
    )


def _entry(part: Feature | Cross) -> dict[str, Any]:
    """A feature or a cross as genuine files have it."""
    name = type(part).__name__
    config = serialize_keras_object(part.get_config())
    return {**keras3_entry.entry(MODULE, name, config), "registered_name": name}
