"""What `trainable` does, on layers and models, before and after compile."""

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.callbacks import Callback
from torchkeras.layers import BatchNormalization, Dense, Input
from torchkeras.models import Model, Sequential
from torchkeras.optimizers import SGD

DISCREPANCY = (
    "Discrepancy between trainable weights and collected trainable weights, did you set `model.trainable` without "
    "calling `model.compile` after?"
)
ALL = "first/kernel:0, first/bias:0, last/kernel:0, last/bias:0"
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
@pytest.mark.parametrize("optimizer", [SGD(momentum=0.9), "adam"])
def test_what_is_frozen_after_compile_does_not_train(freeze, optimizer):
    """`requires_grad` is obeyed: neither gradients nor what is left of earlier ones move it."""
    model = two()
    model.compile(optimizer, "mse")
    assert trained(model) == {"first", "last"}
    (model if freeze == "model" else model.get_layer("first")).trainable = False
    left, names = (set(), ALL) if freeze == "model" else ({"last"}, "first/kernel:0, first/bias:0")
    with pytest.warns(UserWarning, match="Discrepancy") as caught:
        assert trained(model) == left
    frozen = f"{DISCREPANCY} These are frozen since, and do not train: {names}."
    assert [str(warning.message) for warning in caught] == [frozen]
    with pytest.warns(UserWarning, match="Discrepancy") as caught:
        model.fit(X, Y, epochs=3, verbose=0)
    assert [str(warning.message) for warning in caught] == [frozen]
    model.compile("sgd", "mse")
    assert trained(model) == left


def test_what_is_thawed_again_without_compile_trains_on():
    model = two()
    model.compile("sgd", "mse")
    model.get_layer("first").trainable = False
    model.get_layer("first").trainable = True
    assert trained(model) == {"first", "last"}


def test_a_loop_by_hand_and_a_run_agree_on_what_is_frozen():
    model, loop = two(), two()
    loop.set_weights(model.get_weights())
    model.compile(SGD(0.1), "mse")
    model.get_layer("first").trainable = loop.get_layer("first").trainable = False
    with pytest.warns(UserWarning, match="Discrepancy"):
        model.train_on_batch(X, Y)
    torch.nn.functional.mse_loss(loop(torch.from_numpy(X)), torch.from_numpy(Y)).backward()
    assert [parameter.grad is None for parameter in loop.parameters()] == [True, True, False, False]
    with torch.no_grad():
        for parameter in loop.get_layer("last").parameters():
            parameter.sub_(parameter.grad, alpha=0.1)  # type: ignore[arg-type]
    for one, other in zip(model.get_weights(), loop.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


class FreezingAfter(Callback):
    def __init__(self, batch):
        self.batch, self.seen = batch, []

    def on_batch_end(self, batch, logs=None):
        self.seen.append(self.model.get_layer("first").get_weights()[0])
        if batch == self.batch:
            self.model.get_layer("first").trainable = False


def test_what_a_callback_freezes_stays_from_the_next_batch_on():
    model = two()
    model.compile("adam", "mse")
    callback = FreezingAfter(1)
    model.fit(X, Y, batch_size=4, verbose=0, callbacks=[callback])
    moved = [(a != b).any() for a, b in zip(callback.seen, callback.seen[1:], strict=False)]
    assert moved == [True, False, False]


def test_a_layer_frozen_in_a_pair_that_is_no_longer_compiled_so():
    """Once another `compile` trains it, a later freeze is one for every model."""
    model = two()
    model.get_layer("first").trainable = False
    model.compile("sgd", "mse")
    model.get_layer("first").trainable = True
    model.compile("sgd", "mse")
    model.get_layer("first").trainable = False
    with pytest.warns(UserWarning, match="These are frozen since, and do not train: first/kernel:0, first/bias:0.$"):
        assert trained(model) == {"last"}


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
    with pytest.warns(UserWarning, match="Discrepancy") as caught:
        discriminator.train_on_batch(generator.predict(noise), ones)
    assert str(caught[0].message) == (
        f"{DISCREPANCY} These are frozen in a model that was compiled after this one, and train on in this one: "
        "dense_1/kernel:0, dense_1/bias:0, dense_2/kernel:0, dense_2/bias:0."
    )
    assert (discriminator.get_weights()[0] != frozen[0]).any()
    for before, now in zip(moving, generator.get_weights(), strict=True):
        np.testing.assert_array_equal(before, now)


@pytest.mark.filterwarnings("ignore:Discrepancy")
def test_a_critic_that_other_models_train():
    """As people write WGAN-GP: the critic is compiled inside two models, never alone; and flags change in the loop."""
    critic, generator = two(), Sequential([Dense(3, input_shape=(2,))])
    of_critic = Model(x := Input((3,)), critic(x))
    generator.trainable = False
    of_critic.compile("sgd", "mse")
    critic.trainable, generator.trainable = False, True
    pair = Model(z := Input((2,)), critic(generator(z)))
    pair.compile("sgd", "mse")
    for flags in ((), (True, False)):
        for flag in flags:
            critic.trainable = flag
        before = critic.get_weights(), generator.get_weights()
        of_critic.train_on_batch(X, Y)
        assert (before[0][0] != critic.get_weights()[0]).any()
        between = critic.get_weights()
        pair.train_on_batch(X[:, :2], Y)
        assert (before[1][0] != generator.get_weights()[0]).any()
        for one, other in zip(between, critic.get_weights(), strict=True):
            np.testing.assert_array_equal(one, other)


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
