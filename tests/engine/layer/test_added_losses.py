"""`add_loss` and `add_metric`: of a model's graph and in a layer's `call`, against a loop written by hand."""

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from torchkeras import Input, Model, Sequential
from torchkeras.layers import ActivityRegularization, Dense, Dropout, Lambda, Layer
from torchkeras.models import clone_model
from torchkeras.optimizers import SGD

RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((16, 6)).astype("float32")
Y = RANDOM.standard_normal((16, 6)).astype("float32")


def refused(kind: type[Exception], text: str) -> Any:
    """An error of exactly this text."""
    return pytest.raises(kind, match=f"^{re.escape(text)}$")


def divergence(z: list[torch.Tensor]) -> torch.Tensor:
    """Of a normal distribution from the standard one, a sample; z: means and logarithms of variances."""
    mean, log_variance = z
    return -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(-1)


def squares(pair: list[torch.Tensor]) -> torch.Tensor:
    return ((pair[0] - pair[1]) ** 2).sum(-1)


def autoencoder(by_layer: bool = False) -> Model:
    """A variational autoencoder that draws nothing, so that a loop by hand sees the same."""
    inputs = Input((6,))
    hidden = Dense(5, activation="tanh", name="hidden")(inputs)
    z = [Dense(2, name="mean")(hidden), Dense(2, name="log_variance")(hidden)]
    code = Lambda(lambda pair: pair[0] + 0.1 * (0.5 * pair[1]).exp())(z)
    if by_layer:
        code = Divergence()([code, *z])
    outputs = Dense(6, name="decoded")(code)
    model = Model(inputs, outputs)
    random = np.random.default_rng(0)
    model.set_weights([0.3 * random.standard_normal(w.shape) for w in model.get_weights()])
    if not by_layer:
        loss = Lambda(divergence)(z)
        model.add_loss([loss, Lambda(squares)([inputs, outputs])])
        model.add_metric(loss, name="divergence")
    model.compile(SGD(lr=0.05), "mse" if by_layer else None)
    return model


class Divergence(Layer):
    """The code; adds the divergence of its mean and variance."""

    def call(self, inputs):
        code, *z = inputs
        loss = divergence(z)
        self.add_loss(loss.mean())
        self.add_metric(loss, name="divergence")
        return code

    def compute_output_shape(self, input_shape):
        return input_shape[0]


def by_hand(model: Model, epochs: int, error: Any) -> tuple[list[float], list[float], list[np.ndarray]]:
    """The losses and divergences of epochs of one batch, and the weights after them."""
    weights = [torch.tensor(w, requires_grad=True) for w in model.get_weights()]
    x = torch.from_numpy(X)
    losses, divergences = [], []
    for _ in range(epochs):
        hidden = torch.tanh(x @ weights[0] + weights[1])
        z = [hidden @ weights[2] + weights[3], hidden @ weights[4] + weights[5]]
        outputs = (z[0] + 0.1 * (0.5 * z[1]).exp()) @ weights[6] + weights[7]
        loss = divergence(z).mean() + error(x, outputs)
        losses.append(loss.item())
        divergences.append(divergence(z).mean().item())
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients, strict=True):
                weight -= 0.05 * gradient
    return losses, divergences, [weight.detach().numpy() for weight in weights]


@pytest.mark.parametrize("by_layer", [False, True])
def test_an_autoencoder_trains_as_by_hand(by_layer):
    model = autoencoder(by_layer)

    def error(x, outputs):
        return ((x - outputs) ** 2).mean() if by_layer else squares([x, outputs]).mean()

    losses, divergences, weights = by_hand(model, 4, error)
    y: Any = (X,) if by_layer else ()
    first = model.evaluate(X, *y, verbose=0)
    assert first == pytest.approx([losses[0], divergences[0]], rel=1e-5)
    history = model.fit(X, *y, batch_size=16, epochs=4, verbose=0).history
    assert history == {"loss": pytest.approx(losses, rel=1e-5), "divergence": pytest.approx(divergences, rel=1e-5)}
    for mine, expected in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-4, atol=1e-6)


def test_batches_of_other_sizes_are_averaged_by_size():
    model = autoencoder()
    whole = model.evaluate(X, batch_size=16, verbose=0)
    assert model.evaluate(X, batch_size=6, verbose=0) == pytest.approx(whole, rel=1e-5)


def test_an_added_loss_joins_the_compiled_one():
    inputs = Input((6,))
    outputs = Dense(6, kernel_regularizer="l2", activity_regularizer="l1")(inputs)
    model = Model(inputs, outputs)
    model.compile("sgd", "mse")
    without = model.evaluate(X, Y, verbose=0, batch_size=16)
    model.add_loss(Lambda(lambda p: p.abs().sum(-1))(outputs))
    model.compile("sgd", "mse", metrics=["mae"], loss_weights=[2.0])
    assert model.metrics_names == ["loss", "mean_absolute_error"]
    scores = model.predict(X)
    error, added = np.mean((scores - Y) ** 2), np.abs(scores).sum(-1).mean()
    assert model.evaluate(X, Y, verbose=0, batch_size=16)[0] == pytest.approx(without + error + added, rel=1e-5)
    assert model.predict(X).shape == (16, 6)


def test_a_sequential_and_a_layer_of_its_own():
    class Sparse(Layer):
        def call(self, inputs):
            self.add_loss([inputs.abs().sum(), (inputs**2).sum()])
            return inputs

    model = Sequential([Dense(3, input_shape=(6,)), Sparse()])
    model.compile("sgd", None)
    scores = model.predict(X)
    expected = np.abs(scores).sum() + (scores**2).sum()
    assert model.train_on_batch(X) == pytest.approx(expected, rel=1e-5)


# --- layers that only the added loss needs ---------------------------------------------------------------------------


def test_a_layer_with_weights_on_the_way_is_refused():
    model = autoencoder()
    kept = model._training.added.losses
    with refused(
        ValueError,
        f"Model '{model.name}': the layer 'critic' on the way to an added loss or metric has weights, and is no layer "
        "of the model: they would not train. Make its output an output of the model.",
    ):
        model.add_loss(Dense(1, name="critic")(model.output))
    assert model._training.added.losses == kept
    with pytest.raises(ValueError, match="Graph disconnected"):
        model.add_loss(Lambda(torch.relu)(Input((6,))))
    assert model._training.added.losses == kept


def test_layers_on_the_way_follow_the_mode_and_count():
    inputs = Input((6,))
    outputs = Dense(6)(inputs)
    model = Model(inputs, outputs)
    model.add_loss(ActivityRegularization(l1=1.0)(Dropout(0.5)(outputs)))
    model.compile(SGD(lr=0.0), None)
    scores = model.predict(X)
    expected = scores.mean() + np.abs(scores).sum()
    assert model.evaluate(X, verbose=0, batch_size=16) == pytest.approx(expected, rel=1e-4)
    assert model.train_on_batch(X) != pytest.approx(expected, rel=1e-2)
    assert model.evaluate(X, verbose=0, batch_size=16) == pytest.approx(expected, rel=1e-4)


def test_a_model_inside_with_added_losses_is_refused():
    inner = autoencoder()
    inputs = Input((6,))
    outer = Model(inputs, inner(inputs))
    with refused(
        ValueError,
        f"Model '{outer.name}': what add_loss and add_metric gave the model '{inner.name}' inside it would be lost: "
        "add it to the outer model, computed from its own tensors.",
    ):
        outer.compile("sgd", "mse")


def test_a_layer_inside_a_model_inside_adds_its_loss():
    inner = autoencoder(by_layer=True)
    inputs = Input((6,))
    outer = Model(inputs, inner(inputs))
    outer.compile("sgd", "mse")
    assert outer.evaluate(X, X, verbose=0) == pytest.approx(inner.evaluate(X, X, verbose=0))


# --- names and values ------------------------------------------------------------------------------------------------


class Reporting(Layer):
    """Calls `told`, which adds a loss or metric."""

    told: Any = None

    def call(self, inputs):
        self.told(self, inputs)
        return inputs


def reporting(told: Any, twice: bool = False) -> Model:
    inputs = Input((6,))
    layer = Reporting(name="reporting")
    layer.told = told
    hidden = layer(Dense(6)(inputs))
    model = Model(inputs, layer(hidden) if twice else hidden)
    model.compile("sgd", "mse", metrics=["mae"])
    return model


@pytest.mark.parametrize(
    ("told", "kind", "text"),
    [
        (
            lambda layer, x: layer.add_loss(x.sum(-1)),
            ValueError,
            "reporting: add_loss takes scalars; found the shape (16,). Take its mean or sum.",
        ),
        (
            lambda layer, x: layer.add_loss(1.0),
            TypeError,
            "reporting: add_loss takes tensors or functions; found float.",
        ),
        (
            lambda layer, x: layer.add_metric(x, "a", aggregation="sum"),
            ValueError,
            "reporting: add_metric: aggregation must be 'mean'; found 'sum'.",
        ),
        (
            lambda layer, x: layer.add_metric(3, "a"),
            TypeError,
            "reporting: add_metric takes a tensor and a name; found 3 and 'a'.",
        ),
        (
            lambda layer, x: layer.add_metric(x, "loss"),
            ValueError,
            "A layer's add_metric has the name 'loss', which another reported number has: rename it.",
        ),
        (
            lambda layer, x: [layer.add_metric(x, "a"), layer.add_metric(x, "a")],
            ValueError,
            "reporting: add_metric: 'a' is added for a second time in one pass; give each call a name.",
        ),
    ],
)
def test_what_a_layer_may_not_add(told, kind, text):
    inputs = Input((6,))
    layer = Reporting(name="reporting")
    layer.told = lambda layer, x: None
    model = Model(inputs, layer(Dense(6)(inputs)))
    model.compile("sgd", "mse")
    layer.told = told
    with refused(kind, text):
        model.train_on_batch(X, Y)
    layer.told = lambda layer, x: None  # nothing is left of the pass that failed
    assert model.test_on_batch(X, Y) == pytest.approx(((model.predict(X) - Y) ** 2).mean(), rel=1e-5)


def test_names_of_added_metrics_are_told_apart():
    inputs = Input((6,))
    outputs = Dense(6)(inputs)
    model = Model(inputs, outputs)
    model.add_metric(outputs, name="mean_absolute_error")
    with refused(
        ValueError, "compile: add_metric has the name 'mean_absolute_error', which another reported number has."
    ):
        model.compile("sgd", "mse", metrics=["mae"])
    model.compile("sgd", "mse")
    found = model.evaluate(X, Y, verbose=0, return_dict=True)
    assert found["mean_absolute_error"] == pytest.approx(model.predict(X).mean(), rel=1e-4)


def test_a_metric_of_booleans_and_integers_is_their_mean():
    def told(layer, x):
        layer.add_metric(x > 0, "positive")
        layer.add_metric((x > 0).long() * 3, "thrice")

    model = reporting(told)
    share = (model.predict(X) > 0).mean()
    found = model.evaluate(X, Y, batch_size=6, verbose=0, return_dict=True)
    assert (found["positive"], found["thrice"]) == pytest.approx((share, 3 * share), rel=1e-5)


# --- calls by hand ---------------------------------------------------------------------------------------------------


def test_losses_of_a_call_by_hand():
    inputs = Input((6,))
    layer = Reporting()
    layer.told = lambda layer, x: layer.add_loss(x.sum())
    hidden = layer(Dense(6, kernel_regularizer="l2", activity_regularizer="l1")(inputs))
    model = Model(inputs, layer(hidden))
    x = torch.from_numpy(X)
    assert len(model.losses) == 1  # the penalty on the kernel
    for rows in (16, 8):
        outputs = model(x[:rows])
        penalty, *added = model.losses
        assert penalty.item() == pytest.approx(0.01 * (model.get_weights()[0] ** 2).sum(), rel=1e-5)
        torch.testing.assert_close(torch.stack(added), outputs.sum().expand(2))  # the layer is called twice
    other = Model(inputs, layer(inputs))
    other(x)
    torch.testing.assert_close(torch.stack(other.losses), x.sum()[None])
    model.predict(X)
    sum(model.losses[:1], model(x).sum()).backward()


def test_a_loop_by_hand_trains_as_fit_does():
    model = autoencoder(by_layer=True)
    twin = copy.deepcopy(model)
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.05)
    x = torch.from_numpy(X)
    for _ in range(3):
        optimizer.zero_grad()
        (nn.functional.mse_loss(twin(x), x) + sum(twin.losses)).backward()
        optimizer.step()
    model.fit(X, X, batch_size=16, epochs=3, verbose=0)
    for mine, expected in zip(model.get_weights(), twin.get_weights(), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-6)


# --- the losses of a layer -------------------------------------------------------------------------------------------


class Adding(Layer):
    """Adds the sum of its input."""

    def call(self, inputs):
        self.add_loss(inputs.sum())
        return inputs


class Twice(Layer):
    """Calls a layer inside it twice, on its input and on the double."""

    def __init__(self, inside: Any, **options: Any):
        super().__init__(**options)
        self.inside = inside

    def call(self, inputs):
        return self.inside(inputs) + self.inside(2 * inputs)


def test_a_layer_has_the_losses_of_its_weights():
    layer = Dense(3, kernel_regularizer="l2", bias_regularizer="l1")
    assert layer.losses == []
    layer(torch.zeros(1, 2))
    kernel, bias = np.array([[1.0, 2.0, 3.0]] * 2), np.array([1.0, 0.0, -3.0])
    layer.set_weights([kernel, bias])
    layer.add_loss(lambda: (layer.kernel**2).sum())
    assert [loss.item() for loss in layer.losses] == pytest.approx([0.01 * 28, 0.01 * 4, 28])
    torch.stack(layer.losses).sum().backward()
    gradient: Any = layer.linear.weight.grad
    np.testing.assert_allclose(gradient.T.numpy(), (0.02 + 2) * kernel, rtol=1e-6)


def test_a_layer_has_the_losses_of_its_last_call():
    layer = Adding()
    assert layer.losses == []
    for size in (2, 3):
        layer(torch.ones(size, 4))
        assert [loss.item() for loss in layer.losses] == [4 * size]
    copied = copy.deepcopy(layer)
    assert copied.losses == []
    copied(torch.ones(1, 4))
    assert [[loss.item() for loss in each.losses] for each in (layer, copied)] == [[12], [4]]


def test_a_layer_has_the_losses_of_all_calls_of_the_layers_inside():
    inside = Sequential([Dense(4, kernel_regularizer="l2", kernel_initializer="ones", input_shape=(4,)), Adding()])
    layer = Twice(Twice(inside))
    for value in (1.0, 3.0):
        layer(torch.full((1, 4), value))
        found = [loss.item() for loss in layer.losses]
        assert found == pytest.approx([0.01 * 16, *(16 * value * times for times in (1, 2, 2, 4))])
        assert [loss.item() for loss in inside.losses] == found
    alone = Twice(Adding())
    for value in (1.0, 3.0):
        alone(torch.full((1, 4), value))
        assert [loss.item() for loss in alone.losses] == [4 * value, 8 * value]


def test_losses_of_a_layer_in_a_loop_are_those_of_fit():
    layer = Twice(Adding())
    model = Sequential([Dense(6, kernel_regularizer="l2", input_shape=(6,)), layer])
    model.compile(SGD(lr=0.0), None)
    expected = model.train_on_batch(X)
    model(torch.from_numpy(X))
    assert len(layer.losses) == 2
    assert torch.stack([*model.layers[0].losses, *layer.losses]).sum().item() == pytest.approx(expected, rel=1e-5)


# --- layers of this package -------------------------------------------------------------------------------------------


class Built(Layer, abstract=True):
    """Written as the package's own layers, which have no code of a user's to run."""

    __module__ = "torchkeras.layers.core"

    def forward(self, inputs):
        self.add_loss(inputs.sum())
        return inputs


def test_a_layer_of_the_package_adds_losses_in_calls_by_hand():
    layer = Built()
    assert not layer._is_users
    for size in (2, 3):
        assert layer(torch.ones(size, 4)).shape == (size, 4)
        assert [loss.item() for loss in layer.losses] == [4 * size]
    twice = Twice(layer)
    twice(torch.ones(1, 4))
    assert [loss.item() for loss in twice.losses] == [4, 8]


@pytest.mark.torch("2.8", "compiled steps")
def test_a_layer_of_the_package_adds_losses_in_a_model_and_in_fit():
    model = Sequential([Dense(6, input_shape=(6,)), Built()])
    model.compile(SGD(lr=0.0), None)
    outputs = model(torch.from_numpy(X))
    assert [loss.item() for loss in model.losses] == [outputs.sum().item()]
    assert model.train_on_batch(X) == pytest.approx(outputs.sum().item(), rel=1e-5)
    model.compile(SGD(lr=0.0), None, jit_compile=True)
    assert model.train_on_batch(X) == pytest.approx(outputs.sum().item(), rel=1e-5)


# --- copies ----------------------------------------------------------------------------------------------------------


def pickled(model: Model) -> Model:
    return pickle.loads(pickle.dumps(model))  # noqa: S301  # made in this test


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
@pytest.mark.parametrize("called", [False, True])
def test_copies_keep_what_was_added(copied, called):
    inputs = Input((6,))
    outputs = Dense(6, activation="softmax")(Dense(4)(inputs))
    model = Model(inputs, outputs)
    added = ActivityRegularization(l2=1.0)(outputs)
    model.add_loss(added)
    model.add_metric(added, name="mean")
    model.compile("adam", "mse", metrics=["mae"])
    model.train_on_batch(X, Y)
    if called:
        model(torch.from_numpy(X))
    twin = copied(model)
    assert [layer.name for layer in twin.layers] == [layer.name for layer in model.layers]
    assert twin.metrics_names == model.metrics_names
    for _ in range(3):
        assert twin.train_on_batch(X, Y) == model.train_on_batch(X, Y)
    assert twin.predict(X).tolist() == model.predict(X).tolist()
    again = copied(twin)
    assert again.test_on_batch(X, Y) == model.test_on_batch(X, Y)


@pytest.mark.parametrize("way", ["save", "to_json", "clone_model"])
def test_a_config_says_that_added_losses_are_lost(way, tmp_path):
    inputs = Input((6,))
    outputs = Dense(6)(inputs)
    model = Model(inputs, outputs)
    added = ActivityRegularization(l2=1.0)(outputs)
    model.add_loss([outputs, added])
    model.add_metric(added, name="size")
    act = {
        "save": lambda: model.save(tmp_path / "model.h5", include_optimizer=False),
        "to_json": model.to_json,
        "clone_model": lambda: clone_model(model),
    }[way]
    text = (
        f"Model '{model.name}': what add_loss and add_metric gave it (2 losses, the metric 'size') is not "
        "written to a config or file: add it again to the model that is made from it."
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
        act()


class Weighted(Layer):
    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight("scale", (6,), initializer="ones")

    def call(self, inputs: Any) -> Any:
        self.add_loss((self.scale**2).sum())
        return inputs * self.scale


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # torch's own, where its compiler looks at one
@pytest.mark.parametrize("compiled", [False, True])
def test_a_loop_by_hand_trains_a_model_that_torch_compiles(compiled: bool):
    model = Sequential([Weighted(input_shape=(6,))])
    function = torch.compile(model, backend="eager") if compiled else model
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        outputs = function(torch.from_numpy(X))
        assert len(model.losses) == 1
        (0 * outputs.sum() + sum(model.losses)).backward()
        optimizer.step()
    np.testing.assert_allclose(model.get_weights()[0], np.full(6, 0.8**3), rtol=1e-5)


class ByMethod(Weighted):
    def penalty(self) -> None:
        self.add_loss((self.scale**2).sum())

    def call(self, inputs: Any) -> Any:
        self.penalty()
        return inputs * self.scale


def undecorated(function: Any) -> Any:
    def call(self: Any, inputs: Any) -> Any:
        return function(self, inputs)

    return call


def penalize(layer: Any) -> None:
    layer.add_loss((layer.scale**2).sum())


class Decorated(Weighted):
    call = undecorated(Weighted.call)


class ByFunction(Weighted):
    def call(self, inputs: Any) -> Any:
        penalize(self)
        return inputs * self.scale


@pytest.mark.parametrize("kind", [ByMethod, Decorated, ByFunction])
def test_a_loss_that_another_function_adds_is_a_loss_to_train_by(kind: Any):
    model = Sequential([kind(input_shape=(6,))])
    model.compile(SGD(lr=0.1))
    assert model.fit(X, verbose=0).history == {"loss": [6.0]}
    np.testing.assert_allclose(model.get_weights()[0], np.full(6, 0.8), rtol=1e-6)


class OwnLosses(Layer):
    """Its `losses` are an attribute of its own, as in files and pickles from before layers had that name."""

    def __init__(self, losses: Any, **options: Any):
        super().__init__(**options)
        self.losses = losses

    def call(self, inputs: Any) -> Any:
        return inputs * len(self.losses)


@pytest.mark.parametrize("losses", [[2.0, 3.0], nn.ModuleList([nn.Identity(), nn.Identity()])])
def test_losses_of_a_users_layer_may_be_its_own_attribute(losses: Any):
    layer = OwnLosses(losses)
    for each in (layer, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301
        assert len(each.losses) == 2
        assert torch.equal(each(torch.ones(1, 3)), torch.full((1, 3), 2.0))


def test_a_loss_without_gradients_is_named():
    class Constant(Layer):
        def call(self, inputs: Any) -> Any:
            self.add_loss(inputs.detach().sum())
            return inputs

    model = Sequential([Dense(2, input_shape=(6,)), Constant()])
    model.compile("sgd")
    with pytest.raises(ValueError, match=r"^The loss of add_loss has no gradient for any weight"):
        model.fit(X, verbose=0)
