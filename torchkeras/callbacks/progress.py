"""What is shown while a model runs: a bar an epoch (verbose=1) or a line an epoch (verbose=2).

The numbers of a bar are read from the device at most every tenth of a second, not every batch.
"""

import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

from tqdm import tqdm

from torchkeras.callbacks.base import Callback

STREAMS = ("stdout", "stderr")
READ_EVERY = 0.1  # seconds


class _Shown(Callback):
    """The stream by its name, looked up when it is written to: it may be replaced in between."""

    def __init__(self, stream: str = "stdout"):
        if stream not in STREAMS:
            raise ValueError(f"{type(self).__name__}: stream must be 'stdout' or 'stderr'; found {stream!r}.")
        self.stream = stream

    @property
    def file(self) -> TextIO:
        return getattr(sys, self.stream)

    def described(self, logs: Mapping[str, Any]) -> str:
        """` - `-joined numbers of the logs that are among the run's metrics, as Keras prints them."""
        names = [name for name in self.params.get("metrics") or logs if name in logs and name not in ("batch", "size")]
        return " - ".join(f"{name}: {formatted(logs[name])}" for name in names)


class ProgressBar(_Shown):
    """One bar an epoch, with the numbers so far and at the end the epoch's own; one for an evaluation or prediction.

    The validation of an epoch has no bar of its own.
    """

    def __init__(self, stream: str = "stdout"):
        super().__init__(stream)
        self._bar: Any = None
        self._in_epoch = False
        self._next_read = 0.0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._open(f"Epoch {epoch + 1}/{self.params.get('epochs', '?')}")
        self._in_epoch = True

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._advance(batch, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._in_epoch = False
        self._close(logs)

    def on_train_end(self, logs: Any = None) -> None:
        self._in_epoch = False
        self._close()

    def on_test_begin(self, logs: Any = None) -> None:
        if not self._in_epoch:
            self._open("")

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        if not self._in_epoch:
            self._advance(batch, logs)

    def on_test_end(self, logs: Any = None) -> None:
        if not self._in_epoch:
            self._close(logs)

    def on_predict_begin(self, logs: Any = None) -> None:
        self._open("")

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        self._advance(batch, logs)

    def on_predict_end(self, logs: Any = None) -> None:
        self._close()

    def _open(self, title: str) -> None:
        self._close()
        self._seen = 0
        self._bar = tqdm(total=self._batches(), desc=title or None, file=self.file, mininterval=0, unit="batch")
        self._next_read = time.perf_counter() + READ_EVERY

    def _batches(self) -> int | None:
        """The number of batches of an epoch, when it is known."""
        samples, batch_size = self.params.get("samples"), self.params.get("batch_size")
        return self.params.get("steps") or (-(-samples // batch_size) if samples and batch_size else None)

    def _advance(self, batch: int, logs: Any) -> None:
        self._seen = batch + 1
        if self._bar is None or time.perf_counter() < self._next_read:
            return
        self._bar.set_postfix_str(self.described(logs or {}), refresh=False)
        self._bar.update(self._seen - self._bar.n)
        self._next_read = time.perf_counter() + READ_EVERY

    def _close(self, logs: Any = None) -> None:
        if self._bar is None:
            return
        if logs:
            self._bar.set_postfix_str(self.described(logs), refresh=False)
        self._bar.update(self._seen - self._bar.n)
        self._bar.refresh()
        self._bar.close()
        self._bar = None


class EpochLines(_Shown):
    """A line at an epoch's start and one, with seconds and numbers, at its end."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._start = time.perf_counter()
        print(f"Epoch {epoch + 1}/{self.params.get('epochs', '?')}", file=self.file, flush=True)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        numbers = self.described(logs or {})
        seconds = f" - {time.perf_counter() - self._start:.0f}s"
        print(f"{seconds} - {numbers}" if numbers else seconds, file=self.file, flush=True)


def formatted(value: Any) -> str:
    """A number with four digits behind the point, as a power of ten where it is small."""
    return f"{value:.4f}" if value == 0 or abs(value) > 1e-3 else f"{value:.4e}"


def shown(verbose: int, stream: str = "stdout") -> list[Callback]:
    """The callbacks that `verbose` stands for: 0 none, 1 a bar, 2 a line an epoch. Raises ValueError for another."""
    makers = {0: [], 1: [ProgressBar], 2: [EpochLines]}
    if verbose not in tuple(makers):  # which compares, where a dictionary would hash
        raise ValueError(f"verbose must be 0, 1 or 2; found {verbose!r}.")
    return [make(stream) for make in makers[verbose]]
