"""Make tests/golden/earlier: pickles that name modules where they were before they moved.

    PYTHONPATH=AN_EARLIER_CHECKOUT python scripts/golden_moved.py FOLDER

Each pickle has an object, what a model was given, and what it computed; for functions both are None. A file that is
there stays: later versions of the package can no longer make it.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from torchkeras import Input, Model, backend as K
from torchkeras.layers import Dense, Lambda
from torchkeras.models import load_model

MODELS = Path(__file__).resolve().parent.parent / "tests" / "golden" / "lambdas" / "models"
FUNCTIONS = (K.square, K.dot, K.l2_normalize, K.batch_dot, K.rnn, K.ctc_decode, K.update)


def backend_nodes() -> tuple[Any, Any]:
    """A model with a function of the backend in a `Lambda`, and others as nodes."""
    x = Input((4,))
    y = Lambda(K.square)(x)
    z = K.concatenate([K.l2_normalize(y, axis=1), K.sum(K.exp(y) * 2, axis=1, keepdims=True)])
    return Model(x, Dense(2)(z)), np.arange(8, dtype="float32").reshape(2, 4) / 8


def formula() -> tuple[Any, Any]:
    """A model whose file has the function of a `Lambda` as bytecode."""
    model = load_model(MODELS / "siamese.h5", compile=False)
    arrays = dict(np.load(MODELS / "siamese.npz"))
    given = [arrays[f"x{place}"] for place in range(len(model.inputs))]
    return model, given[0] if len(given) == 1 else given


CASES: dict[str, Callable[[], tuple[Any, Any]]] = {"backend_nodes": backend_nodes, "formula": formula}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, make in CASES.items():
        path = folder / f"{name}.pickle"
        if not path.exists():
            model, given = make()
            path.write_bytes(pickle.dumps((model, given, model.predict(given, verbose=0)), protocol=4))
    if not (folder / "functions.pickle").exists():
        (folder / "functions.pickle").write_bytes(pickle.dumps((FUNCTIONS, None, None), protocol=4))
