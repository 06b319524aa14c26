"""What Keras 1 had and Keras 2 dropped: its metrics and its first values, with numbers of genuine Keras 1.2.2."""

import re
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import backend as K
from torchkeras.keras2 import initializations, metrics
from torchkeras.keras2.optimizers import TFOptimizer, clip_norm

TRUE = torch.tensor([[1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
PREDICTED = torch.tensor([[0.9, 0.6, 0.2, 0.7], [0.1, 0.4, 0.8, 0.55]])


@pytest.mark.parametrize(("name", "value"), [
    ("precision", 0.6000000238418579),
    ("recall", 0.75),
    ("fmeasure", 0.6666666269302368),
    ("f1score", 0.6666666269302368),
    ("matthews_correlation", 0.25819888710975647),
])  # fmt: skip
def test_metrics_of_decisions(name: str, value: float):
    assert float(getattr(metrics, name)(TRUE, PREDICTED)) == pytest.approx(value, abs=1e-6)


def test_fbeta_score():
    assert float(metrics.fbeta_score(TRUE, PREDICTED, beta=2)) == pytest.approx(0.714285671710968, abs=1e-6)
    with pytest.raises(ValueError, match=re.escape("beta must be a number of at least 0; found -1.")):
        metrics.fbeta_score(TRUE, PREDICTED, beta=-1)


@pytest.mark.parametrize(("shape", "ordering", "fans"), [
    ((3, 5), "th", (3, 5)),
    ((8, 4, 3, 3), "th", (36, 72)),
    ((3, 3, 4, 8), "tf", (36, 72)),
    ((7,), "th", (2.6457513110645907, 2.6457513110645907)),
    ((2, 3, 4), "tf", (4.898979485566356, 4.898979485566356)),
])  # fmt: skip
def test_fans(shape: Any, ordering: str, fans: Any):
    assert initializations.get_fans(shape, ordering) == pytest.approx(fans)


def test_an_ordering_that_is_none():
    with pytest.raises(ValueError, match=re.escape("dim_ordering must be 'th' or 'tf'; found 'last'.")):
        initializations.get_fans((2, 2, 2, 2), "last")


@pytest.mark.parametrize(("name", "limit"), [
    ("uniform", 0.05),
    ("lecun_uniform", (3 / 60) ** 0.5),
    ("glorot_uniform", (6 / 100) ** 0.5),
    ("he_uniform", (6 / 60) ** 0.5),
])  # fmt: skip
def test_uniform_first_values(name: str, limit: float):
    values = np.abs(K.eval(initializations.get(name)((60, 40), name="W")))
    assert 0.95 * limit < values.max() <= limit


@pytest.mark.parametrize(("name", "deviation"), [
    ("normal", 0.05),
    ("glorot_normal", (2 / 100) ** 0.5),
    ("he_normal", (2 / 60) ** 0.5),
])  # fmt: skip
def test_normal_first_values(name: str, deviation: float):
    assert K.eval(initializations.get(name)((60, 40))).std() == pytest.approx(deviation, rel=0.1)


def test_first_values_without_chance():
    assert K.eval(initializations.get("zero")((2, 2))).sum() == 0
    assert K.eval(initializations.get("one")((2, 2))).sum() == 4
    np.testing.assert_array_equal(K.eval(initializations.get("identity")((2, 2), scale=3)), 3 * np.eye(2))
    square = K.eval(initializations.get("orthogonal")((5, 5)))
    np.testing.assert_allclose(square @ square.T, 1.1**2 * np.eye(5), atol=1e-5)
    with pytest.raises(ValueError, match=re.escape("an identity is a square matrix; found the shape (2, 3).")):
        initializations.identity((2, 3))


def test_a_function_stays_and_a_name_of_keras_2_makes_a_variable():
    assert initializations.get(initializations.uniform) is initializations.uniform
    made = initializations.get("VarianceScaling")((3, 4), name="W")
    assert isinstance(made, torch.nn.Parameter)
    assert tuple(made.shape) == (3, 4)
    with pytest.raises(ValueError, match="Unknown initializer"):
        initializations.get("wizardry")


def test_clip_norm():
    gradient = torch.tensor([3.0, 4.0])
    assert clip_norm(gradient, 1.0, torch.tensor(5.0)).tolist() == pytest.approx([0.6, 0.8])
    assert clip_norm(gradient, 6.0, torch.tensor(5.0)).tolist() == [3.0, 4.0]
    assert clip_norm(gradient, 0, torch.tensor(5.0)) is gradient


def test_there_is_no_tensorflow_to_wrap():
    with pytest.raises(TypeError, match=re.escape("TFOptimizer wraps an optimizer of TensorFlow; found 'adam'.")):
        TFOptimizer("adam")
