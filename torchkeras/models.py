"""`Model` and `Sequential`, and models to and from files."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, overload

from torch import nn

from torchkeras import bytecode, registry
from torchkeras.dtype_policy import DTypePolicy, policy_of
from torchkeras.engine.fit.trainer import Trainer
from torchkeras.engine.graph import trace
from torchkeras.engine.graph.input import Input, InputLayer
from torchkeras.engine.graph.network import Network
from torchkeras.engine.graph.replace_layer import outputs_with
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.nested import put_together
from torchkeras.engine.layer.symbolic import KerasTensor, Shape, as_list, unpacked
from torchkeras.layers.torch_module import as_layer
from torchkeras.legacy.arguments import old_names
from torchkeras.saving import load, save
from torchkeras.saving.containers import json_text, yaml_text
from torchkeras.saving.data_format.convert import convert_data_format, transfer_weights
from torchkeras.saving.dialects import modern
from torchkeras.saving.graph_config import connect, graph_config, in_structure, layer_config, model_from_config, to_json
from torchkeras.saving.load import Taking

__all__ = [
    "Input",
    "InputLayer",
    "Model",
    "Sequential",
    "clone_model",
    "convert_data_format",
    "load_model",
    "model_from_config",
    "model_from_json",
    "model_from_yaml",
    "save_model",
    "transfer_weights",
]


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
            self._give_policy(policy_of(dtype), told=False)

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
                "weights (save_weights) and make it by its class again, or give that a get_config and a from_config."
            )
        self._warn_of_added()
        return graph_config(self.name, self._graphed, (self._input_form, self._output_form))

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Model:
        """A new model with fresh weights.

        Arguments:
            config (dict): what `get_config` returned.
            custom_objects (dict or None, default None): your own classes and functions by name.

        Returns:
            The model, not compiled.

        Errors:
            ValueError: the config has another form.

        Example:
            >>> inputs = Input((4,))
            >>> model = Model(inputs, Dense(2)(inputs))
            >>> Model.from_config(model.get_config()).output_shape
            (None, 2)
        """
        inputs, outputs = in_structure(config, *connect(config, custom_objects))
        return cls(inputs, outputs, name=config.get("name"))

    def to_json(self, **options: Any) -> str:
        """The architecture as JSON.

        Arguments:
            options (any): further options for `json.dumps`, such as `indent=2`.

        Returns:
            The text; `model_from_json` reads it.
        """
        return to_json(self, **options)

    def to_yaml(self) -> str:
        """The architecture as YAML.

        Returns:
            The text; `model_from_yaml` reads it.

        Errors:
            ImportError: the package PyYAML is missing: `pip install torchkeras[yaml]`.
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
    ) -> Any:
        """Set the weights from a file of weights, or of a whole model.

        After an error the weights are as before.

        Arguments:
            filepath (path): the file, written by any Keras or by torchkeras.
            by_name (bool, default False): whether layers are paired by their names; otherwise they are paired in order.
            skip_mismatch (bool, default False): with `by_name`, whether layers whose weights have other shapes are left
                alone.
            reshape (bool, default False): whether an array with as many values takes the shape of the weight.
            original_backend (text or None, default None): the backend on which a model of Keras 1 was trained, such
                as "theano", where its file does not say so.
            original_data_format (text or None, default None): "channels_last" or "channels_first", the data format of
                the weights, where their file does not say so. Weights of the other format than the model's are
                converted.
            report (bool, default False): whether to return what was done.
            isolated (bool, default False): whether another process, with limits of time and memory, reads the file.

        Returns:
            With `report` a `Report`, which has a row for each weight; otherwise None.

        Errors:
            ModelFileError: the file cannot be read, or its weights are not those of the model.
            RuntimeError: the model has no weights yet, since its input shape is not known.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,))])
            >>> model.save_weights("model.weights.h5")
            >>> model.load_weights("model.weights.h5")
        """
        taking = Taking(by_name, skip_mismatch, reshape, original_backend, original_data_format)
        self._check_has_weights()
        found = load.load_weights(self, filepath, taking, isolated)
        return found if report else None

    def save(self, filepath: str | os.PathLike[str], overwrite: bool = True, include_optimizer: bool = True) -> None:
        """Write the whole model: architecture, weights and, when it is compiled, optimizer, losses and metrics.

        Arguments:
            filepath (path): the file. `.keras` is written as Keras 3 does, other names as Keras 2.2.4 does.
            overwrite (bool, default True): whether a file that is there is replaced.
            include_optimizer (bool, default True): whether optimizer, losses and metrics are written.

        Errors:
            FileExistsError: the file is there, and `overwrite` is False.
            ValueError: Keras 3 does not have a layer or option, for a `.keras` file.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,))])
            >>> model.save("model.keras")
        """
        save.write_model(self, filepath, overwrite, include_optimizer)

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
            ImportError: the packages of `torchkeras[onnx]` are missing.
        """
        exporting = importlib.import_module("torchkeras.export.exporting")  # an annex, as for `eject`
        exporting.export(self, filepath, format, input_signature, opset_version)
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
        return importlib.import_module("torchkeras.export.plain.eject").eject(self, folder, overwrite, weights)


class Sequential(Model):
    """Layers one after another: `Sequential([Dense(8, input_shape=(4,)), Dense(1)])`.

    The model is built at once when the first layer has an `input_shape`; otherwise when it first sees an input.

    Options:
        layers (list of layers or None, default None): the layers, or modules of torch; `add` adds more.
        name (text or None, default None): the name of the model.
        dtype (name, DTypePolicy or None, default None): the policy of the layers without one of their own, such as
            "mixed_bfloat16"; see `dtype_policy`.

    Errors:
        TypeError: something else than a layer is added.
        ValueError: a layer does not fit its input.

    Example:
        >>> model = Sequential([Dense(8, activation="relu", input_shape=(4,)), Dense(1)])
        >>> model(torch.zeros(3, 4)).shape
        torch.Size([3, 1])

    Source: https://keras.io/api/models/sequential/
    """

    def __init__(self, layers: Any = None, name: str | None = None, dtype: Any = None):
        """Make a model of layers one after another, or of none yet."""
        if isinstance(name, nn.Module):
            raise TypeError("Sequential takes its layers in one list: Sequential([first, second]).")
        self._stack: list[Layer] = []
        self._begins_with_input = False
        self._branches: list[Layer] = []
        Network.__init__(self, name=name)
        self._layers_policy: DTypePolicy | None = None if dtype is None else policy_of(dtype)
        for layer in as_list(layers):
            self.add(layer)

    def add(self, layer: nn.Module | KerasTensor) -> None:
        """Put a layer on top.

        Arguments:
            layer (layer, module of torch or Input): the layer; an `Input` goes below all.

        Errors:
            TypeError: it is something else.
            ValueError: it does not fit.

        Example:
            >>> model = Sequential([Dense(8, input_shape=(4,))])
            >>> model.add(Dense(1))
            >>> model.output_shape
            (None, 1)
        """
        if isinstance(layer, KerasTensor) and isinstance(layer._keras_history.layer, InputLayer):
            layer = layer._keras_history.layer
        layer = as_layer(layer)
        if not isinstance(layer, Layer):
            raise TypeError(
                f"The added layer must be an instance of class Layer. Found: {layer!r} ({type(layer).__name__})."
                + (f" Make a layer of the class: {layer.__name__}(...)." if isinstance(layer, type) else "")
            )
        self._give_own_policy(layer)
        if isinstance(layer, InputLayer):
            if self._stack or self._graph is not None:
                raise ValueError(f"Sequential {self.name!r}: an InputLayer can only come first; found {layer.name!r}.")
            self._begins_with_input = True
            self._connect_stack(layer.input, [])
        elif self._graph is not None:
            self._connect_stack(self.inputs, [layer])
        elif not self._stack and _begins_a_graph(layer):
            self._connect_branches(layer)
            return
        elif not self._stack and (tensor := _first_input(layer)) is not None:
            self._connect_stack(tensor, [layer])
        if not isinstance(layer, InputLayer):
            self._stack.append(layer)
        if self._graph is None:
            self._hold(self._stack)

    def _replace(self, old: Layer, value: nn.Module) -> Layer:
        new = super()._replace(old, value)
        self._stack = [new if layer is old else layer for layer in self._stack]
        return new

    def _give_own_policy(self, layer: Layer) -> None:
        if self._layers_policy is None:
            return
        if isinstance(layer, Network):
            layer._give_policy(self._layers_policy, told=False)
        elif layer._facts.casts and not layer._tells_policy:
            layer._take_policy(self._layers_policy)

    def _connect_branches(self, layer: Layer) -> None:
        """Begin with a layer that was called already, such as Keras 1's Merge, and take the graph before it."""
        inputs, self._branches = trace.before(layer.output)
        self._connect(inputs, layer.output)
        self._stack = [found for found in self._graphed.layers if not isinstance(found, InputLayer)]

    def _connect_stack(self, inputs: Any, layers: list[Layer]) -> None:
        output = inputs if self._graph is None else self.outputs[0]
        for layer in layers:
            output = layer(output)
            if isinstance(output, list):
                raise TypeError(
                    f"All layers in a Sequential model should have a single output tensor; {layer.name!r} has "
                    f"{len(output)}. For several outputs use Model."
                )
        self._connect(inputs, output)

    def pop(self) -> None:
        """Take the last layer away. Raises TypeError when there is none."""
        if not self._stack:
            raise TypeError("There are no layers in the model.")
        removed = self._stack.pop()
        if self._graph is None:
            self._hold(self._stack)
            return
        node = removed._inbound_nodes.pop()
        for tensor in node.input_tensors:
            tensor._keras_history.layer._outbound_nodes.remove(node)
        if self._stack or self._begins_with_input:
            self._connect(self.inputs, node.inputs)
        else:
            self._graph, self.built = None, False
            self._hold([])

    def build(self, input_shape: Any = None) -> None:
        """Connect the layers and make their weights, if that has not happened yet.

        Arguments:
            input_shape (tuple, default None): the shape of the input with the batch axis, such as (None, 4).

        Errors:
            ValueError: there is no shape, or no layer.

        Example:
            >>> model = Sequential([Dense(2)])
            >>> model.build((None, 4))
            >>> model.count_params()
            10
        """
        if self._graph is not None:
            return
        if input_shape is None or not self._stack:
            raise ValueError(f"Sequential {self.name!r}: build needs an input shape and at least one layer.")
        self._connect_stack(_input_for(self._stack[0], input_shape), self._stack)

    def _build(self, input_shapes: list[Shape]) -> None:
        if not self.built:
            shape = input_shapes[0]
            self.build(shape if any(layer.stateful for layer in self._stack) else (None, *shape[1:]))
        super()._build(input_shapes)

    @property
    def layers(self) -> list[Layer]:
        """The layers that were added, without the input."""
        return list(self._stack)

    @property
    def _layers_of_keras1(self) -> list[Layer]:
        """The layers in the order of Keras 1: branch by branch, where several branches begin the model."""
        return [*self._branches, *self._stack[len(self._branches) :]]

    @property
    def _class_name(self) -> str:
        """The class in a config: "Model" when several branches begin the model, which a list of layers cannot say."""
        return "Model" if self._branches else super()._class_name

    def get_config(self) -> dict[str, Any]:
        """The name and the layers' configs; the input's shape is in the first layer's config."""
        if self._branches:
            return super().get_config()
        self._warn_of_added()
        return {"name": self.name, "layers": [layer_config(layer) for layer in self._listed()]}

    def _listed(self) -> list[Layer]:
        if not self._stack or self._graph is None:
            return self._stack
        first, history = self._stack[0], self.inputs[0]._keras_history
        if first.batch_input_shape is None and not isinstance(first, Network):
            return [history.layer, *self._stack]
        return self._stack

    @classmethod
    def from_config(cls, config: Any, custom_objects: Mapping[str, Any] | None = None) -> Model:
        """A new model with fresh weights. A model that began with several branches comes back as a `Model`.

        Arguments:
            config (dict or list): what `get_config` returned, or the plain list of layers that Keras wrote before
                2.2.3.
            custom_objects (dict or None, default None): your own classes and functions by name.

        Returns:
            The model, not compiled.
        """
        if "input_layers" in config:
            return Model.from_config(config, custom_objects)
        name, layers = (None, config) if isinstance(config, (list, tuple)) else (config.get("name"), config["layers"])
        return cls([registry.layers.from_config(entry, custom_objects) for entry in layers], name=name)

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """`predict`, under its older name.

        Arguments:
            x (array): the inputs.
            batch_size (positive integer, default 32): samples in a batch.
            verbose (integer, default 0): 1 shows a bar, 2 a line.

        Returns:
            The outputs as a NumPy array.
        """
        return self.predict(x, batch_size, verbose)

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The class numbers: the largest of several outputs, or whether a single output is over 0.5.

        Arguments:
            x (array): the inputs.
            batch_size (positive integer, default 32): samples in a batch.
            verbose (integer, default 0): 1 shows a bar, 2 a line.

        Returns:
            The class numbers as a NumPy array.
        """
        scores = self.predict(x, batch_size, verbose)
        return scores.argmax(-1) if scores.shape[-1] > 1 else (scores > 0.5).astype("int32")


def _begins_a_graph(layer: Layer) -> bool:
    """Whether a layer has been called on other tensors already; a model's first node is itself."""
    return not isinstance(layer, Network) and len(layer._inbound_nodes) == 1


def _first_input(layer: Layer) -> KerasTensor | None:
    """The input that a first layer asks for by its options; None when it does not."""
    if not isinstance(layer, Network):
        return None if layer.batch_input_shape is None else _input_for(layer, layer.batch_input_shape)
    if layer._graph is None:
        return None
    inner = layer.inputs[0]
    return Input(batch_shape=inner.shape, dtype=inner.dtype, name=f"{layer.name}_input")


def _input_for(layer: Layer, batch_shape: Any) -> KerasTensor:
    """An input of this shape and of the type that a first layer takes."""
    dtype = getattr(layer, "input_dtype", None) or layer.dtype
    return Input(batch_shape=batch_shape, dtype=dtype, name=f"{layer.name}_input")


def clone_model(model: Model, input_tensors: Any = None) -> Model:
    """The same architecture with new layers and fresh weights.

    Arguments:
        model (model): the model; it stays as it is.
        input_tensors (symbolic tensors or None, default None): the inputs of the new model; None makes new ones.

    Returns:
        The new model, not compiled.

    Errors:
        ValueError: the number of inputs is another.

    Example:
        >>> model = Sequential([Dense(2, input_shape=(4,))])
        >>> clone_model(model).output_shape
        (None, 2)

    Source: https://keras.io/api/models/model/
    """
    if input_tensors is None:
        return type(model).from_config(model.get_config())
    given = as_list(input_tensors)
    if len(given) != len(model.inputs):
        raise ValueError(f"clone_model: {model.name!r} has {len(model.inputs)} inputs; found {len(given)}.")
    if isinstance(model, Sequential):
        clone = Sequential(name=model.name)
        clone.add(given[0]._keras_history.layer)
        for layer in model.layers:
            clone.add(type(layer).from_config({**layer.get_config(), "batch_input_shape": None}))
        return clone
    inputs, outputs = connect(model.get_config(), given=dict(zip(model.input_names, given, strict=True)))
    return Model(unpacked(inputs), unpacked(outputs), name=model.name)


def save_model(
    model: Model, filepath: str | os.PathLike[str], overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Write the whole model to a file: `model.save(...)`.

    Arguments:
        model (model): the model.
        filepath (path): the file. `.keras` is written as Keras 3 does, other names as Keras 2.2.4 does.
        overwrite (bool, default True): whether a file that is there is replaced.
        include_optimizer (bool, default True): whether optimizer, losses and metrics are written.

    Errors:
        FileExistsError: the file is there, and `overwrite` is False.
        ValueError: Keras 3 does not have a layer or option, for a `.keras` file.

    Example:
        >>> save_model(Sequential([Dense(2, input_shape=(4,))]), "model.h5")

    Source: https://keras.io/api/models/model_saving_apis/
    """
    model.save(filepath, overwrite, include_optimizer)


def model_from_json(
    json_string: str, custom_objects: Mapping[str, Any] | None = None, lambdas: str = bytecode.READ
) -> Any:
    """A new model, with fresh weights, from the JSON that `to_json` of any Keras wrote.

    Arguments:
        json_string (text): the JSON.
        custom_objects (dict or None, default None): your own classes and functions by name.
        lambdas (text, default "read"): what is done with functions that the text has as bytecode and that
            `custom_objects` does not replace: "read" takes those that are formulas, without running them; "refuse"
            takes none.

    Returns:
        The model, not compiled.

    Errors:
        UnreadableFileError: the text is no JSON.
        ArchitectureError: the architecture cannot be built; further errors are those of `model_from_config`.

    Example:
        >>> text = Sequential([Dense(2, input_shape=(4,))]).to_json()
        >>> model_from_json(text).output_shape
        (None, 2)

    Source: https://keras.io/api/models/model_saving_apis/
    """
    return _from_text(json_text.parse(json_string, "The architecture"), custom_objects, lambdas)


def model_from_yaml(
    yaml_string: str, custom_objects: Mapping[str, Any] | None = None, lambdas: str = bytecode.READ
) -> Any:
    """A new model, with fresh weights, from the YAML that `to_yaml` wrote. Tags of YAML are not followed.

    Arguments:
        yaml_string (text): the YAML.
        custom_objects (dict or None, default None): your own classes and functions by name.
        lambdas (text, default "read"): what is done with functions that the text has as bytecode and that
            `custom_objects` does not replace: "read" takes those that are formulas, without running them; "refuse"
            takes none.

    Returns:
        The model, not compiled.

    Errors:
        ImportError: the package PyYAML is missing: `pip install torchkeras[yaml]`.
        UnreadableFileError: the text is no YAML.
        ArchitectureError: the architecture cannot be built; further errors are those of `model_from_config`.

    Example:
        >>> text = Sequential([Dense(2, input_shape=(4,))]).to_yaml()
        >>> model_from_yaml(text).output_shape
        (None, 2)

    Source: Keras 2.2.4, https://github.com/keras-team/keras/blob/2.2.4/keras/engine/saving.py
    """
    return _from_text(yaml_text.parse(yaml_string), custom_objects, lambdas)


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
        report (bool, default False): whether to return what was done with each weight too.
        isolated (bool, default False): whether another process, with limits of time and memory, reads the file.
        lambdas (text, default "read"): what is done with functions that the file has as bytecode and that
            `custom_objects` does not replace: "read" takes those that are formulas, without running them; "refuse"
            takes none.

    Returns:
        The model; with `report` a pair of the model and a `Report`.

    Errors:
        FileNotFoundError: there is no such file.
        ModelFileError: the file cannot be read, or the model cannot be built.

    Example:
        >>> Sequential([Dense(2, input_shape=(4,))]).save("model.h5")
        >>> load_model("model.h5").output_shape
        (None, 2)

    Source: https://keras.io/api/models/model_saving_apis/
    """
    taking = Taking(original_backend=original_backend, original_data_format=original_data_format)
    model, found = load.load_model(filepath, custom_objects, compile, taking, isolated, lambdas)
    return (model, found) if report else model
