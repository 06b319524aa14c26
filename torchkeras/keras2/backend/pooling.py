"""Pooling: the maximum or mean of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from torchkeras.keras2.backend.convolutions import checked, each_axis
from torchkeras.keras2.backend.images import first, in_format
from torchkeras.keras2.backend.nodes import node, tensor
from torchkeras.keras2.backend.settings import normalize_data_format
from torchkeras.layers.spatial import same_padding, torch_padding

MAXIMA: dict[int, Callable[..., Tensor]] = {2: F.max_pool2d, 3: F.max_pool3d}
MEANS: dict[int, Callable[..., Tensor]] = {2: F.avg_pool2d, 3: F.avg_pool3d}


def _pooled(rank: int, x: Any, pool_size: Any, strides: Any, padding: str, data_format: Any, pool_mode: str) -> Tensor:
    found, x = normalize_data_format(data_format), tensor(x)
    window, strides = each_axis(pool_size, rank), each_axis(strides, rank)
    if pool_mode not in ("max", "avg"):
        raise ValueError(f"pool_mode must be 'max' or 'avg'; found {pool_mode!r}.")
    inputs, amounts = first(x, found), [0] * 2 * rank
    if checked(padding) == "same":
        amounts = torch_padding(map(same_padding, inputs.shape[2:], window, strides))
    if pool_mode == "max":
        return in_format(MAXIMA[rank](F.pad(inputs, amounts, value=-torch.inf), window, strides), found)
    means, shares = (
        MEANS[rank](F.pad(values, amounts), window, strides) for values in (inputs, torch.ones_like(inputs[:1, :1]))
    )
    return in_format(means / shares, found)


@node
def pool2d(
    x: Any,
    pool_size: Sequence[int],
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """The maximum ("max") or mean ("avg") of each window of images; what is outside of the image does not count.

    >>> pool2d(torch.ones(1, 4, 6, 2), (2, 2), (2, 2)).shape
    torch.Size([1, 2, 3, 2])
    """
    return _pooled(2, x, pool_size, strides, padding, data_format, pool_mode)


@node
def pool3d(
    x: Any,
    pool_size: Sequence[int],
    strides: Sequence[int] = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """The maximum or mean of each window of volumes, as `pool2d`.

    >>> pool3d(torch.ones(1, 4, 6, 2, 3), (2, 2, 2), (2, 2, 2)).shape
    torch.Size([1, 2, 3, 1, 3])
    """
    return _pooled(3, x, pool_size, strides, padding, data_format, pool_mode)
