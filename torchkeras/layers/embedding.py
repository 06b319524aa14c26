"""Embedding: from integers to vectors."""

from collections.abc import Callable
from typing import Annotated, Any

import torch
import torch.nn.functional as F
from torch import nn

from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import (
    INTEGERS,
    NEWER,
    Constraint,
    Fraction,
    Initializer,
    Positive,
    Regularizer,
    is_integer,
    optional,
    rule,
)
from torchkeras.engine.layer.symbolic import Shape, as_list
from torchkeras.engine.layer.tracing import traced
from torchkeras.engine.layer.weight import weight

# From so many integers on, the gradient of `index_select` takes less time on a CPU: at 4096 a half to a fifth.
MANY = 1024


def _is_length(value: Any) -> bool:
    return all(size is None or (is_integer(size) and size > 0) for size in as_list(value) or [0])


InputLength = Annotated[
    Any, optional(rule("must be a positive integer, a tuple of them, or None", _is_length, takes=INTEGERS))
]


class Vectors(nn.Embedding):
    """An `nn.Embedding` that looks up many integers on a CPU by `index_select`: the same numbers, gradients sooner."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if self.padding_idx is not None or self.max_norm is not None or self.scale_grad_by_freq or self.sparse:
            return super().forward(input)
        weight = self.weight
        if not traced() and input.numel() >= MANY and weight.is_cpu and weight.dtype == torch.float32:
            return weight.index_select(0, input.reshape(-1).long()).view(*input.shape, -1)
        return torch.embedding(weight, input)


class Embedding(Layer):
    """`embeddings[x]`: for each integer from 0 to `input_dim - 1` its vector of `output_dim` values.

    `dropout`: in training, the fraction of integers whose vectors are zero for the whole batch, Keras 1's option.
    `mask_zero`: 0 is padding, and masked from here on. `input_length`: the number of integers in a sample (a tuple
    for more axes), checked, and taken for the size where the input's is not known.

    Shape: (batch, ...) -> (batch, ..., output_dim). Inputs of other types are cut to integers.
    """

    _declares_options = True

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

    input_dtype = "int32"  # of the Input that a Sequential makes for it

    def __init__(self, *args: Any, **given: Any):
        shaped = "input_shape" in given or "batch_input_shape" in given
        batch_size = None if shaped else given.pop("batch_size", None)
        super().__init__(*args, **given)
        self.supports_masking = self.mask_zero
        if self.batch_input_shape is None:
            self.batch_input_shape = (batch_size, *(as_list(self.input_length) or [None]))

    def _make_modules(self, input_shape: Any) -> None:
        self.compute_output_shape(input_shape)
        # Around a kernel that is there: torch would draw one, which on `meta` imports its compiler.
        self.embedding = Vectors.from_pretrained(torch.empty(self.input_dim, self.output_dim), freeze=False)

    def compute_output_shape(self, input_shape: Any) -> Shape:
        """The input shape, unknown sizes taken from `input_length`, and `output_dim`. Raises ValueError for others."""
        batch, *sizes = input_shape
        lengths = as_list(self.input_length) or [None] * len(sizes)
        known = [size if length is None else length for length, size in zip(lengths, sizes, strict=False)]
        if len(lengths) != len(sizes) or any(size not in (None, k) for size, k in zip(sizes, known, strict=True)):
            raise ValueError(f"input_length is {self.input_length}; found the input {tuple(input_shape)}.")
        return (batch, *known, self.output_dim)

    def forward(self, inputs: torch.Tensor, training: bool | None = None) -> torch.Tensor:
        if inputs.dtype not in (torch.int32, torch.int64):
            inputs = inputs.int()
        vectors = self.embedding(inputs)
        if not self.dropout or not (self.training if training is None else training):
            return vectors
        kept = F.dropout(vectors.new_ones(self.input_dim, 1), self.dropout)
        return vectors * F.embedding(inputs, kept)

    class _Facts(Facts):
        def direct(self) -> Callable[..., torch.Tensor]:
            layer, inside = self.layer, self.layer._modules
            indices = (torch.int32, torch.int64)

            def run(inputs: torch.Tensor, training: bool | None = None) -> torch.Tensor:
                if layer.dropout or inputs.dtype not in indices:
                    return layer.forward(inputs, training)
                return inside["embedding"].forward(inputs)

            return run

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """True where the integer is not 0, with `mask_zero`; else None."""
        if self.mask_zero and inputs.is_meta:  # there a comparison would import torch's compiler
            return torch.empty(inputs.shape, dtype=torch.bool, device="meta")
        return inputs != 0 if self.mask_zero else None
