"""Masks: from Embedding to the loss, through layers and models, and where they are refused."""

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras import losses
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import LSTM, Dense, Dropout, Embedding, Flatten, Input, Lambda, Masking, TimeDistributed
from torchkeras.models import Model, Sequential

WORDS = np.array([[3, 1, 2, 0, 0], [4, 0, 0, 0, 0], [1, 2, 3, 4, 1]])
LENGTHS = [3, 1, 5]


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def unpadded(model):
    """What the model gives for each sentence alone, without its padding."""
    return np.concatenate([model.predict(WORDS[k : k + 1, :n]) for k, n in enumerate(LENGTHS)])


def words():
    return Input((None,), dtype="int32")


@pytest.mark.parametrize("activation", ["sigmoid", "hard_sigmoid"])
@pytest.mark.parametrize(
    "between",
    [
        lambda y: y,
        lambda y: Dropout(0.5)(y),
        lambda y: Dense(3)(y),
        lambda y: y * 2,
        lambda y: TimeDistributed(Dense(4))(y),
        lambda y: LSTM(4, return_sequences=True)(y),
        lambda y: Model(z := Input((None, 3)), Dropout(0.1)(z))(y),
        lambda y: Sequential([Dense(3, input_shape=(None, 3)), Dropout(0.1)])(y),
    ],
)
def test_padding_does_not_count(between, activation):
    x = words()
    y = between(Embedding(6, 3, mask_zero=True)(x))
    assert y._keras_mask.shape == (None, None)
    model = Model(x, Dense(2)(LSTM(4, recurrent_activation=activation)(y)))
    np.testing.assert_allclose(model.predict(WORDS), unpadded(model), atol=1e-6)


def test_the_mask_of_a_model_inside():
    x = words()
    encoder = Model(x, Embedding(6, 3, mask_zero=True)(x), name="encoder")
    z = words()
    model = Model(z, LSTM(4)(encoder(z)))
    assert "details=True" in model.code
    np.testing.assert_allclose(model.predict(WORDS), unpadded(model), atol=1e-6)
    assert encoder.compute_mask(torch.from_numpy(WORDS)).tolist() == (WORDS != 0).tolist()


def test_masking_of_vectors():
    x = Input((None, 2))
    model = Model(x, LSTM(3)(Masking(mask_value=-1.0)(x)))
    values = np.random.default_rng(0).normal(size=(1, 4, 2)).astype("float32")
    padded = np.concatenate([values, np.full((1, 3, 2), -1, "float32")], 1)
    np.testing.assert_allclose(model.predict(padded), model.predict(values), atol=1e-6)


def test_a_lambda_that_asks_for_the_mask():
    x = words()
    mean = Lambda(lambda t, mask: (t * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True))
    model = Model(x, mean(Embedding(6, 3, mask_zero=True)(x)))
    np.testing.assert_allclose(model.predict(WORDS), unpadded(model), atol=1e-6)


def test_layers_whose_output_has_no_time_end_the_mask():
    y = Embedding(6, 3, mask_zero=True)(words())
    assert LSTM(4)(y)._keras_mask is None
    assert LSTM(4, return_sequences=True)(y)._keras_mask.shape == (None, None)


class NoMask(Layer):
    def call(self, inputs):
        return inputs


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda y: NoMask(name="own")(y), "own"),
        (lambda y: Flatten()(y), "flatten_1"),
        (lambda y: Model(z := Input((4, 3)), Flatten(name="inner")(z))(y), "inner"),
    ],
)
def test_a_layer_that_supports_no_mask_refuses_it(build, name):
    vectors = Embedding(5, 3, mask_zero=True)(Input((4,), dtype="int32"))
    with pytest.raises(TypeError) as error:
        build(vectors)
    assert str(error.value) == (
        f"Layer {name} does not support masking, but was passed an input_mask. Take the mask away before it, or set "
        "supports_masking in a layer of your own."
    )


def test_a_layer_of_a_users_own_may_support_masks():
    class Passes(NoMask):
        supports_masking = True

    class Counts(Layer):
        supports_masking = True

        def call(self, inputs, mask):
            return inputs.sum(1) * 0 + mask.sum(1, keepdim=True)

        def compute_mask(self, inputs, mask=None):
            return None

        def compute_output_shape(self, input_shape):
            return (input_shape[0], input_shape[2])

    x = words()
    model = Model(x, Counts()(Passes()(Embedding(6, 3, mask_zero=True)(x))))
    assert model.predict(WORDS)[:, 0].tolist() == LENGTHS


def tagger():
    x = Input((5,), dtype="int32")
    return Model(x, Dense(2)(LSTM(4, return_sequences=True)(Embedding(6, 3, mask_zero=True)(x))))


@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: Sequential([model])])
def test_masked_loss_and_metric(wrap):
    """Steps that are masked count nothing; the mean is over the others."""
    model = wrap(tagger())
    model.compile("sgd", "mse", metrics=["mae"])
    y = np.random.default_rng(0).normal(size=(3, 5, 2)).astype("float32")
    difference = (model.predict(WORDS) - y)[WORDS != 0]
    loss, mae = model.evaluate(WORDS, y, verbose=0)
    np.testing.assert_allclose(loss, np.mean(difference**2), rtol=1e-5)
    np.testing.assert_allclose(mae, np.mean(np.abs(difference)), rtol=1e-5)
    np.testing.assert_allclose(model.train_on_batch(WORDS, y), [loss, mae], rtol=1e-5)
    changed = np.where((WORDS == 0)[..., None], 100, y)
    np.testing.assert_allclose(model.test_on_batch(WORDS, changed), model.test_on_batch(WORDS, y), rtol=1e-6)


def test_masked_loss_with_sample_weights():
    model = tagger()
    model.compile("sgd", "mse")
    y = np.random.default_rng(0).normal(size=(3, 5, 2)).astype("float32")
    weight, mask = np.array([1.0, 2.0, 0.0]), WORDS != 0
    scores = np.mean((model.predict(WORDS) - y) ** 2, -1) * mask / mask.mean()
    expected = np.mean(scores.mean(-1) * weight) / np.mean(weight != 0)
    np.testing.assert_allclose(model.test_on_batch(WORDS, y, sample_weight=weight), expected, rtol=1e-5)


@pytest.mark.parametrize("loss", ["mse", losses.MeanSquaredError()], ids=["function", "object"])
@pytest.mark.parametrize("left_out", ["steps", "samples"])
def test_a_batch_of_which_nothing_counts_teaches_nothing(loss, left_out):
    model = tagger()
    model.compile("sgd", loss, metrics=["mae"], weighted_metrics=["mse"])
    y, before = np.ones((3, 5, 2), "float32"), model.get_weights()
    x, weight = (WORDS * 0, np.ones(3)) if left_out == "steps" else (WORDS, np.zeros(3))
    found = model.train_on_batch(x, y, sample_weight=weight, return_dict=True)
    assert found["loss"] == found["weighted_mean_squared_error"] == 0.0
    assert all(map(np.array_equal, before, model.get_weights()))
