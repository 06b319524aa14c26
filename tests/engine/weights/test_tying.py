"""`b.kernel = a.kernel` makes both one parameter: trained once, counted once, saved once, one again after loading."""

import numpy as np
import pytest
import torch

from torchkeras.layers import LSTM, Activation, Conv2D, Dense, Embedding, Input
from torchkeras.models import Model, load_model


def two_dense(tie_first):
    inputs, first, second = Input((4,)), Dense(4), Dense(4)
    hidden = first(inputs)
    if tie_first:
        second.kernel, second.bias = first.kernel, first.bias
    outputs = second(hidden)
    if not tie_first:
        second.kernel, second.bias = first.kernel, first.bias
    return Model(inputs, outputs), 2, 20


def transposed():
    inputs, words, scores = Input((3,)), Embedding(10, 4), Dense(10, use_bias=False)
    outputs = scores(words(inputs))
    scores.kernel = words.embeddings.T
    return Model(inputs, outputs), 1, 40


def recurrent():
    inputs, first, second = Input((3, 4)), LSTM(4, return_sequences=True), LSTM(4)
    hidden = first(inputs)
    second.kernel, second.recurrent_kernel, second.bias = first.kernel, first.recurrent_kernel, first.bias
    return Model(inputs, second(hidden)), 3, 144


def images():
    inputs, first, second = Input((6, 6, 4)), Conv2D(4, 3), Conv2D(4, 3, use_bias=False)
    outputs = second(first(inputs))
    second.kernel = first.kernel
    return Model(inputs, outputs), 2, 148


def in_a_function():
    inputs, words = Input((3,)), Embedding(10, 4)
    return Model(inputs, Activation("softmax")(torch.matmul(words(inputs), words.embeddings.T))), 1, 40


def by_the_module():
    inputs, words = Input((3,)), Embedding(10, 4)
    return Model(inputs, words(inputs) @ words.embedding.weight.T), 1, 40


MADE = {
    "before": lambda: two_dense(tie_first=True),
    "after": lambda: two_dense(tie_first=False),
    **{each.__name__: each for each in (transposed, recurrent, images, in_a_function, by_the_module)},
}


@pytest.mark.filterwarnings("ignore:.*Keras 3 refuses it")
@pytest.mark.parametrize("suffix", ["keras", "h5", "pt", "safetensors"])
@pytest.mark.parametrize("kind", MADE)
def test_a_tied_weight_is_one_parameter(kind, suffix, tmp_path):
    model, parameters, numbers = MADE[kind]()
    path = tmp_path / f"model.{suffix}"
    x = np.random.default_rng(0).integers(0, 10, (8, *model.input_shape[1:])).astype("float32")
    model.compile("sgd", "mse")
    model.fit(x, np.ones_like(model.predict(x)), verbose=0)
    model.save(path)
    for each in (model, load_model(path)):
        assert len(list(each.parameters())) == len(each.get_weights()) == parameters
        assert each.count_params() == numbers
        np.testing.assert_allclose(each.predict(x), model.predict(x), rtol=1e-6)


class OwnKernel(Conv2D):
    """A convolution whose `build` makes the weights that its base declares, or takes that of another layer."""

    def __init__(self, *args, bias_of=None, **options):
        super().__init__(*args, **options)
        self.bias_of = bias_of

    def build(self, input_shape):
        shape = (*self.kernel_size, input_shape[-1], self.filters)
        self.kernel = self.add_weight(name="kernel", shape=shape, initializer="ones")
        self.bias = (
            self.add_weight(name="bias", shape=(self.filters,), initializer="zeros")
            if self.bias_of is None
            else self.bias_of.bias
        )

    def call(self, inputs):
        return inputs[..., :1] * self.kernel.sum() + self.bias


def test_a_class_that_makes_the_declared_weights_itself_is_not_tied():
    inputs = Input((5, 5, 2))
    first = OwnKernel(3, 3)
    model = Model(inputs, first(inputs))
    assert [weight.shape for weight in model.get_weights()] == [(3, 3, 2, 3), (3,)]
    assert model.predict(np.ones((1, 5, 5, 2)))[0, 0, 0].tolist() == [54.0] * 3


def test_such_a_class_may_take_a_weight_of_another_layer():
    inputs, first = Input((5, 5, 2)), OwnKernel(3, 3)
    model = Model(inputs, OwnKernel(3, 3, bias_of=first)(first(inputs)))
    first.bias.data.fill_(2.0)
    assert model.predict(np.zeros((1, 5, 5, 2)))[0, 0, 0].tolist() == [2.0 * 81 + 2.0] * 3


def test_both_places_give_gradients_to_the_parameter():
    inputs, first, second = Input((2,)), Dense(2, use_bias=False), Dense(2, use_bias=False)
    model = Model(inputs, second(first(inputs)))
    second.kernel = first.kernel
    first.set_weights([np.eye(2) * 3])
    model(torch.ones(1, 2)).sum().backward()
    assert second.kernel.grad.tolist() == first.kernel.grad.tolist() == [[6.0, 6.0], [6.0, 6.0]]


def test_a_model_that_has_trained_trains_on_with_the_tie():
    model = Model(inputs := Input((4,)), Dense(4, use_bias=False, name="b")(Dense(4, use_bias=False, name="a")(inputs)))
    model.compile("adam", "mse")
    x = np.eye(4, dtype="float32")
    model.fit(x, x, verbose=0)
    first, second = model.layers[1:]
    second.kernel = first.kernel
    before = first.get_weights()[0]
    with pytest.warns(UserWarning, match="Discrepancy between trainable weights"):  # until `compile` is called again
        model.fit(x, x, verbose=0)
    assert not np.array_equal(first.get_weights()[0], before)
    np.testing.assert_array_equal(first.get_weights()[0], second.get_weights()[0])


def test_a_frozen_weight_is_tied_too():
    inputs, words = Input((3,)), Embedding(10, 4, trainable=False)
    model = Model(inputs, words(inputs) @ words.embeddings.T)
    words.set_weights([np.full((10, 4), 0.5)])
    assert model.predict(np.zeros((1, 3))).tolist() == [[[1.0] * 10] * 3]
    assert model.trainable_weights == []


def tie(second, first):
    second.kernel = first.kernel


@pytest.mark.parametrize("built", [True, False])
def test_a_weight_of_another_shape_is_refused(built):
    first, second = Dense(5), Dense(4, name="second")
    hidden = first(Input((4,)))
    text = (
        r"^Dense 'second': 'kernel' can only be tied to a weight of its own shape and type. 'linear.weight' is "
        r"torch.float32 of shape \(4, 5\); found torch.float32 of shape \(5, 4\)."
    )
    if built:
        second(hidden)
    else:
        tie(second, first)
    with pytest.raises(ValueError, match=text):
        tie(second, first) if built else second(hidden)


@pytest.mark.parametrize(
    "of", [lambda layer: layer.kernel[:, :2], lambda layer: layer.kernel.T, lambda layer: layer.bias]
)
def test_a_part_or_another_order_of_a_weight_is_refused(of):
    first, second = Dense(3, input_shape=(3,)), Dense(3, name="second")
    first.build((None, 3))
    with pytest.raises(AttributeError, match="Dense 'second': 'kernel' is a weight of its modules"):
        second.kernel = of(first)
