"""`Progbar`: a bar for loops of one's own, with means of named numbers; `ProgbarLogger` shows runs by it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from torchkeras import callbacks
from torchkeras.base.rules import NAMES, one_of, optional, read
from torchkeras.callbacks.logs import Averages
from torchkeras.callbacks.progress import BAR_HOOKS, READ_EVERY
from torchkeras.config import is_interactive_logging_enabled
from torchkeras.engine.fit.training import training_of

BOLD, GREEN, GREY, PLAIN = "\x1b[1m", "\x1b[32m", "\x1b[37m", "\x1b[0m"
LINE = "━"


class Progbar:
    """A bar on stdout, with numbers after it.

    Options:
        target (integer or None): the number of steps; None when it is not known.
        width (integer, default 20): the characters of the bar.
        verbose (0, 1 or 2, default 1): 0 shows nothing, 1 a bar, 2 a line at the end.
        interval (seconds, default 0.05): the least time between two bars.
        stateful_metrics (names or None, default None): numbers that are shown as they are; of others, the mean so far.
        stateless_metrics (names or None, default None): numbers of which the mean so far is shown; others are shown as
            they are. Only one of the two can be given.
        unit_name (text, default "step"): what a step is called.

    Errors:
        ValueError: an option has a bad value, or both lists of metrics are given.

    Example:
        >>> bar = Progbar(2, verbose=2)
        >>> bar.add(1, [("loss", 1.0)])
        >>> bar.add(1, [("loss", 2.0)])  # prints such as "2/2 - 0s - 6us/step - loss: 2.0000"

    Source: https://keras.io/api/utils/python_utils/
    """

    def __init__(
        self,
        target: int | None,
        width: int = 20,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Iterable[str] | None = None,
        stateless_metrics: Iterable[str] | None = None,
        unit_name: str = "step",
    ):
        if stateful_metrics is not None and stateless_metrics is not None:
            raise ValueError("Progbar: only one of stateful_metrics and stateless_metrics can be given.")
        self.target, self.width, self.interval, self.unit_name = target, width, interval, unit_name
        self.verbose = read("Progbar", "verbose", one_of(0, 1, 2), verbose)
        self.stateful_metrics = set(read("Progbar", "stateful_metrics", optional(NAMES), stateful_metrics) or ())
        means = read("Progbar", "stateless_metrics", optional(NAMES), stateless_metrics)
        self.stateless_metrics = None if means is None else set(means)
        self._seen = self._shown_length = 0
        self._sums: dict[str, tuple[Any, int]] = {}  # of each number: the sum over steps, and the steps
        self._start = time.perf_counter()
        self._first: tuple[int, float] | None = None  # the first steps, which are slower, and when they ended
        self._next = self._start

    def update(self, current: int, values: Iterable[Any] | None = None, finalize: bool | None = None) -> None:
        """Go to a step.

        Arguments:
            current (integer): the steps that are done.
            values (pairs or None, default None): `(name, value)` of the steps since the last update.
            finalize (bool or None, default None): whether this is the last update, whose values are shown as they are;
                None is whether the target is reached.
        """
        ends = (self.target is not None and current >= self.target) if finalize is None else finalize
        steps = max(current - self._seen, 1)
        for name, value in values or ():
            (total, count), added = self._sums.get(name, (0, 0)), steps
            if ends or not self._is_mean(name):
                total, count, added = 0, 0, 1
            self._sums[name] = (total + value * added, count + added)
        self._seen, now = current, time.perf_counter()
        each = self._seconds_each(now)
        if self.verbose == 1 and (ends or now >= self._next):
            self._show_bar(now, each, ends)
            self._next = now + self.interval
        elif self.verbose == 2 and ends and self.target:
            _write(f"{self._count} - {now - self._start:.0f}s - {self._pace(each)}{self._numbers()}\n")

    def add(self, n: int, values: Iterable[Any] | None = None) -> None:
        """Go `n` steps further; `values` as for `update`."""
        self.update(self._seen + n, values)

    def _is_mean(self, name: str) -> bool:
        return name not in self.stateful_metrics if self.stateless_metrics is None else name in self.stateless_metrics

    def _seconds_each(self, now: float) -> float:
        """The seconds of a step; the first ones do not count when there are others."""
        if not self._seen:
            return 0.0
        first, since = self._first or (0, self._start)
        if self._first is None:
            self._first = (self._seen, now)
        return (now - since) / (self._seen - first) if self._seen > first else (now - self._start) / self._seen

    # --- what is shown -----------------------------------------------------------------------------------------------

    @property
    def _count(self) -> str:
        if not self.target:
            return f"{self._seen:7d}/Unknown"
        return f"{self._seen:{len(str(self.target))}d}/{self.target}"

    def _show_bar(self, now: float, each: float, ends: bool) -> None:
        left = self.target is not None and self.target > 0 and not ends
        seconds = _left(each * (self.target - self._seen)) if left else f"{now - self._start:.0f}s"  # type: ignore[operator]
        numbers = f" {self._pace(each)}{self._numbers()}"
        bar = length = ""
        if self.target:
            done = min(int(self.width * self._seen / self.target), self.width)
            bar, length = f" {GREEN * (done > 0)}{LINE * done}{PLAIN * (done > 0)}", " " * (self.width + 1)
            bar += f"{GREY}{LINE * (self.width - done)}{PLAIN}"
        count = f"{BOLD}{self._count}{PLAIN}" if self.target else self._count
        shown = len(f"{self._count}{length} {seconds}{numbers}")
        back, rest = "\b" * self._shown_length, " " * (self._shown_length - shown)
        _write(f"{back}\r{count}{bar} {BOLD}{seconds}{PLAIN}{numbers}{rest}" + "\n" * ends)
        self._shown_length = shown

    def _pace(self, each: float) -> str:
        if each >= 1 or each == 0:
            return f"{each:.0f}s/{self.unit_name}"
        return f"{each * 1e3:.0f}ms/{self.unit_name}" if each >= 1e-3 else f"{each * 1e6:.0f}us/{self.unit_name}"

    def _numbers(self) -> str:
        means = {name: float(np.mean(total / max(count, 1))) for name, (total, count) in self._sums.items()}
        # There, a line writes negative numbers as powers of ten; a bar does not.
        size = abs if self.verbose == 1 else float
        return "".join(f" - {name}: {mean:{'.4f' if size(mean) > 1e-3 else '.4e'}}" for name, mean in means.items())


def _left(seconds: float) -> str:
    """The time that is left, as a bar shows it."""
    minutes, rest = divmod(int(seconds), 60)
    if seconds > 3600:
        return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}" if seconds > 60 else f"{rest}s"


def _write(text: str) -> None:
    """Write to stdout, where interactive logging is on; a stream without the sign of a bar gets another."""
    if not is_interactive_logging_enabled():
        return
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.replace(LINE, "-").encode(encoding, "replace").decode(encoding)
    sys.stdout.write(text)
    sys.stdout.flush()


class ProgbarLogger(callbacks.ProgbarLogger):
    """Shows a run as `params["verbose"]` says: 0 nothing, 1 a bar of batches for each epoch, 2 a line for each epoch.

    `fit`, `evaluate` and `predict` add one by themselves, as their `verbose` says.

    Example:
        >>> ProgbarLogger().count_mode
        'steps'

    Source: https://keras.io/api/callbacks/
    """

    def __init__(self) -> None:
        super().__init__("steps")
        self._target: int | None = None

    def set_params(self, params: Mapping[str, Any]) -> None:
        super().set_params(params)
        self._target = params.get("steps")
        for name, method in BAR_HOOKS.items():
            counts = self.verbose == 1 or self._target is None  # without a bar a known number needs no counting
            if self.verbose and (counts or not name.endswith("batch_end")):
                setattr(self, name, getattr(self, method))

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._in_epoch, epochs = True, self.params.get("epochs", 1)
        if self.verbose and epochs > 1:
            _write(f"Epoch {epoch + 1}/{epochs}\n")
        self._open("train_step")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._in_epoch = False
        self._close(logs)

    def on_train_end(self, logs: Any = None) -> None:
        self._in_epoch, self._bar = False, None

    def _on_own_begin(self, logs: Any = None) -> None:
        if not self._in_epoch:
            self._open("test_step")

    def _on_batch(self, batch: int, logs: Any = None) -> None:
        self._seen = batch + 1
        if self._bar is None or self.verbose != 1:
            return
        logs = logs or {}
        if self._averages is None:
            names = sorted(name for name in logs if name not in ("batch", "size"))
            self._averages = Averages(names, names if self._counts_by_itself else ())
        self._averages.add(logs, logs.get("size", 1))
        if time.perf_counter() >= self._next_read:
            self._bar.update(self._seen, list(self._averages.values().items()), finalize=False)
            self._next_read = time.perf_counter() + READ_EVERY

    def _open(self, title: str) -> None:
        """`title`: the step, of which one of the user's gives numbers of the epoch so far."""
        self._seen, self._averages = 0, None
        self._counts_by_itself = self.model is not None and training_of(self.model).has_own(title)
        self._bar = Progbar(self._target, verbose=self.verbose, stateless_metrics=())
        self._next_read = time.perf_counter()

    def _close(self, logs: Any = None) -> None:
        if self._bar is None:
            return
        if self._target is None:
            self._target = self._bar.target = self._seen
        self._bar.update(self._target, list((logs or {}).items()), finalize=True)
        self._bar = None
