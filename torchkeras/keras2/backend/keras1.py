"""Names that only Keras 1 has, with its options: `border_mode`, and `dim_ordering` "tf", "th" or "default"."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from torchkeras import config
from torchkeras.keras2.backend.convolutions import checked, conv2d, conv2d_transpose
from torchkeras.keras2.backend.elementwise import less, less_equal
from torchkeras.keras2.backend.nodes import tensor
from torchkeras.keras2.backend.products import permute_dimensions
from torchkeras.keras2.backend.shapes import spatial_2d_padding, temporal_padding


def data_format_of(dim_ordering: str) -> str:
    """Keras 2's word for a dim_ordering. Raises ValueError."""
    if dim_ordering == "default":
        return config.image_data_format()
    if dim_ordering not in config.DIM_ORDERINGS:
        raise ValueError(f"dim_ordering must be 'tf', 'th' or 'default'; found {dim_ordering!r}.")
    return config.DIM_ORDERINGS[dim_ordering]


def lesser(x: Any, y: Any) -> Any:
    """x < y, Keras 1's name of `less`."""
    return less(x, y)


def lesser_equal(x: Any, y: Any) -> Any:
    """x <= y, Keras 1's name of `less_equal`."""
    return less_equal(x, y)


def asymmetric_temporal_padding(x: Any, left_pad: int = 1, right_pad: int = 1) -> Any:
    """`temporal_padding` with two numbers.

    >>> asymmetric_temporal_padding(torch.ones(1, 1, 1), 2, 0).flatten()
    tensor([0., 0., 1.])
    """
    return temporal_padding(x, (left_pad, right_pad))


def asymmetric_spatial_2d_padding(
    x: Any,
    top_pad: int = 1,
    bottom_pad: int = 1,
    left_pad: int = 1,
    right_pad: int = 1,
    dim_ordering: str = "default",
) -> Any:
    """`spatial_2d_padding` with four numbers.

    >>> asymmetric_spatial_2d_padding(torch.ones(1, 2, 2, 1), 1, 0, 0, 0).shape
    torch.Size([1, 3, 2, 1])
    """
    return spatial_2d_padding(x, ((top_pad, bottom_pad), (left_pad, right_pad)), data_format_of(dim_ordering))


def kernel_of(kernel: Any, found: str) -> Any:
    """A kernel in the order of Keras 2: of (filters, channels, rows, columns) (rows, columns, channels, filters)."""
    return permute_dimensions(kernel, (*range(2, len(kernel.shape)), 1, 0)) if found == "channels_first" else kernel


def atrous_conv2d(
    x: Any,
    kernel: Any,
    rate: int = 1,
    border_mode: str = "valid",
    dim_ordering: str = "default",
    image_shape: Any = None,
    filter_shape: Any = None,
) -> Any:
    """`conv2d` with a dilation rate; a kernel for "th" is (filters, channels, rows, columns).

    `image_shape` and `filter_shape`, which helped Theano, are checked against the tensors.

    >>> atrous_conv2d(torch.ones(1, 5, 5, 2), torch.ones(3, 3, 2, 4), 2).shape
    torch.Size([1, 1, 1, 4])
    """
    check_shapes(x, kernel, image_shape, filter_shape)
    found = data_format_of(dim_ordering)
    return conv2d(x, kernel_of(kernel, found), (1, 1), checked(border_mode), found, (rate, rate))


def deconv2d(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1),
    border_mode: str = "valid",
    dim_ordering: str = "default",
    image_shape: Any = None,
    filter_shape: Any = None,
) -> Any:
    """`conv2d_transpose`; a kernel is (rows, columns, channels, filters), for "th" (filters, channels, rows, columns).

    >>> deconv2d(torch.ones(1, 2, 2, 3), torch.ones(3, 3, 3, 4), (1, 4, 4, 4), (2, 2), "same").shape
    torch.Size([1, 4, 4, 4])
    """
    check_shapes(x, kernel, image_shape, filter_shape)
    found = data_format_of(dim_ordering)
    swapped = permute_dimensions(kernel_of(kernel, found), (0, 1, 3, 2))
    return conv2d_transpose(x, swapped, output_shape, strides, checked(border_mode), found)


def check_shapes(x: Any, kernel: Any, image_shape: Any, filter_shape: Any) -> None:
    """Raise ValueError for shapes that are not those of the tensors."""
    for given, asked in ((x, image_shape), (kernel, filter_shape)):
        pairs = [] if asked is None else list(zip(given.shape, asked, strict=True))
        if any(None not in pair and pair[0] != pair[1] for pair in pairs):
            raise ValueError(f"a tensor of shape {tuple(given.shape)} was said to have the shape {asked}.")


def is_explicit_shape(shape: Any) -> bool:
    """Whether a shape is a list or tuple of whole numbers and None.

    >>> is_explicit_shape((None, 3)), is_explicit_shape(3)
    (True, False)
    """
    return hasattr(shape, "__iter__") and all(size is None or isinstance(size, int) for size in shape)


def pattern_broadcast(x: Any, broatcastable: Any) -> Tensor:
    """`x`, whose axes are broadcast by themselves where they are 1 long. Raises ValueError when another one should be.

    >>> pattern_broadcast(torch.ones(1, 2), (True, False)).shape
    torch.Size([1, 2])
    """
    for axis, (size, wanted) in enumerate(zip(tensor(x).shape, broatcastable, strict=True)):
        if wanted and size != 1:
            raise ValueError(f"axis {axis} of the shape {tuple(x.shape)} cannot be broadcast; it is not 1 long.")
    return x
