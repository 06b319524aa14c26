"""What a user gives as `callbacks` becomes a list of callbacks; what is no callback is refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torchkeras.callbacks.base import HOOKS, CallbackList, arguments_of, handler
from torchkeras.callbacks.torch_scheduler import SCHEDULERS, TorchScheduler


def as_callbacks(given: Any) -> list[Any]:
    """A flat list of callbacks from a list or tuple, a `CallbackList`, a single callback, or None.

    A scheduler of `torch.optim.lr_scheduler` is wrapped in a `TorchScheduler`. Raises TypeError as `check_callback`
    does.
    """
    if given is None:
        return []
    items = list(given) if isinstance(given, (list, tuple, CallbackList)) else [given]
    found = [TorchScheduler(item) if isinstance(item, SCHEDULERS) else item for item in items]
    for callback in found:
        check_callback(callback)
    return found


def check_callback(callback: Any) -> None:
    """Raise TypeError for what is no callback, and for a callback whose hooks cannot take their arguments.

    It need not derive from `Callback`: an object of another package with any of the hooks is a callback too.
    """
    if isinstance(callback, type):
        made = f": {callback.__name__}(...)" if any(hasattr(callback, hook) for hook in HOOKS) else ""
        raise TypeError(f"callbacks: {callback.__name__} is a class; give an object of it{made}.")
    if not any(callable(getattr(callback, hook, None)) for hook in HOOKS):
        raise TypeError(
            f"callbacks: {callback!r} is no callback: it has no hook, such as on_epoch_end(epoch, logs). Give one flat "
            "list of callbacks; a function becomes one by LambdaCallback(on_epoch_end=function)."
        )
    for hook in HOOKS:
        act = handler(callback, hook)
        if act is not None and not _takes(act, arguments_of(hook)):
            raise TypeError(
                f"callbacks: {type(callback).__name__}.{hook}{inspect.signature(act)} cannot be called as "
                f"{hook}({', '.join(arguments_of(hook))})."
            )


def _takes(act: Callable[..., Any], arguments: tuple[str, ...]) -> bool:
    """Whether a function takes these arguments by position, as far as can be known."""
    try:
        signature = inspect.signature(act)
    except ValueError:  # one of C, which has none
        return True
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True
