"""What scripts find in a Keras 2 model for training beside what `Model` has, and what its methods take there."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import h5py
import numpy as np
import torch

from torchkeras.base import extensions
from torchkeras.data.checks import standardize
from torchkeras.engine.fit import runs
from torchkeras.engine.fit.training import collected, training_of
from torchkeras.engine.graph.trace import is_connected
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list, unpacked
from torchkeras.keras2 import old_seeds
from torchkeras.keras2.data_tensors import STEPS, by_steps, with_values
from torchkeras.keras2.engine import saving, training_utils
from torchkeras.keras2.old_metrics import converted
from torchkeras.keras2.put_into import OfModel
from torchkeras.models import Model

_compile: Any = Model.compile
_fit: Any = Model.fit
_summary: Any = Model.summary
_save: Any = Model.save
_may_wait = runs.may_wait


class OldTraining(OfModel):
    """The further names of models; never an object."""

    # --- functions of one batch --------------------------------------------------------------------------------------

    def _make_train_function(self) -> None:
        """Nothing but a look: `train_function` is there once the model is compiled. RuntimeError before."""
        training_of(self).check_compiled()

    _make_test_function = _make_train_function

    def _make_predict_function(self) -> None:
        """Nothing: `predict_function` is always there."""

    @property
    def train_function(self) -> Callable[[Any], list[Any]] | None:
        """A step on [inputs..., targets..., sample weights..., learning phase]; a list of numbers. None uncompiled."""
        return _by_parts(self, self.train_on_batch) if training_of(self).is_compiled else None

    @property
    def test_function(self) -> Callable[[Any], list[Any]] | None:
        """As `train_function`, without an update."""
        return _by_parts(self, self.test_on_batch) if training_of(self).is_compiled else None

    @property
    def predict_function(self) -> Callable[[Any], list[Any]]:
        """The outputs for [inputs..., learning phase]."""
        return lambda ins: as_list(self.predict_on_batch(unpacked(list(ins)[: len(self.inputs)])))

    # --- what is fed -------------------------------------------------------------------------------------------------

    @property
    def _feed_inputs(self) -> list[KerasTensor]:
        return self.inputs

    @property
    def _feed_input_names(self) -> list[str]:
        return self.input_names

    @property
    def _feed_input_shapes(self) -> list[Any]:
        return [tensor.shape for tensor in self.inputs]

    @property
    def _feed_output_names(self) -> list[str]:
        return [target.name for target in training_of(self).ready().targets]

    @property
    def _feed_output_shapes(self) -> list[Any]:
        return [self.outputs[target.index].shape for target in training_of(self).ready().targets]

    @property
    def _collected_trainable_weights(self) -> list[Any]:
        """What trains, since the last `compile`."""
        parameters = {id(each) for each in training_of(self).ready().parameters}
        return [each for each in self.weights if id(each.tensors[0]) in parameters]

    @property
    def loss_functions(self) -> list[Any]:
        """The loss of each output that has one."""
        return [target.objective.given for target in training_of(self).ready().targets]

    @property
    def stateful_metric_names(self) -> list[str]:
        """The metrics that are no means over batches."""
        return list(training_of(self).ready().kept)

    def _uses_dynamic_learning_phase(self) -> bool:
        return self.uses_learning_phase

    def _check_trainable_weights_consistency(self) -> None:
        """Warn when what trains is another than at the time of `compile`."""
        if training_of(self).is_compiled:
            with collected(training_of(self), training_of(self).ready()):
                pass

    def _standardize_user_data(
        self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, **options: Any
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Inputs, targets and weights as lists of arrays in the model's order."""
        names, shapes = self.input_names, [tensor.shape for tensor in self.inputs]
        inputs = [each.numpy() for each in standardize(x, names, shapes, [t.dtype for t in self.inputs], "input")]
        if y is None:
            return inputs, [], []
        named = self._feed_output_names
        targets = training_utils.standardize_input_data(y, named)
        weights = training_utils.standardize_sample_weights(sample_weight, named)
        classes = training_utils.standardize_class_weights(class_weight, named)
        modes = [target.weight_mode for target in training_of(self).ready().targets]
        parts = zip(targets, weights, classes, modes, strict=True)
        return inputs, targets, [training_utils.standardize_weights(*each) for each in parts]

    # --- what its methods take ---------------------------------------------------------------------------------------

    @wraps(_compile)
    def compile(self, *args: Any, **kwargs: Any) -> None:
        if kwargs.pop("mode", None) is not None:
            warnings.warn("compile: mode was an option of Theano's functions; it changes nothing here.", stacklevel=2)
        given = _by_name(_compile, args, kwargs)
        for name in ("metrics", "weighted_metrics"):
            if given.get(name):
                given[name] = converted(given[name])
        _check_outputs(self.output_names if is_connected(self) else [], given)
        if given.get("target_tensors") is not None:
            names = self.output_names if is_connected(self) else []
            given["target_tensors"] = _fed(given["target_tensors"], names)
        if is_connected(self):
            self._take_told()
        _compile(self, **given)

    @wraps(_fit)
    def fit(self, *args: Any, **kwargs: Any) -> Any:
        given = _by_name(_fit, args, kwargs)
        data = given.get("validation_data")
        if isinstance(data, (tuple, list)) and len(data) in (2, 3):
            weights = as_list(data[2]) if len(data) == 3 else [np.ones(len(each)) for each in as_list(data[1])]
            for callback in as_list(given.get("callbacks")):
                callback.validation_data = [*as_list(data[0]), *as_list(data[1]), *weights]
        if given.get("shuffle") is None or given["shuffle"]:
            old_seeds.seed_order()
        return _fit(self, **given)

    def summary(self, *args: Any, **kwargs: Any) -> None:
        """`Model.summary`, with a warning when what trains is another than at the time of `compile`."""
        self._check_trainable_weights_consistency()
        _summary(self, *args, **kwargs)

    def save(self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True) -> None:
        """`Model.save`, also into an open HDF5 file or a group."""
        if isinstance(filepath, h5py.Group):
            saving.save_model(self, filepath, overwrite, include_optimizer)
        else:
            _save(self, filepath, overwrite, include_optimizer)


ON_DATA = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
GENERATORS = ("fit_generator", "evaluate_generator", "predict_generator")


def extend() -> None:
    """Add the names to `Model`."""
    for name, value in vars(OldTraining).items():
        if not name.startswith("__"):
            given = getattr(Model, name, None)  # whose arguments stay those that `inspect` finds
            extensions.extend(Model, **{name: wraps(given)(value) if callable(given) else value})
    extensions.extend(Model, **{name: _on_data(getattr(Model, name)) for name in ON_DATA})
    extensions.extend(Model, **{name: _taking_processes(getattr(Model, name)) for name in GENERATORS})
    extensions.extend(runs, may_wait=_may_wait_in_training)


def _may_wait_in_training(model: Any, source: Any, hooks: Any, kind: str) -> bool:
    """Each batch of an evaluation is scored alone: its number is the same to the last bit, with a bar and without."""
    return kind != "test" and _may_wait(model, source, hooks, kind)


def _by_name(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name. Raises TypeError for more than there are, and for one that is given twice."""
    names = list(inspect.signature(function).parameters)[1:]
    if len(args) > len(names) or set(names[: len(args)]) & set(kwargs):
        raise TypeError(f"{function.__name__}: an argument is given twice, or there are too many of them.")
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _by_parts(model: Any, method: Callable[..., Any]) -> Callable[[Any], list[Any]]:
    def run(ins: Any) -> list[Any]:
        first, count = len(model.inputs), len(training_of(model).ready().targets)
        parts = list(ins)
        x, y = parts[:first], parts[first : first + count]
        weights = parts[first + count : first + 2 * count]
        return as_list(
            method(unpacked(x), unpacked(y) if y else None, sample_weight=unpacked(weights) if weights else None)
        )

    return run


def _check_outputs(names: list[str], given: Mapping[str, Any]) -> None:
    """Raise TypeError for loss weights in a tuple, ValueError for an output that a dict of weight modes lacks."""
    loss, modes = given.get("loss"), given.get("sample_weight_mode")
    if isinstance(given.get("loss_weights"), tuple):
        raise TypeError(f"compile: loss_weights must be a list or a dict; found {given['loss_weights']!r}.")
    losses = loss if isinstance(loss, (Mapping, list)) else [loss] * len(names)
    by_name = losses if isinstance(losses, Mapping) else dict(zip(names, losses, strict=False))
    missing = [name for name in names if by_name.get(name) is not None and name not in (modes or ())]
    if isinstance(modes, Mapping) and missing:
        raise ValueError(f"compile: the output {missing[0]!r} is missing from the dict sample_weight_mode.")


def _fed(targets: Any, names: list[str]) -> Any:
    """Target tensors without placeholders, which are fed as any target is; None where nothing else is left.

    Raises TypeError for what is neither a tensor nor a list or dict of them, ValueError for a number or name that the
    outputs do not have.
    """
    if isinstance(targets, Mapping):
        return _fed_by_name(targets, names)
    if isinstance(targets, list):
        return _fed_in_order(targets, names)
    if not isinstance(targets, (KerasTensor, torch.Tensor, np.ndarray)):
        raise TypeError(f"compile: target_tensors must be a tensor, or a list or dict of them; found {targets!r}.")
    if len(names) > 1:
        raise ValueError(
            f"The model has {len(names)} outputs, but you passed a single tensor as `target_tensors`. Expected a list "
            "or a dict of tensors."
        )
    return None if isinstance(targets, KerasTensor) else targets


def _fed_by_name(targets: Mapping[str, Any], names: list[str]) -> Any:
    unknown = [name for name in targets if name not in names]
    if names and unknown:
        raise ValueError(f"compile: target_tensors: no output is called {unknown[0]!r}; there are {names}.")
    return {name: each for name, each in targets.items() if not isinstance(each, KerasTensor)} or None


def _fed_in_order(targets: list[Any], names: list[str]) -> Any:
    if names and len(targets) != len(names):
        raise ValueError(
            "When passing a list as `target_tensors`, it should have one entry per model output. The model has "
            f"{len(names)} outputs, but you passed target_tensors={targets}."
        )
    return None if all(isinstance(each, KerasTensor) for each in targets) else targets


def _on_data(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that makes sparse matrices of SciPy dense, as Keras does, and takes inputs that have values.

    Raises ValueError for targets where `compile` was given target tensors, TypeError for a tuple of sample weights of
    several outputs.
    """

    @wraps(method)
    def taking(model: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = {name: _dense(value) for name, value in _by_name(method, args, kwargs).items()}
        if isinstance(given.get("sample_weight"), tuple) and is_connected(model) and len(model.outputs) > 1:
            raise TypeError(
                f"{method.__name__}: the sample_weight of {len(model.outputs)} outputs must be a list or a dict; found "
                "a tuple."
            )
        if method.__name__ in STEPS:
            given = by_steps(method.__name__, given)
            if _is_32(model, method.__name__, given):
                given["batch_size"] = 32
        if given.get("y") is not None and model.target_tensors is not None:
            raise ValueError(f"{method.__name__}: compile was given target_tensors, which are the targets: give no y.")
        if "x" in given:
            given["x"] = with_values(model, given["x"])
        return method(model, **given)

    return taking


def _is_32(model: Any, method: str, given: Mapping[str, Any]) -> bool:
    """Whether batches are of 32 samples, as for all models of Keras 2; ours of a fixed batch size take that size.

    It matters for stateful models, which refuse a number of samples that has a smaller last batch.
    """
    if not (is_connected(model) and model.stateful) or given.get("batch_size") or given.get(STEPS[method]):
        return False
    x = given.get("x")
    arrays = list(x.values()) if isinstance(x, Mapping) else as_list(x)
    samples = [len(each) for each in arrays if isinstance(each, (np.ndarray, torch.Tensor))]
    return bool(samples) and len(samples) == len(arrays) and (method != "predict" or samples[0] > 32)


def _dense(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and any(_dense(each) is not each for each in value):
        return type(value)(map(_dense, value))
    if isinstance(value, dict) and any(hasattr(each, "toarray") for each in value.values()):
        return {name: _dense(each) for name, each in value.items()}
    matrix: Any = value
    return matrix.toarray() if hasattr(matrix, "toarray") else value


def _taking_processes(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method to which a generator may be given with `use_multiprocessing`: one thread runs it."""

    @wraps(method)
    def taking(model: Any, /, generator: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("use_multiprocessing") and hasattr(generator, "__next__"):
            warnings.warn(
                f"{method.__name__}: processes would each make the same batches of a generator, so one thread runs it; "
                "a Sequence is made by several processes.",
                stacklevel=2,
            )
            kwargs = {**kwargs, "use_multiprocessing": False, "workers": min(1, kwargs.get("workers", 1))}
        return method(model, generator, *args, **kwargs)

    return taking
