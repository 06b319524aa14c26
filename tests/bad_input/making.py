"""What the tables of bad inputs are made of: small models, data, and what came of a case as one line of text."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from torchkeras import Sequential, clear_session
from torchkeras.layers import Dense, Embedding, Flatten

X = np.random.default_rng(0).random((12, 4), dtype="float32")
Y = np.ones((12, 3), "float32")
LABELS = np.arange(12) % 3
ONE = np.arange(12) % 2  # of two classes
WORDS = np.random.default_rng(0).integers(0, 5, (12, 4))

Case = Callable[[], Any]


def model(loss: Any = "mse", activation: Any = None, units: int = 3, optimizer: Any = "sgd", **options: Any) -> Any:
    """A Dense layer named "out", compiled."""
    made = Sequential([Dense(units, activation=activation, input_shape=(4,), name="out")], name="model")
    made.compile(optimizer, loss, **options)
    return made


def binary(loss: Any = "binary_crossentropy", activation: Any = "sigmoid") -> Any:
    return model(loss, activation, 1)


def classes(loss: Any = "sparse_categorical_crossentropy") -> Any:
    return model(loss, "softmax")


def words(size: int = 5, **options: Any) -> Any:
    made = Sequential([Embedding(size, 3, input_length=4, name="words", **options), Flatten(), Dense(3)], name="model")
    made.compile("sgd", "mse")
    return made


def fit(made: Any, x: Any = X, y: Any = Y, **options: Any) -> Any:
    """The history, by name."""
    return made.fit(x, y, verbose=0, shuffle=False, **options).history


def outcome(act: Case) -> Any:
    """What an action gives; of an error its kind and text, with warnings behind."""
    clear_session()
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = act()
        except Exception as error:  # noqa: BLE001  # which errors there are is what is looked at
            text = re.sub(r" at 0x[0-9a-f]+", "", " ".join(str(error).split()))
            found = f"{type(error).__name__}: {text}"
    told = [f"{each.category.__name__}: {each.message}" for each in seen if each.category is not DeprecationWarning]
    return " // ".join([found, *told]) if isinstance(found, str) else found


def same(found: Any, wanted: Any) -> bool:
    """Whether two outcomes are the same numbers."""
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return found.keys() == wanted.keys() and all(same(found[name], wanted[name]) for name in wanted)
    return not isinstance(found, str) and np.array_equal(np.asarray(found), np.asarray(wanted))
