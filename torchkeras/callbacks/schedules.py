"""Learning rates set before every batch, without reading the device: `OneCycle`, `CosineAnnealing`."""

import math
from collections.abc import Callable
from typing import Any

from torchkeras.base.rules import ABOVE_0, AT_LEAST_0, BELOW_1, FLAG_OR_DIGIT, integer, one_of, optional, read
from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.rates import set_rate, with_rate

MOMENTA = ("beta_1", "momentum")  # the options of optimizers that are a momentum


class BatchSchedule(Callback):
    """lr = rate(step) before each batch; the logs of an epoch get `lr`.

    `step` counts the batches from the beginning of epoch 0. A `fit` with an `initial_epoch` begins at the step of that
    epoch, if the data tells how many batches an epoch has.

    Options:
        steps (positive integer or None, default None): how many batches the schedule lasts; None takes all batches of
            the `fit`, whose number the data must have.
    """

    needs_each_batch = True
    state_names = ("step",)
    step = 0
    steps: int | None = None

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        raise NotImplementedError(f"{type(self).__name__} has no rate(step).")

    def prepare(self) -> None:
        """Called before the first step, when the number of steps is known."""

    def on_train_begin(self, logs: Any = None) -> None:
        with_rate(self)
        self.step = 0
        self._steps = self.steps or self._planned()
        self.prepare()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if not self.step:
            self.step = epoch * (self._of_epoch() or 0)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        set_rate(self.model.optimizer, self.rate(self.step))
        self.step += 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is not None:
            logs["lr"] = float(self.model.optimizer.lr)

    def _described(self) -> dict[str, Any]:
        return {"steps": self.steps or self._planned()}

    def _planned(self) -> int:
        """The batches of a whole `fit`. Raises ValueError when their number is not known."""
        each = self._of_epoch()
        if not each or not self.params.get("epochs"):
            raise ValueError(
                f"{type(self).__name__}: give `steps`, since the data does not say how many batches it has."
            )
        return each * self.params["epochs"]

    def _of_epoch(self) -> int | None:
        samples, size, steps = (self.params.get(name) for name in ("samples", "batch_size", "steps"))
        return steps or (-(-samples // size) if samples and size else None)


class OneCycle(BatchSchedule):
    """lr rises from max_lr / div_factor to `max_lr`, then falls to max_lr / div_factor / final_div_factor.

    Between two rates a and b, with t from 0 to 1, the rate is b + (a - b) * (1 + cos(pi * t)) / 2 for `anneal="cos"`,
    and a + (b - a) * t for "linear". After the last step the rate and the momentum stay as they are.

    Options:
        max_lr (float above 0): the largest rate.
        pct_start (float of at least 0 and below 1, default 0.3): the share of the steps in which the rate rises.
        div_factor (float above 0, default 25.0): the first rate is max_lr / div_factor.
        final_div_factor (float above 0, default 1e4): the last rate is the first one divided by this.
        anneal (text, default "cos"): "cos" or "linear".
        cycle_momentum (bool, default True): whether the optimizer's `beta_1` or `momentum`, where it has one, goes the
            other way, from `max_momentum` to `base_momentum` and back.
        base_momentum (float of at least 0 and below 1, default 0.85): the least momentum.
        max_momentum (float of at least 0 and below 1, default 0.95): the largest momentum.

    Errors:
        ValueError: an option has a bad value, or `steps` is neither given nor known from the data.

    Example:
        >>> schedule = OneCycle(max_lr=0.1, steps=100)
        >>> schedule.max_lr / schedule.div_factor
        0.004

    Source: Smith and Topin, https://arxiv.org/abs/1708.07120, as in torch.optim.lr_scheduler.OneCycleLR
    """

    def __init__(
        self,
        max_lr: float,
        steps: int | None = None,
        pct_start: float = 0.3,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        anneal: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
    ):
        self.max_lr = read("OneCycle", "max_lr", ABOVE_0, max_lr)
        self.div_factor = read("OneCycle", "div_factor", ABOVE_0, div_factor)
        self.final_div_factor = read("OneCycle", "final_div_factor", ABOVE_0, final_div_factor)
        self.pct_start = read("OneCycle", "pct_start", BELOW_1, pct_start)
        self.base_momentum = read("OneCycle", "base_momentum", BELOW_1, base_momentum)
        self.max_momentum = read("OneCycle", "max_momentum", BELOW_1, max_momentum)
        self.steps = read("OneCycle", "steps", optional(integer(1)), steps)
        self.anneal = read("OneCycle", "anneal", one_of(*ANNEALS), anneal)
        self.cycle_momentum = read("OneCycle", "cycle_momentum", FLAG_OR_DIGIT, cycle_momentum)
        if self.base_momentum > self.max_momentum:
            raise ValueError(
                f"OneCycle: base_momentum must be at most max_momentum; found {base_momentum!r} and {max_momentum!r}."
            )

    def prepare(self) -> None:
        optimizer = self.model.optimizer
        names = [name for name in MOMENTA if self.cycle_momentum and hasattr(optimizer, name)]
        self._momentum = names[0] if names else None

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        if self._momentum is not None:
            setattr(self.model.optimizer, self._momentum, self.momentum(self.step))
        super().on_train_batch_begin(batch, logs)

    def rate(self, step: int) -> float:
        first = self.max_lr / self.div_factor
        return self._between(step, (first, self.max_lr, first / self.final_div_factor))

    def momentum(self, step: int) -> float:
        """The momentum of a step."""
        return self._between(step, (self.max_momentum, self.base_momentum, self.max_momentum))

    def _between(self, step: int, values: tuple[float, float, float]) -> float:
        peak, last = self.pct_start * self._steps - 1, self._steps - 1
        start, top, end = values
        between = ANNEALS[self.anneal]
        if step <= peak:
            return between(start, top, step / peak) if peak > 0 else top
        return between(top, end, min((step - peak) / (last - peak), 1.0))


class CosineAnnealing(BatchSchedule):
    """lr = min_lr + (max_lr - min_lr) * (1 + cos(pi * t / period)) / 2, with t counted from the start of the cosine.

    With a `period` the cosine starts again after each period (warm restarts). Without one it fills all steps, and the
    rate stays at `min_lr` afterwards.

    Options:
        max_lr (float of at least 0, or None, default None): the largest rate; None takes the optimizer's `lr`.
        min_lr (float of at least 0, default 0.0): the least rate.
        warmup (integer of at least 0, default 0): the steps before the cosine, in which the rate rises from max_lr /
            warmup to `max_lr` in equal parts.
        period (positive integer or None, default None): the steps of the first cosine.
        growth (positive integer, default 1): each cosine lasts this many times as long as the one before.

    Errors:
        ValueError: an option has a bad value, or `growth` is given without a `period`.

    Example:
        >>> schedule = CosineAnnealing(max_lr=0.1, warmup=10, period=50)
        >>> schedule.prepare()
        >>> round(schedule.rate(0), 6), round(schedule.rate(10), 6), round(schedule.rate(35), 6)
        (0.01, 0.1, 0.05)

    Source: Loshchilov and Hutter, https://arxiv.org/abs/1608.03983
    """

    state_names = ("step", "top")

    def __init__(
        self,
        max_lr: float | None = None,
        min_lr: float = 0.0,
        steps: int | None = None,
        warmup: int = 0,
        period: int | None = None,
        growth: int = 1,
    ):
        self.max_lr = read("CosineAnnealing", "max_lr", optional(AT_LEAST_0), max_lr)
        self.min_lr = read("CosineAnnealing", "min_lr", AT_LEAST_0, min_lr)
        self.steps = read("CosineAnnealing", "steps", optional(integer(1)), steps)
        self.warmup = read("CosineAnnealing", "warmup", integer(0), warmup)
        self.period = read("CosineAnnealing", "period", optional(integer(1)), period)
        self.growth = read("CosineAnnealing", "growth", integer(1), growth)
        if self.max_lr is not None and self.min_lr > self.max_lr:
            raise ValueError(f"CosineAnnealing: min_lr must be at most max_lr; found {min_lr!r} and {max_lr!r}.")
        if growth > 1 and period is None:
            raise ValueError(
                f"CosineAnnealing: growth needs a period, after which the cosine starts again; found {growth!r} alone."
            )
        self.top = self.max_lr

    def prepare(self) -> None:
        self.top = float(self.model.optimizer.lr) if self.max_lr is None else self.max_lr

    def rate(self, step: int) -> float:
        top: Any = self.top
        if step < self.warmup:
            return top * (step + 1) / self.warmup
        return _cosine(top, self.min_lr, self._share(step - self.warmup))

    def _share(self, step: int) -> float:
        """How much of its cosine has passed at a step, from 0 to 1."""
        if self.period is None:
            return min(step / max(self._steps - self.warmup, 1), 1.0)
        if self.growth == 1:
            return step % self.period / self.period
        # Cycle i begins after period * (growth**i - 1) / (growth - 1) steps.
        cycle = 0
        while step >= self.period * self.growth**cycle:
            step -= self.period * self.growth**cycle
            cycle += 1
        return step / (self.period * self.growth**cycle)

    def _planned(self) -> int:
        return 0 if self.period is not None else super()._planned()


def _cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) * (1.0 + math.cos(math.pi * share)) / 2.0


def _linear(start: float, end: float, share: float) -> float:
    return start + (end - start) * share


ANNEALS: dict[str, Callable[[float, float, float], float]] = {"cos": _cosine, "linear": _linear}
