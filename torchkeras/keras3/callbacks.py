"""Callbacks of Keras 3. They are this package's; those that Keras 3 gives other options or habits derive from them."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch

from torchkeras import callbacks
from torchkeras.base.arrays import to_numpy
from torchkeras.base.extras import extra
from torchkeras.base.rules import FLAG_OR_DIGIT, read, read_path
from torchkeras.callbacks import Callback, History, RemoteMonitor, SwapEMAWeights, TerminateOnNaN
from torchkeras.callbacks.base import handler, is_called
from torchkeras.callbacks.logs import Averages, Logs
from torchkeras.callbacks.monitoring import one_number
from torchkeras.callbacks.progress import say
from torchkeras.callbacks.tensorboard import WRITER
from torchkeras.engine.facts import is_own
from torchkeras.engine.fit.training import training_of
from torchkeras.engine.graph.network import in_form
from torchkeras.engine.symbolic.tensor import unpacked
from torchkeras.keras3.progress import ProgbarLogger
from torchkeras.resume.accepted import ACCEPTED

__all__ = [
    "BackupAndRestore",
    "CSVLogger",
    "Callback",
    "CallbackList",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "ModelCheckpoint",
    "OrbaxCheckpoint",
    "ProgbarLogger",
    "ReduceLROnPlateau",
    "RemoteMonitor",
    "SwapEMAWeights",
    "TensorBoard",
    "TerminateOnNaN",
]


class CallbackList(callbacks.CallbackList):
    """Callbacks in order, in lists and tuples of any depth; each hook calls those that override it.

    Options:
        callbacks (callbacks or None, default None): the callbacks, in the order of their calls.
        add_history (bool, default False): whether there is a `History` in any case.
        add_progbar (bool, default False): whether there is a `ProgbarLogger` in any case.
        model (Model or None, default None): the model that `set_model` gives them.
        params (any): what `set_params` gives them, by name.

    Errors:
        TypeError: one of them is no callback, or has a hook that cannot take its arguments.
        ValueError: an option has a bad value.

    Example:
        >>> hooks = CallbackList([LambdaCallback(on_epoch_end=lambda epoch, logs: print("epoch", epoch))], True)
        >>> hooks.on_epoch_end(3, {"loss": 0.5})
        epoch 3
        >>> hooks.callbacks[-1].history
        {'loss': [0.5]}

    Source: https://keras.io/api/callbacks/
    """

    def __init__(
        self,
        callbacks: Any = None,
        add_history: bool = False,
        add_progbar: bool = False,
        model: Any = None,
        **params: Any,
    ):
        super().__init__(_flat(callbacks))
        for option, given in (("add_history", add_history), ("add_progbar", add_progbar)):
            kind, made = _ADDED[option]
            there = any(isinstance(callback, kind) for callback in self.callbacks)
            if read("CallbackList", option, FLAG_OR_DIGIT, given) and not there:
                self.append(made())
        if model is not None:
            self.set_model(model)
        if params:
            self.set_params(params)

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        for callback in self.callbacks:
            if isinstance(callback, History):
                model.history = callback


def _flat(found: Any) -> list[Any]:
    if isinstance(found, (list, tuple)):
        return [callback for each in found for callback in _flat(each)]
    return [] if found is None else [found]


class Hooks(callbacks.CallbackList):
    """The callbacks of a run, which get logs and parameters as Keras 3 gives them.

    The numbers of a batch are means of the epoch so far, without `batch` and `size`. Callbacks of this package, but for
    `LambdaCallback`, still get those of the batch alone, from which they make what they show. Numbers stand in the
    order of their names; `on_train_end` gets those of the last epoch. `steps` is the number of batches, where it is
    known. The logs of a batch of a prediction are its `outputs`, one array or a list of tensors; outputs in a dict
    stand there by their names.
    """

    def __init__(self, callbacks: Any = None):
        self._means: dict[str, Averages] = {}
        self._batch: dict[str, int] = {}
        self._last: Any = {}
        self._outputs: list[list[Any]] = []  # of the batches since the hooks were called
        super().__init__(callbacks)

    def set_params(self, params: Mapping[str, Any]) -> None:
        steps, samples, size = (params.get(name) for name in ("steps", "samples", "batch_size"))
        if not steps and samples and size:
            steps = -(-samples // size)
        known = {**params, "steps": steps}
        self.params = {name: known[name] for name in ("verbose", "epochs", "steps") if name in known}
        for callback in self.callbacks:
            is_short = _gets_means(callback) or isinstance(callback, History)
            getattr(callback, "set_params", dict)(self.params if is_short else known)
        self._find()

    def _find(self) -> None:
        super()._find()
        for hook in ("on_train_batch_end", "on_test_batch_end"):
            found = self._acts(hook)
            if any(of_means for _, of_means in found):
                setattr(self, hook, partial(self._batch_end, hook, found))
        for hook in ("on_train_batch_begin", "on_test_batch_begin", "on_predict_batch_begin"):
            found = self._acts(hook)
            if any(of_means for _, of_means in found):
                setattr(self, hook, partial(_batch_begin, found))
        found = self._acts("on_predict_batch_end")
        if any(of_means for _, of_means in found):
            self.take_outputs = self._take_outputs
            self.on_predict_batch_end = partial(self._predicted, found)
        self.on_epoch_end = partial(self._epoch_end, self.on_epoch_end)
        self.on_test_end = partial(self._test_end, self.on_test_end)
        self.on_train_end = partial(self._train_end, self.on_train_end)

    def _acts(self, hook: str) -> list[tuple[Callable[..., Any], bool]]:
        """What each callback does at a hook, and whether it gets what Keras 3 gives."""
        called = [callback for callback in self.callbacks if is_called(callback)]
        acts = [(handler(callback, hook), _gets_means(callback)) for callback in called]
        return [(act, of_means) for act, of_means in acts if act is not None]

    def _batch_end(self, hook: str, found: list[tuple[Callable[..., Any], bool]], batch: int, logs: Any = None) -> None:
        logs = {} if logs is None else logs
        names = sorted(name for name in logs if name not in ("batch", "size"))
        if batch <= self._batch.get(hook, batch):  # another epoch, or another evaluation
            self._means[hook] = Averages(names, names if self._counts_by_itself(hook) else ())
        self._batch[hook] = batch
        self._means[hook].add(logs, logs.get("size", 1))
        means = self._means[hook].values()
        for act, of_means in found:
            act(batch, means if of_means else logs)

    def _counts_by_itself(self, hook: str) -> bool:
        """Whether a step of the user's gives the numbers, of which those of the last batch count."""
        step = "train_step" if hook == "on_train_batch_end" else "test_step"
        return self.model is not None and training_of(self.model).has_own(step)

    def _take_outputs(self, outputs: list[Any]) -> None:
        self._outputs.append(outputs)

    def _predicted(self, found: list[tuple[Callable[..., Any], bool]], batch: int, logs: Any = None) -> None:
        batches, self._outputs = self._outputs, []
        outputs = batches[0] if len(batches) == 1 else [torch.cat(each) for each in zip(*batches, strict=True)]
        given = in_form(self.model._output_form, unpacked(outputs))
        if isinstance(given, Mapping):
            named = {name: _as_array(each) for name, each in given.items()}
        else:
            named = {"outputs": _as_array(given)}
        for act, of_means in found:
            act(batch, named if of_means else logs)

    def _epoch_end(self, act: Callable[..., Any], epoch: int, logs: Any = None) -> None:
        given = {} if logs is None else logs
        self._last = _in_order_of_names(given)
        act(epoch, self._last)

    def _test_end(self, act: Callable[..., Any], logs: Any = None) -> None:
        act(_in_order_of_names({} if logs is None else logs))

    def _train_end(self, act: Callable[..., Any], logs: Any = None) -> None:
        act(logs or self._last)


def _in_order_of_names(logs: Any) -> Logs:
    read = logs.unread if isinstance(logs, Logs) else logs.__getitem__
    return Logs({name: read(name) for name in sorted(logs)})


def _batch_begin(found: list[tuple[Callable[..., Any], bool]], batch: int, logs: Any = None) -> None:
    for act, of_means in found:
        act(batch, {} if of_means else logs)


def _as_array(value: Any) -> Any:
    return to_numpy(value) if isinstance(value, torch.Tensor) else value


def _gets_means(callback: Any) -> bool:
    return not is_own(type(callback)) or isinstance(callback, callbacks.LambdaCallback)


# --- what watches a number -------------------------------------------------------------------------------------------


class EarlyStopping(callbacks.EarlyStopping):
    """Ends training when the monitored number has not improved for `patience` epochs in a row.

    The count begins anew after an epoch that is the best so far, and better than `baseline`. The first epoch of a
    training never ends it. An epoch whose logs lack the number does not count; a RuntimeWarning says so.

    Options:
        min_delta (number, default 0): an epoch counts as better only when the number is better by more than this.
        patience (integer of at least 0, default 0): the epochs without improvement after which training ends.
        baseline (number or None, default None): what the number must be better than for the count to begin anew.
        restore_best_weights (bool, default False): whether the weights of the best epoch come back when training ends,
            here or otherwise. They are kept on the host.
        start_from_epoch (integer of at least 0, default 0): the number of the first epoch that counts.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> EarlyStopping("val_accuracy", patience=3, restore_best_weights=True).rises
        True

    Source: https://keras.io/api/callbacks/early_stopping/
    """

    state_names = ("wait", "stopped_epoch", "best", "best_weights", "best_epoch")

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
        super().__init__(monitor, min_delta, patience, verbose, mode, baseline, restore_best_weights, start_from_epoch)
        self.min_delta = abs(self.min_delta)

    def on_train_begin(self, logs: Any = None) -> None:
        super().on_train_begin(logs)
        self.best, self.best_epoch = self.worst, 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        current = self.monitored(logs)
        if current is None or epoch < self.start_from_epoch:
            return
        improved = self.better(current, self.best, self.min_delta)
        if improved or (self.restore_best_weights and self.best_weights is None):
            self._keep(epoch)
        self.wait += 1
        if improved:
            self.best = current
            if self.baseline is None or self.better(current, self.baseline, self.min_delta):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch, self.model.stop_training = epoch, True

    def _keep(self, epoch: int) -> None:
        self.best_epoch = epoch
        if self.restore_best_weights:
            self.best_weights = self.model.get_weights()

    def on_train_end(self, logs: Any = None) -> None:
        restores = self.restore_best_weights and self.best_weights is not None
        if restores:
            self.model.set_weights(self.best_weights)
        if self.verbose > 0 and self.stopped_epoch > 0:
            say(f"Epoch {self.stopped_epoch + 1}: {self.monitor} was not better than {self.best:.5g}, stopped.")
        if self.verbose > 0 and restores:
            say(f"The weights of epoch {self.best_epoch + 1}, the best, are restored.")


class ModelCheckpoint(callbacks.ModelCheckpoint):
    """Saves the model, or its weights, after each epoch, or each time after a number of batches.

    A file appears whole or not at all, and its folder is made if need be. Weights that are NaN or infinite are never
    written over a file that is there; a RuntimeWarning says so. Where the logs lack the monitored number, a
    RuntimeWarning says so, and the model is saved.

    Options:
        filepath (path): the file, with the suffix `.keras` or `.h5`; `.weights.h5` with `save_weights_only`. It may
            hold `{epoch}`, counted from 1, and names of the logs, with formats: `"{epoch:02d}-{val_loss:.2f}.keras"`;
            after a number of batches `{batch}` as well, counted from 1.
        save_best_only (bool, default False): whether to save only when the monitored number is better than ever.
        save_weights_only (bool, default False): whether to save by `model.save_weights`, not by `model.save`.
        save_freq ("epoch" or a positive integer, default "epoch"): when to save: after each epoch, or each time after
            so many batches, of all epochs together.
        initial_value_threshold (number or None, default None): what the monitored number must be better than from the
            start.

    Errors:
        OSError: the file cannot be written; the error names it, and the file before stays whole.
        TypeError: `filepath` is no path.
        ValueError: an option has a bad value, `filepath` another suffix, or the logs do not have a name of it.

    Example:
        >>> best = ModelCheckpoint("best.weights.h5", "val_accuracy", save_best_only=True, save_weights_only=True)
        >>> best.rises
        True

    Source: https://keras.io/api/callbacks/model_checkpoint/
    """

    def __init__(
        self,
        filepath: str | os.PathLike[str],
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: int | str = "epoch",
        initial_value_threshold: float | None = None,
    ):
        suffixes = (".weights.h5",) if save_weights_only else (".keras", ".h5")
        if not read_path("ModelCheckpoint", "filepath", filepath).endswith(suffixes):
            raise ValueError(
                f"ModelCheckpoint: filepath must end with {' or '.join(suffixes)} for "
                f"save_weights_only={save_weights_only!r}; found {os.fspath(filepath)!r}."
            )
        super().__init__(
            filepath,
            monitor,
            verbose,
            save_best_only,
            save_weights_only,
            mode,
            save_freq=save_freq,
            initial_value_threshold=initial_value_threshold,
        )

    def _without_number(self, epoch: int, path: str) -> None:
        if self._save(epoch, path):
            self._say(epoch, f"saved to {path}.")


class ReduceLROnPlateau(callbacks.ReduceLROnPlateau):
    """learning_rate = max(learning_rate * factor, min_lr) when the monitored number has not improved for `patience`
    epochs in a row.

    The logs of the epoch get `learning_rate` as it was during the epoch.

    Options:
        factor (number of at least 0 and below 1, default 0.1): what the rate is multiplied by.
        patience (integer of at least 0, default 10): the epochs without improvement after which the rate falls.
        min_delta (number, default 1e-4): an epoch counts as better only when the number is better by more than this.
        cooldown (integer of at least 0, default 0): the epochs after a fall in which none counts.
        min_lr (number of at least 0, default 0.0): the least rate.

    Errors:
        ValueError: an option has a bad value, or the optimizer's rate is no number.

    Example:
        >>> ReduceLROnPlateau("val_loss", factor=0.5, patience=2).rises
        False

    Source: https://keras.io/api/callbacks/reduce_lr_on_plateau/
    """

    rate_name = "learning_rate"

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 0.0001,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ):
        super().__init__(monitor, factor, patience, verbose, mode, min_delta, cooldown, min_lr)
        self.min_delta = abs(self.min_delta)


# --- others ----------------------------------------------------------------------------------------------------------


class LearningRateScheduler(callbacks.LearningRateScheduler):
    """learning_rate = schedule(epoch, learning_rate) before each epoch, or schedule(epoch) for a function of one
    argument.

    The logs of the epoch get `learning_rate`.

    Options:
        schedule (function): takes the epoch, counted from 0, and the present rate; returns the new rate as a float.
        verbose (integer of at least 0 or bool, default 0): 1 prints the rate of each epoch.

    Errors:
        TypeError: `schedule` is no function of the epoch.
        ValueError: `verbose` has a bad value, `schedule` returns no float, or the optimizer's rate is no number.

    Example:
        >>> LearningRateScheduler(lambda epoch, rate: rate * 0.5).schedule(1, 0.1)
        0.05

    Source: https://keras.io/api/callbacks/learning_rate_scheduler/
    """

    rate_name = "learning_rate"


class LambdaCallback(callbacks.LambdaCallback):
    """Functions as hooks.

    Hooks of epochs and batches are called with (number, logs), those of whole runs with (logs).

    Options:
        on_epoch_begin, on_epoch_end (function or None, default None): called with (epoch, logs).
        on_train_begin, on_train_end (function or None, default None): called with (logs).
        on_train_batch_begin, on_train_batch_end (function or None, default None): called with (batch, logs).
        kwargs (function or None): every other hook of `Callback`, by its name.

    Errors:
        TypeError: another name than that of a hook, or what cannot be called with these arguments.

    Example:
        >>> LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs)).on_epoch_end(0, {"loss": 0.5})
        0 {'loss': 0.5}

    Source: https://keras.io/api/callbacks/lambda_callback/
    """

    def __init__(
        self,
        on_epoch_begin: Callable[..., Any] | None = None,
        on_epoch_end: Callable[..., Any] | None = None,
        on_train_begin: Callable[..., Any] | None = None,
        on_train_end: Callable[..., Any] | None = None,
        on_train_batch_begin: Callable[..., Any] | None = None,
        on_train_batch_end: Callable[..., Any] | None = None,
        **kwargs: Callable[..., Any] | None,
    ):
        super().__init__(
            on_epoch_begin=on_epoch_begin,
            on_epoch_end=on_epoch_end,
            on_train_begin=on_train_begin,
            on_train_end=on_train_end,
            on_train_batch_begin=on_train_batch_begin,
            on_train_batch_end=on_train_batch_end,
            **kwargs,
        )


class CSVLogger(callbacks.CSVLogger):
    """Writes a row for each epoch: `epoch`, then the numbers of the logs in alphabetical order.

    The columns are the names of the first epoch's numbers. Where none is of a validation, each has a column `val_` as
    well. A number that an epoch does not have is `NA`. Lines end with a carriage return and a newline.

    Options:
        filename (path): the file.
        separator (one character, default ","): what stands between two columns.
        append (bool, default False): whether to go on with a file that is there. Its head stays; a RuntimeWarning says
            when its columns are others.

    Errors:
        OSError: the file cannot be written; the error names it.
        TypeError: `filename` is no path.
        ValueError: an option has a bad value.

    Example:
        >>> CSVLogger("log.csv", separator=";").filename
        'log.csv'

    Source: https://keras.io/api/callbacks/csv_logger/
    """

    def _columns(self, logs: Mapping[str, Any]) -> list[str]:
        names = sorted(logs)
        has_validation = any(name.startswith("val_") for name in names)
        return names if has_validation else [*names, *(f"val_{name}" for name in names)]


class BackupAndRestore(callbacks.BackupAndRestore):
    """Writes checkpoints of a `fit` to a folder; the next `fit` goes on from the newest whole one.

    It is `torchkeras.callbacks.BackupAndRestore` with the arguments of Keras 3, and does more than Keras's: a
    checkpoint has all that the run needs, so that it goes on at the batch, with equal numbers. The checkpoint before
    the newest is always kept as well, in case the newest is torn. As in Keras 3 the `fit` may differ: it goes on with
    what there is now.

    Options:
        backup_dir (path): the folder; it is made if need be.
        save_freq ("epoch" or a positive integer, default "epoch"): checkpoints are written at the end of each epoch,
            and with a number after every so many batches too.
        double_checkpoint (bool, default False): whether the checkpoint before is kept; here it always is.
        delete_checkpoint (bool, default True): whether a `fit` that came to its end deletes its checkpoints.
        accept (list of words or None, default None): what may be other than in the checkpoint, by name; see the class
            of `torchkeras.callbacks`. None is all; with () a `fit` that differs is refused.

    Errors:
        OSError: a checkpoint cannot be written or read, or another run uses the folder.
        TypeError: `backup_dir` is no path.
        ValueError: an option has a bad value, or the newest whole checkpoint is of another run.

    Example:
        >>> BackupAndRestore("backup", save_freq=1000).interrupted
        False

    Source: https://keras.io/api/callbacks/backup_and_restore/
    """

    def __init__(
        self,
        backup_dir: Any,
        save_freq: int | str = "epoch",
        double_checkpoint: bool = False,
        delete_checkpoint: bool = True,
        *,
        accept: Iterable[str] | None = None,
    ):
        if not read_path("BackupAndRestore", "backup_dir", backup_dir):
            raise ValueError("BackupAndRestore: backup_dir must be the path of a folder; found an empty one.")
        super().__init__(backup_dir, save_freq, delete_checkpoint, ACCEPTED if accept is None else accept)
        self.double_checkpoint = read("BackupAndRestore", "double_checkpoint", FLAG_OR_DIGIT, double_checkpoint)
        self._is_done = False

    def on_train_end(self, logs: Any = None) -> None:
        super().on_train_end(logs)
        self._is_done = self.delete_checkpoint and not self.interrupted

    def abandon(self) -> None:
        super().abandon()
        if self._is_done and not any(self.folder.iterdir()):  # else something of the user's stays there
            self.folder.rmdir()


class TensorBoard(callbacks.TensorBoard):
    """Writes losses, metrics, weights and the model as event files that TensorBoard shows.

    Numbers of training go to the folder `train` in `log_dir`, as `epoch_loss` and `batch_loss`, with the learning rate;
    those of validation to `validation`, as `epoch_loss`, and as `evaluation_loss_vs_iterations` those of each
    evaluation.

    Options:
        log_dir (path, default "logs"): the folder.
        histogram_freq (integer of at least 0, default 0): the epochs from one histogram of all weights to the next; 0
            writes none.
        write_graph (bool, default True): whether to write the graph of layers, and the generated forward as text.
        write_images (bool, default False): whether weights of up to three axes are shown as images too.
        write_steps_per_second (bool, default False): whether to write the steps per second, of each epoch and of each
            batch that is written.
        update_freq ("epoch", "batch" or a positive integer, default "epoch"): numbers are written after each epoch, and
            after each batch or every so many batches too.
        profile_batch (0, default 0): must be 0; `torchkeras.callbacks.Profiler` profiles batches.
        embeddings_freq (integer of at least 0, default 0): the epochs from one plot of the vectors of all Embedding
            layers to the next; 0 writes none.
        embeddings_metadata (path, dict or None, default None): a file in `log_dir` with the labels of the vectors, or a
            dictionary with such a file for each layer name.

    Errors:
        ImportError: the package tensorboard is missing.
        TypeError: `log_dir` is no path.
        ValueError: an option has a bad value.

    Example:
        >>> TensorBoard("logs/run_1", histogram_freq=5).log_dir
        'logs/run_1'

    Source: https://keras.io/api/callbacks/tensorboard/
    """

    state_names = (*callbacks.TensorBoard.state_names, "batches")

    def __init__(
        self,
        log_dir: Any = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        write_steps_per_second: bool = False,
        update_freq: int | str = "epoch",
        profile_batch: Any = 0,
        embeddings_freq: int = 0,
        embeddings_metadata: Any = None,
    ):
        if profile_batch not in (0, False, None):
            raise ValueError(
                f"TensorBoard: profile_batch must be 0; found {profile_batch!r}. Profile batches with "
                "torchkeras.callbacks.Profiler, which uses torch.profiler."
            )
        super().__init__(
            log_dir=log_dir,
            histogram_freq=histogram_freq,
            write_graph=write_graph,
            write_images=write_images,
            embeddings_freq=embeddings_freq,
            embeddings_metadata=embeddings_metadata,
            update_freq=update_freq,
        )
        self.write_steps_per_second = read(
            "TensorBoard", "write_steps_per_second", FLAG_OR_DIGIT, write_steps_per_second
        )
        self._validation: Any = None
        self._begun = self._last = time.perf_counter()
        self.batches = self._of_epoch = 0
        self._in_fit = False
        if self.update_freq != "epoch" or self.write_steps_per_second:  # otherwise a batch costs nothing
            self.on_train_batch_end = self._after_batch

    @staticmethod
    def _check_embeddings(freq: int, names: Any, metadata: Any, data: Any) -> None:
        if metadata is not None and not freq:
            warnings.warn(
                "TensorBoard: embeddings_metadata is for embeddings, of which embeddings_freq=0 writes none.",
                stacklevel=4,
            )

    # --- hooks -------------------------------------------------------------------------------------------------------

    def on_train_begin(self, logs: Any = None) -> None:
        self.batches, self._in_fit = 0, True
        super().on_train_begin(logs)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._begun, self._of_epoch = time.perf_counter(), 0
        self._last = self._begun

    def _after_batch(self, batch: int, logs: Any = None) -> None:
        new = batch + 1 - self._of_epoch  # one call may be for several batches
        before, self.batches, self._of_epoch = self.batches, self.batches + new, batch + 1
        every: Any = self.update_freq
        if every == "epoch" or self.batches // every == before // every:
            return
        numbers = {f"batch_{name}": value for name, value in (logs or {}).items() if name not in ("batch", "size")}
        if self.write_steps_per_second:
            now = time.perf_counter()
            numbers["batch_steps_per_second"] = new / max(now - self._last, 1e-9)
        self._write(numbers, self.batches)
        self._last = time.perf_counter()

    def _on_batch(self, batch: int, logs: Any = None) -> None:
        """Nothing: `_after_batch` counts batches, not samples."""

    def on_test_end(self, logs: Any = None) -> None:
        steps = getattr(self.model.optimizer, "iterations", None)
        if steps is not None and logs:
            numbers = {f"evaluation_{name}_vs_iterations": value for name, value in logs.items()}
            self._write_validation(numbers, int(steps))
        if not self._in_fit:
            self.abandon()

    def on_train_end(self, logs: Any = None) -> None:
        self._in_fit = False
        super().on_train_end(logs)

    def abandon(self) -> None:
        super().abandon()
        if self._validation is not None:
            self._validation.close()
            self._validation = None

    # --- writing -----------------------------------------------------------------------------------------------------

    def _open(self, **options: Any) -> None:
        self._writer = self._writer_in("train", **options)

    def _writer_in(self, folder: str, **options: Any) -> Any:
        return extra(WRITER, "TensorBoard").SummaryWriter(str(Path(self.log_dir) / folder), **options)

    def _write_epoch(self, epoch: int, logs: Any) -> None:
        found = dict(logs.items())
        of_validation = {name for name in found if name.startswith("val_")}
        numbers = {f"epoch_{name}": value for name, value in found.items() if name not in of_validation}
        numbers["epoch_learning_rate"] = float(self.model.optimizer.lr)
        if self.write_steps_per_second:
            numbers["epoch_steps_per_second"] = self._of_epoch / max(time.perf_counter() - self._begun, 1e-9)
        self._write(numbers, epoch)
        if of_validation:
            self._write_validation({f"epoch_{name.removeprefix('val_')}": found[name] for name in of_validation}, epoch)

    def _write_validation(self, numbers: Mapping[str, Any], step: int) -> None:
        if self._validation is None:
            self._validation = self._writer_in("validation")
        for name, value in sorted(numbers.items()):
            self._validation.add_scalar(name, one_number("TensorBoard", name, value), step)
        self._validation.flush()

    def _weights(self) -> Iterator[tuple[str, Any]]:
        for name, weight in super()._weights():
            yield f"{name}/histogram", weight

    def _write_outputs(self, epoch: int) -> None:
        """Nothing: there, histograms are of weights alone."""

    def _write_points(self, epoch: int) -> None:
        for layer in self._embedding_layers():
            labels, head = self._points[layer.name]
            self._writer.add_embedding(layer.weights[0].numpy(), labels, None, epoch, f"{layer.name}_embedding", head)


# What a CallbackList adds: the class that may be there already, and the one that is made.
_ADDED: Mapping[str, tuple[type, Callable[[], Any]]] = {
    "add_history": (History, History),
    "add_progbar": (callbacks.ProgbarLogger, ProgbarLogger),
}


class OrbaxCheckpoint(Callback):
    """Refused: Orbax is a package of JAX. `ModelCheckpoint` saves models, `BackupAndRestore` goes on after a stop.

    Errors:
        NotImplementedError: in any case.

    Source: https://keras.io/api/callbacks/
    """

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            "OrbaxCheckpoint writes by Orbax, a package of JAX, which is not used here. Use BackupAndRestore to go on "
            "after a stop, ModelCheckpoint to save models, or torch.distributed.checkpoint."
        )
