"""Activations: as expressions, as functions, as layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from torchkeras import activations, layers
from torchkeras.export.plain.call import LayerCall, rule
from torchkeras.export.plain.formulas import activation as formulas

CALLED: dict[Callable[..., Any], str] = {  # the expression of each
    activations.relu: "F.relu",
    activations.elu: "F.elu",
    activations.selu: "F.selu",
    activations.softplus: "F.softplus",
    activations.softsign: "F.softsign",
    activations.tanh: "torch.tanh",
    activations.sigmoid: "torch.sigmoid",
    activations.hard_sigmoid6: "F.hardsigmoid",
    activations.exponential: "torch.exp",
    activations.gelu: "F.gelu",
    activations.silu: "F.silu",
    activations.hard_silu: "F.hardswish",
    activations.mish: "F.mish",
    activations.relu6: "F.relu6",
    activations.celu: "F.celu",
    activations.log_sigmoid: "F.logsigmoid",
    activations.hard_tanh: "F.hardtanh",
    activations.tanh_shrink: "F.tanhshrink",
    activations.hard_shrink: "F.hardshrink",
    activations.soft_shrink: "F.softshrink",
}
ALONG = {  # those along an axis
    activations.softmax: "torch.softmax({x}, {axis})",
    activations.log_softmax: "torch.log_softmax({x}, {axis})",
    activations.glu: "F.glu({x}, {axis})",
}
HELPERS = (
    *(activations.hard_sigmoid, activations.squareplus, activations.sparse_plus, activations.sparse_sigmoid),
    activations.sparsemax,
)


def activated(call: LayerCall, function: Any, text: str) -> str:
    """An expression with an activation around it; `text` has the layout of the call."""
    if function is activations.linear:
        return text
    if function in CALLED:
        return f"{CALLED[function]}({text})"
    if function in ALONG:
        return ALONG[function].format(x=text, axis=1 if call.first else -1)
    if function is activations.leaky_relu:
        return f"F.leaky_relu({text}, 0.2)"
    if function is activations.sparsemax and call.first:
        return f"{call.helper(function)}({text}, 1)"
    if function in HELPERS:
        return f"{call.helper(function)}({text})"
    return _by_own_function(call, function, text)


def _by_own_function(call: LayerCall, function: Any, text: str) -> str:
    """The same with a module of torch or a function of the user's, which takes the channels where Keras has them."""
    called = plain_module(function)
    if called is None:
        called = call.writer.function(f"{call.layer.name}_activation", function)
    if call.first and not isinstance(function, nn.Module):
        ndim = len(call.outputs[0].shape)
        back, there = (0, *range(2, ndim), 1), (0, ndim - 1, *range(1, ndim - 1))
        return f"{called}({text}.permute{back}).permute{there}"
    return f"{called}({text})"


def plain_module(function: Any) -> str | None:
    """The text that makes a torch module without weights, such as `nn.LeakyReLU(0.2)`; None for others."""
    known = isinstance(function, nn.Module) and type(function).__module__.startswith("torch.nn.")
    if not known or function.state_dict() or list(function.children()):
        return None
    return f"nn.{function!r}"


def as_function(call: LayerCall, function: Any) -> str:
    """An expression whose value is an activation."""
    if function is activations.linear:
        return "nn.Identity()"
    if function in CALLED:
        return CALLED[function]
    if function in HELPERS:
        return call.helper(function)
    if function in ALONG or function is activations.leaky_relu:
        return f"lambda x: {activated(call, function, 'x')}"
    return plain_module(function) or call.writer.function(f"{call.layer.name}_activation", function).removeprefix(
        "self."
    )


@rule(layers.Activation)
def activation(layer: Any, call: LayerCall) -> int:
    if isinstance(layer.activation, layers.Layer):
        return by_layer(layer.activation, call)
    return call.line(activated(call, layer.activation, "{0}"), call.x)


def by_layer(inner: Any, call: LayerCall) -> int:
    """The output of a layer that is used as an activation."""
    (value,) = call.inner(inner, call.values)
    return call.writer.use(value, call.layout)


@rule(layers.ReLU)
def relu(layer: Any, call: LayerCall) -> int:
    slope, most, threshold = layer.negative_slope, layer.max_value, layer.threshold
    if not (slope or threshold) and most in (None, 6):
        return call.line("F.relu({0})" if most is None else "F.relu6({0})", call.x)
    if not threshold and most is None:
        return call.line(f"F.leaky_relu({{0}}, {slope})", call.x)
    options = {"max_value": most, "negative_slope": slope or None, "threshold": threshold or None}
    given = "".join(f", {name}={value}" for name, value in options.items() if value is not None)
    return call.line(f"{call.helper(formulas.bounded_relu)}({{0}}{given})", call.x)


@rule(layers.LeakyReLU)
def leaky_relu(layer: Any, call: LayerCall) -> int:
    return call.line(f"F.leaky_relu({{0}}, {layer.alpha})", call.x)


@rule(layers.ELU)
def elu(layer: Any, call: LayerCall) -> int:
    return call.line("F.elu({0})" if layer.alpha == 1 else f"F.elu({{0}}, {layer.alpha})", call.x)


@rule(layers.ThresholdedReLU)
def thresholded_relu(layer: Any, call: LayerCall) -> int:
    return call.line(f"F.threshold({{0}}, {layer.theta}, 0.0)", call.x)


@rule(layers.Softmax)
def softmax(layer: Any, call: LayerCall) -> int:
    if isinstance(layer.axis, list):
        return call.line(f"torch.exp({{0}} - {{0}}.logsumexp({tuple(layer.axis)}, keepdim=True))", call.x)
    return call.line(f"torch.softmax({{0}}, {call.axis})", call.x)


@rule(layers.PReLU)
def prelu(layer: Any, call: LayerCall) -> int:
    weight = layer.prelu.weight
    if type(layer.prelu) is nn.PReLU:
        return call.line(f"{call.module(f'nn.PReLU({len(weight)})', layer.prelu)}({{0}})", call.x)
    text = f"{call.helper(formulas.PlacewisePReLU)}({', '.join(map(str, weight.shape))})"
    return call.line(f"{call.module(text, layer.prelu)}({{0}})", call.x)


@rule(layers.ParametricSoftplus)
def parametric_softplus(layer: Any, call: LayerCall) -> int:
    text = f"{call.helper(formulas.ParametricSoftplus)}({', '.join(map(str, layer.outer.shape))})"
    return call.line(f"{call.module(text, {'outer': layer.outer, 'inner': layer.inner})}({{0}})", call.x)


@rule(layers.SReLU)
def srelu(layer: Any, call: LayerCall) -> int:
    tensors = {"left": layer.left, "left_slope": layer.left_slope, "width": layer.right}
    sizes = [*map(str, layer.left.shape), *(["capped=True"] if layer.capped else [])]
    text = f"{call.helper(formulas.SReLU)}({', '.join(sizes)})"
    return call.line(f"{call.module(text, {**tensors, 'right_slope': layer.right_slope})}({{0}})", call.x)
