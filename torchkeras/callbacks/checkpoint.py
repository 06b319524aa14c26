"""`ModelCheckpoint`: the model, or its weights, after an epoch, or after a number of batches."""

from __future__ import annotations

import errno
import math
import os
import warnings
from collections import ChainMap
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

import torch

from torchkeras.base.rules import FINITE, FLAG_OR_DIGIT, integer, optional, read, read_path
from torchkeras.callbacks.backup import SAVE_FREQ
from torchkeras.callbacks.logs import named
from torchkeras.callbacks.monitoring import Monitored, one_number
from torchkeras.callbacks.progress import say
from torchkeras.engine.facts import is_own
from torchkeras.saving.formats import WEIGHTS, WHOLE, check_name
from torchkeras.world.one_process import sharing
from torchkeras.world.processes import is_main

if TYPE_CHECKING:
    from torchkeras.models.model import Model


class ModelCheckpoint(Monitored):
    """Saves the model, or its weights, after an epoch, or each time after a number of batches.

    A file is written completely or not at all, and its folder is created if it does not exist. Weights that are NaN or
    infinite never replace an existing file; a RuntimeWarning says so.

    Options:
        filepath (path): the file. It may hold `{epoch}`, counted from 1, and names of the logs, with formats:
            `"w.{epoch:02d}-{val_loss:.2f}.h5"`; after a number of batches `{batch}` as well, counted from 1.
        save_best_only (bool, default False): whether to save only when the monitored number is the best so far; NaN
            never is.
        save_weights_only (bool, default False): whether to save by `model.save_weights`, not by `model.save`.
        period (integer of at least 0, default 1): the epochs from one save to the next.
        save_freq ("epoch" or a positive integer, default "epoch"): when to save: after epochs, or each time after so
            many batches, of all epochs together.
        initial_value_threshold (number or None, default None): the monitored number must be better than this from the
            first epoch on.
        keep (positive integer or None, default None): how many files of the best epochs to keep, with `save_best_only`:
            a better one replaces the worst, whose file is removed. `filepath` must then name the epoch.

    Errors:
        TypeError: `filepath` is no path.
        OSError: the file cannot be written; the error names it, and the previous file stays as it is.
        ValueError: an option has a bad value, the logs do not have a name of `filepath`, `save` or `save_weights` does
            not write its suffix, or the model has no form in that format. `fit` raises these errors, like those about
            the place of the file, before the first epoch.

    Example:
        >>> best = ModelCheckpoint("best.weights.h5", "val_acc", save_best_only=True, save_weights_only=True)
        >>> best.rises
        True

    Source: https://keras.io/api/callbacks/model_checkpoint/
    """

    state_names = ("best", "epochs_since_last_save")
    keeps_records = True
    _epoch = 0

    save_freq: Any = "epoch"  # what earlier pickles lack
    initial_value_threshold: float | None = None
    keep: int | None = None

    def __init__(
        self,
        filepath: str | os.PathLike[str],
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        period: int = 1,
        save_freq: int | str = "epoch",
        initial_value_threshold: float | None = None,
        keep: int | None = None,
    ):
        super().__init__(monitor, mode, verbose)
        self.filepath = read_path("ModelCheckpoint", "filepath", filepath)
        _filled(self.filepath, _Unknown(epoch=1, batch=1))
        check_name(filepath, WEIGHTS if save_weights_only else WHOLE, "ModelCheckpoint")
        self.save_best_only = read("ModelCheckpoint", "save_best_only", FLAG_OR_DIGIT, save_best_only)
        self.save_weights_only = read("ModelCheckpoint", "save_weights_only", FLAG_OR_DIGIT, save_weights_only)
        self.period = read("ModelCheckpoint", "period", integer(0), period)
        self.save_freq = read("ModelCheckpoint", "save_freq", SAVE_FREQ, save_freq)
        self.initial_value_threshold = read(
            "ModelCheckpoint", "initial_value_threshold", optional(FINITE), initial_value_threshold
        )
        self.keep = read("ModelCheckpoint", "keep", optional(integer(1)), keep)
        if self.keep is not None:
            self._check_keep()
            self.kept: list[Any] = []  # the numbers and the files, the best first
            vars(self)["state_names"] = (*self.state_names, "kept")
        self.epochs_since_last_save = 0
        self.best = self._start
        if self.save_freq != "epoch":  # otherwise a batch costs nothing
            self.batches_since_last_save, self.last_batch = 0, -1
            vars(self)["state_names"] = (*self.state_names, "batches_since_last_save", "last_batch")
            self.on_epoch_begin, self.on_train_batch_end = self._note_epoch, self._after_batch

    def _check_keep(self) -> None:
        if not self.save_best_only:
            raise ValueError("ModelCheckpoint: keep is for the best epochs: give save_best_only=True as well.")
        first, second = (_filled(self.filepath, _Unknown(epoch=epoch, batch=1)) for epoch in (1, 2))
        if first == second:
            raise ValueError(
                f"ModelCheckpoint: keep={self.keep} needs a file for each epoch: filepath must hold {{epoch}}; found "
                f"{self.filepath!r}."
            )

    @property
    def _compares(self) -> bool:
        return bool(self.save_best_only)

    def on_train_begin(self, logs: Any = None) -> None:
        """Raises the errors of the first save without writing anything: for the place, the format or the model."""
        if math.isinf(self.best):  # nothing was saved yet, and the model may have said in which direction to look
            self.best = self.worst
        path = _filled(self.filepath, _Unknown(epoch=1, batch=1))
        _check_place(path)
        if hasattr(self.model, "_check_saving") and is_own(type(self.model).save):
            self.model._check_saving(path, self.save_weights_only, "ModelCheckpoint")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.save_freq != "epoch":
            return
        self.epochs_since_last_save += 1
        if self.epochs_since_last_save < self.period:
            return
        self.epochs_since_last_save = 0
        self._consider(epoch, logs, {"epoch": epoch + 1})

    def _note_epoch(self, epoch: int, logs: Any = None) -> None:
        self._epoch = epoch

    def _after_batch(self, batch: int, logs: Any = None) -> None:
        new = batch - self.last_batch if batch > self.last_batch else batch + 1  # one call may be for several batches
        self.batches_since_last_save, self.last_batch = self.batches_since_last_save + new, batch
        if self.batches_since_last_save >= self.save_freq:  # type: ignore[operator]
            self.batches_since_last_save = 0
            self._consider(self._epoch, logs, {"epoch": self._epoch + 1, "batch": batch + 1})

    def _consider(self, epoch: int, logs: Any, numbers: dict[str, int]) -> None:
        """Save, unless the monitored number is not the best so far; `numbers` are those of the epoch and the batch."""
        path = self._path(numbers, logs or {})
        if not self.save_best_only:
            if self._save(epoch, path):
                self._say(epoch, f"saved to {path}.")
            return
        current = self.monitored(logs)
        if current is None:
            self._without_number(epoch, path)
        elif not self.better(current, bound := self._bound()):
            self._say(epoch, f"{self.monitor} was not better than {bound:.5g}.")
        elif self._save(epoch, path):
            self._say(epoch, f"{self.monitor} went from {bound:.5g} to {current:.5g}, saved to {path}.")
            if self.better(current, self.best):
                self.best = current
            if self.keep is not None:
                self._keep(current, path, self.keep)

    def _bound(self) -> float:
        """What the monitored number must be better than: the best, or the worst of those that `keep` has."""
        if self.keep is None:
            return self.best
        return self.kept[-1][0] if len(self.kept) == self.keep else self._start

    @property
    def _start(self) -> float:
        """What the first number must be better than."""
        return self.worst if self.initial_value_threshold is None else self.initial_value_threshold

    def _keep(self, current: float, path: str, most: int) -> None:
        """Add a file to those that stay, and remove the worst where there are too many."""
        others = [(value, file) for value, file in self.kept if file != path]
        self.kept = sorted([*others, (current, path)], key=lambda each: each[0], reverse=bool(self.rises))
        for _, file in self.kept[most:]:
            if is_main():
                Path(file).unlink(missing_ok=True)
        del self.kept[most:]

    def _without_number(self, epoch: int, path: str) -> None:
        """What is done where the logs lack the monitored number, after the warning: nothing is saved."""

    def _path(self, numbers: dict[str, int], logs: Any) -> str:
        names = ChainMap(numbers, named(logs))
        for _, name, *_ in Formatter().parse(self.filepath):
            if name is not None and name in names:
                one_number("ModelCheckpoint", name, names[name])
        try:
            return _filled(self.filepath, names)
        except KeyError as error:
            names = ", ".join(logs) or "nothing"
            raise ValueError(
                f"ModelCheckpoint: filepath {self.filepath!r} asks for {error}; the logs have {names}."
            ) from error

    def _save(self, epoch: int, path: str) -> bool:
        """Whether the file was written."""
        if os.path.exists(path) and (names := not_finite(self.model)):
            warnings.warn(
                f"ModelCheckpoint: epoch {epoch + 1} is not saved, since {', '.join(names[:3])} "
                f"{'is' if len(names) == 1 else 'are'} NaN or infinite; {path} stays as it is.",
                RuntimeWarning,
                stacklevel=4,
            )
            return False
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.exists(folder):
            os.makedirs(folder, exist_ok=True)
        (self.model.save_weights if self.save_weights_only else self.model.save)(path, overwrite=True)
        return True

    def _say(self, epoch: int, what: str) -> None:
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: {what}")


class _Unknown(dict[str, Any]):
    """Names of which nothing is known yet: each can be formatted in any way."""

    def __missing__(self, name: str) -> Any:
        return self

    def __format__(self, form: str) -> str:
        return ""


def _filled(filepath: str, names: Any) -> str:
    try:
        return filepath.format_map(names)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"ModelCheckpoint: filepath must have names in its braces, with forms that fit, such as {{epoch:02d}} or "
            f"{{val_loss:.2f}}; found {filepath!r}: {error}."
        ) from error


def not_finite(model: Model) -> list[str]:
    """The names of the trainable weights that hold a NaN or an infinity; [] for what is no model.

    It takes one transfer from the device.
    """
    weights = getattr(model, "trainable_weights", ())
    variables = [variable for variable in weights if variable.tensors[0].is_floating_point()]
    with torch.no_grad():
        finite = [
            torch.stack([sharing().part(t).isfinite().all() for t in variable.tensors]).all() for variable in variables
        ]
        found = (
            sharing().in_all(torch.stack([flag.to(finite[0].device) for flag in finite]), variables[0].tensors)
            if finite
            else None
        )
        flags = [] if found is None else found.tolist()
    return [variable.full_name for variable, flag in zip(variables, flags, strict=True) if not flag]


def _check_place(path: str | os.PathLike[str]) -> None:
    """Raise the OSError of writing a file that cannot be written; nothing is written or made."""
    place = Path(os.path.abspath(path))
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    folder = next(each for each in place.parents if os.path.lexists(each))
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
