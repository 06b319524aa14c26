"""Going on after a stop: `BackupAndRestore` writes all that a run needs, and finds it again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torchkeras.base.rules import FLAG_OR_DIGIT, is_integer, read, read_path, rule
from torchkeras.callbacks.base import Callback
from torchkeras.resume.accepted import ACCEPT
from torchkeras.resume.stop_signals import StopSignals

SAVE_FREQ = rule("must be 'epoch' or a number of batches", lambda v: v == "epoch" or (is_integer(v) and v >= 1))


class BackupAndRestore(Callback):
    """Writes checkpoints of a `fit` to a folder; the next `fit` continues from the newest complete one.

    A checkpoint has all that the run needs: weights, statistics, optimizer, moving averages, metrics, epoch and batch,
    the order of the data, the callbacks' states, and the random numbers of Python, NumPy, torch and of generators that
    the data holds. The same script, run again after a stop at any moment, ends with the same weights. They are equal
    bit by bit on one CPU with one thread, or with `torch.use_deterministic_algorithms(True)` and the same number of
    threads.

    The script must stay the same: its data, model, callbacks, and the options of `compile` and `fit` except for
    `epochs`, `verbose`, `max_queue_size` and `distribute`. A checkpoint records them. A `fit` that differs is refused,
    and the error names all differences; those that `accept` lists are allowed, and the `fit` continues with the new
    values. Of the data, a checkpoint records the types, shapes and checksums of arrays (of some rows for arrays above
    16 MB), and the attributes and code of a Dataset, Sequence or generator, but not the files that these read. The code
    of callbacks, and what code prints or logs, may change: a RuntimeWarning says so, and the `fit` continues.

    A generator is run again from its start up to the batch where training stopped, and must begin with the same batch.
    The order in which several threads draw random numbers cannot be restored (workers above 1, or a Sequence or
    generator that draws torch's numbers while a layer draws too): pass workers=0 to `fit` in these cases. Only one run
    at a time can use a folder.

    SIGTERM and Ctrl-C end the `fit` after the current step: a checkpoint is written, the `History` is returned, and
    `interrupted` is True. This works in the main thread, unless the signal is ignored. A second Ctrl-C interrupts at
    once. Weights that are not finite numbers are not written; a RuntimeWarning says so.

    Several processes write a checkpoint together, as a folder of torch's distributed checkpoint. The same number of
    processes continues with results that are equal bit by bit. More or fewer processes, or a single one, can continue
    too, but rounding and the random numbers of layers differ: the first processes continue with their own random
    numbers, and those of a new process are seeded by its number and by those of the first. A signal to one process ends
    all of them after the same batch, within about half a second.

    Options:
        backup_dir (path): the folder; it is created if it does not exist. If several processes train, all must see it.
        save_freq ("epoch" or a positive integer, default "epoch"): checkpoints are written at the end of each epoch,
            and with a number after every so many batches too.
        delete_checkpoint (bool, default True): whether a `fit` that reaches its end deletes its checkpoints.
        accept (list of words, default ()): what may differ from the checkpoint: "model" (its options; weights keep
            their shapes), "optimizer" (its options; one of another class begins without state), "learning_rate",
            "loss", "metrics", "data", "batch_size", "shuffle", "workers", "callbacks", "validation_data", and the names
            of other arguments of `compile` and `fit`: "loss_weights", "sample_weight_mode", "weighted_metrics",
            "target_tensors", "on_nonfinite", "jit_compile", "cuda_graph", "steps_per_execution", "sync_batch_norm",
            "numerics", "steps_per_epoch", "sample_weight", "class_weight", "validation_freq", "initial_epoch". And
            "lock", if a run on another machine was killed and left its lock.

    Errors:
        OSError: a checkpoint cannot be written or read; the error names the folder, and earlier checkpoints stay whole.
            It is raised too if another run uses the folder, or if a checkpoint is neither a file nor a folder of
            checkpoints.
        ValueError: the newest whole checkpoint is of another run, see above; `accept` has an unknown word; or some
            process does not see the folder of the other processes.
        TypeError: `backup_dir` is no path, or a callback's state holds more than numbers, text and arrays.

    Example:
        >>> backup = BackupAndRestore("backup", save_freq=1000)
        >>> backup.interrupted
        False

    Source: https://keras.io/api/callbacks/backup_and_restore/
    """

    _takes_means = True
    needed_to_resume = False
    keeps_records = True
    _signals = StopSignals()  # each run has its own; this one never listens

    def __init__(
        self,
        backup_dir: Any,
        save_freq: int | str = "epoch",
        delete_checkpoint: bool = True,
        accept: Iterable[str] = (),
    ):
        self.folder = Path(read_path("BackupAndRestore", "backup_dir", backup_dir))
        self.save_freq = read("BackupAndRestore", "save_freq", SAVE_FREQ, save_freq)
        self.delete_checkpoint = read("BackupAndRestore", "delete_checkpoint", FLAG_OR_DIGIT, delete_checkpoint)
        self.accept = read("BackupAndRestore", "accept", ACCEPT, accept)
        self.interrupted = False
        self._run: Any = None
        self._backups: Any = None
        self._batches = 0  # of the epoch, when this was last called

    @property
    def backup_dir(self) -> Path:
        """`folder`, as the option is called."""
        return self.folder

    @backup_dir.setter
    def backup_dir(self, value: Any) -> None:
        self.folder = Path(read_path("BackupAndRestore", "backup_dir", value))

    # --- the run -----------------------------------------------------------------------------------------------------

    def resume(self, run: Any) -> None:
        """Called by `fit` when all callbacks have begun: continue from the newest complete checkpoint, if any."""
        self._run, self._signals, self.interrupted = run, StopSignals(), False
        self._backups = run.processes.backups(self.folder, run, self.accept)
        self._backups.prepare()
        newest = self._backups.newest()
        if newest is not None:
            self._go_on(*newest)
        self._signals.listen()

    def _go_on(self, path: Path, saved: dict[str, Any]) -> None:
        try:
            self._run.load_state_dict(saved, self.accept)
        except ValueError as error:
            raise ValueError(f"BackupAndRestore: {path} does not fit this run. {error}") from error

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._batches = self._run.start
        self._look_ahead()

    def _look_ahead(self) -> None:
        """Have the next call after the batch that is next to be followed by a checkpoint, not later."""
        if isinstance(self.save_freq, int):
            self._run.processes.call_within(self.save_freq - self._batches % self.save_freq)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        before, self._batches = self._batches, batch + 1
        if self._backups.agreed(self._signals.has_come):
            self._write(self._run.state_dict())
            self._end()
        elif isinstance(self.save_freq, int) and self._batches // self.save_freq > before // self.save_freq:
            self._write(self._run.state_dict())
        self._look_ahead()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._write(self._run.state_dict(epoch_done=True))
        if self._backups.agreed(self._signals.has_come):
            self._end()

    def _write(self, state: dict[str, Any]) -> None:
        self._backups.write_finite(state, self.model.state_dict(keep_vars=True))

    def _end(self) -> None:
        self._run.interrupted = self.interrupted = True

    def on_train_end(self, logs: Any = None) -> None:
        self._signals.restore()
        if self.delete_checkpoint and not self.interrupted:
            self._backups.delete()
        self._run = None

    def abandon(self) -> None:
        """Called when `fit` ends, even by an error: release the signals and the folder."""
        self._signals.restore()
        if self._backups is not None:
            self._backups.release()
        self._run = self._backups = None
