"""Layers that merge several tensors into one."""

from __future__ import annotations

from typing import Any

from torchkeras import layers
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.export.errors import EjectError
from torchkeras.export.plain import facts
from torchkeras.export.plain.call import LayerCall, mask_rule, rule, slots
from torchkeras.layers.keras1 import Cosine


def _spread(call: LayerCall) -> list[int]:
    """The inputs; those with fewer axes get axes of size 1 after the batch axis."""
    rank = max(len(value.shape) for value in call.values)
    found = []
    for value, x in zip(call.values, call.inputs, strict=True):
        lacking = rank - len(value.shape)
        found.append(call.line(f"{{0}}[:{', None' * lacking}]", x) if lacking else x)
    return found


@rule(layers.Add, layers.Subtract, layers.Multiply)
def arithmetic(layer: Any, call: LayerCall) -> int:
    sign = {layers.Add: "+", layers.Subtract: "-", layers.Multiply: "*"}[type(layer)]
    uses = _spread(call)
    return call.line(f" {sign} ".join(f"{{{k}}}" for k in range(len(uses))), *uses)


@rule(layers.Average)
def average(layer: Any, call: LayerCall) -> int:
    uses = _spread(call)
    return call.line(f"({' + '.join(f'{{{k}}}' for k in range(len(uses)))}) / {len(uses)}", *uses)


@rule(layers.Maximum, layers.Minimum)
def extreme(layer: Any, call: LayerCall) -> int:
    name, (found, *others) = "maximum" if type(layer) is layers.Maximum else "minimum", _spread(call)
    for other in others:
        found = call.line(f"torch.{name}({{0}}, {{1}})", found, other)
    return found


@mask_rule(layers.Add, layers.Subtract, layers.Multiply, layers.Average, layers.Maximum, layers.Minimum)
def all_masks(layer: Any, call: LayerCall) -> int | None:
    if layer.any_mask and any(mask is not None for mask in call.masks):
        raise EjectError(f"{type(layer).__name__} {layer.name!r}: eject does not join masks by any_mask.")
    masks = list(dict.fromkeys(mask for mask in call.masks if mask is not None))
    if len(masks) < 2:
        return masks[0] if masks else None
    return call.line(" & ".join(f"{{{k}}}" for k in range(len(masks))), *masks, base="mask")


@rule(layers.Concatenate)
def concatenate(layer: Any, call: LayerCall) -> int:
    return call.line(f"torch.cat([{slots(len(call.inputs))}], {call.axis})", *call.inputs)


@mask_rule(layers.Concatenate)
def concatenated_masks(layer: Any, call: LayerCall) -> int | None:
    known = next((mask for mask in call.masks if mask is not None), None)
    axis = layer.axis % len(call.values[0].shape)
    if known is None or axis > 1:
        return None if known is None else all_masks(layer, call)
    uses, texts = [], []
    for index, mask in enumerate(call.masks):
        x = call.input(index, Layout.KERAS)
        texts.append(f"{{{index}}}" if mask is not None else f"torch.ones_like({{{index}}}[:, :, 0], dtype=torch.bool)")
        uses.append(x if mask is None else mask)
    if any(len(value.shape) != 3 for value, mask in zip(call.values, call.masks, strict=True) if mask is None):
        raise EjectError(f"Concatenate {layer.name!r}: eject joins a missing mask for (batch, time, features) alone.")
    return call.line(f"torch.cat([{', '.join(texts)}], {axis})", *uses, base="mask")


def _dotted(shapes: list[Shape], axes: Any) -> str:
    """The equation of a product summed along one axis of each of two tensors."""
    letters = "abcdefghijklmnopqrstuvw"
    first = letters[: len(shapes[0])]
    second = first[0] + letters[len(first) : len(first) + len(shapes[1]) - 1]
    summed = first[axes[0] % len(first)]
    second = second.replace(second[axes[1] % len(second)], summed)
    return f"{first},{second}->{first.replace(summed, '')}{second[1:].replace(summed, '')}"


@rule(layers.Dot)
def dot(layer: Any, call: LayerCall) -> int:
    axes = layer._axes
    uses = call.inputs
    if layer.normalize:
        uses = [call.line(f"F.normalize({{0}}, dim={axis}, eps=1e-6)", x) for x, axis in zip(uses, axes, strict=True)]
    shapes = [value.shape for value in call.values]
    if all(len(shape) == 2 for shape in shapes):
        return call.line("({0} * {1}).sum(-1, keepdim=True)", *uses)
    return call.line(f'torch.einsum("{_dotted(shapes, axes)}", {{0}}, {{1}})', *uses)


@mask_rule(layers.Dot, Cosine)
def no_mask(layer: Any, call: LayerCall) -> None:
    return None


@rule(Cosine)
def cosine(layer: Any, call: LayerCall) -> int:
    shapes = [value.shape for value in call.values]
    (a, b), (first, second), epsilon = call.inputs, layer._axes, facts.epsilon()
    if all(len(shape) == 2 for shape in shapes):
        text = "({0} * {1}).sum(-1, keepdim=True)"
        product, one, other = (call.line(text, *pair) for pair in ((a, b), (a, a), (b, b)))
    else:
        product = call.line(f'torch.einsum("{_dotted(shapes, layer._axes)}", {{0}}, {{1}})', a, b)
        one = call.line(f'torch.einsum("{_dotted([shapes[0]] * 2, (first, first))}", {{0}}, {{0}})', a)
        other = call.line(f'torch.einsum("{_dotted([shapes[1]] * 2, (second, second))}", {{0}}, {{0}})', b)
    return call.line(f"({{0}} / ({{1}} * {{2}}).sqrt().clamp(min={epsilon})).unsqueeze(1)", product, one, other)
