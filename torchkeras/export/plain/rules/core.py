"""Dense layers, activations, shapes, masks, embeddings, merging."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from torchkeras import activations, layers
from torchkeras.engine.layout import Layout
from torchkeras.engine.symbol import Shape
from torchkeras.export.errors import EjectError
from torchkeras.export.plain import facts
from torchkeras.export.plain.formulas import activation as formulas, noise as noise_formulas
from torchkeras.export.plain.network import Call, mask_rule, rule, slots
from torchkeras.layers.keras1 import Cosine, Highway, MaxoutDense, TimeDistributedDense

# --- activations -----------------------------------------------------------------------------------------------------

CALLED: dict[Callable[..., Any], str] = {  # how each is called
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


def activated(call: Call, function: Any, text: str) -> str:
    """An expression with an activation around it; `text` has the layout of the call."""
    if function is activations.linear:
        return text
    if function in CALLED:
        return f"{CALLED[function]}({text})"
    if function in ALONG:
        return ALONG[function].format(x=text, axis=1 if call.first else -1)
    if function is activations.leaky_relu:
        return f"F.leaky_relu({text}, 0.2)"
    if function is activations.sparsemax:
        return f"{call.helper(function)}({text}{', 1' if call.first else ''})"
    if function in HELPERS:
        return f"{call.helper(function)}({text})"
    called = plain_module(function)
    if called is None:
        called = call.writer.function(f"{call.layer.name}_activation", function)
    if call.first and not isinstance(function, nn.Module):
        ndim = len(call.outputs[0].shape)
        back, there = (0, *range(2, ndim), 1), (0, ndim - 1, *range(1, ndim - 1))
        return f"{called}({text}.permute{back}).permute{there}"
    return f"{called}({text})"


def plain_module(function: Any) -> str | None:
    """The text that makes a module of torch's that has no weights, such as `nn.LeakyReLU(0.2)`; None for others."""
    known = isinstance(function, nn.Module) and type(function).__module__.startswith("torch.nn.")
    if not known or function.state_dict() or list(function.children()):
        return None
    return f"nn.{function!r}"


def as_function(call: Call, function: Any) -> str:
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
def activation(layer: Any, call: Call) -> int:
    if isinstance(layer.activation, layers.Layer):
        return by_layer(layer.activation, call)
    return call.line(activated(call, layer.activation, "{0}"), call.x)


def by_layer(inner: Any, call: Call) -> int:
    """What a layer, in the place of an activation, gives for the input."""
    (value,) = call.inner(inner, call.values)
    return call.writer.use(value, call.layout)


@rule(layers.ReLU)
def relu(layer: Any, call: Call) -> int:
    slope, most, threshold = layer.negative_slope, layer.max_value, layer.threshold
    if not (slope or threshold) and most in (None, 6):
        return call.line("F.relu({0})" if most is None else "F.relu6({0})", call.x)
    if not threshold and most is None:
        return call.line(f"F.leaky_relu({{0}}, {slope})", call.x)
    options = {"max_value": most, "negative_slope": slope or None, "threshold": threshold or None}
    given = "".join(f", {name}={value}" for name, value in options.items() if value is not None)
    return call.line(f"{call.helper(formulas.bounded_relu)}({{0}}{given})", call.x)


@rule(layers.LeakyReLU)
def leaky_relu(layer: Any, call: Call) -> int:
    return call.line(f"F.leaky_relu({{0}}, {layer.alpha})", call.x)


@rule(layers.ELU)
def elu(layer: Any, call: Call) -> int:
    return call.line("F.elu({0})" if layer.alpha == 1 else f"F.elu({{0}}, {layer.alpha})", call.x)


@rule(layers.ThresholdedReLU)
def thresholded_relu(layer: Any, call: Call) -> int:
    return call.line(f"F.threshold({{0}}, {layer.theta}, 0.0)", call.x)


@rule(layers.Softmax)
def softmax(layer: Any, call: Call) -> int:
    if isinstance(layer.axis, list):
        return call.line(f"torch.exp({{0}} - {{0}}.logsumexp({tuple(layer.axis)}, keepdim=True))", call.x)
    return call.line(f"torch.softmax({{0}}, {call.axis})", call.x)


@rule(layers.PReLU)
def prelu(layer: Any, call: Call) -> int:
    weight = layer.prelu.weight
    if type(layer.prelu) is nn.PReLU:
        return call.line(f"{call.module(f'nn.PReLU({len(weight)})', layer.prelu)}({{0}})", call.x)
    text = f"{call.helper(formulas.PlacewisePReLU)}({', '.join(map(str, weight.shape))})"
    return call.line(f"{call.module(text, layer.prelu)}({{0}})", call.x)


@rule(layers.ParametricSoftplus)
def parametric_softplus(layer: Any, call: Call) -> int:
    text = f"{call.helper(formulas.ParametricSoftplus)}({', '.join(map(str, layer.outer.shape))})"
    return call.line(f"{call.module(text, {'outer': layer.outer, 'inner': layer.inner})}({{0}})", call.x)


@rule(layers.SReLU)
def srelu(layer: Any, call: Call) -> int:
    tensors = {"left": layer.left, "left_slope": layer.left_slope, "width": layer.right}
    sizes = [*map(str, layer.left.shape), *(["capped=True"] if layer.capped else [])]
    text = f"{call.helper(formulas.SReLU)}({', '.join(sizes)})"
    return call.line(f"{call.module(text, {**tensors, 'right_slope': layer.right_slope})}({{0}})", call.x)


# --- dense -----------------------------------------------------------------------------------------------------------


def linear(module: nn.Linear) -> str:
    """The text that makes a linear map of these sizes."""
    return f"nn.Linear({module.in_features}, {module.out_features}{', bias=False' if module.bias is None else ''})"


@rule(layers.Dense, TimeDistributedDense)
def dense(layer: Any, call: Call) -> int:
    path = call.module(linear(layer.linear), layer.linear)
    return call.line(activated(call, layer.activation, f"{path}({{0}})"), call.x)


@rule(Highway)
def highway(layer: Any, call: Call) -> int:
    bias = "" if layer.use_bias else ", bias=False"
    function = as_function(call, layer.activation)
    text = f"{call.helper(formulas.Highway)}({layer.linear.in_features}, {function}{bias})"
    state = {f"{name}.{k}": t for name in ("linear", "carry") for k, t in getattr(layer, name).named_parameters()}
    return call.line(f"{call.module(text, state)}({{0}})", call.x)


@rule(MaxoutDense)
def maxout_dense(layer: Any, call: Call) -> int:
    path = call.module(linear(layer.linear), layer.linear)
    return call.line(f"{path}({{0}}).unflatten(1, ({layer.nb_feature}, {layer.units})).amax(1)", call.x)


# --- embedding and masks ---------------------------------------------------------------------------------------------


@rule(layers.Embedding)
def embedding(layer: Any, call: Call) -> int:
    from_integers = not call.values[0].dtype.is_floating_point and call.values[0].dtype.itemsize >= 4
    integers = call.x if from_integers else call.line("{0}.long()", call.x)
    path = call.module(f"nn.Embedding({layer.input_dim}, {layer.output_dim})", layer.embedding)
    vectors = call.line(f"{path}({{0}})", integers)
    if not layer.dropout:
        return vectors
    text = f"{call.helper(noise_formulas.EmbeddingDropout)}({layer.input_dim}, {layer.dropout})"
    return call.line(f"{call.module(text, suffix='dropout')}({{0}}, {{1}})", vectors, integers)


@mask_rule(layers.Embedding)
def embedding_mask(layer: Any, call: Call) -> int | None:
    return call.line("{0} != 0", call.x, base="mask") if layer.mask_zero else None


@rule(layers.Masking)
def masking(layer: Any, call: Call) -> int:
    mask = call.line(f"({{0}} != {layer.mask_value}).any(-1)", call.x, base="mask")
    call.set_masks(mask)
    return call.line("{0} * {1}.unsqueeze(-1)", call.x, mask)


# --- shapes ----------------------------------------------------------------------------------------------------------


@rule(layers.Flatten)
def flatten(layer: Any, call: Call) -> int:
    ndim = len(call.values[0].shape)
    if layer.data_format == "channels_first" and ndim > 2:
        return call.line(f"{{0}}.permute{(0, *range(2, ndim), 1)}.flatten(1)", call.x)
    return call.line("{0}.flatten(1)", call.x)


@rule(layers.Reshape)
def reshape(layer: Any, call: Call) -> int:
    ndim, sizes = len(call.values[0].shape), tuple(layer.target_shape)
    if ndim == 1:
        return call.line(f"{{0}}.reshape{(-1, *(abs(size) for size in sizes))}", call.x)
    flat = "" if ndim == 2 else ".flatten(1)"
    return call.line(f"{{0}}{flat}" + (f".unflatten(1, {sizes})" if len(sizes) > 1 else ""), call.x)


@rule(layers.Permute)
def permute(layer: Any, call: Call) -> int:
    return call.line(f"{{0}}.permute{(0, *layer.dims)}", call.x)


@rule(layers.RepeatVector)
def repeat_vector(layer: Any, call: Call) -> int:
    return call.line(f"{{0}}.unsqueeze(1).expand(-1, {layer.n}, -1)", call.x)


@rule(layers.ActivityRegularization, layers.Identity)
def unchanged(layer: Any, call: Call) -> list[int]:
    return call.inputs


@rule(layers.Lambda)
def own_function(layer: Any, call: Call) -> list[int]:
    path = call.writer.function(layer.name, layer.function)
    text = f"[{slots(len(call.inputs))}]" if call.several else "{0}"
    for name, value in (layer.arguments or {}).items():
        if not name.isidentifier() or not isinstance(value, (bool, int, float, str, type(None), tuple, list)):
            raise EjectError(f"Lambda {layer.name!r}: eject writes plain arguments alone; found {name!r}: {value!r}.")
        text += f", {name}={value!r}".replace("{", "{{").replace("}", "}}")
    uses = call.inputs
    if layer._takes_mask:
        masks = ["None" if mask is None else f"{{{len(uses) + k}}}" for k, mask in enumerate(call.masks)]
        text += f", mask={'[' + ', '.join(masks) + ']' if call.several else masks[0]}"
        uses = [*uses, *(uses[0] if mask is None else mask for mask in call.masks)]
    if len(call.outputs) == 1:
        return [call.line(f"{path}({text})", *uses)]
    made = [call.new() for _ in call.outputs]
    call.assign(tuple(made), f"{path}({text})", *uses)
    return made


@mask_rule(layers.Lambda)
def own_mask(layer: Any, call: Call) -> int | None:
    if layer.mask is None:
        return None
    if not callable(layer.mask):
        raise EjectError(f"Lambda {layer.name!r}: eject takes a mask that is a function; found {layer.mask!r}.")
    path = call.writer.function(f"{layer.name}_mask", layer.mask)
    uses = [*call.inputs, *(mask for mask in call.masks if mask is not None)]
    texts, place = [], len(call.inputs)
    for mask in call.masks:
        texts.append("None" if mask is None else f"{{{place}}}")
        place += mask is not None
    given = slots(len(call.inputs))
    masks = ", ".join(texts)
    return call.line(
        f"{path}([{given}], [{masks}])" if call.several else f"{path}({given}, {masks})", *uses, base="mask"
    )


# --- merging ---------------------------------------------------------------------------------------------------------


def _spread(call: Call) -> list[int]:
    """The inputs, those of fewer axes with axes of 1 behind the batch axis."""
    rank = max(len(value.shape) for value in call.values)
    found = []
    for value, x in zip(call.values, call.inputs, strict=True):
        lacking = rank - len(value.shape)
        found.append(call.line(f"{{0}}[:{', None' * lacking}]", x) if lacking else x)
    return found


@rule(layers.Add, layers.Subtract, layers.Multiply)
def arithmetic(layer: Any, call: Call) -> int:
    sign = {layers.Add: "+", layers.Subtract: "-", layers.Multiply: "*"}[type(layer)]
    uses = _spread(call)
    return call.line(f" {sign} ".join(f"{{{k}}}" for k in range(len(uses))), *uses)


@rule(layers.Average)
def average(layer: Any, call: Call) -> int:
    uses = _spread(call)
    return call.line(f"({' + '.join(f'{{{k}}}' for k in range(len(uses)))}) / {len(uses)}", *uses)


@rule(layers.Maximum, layers.Minimum)
def extreme(layer: Any, call: Call) -> int:
    name, (found, *others) = "maximum" if type(layer) is layers.Maximum else "minimum", _spread(call)
    for other in others:
        found = call.line(f"torch.{name}({{0}}, {{1}})", found, other)
    return found


@mask_rule(layers.Add, layers.Subtract, layers.Multiply, layers.Average, layers.Maximum, layers.Minimum)
def all_masks(layer: Any, call: Call) -> int | None:
    masks = list(dict.fromkeys(mask for mask in call.masks if mask is not None))
    if len(masks) < 2:
        return masks[0] if masks else None
    return call.line(" & ".join(f"{{{k}}}" for k in range(len(masks))), *masks, base="mask")


@rule(layers.Concatenate)
def concatenate(layer: Any, call: Call) -> int:
    return call.line(f"torch.cat([{slots(len(call.inputs))}], {call.axis})", *call.inputs)


@mask_rule(layers.Concatenate)
def concatenated_masks(layer: Any, call: Call) -> int | None:
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
def dot(layer: Any, call: Call) -> int:
    axes = layer._axes
    uses = call.inputs
    if layer.normalize:
        uses = [call.line(f"F.normalize({{0}}, dim={axis}, eps=1e-6)", x) for x, axis in zip(uses, axes, strict=True)]
    shapes = [value.shape for value in call.values]
    if all(len(shape) == 2 for shape in shapes):
        return call.line("({0} * {1}).sum(-1, keepdim=True)", *uses)
    return call.line(f'torch.einsum("{_dotted(shapes, axes)}", {{0}}, {{1}})', *uses)


@mask_rule(layers.Dot, Cosine)
def no_mask(layer: Any, call: Call) -> None:
    return None


@rule(Cosine)
def cosine(layer: Any, call: Call) -> int:
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
