"""A Sequential is a list of its layers, as torch.nn.Sequential is one."""

import numpy as np
import pytest
import torch

from torchkeras.layers import Activation, Dense, Input, ReLU
from torchkeras.models import Model, Sequential, load_model

X = np.random.default_rng(0).standard_normal((2, 4)).astype("float32")


def three():
    return Sequential([Dense(3, input_shape=(4,), name="a"), Dense(2, name="b"), Dense(1, name="c")])


def names(model):
    return "".join(layer.name for layer in model)


def test_length_index_and_iteration():
    model = three()
    assert (len(model), names(model), model[0].name, model[-1].name) == (3, "abc", "a", "c")
    assert (len(Sequential()), bool(Sequential())) == (0, True)
    with pytest.raises(IndexError):
        model[3]


def test_a_slice_is_a_model_of_the_same_layers():
    model = three()
    first, rest = model[:2], model[2:]
    assert (first.input_shape, first.output_shape, rest.input_shape) == ((None, 4), (None, 2), (None, 2))
    assert first[1] is model[1]
    np.testing.assert_array_equal(rest.predict(first.predict(X)), model.predict(X))
    assert (len(model[5:]), names(model)) == (0, "abc")
    model.pop()  # the layers of slices are still those of the model
    np.testing.assert_array_equal(model.predict(X), first.predict(X))


def test_layers_are_put_in_and_taken_out():
    model = three()
    expected = Model(model.inputs, Dense(1, name="other")(model[1](ReLU()(model[0].output))))
    expected.set_weights(model.get_weights())
    assert names(model.insert(1, ReLU(name="r"))) == "arbc"
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert names(model.insert(0, Activation("tanh", name="t"))) == "tarbc"
    assert model.input_shape == (None, 4)
    np.testing.assert_allclose(model.predict(X), expected.predict(np.tanh(X)), rtol=1e-6)
    del model[0], model[1]
    assert (names(model), model.output_shape) == ("abc", (None, 1))
    model[2] = Dense(5, name="z")
    assert (names(model), model.output_shape) == ("abz", (None, 5))
    del model[1:]
    assert (names(model), model.input_shape, model.output_shape) == ("a", (None, 4), (None, 3))


def test_a_layer_is_popped_by_its_index():
    model = three()
    assert (model.pop(0).name, names(model), model.input_shape) == ("a", "bc", (None, 3))
    assert (model.pop().name, names(model), model.output_shape) == ("c", "b", (None, 2))
    with pytest.raises(IndexError):
        model.pop(1)
    assert (model.pop(-1).name, len(model)) == ("b", 0)


def test_models_are_added():
    model, more = three(), [Dense(5, name="d"), ReLU(name="e")]
    both = model + Sequential(more)
    assert (names(both), names(model), both.output_shape) == ("abcde", "abc", (None, 5))
    x = torch.from_numpy(X)
    assert torch.equal(both(x), more[1](more[0](model(x))))
    model += more
    np.testing.assert_array_equal(both.predict(X), model.predict(X))


@pytest.mark.parametrize("first", [Dense(3, name="a"), Input((4,))])
def test_a_model_without_its_first_layer_begins_with_what_the_next_one_had(first):
    model = three()
    del model[0]
    assert (names(model), model.input_shape, model.predict(X[:, :3]).shape) == ("bc", (None, 3), (2, 1))
    waiting = Sequential([first, Dense(2, name="b")])
    del waiting[-2:-1]
    assert names(waiting) == "b"


def test_layers_that_do_not_fit_leave_the_model_as_it_was():
    model = three()
    expected = model.predict(X)
    for change in (
        lambda: model.insert(1, Dense(7)),
        lambda: model.extend([Dense(2), Dense(3, input_shape=(9,)), "no layer"]),
        lambda: model.__delitem__(1),
        lambda: model.__setitem__(0, Dense(7)),
    ):
        with pytest.raises((ValueError, TypeError)):
            change()
        assert names(model) == "abc"
        np.testing.assert_array_equal(model.predict(X), expected)


def test_a_changed_model_trains_and_is_saved(tmp_path):
    model = Sequential([Input((4,)), Dense(3)])
    assert model.append(Dense(2)).extend([ReLU(), Dense(1)]) is model
    model.insert(-1, Dense(2))
    del model[0]
    model.compile("sgd", "mse")
    model.fit(X[:, :3], np.ones((2, 1)), verbose=0)
    model.save(tmp_path / "model.keras")
    found = load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(found.predict(X[:, :3]), model.predict(X[:, :3]))


def test_a_model_without_weights_yet():
    model = Sequential([Dense(3), Dense(2)]).insert(1, ReLU())
    del model[-1]
    assert (model.built, len(model)) == (False, 2)
    assert model(torch.ones(1, 4)).shape == (1, 3)


def test_pop_takes_the_call_of_this_model_away():
    model = three()
    last = model[-1]
    other = last(Input((2,)))
    model.pop()
    assert model.output_shape == (None, 2)
    assert other.keras_history.layer is last
