"""`Progbar`: a bar for loops of one's own, with means of named numbers."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from tqdm import tqdm

from torchkeras.base.rules import NAMES, one_of, optional, read
from torchkeras.config import is_interactive_logging_enabled


class Progbar:
    """A bar on stdout, with numbers behind it.

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
        >>> bar.add(1, [("loss", 2.0)])
        2/2 - 0s - loss: 2.0000

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
        self._seen = 0
        self._sums: dict[str, tuple[Any, int]] = {}  # of each number: the sum over steps, and the steps
        self._start = time.time()
        self._bar = self._made_bar()

    def _made_bar(self) -> Any:
        count = "{n_fmt}/{total_fmt} " + f"{{bar:{self.width}}}" if self.target else "{n_fmt}/Unknown"
        return tqdm(
            total=self.target,
            file=sys.stdout,
            mininterval=self.interval,
            miniters=1,
            unit=self.unit_name,
            bar_format=count + " {elapsed} {rate_inv_fmt}{postfix}",
            disable=self.verbose != 1 or not is_interactive_logging_enabled(),
        )

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
        text = "".join(f" - {name}: {_number(total / count)}" for name, (total, count) in self._sums.items())
        self._bar.set_postfix_str(text.removeprefix(" - "), refresh=False)
        self._bar.update(current - self._seen)
        self._seen = current
        if ends:
            self._end(text)

    def _end(self, numbers: str) -> None:
        seconds = time.time() - self._start
        self._bar.close()
        if self.verbose == 2 and self.target and is_interactive_logging_enabled():
            print(f"{self._seen}/{self.target} - {seconds:.0f}s{numbers}")

    def _is_mean(self, name: str) -> bool:
        return name not in self.stateful_metrics if self.stateless_metrics is None else name in self.stateless_metrics

    def add(self, n: int, values: Iterable[Any] | None = None) -> None:
        """Go `n` steps further; `values` as for `update`."""
        self.update(self._seen + n, values)


def _number(value: Any) -> str:
    mean = float(np.mean(value))
    return f"{mean:.4f}" if abs(mean) > 1e-3 else f"{mean:.4e}"
