"""`keras.random`: statistics, seeds, symbolic tensors, shape probing, torch.compile, errors."""

import copy
import pickle

import numpy as np
import pytest
import torch

from torchkeras import config, layers
from torchkeras.engine.graph.input import Input
from torchkeras.keras3 import ops, random
from torchkeras.models import Model, load_model
from torchkeras.utils import set_random_seed

CALLS = {
    "beta": lambda seed: random.beta((4, 5), 2.0, 3.0, seed=seed),
    "binomial": lambda seed: random.binomial((4, 5), 9.0, 0.5, seed=seed),
    "categorical": lambda seed: random.categorical(torch.zeros(4, 50), 5, seed=seed),
    "dropout": lambda seed: random.dropout(torch.ones(40, 5), 0.5, seed=seed),
    "gamma": lambda seed: random.gamma((4, 5), 2.0, seed=seed),
    "normal": lambda seed: random.normal((4, 5), seed=seed),
    "randint": lambda seed: random.randint((4, 5), 0, 99, seed=seed),
    "shuffle": lambda seed: random.shuffle(torch.arange(50), seed=seed),
    "truncated_normal": lambda seed: random.truncated_normal((4, 5), seed=seed),
    "uniform": lambda seed: random.uniform((4, 5), seed=seed),
}
MANY = 20000


def test_the_names():
    assert sorted(CALLS) == sorted(set(random.__all__) - {"SeedGenerator"})


@pytest.mark.parametrize("name", CALLS)
def test_seeds(name: str):
    call = CALLS[name]
    assert torch.equal(call(3), call(3))
    assert not torch.equal(call(3), call(4))
    assert not torch.equal(call(None), call(None))
    set_random_seed(5)
    first = call(None)
    set_random_seed(5)
    assert torch.equal(first, call(None))
    seeds, same = random.SeedGenerator(3), random.SeedGenerator(3)
    one, other = call(seeds), call(seeds)
    assert not torch.equal(one, other)
    assert torch.equal(one, call(same))
    assert torch.equal(other, call(same))
    assert torch.equal(one, call(3))


@pytest.mark.parametrize("name", CALLS)
def test_an_integer_leaves_torchs_generator_alone(name: str):
    before = torch.get_rng_state()
    CALLS[name](3)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("drawn", "mean", "deviation"),
    [
        (lambda: random.normal((MANY,), 2.0, 3.0), 2.0, 3.0),
        (lambda: random.uniform((MANY,), -1.0, 3.0), 1.0, 4 / 12**0.5),
        (lambda: random.truncated_normal((MANY,), 1.0, 2.0), 1.0, 2 * 0.8796),
        (lambda: random.randint((MANY,), 0, 5), 2.0, 2**0.5),
        (lambda: random.gamma((MANY,), 4.0), 4.0, 2.0),
        (lambda: random.beta((MANY,), 2.0, 3.0), 0.4, 0.2),
        (lambda: random.binomial((MANY,), 10, 0.2), 2.0, 1.6**0.5),
        (lambda: random.categorical(torch.tensor([[0.0, 3.0]]).log(), MANY), 1.0, 0.0),
        (lambda: random.dropout(torch.ones(MANY), 0.2), 1.0, 0.5),
    ],
)
def test_statistics(drawn, mean: float, deviation: float):
    found = drawn().double()
    assert found.mean().item() == pytest.approx(mean, abs=0.06)
    assert found.std().item() == pytest.approx(deviation, abs=0.06)


def test_truncated_normal_stays_within_two_deviations():
    found = random.truncated_normal((MANY,), 1.0, 2.0)
    assert found.min() >= -3
    assert found.max() <= 5
    assert ((found - 1) / 2).abs().max() > 1.9


def test_bounds_and_parameters_as_tensors():
    low = torch.tensor([0.0, 10.0])
    found = random.uniform((100, 2), low, low + 1)
    assert ((found >= low) & (found < low + 1)).all()
    assert random.gamma((1000, 2), torch.tensor([1.0, 100.0])).mean(0).round(decimals=-1).tolist() == [0.0, 100.0]
    assert random.binomial((2,), [3, 4], np.array([0.0, 1.0])).tolist() == [0.0, 4.0]


def test_shuffle_keeps_what_lies_behind_the_axis_together():
    found = random.shuffle(torch.arange(40).reshape(20, 2), axis=0)
    assert (found[:, 1] - found[:, 0] == 1).all()
    assert sorted(found[:, 0].tolist()) == list(range(0, 40, 2))
    last = random.shuffle(torch.arange(40).reshape(2, 20), axis=-1)
    assert sorted(last[1].tolist()) == list(range(20, 40))


def test_dropout_shares_the_choice_along_an_axis_of_1():
    found = random.dropout(torch.ones(6, 5), 0.5, noise_shape=(None, 1))
    assert all(len(set(row)) == 1 for row in found.tolist())
    assert set(found.flatten().tolist()) == {0.0, 2.0}


def test_the_default_type_is_floatx():
    config.set_floatx("float64")
    assert random.normal((2,)).dtype is random.gamma((2,), 1.0).dtype is torch.float64


# --- seed generators -------------------------------------------------------------------------------------------------


def test_a_generator_without_a_seed_begins_anywhere():
    assert random.SeedGenerator().state.tolist() != random.SeedGenerator().state.tolist()
    assert random.SeedGenerator().get_config()["seed"] is None
    set_random_seed(1)
    first = random.SeedGenerator().state
    set_random_seed(1)
    assert torch.equal(first, random.SeedGenerator().state)


def test_copies_and_pickles_go_on_alike():
    seeds = random.SeedGenerator(1)
    seeds.next()
    for other in (copy.deepcopy(seeds), pickle.loads(pickle.dumps(seeds))):  # noqa: S301
        assert other.state.tolist() == [1, 1]
        assert other.name == seeds.name


def test_the_state_can_be_set():
    seeds = random.SeedGenerator(1)
    before = seeds.state
    drawn = random.normal((3,), seed=seeds)
    seeds.state = before
    assert torch.equal(drawn, random.normal((3,), seed=seeds))


def test_a_seed_of_more_bits_wraps():
    """Genuine Keras has none such for a generator, but for a call."""
    assert torch.equal(random.normal((3,), seed=random.SeedGenerator(2**32 + 7)), random.normal((3,), seed=7))


# --- symbolic tensors ------------------------------------------------------------------------------------------------


def test_a_graph_draws_anew_in_each_pass():
    x = Input((3,))
    model = Model(x, [random.dropout(x, 0.5), x + random.normal(ops.shape(x)), random.shuffle(x, axis=1, seed=2)])
    assert [tuple(each.shape) for each in model.outputs] == [(None, 3)] * 3
    data = np.ones((50, 3), "float32")
    first, second = model.predict(data), model.predict(data)
    assert not np.array_equal(first[0], second[0])
    assert not np.array_equal(first[1], second[1])
    assert set(first[0].ravel().tolist()) == {0.0, 2.0}


def test_a_graph_with_an_integer_draws_the_same():
    x = Input((3,))
    model = Model(x, random.uniform((ops.shape(x)[0], 2), seed=4))
    assert np.array_equal(model.predict(np.ones((5, 3))), random.uniform((5, 2), seed=4).numpy())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: random.gamma(ops.shape(x), x),
        lambda x: random.beta(ops.shape(x), x, 2.0),
        lambda x: random.binomial(ops.shape(x), x, 0.5),
        lambda x: random.categorical(x, 2),
        lambda x: random.randint((ops.shape(x)[0] * 2, 3), 0, 4),
        lambda x: random.truncated_normal(shape=ops.shape(x)),
    ],
)
def test_every_function_is_a_node(call, tmp_path):
    x = Input((3,))
    y = call(x)
    model = Model(x, y)
    found = model.predict(np.ones((4, 3), "float32"))
    assert y.shape == (None, *found.shape[1:])
    model.save(tmp_path / "model.h5")
    assert load_model(tmp_path / "model.h5").predict(np.ones((4, 3), "float32")).shape == found.shape


def test_a_graph_holds_no_generator():
    with pytest.raises(ValueError, match=r"keras.random.dropout: on a symbolic tensor seed must be an integer or None"):
        random.dropout(Input((3,)), 0.5, seed=random.SeedGenerator(1))


def test_keras3_cannot_read_a_node(tmp_path):
    x = Input((3,))
    with pytest.warns(UserWarning, match="'ops.random.dropout' has no form in Keras 3"):
        Model(x, random.dropout(x, 0.5)).save(tmp_path / "model.keras")
    assert load_model(tmp_path / "model.keras").predict(np.ones((1, 3))).shape == (1, 3)


class Noise(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.seeds = random.SeedGenerator(1)

    def forward(self, x):
        return x + random.normal(x.shape, seed=self.seeds)


def test_shape_probing_draws_no_seed():
    layer = Noise()
    model = Model(x := Input((3,)), layer(x))
    assert layer.seeds.state.tolist() == [1, 0]
    data = torch.zeros(2, 3)
    assert torch.equal(model(data), random.normal((2, 3), seed=1))
    assert layer.seeds.state.tolist() == [1, 1]


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("dropout", "shuffle", "categorical")])
def test_on_meta(name: str):
    seeds = random.SeedGenerator(1)
    with torch.device("meta"):
        assert CALLS[name](seeds).device.type == "meta"
    assert seeds.state.tolist() == [1, 0]


# --- torch.compile ---------------------------------------------------------------------------------------------------


@pytest.mark.torch("2.10", "its compiler follows next() with a default")
def test_compiled_without_a_seed_in_one_graph():
    def draw(x):
        found = x + random.normal((3,)) * random.uniform((3,), 1, 2) + random.truncated_normal((3,))
        found = found + random.gamma((3,), x) + random.beta((3,), x, x) + random.binomial((3,), x, 0.5)
        return random.shuffle(random.dropout(found, 0.5)) + random.randint((3,), 0, 4)

    compiled = torch.compile(draw, fullgraph=True, backend="eager")
    assert not torch.equal(compiled(torch.ones(3)), compiled(torch.ones(3)))


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_compiled_with_a_generator():
    seeds, same = random.SeedGenerator(1), random.SeedGenerator(1)
    compiled = torch.compile(lambda x: x + random.normal((3,), seed=seeds), backend="eager")
    for _ in range(3):
        assert torch.equal(compiled(torch.ones(3)), 1 + random.normal((3,), seed=same))


# --- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: random.normal((2,), dtype="int32"), "normal: dtype must be a type of floating-point numbers; found"),
        (lambda: random.uniform((2,), dtype="int32"), "uniform: dtype must be a type of floating-point numbers; found"),
        (lambda: random.randint((2,), 0, 3, dtype="float32"), "randint: dtype must be a type of whole numbers; found"),
        (lambda: random.randint((2,), 3, 3), "randint: minval must be below maxval; found 3 and 3"),
        (
            lambda: random.normal((2, None)),
            r"shape must have whole numbers; found \(2, None\). The sizes of a symbolic",
        ),
        (lambda: random.normal((2,), seed="a"), "seed must be an integer, a SeedGenerator or None; found 'a'"),
        (lambda: random.normal((2,), seed=1.5), "seed must be an integer, a SeedGenerator or None; found 1.5"),
        (lambda: random.dropout(torch.ones(2), 1.5), "dropout: rate must be a number from 0 to 1; found 1.5"),
        (lambda: random.categorical(torch.ones(2), 1), r"logits must have the axes \(batch, classes\); found shape"),
        (lambda: random.shuffle(torch.ones(2), axis=1), "shuffle: axis must be an integer from -1 to 0; found 1"),
        (lambda: random.normal((2,), mean=torch.ones(2)), "normal: mean must be a number; found"),
        (lambda: random.SeedGenerator(1.5), "SeedGenerator: seed must be an integer, or None; found 1.5"),
        (lambda: random.SeedGenerator("a"), "SeedGenerator: seed must be an integer, or None; found 'a'"),
    ],
)
def test_errors(call, message: str):
    with pytest.raises(ValueError, match=message):
        call()
