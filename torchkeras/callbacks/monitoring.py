"""What callbacks that watch one number share: its name, whether it should fall or rise, and what counts as better."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from torchkeras import registry
from torchkeras.base.rules import STRING, VERBOSE, did_you_mean, read, rule
from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.logs import named

if TYPE_CHECKING:
    from torchkeras.models.model import Model

MODES = ("auto", "min", "max")
# Keras goes on, with a warning, when there is another word, or None.
MODE = rule("must be 'auto', 'min' or 'max'", lambda v: v is None or isinstance(v, str))
# Words of names for which less, or more, is better, whatever they name. Keras 2.2.4 took less for better wherever there
# was no `acc` in the name, nor `fmeasure` in front.
FALLING = frozenset(("loss", "error", "mse", "mae", "rmse", "mape", "msle", "rmsle", "crossentropy"))
RISING = re.compile("^fmeasure|(?<!in)acc(uracy)?(?![a-z])")  # top5_acc, binary_accuracy; not inaccuracy, accidents


class Monitored(Callback):
    """A callback that watches one number of the logs.

    Options:
        monitor (text, default "val_loss"): the name of the number in the logs, as in Keras 2 or as in Keras 3.
        verbose (integer of at least 0 or bool, default 0): 1 prints what is done.
        mode (text, default "auto"): "min" when less is better, "max" when more is better. "auto" asks the metric, see
            `higher_is_better` of `Metric`; less of a loss is better. If the metric does not declare it, or the model
            has no such metric, the name decides: less is better if it has the word `loss`, `error`, `mse`, `mae`,
            `rmse`, `mape`, `msle`, `rmsle` or `crossentropy`; more is better if it has `acc` or `accuracy`, or begins
            with `fmeasure`; the name of a metric of this package means that metric. The name of an output does not
            count. Any other value, including None, means "auto", with a RuntimeWarning.

    Errors:
        ValueError: when training begins, where "auto" finds no direction.
    """

    def __init__(self, monitor: str, mode: str, verbose: int):
        name = type(self).__name__
        self.monitor = read(name, "monitor", STRING, monitor)
        self.verbose = read(name, "verbose", VERBOSE, verbose)
        if read(name, "mode", MODE, mode) not in MODES:
            _warn(f"{name}: mode must be 'auto', 'min' or 'max'; found {mode!r}, read as 'auto'.")
            mode = "auto"
        self.mode = mode
        self.rises = rises(monitor) if mode == "auto" else mode == "max"

    def set_model(self, model: Model) -> None:
        super().set_model(model)
        if self.mode in ("min", "max"):  # it may have been set since
            self.rises = self.mode == "max"
        if self.mode != "auto" or not self._compares:
            return
        self.rises = rises(self.monitor, getattr(model, "_directions", {}))
        if self.rises is None:
            known = [prefix + name for name in getattr(model, "metrics_names", ()) for prefix in ("", "val_")]
            meant = did_you_mean(self.monitor, known)
            raise ValueError(
                f"{type(self).__name__}: whether more or less of {self.monitor!r} is better is not known: give "
                f"mode='max' or mode='min', or the metric an attribute `higher_is_better`.{meant}"
            )

    @property
    def _compares(self) -> bool:
        """Whether it looks for the best of its numbers."""
        return True

    @property
    def worst(self) -> float:
        """The infinity that no number but NaN is worse than."""
        return -math.inf if self.rises else math.inf

    def better(self, value: Any, best: Any, by: float = 0.0) -> bool:
        """Whether `value` is better than `best` by more than `by`; NaN is never better."""
        return bool(value - by > best) if self.rises else bool(value + by < best)

    def monitored(self, logs: Any) -> Any:
        """The number, read; None, with a RuntimeWarning, when the logs have it under neither Keras's name.

        Raises TypeError for what is no number.
        """
        value = named(logs).get(self.monitor)
        if value is None:
            names = ", ".join(logs or ()) or "none"
            lacks = self.monitor.startswith("val_") and "val_loss" not in (logs or ())
            advice = " Give fit validation_data, or a validation_split." if lacks else ""
            _warn(f"{type(self).__name__}: the logs have no {self.monitor!r} to monitor; they have {names}.{advice}")
            return None
        return one_number(type(self).__name__, self.monitor, value)


def one_number(callback: str, name: str, value: Any) -> Any:
    """A number of the logs that a callback needs. Raises TypeError for an array of several, and for what is none."""
    if hasattr(value, "item") and math.prod(value.shape) == 1:
        value = value.item()
    if isinstance(value, Real):
        return value
    if not hasattr(value, "shape"):
        raise TypeError(f"{callback}: {name!r} in the logs must be a number; found {value!r:.80}.")
    raise TypeError(
        f"{callback}: {name!r} in the logs must be a number; found an array of shape {tuple(value.shape)}. Give the "
        "metric an average, such as F1Score(average='macro'), or one of its own for each number."
    )


def rises(name: str, directions: Mapping[str, bool | None] = MappingProxyType({})) -> bool | None:
    """Whether more is better for a number of this name; None where nothing says so.

    `directions`: of the numbers that a model reports, None where nothing says so.
    """
    name = name if name in directions else name.removeprefix("val_")
    if name in directions:
        return directions[name]
    kind = re.sub(r"_\d+$", "", name)  # a second metric of its name is auc_1
    by_words = rises_by_words(name)
    if by_words is not None or kind not in registry.metrics:
        return by_words
    return getattr(registry.metrics.find(kind), "higher_is_better", None)


def rises_by_words(name: str) -> bool | None:
    """Whether the words of a metric's name say that more or less of it is better; None where they do not."""
    if FALLING.intersection(name.split("_")):
        return False
    return True if RISING.search(name) else None


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)
