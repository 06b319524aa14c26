"""Many threads at the same models for a long time: are all outputs right, and does memory stay as it is?

    python scripts/soak.py [--minutes 60] [--threads 8] [--requests 1000] [--seed 0]

One thread trains a model with dropout, at a learning rate of 0: whatever it does, the model's outputs in evaluation are
known. The others do at random, on it and on a second model that has also batch normalization, modules of torch and an
LSTM: predict, call, evaluate, save and load, load, build and train another model, clone, copy, pickle. After that as
many threads as `--requests` ask a server (`serve`) at once, each for its own sample.

Prints a line each minute, and at the end JSON: `done` (by kind), `wrong` (outputs that differ), `errors` (by text),
`trained` (batches), `memory_mb` (resident, after a fifth of the time and at the end), `requests` and their `seconds`.
Exits with 1 when something was wrong, raised an error, or memory grew by more than a twentieth.
"""

from __future__ import annotations

import argparse
import copy
import json
import pickle
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from torchkeras import Input, Model, Sequential, layers, metrics, optimizers, serve
from torchkeras.models import clone_model, load_model

ROWS = np.random.default_rng(0).normal(size=(96, 12)).astype("float32")
TARGETS = ROWS[:, :3].copy()


def trained_model() -> Model:
    """Trained at a rate of 0, and so always the same in evaluation."""
    model = Sequential([layers.Dense(32, activation="relu", input_shape=(12,)), layers.Dropout(0.5), layers.Dense(3)])
    model.compile(optimizers.SGD(0.0), "mse", metrics=["mae"])
    return model


def mixed_model() -> Model:
    inputs = Input((12,))
    x = layers.BatchNormalization()(layers.Dense(24, activation="relu")(inputs))
    x = layers.TorchModule(nn.Sequential(nn.Linear(24, 24), nn.Dropout(0.5), nn.BatchNorm1d(24)))(
        layers.Dropout(0.3)(x)
    )
    x = layers.LSTM(8, dropout=0.2)(layers.Reshape((6, 4))(x))
    model = Model(inputs, layers.Dense(3)(x))
    model.compile("adam", "mse", metrics=[metrics.MeanAbsoluteError()])
    model.fit(ROWS, TARGETS, epochs=2, verbose=0)
    return model


def savable_model() -> Model:
    model = Sequential([layers.Dense(16, activation="tanh", input_shape=(12,)), layers.BatchNormalization()])
    model.add(layers.Dense(3))
    model.compile("adam", "mse")
    model.fit(ROWS, TARGETS, epochs=2, verbose=0)
    return model


class Soak:
    """The models, what they give, and what threads have found."""

    def __init__(self, folder: Path, seed: int):
        self.folder, self.seed = folder, seed
        self.trained, self.mixed, self.savable = trained_model(), mixed_model(), savable_model()
        models = (self.trained, self.mixed, self.savable)
        self.expected = {model: model.predict(ROWS) for model in models}
        self.numbers = self.mixed.evaluate(ROWS, TARGETS, verbose=0)
        self.modes = [module.training for module in self.mixed.modules()]
        self.savable.save(folder / "model.h5")
        self.done: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.wrong, self.batches = 0, 0
        self.ended = threading.Event()
        self.lock = threading.Lock()

    def check(self, found: Any, expected: Any) -> None:
        if not np.allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-5):
            with self.lock:
                self.wrong += 1

    # --- what threads do ---------------------------------------------------------------------------------------------

    def predict(self, chance: random.Random) -> None:
        model = chance.choice([self.trained, self.mixed])
        rows = chance.choice([1, 7, 96])
        self.check(model.predict(ROWS[:rows], batch_size=chance.choice([None, 5])), self.expected[model][:rows])

    def call(self, chance: random.Random) -> None:
        model = chance.choice([self.trained, self.mixed])
        with torch.no_grad():
            self.check(model(torch.from_numpy(ROWS), training=False), self.expected[model])

    def evaluate(self, chance: random.Random) -> None:
        self.check(self.mixed.evaluate(ROWS, TARGETS, verbose=0), self.numbers)

    def save_and_load(self, chance: random.Random) -> None:
        suffix = chance.choice([".h5", ".keras", ".pt"])
        path = self.folder / f"{threading.get_ident()}{suffix}"
        self.savable.save(path, include_optimizer=False)
        self.check(load_model(path).predict(ROWS), self.expected[self.savable])

    def load(self, chance: random.Random) -> None:
        self.check(load_model(self.folder / "model.h5").predict(ROWS), self.expected[self.savable])

    def build(self, chance: random.Random) -> None:
        units = chance.randint(2, 40)
        model = Sequential([layers.Dense(units, input_shape=(12,), kernel_initializer="ones"), layers.Dense(1)])
        model.compile("sgd", "mse")
        model.train_on_batch(ROWS[:8], ROWS[:8, :1])
        self.check(model.get_weights()[0].shape, (12, units))

    def clone(self, chance: random.Random) -> None:
        made = clone_model(self.savable)
        made.set_weights(self.savable.get_weights())
        self.check(made.predict(ROWS), self.expected[self.savable])

    def copied(self, chance: random.Random) -> None:
        self.check(copy.deepcopy(self.mixed).predict(ROWS), self.expected[self.mixed])
        made = pickle.loads(pickle.dumps(self.savable))  # noqa: S301  # its own
        self.check(made.predict(ROWS), self.expected[self.savable])

    # -----------------------------------------------------------------------------------------------------------------

    def train(self) -> None:
        while not self.ended.is_set():
            self.trained.fit(ROWS, TARGETS, batch_size=16, epochs=4, verbose=0)
            self.batches += 24

    def work(self, number: int) -> None:
        chance = random.Random(self.seed * 1000 + number)
        kinds: list[Callable[[random.Random], None]] = [
            *(self.predict, self.predict, self.call, self.evaluate, self.save_and_load),
            *(self.load, self.build, self.clone, self.copied),
        ]
        while not self.ended.is_set():
            kind = chance.choice(kinds)
            self.guarded(lambda kind=kind: kind(chance))
            with self.lock:
                self.done[kind.__name__] += 1

    def guarded(self, run: Callable[[], None]) -> None:
        try:
            run()
        except Exception as error:  # noqa: BLE001  # all are told at the end
            with self.lock:
                self.errors[f"{type(error).__name__}: {error}"[:300]] += 1

    def requests(self, count: int) -> float:
        """The seconds that so many requests at once take, each checked."""
        samples = np.random.default_rng(self.seed).normal(size=(count, 12)).astype("float32")
        expected = self.mixed.predict(samples)
        start = threading.Barrier(count + 1)
        with serve(self.mixed, max_batch=64) as server:

            def ask(number: int) -> None:
                start.wait()
                self.guarded(lambda: self.check(server(samples[number], timeout=120), expected[number]))

            threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
            for thread in threads:
                thread.start()
            start.wait()
            began = time.monotonic()
            for thread in threads:
                thread.join()
        return time.monotonic() - began


def resident() -> float:
    """Megabytes of memory in use by this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), given.seed)
        work = [threading.Thread(target=soak.guarded, args=(soak.train,))]
        work += [threading.Thread(target=soak.work, args=(number,)) for number in range(given.threads)]
        began, seconds, early = time.monotonic(), 60 * given.minutes, 0.0
        for thread in work:
            thread.start()
        while (passed := time.monotonic() - began) < seconds:
            time.sleep(min(60, seconds / 10, seconds - passed))
            early = early or (resident() if time.monotonic() - began >= seconds / 5 else 0.0)
            print(f"{passed / 60:.1f} min: {sum(soak.done.values())} done, {resident():.0f} MB", flush=True)
        soak.ended.set()
        for thread in work:
            thread.join()
        late = resident()
        took = soak.requests(given.requests)
        modes = [module.training for module in soak.mixed.modules()]
    report = {
        "done": dict(soak.done), "wrong": soak.wrong + (modes != soak.modes), "errors": dict(soak.errors),
        "trained": soak.batches, "memory_mb": [round(early), round(late)],
        "requests": given.requests, "seconds": round(took, 2),
    }  # fmt: skip
    print(json.dumps(report, indent=1))
    sys.exit(bool(report["wrong"] or soak.errors or late > 1.05 * early))


if __name__ == "__main__":
    main()
