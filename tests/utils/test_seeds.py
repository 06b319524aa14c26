"""`set_random_seed`, and Keras 3's names of a model's weights."""

import random
import re
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras.layers import BatchNormalization, Dense, Dropout
from torchkeras.models import Sequential
from torchkeras.utils import set_random_seed


def drawn() -> Any:
    model = Sequential([Dense(3, input_shape=(2,)), Dropout(0.5), Dense(1)])
    model.compile("sgd", "mse")
    x = np.random.random((8, 2))  # noqa: NPY002 - the state that the seed sets
    model.fit(x, x.sum(1), batch_size=2, verbose=0)
    return random.random(), torch.rand(()).item(), *(array.tolist() for array in model.get_weights())


def test_all_that_is_drawn_comes_again():
    set_random_seed(7)
    first = drawn()
    assert drawn() != first
    set_random_seed(np.int64(7))  # type: ignore[arg-type]
    assert drawn() == first


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, "1", True, None])
def test_a_seed_is_a_whole_number(seed: Any):
    text = f"set_random_seed: seed must be an integer from 0 to 4294967295; found {seed!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        set_random_seed(seed)


def test_weights_by_keras_3_s_names():
    model = Sequential([Dense(3, input_shape=(2,)), BatchNormalization(), Dense(1)])
    model.layers[0].trainable = False
    for owner in (model, *model.layers):
        for name in ("trainable_", "non_trainable_", ""):
            new, old = getattr(owner, f"{name}variables"), getattr(owner, f"{name}weights")
            assert [variable.full_name for variable in new] == [variable.full_name for variable in old]
    assert len(model.variables) == 8
    assert len(model.trainable_variables) == 4
