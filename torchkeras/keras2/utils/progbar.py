"""`Progbar`: a bar of characters, with means of named numbers."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

UNITS = ((1, "s", 1.0), (1e-3, "ms", 1e3))  # of a step of at least so many seconds; shorter ones in microseconds


class Progbar:
    """A progress bar on stdout.

    Options:
        target (integer or None): the number of steps; None when it is not known.
        width (integer, default 30): the characters of the bar.
        verbose (0, 1 or 2, default 1): 0 shows nothing, 1 a bar, 2 a line at the end.
        interval (seconds, default 0.05): the least time between two bars.
        stateful_metrics (names or None, default None): numbers that are shown as they are; of others, the mean so far.
    """

    def __init__(
        self,
        target: int | None,
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Iterable[str] | None = None,
    ):
        self.target, self.width, self.verbose, self.interval = target, width, verbose, interval
        self.stateful_metrics = set(stateful_metrics or ())
        self.seen_so_far = 0
        self._sums: dict[str, tuple[Any, int]] = {}  # of each number: the sum over steps, and the steps
        self._in_place = sys.stdout.isatty() or "ipykernel" in sys.modules
        self._shown = 0  # characters of the line that stands there
        self._start, self._last_update = time.time(), 0.0

    def update(self, current: int, values: Iterable[Any] | None = None, force: bool = False) -> None:
        """Go to a step.

        Arguments:
            current (integer): the steps that are done.
            values (pairs or None, default None): `(name, value)` of the steps since the last update.
            force (bool, default False): whether to show it before `interval` has passed.
        """
        self._add_values(values or (), current - self.seen_so_far)
        self.seen_so_far = current
        now = time.time()
        done = self.target is not None and current >= self.target
        early = now - self._last_update < self.interval and self.target is not None and not done
        if self.verbose == 1 and (force or not early):
            self._show(current, now - self._start, done)
        elif self.verbose == 2 and (done or self.target is None):
            self._write(f" - {now - self._start:.0f}s{self._numbers(signed=True)}\n")
        elif self.verbose == 1:
            return
        self._last_update = now

    def add(self, n: int, values: Iterable[Any] | None = None) -> None:
        """Go `n` steps further; `values` as for `update`."""
        self.update(self.seen_so_far + n, values)

    def _add_values(self, values: Iterable[Any], steps: int) -> None:
        """Add values of so many steps to the sums; a stateful one replaces the value before it."""
        for name, value in values:
            (total, count), added = self._sums.get(name, (0, 0)), steps
            if name in self.stateful_metrics:
                total, count, added = 0, 0, 1
            self._sums[name] = (total + value * added, count + added)

    def _show(self, current: int, seconds: float, done: bool) -> None:
        bar = f"{current:7d}/Unknown" if self.target is None else self._bar(current, self.target)
        line = bar + self._time(current, seconds, done) + self._numbers(signed=False)
        begin = "\b" * self._shown + "\r" if self._in_place else "\n"
        self._write(begin + line.ljust(self._shown) + "\n" * done)
        self._shown = len(line)

    def _bar(self, current: int, target: int) -> str:
        filled = int(self.width * current / target)
        head = ("=" * (filled - 1) + (">" if current < target else "=")) if filled > 0 else ""
        return f"{current:{len(str(target))}d}/{target} [{head}{'.' * (self.width - filled)}]"

    def _time(self, current: int, seconds: float, done: bool) -> str:
        """The time that is left while the end is known, else the time so far and that of a step."""
        each = seconds / current if current else 0
        if self.target is not None and not done:
            left = each * (self.target - current)
            hours, minutes, rest = int(left // 3600), int(left % 3600 // 60), int(left % 60)
            if left > 3600:
                return f" - ETA: {hours}:{minutes:02d}:{rest:02d}"
            return f" - ETA: {minutes}:{rest:02d}" if left > 60 else f" - ETA: {int(left)}s"
        unit, scale = next(((unit, scale) for least, unit, scale in UNITS if each >= least), ("us", 1e6))
        return f" - {seconds:.0f}s {each * scale:.0f}{unit}/step"

    def _numbers(self, signed: bool) -> str:
        """The means; `signed`: those below zero in powers of ten, as Keras's line at the end has them."""
        means = {name: float(np.mean(total / max(1, count))) for name, (total, count) in self._sums.items()}
        plain = {name: (mean if signed else abs(mean)) > 1e-3 for name, mean in means.items()}
        return "".join(
            f" - {name}: {mean:.4f}" if plain[name] else f" - {name}: {mean:.4e}" for name, mean in means.items()
        )

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
