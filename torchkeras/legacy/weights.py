"""Convert weights from the shapes and orders of other versions and layers to a layer's own.

Keras 1 stored the kernels of `dim_ordering='th'` as (filters, channels, *sizes), a one-dimensional kernel with an
extra axis of size 1, and three arrays for each gate of LSTM (i, c, f, o) and GRU (z, r, h). cuDNN stores each gate's
part of a kernel transposed, and two biases for each gate. Source: files of genuine Keras 1.2.2 and 2.2.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from torchkeras.engine.layer.layer import Layer

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One conversion of an array: what it does, in words, and the function."""

    deed: str
    run: Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Recipe:
    """How a weight is made: from which stored arrays of its layer, by which steps on each. Several are joined.

    `joined`: a description of joining them along the last axis. `after`: steps on the whole.
    """

    sources: tuple[int, ...]
    steps: tuple[Step, ...] = ()
    joined: str = ""
    after: tuple[Step, ...] = ()

    @property
    def deeds(self) -> tuple[str, ...]:
        """Everything that is done, in words."""
        return (*(step.deed for step in self.steps), *filter(None, [self.joined]), *(step.deed for step in self.after))

    @property
    def changes(self) -> bool:
        """Whether anything is done: otherwise the array is the weight as it is."""
        return bool(self.steps or self.joined or self.after)

    def make(self, arrays: Sequence[Tensor]) -> Tensor:
        """The weight, made from the arrays that `sources` names."""
        made = [_apply_steps(self.steps, array) for array in arrays]
        return _apply_steps(self.after, torch.cat(made, -1) if self.joined else made[0])


@dataclass(frozen=True)
class Stored:
    """What a file holds for a layer: the names and shapes of arrays, and whether its kernels have channels first."""

    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    channels_first: bool


Rule = Callable[[Any, Sequence[Any], Stored], list[Recipe]]


def recipes_of_keras1(layer: Layer, variables: Sequence[Any], stored: Stored) -> list[Recipe]:
    """A recipe for each weight of a layer, from the arrays of Keras 1."""
    return _rule(KERAS_1, layer)(layer, variables, stored)


def recipes(layer: Layer, variables: Sequence[Any], stored: Stored) -> list[Recipe]:
    """The same for Keras 2 and later: the arrays are the weights, except between plain and cuDNN layers."""
    return _rule(CUDNN, layer)(layer, variables, stored)


def modern(layer: Layer, variables: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """Today's arrays for Keras 1's arrays of a layer; arrays of unexpected shapes are left as they are."""
    given = [torch.as_tensor(np.asarray(array)) for array in arrays]
    stored = Stored(("",) * len(given), tuple(tuple(array.shape) for array in given), channels_first(layer))
    found = recipes_of_keras1(layer, variables, stored)
    if len({k for recipe in found for k in recipe.sources}) != len(given):
        return list(arrays)
    return [recipe.make([given[k] for k in recipe.sources]).numpy() for recipe in found]


def stored_count(layer: Layer, count: int, first_name: str) -> int:
    """How many arrays Keras 1 stored for `count` weights of our layer; `first_name`: the name of the first."""
    gate = first_name.removesuffix(":0").rpartition("_W_")[2]
    return next((found for suffix, found in (("i", 12), ("z", 9)) if gate == suffix and count == 3), count)


def channels_first(layer: Layer) -> bool:
    """Whether a layer has its channels first."""
    return getattr(layer, "data_format", None) == "channels_first"


def _rule(table: Mapping[str, Rule], layer: Layer) -> Rule:
    return next((table[cls.__name__] for cls in type(layer).__mro__ if cls.__name__ in table), _as_they_are)


def _apply_steps(steps: Sequence[Step], array: Tensor) -> Tensor:
    for step in steps:
        array = step.run(array)
    return array


def _as_they_are(layer: Layer, variables: Sequence[Any], stored: Stored) -> list[Recipe]:
    return [Recipe((k,)) for k in range(len(variables))]


# --- Keras 1 ---------------------------------------------------------------------------------------------------------


def _channels_to_the_end(kernel: Tensor) -> Tensor:
    return kernel.movedim((1, 0), (-2, -1)) if kernel.ndim > 2 else kernel


def _swap_channels(kernel: Tensor) -> Tensor:
    return kernel.swapaxes(-1, -2) if kernel.ndim > 2 else kernel


TRANSPOSED = Step("transposed from (out, in, ...) to (..., in, out)", _channels_to_the_end)
SWAPPED = Step("input and output channels swapped", _swap_channels)
SECOND_AXIS_DROPPED = Step("second axis, of length 1, dropped", lambda kernel: kernel[:, 0])
LAST_AXIS_DROPPED = Step("last axis, of length 1, dropped", lambda kernel: kernel[..., 0])


def _conv(*further: Step) -> Rule:
    """Kernels are transposed if the channels come first, then the further steps follow; biases are unchanged."""

    def found(layer: Layer, variables: Sequence[Any], stored: Stored) -> list[Recipe]:
        steps = (*([TRANSPOSED] if stored.channels_first else []), *further)
        return [
            Recipe((k,), steps if len(stored.shapes[k : k + 1]) and len(stored.shapes[k]) > 2 else ())
            for k in range(len(variables))
        ]

    return found


def _conv1d(layer: Layer, variables: Sequence[Any], stored: Stored) -> list[Recipe]:
    kernel, *biases = _as_they_are(layer, variables, stored)
    shape, wanted = (stored.shapes or ((),))[0], variables[0].shape
    if len(shape) == 4 and (shape[0], *shape[2:]) == wanted and shape[1] == 1:
        kernel = Recipe((0,), (SECOND_AXIS_DROPPED,))
    elif len(shape) == 4 and (shape[2], shape[1], shape[0]) == wanted and shape[3] == 1:  # before Keras 1.1
        kernel = Recipe((0,), (LAST_AXIS_DROPPED, TRANSPOSED))
    return [kernel, *biases]


def _gates(kept: str, order: tuple[int, ...]) -> Rule:
    """Kernel, recurrent kernel and bias from three arrays a gate; `order`: the old place of each of today's gates."""

    def found(layer: Layer, variables: Sequence[Any], stored: Stored) -> list[Recipe]:
        if len(stored.shapes) != 3 * len(order):
            return _as_they_are(layer, variables, stored)
        deed = f"gates {', '.join(kept)} joined as {', '.join(kept[gate] for gate in order)}"
        kernels = (TRANSPOSED,) if stored.channels_first and len(stored.shapes[0]) > 2 else ()
        return [Recipe(tuple(3 * gate + k for gate in order), () if k == 2 else kernels, deed) for k in range(3)]

    return found


_LSTM = _gates("icfo", (0, 2, 1, 3))


def _highway(layer: Layer, variables: Sequence[Any], stored: Stored) -> list[Recipe]:
    # Up to 1.1 each bias came right after its kernel.
    order = (0, 2, 1, 3) if [name.removesuffix(":0")[-2:] for name in stored.names[1:2]] == ["_b"] else range(4)
    return [Recipe((k,)) for k in order[: len(variables)]]


KERAS_1: Mapping[str, Rule] = {
    "Conv1D": _conv1d,
    "Conv2D": _conv(),
    "Conv2DTranspose": _conv(SWAPPED),
    "Conv3D": _conv(),
    "ConvLSTM2D": _LSTM,
    "GRU": _gates("zrh", (0, 1, 2)),
    "Highway": _highway,
    "LSTM": _LSTM,
    "SeparableConv2D": _conv(),
}

# --- cuDNN -----------------------------------------------------------------------------------------------------------


def _by_gate(gates: int, of_gate: Callable[[Tensor], Tensor], kernel: Tensor) -> Tensor:
    return torch.cat([of_gate(part) for part in kernel.chunk(gates, -1)], -1)


def _from_cudnn(part: Tensor) -> Tensor:
    return part.reshape(part.shape[::-1]).T


def _to_cudnn(part: Tensor) -> Tensor:
    return part.T.reshape(part.shape)


def _halves_summed(bias: Tensor) -> Tensor:
    return bias.reshape(2, -1).sum(0)


def _halves(bias: Tensor) -> Tensor:
    return torch.cat([bias / 2, bias / 2])


def _two_rows(bias: Tensor) -> Tensor:
    return bias.reshape(2, -1)


def _cudnn(gates: int, deed: str, of_gate: Callable[[Tensor], Tensor], bias: Mapping[Any, Step]) -> Rule:
    """Recipes for a cuDNN layer's weights in a plain layer, or the reverse; the shape of the bias shows which.

    `bias`: the step from one form of the bias to another, by the stored and the wanted form (number of axes, values for
    each unit and gate). Raises ValueError for a plain layer with gates that cuDNN does not have.
    """
    kernels = (Step(deed, partial(_by_gate, gates, of_gate)),)

    def found(layer: Layer, variables: Sequence[Any], stored: Stored) -> list[Recipe]:
        plain = _as_they_are(layer, variables, stored)
        if len(variables) != 3 or len(stored.shapes) != 3:
            return plain
        kind = (_bias_kind(stored.shapes[2], gates, layer.units), _bias_kind(variables[2].shape, gates, layer.units))
        if kind not in bias or stored.shapes[:2] != (variables[0].shape, variables[1].shape):
            return plain
        _check_gates(layer)
        return [Recipe((0,), kernels), Recipe((1,), kernels), Recipe((2,), (bias[kind],))]

    return found


def _check_gates(layer: Layer) -> None:
    for option, wanted in (("activation", "tanh"), ("recurrent_activation", "sigmoid")):
        found = getattr(getattr(layer, option, None), "__name__", wanted)
        if found != wanted:
            raise ValueError(
                f"the arrays in the file are of a cuDNN layer, whose {option} is {wanted}; found {found!r}."
            )


def _bias_kind(shape: Shape, gates: int, units: int) -> tuple[int, float]:
    """The number of axes, and the number of values for each unit and gate."""
    return len(shape), torch.Size(shape).numel() / (gates * units)


FROM_CUDNN, TO_CUDNN = "each gate transposed from cuDNN's order", "each gate transposed to cuDNN's order"
SUMMED = Step("biases summed", _halves_summed)
HALVED = Step("bias halved into two", _halves)
IN_ROWS = Step("biases put in two rows", _two_rows)
IN_A_ROW = Step("biases put in one row", torch.flatten)

CUDNN: Mapping[str, Rule] = {
    "LSTM": _cudnn(4, FROM_CUDNN, _from_cudnn, {((1, 2), (1, 1)): SUMMED}),
    "GRU": _cudnn(3, FROM_CUDNN, _from_cudnn, {((1, 2), (2, 2)): IN_ROWS}),
    "CuDNNLSTM": _cudnn(4, TO_CUDNN, _to_cudnn, {((1, 1), (1, 2)): HALVED}),
    "CuDNNGRU": _cudnn(3, TO_CUDNN, _to_cudnn, {((2, 2), (1, 2)): IN_A_ROW}),
}
