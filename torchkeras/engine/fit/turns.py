"""Several threads at one model: what a call may do while another one goes on.

Any number may predict, also while one trains. Two that train would each overwrite what the other has learned: the
second one gets an error. Two that evaluate count in the same metrics: the second one waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, TypeVar

import torch

from torchkeras.base.forks import remake_thread_pool
from torchkeras.base.malloc import keep_freed
from torchkeras.engine.modes import in_mode, kept

Method = TypeVar("Method", bound=Callable[..., Any])


class Turn:
    """Whose turn it is to change a model, or to count in its metrics."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.trainer: str | None = None  # the thread that trains

    def __reduce__(self) -> Any:  # a copy of a model has its own
        return Turn, ()


class Turning:
    """The part of a compiled model that knows of other threads."""

    name: str
    _device: Any
    _compiled_model: Any

    @property
    def _turn(self) -> Turn:
        return self.__dict__.setdefault("_turn_of", Turn())  # type: ignore[no-any-return]

    @contextmanager
    def _in_turn(self, method: str, trains: bool = False) -> Iterator[None]:
        """Inside the block no other thread trains the model or counts in its metrics.

        Waits for one that counts. Raises RuntimeError if another one trains.
        """
        turn = self._turn
        while not turn.lock.acquire(timeout=0.1):
            if turn.trainer is not None:
                raise RuntimeError(
                    f"{method}: {type(self).__name__} {self.name!r} is being trained by the thread {turn.trainer!r}. "
                    "Train and evaluate a model in one thread at a time, or a copy of it by clone_model in another."
                )
        before = turn.trainer
        try:
            turn.trainer = threading.current_thread().name if trains else before
            yield
        finally:
            turn.trainer = before
            turn.lock.release()

    def _mode(self, training: bool, device: torch.device | None = None) -> AbstractContextManager[None]:
        """Training or evaluation mode inside the block: evaluation in this thread, training as torch keeps it.

        `device`: that of the weights, from a caller that knows it.
        """
        if (device or self._device).type == "cpu":
            remake_thread_pool()
            keep_freed()
        if not training:
            return in_mode(False)
        if torch.is_inference_mode_enabled():
            raise RuntimeError(
                f"{type(self).__name__} {self.name!r} cannot be trained inside torch.inference_mode(), where torch "
                "computes no gradients: leave its block before."
            )
        return self._kept_in_training()

    @contextmanager
    def _kept_in_training(self) -> Iterator[None]:
        # With what add_loss or add_metric was given, layers after the outputs too.
        networks: set[Any] = {self} if self._compiled_model is None else {self, self._compiled_model.network}
        with torch.enable_grad(), in_mode(None), kept(list(networks), True):
            yield


def one_trains(method: Method) -> Method:
    """A method that trains: a RuntimeError says so if another thread is training the model."""

    @wraps(method)
    def in_turn(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._in_turn(method.__name__, trains=True):
            return method(self, *args, **kwargs)

    return in_turn  # type: ignore[return-value]
