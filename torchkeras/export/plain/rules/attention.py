"""Attention and einsum."""

from __future__ import annotations

from typing import Any

from torch import nn

from torchkeras import layers
from torchkeras.export.errors import EjectError
from torchkeras.export.plain.call import LayerCall, mask_rule, rule
from torchkeras.export.plain.formulas import attention as formulas
from torchkeras.export.plain.rules.activation import activated
from torchkeras.export.plain.rules.core import linear

MASKS = ("query_mask", "value_mask", "key_mask", "attention_mask")


@rule(layers.EinsumDense)
def einsum_dense(layer: Any, call: LayerCall) -> int:
    return call.line(activated(call, layer.activation, _einsum(layer, call)), call.x)


def _einsum(layer: Any, call: LayerCall, x: str = "{0}", suffix: str = "") -> str:
    """The expression of a dense layer of any axes, without its activation."""
    product = layer.product
    if layer._linear:
        path = call.module(linear(product), product, suffix)
        flat = f"{x}.flatten(-{layer._summed})" if layer._summed > 1 else x
        sizes = tuple(layer._outputs)
        return f"{path}({flat})" + (f".unflatten(-1, {sizes})" if len(sizes) > 1 else "")
    weight = parameter(call, f"{layer.name}_kernel", product.weight)
    text = f'torch.einsum("{layer.equation}", {x}, {weight})'
    if product.bias is None:
        return text
    return f"({text} + {parameter(call, f'{layer.name}_bias', product.bias)})"


def parameter(call: LayerCall, wanted: str, tensor: Any) -> str:
    """`self.name` of a parameter of the module itself."""
    return call.writer.parameter((call.layer, wanted), wanted, tensor)


class Parts:
    """What every kind of attention needs from its call: query, value, key, masks and options."""

    def __init__(self, layer: Any, call: LayerCall):
        given = call.inputs
        query, value, *rest = given
        key, *masks = rest or [value]
        self.query, self.value, self.key = query, value, key
        implicit = dict(zip(MASKS[:3], call.masks, strict=False))
        self.known = {name: mask for name, mask in implicit.items() if mask is not None}
        for name, mask in zip(str(call.argument("masks", "")).split(), masks, strict=True):
            self.known[name] = call.line("{0}.bool()", mask, base="mask")
        self.causal = bool(call.argument("use_causal_mask"))
        self.scores = bool(call.argument("return_attention_scores"))
        self.layer, self.call = layer, call

    def visible(self, hiding: list[int], query: int, key: int) -> int | None:
        """Where a query may attend to a key."""
        call = self.call
        if self.causal:
            hiding = [*hiding, call.line(f"{call.helper(formulas.causal)}({{0}}, {{1}})", query, key, base="mask")]
        if len(hiding) < 2:
            return hiding[0] if hiding else None
        return call.line(" & ".join(f"{{{k}}}" for k in range(len(hiding))), *hiding, base="mask")

    @property
    def rate(self) -> str:
        """The rate of dropout in this call, as an expression; "" for none."""
        if self.layer.dropout and self.layer.seed is not None:
            self.call.note("Random numbers come from torch's own generator: seeds of layers do not count.")
        return f"{self.layer.dropout} if self.training else 0.0" if self.layer.dropout else ""

    def by_torch(self, query: int, key: int, value: int, factor: float | None) -> int:
        """The output by torch's own function, which fits if no mask needs Keras's formula."""
        text = "{0}, {1}, {2}"
        text += f", dropout_p={self.rate}" if self.rate else ""
        text += ", is_causal=True" if self.causal else ""
        text += "" if factor is None else f", scale={factor!r}"
        return self.call.line(f"F.scaled_dot_product_attention({text})", query, key, value)

    def attended(self, scores: int, value: int, visible: int | None, zeros: bool) -> tuple[int, int]:
        """The output and the softmax."""
        call = self.call
        given = "" if visible is None else ", {2}"
        given += ", zeros=True" if zeros and visible is not None else ""
        given += f", dropout={self.rate}" if self.rate else ""
        uses = [scores, value, *([] if visible is None else [visible])]
        output, weights = call.new(), call.new("weights")
        call.assign((output, weights), f"{call.helper(formulas.attend)}({{0}}, {{1}}{given})", *uses)
        return output, weights


def _dot(layer: Any, call: LayerCall, query: int, key: int) -> int:
    """The scores of queries and keys by their products, scaled or not."""
    if layer.scale_of_sum is None:
        return call.line("{0} @ {1}.mT", query, key)
    scale = parameter(call, f"{layer.name}_scale", layer.scale_of_sum)
    return call.line(f"({scale} * {{0}}) @ {{1}}.mT", query, key)


@rule(layers.Attention, layers.AdditiveAttention)
def attention(layer: Any, call: LayerCall) -> list[int]:
    parts = Parts(layer, call)
    query, key = parts.query, parts.key
    plain = layer.score_mode == "dot" and layer.scale_of_sum is None
    if plain and not parts.known and not parts.scores:
        return [parts.by_torch(query, key, parts.value, 1.0)]
    scores = (_dot if layer.score_mode == "dot" else _additive)(layer, call, query, key)
    hiding = []
    if "value_mask" in parts.known:
        hiding.append(call.line("{0}.unsqueeze(-2)", parts.known["value_mask"], base="mask"))
    output, weights = parts.attended(scores, parts.value, parts.visible(hiding, query, key), False)
    mask = parts.known.get("query_mask")
    if mask is not None:
        output = call.line("{0} * {1}.unsqueeze(-1)", output, mask)
    return [output, weights] if parts.scores else [output]


def _additive(layer: Any, call: LayerCall, query: int, key: int) -> int:
    scale, factor = layer.scale_of_tanh, layer.scale_of_sum
    if scale is None and factor is None:
        return call.line("torch.tanh({0}.unsqueeze(-2) + {1}.unsqueeze(-3)).sum(-1)", query, key)
    tensors = {"scale": scale} if scale is not None else {}
    if scale is None:
        raise EjectError(f"{type(layer).__name__} {layer.name!r}: eject knows no scale inside of the tanh alone.")
    sizes = [*map(str, scale.shape), *(["factor=True"] if factor is not None else [])]
    if factor is not None:
        tensors["factor"] = factor
    path = call.module(f"{call.helper(formulas.AdditiveScores)}({', '.join(sizes)})", tensors)
    return call.line(f"{path}({{0}}, {{1}})", query, key)


@mask_rule(layers.Attention, layers.AdditiveAttention, layers.MultiHeadAttention, layers.GroupQueryAttention)
def query_mask(layer: Any, call: LayerCall) -> int | None:
    return call.masks[0]


def _projected(layer: Any, call: LayerCall, name: str, x: int, count: int) -> int:
    """The `count` heads of the query, the key or the value, repeated until there are as many as of the query."""
    split = call.helper(formulas.heads)
    product = getattr(layer, name).product
    if not isinstance(product, nn.Linear):
        raise EjectError(f"{type(layer).__name__} {layer.name!r}: eject knows linear projections alone.")
    path = call.module(linear(product), product, name)
    inputs = _positions(layer, call, x, len(call.values[0].shape))
    text = f"{split}({path}({{0}}), {count})"
    if count != layer._sizes()[0]:
        text += f".repeat_interleave({layer._groups}, -3)"
    return call.line(text, inputs, base=name)


@rule(layers.MultiHeadAttention, layers.GroupQueryAttention)
def heads(layer: Any, call: LayerCall) -> list[int]:
    parts = Parts(layer, call)
    ndim = len(call.values[0].shape)
    count = layer._sizes()[0]
    query = _projected(layer, call, "query", parts.query, count)
    key = _projected(layer, call, "key", parts.key, count // layer._groups)
    value = _projected(layer, call, "value", parts.value, count // layer._groups)
    hiding, weights = _hiding(layer, parts, call), None
    if not (hiding or parts.scores):
        usual = abs(layer._factor - key_features(layer) ** -0.5) < 1e-12
        output = parts.by_torch(query, key, value, None if usual else layer._factor)
    else:
        visible = parts.visible(hiding, query, key)
        scores = call.line(f"{{0}} @ {{1}}.mT * {layer._factor!r}", query, key)
        zeros = parts.scores or layer.dropout > 0 or ndim > 3
        output, weights = parts.attended(scores, value, visible, zeros)
    joined = call.line("{0}.transpose(-2, -3).flatten(-2)", output)
    product = layer.attention_output.product
    text = f"{call.module(linear(product), product, 'output')}({{0}})"
    sizes = tuple(layer.attention_output._outputs)
    output = call.line(text + (f".unflatten(-1, {sizes})" if len(sizes) > 1 else ""), joined)
    if ndim > 3:
        output = _in_place(layer, call, output, parts.query)
    return [output] if weights is None or not parts.scores else [output, _shaped(layer, call, weights, parts, ndim)]


def key_features(layer: Any) -> int:
    """The features of a head's query and key."""
    return layer._sizes()[2]


def _positions(layer: Any, call: LayerCall, x: int, ndim: int) -> int:
    """Merge the axes of attention into one, before the features."""
    if ndim == 3:
        return x
    moved = "" if layer._axes == layer._last else f".movedim({layer._axes}, {layer._last})"
    return call.line(f"{{0}}{moved}.flatten({layer._last[0]}, -2)", x)


def _in_place(layer: Any, call: LayerCall, output: int, query: int) -> int:
    sizes = ", ".join(f"{{1}}.shape[{axis}]" for axis in layer._axes)
    moved = "" if layer._axes == layer._last else f".movedim({layer._last}, {layer._axes})"
    return call.line(
        f"{{0}}.unflatten({layer._last[0]}, ({sizes}{',' * (len(layer._axes) == 1)})){moved}", output, query
    )


def _shaped(layer: Any, call: LayerCall, weights: int, parts: Parts, ndim: int) -> int:
    """The softmax, with its axes of attention separated again."""
    if ndim == 3:
        return weights
    count = len(layer._axes)
    texts = [", ".join(f"{{{k}}}.shape[{axis}]" for axis in layer._axes) + "," * (count == 1) for k in (1, 2)]
    return call.line(
        f"{{0}}.unflatten(-1, ({texts[1]})).unflatten({-1 - count}, ({texts[0]}))", weights, parts.query, parts.key
    )


def _hiding(layer: Any, parts: Parts, call: LayerCall) -> list[int]:
    """Masks that end in (heads, queries, keys)."""
    count, leading = len(layer._axes), layer._last[0] + 3
    found = []
    for name in MASKS:
        if name not in parts.known:
            continue
        mask = parts.known[name]
        if name == "attention_mask":
            ndim = _ndim_of_mask(call)
            flat = f".flatten(-{count}).flatten(-{count + 1}, -2)" if count > 1 else ""
            ndim -= 2 * (count - 1)
            lacking = leading - ndim
        else:
            flat, lacking = f".unsqueeze({-1 if name == 'query_mask' else -2})", leading - 3
        index = f"[..., {', '.join(['None'] * lacking)}, :, :]" if lacking else ""
        if lacking == 1:
            flat, index = (flat, ".unsqueeze(-3)")
        found.append(call.line(f"{{0}}{flat}{index}", mask, base="mask"))
    return found


def _ndim_of_mask(call: LayerCall) -> int:
    """The axes of the attention mask, the last of the inputs."""
    return len(call.values[-1].shape)
