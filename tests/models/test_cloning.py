"""`clone_model`: what it copies without a registry, and its functions, as Keras 3 has them."""

import numpy as np
import pytest
import torch
from composite import Own

import torchkeras
from torchkeras import regularizers
from torchkeras.layers import (
    LSTM,
    Activation,
    Bidirectional,
    Dense,
    Dropout,
    Input,
    Lambda,
    Layer,
    TimeDistributed,
    TorchModule,
)
from torchkeras.models import Model, Sequential, clone_model


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def twin():
    """Another class and another function of the same names, as two notebooks may have them."""

    class Own(Layer):
        def call(self, inputs):
            return 2 * inputs

    def thrice(x):
        return 5 * x

    return Own, thrice


def thrice(x):
    return 3 * x


class Sums(regularizers.Regularizer):
    def __call__(self, weight):
        return weight.sum()

    def get_config(self):
        return {}


def ones(shape, dtype=None):
    return torch.ones(shape)


FACTOR = 3.0
LAYERS = {
    "a class": lambda: Own(4),
    "a class within a wrapper": lambda: TimeDistributed(Own(4)),
    "a lambda": lambda: Lambda(lambda x: x * 2),
    "a lambda with a global": lambda: Lambda(lambda x: x * FACTOR),
    "a function": lambda: Lambda(thrice),
    "an activation": lambda: Dense(4, activation=thrice),
    "a lambda as activation": lambda: Activation(lambda x: x * 2),
    "a regularizer": lambda: Dense(4, kernel_regularizer=Sums()),
    "an initializer": lambda: Dense(4, kernel_initializer=ones),
    "within a wrapper": lambda: Bidirectional(LSTM(2, activation=thrice, return_sequences=True)),
    "a module of torch": lambda: TorchModule(torch.nn.Linear(4, 4)),
}


@pytest.mark.parametrize("form", ["functional", "Sequential", "nested", "twice"])
@pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS)
def test_what_the_model_has_needs_no_registry(make, form):
    inputs = Input((5, 4))
    model = Model(inputs, make()(inputs)) if form != "Sequential" else Sequential([inputs, make()])
    if form == "nested":
        model = Model(outer := Input((5, 4)), model(outer))
    if form == "twice":
        model = clone_model(model)
    clone = clone_model(model)
    assert [layer.name for layer in clone.layers] == [layer.name for layer in model.layers]
    assert not set(clone.parameters()) & set(model.parameters())
    clone.set_weights(model.get_weights())
    x = torch.rand(2, 5, 4)
    torch.testing.assert_close(clone(x), model(x))


def test_classes_and_functions_of_one_name_are_not_confused():
    other, function = twin()
    inputs = Input((4,))
    x = other()(Own(4)(inputs))
    model = Model(inputs, Dense(4, activation=function)(Dense(4, activation=thrice)(x)))
    clone = clone_model(model)
    assert [type(layer) for layer in clone.layers] == [type(layer) for layer in model.layers]
    clone.set_weights(model.get_weights())
    values = torch.rand(2, 4)
    torch.testing.assert_close(clone(values), model(values))


def test_custom_objects_come_first():
    inputs = Input((4,))
    clone = clone_model(Model(inputs, Lambda(thrice)(inputs)), custom_objects={"thrice": lambda x: 7 * x})
    assert clone(torch.ones(1, 4)).tolist() == [[7.0] * 4]


def replaced(layer):
    """Dense layers twice as wide, and others as they are."""
    config = layer.get_config()
    if isinstance(layer, Dense):
        config["units"] *= 2
    return type(layer).from_config(config)


def inner():
    return Sequential([Dense(2, input_shape=(4,), name="first"), Dense(2, name="second")], name="inner")


def outer():
    inputs = Input((4,))
    return Model(inputs, Dense(3, name="last")(inner()(inputs)))


def test_a_clone_function_gets_each_layer_but_the_inputs():
    seen = []

    def clone(layer):
        seen.append(layer.name)
        return replaced(layer)

    found = clone_model(outer(), clone_function=clone)
    assert seen == ["inner", "last"]
    assert found.output_shape == (None, 6)
    assert found.get_layer("inner").output_shape == (None, 2)


def test_a_clone_function_gets_the_layers_inside_if_it_is_to():
    found = clone_model(outer(), clone_function=replaced, recursive=True)
    assert found.output_shape == (None, 6)
    assert [layer.units for layer in found.get_layer("inner").layers] == [4, 4]


def test_a_clone_function_for_a_sequential():
    assert [layer.units for layer in clone_model(inner(), clone_function=replaced).layers] == [4, 4]


def test_a_clone_function_may_give_the_layer_itself():
    """Then it is shared, with its weights."""
    model = outer()
    clone = clone_model(model, clone_function=lambda layer: layer)
    assert clone.layers[1:] == model.layers[1:]
    x = np.ones((1, 4), "float32")
    np.testing.assert_array_equal(clone.predict(x), model.predict(x))


def test_a_layer_in_the_place_of_a_model():
    found = clone_model(outer(), clone_function=lambda layer: Dense(5) if layer.name == "inner" else replaced(layer))
    assert [layer.output_shape for layer in found.layers] == [(None, 4), (None, 5), (None, 6)]


def test_a_call_function_puts_layers_in_between():
    found = clone_model(
        outer(), call_function=lambda layer, *args, **kwargs: Dropout(0.5)(layer(*args, **kwargs)), recursive=False
    )
    assert [type(layer).__name__ for layer in found.layers] == [
        *("InputLayer", "Sequential", "Dropout", "Dense", "Dropout"),
    ]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"clone_function": "copy"}, TypeError, "clone_model: clone_function must be a function; found 'copy'."),
        ({"call_function": 3}, TypeError, "clone_model: call_function must be a function; found 3."),
        ({"recursive": "yes"}, ValueError, "clone_model: recursive must be True, False, 1 or 0; found 'yes'."),
        (
            {"clone_function": lambda layer: None},
            TypeError,
            "clone_model: clone_function must return a layer; of 'first' it made None.",
        ),
        (
            {"call_function": lambda layer, x: layer(x)},
            ValueError,
            "clone_model: call_function is for graphs; 'inner' is a Sequential.",
        ),
    ],
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error) as found:
        clone_model(inner(), **options)
    assert str(found.value) == message
