"""Activations, initializers, regularizers and constraints of Keras 3: what no comparison with its numbers shows."""

from __future__ import annotations

import copy
import math
import pickle
import re

import numpy as np
import pytest
import torch

from torchkeras import activations as base, initializers as base_initializers, keras3 as keras, layers as base_layers
from torchkeras.activations.logits import logits_of
from torchkeras.initializers import fill
from torchkeras.keras3 import activations, constraints, initializers, regularizers
from torchkeras.utils import set_random_seed

NAMES = [name for name in activations.__all__ if name not in ("deserialize", "get", "serialize")]
X = torch.tensor([[-2.0, 0.5], [1.0, 3.0]])


def again(value):
    """A value pickled and read."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301  # its own


# --- activations -----------------------------------------------------------------------------------------------------


def test_the_names_are_those_of_keras():
    assert len(NAMES) == 32
    assert activations.swish is activations.silu
    assert activations.hard_swish is activations.hard_silu


@pytest.mark.parametrize("name", NAMES)
def test_an_activation_is_equal_to_this_packages_function_and_a_layer_keeps_that(name: str):
    found = getattr(activations, name)
    function = base.hard_sigmoid6 if name == "hard_sigmoid" else getattr(base, name)
    assert found == function
    assert function == found
    assert {function: 1}[found] == 1
    assert activations.of_layer(found) is function
    assert activations.of_layer(name) is function
    assert again(found) is copy.deepcopy(found) is found
    assert activations.serialize(function) == activations.serialize(found)


def test_a_layers_activation_is_equal_to_keras_function():
    assert keras.layers.Dense(2, "relu").activation == keras.activations.relu
    assert keras.layers.Dense(2, keras.activations.softmax).activation == keras.activations.softmax
    assert keras.layers.Dense(2).activation == keras.activations.linear
    assert keras.layers.Dense(2, "hard_sigmoid").activation == keras.activations.hard_sigmoid
    assert keras.layers.Dense(2, "relu").activation != keras.activations.tanh


@pytest.mark.parametrize("name", ["softmax", "sigmoid"])
def test_the_result_carries_its_logits(name: str):
    x = X.clone().requires_grad_()
    assert logits_of(getattr(activations, name)(x), name) is x


def test_softmax_along_several_axes_and_of_one():
    torch.testing.assert_close(activations.softmax(X, axis=None).sum(), torch.tensor(1.0))
    torch.testing.assert_close(activations.softmax(X[0]), torch.softmax(X[0], 0))
    torch.testing.assert_close(activations.log_softmax(X, axis=(0, 1)).exp().sum(), torch.tensor(1.0))


# Genuine Keras's `sparsemax` does not sum to 1, which was mended later (https://github.com/keras-team/keras/pull/23469).
def test_sparsemax_is_the_nearest_distribution():
    torch.testing.assert_close(activations.sparsemax([[0.0, 0.5, 1.0]]), torch.tensor([[0.0, 0.25, 0.75]]))
    torch.testing.assert_close(activations.sparsemax([[0.0], [0.5], [1.0]], axis=0).sum(), torch.tensor(1.0))


# Genuine Keras refuses these: torch has no kernel of whole numbers.
@pytest.mark.parametrize("name", ["elu", "gelu", "softmax", "softplus", "silu", "mish", "hard_sigmoid", "leaky_relu"])
def test_whole_numbers_are_computed_as_floating_point_ones(name: str):
    activation = getattr(activations, name)
    torch.testing.assert_close(activation([[1, -2]]), activation([[1.0, -2.0]]))


# Genuine Keras takes no symbolic tensor here, but its text says that it does.
@pytest.mark.parametrize("name", ["hard_silu", "hard_swish", "mish", "sparsemax"])
def test_in_a_graph(name: str):
    inputs = keras.Input((2,))
    model = keras.Model(inputs, getattr(activations, name)(inputs))
    torch.testing.assert_close(model(X), getattr(activations, name)(X))


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_it_compiles():
    def compute(x: torch.Tensor) -> torch.Tensor:
        return activations.relu(activations.gelu(x), negative_slope=0.1) + activations.softmax(x)

    compiled = torch.compile(compute, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(X), compute(X))


def test_a_layer_as_an_activation():
    relu = keras.layers.ReLU(max_value=2.0)
    assert activations.get(relu) is relu
    entry = activations.serialize(relu)
    assert (entry["module"], entry["class_name"]) == ("keras.layers", "ReLU")
    found = activations.get(entry)
    assert type(found) is keras.layers.ReLU
    assert found.max_value == 2.0


def test_a_layer_with_weights_is_refused_by_layers():
    built = keras.layers.Dense(2)
    built.build((None, 2))
    with pytest.raises(ValueError, match=r"must have no weights: call Dense as the next layer"):
        keras.layers.Dense(2, built)


def test_a_function_without_a_name_has_no_config():
    with pytest.raises(ValueError, match=r"is written to a config by its name; .* has none: define it with `def`\.$"):
        activations.serialize(lambda x: x)


def test_what_names_nothing():
    with pytest.raises(ValueError, match=r"^Unknown activation function: 'rely'\. Did you mean 'relu'"):
        activations.get("rely")
    with pytest.raises(ValueError, match=r"^Could not interpret 3 as an activation function"):
        activations.get(3)


# --- initializers ----------------------------------------------------------------------------------------------------

DRAWN = [
    *("RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling", "Orthogonal"),
    *("GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "LecunNormal", "LecunUniform"),
]


def made(name: str, **options: object):
    return getattr(initializers, name)(**options)


@pytest.mark.parametrize("name", DRAWN)
def test_without_a_seed_an_object_draws_its_own_from_torchs_generator(name: str):
    torch.manual_seed(3)
    first, other = made(name), made(name)
    values = first((3, 4))
    assert first((3, 4)).equal(values)
    assert not other((3, 4)).equal(values)
    torch.manual_seed(3)
    assert made(name)((3, 4)).equal(values)
    assert copy.copy(made(name)) == first.clone() == first


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_leaves_torchs_generator_alone(name: str):
    before = torch.get_rng_state()
    made(name, seed=np.int64(4))((3, 4))
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_generator_goes_on(name: str):
    seeds, others = keras.random.SeedGenerator(5), keras.random.SeedGenerator(5)
    one, other = made(name, seed=seeds), made(name, seed=others)
    first, second = one((3, 4)), one((3, 4))
    assert not first.equal(second)
    assert other((3, 4)).equal(first)
    assert other((3, 4)).equal(second)


def test_any_object_with_next_is_a_generator_of_seeds():
    class Counting:
        count = 0

        def next(self) -> torch.Tensor:
            self.count += 1
            return torch.tensor([-1, self.count], dtype=torch.int32)

    initializer = initializers.RandomNormal(seed=Counting())
    assert not initializer((4,)).equal(initializer((4,)))


def test_layers_begin_with_values_of_their_own_that_a_seed_repeats():
    def kernels():
        set_random_seed(2)
        layers = [keras.layers.Dense(3), keras.layers.Dense(3)]
        for layer in layers:
            layer.build((None, 4))
        return [layer.get_weights()[0] for layer in layers]

    first, again = kernels(), kernels()
    assert not np.array_equal(*first)
    assert all(map(np.array_equal, first, again))


# Genuine Keras gives layers that share an object without a seed the same values.
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_one_object_gives_each_weight_values_of_its_own_unless_it_has_a_seed(dtype: str):
    for seed, are_same in ((None, False), (3, True)):
        shared = initializers.GlorotUniform(seed=seed)
        layers = [keras.layers.Dense(3, kernel_initializer=shared, dtype=dtype) for _ in range(2)]
        for layer in layers:
            layer.build((None, 4))
        assert np.array_equal(*(layer.get_weights()[0] for layer in layers)) is are_same
    inputs = keras.Input((2, 4))
    attention = keras.layers.MultiHeadAttention(2, 2, dtype=dtype)
    attention(inputs, inputs)
    query, _, key, *_ = attention.get_weights()  # type: ignore[misc]
    assert not np.array_equal(query, key)


def test_a_weight_is_filled_in_place_with_the_values_of_a_call():
    for name in DRAWN:
        values = torch.empty(3, 4)
        fill(made(name, seed=1), values)
        assert values.equal(made(name, seed=1)((3, 4)))


def test_nothing_is_drawn_on_meta():
    before = torch.get_rng_state()
    assert initializers.HeNormal()((2, 3), device="meta").device.type == "meta"
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize("name", DRAWN)
def test_they_are_this_packages(name: str):
    assert isinstance(made(name), initializers.Initializer)
    kind = getattr(base_initializers, name, base_initializers.VarianceScaling)
    assert isinstance(made(name), kind)
    assert again(made(name, seed=2)) == made(name, seed=2)


def test_layers_of_this_package_take_them():
    layers = [base_layers.Dense(3, kernel_initializer=initializers.HeUniform(seed=1)) for _ in range(2)]
    for layer in layers:
        layer.build((None, 4))
    np.testing.assert_array_equal(*(layer.get_weights()[0] for layer in layers))


# Genuine Keras leaves the gain of `Identity` out of its config.
def test_the_config_of_identity_has_its_gain():
    assert initializers.deserialize(initializers.serialize(initializers.Identity(2.0))) == initializers.Identity(2.0)
    assert initializers.Identity(2.0).get_config() == {"gain": 2.0}


# Genuine Keras makes no `Constant` by its name alone.
def test_constant_by_name_is_zero():
    assert initializers.get("constant") == initializers.Constant(0.0)


COSINES = {
    "blackman": (0.42, 0.5, 0.08),
    "blackmanharris": (0.35875, 0.48829, 0.14128, 0.01168),
    "flattop": (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
    "hamming": (0.54, 0.46),
    "hann": (0.5, 0.5),
    "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
}


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("name", initializers.WINDOWS)
def test_windows_are_those_of_scipy(name: str, periodic: bool):
    length = 6
    steps = length if periodic else length - 1
    times = np.arange(length) / steps
    if name in COSINES:
        numbers = enumerate(COSINES[name])
        expected = sum((-1) ** k * a * np.cos(2 * np.pi * k * times) for k, a in numbers)
    else:
        expected = {
            "bartlett": 1 - np.abs(2 * times - 1),
            "boxcar": np.ones(length),
            "cosine": np.sin(np.pi * (np.arange(length) + 0.5) / (steps + 1)),
        }[name]
    found = initializers.STFT(window=name, scaling=None, periodic=periodic)((length, 1, 3))[:, 0, 0]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-6)


def test_the_window_is_scaled():
    window = np.hanning(8)
    power = initializers.STFT("real", "hann")((8, 1, 5))[:, 0, 0].numpy()
    sizes = initializers.STFT("real", "hann", "spectrum")((8, 1, 5))[:, 0, 0].numpy()
    np.testing.assert_allclose(power, window / np.sqrt((window**2).sum()), atol=1e-6)
    np.testing.assert_allclose(sizes, window / window.sum(), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": "kaiser"}, "STFT: window must be one of 'boxcar', 'bartlett', "),
        ({"side": "both"}, "STFT: side must be one of 'real', 'imag'; found 'both'."),
        ({"scaling": "power"}, "STFT: scaling must be one of 'density', 'spectrum', None; found 'power'."),
    ],
)
def test_bad_options_of_stft(options: dict, message: str):
    with pytest.raises(ValueError, match=f"^{message}"):
        initializers.STFT(**options)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: made("RandomNormal", seed="a"), "RandomNormal: seed must be an integer, a SeedGenerator or None; "),
        (lambda: made("RandomNormal", stddev=-1.0), "RandomNormal: stddev must be a number of at least 0; found -1.0"),
        (lambda: made("HeNormal", input_axes="a"), "VarianceScaling: input_axes must be an integer or several, or No"),
        (lambda: made("VarianceScaling", scale=0.0), "VarianceScaling: scale must be a number above 0; found 0.0."),
        (lambda: made("Constant", value=[1.0, 2.0])((3,)), "Constant: value must be a number, or an array for the we"),
        (lambda: initializers.get(np.ones(3))((2,)), "The initial values have the shape (3,); found the shape (2,)."),
        (lambda: made("STFT")((3, 4)), "STFT needs the shape (window length, 1, frequencies); found (3, 4)."),
    ],
)
def test_refusals(attempt, message: str):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        attempt()


def test_constants_of_arrays_are_broadcast_and_come_back_from_configs():
    for value in ([1.0, 2.0], np.array([1.0, 2.0]), torch.tensor([1.0, 2.0])):
        constant = initializers.Constant(value)
        read = initializers.deserialize(initializers.serialize(constant))
        for each in (constant, read):
            assert each((3, 2)).tolist() == [[1.0, 2.0]] * 3
        assert type(read.value) is type(value)


def test_the_fans_of_given_axes():
    values = initializers.HeUniform(seed=1, input_axes=(0, 2), output_axes=(1,))((20, 30, 40))
    assert values.abs().max().item() == pytest.approx(math.sqrt(6 / (20 * 40)), rel=1e-3)


# --- regularizers and constraints ------------------------------------------------------------------------------------


def test_options_that_genuine_keras_refuses_or_rounds():
    assert regularizers.L2(np.float32(0.5)).l2 == 0.5  # refused there
    assert regularizers.L1(0.01).get_config() == {"l1": 0.01}  # 0.009999999776482582 there
    assert regularizers.OrthogonalRegularizer()(torch.ones(1, 3)) == 0  # NaN there


@pytest.mark.parametrize("options", [{"l1": -1.0}, {"l1": float("inf")}, {"l1": "a"}])
def test_a_factor_is_a_number_of_at_least_0(options: dict):
    with pytest.raises(ValueError, match=r"^L1: l1 must be a number of at least 0; found "):
        regularizers.L1(**options)


def test_they_take_arrays_lists_and_weights():
    layer = keras.layers.Dense(2, kernel_initializer="ones")
    layer.build((None, 3))
    for value in (layer.weights[0], layer.kernel, np.ones((3, 2)), [[1, 1], [1, 1], [1, 1]]):
        assert regularizers.L2(0.5)(value) == 3.0
        assert constraints.MaxNorm(1.0)(value).shape == (3, 2)


def test_regularizers_and_constraints_are_this_packages():
    pairs = (
        (regularizers.L1(), regularizers.Regularizer),
        (constraints.UnitNorm(), constraints.Constraint),
    )
    for found, kind in pairs:
        assert isinstance(found, kind)
        assert again(found) == found


def test_an_activity_regularizer_is_written_and_read_as_it_is_there():
    layer = keras.layers.Dense(2, activity_regularizer="l2")
    entry = regularizers.serialize(layer.activity_regularizer)
    assert (entry["module"], entry["class_name"], entry["config"]) == ("keras.regularizers", "L2", {"l2": 0.01})
    own = {"class_name": "PerSample", "config": {"regularizer": {"class_name": "L1", "config": {"l1": 0.5}}}}
    assert regularizers.get(own) == regularizers.L1(0.5)


# --- entries ---------------------------------------------------------------------------------------------------------


def test_a_registered_class_has_its_package_in_its_entry():
    @keras.saving.register_keras_serializable(package="families")
    class Registered(initializers.Initializer):
        def __init__(self, value: float = 1.0):
            self.value = value

        def __call__(self, shape, dtype=None):
            return torch.full(tuple(shape), self.value)

        def get_config(self):
            return {"value": self.value}

    entry = initializers.serialize(Registered(2.0))
    assert entry["registered_name"] == "families>Registered"
    for found in (initializers.deserialize(entry), initializers.get(entry)):
        assert (type(found), found.value) == (Registered, 2.0)
    layer = keras.layers.Dense(2, kernel_initializer=Registered(3.0))
    layer.build((None, 2))
    assert layer.get_weights()[0].tolist() == [[3.0, 3.0], [3.0, 3.0]]


@pytest.mark.parametrize("module", [initializers, regularizers, constraints])
def test_entries_of_another_form(module):
    with pytest.raises(ValueError, match=r"config needs a 'class_name' and a 'config'; found \{'a': 1\}\.$"):
        module.deserialize({"a": 1})
    with pytest.raises(ValueError, match=r"^Unknown \w+: 'Nothing'\."):
        module.get({"module": None, "class_name": "Nothing", "config": {}, "registered_name": "Nothing"})
    with pytest.raises(ValueError, match=r"^Could not interpret 3 as an? \w+: give a name, a config or a callable\.$"):
        module.get(3)
