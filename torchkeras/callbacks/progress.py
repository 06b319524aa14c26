"""What is shown while a model runs: a bar for each epoch (verbose=1) or a line for each epoch (verbose=2).

The numbers of a bar are read from the device at most every tenth of a second, not every batch.
"""

import importlib
import importlib.util
import logging
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TextIO

import numpy as np
from tqdm import tqdm

from torchkeras.base.rules import NAMES, one_of, optional, read
from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.logs import Averages
from torchkeras.config import is_interactive_logging_enabled
from torchkeras.world.processes import is_main

LOGGER = logging.getLogger(__name__)
STREAMS = ("stdout", "stderr")
COUNT_MODES = {"samples": "sample", "steps": "batch"}
READ_EVERY = 0.1  # seconds
NOT_SHOWN = ("batch", "size", "lr")
# The forms of a bar, the widest first: in a narrow terminal the bar shrinks, then it goes with the rates. While a bar
# runs, the time and the title may go too. What stays of it has its title.
STAYING = ("{l_bar}{bar}{r_bar}", "{desc}: {n_fmt}/{total_fmt} [{elapsed}{postfix}]")
RUNNING = (*STAYING, "{desc}: {n_fmt}/{total_fmt}{postfix}", "{n_fmt}/{total_fmt}{postfix}")


class ProgbarLogger(Callback):
    """Shows a run as `params["verbose"]` says: 0 nothing, 1 a bar for each epoch, 2 a line for each epoch.

    A bar shows the means of the epoch so far, and at its end the epoch's own numbers. If the terminal is too narrow for
    these, they follow on separate lines. An evaluation or a prediction is shown too, but not the validation within an
    epoch. In a notebook, ipywidgets shows the bar, which a line of text replaces at the end of the epoch; without
    ipywidgets there are only the lines.

    Options:
        count_mode (text, default "samples"): what the bar counts, "samples" or "steps", which are batches.
        stateful_metrics (names or None, default None): numbers that are shown as they are, not averaged.
        stream (text, default "stdout"): "stdout" or "stderr", looked up at each write.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> ProgbarLogger("steps", stream="stderr").count_mode
        'steps'

    Source: https://keras.io/api/callbacks/
    """

    main_only = True
    needed_to_resume = False
    _takes_means = True

    def __init__(
        self, count_mode: str = "samples", stateful_metrics: Iterable[str] | None = None, stream: str = "stdout"
    ):
        self.count_mode = read("ProgbarLogger", "count_mode", one_of(*COUNT_MODES), count_mode)
        self.stream = read("ProgbarLogger", "stream", one_of(*STREAMS), stream)
        self.stateful_metrics = set(read("ProgbarLogger", "stateful_metrics", optional(NAMES), stateful_metrics) or ())
        self.verbose = 1
        self._bar: Any = None
        self._in_epoch = False
        self._start = self._next_read = time.perf_counter()

    def set_params(self, params: Mapping[str, Any]) -> None:
        self.params = params
        self.verbose = int(params.get("verbose", 1))
        if self.verbose == 1 and _in_notebook() and not _has_widgets():
            self.verbose = 2  # a saved notebook would hold each state of a bar of text
        for name, method in BATCH_HOOKS.items():  # without a bar a batch costs nothing
            if self.verbose == 1:
                setattr(self, name, getattr(self, method))
            else:
                vars(self).pop(name, None)

    @property
    def file(self) -> TextIO:
        """The stream, looked up now."""
        return getattr(sys, self.stream)

    # --- hooks -------------------------------------------------------------------------------------------------------

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._begin(f"Epoch {epoch + 1}/{self.params.get('epochs', '?')}")
        self._in_epoch = True

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._in_epoch = False
        self._end(logs)

    def on_test_begin(self, logs: Any = None) -> None:
        if not self._in_epoch:
            self._begin("Evaluate")

    def on_test_end(self, logs: Any = None) -> None:
        self._on_own_end(logs)

    def on_predict_begin(self, logs: Any = None) -> None:
        if not self._in_epoch:
            self._begin("Predict")

    def on_predict_end(self, logs: Any = None) -> None:
        self._on_own_end(logs)

    def on_train_end(self, logs: Any = None) -> None:
        self._in_epoch = False
        self._close()

    def _on_batch(self, batch: int, logs: Any = None) -> None:
        logs = logs or {}
        self._seen = batch + 1 if self.count_mode == "steps" else self._seen + logs.get("size", 0)
        if self._bar is None:
            return
        self._averages.add(logs, logs.get("size", 1))
        if time.perf_counter() >= self._next_read:
            self._show(self._averages.values())
            self._next_read = time.perf_counter() + READ_EVERY

    def _on_own_batch(self, batch: int, logs: Any = None) -> None:
        if not self._in_epoch:
            self._on_batch(batch, logs)

    def _on_own_end(self, logs: Any = None) -> None:
        if not self._in_epoch:
            self._end(logs)

    # --- lines and bars ----------------------------------------------------------------------------------------------

    def _begin(self, title: str) -> None:
        self._start = time.perf_counter()
        if self.verbose == 1:
            self._open(title)
        elif self.verbose == 2:
            print(title, file=self.file, flush=True)

    def _end(self, logs: Any) -> None:
        if self._bar is not None:
            self._close(logs)
        elif self.verbose == 2:
            seconds = f" - {time.perf_counter() - self._start:.0f}s"
            print(" - ".join([seconds, *self._described(logs or {})]), file=self.file, flush=True)

    def _open(self, title: str) -> None:
        self._close()
        self._seen = 0
        self._averages = Averages(self.params.get("metrics") or ("loss",), self.stateful_metrics)
        options = {"total": self._total(), "desc": title, "mininterval": 0, "unit": COUNT_MODES[self.count_mode]}
        if _in_notebook():
            self._bar = importlib.import_module("tqdm.notebook").tqdm(leave=False, **options)
        else:
            self._bar = tqdm(file=self.file, **options)
        self._next_read = time.perf_counter() + READ_EVERY

    def _total(self) -> int | None:
        """How many samples or batches an epoch has, when it is known."""
        samples, batch_size, steps = (self.params.get(name) for name in ("samples", "batch_size", "steps"))
        if self.count_mode == "samples":
            return samples or (steps * batch_size if steps and batch_size else None)
        return steps or (-(-samples // batch_size) if samples and batch_size else None)

    def _show(self, logs: Mapping[str, Any]) -> None:
        numbers = self._described(logs)
        self._bar.n = self._seen
        while not self._fits(numbers, RUNNING):
            numbers.pop()
        self._bar.refresh()

    def _fits(self, numbers: Sequence[str], forms: Sequence[str]) -> bool:
        """Put numbers behind the bar, in the widest form in which the terminal has room for all; whether it has."""
        bar = self._bar
        bar.set_postfix_str(" - ".join(numbers), refresh=False)
        state = {**bar.format_dict, "ncols": None}
        widths = {form: len(bar.format_meter(**{**state, "bar_format": form.replace("{bar}", "")})) for form in forms}
        bar.bar_format = next((form for form, width in widths.items() if width < _columns(bar)), forms[-1])
        return widths[bar.bar_format] < _columns(bar) or not numbers

    def _close(self, logs: Any = None) -> None:
        if self._bar is None:
            return
        bar, numbers = self._bar, self._described(logs) if logs else []
        bar.n = self._seen
        fits = self._fits(numbers, STAYING)
        if not fits:
            self._fits([], STAYING)
        bar.refresh()
        bar.close()
        self._bar = None
        if not bar.leave:
            print(bar.format_meter(**{**bar.format_dict, "bar_format": STAYING[-1]}), file=self.file, flush=True)
        elif not fits:
            print(*_lines(numbers, _columns(bar)), sep="\n", file=self.file, flush=True)

    def _described(self, logs: Mapping[str, Any]) -> list[str]:
        """The numbers of the logs as Keras prints them: the run's metrics, then what callbacks added."""
        found = list(logs)
        known = [name for name in self.params.get("metrics") or () if name in found]
        names = [*known, *(name for name in found if name not in (*known, *NOT_SHOWN))]
        return [f"{name}: {formatted(logs[name])}" for name in names]


# The hooks of batches, and their methods.
BATCH_HOOKS = {
    "on_batch_end": "_on_batch",
    "on_test_batch_end": "_on_own_batch",
    "on_predict_batch_end": "_on_own_batch",
}
# Those of a bar that has no titles, as Keras 3's.
BAR_HOOKS = {
    **{f"on_{kind}_{hook}": f"_on_own_{hook}" for kind in ("test", "predict") for hook in ("begin", "end")},
    **BATCH_HOOKS,
}


def formatted(value: Any) -> str:
    """A number with four decimals, or as a power of ten where it is small; of an array its mean, as in Keras."""
    if isinstance(value, np.ndarray):
        value = float(value.mean())
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:.4f}" if value == 0 or abs(value) > 1e-3 else f"{value:.4e}"


def level(verbose: Any) -> int:
    """`verbose` as 0, 1 or 2; "auto" is 1, as in Keras 3. Raises ValueError for anything else."""
    if verbose == "auto":
        return 1
    if verbose not in (0, 1, 2):
        raise ValueError(f"verbose must be 0, 1 or 2; found {verbose!r}.")
    return int(verbose)


def shown(verbose: int | str, stream: str = "stdout", make: Callable[[], Callback] | None = None) -> list[Callback]:
    """The callbacks that `verbose` stands for: 0 none, 1 a bar, 2 a line an epoch. Raises ValueError for another.

    `make`: what makes the callback, in place of a `ProgbarLogger`.
    """
    if not level(verbose) or not is_interactive_logging_enabled():
        return []
    return [ProgbarLogger("steps", stream=stream) if make is None else make()]


def say(message: str) -> None:
    """Print a line, above the bars that are open; where several processes train, in the main one alone.

    Without interactive logging it goes to a logger.
    """
    if not is_main():
        return
    if is_interactive_logging_enabled():
        tqdm.write(message, file=sys.stdout)
    else:
        LOGGER.info(message)


def _columns(bar: Any) -> float:
    return bar.format_dict["ncols"] or math.inf


def _lines(numbers: Sequence[str], columns: float) -> list[str]:
    """Lines that are narrower than the terminal, with whole numbers."""
    lines = [""]
    for number in numbers:
        if lines[-1] and len(f"{lines[-1]} - {number}") >= columns:
            lines.append("")
        lines[-1] += f" - {number}"
    return lines


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return "IPKernelApp" in getattr(shell, "config", {})


def _has_widgets() -> bool:
    return importlib.util.find_spec("ipywidgets") is not None
