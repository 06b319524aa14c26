"""Output shapes of functions, found by two runs on `meta` with two sizes for each unknown axis, as for layers.

The output of a function remembers its sizes in both runs. So half of an unknown axis stays half of it in the next
functions, which `x.view(x.size(0), x.size(1) // 2, 2)` needs. If a function fails on these sizes, the two runs take the
same sizes for every unknown axis. One of Keras's operations that broadcasts takes for an unknown axis the size that
another tensor has there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from torchkeras.base.nested import leaves
from torchkeras.engine.shapes.output_shapes import (
    PROBES,
    filled,
    first_line,
    kind_of,
    merged,
    output_masks,
    with_probes,
)
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list, unpacked
from torchkeras.engine.weights.expressions import value_now
from torchkeras.tensor_functions import torch_functions

if TYPE_CHECKING:
    from torchkeras.engine.functions.operators import Operation

Sizes = Sequence[int]
SizesOf = Callable[[KerasTensor], tuple[Sizes, Sizes]]  # of an input, in the first run and in the second

FAILURES = (RuntimeError, ValueError, IndexError, TypeError)


def infer(layer: Operation, inputs: Any, masks: list[Any]) -> tuple[Any, list[Any]]:
    """Symbolic outputs, in the form that the function returns, and their masks.

    Raises ValueError, which names the function and the axis whose size it needs, or TypeError as the function does.
    """
    tensors: list[KerasTensor] = as_list(inputs)
    *first, last = _ways(layer, tensors)
    for sizes_of in first:
        with suppress(*FAILURES):
            outputs = _outputs(layer, tensors, sizes_of)
            break
    else:
        try:
            outputs = _outputs(layer, tensors, last)
        except FAILURES as error:
            raise _explained(layer, tensors, error) from error
    return outputs, output_masks(leaves(outputs), layer.compute_mask(inputs, masks))


def _ways(layer: Operation, tensors: list[KerasTensor]) -> list[SizesOf]:
    """The sizes to try in place of unknown ones."""
    aligned = [_aligned_sizes(tensors)] if torch_functions.broadcasts(layer.function) else []
    return [_remembered_sizes, *aligned, _probe_sizes]


def _probe_sizes(tensor: KerasTensor) -> tuple[Sizes, Sizes]:
    """The sizes of an input in the first run and the second, one size for all unknown axes."""
    return filled(tensor.shape, PROBES[0]), filled(tensor.shape, PROBES[1])


def _remembered_sizes(tensor: KerasTensor) -> tuple[Sizes, Sizes]:
    """The sizes that a tensor had in the two runs of the function that made it."""
    return tensor._probed or _probe_sizes(tensor)


def _aligned_sizes(tensors: list[KerasTensor]) -> SizesOf:
    """The sizes that tensors have where they are broadcast against each other."""
    known: dict[int, int] = {}  # by axis from the last one
    for tensor in tensors:
        known.update((axis, size) for axis, size in enumerate(reversed(tensor.shape)) if size not in (None, 1))

    def sizes(tensor: KerasTensor) -> tuple[Sizes, Sizes]:
        places = reversed(range(len(tensor.shape)))
        shape = [known.get(axis) if size is None else size for axis, size in zip(places, tensor.shape, strict=True)]
        return filled(tuple(shape), PROBES[0]), filled(tuple(shape), PROBES[1])

    return sizes


def _outputs(layer: Operation, tensors: list[KerasTensor], sizes_of: SizesOf) -> Any:
    """Symbolic outputs by two runs, whose sizes they remember. `sizes_of`: the sizes of an input in both runs."""
    first_sizes, second_sizes = zip(*map(sizes_of, tensors), strict=True)
    first, second = _run_on_meta(layer, tensors, first_sizes), _run_on_meta(layer, tensors, second_sizes)
    outputs = merged(first, second, f"{layer.name}: a function in a graph gives tensors")
    for tensor, one, other in zip(leaves(outputs), leaves(first), leaves(second), strict=True):
        tensor._probed = (tuple(one.shape), tuple(other.shape))
    return outputs


def _run_on_meta(layer: Operation, tensors: list[KerasTensor], sizes: Sequence[Sizes]) -> Any:
    """The result of the function for tensors of these sizes, on `meta`."""
    inputs = [torch.empty(shape, dtype=t.dtype, device="meta") for t, shape in zip(tensors, sizes, strict=True)]
    stored = (*layer.named_parameters(), *layer.named_buffers(), *value_now(layer._expressions).items())
    on_meta = {name: tensor.to("meta") for name, tensor in stored}
    with torch.no_grad():
        return layer._computed(SimpleNamespace(**on_meta), inputs)


# --- errors ----------------------------------------------------------------------------------------------------------


# np.mean(x, axis=0) and the like call x.mean(axis=0, dtype=None, out=None).
BY_NUMPY = (
    "NumPy's functions compute on arrays with values. Write torch's: torch.mean(x, dim=0), not np.mean(x, axis=0)."
)


def _explained(layer: Operation, tensors: list[KerasTensor], error: Exception) -> Exception:
    """The error that says what was called on which tensors, and which unknown axis was the reason."""
    what, reason = f"{type(layer).__name__} {layer.name!r}", _reason(layer, tensors, error)
    if reason is not None:
        call = layer._line().format(*(tensor.name for tensor in tensors))
        return kind_of(error)(f"{what} ({call}): {reason}")
    if isinstance(error, TypeError):
        return error
    shape = unpacked([tensor.shape for tensor in tensors])
    return ValueError(f"{what} cannot compute on input shape {shape}: {with_probes(first_line(error))}")


def _reason(layer: Operation, tensors: list[KerasTensor], error: Exception) -> str | None:
    """How an unknown axis, or unknown values, led to an error; None if they did not."""
    text = str(error)
    if "meta" in text.lower():
        return "the shape of its result depends on values, which a graph has not; compute it in a Lambda."
    unknown = _unknown_axes(tensors)
    named = " and ".join(dict.fromkeys(f"axis {axis} of {tensors[k]!r}" for k, axis in unknown))
    if unknown and text.startswith("zip()"):
        return f"how many outputs it has depends on {named}, whose size is unknown; give the Input that size."
    if not isinstance(error, TypeError):
        return _reason_of_size(layer, tensors, unknown)
    if "out" in layer.keywords:
        return BY_NUMPY
    if unknown and _has_none([layer.arguments, *layer.keywords.values()]):
        return (
            f"None stands for a size that is unknown before data comes ({named}). Write x.size(axis) in place of "
            f"x.shape[axis], or -1. ({text.splitlines()[0]})"
        )
    return None


def _unknown_axes(tensors: list[KerasTensor]) -> list[tuple[int, int]]:
    """(number of the tensor, axis) of each size that is unknown."""
    return [(k, axis) for k, tensor in enumerate(tensors) for axis, size in enumerate(tensor.shape) if size is None]


def _reason_of_size(layer: Operation, tensors: list[KerasTensor], unknown: list[tuple[int, int]]) -> str | None:
    """The first unknown axis with which the function computes if it has one of the sizes that the tensors have."""
    shapes: list[Any] = [tensor.shape for tensor in (*tensors, *layer.parameters(), *layer.buffers())]
    sizes = sorted(set(itertools.chain(*shapes)) - {None})
    for (k, axis), size in itertools.product(unknown, sizes):
        tried = [list(filled(tensor.shape, PROBES[0])) for tensor in tensors]
        tried[k][axis] = size
        try:
            _run_on_meta(layer, tensors, tried)
        except FAILURES:
            continue
        what = f"axis {axis} of {tensors[k]!r}"
        return f"{what} is unknown, and it computes only where that is {size}; give the Input that size."
    return None


def _has_none(value: Any) -> bool:
    return value is None or (isinstance(value, (list, tuple)) and any(map(_has_none, value)))
