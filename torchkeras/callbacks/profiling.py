"""`Profiler`: what happens in some batches, as a trace."""

import os
import warnings
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from torchkeras.base.rules import FLAG_OR_DIGIT, integer, read, read_path
from torchkeras.base.torch_versions import KEEPS_EVENTS
from torchkeras.callbacks.base import Callback

RECORDED = ("record_shapes", "profile_memory", "with_stack")


class Profiler(Callback):
    """Writes a trace of a few batches of one epoch, by `torch.profiler`.

    The file is `log_dir/trace-epoch<epoch>-batch<first>-<last>.pt.trace.json`, numbers counted from 0.
    https://ui.perfetto.dev, chrome://tracing and TensorBoard's plugin `torch-tb-profiler` show it. `path` is the name
    of the file once it is written. An epoch that ends earlier ends the trace. When training had none of the batches, a
    RuntimeWarning says so. Other batches cost next to nothing.

    Options:
        log_dir (path, default "./logs"): the folder; it is created if it does not exist.
        first (integer of at least 0, default 2): the first batch to trace.
        batches (positive integer, default 3): how many batches to trace.
        epoch (integer of at least 0, default 0): the epoch of these batches.
        record_shapes (bool, default False): whether the trace has the shapes of inputs.
        profile_memory (bool, default False): whether the trace has the memory that is allocated and freed.
        with_stack (bool, default False): whether the trace has the lines of the Python code.

    Errors:
        TypeError: `log_dir` is no path.
        ValueError: another option has a bad value.

    Example:
        >>> Profiler("traces", first=10, batches=2).batches
        2

    Source: https://docs.pytorch.org/docs/stable/profiler.html
    """

    needs_each_batch = True

    main_only = True
    keeps_records = True

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
        self.log_dir = Path(read_path("Profiler", "log_dir", log_dir))
        self.first = read("Profiler", "first", integer(0), first)
        self.batches = read("Profiler", "batches", integer(1), batches)
        self.epoch = read("Profiler", "epoch", integer(0), epoch)
        self.record_shapes = read("Profiler", "record_shapes", FLAG_OR_DIGIT, record_shapes)
        self.profile_memory = read("Profiler", "profile_memory", FLAG_OR_DIGIT, profile_memory)
        self.with_stack = read("Profiler", "with_stack", FLAG_OR_DIGIT, with_stack)
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
            self._profile = begun(**{name: getattr(self, name) for name in RECORDED})

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

    def abandon(self) -> None:
        """Called when `fit` ends, even by an error: end the trace."""
        self._finish()

    def _finish(self) -> None:
        if self._profile is None:
            return
        running, self._profile = self._profile, None
        self.path = ended(running, self.log_dir, f"epoch{self.epoch}-batch{self.first}-{self._last}")


def begun(**recorded: Any) -> profile:
    """A trace that has begun, of the CPU and the CUDA device; `recorded`: what it has besides."""
    devices = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])]
    running = profile(activities=devices, **KEEPS_EVENTS, **recorded)
    running.start()
    return running


def ended(running: profile, folder: Path, of: str) -> Path:
    """The file of a trace that ends now, with the suffix by which TensorBoard's plugin finds it; `of`: in its name."""
    running.stop()
    path = folder / f"trace-{of}.pt.trace.json"
    running.export_chrome_trace(str(path))
    return path
