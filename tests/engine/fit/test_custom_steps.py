"""Steps of one's own (`train_step`, `test_step`, `predict_step`, `compute_loss`) against the built-in ones."""

import re
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, metrics
from torchkeras.constraints import UnitNorm
from torchkeras.layers import BatchNormalization, Dense, Dropout, Layer, Masking, TimeDistributed
from torchkeras.optimizers import SGD

RANDOM = np.random.default_rng(13)
X = RANDOM.standard_normal((20, 4)).astype("float32")
Y = RANDOM.standard_normal((20, 3)).astype("float32")
WEIGHTS = RANDOM.random(20).astype("float32")
STEPS = RANDOM.standard_normal((6, 5, 4)).astype("float32")
STEPS[2, 3:] = STEPS[4, 1:] = 0
STEP_TARGETS = RANDOM.standard_normal((6, 5, 2)).astype("float32")


def refused(kind: type[Exception], text: str) -> Any:
    """An error of exactly this text."""
    return pytest.raises(kind, match=f"^{re.escape(text)}$")


class Stepping(Model):
    """A training and a test step written out, which do what the built-in ones do."""

    def train_step(self, data):
        x, y, sample_weight = data
        y_pred = self(x)
        loss = self.compute_loss(x, y, y_pred, sample_weight)
        self.minimize(loss, len(y))
        return {"loss": loss}

    def test_step(self, data):
        x, y, sample_weight = data
        return {"loss": self.compute_loss(x, y, self(x), sample_weight)}


class Asked(Model):
    """Asks for the loss itself, and asks the base."""

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        self.seen = x, y, y_pred, sample_weight
        return super().compute_loss(x, y, y_pred, sample_weight)


class Adding(Layer):
    def call(self, inputs):
        self.add_loss((inputs**2).mean())
        return inputs


def regularized(kind: type[Model]) -> Model:
    """All that a step has to think of: statistics, penalties, constraints, losses of layers that are called twice."""
    inputs = Input((4,))
    twice = Adding()
    options = {"kernel_regularizer": "l2", "activity_regularizer": "l1", "kernel_constraint": UnitNorm()}
    hidden = BatchNormalization()(twice(Dense(5, **options)(inputs)))
    model = kind(inputs, Dense(3)(twice(hidden)))
    random = np.random.default_rng(0)
    model.set_weights([random.random(w.shape) for w in model.get_weights()])
    return model


class Block(Layer):
    """A layer of layers, one with an activity regularizer."""

    def build(self, input_shape):
        self.inner = Dense(4, activity_regularizer="l1", name="inner")
        self.inner.build(input_shape)
        super().build(input_shape)

    def call(self, inputs):
        return self.inner(inputs)


def blocks(kind: type[Model]) -> Model:
    inputs = Input((4,))
    block = Block()
    model = kind(inputs, Dense(3)(block(block(inputs))))
    random = np.random.default_rng(0)
    model.set_weights([0.1 * random.random(w.shape) for w in model.get_weights()])
    return model


def masked(kind: type[Model]) -> Model:
    inputs = Input((5, 4))
    model = kind(inputs, TimeDistributed(Dense(2, activity_regularizer="l2"))(Masking()(inputs)))
    random = np.random.default_rng(0)
    model.set_weights([random.random(w.shape) for w in model.get_weights()])
    return model


def two(kind: type[Model]) -> Model:
    inputs = [Input((4,)), Input((4,))]
    model = kind(inputs, [Dense(3, name="left")(inputs[0]), Dense(3, name="right")(inputs[1])])
    random = np.random.default_rng(0)
    model.set_weights([random.random(w.shape) for w in model.get_weights()])
    return model


DATA: dict[Any, tuple[Any, Any]] = {
    regularized: (X, Y),
    blocks: (X, Y),
    masked: (STEPS, STEP_TARGETS),
    two: ([X, X * 2], [Y, Y + 1]),
}


@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize("kind", [Stepping, Asked])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_written_out_is_the_built_in_one(make, kind, weighted):
    x, y = DATA[make]
    several = isinstance(x, list)
    weights = WEIGHTS[: len(y[0] if several else y)]
    options = {"sample_weight": [weights, weights[::-1].copy()] if several else weights} if weighted else {}
    own, built_in = make(kind), make(Model)
    for model in (own, built_in):
        model.compile(SGD(lr=0.005, momentum=0.9), "mse", loss_weights=[0.5, 2.0] if several else None)
    histories = [
        model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0, **options).history["loss"]
        for model in (own, built_in)
    ]
    np.testing.assert_allclose(*histories, rtol=1e-5)
    for mine, expected in zip(own.get_weights(), built_in.get_weights(), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-4, atol=1e-6)
    mine, expected = (np.atleast_1d(model.evaluate(x, y, verbose=0, **options))[0] for model in (own, built_in))
    assert mine == pytest.approx(expected, rel=1e-5)


def test_a_part_s_activity_regularizer_counts_in_each_call():
    model = blocks(Model)
    model.compile("sgd", "mse", metrics=["mse"])
    kernel, bias = model.get_weights()[:2]
    once = X @ kernel + bias
    penalty = 0.01 * (np.abs(once).sum() + np.abs(once @ kernel + bias).sum())
    loss, error = model.evaluate(X, Y, verbose=0)
    assert loss - error == pytest.approx(penalty, rel=1e-4)


def test_what_steps_are_given():
    seen = []

    class Looking(Stepping):
        def train_step(self, data):
            seen.append((torch.is_grad_enabled(), self.training, data))
            return super().train_step(data)

        def test_step(self, data):
            seen.append((torch.is_grad_enabled(), self.training, data))
            return super().test_step(data)

        def predict_step(self, data):
            seen.append((torch.is_grad_enabled(), self.training, data))
            return self(*data) * 2

    model = regularized(Looking)
    model.compile("sgd", "mse")
    model.fit(X, Y, batch_size=20, shuffle=False, verbose=0, validation_data=(X, Y, WEIGHTS))
    plain = regularized(Model)
    plain.set_weights(model.get_weights())
    np.testing.assert_allclose(model.predict(X), 2 * plain.predict(X), rtol=1e-5)
    (train, validation, predicted) = seen
    assert [each[:2] for each in seen] == [(True, True), (False, False), (False, False)]
    for data, weights in ((train[2], None), (validation[2], WEIGHTS)):
        torch.testing.assert_close(data[0], torch.from_numpy(X))
        torch.testing.assert_close(data[1], torch.from_numpy(Y))
        assert (data[2] is None) if weights is None else torch.equal(data[2], torch.from_numpy(weights))
    assert len(predicted[2]) == 1


def test_targets_of_any_form_reach_a_step_without_a_loss():
    class Contrasting(Model):
        def train_step(self, data):
            x, (ranks, more), _ = data
            assert (ranks.dtype, ranks.shape) == (torch.int64, (len(x),))
            assert (more.dtype, more.shape) == (torch.float32, (len(x), 2, 2))
            loss = (self(x).mean(-1) * ranks).mean() + more.mean()
            self.minimize(loss)
            return {"loss": loss, "ranks": 3}

    inputs = Input((4,))
    model = Contrasting(inputs, Dense(3)(inputs))
    model.compile(SGD(lr=0.1))
    before = model.get_weights()[1]
    history = model.fit(X, [np.arange(20), np.ones((20, 2, 2))], batch_size=20, shuffle=False, verbose=0).history
    assert history["ranks"] == [3.0]
    np.testing.assert_allclose(model.get_weights()[1], before - 0.1 * 9.5 / 3, rtol=1e-5)


def test_a_step_may_leave_the_rest_to_the_built_in_one():
    class Halving(Model):
        def train_step(self, data):
            x, y, weight = data
            return {**super().train_step((x * 0.5, y, weight)), "size": len(x)}

    model, plain = (kind(*_linear()) for kind in (Halving, Model))
    for each in (model, plain):
        each.set_weights([np.ones((4, 3)), np.zeros(3)])
        each.compile("sgd", "mse", metrics=["mae"])
    found = model.train_on_batch(X, Y, return_dict=True)
    expected = plain.train_on_batch(X * 0.5, Y, return_dict=True)
    assert found == {**expected, "size": 20.0}
    np.testing.assert_array_equal(model.get_weights()[0], plain.get_weights()[0])


def _linear():
    inputs = Input((4,))
    return inputs, Dense(3)(inputs)


def test_numbers_are_averaged_by_the_size_of_their_batch():
    class Counting(Stepping):
        def train_step(self, data):
            return {**super().train_step(data), "size": len(data[0]), "half": torch.tensor(0.5)}

    model = Counting(*_linear())
    model.compile("sgd", "mse")
    history = model.fit(X, Y, batch_size=8, verbose=0).history
    assert history["size"] == [pytest.approx((8 * 8 + 8 * 8 + 4 * 4) / 20)]
    assert history["half"] == [0.5]


def test_metrics_with_state_are_reported_by_their_name():
    """One that the step names gives its own result over the epoch; one that it leaves out is not reported."""

    class Measuring(Stepping):
        def train_step(self, data):
            x, y, _ = data
            found = super().train_step(data)
            self.error.update_state(y, self(x))
            return {**found, self.error.name: self.error.result()}

    model = Measuring(*_linear())
    error = metrics.RootMeanSquaredError()
    model.__dict__["error"] = error
    model.compile(SGD(lr=0.0), "mse", metrics=[error, metrics.MeanAbsoluteError()])
    history = model.fit(X, Y, batch_size=8, epochs=2, verbose=0).history
    expected = np.sqrt(np.mean((model.predict(X) - Y) ** 2))
    assert history["root_mean_squared_error"] == pytest.approx([expected] * 2, rel=1e-5)
    assert set(history) == {"loss", "root_mean_squared_error"}
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(np.mean((model.predict(X) - Y) ** 2), rel=1e-5)


def test_two_optimizers_in_one_step():
    """As a model against a model trains: each optimizer its own part, by torch."""

    class Against(Model):
        def train_step(self, data):
            x, y, _ = data
            for optimizer, part in zip(self.optimizers, self.layers[1:], strict=True):
                optimizer.zero_grad()
                loss = ((self(x) - y) ** 2).mean()
                loss.backward(inputs=list(part.parameters()))
                optimizer.step()
            return {"loss": loss}

    inputs = Input((4,))
    model = Against(inputs, Dense(3)(Dense(5)(inputs)))
    model.compile("sgd")
    model.__dict__["optimizers"] = [torch.optim.SGD(layer.parameters(), lr=0.1) for layer in model.layers[1:]]
    losses = model.fit(X, Y, epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


# --- the loss alone --------------------------------------------------------------------------------------------------


def test_a_loss_of_one_s_own_and_the_usual_metrics():
    class Own(Model):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            assert x.shape == (20, 4)
            assert sample_weight is None
            return ((y_pred - y) ** 4).mean()

    model = Own(*_linear())
    model.compile(SGD(lr=0.01), metrics=None)
    scores = model.predict(X)
    expected = np.mean((scores - Y) ** 4)
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(expected, rel=1e-5)
    kernel, bias = (torch.tensor(w, requires_grad=True) for w in model.get_weights())
    loss = ((torch.from_numpy(X) @ kernel + bias - torch.from_numpy(Y)) ** 4).mean()
    gradient = torch.autograd.grad(loss, kernel)[0]
    assert model.train_on_batch(X, Y) == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(model.get_weights()[0], (kernel - 0.01 * gradient).detach(), rtol=1e-4, atol=1e-6)
    model.compile("sgd", "mae", metrics=["mse"])
    found = model.evaluate(X, Y, verbose=0)
    scores = model.predict(X)
    assert found == pytest.approx([np.mean((scores - Y) ** 4), np.mean((scores - Y) ** 2)], rel=1e-5)


@pytest.mark.parametrize(
    ("returned", "found"), [(3.0, "float"), (None, "NoneType"), (torch.ones(2), "a tensor of shape (2,)")]
)
def test_a_loss_of_one_s_own_is_a_scalar(returned, found):
    class Wrong(Model):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            return returned

    model = Wrong(*_linear())
    model.compile("sgd", "mse")
    with refused(TypeError, f"Wrong.compute_loss must return a scalar tensor; found {found}."):
        model.train_on_batch(X, Y)


def test_no_loss_at_all():
    text = "The model has no loss to optimize: give compile a `loss`, or the model one with `add_loss`."
    model = Stepping(*_linear())
    model.compile("sgd")
    with refused(RuntimeError, text):
        model.train_on_batch(X)
    with refused(ValueError, f"compile: t{text[1:]}"):
        Model(*_linear()).compile("sgd")


# --- what a step may not give ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (None, "Wrong.train_step must return a dict of names and numbers; found NoneType."),
        (torch.ones(()), "Wrong.train_step must return a dict of names and numbers; found Tensor."),
        ({"loss": torch.ones(3)}, "Wrong.train_step must return numbers; 'loss' has the shape (3,)."),
    ],
)
def test_what_a_step_returns_is_checked(returned, text):
    class Wrong(Model):
        def train_step(self, data):
            return returned

    model = Wrong(*_linear())
    model.compile("sgd", "mse")
    with refused(TypeError, text):
        model.fit(X, Y, verbose=0)


def test_a_step_whose_names_change_is_refused():
    class Changing(Stepping):
        names = iter(["first", "second"])

        def train_step(self, data):
            return {next(self.names): 1.0}

    model = Changing(*_linear())
    model.compile("sgd", "mse")
    text = "The names of the reported numbers changed within an epoch, from ['first'] to ['second']."
    with refused(RuntimeError, text):
        model.fit(X, Y, batch_size=10, verbose=0)


def test_a_step_uses_dropout_in_training_alone():
    inputs = Input((4,))
    model = Stepping(inputs, Dropout(0.5)(inputs))
    model.compile("sgd", "mse")
    assert model.evaluate(X, X, verbose=0) == 0 < model.train_on_batch(X, X)
