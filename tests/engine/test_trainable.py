"""What `trainable` does, on layers and models, before and after compile: Keras's rule."""

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.layers import BatchNormalization, Dense, Input
from torchkeras.models import Model, Sequential

DISCREPANCY = (
    "Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` without "
    "calling `model.compile` after?"
)
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(16, 3)).astype("float32"), RNG.normal(size=(16, 2)).astype("float32")


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def two():
    return Sequential([Dense(4, input_shape=(3,), name="first"), Dense(2, name="last")])


def trained(model, times=1, layers=None):
    """Which layers' weights a step changes."""
    layers = layers or model.layers
    before = {layer.name: layer.get_weights() for layer in layers}
    for _ in range(times):
        model.train_on_batch(X, Y)
    return {
        layer.name
        for layer in layers
        if any((a != b).any() for a, b in zip(before[layer.name], layer.get_weights(), strict=True))
    }


def names(variables):
    return [variable.full_name for variable in variables]


def test_a_frozen_layer_moves_its_weights_to_the_others():
    model = two()
    model.get_layer("first").trainable = False
    assert names(model.trainable_weights) == ["last/kernel:0", "last/bias:0"]
    assert names(model.non_trainable_weights) == ["first/kernel:0", "first/bias:0"]
    assert names(model.weights) == ["last/kernel:0", "last/bias:0", "first/kernel:0", "first/bias:0"]
    assert [array.shape for array in model.get_weights()] == [(3, 4), (4,), (4, 2), (2,)]
    assert [p.requires_grad for p in model.parameters()] == [False, False, True, True]


def test_a_frozen_layer_does_not_train():
    model = two()
    model.get_layer("first").trainable = False
    model.compile("sgd", "mse")
    assert trained(model) == {"last"}


def test_the_option_trainable():
    model = Sequential([Dense(4, input_shape=(3,), trainable=False, name="first"), Dense(2, name="last")])
    model.compile("sgd", "mse")
    assert trained(model) == {"last"}
    assert model.get_layer("first").get_config()["trainable"] is False


def test_a_frozen_model_has_no_trainable_weights():
    model = two()
    model.trainable = False
    assert model.trainable_weights == []
    assert len(model.non_trainable_weights) == 4
    assert [layer.trainable for layer in model.layers] == [True, True]
    assert not any(parameter.requires_grad for parameter in model.parameters())
    model.compile("sgd", "mse")
    assert trained(model) == set()
    model.trainable = True
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_thawing_a_model_leaves_a_frozen_layer_frozen():
    model = two()
    model.get_layer("last").trainable = False
    model.trainable = False
    model.trainable = True
    assert names(model.trainable_weights) == ["first/kernel:0", "first/bias:0"]
    assert [p.requires_grad for p in model.parameters()] == [True, True, False, False]


@pytest.mark.parametrize("freeze", ["layer", "model"])
def test_what_trained_at_compile_still_trains_after_freezing(freeze):
    model = two()
    model.compile("sgd", "mse")
    (model if freeze == "model" else model.get_layer("first")).trainable = False
    with pytest.warns(UserWarning, match="Discrepancy") as caught:
        assert trained(model) == {"first", "last"}
    assert [str(warning.message) for warning in caught] == [DISCREPANCY]
    with pytest.warns(UserWarning, match="Discrepancy") as caught:
        model.fit(X, Y, epochs=3, verbose=0)
    assert [str(warning.message) for warning in caught] == [DISCREPANCY]
    model.compile("sgd", "mse")
    assert trained(model) == (set() if freeze == "model" else {"last"})


def test_what_was_frozen_at_compile_stays_so_after_thawing():
    model = two()
    model.get_layer("first").trainable = False
    model.compile("sgd", "mse")
    model.get_layer("first").trainable = True
    with pytest.warns(UserWarning, match="Discrepancy") as caught:
        assert trained(model) == {"last"}
    stay = " Until then these stay as they are: first/kernel:0, first/bias:0."
    assert [str(warning.message) for warning in caught] == [DISCREPANCY + stay]
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_a_parameter_in_the_place_of_one_that_was_collected_is_named():
    model = two()
    model.compile("sgd", "mse")
    linear = model.get_layer("first").linear
    linear.weight = torch.nn.Parameter(torch.randn_like(linear.weight))
    with pytest.warns(UserWarning, match="Until then these stay as they are: first/kernel:0.$"):
        model.fit(X, Y, verbose=0)


def test_a_nested_model_is_frozen_whole():
    inner = two()
    inner.trainable = False
    model = Model(x := Input((3,)), Dense(2, name="top")(inner(x)))
    assert names(model.trainable_weights) == ["top/kernel:0", "top/bias:0"]
    model.compile("sgd", "mse")
    assert trained(model) == {"top"}


def test_a_layer_of_a_nested_model_is_frozen():
    inner = two()
    model = Model(x := Input((3,)), inner(x))
    inner.get_layer("first").trainable = False
    assert names(model.weights) == ["last/kernel:0", "last/bias:0", "first/kernel:0", "first/bias:0"]
    model.compile("sgd", "mse")
    assert trained(model, layers=inner.layers) == {"last"}


def test_generator_and_discriminator():
    """The pattern of adversarial networks: the discriminator, compiled first, trains alone but not in the pair."""
    discriminator = Sequential([Dense(4, activation="relu", input_shape=(3,)), Dense(1, activation="sigmoid")])
    discriminator.compile("sgd", "binary_crossentropy")
    generator = Sequential([Dense(3, input_shape=(2,))])
    discriminator.trainable = False
    pair = Model(z := Input((2,)), discriminator(generator(z)))
    pair.compile("sgd", "binary_crossentropy")
    noise, ones = RNG.normal(size=(8, 2)), np.ones((8, 1))
    frozen, moving = discriminator.get_weights(), generator.get_weights()
    pair.train_on_batch(noise, ones)
    for before, now in zip(frozen, discriminator.get_weights(), strict=True):
        np.testing.assert_array_equal(before, now)
    assert (generator.get_weights()[0] != moving[0]).any()
    moving = generator.get_weights()
    with pytest.warns(UserWarning, match="Discrepancy"):
        discriminator.train_on_batch(generator.predict(noise), ones)
    assert (discriminator.get_weights()[0] != frozen[0]).any()
    for before, now in zip(moving, generator.get_weights(), strict=True):
        np.testing.assert_array_equal(before, now)


def test_frozen_batch_normalization_keeps_its_statistics_and_normalizes_by_the_batch():
    layer = BatchNormalization(input_shape=(3,), name="norm")
    model = Sequential([layer, Dense(2, name="top")])
    layer.trainable = False
    model.compile("sgd", "mse")
    assert names(model.trainable_weights) == ["top/kernel:0", "top/bias:0"]
    before = layer.get_weights()
    assert trained(model, times=3) == {"top"}
    for array, now in zip(before, layer.get_weights(), strict=True):
        np.testing.assert_array_equal(array, now)
    values = torch.from_numpy(X * 3 + 1)
    torch.testing.assert_close(model.train().get_layer("norm")(values).mean(0), torch.zeros(3), atol=1e-5, rtol=0)


def test_weights_that_train_come_first_in_a_layer_of_layers():
    model = Sequential([Sequential([BatchNormalization(input_shape=(3,), name="norm"), Dense(2, name="d")])])
    assert names(model.layers[0].weights) == [
        *("norm/gamma:0", "norm/beta:0", "d/kernel:0", "d/bias:0"),
        *("norm/moving_mean:0", "norm/moving_variance:0"),
    ]
    assert [array.shape for array in model.layers[0].get_weights()] == [(3,)] * 4 + [(3, 2), (2,)]
