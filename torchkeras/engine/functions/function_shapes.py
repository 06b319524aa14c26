"""Output shapes of functions, by running them on `meta` with two sizes for each unknown axis, as `shapes` does.

A tensor that a function made keeps the sizes that it had in both runs. So what is half of an unknown axis stays half
of it in the functions that follow, which is what `x.view(x.size(0), x.size(1) // 2, 2)` needs. Where those sizes lead
to no result, each unknown axis is tried with sizes of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from torchkeras.base.nested import leaves
from torchkeras.engine.shapes.output_shapes import PROBES, filled, merged, with_probes
from torchkeras.engine.symbolic.tensor import KerasTensor, as_list, unpacked
from torchkeras.engine.weights.expressions import value_now

if TYPE_CHECKING:
    from torchkeras.engine.functions.operators import Operation

Sizes = tuple[int, ...]

FAILURES = (RuntimeError, ValueError, IndexError, TypeError)


def infer(layer: Operation, inputs: Any, masks: list[Any]) -> tuple[Any, list[Any]]:
    """Symbolic outputs, in the form that the function gives, and their masks.

    Raises ValueError, which names the function and the axis that had to be known, or TypeError as the function does.
    """
    tensors: list[KerasTensor] = as_list(inputs)
    try:
        outputs = _outputs(layer, tensors, _kept_sizes)
    except FAILURES:
        try:
            outputs = _outputs(layer, tensors, _probe_sizes)
        except FAILURES as error:
            raise _explained(layer, tensors, error) from error
    mask = layer.compute_mask(inputs, masks)
    found = leaves(outputs)
    symbolic = None if mask is None else KerasTensor(found[0].shape[: mask.ndim], torch.bool)
    return outputs, [symbolic, *[None] * (len(found) - 1)]


def _probe_sizes(tensor: KerasTensor, run: int) -> Sizes:
    """The sizes of an input in the first run or the second, one size for all unknown axes."""
    return filled(tensor.shape, PROBES[run])


def _kept_sizes(tensor: KerasTensor, run: int) -> Sizes:
    """The sizes that a tensor had in that run of the function that made it."""
    return _probe_sizes(tensor, run) if tensor._probed is None else tensor._probed[run]


def _outputs(layer: Operation, tensors: list[KerasTensor], sizes_of: Callable[[KerasTensor, int], Sizes]) -> Any:
    """Symbolic outputs by two runs, which keep their sizes. `sizes_of`: of an input in a run."""
    first, second = (_run_on_meta(layer, tensors, [sizes_of(tensor, run) for tensor in tensors]) for run in (0, 1))
    outputs = merged(first, second, f"{layer.name}: a function in a graph gives tensors")
    for tensor, one, other in zip(leaves(outputs), leaves(first), leaves(second), strict=True):
        tensor._probed = (tuple(one.shape), tuple(other.shape))
    return outputs


def _run_on_meta(layer: Operation, tensors: list[KerasTensor], sizes: list[Sizes]) -> Any:
    """What the function gives for tensors of these sizes, on `meta`."""
    given = [torch.empty(shape, dtype=t.dtype, device="meta") for t, shape in zip(tensors, sizes, strict=True)]
    held = dict((*layer.named_parameters(), *layer.named_buffers(), *value_now(layer._expressions).items()))
    held = {name: tensor.to("meta") for name, tensor in held.items()}
    with torch.no_grad():
        return layer._computed(SimpleNamespace(**held), given)


# --- errors ----------------------------------------------------------------------------------------------------------


# np.mean(x, axis=0) and the like call x.mean(axis=0, dtype=None, out=None).
BY_NUMPY = (
    "NumPy's functions compute on arrays with values. Write torch's: torch.mean(x, dim=0), not np.mean(x, axis=0)."
)


def _explained(layer: Operation, tensors: list[KerasTensor], error: Exception) -> Exception:
    """The error that tells what was called on what, and which unknown axis stands in the way."""
    called = f"{type(layer).__name__} {layer.name!r} ({layer._line().format(*(t.name for t in tensors))})"
    reason = _reason(layer, tensors, error)
    if reason is not None:
        return (TypeError if isinstance(error, TypeError) else ValueError)(f"{called}: {reason}")
    if isinstance(error, TypeError):
        return error
    shape, first = unpacked([tensor.shape for tensor in tensors]), str(error).strip().splitlines()[0]
    return ValueError(
        f"{type(layer).__name__} {layer.name!r} cannot compute on input shape {shape}: {with_probes(first)}"
    )


def _reason(layer: Operation, tensors: list[KerasTensor], error: Exception) -> str | None:
    """What an unknown axis, or unknown values, have to do with an error; None: nothing."""
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
    axes = [(k, axis) for k, tensor in enumerate(tensors) for axis in range(tensor.ndim)]
    return [(k, axis) for k, axis in axes if tensors[k].shape[axis] is None]


def _reason_of_size(layer: Operation, tensors: list[KerasTensor], unknown: list[tuple[int, int]]) -> str | None:
    """The unknown axis that must have a certain size, where there is one."""
    found = _culprit(layer, tensors, unknown)
    if found is None:
        return None
    k, axis, size = found
    what = f"axis {axis} of {tensors[k]!r}"
    return f"{what} is unknown, and it computes only where that is {size}; give the Input that size."


def _culprit(layer: Operation, tensors: list[KerasTensor], unknown: list[tuple[int, int]]) -> Any:
    """(tensor, axis, size): an unknown axis with whose size, one of those around, the function would compute."""
    held = (size for tensor in (*layer.parameters(), *layer.buffers()) for size in tensor.shape)
    sizes = sorted({size for t in tensors for size in t.shape if size is not None} | set(held))
    for k, axis in unknown:
        for size in sizes:
            tried = [list(_probe_sizes(tensor, 0)) for tensor in tensors]
            tried[k][axis] = size
            try:
                _run_on_meta(layer, tensors, [tuple(shape) for shape in tried])
            except FAILURES:
                continue
            return k, axis, size
    return None


def _has_none(value: Any) -> bool:
    return value is None or (isinstance(value, (list, tuple)) and any(map(_has_none, value)))
