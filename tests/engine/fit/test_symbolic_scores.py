"""Losses and metrics that use symbolic tensors of the model beside their arguments."""

import logging
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, backend as K
from torchkeras.engine.fit.symbolic_scores import uses_symbolic
from torchkeras.layers import Dense, Lambda
from torchkeras.losses import Loss, mean_squared_error
from torchkeras.optimizers import SGD

X = np.random.default_rng(0).random((8, 4), dtype="float32")


class Coder:
    """An autoencoder whose loss has a penalty on the code, as a method."""

    def __init__(self) -> None:
        inputs = Input((4,))
        self.code = Dense(3, name="code")(inputs)
        self.model = Model(inputs, Dense(4, activation="sigmoid")(self.code))

    def penalty(self, y_true: Any, y_pred: Any) -> Any:
        return K.sum(K.square(self.code), axis=-1)

    def loss(self, y_true: Any, y_pred: Any) -> Any:
        return K.mean(K.square(y_true - y_pred), axis=-1) + self.penalty(y_true, y_pred)

    __call__ = loss

    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """The loss and the penalty of each sample, by NumPy."""
        code = Model(self.model.input, self.code).predict(X)
        penalty = np.square(code).sum(-1)
        return np.square(X - self.model.predict(X)).mean(-1) + penalty, penalty


def ways(coder: Coder) -> dict[str, Any]:
    code = coder.code

    def closure(y_true: Any, y_pred: Any) -> Any:
        return mean_squared_error(y_true, y_pred) + K.sum(K.square(code), axis=-1)

    def with_argument(y_true: Any, y_pred: Any, tensor: Any) -> Any:
        return mean_squared_error(y_true, y_pred) + K.sum(K.square(tensor), axis=-1)

    return {
        "closure": closure,
        "a lambda around it": lambda y_true, y_pred: closure(y_true, y_pred),
        "partial": partial(with_argument, tensor=code),
        "method": coder.loss,
        "object": coder,
    }


@pytest.mark.parametrize("way", list(ways(Coder())))
def test_such_a_loss_is_computed_with_the_batch(way: str):
    coder = Coder()
    coder.model.compile("sgd", ways(coder)[way], metrics=[coder.penalty, "mse"])
    loss, penalty = coder.numbers()
    found = coder.model.evaluate(X, X, batch_size=8, verbose=0)
    np.testing.assert_allclose(found[:2], [loss.mean(), penalty.mean()], rtol=1e-5)


def test_sample_weights_count():
    coder = Coder()
    coder.model.compile("sgd", coder.loss, weighted_metrics=[coder.penalty])
    loss, penalty = coder.numbers()
    weights = np.arange(1, 9, dtype="float32")
    found = coder.model.evaluate(X, X, batch_size=8, sample_weight=weights, verbose=0)
    np.testing.assert_allclose(found, [(loss * weights).mean(), (penalty * weights).mean()], rtol=1e-5)


def test_it_trains_as_the_same_loss_added():
    models = []
    for added in (False, True):
        torch.manual_seed(0)
        coder = Coder()
        if added:
            coder.model.add_loss(K.mean(K.sum(K.square(coder.code), axis=-1)))
        coder.model.compile(SGD(0.1), mean_squared_error if added else coder.loss)
        coder.model.fit(X, X, batch_size=4, epochs=2, shuffle=False, verbose=0)
        models.append(coder.model)
    for first, second in zip(models[0].get_weights(), models[1].get_weights(), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-5)


def test_one_of_several_outputs():
    coder = Coder()
    both = Model(coder.model.input, [coder.model.output, Dense(2, name="other")(coder.code)])
    both.compile("sgd", [coder.loss, "mse"], loss_weights=[1.0, 0.5])
    loss, _ = coder.numbers()
    y = np.ones((8, 2), "float32")
    total, first, second = both.evaluate(X, [X, y], batch_size=8, verbose=0)
    np.testing.assert_allclose([first, second], [loss.mean(), np.square(y - both.predict(X)[1]).mean()], rtol=1e-5)
    np.testing.assert_allclose(total, first + 0.5 * second, rtol=1e-5)


def test_a_gradient_by_an_inner_tensor_is_a_penalty():
    critic = Dense(1, name="critic")
    real, fake = Input((3,)), Input((3,))
    between = Lambda(lambda pair: 0.5 * pair[0] + 0.5 * pair[1])([real, fake])

    def penalty(y_true: Any, y_pred: Any, averaged_samples: Any) -> Any:
        (gradient,) = K.gradients(y_pred, averaged_samples)
        norm = K.sqrt(K.sum(K.square(gradient), axis=np.arange(1, 2)))
        return K.mean(10 * K.square(1 - norm))

    model = Model([real, fake], critic(between))
    model.compile(SGD(0.1), partial(penalty, averaged_samples=between))
    kernel, bias = critic.get_weights()
    norm = np.linalg.norm(kernel)
    found = model.train_on_batch([X[:, :3], X[:, 1:]], np.zeros((8, 1)))
    np.testing.assert_allclose(found, 10 * (1 - norm) ** 2, rtol=1e-5)
    expected = kernel - 0.1 * -20 * (1 - norm) * kernel / norm
    np.testing.assert_allclose(critic.get_weights()[0], expected, rtol=1e-4)
    np.testing.assert_array_equal(critic.get_weights()[1], bias)


def test_a_variable_in_such_a_loss_is_set_and_not_trained():
    coder, weight = Coder(), K.variable(0.0)

    def loss(y_true: Any, y_pred: Any) -> Any:
        return mean_squared_error(y_true, y_pred) + weight * coder.penalty(y_true, y_pred)

    coder.model.compile(SGD(0.0), loss)
    whole, penalty = coder.numbers()
    for value in (0.0, 0.5):
        K.set_value(weight, value)
        found = coder.model.train_on_batch(X, X)
        np.testing.assert_allclose(found, (whole - (1 - value) * penalty).mean(), rtol=1e-5)
        assert K.get_value(weight) == value


def test_a_target_of_another_shape_is_refused():
    coder = Coder()
    coder.model.compile("sgd", coder.loss)
    with pytest.raises(ValueError, match=r"expected dense_\d+ to have shape \(4,\) but got array with shape \(3,\)"):
        coder.model.train_on_batch(X, X[:, :3])


def test_layers_that_are_not_the_models_are_refused():
    coder = Coder()
    foreign = Dense(1, name="foreign")(coder.code)
    with pytest.raises(ValueError, match="the layer 'foreign' on the way to an added loss or metric has weights"):
        coder.model.compile("sgd", lambda y_true, y_pred: K.mean(K.square(y_pred - foreign), axis=-1))


def test_a_loss_object_is_refused():
    coder = Coder()

    class Penalized(Loss):
        def call(self, y_true: Any, y_pred: Any) -> Any:
            return coder.loss(y_true, y_pred)

    text = "^compile: the loss Penalized uses a symbolic tensor of the graph, as only a function can.$"
    with pytest.raises(TypeError, match=text):
        coder.model.compile("sgd", Penalized())


def test_steps_of_the_users_own_refuse_it():
    class Own(Model):
        def train_step(self, data: Any) -> Any:
            x, y, _ = data
            return {"loss": self.compute_loss(x, y, self(x))}

    coder = Coder()
    model = Own(coder.model.input, coder.model.output)
    for options in ({"loss": coder.loss}, {"loss": "mse", "metrics": [coder.penalty]}):
        with pytest.raises(
            TypeError, match=r"^compile: (loss|penalty) uses a symbolic tensor of the graph, which only"
        ):
            model.compile("sgd", **options)


def test_what_compile_does_not_see_has_no_value():
    coder = Coder()
    hidden = SimpleNamespace(code=coder.code)
    coder.model.compile("sgd", lambda y_true, y_pred: K.square(vars(hidden)["code"]))
    with pytest.raises(TypeError, match=r"^a loss or metric gave a symbolic tensor, .*, for targets and outputs with"):
        coder.model.evaluate(X, X, verbose=0)


def test_what_uses_no_symbolic_tensor():
    inputs = Input((2,))
    mean = inputs * 2

    class Holder:
        image = inputs

        def loss(self, y_true: Any, y_pred: Any) -> Any:
            return (y_true - y_pred).mean()  # an attribute with the name of a tensor

    assert mean.shape == (None, 2)
    assert not uses_symbolic(Holder().loss)
    assert not uses_symbolic(mean_squared_error)
    assert not uses_symbolic(torch.nn.MSELoss())
    assert not uses_symbolic("mse")


LOG = logging.getLogger("training")


def logged(y_true: Any, y_pred: Any) -> Any:
    LOG.info("a batch")
    return (y_true - y_pred) ** 2


class Recursive:
    """A loss that is computed by a method that calls itself."""

    def __call__(self, y_true: Any, y_pred: Any) -> Any:
        return self.power(y_true - y_pred, 2)

    def power(self, value: Any, exponent: int) -> Any:
        return value * self.power(value, exponent - 1) if exponent > 1 else value


@pytest.mark.parametrize("loss", [logged, Recursive()])
def test_methods_that_call_each_other_are_followed_once(loss):
    """Each look at a method makes another object of it: what was seen is the function and what it is bound to."""
    assert not uses_symbolic(loss)


@pytest.mark.parametrize("numerics", [None, "tensorflow", "tensorflow-2.10"])
def test_a_metric_with_symbolic_tensors_is_its_own_number_under_all_numerics(numerics):
    coder = Coder()
    coder.model.compile("sgd", "binary_crossentropy", metrics=[coder.penalty], numerics=numerics)
    _, penalty = coder.numbers()
    found = coder.model.evaluate(X, X, batch_size=8, verbose=0)
    np.testing.assert_allclose(found[1], penalty.mean(), rtol=1e-5)
