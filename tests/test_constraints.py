"""Constraints have the values of genuine Keras 2.2.4 (how those were made: test_activations.py)."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import constraints, registry

GOLDEN = np.load(Path(__file__).parent / "golden" / "keras-2.2.4-functions.npz")
EXPRESSIONS = [name for name in GOLDEN.files if name.startswith("constraints.")]
W = torch.from_numpy(GOLDEN["w"])


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_are_those_of_keras(expression):
    projected = eval(expression, {"constraints": constraints, "w": W})
    np.testing.assert_allclose(projected.numpy(), GOLDEN[expression], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", registry.constraints.names())
def test_every_name_gives_an_object_that_maps_zero_to_zero(name):
    constraint = constraints.get(name)
    assert isinstance(constraint, constraints.Constraint)
    assert constraint(torch.zeros(3, 2)).tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_the_type_of_the_weight_is_kept(dtype):
    assert constraints.MinMaxNorm(0.5, 1.0, 0.5)(W.to(dtype)).dtype == dtype


@pytest.mark.parametrize(
    ("constraint", "config"),
    [
        (constraints.MaxNorm(3, axis=[0, 1]), {"max_value": 3, "axis": [0, 1]}),
        (constraints.NonNeg(), {}),
        (constraints.UnitNorm(1), {"axis": 1}),
        (constraints.MinMaxNorm(), {"min_value": 0.0, "max_value": 1.0, "rate": 1.0, "axis": 0}),
    ],
)
def test_the_fields_are_the_config(constraint, config):
    serialized = constraints.serialize(constraint)
    assert serialized == {"class_name": type(constraint).__name__, "config": config}
    assert constraints.deserialize(serialized) == constraint


def test_a_config_makes_the_constraint_again():
    assert constraints.MaxNorm.from_config({"max_value": 3.0, "axis": 1}) == constraints.MaxNorm(3.0, 1)


def test_a_subclass_of_the_user():
    class Halved(constraints.Constraint):
        def __init__(self, by):
            self.by = by

        def __call__(self, w):
            return w / self.by

        def get_config(self):
            return {"by": self.by}

    serialized = constraints.serialize(Halved(2.0))
    assert constraints.get(serialized, {"Halved": Halved})(W).equal(W / 2)


def test_none_and_callables_stay():
    assert constraints.get(None) is None
    assert constraints.get(torch.relu) is torch.relu
    assert constraints.Constraint()(W) is W
    assert constraints.Constraint().get_config() == {}


def test_an_unknown_name_is_refused():
    text = (
        "Unknown constraint: 'max_nrm'. Did you mean 'max_norm' or 'maxnorm' or 'min_max_norm'? An object of your own "
        "is found when it is passed in `custom_objects` or put into a CustomObjectScope."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        constraints.get("max_nrm")
