"""Layers that give the same values another shape: Flatten, Reshape, Permute, RepeatVector."""

from math import prod
from typing import Annotated, Any

import torch

from torchkeras.base.rules import integers
from torchkeras.engine.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.options import DataFormat, Positive
from torchkeras.engine.symbolic.axis_order import convert, to_keras
from torchkeras.engine.symbolic.tensor import Shape


class Flatten(Layer):
    """The values of each sample along one axis.

    Options:
        data_format (string or None, default None): with "channels_first" the channels are moved to the last axis first,
            so that the order of the values does not depend on the data format; None means
            `config.image_data_format()`.

    Shapes:
        (batch, ...) -> (batch, product of the other sizes)

    Errors:
        ValueError: at the first call, when a size other than the batch size is unknown.

    Example:
        >>> Flatten()(torch.zeros(2, 3, 4)).shape
        torch.Size([2, 12])
    """

    data_format: DataFormat = None

    class _Facts(Facts):
        min_input_ndim = 2
        moves = True

    def _make_modules(self, input_shape: Any) -> None:
        if None in input_shape[1:]:
            raise ValueError(
                f"the input must be fully defined but for the batch axis; found {tuple(input_shape)}. "
                "Give the first layer a complete input_shape or batch_input_shape."
            )

    def _follow_keras1(self) -> None:
        """Keep the order of the axes for either data format, as Keras 1 did: for weights that Keras 1 made."""
        self.data_format = "channels_last"

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.data_format == "channels_first":
            inputs = convert(inputs, to_keras)
        return inputs.flatten(1)


def _is_target_shape(shape: tuple[int, ...]) -> bool:
    return all(size > 0 or size == -1 for size in shape) and shape.count(-1) <= 1


class Reshape(Layer):
    """The values of each sample in the shape `target_shape`.

    Options:
        target_shape (tuple of integers): the shape without the batch axis; one size may be -1, which means
            whatever size is left.

    Shapes:
        (batch, ...) -> (batch, *target_shape)

    Errors:
        ValueError: when the number of values of `target_shape` differs from that of a sample.

    Example:
        >>> Reshape((2, -1))(torch.zeros(1, 12)).shape
        torch.Size([1, 2, 6])
    """

    target_shape: Annotated[Any, integers("must hold positive integers and at most one -1", _is_target_shape)]

    class _Facts(Facts):
        moves = True

    def _make_modules(self, input_shape: Any) -> None:
        self.compute_output_shape(input_shape)

    def compute_output_shape(self, input_shape: Any) -> Shape:
        """`target_shape` after the batch axis, with -1 worked out (None when the input is not fully known)."""
        batch, *sizes = input_shape
        known, left = prod(size for size in self.target_shape if size != -1), None
        if None not in sizes:
            left, rest = divmod(prod(sizes), known)
            if rest or (left != 1 and -1 not in self.target_shape):
                raise ValueError(
                    f"target_shape {self.target_shape} does not fit the input {tuple(input_shape)}: "
                    f"a sample has {prod(sizes)} values."
                )
        return (batch, *(left if size == -1 else size for size in self.target_shape))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.reshape(inputs.shape[0], *self.target_shape)


def _is_permutation(dims: tuple[int, ...]) -> bool:
    return len(dims) > 0 and sorted(dims) == list(range(1, len(dims) + 1))


class Permute(Layer):
    """The axes in another order; the batch axis stays first.

    Options:
        dims (tuple of integers): for each axis of the output, the axis of the input that it shows; each of 1, 2, ...
            stands once.

    Shapes:
        (batch, s1, s2, ...) -> (batch, s[dims[0]], s[dims[1]], ...)

    Example:
        >>> Permute((2, 1))(torch.zeros(1, 3, 4)).shape
        torch.Size([1, 4, 3])
    """

    dims: Annotated[Any, integers("must hold each of 1, 2, ... once", _is_permutation)]

    class _Facts(Facts):
        @property
        def input_ndim(self) -> int:  # type: ignore[override]
            return len(self.layer.dims) + 1

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.permute(0, *self.dims)


class RepeatVector(Layer):
    """The input repeated `n` times along a new time axis.

    Options:
        n (positive integer): the number of time steps.

    Shapes:
        (batch, features) -> (batch, n, features)

    Example:
        >>> RepeatVector(2)(torch.tensor([[1.0, 2.0]])).tolist()
        [[[1.0, 2.0], [1.0, 2.0]]]
    """

    n: Positive

    class _Facts(Facts):
        input_ndim = 2

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs.unsqueeze(1).expand(-1, self.n, -1)
