"""Going on after a stop: the same numbers bit by bit, torn checkpoints, signals, disks, and what is refused."""

import errno
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from callback_models import X, Y, small
from torch.utils.data import DataLoader, Dataset, IterableDataset

from torchkeras import Model, Sequential, clear_session, layers
from torchkeras.callbacks import (
    BackupAndRestore,
    Callback,
    EarlyStopping,
    History,
    ModelCheckpoint,
    ReduceLROnPlateau,
    TimeLimit,
)

ROOT = Path(__file__).resolve().parent.parent.parent
SIZE = 4
BATCHES = len(X) // SIZE

_spec = importlib.util.spec_from_file_location("small_runs", ROOT / "scripts" / "small_runs.py")
assert _spec is not None
assert _spec.loader is not None
small_runs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(small_runs)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Killed(BaseException):
    """The end of a process: nothing of the package catches it."""


class At(Callback):
    """Does something once, at the `number`-th end of a batch or epoch; before a backup sees it."""

    needed_to_resume = False

    def __init__(self, number: int, act: Any):
        self.left, self.act = number, act

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.left -= 1
        if self.left == 0:
            self.act()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.on_train_batch_end(0)


def kill() -> None:
    raise Killed


def sent(number: int) -> Any:
    return lambda: os.kill(os.getpid(), number)


def checkpoints(folder: Path) -> list[str]:
    """Epoch and batch of each checkpoint, oldest first."""
    return [path.name[:21] for path in sorted(folder.glob("*.checkpoint"))]


def fitted(*callbacks: Any, epochs: int = 3, model: Model | None = None, **options: Any) -> Model:
    torch.manual_seed(4)
    model = small("adam") if model is None else model
    model.fit(X, Y, SIZE, epochs, verbose=0, callbacks=list(callbacks), **options)
    return model


def equal(one: Model, other: Model) -> bool:
    same = all(np.array_equal(a, b) for a, b in zip(one.get_weights(), other.get_weights(), strict=True))
    return same and one.history.history == other.history.history


# --- every kind of data and state ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ends(tmp_path_factory) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize(("save_freq", "stops"), [(1, (1, 12)), (3, (5, 16)), ("epoch", (8, 20))])
@pytest.mark.parametrize("name", small_runs.RUNS)
def test_an_end_after_stops_is_that_of_an_undisturbed_run(name, save_freq, stops, ends, tmp_path):
    run = small_runs.RUNS[name]
    if name not in ends:
        undisturbed = tmp_path / "undisturbed"
        undisturbed.mkdir()
        ends[name] = small_runs.ending(run([], undisturbed), undisturbed)
    disturbed = tmp_path / "disturbed"
    disturbed.mkdir()
    for stop in stops:  # counted from where the run goes on, so that the second stop is of one that has gone on
        with pytest.raises(Killed):
            run([At(stop, kill), BackupAndRestore(disturbed / "backup", save_freq)], disturbed)
    model = run([BackupAndRestore(disturbed / "backup", save_freq)], disturbed)
    assert small_runs.ending(model, disturbed) == ends[name]


def kills(*options: str) -> dict[str, Any]:
    """The report of trainings that were killed, of which none was lost and none ended otherwise."""
    command = [sys.executable, ROOT / "scripts" / "kill_runs.py", "--seed", "1", "--jobs", "1", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["lost"], found["unequal"], found["failed"]) == (0, 0, 0)
    return found


def test_processes_killed_at_random_moments():
    found = kills("--count", "10")
    assert found["runs"] == 10
    assert found["kills"] > 5


@pytest.mark.slow
def test_five_kinds_of_training_killed_at_random_moments():
    kinds = ("arrays", "workers", "generator", "accumulation", "averages")
    found = kills("--kills", "100", "--run", *kinds)
    assert found["kills"] >= 100
    assert set(found["kills_of"]) <= set(kinds)


class Drawing(Dataset):
    def __len__(self):
        return len(X)

    def __getitem__(self, index):
        noise = torch.rand(()).item() + np.random.rand()  # noqa: NPY002
        return X[index] + np.float32(noise), Y[index]


class Stream(IterableDataset):
    def __iter__(self):
        for x, y in zip(X, Y, strict=True):
            yield x + np.float32(np.random.rand()), y  # noqa: NPY002


class Stateful:
    """A Sequence that keeps its order itself, and says so."""

    def __init__(self):
        self.order, self.draw = list(range(BATCHES)), np.random.default_rng(3)

    def __len__(self):
        return BATCHES

    def __getitem__(self, index):
        rows = slice(self.order[index] * SIZE, (self.order[index] + 1) * SIZE)
        return X[rows], Y[rows]

    def on_epoch_end(self):
        self.draw.shuffle(self.order)

    def state_dict(self):
        return {"order": list(self.order)}

    def load_state_dict(self, state):
        self.order = state["order"]


SOURCES: dict[str, Any] = {
    "workers": lambda: DataLoader(Drawing(), SIZE, shuffle=True, num_workers=1, multiprocessing_context="fork"),
    "stream": lambda: DataLoader(Stream(), SIZE),
    "iterable dataset": Stream,
    "dataset": Drawing,
    "sequence with a state": Stateful,
}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("name", SOURCES)
def test_more_kinds_of_data(name, tmp_path):
    def trained(*callbacks):
        torch.manual_seed(4)
        np.random.seed(5)  # noqa: NPY002
        model = small("adam")
        options: dict[str, Any] = {"batch_size": SIZE} if name.endswith("dataset") else {}
        model.fit(SOURCES[name](), epochs=3, verbose=0, callbacks=list(callbacks), **options)
        return model

    undisturbed = trained()
    with pytest.raises(Killed):
        trained(At(10, kill), BackupAndRestore(tmp_path, 2))
    assert checkpoints(tmp_path)[-1] == "00000001-000000000002"
    assert equal(trained(BackupAndRestore(tmp_path, 2)), undisturbed)


def test_a_stop_between_the_last_batch_and_the_end_of_an_epoch_that_a_callback_ended(tmp_path):
    class Ends(Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 3:
                self.model.stop_training = True

    undisturbed = fitted(Ends(), validation_split=0.2)
    with pytest.raises(Killed):
        fitted(Ends(), At(5, kill), BackupAndRestore(tmp_path, 1), validation_split=0.2)
    assert checkpoints(tmp_path)[-1] == "00000000-000000000004"
    again = fitted(Ends(), BackupAndRestore(tmp_path, 1), validation_split=0.2)
    assert again.history.epoch == [0]
    assert equal(again, undisturbed)


def test_a_stop_between_the_last_batch_and_the_validation_after_it(tmp_path):
    """Whose batches are as large as the last one of the training, where nothing else tells their size."""

    def batches():
        for k in range(3 * BATCHES):
            rows = slice(k % BATCHES * SIZE, (k % BATCHES + 1) * SIZE)
            yield X[rows], Y[rows]

    def trained(*callbacks):
        model = small("adam")
        options: dict[str, Any] = {"steps_per_epoch": BATCHES, "validation_data": (X, Y)}
        model.fit(batches(), epochs=3, verbose=0, callbacks=list(callbacks), **options)
        return model

    class Sizes(Callback):
        needed_to_resume = False

        def __init__(self):
            self.seen: list[int] = []

        def on_test_batch_end(self, batch, logs=None):
            assert logs is not None
            self.seen.append(logs["size"])

    sizes, again = Sizes(), Sizes()
    undisturbed = trained(sizes)
    with pytest.raises(Killed):
        trained(At(BATCHES + 1, kill), BackupAndRestore(tmp_path, 1))
    assert checkpoints(tmp_path)[-1] == f"00000000-{BATCHES:012d}"
    assert equal(trained(again, BackupAndRestore(tmp_path, 1)), undisturbed)
    assert again.seen == sizes.seen


def test_generators_of_numpy_python_and_torch_stand_where_they_stood(tmp_path):
    seen: list[Any] = []

    class Draws(Callback):
        needed_to_resume = False

        def on_train_batch_end(self, batch, logs=None):
            seen.append((torch.rand(()).item(), np.random.rand(), small_runs.random.random()))  # noqa: NPY002

    def run(*callbacks):
        seen.clear()
        small_runs.begin()
        fitted(Draws(), *callbacks)

    run()
    whole = list(seen)
    with pytest.raises(Killed):
        run(At(9, kill), BackupAndRestore(tmp_path, 1))
    run(BackupAndRestore(tmp_path, 1))
    assert seen == whole[7:]  # the stop was before the checkpoint of the eighth batch


# --- which checkpoints there are -------------------------------------------------------------------------------------


def test_checkpoints_of_epochs_and_of_batches(tmp_path):
    seen = []

    class Looks(Callback):
        needed_to_resume = False

        def on_epoch_begin(self, epoch, logs=None):
            seen.append(checkpoints(tmp_path))

    fitted(Looks(), BackupAndRestore(tmp_path))
    assert seen == [[], ["00000001-000000000000"], ["00000001-000000000000", "00000002-000000000000"]]
    seen.clear()
    fitted(Looks(), BackupAndRestore(tmp_path, save_freq=4))
    assert seen[2] == ["00000001-000000000004", "00000002-000000000000"]
    assert checkpoints(tmp_path) == []


def test_kept_checkpoints_of_a_whole_fit_are_its_end(tmp_path):
    first = fitted(BackupAndRestore(tmp_path, delete_checkpoint=False))
    assert checkpoints(tmp_path) == ["00000002-000000000000", "00000003-000000000000"]
    again = fitted(BackupAndRestore(tmp_path, delete_checkpoint=False))
    assert equal(first, again)
    longer = fitted(BackupAndRestore(tmp_path, delete_checkpoint=False), epochs=5)
    assert equal(longer, fitted(epochs=5))


def test_fit_returns_the_history(tmp_path):
    model = small()
    history = model.fit(X, Y, epochs=2, verbose=0, callbacks=[BackupAndRestore(tmp_path)])
    assert isinstance(history, History)
    assert model.history is history
    assert history.epoch == [0, 1]


def test_a_checkpoint_is_read_without_running_anything_from_it(tmp_path):
    with pytest.raises(Killed):
        fitted(
            EarlyStopping("loss", patience=9, restore_best_weights=True),
            ReduceLROnPlateau("loss"),
            ModelCheckpoint(tmp_path / "model.h5", "loss"),
            At(10, kill),
            BackupAndRestore(tmp_path, 1),
        )
    saved = torch.load(sorted(tmp_path.glob("*.checkpoint"))[-1], weights_only=True)
    assert list(saved["callbacks"]) == ["EarlyStopping", "ReduceLROnPlateau", "ModelCheckpoint", "History"]
    assert saved["callbacks"]["EarlyStopping"]["best_weights"][0].shape == (4, 5)
    assert (saved["epoch"], saved["sums"]["batches"]) == (1, 2)


def test_two_callbacks_of_a_class_keep_their_own_states(tmp_path):
    def both():
        return [TimeLimit(1e6), EarlyStopping("loss", patience=7), EarlyStopping("loss", min_delta=9.0, patience=8)]

    with pytest.raises(Killed):
        fitted(*both(), At(15, kill), BackupAndRestore(tmp_path))
    again = both()
    fitted(*again, BackupAndRestore(tmp_path))
    assert (again[1].wait, again[2].wait) == (0, 2)


# --- torn checkpoints ------------------------------------------------------------------------------------------------


def stopped(folder: Path) -> list[Path]:
    with pytest.raises(Killed):
        fitted(At(11, kill), BackupAndRestore(folder, 2))
    return sorted(folder.glob("*.checkpoint"))


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _changed(content: bytes) -> bytes:
    return content[:900] + bytes([content[900] ^ 1]) + content[901:]


@pytest.mark.parametrize("damage", [_cut, _changed, lambda content: b""], ids=["cut", "changed", "empty"])
def test_a_torn_checkpoint_is_named_and_the_one_before_taken(damage, tmp_path):
    undisturbed = fitted()
    _, newest = stopped(tmp_path)
    newest.write_bytes(damage(newest.read_bytes()))
    with pytest.warns(RuntimeWarning) as told:
        again = fitted(BackupAndRestore(tmp_path, 2, delete_checkpoint=False))
    assert [str(each.message) for each in told] == [f"BackupAndRestore: {newest} is torn or damaged, and passed over."]
    assert equal(again, undisturbed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(BackupAndRestore(tmp_path, 2))  # the torn one is gone, or was written again


def test_both_torn_begins_anew(tmp_path):
    for path in stopped(tmp_path):
        path.write_bytes(_cut(path.read_bytes()))
    with pytest.warns(RuntimeWarning, match="is torn or damaged, and passed over") as told:
        again = fitted(BackupAndRestore(tmp_path, 2))
    assert len(told) == 2
    assert equal(again, fitted())


def test_what_a_stop_left_half_written_is_taken_away(tmp_path):
    path = stopped(tmp_path)[-1]
    part = tmp_path / f".{path.name[:64]}.abc.part"
    part.write_bytes(b"half")
    fitted(BackupAndRestore(tmp_path))
    assert list(tmp_path.iterdir()) == []


# --- signals ---------------------------------------------------------------------------------------------------------

BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def heeded():
    """Signals do what they do in a program of one's own: a shell's background jobs begin with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", BOTH)
@pytest.mark.parametrize("save_freq", [2, "epoch"])
@pytest.mark.usefixtures("heeded")
def test_a_signal_ends_after_the_step_with_a_checkpoint(number, save_freq, tmp_path):
    before = [signal.getsignal(each) for each in BOTH]
    seen: list[str] = []

    class Hooks(Callback):
        needed_to_resume = False

        def on_train_batch_end(self, batch, logs=None):
            seen.append("batch")

        def on_epoch_end(self, epoch, logs=None):
            seen.append("epoch")

        def on_train_end(self, logs=None):
            seen.append("end")

    backup = BackupAndRestore(tmp_path, save_freq)
    model = fitted(Hooks(), At(9, sent(number)), backup)
    assert [signal.getsignal(each) for each in BOTH] == before
    assert backup.interrupted
    assert seen == ["batch"] * BATCHES + ["epoch", "batch", "batch", "end"]
    assert isinstance(model.history, History)
    assert model.history.epoch == [0]
    assert checkpoints(tmp_path)[-1] == "00000001-000000000002"
    again = BackupAndRestore(tmp_path, save_freq)
    assert equal(fitted(again), fitted())
    assert not again.interrupted


def test_a_signal_at_the_end_of_an_epoch_begins_no_other(tmp_path):
    seen = []

    class Hooks(Callback):
        needed_to_resume = False

        def on_epoch_begin(self, epoch, logs=None):
            seen.append(epoch)

    fitted(Hooks(), At(BATCHES + 1, sent(signal.SIGTERM)), BackupAndRestore(tmp_path))
    assert seen == [0]
    assert checkpoints(tmp_path) == ["00000001-000000000000"]
    assert equal(fitted(BackupAndRestore(tmp_path)), fitted())


@pytest.mark.usefixtures("heeded")
def test_a_second_interrupt_interrupts_at_once(tmp_path):
    before = signal.getsignal(signal.SIGINT)

    def twice():
        sent(signal.SIGINT)()
        sent(signal.SIGINT)()

    with pytest.raises(KeyboardInterrupt):
        fitted(At(3, twice), BackupAndRestore(tmp_path))
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_gives_the_signals_back(tmp_path):
    before = [signal.getsignal(each) for each in BOTH]

    def fail():
        raise RuntimeError("a callback fails")

    with pytest.raises(RuntimeError, match="a callback fails"):
        fitted(At(3, fail), BackupAndRestore(tmp_path))
    assert [signal.getsignal(each) for each in BOTH] == before


def test_an_ignored_signal_stays_ignored(tmp_path):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        model = fitted(At(3, sent(signal.SIGINT)), BackupAndRestore(tmp_path))
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.history.epoch == [0, 1, 2]


def test_another_thread_than_the_main_one_takes_no_signals(tmp_path):
    found = []

    def run():
        handlers = []
        fitted(At(3, lambda: handlers.append(signal.getsignal(signal.SIGINT))), BackupAndRestore(tmp_path))
        found.extend(handlers)

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [before]


# --- disks -----------------------------------------------------------------------------------------------------------


def test_a_full_disk_is_named_and_leaves_what_was_written(tmp_path, monkeypatch):
    written = Path.write_bytes

    def full(path: Path, data: Any) -> int:
        if "00000002" in path.name:
            written(path, bytes(data)[:100])
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return written(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="BackupAndRestore") as error:
        fitted(BackupAndRestore(tmp_path))
    assert error.value.errno == errno.ENOSPC
    assert str(error.value) == (
        f"[Errno {errno.ENOSPC}] BackupAndRestore: no checkpoint could be written to this folder (No space left on "
        f"device): '{tmp_path}'"
    )
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert equal(fitted(BackupAndRestore(tmp_path)), fitted())


@pytest.mark.parametrize("reason", [errno.EROFS, errno.EACCES])
def test_a_folder_that_cannot_be_written_is_named_before_training(reason, tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise OSError(reason, os.strerror(reason))

    stopped(tmp_path)
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    begun = []
    with pytest.raises(OSError, match="BackupAndRestore") as error:
        fitted(At(1, lambda: begun.append(1)), BackupAndRestore(tmp_path))
    assert str(error.value) == (
        f"[Errno {reason}] BackupAndRestore: no checkpoint can be written to this folder ({os.strerror(reason)}): "
        f"'{tmp_path}'"
    )
    assert not begun
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_where_the_folder_should_be(tmp_path):
    path = tmp_path / "backup"
    path.write_text("a file")
    with pytest.raises(OSError, match="BackupAndRestore") as error:
        fitted(BackupAndRestore(path))
    assert str(error.value) == (
        f"[Errno {errno.EEXIST}] BackupAndRestore: no checkpoint can be written to this folder (File exists): '{path}'"
    )


def test_weights_that_are_no_numbers_are_not_written(tmp_path):
    class Spoils(Callback):
        needed_to_resume = False

        def on_train_batch_end(self, batch, logs=None):
            if self.done():
                weights = self.model.get_weights()
                weights[0][0, 0] = np.nan
                self.model.set_weights(weights)

        def done(self):
            return self.model.optimizer.iterations > 9

    with pytest.warns(RuntimeWarning) as told:
        fitted(Spoils(), BackupAndRestore(tmp_path, 2, delete_checkpoint=False))
    assert {str(each.message) for each in told if each.category is RuntimeWarning} == {
        "BackupAndRestore: some weights are not finite numbers; no checkpoint is written, the last one stays."
    }
    assert checkpoints(tmp_path) == ["00000001-000000000000", "00000001-000000000002"]


# --- what is refused -------------------------------------------------------------------------------------------------


def test_a_checkpoint_of_another_format(tmp_path, monkeypatch):
    monkeypatch.setattr("torchkeras.resume.run.FORMAT", 99)
    path = stopped(tmp_path)[-1]
    monkeypatch.undo()
    with pytest.raises(ValueError, match="BackupAndRestore") as error:
        fitted(BackupAndRestore(tmp_path))
    assert str(error.value) == (
        f"BackupAndRestore: {path} does not fit this run. The checkpoint has format 99; this version reads 1."
    )


def test_a_state_that_is_not_plain(tmp_path):
    class Odd(Callback):
        def state_dict(self):
            return {"seen": [1, {2}]}

    with pytest.raises(TypeError) as error:
        fitted(Odd(), BackupAndRestore(tmp_path))
    assert str(error.value) == (
        "BackupAndRestore keeps numbers, strings, arrays and lists and dicts of them; "
        "state['callbacks']['Odd']['seen'][1] is a set."
    )


def test_workers_that_persist(tmp_path):
    loader = DataLoader(Drawing(), SIZE, num_workers=1, persistent_workers=True)
    with pytest.raises(ValueError, match="persistent_workers") as error:
        small().fit(loader, verbose=0, callbacks=[BackupAndRestore(tmp_path)])
    assert str(error.value) == (
        "A DataLoader with persistent_workers=True cannot continue in another process as in this one: its "
        "workers keep random numbers from epoch to epoch. Leave persistent_workers out."
    )


def test_a_generator_of_the_data_that_is_gone_is_told(tmp_path):
    class Sampled(Drawing):
        pass

    data = Sampled()
    data.own = np.random.default_rng(1)  # type: ignore[attr-defined]
    with pytest.raises(Killed):
        small("adam").fit(data, batch_size=SIZE, verbose=0, callbacks=[At(4, kill), BackupAndRestore(tmp_path, 2)])
    backup = BackupAndRestore(tmp_path, 2, accept=["data"])
    with pytest.warns(UserWarning, match="random generator") as told:
        small("adam").fit(Sampled(), batch_size=SIZE, verbose=0, callbacks=[backup])
    assert {str(each.message) for each in told} == {
        "The checkpoint has the state of a random generator at fit:dataset.own; there is none."
    }


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "batch", None])
def test_a_frequency_that_is_none(value, tmp_path):
    with pytest.raises(ValueError, match="BackupAndRestore") as error:
        BackupAndRestore(tmp_path, save_freq=value)
    assert str(error.value) == (f"BackupAndRestore: save_freq must be 'epoch' or a number of batches; found {value!r}.")


def test_delete_checkpoint_is_true_or_false(tmp_path):
    with pytest.raises(ValueError, match="BackupAndRestore") as error:
        BackupAndRestore(tmp_path, delete_checkpoint="no")  # type: ignore[arg-type]
    assert str(error.value) == "BackupAndRestore: delete_checkpoint must be True, False, 1 or 0; found 'no'."


def test_a_model_without_shapes_is_built_before_it_goes_on(tmp_path):
    def run(*callbacks):
        clear_session()  # the names of layers start from 1 again, as in another process
        torch.manual_seed(4)
        model = Sequential([layers.Dense(5, activation="relu"), layers.Dropout(0.5), layers.Dense(3)])
        model.compile("adam", "mse")
        model.fit(DataLoader(Drawing(), SIZE, shuffle=True), epochs=2, verbose=0, callbacks=list(callbacks))
        return model

    np.random.seed(1)  # noqa: NPY002
    undisturbed = run()
    np.random.seed(1)  # noqa: NPY002
    with pytest.raises(Killed):
        run(At(4, kill), BackupAndRestore(tmp_path, 1))
    np.random.seed(1)  # noqa: NPY002
    assert equal(run(BackupAndRestore(tmp_path, 1)), undisturbed)
