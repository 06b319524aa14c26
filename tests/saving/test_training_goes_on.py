"""Models that genuine Keras saved in the middle of training go on where they stopped, with the losses it had then.

Made by Keras 1.2.2 and 2.2.4 on TensorFlow and Theano, tf_keras 2.21 and Keras 3.15: three steps, saved, four more that
are recorded. What TensorFlow 1 updated in an order of its own (Adam's count of steps, RMSprop's mean in Keras 1) is
left to Theano's record. `several_*`, `unequal_*` and `nested_*` are of versions with another order of the state, made
by `scripts/golden_optimizer_states.py`: up to 2.0.5 that of the names, where `dense_10` is before `dense_2`; in 2.3
Nadam has its product of momenta, and RMSprop and the like a count of steps. `objective_*`: one step, saved, two more
and an evaluation, with sample weights of 0 among them, losses and metrics that are names, functions and classes with
options, all of whose numbers are recorded.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchkeras
from torchkeras.models import load_model

FILES = sorted((Path(__file__).parents[1] / "golden" / "training-goes-on").glob("*/*/model.*"))
OBJECTIVES = [file for file in FILES if file.parent.name.startswith("objective_")]


def named(file: Path) -> str:
    return f"{file.parents[1].name}-{file.parent.name}{file.suffix}"


def test_all_are_there():
    assert Counter(file.parents[1].name for file in FILES) == {
        "keras-1.2.2-tensorflow": 6,
        "keras-1.2.2-theano": 9,
        "keras-2.0.0-tensorflow": 2,
        "keras-2.0.5-tensorflow": 4,
        "keras-2.0.6-tensorflow": 2,
        "keras-2.2.4-tensorflow": 5,
        "keras-2.2.4-theano": 12,
        "keras-2.3.1-tensorflow": 2,
        "keras-3.15": 34,
        "tf_keras-2.21": 29,
    }


@pytest.mark.parametrize("file", [file for file in FILES if file not in OBJECTIVES], ids=named)
def test_training_goes_on(file: Path):
    torchkeras.clear_session()
    model, record = load_model(file), np.load(file.parent / "io.npz")
    losses = [np.ravel(model.train_on_batch(record["x0"], record["t0"]))[0] for _ in record["losses"]]
    np.testing.assert_allclose(losses, record["losses"], rtol=1e-3)


@pytest.mark.parametrize("file", OBJECTIVES, ids=named)
def test_losses_and_metrics_go_on(file: Path):
    torchkeras.clear_session()
    model, record = load_model(file), np.load(file.parent / "io.npz")
    names, x = list(record["names"]), record["x0"]
    target, weight = given(record, "t"), given(record, "w")
    for numbers in record["steps"]:
        model.reset_metrics()
        found = model.train_on_batch(x, target, sample_weight=weight, return_dict=True)
        assert sorted(found) == sorted(names)
        np.testing.assert_allclose([found[name] for name in names], numbers, rtol=1e-3)
    found = model.evaluate(x, target, sample_weight=weight, batch_size=5, verbose=0, return_dict=True)
    np.testing.assert_allclose([found[name] for name in names], record["evaluated"], rtol=1e-3)


def given(record: Any, letter: str) -> Any:
    """The arrays of a record that are called so: one, a list, or None."""
    arrays = [record[f"{letter}{k}"] for k in range(3) if f"{letter}{k}" in record]
    return arrays if len(arrays) > 1 else next(iter(arrays), None)
