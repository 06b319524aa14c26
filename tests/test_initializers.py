"""Initializers draw as genuine Keras 2.2.4 does: its statistics are in golden/keras-2.2.4-training."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import initializers, registry

CPU = torch.device("cpu")
STATISTICS = json.loads(
    (Path(__file__).parent / "golden" / "keras-2.2.4-training" / "initializer_statistics.json").read_text()
)
OWN = "An object of your own is found when it is passed in `custom_objects` or put into a CustomObjectScope."
SEEDED = ("RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling", "Orthogonal", "glorot_uniform")


@pytest.mark.parametrize("case", STATISTICS)
def test_statistics_are_those_of_keras(case):
    torch.manual_seed(0)
    name, shape = case.split(" ", 1)
    shape, expected = json.loads(shape), STATISTICS[case]
    values = initializers.get(name)(shape, device="cpu").double()
    error = expected["std"] / math.sqrt(values.numel())
    assert values.shape == tuple(shape)
    assert values.mean().item() == pytest.approx(expected["mean"], abs=6 * error)
    assert values.std(correction=0).item() == pytest.approx(expected["std"], abs=6 * error)
    # The ends of a bounded distribution are sharp; of an unbounded one they are drawn.
    bounded = not name.startswith(("random_normal", "orthogonal"))
    for found, end in ((values.min(), expected["min"]), (values.max(), expected["max"])):
        assert found.item() == pytest.approx(end, rel=2e-3 if bounded else 0.35, abs=1e-9)


@pytest.mark.parametrize(
    ("shape", "fan_in", "glorot"),  # found as 3 / limit**2 of lecun_uniform and glorot_uniform in genuine Keras
    [
        ((4000,), 63.25, 63.25),
        ((30, 40), 30, 35),
        ((5, 20, 30), 100, 125),
        ((2, 3, 10, 20), 60, 90),
        ((2, 2, 2, 10, 20), 80, 120),
        ((2, 2, 2, 2, 5, 10), 28.28, 28.28),
    ],
)
def test_fans_are_counted_on_the_axes_of_keras(shape, fan_in, glorot):
    for name, fan in (("lecun_uniform", fan_in), ("glorot_uniform", glorot)):
        values = initializers.get({"class_name": name, "config": {"seed": 1}})(shape, torch.float64, "cpu")
        assert 3 / values.abs().max().item() ** 2 == pytest.approx(fan, rel=5e-3)


@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_gives_the_same_numbers_and_leaves_torchs_generator_alone(name):
    seeded = initializers.get({"class_name": name, "config": {"seed": 7}})
    before = torch.get_rng_state()
    first = seeded((4, 5), device="cpu")
    assert torch.get_rng_state().equal(before)
    assert seeded((4, 5), device="cpu").equal(first)
    free = initializers.get(name)
    torch.manual_seed(3)
    drawn, again = free((4, 5), device="cpu"), free((4, 5), device="cpu")
    assert not drawn.equal(again)
    torch.manual_seed(3)
    assert free((4, 5), device="cpu").equal(drawn)


@pytest.mark.parametrize("name", [name for name in registry.initializers.names() if name != "Initializer"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_name_fills_a_weight_of_any_float_type(name, dtype):
    initializer = initializers.get(name)
    values = torch.full((3, 6), torch.nan, dtype=dtype).t()
    initializers.fill(initializer, values)
    assert values.isfinite().all()
    restored = initializers.deserialize(json.loads(json.dumps(initializers.serialize(initializer))))
    assert restored == initializer


def test_half_types_are_the_float32_draw_rounded():
    normal = initializers.RandomNormal(seed=1)
    assert normal((50,), torch.bfloat16, "cpu").equal(normal((50,), torch.float32, "cpu").bfloat16())


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 3, 4), (1, 1, 2, 7)])
def test_orthogonal(shape):
    matrix = initializers.Orthogonal(gain=2.0)(shape, torch.float64, "cpu").reshape(-1, shape[-1])
    product = matrix.T @ matrix if matrix.shape[0] >= matrix.shape[1] else matrix @ matrix.T
    torch.testing.assert_close(product, 4 * torch.eye(len(product), dtype=torch.float64))


def test_identity_is_repeated_along_the_longer_side():
    assert initializers.Identity(2.0)((2, 4), device="cpu").tolist() == [[2, 0, 2, 0], [0, 2, 0, 2]]
    assert initializers.Identity()((2, 1), device="cpu").tolist() == [[1], [1]]


def test_a_call_takes_a_type_by_its_name():
    assert initializers.Ones()((2,), "float64").dtype == torch.float64
    assert initializers.Ones()((2,), torch.int32).dtype == torch.int32
    assert initializers.Ones()((2,), None).dtype == torch.float32
    with pytest.raises(ValueError, match=r"^dtype must be the name of a torch dtype"):
        initializers.Ones()((2,), "float33")


def test_a_clone_has_the_same_config():
    normal = initializers.RandomNormal(1.0, 2.0, seed=3)
    assert normal.clone() == normal
    assert normal.clone() is not normal


def test_constant_takes_a_number_or_an_array():
    assert initializers.Constant(3)((2, 2), device="cpu").tolist() == [[3, 3], [3, 3]]
    assert initializers.Constant(np.array([[1.0], [2.0]]))((2, 1), device="cpu").tolist() == [[1], [2]]


def test_truncated_normal_without_deviation_is_its_mean():
    assert initializers.TruncatedNormal(1.0, 0.0)((3,), device="cpu").tolist() == [1, 1, 1]


def test_configs():
    assert initializers.serialize(initializers.glorot_uniform(seed=3)) == {
        "class_name": "VarianceScaling",
        "config": {"scale": 1.0, "mode": "fan_avg", "distribution": "uniform", "seed": 3},
    }
    assert initializers.VarianceScaling(mode="FAN_OUT", distribution="Uniform").get_config() == {
        "scale": 1.0,
        "mode": "fan_out",
        "distribution": "uniform",
        "seed": None,
    }
    assert initializers.get("he_normal") == initializers.get(initializers.he_normal) == initializers.he_normal()
    assert initializers.get({"class_name": "Zeros", "config": {"dtype": "float32"}}) == initializers.Zeros()


def of_shape(shape):
    return np.full(shape, 2.0)


def of_shape_and_optional_type(shape, dtype=None):
    assert dtype is None
    return torch.full(shape, 2.0)


def of_shape_and_type(shape, dtype):
    return np.full(shape, 2.0, dtype=dtype)


class OldSubclass(initializers.Initializer):
    def __init__(self, value):
        self.value = value

    def __call__(self, shape, dtype=None):
        return np.full(shape, self.value)


USERS = [of_shape, of_shape_and_optional_type, of_shape_and_type, OldSubclass(2.0)]


@pytest.mark.parametrize("initializer", USERS, ids=lambda user: getattr(user, "__name__", "subclass"))
def test_what_users_write_fills_a_weight(initializer):
    values = torch.zeros(2, 3)
    initializers.fill(initializers.get(initializer), values)
    assert values.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_builtins_of_numpy_fill_a_weight():
    values = torch.zeros(2, 3)
    initializers.fill(np.ones, values)
    assert values.tolist() == [[1, 1, 1], [1, 1, 1]]
    initializers.fill(np.random.default_rng(0).standard_normal, values)
    assert values.unique().numel() == 6


def test_a_function_of_the_user_is_found_by_name_and_not_called():
    assert initializers.get("of_shape", {"of_shape": of_shape}) is of_shape
    assert initializers.serialize(of_shape) == "of_shape"


class Drawless(initializers.Initializer):
    pass


@pytest.mark.parametrize(
    ("act", "kind", "text"),
    [
        (
            lambda: initializers.VarianceScaling(scale=0),
            ValueError,
            "VarianceScaling: scale must be a number above 0; found 0.",
        ),
        (
            lambda: initializers.VarianceScaling(mode="in"),
            ValueError,
            "VarianceScaling: mode must be one of 'fan_in', 'fan_out', 'fan_avg'; found 'in'.",
        ),
        (
            lambda: initializers.VarianceScaling(distribution="cauchy"),
            ValueError,
            "VarianceScaling: distribution must be one of 'normal', 'uniform', 'untruncated_normal'; found 'cauchy'.",
        ),
        (
            lambda: initializers.Constant([1.0, 2.0])((3,)),
            ValueError,
            "Constant: value is of shape (2,), the weight of (3,).",
        ),
        (
            lambda: initializers.Orthogonal()((5,)),
            ValueError,
            "Orthogonal needs a shape of two axes or more; found (5,).",
        ),
        (
            lambda: initializers.Identity()((5, 3)),
            ValueError,
            "Identity needs two axes, one a multiple of the other; found (5, 3).",
        ),
        (
            lambda: initializers.Identity()((2, 2, 2)),
            ValueError,
            "Identity needs two axes, one a multiple of the other; found (2, 2, 2).",
        ),
        (
            lambda: initializers.fill(lambda shape: np.zeros(3), torch.zeros(2, 3)),
            ValueError,
            "Initializer <lambda> was asked for the shape (2, 3) and gave (3,).",
        ),
        (
            lambda: Drawless()((2,)),
            NotImplementedError,
            "Drawless has neither draw(values, generator) nor __call__(shape).",
        ),
        (
            lambda: initializers.get("glorot"),
            ValueError,
            "Unknown initializer: 'glorot'. Did you mean 'glorot_normal' or 'glorot_uniform'? " + OWN,
        ),
        (
            lambda: initializers.get({"class_name": "Ones", "aonfig": {}}),
            ValueError,
            "An initializer config needs a 'class_name' and a 'config'; found {'class_name': 'Ones', 'aonfig': {}}.",
        ),
    ],
)
def test_errors(act, kind, text):
    with pytest.raises(kind) as error:
        act()
    assert str(error.value) == text


def test_constant_is_not_rounded_in_float64():
    assert initializers.Constant(0.1)((2,), dtype="float64").tolist() == [0.1, 0.1]
    assert initializers.Constant([0.1, 0.7])((2,), dtype="float64").tolist() == [0.1, 0.7]
