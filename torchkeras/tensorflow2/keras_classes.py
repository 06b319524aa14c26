"""What `tf.keras` of TensorFlow 2.0 to 2.15 has otherwise than Keras 3, as one table of members of its classes.

The classes are those of `torchkeras.keras3` themselves. `put()` puts the members into them, in a process that runs such
a script, and `take_back()` takes them out again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from torch import Tensor, nn

from torchkeras import config
from torchkeras.base import extensions
from torchkeras.engine.graph.network import NotBuiltError
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list
from torchkeras.engine.weights.weight import Value
from torchkeras.keras2.old_optimizers import Number
from torchkeras.keras2.utils import Sequence
from torchkeras.keras3 import tree
from torchkeras.keras3.layers import Layer
from torchkeras.keras3.metrics import Metric
from torchkeras.keras3.models import Model
from torchkeras.keras3.optimizers import Optimizer, schedules
from torchkeras.keras3.variable import Variable
from torchkeras.layers.cells import Cell
from torchkeras.tensorflow2.tape import GradientTape
from torchkeras.tensorflow2.tensors import OF_SYMBOLIC, OF_TENSORS, TensorShape, put_into_sizes, take_from_sizes
from torchkeras.tensorflow2.variables import WEIGHTS, Status, _note_latest as note_latest

MODEL = "model.keras"  # the file of a model that is saved as a folder
SUFFIXES = (".h5", ".hdf5", ".keras", ".safetensors", ".pt")

# Options that changed nothing, or have a value that they must have, by class.
OLD_OPTIONS: dict[str, dict[str, tuple[Any, ...]]] = {
    "BatchNormalization": {
        "fused": (None, True, False),
        "renorm": (False,),
        "virtual_batch_size": (None,),
        "adjustment": (None,),
    },
    "Layer": {"dynamic": (False, True)},
    **{name: {"time_major": (False,), "implementation": (0, 1, 2)} for name in ("LSTM", "GRU", "SimpleRNN", "RNN")},
}
# Arguments of methods that changed how data are read in TensorFlow, and nothing else.
OF_WORKERS = ("workers", "use_multiprocessing", "max_queue_size")


# --- layers -----------------------------------------------------------------------------------------------------------

_as_options = Layer._as_options.__func__  # type: ignore[attr-defined]
_add_weight = Layer.add_weight


def as_options(cls: type, known: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """The options of a layer, without those that only TensorFlow had. Raises ValueError for a value of one."""
    for base in cls.__mro__:
        for name, allowed in OLD_OPTIONS.get(base.__name__, {}).items():
            if name in given and name not in known:
                value = given.pop(name)
                if value not in allowed:
                    rule = " or ".join(map(repr, allowed))
                    raise ValueError(f"{cls.__name__}: {name} must be {rule}; found {value!r}.")
    return _as_options(cls, known, args, given)


def add_weight(
    layer: Layer,
    /,
    name: Any = None,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    constraint: Any = None,
    use_resource: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
    **options: Any,
) -> Any:
    """Make a weight, in `__init__` or `build`; the arguments have the order of TensorFlow."""
    if name is not None and not isinstance(name, str):  # Keras 3's order, as its own layers have it
        name, shape, dtype, initializer = None, name, (dtype if initializer is not None else None), shape or dtype
    for unused in ("partitioner", "getter", "collections", "experimental_autocast", "caching_device"):
        options.pop(unused, None)
    return _add_weight(
        layer,
        shape=shape,
        initializer=initializer,
        dtype=dtype,
        trainable=trainable is None or trainable,
        regularizer=regularizer,
        constraint=constraint,
        name=name,
        **options,
    )


def _add_variable(layer: Layer, /, *args: Any, **options: Any) -> Any:
    """`add_weight`."""
    return layer.add_weight(*args, **options)


_build = Layer._build


def build(layer: Layer, input_shapes: Any, *further: Any) -> None:
    """Build the layer once: its `build` gets a `TensorShape`, or several nested as the inputs are."""
    shapes = (input_shapes, *further)
    _build(layer, *(shapes if layer.built else (tree.map_shape_structure(_as_sizes, each) for each in shapes)))


def _as_sizes(shape: Any) -> Any:
    return None if shape is None else TensorShape(shape)


_add_state = Metric.add_weight


def add_state(metric: Metric, /, name: Any = None, shape: Any = (), *args: Any, **options: Any) -> Any:
    """Make a state of a metric; the arguments have the order of TensorFlow."""
    if name is not None and not isinstance(name, str):
        return _add_state(metric, name, shape or None, *args, **options)
    for unused in ("aggregation", "synchronization"):
        options.pop(unused, None)
    return _add_state(metric, shape=shape, name=name, **options)


def get_initial_state(cell: Cell, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
    """The state of a cell before the first step: zeros, in a list where there are several."""
    count = int(batch_size if inputs is None else inputs.shape[0])
    sizes = cell.state_size
    zeros = [torch.zeros((count, size), device=config.device()) for size in as_list(sizes)]
    return zeros if isinstance(sizes, (list, tuple)) else zeros[0]


# --- models -----------------------------------------------------------------------------------------------------------


def model_path(path: Any) -> str:
    """Where a whole model is written: the file, or `model.keras` in a folder, where TensorFlow has a SavedModel."""
    found = os.fspath(path)
    return found if found.endswith(SUFFIXES) else os.path.join(found, MODEL)


def weights_path(path: Any) -> str:
    """Where weights are written: the file, or where TensorFlow has a checkpoint, `<path>.weights.h5`."""
    found = os.fspath(path)
    return found if found.endswith(SUFFIXES) else f"{found}{WEIGHTS}"


_save, _save_weights, _load_weights = Model.save, Model.save_weights, Model.load_weights


def save(
    model: Model,
    filepath: Any,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Any = None,
    options: Any = None,
    save_traces: bool = True,
    zipped: Any = None,
) -> None:
    """Write the whole model to a file. A path without a suffix is a folder, with the file `model.keras` in it.

    Raises ValueError for `signatures`: a SavedModel is not written.
    """
    if signatures is not None:
        raise ValueError("save: signatures must be None, as no SavedModel is written; model.export writes ONNX.")
    path = os.fspath(filepath) if save_format == "h5" else model_path(filepath)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    _save(model, path, overwrite=overwrite, include_optimizer=include_optimizer)


def save_weights(
    model: Model, filepath: Any, overwrite: bool = True, save_format: str | None = None, options: Any = None
) -> None:
    """Write the weights to a file. A path without a suffix, as of a checkpoint of TensorFlow, gets `.weights.h5`.

    There the file of a model that has no weights yet has none in it.
    """
    path = os.fspath(filepath) if save_format == "h5" else weights_path(filepath)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    is_checkpoint = path != os.fspath(filepath)
    if is_checkpoint and not _has_weights(model):
        h5py.File(path, "w").close()
    else:
        _save_weights(model, path, overwrite=overwrite)
    if is_checkpoint:
        note_latest(os.fspath(filepath))


def load_weights(
    model: Model,
    /,
    filepath: Any,
    by_name: bool = False,
    skip_mismatch: bool = False,
    options: Any = None,
    **further: Any,
) -> Status:
    """Set the weights from a file, or from a path that `save_weights` was given.

    As a checkpoint of TensorFlow does, the file of such a path waits for the first call of a model that has no weights
    yet.
    """
    path = os.fspath(filepath)
    found = path if os.path.isfile(path) else weights_path(path)
    if found != path and os.path.isfile(found) and not _has_weights(model):
        vars(model)[WAITING] = filepath
        return Status()
    _load_weights(model, found, skip_mismatch=skip_mismatch, by_name=by_name, **further)
    return Status()


WAITING = "_waiting_weights"  # the attribute for the path of weights that the first call sets


def _has_weights(model: Any) -> bool:
    """Whether the weights of a model are made."""
    try:
        model._check_has_weights()
    except NotBuiltError:
        return False
    return True


def _set_waiting(model: Any, args: tuple[Any, ...], given: Mapping[str, Any]) -> None:
    """Set the weights that wait for the first call. A model that is not built yet is built by it, for nothing."""
    path = vars(model).pop(WAITING)
    if not _has_weights(model):
        with torch.no_grad():
            _call(model, *args, **given)
    load_weights(model, path)


def _first_sample(x: Any) -> Any:
    """The inputs of the first batch of a dataset, or of the first sample of arrays.

    Raises NotImplementedError for a generator, whose first batch would be lost.
    """
    if hasattr(x, "element_spec"):
        batch = next(iter(x))
    elif isinstance(x, Sequence):  # of batches
        batch = x[0]
    elif hasattr(x, "__next__"):
        raise NotImplementedError("load_weights: call the model on data before it reads from a generator.")
    else:
        return tree.map_structure(lambda array: torch.as_tensor(np.asarray(array[:1])), x)
    return batch[0] if isinstance(batch, tuple) else batch


_call = Model.__call__


@wraps(_call)
def call_model(model: Model, /, *args: Any, **given: Any) -> Any:
    """As of Keras 3. Weights that wait for the first call are set before it."""
    if WAITING in vars(model):
        _set_waiting(model, args, given)
    return _call(model, *args, **given)


def _with_weights(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of data, before which weights that wait for them are set."""

    @wraps(method)
    def call(model: Model, /, *args: Any, **given: Any) -> Any:
        if WAITING in vars(model):
            _set_waiting(model, (_first_sample(args[0] if args else given["x"]),), {})
        return method(model, *args, **given)

    return call


_inputs: Callable[[Any], Any] = Model.inputs.fget  # type: ignore[attr-defined]
OWN_INPUTS = "_own_inputs"


def inputs(model: Model) -> Any:
    """The symbolic inputs; before there are any, what a class of a script has set in their place."""
    try:
        return _inputs(model)
    except NotBuiltError:
        if OWN_INPUTS not in vars(model):
            raise
        return vars(model)[OWN_INPUTS]


def _set_inputs(model: Model, value: Any) -> None:
    vars(model)[OWN_INPUTS] = value


def _without_workers(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes the arguments of TensorFlow about workers too, which change nothing."""

    @wraps(method)
    def call(model: Model, /, *args: Any, **given: Any) -> Any:
        kept = {name: value for name, value in given.items() if name not in OF_WORKERS}
        return method(model, *args, **kept)

    return call


_compile = Model.compile


@wraps(_compile)
def compile_model(
    model: Model,
    /,
    optimizer: Any = "rmsprop",
    loss: Any = None,
    metrics: Any = None,
    loss_weights: Any = None,
    **given: Any,
) -> Any:
    """As `compile` of Keras 3. Options that only TensorFlow had change nothing.

    Raises ValueError for `target_tensors` and `sample_weight_mode`.
    """
    for name in ("experimental_run_tf_function", "experimental_steps_per_execution", "pss_evaluation_shards"):
        given.pop(name, None)
    for name in ("target_tensors", "sample_weight_mode"):
        if given.pop(name, None) is not None:
            raise ValueError(f"compile: {name} must be None; a loss of your own takes what it needs.")
    if isinstance(metrics, str):
        metrics = [metrics]
    return _compile(model, optimizer, loss=loss, metrics=metrics, loss_weights=loss_weights, **given)


def _generator_of(method: str) -> Callable[..., Any]:
    def call(model: Model, /, generator: Any, *args: Any, **given: Any) -> Any:
        names = _GENERATOR_ARGUMENTS[method]
        named = {**dict(zip(names, args, strict=False)), **given}
        return getattr(model, method)(generator, **{name: named[name] for name in named if name not in OF_WORKERS})

    call.__doc__ = f"`{method}`, of a generator."
    return call


# The arguments of methods for generators, by their places.
_GENERATOR_ARGUMENTS = {
    "fit": (
        *("steps_per_epoch", "epochs", "verbose", "callbacks", "validation_data", "validation_steps"),
        *("validation_freq", "class_weight", "max_queue_size", "workers", "use_multiprocessing", "shuffle"),
        "initial_epoch",
    ),
    "evaluate": ("steps", "callbacks", "max_queue_size", "workers", "use_multiprocessing", "verbose"),
    "predict": ("steps", "callbacks", "max_queue_size", "workers", "use_multiprocessing", "verbose"),
}


def predict_classes(model: Model, x: Any, batch_size: int | None = None, verbose: Any = 0) -> np.ndarray:
    """The class of each sample: the place of the largest output, or whether a single one is above 0.5."""
    found = model.predict(x, batch_size=batch_size, verbose=verbose)
    return found.argmax(-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")


def predict_proba(model: Model, x: Any, batch_size: int | None = None, verbose: Any = 0) -> Any:
    """`predict`."""
    return model.predict(x, batch_size=batch_size, verbose=verbose)


def _automatic_name(model: Model) -> str:
    return "model" if type(model) is Model else _named(model)


_named: Callable[[Any], str] = Layer._automatic_name.fget  # type: ignore[attr-defined]


def _nothing(model: Model, /, *args: Any, **options: Any) -> None:
    """Nothing: a function is made when it is needed."""


# --- optimizers -------------------------------------------------------------------------------------------------------

_make, _apply, _set_option = Optimizer._make, Optimizer.apply, Optimizer._set_option


class Rate(Number):
    """The learning rate of an optimizer: a number that is assigned, as a variable of TensorFlow."""

    @classmethod
    def of(cls, value: float, owner: Any, name: str) -> Rate:
        """The option of an optimizer."""
        return super().of(value, owner, name)  # type: ignore[return-value]

    def numpy(self) -> np.ndarray:
        """The number as NumPy has it."""
        return np.float32(self)  # type: ignore[return-value]

    def read_value(self) -> Tensor:
        """The number as a tensor."""
        return torch.tensor(float(self))

    value = read_value


def make(optimizer: Optimizer, arguments: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Set all options; `lr` is the learning rate, and `decay` a schedule of it: rate / (1 + decay * steps)."""
    given = dict(kwargs)
    decay = given.pop("decay", None)
    if "lr" in given:
        given["learning_rate"] = given.pop("lr")
    for name in ("is_legacy_optimizer", "jit_compile"):
        given.pop(name, None)
    if decay:
        bound = arguments.bind(*args, **given)
        bound.apply_defaults()
        rate = bound.arguments["learning_rate"]
        schedule = schedules.InverseTimeDecay(rate, 1, decay)
        if args:
            args = (schedule, *args[1:])
        else:
            given["learning_rate"] = schedule
    _make(optimizer, arguments, args, given)
    _let_be_set(optimizer)


def set_option(optimizer: Optimizer, name: str, value: Any) -> None:
    """Set an option; the learning rate is one that `K.set_value` sets too."""
    _set_option(optimizer, name, value)
    _let_be_set(optimizer)


def _let_be_set(optimizer: Any) -> None:
    if type(vars(optimizer).get("lr")) is float:
        vars(optimizer)["lr"] = Rate.of(vars(optimizer)["lr"], optimizer, "lr")


def apply_gradients(
    optimizer: Optimizer,
    grads_and_vars: Any,
    name: Any = None,
    skip_gradients_aggregation: bool = False,
    experimental_aggregate_gradients: bool = True,
) -> Any:
    """One step, by pairs of a gradient and a variable; variables without a gradient do not change.

    Raises ValueError where there is no gradient at all.
    """
    pairs = list(grads_and_vars)
    if all(gradient is None for gradient, _ in pairs):
        names = ", ".join(str(getattr(each, "name", each)) for _, each in pairs)
        raise ValueError(f"No gradients provided for any variable: {names}.")
    _apply(optimizer, [gradient for gradient, _ in pairs], [each for _, each in pairs])
    return optimizer.iterations


def minimize(
    optimizer: Optimizer, loss: Any, var_list: Any, grad_loss: Any = None, name: Any = None, tape: Any = None
) -> Any:
    """One step that makes a loss smaller: a function without arguments, or a tensor of a tape."""
    if callable(loss) and not isinstance(loss, Tensor):
        with GradientTape() as tape:
            loss = loss()
    elif tape is None:
        raise ValueError("minimize: give the tape too where the loss is a tensor.")
    found: Any = var_list() if callable(var_list) else var_list
    variables = list(found)
    return optimizer.apply_gradients(zip(tape.gradient(loss, variables, grad_loss), variables, strict=True))


def _compute_gradients(optimizer: Optimizer, loss: Any, var_list: Any, tape: Any = None) -> list[tuple[Any, Any]]:
    """Pairs of the gradient of a loss and a variable."""
    if callable(loss) and not isinstance(loss, Tensor):
        with GradientTape() as tape:
            loss = loss()
    return list(zip(tape.gradient(loss, list(var_list)), var_list, strict=True))


def _decayed_lr(optimizer: Optimizer, var_dtype: Any = None) -> Tensor:
    """The learning rate of the next step."""
    return torch.tensor(float(optimizer.learning_rate))


# --- variables --------------------------------------------------------------------------------------------------------


def _copy(tensor: Tensor) -> Tensor:
    """The values as another tensor, through which gradients flow: `variable.value()`, where `value` is the tensor."""
    return tensor.clone()


_sizes: Callable[[Any], Any] = Variable.shape.fget  # type: ignore[attr-defined]


def _shape(variable: Variable) -> TensorShape:
    """The sizes of the axes."""
    return TensorShape(_sizes(variable))


# --- the table --------------------------------------------------------------------------------------------------------

# The members of TensorFlow 2, by the class of `torchkeras.keras3`.
MEMBERS: dict[type, dict[str, Any]] = {
    Layer: {
        "_as_options": classmethod(as_options),
        "_build": build,
        "add_variable": _add_variable,
        "add_weight": add_weight,
    },
    Cell: {"get_initial_state": get_initial_state},
    Metric: {"add_weight": add_state},
    Model: {
        "_automatic_name": property(_automatic_name),
        "_make_predict_function": _nothing,
        "_make_train_function": _nothing,
        "__call__": call_model,
        "compile": compile_model,
        "evaluate": _with_weights(_without_workers(Model.evaluate)),
        "evaluate_generator": _generator_of("evaluate"),
        "fit": _with_weights(_without_workers(Model.fit)),
        "fit_generator": _generator_of("fit"),
        "load_weights": load_weights,
        "make_predict_function": _nothing,
        "make_train_function": _nothing,
        "inputs": property(inputs, _set_inputs),
        "predict": _with_weights(_without_workers(Model.predict)),
        "predict_classes": predict_classes,
        "predict_generator": _generator_of("predict"),
        "predict_on_batch": _with_weights(Model.predict_on_batch),
        "predict_proba": predict_proba,
        "save": save,
        "save_weights": save_weights,
        "test_on_batch": _with_weights(Model.test_on_batch),
        "train_on_batch": _with_weights(Model.train_on_batch),
    },
    Optimizer: {
        "_compute_gradients": _compute_gradients,
        "_decayed_lr": _decayed_lr,
        "_make": make,
        "_set_option": set_option,
        "apply_gradients": apply_gradients,
        "minimize": minimize,
    },
    KerasTensor: OF_SYMBOLIC,
    Variable: {"shape": property(_shape)},
    Value: {"__call__": _copy},
    Tensor: OF_TENSORS,
    nn.Parameter: {"__call__": _copy},
}
_MISSING = object()
_before: list[tuple[type, str, Any]] = []


def put(tensors_alone: bool = False) -> None:
    """Put the members into the classes, or into those of tensors alone."""
    put_into_sizes()
    for cls, members in MEMBERS.items():
        if tensors_alone and cls not in (Tensor, KerasTensor):
            continue
        for name, member in members.items():
            _before.append((cls, name, vars(cls).get(name, _MISSING)))
            if cls in (Tensor, nn.Parameter):  # torch's own
                setattr(cls, name, member)
            else:
                extensions.extend(cls, **{name: member})


def take_back() -> None:
    """Take the members out again."""
    take_from_sizes()
    while _before:
        cls, name, member = _before.pop()
        if member is _MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, member)
