"""What scripts of Keras's own site do with `fit`, and older Keras refuses."""

import numpy as np
import pytest
import torch

import torchkeras.keras3 as keras


class Batches(keras.utils.PyDataset):
    """Two batches of four samples."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int):
        return np.ones((4, 3)), np.ones((4, 1))


class Penalized(keras.layers.Layer):
    """The identity, with a loss of its own."""

    def call(self, x):
        self.add_loss(keras.ops.mean(x))
        return x


def made() -> keras.Model:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def test_a_batch_size_beside_data_that_makes_its_batches_is_left_out():
    text = r"^batch_size 64 is left out: a Sequence makes its own batches\.$"
    model, data = made(), Batches()
    with pytest.warns(UserWarning, match=text):
        assert model.fit(data, batch_size=64, verbose=0).params["steps"] == 2
    with pytest.warns(UserWarning, match=text):
        model.evaluate(data, batch_size=64, verbose=0)
    with pytest.warns(UserWarning, match=text):
        assert model.predict(data, batch_size=64, verbose=0).shape == (8, 1)


def test_targets_beside_losses_of_layers_alone_are_left_out():
    inputs = keras.Input((3,))
    model = keras.Model(inputs, Penalized()(keras.layers.Dense(2)(inputs)))
    model.compile("sgd")
    x = np.ones((4, 3))
    loss = model.predict(x, verbose=0).mean()
    assert model.fit(x, np.ones((4, 2)), verbose=0).history["loss"] == pytest.approx([loss], rel=1e-6)


@pytest.mark.parametrize("shape", [(4, 2), (3,), (4, 1, 1)])
def test_weights_that_do_not_fit_are_refused(shape):
    text = r"^Output 'dense\w*': sample_weight of shape .* does not fit a target of shape \(4, 1\)"
    with pytest.raises(ValueError, match=text):
        made().fit(np.ones((4, 3)), np.ones((4, 1)), sample_weight=np.ones(shape), verbose=0)


class Adversaries(keras.Model):
    """Two models and the step that trains the first of them; it has no `call`."""

    def __init__(self, generator: keras.Model, discriminator: keras.Model):
        super().__init__()
        self.generator, self.discriminator = generator, discriminator
        self.seen = keras.metrics.Mean(name="generator_loss")

    def compile(self, optimizer, loss_fn):
        super().compile()
        self.own_optimizer, self.loss_fn = optimizer, loss_fn

    def train_step(self, data):
        x = data[0] if isinstance(data, (list, tuple)) else data
        assert x.dtype == torch.float32
        self.zero_grad()
        loss = self.loss_fn(torch.ones(len(x), 1), self.discriminator(self.generator(x)))
        loss.backward()
        weights = self.generator.trainable_weights
        with torch.no_grad():
            self.own_optimizer.apply([weight.value.grad for weight in weights], weights)
        self.seen.update_state(loss)
        return {"generator_loss": self.seen.result()}


@pytest.mark.parametrize("in_batches", [False, True])
def test_a_class_with_a_step_alone_trains(in_batches):
    generator = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)])
    discriminator = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model = Adversaries(generator, discriminator)
    model.compile(keras.optimizers.Adam(0.01), keras.losses.BinaryCrossentropy(from_logits=True))
    x = np.random.default_rng(0).random((8, 3))
    data = torch.utils.data.DataLoader(torch.tensor(x, dtype=torch.float32), batch_size=4) if in_batches else x
    fixed = discriminator.get_weights()
    losses = model.fit(data, epochs=5, verbose=0).history["generator_loss"]
    assert losses[-1] < losses[0]
    assert all(map(np.array_equal, discriminator.get_weights(), fixed))
    with pytest.raises(NotImplementedError, match=r"^Adversaries '\w+': its class has no `call` or `forward`\.$"):
        model(np.ones((2, 3)))


class Halves(keras.layers.Layer):
    """The two halves of a sequence, and of its mask."""

    def call(self, inputs):
        return keras.ops.split(inputs, 2, axis=1)

    def compute_mask(self, inputs, mask=None):
        return None if mask is None else keras.ops.split(mask, 2, axis=1)


def test_a_layer_with_a_compute_mask_supports_masking():
    masked = keras.layers.Embedding(10, 4, mask_zero=True)(np.array([[1, 2, 0, 0]]))
    first, second = Halves()(masked)
    assert first._keras_mask.tolist() == [[True, True]]
    assert second._keras_mask.tolist() == [[False, False]]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.float64])
def test_a_graph_takes_numbers_of_any_type(dtype):
    x, y = keras.Input((3,), name="x"), keras.Input((3,), name="y")
    total = keras.layers.Dense(1, kernel_initializer="ones")(keras.layers.Add()([x, y]))
    value = torch.ones((2, 3), dtype=dtype)
    for model, given in ((keras.Model([x, y], total), [value, value]), (keras.Model({"x": x, "y": y}, total), None)):
        found = model({"x": value, "y": value} if given is None else given)
        assert found.dtype == torch.float32
        assert found.tolist() == [[6.0], [6.0]]


def test_a_graph_takes_data_with_or_without_a_last_axis_of_1():
    with_axis = keras.Sequential([keras.Input((4, 1)), keras.layers.Flatten(), keras.layers.Dense(1)])
    without = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    x = torch.rand(2, 4)
    assert with_axis(x).tolist() == with_axis(x[..., None]).tolist()
    assert without(x[..., None]).tolist() == without(x).tolist()
