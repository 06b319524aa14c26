"""Convolutions of all kinds, and padding that torch's layers cannot express."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from torchkeras import layers
from torchkeras.export.errors import EjectError
from torchkeras.export.plain.call import LayerCall, rule
from torchkeras.export.plain.formulas import images as formulas
from torchkeras.export.plain.rules.activation import activated
from torchkeras.layers.spatial import FIXED_PADDINGS, same_padding, torch_padding

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


def one_or_all(values: Sequence[Any]) -> str:
    """One number for all axes if they agree, else all numbers."""
    return str(values[0]) if len(set(values)) == 1 else str(tuple(values))


def convolution(module: Any) -> str:
    """The text that makes a torch convolution."""
    plain = [str(module.in_channels), str(module.out_channels), one_or_all(module.kernel_size)]
    options = {
        "stride": (module.stride, 1),
        "padding": (module.padding, 0),
        "output_padding": (module.output_padding, 0),
        "dilation": (module.dilation, 1),
    }
    texts = [f"{k}={one_or_all(v)}" for k, (v, default) in options.items() if any(each != default for each in v)]
    texts += [f"groups={module.groups}"] if module.groups > 1 else []
    texts += ["bias=False"] if module.bias is None else []
    return f"nn.{type(module).__name__}({', '.join([*plain, *texts])})"


def sizes_of(layer: Any, call: LayerCall) -> list[int | None]:
    """The spatial sizes of the input."""
    return [call.values[0].shape[axis] for axis in layer._spatial_axes]


def padded(layer: Any, call: LayerCall, window: Sequence[int], dilation: Sequence[int], kind: str) -> int:
    """The input with the zeros of the layer's padding, written as an operation of its own."""
    strides = layer.strides
    reaches = [(w - 1) * d for w, d in zip(window, dilation, strict=True)]
    sizes = sizes_of(layer, call)
    if layer.padding == "same" and any(r and s > 1 for r, s in zip(reaches, strides, strict=True)):
        if None in sizes:
            text = f"F.pad({{0}}, {call.helper(formulas.same_padding)}({{0}}, {tuple(window)}, {strides}, {dilation}))"
            return call.line(text, call.x)
        pairs = list(map(same_padding, sizes, window, strides, dilation))  # type: ignore[arg-type]
    else:
        pairs = [FIXED_PADDINGS[layer.padding](reach) for reach in reaches]
    amounts = tuple(torch_padding(pairs))
    return call.line(f"F.pad({{0}}, {amounts})", call.x) if any(amounts) else call.x


@rule(layers.Conv1D, layers.Conv2D, layers.Conv3D, layers.DepthwiseConv1D, layers.DepthwiseConv2D)
def conv(layer: Any, call: LayerCall) -> int:
    x = padded(layer, call, layer.kernel_size, layer.dilation_rate, "conv") if layer._pads else call.x
    path = call.module(convolution(layer.conv), layer.conv)
    return call.line(activated(call, layer.activation, f"{path}({{0}})"), x)


@rule(layers.SeparableConv1D, layers.SeparableConv2D)
def separable(layer: Any, call: LayerCall) -> int:
    x = padded(layer, call, layer.kernel_size, layer.dilation_rate, "conv") if layer._pads else call.x
    depthwise = call.module(convolution(layer.depthwise), layer.depthwise, "depthwise")
    pointwise = call.module(convolution(layer.pointwise), layer.pointwise, "pointwise")
    x = call.line(f"{depthwise}({{0}})", x)
    return call.line(activated(call, layer.activation, f"{pointwise}({{0}})"), x)


@rule(layers.Conv1DTranspose, layers.Conv2DTranspose, layers.Conv3DTranspose)
def transposed(layer: Any, call: LayerCall) -> int:
    path = call.module(convolution(layer.conv), layer.conv)
    text = f"{path}({{0}})"
    if any(layer._cut_after):
        text += f"[..., {', '.join(f':-{cut}' if cut else ':' for cut in layer._cut_after)}]"
    return call.line(activated(call, layer.activation, text), call.x)


@rule(layers.LocallyConnected1D, layers.LocallyConnected2D)
def local(layer: Any, call: LayerCall) -> int:
    rank, kernel = layer.rank, layer.local_kernel
    sizes, window, strides = tuple(layer._lengths), tuple(layer.kernel_size), tuple(layer.strides)
    channels = kernel.shape[1] // torch.Size(window).numel()
    if layer.data_format == "channels_last":  # the features are last in Keras's windows
        weight = kernel.detach().unflatten(1, (-1, channels)).transpose(1, 2).flatten(1, 2)
    else:
        weight = kernel.detach()
    bias = layer.local_bias
    if bias is not None:
        last = layer.data_format == "channels_last"
        bias = bias.detach().movedim(-1, 0) if last else bias.detach()
    sizes, window, strides = (each + (1,) * (2 - rank) for each in (sizes, window, strides))
    bias = None if bias is None else bias.reshape(layer.filters, *sizes)
    text = f"{call.helper(formulas.LocallyConnected)}({channels}, {layer.filters}, {sizes}, {window}, {strides}"
    tensors = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
    path = call.module(f"{text}{', bias=False' * (bias is None)})", tensors)
    called = f"{path}({{0}})" if rank == 2 else f"{path}({{0}}.unsqueeze(3)).squeeze(3)"
    return call.line(activated(call, layer.activation, called), call.x)


# --- pooling ---------------------------------------------------------------------------------------------------------


def pooling(layer: Any, rank: int, kind: str) -> tuple[str, str]:
    """Torch's function, and its arguments after the input."""
    given = one_or_all(layer.pool_size)
    if layer.strides != layer.pool_size:
        given += f", {one_or_all(layer.strides)}"
    return f"F.{kind}_pool{rank}d", given


@rule(layers.MaxPooling1D, layers.MaxPooling2D, layers.MaxPooling3D)
def max_pooling(layer: Any, call: LayerCall) -> int:
    name, given = pooling(layer, layer.rank, "max")
    return call.line(f"{name}({{0}}, {given}{_inside(layer, call)})", _around(layer, call, "-torch.inf"))


@rule(layers.AveragePooling1D, layers.AveragePooling2D, layers.AveragePooling3D)
def average_pooling(layer: Any, call: LayerCall) -> int:
    name, given = pooling(layer, layer.rank, "avg")
    amounts = _amounts(layer, call)
    if amounts is None or (isinstance(amounts, tuple) and not any(amounts)):
        inside = _inside(layer, call)
        return call.line(f"{name}({{0}}, {given}{inside}{', count_include_pad=False' * bool(inside)})", call.x)
    mean = call.helper(formulas.padded_mean)
    return call.line(f"{mean}({{0}}, {amounts}, lambda x: {name}(x, {given}))", call.x)


def _inside(layer: Any, call: LayerCall) -> str:
    """The padding that torch's function adds by itself."""
    padding = layer.pool.padding
    each = padding if isinstance(padding, (tuple, list)) else (padding,)
    if not any(each):
        return ""
    return f", padding={one_or_all(each)}" if layer.strides != layer.pool_size else f", 1, padding={one_or_all(each)}"


def _amounts(layer: Any, call: LayerCall) -> Any:
    """What is added around the input: numbers, an expression of the input `{0}`, or None."""
    if not layer._pads:
        return None
    sizes, windows, strides = sizes_of(layer, call), layer.pool_size, layer.strides
    known = {"same": formulas.same_padding, "theano": formulas.theano_padding}[layer.padding]
    more = f", {(1,) * layer.rank}" if layer.padding == "same" else ""
    if None in sizes:
        return f"{call.helper(known)}({{0}}, {tuple(windows)}, {tuple(strides)}{more})"
    probe = torch.empty(1, 1, *sizes, device="meta")  # type: ignore[arg-type]
    return tuple(known(probe, windows, strides, *([(1,) * layer.rank] if more else [])))


def _around(layer: Any, call: LayerCall, value: str) -> int:
    amounts = _amounts(layer, call)
    if amounts is None or (isinstance(amounts, tuple) and not any(amounts)):
        return call.x
    return call.line(f"F.pad({{0}}, {amounts}, value={value})", call.x)


GLOBAL_MAX = (layers.GlobalMaxPooling1D, layers.GlobalMaxPooling2D, layers.GlobalMaxPooling3D)
GLOBAL_MEAN = (layers.GlobalAveragePooling2D, layers.GlobalAveragePooling3D)


@rule(*GLOBAL_MAX, *GLOBAL_MEAN, layers.GlobalAveragePooling1D)
def global_pooling(layer: Any, call: LayerCall) -> int:
    mask, ndim = call.masks[0], layer.rank + 2
    channels = call.axis % ndim
    axes = tuple(axis for axis in range(1, ndim) if axis != channels)
    keep = ", keepdim=True" * bool(layer.keepdims)
    where = one_or_all(axes) if len(axes) == 1 else str(axes)
    if type(layer) in GLOBAL_MAX:
        return call.line(f"{{0}}.amax({where}{keep})", call.x)
    call.set_masks(None)
    if mask is None:
        return call.line(f"{{0}}.mean({where}{keep})", call.x)
    counted = call.line(f"{{0}}.to({{1}}.dtype).unsqueeze({channels})", mask, call.x)
    return call.line(f"({{0}} * {{1}}).sum({where}{keep}) / {{1}}.sum({where}{keep})", call.x, counted)


ADAPTIVE = {f"Adaptive{kind}Pooling{rank}D": (kind, rank) for kind in ("Max", "Average") for rank in (1, 2, 3)}


@rule(*(getattr(layers, name) for name in ADAPTIVE))
def adaptive_pooling(layer: Any, call: LayerCall) -> int:
    kind, rank = ADAPTIVE[type(layer).__name__]
    name = f"F.adaptive_{ {'Max': 'max', 'Average': 'avg'}[kind] }_pool{rank}d"
    sizes = layer.output_size
    return call.line(f"{name}({{0}}, {one_or_all(sizes)})", call.x)


# --- larger and smaller ----------------------------------------------------------------------------------------------


@rule(layers.Cropping1D, layers.Cropping2D, layers.Cropping3D)
def cropping(layer: Any, call: LayerCall) -> int:
    parts = [f"{a or ''}:{-b or ''}" for a, b in layer.cropping]
    return call.line(f"{{0}}[..., {', '.join(parts)}]", call.x)


@rule(layers.ZeroPadding1D, layers.ZeroPadding2D, layers.ZeroPadding3D)
def zero_padding(layer: Any, call: LayerCall) -> int:
    return call.line(f"F.pad({{0}}, {tuple(torch_padding(layer.padding))})", call.x)


@rule(layers.UpSampling1D, layers.UpSampling2D, layers.UpSampling3D)
def up_sampling(layer: Any, call: LayerCall) -> int:
    factors = tuple(map(float, layer.size))
    scale = f"scale_factor={one_or_all(factors)}"
    kind = getattr(layer, "interpolation", "nearest")
    if kind == "nearest":
        return call.line(f'F.interpolate({{0}}, {scale}, mode="nearest-exact")', call.x)
    if kind == "bilinear" and layer.half_pixel:
        return call.line(f'F.interpolate({{0}}, {scale}, mode="bilinear")', call.x)
    if kind != "bilinear":
        raise EjectError(f"UpSampling2D {layer.name!r}: eject knows no interpolation {kind!r}.")
    return call.line(f"{call.helper(formulas.resize_as_tensorflow_1)}({{0}}, {tuple(layer.size)})", call.x)
