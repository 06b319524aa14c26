"""Code of the user's that changes a tensor in place: `x /= 255` leaves the data and other layers as they are."""

import numpy as np
import pytest
import torch
from torch import nn

from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import Activation, Dense, Input, Lambda, TorchModule
from torchkeras.models import Model, Sequential, load_model
from torchkeras.optimizers import SGD

X = np.arange(12, dtype="float32").reshape(6, 2) + 1
Y = np.ones((6, 1), "float32")


def halved(x):
    x /= 2
    return x


def without_its_first_column(x):
    x[:, 0] = 0
    return x


def joined(tensors):
    first, second = tensors
    first += second
    return first


class Halved(Layer):
    def call(self, x):
        return halved(x)


class HalvedWithAShape(Halved):  # which no run on made-up tensors finds
    def compute_output_shape(self, input_shape):
        return input_shape


class HalvedByForward(Layer):
    def forward(self, x):
        x.mul_(0.5)
        return x


LAYERS = {
    "Lambda": lambda: Lambda(halved),
    "Lambda with a shape": lambda: Lambda(halved, output_shape=(2,)),
    "Activation": lambda: Activation(halved),
    "call": Halved,
    "call with a shape": HalvedWithAShape,
    "forward": HalvedByForward,
}


@pytest.mark.parametrize("kind", LAYERS)
def test_the_data_stays_as_it_is(kind):
    x = X.copy()
    model = Sequential([LAYERS[kind](), Dense(1, kernel_initializer="ones")])
    model.build((None, 2))
    model.compile(SGD(0.0), "mse")
    expected = float(np.mean((X.sum(1) / 2 - 1) ** 2))
    history = model.fit(x, Y, epochs=3, batch_size=3, shuffle=False, validation_data=(x, Y), verbose=0).history
    assert history["loss"] == history["val_loss"] == [pytest.approx(expected)] * 3
    assert model.evaluate(x, Y, verbose=0) == pytest.approx(expected)
    assert model.predict(x).tolist() == (X.sum(1, keepdims=True) / 2).tolist()
    assert model.train_on_batch(x, Y) == pytest.approx(expected)
    assert x.tolist() == X.tolist()


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("calls", [1, 2])
def test_other_layers_get_the_values_from_before(kind, calls):
    inputs = Input((2,))
    hidden = Dense(2, kernel_initializer="ones")(inputs)
    layer = LAYERS[kind]()
    model = Model(inputs, [*(layer(hidden) for _ in range(calls)), Activation("linear")(hidden), hidden])
    sums = np.repeat(X.sum(1, keepdims=True), 2, 1)
    for _ in range(2):
        *half, whole, same = model.predict(X)
        assert whole.tolist() == same.tolist() == sums.tolist()
        assert all(each.tolist() == (sums / 2).tolist() for each in half)


def test_assignments_and_lists_of_inputs():
    a, b = Input((2,)), Input((2,))
    model = Model([a, b], [Lambda(joined)([a, b]), Lambda(without_its_first_column)(a), a * 1.0])
    total, column, same = model.predict([X, X])
    assert (total.tolist(), same.tolist()) == ((2 * X).tolist(), X.tolist())
    assert column.tolist() == (X * [0, 1]).tolist()


def test_a_module_of_torch_in_place():
    inputs = Input((2,))
    hidden = Dense(2, kernel_initializer="ones", bias_initializer="ones")(inputs)
    relu = TorchModule(nn.ReLU(inplace=True))(hidden)
    model = Model(inputs, [relu, Activation("linear")(hidden)])
    positive, values = model.predict(-X)
    assert values.max() < 0 == positive.max()


def test_gradients_pass_what_was_changed_in_place():
    inputs = Input((2,))
    model = Model(inputs, Lambda(halved)(Dense(1, kernel_initializer="ones")(inputs)))
    model.compile(SGD(1.0), lambda true, predicted: predicted.mean(-1))
    model.train_on_batch(X, Y)
    kernel, bias = model.get_weights()
    assert kernel.ravel().tolist() == pytest.approx((1 - X.mean(0) / 2).tolist())
    assert bias.tolist() == [-0.5]


@pytest.mark.parametrize("suffix", [".keras", ".h5", ".pt"])
def test_a_loaded_model_does_so_too(suffix, tmp_path):
    inputs = Input((2,))
    model = Model(inputs, Halved(name="half")(inputs))
    model.save(tmp_path / f"model{suffix}")
    again, x = load_model(tmp_path / f"model{suffix}", custom_objects={"Halved": Halved}), X.copy()
    assert again.predict(x).tolist() == (X / 2).tolist()
    assert x.tolist() == X.tolist()


@pytest.mark.torch("2.8", "compiled steps")
def test_a_compiled_step_does_so_too():
    x = X.copy()
    model = Sequential([HalvedWithAShape(), Dense(1, kernel_initializer="ones")])
    model.build((None, 2))
    model.compile(SGD(0.0), "mse", jit_compile={"backend": "eager"})
    expected = float(np.mean((X.sum(1) / 2 - 1) ** 2))
    history = model.fit(x, Y, epochs=2, batch_size=3, shuffle=False, verbose=0).history
    assert history["loss"] == [pytest.approx(expected)] * 2
    assert x.tolist() == X.tolist()


def test_a_call_by_hand_is_torchs():
    x = torch.ones(1, 2)
    assert Halved()(x).tolist() == x.tolist() == [[0.5, 0.5]]


# --- where no graph can give a copy ----------------------------------------------------------------------------------


def shifted(y_true, y_pred):
    y_true -= 1
    return ((y_pred - y_true) ** 2).mean(-1)


class OwnCall(Model):
    def __init__(self):
        super().__init__()
        self.dense = Dense(1)

    def call(self, x):
        return self.dense(halved(x))


class OwnStep(Model):
    def train_step(self, data):
        x, y, *_ = data
        y -= 1
        return {"loss": ((self(x, training=True) - y) ** 2).mean()}


def dense(**options):
    model = Sequential([Dense(1, input_shape=(2,))])
    model.compile("sgd", **options)
    return model


def own_step():
    inputs = Input((2,))
    model = OwnStep(inputs, Dense(1)(inputs))
    model.compile("sgd")
    return model


def own_call():
    model = OwnCall()
    model.compile("sgd", "mse")
    return model


RUNS = {
    "a loss": lambda x, y: dense(loss=shifted).fit(x, y, verbose=0),
    "a loss of an evaluation": lambda x, y: dense(loss=shifted).evaluate(x, y, verbose=0),
    "a loss of one batch": lambda x, y: dense(loss=shifted).train_on_batch(x, y),
    "a metric": lambda x, y: dense(loss="mse", metrics=[shifted, "mae"]).fit(x, y, verbose=0),
    "a metric of a validation": lambda x, y: dense(loss="mse", metrics=[shifted]).evaluate(x, y, verbose=0),
    "a train_step": lambda x, y: own_step().fit(x, y, verbose=0),
}
CALLS = {
    "fit": lambda x, y: own_call().fit(x, y, shuffle=False, verbose=0),
    "evaluate": lambda x, y: own_call().evaluate(x, y, verbose=0),
    "predict": lambda x, y: OwnCall().predict(x),
}


@pytest.mark.parametrize("what", RUNS)
def test_a_change_of_the_data_is_an_error(what):
    with pytest.raises(RuntimeError, match=r"it changes y(_true)? in place, which may be the data itself"):
        RUNS[what](X.copy(), Y.copy())


@pytest.mark.parametrize("method", CALLS)
def test_a_model_whose_call_changes_its_input_gets_a_copy(method):
    x, y = X.copy(), Y.copy()
    CALLS[method](x, y)
    np.testing.assert_array_equal(x, X)


def test_what_nobody_else_needs_may_be_changed():
    """Shuffled batches are copies, and a loader's are its own: only the model sees them."""
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(Y)), batch_size=3)
    for data in [(X.copy(), Y), (loader,)]:
        assert len(own_call().fit(*data, verbose=0).history["loss"]) == 1
