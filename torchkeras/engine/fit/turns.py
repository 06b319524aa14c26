"""Several threads at one model: what a call may do while another one runs.

Any number may predict, also while one trains. Two that train would each overwrite what the other has learned: the
second one raises an error. Two that evaluate count in the same metrics: the second one waits.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import torch

from torchkeras.base.forks import remake_thread_pool
from torchkeras.base.malloc import keep_freed
from torchkeras.engine.graph.network import device_of
from torchkeras.engine.modes import in_mode, stored_mode
from torchkeras.engine.step.step import AS_IT_IS

if TYPE_CHECKING:
    from torchkeras.engine.fit.training import Training

COUNTING: Counter[int] = Counter()  # how many of `fit`, `evaluate` and the like count in a metric now, by its id


class Turn:
    """Whose turn it is to change a model, or to count in its metrics."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.trainer: str | None = None  # the thread that trains

    def __reduce__(self) -> Any:  # a copy of a model has its own
        return Turn, ()


@contextmanager
def in_turn(training: Training, method: str, trains: bool = False) -> Iterator[None]:
    """Inside the block no other thread trains the model or counts in its metrics.

    Waits for one that counts. Raises RuntimeError if another one trains.
    """
    turn = training.turn
    while not turn.lock.acquire(timeout=0.1):
        if turn.trainer is not None:
            raise RuntimeError(
                f"{method}: {training.described} is being trained by the thread {turn.trainer!r}. Train and evaluate a "
                "model in one thread at a time, or a copy of it by clone_model in another."
            )
    before = turn.trainer
    try:
        if trains:
            turn.trainer = threading.current_thread().name
        yield
    finally:
        turn.trainer = before
        turn.lock.release()


def computing(training: Training, trains: bool, device: torch.device | None = None) -> AbstractContextManager[None]:
    """Training or evaluation mode inside the block: evaluation in this thread, training as torch keeps it.

    `device`: that of the weights, from a caller that knows it.
    """
    if (device or device_of(training.model)).type == "cpu":
        remake_thread_pool()
        keep_freed()
    if not trains:
        return in_mode(False)
    if torch.is_inference_mode_enabled():
        raise RuntimeError(
            f"{training.described} cannot be trained inside torch.inference_mode(), where torch computes no gradients: "
            "leave its block before."
        )
    return _kept_in_training(training)


@contextmanager
def _kept_in_training(training: Training) -> Iterator[None]:
    networks: set[Any] = {training.model}
    if training.compiled is not None:  # with what add_loss or add_metric was given, layers after the outputs too
        networks.add(training.compiled.network)
    with torch.enable_grad(), in_mode(None), stored_mode(list(networks), True):
        yield


def counting(training: Training, method: str, reset: bool) -> AbstractContextManager[None]:
    """Metrics with a state count what is inside the block, and nothing else if they are `reset`."""
    if not training.ready().kept:
        return AS_IT_IS
    return counted_apart(training, method, reset)


def _count_no_more(ids: Counter[int]) -> None:
    """Take metrics off the counter, by the `id` of each."""
    COUNTING.subtract(ids)
    for each in ids:
        if not COUNTING[each]:
            del COUNTING[each]


@contextmanager
def counted_apart(training: Training, method: str, reset: bool | None = None) -> Iterator[None]:
    """Save what the metrics have counted of something under way, in this model or another, and restore it at the end.

    `reset`: whether metrics that count nothing else begin at 0; None leaves it to the block.
    """
    metrics = training.ready().kept
    if not metrics:
        yield
        return
    with in_turn(training, method):
        states = {name: metric.state_dict() for name, metric in metrics.items() if id(metric) in COUNTING}
        if states and reset is False:
            raise ValueError(
                f"{method}: reset_metrics=False would continue with what the metrics have counted of the epoch of "
                "`fit` that is under way: leave it out."
            )
        for name, metric in metrics.items():
            if name in states or (reset and metric._resets_by_batch):
                metric.reset_state()
        ids = Counter(map(id, metrics.values()))
        COUNTING.update(ids)
        try:
            yield
        finally:
            _count_no_more(ids)
            for name, state in states.items():
                metrics[name].load_state_dict(state)
