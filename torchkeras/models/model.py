"""`Model`: a network between symbolic inputs and outputs, with training, files and export."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, overload

from torch import nn

from torchkeras import registry
from torchkeras.base.annexes import annex
from torchkeras.base.dtype_policy import policy_of
from torchkeras.base.naming import name_methods
from torchkeras.base.nested import put_together
from torchkeras.base.rules import FLAG_OR_DIGIT, check, read_path
from torchkeras.base.shards import refuse
from torchkeras.engine.fit.trainer import Trainer
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.replace_layer import outputs_with
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import unpacked
from torchkeras.layers.torch_module import as_layer
from torchkeras.legacy.arguments import old_names
from torchkeras.saving import load, save
from torchkeras.saving.containers import yaml_text
from torchkeras.saving.graph_config import connect, graph_config, in_structure, to_json
from torchkeras.saving.load import Taking
from torchkeras.saving.ties import warn_of_ties
from torchkeras.visualization import summary
from torchkeras.visualization.notebook import graph_html, model_html


class Model(Trainer, Network):
    """A model between symbolic inputs and outputs: `Model(inputs, outputs)`.

    A class of your own may have a `call` or a `forward` in place of inputs and outputs, as in Keras and in torch.

    Options:
        inputs (tensor, list or dict of tensors, default None): the symbolic inputs.
        outputs (tensor, list or dict of tensors, default None): the symbolic outputs, computed from the inputs.
        name (text or None, default None): the name of the model.
        dtype (name, DTypePolicy or None, default None): the policy of the layers without one of their own, such as
            "mixed_bfloat16"; see `dtype_policy`.

    Errors:
        ValueError: an output cannot be computed from the inputs.
        TypeError: an input or output is no symbolic tensor.

    Example:
        >>> inputs = Input((4,))
        >>> model = Model(inputs, Dense(2)(inputs))
        >>> model(torch.zeros(3, 4)).shape
        torch.Size([3, 2])

    Source: https://keras.io/api/models/model/
    """

    @overload
    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, dtype: Any = None) -> None: ...
    @overload
    def __init__(self, *, name: str | None = None, dtype: Any = None) -> None: ...  # of a class with code of its own
    @old_names("Model")
    def __init__(self, inputs: Any = None, outputs: Any = None, name: str | None = None, dtype: Any = None):
        """Make a model between symbolic inputs and outputs; of a class with code of its own, without any."""
        super().__init__(name=name)
        if inputs is None and outputs is None and self._has_own_code:
            return
        if inputs is None or outputs is None:
            layers = isinstance(inputs, (list, tuple)) and any(isinstance(each, nn.Module) for each in inputs)
            raise TypeError(
                f"{type(self).__name__}: a model is made of inputs and outputs, or is of a class with a `call` or "
                f"`forward` of its own; found {'no inputs' if inputs is None else 'no outputs'}."
                + " Sequential makes a model of a list of layers."
                * layers
            )
        self._connect(inputs, outputs)
        if dtype is not None:
            self._give_policy(policy_of(dtype), override=False)

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Any = None,
        show_trainable: bool = False,
        expand_nested: bool = False,
        flops: bool | int = False,
        layer_range: Any = None,
    ) -> None:
        """Print the table of layers: name and type, output shape, parameters, and in a graph what each is connected to.

        Arguments:
            line_length (integer or None, default None): characters in a line.
            positions (list or None, default None): where columns end, in characters or as fractions of the line.
            print_fn (function or None, default None): called with each line in place of `print`.
            show_trainable (bool, default False): whether to say if each layer trains: "Y", "N", "some" of its
                weights, or "-" for one without weights.
            expand_nested (bool, default False): whether to show the layers of models inside too.
            flops (bool or positive integer, default False): whether to show the floating-point operations of each
                layer, over all its calls, in one sample's forward pass: those of products, convolutions and attention,
                a multiply-add being 2. A number is the size to take for unknown axes.
            layer_range (pair or None, default None): the names, or regular expressions, of the first and the last layer
                to print; the totals stay the model's.

        Errors:
            RuntimeError: the model has no graph yet.
            ValueError: an option has a bad value, or `flops=True` meets an unknown axis.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,))])
            >>> lines = []
            >>> model.summary(print_fn=lines.append)
            >>> any("Total params: 10" in line for line in lines)
            True

        Source: https://keras.io/api/models/model/
        """
        summary.print_summary(
            self, self._graphed, line_length, positions, print_fn, show_trainable, expand_nested, flops, layer_range
        )

    def _repr_html_(self) -> str:
        """The table of layers and the graph, for notebooks."""
        return model_html(self) + graph_html(self)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, nn.Module) and self.__dict__.get("_graph") is not None:
            keys = self._layer_keys()
            old = next((layer for layer, key in keys.items() if name in (key, layer.name)), None)
            if old is value:
                return
            if old is not None:
                self._replace(old, value)
                return
        super().__setattr__(name, value)

    def _replace(self, old: Layer, value: nn.Module) -> Layer:
        """Put a layer, or a module of torch, in place of a layer of the graph."""
        new = as_layer(value)
        if new is not value:
            new.name = old.name
        outputs = outputs_with(self._graphed, old, new)
        inputs = self._graphed.inputs
        self._connect(
            unpacked(inputs) if self._input_form is None else put_together(self._input_form, inputs),
            unpacked(outputs) if self._output_form is None else put_together(self._output_form, outputs),
        )
        self.__dict__["_compiled_model"] = None
        return new

    def get_config(self) -> dict[str, Any]:
        """The architecture: layers with their configs and connections.

        A warning says when `add_loss` or `add_metric` gave the model something, which no config holds.

        Returns:
            A dict of plain values.

        Errors:
            NotImplementedError: the class computes by code of its own, which no config holds.
        """
        if self._graph is None and self._has_own_code:
            raise NotImplementedError(
                f"{type(self).__name__} {self.name!r} computes by the code of its class, which no file holds: save its "
                "weights (save_weights) and make it by its class again, or give that a get_config, and a from_config "
                "that calls build."
            )
        self._warn_of_added()
        with registry.layers.writing(self) as written:
            config = graph_config(self.name, self._graphed, (self._input_form, self._output_form))
        return self._said_frozen(self._with_ties(config, written))

    def _with_ties(self, config: dict[str, Any], written: registry.Written) -> dict[str, Any]:
        """A config; warns of what it does not hold where it is not a part of another."""
        if not written.owners:
            warn_of_ties(self, written.held)
        return config

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Model:
        """A new model with fresh weights.

        Arguments:
            config (dict): what `get_config` returned.
            custom_objects (dict or None, default None): your own classes and functions by name.

        Returns:
            The model, not compiled.

        Errors:
            ValueError: the config has another form, or the class computes by code of its own.

        Example:
            >>> inputs = Input((4,))
            >>> model = Model(inputs, Dense(2)(inputs))
            >>> Model.from_config(model.get_config()).output_shape
            (None, 2)
        """
        if cls._has_own_code and "layers" not in config:
            raise ValueError(
                f"{cls.__name__} computes by the code of its class: it needs a from_config of its own, which makes it "
                "of what its get_config returned and calls build."
            )
        with registry.layers.reading():
            inputs, outputs = in_structure(config, *connect(config, custom_objects))
        return cls(inputs, outputs, name=config.get("name"))._frozen_as(config)

    def _said_frozen(self, config: dict[str, Any]) -> dict[str, Any]:
        """A config that says it where the model is not `trainable`; Keras 2.2.4 writes nothing of it."""
        return config if self.trainable else {**config, "trainable": False}

    def _frozen_as(self, config: Mapping[str, Any]) -> Any:
        """The model, `trainable` as a config says."""
        trainable = config.get("trainable", True)
        if trainable is not True:  # else all layers inside would be visited, at each level of models in models
            self.trainable = trainable
        return self

    def to_json(self, **options: Any) -> str:
        """The architecture as JSON.

        Arguments:
            options (any): further options for `json.dumps`, such as `indent=2`.

        Returns:
            The text; `model_from_json` reads it.

        Errors:
            TypeError: an option that `json.dumps` does not have.
        """
        return to_json(self, **options)

    def to_yaml(self) -> str:
        """The architecture as YAML.

        Returns:
            The text; `model_from_yaml` reads it.

        Errors:
            ImportError: the package PyYAML is missing: `pip install torchkeras-graph[yaml]`.
        """
        return yaml_text.dump(json.loads(to_json(self)))

    def save_weights(self, filepath: str | os.PathLike[str], overwrite: bool = True) -> None:
        """Write the weights to a file; its suffix says how.

        Arguments:
            filepath (path): the file. `.h5` and other names are written as Keras 2.2.4 does, `.weights.h5` as Keras 3
                does; docs/files.md has a table of all.
            overwrite (bool, default True): whether a file that is there is replaced.

        Errors:
            FileExistsError: the file is there, and `overwrite` is False.
            RuntimeError: the model has no weights yet, since its input shape is not known.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,))])
            >>> model.save_weights("model.weights.h5")
        """
        self._check_has_weights()
        save.write_weights(self, filepath, overwrite)

    def load_weights(
        self,
        filepath: str | os.PathLike[str],
        by_name: bool = False,
        skip_mismatch: bool = False,
        reshape: bool = False,
        original_backend: str | None = None,
        original_data_format: str | None = None,
        report: bool = False,
        isolated: bool = False,
        strict: bool = True,
    ) -> Any:
        """Set the weights from a file of weights, or of a whole model.

        After an error the weights are as before.

        Arguments:
            filepath (path): the file, written by any Keras or by torchkeras.
            by_name (bool, default False): whether layers are paired by their names, and others left alone; otherwise
                they are paired in order, in `.weights.h5` within each class, in `.safetensors` and `.pt` by names.
            skip_mismatch (bool, default False): whether layers whose weights have other shapes, or are not in the file,
                are left alone, with a warning for each: to go on from a model with another head.
            reshape (bool, default False): whether an array with as many values takes the shape of the weight.
            original_backend (text or None, default None): the backend on which a model of Keras 1 was trained, such
                as "theano", where its file does not say so.
            original_data_format (text or None, default None): "channels_last" or "channels_first", the data format of
                the weights, where their file does not say so. Weights of the other format than the model's are
                converted.
            report (bool, default False): whether to return what was done.
            isolated (bool, default False): whether another process, with limits of time and memory, reads the file.
            strict (bool, default True): whether what looks like damage of an HDF5 file, and may be an edit of it, is an
                error; otherwise it is a warning.

        Returns:
            With `report` a `Report`, which has a row for each weight; otherwise None.

        Errors:
            ModelFileError: the file cannot be read, or its weights are not those of the model.
            RuntimeError: the model has no weights yet, since its input shape is not known.
            TypeError: `filepath` is no path.
            ValueError: another argument has a bad value.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,))])
            >>> model.save_weights("model.weights.h5")
            >>> model.load_weights("model.weights.h5")
        """
        read_path("load_weights", "filepath", filepath)
        check(
            "load_weights",
            FLAG_OR_DIGIT,
            by_name=by_name,
            skip_mismatch=skip_mismatch,
            reshape=reshape,
            report=report,
            isolated=isolated,
            strict=strict,
        )
        taking = Taking(by_name, skip_mismatch, reshape, original_backend, original_data_format, strict, bool(report))
        self._check_has_weights()
        return load.load_weights(self, filepath, taking, isolated)

    def save(self, filepath: str | os.PathLike[str], overwrite: bool = True, include_optimizer: bool = True) -> None:
        """Write the whole model: architecture, weights and, when it is compiled, optimizer, losses and metrics.

        Arguments:
            filepath (path): the file. Its suffix says how it is written: `.keras` as Keras 3 does, `.safetensors` and
                `.pt` for torch, `.h5` and other names as Keras 2.2.4 does; docs/files.md has a table of all. What the
                Keras of the form does not have is written under names of this package, with a warning.
            overwrite (bool, default True): whether a file that is there is replaced.
            include_optimizer (bool, default True): whether optimizer, losses and metrics are written.

        Errors:
            FileExistsError: the file is there, and `overwrite` is False.
            ValueError: the format has no form for the model; the error says which has.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,))])
            >>> model.save("model.keras")
        """
        save.write_model(self, filepath, overwrite, include_optimizer)

    def _check_saving(self, filepath: str, weights_only: bool, who: str) -> None:
        """Raise ValueError, in the name of `who`, if `save` or `save_weights` would refuse the model."""
        save.check_saving(self, filepath, weights_only, who)

    def export(
        self,
        filepath: str | os.PathLike[str],
        format: str | None = None,
        verbose: bool | None = None,
        input_signature: Any = None,
        opset_version: int | None = None,
    ) -> None:
        """Write the model, in evaluation mode, as a file that runs without torchkeras: `model.export("model.onnx")`.

        Inputs and outputs have the names of their layers, and unknown axes stay unknown. The file is compared with the
        model on random inputs before it takes its place.

        Arguments:
            filepath (path): the file; `.onnx` and `.pt2` say the format.
            format (text or None, default None): "onnx", or "torch" for a file of `torch.export`; for a name that says
                neither.
            verbose (bool or None, default None): whether to print a line when it is done.
            input_signature (shapes or None, default None): shapes, or what has a shape, for the inputs in order or by
                name; they fix axes that are unknown.
            opset_version (integer or None, default None): the version of ONNX's operators.

        Errors:
            ExportError: the model cannot be exported.
            ImportError: the packages of `torchkeras-graph[onnx]` are missing.
        """
        refuse(self.parameters(), "export")
        annex("export").export(self, filepath, format, input_signature, opset_version)
        if verbose:
            print(f"{filepath}: exported, and checked against the model.")

    def eject(self, folder: str | os.PathLike[str], overwrite: bool = False, weights: str = "safetensors") -> Path:
        """Write the model as plain PyTorch: `folder/model.py`, which imports torch alone, and its weights beside it.

        The folder is kept only when the written module, run where torchkeras cannot be imported, gives the model's
        outputs on random inputs.

        Arguments:
            folder (path): the folder.
            overwrite (bool, default False): whether a folder that an eject wrote is replaced.
            weights (text, default "safetensors"): "safetensors" for `model.safetensors`, or "pt" for `model.pt`.

        Returns:
            The folder.

        Errors:
            EjectError: a layer has no plain form.
            UnequalError: the outputs differ.
            FileExistsError: the folder is not empty; with `overwrite`, only when it holds other files than those of an
                eject.
        """
        refuse(self.parameters(), "eject")
        return annex("eject").eject(self, folder, overwrite, weights)


name_methods(Model, known=Layer)
