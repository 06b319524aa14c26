"""What was put into a layer and looks at its mode, such as a hook, computes in the mode of the call."""

import copy
import threading
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune, spectral_norm as old_spectral_norm
from torch.utils._pytree import tree_map

from torchkeras import Input, Model, callbacks, layers
from torchkeras.engine.modes import reads_mode
from torchkeras.layers import Dense

X = np.random.default_rng(0).random((8, 6), "float32")
Y = X[:, :4].copy()


class Counting(nn.Module):
    """A parametrization of a user's: in training it counts, and makes weights larger."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, weight: Any) -> Any:
        if not self.training:
            return weight
        self.count += 1
        return weight * 1.5


def larger(outputs: Any) -> Any:
    return tree_map(lambda each: each * 1.5, outputs)


def hooked(module: nn.Module, _: str) -> None:
    module.register_forward_hook(lambda module, _, outputs: larger(outputs) if module.training else outputs)


def replaced(module: nn.Module, _: str) -> None:
    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        outputs = type(self).forward(self, *args, **kwargs)
        return larger(outputs) if self.training else outputs

    module.forward = types.MethodType(forward, module)


WAYS: dict[str, Callable[[Any, str], Any]] = {
    "spectral_norm": parametrizations.spectral_norm,
    "old_spectral_norm": old_spectral_norm,
    "own": lambda module, name: parametrize.register_parametrization(module, name, Counting()),
    "hook": hooked,
    "forward": replaced,
}
SERIES = (5, 6)
WITHOUT = [  # modules that have the weights alone and are not called; the norm of a vector, which has no mode
    *((case, way) for case in ("LSTM", "RNN") for way in ("hook", "forward")),
    *((case, "spectral_norm") for case in ("LayerNormalization", "BatchNormalization")),
]
CASES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...], str]] = {
    "Dense": (Dense(4), (6,), "weight"),
    "Dense before a softmax": (Dense(4, activation="softmax"), (6,), "weight"),
    "Conv2D": (layers.Conv2D(4, 3, activation="relu"), (6, 6, 3), "weight"),
    "Conv2DTranspose": (layers.Conv2DTranspose(4, 3), (6, 6, 3), "weight"),
    "SeparableConv2D": (layers.SeparableConv2D(4, 3), (6, 6, 3), "weight"),
    "Embedding": (layers.Embedding(10, 4), (5,), "weight"),
    "LSTM": (layers.LSTM(4), SERIES, "weight_hh_l0"),
    "LSTM by torch's kernel": (layers.LSTM(4, recurrent_activation="sigmoid"), SERIES, "weight_hh_l0"),
    "ConvLSTM2D": (layers.ConvLSTM2D(2, 3), (3, 6, 6, 2), "weight"),
    "RNN": (layers.RNN(layers.StackedRNNCells([layers.GRUCell(4), layers.LSTMCell(3)])), SERIES, "weight_hh_l0"),
    "TimeDistributed": (layers.TimeDistributed(Dense(4)), SERIES, "weight"),
    "Bidirectional": (
        layers.Bidirectional(layers.LSTM(4, recurrent_activation="sigmoid")),
        SERIES,
        "weight_hh_l0",
    ),
    "EinsumDense": (layers.EinsumDense("abc,cd->abd", (None, 4)), SERIES, "weight"),
    "MultiHeadAttention": (lambda x: layers.MultiHeadAttention(2, 3)(x, x), SERIES, "weight"),
    "BatchNormalization": (layers.BatchNormalization(), (6,), "weight"),
    "LayerNormalization": (layers.LayerNormalization(), (6,), "weight"),
    "TorchModule": (layers.TorchModule(nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4))), (6,), "weight"),
    "a model inside": (lambda x: Model(inside := Input((6,)), Dense(4)(inside))(x), (6,), "weight"),
    "a class of a user's": (type("Own", (Dense,), {})(4), (6,), "weight"),
    "a call of a user's": (
        type("Twice", (Dense,), {"call": lambda self, x: 2 * Dense.call(self, x)})(4),
        (6,),
        "weight",
    ),
}


def made(case: str, way: str) -> tuple[Model, np.ndarray, np.ndarray]:
    """A model, an input, and what torch gives for it in evaluation mode."""
    torch.manual_seed(0)
    make, shape, name = CASES[case]
    inputs = Input(shape)
    model = copy.deepcopy(Model(inputs, make(inputs)))
    module = next(each for each in model.modules() if name in each._parameters and not isinstance(each, layers.Layer))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        WAYS[way](module, name)
    drawn = np.random.default_rng(1).random((8, *shape), "float32")
    x = (drawn * 10).astype("int64") if case == "Embedding" else drawn
    with torch.no_grad():
        return model, x, copy.deepcopy(model).eval()(torch.from_numpy(x)).numpy()


@pytest.mark.parametrize(
    ("case", "way"),
    [(case, way) for case in CASES for way in WAYS if (case, way) not in WITHOUT],
)
def test_what_looks_at_the_mode_sees_that_of_the_call(case: str, way: str):
    model, x, expected = made(case, way)
    before = copy.deepcopy(model.state_dict())
    for rows in (slice(None), slice(1)):  # the kernels for one sample round in other ways
        with_gradients = model(torch.from_numpy(x[rows]), training=False).detach()
        for found in (model.predict(x[rows]), with_gradients):
            np.testing.assert_allclose(found, expected[rows], rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    model.compile("sgd", "mse", jit_compile=False)
    loss = model.evaluate(x, np.zeros_like(expected), verbose=0)
    assert loss == pytest.approx(float((expected**2).mean()), rel=1e-4)
    assert all(module.training for module in model.modules())
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name

    model.eval()
    trained = model(torch.from_numpy(x), training=True).detach()
    moved = any(not torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert moved or not np.allclose(trained, expected, atol=1e-4)
    assert not any(module.training for module in model.modules())


def dense(**options: Any) -> tuple[Model, Any]:
    inputs = Input((6,))
    model = Model(inputs, Dense(4, **options)(inputs))
    linear = model.layers[1].linear
    parametrize.register_parametrization(linear, "weight", Counting())
    counting = linear.parametrizations.weight[0]
    counting.count.zero_()  # torch has computed it
    return model, counting


def test_a_penalty_on_a_computed_weight_follows_the_mode_too():
    model, counting = dense(kernel_regularizer="l2")
    model.compile("sgd", "mse", jit_compile=False)
    linear: Any = copy.deepcopy(model).eval().layers[1].linear
    with torch.no_grad():
        expected = ((linear(torch.from_numpy(X)) - torch.from_numpy(Y)) ** 2).mean() + 0.01 * (linear.weight**2).sum()
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(float(expected))
    assert counting.count == 0
    model.fit(X, Y, batch_size=8, verbose=0)
    assert counting.count == 2  # by the call and for the penalty, as `linear.weight` in a loop by hand


def test_one_that_comes_in_the_middle_of_a_fit_is_left_alone_by_the_validation():
    inputs = Input((6,))
    model = Model(inputs, Dense(4)(inputs))
    model.compile("sgd", "mse", jit_compile=False)
    linear = model.layers[1].linear

    class Register(callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            if epoch == 1:
                WAYS["own"](linear, "weight")

    model.fit(X, Y, epochs=2, batch_size=8, verbose=0, callbacks=[Register()], validation_data=(X, Y))
    assert linear.parametrizations.weight[0].count == 2  # when it was registered, and in one step


def test_a_module_in_the_place_of_a_layers_own():
    inputs = Input((6,))
    model = Model(inputs, Dense(4)(inputs))
    model.layers[1].linear = nn.Sequential(nn.Dropout(0.9), nn.Linear(6, 4))
    with torch.no_grad():
        expected = copy.deepcopy(model).eval()(torch.from_numpy(X))
    np.testing.assert_array_equal(model.predict(X), expected)


class Doubling(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            return x * 2
        return x


def test_a_script():
    inputs = Input((6,))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit")
        script = torch.jit.script(Doubling())
    model = Model(inputs, layers.TorchModule(script)(inputs)).train()
    np.testing.assert_array_equal(model.predict(X), X)
    np.testing.assert_array_equal(model(torch.from_numpy(X)), 2 * X)


def test_threads_that_predict_beside_a_fit():
    model, counting = dense()
    model.compile("sgd", "mse", jit_compile=False)
    done = threading.Event()

    def predict() -> None:
        while not done.is_set():
            model.predict(X[:2])

    threads = [threading.Thread(target=predict) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        model.fit(X, Y, epochs=20, batch_size=4, verbose=0)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert counting.count == 40


@pytest.mark.torch("2.8", "compiled steps")
def test_compiled_by_torch():
    model, counting = dense()
    model.compile("sgd", "mse", jit_compile=True)
    for _ in range(2):
        model.evaluate(X, Y, batch_size=4, verbose=0)
        model.predict(X, batch_size=4)
    assert counting.count == 0


def test_spectral_norm_of_a_frozen_layer_stays_as_it_is():
    inputs = Input((6,))
    frozen: Any = Dense(4)
    model = Model(inputs, Dense(4)(frozen(inputs)))
    parametrizations.spectral_norm(frozen.linear)
    frozen.trainable = False
    norm = frozen.linear.parametrizations.weight[0]
    before = norm._u.clone()
    model.compile("sgd", "mse", jit_compile=False)
    model.fit(X, Y, verbose=0)
    model(torch.from_numpy(X), training=True)
    assert torch.equal(norm._u, before)


def test_which_classes_look_at_a_mode():
    """So training and evaluation need not wait for each other."""
    pruning = prune.L1Unstructured
    known = [nn.Linear, nn.Conv2d, nn.Embedding, nn.Sequential, nn.LayerNorm, parametrize.ParametrizationList, pruning]
    normed: Any = parametrizations.weight_norm(nn.Linear(2, 2))
    spectral: Any = parametrizations.spectral_norm(nn.Linear(2, 2))
    kinds = [type(each) for each in (normed, normed.parametrizations.weight[0], spectral)]
    assert not any(map(reads_mode, known + kinds))
    own = parametrize.register_parametrization(OfUser(2, 2), "weight", nn.Identity())
    assert all(map(reads_mode, (nn.Dropout, Counting, type(spectral.parametrizations.weight[0]), type(own))))


class OfUser(nn.Linear):
    """It stays a user's when torch derives another class from it."""


class Dropping(layers.Layer):
    def build(self, input_shape: Any) -> None:
        self.plain, self.ours = nn.Dropout(0.9), layers.Dropout(0.9)
        self.bare = nn.Sequential(nn.Dropout(0.9))

    def call(self, inputs: Any) -> Any:
        return self.bare(self.ours(self.plain(inputs)))


class SetInBuild(Dropping):
    def build(self, input_shape: Any) -> None:
        self.eval()
        super().build(input_shape)


@pytest.mark.parametrize("make", [Dropping, lambda: layers.TimeDistributed(Dropping())])
def test_modules_made_by_the_first_call_have_the_mode_that_the_layer_was_set_to(make: Any):
    layer, inputs = make().eval(), torch.ones(2, 3, 4)
    assert torch.equal(layer(inputs), inputs)
    assert not any(module.training for module in layer.modules())
    assert all(module.training for module in layer.train().modules())
    assert not torch.equal(layer(inputs), inputs)


def test_a_layer_that_its_build_sets_to_evaluation_mode():
    layer, inputs = SetInBuild(), torch.ones(2, 3, 4)
    assert torch.equal(layer(inputs), inputs)
    assert not any(module.training for module in layer.modules())
