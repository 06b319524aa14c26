"""Attention: with one score for each pair of positions, or by several heads.

All layers take `[query, value]` or `[query, value, key]`; without a key the value is the key too. Masks that are given
as tensors join the list behind the three, and `masks`, an argument of the call, names them: so that a graph has them
like other inputs.
"""

from collections.abc import Mapping, Sequence
from string import ascii_letters
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras import initializers
from torchkeras.engine.options import (
    Called,
    Fraction,
    OptionalPositive,
    Positive,
    Rule,
    integers,
    one_of,
    optional,
    rule,
)
from torchkeras.engine.symbol import Shape, as_list
from torchkeras.engine.weight import weight
from torchkeras.layers.core import KernelLayer
from torchkeras.layers.einsum import EinsumDense
from torchkeras.layers.noise import Dropout
from torchkeras.layers.random import Seeded

MASKS = ("query_mask", "value_mask", "key_mask", "attention_mask")


class Attending(Seeded, abstract=True):
    """What the layers share: how inputs and masks come in, and that the query's mask goes out."""

    supports_masking = True

    def _call_on_list(self, sources: Any, masks: Mapping[str, Any], arguments: dict[str, Any]) -> Any:
        given = {name: mask for name, mask in masks.items() if mask is not None}
        if given:
            query, value, *key = sources
            sources = [query, value, *(key or [value]), *given.values()]
            arguments = {**arguments, "masks": " ".join(given)}
        return super().__call__(sources, **arguments)

    def _source_shapes(self, input_shape: Any) -> tuple[Shape, Shape, Shape]:
        """Those of the query, the value and the key."""
        if not isinstance(input_shape, list) or len(input_shape) < 2:
            raise ValueError(f"inputs must be [query, value] or [query, value, key]; found shape {input_shape}.")
        query, value, *rest = input_shape
        return query, value, rest[0] if rest else value

    def _check_inputs(self, input_shapes: list[Shape]) -> None:
        super()._check_inputs(input_shapes[:1])  # the others have other shapes

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None if mask is None else mask[0]


def _parted(inputs: list[Tensor], mask: Any, masks: str) -> tuple[Tensor, Tensor, Tensor, dict[str, Tensor]]:
    """Query, value and key, and the masks by their names."""
    query, value, *rest = inputs
    key, *given = rest or [value]
    known = {**dict(zip(MASKS[:3], as_list(mask), strict=False)), **dict(zip(masks.split(), given, strict=True))}
    return query, value, key, {name: tensor.bool() for name, tensor in known.items() if tensor is not None}


def _causal(queries: int, keys: int, device: torch.device) -> Tensor:
    """True where the key does not come after the query."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril()


def _added(visible: Tensor, dtype: torch.dtype, hidden: float) -> Tensor:
    """A mask as what is added to the scores: 0, or `hidden`."""
    return torch.zeros_like(visible, dtype=dtype).masked_fill(~visible, hidden)


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

    scale = weight("score_scale", when="use_scale")
    concat_score_weight = weight("score_weight", when="_concatenates")
    scale_initializer: ClassVar[Any] = initializers.Ones()
    concat_score_weight_initializer: ClassVar[Any] = initializers.Ones()

    @property
    def _concatenates(self) -> bool:
        return self.score_mode == "concat"

    def make(self, input_shape: Any) -> None:
        query, _, _ = self._source_shapes(input_shape)
        self.score_scale = nn.Parameter(torch.empty(self._scale_sizes(query))) if self.use_scale else None
        self.score_weight = nn.Parameter(torch.empty(())) if self._concatenates else None
        self.drop = Dropout(self.dropout, seed=self.seed)

    def _scale_sizes(self, query: Shape) -> tuple[int, ...]:
        return ()

    def __call__(self, inputs: Any, mask: Any = None, **arguments: Any) -> Any:
        if "masks" in arguments:
            return super().__call__(inputs, mask=mask, **arguments)
        return self._call_on_list(inputs, dict(zip(MASKS[:2], as_list(mask), strict=False)), arguments)

    def forward(
        self,
        inputs: Any,
        mask: Any = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
        masks: str = "",
    ) -> Any:
        query, value, key, known = _parted(inputs, mask, masks)
        drops = self.dropout > 0 and (self.training if training is None else training)
        by_kernel = self.score_mode == "dot" and not (drops or return_attention_scores)
        visible = known["value_mask"].unsqueeze(-2) if "value_mask" in known else None
        if use_causal_mask and not (by_kernel and visible is None):
            causal = _causal(query.shape[-2], key.shape[-2], query.device)
            visible = causal if visible is None else visible & causal
        hidden = -65504.0 if query.dtype == torch.float16 else -1e9
        added = None if visible is None else _added(visible, query.dtype, hidden)
        if by_kernel:
            scaled = query if self.score_scale is None else query * self.score_scale
            causal_only = use_causal_mask and added is None
            weights, output = (
                None,
                F.scaled_dot_product_attention(scaled, key, value, added, 0.0, causal_only, scale=1.0),
            )
        else:
            scores = self._scores(query, key)
            weights = self.drop.run((scores if added is None else scores + added).softmax(-1), training=drops)
            output = weights @ value
        if "query_mask" in known:
            output = torch.where(known["query_mask"].unsqueeze(-1), output, 0.0)
        return [output, weights] if return_attention_scores else output

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        scale = 1.0 if self.score_scale is None else self.score_scale
        if self.score_weight is None:
            return query @ key.mT * scale
        return self.score_weight * (scale * (query.unsqueeze(-2) + key.unsqueeze(-3))).tanh().sum(-1)


class AdditiveAttention(Attention):
    """`softmax(sum(scale * tanh(query + key))) @ value`, the sum over the features, each with a `scale` of its own.

    Without `use_scale` the scale is 1. Masks, `dropout` and the call are as for Attention.

    Shape: [(batch, queries, features), (batch, keys, values), (batch, keys, features)] -> (batch, queries, values), and
    (batch, queries, keys) for the scores. Source: https://arxiv.org/abs/1409.0473
    """

    use_scale: bool = True
    score_mode: ClassVar[str] = "additive"
    dropout: Fraction = 0.0

    def initializer_of(self, option: str) -> Any:
        features = self.score_scale.numel()  # type: ignore[union-attr]
        return initializers.glorot_uniform().with_fans(features, features)

    def _scale_sizes(self, query: Shape) -> tuple[int, ...]:
        return (self.known(query, -1),)

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        summed = (query.unsqueeze(-2) + key.unsqueeze(-3)).tanh()
        return summed.sum(-1) if self.score_scale is None else summed @ self.score_scale


KernelChoice = Annotated[Any, rule("must be None: torch chooses its kernel by itself", lambda v: v is None)]
OutputSizes = Annotated[
    Any,
    optional(
        Rule(
            integers("must be a positive integer, a list of them or None", lambda v: len(v) > 0 and min(v) > 0).read,
            list,
        )
    ),
    Called("output_shape"),
]
AttentionAxes = Annotated[
    Any, optional(integers("must be an axis, a list of different ones or None", lambda v: 0 < len(v) == len(set(v))))
]


class Gated(Seeded, abstract=True):
    """An option that comes late, before `seed`."""

    use_gate: bool = False


class Heads(Attending, KernelLayer, Gated, abstract=True):
    """Attention by several heads, each of which sees the inputs through projections of its own."""

    _declares_options = True

    dropout: Fraction = 0.0
    use_bias: bool = True
    sliding_window: OptionalPositive = None
    flash_attention: KernelChoice = None

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if self.activity_regularizer is not None:
            raise ValueError(f"{type(self).__name__} {self.name!r}: activity_regularizer must be None.")

    def _sizes(self, query: Shape) -> tuple[int, int, int, int, Sequence[int]]:
        """Heads of the query, heads of key and value, features of a key and of a value, sizes of the output."""
        raise NotImplementedError

    def _axes_of(self, ndim: int) -> list[int]:
        """The axes that attention runs along."""
        return [1]

    # --- making ------------------------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        query, value, key = self._source_shapes(input_shape)
        if value[1:-1] != key[1:-1]:
            raise ValueError(f"value and key must differ in the last axis only; found {value} and {key}.")
        query_heads, heads, key_features, features, output = self._sizes(query)
        self._axes = self._axes_of(len(query))
        self.query = self._projection("query", query, (query_heads, key_features))
        self.key = self._projection("key", key, (heads, key_features))
        if self.use_gate:
            self.gate = self._projection("gate", query, (query_heads, features), activation="sigmoid")
        self.value = self._projection("value", value, (heads, features))
        taken = (*query[:-1], query_heads, features)
        self.attention_output = self._projection("attention_output", taken, output, summed=2)
        self.drop = Dropout(self.dropout, seed=self.seed)
        self.built = True

    def _projection(
        self, name: str, input_shape: Shape, sizes: Sequence[int], summed: int = 1, activation: Any = None
    ) -> EinsumDense:
        """A dense layer from the last axes, `summed` of them, to new ones of these sizes."""
        taken, given = ascii_letters[:summed], ascii_letters[summed : summed + len(sizes)]
        shared = {option: getattr(self, option) for option in KernelLayer._options if option != "activity_regularizer"}
        dense = EinsumDense(
            f"...{taken},{taken}{given}->...{given}",
            sizes,
            activation,
            given if self.use_bias else None,
            name=f"{self.name}/{name}",
            dtype=self._dtype,
            **shared,
        )
        dense._build([input_shape])
        return dense

    def _check_inputs(self, input_shapes: list[Shape]) -> None:
        super()._check_inputs(input_shapes)
        if self.built:
            shapes = self._source_shapes(input_shapes)
            for dense, shape in zip((self.query, self.value, self.key), shapes, strict=True):
                dense._check_inputs([shape])

    # --- computing ---------------------------------------------------------------------------------------------------

    def __call__(
        self,
        query: Any,
        value: Any = None,
        key: Any = None,
        query_mask: Any = None,
        value_mask: Any = None,
        key_mask: Any = None,
        attention_mask: Any = None,
        **arguments: Any,
    ) -> Any:
        sources = [tensor for tensor in (*as_list(query), value, key) if tensor is not None]
        masks: dict[str, Any] = dict(zip(MASKS, (query_mask, value_mask, key_mask, attention_mask), strict=True))
        return self._call_on_list(sources, masks, arguments)

    def forward(
        self,
        inputs: Any,
        mask: Any = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
        masks: str = "",
    ) -> Any:
        query, value, key, known = _parted(inputs, mask, masks)
        drops = self.dropout > 0 and (self.training if training is None else training)
        by_kernel = not (return_attention_scores or (drops and self.seed is not None))
        alone = by_kernel and not (known or self.sliding_window) and len(self._axes) == 1
        causal_only = use_causal_mask and alone  # the kernel makes such a mask by itself
        visible = self._visible(query, key, known, use_causal_mask and not causal_only)
        projected = (self.query.run(query), self.key.run(key), self.value.run(value))
        q, k, v = map(self._arranged, projected)
        weights = None if by_kernel else self._softmax(q, k, visible)
        if weights is None:
            attended = self._by_kernel(q, k, v, visible, causal_only, drops)
        else:
            attended = self.drop.run(weights, training=drops) @ _repeated(v, weights)
        heads = self._restored(attended, query.shape)
        output = self.attention_output.run(heads * self.gate.run(query) if self.use_gate else heads)
        if weights is None or not return_attention_scores:
            return output
        return [output, self._spread(weights, query, key)]

    def _by_kernel(
        self, query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None, causal: bool, drops: bool
    ) -> Tensor:
        if visible is not None and self.dropout == 0 and query.dim() == 4:
            # As in Keras, which adds to the scores here: a query that sees nothing gets the mean of all values. Where
            # it has dropout, more axes or the scores to give, such a query gets zeros; so it does by a boolean mask.
            visible = _added(visible, query.dtype, torch.finfo(query.dtype).min / 2)
        return F.scaled_dot_product_attention(
            query,
            key,
            value,
            visible,
            self.dropout if drops else 0.0,
            causal,
            scale=query.shape[-1] ** -0.5,
            enable_gqa=query.shape[-3] != key.shape[-3],
        )

    def _softmax(self, query: Tensor, key: Tensor, visible: Tensor | None) -> Tensor:
        """(..., heads, queries, keys): how much a query attends to a key."""
        scores = query * query.shape[-1] ** -0.5 @ _repeated(key, query).mT
        if visible is None:
            return scores.softmax(-1)
        return torch.where(visible, scores.masked_fill(~visible, torch.finfo(scores.dtype).min).softmax(-1), 0.0)

    def _arranged(self, projected: Tensor) -> Tensor:
        """(batch, ..., heads, features) -> (batch, ..., heads, positions, features)."""
        order = self._order(projected.dim())
        return projected.permute(order).flatten(-len(self._axes) - 1, -2)

    def _restored(self, attended: Tensor, query_shape: Sequence[int]) -> Tensor:
        """(batch, ..., heads, positions, features) -> (batch, ..., heads, features)."""
        unfolded = attended.unflatten(-2, [query_shape[axis] for axis in self._axes])
        order = self._order(unfolded.dim())
        return unfolded.permute([order.index(axis) for axis in range(unfolded.dim())])

    def _order(self, ndim: int) -> list[int]:
        kept = [axis for axis in range(ndim - 2) if axis not in self._axes]
        return [*kept, ndim - 2, *self._axes, ndim - 1]

    def _spread(self, weights: Tensor, query: Tensor, key: Tensor) -> Tensor:
        """(..., queries, keys) with the axes that they come from."""
        queries, keys = ([x.shape[axis] for axis in self._axes] for x in (query, key))
        return weights.unflatten(-1, keys).unflatten(-1 - len(keys), queries)

    def _visible(self, query: Tensor, key: Tensor, known: Mapping[str, Tensor], causal: bool) -> Tensor | None:
        """All masks in one, that has as many axes as the scores; True where a query may attend to a key."""
        queries, keys = ([x.shape[axis] for axis in self._axes] for x in (query, key))
        found = [known[name].unsqueeze(-1 if name == "query_mask" else -2) for name in MASKS[:3] if name in known]
        if causal:
            found.append(_causal(queries[0], keys[0], query.device))
        if self.sliding_window is not None:
            places = [torch.arange(sizes[0], device=query.device) for sizes in (queries, keys)]
            found.append((places[0].unsqueeze(-1) - places[1]).abs() < self.sliding_window)
        count = len(queries)
        if found and count > 1:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: along several axes only attention_mask can hide anything; "
                f"found {count} attention axes with another mask, use_causal_mask or sliding_window."
            )
        found += [known[name] for name in MASKS[3:] if name in known]
        visible = None
        for mask in found:
            between = [1] * (query.dim() + count - mask.dim())
            wide = mask.reshape(*mask.shape[: -2 * count], *between, *mask.shape[-2 * count :])
            visible = wide if visible is None else visible & wide
        if visible is None or count == 1:
            return visible
        return (
            visible.expand(*[-1] * (visible.dim() - 2 * count), *queries, *keys).flatten(-count).flatten(-count - 1, -2)
        )


def _repeated(heads: Tensor, like: Tensor) -> Tensor:
    """Each head as often as there are heads of the query for it."""
    groups = like.shape[-3] // heads.shape[-3]
    return heads if groups == 1 else heads.repeat_interleave(groups, -3)


class MultiHeadAttention(Heads):
    """`concat(head_1, ..., head_n) @ attention_output`, where a head is `softmax(q @ k.T / sqrt(key_dim)) @ v`.

    q, k and v are the query, the key and the value by projections of the head to `key_dim`, `key_dim` and `value_dim`
    features. The call is `layer(query, value, key, query_mask=, value_mask=, key_mask=, attention_mask=)`; a mask is
    True where there is something to attend to, `attention_mask` for each query and key. `use_causal_mask`: no position
    attends to a later one; `sliding_window`: nor to one that is so many or more away. `return_attention_scores`: the
    softmax is a second output. `attention_axes`: the axes to attend along, by default all between the first and the
    last; the others are like the batch. `output_shape`: the last axes of the output, by default the query's last.
    `use_gate`: heads are multiplied by a sigmoid of a projection of the query. In training, `dropout` drops a share of
    the softmax. `flash_attention` and `activity_regularizer` must be None.

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

    min_input_ndim = 3

    def _sizes(self, query: Shape) -> tuple[int, int, int, int, Sequence[int]]:
        features = self.value_dim or self.key_dim
        output = self.partial_output_shape or (self.known(query, -1),)
        return self.num_heads, self.num_heads, self.key_dim, features, output

    def _axes_of(self, ndim: int) -> list[int]:
        axes = [axis + ndim * (axis < 0) for axis in self.attention_axes or range(1, ndim - 1)]
        if not all(0 < axis < ndim - 1 for axis in axes):
            raise ValueError(f"attention_axes {self.attention_axes} must lie between the first and the last of {ndim}.")
        return axes


class GroupQueryAttention(Heads):
    """MultiHeadAttention whose heads share keys and values: `num_query_heads / num_key_value_heads` heads each.

    `head_dim`: the features of a head's query, key and value. The other options and the call are as for
    MultiHeadAttention.

    Shape: [(batch, queries, features), (batch, keys, any), (batch, keys, any)] -> (batch, queries, features), and
    (batch, num_query_heads, queries, keys) for the scores. Source: https://arxiv.org/abs/2305.13245
    """

    _declares_options = True

    head_dim: Positive
    num_query_heads: Positive
    num_key_value_heads: Positive

    input_ndim = 3

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if self.num_query_heads % self.num_key_value_heads:
            raise ValueError(
                f"GroupQueryAttention {self.name!r}: num_query_heads must be a multiple of num_key_value_heads; "
                f"found {self.num_query_heads} and {self.num_key_value_heads}."
            )

    def _sizes(self, query: Shape) -> tuple[int, int, int, int, Sequence[int]]:
        return self.num_query_heads, self.num_key_value_heads, self.head_dim, self.head_dim, (self.known(query, -1),)
