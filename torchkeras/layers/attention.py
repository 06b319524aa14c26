"""Attention: with one score for each pair of positions, or by several heads.

All layers take `[query, value]` or `[query, value, key]`; without a key the value is the key too. Masks that are given
as tensors join the list behind the three, and `masks`, an argument of the call, names them: so that a graph has them
like other inputs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras import initializers
from torchkeras.engine.layer.options import (
    Fraction,
    one_of,
)
from torchkeras.engine.layer.symbolic import Shape, as_list
from torchkeras.engine.layer.weight import weight
from torchkeras.layers.noise import Dropout
from torchkeras.layers.random import Seeded

MASKS = ("query_mask", "value_mask", "key_mask", "attention_mask")
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
