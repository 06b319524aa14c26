"""Sequential: built at once or when the first input is seen, grown and cut, and its errors."""

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.layers import LSTM, BatchNormalization, Conv2D, Dense, Embedding, Flatten, Input, InputLayer
from torchkeras.models import Model, Sequential


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def deferred():
    return Sequential([Dense(4, activation="relu"), Dense(2)])


def test_built_at_once():
    model = Sequential([Dense(4, input_shape=(3,)), Dense(2)], name="both")
    assert (model.built, model.name) == (True, "both")
    assert (model.input_shape, model.output_shape) == ((None, 3), (None, 2))
    assert [layer.name for layer in model.layers] == ["dense_1", "dense_2"]
    assert model.input_names == ["dense_1_input"]
    assert [weight.shape for weight in model.weights] == [(3, 4), (4,), (4, 2), (2,)]


@pytest.mark.parametrize(
    ("first", "shape", "dtype"),
    [
        (lambda: Dense(4, input_dim=3), (None, 3), torch.float32),
        (lambda: Dense(4, batch_input_shape=(5, 3)), (5, 3), torch.float32),
        (lambda: Dense(4, input_shape=(3,), batch_size=7), (7, 3), torch.float32),
        (lambda: Embedding(10, 2, input_length=6), (None, 6), torch.int32),
        (lambda: Embedding(10, 2), (None, None), torch.int32),
        (lambda: LSTM(2, input_dim=4, input_length=6), (None, 6, 4), torch.float32),
        (lambda: InputLayer((3, 2)), (None, 3, 2), torch.float32),
        (lambda: Sequential([Dense(4, input_shape=(3,))]), (None, 3), torch.float32),
        (lambda: Model(x := Input((3, 5)), Dense(2)(x)), (None, 3, 5), torch.float32),
    ],
)
def test_first_layers_that_tell_the_input(first, shape, dtype):
    model = Sequential([first()])
    assert (model.input_shape, model.inputs[0].dtype) == (shape, dtype)


def test_built_by_the_first_call():
    model = deferred()
    assert (model.built, model.weights) == (False, [])
    values = torch.randn(5, 3)
    output = model(values)
    assert model.built
    assert (model.input_shape, model.output_shape) == ((None, 3), (None, 2))
    first, last = model.layers
    torch.testing.assert_close(output, last(first(values)))
    with pytest.raises(ValueError, match="shape") as error:
        model(torch.randn(5, 4))
    assert str(error.value) == (
        "Input dense_1_input of Sequential 'sequential_1' has shape (None, 3); found shape (5, 4). Give a tensor of "
        "that shape, or make the Input for the shape of the data."
    )


def test_built_by_a_symbolic_call():
    model = deferred()
    assert model(Input((3,))).shape == (None, 2)
    assert model.input_shape == (None, 3)


def test_built_by_build():
    model = deferred()
    model.build((None, 6))
    model.build((None, 9))  # built already: nothing happens
    assert model.input_shape == (None, 6)


@pytest.mark.parametrize("method", ["fit", "evaluate", "train_on_batch", "test_on_batch"])
def test_built_by_data(method):
    model = deferred()
    model.compile("sgd", "mse")
    x, y = np.zeros((8, 3)), np.zeros((8, 2))
    getattr(model, method)(x, y, **({"verbose": 0} if method in ("fit", "evaluate") else {}))
    assert model.output_shape == (None, 2)


def test_built_by_predict():
    model = deferred()
    assert model.predict(np.zeros((8, 3))).shape == (8, 2)


def test_a_deferred_model_starts_as_one_built_at_once():
    torch.manual_seed(1)
    late = deferred()
    late.build((None, 3))
    torch.manual_seed(1)
    early = Sequential([Dense(4, activation="relu", input_shape=(3,)), Dense(2)])
    for found, expected in zip(late.get_weights(), early.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_add_and_pop():
    model = Sequential([Dense(4, input_shape=(3,), name="a")])
    model.add(Dense(5, name="b"))
    assert model.output_shape == (None, 5)
    b = model.layers[1]
    model.pop()
    assert (model.output_shape, b._inbound_nodes, model.layers[0]._outbound_nodes) == ((None, 4), [], [])
    assert list(model.state_dict()) == ["a.linear.weight", "a.linear.bias"]
    model.add(Dense(2, name="c"))
    assert model(torch.zeros(1, 3)).shape == (1, 2)
    model.pop()
    model.pop()
    assert (model.built, model.layers, model.weights) == (False, [], [])
    model.add(Dense(7, input_shape=(6,), name="d"))
    assert model.output_shape == (None, 7)


def test_add_and_pop_before_it_is_built():
    model = deferred()
    model.add(Dense(9))
    model.pop()
    model.pop()
    assert model(torch.zeros(1, 3)).shape == (1, 4)


def test_the_input_stays_when_all_layers_are_popped():
    model = Sequential([InputLayer((3,)), Dense(2)])
    model.pop()
    assert (model.layers, model.output_shape) == ([], (None, 3))


def test_an_added_layer_trains_after_a_new_compile():
    model = Sequential([Dense(4, input_shape=(3,))])
    model.compile("sgd", "mse")
    model.add(Dense(2))
    model.compile("sgd", "mse")
    before = model.get_weights()
    model.train_on_batch(np.ones((4, 3)), np.ones((4, 2)))
    assert all((now != array).any() for now, array in zip(model.get_weights(), before, strict=True))


def test_predict_classes_and_proba():
    model = Sequential([Dense(3, activation="softmax", input_shape=(2,))])
    x = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_array_equal(model.predict_proba(x), model.predict(x))
    np.testing.assert_array_equal(model.predict_classes(x), model.predict(x).argmax(-1))
    single = Sequential([Dense(1, activation="sigmoid", input_shape=(2,))])
    np.testing.assert_array_equal(single.predict_classes(x), (single.predict(x) > 0.5).astype("int32"))


NO_GRAPH = (
    "Sequential 'sequential_1' has no graph yet: its first layer needs an input_shape, or call the model on data, or "
    "call build(input_shape)."
)
ERRORS = [
    (
        lambda: Sequential([3]),
        TypeError,
        "The added layer must be an instance of class Layer. Found: 3 (int).",
    ),
    (
        lambda: Sequential([Dense]),
        TypeError,
        (
            "The added layer must be an instance of class Layer. Found: <class 'torchkeras.layers.core.Dense'> (type). "
            "Make a layer of the class: Dense(...)."
        ),
    ),
    (
        lambda: Sequential([Dense(2, input_shape=(3,)), InputLayer((3,))]),
        ValueError,
        "Sequential 'sequential_1': an InputLayer can only come first; found 'input_1'.",
    ),
    (lambda: Sequential().pop(), TypeError, "There are no layers in the model."),
    (
        lambda: deferred().build(),
        ValueError,
        "Sequential 'sequential_1': build needs an input shape and at least one layer.",
    ),
    (
        lambda: Sequential()(torch.zeros(1, 2)),
        ValueError,
        "Sequential 'sequential_1': build needs an input shape and at least one layer.",
    ),
    (lambda: deferred().summary(), RuntimeError, NO_GRAPH),
    (lambda: deferred().inputs, RuntimeError, NO_GRAPH),
    (lambda: deferred().output_shape, RuntimeError, NO_GRAPH),
    (lambda: deferred().code, RuntimeError, NO_GRAPH),
    (
        lambda: Sequential([LSTM(2, return_state=True, input_shape=(3, 4))]),
        TypeError,
        (
            "All layers in a Sequential model should have a single output tensor; 'lstm_1' has 3. For "
            "several outputs use "
            "Model."
        ),
    ),
    (
        lambda: Sequential([Dense(2, name="d", input_shape=(3,)), Dense(2, name="d")]),
        ValueError,
        (
            "The name 'd' is used 2 times in the model. All layer names should be unique: give each layer a name of "
            "its own, or none."
        ),
    ),
    (
        lambda: Sequential([Dense(2, name="d"), Dense(2, name="d")])(torch.zeros(1, 3)),
        ValueError,
        (
            "The name 'd' is used 2 times in the model. All layer names should be unique: give each layer a name of "
            "its own, or none."
        ),
    ),
    (
        lambda: Sequential([Dense(2, input_shape=(3,)), Conv2D(2, 3)]),
        ValueError,
        (
            "Input 0 is incompatible with layer conv2d_1: expected ndim=4, found ndim=2 (input shape (None, 2)). Give "
            "it an input of 4 axes: samples, rows, columns and channels."
        ),
    ),
    (
        lambda: deferred().fit(np.zeros((2, 3)), np.zeros((2, 2))),
        RuntimeError,
        "You must compile the model 'sequential_1' before training or testing: `model.compile(optimizer, loss)`.",
    ),
]


@pytest.mark.parametrize(("build", "kind", "message"), ERRORS)
def test_error(build, kind, message):
    with pytest.raises(kind) as error:
        build()
    assert str(error.value) == message


def test_a_failed_add_leaves_the_model_as_it_was():
    model = Sequential([Dense(2, input_shape=(3,), name="d")])
    for wrong in (Conv2D(2, 3), Dense(4, name="d")):
        with pytest.raises(ValueError, match=r"incompatible|unique"):
            model.add(wrong)
        assert [layer.name for layer in model.layers] == ["d"]
        assert model(torch.zeros(1, 3)).shape == (1, 2)
    model.add(Dense(4, name="e"))
    assert model.output_shape == (None, 4)


def test_inside_other_models():
    inner = Sequential([Conv2D(4, 3, input_shape=(8, 8, 3)), BatchNormalization(), Flatten()])
    model = Sequential([inner, Dense(2)])
    assert [layer.name for layer in model.layers] == ["sequential_1", "dense_1"]
    assert model(torch.zeros(2, 8, 8, 3)).shape == (2, 2)


def test_an_input_may_begin_it_as_in_later_kerases():
    model = Sequential([Input((4,), name="features"), Dense(2)])
    assert [type(layer) for layer in model.layers] == [Dense]
    assert model.input_names == ["features"]
