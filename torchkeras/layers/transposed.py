"""Transposed convolutions, also called deconvolutions, of sequences, images and volumes."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import torch
from torch import nn

from torchkeras.base.rules import Rule, is_integer, optional, sizes, word
from torchkeras.engine.facts import Facts
from torchkeras.engine.options import NEWER, DataFormat, Positive, Sizes
from torchkeras.engine.symbolic.tensor import Shape
from torchkeras.engine.weights.weight import weight
from torchkeras.layers.conv import Activated, Convolving

TRANSPOSED: dict[int, Any] = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}


def _read_shape(value: Any, rank: int) -> tuple[int | None, ...]:
    fits = isinstance(value, (tuple, list)) and len(value) == rank + 2
    if not fits or not all(size is None or (is_integer(size) and size > 0) for size in value):
        raise ValueError(f"must hold {rank + 2} positive integers (or None), the batch axis counted; found {value!r}.")
    return tuple(value)


# What is cut from each end of the output by a kernel that covers so many values, where `output_padding` is given.
CUTS: Mapping[str, Callable[[int], int]] = {
    "valid": lambda span: 0,
    "same": lambda span: span // 2,
    "half": lambda span: span // 2,
    "full": lambda span: span - 1,
}

TransposedPadding = Annotated[str, word("valid", "same", "half", "full")]


class ConvTranspose(Convolving, Activated, abstract=True):
    """`activation(y + bias)`, where each value of the input adds the kernel times itself to `y`, `strides` apart.

    Options:
        filters (positive integer): the number of channels of the output.
        kernel_size (positive integer or tuple of them): the size of the kernel along all spatial axes, or along each.
            Below, k is `(kernel_size - 1) * dilation_rate + 1`, the length that the kernel covers.
        strides (positive integer or tuple of them, default 1): the distance in the output between two values of the
            input, along all spatial axes or along each. Not above 1 together with `dilation_rate`.
        padding (string, default "valid"): what is cut from the ends. "valid" leaves
            `size * strides + max(k - strides, 0)` values along an axis, "same" and "half" leave `size * strides`.
            "same" cuts the larger half at the end, as TensorFlow does. "half" cuts k // 2 at the start, as Theano did,
            and needs an odd k. "full" cuts k - 1 at both ends.
        output_padding (integer, tuple of them or None, default None): values added at the end of all spatial axes, or
            of each; they are fewer than `strides`. The output then has
            `(size - 1) * strides + k - 2 * cut + output_padding` values along an axis, with a cut of 0 for "valid",
            k // 2 for "same" and "half", and k - 1 for "full".
        target_shape (tuple of integers or None, default None): the complete shape of the output, Keras 1's
            `output_shape`. A convolution of that shape must have the size of the input. Its batch size does not count.
            It cannot be given together with `output_padding`.
    """

    filters: Positive
    kernel_size: Sizes
    strides: Sizes = 1
    padding: TransposedPadding = "valid"
    output_padding: Annotated[Any, optional(sizes(0))] = None
    data_format: DataFormat = None
    dilation_rate: Sizes = 1
    target_shape: Annotated[Any, optional(Rule(_read_shape, by_rank=True, takes="Sequence[int | None]")), NEWER] = None

    kernel = weight("conv.weight", keras="... out in", torch="in out ...")
    bias = weight("conv.bias", keras="out", when="use_bias")

    class _Facts(Facts):
        product = "conv"

    def __init__(self, *args: Any, **given: Any):
        super().__init__(*args, **given)
        what = f"{type(self).__name__} {self.name!r}"
        if self.output_padding and any(map(int.__ge__, self.output_padding, self.strides)):
            found = f"strides {self.strides}; found {self.output_padding}"
            raise ValueError(f"{what}: output_padding must be below {found}.")
        if self.padding == "half" and any(span % 2 == 0 for span in self._spans):
            raise ValueError(f"{what}: padding 'half' needs a kernel_size of odd numbers; found {self.kernel_size}.")
        if self.target_shape and self.output_padding:
            raise ValueError(f"{what}: output_padding and target_shape cannot both be given.")
        if self.target_shape and self.target_shape[self._axis_of_channels] not in (None, self.filters):
            found = f"at axis {self._axis_of_channels}; found {self.target_shape}"
            raise ValueError(f"{what}: target_shape must have filters {self.filters} {found}.")

    def _make_modules(self, input_shape: Any) -> None:
        channels = self._known_size(input_shape, self._axis_of_channels)
        self._surplus_of = self._surplus(input_shape)
        options = {"stride": self.strides, "dilation": self.dilation_rate, "bias": self.use_bias}
        self.conv = TRANSPOSED[self.rank](channels, self.filters, self.kernel_size, **options)
        self._settle_padding()

    def _settle_padding(self) -> None:
        """Let the module cut from the ends, or add to them, what `padding` asks for."""
        surplus = self._surplus_of
        if self.padding in ("half", "full"):
            before = tuple(map(CUTS[self.padding], self._spans))
        else:
            before = tuple(max(-more, 0) // 2 for more in surplus)
        after = [more + 2 * cut for more, cut in zip(surplus, before, strict=True)]
        self._cut_after = [max(-more, 0) for more in after]  # torch cuts both ends alike; this is what remains
        module: Any = self.conv
        module.padding, module.output_padding = before, tuple(max(more, 0) for more in after)

    def _follow_theano(self) -> None:
        """Pad as Theano did: for weights that Theano made."""
        if self.padding == "same":
            self.padding = "half"
            self._settle_padding()

    def _surplus(self, input_shape: Shape) -> list[int]:
        """How much longer each axis of the output is than what the kernels cover."""
        if self.target_shape:
            return [self._target_surplus(input_shape, index) for index in range(self.rank)]
        spans = self._spans
        if self.output_padding or self.padding == "full":
            cut = CUTS[self.padding]
            added = self.output_padding or (0,) * self.rank
            return [more - 2 * cut(span) for more, span in zip(added, spans, strict=True)]
        surplus = [stride - span for stride, span in zip(self.strides, spans, strict=True)]
        return [max(more, 0) for more in surplus] if self.padding == "valid" else surplus

    def _target_surplus(self, input_shape: Shape, index: int) -> int:
        axis, span, stride = self._spatial_axes[index], self._spans[index], self.strides[index]
        size, target = self._known_size(input_shape, axis), self.target_shape[axis]
        if target is None:
            raise ValueError(f"target_shape must say the spatial sizes; found {self.target_shape}.")
        reach = {"valid": 0, "full": 2 * (span - 1)}.get(self.padding, span - 1)  # what is padded around the target
        convolved = (target + reach - span) // stride + 1
        if convolved != size:
            raise ValueError(
                f"target_shape {self.target_shape} cannot come from the input {tuple(input_shape)}: "
                f"axis {axis} of the input would be {max(convolved, 0)} long."
            )
        return target - (size - 1) * stride - span

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        outputs = self.conv(inputs)
        for axis, cut in enumerate(self._cut_after, 2):
            if cut:
                outputs = outputs.narrow(axis, 0, outputs.shape[axis] - cut)
        return self._activated(outputs)


class Conv1DTranspose(ConvTranspose):
    """The transposed convolution of sequences: `activation(y + bias)`.

    Each value of the input adds the kernel times itself to `y`, `strides` apart.

    Shapes:
        (batch, steps, channels) -> (batch, new_steps, filters)

    Example:
        >>> Conv1DTranspose(8, 3, strides=2, padding="same")(torch.zeros(2, 5, 4)).shape
        torch.Size([2, 10, 8])
    """

    rank = 1


class Conv2DTranspose(ConvTranspose):
    """The transposed convolution of images: `activation(y + bias)`.

    Each value of the input adds the kernel times itself to `y`, `strides` apart.

    Shapes:
        (batch, height, width, channels) -> (batch, new_height, new_width, filters)

    Example:
        >>> Conv2DTranspose(8, 3, strides=2)(torch.zeros(2, 5, 5, 4)).shape
        torch.Size([2, 11, 11, 8])
    """

    rank = 2


class Conv3DTranspose(ConvTranspose):
    """The transposed convolution of volumes: `activation(y + bias)`.

    Each value of the input adds the kernel times itself to `y`, `strides` apart.

    Shapes:
        (batch, depth, height, width, channels) -> (batch, new_depth, new_height, new_width, filters)

    Example:
        >>> Conv3DTranspose(8, 2, strides=2)(torch.zeros(2, 3, 4, 5, 1)).shape
        torch.Size([2, 6, 8, 10, 8])
    """

    rank = 3
    _option_order = ("dilation_rate",)
