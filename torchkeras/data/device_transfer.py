"""Copies batches to the device, one ahead of the step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from torchkeras.data.raw_batch import mapped

if TYPE_CHECKING:
    from torchkeras.data.batch import Batch

    Batches = Generator[Batch, None, None]


def to_device(batches: Batches, device: torch.device) -> Batches:
    """The same batches on `device`; where that is the CPU, `batches` itself.

    A CUDA device takes them from pinned memory on a stream of its own, so that the next batch travels while a step
    runs. At most three batches are on the device: the step's, the one in flight, and the one that is being sent.
    Closing the result closes `batches`.
    """
    if device.type == "cpu":
        return batches
    if device.type == "cuda":
        return _sent_ahead(batches, device)
    return _moved(batches, device)


def _moved(batches: Batches, device: torch.device) -> Batches:
    with closing(batches):
        for batch in batches:
            yield _each(batch, lambda value: value.to(device), device)


def _sent_ahead(batches: Batches, device: torch.device) -> Batches:
    stream = torch.cuda.Stream(device)
    waiting: deque[tuple[Batch, torch.cuda.Event]] = deque()
    with closing(batches):
        for batch in batches:
            waiting.append(_send(batch, device, stream))
            if len(waiting) > 1:
                yield _receive(*waiting.popleft(), device)
        while waiting:
            yield _receive(*waiting.popleft(), device)


def _send(batch: Batch, device: torch.device, stream: torch.cuda.Stream) -> tuple[Batch, torch.cuda.Event]:
    """Queue the copies of what lies in host memory on `stream`; the event says when they are done."""

    def sent(value: Tensor) -> Tensor:
        # The host allocator keeps a pinned block until the copies queued from it are done: no reference is needed.
        if value.device.type == "cpu":
            return value.pin_memory().to(device, non_blocking=True)
        return value

    with torch.cuda.stream(stream):
        batch = _each(batch, sent, None)  # an object that moves itself does so when it is received
        event = torch.cuda.Event()
        event.record(stream)
    return batch, event


def _receive(batch: Batch, event: torch.cuda.Event, device: torch.device) -> Batch:
    """Let the step's stream wait for this batch's copies alone, not for those of the next batch."""
    current = torch.cuda.current_stream(device)
    current.wait_event(event)

    def received(value: Tensor) -> Tensor:
        value = value.to(device)  # moves only what came from another device
        # Made on the side stream: without this its memory could be given out again while the step still reads it.
        value.record_stream(current)
        return value

    return _each(batch, received, device)


def _each(batch: Batch, change: Callable[[Tensor], Tensor], device: torch.device | None) -> Batch:
    if batch.raw is not None:
        return replace(batch, raw=mapped(batch.raw, change, device))
    return batch.mapped(change)
