"""`Profiler`: what happens in some batches, as a trace."""

import os
import warnings
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.monitoring import count


class Profiler(Callback):
    """Writes a trace of batches `first` to `first + batches - 1` of an epoch, by `torch.profiler`.

    The file, `log_dir/trace-epoch<epoch>-batch<first>-<last>.json` with numbers counted from 0, is one that
    chrome://tracing and https://ui.perfetto.dev show; `path` is its name once it is written. `record_shapes`,
    `profile_memory`, `with_stack`: as in `torch.profiler.profile`. An epoch that ends earlier ends the trace; when none
    of the batches came, a RuntimeWarning says so. Other batches cost next to nothing.
    """

    needs_each_batch = True

    def __init__(
        self,
        log_dir: str | os.PathLike[str] = "./logs",
        first: int = 2,
        batches: int = 3,
        epoch: int = 0,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
    ):
        self.log_dir = Path(log_dir)
        self.first, self.batches = count("Profiler", "first", first), count("Profiler", "batches", batches, 1)
        self.epoch = count("Profiler", "epoch", epoch)
        self.options: dict[str, Any] = {
            "record_shapes": record_shapes,
            "profile_memory": profile_memory,
            "with_stack": with_stack,
        }
        self.path: Path | None = None
        self._profile: Any = None
        self._here = False
        self._last = first

    def on_train_begin(self, logs: Any = None) -> None:
        self.log_dir.mkdir(parents=True, exist_ok=True)
        self.path = None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._here = epoch == self.epoch

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        if self._here and batch == self.first:
            devices = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])]
            self._profile = profile(activities=devices, **self.options)
            self._profile.start()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._profile is not None:
            self._last = batch
            if batch >= self.first + self.batches - 1:
                self._finish()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._finish()

    def on_train_end(self, logs: Any = None) -> None:
        self._finish()
        if self.path is None:
            warnings.warn(
                f"Profiler: no batch was traced, since training had no batch {self.first} in epoch {self.epoch}.",
                RuntimeWarning,
                stacklevel=2,
            )

    def _finish(self) -> None:
        if self._profile is None:
            return
        running, self._profile = self._profile, None
        running.stop()
        self.path = self.log_dir / f"trace-epoch{self.epoch}-batch{self.first}-{self._last}.json"
        running.export_chrome_trace(str(self.path))
