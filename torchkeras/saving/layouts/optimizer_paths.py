"""An optimizer's state in Keras 3's `.weights.h5`: `optimizer/vars`, numbered, the moments of a weight side by side."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np


def write_optimizer(group: h5py.Group, model: Any) -> None:
    """Write a compiled model's optimizer state as Keras 3.15 does."""
    optimizer, variables = model.optimizer, model.trainable_weights
    state = optimizer.get_weights()[int(optimizer.counts_steps) :]
    named = {
        (name, index): state[place * len(variables) + index]
        for place, name in enumerate(optimizer.moment_names)
        for index in range(len(variables))
    }
    arrays: list[np.ndarray] = [np.array(optimizer.iterations, np.int32)]
    if not optimizer.decay:  # else the rate follows a schedule
        arrays.append(np.array(optimizer.lr, np.float32))
    arrays += [named[slot] for slot in _slots(optimizer, len(variables))]
    stored = group.create_group("optimizer").create_group("vars")
    stored.attrs["name"] = type(optimizer).__name__.lower()
    for index, array in enumerate(arrays):
        stored.create_dataset(str(index), data=array)


def _slots(optimizer: Any, count: int) -> list[tuple[str, int]]:
    """Keras 3's order of the state: the moments of a weight, then of the next; then Adam's maxima, weight by weight."""
    names = optimizer.moment_names if optimizer.keeps_moments else ()
    last = [name for name in names if name == "vhats"]
    together = [name for name in names if name not in last]
    return [(n, i) for i in range(count) for n in together] + [(n, i) for n in last for i in range(count)]
