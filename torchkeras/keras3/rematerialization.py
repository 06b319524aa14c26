"""`keras.remat`: activations that the backward pass computes again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from torch.utils.checkpoint import checkpoint


def remat(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that computes as `f`, and keeps no activations for the backward pass, which computes them again.

    It takes less memory and more time, by `torch.utils.checkpoint`.

    Arguments:
        f (callable): the function, or a layer.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> remat(lambda x: (x * x).sum())(x).backward()
        >>> x.grad
        tensor([2., 2.])

    Source: https://keras.io/api/utils/rematerialization/
    """

    @wraps(f, updated=())
    def computed_again(*args: Any, **kwargs: Any) -> Any:
        return checkpoint(f, *args, use_reentrant=False, **kwargs)

    return computed_again
