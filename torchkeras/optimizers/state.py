"""The state of an optimizer: as Keras's arrays, and whole, for continuing bit by bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from torchkeras.base.arrays import to_numpy
from torchkeras.base.keras_axes import Arrangement
from torchkeras.optimizers.accumulation import Accumulator, fitted_to
from torchkeras.optimizers.aside import Aside
from torchkeras.optimizers.averages import Averages
from torchkeras.optimizers.parameter_groups import Group, in_order
from torchkeras.optimizers.schedules import LearningRateSchedule
from torchkeras.optimizers.whole_parameters import WHOLE_PARAMETERS, WholeParameters


@dataclass(frozen=True)
class Slot:
    """An array of the state: its moment's name, the number of the weight it belongs to, and the tensors that make it.

    `whole`: whether it has the weight's own shape.
    """

    moment: str
    array: int
    made: Arrangement
    tensors: list[Tensor]
    whole: bool = True


class State:
    """The state of an `Optimizer`, which describes the attributes."""

    moment_names: ClassVar[tuple[str, ...]]
    counts_steps: ClassVar[bool]
    iterations: int
    use_ema: bool
    keeps_moments: Any
    _parameters: list[Tensor]
    _arrangements: list[Arrangement]
    _layers: list[str] | None
    _names: list[str] | None
    _groups: list[Group]
    _accumulated: Accumulator
    _averages: Averages
    _aside: Aside | None = None  # from the second `bind` on
    _zeros: Any
    _held: WholeParameters = WHOLE_PARAMETERS  # of the present parameters; `_parameters` are its parts

    # --- Keras's arrays ----------------------------------------------------------------------------------------------

    def _path(self, array: int) -> str:
        """The path "layer/weight" of one of Keras's arrays, as far as `bind` was given the names."""
        layer = self._layers[array] if self._layers else ""
        return f"{layer}/{self._names[array] if self._names else ''}"

    def slots(self) -> list[Slot]:
        """The state as Keras's arrays, moment by moment."""
        self._begin()
        found = []
        for moment, name in enumerate(self.moment_names):
            each = iter(in_order(self._groups, moment))
            found += [Slot(name, k, made, list(islice(each, made.count))) for k, made in enumerate(self._arrangements)]
        return found

    def _begin(self) -> None:
        for group in self._groups:
            group.moments = group.moments or self._zeros(group)

    def tensors(self) -> list[Tensor]:
        """All tensors that a step changes, apart from the weights: moments and averages, made if need be.

        Gradients that accumulate are not among them.
        """
        if self.keeps_moments:
            self._begin()
        if self.use_ema:
            self._averages.begin(self._parameters)
        moments = [tensor for group in self._groups for values in group.moments for tensor in values]
        return [*moments, *self._averages.values]

    def forget(self, known: set[int]) -> None:
        """Does nothing: `tensors` has made all state."""

    def samples_with(self, samples: Any) -> Any:
        """The number of samples of the accumulated gradients after a batch of `samples`."""
        return self._accumulated.samples_with(samples)

    weights = property(lambda self: self.get_weights(), doc="The state, as `get_weights` gives it.")

    def get_weights(self) -> list[np.ndarray]:
        """A copy of the state in the order of Keras 2.2.4: `iterations` (if it has it), then moment by moment.

        It is empty before `bind` or the first step. Averages and accumulated gradients are not in it.
        """
        if not self._parameters:
            return []
        first = [np.array(self.iterations, dtype=np.int64)] if self.counts_steps else []
        return first + [to_numpy(slot.made.array(slot.tensors)).copy() for slot in self.slots()]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the state from arrays in the order of `get_weights`; call `bind` first.

        Raises ValueError for another number of arrays, or an array of another shape.
        """
        slots = self.slots() if self._parameters else []
        first = int(self.counts_steps and bool(self._parameters))
        name = type(self).__name__
        if len(weights) != first + len(slots):
            hint = "" if self._parameters else " Call `bind` with the parameters first."
            raise ValueError(f"{name}: the state has {first + len(slots)} arrays; found {len(weights)}.{hint}")
        arrays = [np.asarray(array) for array in weights]
        shapes = [()] * first + [slot.made.shape(slot.tensors) for slot in slots]
        for i, (array, shape) in enumerate(zip(arrays, shapes, strict=True)):
            if array.shape != shape:
                raise ValueError(f"{name}: array {i} of the state has shape {shape}; found {array.shape}.")
        if first:
            self.iterations = int(arrays[0])
        with torch.no_grad():
            for slot, array in zip(slots, arrays[first:], strict=True):
                slot.made.assign(slot.tensors, torch.as_tensor(array.copy()))

    def set_keras2_weights(self, weights: Sequence[Any]) -> None:
        """As `set_weights`, which a class may have for another order of arrays."""
        self.set_weights(weights)

    def further_arrays(self) -> list[np.ndarray]:
        """Copies of the arrays that a class keeps in addition to the moments; `get_weights` does not have them."""
        return []

    def set_further_arrays(self, arrays: Sequence[np.ndarray]) -> None:
        """Set those arrays."""

    def get_averages(self) -> list[np.ndarray]:
        """Copies of the weights' moving averages as Keras's arrays; none before the first step."""
        return self._as_arrays(self._averages.values)

    def set_averages(self, arrays: Sequence[np.ndarray]) -> None:
        """Set the moving averages. Raises ValueError for an array of another shape."""
        self._averages.values = self._as_tensors("average", arrays)

    accumulated_batches = property(lambda self: self._accumulated.count, doc="Batches since the last step.")
    accumulated_samples = property(lambda self: self._accumulated.samples, doc="Their samples; None: not known.")

    def get_accumulated(self) -> list[np.ndarray]:
        """Copies of the means of the gradients since the last step as Keras's arrays; none without accumulation."""
        return self._as_arrays(self._accumulated.buffers)

    def set_accumulated(self, arrays: Sequence[np.ndarray], batches: int, samples: float | None) -> None:
        """Set the means of the gradients of so many batches and samples; None for an unknown number of samples."""
        self._accumulated.buffers = self._as_tensors("accumulated gradient", arrays)
        self._accumulated.count, self._accumulated.samples = batches, samples
        self._accumulated.present = set(range(len(self._parameters)))

    def _as_arrays(self, values: Sequence[Tensor]) -> list[np.ndarray]:
        each = iter(values)
        return [to_numpy(made.array(list(islice(each, made.count)))).copy() for made in self._arrangements if values]

    def _as_tensors(self, what: str, arrays: Sequence[np.ndarray]) -> list[Tensor]:
        values = [torch.empty_like(p, requires_grad=False) for p in self._parameters]
        each = iter(values)
        for made, array in zip(self._arrangements, arrays, strict=True):
            tensors = list(islice(each, made.count))
            if made.shape(tensors) != array.shape:
                shape = made.shape(tensors)
                raise ValueError(f"{type(self).__name__}: an {what} has shape {shape}; found {array.shape}.")
            made.assign(tensors, torch.as_tensor(array.copy()))
        return values

    # --- turns -------------------------------------------------------------------------------------------------------

    def _put_aside(self) -> Aside:
        """Save the state of the present parameters until they train again."""
        aside = self._aside = self._aside or Aside()
        averages = self._averages.values or [None] * len(self._parameters)
        moments: dict[int, list[Tensor]] = {}
        for group in self._groups:
            moments |= {
                i: list(of_one) for i, of_one in zip(group.index, zip(*group.moments, strict=True), strict=False)
            }
        for i, (parameter, average) in enumerate(zip(self._parameters, averages, strict=True)):
            if i in moments or average is not None:
                aside.put(parameter, (moments.get(i, []), average))
        layout = self._arrangements, self._layers, self._names
        aside.put_list(self._parameters, (layout, self._accumulated))
        return aside

    def _take_back(self, aside: Aside) -> None:
        """Restore the state that the present parameters had when they last trained, on their present device."""
        self._accumulated.follow(self._parameters)
        kept = [aside.take(parameter) or ([], None) for parameter in self._parameters]
        if any(moments for moments, _ in kept):
            for group in self._groups:
                group.moments = self._zeros(group)
                for place, i in enumerate(group.index):
                    _take_moments(group.moments, place, kept[i][0])
        averages = [p if average is None else average for p, (_, average) in zip(self._parameters, kept, strict=True)]
        known = any(average is not None for _, average in kept)
        self._averages.values = fitted_to(self._parameters, averages) if known else []

    # --- whole -------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """All that resuming bit by bit needs: steps, options, moments, averages and accumulated gradients.

        Plain values and tensors, the latter in the order of the parameters. As in torch the tensors are the optimizer's
        own, which further steps change.
        """
        begun = bool(self._groups) and all(group.moments for group in self._groups)
        accumulated = self._accumulated.state_dict()
        return {
            "class_name": type(self).__name__,
            "iterations": self.iterations,
            "options": {name: plain(getattr(self, name)) for name in self._options()},
            "moments": {
                name: self._shared(in_order(self._groups, i)) if begun else []
                for i, name in enumerate(self.moment_names)
            },
            "averages": self._shared(self._averages.values),
            "accumulated": {**accumulated, "gradients": self._shared(accumulated["gradients"])},
            "more": self._more(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a state of `state_dict`; call `bind` first. Raises ValueError for the state of another optimizer."""
        self._check_state(state)
        self._accumulated.count = 0  # or setting gradient_accumulation_steps would make a step of them
        for option, value in state["options"].items():
            if plain(getattr(self, option)) != value:
                setattr(self, option, value)
        if list(state["moments"]) != list(self.moment_names):
            found, own = (", ".join(names) or "no moments" for names in (state["moments"], self.moment_names))
            raise ValueError(f"{type(self).__name__}: the state has {found}; found {own}.")
        self.iterations = int(state["iterations"])
        self._load_moments([self._own(values) for values in state["moments"].values()])
        self._load_more(state["more"])
        averages, accumulated = self._own(state["averages"]), state["accumulated"]
        self._averages.values = fitted_to(self._parameters, averages) if averages else []
        self._accumulated.load_state_dict(
            {**accumulated, "gradients": self._own(accumulated["gradients"])}, self._parameters
        )

    def _check_state(self, state: Mapping[str, Any]) -> None:
        """Raise ValueError for the state of another class, or of another number of parameters."""
        name = type(self).__name__
        if state.get("class_name") != name:
            raise ValueError(f"{name}: the state is of {state.get('class_name')}.")
        lists = [*state["moments"].values(), state["averages"], state["accumulated"]["gradients"]]
        for tensors in lists:
            if tensors and len(tensors) != len(self._parameters):
                raise ValueError(f"{name}: the state is of {len(tensors)} parameters; found {len(self._parameters)}.")

    def by_parameter(self) -> dict[str, list[Tensor]]:
        """The tensors of the state, whole, each kind in the order of the parameters: moments, averages, gradients."""
        begun = bool(self._groups) and all(group.moments for group in self._groups)
        lists = {name: in_order(self._groups, i) for i, name in enumerate(self.moment_names)} if begun else {}
        lists["average"] = self._averages.values
        lists["accumulated"] = self._accumulated.buffers if self._accumulated.count else []
        return {name: self._held.whole(values, self._parameters) for name, values in lists.items() if values}

    def shared_tensors(self) -> list[tuple[Tensor, Any]]:
        """The tensors of the state that processes share, each with the parameter whose sharding it has."""
        return self._held.pairs(self._lists, self._parameters)

    def _lists(self) -> list[list[Tensor]]:
        """Moments, made if need be, averages and accumulated gradients: each one a parameter, or empty."""
        self._begin()
        moments = [in_order(self._groups, moment) for moment in range(len(self.moment_names))]
        return [*moments, self._averages.values, self._accumulated.buffers]

    def _shared(self, values: list[Tensor]) -> list[Tensor]:
        """Values of the state, one a parameter, sharded like the parameters."""
        return self._held.shared(values, self._parameters) if values else []

    def _own(self, values: list[Tensor]) -> list[Tensor]:
        """The part of such values that this process has, from shared or whole ones."""
        return self._held.own(values, self._parameters) if values else values

    def _load_moments(self, moments: list[list[Tensor]]) -> None:
        if not any(moments):
            for group in self._groups:
                group.moments = []
            return
        self._begin()
        with torch.no_grad():
            for i, values in enumerate(moments):
                for mine, value in zip(in_order(self._groups, i), values, strict=True):
                    if mine.shape != value.shape:
                        raise ValueError(
                            f"{type(self).__name__}: the state has shape {tuple(value.shape)} for a parameter whose is "
                            f"{tuple(mine.shape)}."
                        )
                    mine.copy_(value)

    def _options(self) -> list[str]:
        return [field.name for field in fields(self)]  # type: ignore[arg-type]  # an Optimizer is a dataclass

    def _more(self) -> dict[str, float]:
        """Numbers of the state next to `iterations` and the moments."""
        return {}

    def _load_more(self, numbers: Mapping[str, float]) -> None:
        """Set those numbers."""


def _take_moments(moments: list[list[Tensor]], place: int, kept: list[Tensor]) -> None:
    """Set the moments of one parameter, unless it now trains by another rule and they have other shapes."""
    for made, old in zip(moments, kept, strict=False):
        if made[place].shape == old.shape:
            made[place].copy_(old)


def plain(value: Any) -> Any:
    """An option in the form of a config or state."""
    if isinstance(value, LearningRateSchedule):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, float):
        return float(value)  # of a subclass too, which a file could not name
    return list(value) if isinstance(value, tuple) else value
