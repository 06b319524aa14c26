"""Data on its way to a CUDA device, trainings that go on there, and files that are written there."""

import copy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import torchkeras
from torchkeras import Input, Model, Sequential, config, layers
from torchkeras.callbacks import BackupAndRestore, Callback, EarlyStopping, ModelCheckpoint
from torchkeras.models import load_model

pytestmark = pytest.mark.cuda

SAMPLES = 64


def samples() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.standard_normal((SAMPLES, 8)).astype("float32")
    return x, x[:, :2] * 2


def made(rate: float = 0.0, optimizer: str = "adam") -> Model:
    torchkeras.clear_session()
    torch.manual_seed(0)
    inputs = Input((8,))
    hidden = layers.Dropout(rate)(layers.Dense(16, activation="relu")(inputs))
    model = Model(inputs, layers.Dense(2)(layers.BatchNormalization()(hidden)))
    model.compile(optimizer, "mse", metrics=["mae"], jit_compile=False)
    return model


def generated(x: np.ndarray, y: np.ndarray) -> Any:
    while True:
        yield from ((x[at : at + 8], y[at : at + 8]) for at in range(0, SAMPLES, 8))


def loader(x: np.ndarray, y: np.ndarray, **options: Any) -> DataLoader:
    return DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=8, **options)


SOURCES: dict[str, Any] = {
    "arrays": lambda x, y: {"x": x, "y": y, "batch_size": 8},
    "tensors": lambda x, y: {"x": torch.from_numpy(x), "y": torch.from_numpy(y), "batch_size": 8},
    "tensors there": lambda x, y: {"x": torch.from_numpy(x).cuda(), "y": torch.from_numpy(y).cuda(), "batch_size": 8},
    "inputs there": lambda x, y: {"x": torch.from_numpy(x).cuda(), "y": y, "batch_size": 8},
    "loader": lambda x, y: {"x": loader(x, y)},
    "pinned loader": lambda x, y: {"x": loader(x, y, pin_memory=True)},
    "workers": lambda x, y: {"x": loader(x, y, num_workers=2)},
    "generator": lambda x, y: {"x": generated(x, y), "steps_per_epoch": SAMPLES // 8},
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("fits", [True, False])
def test_every_source_trains_the_same(source: str, fits: bool, monkeypatch: pytest.MonkeyPatch):
    x, y = samples()
    config.set_device("cpu")
    expected = made()
    begin = expected.get_weights()
    expected.fit(x, y, 8, 2, verbose=0, shuffle=False)
    config.set_device("cuda")
    if not fits:
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device=None: (8, 8))
        monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device=None: 0)
    model = made()
    model.set_weights(begin)
    history = model.fit(**SOURCES[source](x, y), epochs=2, verbose=0, shuffle=False)
    assert all(np.isfinite(history.history["loss"]))
    for mine, other in zip(model.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("fits", [True, False])
def test_shuffled_epochs_have_every_sample_once(fits: bool, monkeypatch: pytest.MonkeyPatch):
    seen = []

    class Seen(layers.Layer):
        def call(self, inputs: Any) -> Any:
            seen.append(inputs.detach()[:, 0].clone())
            return inputs

    config.set_device("cuda")
    if not fits:
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device=None: (8, 8))
        monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device=None: 0)
    inputs = Input((1,))
    model = Model(inputs, layers.Dense(1)(Seen()(inputs)))
    model.compile("sgd", "mse", jit_compile=False)
    seen.clear()
    x = np.arange(SAMPLES, dtype="float32")[:, None]
    model.fit(x, x, batch_size=8, epochs=2, verbose=0)
    first, second = torch.cat(seen).cpu().view(2, -1)
    assert first.sort().values.tolist() == second.sort().values.tolist() == x[:, 0].tolist()
    assert first.tolist() != second.tolist()


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".h5", ".keras", ".safetensors", ".pt"])
@pytest.mark.parametrize(("there", "again"), [("cuda", "cpu"), ("cpu", "cuda"), ("cuda", "cuda")])
def test_a_file_of_one_device_goes_on_on_another(ending: str, there: str, again: str, tmp_path: Path):
    x, y = samples()
    config.set_device(there)
    model = made()
    model.fit(x, y, 8, 2, verbose=0, shuffle=False)
    model.save(str(tmp_path / f"model{ending}"))
    config.set_device(again)
    loaded = load_model(str(tmp_path / f"model{ending}"))
    assert {p.device.type for p in loaded.parameters()} == {again}
    np.testing.assert_allclose(loaded.predict(x), model.predict(x), rtol=1e-3, atol=1e-4)
    for each in (loaded, model):
        each.fit(x, y, 8, 1, verbose=0, shuffle=False)
    for mine, other in zip(loaded.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=5e-3, atol=5e-4)


class Stops(Callback):
    """Ends the training in the third epoch as an interrupt would, while `INTERRUPTS` says so."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.third = epoch == 2

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        if batch == 4 and self.third and vars(sys.modules[__name__])["INTERRUPTS"]:
            raise KeyboardInterrupt


INTERRUPTS: list[bool] = []


def test_a_training_goes_on_with_the_numbers_of_one_that_was_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    x, y = samples()
    monkeypatch.setattr(sys.modules[__name__], "INTERRUPTS", [True])
    config.set_device("cuda")
    whole = made(0.5)
    whole.fit(x, y, 8, 4, verbose=0)
    stopped = made(0.5)
    folder = str(tmp_path / "backup")
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(x, y, 8, 4, verbose=0, callbacks=[BackupAndRestore(folder), Stops()])
    INTERRUPTS.clear()
    again = made(0.5)
    torch.manual_seed(5)
    again.fit(x, y, 8, 4, verbose=0, callbacks=[BackupAndRestore(folder), Stops()])
    for mine, other in zip(again.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


def test_callbacks_that_keep_weights(tmp_path: Path):
    x, y = samples()
    config.set_device("cuda")
    model = made()
    best = ModelCheckpoint(str(tmp_path / "best.keras"), monitor="val_loss", save_best_only=True)
    early = EarlyStopping(monitor="val_loss", patience=1, restore_best_weights=True)
    history = model.fit(x, y, 8, 6, verbose=0, validation_split=0.25, callbacks=[best, early]).history
    lowest = min(history["val_loss"])
    held_out = slice(int(SAMPLES * 0.75), None)
    for each in (model, load_model(str(tmp_path / "best.keras"))):
        assert each.evaluate(x[held_out], y[held_out], verbose=0)[0] == pytest.approx(lowest, rel=1e-3)


# --- models and devices ----------------------------------------------------------------------------------------------


def test_a_model_and_its_optimizer_move():
    x, y = samples()
    config.set_device("cpu")
    stays = made()
    stays.fit(x, y, 8, 1, verbose=0, shuffle=False)
    moves = made()
    moves.set_weights(stays.get_weights())
    moves = copy.deepcopy(stays).to("cuda")
    for model in (stays, moves):
        model.fit(x, y, 8, 1, verbose=0, shuffle=False)
    for mine, other in zip(moves.get_weights(), stays.get_weights(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-3, atol=2e-4)
    back = moves.to("cpu")
    back.fit(x, y, 8, 1, verbose=0, shuffle=False)
    assert {p.device.type for p in back.parameters()} == {"cpu"}


def test_calls_by_hand_take_arrays_and_what_lies_on_the_device():
    x, _ = samples()
    config.set_device("cuda")
    model = made().eval()
    there = model(torch.from_numpy(x).cuda())
    np.testing.assert_allclose(model.predict(x), there.detach().cpu().numpy(), rtol=1e-4, atol=1e-5)
    assert model.predict_on_batch(x).shape == (SAMPLES, 2)
    assert np.isfinite(model.test_on_batch(x, samples()[1])).all()


# --- modules of torch that a user makes on the CPU --------------------------------------------------------------------


class Scaled(layers.Layer):
    """Has a parameter and a module of torch, made in `__init__` and in `build`."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))

    def build(self, input_shape: Any) -> None:
        self.linear = nn.Linear(8, 8)

    def call(self, inputs: Any) -> Any:
        return self.linear(inputs) * self.scale


class Mixed(Model):
    """A layer of Keras and a module of torch."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = layers.Dense(16, activation="relu"), nn.Linear(16, 2)

    def call(self, inputs: Any) -> Any:
        return self.head(self.body(inputs))


class OfTorch(Model):
    """Modules of torch alone, with a step of its own that never calls the model."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))

    def forward(self, inputs: Any) -> Any:
        return self.net(inputs)

    def train_step(self, data: Any) -> Any:
        x, y = data[0], data[1]
        loss = nn.functional.mse_loss(self.net(x), y)
        self.minimize(loss)
        return {"loss": loss}


def graph() -> Model:
    inputs = Input((8,))
    return Model(inputs, layers.TorchModule(nn.Linear(8, 2))(layers.Dense(8)(inputs)))


MODELS: dict[str, Any] = {
    "in a graph": graph,
    "Sequential": lambda: Sequential([nn.Linear(8, 4), layers.Dense(2)]),
    "in a layer": lambda: Sequential([Scaled(), layers.Dense(2)]),
    "in a class": Mixed,
    "alone": OfTorch,
}


@pytest.mark.parametrize("optimizer", ["adam", (torch.optim.SGD, {"lr": 0.01})])
@pytest.mark.parametrize("name", MODELS)
def test_modules_of_torch_go_where_the_layers_are(name: str, optimizer: Any):
    x, y = samples()
    config.set_device("cuda")
    torchkeras.clear_session()
    model = MODELS[name]()
    before = {id(parameter) for parameter in model.parameters()}
    model.compile(optimizer, None if name == "alone" else "mse", jit_compile=False)
    history = model.fit(x, y, 8, 3, verbose=0).history
    assert history["loss"][-1] < history["loss"][0]
    assert {tensor.device.type for tensor in (*model.parameters(), *model.buffers())} == {"cuda"}
    assert before <= {id(parameter) for parameter in model.parameters()}
    if name != "alone":
        assert model.predict(x).shape == (SAMPLES, 2)


def test_a_model_that_was_moved_stays_there():
    x, y = samples()
    config.set_device("cuda")
    model = made().to("cpu")
    model.compile("sgd", "mse", jit_compile=False)
    model.fit(x, y, 8, 1, verbose=0)
    assert {parameter.device.type for parameter in model.parameters()} == {"cpu"}
