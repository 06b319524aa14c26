"""Going on after a stop: `BackupAndRestore` writes all that a run needs, and finds it again."""

from __future__ import annotations

import hashlib
import io
import signal
import threading
import warnings
from pathlib import Path
from typing import Any

import torch

from torchkeras.callbacks.base import Callback
from torchkeras.saving.files.atomic import replacing

KEPT = 2  # the newest checkpoint, and the one before it, should the newest turn out to be torn
SUFFIX = ".checkpoint"


class BackupAndRestore(Callback):
    """Write checkpoints of a `fit` to a folder; at the start of `fit`, go on from the newest whole one that is there.

    A checkpoint has weights, statistics, optimizer, moving averages, metrics, the random numbers of Python, NumPy and
    torch, the order of the data, the callbacks' states, epoch and batch: the same script run again after a stop at any
    moment ends with the same weights, bit by bit on one machine with deterministic operations. The data must be the
    same, in the same order; a generator is run through from its start to the place.

    `save_freq`: "epoch", or a number of batches (checkpoints at epochs' ends are written then too).
    `delete_checkpoint`: whether a `fit` that came to its end takes its checkpoints away. SIGTERM and Ctrl-C (in the main
    thread) end the `fit` after the present step, with a checkpoint written and the `History` returned; a second Ctrl-C
    interrupts at once. Weights that are not finite numbers are not written, with a warning.

    Raises OSError, naming the folder, when a checkpoint cannot be written; those before it stay whole. Raises ValueError
    when the newest whole checkpoint is of another model, optimizer or set of callbacks.
    """

    def __init__(self, backup_dir: Any, save_freq: int | str = "epoch", delete_checkpoint: bool = True):
        whole = isinstance(save_freq, int) and not isinstance(save_freq, bool) and save_freq >= 1
        if save_freq != "epoch" and not whole:
            raise ValueError(f"BackupAndRestore: save_freq must be 'epoch' or a number of batches; found {save_freq!r}.")
        if not isinstance(delete_checkpoint, bool):
            raise ValueError(f"BackupAndRestore: delete_checkpoint must be True or False; found {delete_checkpoint!r}.")
        self.folder = Path(backup_dir)
        self.save_freq = save_freq
        self.delete_checkpoint = delete_checkpoint
        self._run: Any = None
        self._signalled: int | None = None
        self._handlers: dict[int, Any] = {}

    # --- the run -----------------------------------------------------------------------------------------------------

    def resume(self, run: Any) -> None:
        """Called by `fit` when all callbacks have begun: take the run, and go on from the newest whole checkpoint."""
        self._run, self._signalled = run, None
        self._make_folder()
        for path in reversed(self._found()):
            saved = _read(path)
            if saved is not None:
                run.load_state_dict(saved)
                break
            warnings.warn(f"BackupAndRestore: {path} is torn or damaged, and passed over.", stacklevel=2)
        self._listen()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._signalled is not None:
            self._write(self._run.state_dict())
            self._run.interrupted = True
        elif self.save_freq != "epoch" and (batch + 1) % self.save_freq == 0:  # type: ignore[operator]
            self._write(self._run.state_dict())

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._write(self._run.state_dict(epoch_done=True))
        if self._signalled is not None:
            self._run.interrupted = True

    def on_train_end(self, logs: Any = None) -> None:
        self._restore_handlers()
        if self.delete_checkpoint and not self._run.interrupted:
            for path in self._found():
                path.unlink(missing_ok=True)
        self._run = None

    def abandon(self) -> None:
        """Called by `fit` when it ends with an error: give the signals back."""
        self._restore_handlers()

    # --- signals -----------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # Python takes signals in the main thread alone

        def note(number: int, frame: Any) -> None:
            if self._signalled is not None and number == signal.SIGINT:
                raise KeyboardInterrupt
            self._signalled = number

        self._handlers = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}

    def _restore_handlers(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers = {}

    # --- files -------------------------------------------------------------------------------------------------------

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for part in self.folder.glob(f".*{SUFFIX}.*.part"):  # left by a stop in the middle of writing
                part.unlink(missing_ok=True)
        except OSError as error:
            raise OSError(f"BackupAndRestore: the folder {self.folder} cannot be made: {error}") from error

    def _found(self) -> list[Path]:
        """The checkpoints of the folder, oldest first."""
        return sorted(self.folder.glob(f"*{SUFFIX}"))

    def _write(self, state: dict[str, Any]) -> None:
        if not _finite(state["tensors"].values()):
            warnings.warn(
                "BackupAndRestore: some weights are not finite numbers; no checkpoint is written, the last one stays.",
                stacklevel=2,
            )
            return
        content = io.BytesIO()
        torch.save(state, content)
        data = content.getbuffer()
        digest = hashlib.sha256(data).hexdigest()[:32]
        path = self.folder / f"{state['epoch']:08d}-{state['sums']['batches']:012d}-{digest}{SUFFIX}"
        try:
            with replacing(path) as part:
                part.write_bytes(data)
        except OSError as error:
            raise OSError(f"BackupAndRestore: no checkpoint could be written to {self.folder}: {error}") from error
        for old in self._found()[:-KEPT]:
            old.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any] | None:
    """A checkpoint; None for one whose bytes are not those that its name was made of."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest()[:32] != path.name.removesuffix(SUFFIX).rpartition("-")[2]:
        return None
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)


def _finite(tensors: Any) -> bool:
    floats = [tensor for tensor in tensors if tensor.is_floating_point() and tensor.numel()]
    return not floats or bool(torch.stack([torch.isfinite(tensor).all() for tensor in floats]).all())
