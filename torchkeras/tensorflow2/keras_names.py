"""What modules of `tf.keras` have beside those of Keras 3: older names, and classes with TensorFlow's arguments."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

from torchkeras import callbacks as base
from torchkeras.base.naming import unique_name
from torchkeras.keras2 import backend as K
from torchkeras.keras2.utils import HDF5Matrix, Sequence
from torchkeras.keras3 import (
    callbacks,
    config,
    layers,
    losses,
    mixed_precision,
    models,
    optimizers,
    saving,
    utils,
)
from torchkeras.keras3.backend import clear_session
from torchkeras.keras3.optimizers import schedules
from torchkeras.keras3.optimizers.variables import OptimizerVariable
from torchkeras.tensorflow2.keras_classes import model_path, weights_path
from torchkeras.tensorflow2.process import refused


def Input(  # noqa: N802  (Keras's name)
    shape: Any = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: Any = None,
    tensor: Any = None,
    ragged: Any = None,
    type_spec: Any = None,
    **options: Any,
) -> Any:
    """A symbolic tensor, with which a graph begins; the arguments have the order of TensorFlow."""
    batch_shape = options.pop("batch_shape", options.pop("batch_input_shape", None))
    if options or tensor is not None or type_spec is not None or ragged:
        found = next(iter(options), "tensor" if tensor is not None else "ragged" if ragged else "type_spec")
        raise ValueError(f"Input: {found} is not supported; give shape, or batch_shape.")
    name = unique_name("input") if name is None else name
    return layers.Input(shape, batch_size, dtype, sparse, None, batch_shape, name)


class Reduction:
    """How a loss is reduced."""

    AUTO = SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
    NONE = "none"
    SUM = "sum"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return cls.AUTO, cls.NONE, cls.SUM


# --- callbacks --------------------------------------------------------------------------------------------------------


class ModelCheckpoint(base.ModelCheckpoint):
    """Saves the model, or its weights, after each epoch, under any path.

    Options: as `ModelCheckpoint` of Keras 3. A path without a suffix gets `.weights.h5`, or is a folder of a whole
    model. `period`: after how many epochs. `options` changes nothing.
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        options: Any = None,
        initial_value_threshold: float | None = None,
        period: int = 1,
        **older: Any,
    ) -> None:
        older.pop("load_weights_on_restart", None)
        if older:
            raise TypeError(f"ModelCheckpoint: unknown option {next(iter(older))!r}.")
        path = os.fspath(filepath)
        path = weights_path(path) if save_weights_only else model_path(path)
        super().__init__(
            path,
            monitor,
            verbose,
            save_best_only,
            save_weights_only,
            mode,
            period,
            save_freq=save_freq,
            initial_value_threshold=initial_value_threshold,
        )


class ReduceLROnPlateau(callbacks.ReduceLROnPlateau):
    """As that of Keras 3; `epsilon` is an older name of `min_delta`."""

    def __init__(self, *args: Any, epsilon: float | None = None, **options: Any) -> None:
        super().__init__(*args, **({} if epsilon is None else {"min_delta": epsilon}), **options)


class TensorBoard(callbacks.TensorBoard):
    """As that of Keras 3. `profile_batch`, `write_grads` and `batch_size` change nothing."""

    def __init__(self, *args: Any, **options: Any) -> None:
        for name in ("write_grads", "batch_size", "embeddings_layer_names", "profile_batch"):
            options.pop(name, None)
        super().__init__(*args, **options)


# --- backend ----------------------------------------------------------------------------------------------------------


def get_value(x: Any) -> Any:
    """The values of a tensor or variable, as NumPy has them."""
    of_itself: Any = getattr(x, "numpy", None)
    if isinstance(x, (OptimizerVariable, int)) and of_itself is not None:
        return of_itself()
    return x.detach().cpu().numpy()[()] if isinstance(x, torch.Tensor) else K.get_value(x)


def set_value(x: Any, value: Any) -> None:
    """Set a variable, or the learning rate of an optimizer."""
    if isinstance(x, OptimizerVariable):
        x.assign(np.asarray(value))
    else:
        K.set_value(x, value)


# --- files ------------------------------------------------------------------------------------------------------------


def load_model(
    filepath: Any, custom_objects: Any = None, compile: bool = True, options: Any = None, safe_mode: bool = True
) -> Any:
    """A model from a file, or from a folder that `save` made. Raises OSError for a SavedModel of TensorFlow."""
    path = os.fspath(filepath)
    if os.path.isdir(path):
        path = model_path(path)
        if not os.path.isfile(path):
            raise OSError(
                f"load_model: {os.fspath(filepath)} has no {os.path.basename(path)}, and a SavedModel of TensorFlow is "
                "not read: save the model there as .keras or .h5."
            )
    return saving.load_model(path, custom_objects, compile, safe_mode)


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, **options: Any
) -> None:
    """Write the whole model: `model.save(...)`."""
    model.save(filepath, overwrite=overwrite, include_optimizer=include_optimizer, **options)


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> np.ndarray:
    """Class numbers as rows with a 1 at the place of the class."""
    return utils.to_categorical(np.asarray(y), num_classes).astype(getattr(np, str(dtype).removeprefix("torch.")))


class Policy(mixed_precision.Policy):
    """The types of weights and of computation; `loss_scale` changes nothing, as losses are scaled where need be."""

    def __init__(self, name: str, loss_scale: Any = None) -> None:
        super().__init__(name)


_LAYERS: dict[str, Any] = {
    **dict.fromkeys(("CuDNNLSTM",), layers.LSTM),
    **dict.fromkeys(("CuDNNGRU",), layers.GRU),
    "Input": Input,
    "deserialize": saving.deserialize_keras_object,
    "serialize": saving.serialize_keras_object,
    "Convolution2D": layers.Conv2D,
}
_MIXED: dict[str, Any] = {
    "Policy": Policy,
    "set_policy": config.set_dtype_policy,
    "global_policy": config.dtype_policy,
    "set_global_policy": config.set_dtype_policy,
}
_FILES: dict[str, Any] = {"load_model": load_model, "save_model": save_model}
_OPTIMIZERS = {
    name: getattr(optimizers, name)
    for name in ("SGD", "Adagrad", "Adam", "Ftrl", "Optimizer", "RMSprop", "Adadelta", "Adamax", "Nadam", "AdamW")
}
_LOSSES = {
    short: getattr(losses, name)
    for name, shorts in (
        ("mean_squared_error", "mse MSE"),
        ("mean_absolute_error", "mae MAE"),
        ("mean_absolute_percentage_error", "mape MAPE"),
        ("mean_squared_logarithmic_error", "msle MSLE"),
        ("kl_divergence", "kld KLD kullback_leibler_divergence"),
        ("log_cosh", "logcosh"),
    )
    for short in shorts.split()
}
# Names of modules, which come before those of Keras 3.
NAMES: dict[str, dict[str, Any]] = {
    "": {"Input": Input, "__version__": "2.15.0"},
    "backend": {"get_value": get_value, "set_value": set_value, "clear_session": clear_session},
    "callbacks": {
        "ModelCheckpoint": ModelCheckpoint,
        "ReduceLROnPlateau": ReduceLROnPlateau,
        "TensorBoard": TensorBoard,
    },
    "callbacks.experimental": {"BackupAndRestore": callbacks.BackupAndRestore},
    "estimator": {"model_to_estimator": refused("tf.keras.estimator.model_to_estimator", "train the model by fit")},
    "experimental": {"CosineDecay": schedules.CosineDecay, "CosineDecayRestarts": schedules.CosineDecayRestarts},
    "layers": _LAYERS,
    "losses": {**_LOSSES, "Reduction": Reduction},
    "metrics": _LOSSES,
    "mixed_precision": _MIXED,
    "mixed_precision.experimental": _MIXED,
    "models": {**_FILES, "Model": models.Model},
    "optimizers.experimental": _OPTIMIZERS,
    "optimizers.legacy": _OPTIMIZERS,
    "saving": _FILES,
    "utils": {
        "HDF5Matrix": HDF5Matrix,
        "Sequence": Sequence,
        "to_categorical": to_categorical,
        "multi_gpu_model": refused(
            "tf.keras.utils.multi_gpu_model", "compile the model with distribute='ddp' and start it by torchrun"
        ),
    },
}
