"""Attention and AdditiveAttention, and `Attending`, which they share with attention by several heads.

All layers take `[query, value]` or `[query, value, key]`. Without a key, the value is the key too. Masks that are
passed as tensors become inputs of the graph like others: they follow the three in the list of inputs, and the argument
`masks` of the call names them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from torchkeras import initializers
from torchkeras.base.rules import one_of
from torchkeras.base.torch_versions import SEES_NOTHING_IS_NAN
from torchkeras.engine.modes import call_module
from torchkeras.engine.options import Fraction
from torchkeras.engine.symbolic.tensor import Shape, as_list
from torchkeras.engine.weights.weight import weight
from torchkeras.layers.noise import Dropout
from torchkeras.layers.random import Seeded

MASKS = ("query_mask", "value_mask", "key_mask", "attention_mask")
Known = Mapping[str, Tensor]  # the masks of a call by their names, True at positions that count


def _named_masks(mask: Any, names: str, given: Sequence[Tensor]) -> dict[str, Tensor]:
    """The masks of a call: those of its inputs, and those `given` as inputs, whose `names` a space divides."""
    of_inputs = as_list(mask) if isinstance(mask, Tensor) else mask or ()
    named = (*zip(MASKS[: len(of_inputs)], of_inputs, strict=True), *zip(names.split(), given, strict=True))
    return {name: tensor.bool() for name, tensor in named if tensor is not None}


class Attending(Seeded, abstract=True):
    """What the layers share: how inputs and masks come in, `softmax(scores) @ value`, and the mask of the output.

    Options:
        dropout (float from 0 to below 1, default 0.0): the share of the softmax's values that are dropped in training.
    """

    dropout: Fraction = 0.0

    supports_masking = True
    score_mode: ClassVar[str] = "dot"
    sliding_window: int | None = None
    flash_attention: bool | None = None
    _by_heads: ClassVar[bool] = False
    drop: Dropout
    _factor: float = 1.0  # what scores are multiplied by
    _axes: tuple[int, ...] = (-2,)  # the axes that attention runs along

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
        """The shapes of the query, the value and the key."""
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
        """`forward`, where `parts_of` makes the parts of query, key and value."""
        query, value, *rest = inputs
        key, *given = rest or [value]
        known = _named_masks(mask, masks, given)
        in_training = self.training if training is None else training
        drops = self.dropout > 0 and in_training

        hiding = self._hiding(known, use_causal_mask)
        parts = parts_of(query, key, value)
        if self.sliding_window:
            hiding.append(_band(parts[0], parts[1], self.sliding_window))
        # What a query that sees nothing gets, as in Keras: zeros in these cases of several heads, else the mean of all
        # values.
        zeros = self._by_heads and (return_attention_scores or self.dropout > 0 or query.dim() > 3)
        needs_weights = return_attention_scores or (drops and self.seed is not None)
        if self.flash_attention and return_attention_scores:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: flash_attention=True goes without return_attention_scores."
            )
        if self.score_mode == "dot" and not needs_weights:
            attended = self._by_kernel(parts, hiding, use_causal_mask, drops, zeros)
            return self._output(attended, query, known)
        attended, weights = self._by_weights(parts, hiding, use_causal_mask, drops, zeros)
        output = self._output(attended, query, known)
        return (output, self._by_axes(weights, query, key)) if return_attention_scores else output

    def _by_axes(self, weights: Tensor, query: Tensor, key: Tensor) -> Tensor:
        """The softmax with the axes that attention runs along: (..., *queries, *keys)."""
        queries = [query.shape[axis] for axis in self._axes]
        keys = [key.shape[axis] for axis in self._axes]
        return weights.unflatten(-1, keys).unflatten(-1 - len(keys), queries)

    def _by_kernel(
        self, parts: Sequence[Tensor], hiding: list[Tensor], causal: bool, drops: Any, zeros: bool
    ) -> Tensor:
        """`softmax(scores) @ value` by torch's kernel. `zeros`: whether a query that sees nothing gets zeros."""
        q, k, v = parts
        rate, visible, sees = self.dropout if drops else 0.0, None, None
        if hiding:
            visible, causal = _visible(q, k, hiding, causal), False  # else the kernel makes the causal mask itself
            if zeros and SEES_NOTHING_IS_NAN:
                sees = visible.any(-1, keepdim=True)
            if not zeros or sees is not None:
                visible = (~visible).to(q.dtype) * (torch.finfo(q.dtype).min / 2)  # added to the scores
        if self.flash_attention:
            with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                found = F.scaled_dot_product_attention(q, k, v, visible, rate, bool(causal), scale=self._factor)
        else:
            found = F.scaled_dot_product_attention(q, k, v, visible, rate, bool(causal), scale=self._factor)
        return found if sees is None else found * sees

    def _by_weights(
        self, parts: Sequence[Tensor], hiding: list[Tensor], causal: bool, drops: Any, zeros: bool
    ) -> tuple[Tensor, Tensor]:
        """`softmax(scores) @ value`, and the softmax. `zeros`: whether a query that sees nothing gets zeros."""
        q, k, v = parts
        scores = self._scores(q * self._factor, k)
        if hiding or causal:
            visible = _visible(q, k, hiding, causal)
            weights = scores.masked_fill(~visible, torch.finfo(q.dtype).min / 2).softmax(-1)
            weights = weights * visible if zeros else weights
        else:
            weights = scores.softmax(-1)
        dropped = call_module(self.drop, weights, training=drops)
        return dropped @ v, weights if self._by_heads else dropped  # as Keras 3 returns them

    def _hiding(self, known: Known, causal: bool) -> list[Tensor]:
        """Masks that end in (queries, keys), True where a query may attend to a key."""
        return [known["value_mask"].unsqueeze(-2)] if "value_mask" in known else []

    def _parts(self, query: Tensor, key: Tensor, value: Tensor) -> Sequence[Tensor]:
        """What attention computes with: (..., queries, features), (..., keys, features), (..., keys, values)."""
        return query, key, value

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        return query @ key.mT

    def _output(self, attended: Tensor, query: Tensor, known: Known) -> Tensor:
        mask = known.get("query_mask")
        return attended if mask is None else torch.where(mask.unsqueeze(-1), attended, 0.0)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None if mask is None else mask[0]


def _band(q: Tensor, k: Tensor, window: int) -> Tensor:
    """True where a query and a key are less than `window` positions apart."""
    queries, keys = (torch.arange(each.shape[-2], device=q.device) for each in (q, k))
    return (queries.unsqueeze(-1) - keys).abs() < window


def _visible(q: Tensor, k: Tensor, hiding: list[Tensor], causal: bool) -> Tensor:
    """True where a query may attend to a key by all of these masks, and, if `causal`, comes no earlier than it."""
    if causal:
        hiding.append(torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril())
    visible, *others = hiding
    for mask in others:
        visible = torch.logical_and(visible, mask)
    return visible


class Attention(Attending):
    """`softmax(query @ key.T) @ value`.

    A call takes `[query, value]` or `[query, value, key]`; without a key the value is the key too. Its arguments are:
    `mask=[query_mask, value_mask]`, True at positions that count (the value's hides positions from attention, the
    query's sets outputs to zero); `use_causal_mask=True`, with which no position attends to a later one; and
    `return_attention_scores=True`, with which the softmax is a second output.

    Options:
        use_scale (bool, default False): whether the scores are multiplied by a weight, `scale`.
        score_mode ("dot" or "concat", default "dot"): "concat" makes the scores
            `concat_score_weight * sum(tanh(scale * (query + key)))`.

    Shapes:
        [(batch, queries, features), (batch, keys, values), (batch, keys, features)] -> (batch, queries, values)
        the scores: (batch, queries, keys)

    Example:
        >>> query, value = torch.zeros(2, 3, 4), torch.zeros(2, 5, 4)
        >>> output, scores = Attention()([query, value], return_attention_scores=True)
        >>> output.shape, scores.shape
        (torch.Size([2, 3, 4]), torch.Size([2, 3, 5]))

    Source: https://arxiv.org/abs/1508.04025
    """

    use_scale: bool = False
    score_mode: Annotated[Any, one_of("dot", "concat")] = "dot"

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
        kind = f"{type(self).__name__} {self.name!r}"
        if isinstance(inputs, (list, tuple)) and len(inputs) > 3 and "masks" not in arguments:
            raise ValueError(f"{kind}: inputs must be [query, value] or [query, value, key]; found {len(inputs)}.")
        if mask is not None and not (isinstance(mask, (list, tuple)) and len(mask) in (2, 3)):
            raise ValueError(f"{kind}: mask must be [query_mask, value_mask]; found {type(mask).__name__}.")
        given = dict(zip(MASKS[:2], mask or (), strict=False))
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
    """`softmax(sum(scale * tanh(query + key))) @ value`, with the sum over the features.

    The call and its arguments are those of `Attention`.

    Options:
        use_scale (bool, default True): whether there is a weight `scale`, a number for each feature; else it is 1.

    Shapes:
        [(batch, queries, features), (batch, keys, values), (batch, keys, features)] -> (batch, queries, values)
        the scores: (batch, queries, keys)

    Example:
        >>> AdditiveAttention()([torch.zeros(2, 3, 4), torch.zeros(2, 5, 4)]).shape
        torch.Size([2, 3, 4])

    Source: https://arxiv.org/abs/1409.0473
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
        self._expected_ndim = len(query)  # then only the query's features are asked for
        self.scale_of_sum = None
        self.scale_of_tanh = nn.Parameter(torch.empty(self._known_size(query, -1))) if self.use_scale else None
