"""Parameters in groups of one device, type and treatment, as torch's kernels over lists need them."""

# pyright: reportPrivateImportUsage=false
# torch names its kernels over lists with an underscore; its own optimizers call the same.

import math
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from torchkeras.base.arrays import fills_its_memory
from torchkeras.optimizers.whole_parameters import WHOLE_PARAMETERS, WholeParameters
from torchkeras.world.one_process import sharing

Gradients = Sequence[Tensor | None]


@dataclass(frozen=True)
class Treatment:
    """How a parameter is updated.

    `array`: the number of Keras's array that it is, or is a part of. `factor`: multiplies its learning rate. `decays`:
    whether weight decay applies to it. `kind`: the update rule, where the optimizer has several. Parameters of one
    group differ only in `array`.
    """

    array: int
    factor: float = 1.0
    decays: bool = True
    kind: str = ""


@dataclass(eq=False)
class Group:
    """Parameters of one device, type and treatment, their places in the list they come from, and their moments.

    `arrays`: for each parameter the number of Keras's array that it belongs to. `forever`: for torch's Adam a number of
    steps for each parameter, so large that its bias correction is 1. `once`: a single step, for torch's Adagrad.
    `held`: the object that knows of the whole parameters, where these are the parts that this process has.
    """

    index: list[int]
    parameters: list[Tensor]
    arrays: list[int]
    strides: list[tuple[int, ...]]
    forever: list[Tensor]
    once: list[Tensor]
    moments: list[list[Tensor]]
    factor: float = 1.0
    decays: bool = True
    kind: str = ""
    held: WholeParameters = WHOLE_PARAMETERS

    def norms(self, tensors: list[Tensor], places: Sequence[int] | None = None) -> list[Tensor]:
        """The norms of tensors laid out as the parameters at these places (by default all), over all processes."""
        # Half types are squared in float32: a sum of squares overflows float16.
        dtype = torch.promote_types(tensors[0].dtype, torch.float32)
        if dtype is tensors[0].dtype:  # on sharded tensors torch 2.15 fails where a type is given
            found = list(torch._foreach_norm(tensors, 2))
        else:
            found = list(torch._foreach_norm(tensors, 2, dtype=dtype))
        return self.held.norms(found, self.parameters, places)

    def array_norms(self, tensors: list[Tensor], places: Sequence[int] | None = None) -> Tensor:
        """For each tensor, the joint norm of all tensors of its array in Keras, as a vector."""
        norms = torch.stack(self.norms(tensors, places))
        arrays = self.arrays if places is None else [self.arrays[k] for k in places]
        if len(set(arrays)) == len(arrays):
            return norms
        together = [[k for k, other in enumerate(arrays) if other == array] for array in arrays]
        return torch.stack([torch.linalg.vector_norm(torch.stack([norms[k] for k in found])) for found in together])

    def takes(self, gradients: Gradients) -> bool:
        """Whether there is a gradient for each parameter, with its strides: the CPU's kernels do not check that."""
        for gradient, stride in zip(gradients, self.strides, strict=True):
            if gradient is None or gradient.stride() != stride:
                return False
        return True

    def fitted(self, gradients: Gradients) -> tuple["Group", list[Tensor]]:
        """The parameters of the group that have a gradient, and these gradients laid out as their parameters."""
        kept = [i for i, gradient in enumerate(gradients) if gradient is not None]
        if len(kept) == len(gradients):  # gradients of kernels lie as their images do, in NHWC
            return self, [laid_out_as(p, g) for p, g in zip(self.parameters, gradients, strict=True)]  # type: ignore[arg-type]

        def part(values: Sequence[Any]) -> list[Any]:
            return [values[i] for i in kept]

        laid_out = [laid_out_as(p, g) for p, g in zip(part(self.parameters), part(gradients), strict=True)]
        lists = ("index", "parameters", "arrays", "strides", "forever", "once")
        kept_of = {name: part(getattr(self, name)) for name in lists}
        return replace(self, **kept_of, moments=[part(moment) for moment in self.moments]), laid_out

    def by_array(self) -> dict[int, list[int]]:
        """For the number of each of Keras's arrays the places, in the group, of the parameters that make it."""
        found: dict[int, list[int]] = {}
        for place, array in enumerate(self.arrays):
            found.setdefault(array, []).append(place)
        return found


def treatments(optimizer: Any, arrays: list[list[Tensor]]) -> list[Treatment]:
    """The treatment of each parameter of an optimizer; `arrays`: the parameters of each of Keras's arrays.

    Raises ValueError for factors of an unknown layer.
    """
    factors, layers, names = optimizer.lr_multipliers or {}, optimizer._layers, optimizer._names
    _check_layers(type(optimizer).__name__, factors, layers)
    if any("/" not in pattern for pattern in optimizer.no_weight_decay) and names is None:
        raise ValueError(
            f"{type(optimizer).__name__}: no_weight_decay {list(optimizer.no_weight_decay)} needs the weights' names; "
            "`bind` was given none."
        )
    excluded, found = excluded_ids(optimizer._excluded), []
    for array, (tensors, kind) in enumerate(zip(arrays, optimizer._kinds, strict=True)):
        decays = not (set(map(id, tensors)) & excluded or (optimizer.no_weight_decay and _is_named(optimizer, array)))
        factor = factors.get(layers[array], 1.0) if layers else 1.0
        found += [Treatment(array, factor, decays, kind)] * len(tensors)
    return found


def excluded_ids(excluded: Iterable[Any]) -> set[int]:
    """The identities of the tensors that these weights, or tensors, are made of."""
    found: set[int] = set()
    for weight in excluded:
        tensors = [weight] if isinstance(weight, Tensor) else weight.tensors
        found.update(map(id, sharing().parts(tensors)))
    return found


def _is_named(optimizer: Any, array: int) -> bool:
    name, path = (optimizer._names or [""])[array], optimizer._path(array)
    return any(path == pattern if "/" in pattern else re.search(pattern, name) for pattern in optimizer.no_weight_decay)


def _check_layers(kind: str, factors: Iterable[str], layers: list[str] | None) -> None:
    unknown = [name for name in factors if name not in (layers or ())]
    if unknown and layers is None:
        raise ValueError(f"{kind}: lr_multipliers needs the names of layers; `bind` was given none.")
    if unknown:
        known = ", ".join(dict.fromkeys(layers or ()))
        raise ValueError(f"{kind}: lr_multipliers names the layer {unknown[0]!r}; those that train are {known}.")


def grouped(
    parameters: Sequence[Tensor], treatments: Sequence[Treatment], held: WholeParameters = WHOLE_PARAMETERS
) -> list[Group]:
    """Groups without moments. Raises ValueError for a parameter with gaps or overlaps in memory."""
    found: dict[Hashable, list[int]] = {}
    for i, (parameter, its) in enumerate(zip(parameters, treatments, strict=True)):
        if not fills_its_memory(parameter):
            raise ValueError(
                f"Parameter {i} of shape {tuple(parameter.shape)} and strides {parameter.stride()} has gaps or "
                "overlaps in memory: an optimizer needs it whole, as `parameter.contiguous()` is."
            )
        key = (parameter.device, parameter.dtype, its.factor, its.decays, its.kind)
        found.setdefault(key, []).append(i)
    groups = []
    for (device, _, factor, decays, kind), index in found.items():  # type: ignore[misc]
        of_group = [parameters[i] for i in index]
        forever, once = (
            [torch.full((), count, dtype=torch.float32, device=device)] * len(index) for count in (math.inf, 1.0)
        )
        arrays, strides = [treatments[i].array for i in index], [p.stride() for p in of_group]
        groups.append(Group(index, of_group, arrays, strides, forever, once, [], factor, decays, kind, held))
    return groups


def in_order(groups: list[Group], moment: int) -> list[Tensor]:
    """The tensors of a moment in the order of the parameters."""
    found = {i: t for group in groups for i, t in zip(group.index, group.moments[moment], strict=True)}
    return [found[i] for i in range(len(found))]


def laid_out_as(parameter: Tensor, gradient: Tensor) -> Tensor:
    """The gradient, copied if its strides are not those of its parameter; a sparse one as it is."""
    if gradient.layout != torch.strided or gradient.stride() == parameter.stride():
        return gradient
    return torch.empty_like(parameter, requires_grad=False).copy_(gradient)
