"""Whole models and optimizers in Keras 2's HDF5 layout: JSON attributes and the weights.

`model_config` is the architecture, `training_config` how the model was compiled; `optimizer_weights` is the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np

from torchkeras.engine.graph.network import Network
from torchkeras.engine.weights.weight_lists import FrozenModels, Order
from torchkeras.saving.containers import json_text
from torchkeras.saving.model_file import OWN
from torchkeras.saving.weights.layer_groups import write_arrays, write_origin, write_weights

Arrays = list[tuple[str, np.ndarray]]


def write_model(file: h5py.File, model: Network, config: Mapping[str, Any], training: Mapping[str, Any] | None) -> None:
    """Write architecture and weights; with `training` also how the model was compiled."""
    write_origin(file)
    file.attrs["model_config"] = json_text.written(config, "attribute 'model_config'").encode("utf-8")
    write_weights(file.create_group("model_weights"), model, Order(FrozenModels.CONFIG))
    if training is not None:
        file.attrs["training_config"] = json_text.written(training, "attribute 'training_config'").encode("utf-8")


def write_optimizer(file: h5py.File, arrays: Arrays, own: Arrays) -> None:
    """Write an optimizer's state, in Keras's order, under these names, and `own`, which Keras does not look for."""
    if not arrays and not own:
        return
    group = file.create_group("optimizer_weights")
    write_arrays(group, arrays)
    if own:
        write_arrays(group.create_group(OWN), own)
