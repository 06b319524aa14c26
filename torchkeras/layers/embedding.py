"""Embedding: a vector for each integer."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn

from torchkeras.base.dtypes import dtype_name, dtype_of
from torchkeras.base.rules import ABOVE_0, INTEGERS, Rule, is_integer, optional, rule
from torchkeras.base.torch_tables import own_modules
from torchkeras.base.tracing import traced
from torchkeras.engine.facts import Facts
from torchkeras.engine.graph.input import InputLayer
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import NEWER, Constraint, Fraction, Initializer, Positive, Regularizer
from torchkeras.engine.symbolic.tensor import KerasTensor, Shape, as_list
from torchkeras.engine.weights.weight import weight

# With at least so many integers the gradient of `index_select` is faster on a CPU: 2 to 5 times with 4096.
MANY = 1024
INDICES = (torch.int32, torch.int64)


def _is_length(value: Any) -> bool:
    return all(size is None or (is_integer(size) and size > 0) for size in as_list(value) or [0])


InputLength = Annotated[
    Any, optional(rule("must be a positive integer or a tuple of them", _is_length, takes=INTEGERS))
]


class Vectors(nn.Embedding):
    """An `nn.Embedding` that looks up many integers on a CPU by `index_select`: the same numbers, faster gradients."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if self.padding_idx is not None or self.max_norm is not None or self.scale_grad_by_freq or self.sparse:
            return super().forward(input)
        weight = self.weight
        if not traced() and input.numel() >= MANY and weight.is_cpu and weight.dtype == torch.float32:
            return weight.index_select(0, input.reshape(-1).long()).view(*input.shape, -1)
        return torch.embedding(weight, input)


class Embedding(Layer):
    """`embeddings[x]`: a vector for each integer.

    Floating-point numbers, which another layer may output, are truncated to integers. Data for an `Input` that leads to
    this layer is checked first: numbers that are not whole or out of range are refused.

    Options:
        input_dim (positive integer): the number of vectors; the integers are from 0 to `input_dim - 1`.
        output_dim (positive integer): the size of a vector.
        embeddings_initializer (name or Initializer, default "uniform"): the first values of the vectors.
        embeddings_regularizer (name, Regularizer or None, default None): a penalty on the vectors, added to the loss.
        activity_regularizer (name, Regularizer or None, default None): a penalty on the output, added to the loss.
        embeddings_constraint (name, Constraint or None, default None): applied to the vectors after each update.
        mask_zero (bool, default False): whether 0 is padding; layers after this one get a mask without it.
        input_length (positive integer, tuple of them or None, default None): the number of integers in a sample, or
            the sizes of several axes. The input is checked against it; a size that the input leaves unknown is taken
            from it.
        dropout (float from 0 up to, not including, 1, default 0.0): in training, the fraction of integers whose vectors
            are zero for the whole batch. An option of Keras 1.

    Shapes:
        (batch, ...) -> (batch, ..., output_dim)

    Errors:
        ValueError: at the first call, when the input does not fit `input_length`; for data with numbers that are not
            whole, or not from 0 to `input_dim - 1`.
        IndexError: for numbers out of range in a tensor on the CPU that the layer is called on.
        torch.AcceleratorError: for numbers out of range that were made on a GPU or are streamed from there, since
            checking them would wait for the GPU. Torch says "device-side assert triggered", and the process must
            restart.

    Example:
        >>> Embedding(1000, 8)(torch.tensor([[1, 5, 2]])).shape
        torch.Size([1, 3, 8])
    """

    input_dim: Positive
    output_dim: Positive
    embeddings_initializer: Initializer = "uniform"
    embeddings_regularizer: Regularizer = None
    activity_regularizer: Regularizer = None
    embeddings_constraint: Constraint = None
    mask_zero: bool = False
    input_length: InputLength = None
    dropout: Annotated[Fraction, NEWER] = 0.0

    embeddings = weight("embedding.weight", keras="integers features")

    input_dtype = "int32"  # of the Input that a Sequential makes for the layer

    def __init__(self, *args: Any, **given: Any):
        shaped = "input_shape" in given or "batch_input_shape" in given
        batch_size = None if shaped else given.pop("batch_size", None)
        super().__init__(*args, **given)
        self.supports_masking = self.mask_zero
        if self.batch_input_shape is None:
            self.batch_input_shape = (batch_size, *(as_list(self.input_length) or [None]))

    def _make_modules(self, input_shape: Any) -> None:
        Embedding.compute_output_shape(self, input_shape)  # its check; a subclass may ask for the weight in its own
        # From a weight that exists: nn.Embedding would draw one, and on `meta` that imports torch's compiler.
        self.embedding = Vectors.from_pretrained(torch.empty(self.input_dim, self.output_dim), freeze=False)

    def compute_output_shape(self, input_shape: Any) -> Shape:
        """The input shape, with unknown sizes from `input_length`, and `output_dim`. Raises ValueError for a misfit."""
        batch, *sizes = input_shape
        lengths = as_list(self.input_length) or [None] * len(sizes)
        known = [size if length is None else length for length, size in zip(lengths, sizes, strict=False)]
        if len(lengths) != len(sizes) or any(size not in (None, k) for size, k in zip(sizes, known, strict=True)):
            raise ValueError(f"input_length is {self.input_length}; found the input {tuple(input_shape)}.")
        return (batch, *known, self.output_dim)

    def forward(self, inputs: torch.Tensor, training: bool | None = None) -> torch.Tensor:
        indices = inputs if inputs.dtype in INDICES else inputs.int()
        try:
            vectors = self.embedding(indices)
        except IndexError as error:
            raise self._out_of_range(inputs) from error
        if not self.dropout or not (self.training if training is None else training):
            return vectors
        kept = F.dropout(vectors.new_ones(self.input_dim, 1), self.dropout)
        return vectors * F.embedding(indices, kept)

    def _out_of_range(self, inputs: torch.Tensor) -> IndexError:
        low, high = torch.aminmax(inputs)  # not a number where one of them is none
        return IndexError(
            f"Embedding {self.name!r}: inputs out of range: they must be from 0 to {self.input_dim - 1}, since "
            f"input_dim is {self.input_dim}; found {low} to {high}. Give input_dim the largest of them plus one."
        )

    class _Facts(Facts):
        indices = property(lambda self: self.layer.input_dim)  # type: ignore[assignment]

        def hook_free(self) -> Callable[..., torch.Tensor]:
            layer, inside = self.layer, own_modules(self.layer)

            def run(inputs: torch.Tensor, training: bool | None = None) -> torch.Tensor:
                if layer.dropout or inputs.dtype not in INDICES:
                    return layer.forward(inputs, training)
                try:
                    return inside["embedding"].forward(inputs)
                except IndexError as error:
                    raise layer._out_of_range(inputs) from error

            return run

    @property
    def _makes_masks(self) -> bool:
        return self.mask_zero

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """With `mask_zero`, True where the integer is not 0; else None."""
        if self.mask_zero and inputs.is_meta:  # there a comparison would import torch's compiler
            return torch.empty(inputs.shape, dtype=torch.bool, device="meta")
        return torch.ne(inputs, 0) if self.mask_zero else None


class ReversibleEmbedding(Embedding):
    """`embeddings[x]`; called with `reverse=True`, `x @ embeddings.T`: from vectors back to a number for each integer.

    Options:
        input_dim (positive integer): the number of vectors; the integers are from 0 to `input_dim - 1`.
        output_dim (positive integer): the size of a vector.
        tie_weights (bool, default True): whether the reverse direction uses the same weight, and not a separate one.
        embeddings_initializer (name or Initializer, default "uniform"): the first values of the vectors, and of the
            weight of the reverse direction.
        embeddings_regularizer (name, Regularizer or None, default None): a penalty on the vectors, added to the loss.
        embeddings_constraint (name, Constraint or None, default None): applied to the vectors after each update.
        mask_zero (bool, default False): whether 0 is padding; layers after this one get a mask without it. The reverse
            direction passes no mask.
        reverse_dtype (name, torch dtype or None, default None): the type of the reverse direction; None takes that of
            the layer.
        logit_soft_cap (float above 0 or None, default None): in the reverse direction, outputs become
            `tanh(x / logit_soft_cap) * logit_soft_cap`; None leaves them unchanged.

    Shapes:
        (batch, ...) -> (batch, ..., output_dim), or with `reverse=True` (batch, ..., output_dim) -> (batch, ...,
            input_dim)

    Errors:
        ValueError: with `reverse=True`, when the last axis of the input is not `output_dim` long.

    Example:
        >>> layer = ReversibleEmbedding(50, 8)
        >>> hidden = layer(torch.tensor([[1, 5, 2]]))
        >>> layer(hidden, reverse=True).shape
        torch.Size([1, 3, 50])

    Source: https://keras.io/api/layers/core_layers/reversible_embedding/
    """

    input_dim: Positive
    output_dim: Positive
    tie_weights: bool = True
    embeddings_initializer: Initializer = "uniform"
    embeddings_regularizer: Regularizer = None
    embeddings_constraint: Constraint = None
    mask_zero: bool = False
    reverse_dtype: Annotated[Any, optional(Rule(lambda v: dtype_name(dtype_of(v)), takes="str | Any"))] = None
    logit_soft_cap: Annotated[Any, optional(ABOVE_0)] = None

    input_length: ClassVar[None] = None
    dropout: ClassVar[float] = 0.0

    reverse_embeddings = weight(
        "reverse.weight", keras="features integers", torch="integers features", when="_has_own_way_back"
    )
    _has_own_way_back = property(lambda self: not self.tie_weights)

    def _initializer_of(self, option: str) -> Any:
        return self.embeddings_initializer

    def _make_modules(self, input_shape: Any) -> None:
        super()._make_modules(input_shape)
        if not self.tie_weights:
            self.reverse = nn.Linear(self.output_dim, self.input_dim, bias=False)

    def forward(self, inputs: torch.Tensor, reverse: bool = False) -> torch.Tensor:  # type: ignore[override]
        if not reverse:
            vectors = super().forward(inputs)
            return vectors.to(self._policy.compute_type) if self._policy.is_mixed else vectors
        self._check_vectors(inputs.shape)
        kernel: Any = self.embedding.weight if self.tie_weights else self.reverse.weight
        if self.reverse_dtype is None:
            logits = F.linear(inputs, kernel)
        else:
            dtype = dtype_of(self.reverse_dtype)
            with torch.autocast(inputs.device.type, enabled=False):  # a mixed policy's type would win
                logits = F.linear(inputs.to(dtype), kernel.to(dtype))
        cap = self.logit_soft_cap
        return logits if cap is None else torch.tanh(logits / cap) * cap

    def _check_vectors(self, shape: Any) -> None:
        if shape[-1] != self.output_dim:
            raise ValueError(
                f"ReversibleEmbedding {self.name!r}: with reverse=True the last axis of the input must be output_dim "
                f"{self.output_dim} long; found the shape {tuple(shape)}."
            )

    def compute_output_shape(self, input_shape: Any, reverse: bool = False) -> Shape:
        """The input shape and `output_dim`; with `reverse` the input shape with `input_dim` in the last place."""
        return (*input_shape[:-1], self.input_dim) if reverse else super().compute_output_shape(input_shape)

    def _infer_outputs(self, inputs: Any, masks: list[Any], arguments: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        if not arguments.get("reverse"):
            return super()._infer_outputs(inputs, masks, arguments)
        self._check_vectors(inputs.shape)
        dtype = self._policy.compute_type if self.reverse_dtype is None else dtype_of(self.reverse_dtype)
        return KerasTensor(self.compute_output_shape(inputs.shape, True), dtype), [None]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """With `mask_zero`, True where the integer is not 0; None for vectors, and without it."""
        return None if inputs.is_floating_point() else super().compute_mask(inputs, mask)

    class _Facts(Facts):
        keeps_types = True  # one for each way

        @property
        def indices(self) -> int | None:  # type: ignore[override]
            nodes = [node for node in self.layer._call_nodes if node.arguments.get("reverse")]
            takes_vectors = any(isinstance(node.input_tensors[0].keras_history.layer, InputLayer) for node in nodes)
            return None if takes_vectors else self.layer.input_dim
