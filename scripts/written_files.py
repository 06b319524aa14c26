"""Write models of every layer family as .h5, .keras and .weights.h5, to be read elsewhere by `read_written_files.py`.

    scripts/written_files FOLDER
    python scripts/read_written_files.py FOLDER         (where a genuine Keras is installed)

A model is a folder with its files, `io.npz` and `case.json`. `io.npz` has inputs `x0`.., outputs `y0`.., and for a
compiled model targets `t0`.., weights `w0`.., the `evaluated` numbers and the `losses` of its next steps. `case.json`
says who can read what, and why not.
"""

import argparse
import json
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from written_functions import OTHERS, SAME, model_of
from written_models import CASES, NO_FUNCTIONS, SAMPLES
from written_objectives import OBJECTIVES

import torchkeras
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.models import Model

FUNCTIONS = {f"function_{name}": call for name, call in {**SAME, **OTHERS}.items()}
ALL = {
    **CASES,
    **{f"objectives_{name}": case for name, case in OBJECTIVES.items()},
    **{name: (partial(model_of, call), NO_FUNCTIONS) for name, call in FUNCTIONS.items()},
}
REFUSES = "Keras 3 refuses it"
STEPS = 3
WEIGHTS = np.array(
    [1.0, 2.0, 0.5, 3.0], "float32"
)  # of samples; none is 0, which counts differently in Keras 3 for losses by name
POSITIVE = ("moving_variance", "variance")
KEPT = ("count",)


def give_values(model: Model, random: np.random.RandomState) -> None:
    """Set all weights, biases too, to different values."""
    for variable in model.weights:
        if variable.name not in KEPT:
            low, high = (0.5, 1.5) if variable.name in POSITIVE else (-0.5, 0.5)
            variable.assign(random.uniform(low, high, variable.shape).astype("float32"))


def inputs_of(model: Model, random: np.random.RandomState) -> list[np.ndarray]:
    """Random inputs; integers are from 0 to 8, with zeros at the end, where they may be masked."""
    found = []
    for tensor in model.inputs:
        shape = (SAMPLES, *(size or 5 for size in tensor.shape[1:]))
        if tensor.dtype.is_floating_point:
            values = random.uniform(-1, 1, shape).astype("float32")
            if len(shape) == 3:
                values[1, -2:] = 0.0
            found.append(values)
        else:
            values = random.randint(1, 9, shape).astype("int32")
            values[0, -3:], values[1, 0] = 0, 0
            found.append(values)
    return found


def targets_of(model: Model, random: np.random.RandomState) -> list[np.ndarray]:
    """A target for each output: numbers for a squared error, else one-hot rows."""
    shapes = [(SAMPLES, *(size or 1 for size in tensor.shape[1:])) for tensor in model.outputs]
    if model.loss == "mse":
        return [random.uniform(-1, 1, shape).astype("float32") for shape in shapes]
    return [np.eye(shape[-1], dtype="float32")[random.randint(0, shape[-1], shape[:-1])] for shape in shapes]


def alone(arrays: list[np.ndarray]) -> Any:
    """A single array as it is, several as a list."""
    return arrays if len(arrays) > 1 else arrays[0]


def write_keras3(model: Model, folder: Path) -> str | None:
    """Write `model.keras` and `model.weights.h5`; returns why Keras 3 refuses the model, or None."""
    model.save_weights(folder / "model.weights.h5")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.save(folder / "model.keras")
    return next((str(each.message) for each in caught if REFUSES in str(each.message)), None)


def write_case(name: str, folder: Path, seed: int) -> str | None:
    """Write one model; returns why Keras 3 refuses it, or None."""
    make, unread = ALL[name]
    torchkeras.clear_session()
    random = np.random.RandomState(seed)
    model, arrays = make(), {}
    give_values(model, random)
    inputs = inputs_of(model, random)
    x = alone(inputs)
    if model.optimizer is not None:
        targets = targets_of(model, random)
        target, weight = alone(targets), alone([WEIGHTS] * len(targets))
        for _ in range(STEPS):
            model.train_on_batch(x, target, sample_weight=weight)
    folder.mkdir(parents=True, exist_ok=True)
    outputs = model.predict(x, batch_size=SAMPLES)
    model.reset_states()
    model.save(folder / "model.h5")
    refused = write_keras3(model, folder)
    if model.optimizer is not None:
        arrays |= {f"t{k}": value for k, value in enumerate(targets)}
        arrays |= {f"w{k}": WEIGHTS for k in range(len(targets))}
        arrays["evaluated"] = np.array(model.evaluate(x, target, sample_weight=weight, batch_size=2, verbose=0))
        steps = [model.train_on_batch(x, target, sample_weight=weight) for _ in range(STEPS)]
        arrays["losses"] = np.array([step[0] for step in steps])
    arrays |= {f"x{k}": value for k, value in enumerate(inputs)}
    arrays |= {f"y{k}": value for k, value in enumerate(as_list(outputs))}
    np.savez(folder / "io.npz", **arrays)
    (folder / "case.json").write_text(json.dumps({"unread": unread, "no_keras3": refused}, indent=1))
    return refused


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("folder", type=Path)
    options.add_argument("names", nargs="*", help="of the models to write; all of them unless given")
    chosen = options.parse_args()
    torch.manual_seed(0)
    refusals = 0
    names = chosen.names or list(ALL)
    for seed, name in enumerate(names):
        refused = write_case(name, chosen.folder / name, seed)
        refusals += refused is not None
        print(f"{name}: {'.h5, .weights.h5, .keras' if refused is None else f'.h5, .weights.h5, .keras ({refused})'}")
    print(f"{len(names)} models; Keras 3 refuses {refusals} of them.")


if __name__ == "__main__":
    main()
