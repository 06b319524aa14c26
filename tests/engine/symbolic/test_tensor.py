"""A symbolic tensor: what is known of it at once, and what has no value yet."""

import operator
from typing import Any

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.layers import Input


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


x: Any = Input((4,), name="x")
SHOWN = "<KerasTensor 'x' shape=(?, 4) dtype=float32>"


def test_what_is_known_at_once():
    x: Any = Input((5, 4))
    assert x.size()[1:] == x.shape[1:] == (5, 4)
    assert (x.size(1), x.size(-1), x.dim(), x.ndim, x.ndimension()) == (5, 4, 3, 3, 3)
    assert (x.is_floating_point(), torch.is_floating_point(x > 0), x.is_complex()) == (True, False, False)
    assert (x.element_size(), x.device, x[0].numel(), torch.numel(x[0])) == (4, torch.device("cpu"), 20, 20)
    assert not hasattr(x, "no_such_thing")


@pytest.mark.parametrize("function", [np.mean, np.sum, np.max, np.std])
def test_a_function_of_numpy_is_an_error_that_names_torchs(function):
    text = (
        r": NumPy's functions compute on arrays with values\. Write torch's: torch\.mean\(x, dim=0\), "
        r"not np\.mean\(x, axis=0\)\.$"
    )
    for inputs in (Input((2,)), Input(batch_shape=(3, 2))):
        with pytest.raises(TypeError, match=text):
            function(inputs)
        with pytest.raises(TypeError, match=text):
            function(inputs, axis=1)


def test_a_symbolic_tensor_that_was_pickled_under_keras_names_is_read():
    inputs = Input((3,))
    history = inputs.keras_history
    again = torchkeras.KerasTensor(inputs.shape, inputs.dtype)
    again._keras_history, again._keras_mask = history, None  # as pickle sets what it has
    assert again.keras_history is history is again._keras_history
    assert again.keras_mask is None is again._keras_mask


def test_comparisons_are_functions_and_the_same_tensor_is_said_by_is():
    other = Input((4,))
    assert (x == other).dtype is torch.bool
    assert (x != 1).dtype is torch.bool
    assert not operator.eq(x, None)
    assert len({x, x, other}) == 2
    assert {x: 1}[x] == 1


# --- what has no value yet -------------------------------------------------------------------------------------------


ERRORS = [
    (
        lambda: bool(x > 0),
        TypeError,
        (
            "<KerasTensor 'operation_gt_1' shape=(?, 4) dtype=bool> has no value yet, so it has no truth value: a "
            "graph cannot branch on it. Use torch.where."
        ),
    ),
    (lambda: len(x), TypeError, f"{SHOWN} has no length; its shape is (None, 4)."),
    (lambda: list(iter(x)), TypeError, f"{SHOWN} cannot be iterated over; take slices of it."),
    (
        lambda: np.asarray(x),
        TypeError,
        f"{SHOWN} has no values yet and is no array: NumPy cannot compute on it.",
    ),
]


@pytest.mark.parametrize(("build", "kind", "message"), ERRORS)
def test_error(build, kind, message):
    with pytest.raises(kind) as error:
        build()
    assert str(error.value) == message
