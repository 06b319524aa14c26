"""How much code of the package a small model passes: what a reader of a trace would have to follow.

    python benchmarks/traced.py

On an MLP of three layers, by `sys.setprofile`: for a call of Dense on a symbolic tensor, for `compile`, for each
further batch of `fit` and for one train step, how many functions of the package are called, of how many files, and how
often the file changes from one call to the next. Comprehensions are no calls, nor is what makes a property lazy, as
functools' own would not be. The numbers are the code's, not the machine's: each run gives the same.
"""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import torchkeras
from torchkeras.base import python
from torchkeras.engine.fit.opening import Intake
from torchkeras.engine.fit.turns import computing
from torchkeras.layers import Dense, Input, Lambda
from torchkeras.models import Model

PACKAGE = str(Path(torchkeras.__file__).parent)
LAZY = python.__file__


class Trace:
    """The functions of the package called inside a `with`, in order: (file, name)."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def __enter__(self) -> "Trace":
        gc.collect()  # within the block the end of an earlier model would be counted, too
        gc.disable()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)
        gc.enable()

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        ours = code.co_filename.startswith(PACKAGE) and code.co_filename != LAZY
        if event == "call" and ours and not code.co_name.startswith("<"):
            self.calls.append((code.co_filename.removeprefix(PACKAGE), f"{code.co_name}:{code.co_firstlineno}"))

    @property
    def changes(self) -> int:
        """How often a call is of another file than the one before."""
        files = [file for file, _ in self.calls]
        return sum(file != before for file, before in zip(files[1:], files, strict=False))

    def __str__(self) -> str:
        functions, files = set(self.calls), {file for file, _ in self.calls}
        return f"{len(self.calls):5} {len(functions):9} {len(files):5} {self.changes:7}"


def mlp() -> Model:
    """Three layers on twenty numbers."""
    inputs = Input((20,))
    hidden = Dense(64, activation="relu")(Dense(64, activation="relu")(inputs))
    return Model(inputs, Dense(10, activation="softmax")(hidden))


def traced(run: Callable[[], Any]) -> Trace:
    """The trace of a call."""
    with Trace() as trace:
        run()
    return trace


def fitted(batches: int) -> Trace:
    """The trace of a `fit` of so many batches, of a model that has trained before."""
    model = mlp()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    x, y = np.zeros((32 * batches, 20), "float32"), np.zeros((32 * batches, 1), "int64")
    model.fit(x, y, verbose=0)
    return traced(lambda: model.fit(x, y, verbose=0))


def first_fit() -> Callable[[], Any]:
    """`compile` and `fit` of a model that was not called yet, for one batch."""
    model, x, y = mlp(), np.zeros((32, 20), "float32"), np.zeros((32, 1), "int64")

    def run() -> None:
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(x, y, verbose=0)

    return run


def warm_up() -> None:
    """Do what only the first of a process does: read the defaults of a layer's options, listen for users' modules."""
    Dense(64)(Lambda(lambda x: x)(Input((20,))))
    first_fit()()


def rows() -> dict[str, Trace]:
    """The rows of the table in docs/speed_notes.md, after `warm_up`."""
    inputs, model = Input((20,)), mlp()
    return {
        "Dense on a symbolic tensor": traced(lambda: Dense(64)(inputs)),
        "compile": traced(lambda: model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])),
        "the first compile and fit": traced(first_fit()),
        "one train step": one_step(),
    }


def main() -> None:
    warm_up()
    print(f"{'':28} calls functions files changes")
    for name, trace in rows().items():
        print(f"{name:28} {trace}")
    few, many = fitted(20), fitted(84)
    print(f"calls for each further batch of fit: {(len(many.calls) - len(few.calls)) / 64:.1f}")


def one_step() -> Trace:
    """The trace of the train step alone, by `train_on_batch`'s own function."""
    model = mlp()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    x, y = np.zeros((32, 20), "float32"), np.zeros((32, 1), "int64")
    for _ in range(3):
        model.train_on_batch(x, y)
    batch = Intake(model._training).batch(x, y)
    step = model._training.step("train")
    with computing(model._training, trains=True):
        step(batch)
        return traced(lambda: step(batch))


if __name__ == "__main__":
    main()
