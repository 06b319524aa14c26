"""What callbacks that watch one number share: its name, whether it should fall or rise, and what counts as better."""

import math
import warnings
from numbers import Real
from typing import Any

from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.logs import named
from torchkeras.rules import STRING, VERBOSE, read, rule

MODES = ("auto", "min", "max")
# Keras goes on, with a warning, when there is another word, or None.
MODE = rule("must be 'auto', 'min' or 'max'", lambda v: v is None or isinstance(v, str))
# Words of names for which more is better. Keras 2.2.4 knew `acc` (anywhere) and, at times, `fmeasure`. It had
# none of the others, and took them for errors.
RISING = frozenset(
    ("fmeasure", "auc", "precision", "recall", "f1", "fbeta", "iou", "miou", "r2", "dice", "sensitivity", "specificity")
)
# Parts of names of further metrics of this package.
RISING_PARTS = ("io_u", "true_positives", "true_negatives", "cosine_similarity", "correlation")


class Monitored(Callback):
    """A callback that watches one number of the logs.

    Options:
        monitor (text, default "val_loss"): the name of the number in the logs; either Keras's name will do.
        verbose (integer of at least 0 or bool, default 0): 1 prints what is done.
        mode (text, default "auto"): "min" when less is better, "max" when more is better, "auto" to go by the name. By
            the name, what has `acc` in it should rise, and so should `auc`, `precision`, `recall`, `f1`, `fbeta`,
            `fmeasure`, `iou`, `miou`, `r2`, `dice`, `sensitivity` and `specificity` as a word of their own, and what
            has `io_u`, `true_positives`, `true_negatives`, `cosine_similarity` or `correlation` in it, unless `loss` is
            a word of the name too. All else should fall. Another word, and None, is read as "auto", with a
            RuntimeWarning.
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
        if hasattr(value, "item") and math.prod(value.shape) == 1:
            value = value.item()
        if not isinstance(value, Real):
            raise TypeError(
                f"{type(self).__name__}: {self.monitor!r} in the logs must be a number; found {value!r:.80}."
            )
        return value


def rises(name: str) -> bool:
    """Whether more is better for a number of this name."""
    words = set(name.split("_"))
    known = bool(words & RISING) or any(part in name for part in RISING_PARTS)
    return "acc" in name or (known and "loss" not in words)


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)
