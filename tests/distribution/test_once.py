"""What happens once is done by the main process; numbers and decisions are those of all."""

import contextlib
import io
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from pool import Pool
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torchkeras.callbacks import (
    Callback,
    CSVLogger,
    EarlyStopping,
    LambdaCallback,
    ModelCheckpoint,
    ReduceLROnPlateau,
    TerminateOnNaN,
    TimeLimit,
)
from torchkeras.layers import (
    LSTM,
    Add,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Flatten,
    Input,
    LayerNormalization,
    MaxPooling2D,
    MultiHeadAttention,
    Reshape,
)
from torchkeras.models import Model, Sequential
from torchkeras.utils import set_random_seed


def made(*more: Any) -> Any:
    set_random_seed(1)
    model = Sequential([Dense(4, "relu", input_shape=(3,)), *more, Dense(2)])
    model.compile("adam", "mse", metrics=["mae"])
    return model


X = np.random.RandomState(0).randn(16, 3).astype("float32")
FIT: dict[str, Any] = {"x": X, "y": X[:, :2], "batch_size": 4, "verbose": 0}


def printed(verbose: int) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        model = made()
        model.summary()
        model.fit(**{**FIT, "verbose": verbose}, callbacks=[EarlyStopping("loss", verbose=1, min_delta=9, patience=0)])
    return out.getvalue()


@pytest.mark.parametrize("verbose", [1, 2])
def test_the_main_process_prints(pool: Pool, verbose: int):
    main, other = pool.run(printed, verbose)
    assert "dense" in main
    assert "loss: " in main
    assert other == ""


def logged(folder: str) -> Any:
    rank = dist.get_rank()
    callbacks = [
        CSVLogger(os.path.join(folder, "log.csv")),
        ModelCheckpoint(os.path.join(folder, "{epoch}.h5"), "loss"),
    ]
    model = made()
    history = model.fit(**FIT, epochs=2, callbacks=callbacks)
    before = sorted(os.listdir(folder)) if rank == 0 else []
    model.save(os.path.join(folder, f"saved by {rank}.keras"))
    model.save_weights(os.path.join(folder, f"weights by {rank}.h5"))
    return history.history, before


def test_files_are_written_once(pool: Pool, tmp_path: Path):
    (main, files), (other, _) = pool.run(logged, str(tmp_path))
    assert main == other
    assert files == ["1.h5", "2.h5", "log.csv"]
    assert {path.name for path in tmp_path.iterdir()} - {*files} == {"saved by 0.keras", "weights by 0.h5"}
    assert len((tmp_path / "log.csv").read_text().splitlines()) == 3


class Noting(Callback):
    """Notes what it is called with."""

    def __init__(self, main_only: bool):
        self.main_only = main_only
        self.seen: list[Any] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.seen.append([batch, logs["size"], logs["loss"]])


def noted() -> Any:
    every, main = Noting(False), Noting(True)
    made().fit(**FIT, callbacks=[every, main])
    return every.seen, main.seen


def test_a_callback_runs_in_all_processes_or_in_the_main_one(pool: Pool):
    (every, main), (other, none) = pool.run(noted)
    assert every == main == other
    assert [(batch, size) for batch, size, _ in every] == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert none == []


class StopsAt(Callback):
    """Ends the training after a batch, in one process alone."""

    def __init__(self, batch: int, rank: int):
        self.batch, self.rank = batch, rank

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if batch == self.batch and dist.get_rank() == self.rank:
            self.model.stop_training = True


class StopsAfter(StopsAt):
    """The same after an epoch."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        pass

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        super().on_train_batch_end(epoch, logs)


def ended(callback: Any) -> Any:
    model = made()
    steps = []
    counting = LambdaCallback(on_train_batch_end=lambda batch, logs: steps.append(batch))
    history = model.fit(**FIT, epochs=3, callbacks=[callback, counting])
    return len(history.epoch), len(steps), model.stop_training


@pytest.mark.parametrize(
    ("callback", "epochs", "steps"),
    [
        (StopsAt(2, rank=0), 1, 3),
        (StopsAt(2, rank=1), 1, 3),
        (StopsAfter(1, rank=1), 2, 8),
        (TimeLimit(0), 1, 1),
        (EarlyStopping("loss", min_delta=9, patience=0), 2, 8),
    ],
)
def test_one_process_ends_the_training_of_all(pool: Pool, callback: Any, epochs: int, steps: int):
    assert pool.run(ended, callback) == [(epochs, steps, True)] * 2


def ended_by_nan() -> Any:
    model, x = made(), X.copy()
    x[9] = np.nan  # in the third batch
    history = model.fit(**{**FIT, "x": x}, epochs=3, shuffle=False, callbacks=[TerminateOnNaN()])
    return len(history.epoch), model.optimizer.iterations


def test_a_loss_that_is_no_number_in_one_process_ends_all_after_its_batch(pool: Pool):
    assert pool.run(ended_by_nan) == [(1, 3)] * 2


def plateaus() -> Any:
    model = made()
    model.fit(**FIT, epochs=3, callbacks=[ReduceLROnPlateau("loss", 0.5, patience=1, min_delta=9)])
    return model.optimizer.lr


def test_a_rate_falls_in_all(pool: Pool):
    main, other = pool.run(plateaus)
    assert main == other == pytest.approx(0.001 * 0.25)


class Interrupts(Callback):
    """Ctrl-C in one process."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if dist.get_rank() == 1 and epoch == 1:
            os.kill(os.getpid(), signal.SIGINT)


def interrupted() -> Any:
    model = made()
    with pytest.raises(KeyboardInterrupt):
        model.fit(**FIT, epochs=50, callbacks=[Interrupts()])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return [weight.tolist() for weight in model.get_weights()], len(model.history.epoch)


def test_an_interrupt_of_one_process_ends_all_after_the_same_batch(pool: Pool):
    main, other = pool.run(interrupted)
    assert main == other
    assert 1 <= main[1] < 50


def dropped() -> Any:
    model = made(Dropout(0.5))
    history = [model.fit(**FIT, epochs=2).history["loss"] for _ in range(2)]
    return history, torch.get_rng_state().tolist()[:64]


def test_dropout_is_reproducible_and_the_order_of_the_data_stays_common(pool: Pool):
    first, again = pool.run(dropped), pool.run(dropped)
    assert first == again
    assert first[0] == first[1]
    assert first[0][0][0] != first[0][0][1]


def by_own_part() -> Any:
    set_random_seed(1)
    model = Sequential([BatchNormalization(input_shape=(3,), momentum=0.5), Dense(2)])
    model.compile("adam", "mse", sync_batch_norm=False)
    history = model.fit(**FIT, validation_data=(X, X[:, :2])).history
    return (
        history["val_loss"],
        [weight.tolist() for weight in model.get_weights()],
        model.evaluate(X, X[:, :2], verbose=0),
    )


def test_statistics_of_parts_are_those_of_the_main_process_where_it_counts(pool: Pool):
    main, other = pool.run(by_own_part)
    assert main == other
    np.testing.assert_allclose(main[0][0], main[2], rtol=1e-6)


class Communicated(TorchDispatchMode):
    """Counts what is communicated, by the name of the operation and the bytes of a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "c10d":
            sent = next(each for each in tree_leaves(args) if isinstance(each, torch.Tensor))
            self.found.append([func._schema.name, sent.nbytes])
        return func(*args, **kwargs or {})


def convolutional() -> Any:
    return [Reshape((8, 8, 1), input_shape=(64,)), Conv2D(8, 3, activation="relu"), MaxPooling2D(), Flatten(), Dense(2)]


def recurrent() -> Any:
    return [Reshape((8, 8), input_shape=(64,)), LSTM(16, return_sequences=True), LSTM(8), Dense(2)]


def attentive() -> Any:
    inputs = Input((64,))
    x = Reshape((8, 8))(inputs)
    x = LayerNormalization()(Add()([x, MultiHeadAttention(2, 4)(x, x)]))
    return Model(inputs, Dense(2)(Flatten()(x)))


def large() -> Any:
    """Of more bytes than one message of DistributedDataParallel has at first."""
    return [Dense(600, input_shape=(64,)), Dense(600), Dense(2)]


def communicated(network: Any, samples: int) -> Any:
    found = network()
    model, x = found if isinstance(found, Model) else Sequential(found), np.ones((samples, 64), "float32")
    model.compile("adam", "mse", metrics=["mae"])
    fit = {"x": x, "y": x[:, :2], "batch_size": 4, "verbose": 0}
    model.fit(**fit)
    began = time.perf_counter()
    with Communicated() as mode:
        model.fit(**fit)
    gradients = sum(weight.nbytes for weight in model.get_weights())
    return mode.found, gradients, time.perf_counter() - began


@pytest.mark.parametrize(("network", "messages"), [(convolutional, 1), (recurrent, 1), (attentive, 1), (large, 2)])
def test_what_is_communicated(pool: Pool, network: Any, messages: int):
    """At the start what is compared; for each batch its gradients; the numbers each half second, and at the end."""
    for found, gradients, seconds in pool.run(communicated, network, 80):
        # torch 2.15 gathers by the second.
        assert {name for name, _ in found[:2]} <= {"c10d::allgather_", "c10d::_allgather_base_"}
        assert {name for name, _ in found[2:]} == {"c10d::allreduce_"}
        sent = [size for _, size in found[2:] if size > 100]
        assert (len(sent), sum(sent)) == (20 * messages, 20 * gradients)
        assert 1 <= len(found) - 2 - len(sent) <= 1 + seconds / 0.25
