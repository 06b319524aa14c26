"""Callbacks that end training: `EarlyStopping`, `TerminateOnNaN`, `TimeLimit`."""

import math
import time
from typing import Any

from torchkeras.base.rules import FINITE, FLAG_OR_DIGIT, UP_TO_INFINITY, VERBOSE, integer, optional, read
from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.monitoring import Monitored
from torchkeras.callbacks.progress import say


class EarlyStopping(Monitored):
    """Ends training when the monitored number has not improved for `patience` epochs in a row.

    An epoch whose logs lack the number does not count; a RuntimeWarning says so.

    Options:
        min_delta (float, default 0): an epoch counts as better only when the number is better by more than this.
        patience (integer of at least 0, default 0): the epochs without improvement after which training ends.
        baseline (float or None, default None): the number must be better than this from the first epoch on.
        restore_best_weights (bool, default False): whether the weights of the best epoch are restored when this
            callback ends training, or those of the first epoch if none was better than `baseline`. They are stored on
            the host.
        start_from_epoch (integer of at least 0, default 0): the number of the first epoch that counts.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> stop = EarlyStopping("val_acc", patience=3, restore_best_weights=True)
        >>> stop.rises
        True

    Source: https://keras.io/api/callbacks/early_stopping/
    """

    state_names = ("wait", "stopped_epoch", "best", "best_weights")

    start_from_epoch = 0  # what earlier pickles lack

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ):
        super().__init__(monitor, mode, verbose)
        self.min_delta = read("EarlyStopping", "min_delta", FINITE, min_delta)
        self.patience = read("EarlyStopping", "patience", integer(0), patience)
        self.baseline = read("EarlyStopping", "baseline", optional(FINITE), baseline)
        self.restore_best_weights = read("EarlyStopping", "restore_best_weights", FLAG_OR_DIGIT, restore_best_weights)
        self.start_from_epoch = read("EarlyStopping", "start_from_epoch", integer(0), start_from_epoch)
        self.on_train_begin()

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait = 0
        self.stopped_epoch = 0
        self.best = self.worst if self.baseline is None else self.baseline
        self.best_weights: Any = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        current = self.monitored(logs)
        if current is None or epoch < self.start_from_epoch:
            return
        improved = self.better(current, self.best, self.min_delta)
        if self.restore_best_weights and (improved or self.best_weights is None):
            self.best_weights = self.model.get_weights()
        if improved:
            self.best, self.wait = current, 0
            return
        self.wait += 1
        if self.wait >= self.patience:
            self._stop(epoch)

    def _stop(self, epoch: int) -> None:
        self.stopped_epoch = epoch
        self.model.stop_training = True
        if self.restore_best_weights:
            self.model.set_weights(self.best_weights)
        if self.verbose > 0:
            restored = "; the weights of the best epoch are restored" if self.restore_best_weights else ""
            say(f"Epoch {epoch + 1}: {self.monitor} was not better than {self.best:.5g}, stopping{restored}.")


class TerminateOnNaN(Callback):
    """Ends training after a batch whose loss is NaN or infinite.

    It reads the loss of every batch, so the host waits for each. `compile(on_nonfinite="stop")` does not wait.

    Options:
        raise_error (bool, default False): whether training ends with an error.

    Errors:
        ValueError: the option has a bad value.
        RuntimeError: by `fit`, with `raise_error`, after such a batch.

    Example:
        >>> model = Sequential([Dense(1, input_shape=(1,))])
        >>> model.compile("sgd", "mse")
        >>> history = model.fit([[1.0]], [[float("nan")]], epochs=5, verbose=0, callbacks=TerminateOnNaN())
        Batch 0: the loss is nan, stopping.

    Source: https://keras.io/api/callbacks/terminate_on_nan/
    """

    raise_error = False  # what earlier pickles lack

    def __init__(self, raise_error: bool = False):
        self.raise_error = read("TerminateOnNaN", "raise_error", FLAG_OR_DIGIT, raise_error)

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not math.isfinite(loss):
            if self.raise_error:
                raise RuntimeError(f"TerminateOnNaN: the loss of batch {batch} is {loss}.")
            say(f"Batch {batch}: the loss is {loss}, stopping.")
            self.model.stop_training = True


class TimeLimit(Callback):
    """Ends training after the first batch that ends `seconds` or more after training began.

    `elapsed` is the time in seconds so far. A training that continues after a stop counts the seconds before the stop
    too. Nothing is read from the device.

    Options:
        seconds (float of at least 0): the time that training may take.
        verbose (integer of at least 0 or bool, default 0): 1 prints a line when training ends.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> limit = TimeLimit(seconds=3600)
        >>> limit.elapsed < 3600
        True
    """

    _may_differ = True

    def __init__(self, seconds: float, verbose: int = 0):
        self.seconds = read("TimeLimit", "seconds", UP_TO_INFINITY, seconds)
        self.verbose = read("TimeLimit", "verbose", VERBOSE, verbose)
        self._start = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds of training."""
        return time.monotonic() - self._start

    def on_train_begin(self, logs: Any = None) -> None:
        self._start = time.monotonic()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.elapsed >= self.seconds and not self.model.stop_training:
            self.model.stop_training = True
            if self.verbose > 0:
                say(f"Batch {batch}: the limit of {self.seconds:g} seconds is reached, stopping.")

    def state_dict(self) -> dict[str, Any]:
        return {"elapsed": self.elapsed}

    def load_state_dict(self, state: Any) -> None:
        if set(state) != {"elapsed"}:
            raise ValueError(f"TimeLimit: the state must hold elapsed; found {', '.join(sorted(state)) or 'nothing'}.")
        self._start = time.monotonic() - state["elapsed"]
