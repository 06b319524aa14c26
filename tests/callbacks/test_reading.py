"""Which callbacks read numbers from the device, and when: all others leave them there."""

import io
from functools import partial

import pytest
from callback_models import FakeModel, drive, never_read
from torch.optim import lr_scheduler

from torchkeras import callbacks
from torchkeras.callbacks import (
    BaseLogger,
    CosineAnnealing,
    CSVLogger,
    EarlyStopping,
    GradualUnfreezing,
    History,
    LambdaCallback,
    LearningRateFinder,
    LearningRateScheduler,
    Logs,
    ModelCheckpoint,
    OneCycle,
    Profiler,
    ProgbarLogger,
    ReduceLROnPlateau,
    RemoteMonitor,
    SwapEMAWeights,
    TensorBoard,
    TerminateOnNaN,
    TimeLimit,
    TorchScheduler,
    remote,
)

# Each callback, and where it must read: its job is to show, write or judge the numbers of that place.
TABLE = {
    "BaseLogger": (lambda path: BaseLogger(), set()),
    "CSVLogger": (lambda path: CSVLogger(path / "log.csv"), {"epoch"}),
    "CosineAnnealing": (lambda path: CosineAnnealing(), set()),
    "EarlyStopping": (lambda path: EarlyStopping("loss", patience=9), {"epoch"}),
    "GradualUnfreezing": (lambda path: GradualUnfreezing({0: []}), set()),
    "History": (lambda path: History(), {"epoch"}),
    "LambdaCallback": (lambda path: LambdaCallback(on_train_batch_end=lambda batch, logs: logs["size"]), set()),
    "LearningRateFinder": (lambda path: LearningRateFinder(), {"batch"}),
    "LearningRateScheduler": (lambda path: LearningRateScheduler(lambda epoch, lr: lr), set()),
    "ModelCheckpoint": (lambda path: ModelCheckpoint(path / "{epoch}"), set()),
    "ModelCheckpoint of the best": (lambda path: ModelCheckpoint(path / "x", "loss", save_best_only=True), {"epoch"}),
    "OneCycle": (lambda path: OneCycle(1.0), set()),
    "TorchScheduler": (lambda path: TorchScheduler(partial(lr_scheduler.StepLR, step_size=1)), set()),
    "TorchScheduler on a plateau": (
        lambda path: TorchScheduler(lr_scheduler.ReduceLROnPlateau, monitor="loss"),
        {"epoch"},
    ),
    "Profiler": (lambda path: Profiler(path, first=0, batches=1), set()),
    "ProgbarLogger": (lambda path: ProgbarLogger(), {"epoch"}),
    "ReduceLROnPlateau": (lambda path: ReduceLROnPlateau("loss"), {"epoch"}),
    "RemoteMonitor": (lambda path: RemoteMonitor(), {"epoch"}),
    "SwapEMAWeights": (lambda path: SwapEMAWeights(True), set()),
    "TensorBoard": (lambda path: TensorBoard(path, write_graph=False), {"epoch"}),
    "TensorBoard of batches": (
        lambda path: TensorBoard(path, write_graph=False, update_freq="batch"),
        {"batch", "epoch"},
    ),
    "TerminateOnNaN": (lambda path: TerminateOnNaN(), {"batch"}),
    "TimeLimit": (lambda path: TimeLimit(100), set()),
}
BASES = {"Callback", "CallbackList", "Logs", "BackupAndRestore"}


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No network, and a bar to whose eyes no time passes."""
    monkeypatch.setattr(remote.urllib.request, "urlopen", lambda request, timeout: io.BytesIO())
    monkeypatch.setattr("torchkeras.callbacks.progress.time.perf_counter", lambda: 0.0)


def run(made, reads):
    """Batches and epochs whose numbers raise when they are read, but where it is said that they are."""
    model = FakeModel(use_ema=True)
    model.layers = []  # type: ignore[attr-defined]
    batch = {"loss": 0.5 if "batch" in reads else never_read()}
    epoch = {"loss": 0.5 if "epoch" in reads else never_read()}
    drive([made], model, batch_logs=lambda: Logs(batch, size=4), numbers=lambda _: epoch)


@pytest.mark.parametrize("name", TABLE)
def test_numbers_are_read_nowhere_else(name, tmp_path):
    make, reads = TABLE[name]
    run(make(tmp_path), reads)


@pytest.mark.parametrize(
    ("name", "place"), [(name, place) for name, (_, reads) in TABLE.items() for place in sorted(reads)]
)
def test_and_there_they_are(name, place, tmp_path):
    make, reads = TABLE[name]
    made = make(tmp_path)
    with pytest.raises(AssertionError, match=r"^a number was read$"):
        run(made, reads - {place})
    getattr(made, "abandon", int)()  # as `fit` does


def test_the_table_has_every_callback():
    rows = {name.partition(" ")[0] for name in TABLE}
    lacking = set(callbacks.__all__) - BASES - rows
    assert not lacking, "add a row for each of them to TABLE"
    assert not rows - set(callbacks.__all__), "these rows are about no callback"
