"""`keras.models` of Keras 3.15: `Model` and `Sequential` with Keras 3's arguments and habits, to and from files."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from torchkeras import models
from torchkeras.base.extensions import replaceable
from torchkeras.base.fixed_lists import Layers, Losses
from torchkeras.base.nested import mapped, tensors_in
from torchkeras.callbacks.logs import History
from torchkeras.data.checks import with_rank
from torchkeras.data.raw_batch import unpack_x_y_sample_weight
from torchkeras.data.sources.kinds import KINDS
from torchkeras.engine.carried_masks import mask_of
from torchkeras.engine.facts import is_own
from torchkeras.engine.fit.custom_steps import BUILT_IN, overridable
from torchkeras.engine.fit.habits import Habits
from torchkeras.engine.fit.methods import options_of_validation
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.graph.network import as_given, is_deep, of_needed_keys, slots_with, type_of
from torchkeras.engine.graph.trace import computed_from, graph_if_any
from torchkeras.engine.layer.added_losses import losses_of_calls, penalties
from torchkeras.engine.symbolic.tensor import as_list, node_of, unpacked
from torchkeras.keras3 import dialect, losses, metrics, optimizers
from torchkeras.keras3.callbacks import Hooks, ProgbarLogger
from torchkeras.keras3.compiled_metrics import LossTracker, Reported, compiled_metrics
from torchkeras.keras3.layer import Layer
from torchkeras.keras3.layers import Input
from torchkeras.keras3.metrics import Metric
from torchkeras.keras3.operation import Operation as OwnOperation
from torchkeras.keras3.optimizers.serialization import twin_of
from torchkeras.keras3.saving import (
    NUMERICS,
    load_model,
    model_from_json,
    save_model,
)
from torchkeras.keras3.state_tree import assign, tree_of
from torchkeras.keras3.stored_model import StoredModel
from torchkeras.keras3.summary import print_summary
from torchkeras.keras3.tree import assert_same_structure, flatten
from torchkeras.keras3.variable import names_within

__all__ = ["Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]


# Names of metrics that are means of the same function in both dialects: a step computes them without an object.
PLAIN = ("accuracy", "acc", "mae", "mse", "mean_absolute_error", "mean_squared_error")


def _as_inputs(model: Any, given: Any) -> Any:
    """Tensors in the types of the inputs of a graph; anything else as it is."""
    if isinstance(given, Tensor):
        return _as_input(model, given, model.inputs[0])
    if isinstance(given, (list, tuple)) and len(given) == len(model.inputs):
        return type(given)(map(partial(_as_input, model), given, model.inputs))
    if type(given) is dict and given.keys() <= set(model.input_names):
        by_name = dict(zip(model.input_names, model.inputs, strict=True))
        return {name: _as_input(model, each, by_name[name]) for name, each in given.items()}
    return given


def _as_input(model: Any, given: Any, declared: Any) -> Any:
    """A tensor in the type of an input, with its mask, and with a last axis of 1 where the input alone has one."""
    if not isinstance(given, Tensor):
        return given
    shape, dtype, axes = declared.shape, type_of(model, declared), given.dim()
    if axes == len(shape) - 1 and shape[-1] == 1:
        found = given.unsqueeze(-1)
    elif axes == len(shape) + 1 and given.shape[-1] == 1:
        found = given.squeeze(-1)
    else:
        found = given
    if found is given and given.dtype == dtype:
        return given
    found, mask = found.to(dtype), mask_of(given)
    if mask is not None:
        found._keras_mask = mask  # type: ignore[attr-defined]
    return found


def _batch_size_of(x: Any, batch_size: int | None) -> int | None:
    """The size of batches, None for data that makes its own: Keras 3 takes the option there, and does nothing by it."""
    if batch_size is None:
        return None
    kind = next(kind for kind in KINDS if kind.test(x))
    if "batch_size" not in kind.refused:
        return batch_size
    warnings.warn(f"batch_size {batch_size!r} is left out: {kind.name} makes its own batches.", stacklevel=3)
    return None


class RunEagerly:
    """Whether steps run without `torch.compile`, as an attribute: the opposite of `jit_compile`."""

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        return self if model is None else model.jit_compile is False

    def __set__(self, model: Any, value: bool) -> None:
        if bool(value) != model.run_eagerly:
            model.jit_compile = False if value else "auto"


@replaceable(
    *("_automatic_name", "compile", "evaluate", "evaluate_generator", "fit", "fit_generator", "load_weights"),
    *("predict", "predict_generator", "save", "save_weights"),
)
class Model(StoredModel, Layer, abstract=True):
    """A model between symbolic inputs and outputs, `Model(inputs, outputs)`, or of a class with a `call` of its own.

    Options:
        inputs (tensor, list or dict of tensors, default None): the symbolic inputs.
        outputs (tensor, list or dict of tensors, default None): the symbolic outputs, computed from the inputs.
        name (text or None, default None): the name of the model.
        trainable (bool, default True): whether training changes the weights.
        dtype (name, DTypePolicy or None, default None): the policy of the layers without one of their own. In a class
            with code of its own, as in Keras, that of the model alone, by which it casts its inputs.

    Errors:
        ValueError: an output cannot be computed from the inputs.
        TypeError: an input or output is no symbolic tensor.

    Example:
        >>> inputs = Input((4,))
        >>> model = Model(inputs, Dense(2)(inputs))
        >>> model.output_shape
        (None, 2)

    Source: https://keras.io/api/models/model/
    """

    _habits = Habits(
        settles_at_once=False,
        callback_list=Hooks,
        progress_bar=ProgbarLogger,
        epochs_end_with_data=True,
        leaves_out_targets=True,
        weighs_by_shape=True,
        weighs_any_class=True,
        fits_rank=True,
        leaves_out_keys=True,
        asks_for_mode=True,
        reports_last_batch=True,
        measures_without_loss=True,
        ends_each_pass=True,
    )
    run_eagerly = RunEagerly()
    _hands_policy_on = False

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(abstract=abstract, **kwargs)
        if "compute_metrics" in vars(cls) and not is_own(cls):
            for kind in ("train_step", "test_step"):
                if getattr(cls, kind) in BUILT_IN[kind]:
                    setattr(cls, kind, getattr(Model, f"_{kind}_by_methods"))

    def __init__(
        self,
        inputs: Any = None,
        outputs: Any = None,
        name: str | None = None,
        trainable: bool = True,
        dtype: Any = None,
        **options: Any,
    ) -> None:
        if options:
            raise TypeError(f"{type(self).__name__}: unknown option {next(iter(options))!r}.")
        if isinstance(outputs, Mapping):
            outputs = dict(sorted(outputs.items()))
        super().__init__(*_from_inputs(inputs, outputs), name=name, dtype=dtype)
        if not trainable:
            self.trainable = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs for the inputs; a single one may lack an axis of length 1 at its end, or have one more.

        A dict may have more keys than there are inputs.
        """
        if self._graph is not None and args and isinstance(args[0], (list, tuple, Mapping)):
            _refuse_none(self, args[0])
        if self._graph is not None and len(args) == 1 and not kwargs and isinstance(args[0], (Tensor, np.ndarray)):
            args = (with_rank(args[0], self.inputs[0].shape),)
        elif self._graph is not None and args and isinstance(args[0], Mapping):
            args = (of_needed_keys(self._input_form, self.input_names, args[0]), *args[1:])
        return self._as_given(super().__call__(*args, **kwargs))

    @property
    def _automatic_name(self) -> str:
        return "functional" if type(self) is Model else super()._automatic_name

    def _step_data(self, x: Any, y: Any, sample_weight: Any) -> Any:
        if sample_weight is not None:
            return x, y, sample_weight
        if y is not None:
            return x, y
        return (x,) if isinstance(x, (list, tuple)) else x

    def _prediction_data(self, x: Any) -> Any:
        return self._step_data(x, None, None)

    def _computed(self, *args: Any, **kwargs: Any) -> Any:
        """As `Layer`; a graph takes numbers of any type, and makes them those of its inputs."""
        if args and graph_if_any(self) is not None:
            args = (_as_inputs(self, args[0]), *args[1:])
        return super()._computed(*args, **kwargs)

    @property
    def input(self) -> Any:
        """The symbolic inputs, in the form in which the model was made: one, a list, a dict."""
        return as_given(self, self.inputs, self.outputs)[0]

    @property
    def output(self) -> Any:
        """The symbolic outputs, in the form in which the model was made: one, a list, a tuple, a dict."""
        return as_given(self, self.inputs, self.outputs)[1]

    @property
    def operations(self) -> list[Any]:
        """The layers and the operations of the graph, the inputs among them."""
        return list(super().layers)

    @property
    def layers(self) -> list[Any]:
        """The layers, among them functions of the graph with weights. `operations` has all functions too."""
        functions = Operation, OwnOperation
        return Layers(each for each in super().layers if not isinstance(each, functions) or each.weights)

    @property
    def losses(self) -> list[Tensor]:
        """What layers added in the last pass by hand, then the penalties on the weights now: sum them in your loop."""
        return Losses([*training_of(self).own_steps.added, *losses_of_calls(self), *penalties(self)])

    @property
    def metrics(self) -> list[Any]:
        """The metric objects: `loss`, `compile_metrics` for all metrics of `compile`, losses of outputs, attributes.

        A step of your own updates `loss` and `compile_metrics`. Each is reset when an epoch or an evaluation begins.
        """
        compiled = compiled_metrics(self) if training_of(self).is_compiled else []
        return [*compiled, *_attributes(self)]

    @property
    def metrics_names(self) -> list[str]:
        """The names of `metrics`. What a run reports has the names in its logs."""
        return [each.name for each in self.metrics]

    def reset_metrics(self) -> None:
        """Start `metrics` over; runs do so when they begin."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self) -> dict[str, Any]:
        """The results of `metrics` by name; each metric of `compile` has its own name."""
        found: dict[str, Any] = {}
        for metric in self.metrics:
            result = metric.result()
            found.update(result if isinstance(result, Mapping) else {metric.name: result})
        return found

    @property
    def _output_paths(self) -> list[str] | None:
        """Of nested outputs the keys and places, with the name of the output in place of the last place in a list."""
        if not is_deep(self._output_form):
            return None
        form, names = self._output_form, self.output_names
        found = {
            slot: path if isinstance(path[-1], str) else (*path[:-1], names[slot])
            for slot, path, _ in slots_with(form, form)
        }
        return ["/".join(map(str, found[slot])) for slot in range(len(names))]

    def _by_outputs(self, value: Any, read: Callable[[Any], Any] = lambda each: each) -> Any:
        """Losses or metrics that are nested as the outputs are, by the names of outputs; any others as they are."""
        if not is_deep(self._output_form) or isinstance(value, str):
            return value
        names = self.output_names
        try:
            found = {names[slot]: read(each) for slot, _, each in slots_with(self._output_form, value)}
        except ValueError:
            return value
        return found or value

    @property
    def _reported_names(self) -> list[str]:
        return training_of(self).metrics_names

    @metrics.setter
    def metrics(self, value: Any) -> None:
        models.Model.metrics.__set__(self, value)

    def compile(  # type: ignore[override]
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        loss_weights: Any = None,
        metrics: Any = None,
        weighted_metrics: Any = None,
        run_eagerly: bool = False,
        steps_per_execution: int = 1,
        jit_compile: Any = "auto",
        auto_scale_loss: bool = True,
        **further: Any,
    ) -> None:
        """Settle how the model is trained.

        Arguments:
            optimizer (name, object or config, default "rmsprop"): the optimizer.
            loss (name, function, Loss, list or dict, default None): the loss, or one for each output.
            loss_weights (list or dict, default None): the weight of each output's loss; None is 1 for each.
            metrics (list or dict, default None): names, functions or `Metric` objects; their names are those in logs.
            weighted_metrics (list or dict, default None): metrics that count sample weights.
            run_eagerly (bool, default False): whether steps run without `torch.compile`.
            steps_per_execution (positive integer, default 1): how many batches run between two calls of batch hooks.
            jit_compile (bool or "auto", default "auto"): whether steps are compiled by torch; "auto" measures.
            auto_scale_loss (bool, default True): whether the loss is scaled where layers compute in float16.
            further (any): further options of `torchkeras.Model.compile`. With `numerics` names mean what they mean
                there, as they do in a file.

        Errors:
            ValueError: an option has a bad value.
            TypeError: an option is unknown.

        Source: https://keras.io/api/models/model_training_apis/
        """
        if not auto_scale_loss:
            raise ValueError("compile: auto_scale_loss must be True: the loss is scaled where layers use float16.")
        if run_eagerly and jit_compile is True:
            raise ValueError("compile: run_eagerly and jit_compile cannot both be True.")
        if "numerics" not in further:
            loss, loss_weights = self._by_outputs(loss), self._by_outputs(loss_weights)
            metrics, weighted_metrics = self._by_outputs(metrics, as_list), self._by_outputs(weighted_metrics, as_list)
            optimizer, loss = optimizers.get(optimizer), _each(losses.as_loss, loss)
            metrics, weighted_metrics = _each(_metric, metrics), _each(_metric, weighted_metrics)
        else:
            optimizer = twin_of(optimizer)
        super().compile(
            optimizer,
            loss=loss,
            metrics=metrics,
            loss_weights=loss_weights,
            weighted_metrics=weighted_metrics,
            jit_compile=False if run_eagerly else jit_compile,
            steps_per_execution=steps_per_execution,
            **{"numerics": NUMERICS, **further},
        )

    @overridable
    def compute_loss(  # type: ignore[override]
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Any:
        """The loss that `compile` settled; `training` is for a class of your own, whether the model trains."""
        return super().compute_loss(x, y, y_pred, sample_weight)

    @overridable
    def train_step(self, data: Any) -> Mapping[str, Any]:
        """One step of training on a batch. Override it for a step of your own.

        Arguments:
            data (batch): x, y and the weights of samples, of which None are left out at the end.

        Returns:
            The numbers to report by name. Those that this step of the package returns are means of the epoch so far; of
            a step of your own, those of the last batch are the numbers of the epoch.
        """
        return self._built_in_step("train", data)

    def _train_step_by_methods(self, data: Any) -> Mapping[str, Any]:
        """A step of training for a class whose metrics are its own code."""
        x, y, weight = unpack_x_y_sample_weight(data)
        outputs, samples = self(x, training=True), _samples(x)
        loss = self.compute_loss(x, y, outputs, weight)
        LossTracker.of(self).update_state(loss.detach(), samples)
        self.minimize(loss, samples)
        return self.compute_metrics(x, y, outputs, weight)

    def _test_step_by_methods(self, data: Any) -> Mapping[str, Any]:
        """A step of an evaluation for such a class."""
        x, y, weight = unpack_x_y_sample_weight(data)
        outputs = self(x, training=False)
        mode = {"training": False} if "training" in inspect.signature(self.compute_loss).parameters else {}
        loss = self.compute_loss(x, y, outputs, weight, **mode)
        LossTracker.of(self).update_state(loss, _samples(x))
        return self.compute_metrics(x, y, outputs, weight)

    def _built_in_step(self, kind: str, data: Any) -> dict[str, Any]:
        steps, samples = training_of(self).own_steps, _samples(unpack_x_y_sample_weight(data)[0])
        return LossTracker.of(self).so_far(steps, steps.of_batch(kind, data), samples)

    def compute_metrics(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None
    ) -> dict[str, Any]:
        """Count a batch in the metrics: the results of all metrics of the model so far, by name.

        Arguments:
            x (tensors, default None): the inputs; they are not needed.
            y (tensors, default None): the targets.
            y_pred (tensors, default None): the outputs.
            sample_weight (tensors or None, default None): a weight for each sample.
        """
        steps = training_of(self).own_steps
        return LossTracker.of(self).so_far(steps, steps.measured(y, y_pred, sample_weight), _samples(y))

    def _listed_metrics(self) -> list[Any]:
        counted = [LossTracker.of(self)] if training_of(self).has_own("train_step") else []
        return [*counted, *_attributes(self)]

    def fit(  # type: ignore[override]
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int | str = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
    ) -> History:
        """Train for `epochs` passes over the data; the arguments are those of Keras 3."""
        _refuse_both_weights("fit", sample_weight, class_weight)
        if validation_data is None and not validation_split:
            for name in options_of_validation(validation_steps, validation_batch_size, validation_freq):
                warnings.warn(f"fit: {name} changes nothing: there is no validation data.", stacklevel=2)
            validation_steps, validation_batch_size, validation_freq = None, None, 1
        return super().fit(
            x, y, _batch_size_of(x, batch_size), epochs, verbose, callbacks, validation_split, validation_data,
            None if shuffle is True else shuffle, class_weight, sample_weight, initial_epoch, steps_per_epoch,
            validation_steps, validation_batch_size, validation_freq,
        )  # fmt: skip

    def evaluate(  # type: ignore[override]
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int | str = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """The loss and metrics over the data; the arguments are those of Keras 3."""
        batch_size = _batch_size_of(x, batch_size)
        found = super().evaluate(x, y, batch_size, verbose, sample_weight, steps, callbacks, return_dict=True)
        return dict(sorted(found.items())) if return_dict else self._listed_numbers(found)

    def predict(  # type: ignore[override]
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int | str = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """The outputs for all samples as NumPy arrays; the arguments are those of Keras 3."""
        return self._as_given(super().predict(x, _batch_size_of(x, batch_size), verbose, steps, callbacks))

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch as NumPy arrays."""
        return self._as_given(super().predict_on_batch(x))

    def _as_given(self, outputs: Any) -> Any:
        """Outputs as a tuple where the model was made with one, or its code gives one."""
        return tuple(outputs) if self._gives_tuple and isinstance(outputs, list) else outputs

    def train_on_batch(  # type: ignore[override]
        self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """One update on one batch. Metrics count this batch alone."""
        _refuse_both_weights("train_on_batch", sample_weight, class_weight)
        found = super().train_on_batch(x, y, sample_weight, class_weight, True)
        return dict(sorted(found.items())) if return_dict else self._listed_numbers(found)

    def test_on_batch(  # type: ignore[override]
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """The loss and metrics on one batch, which the metrics count alone."""
        found = super().test_on_batch(x, y, sample_weight, True)
        return dict(sorted(found.items())) if return_dict else self._listed_numbers(found)

    def get_state_tree(self, value_format: str = "backend_tensor") -> dict[str, Any]:
        """The values of all variables as nested dicts, by the parts of their paths.

        Arguments:
            value_format ("backend_tensor" or "numpy_array", default "backend_tensor"): the kind of the values. Tensors
                share the memory of the variables where these lie in one tensor, and change with them.

        Returns:
            A dict with "trainable_variables", "non_trainable_variables", "optimizer_variables" and
            "metrics_variables". The last are the states of `metrics`; numbers that `fit` computes without an object,
            such as the mean loss, stand in its logs alone.

        Errors:
            ValueError: two variables have one path; another `value_format`.

        Example:
            >>> model = Sequential([Input((2,)), Dense(1, name="out")], name="m")
            >>> list(model.get_state_tree()["trainable_variables"]["m"]["out"])
            ['kernel', 'bias']

        Source: https://keras.io/api/models/model/
        """
        return tree_of(self, value_format)

    def set_state_tree(self, state_tree: Mapping[str, Any]) -> None:
        """Set the variables that a tree as `get_state_tree` makes has values for; the others stay.

        Arguments:
            state_tree (dict): the values.

        Errors:
            ValueError: a kind or path is unknown, or a value has another shape.
        """
        assign(self, state_tree)

    def summary(  # type: ignore[override]
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Callable[[str], Any] | None = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: Any = None,
    ) -> None:
        """Print the table of layers, and how many numbers the weights and the optimizer hold.

        Arguments:
            line_length (integer or None, default None): characters in a line; None is at most 88, 108 where the layers
                have branches, and what the terminal shows.
            positions (list or None, default None): where the columns end, in characters or as fractions of the line,
                without the column of `show_trainable`.
            print_fn (function or None, default None): called with each line in place of `print`.
            expand_nested (bool, default False): whether to show the layers of models inside too.
            show_trainable (bool, default False): whether to say if each layer trains: "Y", "N", or "-" without weights.
            layer_range (pair or None, default None): the names, or regular expressions, of the first and the last layer
                to print; the totals stay the model's.

        Errors:
            ValueError: an option has a bad value, or no layer fits `layer_range`.

        Source: https://keras.io/api/models/model/
        """
        print_summary(self, line_length, positions, print_fn, expand_nested, show_trainable, layer_range)

    def _listed_numbers(self, found: Mapping[str, Any]) -> Any:
        """Reported numbers as a list: the losses, then metrics, which several outputs have in the order of names.

        The losses of outputs in a dict are in the order of the dict of losses. Where outputs have no names, metrics
        stand before the losses of outputs.
        """
        if len(self.outputs or ()) < 2:
            return unpacked(list(found.values()))
        loss = training_of(self).options.loss
        if not self._names_outputs:
            names = _names_in_order(self.metrics)
        else:
            paths = dict(zip(self.output_names, self._output_paths or self.output_names, strict=True))
            is_by_name = isinstance(loss, Mapping) and isinstance(self._output_form, Mapping)
            names = ["loss", *(f"{paths.get(name, name)}_loss" for name in (loss if is_by_name else paths))]
        names = [*(name for name in names if name in found), *sorted(found.keys() - names)]
        return [found[name] for name in names]


class Sequential(Model, models.Sequential, abstract=True):
    """Layers one after another: `Sequential([Input((4,)), Dense(8), Dense(1)])`.

    Options:
        layers (list of layers or None, default None): the layers; `add` adds more.
        trainable (bool, default True): whether training changes the weights.
        name (text or None, default None): the name of the model.

    Errors:
        TypeError: something else than a layer is added.
        ValueError: a layer does not fit its input.

    Example:
        >>> model = Sequential([Input((4,)), Dense(8, activation="relu"), Dense(1)])
        >>> model.output_shape
        (None, 1)

    Source: https://keras.io/api/models/sequential/
    """

    def __init__(self, layers: Any = None, trainable: bool = True, name: str | None = None) -> None:
        models.Sequential.__init__(self, layers, name=name)
        if not trainable:
            self.trainable = False

    def pop(self, rebuild: bool = True) -> Any:  # type: ignore[override]
        """Take the last layer away and return it.

        Arguments:
            rebuild (bool, default True): accepted for Keras 3's signature. The model always fits its layers afterwards.

        Returns:
            The layer.

        Errors:
            TypeError: there are no layers.
        """
        removed = self._stack[-1] if self._stack else None
        super().pop()
        return removed

    def _called(self, layer: Any, tensor: Any) -> Any:
        with names_within(self):
            return super()._called(layer, tensor)


def _from_inputs(inputs: Any, outputs: Any) -> tuple[Any, Any]:
    """Inputs and outputs of a graph. New inputs stand for those that layers made, and the outputs follow from these."""
    made = [tensor for tensor in tensors_in((inputs,)) if node_of(tensor).input_tensors]
    if not made or not tensors_in((outputs,)):
        return inputs, outputs
    instead = {each: Input(batch_shape=each.shape, dtype=each.dtype, name=f"{each.name}CLONE") for each in made}
    return mapped(inputs, lambda tensor: instead.get(tensor, tensor)), computed_from(instead, outputs)


def _refuse_none(model: Any, given: Any) -> None:
    """Raise ValueError for None in the place of an input."""
    named = given if isinstance(given, Mapping) else dict(zip(model.input_names, given, strict=False))
    for name, each in named.items():
        if each is None:
            raise ValueError(
                f"{type(model).__name__} {model.name!r}: the input {name!r} is not optional: give a tensor; found None."
            )


def _refuse_both_weights(method: str, sample_weight: Any, class_weight: Any) -> None:
    """Raise ValueError where samples have weights of their own and by their classes."""
    if sample_weight is not None and class_weight is not None:
        raise ValueError(
            f"{method}: only one of sample_weight and class_weight can be given: multiply the weights of the samples "
            "by those of their classes."
        )


def _samples(data: Any) -> int:
    """The number of samples in a batch of inputs or targets."""
    return next(len(each) for each in flatten(data) if each is not None)


def _names_in_order(listed: list[Any]) -> list[str]:
    """The names of metrics, those inside the one of `compile` among them."""
    return [each.name for metric in listed for each in getattr(metric, "metrics", (metric,))]


def _attributes(model: Any) -> list[Any]:
    """The metrics among the attributes of a model."""
    return [each for each in vars(model).values() if isinstance(each, Metric) and not isinstance(each, Reported)]


def _each(read: Callable[[Any], Any], value: Any) -> Any:
    """Losses or metrics in a list or a dict, each read; a config is one, though it is a dict."""
    if isinstance(value, (list, tuple)):
        return [_each(read, each) for each in value]
    if isinstance(value, Mapping) and "class_name" not in value:
        return {key: _each(read, each) for key, each in value.items()}
    return None if value is None else read(value)


def _metric(value: Any) -> Any:
    """A metric as an object, but for names that mean the same numbers in both dialects."""
    return value if isinstance(value, str) and value in PLAIN else metrics.as_metric(value)


def clone_model(
    model: Any,
    input_tensors: Any = None,
    clone_function: Callable[[Any], Any] | None = None,
    call_function: Callable[..., Any] | None = None,
    recursive: bool = False,
    **options: Any,
) -> Any:
    """The same architecture with new layers and fresh weights, compiled as the model is.

    The arguments are those of `torchkeras.models.clone_model`.
    """
    if isinstance(input_tensors, (Mapping, tuple, list)) and isinstance(model, Model):
        assert_same_structure(model.input, input_tensors)
        input_tensors = flatten(input_tensors)
    with dialect.known():
        made = models.clone_model(model, input_tensors, clone_function, call_function, recursive, **options)
    if isinstance(model, Model) and model.compiled:
        made.compile_from_config(model.get_compile_config())
    return made


dialect.CLASSES.update({models.Model: Model, models.Sequential: Sequential})
