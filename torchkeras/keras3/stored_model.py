"""What a model of Keras 3 writes to files and takes from them."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torchkeras import models
from torchkeras.engine.facts import is_users_method
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.graph.trace import has_own_code
from torchkeras.engine.layer.layer import Layer as BaseLayer
from torchkeras.keras3.automatic import automatic_config, made_of
from torchkeras.keras3.lora import as_one_kernel, enable_as_options_say
from torchkeras.keras3.serialization import deserialize_keras_object, serialize_keras_object
from torchkeras.keras3.stored import SHAPE, Stored, as_shape, replaces
from torchkeras.saving import load, save
from torchkeras.saving.write.keras3_writing import keras3_form

WEIGHTS, INDEX = ".weights.h5", ".weights.json"
HUB = "hf://"


class StoredModel(Stored, models.Model, abstract=True):
    """The part of Keras 3's `Model` that files ask."""

    @classmethod
    def _keeps_config(cls, config: Any) -> bool:
        has_graph = "input_layers" in config or (issubclass(cls, models.Sequential) and "layers" in config)
        return super()._keeps_config(config) and not has_graph

    @classmethod
    def from_config(cls, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
        """A new model with the options of a config; that of a graph has its layers and their calls."""
        if cls._keeps_config(config):
            return made_of(cls, config)
        return super().from_config(config, custom_objects)

    def get_config(self) -> dict[str, Any]:
        """The architecture; of a class of your own with a `call`, the arguments of its constructor.

        Errors:
            NotImplementedError: the class has a `call`, and its constructor took other values than numbers and texts:
                give it a `get_config`.
        """
        cls, arguments = type(self), automatic_config(self)
        if not has_own_code(self) or (arguments is None and not is_users_method(cls, "get_config")):
            return super().get_config()
        return {"name": self.name, "trainable": self.trainable, "dtype": self._policy.name, **(arguments or {})}

    def save(  # type: ignore[override]
        self,
        filepath: str | os.PathLike[str],
        overwrite: bool = True,
        zipped: bool | None = None,
        include_optimizer: bool = True,
        **further: Any,
    ) -> None:
        """Write the whole model: architecture, weights and, when it is compiled, optimizer, losses and metrics.

        Arguments:
            filepath (path): the file. Its suffix says how it is written: `.keras` as Keras 3 does, `.safetensors` and
                `.pt` for torch, `.h5` and other names as Keras 2.2.4 does.
            overwrite (bool, default True): whether a file that is there is replaced.
            zipped (bool or None, default None): False for a folder of what a `.keras` archive has; its name must not
                end in `.keras`. None is True.
            include_optimizer (bool, default True): whether optimizer, losses and metrics are written.
            further (any): nothing else is taken.

        Errors:
            FileExistsError: the file is there, and `overwrite` is False.
            ValueError: the format has no form for the model, or for `zipped`; another option, such as the
                `save_format` of Keras 2.
        """
        for option, value in further.items():
            raise ValueError(f"save: there is no option {option!r} (found {value!r}); the suffix of the file says how.")
        if str(filepath).startswith(HUB):
            raise ValueError(
                f"{filepath}: save writes nothing to Hugging Face: save a folder with zipped=False, and upload it by "
                "huggingface_hub.HfApi().upload_folder."
            )
        if zipped is None or zipped:
            with as_one_kernel(self, adds=True):
                super().save(filepath, overwrite, include_optimizer)
            return
        self._check_has_weights()
        with as_one_kernel(self, adds=True):
            save.write_model(self, filepath, overwrite, include_optimizer, zipped=False)

    def save_weights(  # type: ignore[override]
        self,
        filepath: str | os.PathLike[str],
        overwrite: bool = True,
        max_shard_size: float | None = None,
        objects_to_skip: Sequence[BaseLayer] | None = None,
    ) -> None:
        """Write the weights to a file; its suffix says how.

        Arguments:
            filepath (path): the file: `.weights.h5` is written as Keras 3 does. With `max_shard_size` it is the index
                of several, and ends in `.weights.json`: `model.weights.json` lists `model_00000.weights.h5` and on.
            overwrite (bool, default True): whether a file that is there is replaced.
            max_shard_size (positive number or None, default None): the GB of weights in a file, at most; None for all
                weights in one file.
            objects_to_skip (list of layers or None, default None): layers that are not written, with those inside them;
                in `.weights.h5` and `.weights.json` alone.

        Errors:
            FileExistsError: the file is there, and `overwrite` is False.
            TypeError: `objects_to_skip` is no list of layers.
            ValueError: `max_shard_size` is no positive number, less than a weight takes, or missing for an index;
                `objects_to_skip` for another format.
        """
        skipped = _skipped("save_weights", objects_to_skip)
        with as_one_kernel(self, adds=True):
            if max_shard_size is not None:
                self._check_has_weights()
                save.write_shards(self, _index(filepath), overwrite, skipped, max_shard_size=max_shard_size)
                return
            if str(filepath).endswith(INDEX):
                raise ValueError(f"{filepath}: save_weights needs max_shard_size, the GB in a file, for an index.")
            if not skipped:
                super().save_weights(filepath, overwrite)
                return
            self._check_has_weights()
            save.write_weights(self, filepath, overwrite, skipped)

    def load_weights(  # type: ignore[override]
        self,
        filepath: str | os.PathLike[str],
        skip_mismatch: bool = False,
        by_name: bool = False,
        objects_to_skip: Sequence[BaseLayer] | None = None,
        **further: Any,
    ) -> Any:
        """Set the weights from a file of weights, or of a whole model. After an error the weights are as before.

        Arguments:
            filepath (path): the file, written by any Keras or by torchkeras.
            skip_mismatch (bool, default False): whether layers whose weights have other shapes, or are not in the
                file, are left alone, with a warning for each.
            by_name (bool, default False): whether layers are paired by their names.
            objects_to_skip (list of layers or None, default None): layers that stay as they are, with those inside
                them; of a file in Keras 3's form alone.
            further (any): further options of `torchkeras.Model.load_weights`, without `objects_to_skip`.

        Errors:
            ModelFileError: the file cannot be read, or its weights are not those of the model.
            TypeError: an option is unknown, or `objects_to_skip` is no list of layers.
            ValueError: `objects_to_skip` for a file of another form, or with further options.
        """
        skipped = _skipped("load_weights", objects_to_skip)
        with as_one_kernel(self, adds=False):
            if not skipped:
                return super().load_weights(filepath, by_name, skip_mismatch, **further)
            if further:
                raise ValueError(f"load_weights: objects_to_skip goes without {next(iter(further))!r}.")
            self._check_has_weights()
            return load.load_weights(self, filepath, load.Taking(by_name, skip_mismatch, objects_to_skip=skipped))

    def _take_up_values(self) -> None:
        enable_as_options_say(self)

    def to_json(self, **options: Any) -> str:
        """The architecture, and how the model is compiled, as JSON in Keras 3's form.

        Arguments:
            options (any): further options for `json.dumps`, such as `indent=2`.

        Returns:
            The text; `model_from_json` reads it.
        """
        return json.dumps(keras3_form(self)[0], **options)

    def get_build_config(self) -> dict[str, Any] | None:
        """The shape of the input of a model with a `call` of its own, once it is built; None for others."""
        if not has_own_code(self) or not self.built:
            return None
        shape = getattr(self, "input_shape", None)
        return None if shape is None else {SHAPE: shape}

    def build_from_config(self, config: Mapping[str, Any]) -> None:
        """Build a model with a `call` of its own with what `get_build_config` returned."""
        if has_own_code(self) and config.get(SHAPE) is not None:
            self.build(as_shape(config[SHAPE]))

    @property
    def _compiles_itself(self) -> bool:  # type: ignore[override]
        return replaces(type(self), ("compile", "compile_from_config", "get_compile_config"))

    def _own_compile_config(self) -> Any:
        """What `get_compile_config` of a class of the user's returns, as plain data; None for other classes."""
        if replaces(type(self), ("get_compile_config",)):
            return serialize_keras_object(self.get_compile_config()) or {}
        return None

    def _compile_itself(self, config: Any) -> bool:
        """Let a class of the user's compile the model as a `.keras` file says; return whether it is compiled."""
        if config and replaces(type(self), ("compile_from_config",)):
            self.compile_from_config(config)
        elif not replaces(type(self), ("compile",)):
            StoredModel.compile_from_config(self, config or {})
        else:
            warnings.warn(
                f"{type(self).__name__} {self.name!r} is not compiled: `compile()` was not called as part of model "
                "loading because the model's `compile()` method is custom. Call it, or let the class have "
                "get_compile_config and compile_from_config(config).",
                stacklevel=7,
            )
        if self.compiled and self._is_connected:
            training_of(self).ready()
        return self.compiled

    @property
    def compiled(self) -> bool:
        """Whether `compile` was called."""
        return training_of(self).is_compiled

    def get_compile_config(self) -> dict[str, Any] | None:
        """How the model is compiled, as plain data; None if it is not."""
        return keras3_form(self)[0]["compile_config"] or None

    def compile_from_config(self, config: Mapping[str, Any]) -> None:
        """Compile the model as `get_compile_config` returned.

        Arguments:
            config (dict): how it was compiled.

        Errors:
            TypeError: a loss, metric or optimizer is unknown.
        """
        self.compile(**deserialize_keras_object(config))


def _index(path: str | os.PathLike[str]) -> Path:
    """The path of an index of shards; for the name of a file of weights, with a warning, the index of that name."""
    found = Path(path)
    if not found.name.endswith(WEIGHTS):
        return found
    index = found.with_suffix(".json")
    warnings.warn(f"{path}: with max_shard_size the file is an index, {index}.", stacklevel=4)
    return index


def _skipped(what: str, objects: Any) -> Sequence[BaseLayer]:
    """The layers to skip. Raises TypeError for something else."""
    found = [] if objects is None else list(objects)
    for each in found:
        if not isinstance(each, BaseLayer):
            raise TypeError(f"{what}: objects_to_skip must be a list of layers; found {each!r:.200}.")
    return found
