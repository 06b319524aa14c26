"""`Model`: a network between symbolic inputs and outputs, with training, files and export."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Mapping
from functools import partial
from operator import is_
from pathlib import Path
from typing import Any, NoReturn, overload

import numpy as np
import torch
from torch import nn

from torchkeras import registry
from torchkeras.base import fixed_lists, python
from torchkeras.base.annexes import annex
from torchkeras.base.dtypes import policy_of
from torchkeras.base.extensions import replaceable
from torchkeras.base.fixed_lists import Layers, Losses, OutputNames
from torchkeras.base.naming import name_methods
from torchkeras.base.nested import leaves
from torchkeras.base.python import lazy_property
from torchkeras.base.rules import FLAG_OR_DIGIT, check, known_options, read_path, refuse_unknown
from torchkeras.base.texts import strings_as_tensors
from torchkeras.base.tracing import is_compiling
from torchkeras.callbacks.logs import History, Named
from torchkeras.data.raw_batch import unpack_x_y_sample_weight
from torchkeras.engine.building.building import building_alone
from torchkeras.engine.dtypes import take_policy
from torchkeras.engine.facts import is_own
from torchkeras.engine.fit import graph_losses, methods, one_batch
from torchkeras.engine.fit.custom_steps import overridable
from torchkeras.engine.fit.graph_losses import added_state, take_added_state, warn_of_added
from torchkeras.engine.fit.habits import Habits
from torchkeras.engine.fit.opening import Intake
from torchkeras.engine.fit.training import EARLIER, OF_STATE, Training
from torchkeras.engine.fit.turns import in_turn
from torchkeras.engine.graph.network import (
    Network,
    as_given,
    as_tensors,
    float_type,
    give_policy,
    has_arrays,
    keys_of_form,
)
from torchkeras.engine.graph.subclassed import OwnCode
from torchkeras.engine.graph.trace import Graph, check_arguments, graph_of, warn_of_named_tuples, warn_of_outside_layers
from torchkeras.engine.layer.added_losses import losses_of_calls, penalties
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.modes import call_module
from torchkeras.engine.step.step import predict_step
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list, unpacked
from torchkeras.layers.torch_module import as_layer
from torchkeras.legacy.arguments import old_names
from torchkeras.metrics import Metric
from torchkeras.models.on_use import graph_config, load, notebook, save, summary, ties, yaml_text
from torchkeras.models.replace_layer import outputs_with
from torchkeras.world.one_process import sharing

PLAIN = (None, 0, None, None, 10, 1, False, True)  # the options of `predict` as they are where nobody gives any


def _float_type_inside(model: Model) -> torch.dtype:
    """The type of floats in a model's own code: of its weights, or before there are any, of those it will have."""
    layers = (each for each in model.modules() if isinstance(each, Layer) and each is not model)
    told = [model] if model._tells_policy else layers
    types = (each._policy.variable_type for each in told if each._policy.variable_type.is_floating_point)
    return float_type(model, python.first(types, torch.get_default_dtype()))


def with_trainable(model: Model, config: dict[str, Any]) -> dict[str, Any]:
    """The config of a model, with `trainable` where it is False; Keras 2.2.4 writes nothing of it."""
    return config if model.trainable else {**config, "trainable": False}


def trainable_as(config: Mapping[str, Any], model: Any) -> Any:
    """The model, with `trainable` as its config has it."""
    trainable = config.get("trainable", True)
    if trainable is not True:  # else all layers inside would be visited, at each level of models in models
        model.trainable = trainable
    return model


def _no_ends_error(kind: type, inputs: Any) -> TypeError:
    """The error about a model without inputs or outputs."""
    are_layers = isinstance(inputs, (list, tuple)) and any(isinstance(each, nn.Module) for each in inputs)
    advice = " Sequential makes a model of a list of layers." if are_layers else ""
    return TypeError(
        f"{kind.__name__}: a model is made of inputs and outputs, or is of a class with a `call` or "
        f"`forward` of its own; found {'no inputs' if inputs is None else 'no outputs'}.{advice}"
    )


# --- options of training as attributes ------------------------------------------------------------------------------


class Option:
    """An argument of `compile` as an attribute of the model. Setting it changes the option from then on."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Model | None, owner: type | None = None) -> Any:
        if model is None:
            return self
        found = getattr(model._training.options, self._name)
        if type(found) is dict or (type(found) is list and not {list, dict}.isdisjoint(map(type, found))):
            return fixed_lists.given(found)
        return fixed_lists.Given(found) if type(found) is list else found

    def __set__(self, model: Model, value: Any) -> None:
        model._training.change(self._name, value)


class OptimizerOption(Option):
    """The optimizer as an object. On a compiled model it can be set to anything that `compile` takes."""

    def __get__(self, model: Model | None, owner: type | None = None) -> Any:
        return self if model is None else model._training.optimizer

    def __set__(self, model: Model, value: Any) -> None:
        training = model._training
        asked = value is not None and training.is_compiled
        training.change("optimizer", training.optimizer_for(value) if asked else value)


class MissingOption:
    """A training option of another Keras, which a model here does not have. `instead`: what to do."""

    def __init__(self, instead: str):
        self._instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Model | None, owner: type | None = None) -> Any:
        if model is None:
            return self
        raise AttributeError(f"{type(model).__name__!r} object has no attribute {self._name!r}")

    def __set__(self, model: Model, value: Any) -> None:
        what = f"{type(model).__name__} {model.name!r}"
        raise AttributeError(f"{what}: there is no option {self._name!r} to set: {self._instead}.")


# --- the model --------------------------------------------------------------------------------------------------------


@replaceable(
    *("compile", "fit", "evaluate", "predict", "fit_generator", "evaluate_generator", "predict_generator"),
    *("train_on_batch", "test_on_batch", "predict_on_batch", "compute_mask", "get_config", "save", "summary"),
    *("add_loss", "losses", "metrics_names", "inputs", "outputs", "layers"),
)
class Model(Network):
    """A model between symbolic inputs and outputs: `Model(inputs, outputs)`.

    A class of your own may have a `call` or a `forward` in place of inputs and outputs, as in Keras and in torch.

    Options:
        inputs (tensor, list or dict of tensors, default None): the symbolic inputs.
        outputs (tensor, list or dict of tensors, default None): the symbolic outputs, computed from the inputs.
        name (text or None, default None): the name of the model.
        dtype (name, DTypePolicy or None, default None): the policy of the layers without one of their own, such as
            "mixed_bfloat16"; see `dtype_policy`. A class with code of its own hands it to its layers when it is built;
            modules of torch keep their types.

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

    _has_own_code = False  # whether the class computes by a `call` or `forward` of its own, not by the generated one
    _habits = Habits()
    _compiles_itself: Any = False  # whether files let its class compile it, by `_compile_itself`
    _output_paths: Any = None  # what the losses of outputs are named by; None: `output_names`

    history: Any = None
    stop_training = stop_evaluating = stop_predicting = False

    optimizer, loss, metrics, loss_weights = (
        OptimizerOption(),
        Option(),
        Option(),
        Option(),
    )
    sample_weight_mode, weighted_metrics, target_tensors, on_nonfinite = (
        Option(),
        Option(),
        Option(),
        Option(),
    )
    jit_compile, cuda_graph, steps_per_execution = Option(), Option(), Option()
    distribute, sync_batch_norm = Option(), Option()
    run_eagerly = MissingOption("steps run eagerly where jit_compile is False, set model.jit_compile = False")
    auto_scale_loss = MissingOption("the loss is scaled where layers compute in float16, and only there")

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        of_package = (cls.forward.__module__ or "").startswith(("torchkeras.engine.", __name__))
        cls._has_own_code = cls._by_call or not of_package

    @lazy_property
    def _training(self) -> Training:
        """How the model trains."""
        return Training(self)

    @lazy_property
    def _own_code(self) -> OwnCode:
        """What a model with code of its own knows of this (`_has_own_code`)."""
        return OwnCode(self)

    @overload
    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, dtype: Any = None) -> None: ...
    @overload
    def __init__(self, *, name: str | None = None, dtype: Any = None) -> None: ...  # of a class with code of its own
    @old_names("Model")
    def __init__(self, inputs: Any = None, outputs: Any = None, name: str | None = None, dtype: Any = None):
        """Make a model between symbolic inputs and outputs; of a class with code of its own, without any."""
        super().__init__(name=name)
        if inputs is None and outputs is None and not self._has_own_code:
            # A class whose step is its own, such as that of two models that train each other, may have no `call`.
            self.__dict__["_has_own_code"] = self._training.has_own("train_step")
        if self._has_own_code:
            self.__dict__["_own_code"] = OwnCode(self)  # now, since torch.compile does not trace the making of it
        if inputs is None and outputs is None and self._has_own_code:
            if dtype is not None:
                take_policy(self, policy_of(dtype))
            return
        if inputs is None or outputs is None:
            raise _no_ends_error(type(self), inputs)
        self._connect(inputs, outputs)
        if dtype is not None:
            give_policy(self, policy_of(dtype), override=False)

    # --- layers, and the code of a class ------------------------------------------------------------------------------

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
        self._connect(*as_given(self, self._graphed.inputs, outputs_with(self._graphed, old, new)))
        self._training.forget()
        return new

    @property
    def _is_connected(self) -> bool:
        # Not by `super()`, whose properties torch.compile does not trace.
        return (self._graph is not None and self.built) or (self._has_own_code and self._own_code.inputs is not None)

    @property
    def _is_settled(self) -> bool:
        return self._own_code.is_built if self._has_own_code else self.built

    def _graph_instead(self) -> Graph:
        if self._has_own_code and self._is_connected:
            if not type(self)._has_own_code:
                raise NotImplementedError(f"{type(self).__name__} {self.name!r}: its class has no `call` or `forward`.")
            return graph_of(self._training.network)
        return super()._graph_instead()

    @property
    def layers(self) -> list[Any]:
        """The layers: of a graph, farthest from the outputs first; else those that the model's code has, as made."""
        if self._graph is None and self._has_own_code:
            return Layers(Layer._sublayers(self))
        return super().layers

    @property
    def code(self) -> str:
        """The text of the generated `forward`. Raises AttributeError where the model's class has code of its own."""
        if self._graph is None and self._has_own_code:
            raise AttributeError(f"{type(self).__name__} {self.name!r} runs the code of its class; none is generated.")
        return super().code

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs: keys, where they are a dict; `output_1` and so on for a model's own code."""
        if self._names_outputs:
            return super().output_names
        return OutputNames(f"output_{k + 1}" for k in range(len(self.outputs)))

    @property
    def _names_outputs(self) -> bool:
        """Whether the outputs have names of their own: those of layers, or keys."""
        return self._graph is not None or not self._has_own_code or keys_of_form(self._output_form) is not None

    @property
    def _output_owners(self) -> list[str]:
        return self.output_names if self._has_own_code else super()._output_owners

    def build(self, input_shape: Any = None) -> None:
        """Make the weights. A class of your own may override it, to make weights or layers.

        Arguments:
            input_shape (tuple, list or dict, default None): the shape of the input with the batch axis; a list or dict
                of shapes for several inputs.

        Errors:
            ValueError: there is no shape.
        """
        if not self._has_own_code:
            super().build(input_shape)
            return
        own_code = self._own_code
        self.built = True
        if own_code.is_building or own_code.inputs is not None:
            return
        if input_shape is None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: build needs an input shape.")
        own_code.see_shapes(input_shape)
        own_code.connect()
        self._training.forget()

    def _build(self, input_shapes: list[Any], *further: Any) -> None:
        if not self._has_own_code or self._graph is not None:
            super()._build(input_shapes, *further)
        elif not self.built:
            self._own_code.build(input_shapes)

    # --- computing ----------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._has_own_code:
            return super().__call__(*args, **kwargs)
        own_code = self._own_code
        args, kwargs = strings_as_tensors((args, kwargs))
        if has_arrays((args, kwargs)):
            args, kwargs = as_tensors((args, kwargs), (), self._weights_device, _float_type_inside(self))
        if own_code.inputs is None and self._graph is None and leaves((args, kwargs)) and not is_compiling():
            own_code.see_call(args, kwargs)
        if own_code.has_run or is_compiling():
            return Layer.__call__(self, *args, **kwargs)
        with building_alone():  # the layers that the code calls
            outputs = Layer.__call__(self, *args, **kwargs)
            own_code.has_run = True
        return outputs

    def _take_up_values(self) -> None:
        """Called when the values of a file are in the weights, before the model is compiled as the file says."""

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        if self._has_own_code:
            return Layer._infer_outputs(self, inputs, masks, arguments)
        return super()._infer_outputs(inputs, masks, arguments)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks of the outputs. A model's own code passes the masks of inputs by.

        Arguments:
            inputs (tensors): the inputs; a mask on the way may depend on them.
            mask (tensor, list or None, default None): the masks of the inputs.

        Returns:
            A mask or None; a list for several outputs.
        """
        return None if self._has_own_code else super().compute_mask(inputs, mask)

    def _find_types(self) -> None:
        super()._find_types()
        self._training.forget()  # which knows what is computed in 16 bits

    # --- training -----------------------------------------------------------------------------------------------------

    def compile(  # type: ignore[override]  # nn.Module's compile is torch.compile in place; Keras's name goes before
        self,
        optimizer: Any = None,
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        on_nonfinite: str | None = None,
        jit_compile: Any = "auto",
        cuda_graph: Any = "auto",
        steps_per_execution: int = 1,
        distribute: Any = "auto",
        sync_batch_norm: bool = True,
        numerics: str | None = None,
        **unknown: NoReturn,
    ) -> None:
        """Choose how the model is trained.

        It also records which weights train. For several outputs, `loss`, `metrics`, `loss_weights` and the like are
        lists in the order of the outputs, or dictionaries by output name; the name of a layer means all of its
        outputs without an entry.

        Arguments:
            optimizer (name, object or class, default None): an optimizer of Keras or of torch.optim, a class of
                torch.optim, or (class, options). None is for a class whose `train_step` has its own optimizers.
            loss (name, function or object, default None): a name, a function (y_true, y_pred), a `Loss`, or a loss of
                torch. The loss minimized is the sum over the outputs, weighted by `loss_weights`, plus all penalties.
            metrics (list or None, default None): names, functions, `Metric` objects or torchmetrics; means over
                samples.
            loss_weights (list, dict or None, default None): the weight of each output's loss; None is 1 for each.
            sample_weight_mode (text, list, dict or None, default None): "temporal" for a weight for each time step.
            weighted_metrics (list or None, default None): metrics that count sample weights.
            target_tensors (arrays or None, default None): the targets if you pass no y.
            on_nonfinite (text or None, default None): what to do if a loss or gradient is NaN or infinite:
                "stop", "skip" the batch or "raise"; see `engine.step.nonfinite`. With None, or "warn", training goes
                on, and `fit` warns at its end if a loss was not finite.
            jit_compile (bool, dict or "auto", default "auto"): True runs the built-in train step, evaluations and
                predictions as graphs of torch.compile; a dict has its options; False never does. "auto" measures train
                steps both ways if a run is long enough to repay compiling, and uses the faster one; see
                `engine.speed.compiled_steps`.
            cuda_graph (bool or "auto", default "auto"): True is `jit_compile={"mode": "reduce-overhead"}`, by which
                torch.compile captures a CUDA graph; False never captures. "auto" captures what `jit_compile="auto"`
                compiles on a CUDA device.
            steps_per_execution (positive integer, default 1): how many batches run between two calls of the batch
                hooks, which get their mean numbers.
            distribute ("auto", None, "ddp", "fsdp" or DeviceMesh, default "auto"): how several processes train the
                model together. "ddp" gives each a replica, by torch's DistributedDataParallel. "fsdp" gives each a
                part of every weight, by torch's `fully_shard`; a DeviceMesh of one axis does so over its processes.
                "auto" is "ddp" if a launcher such as torchrun has started several processes, or a process group of
                several exists; otherwise one process trains alone, as with None.
            sync_batch_norm (bool, default True): whether several processes normalize by the statistics of the whole
                batch, as one process does. False is faster: each uses those of its own part.
            numerics (text or None, default None): the version of Keras whose losses and metrics are computed, where
                versions differ. None clips the probabilities of crossentropies, as Keras 2.2.4 does; if the loss takes
                logits, metrics that expect probabilities get probabilities. "keras" passes the outputs to metrics
                unchanged. So does "tensorflow", which also computes crossentropies after a softmax or sigmoid from its
                input, without clipping. "tensorflow-2.10" is the same, and the loss of a masked output is a mean over
                all steps, in which masked ones count 0, as in tf.keras 1.13 to 2.10; otherwise the mean is over the
                unmasked steps. "keras-2.3" uses that mean over all steps, and is otherwise the same as None. "keras-3"
                is the same as "tensorflow", and treats a function among the metrics as an object, under the name that
                you passed to `compile`. Models from files have the value of their version, or "keras" if a file of
                tf.keras or Keras 3 names another backend.

        Errors:
            ValueError: an unknown name, a list whose length is not the number of outputs, no loss, or an option with a
                bad value.
            TypeError: an optimizer, loss or metric is of an unsupported kind; an option is unknown.

        Example:
            >>> model = Sequential([Dense(3, activation="softmax", input_shape=(2,))])
            >>> model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
            >>> model.metrics_names
            ['loss', 'acc']

        Source: https://keras.io/api/models/model_training_apis/
        """
        if unknown:
            refuse_unknown("compile", unknown, list(inspect.signature(Model.compile).parameters)[1:-1])
        self._training.compile(
            optimizer,
            loss=loss,
            metrics=metrics or [],
            loss_weights=loss_weights,
            sample_weight_mode=sample_weight_mode,
            weighted_metrics=weighted_metrics,
            target_tensors=target_tensors,
            on_nonfinite=on_nonfinite,
            jit_compile=jit_compile,
            cuda_graph=cuda_graph,
            steps_per_execution=steps_per_execution,
            distribute=distribute,
            sync_batch_norm=sync_batch_norm,
            numerics=numerics,
        )

    @old_names("fit")
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int | str = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = None,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        fast_dev_run: bool | int = False,
    ) -> History:
        """Train for `epochs` passes over the data.

        Arguments:
            x (data, default None): the inputs: an array or tensor, several in a list or in a dict by name, a data
                frame, an HDF5 dataset; or batches with their targets: a torch Dataset or DataLoader, a `Sequence`, or a
                generator of (x, y) or (x, y, sample_weight).
            y (data, default None): the targets, in the same forms; None when `x` makes batches with their targets.
            batch_size (positive integer or None, default None): samples in a batch; None is 32, or the batch size that
                the model's inputs have. Not for `x` that makes its own batches.
            epochs (integer, default 1): the epoch to stop before: training runs `epochs - initial_epoch` epochs.
            verbose (0, 1, 2 or "auto", default 1): 0 shows nothing, 1 and "auto" a bar for each epoch, 2 a line for
                each.
            callbacks (callback or list, default None): callbacks, and schedulers of torch.
            validation_split (float of at least 0 and below 1, default 0.0): the last part of the data, used for
                validation only.
            validation_data (data, default None): (x, y) or (x, y, sample_weight), or data that makes its own batches;
                used in place of `validation_split`.
            shuffle (bool, "batch" or None, default None): True shuffles samples, "batch" shuffles whole batches, False
                keeps the order; of a `Sequence` either shuffles the batches. None is True, except for a generator, a
                DataLoader and the like, which have their own order and refuse True; a DataLoader that shuffles refuses
                False. HDF5 data needs "batch" or False.
            class_weight (dict or None, default None): a weight for each class number; for several outputs a list or a
                dict.
            sample_weight (array or None, default None): a weight for each sample, or for each time step with
                `compile(sample_weight_mode="temporal")`.
            initial_epoch (integer, default 0): the number of the first epoch.
            steps_per_epoch (positive integer or None, default None): the batches of an epoch; None takes all. A
                generator needs it.
            validation_steps (positive integer or None, default None): the batches of a validation; None takes all.
            validation_batch_size (positive integer or None, default None): samples in a batch of the validation; None
                is the size for training.
            validation_freq (positive integer or list, default 1): validate after every so many epochs, or after those
                listed, counted from 1.
            max_queue_size (positive integer, default 10): how many batches of a `Sequence` or generator are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make these batches; 0 makes each
                batch when it is needed.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            fast_dev_run (bool or integer, default False): True tries the script out: one epoch of one batch, and a
                validation of one batch if there is data for it. An integer is the number of batches to run; 0 means a
                whole run. Everything else is checked as for a whole run. Callbacks that keep records are left out:
                checkpoints, logs and traces. The weights change as in any step.

        Returns:
            A `History`: the reported numbers of each epoch.

        Errors:
            RuntimeError: the model is not compiled, or you have wrapped it for several processes.
            ValueError: the data does not fit the model, or an option has a bad value.
            TypeError: something among `callbacks` is no callback, or the data holds no numbers.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,))])
            >>> model.compile("sgd", "mse")
            >>> history = model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=4, epochs=2, verbose=0)
            >>> history.epoch
            [0, 1]

        Source: https://keras.io/api/models/model_training_apis/
        """
        made = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        with in_turn(self._training, "fit", trains=True):
            return methods.fit(
                self._training, x, y, batch_size, epochs, verbose, callbacks, validation_split, validation_data,
                shuffle, class_weight, sample_weight, initial_epoch, steps_per_epoch, validation_steps,
                validation_batch_size, validation_freq, made, fast_dev_run,
            )  # fmt: skip

    @old_names("evaluate")
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int | str = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        return_dict: bool = False,
    ) -> Any:
        """The loss and metrics over the data, in evaluation mode.

        Arguments:
            x (data, default None): the inputs, or batches with their targets, in the forms that `fit` takes.
            y (data, default None): the targets; None when `x` makes batches with their targets.
            batch_size (positive integer or None, default None): samples in a batch; None is 32, or the batch size that
                the model's inputs have.
            verbose (0, 1, 2 or "auto", default 1): 0 shows nothing, 1 and "auto" a bar, 2 a line.
            sample_weight (array or None, default None): a weight for each sample.
            steps (positive integer or None, default None): the number of batches; None takes all. A generator needs it.
            callbacks (callback or list, default None): callbacks of the evaluation.
            max_queue_size (positive integer, default 10): how many batches of a `Sequence` or generator are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make these batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            return_dict (bool, default False): whether to return the numbers by name.

        Returns:
            The loss; with metrics a list in the order of `metrics_names`, or with `return_dict` a dict.

        Errors:
            RuntimeError: the model is not compiled, or you have wrapped it for several processes.
            ValueError: the data does not fit the model, or an option has a bad value.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
            >>> model.compile("sgd", "mse")
            >>> model.evaluate(np.ones((4, 2)), np.zeros((4, 1)), verbose=0)
            4.0

        Source: https://keras.io/api/models/model_training_apis/
        """
        check("evaluate", FLAG_OR_DIGIT, return_dict=return_dict)
        made = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        numbers = methods.evaluate(self._training, x, y, batch_size, verbose, sample_weight, steps, callbacks, made)
        return numbers if return_dict else unpacked(list(numbers.values()))

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int | str = 0,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        gather: bool = True,
    ) -> Any:
        """The outputs for all samples as NumPy arrays, in evaluation mode.

        With enough samples, and without hooks and callbacks, batch normalizations are folded into the layers before
        them, with the current weights; see `freeze_for_inference`.

        Arguments:
            x (data): the inputs in the forms that `fit` takes; targets in its batches are ignored.
            batch_size (positive integer or None, default None): samples in a batch; None is 32, or the batch size that
                the model's inputs have.
            verbose (0, 1, 2 or "auto", default 0): 0 shows nothing, 1 and "auto" a bar, 2 a line.
            steps (positive integer or None, default None): the number of batches; None takes all. A generator needs it.
            callbacks (callback or list, default None): callbacks of the prediction.
            max_queue_size (positive integer, default 10): how many batches of a `Sequence` or generator are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make these batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            gather (bool, default True): whether each of several processes returns the outputs of all samples; with
                False, each returns those that it computed.

        Returns:
            An array; for several outputs a list, or the form that the model was made with.

        Errors:
            ValueError: the data does not fit the model, or an option has a bad value; the outputs of several processes
                cannot be joined.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
            >>> model.predict(np.ones((3, 2))).tolist()
            [[2.0], [2.0], [2.0]]

        Source: https://keras.io/api/models/model_training_apis/
        """
        options = (batch_size, verbose, steps, callbacks, max_queue_size, workers, use_multiprocessing, gather)
        if all(map(is_, options, PLAIN)) and type(x) is np.ndarray and methods.takes_at_once(self._training, x):
            return methods.predict_at_once(self._training, x)
        check("predict", FLAG_OR_DIGIT, gather=gather)
        made = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        return methods.predict(self._training, x, batch_size, verbose, steps, callbacks, gather, made)

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        return_dict: bool = False,
        reset_metrics: bool = True,
    ) -> Any:
        """One update on one batch.

        Arguments:
            x (array, list or dict): the inputs.
            y (array, list or dict, default None): the targets.
            sample_weight (array or None, default None): a weight for each sample.
            class_weight (dict or None, default None): a weight for each class number.
            return_dict (bool, default False): whether to return the numbers by name.
            reset_metrics (bool, default True): whether metrics with a state count this batch alone; False counts what
                they counted before as well, since `reset_metrics()`, `fit` or `evaluate`.

        Returns:
            The loss as a float; with metrics a list in the order of `metrics_names`, or with `return_dict` a dict.

        Errors:
            RuntimeError: the model is not compiled, or you have wrapped it for several processes.
            ValueError: the data does not fit the model.

        Example:
            >>> model = Sequential([Dense(1, input_shape=(2,), kernel_initializer="ones")])
            >>> model.compile("sgd", "mse")
            >>> model.train_on_batch(np.ones((4, 2)), np.zeros((4, 1)))
            4.0

        Source: https://keras.io/api/models/model_training_apis/
        """
        with in_turn(self._training, "train_on_batch", trains=True):
            check("train_on_batch", FLAG_OR_DIGIT, return_dict=return_dict, reset_metrics=reset_metrics)
            numbers = one_batch.train_on_batch(self._training, x, y, sample_weight, class_weight, reset_metrics)
        return numbers if return_dict else unpacked(list(numbers.values()))

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False, reset_metrics: bool = True
    ) -> Any:
        """The loss and metrics on one batch, in evaluation mode.

        Arguments:
            x (array, list or dict): the inputs.
            y (array, list or dict, default None): the targets.
            sample_weight (array or None, default None): a weight for each sample.
            return_dict (bool, default False): whether to return the numbers by name.
            reset_metrics (bool, default True): whether metrics with a state count this batch alone; False counts what
                they counted before as well, since `reset_metrics()`, `fit` or `evaluate`.

        Returns:
            The loss as a float; with metrics a list in the order of `metrics_names`, or with `return_dict` a dict.

        Errors:
            RuntimeError: the model is not compiled, or you have wrapped it for several processes.
            ValueError: the data does not fit the model.

        Source: https://keras.io/api/models/model_training_apis/
        """
        check("test_on_batch", FLAG_OR_DIGIT, return_dict=return_dict, reset_metrics=reset_metrics)
        numbers = one_batch.test_on_batch(self._training, x, y, sample_weight, reset_metrics)
        return numbers if return_dict else unpacked(list(numbers.values()))

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch, in evaluation mode.

        Arguments:
            x (array, list or dict): the inputs.

        Returns:
            The same as `predict`.

        Source: https://keras.io/api/models/model_training_apis/
        """
        samples = len(Intake(self._training, has_targets=False).inputs(x)[0])
        return self.predict(x, batch_size=max(1, samples), verbose=0)

    def reset_metrics(self) -> None:
        """Set the metrics with a state to zero; `fit`, `evaluate` and each single batch do so when they begin."""
        for metric in self._training.ready().kept.values():
            metric.reset_state()

    @property
    def metrics_names(self) -> list[str]:
        """The names of the numbers that `evaluate` and `train_on_batch` return, in their order.

        None are known, and the list is empty, before the model is compiled and built.
        """
        return self._training.metrics_names

    @property
    def _reported_names(self) -> list[str]:
        """The names of the numbers that a run reports, in their order."""
        return self.metrics_names

    @property
    def _directions(self) -> Named:
        """Whether more is better, for each number that the model reports; callbacks ask."""
        return self._training.directions

    @property
    def _validation_arrays(self) -> list[np.ndarray] | None:
        """While `fit` validates on arrays: its inputs, targets and weights, one after another; callbacks ask."""
        return methods.validation_arrays(self._training)

    @old_names("fit_generator")
    def fit_generator(
        self,
        generator: Any,
        steps_per_epoch: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> History:
        """`fit` on a generator or `Sequence`.

        Arguments:
            generator (generator or Sequence): batches (x, y) or (x, y, sample_weight).
            steps_per_epoch (positive integer or None, default None): the batches of an epoch; a generator needs it.
            epochs (integer, default 1): the epoch to stop before.
            verbose (0, 1 or 2, default 1): 0 shows nothing, 1 a bar for each epoch, 2 a line for each.
            callbacks (callback or list, default None): callbacks, and schedulers of torch.
            validation_data (data, default None): (x, y) or (x, y, sample_weight), or data that makes its own batches.
            validation_steps (positive integer or None, default None): the batches of a validation.
            class_weight (dict or None, default None): a weight for each class number.
            max_queue_size (positive integer, default 10): how many batches are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make the batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            shuffle (bool, default True): whether the batches of a `Sequence` are shuffled; a generator has its own
                order.
            initial_epoch (integer, default 0): the number of the first epoch.

        Returns:
            A `History`: the reported numbers of each epoch.
        """
        return self.fit(
            generator, epochs=epochs, verbose=verbose, callbacks=callbacks, validation_data=validation_data,
            shuffle=None if shuffle is True else shuffle, class_weight=class_weight, initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps, max_queue_size=max_queue_size, workers=workers,
            use_multiprocessing=use_multiprocessing,
        )  # fmt: skip

    @old_names("evaluate_generator")
    def evaluate_generator(
        self,
        generator: Any,
        steps: int | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """`evaluate` on a generator or `Sequence`.

        Arguments:
            generator (generator or Sequence): batches (x, y) or (x, y, sample_weight).
            steps (positive integer or None, default None): the number of batches; a generator needs it.
            max_queue_size (positive integer, default 10): how many batches are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make the batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            verbose (0, 1 or 2, default 0): 0 shows nothing, 1 a bar, 2 a line.

        Returns:
            The loss; with metrics a list in the order of `metrics_names`.
        """
        return self.evaluate(
            generator, verbose=verbose, steps=steps, max_queue_size=max_queue_size, workers=workers,
            use_multiprocessing=use_multiprocessing,
        )  # fmt: skip

    @old_names("predict_generator")
    def predict_generator(
        self,
        generator: Any,
        steps: int | None = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """`predict` on a generator or `Sequence`.

        Arguments:
            generator (generator or Sequence): batches of inputs; targets in them are ignored.
            steps (positive integer or None, default None): the number of batches; a generator needs it.
            max_queue_size (positive integer, default 10): how many batches are made ahead.
            workers (integer of at least 0, default 1): how many threads or processes make the batches.
            use_multiprocessing (bool, default False): whether they are processes, not threads.
            verbose (0, 1 or 2, default 0): 0 shows nothing, 1 a bar, 2 a line.

        Returns:
            The outputs as NumPy arrays.
        """
        return self.predict(
            generator, verbose=verbose, steps=steps, max_queue_size=max_queue_size, workers=workers,
            use_multiprocessing=use_multiprocessing,
        )  # fmt: skip

    # --- steps of a user's own ----------------------------------------------------------------------------------------

    def _listed_metrics(self) -> list[Any]:
        """The metrics in a `metrics` of the class's own: they are reset and reported as those of `compile` are."""
        if isinstance(getattr(type(self), "metrics", None), Option):
            return []
        return [each for each in self.metrics if isinstance(each, Metric)]

    def _step_data(self, x: Any, y: Any, sample_weight: Any) -> Any:
        """What a step of the user's gets of a batch of arrays."""
        return x, y, sample_weight

    def _prediction_data(self, x: Any) -> Any:
        """What a `predict_step` of the user's gets of a batch of arrays."""
        return (x,)

    @overridable
    def train_step(self, data: Any) -> Mapping[str, Any]:
        """One step of training on a batch. Override it for a step of your own.

        Compute a loss with `self(x)` and `self.compute_loss(...)`, then call `self.minimize(loss)`, or
        `loss.backward()` and `self.optimizer.step()`. The metrics of `compile` come from `self.compute_metrics(...)`.

        Arguments:
            data (batch): for arrays, `(x, y, sample_weight)`, checked, with None for weights that are not there. For a
                DataLoader, Dataset, generator or `Sequence`, the batch as the loader made it, in any form, on the
                model's device. `unpack_x_y_sample_weight(data)` returns x, y and weight of either.

        Returns:
            The numbers to report by name. They are averaged over the epoch, weighted by batch size. A metric with a
                state is reported if its name is among them.
        """
        return self._built_in_step("train", data)

    @overridable
    def test_step(self, data: Any) -> Mapping[str, Any]:
        """One step of an evaluation on a batch, without an update. Override it for a step of your own.

        Arguments:
            data (batch): as in `train_step`.

        Returns:
            The numbers to report by name.
        """
        with torch.no_grad():
            return self._built_in_step("test", data)

    def _built_in_step(self, kind: str, data: Any) -> dict[str, Any]:
        """The numbers of the step, "train" or "test", that a class without one of its own has."""
        return self._training.own_steps.built_in(kind, data)

    @overridable
    def predict_step(self, data: Any) -> Any:
        """The outputs for a batch. Override it for a step of your own.

        Arguments:
            data (batch): `(x,)` of arrays, or a batch as its loader made it.

        Returns:
            The outputs: a tensor, or several.
        """
        with torch.no_grad():
            inputs = as_list(unpack_x_y_sample_weight(data)[0])
            return unpacked(predict_step(partial(call_module, self._training.network), inputs))

    @overridable
    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> torch.Tensor:
        """The loss of `compile` for outputs of the model: the weighted sum over the outputs, plus all penalties.

        Outputs that the model returned in this step carry their masks. Override it to minimize something else; metrics
        stay as they are.

        Arguments:
            x (tensors, default None): the inputs; they are not needed.
            y (tensors, default None): the targets.
            y_pred (tensors, default None): the outputs.
            sample_weight (tensors or None, default None): a weight for each sample.

        Returns:
            A scalar tensor.

        Errors:
            RuntimeError: there is no loss at all.
            ValueError: the number of targets, outputs or weights is wrong.
        """
        return self._training.own_steps.compute_loss(y, y_pred, sample_weight)

    def compute_metrics(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None
    ) -> dict[str, torch.Tensor]:
        """The metrics of `compile`, for outputs of the model; a step of your own returns them.

        Metrics with a state count the batch, and return what they have counted so far.

        Arguments:
            x (tensors, default None): the inputs; they are not needed.
            y (tensors, default None): the targets.
            y_pred (tensors, default None): the outputs.
            sample_weight (tensors or None, default None): a weight for each sample.

        Returns:
            The numbers by name.

        Errors:
            ValueError: the number of targets, outputs or weights is wrong.
        """
        return self._training.own_steps.compute_metrics(y, y_pred, sample_weight)

    def minimize(self, loss: torch.Tensor, samples: int = 1) -> None:
        """One update of the trainable weights against a loss: gradients, clipping, optimizer, constraints.

        Arguments:
            loss (scalar tensor): the loss.
            samples (integer, default 1): the number of samples in the batch, which weights it when gradients of several
                batches are accumulated.

        Errors:
            RuntimeError: the model was compiled without an optimizer.
        """
        self._training.own_steps.minimize(loss, samples)

    @property
    def losses(self) -> list[torch.Tensor]:
        """The current penalties on weights, and what layers added in your last call: sum them in your loop."""
        return Losses([*penalties(self), *self._training.own_steps.added, *losses_of_calls(self)])

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add the mean of a symbolic tensor, or a loss of weights, to the loss that training minimizes.

        Call `compile` afterwards. A loss of weights is computed again in every step. Inside a `call` this method is
        `Layer.add_loss`.

        Arguments:
            losses (symbolic tensor, function or list): tensors that are computed from the model's inputs; functions
                without arguments; weights, and what functions of `keras.backend` compute from weights.
            inputs (tensor or None, default None): the tensors that they depend on; not needed.

        Errors:
            TypeError: a loss is neither a tensor nor a function.
            ValueError: a tensor is not computed from the inputs, or a layer between them has weights that are not the
                model's; a loss of weights is not a scalar, or is a tensor whose value would never change.

        Example:
            >>> inputs = Input((4,))
            >>> hidden = Dense(3)(inputs)
            >>> model = Model(inputs, Dense(1)(hidden))
            >>> model.add_loss((hidden**2) * 0.01)
            >>> model.add_loss(lambda: 0.01 * (model.layers[1].kernel**2).sum())
        """
        given = as_list(losses)
        symbolic = [loss for loss in given if isinstance(loss, KerasTensor)]
        if len(symbolic) < len(given):
            super().add_loss([loss for loss in given if not isinstance(loss, KerasTensor)], inputs)
        if symbolic:
            graph_losses.add(self._training, symbolic, {})

    def add_metric(self, value: Any, name: str, aggregation: str | None = "mean") -> None:
        """Report the mean of a symbolic tensor. Inside a layer's `call` it is `Layer.add_metric`.

        Call `compile` afterwards.

        Arguments:
            value (symbolic tensor): a tensor that is computed from the model's inputs.
            name (text): the name of the number.
            aggregation (text, default "mean"): must be "mean".

        Errors:
            ValueError: `aggregation` is not "mean", the tensor is not computed from the inputs, or a layer between them
                has weights that are not the model's.
        """
        if not isinstance(value, KerasTensor):
            super().add_metric(value, name, aggregation)
            return
        if aggregation != "mean":
            raise ValueError(f"{self.name}: add_metric: aggregation must be 'mean'; found {aggregation!r}.")
        graph_losses.add(self._training, (), {name: value})

    # --- views --------------------------------------------------------------------------------------------------------

    @known_options
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
                a multiply-add counts as 2. A number is the size to assume for unknown axes.
            layer_range (pair or None, default None): the names, or regular expressions, of the first and the last layer
                to print; the totals are those of the whole model.

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
        return notebook.model_html(self) + notebook.graph_html(self)

    # --- config -------------------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """The architecture: layers with their configs and connections.

        A warning says if the model has losses or metrics from `add_loss` or `add_metric`, which a config does not hold,
        or outputs in a named tuple, which becomes a list.

        Returns:
            A dict of plain values.

        Errors:
            NotImplementedError: the class computes by code of its own, which a config cannot hold.
        """
        if self._graph is None and self._has_own_code:
            raise NotImplementedError(
                f"{type(self).__name__} {self.name!r} computes by the code of its class, which no file holds: save its "
                "weights (save_weights) and make the model by its class again, or give the class a get_config, and a "
                "from_config that calls build."
            )
        check_arguments(self)
        self._warn_of_lost()
        with registry.layers.writing(self) as written:
            config = graph_config.graph_config(self.name, self._graphed, (self._input_form, self._output_form))
        if not written.owners:  # it is no part of another config
            ties.warn_of_ties(self, written.held)
        return with_trainable(self, config)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Model:
        """A new model with fresh weights.

        Arguments:
            config (dict): what `get_config` returned.
            custom_objects (dict or None, default None): your own classes and functions by name.

        Returns:
            The model, not compiled.

        Errors:
            ValueError: the config does not have this form, or the class computes by code of its own.

        Example:
            >>> inputs = Input((4,))
            >>> model = Model(inputs, Dense(2)(inputs))
            >>> Model.from_config(model.get_config()).output_shape
            (None, 2)
        """
        if cls._has_own_code and "layers" not in config:
            raise ValueError(
                f"{cls.__name__} computes by the code of its class: it needs a from_config of its own, which makes the "
                "model from what its get_config returned, and calls build."
            )
        with registry.layers.reading():
            inputs, outputs = graph_config.in_structure(config, *graph_config.connect(config, custom_objects))
        further: dict[str, Any] = {}  # that a class of the user's has added to its config
        if not is_own(cls):
            given = ("self", "inputs", "outputs", "name", "trainable", "dtype")
            known = inspect.signature(cls.__init__).parameters
            further = {name: config[name] for name in known if name in config and name not in given}
        return trainable_as(config, cls(inputs, outputs, name=config.get("name"), **further))

    def to_json(self, **options: Any) -> str:
        """The architecture as JSON.

        Arguments:
            options (any): further options for `json.dumps`, such as `indent=2`.

        Returns:
            The text; `model_from_json` reads it.

        Errors:
            TypeError: an option that `json.dumps` does not have.
        """
        return graph_config.to_json(self, **options)

    def to_yaml(self) -> str:
        """The architecture as YAML.

        Returns:
            The text; `model_from_yaml` reads it.

        Errors:
            ImportError: the package PyYAML is missing: `pip install torchkeras-graph[yaml]`.
        """
        return yaml_text.dump(json.loads(graph_config.to_json(self)))

    # --- files --------------------------------------------------------------------------------------------------------

    def _own_compile_config(self) -> Any:
        """How the model is compiled, where its class says that in a way of its own; None elsewhere."""
        return None

    def save_weights(self, filepath: str | os.PathLike[str], overwrite: bool = True) -> None:
        """Write the weights to a file; its suffix says how.

        Arguments:
            filepath (path): the file. `.h5` and other names are written as Keras 2.2.4 does, `.weights.h5` as Keras 3
                does; docs/files.md has a table of all.
            overwrite (bool, default True): whether an existing file is replaced.

        Errors:
            FileExistsError: the file is there, and `overwrite` is False.
            RuntimeError: the model has no weights yet, since its input shape is not known.
            OSError: the system cannot write the file, as on a full disk. An existing file stays as it is.

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

        If there is an error, the weights stay as they were.

        Arguments:
            filepath (path): the file, written by any Keras or by torchkeras.
            by_name (bool, default False): whether layers are paired by their names, and layers without a partner do not
                change; otherwise they are paired in order: in `.weights.h5` in order within each class, in
                `.safetensors` and `.pt` by name.
            skip_mismatch (bool, default False): whether layers whose weights have other shapes, or are not in the file,
                keep their values, with a warning for each. Use it to start from a model with a different head.
            reshape (bool, default False): whether an array with the same number of values is reshaped to the weight.
            original_backend (text or None, default None): the backend on which a model of Keras 1 was trained, such
                as "theano", where its file does not say so.
            original_data_format (text or None, default None): "channels_last" or "channels_first", the data format of
                the weights, where their file does not say so. Weights whose format is not the model's are converted.
            report (bool, default False): whether to return a report.
            isolated (bool, default False): whether another process, with limits of time and memory, reads the file.
            strict (bool, default True): whether signs of damage in an HDF5 file, which edits may leave too, are an
                error; otherwise they are a warning.

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
        taking = load.Taking(
            by_name, skip_mismatch, reshape, original_backend, original_data_format, strict, bool(report)
        )
        self._check_has_weights()
        return load.load_weights(self, filepath, taking, isolated)

    def save(self, filepath: str | os.PathLike[str], overwrite: bool = True, include_optimizer: bool = True) -> None:
        """Write the whole model: architecture, weights and, when it is compiled, optimizer, losses and metrics.

        Arguments:
            filepath (path): the file. Its suffix says how it is written: `.keras` as Keras 3 does, `.safetensors` and
                `.pt` for torch, `.h5` and other names as Keras 2.2.4 does; docs/files.md has a table of all. What that
                version of Keras does not have is written under names of this package, with a warning.
            overwrite (bool, default True): whether an existing file is replaced.
            include_optimizer (bool, default True): whether optimizer, losses and metrics are written.

        Errors:
            FileExistsError: the file is there, and `overwrite` is False.
            ValueError: the format cannot hold the model; the error says which format can.
            OSError: the system cannot write the file, as on a full disk. An existing file stays as it is.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,))])
            >>> model.save("model.keras")
        """
        check_arguments(self)
        save.write_model(self, filepath, overwrite, include_optimizer)

    def _warn_of_lost(self, stacklevel: int = 4) -> None:
        """Warn of what no config holds. Models inside warn of their own."""
        warn_of_added(self._training, stacklevel)
        warn_of_named_tuples(self, stacklevel)
        warn_of_outside_layers(self, stacklevel)

    def _check_saving(self, filepath: str, weights_only: bool, who: str) -> None:
        """Raise ValueError, in the name of `who`, if `save` or `save_weights` would refuse the model."""
        save.check_saving(self, filepath, weights_only, who)

    @known_options
    def export(
        self,
        filepath: str | os.PathLike[str],
        format: str | None = None,
        verbose: bool | None = None,
        input_signature: Any = None,
        opset_version: int | None = None,
    ) -> None:
        """Write the model, in evaluation mode, as a file that runs without torchkeras: `model.export("model.onnx")`.

        Inputs and outputs have the names of their layers, and unknown axes stay unknown. Before the file is put in
        place, its outputs are compared with the model's on random inputs.

        Arguments:
            filepath (path): the file; `.onnx` and `.pt2` determine the format.
            format (text or None, default None): "onnx", or "torch" for a file of `torch.export`; needed for other
                suffixes.
            verbose (bool or None, default None): whether to print a line when it is done.
            input_signature (shapes or None, default None): shapes, or what has a shape, for the inputs in order or by
                name; they fix axes that are unknown.
            opset_version (integer or None, default None): the version of ONNX's operators.

        Errors:
            ExportError: the model cannot be exported.
            ImportError: the packages of `torchkeras-graph[onnx]` are missing.
        """
        sharing().refuse(self.parameters(), "export")
        annex("export").export(self, filepath, format, input_signature, opset_version)
        if verbose:
            print(f"{filepath}: exported, and checked against the model.")

    @known_options
    def eject(self, folder: str | os.PathLike[str], overwrite: bool = False, weights: str = "safetensors") -> Path:
        """Write the model as plain PyTorch: `folder/model.py`, which imports torch alone, and its weights.

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
        sharing().refuse(self.parameters(), "eject")
        check("eject", FLAG_OR_DIGIT, overwrite=overwrite)
        return annex("eject").eject(self, folder, overwrite, weights)

    @overload
    def freeze_for_inference(self, example: None = None) -> Network: ...
    @overload
    def freeze_for_inference(self, example: Any) -> Any: ...
    @known_options
    def freeze_for_inference(self, example: Any = None) -> Any:
        """A copy for inference alone, with batch normalizations folded into the layers before them.

        A BatchNormalization that follows a convolution or Dense without activation, both called once and the output of
        the first used nowhere else, becomes part of that layer. Its kernel is `kernel * scale` and its bias
        `(bias - moving_mean) * scale + beta`, with the scale `gamma / sqrt(moving_variance + epsilon)` of each channel.
        Except for rounding, the outputs are those of the model in evaluation mode. Layers with hooks, or of classes of
        your own, stay as they are.

        The copy is in evaluation mode, its weights record no gradients, and later changes of the model do not affect
        it. It has the layers by their names. It can be called, moved, copied, pickled, compiled by torch and read
        (`frozen.code`). It has no `fit`, `predict` or `save`. Its `state_dict` is that of the folded layers. A model
        whose class has a `forward` or `call` of its own, or that has hooks, is copied as it is.

        With an `example` the copy is also compiled, by torch's AOTInductor: a call with contiguous tensors (or arrays)
        of exactly its shapes and types runs machine code, without Python between the layers. Any other call, such as
        one of another batch size, under autocast or with inputs that record gradients, is computed by the copy without
        compiled code. Compiling takes 20 to 60 seconds for a small model, needs a C++ compiler and holds the weights
        twice. The code is made in two ways, by torch's defaults and with tuned products of prepacked weights; the
        fastest way is used, even if that is the copy without compiled code. The code is for the number of threads at
        that time (`torch.get_num_threads()`). Its outputs for the example must differ from the copy's by at most 1e-4
        of the largest.

        Arguments:
            example (inputs or None, default None): inputs, as for a call of the model, that the copy is compiled for;
                None does not compile.

        Returns:
            A torch module with the model's inputs and outputs. With an `example` a function of them, which has the
            module as `network`; it can neither be pickled nor copied.

        Errors:
            RuntimeError: the model has no input shape yet.
            ExportError: it cannot be compiled: torch is older than 2.8, there is no C++ compiler, torch cannot follow
                it, it has hooks or states, or it is not on the CPU.

        Example:
            >>> model = Sequential([Dense(2, input_shape=(4,)), BatchNormalization()])
            >>> len(model.freeze_for_inference().state_dict())
            2
        """
        sharing().refuse(self.parameters(), "freeze_for_inference")
        made = methods.frozen_copy(self._training)
        return made if example is None else annex("compiled network").compiled(made, example)

    # --- copies -------------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state = {**super().__getstate__(), **self._training.state(), **added_state(self._training), "history": None}
        return {name: value for name, value in state.items() if name not in ("_training", "_own_code")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = {name: value for name, value in state.items() if name not in EARLIER}
        losses, metrics = state.pop("_added_losses", 0), state.pop("_added_metrics", [])
        self._training.take_state({name: state.pop(name) for name in OF_STATE & state.keys()})
        super().__setstate__(state)
        if losses or metrics:
            take_added_state(self._training, losses, metrics)


name_methods(Model, known=Layer)
