"""What a user gives as `callbacks` becomes a list of callbacks."""

from __future__ import annotations

from typing import Any

from torchkeras.callbacks.base import CallbackList
from torchkeras.callbacks.torch_scheduler import SCHEDULERS, TorchScheduler


def as_callbacks(given: Any) -> list[Any]:
    """A flat list of callbacks from a list or tuple, a `CallbackList`, a single callback, or None.

    A scheduler of `torch.optim.lr_scheduler` is wrapped in a `TorchScheduler`.
    """
    if given is None:
        return []
    items = list(given) if isinstance(given, (list, tuple, CallbackList)) else [given]
    return [TorchScheduler(item) if isinstance(item, SCHEDULERS) else item for item in items]
