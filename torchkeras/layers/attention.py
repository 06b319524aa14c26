"""Attention: with one score for each pair of positions, or by several heads.

All layers take `[query, value]` or `[query, value, key]`; without a key the value is the key too. Masks that are given
as tensors join the list behind the three, and `masks`, an argument of the call, names them: so that a graph has them
like other inputs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from string import ascii_lowercase
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras import initializers
from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.input_spec import InputSpec
from torchkeras.engine.layer.options import (
    Called,
    Fraction,
    OptionalPositive,
    Positive,
    integers,
    one_of,
    optional,
    rule,
)
from torchkeras.engine.layer.symbolic import Shape, as_list
from torchkeras.engine.layer.weight import is_wrapper, weight
from torchkeras.layers.core import KernelLayer
from torchkeras.layers.einsum import EinsumDense
from torchkeras.layers.noise import Dropout
from torchkeras.layers.random import Seeded

MASKS = ("query_mask", "value_mask", "key_mask", "attention_mask")
MOST_JOINED = 2**16  # weights of projections that are computed as one
Known = Mapping[str, Tensor]  # the masks of a call by their names, True where there is something to attend to


class Attending(Seeded, abstract=True):
    """What the layers share: how inputs and masks come in, `softmax(scores) @ value`, and which mask goes on."""

    dropout: Fraction = 0.0

    supports_masking = True
    score_mode: ClassVar[str] = "dot"
    _by_heads: ClassVar[bool] = False
    drop: Dropout
    _factor: float = 1.0  # of the scores
    _axes: tuple[int, ...] = (-2,)  # those that attention runs along

    def __call__(self, query: Any, value: Any = None, key: Any = None, **arguments: Any) -> Any:
        sources = [tensor for tensor in (*as_list(query), value, key) if tensor is not None]
        masks = {name: arguments.pop(name, None) for name in MASKS}
        given = {name: mask for name, mask in masks.items() if mask is not None}
        if given:
            query, value, *rest = sources
            sources = [query, value, *(rest or [value]), *given.values()]
            arguments["masks"] = " ".join(given)
        return super().__call__(sources, **arguments)

    def _source_shapes(self, input_shape: Any) -> list[Shape]:
        """Those of the query, the value and the key."""
        if not isinstance(input_shape, list) or len(input_shape) < 2:
            raise ValueError(f"inputs must be [query, value] or [query, value, key]; found shape {input_shape}.")
        return [*input_shape, input_shape[1]][:3]

    def forward(
        self,
        inputs: Any,
        mask: Any = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
        masks: str = "",
    ) -> Any:
        options = training, return_attention_scores, use_causal_mask, masks
        return self._attend(self._parts, inputs, mask, *options)

    def _attend(
        self,
        parts_of: Callable[[Tensor, Tensor, Tensor], Sequence[Tensor]],
        inputs: Any,
        mask: Any = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
        masks: str = "",
    ) -> Any:
        """`forward`, with what makes the parts of query, key and value."""
        query, value, *rest = inputs
        key, *given = rest or [value]
        named = (*zip(MASKS[:3], as_list(mask), strict=False), *zip(masks.split(), given, strict=True))
        known = {name: tensor.bool() for name, tensor in named if tensor is not None}
        drops = self.dropout > 0 and (self.training if training is None else training)
        by_kernel = self.score_mode == "dot" and not (return_attention_scores or (drops and self.seed is not None))

        hiding = self._hiding(known, use_causal_mask)
        q, k, v = parts_of(query, key, value)
        causal_only = by_kernel and use_causal_mask and not hiding  # the kernel makes such a mask by itself
        if use_causal_mask and not causal_only:
            hiding.append(torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril())
        visible = reduce(torch.logical_and, hiding) if hiding else None
        # As in Keras: where a query sees nothing, heads give zeros in these cases, and else the mean of all values.
        zeros = self._by_heads and (return_attention_scores or self.dropout > 0 or query.dim() > 3)
        lowest = torch.finfo(q.dtype).min / 2
        if by_kernel:
            if visible is not None and not zeros:
                visible = (~visible).to(q.dtype) * lowest  # added to the scores
            rate = self.dropout if drops else 0.0
            attended = F.scaled_dot_product_attention(q, k, v, visible, rate, causal_only, scale=self._factor)
            return self._output(attended, query, known)
        scores = self._scores(q * self._factor, k)
        weights = (scores if visible is None else scores.masked_fill(~visible, lowest)).softmax(-1)
        if visible is not None and zeros:
            weights = weights * visible
        output = self._output(self.drop._call_module(weights, training=drops) @ v, query, known)
        if not return_attention_scores:
            return output
        queries, keys = ([x.shape[axis] for axis in self._axes] for x in (query, key))
        return [output, weights.unflatten(-1, keys).unflatten(-1 - len(keys), queries)]

    def _hiding(self, known: Known, causal: bool) -> list[Tensor]:
        """Masks that end in (queries, keys), True where a query may attend to a key."""
        return [known["value_mask"].unsqueeze(-2)] if "value_mask" in known else []

    def _parts(self, query: Tensor, key: Tensor, value: Tensor) -> Sequence[Tensor]:
        """What to attend with: (..., queries, features), (..., keys, features), (..., keys, values)."""
        return query, key, value

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        return query @ key.mT

    def _output(self, attended: Tensor, query: Tensor, known: Known) -> Tensor:
        mask = known.get("query_mask")
        return attended if mask is None else torch.where(mask.unsqueeze(-1), attended, 0.0)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None if mask is None else mask[0]


class Attention(Attending):
    """`softmax(query @ key.T) @ value`.

    `use_scale`: the scores are multiplied by a weight, `scale`. `score_mode="concat"`: they are
    `concat_score_weight * sum(tanh(scale * (query + key)))`. In training, `dropout` drops a share of the softmax.
    The call takes `mask=[query_mask, value_mask]`: what the value's hides is not attended to, what the query's hides is
    zero in the output. `use_causal_mask`: no position attends to a later one. `return_attention_scores`: the softmax
    is a second output.

    Shape: [(batch, queries, features), (batch, keys, values), (batch, keys, features)] -> (batch, queries, values), and
    (batch, queries, keys) for the scores. Source: https://arxiv.org/abs/1508.04025
    """

    use_scale: bool = False
    score_mode: Annotated[Any, one_of("dot", "concat")] = "dot"
    dropout: Fraction = 0.0

    scale = weight("scale_of_sum", when="use_scale")
    concat_score_weight = weight("scale_of_tanh", when="_concatenates")
    scale_initializer: ClassVar[Any] = initializers.Ones()
    concat_score_weight_initializer: ClassVar[Any] = initializers.Ones()
    scale_of_sum: Tensor | None
    scale_of_tanh: Tensor | None

    @property
    def _concatenates(self) -> bool:
        return self.score_mode == "concat"

    def _make_modules(self, input_shape: Any) -> None:
        self._source_shapes(input_shape)
        self.scale_of_sum = nn.Parameter(torch.empty(())) if self.use_scale else None
        self.scale_of_tanh = nn.Parameter(torch.empty(())) if self._concatenates else None
        self.drop = Dropout(self.dropout, seed=self.seed)

    def __call__(self, inputs: Any, mask: Any = None, **arguments: Any) -> Any:
        given = dict(zip(MASKS[:2], as_list(mask), strict=False))
        return super().__call__(inputs, **given, **arguments)

    def _parts(self, query: Tensor, key: Tensor, value: Tensor) -> Sequence[Tensor]:
        if self.scale_of_sum is None:
            return query, key, value
        return query * self.scale_of_sum, key * self.scale_of_sum if self._concatenates else key, value

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        if self.score_mode == "dot":
            return super()._scores(query, key)
        sums = (query.unsqueeze(-2) + key.unsqueeze(-3)).tanh()
        return (sums if self.scale_of_tanh is None else sums * self.scale_of_tanh).sum(-1)


class AdditiveAttention(Attention):
    """`softmax(sum(scale * tanh(query + key))) @ value`, the sum over the features, each with a `scale` of its own.

    Without `use_scale` the scale is 1. Masks, `dropout` and the call are as for Attention.

    Shape: [(batch, queries, features), (batch, keys, values), (batch, keys, features)] -> (batch, queries, values), and
    (batch, queries, keys) for the scores. Source: https://arxiv.org/abs/1409.0473
    """

    use_scale: bool = True
    score_mode: ClassVar[str] = "additive"

    scale = weight("scale_of_tanh", when="use_scale")

    def _initializer_of(self, option: str) -> Any:
        features = self.scale_of_tanh.numel()  # type: ignore[union-attr]
        return initializers.glorot_uniform().with_fans(features, features)

    def _make_modules(self, input_shape: Any) -> None:
        super()._make_modules(input_shape)
        query = input_shape[0]
        self._expected_ndim = len(query)  # with it, only the query is asked for its features
        self.scale_of_sum = None
        self.scale_of_tanh = nn.Parameter(torch.empty(self._known_size(query, -1))) if self.use_scale else None


MustBeNone = Annotated[Any, rule("must be None", lambda v: v is None, takes="None")]
OutputSizes = Annotated[
    Any,
    optional(integers("must be a positive integer, a list of them or None", lambda v: len(v) > 0 and min(v) > 0)),
    Called("output_shape"),
]
AttentionAxes = Annotated[
    Any, optional(integers("must be an axis, a list of different ones or None", lambda v: 0 < len(v) == len(set(v))))
]


class Heads(Attending, KernelLayer, abstract=True):
    """Attention by several heads, each of which sees the inputs through projections of its own."""

    dropout: Fraction = 0.0
    use_bias: bool = True
    sliding_window: MustBeNone = None
    flash_attention: MustBeNone = None
    use_gate: Annotated[Any, rule("must be False", lambda v: not v, takes="Literal[False]")] = False

    _by_heads = True
    partial_output_shape: ClassVar[Any] = None
    attention_axes: ClassVar[Any] = None

    def _sizes(self) -> tuple[int, int, int, int]:
        """Heads of the query, heads of key and value, features of a key and of a value."""
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        query, value, key = shapes = self._source_shapes(input_shape)
        ndim = len(query)
        if self.activity_regularizer is not None:
            raise ValueError("activity_regularizer must be None.")
        if value[1:-1] != key[1:-1]:
            raise ValueError(f"value and key must differ in the last axis only; found {value} and {key}.")
        self._axes = tuple(axis + ndim * (axis < 0) for axis in self.attention_axes or range(1, ndim - 1))
        if not all(0 < axis < ndim - 1 for axis in self._axes):
            raise ValueError(f"attention_axes {self.attention_axes} must lie between the first and the last of {ndim}.")
        self._last = tuple(range(ndim - 1 - len(self._axes), ndim - 1))
        self.input_spec = [InputSpec(ndim=ndim, axes={-1: shape[-1]}) for shape in shapes]

        query_heads, heads, key_features, features = self._sizes()
        self._factor, self._groups = key_features**-0.5, query_heads // heads
        self.query = self._projection("query", query, (query_heads, key_features))
        self.key = self._projection("key", key, (heads, key_features))
        self.value = self._projection("value", value, (heads, features))
        output = self.partial_output_shape or query[-1:]
        self.attention_output = self._projection("attention_output", (*query[:-1], query_heads, features), output, 2)
        self.drop = Dropout(self.dropout, seed=self.seed)
        self.built = True

    def _projection(self, name: str, input_shape: Shape, sizes: Sequence[Any], summed: int = 1) -> EinsumDense:
        """A dense layer from the last axes, `summed` of them, to new ones of these sizes."""
        taken, given = "xy"[:summed], ascii_lowercase[: len(sizes)]
        dense = EinsumDense(
            f"...{taken},{taken}{given}->...{given}",
            sizes,
            bias_axes=given if self.use_bias else None,
            name=f"{self.name}/{name}",
            dtype=self.dtype_policy,
            **{option: getattr(self, option) for option in KernelLayer._options},
        )
        dense._build([input_shape])
        return dense

    def _hiding(self, known: Known, causal: bool) -> list[Tensor]:
        count = len(self._axes)
        if count > 1 and (causal or known.keys() - {"attention_mask"}):
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: along several axes only attention_mask can hide anything; "
                f"found {count} attention axes with another mask or use_causal_mask."
            )
        found = [known[name].unsqueeze(-1 if name == "query_mask" else -2) for name in MASKS[:3] if name in known]
        found += [known[name].flatten(-count).flatten(-count - 1, -2) for name in MASKS[3:] if name in known]
        lacking = [[None] * (self._last[0] + 3 - mask.dim()) for mask in found]  # axes behind the batch
        return [mask[(..., *axes, slice(None), slice(None))] for mask, axes in zip(found, lacking, strict=True)]

    def _parts(self, query: Tensor, key: Tensor, value: Tensor) -> Sequence[Tensor]:
        """(batch, ..., heads, positions, features) of each, a position being one along all axes of attention."""
        parts = []
        for dense, inputs, groups in (
            (self.query, query, 1),
            (self.key, key, self._groups),
            (self.value, value, self._groups),
        ):
            heads = dense._call_module(self._positions(inputs)).transpose(-2, -3)
            parts.append(heads if groups == 1 else heads.repeat_interleave(groups, -3))
        return parts

    def _positions(self, inputs: Tensor) -> Tensor:
        """The axes of attention as one, before the features."""
        if inputs.dim() == 3:
            return inputs
        return inputs.movedim(self._axes, self._last).flatten(self._last[0], -2)

    class _Facts(Facts):
        def direct(self) -> Callable[..., Any]:
            return self.layer._at_once() or self.layer.forward

    def _at_once(self) -> Callable[..., Any] | None:
        """By one product for query, key and value where these are the same, and their kernels small to be joined."""
        inside = [dense._modules for dense in (self.query, self.key, self.value)]
        products: Any = [modules["product"] for modules in inside]
        plain = [product for product in products if type(product) is nn.Linear and not is_wrapper(product.weight)]
        sizes = [product.out_features for product in plain]
        if len(sizes) < 3 or self._groups > 1 or sum(p.weight.numel() for p in products) > MOST_JOINED:
            return None
        heads = self._sizes()[0]

        def joined(query: Tensor, key: Tensor, value: Tensor) -> Sequence[Tensor]:
            if not (query is key is value):
                return self._parts(query, key, value)
            held: Any = [modules["product"]._parameters for modules in inside]  # type: ignore[union-attr]
            bias = torch.cat([each["bias"] for each in held]) if self.use_bias else None
            found = F.linear(self._positions(query), torch.cat([each["weight"] for each in held]), bias)
            return [part.view(*part.shape[:-1], heads, -1).transpose(-2, -3) for part in found.split(sizes, -1)]

        return partial(self._attend, joined)

    def _output(self, attended: Tensor, query: Tensor, known: Known) -> Tensor:
        output = self.attention_output._call_module(attended.transpose(-2, -3))
        if query.dim() == 3:
            return output
        sizes = [query.shape[axis] for axis in self._axes]
        return output.unflatten(self._last[0], sizes).movedim(self._last, self._axes)


class MultiHeadAttention(Heads):
    """`concat(head_1, ..., head_n) @ attention_output`, where a head is `softmax(q @ k.T / sqrt(key_dim)) @ v`.

    q, k and v are the query, the key and the value by projections of the head to `key_dim`, `key_dim` and `value_dim`
    features. The call is `layer(query, value, key, query_mask=, value_mask=, key_mask=, attention_mask=)`; a mask is
    True where there is something to attend to, `attention_mask` for each query and key. `use_causal_mask`: no position
    attends to a later one. `return_attention_scores`: the softmax is a second output. `attention_axes`: the axes to
    attend along, by default all between the first and the last; the others are like the batch. `output_shape`: the last
    axes of the output, by default the query's last. In training, `dropout` drops a share of the softmax.
    Keras 3's `sliding_window`, `flash_attention` and `use_gate` are taken as they are by default only, and so is
    `activity_regularizer`: torch chooses its kernel by itself.

    Shape: [(batch, queries, features), (batch, keys, any), (batch, keys, any)] -> (batch, queries, features), and
    (batch, heads, queries, keys) for the scores. Source: https://arxiv.org/abs/1706.03762
    """

    num_heads: Positive
    key_dim: Positive
    value_dim: OptionalPositive = None
    dropout: Fraction = 0.0
    use_bias: bool = True
    partial_output_shape: OutputSizes = None
    attention_axes: AttentionAxes = None

    input_spec = InputSpec(min_ndim=3)

    def _sizes(self) -> tuple[int, int, int, int]:
        return self.num_heads, self.num_heads, self.key_dim, self.value_dim or self.key_dim


class GroupQueryAttention(Heads):
    """MultiHeadAttention whose heads share keys and values: `num_query_heads / num_key_value_heads` heads each.

    `head_dim`: the features of a head's query, key and value. The other options and the call are as for
    MultiHeadAttention.

    Shape: [(batch, queries, features), (batch, keys, any), (batch, keys, any)] -> (batch, queries, features), and
    (batch, num_query_heads, queries, keys) for the scores. Source: https://arxiv.org/abs/2305.13245
    """

    head_dim: Positive
    num_query_heads: Positive
    num_key_value_heads: Positive

    class _Facts(Facts):
        input_ndim = 3

    def _sizes(self) -> tuple[int, int, int, int]:
        heads, shared = self.num_query_heads, self.num_key_value_heads
        if heads % shared:
            raise ValueError(f"num_query_heads must be a multiple of num_key_value_heads; found {heads} and {shared}.")
        return heads, shared, self.head_dim, self.head_dim
