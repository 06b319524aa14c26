"""Output shapes, by running a layer's `forward` on `meta` tensors: no memory, no arithmetic.

Each unknown size is tried with two numbers. An axis of the output that differs between the two runs is unknown, the
others are known. A layer with a time loop gives its shapes in `compute_output_shape` instead, and the commonest layers
in `shape_from`: what torch does on `meta` imports its compiler, some seconds of a program's start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from torchkeras import config
from torchkeras.engine.precision import is_mixed, taken
from torchkeras.engine.symbol import KerasTensor, Shape, as_list, dtype_of, unpacked

if TYPE_CHECKING:
    from torchkeras.engine.layer import Layer

# Far apart, and divisible by what strides, pools and reshapes divide by.
PROBES = (240, 1680)


def infer(layer: Layer, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """Symbolic outputs and output masks of a built layer for symbolic inputs.

    Raises ValueError, naming the layer and the input shapes, when the layer cannot compute on such inputs.
    """
    inputs = taken(layer, inputs)
    outputs = _told(layer, inputs)
    asks_mask = overrides(layer, "compute_mask")
    if outputs is None:
        (first, mask), (second, _) = (_run(layer, inputs, masks, arguments, size, True) for size in PROBES)
        _check_tensors(layer, first)
        outputs = _merged(first, second)
    elif asks_mask:
        _, mask = _run(layer, inputs, masks, arguments, PROBES[0], False)
    if not asks_mask:
        mask = layer.compute_mask(inputs, _as_given(inputs, masks) if any(m is not None for m in masks) else None)
    return outputs, _output_masks(as_list(outputs), mask)


def overrides(layer: Layer, method: str) -> bool:
    """Whether a layer's class has a method of its own in place of `Layer`'s."""
    first = next(cls for cls in reversed(type(layer).__mro__) if method in cls.__dict__)
    return getattr(type(layer), method) is not first.__dict__[method]


def _told(layer: Layer, inputs: Any) -> Any:
    """Outputs whose shape needs no run: the input's, or what the layer's own `compute_output_shape` says; else None."""
    first = as_list(inputs)[0]
    facts = layer._facts
    if facts.keeps_shape and not layer._by_call and first.dtype.is_floating_point:
        return KerasTensor(first.shape, first.dtype)
    by_arithmetic = not isinstance(inputs, (list, tuple)) and facts.says("shape_from")
    if not (by_arithmetic or overrides(layer, "compute_output_shape")):
        return None
    given: Any = [t.shape for t in inputs] if isinstance(inputs, (list, tuple)) else first.shape
    try:
        found: Any = facts.shape_from(given) if by_arithmetic else layer.compute_output_shape(given)
    except ValueError as error:
        raise ValueError(f"{type(layer).__name__} {layer.name!r}: {error}") from error
    dtype = first.dtype if first.dtype.is_floating_point else getattr(torch, layer.compute_dtype)
    if isinstance(found, (list, tuple)) and found and isinstance(found[0], (list, tuple)):
        return [KerasTensor(shape, dtype) for shape in found]
    return KerasTensor(found, dtype)


def _run(layer: Layer, inputs: Any, masks: list[Any], arguments: Mapping[str, Any], size: int, compute: bool) -> Any:
    """Outputs (if asked to compute them) and output mask for unknown sizes of `size`, on `meta`."""
    tensors = [_meta(tensor.shape, tensor.dtype, size) for tensor in as_list(inputs)]
    given = tensors if isinstance(inputs, (list, tuple)) else tensors[0]
    given_masks = [None if m is None else _meta(m.shape, torch.bool, size) for m in masks]
    kwargs = dict(arguments)
    has_mask = any(mask is not None for mask in given_masks)
    mask = _as_given(inputs, given_masks) if has_mask else None
    if has_mask and "mask" in layer._call_parameters:
        kwargs["mask"] = mask
    state = {name: _in_compute_type(layer, t) for name, t in (*layer.named_parameters(), *layer.named_buffers())}
    try:
        with torch.no_grad():
            outputs = torch.func.functional_call(layer, state, (given,), kwargs) if compute else None
            return outputs, layer.compute_mask(given, mask)
    except (RuntimeError, ValueError, IndexError) as error:
        shape = unpacked([tensor.shape for tensor in as_list(inputs)])
        reason, what = str(error).strip().splitlines()[0], f"{type(layer).__name__} {layer.name!r}"
        if reason.startswith(what):  # the layer's own words
            raise
        raise ValueError(f"{what} cannot compute on input shape {shape}: {reason}") from error


def _in_compute_type(layer: Layer, tensor: torch.Tensor) -> torch.Tensor:
    """A weight on `meta`, as Keras casts it: so the outputs get the types that Keras gives them."""
    cast = is_mixed(layer) and tensor.is_floating_point()
    return tensor.to("meta", dtype_of(layer.compute_dtype) if cast else tensor.dtype)


def _check_tensors(layer: Layer, outputs: Any) -> None:
    items = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    if not items or not all(isinstance(item, torch.Tensor) for item in items):
        raise TypeError(
            f"{type(layer).__name__} {layer.name!r} must give a tensor or a list of tensors; "
            f"found {type(outputs).__name__}."
        )


def _as_given(inputs: Any, masks: list[Any]) -> Any:
    return masks if isinstance(inputs, (list, tuple)) else masks[0]


def _meta(shape: Shape, dtype: torch.dtype, size: int) -> torch.Tensor:
    return torch.empty([size if known is None else known for known in shape], dtype=dtype, device="meta")


def _merged(first: Any, second: Any) -> Any:
    if isinstance(first, (list, tuple)):
        return [_merged(a, b) for a, b in zip(first, second, strict=True)]
    shape = [a if a == b else None for a, b in zip(first.shape, second.shape, strict=True)]
    return KerasTensor(shape, first.dtype)


def _output_masks(outputs: list[KerasTensor], mask: Any) -> list[Any]:
    """A symbolic mask for each output that has one. A single mask is that of the first output."""
    masks = list(mask) if isinstance(mask, (list, tuple)) else [mask]
    masks += [None] * (len(outputs) - len(masks))
    return [
        None if m is None else KerasTensor(output.shape[: len(m.shape)], torch.bool)
        for output, m in zip(outputs, masks, strict=True)
    ]


def symbolic(input_shape: Any) -> Any:
    """Symbolic tensors for one shape or a list of shapes."""
    dtype = dtype_of(config.floatx())
    if isinstance(input_shape, (list, tuple)) and input_shape and isinstance(input_shape[0], (list, tuple)):
        return [KerasTensor(shape, dtype) for shape in input_shape]
    return KerasTensor(input_shape, dtype)
