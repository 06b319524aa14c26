"""Attention by several heads: MultiHeadAttention and GroupQueryAttention."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import is_
from string import ascii_lowercase
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchkeras.base.rules import integers, one_of, optional
from torchkeras.engine.facts import Facts, facts_of
from torchkeras.engine.modes import call_module, in_its_mode
from torchkeras.engine.options import Called, Fraction, OptionalPositive, Positive, options_of
from torchkeras.engine.shapes.input_spec import InputSpec
from torchkeras.engine.shapes.output_shapes import by_running
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.engine.weights.weight import is_wrapper
from torchkeras.layers.attention import MASKS, Attending, Known
from torchkeras.layers.core import KernelLayer
from torchkeras.layers.einsum import EinsumDense
from torchkeras.layers.noise import Dropout

LINEARS = [nn.Linear] * 3
PARTS = ("query", "key", "value", "attention_output")
MOST_JOINED = 2**16  # projections of up to so many weights are computed as one


OutputSizes = Annotated[
    Any,
    optional(integers("must be a positive integer or a list of them", lambda v: len(v) > 0 and min(v) > 0)),
    Called("output_shape"),
]
AttentionAxes = Annotated[
    Any, optional(integers("must be an axis or a list of different ones", lambda v: 0 < len(v) == len(set(v))))
]


def _call(part: Any, inputs: Tensor) -> Tensor:
    """A module call of a layer, or of the module of torch in its place."""
    return call_module(part, inputs) if isinstance(part, EinsumDense) else part(inputs)  # type: ignore[no-any-return]


class Heads(Attending, KernelLayer, abstract=True):
    """Attention by several heads, each of which sees the inputs through projections of its own.

    Options:
        use_bias (bool, default True): whether the projections add a bias.
        sliding_window (positive integer or None, default None): a query attends to keys at most `sliding_window - 1`
            positions before or after it; None sets no limit.
        flash_attention (bool or None, default None): True allows torch's flash kernel only, which has no dropout and
            returns no scores; otherwise torch chooses the kernel.
        use_gate (bool, default False): whether each head is multiplied by `sigmoid(gate(query))`, a further projection
            of the query.
        activity_regularizer (None, default None): must be None.
    """

    dropout: Fraction = 0.0
    use_bias: bool = True
    sliding_window: OptionalPositive = None
    flash_attention: Annotated[Any, one_of(None, True, False)] = None
    use_gate: bool = False

    _by_heads = True
    partial_output_shape: ClassVar[Any] = None
    attention_axes: ClassVar[Any] = None

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        if self.flash_attention and self.dropout:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: flash_attention=True goes without dropout; found {self.dropout}."
            )

    def _sizes(self) -> tuple[int, int, int, int]:
        """The numbers of heads of the query, of heads of key and value, of features of a key and of a value."""
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        query, value, key = shapes = self._source_shapes(input_shape)
        ndim = len(query)
        if self.activity_regularizer is not None:
            raise ValueError("activity_regularizer must be None.")
        _check_keys(value, key)
        self._axes = tuple(axis + ndim * (axis < 0) for axis in self.attention_axes or range(1, ndim - 1))
        if not all(0 < axis < ndim - 1 for axis in self._axes):
            raise ValueError(f"attention_axes {self.attention_axes} must lie between the first and the last of {ndim}.")
        self._last = tuple(range(ndim - 1 - len(self._axes), ndim - 1))
        self.input_spec = [InputSpec(ndim=ndim, axes={-1: shape[-1]}) for shape in shapes]

        query_heads, heads, key_features, features = self._sizes()
        self._factor, self._groups = key_features**-0.5, query_heads // heads
        self.query = self._projection("query", query, (query_heads, key_features))
        self.key = self._projection("key", key, (heads, key_features))
        if self.use_gate:
            self.gate = self._projection("gate", query, (query_heads, features), activation="sigmoid")
        self.value = self._projection("value", value, (heads, features))
        output = self.partial_output_shape or query[-1:]
        self.attention_output = self._projection("attention_output", (*query[:-1], query_heads, features), output, 2)
        self.drop = Dropout(self.dropout, seed=self.seed)
        self.built = True
        self.__dict__["_built_for"] = input_shape

    def compute_output_shape(self, input_shape: Any, *further: Any) -> Any:
        """The shape of the output, without the scores.

        Arguments:
            input_shape (tuple or list of tuples): the shapes of query, value and key, or that of the query.
            further (tuples): those of the value and the key.

        Errors:
            ValueError: the shapes do not fit together.
        """
        shapes = [tuple(shape) for shape in (input_shape, *further) if shape is not None] if further else input_shape
        query, value, key = self._source_shapes(shapes)
        _check_keys(value, key)
        return (*query[:-1], *(self.partial_output_shape or query[-1:]))

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        with by_running(self):  # there may be scores
            return super()._infer_outputs(inputs, masks, arguments)

    def _projection(
        self, name: str, input_shape: Shape, sizes: Sequence[Any], summed: int = 1, **options: Any
    ) -> EinsumDense:
        """A dense layer from the last axes, `summed` of them, to new axes of these sizes."""
        taken, given = "xy"[:summed], ascii_lowercase[: len(sizes)]
        dense = EinsumDense(
            f"...{taken},{taken}{given}->...{given}",
            sizes,
            bias_axes=given if self.use_bias else None,
            name=f"{self.name}/{name}",
            dtype=self.dtype_policy,
            **{option: getattr(self, option) for option in options_of(KernelLayer)},
            **options,
        )
        dense._build([input_shape])
        return dense

    def _hiding(self, known: Known, causal: bool) -> list[Tensor]:
        count = len(self._axes)
        if count > 1 and (causal or self.sliding_window or known.keys() - {"attention_mask"}):
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: along several axes only attention_mask can hide anything; "
                f"found {count} attention axes with another mask, use_causal_mask or sliding_window."
            )
        found = [known[name].unsqueeze(-1 if name == "query_mask" else -2) for name in MASKS[:3] if name in known]
        found += [known[name].flatten(-count).flatten(-count - 1, -2) for name in MASKS[3:] if name in known]
        lacking = [[None] * (self._last[0] + 3 - mask.dim()) for mask in found]  # axes after the batch
        return [mask[(..., *axes, slice(None), slice(None))] for mask, axes in zip(found, lacking, strict=True)]

    def _parts(
        self, query: Tensor, key: Tensor, value: Tensor, projections: Sequence[Callable[..., Tensor]] | None = None
    ) -> Sequence[Tensor]:
        """(batch, ..., heads, positions, features) of each, with all axes of attention in one axis of positions."""
        by_query, by_key, by_value = projections or [partial(_call, self._modules[name]) for name in PARTS[:3]]
        parts = []
        for project, inputs, groups in (
            (by_query, query, 1),
            (by_key, key, self._groups),
            (by_value, value, self._groups),
        ):
            heads = project(self._positions(inputs)).transpose(-2, -3)
            parts.append(heads if groups == 1 else heads.repeat_interleave(groups, -3))
        return parts

    def _positions(self, inputs: Tensor) -> Tensor:
        """The inputs with the axes of attention as one, before the features."""
        if inputs.dim() == 3:
            return inputs
        return inputs.movedim(self._axes, self._last).flatten(self._last[0], -2)

    class _Facts(Facts):
        def hook_free(self) -> Callable[..., Any]:
            parts = [self.layer._modules[name] for name in PARTS]
            is_plain = not (self.layer.use_gate or self.layer.sliding_window or self.layer.flash_attention)
            is_plain = is_plain and {*map(type, parts)} == {EinsumDense}
            return self.layer._at_once(*parts) if is_plain else self.layer.forward

    def _at_once(self, *parts: EinsumDense) -> Callable[..., Any]:
        """`forward` without module calls, over these parts: query, key, value, output."""
        *projections, last = [in_its_mode(part, facts_of(part).hook_free()) for part in parts]
        joined = self._joined(parts[:3])

        def are_same() -> bool:  # no other module is in the place of one
            return all(map(is_, map(self._modules.get, PARTS), parts))

        def parts_of(query: Tensor, key: Tensor, value: Tensor) -> Sequence[Tensor]:
            if not are_same():
                return self._parts(query, key, value)
            found = joined(query) if query is key is value else None
            return found or self._parts(query, key, value, projections)

        def attended(inputs: Any, *options: Any, **named: Any) -> Any:
            query, value, *key = inputs
            more = options or named or len(key) > 1 or query.dim() > 3 or (self.dropout and self.training)
            if more or self._modules["attention_output"] is not parts[-1]:
                return self._attend(parts_of, inputs, *options, **named)
            q, k, v = parts_of(query, (*key, value)[0], value)
            return last(F.scaled_dot_product_attention(q, k, v, scale=self._factor).transpose(-2, -3))

        return attended

    def _joins(self, products: Sequence[Any]) -> bool:
        """Whether one product pays for all projections: they have the same heads, and few weights."""
        sizes = [product.in_features * product.out_features for product in products if type(product) is nn.Linear]
        return self._groups == 1 and sum(sizes) <= MOST_JOINED

    def _joined(self, projections: Sequence[EinsumDense]) -> Callable[[Tensor], Sequence[Tensor] | None]:
        """The parts of one tensor, which is query, key and value, by one product.

        It gives None where kernels do not join, once a projection is another module or has a parametrized weight.
        """
        inside, products = [dense._modules for dense in projections], [dense.product for dense in projections]
        if not self._joins(products):
            return lambda inputs: None
        heads, _, *features = self._sizes()

        def joined(inputs: Tensor) -> Sequence[Tensor] | None:
            same = all(map(is_, [each["product"] for each in inside], products))
            if not same or list(map(type, products)) != LINEARS:
                return None
            weights = [product._parameters["weight"] for product in products]
            if any(map(is_wrapper, weights)):
                return None
            bias = None
            if self.use_bias:
                bias = torch.cat([product._parameters["bias"] for product in products])
            return _by_heads(F.linear(self._positions(inputs), torch.cat(weights), bias), heads, *features)

        return joined

    def _output(self, attended: Tensor, query: Tensor, known: Known) -> Tensor:
        attended = attended.transpose(-2, -3)
        if self.use_gate:
            attended = attended * _call(self.gate, self._positions(query))
        output = _call(self.attention_output, attended)
        if query.dim() == 3:
            return output
        sizes = [query.shape[axis] for axis in self._axes]
        return output.unflatten(self._last[0], sizes).movedim(self._last, self._axes)


class MultiHeadAttention(Heads):
    """`concat(head_1, ..., head_n) @ attention_output`, where a head is `softmax(q @ k.T / sqrt(key_dim)) @ v`.

    q, k and v are the head's own projections of the query, the key and the value.

    A call is `layer(query, value, key)`; without a key the value is the key too. Its masks are `query_mask`,
    `value_mask`, `key_mask`, each True at positions that count, and `attention_mask`, True where a query may attend to
    a key. With `use_causal_mask=True` no position attends to a later one. With `return_attention_scores=True` the
    softmax is a second output.

    Options:
        num_heads (positive integer): the number of heads.
        key_dim (positive integer): the features of q and k, for each head.
        value_dim (positive integer or None, default None): the features of v, for each head; None takes `key_dim`.
        output_shape (positive integer, list of them or None, default None): the last axes of the output; None takes
            the query's last axis.
        attention_axes (integer, list of them or None, default None): the axes to attend along; None takes all between
            the first and the last. All other axes are treated like the batch.

    Shapes:
        [(batch, queries, features), (batch, keys, any), (batch, keys, any)] -> (batch, queries, features)
        the scores: (batch, num_heads, queries, keys)

    Errors:
        ValueError: key and value that differ in more than their last axes; `attention_axes` with the first or the last
            axis; a mask other than `attention_mask` along several axes.

    Example:
        >>> query, value = torch.zeros(2, 3, 4), torch.zeros(2, 5, 4)
        >>> output, scores = MultiHeadAttention(2, key_dim=8)(query, value, return_attention_scores=True)
        >>> output.shape, scores.shape
        (torch.Size([2, 3, 4]), torch.Size([2, 2, 3, 5]))

    Source: https://arxiv.org/abs/1706.03762
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
    """`MultiHeadAttention` in which groups of heads share keys and values.

    `num_query_heads / num_key_value_heads` heads form a group. The call and its arguments are those of
    `MultiHeadAttention`.

    Options:
        head_dim (positive integer): the features of query, key and value, for each head.
        num_query_heads (positive integer): the number of heads of the query.
        num_key_value_heads (positive integer): the number of heads of key and value; `num_query_heads` must be a
            multiple of it.

    Shapes:
        [(batch, queries, features), (batch, keys, any), (batch, keys, any)] -> (batch, queries, features)
        the scores: (batch, num_query_heads, queries, keys)

    Example:
        >>> query, value = torch.zeros(2, 3, 6), torch.zeros(2, 5, 6)
        >>> GroupQueryAttention(8, num_query_heads=4, num_key_value_heads=2)(query, value).shape
        torch.Size([2, 3, 6])

    Source: https://arxiv.org/abs/2305.13245
    """

    head_dim: Positive
    num_query_heads: Positive
    num_key_value_heads: Positive

    class _Facts(Facts):
        input_ndim = 3

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        heads, pairs = self.num_query_heads, self.num_key_value_heads
        if heads % pairs:
            raise ValueError(
                f"{type(self).__name__} {self.name!r}: num_query_heads must be a multiple of num_key_value_heads; "
                f"found {heads} and {pairs}."
            )

    def _sizes(self) -> tuple[int, int, int, int]:
        return self.num_query_heads, self.num_key_value_heads, self.head_dim, self.head_dim


def _check_keys(value: Shape, key: Shape) -> None:
    """Raise ValueError for a value and a key with other axes between the first and the last."""
    if value[1:-1] != key[1:-1]:
        raise ValueError(f"value and key must differ in the last axis only; found {value} and {key}.")


def _by_heads(found: Tensor, heads: int, keys: int, values: int) -> Sequence[Tensor]:
    """The product of all projections as query, key and value, (..., heads, positions, features) each.

    `keys`, `values`: the features of a head.
    """
    if keys != values:
        sizes = [heads * keys, heads * keys, heads * values]
        views = [part.view(*part.shape[:-1], heads, part.shape[-1] // heads) for part in found.split(sizes, -1)]
    elif torch.is_grad_enabled():  # the last view comes last: so the gradients of all are joined by one copy
        views = found.view(*found.shape[:-1], 3, heads, keys).unbind(-3)
    else:
        return found.view(*found.shape[:-1], 3, heads, keys).transpose(-4, -2).unbind(-3)
    return [part.transpose(-2, -3) for part in views]
