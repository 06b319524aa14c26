"""Layers, modules and variables that the code of a layer makes in a call."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from plain_pytorch import refused
from torch import nn

import torchkeras
from torchkeras import backend as K
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import Activation, Dense, Dropout, Input, Lambda, TorchModule
from torchkeras.models import Model, Sequential


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


X = np.ones((4, 3), "float32")


class Own(Layer):
    def __init__(self, code, **options):
        super().__init__(**options)
        self.code = [code]

    def call(self, inputs):
        return self.code[0](self, inputs)


class WithShape(Own):
    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 4)


class Torchs(Layer):
    def __init__(self, code, **options):
        super().__init__(**options)
        self.code = [code]

    def forward(self, inputs):
        return self.code[0](self, inputs)


def text(owner, made, kind):
    return (
        f"{owner}: its code makes {made} in a call, so that each call has other weights, which nothing trains and no "
        "file has. Make it once and use it in the call: in __init__ of a layer of your own, as "
        f"self.inside = {kind}(...); or call it on the symbolic tensor, as a layer of the graph."
    )


def again(layer, inputs):
    layer.inside = Dense(4, name="made")
    return layer.inside(inputs)


def listed(layer, inputs):
    return Dense(4, name="made")(inputs)


MADE = [
    (lambda _, x: Dense(4, name="made")(x), "Dense 'made'", "Dense"),
    (again, "Dense 'made'", "Dense"),
    (lambda _, x: nn.Linear(3, 4)(x), "the module Linear", "Linear"),
    (lambda _, x: Sequential([Dense(4, input_shape=(3,), name="made")])(x), "Dense 'made'", "Dense"),
    (lambda _, x: nn.Sequential(nn.Linear(3, 4), nn.ReLU())(x), "the module Linear", "Linear"),
]


@pytest.mark.parametrize(("code", "made", "kind"), MADE)
def test_what_has_weights_is_refused_in_a_graph(code, made, kind):
    if code is not again:
        with refused(ValueError, text("Lambda 'one'", made, kind)):
            Lambda(lambda x: code(None, x), name="one")(Input((3,)))
    with refused(ValueError, text("Own 'one'", made, kind)):
        Own(code, name="one")(Input((3,)))
    with refused(ValueError, text("Torchs 'one'", made, kind)):
        Torchs(code, name="one")(Input((3,)))


@pytest.mark.parametrize(("code", "made", "kind"), MADE)
def test_what_has_weights_is_refused_on_tensors(code, made, kind):
    for owner in (Own(code, name="one"), Torchs(code, name="one")):
        with refused(ValueError, text(f"{type(owner).__name__} 'one'", made, kind)):
            for _ in range(2):
                owner(torch.ones(4, 3))
    inputs = Input((3,))
    model = Model(inputs, WithShape(code, name="one")(inputs))
    with refused(ValueError, text("WithShape 'one'", made, kind)):
        for _ in range(2):
            model.predict(X)


def test_models_and_modules_whose_code_makes_layers():
    class Subclassed(Model):
        def call(self, inputs):
            return Dense(4)(inputs)

    with pytest.raises(ValueError, match="Subclassed 'one': its code makes Dense 'dense_1' in a call"):
        Subclassed(name="one").predict(X)

    class Module(nn.Module):
        def forward(self, inputs):
            return nn.Linear(3, 4)(inputs)

    with refused(ValueError, text("TorchModule 'one'", "the module Linear", "Linear")):
        TorchModule(Module(), name="one")(Input((3,)))


@pytest.mark.parametrize(
    "code",
    [
        lambda x: Activation("relu")(x),
        lambda x: Dropout(0.5)(x),
        lambda x: nn.ReLU()(x),
        lambda x: x * K.variable(np.ones(3)),
        lambda x: x * K.ones((3,)) + K.zeros((3,)),
        lambda x: x * K.constant([1.0, 1.0, 1.0]),
    ],
)
def test_what_has_no_weights_of_its_own_may_be_made(code):
    inputs = Input((3,))
    model = Model(inputs, Lambda(code)(inputs))
    assert model.predict(X).tolist() == X.tolist()


def test_random_variables_are_refused():
    for make, name in (
        (lambda: K.random_uniform_variable((3,), 0, 1), "random_uniform_variable"),
        (lambda: K.random_normal_variable((3,), 0, 1), "random_normal_variable"),
    ):
        message = (
            f"Lambda 'one': K.{name} in a call makes another variable each time. Make it once, outside; a weight by "
            "add_weight in build."
        )
        with refused(ValueError, message):
            Lambda(lambda x, make=make: x * make(), name="one")(Input((3,)))
        assert make().shape == (3,), "outside it is made"


@pytest.mark.parametrize("name", ["variable", "constant"])
def test_random_numbers_of_numpy_are_refused(name):
    make = getattr(K, name)
    message = (
        f" 'one': K.{name} of random numbers in a call makes another {name} each time. Make it once, outside; a weight "
        "by add_weight in build."
    )
    with refused(ValueError, f"Lambda{message}"):
        Lambda(lambda x: x * make(np.random.rand(3)), name="one")(Input((3,)))  # noqa: NPY002 - as scripts draw
    with refused(ValueError, f"Own{message}"):
        Own(lambda _, x: x + make(np.random.normal(size=3)), name="one")(Input((3,)))  # noqa: NPY002
    once = np.arange(3.0)
    inputs = Input((3,))
    model = Model(inputs, Lambda(lambda x: x * make(once))(inputs))
    np.testing.assert_allclose(model.predict(X), X * once, rtol=1e-6)


def test_a_weight_that_code_adds_at_each_call():
    def adds(layer, inputs):
        return inputs @ layer.add_weight("w", (3, 4))

    inputs = Input((3,))
    model = Model(inputs, WithShape(adds, name="one")(inputs))
    message = (
        "WithShape 'one': its code makes the weight 'w' in a call, and each call makes another: make weights in "
        "__init__ or build."
    )
    with refused(ValueError, message):
        model.predict(X)


def test_layers_that_are_made_once_and_kept():
    class Late(Layer):
        def __init__(self):
            super().__init__()
            self.inside, self.first = None, Dense(3)

        def call(self, inputs):
            if self.inside is None:
                self.inside = Dense(4)
            return self.inside(self.first(inputs))

    layer = Late()
    assert torch.equal(layer(torch.ones(4, 3)), layer(torch.ones(4, 3)))
    assert [tuple(each.shape) for each in layer.weights] == [(3, 3), (3,), (3, 4), (4,)]


def test_plain_torch_is_not_watched():
    code = """
import torch, torchkeras
from torch.nn.modules.module import _global_parameter_registration_hooks as hooks
from torchkeras.layers import Dense, Input, Lambda
model = torchkeras.Model(inputs := Input((3,)), Dense(2)(inputs))
model.compile("sgd", "mse")
model.fit(torch.ones(4, 3), torch.ones(4, 2), verbose=0)
assert not hooks
Lambda(lambda x: x + 1)(inputs)
assert len(hooks) == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True)
