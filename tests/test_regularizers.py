"""Regularizers have the values of genuine Keras 2.2.4 (how those were made: test_activations.py)."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import regularizers

GOLDEN = np.load(Path(__file__).parent / "golden" / "keras-2.2.4-functions.npz")
EXPRESSIONS = [name for name in GOLDEN.files if name.startswith("regularizers.")]
W = torch.from_numpy(GOLDEN["w"])


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_are_those_of_keras(expression):
    penalty = eval(expression, {"regularizers": regularizers, "w": W})
    assert penalty.shape == ()
    np.testing.assert_allclose(penalty.numpy(), GOLDEN[expression], rtol=1e-5)


def test_without_terms_the_penalty_is_zero():
    assert regularizers.L1L2()(W) == 0


def test_of_each_sample():
    """The penalty of a batch divided by its samples; it is made again from its config."""
    made = regularizers.PerSample("l2")
    assert made(torch.tensor([[1.0], [3.0]])) == pytest.approx(0.01 * (1 + 9) / 2)
    assert regularizers.get({"class_name": "PerSample", "config": made.get_config()}) == made
    with pytest.raises(ValueError, match=r"^PerSample: regularizer must be a name or a Regularizer; found None\.$"):
        regularizers.PerSample(None)


def test_gradients():
    w = torch.tensor([[-2.0, 3.0]], requires_grad=True)
    regularizers.l1_l2(0.1, 0.01)(w).backward()
    torch.testing.assert_close(w.grad, torch.tensor([[-0.14, 0.16]]))


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("l1", regularizers.L1L2(l1=0.01)),
        ("l2", regularizers.L1L2(l2=0.01)),
        ("l1_l2", regularizers.L1L2(0.01, 0.01)),
        ("L1L2", regularizers.L1L2()),
        (regularizers.l2, regularizers.L1L2(l2=0.01)),
        ({"class_name": "l1", "config": {"l": 0.5}}, regularizers.L1L2(l1=0.5)),
        ({"class_name": "L1L2", "config": {"l1": 0.5, "l2": 0.25}}, regularizers.L1L2(0.5, 0.25)),
    ],
)
def test_get_makes_an_object(identifier, expected):
    assert regularizers.get(identifier) == expected


def test_none_and_callables_stay():
    assert regularizers.get(None) is None
    assert regularizers.get(torch.sum) is torch.sum


def test_a_function_of_the_user_is_found_by_name_and_not_called():
    def penalty(x):
        return x.sum()

    assert regularizers.get("penalty", {"penalty": penalty}) is penalty
    assert regularizers.serialize(penalty) == "penalty"


def test_config_values_are_plain_floats():
    config = regularizers.serialize(regularizers.get({"class_name": "l2", "config": {"l": np.float32(0.5)}}))
    assert config == {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.5}}
    assert {type(value) for value in config["config"].values()} == {float}
    assert regularizers.deserialize(config) == regularizers.L1L2(l2=0.5)
    assert regularizers.L1L2.from_config(config["config"]) == regularizers.L1L2(l2=0.5)


def test_a_subclass_without_call_is_refused():
    class Mine(regularizers.Regularizer):
        pass

    with pytest.raises(NotImplementedError) as error:
        Mine()(W)
    assert str(error.value) == "Mine has no __call__(x): define the penalty there."


def test_an_unknown_name_is_refused():
    text = (
        "Unknown regularizer: 'L2'. Did you mean 'L1L2'? An object of your own is found when it is passed in "
        "`custom_objects` or put into a CustomObjectScope."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        regularizers.get("L2")


@pytest.mark.parametrize(("mode", "value"), [("rows", 0.06719701737165451), ("columns", 0.0882645770907402)])
def test_orthogonal_regularizer_has_the_values_of_tf_keras(mode, value):
    """The value is that of tf_keras 2.21 for the same matrix."""
    regularizer = regularizers.OrthogonalRegularizer(0.1, mode)
    assert regularizer(torch.arange(12.0).reshape(3, 4) - 4.5).item() == pytest.approx(value, rel=1e-5)
    assert regularizers.get(regularizers.serialize(regularizer)) == regularizer


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: regularizers.OrthogonalRegularizer(mode="both"),
            "OrthogonalRegularizer: mode must be one of 'rows', 'columns'; found 'both'.",
        ),
        (
            lambda: regularizers.OrthogonalRegularizer()(torch.ones(3)),
            "OrthogonalRegularizer: a weight must be a matrix; found the shape (3,).",
        ),
    ],
)
def test_orthogonal_regularizer_refuses(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
