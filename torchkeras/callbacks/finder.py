"""`LearningRateFinder`: tries learning rates from small to large, then puts the weights back."""

import math
from contextlib import suppress
from typing import Any

import numpy as np

from torchkeras.base.extras import extra
from torchkeras.base.rules import ABOVE_0, BELOW_1, VERBOSE, integer, number, read
from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.progress import say
from torchkeras.callbacks.rates import is_number, set_rate, with_rate

LEAST = 5  # points that a suggestion needs


class LearningRateFinder(Callback):
    """Trains on `steps` batches with lr = start * (end / start) ** (step / (steps - 1)), then undoes it.

        finder = LearningRateFinder()
        model.fit(x, y, epochs=10, callbacks=[finder])      # ends by itself after 100 batches
        model.optimizer.lr = finder.suggestion()

    `rates` and `losses` have a value for each batch. A loss is a moving average, a = smoothing * a + (1 - smoothing) *
    loss, divided by 1 - smoothing ** number. The run ends early when this average is NaN or infinite, or exceeds the
    least one so far by more than `divergence - 1` times its magnitude. The weights, the state of the optimizer and its
    `lr` are restored; random generators are not. The callback reads the loss of every batch, so the host waits for
    each.

    Options:
        start (float above 0, default 1e-7): the first rate.
        end (float above `start`, default 10.0): the last rate.
        steps (integer of at least 2, default 100): how many batches to train on.
        smoothing (float of at least 0 and below 1, default 0.98): the weight of the previous average in each new one.
        divergence (float above 1, default 4.0): the run ends when the loss is above this many times the least loss.
        verbose (integer of at least 0 or bool, default 0): 1 prints a line at the end.

    Errors:
        ValueError: an option has a bad value, or the optimizer has no `lr`.

    Example:
        >>> model = Sequential([Dense(1, input_shape=(1,))])
        >>> model.compile("sgd", "mse")
        >>> finder = LearningRateFinder(start=1e-4, end=1e-2, steps=5)
        >>> history = model.fit(np.ones((8, 1)), np.zeros((8, 1)), batch_size=1, verbose=0, callbacks=finder)
        >>> [round(rate, 5) for rate in finder.rates]
        [0.0001, 0.00032, 0.001, 0.00316, 0.01]

    Source: Smith, https://arxiv.org/abs/1506.01186
    """

    needs_each_batch = True
    state_names = ("rates", "losses", "_average", "_kept")

    def __init__(
        self,
        start: float = 1e-7,
        end: float = 10.0,
        steps: int = 100,
        smoothing: float = 0.98,
        divergence: float = 4.0,
        verbose: int = 0,
    ):
        name = "LearningRateFinder"
        self.start = read(name, "start", ABOVE_0, start)
        self.end = read(name, "end", number(f"above start, which is {start!r}", lambda v: v > start), end)
        self.steps = read(name, "steps", integer(2), steps)
        self.smoothing = read(name, "smoothing", BELOW_1, smoothing)
        self.divergence = read(name, "divergence", number("above 1", lambda v: v > 1), divergence)
        self.verbose = read(name, "verbose", VERBOSE, verbose)
        self._forget()

    def _forget(self) -> None:
        self.rates: list[float] = []
        self.losses: list[float] = []
        self._average = 0.0
        self._kept: Any = None

    # --- hooks -------------------------------------------------------------------------------------------------------

    def on_train_begin(self, logs: Any = None) -> None:
        optimizer = with_rate(self, takes_schedule=True)
        self._forget()
        self._schedule = optimizer.lr
        self._kept = {
            "lr": float(optimizer.lr) if is_number(optimizer.lr) else None,
            "weights": self.model.get_weights(),
            "optimizer": _copied(optimizer.state_dict()),
        }

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        rate = self.start * (self.end / self.start) ** (len(self.rates) / (self.steps - 1))
        set_rate(self.model.optimizer, rate)
        self.rates.append(rate)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        loss = float(logs["loss"])
        self._average = self.smoothing * self._average + (1.0 - self.smoothing) * loss
        smooth = self._average / (1.0 - self.smoothing ** len(self.rates))
        if not math.isfinite(smooth):
            self.rates.pop()
            self._finish(True)
            return
        self.losses.append(smooth)
        least = min(self.losses)
        diverged = smooth - least > (self.divergence - 1.0) * abs(least)
        if diverged or len(self.rates) >= self.steps:
            self._finish(diverged)

    def on_train_end(self, logs: Any = None) -> None:
        self._restore()

    def _finish(self, diverged: bool) -> None:
        self.model.stop_training = True
        self._restore()
        if self.verbose > 0:
            say(f"{len(self.rates)} learning rates tried{', until the loss diverged' if diverged else ''}.")

    def _restore(self) -> None:
        if self._kept is None:
            return
        kept, self._kept = self._kept, None
        self.model.set_weights(kept["weights"])
        self.model.optimizer.load_state_dict(kept["optimizer"])
        set_rate(self.model.optimizer, self._schedule if kept["lr"] is None else kept["lr"])

    # --- what was found ----------------------------------------------------------------------------------------------

    def suggestion(self) -> float:
        """The rate where the smoothed loss is half way down to its minimum, from the median of the losses before that.

        The first tenth of the batches is left out, since their losses are noisy. Without this noise, the rate where the
        loss falls fastest would be nearly the same.

        Returns:
            The rate, a float of `rates`.

        Errors:
            RuntimeError: before a run, after one of fewer than 5 batches, or when the loss never falls.
        """
        if len(self.losses) < LEAST:
            raise RuntimeError(
                f"LearningRateFinder: a suggestion needs {LEAST} batches at least; there were {len(self.losses)}."
            )
        first = len(self.losses) // 10
        losses = self.losses[first:]
        least = min(losses)
        before = losses[: losses.index(least)]
        if not before:
            raise RuntimeError("LearningRateFinder: the loss never falls; try a smaller `start`, or more `steps`.")
        half = (float(np.median(before)) + least) / 2
        return self.rates[first + max(place for place, loss in enumerate(before) if loss >= half)]

    def plot(self, axes: Any = None) -> Any:
        """Draw the smoothed loss over the rate, and the suggestion if there is one.

        Arguments:
            axes (matplotlib's axes or None, default None): where to draw; None makes a new figure.

        Returns:
            matplotlib's axes.

        Errors:
            ImportError: the package matplotlib is missing: `pip install torchkeras-graph[plot]`.
        """
        if axes is None:
            axes = extra("matplotlib.pyplot", "LearningRateFinder").subplots()[1]
        axes.plot(self.rates, self.losses)
        axes.set_xscale("log")
        axes.set_xlabel("learning rate")
        axes.set_ylabel("loss")
        with suppress(RuntimeError):  # a curve without a fall has no line
            axes.axvline(self.suggestion(), linestyle="--")
        return axes


def _copied(value: Any) -> Any:
    """A copy that later steps do not change: tensors and arrays too."""
    if isinstance(value, dict):
        return {name: _copied(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(item) for item in value]
    if hasattr(value, "detach"):
        return value.detach().clone()
    return value.copy() if hasattr(value, "copy") else value
