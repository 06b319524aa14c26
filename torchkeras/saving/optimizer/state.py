"""The state of an optimizer in files, in the forms of every version.

Keras up to 2.0.5 stores the state in the order of the weights' names, from 2.0.6 on in the order of the weights, both
slot by slot (all first moments, then all second ones). Keras 3 and tf_keras have another order (`keras3_order`). The
arrays have the layout of the weights of the same file, so they go through the same conversions.

In our own files of Keras 2's form, what that has no place for (averages, accumulated gradients, the steps of RMSprop)
is in a group of its own, which Keras does not read.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from torchkeras.base.arrays import to_numpy
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.step.optimizer_reach import bind
from torchkeras.engine.weights.weight import Variable
from torchkeras.errors import WeightMismatchError
from torchkeras.legacy.weights import Recipe
from torchkeras.optimizers.base import Optimizer
from torchkeras.optimizers.schedules import LearningRateSchedule
from torchkeras.optimizers.state import Slot
from torchkeras.saving.optimizer.keras3_order import (
    ACCUMULATED,
    AVERAGE,
    FURTHER,
    OF_OTHER_SHAPES,
    SlotPlace,
    further,
    orders,
)
from torchkeras.saving.weights.matching import Match, Named
from torchkeras.saving.weights.origin import Origin

if TYPE_CHECKING:
    from torchkeras.models.model import Model

STEP, RATE = ("iteration", "iter", "iterations"), "learning_rate"
PRODUCT = (
    "m_schedule",
    "momentum_cache",
)  # of Nadam in Keras 2.3 and in tf.keras up to 2.10; it follows from the steps
BESIDE = "torchkeras/"
OURS = "training/weight_{}:0"  # the names of the arrays in our files
Values = dict[SlotPlace, np.ndarray]


def bound_for_file(model: Model, path: Any) -> Any:
    """The optimizer of a compiled model, bound to the weights that train now, in the order that a file has them.

    A parametrization or a mask that was removed since `compile` leaves the same parameters in another order. The next
    step binds those of `compile` again. Warns of weights that have no state, since `compile` saw others in their place.
    """
    variables, parameters = model.trainable_weights, training_of(model).ready().parameters
    optimizer, tensors = model.optimizer.for_files, [tensor for variable in variables for tensor in variable.tensors]
    if [*map(id, tensors)] == [*map(id, parameters)]:
        return optimizer
    collected = set(map(id, parameters))
    new = [variable.full_name for variable in variables if not collected.issuperset(variable.identity)]
    if new and optimizer.iterations:
        warnings.warn(
            f"{path}: since compile other parameters are in the place of {listed(new)}: the file has no state of the "
            "optimizer for them, and they begin to train without.",
            stacklevel=5,
        )
    if optimizer.accumulated_batches:
        warnings.warn(
            f"{path}: other weights train than at compile: the file has no gradients of the "
            f"{optimizer.accumulated_batches} batches since the last step.",
            stacklevel=5,
        )
    bind(optimizer, variables, tensors)
    return optimizer


def listed(names: Sequence[str]) -> str:
    """The first of some names."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def restore(
    optimizer: Optimizer,
    arrays: Sequence[Named],
    matches: Sequence[Match],
    variables: Sequence[Variable],
    origin: Origin,
    file: str,
) -> None:
    """Give an optimizer the state of a file. `variables`: the weights that train, in the optimizer's order.

    Warns of a state of other weights: if some were frozen after `compile`, or train again, the file has the state of
    those that trained before. The optimizer then has none, as in Keras. Raises WeightMismatchError for a state that
    cannot be converted.
    """
    found = _matches_of(variables, matches)
    own, rest = _by_writer(arrays)
    has_step = bool(rest) and (optimizer.counts_steps or _last(rest[0]) in STEP)
    sources = _stored_weights(found, origin)
    values = _placed(optimizer, rest, rest[int(has_step) :], [source.shape for source in sources])
    if values is None:
        _warn_of_other_weights(optimizer, len(rest), matches, found, file)
        return
    paths = [source.path for source in sources]
    try:
        _set_moments(optimizer, values, found, paths)
        if SlotPlace(FURTHER) in values:
            optimizer.set_further_arrays([values[place] for place in further(optimizer)])
        if has_step:
            _set_step(optimizer, rest, values, found, paths)
        _set_own(optimizer, own)
        if not has_step and _are_of_earlier_release(rest):
            _warn_of_steps(optimizer, values, file)
    except (ValueError, RuntimeError) as error:
        raise WeightMismatchError(f"{file}: the state of its optimizer does not fit: {error}") from error


def _matches_of(variables: Sequence[Variable], matches: Sequence[Match]) -> list[Match]:
    """The match of each weight, in the order of the weights."""
    by_weight = {(id(match.variable.layer), match.variable.name): match for match in matches}
    return [by_weight.get((id(variable.layer), variable.name)) or _of_itself(variable) for variable in variables]


def _of_itself(variable: Variable) -> Match:
    """The match of a weight that the layer made after the file's values were read: its state is stored as it is."""
    return Match(variable, (Named(variable.name, variable.numpy()),), Recipe((0,)))


def _by_writer(arrays: Sequence[Named]) -> tuple[list[Named], list[Named]]:
    """The arrays that only this package writes, and those of Keras's form without the learning rate."""
    own = [named for named in arrays if named.name.startswith(BESIDE)]
    keras = [named for named in arrays if not named.name.startswith(BESIDE)]
    return own, [named for named in keras if _last(named) != RATE]


def _stored_weights(found: Sequence[Match], origin: Origin) -> list[Named]:
    """The arrays of the weights in the file, in the order in which the file has their state."""
    sources = [source for match in found for source in match.sources]
    if origin.state_by_name:
        sources.sort(key=lambda source: source.name)
    return sources


def _set_step(
    optimizer: Any, rest: Sequence[Named], values: Values, found: Sequence[Match], paths: Sequence[str]
) -> None:
    """Set the number of steps, which is the first array, and what Keras 3 stores of the batches since the last one."""
    step, every = int(rest[0].values()), 1
    if _is_modern(rest):  # Keras 3 counts batches.
        every = optimizer.gradient_accumulation_steps or 1
    optimizer.iterations = step // every
    _set_beside(optimizer, step % every, values, found, paths)


def _warn_of_other_weights(
    optimizer: Any, arrays: int, matches: Sequence[Match], found: Sequence[Match], file: str
) -> None:
    """Say that a file has the state of other weights than those that train."""
    known = set(map(id, found))
    frozen = [match.variable.full_name for match in matches if id(match) not in known]
    but = f", all but {listed(frozen)}" if frozen else ""
    warnings.warn(
        f"{file}: the state of its optimizer is not taken, and {type(optimizer).__name__} begins without: the file "
        f"has {arrays} arrays, which are not those of the {len(found)} weights that train{but}. If weights were "
        "frozen after compile, or train again, a file has the state of those that trained before.",
        stacklevel=7,
    )


def _are_of_earlier_release(arrays: Sequence[Named]) -> bool:
    """Whether arrays without a step are a state that an earlier release of torchkeras wrote."""
    return bool(arrays) and arrays[0].name == OURS.format(0)


def _warn_of_steps(optimizer: Any, values: Values, file: str) -> None:
    """Say that a file of an earlier release does not hold the count of steps, which a rate that falls depends on."""
    falls = optimizer.decay or isinstance(optimizer.lr, LearningRateSchedule)
    if falls and not optimizer.iterations and any(array.any() for array in values.values()):
        warnings.warn(
            f"{file}: {type(optimizer).__name__} has a learning rate that changes with the steps, and the file, which "
            "an earlier release of torchkeras wrote, does not hold their number: the rate begins as at the first step. "
            "To go on exactly, set model.optimizer.iterations to the number of batches trained so far, and save again.",
            stacklevel=7,
        )


def _last(named: Named) -> str:
    last = named.name.removesuffix(":0").rpartition("/")[2]
    return RATE if last.endswith(RATE) else last


def _is_modern(arrays: Sequence[Named]) -> bool:
    return bool(arrays) and _last(arrays[0]) == "iteration"


def _placed(
    optimizer: Any, arrays: Sequence[Named], state: Sequence[Named], shapes: Sequence[tuple[int, ...]]
) -> Values | None:
    """The arrays by their places; {} for an optimizer without state, None if they are of other weights."""
    if not state:
        return {}
    if _is_modern(arrays):
        for order in orders(optimizer, len(shapes)):
            if len(order) == len(state):
                return _of_weights(order, state, shapes)
        return None
    if _last(state[0]) in PRODUCT:
        state = state[1:]
    order = [*_keras2_order(optimizer, arrays, len(shapes)), *further(optimizer)]
    rest = state[len(order) :]  # Keras 2.2.4 writes a zero for each weight without amsgrad's maximum
    if len(state) < len(order) or any(named.shape != (1,) for named in rest):
        return None
    return _of_weights(order, state, shapes)


def _keras2_order(optimizer: Any, arrays: Sequence[Named], count: int) -> list[SlotPlace]:
    """The order of the state of `count` weights in the form of Keras 2, and in tf.keras up to 2.10."""
    names, kind = optimizer.moment_names, type(optimizer).__name__
    # Keras 2 has no Ftrl. Files of tf.keras have it weight by weight; our own have another name for the step.
    if kind == "Ftrl" and _last(arrays[0]) == "iter":
        return [SlotPlace(name, k) for k in range(count) for name in names]
    if kind in ("Muon", "Adafactor"):
        return [SlotPlace(slot.moment, slot.array) for slot in optimizer.slots()]
    return [SlotPlace(name, k) for name in names for k in range(count)]


def _of_weights(order: Sequence[SlotPlace], state: Sequence[Named], shapes: Sequence[tuple[int, ...]]) -> Values | None:
    """The arrays by their places; None if one that has the shape of its weight has another."""
    pairs = list(zip(order, state, strict=False))
    if any(place.what not in OF_OTHER_SHAPES and named.shape != shapes[place.weight] for place, named in pairs):
        return None
    return {place: named.values() for place, named in pairs}


def _made(what: str, array: int, values: Values, found: Sequence[Match], paths: Sequence[str]) -> np.ndarray:
    """An array of the state in Keras 2's form, made from the arrays that the file has for the parts of the weight."""
    match = found[array]
    parts = [values[SlotPlace(what, paths.index(source.path))] for source in match.sources]
    return match.recipe.make([torch.from_numpy(np.asarray(part)) for part in parts]).numpy()


def _set_moments(optimizer: Any, values: Values, found: Sequence[Match], paths: Sequence[str]) -> None:
    moments = {place.what for place in values} & set(optimizer.moment_names)
    if not moments:
        return
    template = optimizer.get_weights()
    first = int(optimizer.counts_steps)
    state = [*template[:first], *(_of_slot(slot, values, found, paths) for slot in optimizer.slots())]
    optimizer.set_keras2_weights([*state, *template[len(state) :]])


def _of_slot(slot: Slot, values: Values, found: Sequence[Match], paths: Sequence[str]) -> np.ndarray:
    if slot.whole:
        return _made(slot.moment, slot.array, values, found, paths)
    match = found[slot.array]
    if match.recipe.deeds:
        raise ValueError(f"the {slot.moment} of {match.variable.full_name} go with a weight that is converted.")
    return values[SlotPlace(slot.moment, paths.index(match.sources[0].path))]


def _set_beside(optimizer: Any, batches: int, values: Values, found: Sequence[Match], paths: Sequence[str]) -> None:
    """Set averages and accumulated gradients, which Keras 3 stores as sums over `batches`, if the file has them."""

    def all_of(what: str) -> list[np.ndarray]:
        return [_made(what, k, values, found, paths) for k in range(len(found))]

    kinds = {place.what for place in values}
    if AVERAGE in kinds:
        optimizer.set_averages(all_of(AVERAGE))
    if ACCUMULATED in kinds and batches:
        optimizer.set_accumulated([array / batches for array in all_of(ACCUMULATED)], batches, None)


# --- the loss scale --------------------------------------------------------------------------------------------------


def scale_arrays(model: Model) -> list[tuple[str, np.ndarray]]:
    """The loss scale of a compiled model, and the steps since it changed; an empty list without a scale."""
    scaling = training_of(model).ready().scaling
    found = {} if scaling is None else scaling.state_dict()
    return [(name, to_numpy(value)) for name, value in found.items()]


def restore_scale(model: Model, arrays: Sequence[Named], file: str) -> None:
    """Give a compiled model the loss scale of a file, if both have one. Raises WeightMismatchError for a bad scale."""
    scaling, found = training_of(model).ready().scaling, {named.name.removeprefix(BESIDE): named for named in arrays}
    if scaling is None or not scaling.state_dict().keys() <= found.keys():
        return
    values = {name: found[name].values() for name in scaling.state_dict()}
    for name, value in values.items():
        if not _is_of_scale(name, value):
            raise WeightMismatchError(f"{file}: the {name} of its loss scale is {value!r:.200}.")
    scaling.load_state_dict({name: torch.as_tensor(value) for name, value in values.items()})


def _is_of_scale(name: str, value: np.ndarray) -> bool:
    """Whether a value may be the loss scale, or the steps since it changed: one finite number, the scale above 0."""
    if value.shape or value.dtype.kind not in "iuf" or not 0 <= value < np.inf:
        return False
    return name != "scale" or bool(value)


# --- our own files of Keras 2's form ---------------------------------------------------------------------------------


def state_arrays(optimizer: Any) -> list[tuple[str, np.ndarray]]:
    """Names and arrays of the state in Keras 2's order."""
    arrays = [*optimizer.get_weights(), *optimizer.further_arrays()]
    return [(OURS.format(index), array) for index, array in enumerate(arrays)]


def own_arrays(optimizer: Any) -> list[tuple[str, np.ndarray]]:
    """Names and arrays of what is not in `state_arrays`."""
    averages, accumulated = optimizer.get_averages(), optimizer.get_accumulated()
    beside: dict[str, Any] = {f"average_{k}": array for k, array in enumerate(averages)}
    if optimizer.accumulated_batches:
        beside |= {f"accumulated_{k}": array for k, array in enumerate(accumulated)}
        beside |= {"batches": optimizer.accumulated_batches, "samples": optimizer.accumulated_samples or 0.0}
    if not optimizer.counts_steps and optimizer.iterations:
        beside["iterations"] = optimizer.iterations
    return [(name, np.asarray(value)) for name, value in beside.items()]


def _set_own(optimizer: Any, arrays: Sequence[Named]) -> None:
    """Set what `own_arrays` gave, as far as the file has it."""
    own = {named.name.removeprefix(BESIDE): named.values() for named in arrays}

    def all_of(what: str) -> list[np.ndarray]:
        return [own[f"{what}_{k}"] for k in range(sum(name.startswith(f"{what}_") for name in own))]

    if "iterations" in own:
        optimizer.iterations = int(own["iterations"])
    if "average_0" in own:
        optimizer.set_averages(all_of("average"))
    if "batches" in own:
        samples = float(own["samples"]) or None
        optimizer.set_accumulated(all_of("accumulated"), int(own["batches"]), samples)
