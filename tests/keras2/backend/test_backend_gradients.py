"""Gradients: of the functions, against differences; `K.gradients` at once, in graphs, and while a model is trained."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, Sequential, backend as K
from torchkeras.layers import LSTM, BatchNormalization, Conv2D, Dense, Dropout, Embedding, Flatten


def numbers(*shape: int, low: float = -1.0, high: float = 1.0) -> torch.Tensor:
    made = torch.empty(shape, dtype=torch.float64).uniform_(low, high, generator=torch.Generator().manual_seed(0))
    return made.requires_grad_()


IMAGE, KERNEL = (1, 4, 5, 2), (3, 3, 2, 3)
POSITIVE = {"low": 0.1, "high": 1.0}
DIFFERENTIABLE: dict[str, tuple[Callable[..., Any], list[torch.Tensor]]] = {
    **{
        name: (getattr(K, name), [numbers(3, 4)])
        for name in (
            *(
                "sum",
                "mean",
                "prod",
                "var",
                "std",
                "max",
                "min",
                "logsumexp",
                "cumsum",
                "cumprod",
                "abs",
                "square",
                "exp",
            ),
            *("sin", "cos", "softmax", "softplus", "softsign", "tanh", "sigmoid", "hard_sigmoid", "elu", "relu"),
            *("l2_normalize", "transpose", "flatten", "batch_flatten", "expand_dims", "identity"),
        )
    },
    **{name: (getattr(K, name), [numbers(3, 4, **POSITIVE)]) for name in ("sqrt", "log")},
    "pow": (K.pow, [numbers(3, **POSITIVE), numbers(3)]),
    "clip": (lambda x: K.clip(x, -0.5, 0.5), [numbers(7)]),
    "maximum": (K.maximum, [numbers(3, 4), 2 * numbers(3, 4)]),
    "minimum": (K.minimum, [numbers(3, 4), 2 * numbers(3, 4)]),
    "dot": (K.dot, [numbers(3, 4), numbers(4, 2)]),
    "batch_dot": (lambda x, y: K.batch_dot(x, y, axes=[2, 1]), [numbers(2, 3, 4), numbers(2, 4)]),
    "gather": (lambda x: K.gather(x, [0, 2, 2]), [numbers(3, 2)]),
    "concatenate": (lambda x, y: K.concatenate([x, y]), [numbers(2, 1), numbers(2, 2)]),
    "stack": (lambda x, y: K.stack([x, y]), [numbers(2), numbers(2)]),
    "tile": (lambda x: K.tile(x, (2, 1)), [numbers(2, 3)]),
    "repeat_elements": (lambda x: K.repeat_elements(x, 2, 1), [numbers(2, 3)]),
    "slice": (lambda x: K.slice(x, (0, 1), (2, 2)), [numbers(2, 3)]),
    "reverse": (lambda x: K.reverse(x, 1), [numbers(2, 3)]),
    "categorical_crossentropy": (lambda q: K.categorical_crossentropy(torch.eye(3), q), [numbers(3, 3, **POSITIVE)]),
    "binary_crossentropy": (lambda q: K.binary_crossentropy(torch.eye(3), q), [numbers(3, 3, low=0.2, high=0.8)]),
    "conv1d": (lambda x, k: K.conv1d(x, k, padding="causal"), [numbers(1, 5, 2), numbers(3, 2, 3)]),
    "conv2d": (lambda x, k: K.conv2d(x, k, (2, 2), "same"), [numbers(*IMAGE), numbers(*KERNEL)]),
    "conv2d_transpose": (
        lambda x, k: K.conv2d_transpose(x, k, (1, 8, 10, 3), (2, 2), "same"),
        [numbers(*IMAGE), numbers(3, 3, 3, 2)],
    ),
    "depthwise_conv2d": (K.depthwise_conv2d, [numbers(*IMAGE), numbers(*KERNEL)]),
    "pool2d": (lambda x: K.pool2d(x, (2, 2), padding="same", pool_mode="avg"), [numbers(*IMAGE)]),
    "local_conv1d": (lambda x, k: K.local_conv1d(x, k, 2, 1), [numbers(1, 4, 2), numbers(3, 4, 2)]),
    "bias_add": (K.bias_add, [numbers(*IMAGE), numbers(2)]),
    "resize_images": (lambda x: K.resize_images(x, 2, 2, "channels_last", "bilinear"), [numbers(*IMAGE)]),
    "batch_normalization": (
        K.batch_normalization,
        [numbers(4, 2), numbers(2), numbers(2, **POSITIVE), numbers(2), numbers(2)],
    ),
    "normalize_batch_in_training": (
        lambda *given: K.normalize_batch_in_training(*given, [0])[0],
        [numbers(4, 2), numbers(2), numbers(2)],
    ),
    "switch": (lambda x, y: K.switch(x > y, x, y), [numbers(3), -numbers(3)]),
    "rnn": (
        lambda x, s: K.rnn(lambda x, s: (x * s[0], [x + s[0]]), x, [s])[1],
        [numbers(2, 3, 2), numbers(2, 2)],
    ),
    "ctc_batch_cost": (
        lambda q: K.ctc_batch_cost([[0, 1]], K.softmax(q), [[4]], [[2]]),
        [numbers(1, 4, 3)],
    ),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_the_gradient_is_that_of_differences(name):
    function, given = DIFFERENTIABLE[name]
    assert torch.autograd.gradcheck(function, [each.detach().requires_grad_() for each in given])


# --- at once ---------------------------------------------------------------------------------------------------------


def test_gradients_of_tensors_can_be_differentiated_again():
    x = K.variable([2.0, 3.0])
    (first,) = K.gradients(K.pow(x, 3), x)
    (second,) = K.gradients(first, [x])
    assert K.eval(first).tolist() == [12.0, 27.0]
    assert K.eval(second).tolist() == [12.0, 18.0]


def test_a_gradient_of_what_is_not_used_is_none():
    x, y = K.variable(1.0), K.variable(2.0)
    assert K.gradients(K.square(x), [y, K.constant(1.0)]) == [None, None]
    assert K.gradients(K.constant(3.0), [x]) == [None]


def test_the_gradient_of_a_weight_lies_as_the_weight_does():
    layer = Dense(2)
    outputs = layer(torch.ones(1, 3))
    kernel, bias = K.gradients(K.sum(outputs * torch.tensor([1.0, 2.0])), layer.weights)
    assert K.eval(kernel).tolist() == [[1.0, 2.0]] * 3
    assert K.eval(bias).tolist() == [1.0, 2.0]


def test_values_and_symbols_do_not_mix():
    with pytest.raises(TypeError, match="the loss has values and the variable is symbolic"):
        K.gradients(K.variable(1.0), Input((2,)))


# --- in graphs -------------------------------------------------------------------------------------------------------


def small_images() -> Model:
    inputs = Input((6, 6, 2))
    x = Conv2D(3, 3, activation="tanh", name="first")(inputs)
    x = Conv2D(4, 3, activation="tanh", name="last")(x)
    return Model(inputs, Dense(5)(Flatten()(x)))


def test_deep_dream():
    model = small_images()
    loss = K.mean(model.get_layer("last").output)
    gradient = K.gradients(loss, model.input)[0]
    gradient /= K.maximum(K.mean(K.abs(gradient)), 1e-7)
    images = np.random.default_rng(0).normal(size=(2, 6, 6, 2)).astype("float32")
    value, found = K.function([model.input], [loss, gradient])([images])
    x = torch.tensor(images, requires_grad=True)
    expected = model.get_layer("last")(model.get_layer("first")(x)).mean()
    (wanted,) = torch.autograd.grad(expected, x)
    np.testing.assert_allclose(value, expected.item(), rtol=1e-5)
    np.testing.assert_allclose(found, wanted / wanted.abs().mean(), rtol=1e-4, atol=1e-5)


def test_grad_cam():
    model = small_images()
    last = model.get_layer("last")
    gradient = K.gradients(model.output[:, 1], last.output)[0]
    pooled = K.mean(gradient, axis=(0, 1, 2))
    images = np.random.default_rng(0).normal(size=(1, 6, 6, 2)).astype("float32")
    weights, features = K.function([model.input], [pooled, last.output[0]])([images])
    assert weights.shape == (4,)
    assert features.shape == (2, 2, 4)
    x = last(model.get_layer("first")(torch.tensor(images))).detach().requires_grad_()
    head = model.layers[-1](model.layers[-2](x))[:, 1]
    (wanted,) = torch.autograd.grad(head.sum(), x)
    np.testing.assert_allclose(weights, wanted.mean((0, 1, 2)), rtol=1e-4, atol=1e-6)


def test_gradients_of_weights_in_a_graph():
    model = Sequential([Dense(3, activation="tanh", input_shape=(2,)), Dense(1)])
    weights = model.weights
    gradients = K.gradients(K.mean(K.square(model.output)), weights)
    assert [K.int_shape(each) for each in gradients] == [tuple(each.shape) for each in weights]
    x = np.random.default_rng(0).normal(size=(4, 2)).astype("float32")
    compute = K.function([model.input], gradients)
    found = compute([x])
    wanted = K.gradients(K.mean(K.square(model(torch.tensor(x)))), weights)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, K.eval(other), rtol=1e-4, atol=1e-6)
    model.layers[0].trainable = False
    for one, other in zip(found, compute([x]), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not any(each.requires_grad for each in model.layers[0].parameters())


def test_a_symbolic_gradient_of_what_is_not_used_is_none():
    first, second = Input((2,)), Input((2,))
    assert K.gradients(K.sum(first), [second, K.variable(1.0)]) == [None, None]


def test_gradients_of_tensors_that_come_from_each_other_are_whole():
    x = Input((2,))
    y = K.square(x)
    loss = K.sum(y * x)
    of_x, of_y = K.gradients(loss, [x, y])
    found = K.function([x], [of_x, of_y])([[[2.0, 3.0]]])
    assert found[0].tolist() == [[12.0, 27.0]]
    assert found[1].tolist() == [[2.0, 3.0]]


def test_a_gradient_twice_in_a_graph():
    x = Input((2,))
    second = K.gradients(K.gradients(K.pow(x, 3), x)[0], x)[0]
    assert K.function([x], [second])([[[2.0, 3.0]]])[0].tolist() == [[12.0, 18.0]]


def test_a_gradient_after_a_mask():
    words = Input((3,), dtype="int32")
    embedded = Embedding(5, 4, mask_zero=True)(words)
    gradient = K.gradients(LSTM(2)(embedded), embedded)[0]
    (found,) = K.function([words], [gradient])([np.array([[1, 2, 0]])])
    assert np.abs(found[0, :2]).min() > 0
    assert found[0, 2].tolist() == [0.0] * 4


def test_a_model_of_a_gradient_predicts_and_trains():
    x = Input((2,))
    score = Dense(1)(Dense(8, activation="tanh")(x))
    model = Model(x, K.gradients(score, x)[0])
    assert len(model.weights) == 4
    model.compile("sgd", "mse")
    data = np.random.default_rng(0).normal(size=(32, 2)).astype("float32")
    before = model.predict(data)
    losses = model.fit(data, 0 * data, epochs=3, verbose=0).history["loss"]
    np.testing.assert_allclose(losses[0], np.square(before).mean(), rtol=0.2)
    assert losses[-1] < losses[0]


def test_a_gradient_penalty_in_a_loss_trains():
    critic = Sequential([Dense(8, activation="tanh", input_shape=(2,)), Dense(1)])

    class Penalized(Model):
        def train_step(self, data):
            x, _, _ = data
            x = x.requires_grad_()
            prediction = self(x, training=True)
            (gradient,) = K.gradients(prediction, x)
            norms = K.sqrt(K.sum(K.square(gradient), axis=1))
            loss = K.mean(K.square(1 - norms))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            return {"loss": loss}

    model = Penalized(critic.input, critic.output)
    model.compile("adam")
    data = np.random.default_rng(0).normal(size=(64, 2)).astype("float32")
    losses = model.fit(data, data[:, :1], epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_a_file_cannot_hold_a_gradient(tmp_path):
    x = Input((2,))
    model = Model(x, K.gradients(K.square(Dense(2)(x)), x)[0])
    with pytest.raises(ValueError, match="is a gradient, which no file can hold"):
        model.save(tmp_path / "model.h5")


def test_statistics_stay_when_a_gradient_is_computed_in_training():
    x = Input((2,))
    layer = BatchNormalization()
    gradient = K.gradients(K.square(layer(Dropout(0.5)(x))), x)[0]
    before = [each.clone() for each in layer.buffers()]
    K.function([x, K.learning_phase()], [gradient])([np.ones((4, 2)), 1])
    assert all(torch.equal(one, other) for one, other in zip(before, layer.buffers(), strict=True))
