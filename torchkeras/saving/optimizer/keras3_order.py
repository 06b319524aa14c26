"""The order of an optimizer's state in Keras 3 and tf_keras: numbered in `.weights.h5`, named in HDF5 models.

First the step. Keras 3 then has the learning rate, unless it follows a schedule. Then come moving averages of the
weights and accumulated gradients. Then, for most optimizers, the moments weight by weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from torchkeras.base.arrays import to_numpy
from torchkeras.engine.fit.training import training_of
from torchkeras.optimizers.factored import FACTORED
from torchkeras.optimizers.schedules import LearningRateSchedule

if TYPE_CHECKING:
    from torchkeras.models.model import Model

AVERAGE, ACCUMULATED, PRODUCT, NOTHING = "average", "accumulated", "product", "nothing"
FURTHER = "further"  # what a class of the user's keeps besides
VARIANCE = "variance"  # of a full weight, which Adafactor stores besides its rows and columns

# What does not have the shape of its weight.
OF_OTHER_SHAPES = (PRODUCT, NOTHING, FURTHER, VARIANCE, "rows", "columns")

# If layers train in float16, the optimizer is wrapped in another one, which has this state and no rate of its own.
SCALE = ("good_in_a_row", "scale")

# Moments stored slot by slot. All others are stored weight by weight, except Adam's maxima.
APART = ("RMSprop",)
LAST = ("vhats",)


@dataclass(frozen=True)
class SlotPlace:
    """What an array of the state is: a moment (or one of the words above), and the number of its weight."""

    what: str
    weight: int = 0


def orders(optimizer: Any, count: int) -> list[list[SlotPlace]]:
    """The possible orders of the state of `count` weights, after the step and the rate; Keras 3's comes first.

    tf_keras stores SGD's velocity even if the momentum is 0, no product for Nadam, no zeros for Adafactor's vectors.
    """
    before: list[SlotPlace] = []
    if optimizer.use_ema:
        before += [SlotPlace(AVERAGE, k) for k in range(count)]
    if (optimizer.gradient_accumulation_steps or 1) > 1:
        before += [SlotPlace(ACCUMULATED, k) for k in range(count)]
    own = ORDERS.get(_rule(optimizer), _plain)
    return [[*before, *order, *further(optimizer)] for order in own(optimizer, count)]


def further(optimizer: Any) -> list[SlotPlace]:
    """The places of what a class of the user's keeps besides."""
    return [SlotPlace(FURTHER, k) for k in range(len(optimizer.further_arrays()))]


def _rule(optimizer: Any) -> str:
    """The name of the class whose moments the optimizer has."""
    return getattr(optimizer, "_rule", type(optimizer)).__name__


def _names(optimizer: Any) -> Sequence[str]:
    """The moments that the optimizer keeps, by their names."""
    return optimizer.moment_names if optimizer.keeps_moments else ()


def _plain(optimizer: Any, count: int) -> list[list[SlotPlace]]:
    return [_moments(_rule(optimizer), _names(optimizer), count)]


def _sgd(optimizer: Any, count: int) -> list[list[SlotPlace]]:
    return [_moments("SGD", _names(optimizer), count), _moments("SGD", optimizer.moment_names, count)]


def _nadam(optimizer: Any, count: int) -> list[list[SlotPlace]]:
    moments = _moments("Nadam", _names(optimizer), count)
    return [[*moments, SlotPlace(PRODUCT)], moments]


def _moments(kind: str, names: Sequence[str], count: int) -> list[SlotPlace]:
    apart = [name for name in names if name in LAST or kind in APART]
    together = [name for name in names if name not in apart]
    found = [SlotPlace(name, k) for k in range(count) for name in together]
    return found + [SlotPlace(name, k) for name in apart for k in range(count)]


def _muon(optimizer: Any, count: int) -> list[list[SlotPlace]]:
    known = {(slot.moment, slot.array) for slot in optimizer.slots()}
    return [[SlotPlace(name, k) for k in range(count) for name in optimizer.moment_names if (name, k) in known]]


def _adafactor(optimizer: Any, count: int) -> list[list[SlotPlace]]:
    return [_factors(optimizer, count, zeros) for zeros in (True, False)]


def _factors(optimizer: Any, count: int, zeros: bool) -> list[SlotPlace]:
    found = []
    for k in range(count):
        if optimizer._kinds[k] == FACTORED:
            found += [SlotPlace("rows", k), SlotPlace("columns", k), SlotPlace(VARIANCE, k)]
        else:
            found += [SlotPlace(NOTHING)] * (2 * zeros) + [SlotPlace("velocities", k)]
    return found


# The possible orders of an optimizer's state, by its class.
ORDERS = {"Muon": _muon, "Adafactor": _adafactor, "SGD": _sgd, "Nadam": _nadam}


# --- writing ---------------------------------------------------------------------------------------------------------


def write_optimizer(group: h5py.Group, model: Model, optimizer: Any) -> None:
    """Write the state of a compiled model's optimizer, bound to the weights that train now, as Keras 3.15 does."""
    count = len(model.trainable_weights)
    values = _values(optimizer)
    every, pending = optimizer.gradient_accumulation_steps or 1, optimizer.accumulated_batches
    arrays: list[np.ndarray] = [np.array(optimizer.iterations * every + pending, np.int32)]
    if not (isinstance(optimizer.lr, LearningRateSchedule) or optimizer.decay):  # else the rate follows a schedule
        arrays.append(np.array(optimizer.lr, np.float32))
    arrays += [values[place] for place in orders(optimizer, count)[0]]
    inside, name = group.create_group("optimizer"), type(optimizer).__name__.lower()
    scaling = training_of(model).ready().scaling
    if scaling is not None:
        _write(inside.create_group("inner_optimizer"), name, arrays)
        arrays = [np.array(0, np.int32), np.array(0, np.float32), *_scale(scaling.state_dict()), *arrays]
        name = "loss_scale_optimizer"
    _write(inside, name, arrays)


def _write(group: h5py.Group, name: str, arrays: Sequence[np.ndarray]) -> None:
    stored = group.create_group("vars")
    stored.attrs["name"] = name
    for index, array in enumerate(arrays):
        stored.create_dataset(str(index), data=array)


def _scale(state: Mapping[str, Any]) -> list[np.ndarray]:
    """The state of a loss scale, in the order of `SCALE`."""
    return [to_numpy(state[name]) for name in SCALE]


def _values(optimizer: Any) -> dict[SlotPlace, np.ndarray]:
    state = optimizer.get_weights()[int(optimizer.counts_steps) :]
    found = {SlotPlace(s.moment, s.array): array for s, array in zip(optimizer.slots(), state, strict=False)}
    found[SlotPlace(NOTHING)] = np.zeros((), np.float32)
    found |= _by_weight(FURTHER, optimizer.further_arrays())
    weights = optimizer._as_arrays(optimizer._parameters)
    if optimizer.use_ema:
        # Before the first step there are none: averages begin as the weights.
        found |= _by_weight(AVERAGE, optimizer.get_averages() or weights)
    # Keras 3 stores the sum over batches.
    sums = optimizer.get_accumulated() or map(np.zeros_like, weights)
    found |= _by_weight(ACCUMULATED, (array * optimizer.accumulated_batches for array in sums))
    if type(optimizer).__name__ == "Nadam":
        found[SlotPlace(PRODUCT)] = np.array(optimizer.momentum_product, np.float32)
    for weight in [place.weight for place in found if place.what == "rows"]:
        rows, columns = found[SlotPlace("rows", weight)], found[SlotPlace("columns", weight)]
        found[SlotPlace(VARIANCE, weight)] = _variance(rows, columns)
    return found


def _by_weight(what: str, arrays: Iterable[np.ndarray]) -> dict[SlotPlace, np.ndarray]:
    """An array for each weight, by its place in the state."""
    return {SlotPlace(what, k): array for k, array in enumerate(arrays)}


def _variance(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The variance of a full weight, which Keras 3 stores besides the two factors that Adafactor computes with."""
    mean = rows.mean(-1, keepdims=True)
    share = np.divide(rows, mean, out=np.zeros_like(rows), where=mean != 0)
    return share[..., None] * columns[..., None, :]
