"""The floating-point operations of a model's forward pass, counted while it runs once, mostly without memory."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils import flop_counter
from torch.utils.flop_counter import FlopCounterMode

from torchkeras.base.rules import is_integer
from torchkeras.base.torch_tables import own_modules
from torchkeras.engine.graph.codegen import Variant
from torchkeras.engine.graph.layer_calls import ModuleCalls
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor

if TYPE_CHECKING:
    from torchkeras.models.model import Model

aten = torch.ops.aten
Sizes = Sequence[int]


def _matrix_by_vector(matrix: Sizes, vector: Sizes, **_: Any) -> int:
    return 2 * prod(matrix)


def _plus_matrix_by_vector(added: Sizes, matrix: Sizes, vector: Sizes, **_: Any) -> int:
    return 2 * prod(matrix)


def _plus_products(added: Sizes, first: Sizes, second: Sizes, **_: Any) -> int:
    return 2 * prod(first) * second[-1]


def _attention(query: Sizes, key: Sizes, value: Sizes, *_: Any, **__: Any) -> int:
    return flop_counter.sdpa_flop_count(query, key, value)


def _refused(*_: Any, **__: Any) -> int:
    raise RuntimeError("a whole layer runs as one operation of torch's, whose products cannot be counted")


# Products that torch's counter passes over: those in place and by vectors, and kernels that it does not know.
FURTHER = {
    **dict.fromkeys(("addmm_", "baddbmm_", "addbmm", "addbmm_"), _plus_products),
    **dict.fromkeys(("mv", "dot", "vdot"), _matrix_by_vector),
    **dict.fromkeys(("addmv", "addmv_"), _plus_matrix_by_vector),
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_fused_attention_overrideable": _attention,
    **dict.fromkeys(
        ("mkldnn_rnn_layer", "_cudnn_rnn", "_native_multi_head_attention", "_transformer_encoder_layer_fwd"), _refused
    ),
}


@dataclass(frozen=True)
class Flops:
    """`total`, and each layer's part over all its calls; `batch`: the samples; `assumed`: taken for unknown axes."""

    total: int
    by_layer: Mapping[Layer, int]
    batch: int
    assumed: int | None

    def __str__(self) -> str:
        samples = "one sample" if self.batch == 1 else f"a batch of {self.batch}"
        assumed = "" if self.assumed is None else f", {self.assumed} for each unknown axis"
        return f"{self.total:,} ({samples}{assumed}; products and convolutions, 2 a multiply-add)"


def _size_for_unknown(wanted: bool | int) -> int | None:
    if isinstance(wanted, bool):
        return None
    if not (is_integer(wanted) and wanted > 0):
        raise ValueError(
            f"summary: flops must be True, False or the size to take for unknown axes, 1 or more; found {wanted!r}."
        )
    return int(wanted)


def count(model: Model, wanted: bool | int) -> Flops:
    """The operations of `model(x)` in evaluation, as torch's `FlopCounterMode` counts them.

    Matrix products, convolutions and attention are counted, a multiply-add as 2; what is done to each element alone is
    not. For one sample, or for the batch size that the inputs fix. `wanted`: True, or the size to take for axes that
    are unknown. Raises ValueError when there are such axes and no size for them, or for another `wanted`; RuntimeError
    when the model cannot run on zeros.
    """
    size = _size_for_unknown(wanted)
    unknown = [tensor for tensor in model.inputs if None in tensor.shape[1:]]
    if unknown and size is None:
        raise ValueError(
            f"summary: flops=True needs the size of every axis; the input {unknown[0].keras_history.layer.name!r} has "
            f"shape {unknown[0].shape}. Give the size to take for the unknown axes, such as flops=128."
        )
    shapes = [_known_shape(tensor, size) for tensor in model.inputs]
    total, by_layer = _count_anywhere(model, shapes)
    return Flops(total, by_layer, max((shape[0] for shape in shapes if shape), default=1), size if unknown else None)


def _known_shape(tensor: KerasTensor, size: int | None) -> list[int]:
    batch, *axes = tensor.shape
    return [1 if batch is None else batch, *(size if axis is None else axis for axis in axes)]  # type: ignore[list-item]


def _count_anywhere(model: Model, shapes: list[list[int]]) -> tuple[int, Mapping[Layer, int]]:
    try:
        return _counted(model, shapes, "meta")
    except (RuntimeError, TypeError, ValueError):
        pass  # a layer that looks at values, or has tensors of its own: on `meta` there is nothing to see
    try:
        return _counted(model, shapes, "cpu")
    except (RuntimeError, TypeError, ValueError) as error:
        raise RuntimeError(
            f"summary: flops needs a run of {type(model).__name__} {model.name!r} on zeros of shape "
            f"{', '.join(str(tuple(shape)) for shape in shapes)}, which failed: {error}"
        ) from error


@torch.no_grad()
def _counted(model: Model, shapes: list[list[int]], device: str) -> tuple[int, Mapping[Layer, int]]:
    """Run the generated code on a copy of the layers: states, modes and hooks of the model itself stay as they are."""
    copied = nn.Module()
    copied._modules = copy.deepcopy(own_modules(model), _placed(model, device))
    copied.eval()
    original = nn.Module()
    original._modules = own_modules(model)
    known = {getattr(aten, name): formula for name, formula in FURTHER.items() if hasattr(aten, name)}
    counter = FlopCounterMode(display=False, custom_mapping=known)
    by_layer: dict[Layer, int] = {}
    for layer, twin in zip(original.modules(), copied.modules(), strict=True):
        if isinstance(layer, Layer):
            _watch(twin, layer, counter.get_total_flops, by_layer)
    given = [
        torch.zeros(shape, dtype=tensor.dtype, device=device)
        for shape, tensor in zip(shapes, model.inputs, strict=True)
    ]
    with counter:
        function = model._generated.function(Variant(masked=(False,) * len(given)))
        function.compute(ModuleCalls(own_modules(copied), function.calls), *given)
    return counter.get_total_flops(), by_layer


def _watch(twin: nn.Module, layer: Layer, total: Callable[[], int], by_layer: dict[Layer, int]) -> None:
    begun: list[int] = []
    by_layer[layer] = 0

    def after(*_: Any) -> None:
        by_layer[layer] += total() - begun.pop()

    twin.register_forward_pre_hook(lambda *_: begun.append(total()))
    twin.register_forward_hook(after)


def _placed(model: nn.Module, device: str) -> dict[int, Any]:
    """For `deepcopy`: what stands for each parameter and buffer in the copy."""
    placed: dict[int, Any] = {}
    for tensor in chain(model.parameters(), model.buffers()):
        there = tensor.detach().to(device, copy=device != "meta")
        is_parameter = isinstance(tensor, nn.Parameter)
        placed[id(tensor)] = nn.Parameter(there, requires_grad=tensor.requires_grad) if is_parameter else there
    return placed
