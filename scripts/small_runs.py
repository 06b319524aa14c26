"""Small trainings that together use every part of a checkpoint's state; see `kill_runs.py`.

Each function is a script: it seeds, makes data and model, and fits. `folder` is for the files that its callbacks write;
`callbacks` come after its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from torchkeras import Input, Model, Sequential, clear_session, layers, optimizers
from torchkeras.callbacks import (
    Callback,
    CosineAnnealing,
    CSVLogger,
    EarlyStopping,
    GradualUnfreezing,
    LearningRateScheduler,
    ModelCheckpoint,
    OneCycle,
    ReduceLROnPlateau,
    SwapEMAWeights,
)
from torchkeras.metrics import AUC, MeanSquaredError

FEATURES, SAMPLES, SIZE = 6, 48, 8

Callbacks = list[Any]


def begin() -> np.random.Generator:
    """The first lines of each script: the same random numbers every time."""
    clear_session()
    torch.manual_seed(1)
    np.random.seed(2)  # noqa: NPY002  # what old scripts draw from
    random.seed(3)
    return np.random.default_rng(4)


def data() -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(5)
    x = draw.standard_normal((SAMPLES, FEATURES)).astype("float32")
    return x, (x.sum(1, keepdims=True) + draw.standard_normal((SAMPLES, 1)) > 0).astype("float32")


def network(dropout: float = 0.3) -> Model:
    inputs = Input((FEATURES,))
    x = layers.Dense(8, activation="relu", name="first")(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.Dropout(dropout)(x)
    x = layers.Dropout(dropout, seed=6)(x)
    return Model(inputs, layers.Dense(1, activation="sigmoid", name="last")(x))


# --- one training each -----------------------------------------------------------------------------------------------


def arrays(callbacks: Callbacks, folder: Path) -> Model:
    """Shuffled arrays, a rate with decay that is also reduced, callbacks that write files."""
    begin()
    model = network()
    model.compile(optimizers.Adam(0.02, decay=0.01), "binary_crossentropy", metrics=["acc", AUC(name="auc")])
    own = [
        EarlyStopping(patience=2, restore_best_weights=True),
        ReduceLROnPlateau(patience=0, factor=0.5),
        ModelCheckpoint(folder / "best.h5", save_best_only=True, save_weights_only=True),
        CSVLogger(folder / "log.csv"),
    ]
    model.fit(*data(), SIZE, 8, 0, [*own, *callbacks], validation_split=0.25)
    return model


class Noisy(Dataset):
    """Samples with noise from every random generator that a transform may use."""

    def __init__(self) -> None:
        self.x, self.y = data()
        self.own = np.random.default_rng(7)
        self.others = [random.Random(8), torch.Generator().manual_seed(9)]

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        noise = random.random() + np.random.rand() + torch.rand(()).item()  # noqa: NPY002
        noise += self.own.random() + self.others[0].random() + torch.rand((), generator=self.others[1]).item()
        return self.x[index] + np.float32(0.1 * noise), self.y[index]


class Stepping(Callback):
    """A scheduler of torch, stepped at each batch."""

    def on_train_begin(self, logs: Any = None) -> None:
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(self.model.optimizer.optimizer, 7)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.scheduler.step()

    def state_dict(self) -> dict[str, Any]:
        return self.scheduler.state_dict()

    def load_state_dict(self, state: Any) -> None:
        self.scheduler.load_state_dict(state)


def loader(callbacks: Callbacks, folder: Path) -> Model:
    """A DataLoader that shuffles, with random transforms; an optimizer and a scheduler of torch."""
    begin()
    model = network()
    model.compile((torch.optim.AdamW, {"lr": 0.02, "amsgrad": True}), "binary_crossentropy", metrics=["acc"])
    drawn = DataLoader(Noisy(), SIZE, shuffle=True)
    held = DataLoader(Noisy(), SIZE, shuffle=True, generator=torch.Generator().manual_seed(10))
    model.fit(drawn, epochs=5, verbose=0, validation_data=held, callbacks=[Stepping(), *callbacks])
    return model


def loader_generator(callbacks: Callbacks, folder: Path) -> Model:
    """A DataLoader with a generator of its own, in epochs of another length; a schedule in the optimizer."""
    begin()
    model = network()
    rate = optimizers.schedules.ExponentialDecay(0.05, 5, 0.9)
    model.compile(optimizers.RMSprop(rate), "binary_crossentropy", metrics=[MeanSquaredError()])
    drawn = DataLoader(Noisy(), SIZE, shuffle=True, generator=torch.Generator().manual_seed(11))
    model.fit(drawn, epochs=6, verbose=0, steps_per_epoch=4, callbacks=callbacks)
    return model


class Shuffling:
    """A Sequence as in Keras: it shuffles itself, and makes random batches."""

    def __init__(self) -> None:
        self.x, self.y = data()
        self.order = np.arange(len(self.x))
        self.own = np.random.default_rng(12)

    def __len__(self) -> int:
        return len(self.x) // SIZE

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        rows = self.order[index * SIZE : (index + 1) * SIZE]
        noise = np.random.standard_normal((SIZE, FEATURES)) + self.own.random()  # noqa: NPY002
        return self.x[rows] + 0.1 * noise.astype("float32"), self.y[rows]

    def on_epoch_end(self) -> None:
        np.random.shuffle(self.order)  # noqa: NPY002


def sequence(callbacks: Callbacks, folder: Path) -> Model:
    """A Sequence read ahead by a thread; averages of weights, in the model while it is evaluated and saved."""
    begin()
    model = network()
    model.compile(optimizers.Adam(0.02, use_ema=True, ema_momentum=0.9), "binary_crossentropy", metrics=["acc"])
    own = [SwapEMAWeights(swap_on_epoch=True), ModelCheckpoint(folder / "last.h5"), CosineAnnealing(period=9, growth=2)]
    model.fit(Shuffling(), epochs=5, verbose=0, validation_data=data(), callbacks=[*own, *callbacks])
    return model


def _items(start: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    x, y = data()
    own = np.random.default_rng(start)
    while True:
        rows = own.permutation(len(x))[:SIZE]
        yield x[rows] * np.float32(np.random.rand()), y[rows]  # noqa: NPY002


def generator(callbacks: Callbacks, folder: Path) -> Model:
    """A generator read ahead by a thread, another for validation; three batches make a step."""
    begin()
    model = network()
    model.compile(optimizers.Adam(0.02, gradient_accumulation_steps=3), "binary_crossentropy", metrics=["acc"])
    held = ((x, y) for x, y in _fixed())
    options: dict[str, Any] = {"steps_per_epoch": 5, "validation_data": held, "validation_steps": 3}
    own = [ReduceLROnPlateau(patience=0)]
    model.fit(_items(13), epochs=6, verbose=0, callbacks=[*own, *callbacks], workers=1, **options)
    return model


def _fixed() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    x, y = data()
    own = np.random.default_rng(14)
    while True:
        rows = own.permutation(len(x))[:SIZE]
        yield x[rows], y[rows]


def generator_here(callbacks: Callbacks, folder: Path) -> Model:
    """A generator that runs in the training's own thread and also draws torch's random numbers."""
    begin()
    model = network()
    model.compile(optimizers.SGD(0.05, momentum=0.9, nesterov=True, clipnorm=1.0), "binary_crossentropy")
    drawn = ((x + 0.1 * torch.rand(FEATURES).numpy(), y) for x, y in _items(15))
    model.fit(drawn, epochs=5, steps_per_epoch=5, verbose=0, callbacks=callbacks, workers=0)
    return model


def hdf5(callbacks: Callbacks, folder: Path) -> Model:
    """HDF5 datasets with batches in random order; rate and momentum of one cycle."""
    begin()
    path = folder / "data.h5"
    if not path.exists():
        with h5py.File(folder / "part.h5", "w") as file:
            file["x"], file["y"] = data()
        (folder / "part.h5").replace(path)
    model = network()
    model.compile(optimizers.Adam(), "binary_crossentropy", metrics=["acc"])
    with h5py.File(path) as file:
        own = [OneCycle(0.05), *callbacks]
        model.fit(file["x"], file["y"], SIZE, 5, 0, own, shuffle="batch")
    return model


def limited(callbacks: Callbacks, folder: Path) -> Model:
    """Shuffled arrays with `steps_per_epoch`, and a stateful layer."""
    draw = begin()
    x = draw.standard_normal((SAMPLES, 5, 2)).astype("float32")
    model = Sequential(
        [
            layers.LSTM(4, stateful=True, batch_input_shape=(SIZE, 5, 2), dropout=0.2, recurrent_dropout=0.2),
            layers.Dense(1),
        ]
    )
    model.compile(optimizers.Nadam(0.02), "mse")
    rate = LearningRateScheduler(lambda epoch, rate: rate * 0.9)
    model.fit(x, x.mean((1, 2)), SIZE, 5, 0, [rate, *callbacks], steps_per_epoch=4)
    return model


def bad_numbers(callbacks: Callbacks, folder: Path) -> Model:
    """Batches of NaN, which are skipped; two batches make a step."""
    begin()
    x, y = data()
    x[3] = np.nan
    model = network()
    optimizer = optimizers.Adam(0.02, gradient_accumulation_steps=2)
    model.compile(optimizer, "binary_crossentropy", metrics=["acc", AUC(name="auc")], on_nonfinite="skip")
    model.fit(x, y, SIZE, 5, 0, callbacks)
    return model


def unfreezing(callbacks: Callbacks, folder: Path) -> Model:
    """Layers that start to train one after the other."""
    begin()
    model = network()
    model.compile(optimizers.Adam(0.02), "binary_crossentropy", metrics=["acc"])
    model.fit(*data(), SIZE, 5, 0, [GradualUnfreezing({0: "last", 2: "first"}), *callbacks])
    return model


def workers(callbacks: Callbacks, folder: Path) -> Model:
    """A DataLoader whose samples a process loads, with random transforms, for training and validation."""
    begin()
    model = network()
    model.compile(optimizers.Adam(0.02), "binary_crossentropy", metrics=["acc"])
    options: dict[str, Any] = {"num_workers": 1, "multiprocessing_context": "fork"}
    held = DataLoader(Noisy(), SIZE, **options)
    model.fit(DataLoader(Noisy(), SIZE, shuffle=True, **options), epochs=5, verbose=0, validation_data=held,
        callbacks=callbacks)  # fmt: skip
    return model


def accumulation(callbacks: Callbacks, folder: Path) -> Model:
    """Shuffled arrays, with weights; four batches make a step, and an epoch is no multiple of that."""
    begin()
    model = network()
    optimizer = optimizers.AdamW(0.02, gradient_accumulation_steps=4, clipnorm=1.0)
    model.compile(optimizer, "binary_crossentropy", metrics=["acc"])
    model.fit(*data(), SIZE, 8, 0, callbacks, sample_weight=np.linspace(0.5, 1.5, SAMPLES))
    return model


def averages(callbacks: Callbacks, folder: Path) -> Model:
    """Moving averages of weights that overwrite them, and that validate; a schedule in the optimizer."""
    begin()
    model = network()
    rate = optimizers.schedules.CosineDecay(0.05, 40)
    optimizer = optimizers.SGD(rate, momentum=0.9, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=7)
    model.compile(optimizer, "binary_crossentropy", metrics=["acc", AUC(name="auc")])
    model.fit(*data(), SIZE, 8, 0, [SwapEMAWeights(), *callbacks], validation_split=0.25)
    return model


RUNS: dict[str, Callable[[Callbacks, Path], Model]] = {
    run.__name__: run
    for run in (
        arrays,
        loader,
        loader_generator,
        sequence,
        generator,
        generator_here,
        hdf5,
        limited,
        bad_numbers,
        unfreezing,
        workers,
        accumulation,
        averages,
    )
}


def ending(model: Model, folder: Path) -> dict[str, Any]:
    """The end of a run: weights, statistics, optimizer, history, the rows of a log, as plain values."""
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    found: dict[str, Any] = {name: _bits(tensor) for name, tensor in tensors.items()}
    found["optimizer"] = _bits(model.optimizer.state_dict())
    found["history"] = _bits(model.history.history)
    for log in folder.glob("*.csv"):
        found[log.name] = log.read_text()
    return found


def _bits(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes().hex()
    if isinstance(value, dict):
        return {str(key): _bits(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_bits(item) for item in value]
    return value.hex() if isinstance(value, float) else value
