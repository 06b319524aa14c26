"""Other libraries that train the same workloads, each in its own environment and process.

`Peer` is the benchmark's side. It starts `python peers.py <kind> <workload> <steps> <weights.npz>` with the python of
that environment, and asks for one epoch at a time by a line; the answer is a line `[seconds, loss]`. Between two epochs
the process waits for the next line, so that contenders take turns. The other side uses only numpy and the library, and
prints to stderr.
"""

import argparse
import importlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import workloads
from workloads import WORKLOADS, Weights

READY = "ready"


class LateError(RuntimeError):
    """A peer did not answer in time; its process was ended."""


def named_python(kinds: Collection[str]) -> Callable[[str], tuple[str, str]]:
    """What reads the option `kind=/path/to/python`, for these kinds."""

    def read(text: str) -> tuple[str, str]:
        kind, _, python = text.partition("=")
        if kind not in kinds or not python:
            raise argparse.ArgumentTypeError(f"{text!r}: give kind=/path/to/python; kinds are {', '.join(kinds)}.")
        return kind, python

    return read


class Peer:
    """A library that trains one workload. If its process ends, RuntimeError has the end of what it printed.

    `patience`: the seconds that it may take to start, or for an epoch, before a `LateError`.
    """

    def __init__(
        self, kind: str, python: str, workload: str, steps: int, weights: Weights, patience: float | None = None
    ):
        self.kind, self.patience = kind, patience
        self.folder = tempfile.TemporaryDirectory()
        path, self.printed = Path(self.folder.name) / "weights.npz", Path(self.folder.name) / "printed"
        named = {f"{name}/{k}": array for name, arrays in weights.items() for k, array in enumerate(arrays)}
        np.savez(path, allow_pickle=False, **named)
        with self.printed.open("w") as printed:
            self.process = subprocess.Popen(
                [python, __file__, kind, workload, str(steps), str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=printed,
                text=True,
                env={**os.environ, "KERAS_BACKEND": "torch", "PYTHONPATH": ""},
            )
        self._answer()

    def epoch(self) -> tuple[float, float]:
        """Seconds and loss of the next epoch."""
        assert self.process.stdin is not None
        print("epoch", file=self.process.stdin, flush=True)
        seconds, loss = json.loads(self._answer())
        return seconds, loss

    def _answer(self) -> str:
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], self.patience)[0]:
            self.process.kill()
            raise LateError(f"over {self.patience:g} s")
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the peer {self.kind} ended:\n{self.printed.read_text()[-2000:]}")
        return line

    def close(self) -> None:
        """End the process, which stops at the end of its input."""
        self.process.communicate()
        self.folder.cleanup()


# --- in the peer's process -------------------------------------------------------------------------------------------

Epoch = Callable[[], float]


def keras(library: str, jit_compile: bool = False) -> Callable[[str, int, Weights], Epoch]:
    """How Keras 3 and tf_keras train epochs."""

    def epochs(name: str, steps: int, weights: Weights) -> Epoch:
        workload = WORKLOADS[name]
        model = workload.network(importlib.import_module(library))
        workloads.set_weights(model, weights)
        x, y = workloads.samples(workload, steps)
        workloads.compiled(model, jit_compile)
        return lambda: workloads.keras_epoch(model, workload, x, y)

    return epochs


def lightning(name: str, steps: int, weights: Weights) -> Epoch:
    """The hand-written network in a LightningModule, with a DataLoader over tensors."""
    torch, pl, by_hand = (importlib.import_module(module) for module in ("torch", "lightning", "by_hand"))
    workload = WORKLOADS[name]

    class Classifier(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.network = by_hand.made(name, weights)

        def step(self, batch: Any) -> Any:
            *inputs, target = batch
            logits = self.network(*inputs)
            loss = torch.nn.functional.cross_entropy(logits, target)
            correct = (logits.detach().argmax(1) == target).float().mean()
            self.log_dict({"loss": loss, "accuracy": correct}, on_step=False, on_epoch=True)
            return loss

        def training_step(self, batch: Any) -> Any:
            return self.step(batch)

        def validation_step(self, batch: Any) -> None:
            self.step(batch)

        def predict_step(self, batch: Any) -> Any:
            return self.network(*batch[:-1]).softmax(1)

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), lr=1e-3, eps=1e-7, fused=True)

    x, y = workloads.samples(workload, steps)
    data = torch.utils.data.TensorDataset(*by_hand.tensors(name, x, "cpu"), torch.from_numpy(y))
    loader = torch.utils.data.DataLoader(data, workload.batch_size, shuffle=workload.mode == "fit")
    quiet = dict.fromkeys(("logger", "enable_progress_bar", "enable_checkpointing", "enable_model_summary"), False)
    module, trainer = Classifier(), pl.Trainer(max_epochs=0, **quiet)

    def train() -> float:
        trainer.fit_loop.max_epochs += 1
        trainer.fit(module, loader)
        return float(trainer.callback_metrics["loss"])

    def evaluate() -> float:
        return float(trainer.validate(module, loader, verbose=False)[0]["loss"])

    def predict() -> float:
        return float(torch.cat(trainer.predict(module, loader)).max(1).values.mean())

    return {"fit": train, "evaluate": evaluate, "predict": predict}[workload.mode]


PEERS: dict[str, Callable[[str, int, Weights], Epoch]] = {
    "keras3": keras("keras"),
    "keras3_jit": keras("keras", jit_compile=True),
    "tf_keras": keras("tf_keras"),
    "lightning": lightning,
}


def main() -> None:
    kind, name, steps, path = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    weights: Weights = {}
    for key, array in np.load(path).items():  # in the order in which they were written
        weights.setdefault(key.rpartition("/")[0], []).append(array)
    epoch = PEERS[kind](name, int(steps), weights)
    print(READY, file=answers)
    for _ in sys.stdin:
        started = time.perf_counter()
        loss = epoch()
        print(json.dumps([time.perf_counter() - started, loss]), file=answers)


if __name__ == "__main__":
    main()
