"""Transposed convolutions, also called deconvolutions."""

from typing import Annotated, Any

import torch
from torch import nn

from torchkeras.engine.layer.facts import Facts
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.layer.options import NEWER, DataFormat, Positive, Rule, Sizes, is_integer, optional, sizes
from torchkeras.engine.layer.symbolic import Shape
from torchkeras.engine.layer.weight import weight
from torchkeras.layers.conv import Activated, Convolving, Dilated
from torchkeras.layers.spatial import padding_among

TRANSPOSED: dict[int, Any] = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}


def _read_shape(value: Any, rank: int) -> tuple[int | None, ...]:
    fits = isinstance(value, (tuple, list)) and len(value) == rank + 2
    if not fits or not all(size is None or (is_integer(size) and size > 0) for size in value):
        raise ValueError(f"must hold {rank + 2} positive integers (or None), the batch axis counted; found {value!r}.")
    return tuple(value)


TransposedPadding = Annotated[str, padding_among("valid", "same", "half", "full")]


class Targeted(Layer, abstract=True):
    """`target_shape`, behind the options that Keras 2 has."""

    target_shape: Annotated[Any, optional(Rule(_read_shape, by_rank=True, takes="Sequence[int | None]")), NEWER] = None


class ConvTranspose(Convolving, abstract=True):
    """`activation(y + bias)` where a convolution of `y` by the kernel turned around has the size of the input.

    Each input value adds the kernel times itself to the output, `strides` apart. Along an axis, with
    k = (kernel_size - 1) * dilation_rate + 1, the output is `size * strides + max(k - strides, 0)` long for 'valid'
    and `size * strides` for 'same'; with `output_padding` it is `(size - 1) * strides + k - 2 * cut + output_padding`,
    with a cut of 0 for 'valid', k // 2 for 'same' and k - 1 for 'full'; with `target_shape`, the complete shape of the
    output (Keras 1's `output_shape`; the batch size in it does not count), what that says. 'same' leaves out the larger
    half of what is too much at the end, as TensorFlow does; 'half' leaves out k // 2 at the start, 'full' k - 1, as
    Theano did.

    Shape: (batch, *sizes, channels) -> (batch, *new sizes, filters), or with data_format='channels_first'
    (batch, channels, *sizes) -> (batch, filters, *new sizes). Raises ValueError for strides and a dilation_rate that
    are both above 1, for 'half' with an even k, for an output_padding that is not below the strides, and for a
    target_shape that the input cannot come from.
    """

    _declares_options = True

    filters: Positive
    kernel_size: Sizes
    strides: Sizes = 1
    padding: TransposedPadding = "valid"
    output_padding: Annotated[Any, optional(sizes(0))] = None
    data_format: DataFormat = None

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
        module = TRANSPOSED[self.rank](channels, self.filters, self.kernel_size, **options)
        self.conv = self._in_memory_order(module)
        self._settle_padding()

    def _settle_padding(self) -> None:
        """Let the module leave out and add at the ends what `padding` asks for."""
        surplus, fixed = self._surplus_of, {"half": lambda k: k // 2, "full": lambda k: k - 1}.get(self.padding)
        pairs = zip(surplus, self._spans, strict=True)
        before = tuple(fixed(k) if fixed else max(-more, 0) // 2 for more, k in pairs)
        after = [more + 2 * cut for more, cut in zip(surplus, before, strict=True)]
        self._cut_after = [max(-more, 0) for more in after]  # torch cuts both ends alike: an odd one is left to cut
        module: Any = self.conv
        module.padding, module.output_padding = before, tuple(max(more, 0) for more in after)

    def _follow_theano(self) -> None:
        """Pad as Theano did: for weights that it made."""
        if self.padding == "same":
            self.padding = "half"
            self._settle_padding()

    def _surplus(self, input_shape: Shape) -> list[int]:
        """By how much each axis of the output is longer than what the kernels reach."""
        if self.target_shape:
            return [self._target_surplus(input_shape, index) for index in range(self.rank)]
        same, spans = self.padding != "valid", self._spans
        if self.output_padding or self.padding == "full":
            cuts = [k - 1 if self.padding == "full" else same * (k // 2) for k in spans]
            added = self.output_padding or (0,) * self.rank
            return [more - 2 * cut for more, cut in zip(added, cuts, strict=True)]
        return [s - span if same else max(s - span, 0) for s, span in zip(self.strides, spans, strict=True)]

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


class Conv1DTranspose(ConvTranspose, Dilated, Activated, Targeted):
    rank = 1


class Conv2DTranspose(ConvTranspose, Dilated, Activated, Targeted):
    rank = 2


class Conv3DTranspose(ConvTranspose, Activated, Dilated, Targeted):
    rank = 3
