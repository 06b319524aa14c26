"""`fit` of several processes goes on after a stop: with as many bit by bit, with more or fewer to the same numbers."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pool import Pools

from torchkeras import Sequential, clear_session, config, layers
from torchkeras.callbacks import BackupAndRestore, Callback, CSVLogger, EarlyStopping
from torchkeras.metrics import MeanSquaredError
from torchkeras.optimizers import Adam
from torchkeras.world.processes import is_main, rank

ROOT = Path(__file__).parents[2]
SAMPLES, SIZE, EPOCHS = 25, 5, 3  # three are to validate on; the last batch has two: of three processes, one has none
BATCHES = 5


@pytest.fixture
def together(pools: Pools) -> Callable[..., list[Any]]:
    return pools.run


class Killed(BaseException):
    """The end of a process: nothing of the package catches it."""


class At(Callback):
    """Does something at the `number`-th batch, before a backup sees its end."""

    needed_to_resume = False

    def __init__(self, number: int, act: Callable[[], Any]):
        self.left, self.act = number, act

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.left -= 1
        if self.left == 0:
            self.act()


def kill() -> None:
    raise Killed


def trained(
    folder: Path, distribute: Any, dropout: bool, *callbacks: Callback, backup: Any = None, rate: float = 0.001
) -> dict[str, Any]:
    """The end of a training that goes on from the newest checkpoint of the folder; with `stopped` where it was."""
    clear_session()
    before = config.floatx()
    config.set_floatx("float64")
    try:
        torch.manual_seed(2)
        draw = np.random.RandomState(1)
        x, y = draw.randn(SAMPLES, 4), draw.randn(SAMPLES, 2)
        model = Sequential(
            [
                layers.Dense(8, activation="tanh", input_shape=(4,)),
                layers.BatchNormalization(),
                *([layers.Dropout(0.4)] if dropout else []),
                layers.Dense(2, kernel_regularizer="l2"),
            ]
        )
        kept = MeanSquaredError(name="kept")
        model.compile(Adam(rate), "mae", metrics=["mse", kept], distribute=distribute)
        backup = backup or BackupAndRestore(folder, save_freq=2, delete_checkpoint=False)
        given = [*callbacks, EarlyStopping("loss", patience=9), CSVLogger(folder.parent / f"{folder.name}.csv"), backup]
        stopped = False
        try:
            model.fit(x, y, batch_size=SIZE, epochs=EPOCHS, validation_split=0.1, verbose=0, callbacks=given)
        except Killed:
            stopped = True
        return {
            "stopped": stopped or backup.interrupted,
            "history": model.history.history,
            "weights": model.get_weights(),
            "sharded": any(hasattr(each, "to_local") for each in model.parameters()),
            "iterations": model.optimizer.iterations,
        }
    finally:
        config.set_floatx(before)


def numbers(end: dict[str, Any]) -> np.ndarray:
    """The history and weights of an end, as one array."""
    history = [value for name in sorted(end["history"]) for value in end["history"][name]]
    return np.concatenate([np.array(history), *(weight.ravel() for weight in end["weights"])])


def stopped_after(folder: Path, distribute: Any, dropout: bool, batches: int) -> dict[str, Any]:
    return trained(folder, distribute, dropout, At(batches, kill))


@pytest.mark.parametrize(
    "distribute", ["ddp", pytest.param("fsdp", marks=pytest.mark.torch("2.8", "weights that processes share"))]
)
@pytest.mark.parametrize("processes", [2, 3])
def test_the_end_after_stops_is_that_of_an_undisturbed_run(together, distribute, processes, tmp_path):
    wanted = together(trained, processes, tmp_path / "undisturbed", distribute, True)
    for batches in (3, 4, 2 * BATCHES):  # of each start: within an epoch, over its end, in its last batch
        ends = together(stopped_after, processes, tmp_path / "backup", distribute, True, batches)
        assert all(end["stopped"] for end in ends)
    for end, other in zip(together(trained, processes, tmp_path / "backup", distribute, True), wanted, strict=True):
        assert not end["stopped"]
        assert end["sharded"] is (distribute == "fsdp")
        assert end["iterations"] == other["iterations"] == BATCHES * EPOCHS
        assert numbers(end).tobytes() == numbers(other).tobytes()
    assert (tmp_path / "backup.csv").read_text() == (tmp_path / "undisturbed.csv").read_text()


@pytest.mark.parametrize("chain", [(2, 3, 1), (1, 2), (3, 2)], ids=str)
@pytest.mark.parametrize(
    "distribute", ["ddp", pytest.param("fsdp", marks=pytest.mark.torch("2.8", "weights that processes share"))]
)
def test_going_on_with_another_number_gives_the_numbers_of_one(together, distribute, chain, tmp_path):
    (wanted,) = together(trained, 1, tmp_path / "undisturbed", None, False)
    for processes in chain[:-1]:
        together(stopped_after, processes, tmp_path / "backup", distribute if processes > 1 else None, False, 6)
    *_, last = chain
    for end in together(trained, last, tmp_path / "backup", distribute if last > 1 else None, False):
        np.testing.assert_allclose(numbers(end), numbers(wanted), rtol=1e-10, atol=1e-10)
    assert numbers(wanted).tobytes() != b""


def signalled(folder: Path, number: int, process: int) -> dict[str, Any]:
    """The end of a training of which one process gets a signal."""

    def act() -> None:
        if rank() == process:
            os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    end = trained(folder, "ddp", True, At(7, act))
    assert signal.getsignal(number) is before
    return end


@pytest.mark.parametrize("process", [0, 1])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_one_process_ends_all_after_the_same_batch(together, number, process, tmp_path):
    ends = together(signalled, 2, tmp_path / "backup", number, process)
    assert [end["stopped"] for end in ends] == [True, True]
    assert [end["iterations"] for end in ends] == [7, 7]
    wanted = together(trained, 2, tmp_path / "undisturbed", "ddp", True)
    for end, other in zip(together(trained, 2, tmp_path / "backup", "ddp", True), wanted, strict=True):
        assert numbers(end).tobytes() == numbers(other).tobytes()


def refused(folder: Path, rate: float) -> str:
    """The error of a training that goes on with another rate."""
    try:
        trained(folder, "ddp", False, rate=rate)
    except (ValueError, OSError) as error:
        return str(error)
    return ""


def locked(folder: Path) -> str:
    """The error where a process that is no part of the training has the folder."""
    folder.mkdir(exist_ok=True)
    (folder / ".lock").write_text('{"pid": 7, "host": "elsewhere", "since": "today"}')
    return refused(folder, 0.001)


def test_what_differs_and_whose_the_folder_is_are_told_by_all(together, tmp_path):
    together(stopped_after, 2, tmp_path / "backup", "ddp", False, 4)
    for told in together(refused, 2, tmp_path / "backup", 0.5):
        assert "  learning_rate: 0.001 in the checkpoint, 0.5 here\n" in told
    for told in together(locked, 2, tmp_path / "other"):
        assert "(process 7 on elsewhere has used it since today; if that run is over, delete .lock in it" in told


def saved_at(folder: Path, save_freq: Any) -> list[str]:
    """The batches, counted over epochs, after which a checkpoint was written."""
    written: list[str] = []

    class Noting(BackupAndRestore):
        def _write(self, state: Any) -> None:
            super()._write(state)
            written.append(f"{state['epoch']}:{state['sums']['batches']}")

    trained(folder / "backup", "ddp", False, backup=Noting(folder / "backup", save_freq))
    left = list((folder / "backup").glob("*.checkpoint"))
    return [*written, f"left {len(left)}"]


@pytest.mark.parametrize(
    ("save_freq", "wanted"),
    [
        ("epoch", ["1:0", "2:0", "3:0", "left 0"]),
        (3, ["0:3", "1:0", "1:3", "2:0", "2:3", "3:0", "left 0"]),
        (100, ["1:0", "2:0", "3:0", "left 0"]),
    ],
)
def test_checkpoints_are_written_after_the_batches_asked_for(together, save_freq, wanted, tmp_path):
    assert together(saved_at, 2, tmp_path, save_freq) == [wanted, wanted]


def test_weights_that_are_no_numbers_in_one_process_are_written_by_none(together, tmp_path):
    for told in together(not_finite, 2, tmp_path):
        assert told == [
            "BackupAndRestore: some weights are not finite numbers; no checkpoint is written, the last one stays."
        ]
    assert list(tmp_path.glob("backup/*")) == []


def not_finite(folder: Path) -> list[str]:
    clear_session()
    model = Sequential([layers.Dense(1, input_shape=(1,))])
    model.compile("sgd", "mse", distribute="ddp")

    class Spoils(Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            if not is_main():
                with torch.no_grad():
                    model.layers[0].kernel.fill_(float("nan"))

    backup = BackupAndRestore(folder / "backup", delete_checkpoint=False)
    with pytest.warns(RuntimeWarning) as told:
        model.fit(np.ones((4, 1)), np.ones((4, 1)), epochs=1, verbose=0, callbacks=[Spoils(), backup])
    return [str(each.message) for each in told]


@pytest.mark.slow
def test_workers_killed_and_started_again_end_as_undisturbed_ones():
    command = [sys.executable, "scripts/process_kills.py", "--kills", "2", "--each", "2", "--processes", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == 2
    assert found["gone_on"] >= 1
