"""How much code a step of several processes passes beside that of one: what a small model pays for each batch."""

import sys
from collections import Counter
from types import FrameType
from typing import Any

import numpy as np
from pool import Pools

from torchkeras import Input
from torchkeras.layers import Dense
from torchkeras.models import Model
from torchkeras.utils import set_random_seed


def called(batches: int) -> Counter[str]:
    """The functions of Python, by file and name, that a `fit` of so many batches calls; comprehensions are none."""
    set_random_seed(0)
    inputs = Input((20,))
    model = Model(inputs, Dense(10, activation="softmax")(Dense(64, activation="relu")(inputs)))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    x, y = np.zeros((32 * batches, 20), "float32"), np.zeros((32 * batches, 1), "int64")
    model.fit(x, y, batch_size=32, verbose=0)
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and not frame.f_code.co_name.startswith("<"):
            found[f"{frame.f_code.co_filename}:{frame.f_code.co_name}"] += 1

    sys.setprofile(note)
    model.fit(x, y, batch_size=32, verbose=0)
    sys.setprofile(None)
    return found


def for_each_batch() -> dict[str, float]:
    few, many = called(20), called(84)
    return {name: (count - few[name]) / 64 for name, count in many.items()}


def test_calls_for_each_batch(pools: Pools):
    (alone,) = pools.run(for_each_batch, 1)
    for shared in pools.run(for_each_batch, 2):
        more = {name: count - alone.get(name, 0) for name, count in shared.items()}
        assert sum(count for name, count in more.items() if "/torchkeras/" in name) < 21
        # DistributedDataParallel sets one attribute of its own. Each takes as long as a layer of the model.
        assert sum(count for name, count in more.items() if name.endswith("/module.py:__setattr__")) <= 1.1
        assert sum(count for name, count in more.items() if "distributed_c10d" in name) <= 1
