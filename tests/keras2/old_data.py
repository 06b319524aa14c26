"""Further cases for `test_old_models.py`, run with those of `old_models.py`: what models take, and what they refuse."""

import copy
import pickle

import torchkeras.as_keras  # noqa: F401  # isort: skip  (a script's first line)

import numpy as np
import pytest
from keras import backend as K, layers
from keras.models import Model, Sequential

from torchkeras.base import bytecode

seen = []


class Noted(layers.Layer):
    """Notes the size of each batch."""

    def call(self, inputs):
        if not inputs.is_meta:
            seen.append(len(inputs))
        return inputs


def two_outputs():
    x = layers.Input((3,))
    return Model(x, [layers.Dense(2, name="a")(x), layers.Dense(2, name="b")(x)])


def two_layers():
    x = layers.Input((3,))
    return Model(x, layers.Dense(5, name="second")(layers.Dense(4, name="first")(x)))


def each_step_takes_variables_whole():
    model = Sequential([Noted(input_shape=(3,)), layers.Dense(2)])
    model.compile("sgd", "mse")
    x, y, few = K.ones((40, 3)), K.zeros((40, 2)), (K.ones((5, 3)), K.zeros((5, 2)))
    model.fit(x, y, epochs=1, steps_per_epoch=2, verbose=0, validation_data=few, validation_steps=1)
    assert seen == [40, 40, 5]
    assert model.predict(x, steps=2).shape == (80, 2)
    assert model.evaluate(x, y, steps=1, verbose=0) == model.test_on_batch(x, y)
    with pytest.raises(
        ValueError, match=r"^fit: with variables as data you should specify the `steps_per_epoch`: each"
    ):
        model.fit(x, y, batch_size=5)
    with pytest.raises(ValueError, match=r"^fit: with variables as data you cannot use `validation_split`\.$"):
        model.fit(x, y, steps_per_epoch=2, validation_split=0.5)


def a_stateful_model_has_batches_of_32_unless_it_is_told():
    model = Sequential([layers.SimpleRNN(2, stateful=True, batch_input_shape=(2, 3, 1))])
    model.compile("sgd", "mse")
    x, y = np.zeros((4, 3, 1)), np.zeros((4, 2))
    for call in (model.fit, model.evaluate):
        with pytest.raises(ValueError, match="batch size 32"):
            call(x, y, verbose=0)
    assert model.predict(x[:2]).shape == (2, 2)
    assert len(model.fit(x, y, batch_size=2, verbose=0).history["loss"]) == 1


def several_outputs_want_lists_and_dicts():
    model = two_outputs()
    with pytest.raises(TypeError, match=r"^compile: loss_weights must be a list or a dict; found \(1, 2\)\.$"):
        model.compile("sgd", "mse", loss_weights=(1, 2))
    with pytest.raises(ValueError, match=r"^compile: the output 'b' is missing from the dict sample_weight_mode\.$"):
        model.compile("sgd", "mse", sample_weight_mode={"a": None})
    model.compile("sgd", {"a": "mse"}, sample_weight_mode={"a": None})
    model.compile("sgd", "mse", sample_weight_mode={"a": None, "b": None})
    data = np.zeros((4, 3)), [np.zeros((4, 2))] * 2
    with pytest.raises(
        TypeError, match="train_on_batch: the sample_weight of 2 outputs must be a list or a dict; found"
    ):
        model.train_on_batch(*data, sample_weight=(np.ones(4), np.ones(4)))
    assert len(model.train_on_batch(*data, sample_weight=[np.ones(4), None])) == 3


def inputs_are_taken_away_and_set_again():
    model = Sequential([layers.Dense(2, input_shape=(3,))])
    with pytest.raises(ValueError, match="model inputs are already set"):
        model._set_inputs(model.inputs)
    inputs, before = model.inputs, model.predict(np.ones((1, 3)))
    model.inputs = None
    assert model.inputs is None
    model._set_inputs(inputs)
    assert model.inputs == inputs
    assert np.array_equal(model.predict(np.ones((1, 3))), before)
    with pytest.raises(AttributeError, match="inputs may be set to None, and then by _set_inputs; found"):
        model.inputs = inputs


def a_model_of_a_users_class_gets_inputs():
    class Own(Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(2)

        def call(self, inputs):
            return self.dense(inputs)

    model = Own()
    model._set_inputs(np.zeros((5, 3)))
    assert [tensor.shape for tensor in model.inputs] == [(None, 3)]
    assert [weight.shape for weight in model.get_weights()] == [(3, 2), (2,)]


def a_pickle_has_lambdas_as_bytecode():
    x = layers.Input((3,))
    model = Model(x, layers.Lambda(lambda t: t[:, :1] * 2)(x))
    given = np.ones((2, 3))
    found = pickle.dumps(model)
    loaded = pickle.loads(found)  # noqa: S301  (ours)
    assert np.array_equal(loaded.predict(given), model.predict(given))
    assert loaded.layers[1].function is model.layers[1].function
    assert copy.deepcopy(model).layers[1].function is model.layers[1].function
    bytecode.WRITTEN.clear()  # as in another process, which reads a formula
    again = pickle.loads(found)  # noqa: S301  (ours)
    assert np.array_equal(again.predict(given), model.predict(given))
    assert bytecode.is_formula(again.layers[1].function)
    kept = object()
    closing = Model(x, layers.Lambda(lambda t: (t, kept)[0])(x))
    with pytest.raises((AttributeError, pickle.PicklingError), match=r"Can't .*pickle"):
        pickle.dumps(closing)


def a_config_has_the_function_of_a_mask():
    x = layers.Input((3,))
    model = Model(x, layers.Lambda(lambda t: t * 2, mask=lambda t, mask: t[:, 0] > 0)(x))
    again = Model.from_config(model.get_config())
    assert again.layers[1].mask is model.layers[1].mask


def keras_2_ignored_some_arguments():
    with pytest.warns(UserWarning, match="^LSTM: forget_bias_init is ignored, as in Keras 2; unit_forget_bias=False"):
        layer = layers.LSTM(2, forget_bias_init="zero")
    assert layer.unit_forget_bias
    for make in (
        lambda: layers.Deconvolution2D(5, 3, 3, (None, 9, 9, 5), subsample=(2, 2)),
        lambda: layers.Deconvolution2D(5, 3, 3, output_shape=(None, 9, 9, 5), subsample=(2, 2)),
    ):
        with pytest.warns(
            UserWarning, match="^Deconvolution2D|^Conv2DTranspose: output_shape is ignored, as in Keras 2"
        ):
            made = make()
        assert made(layers.Input((4, 4, 1))).shape == (None, 9, 9, 5)


def a_cropping_may_leave_nothing():
    x = layers.Input((4, 2))
    model = Model(x, layers.Cropping1D((2, 2))(x))
    assert model.output_shape == (None, 0, 2)
    assert model.predict(np.ones((3, 4, 2))).shape == (3, 0, 2)
    with pytest.raises(ValueError, match=r"cropping .* does not fit the input .*: axis 1 is 4 long"):
        layers.Cropping1D((2, 3))(x)


def numpys_seed_makes_dropout():
    found = []
    for seed in (7, 7, 8):
        np.random.seed(seed)  # noqa: NPY002  (as scripts do)
        x = layers.Input((100,))
        found.append(Model(x, layers.Dropout(0.5)(x, training=True)).predict(np.ones((1, 100))))
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def an_evaluation_has_one_number_with_a_bar_and_without():
    random = np.random.default_rng(0)
    for _ in range(5):
        model = Sequential([layers.Dense(10, input_shape=(10,)), layers.Dense(5)])
        model.compile("sgd", "mse")
        data = random.random((200, 10)), random.random((200, 5))
        assert model.evaluate(*data, verbose=0) == model.evaluate(*data, verbose=1)


def a_layer_popped_off_the_list_is_not_its_end():
    model = two_layers()
    model.layers.pop()
    assert [layer.name for layer in model.layers[1:]] == ["first"]
    assert Model(model.input, model.layers[-1].output).output_shape == (None, 4)
    assert model.output_shape == (None, 5)
    model.outputs = [model.layers[-1].output]
    model.layers[-1].outbound_nodes = []
    assert model.output_shape == (None, 4)
    assert model.predict(np.zeros((2, 3))).shape == (2, 4)
    assert [layer.name for layer in two_layers().layers[1:]] == ["first", "second"]


def the_outputs_of_a_sequential_are_set():
    model = Sequential([layers.Dense(4, input_shape=(3,)), layers.Dense(5)])
    model.layers.pop()  # of a list of its own, as in Keras
    assert len(model.layers) == 2
    with pytest.raises(ValueError, match="the outputs of a Sequential are those of one of its layers; found"):
        model.outputs = [two_layers().output]
    model.outputs = [model.layers[0].output]
    model.add(layers.Dense(7))
    assert [layer.units for layer in model.layers] == [4, 7]
    assert model.predict(np.zeros((2, 3))).shape == (2, 7)
    unbuilt = Sequential([layers.Dense(4), layers.Dense(5)])
    unbuilt.layers.pop()
    unbuilt.build((None, 3))
    assert unbuilt.output_shape == (None, 4)


def a_phase_that_is_set_is_that_of_layers_called_then():
    given = np.arange(8.0).reshape(8, 1)
    for phase in (0, 1):
        K.clear_session()
        x = layers.Input((1,))
        free = layers.BatchNormalization(epsilon=0)(x)
        K.set_learning_phase(phase)
        held = layers.BatchNormalization(epsilon=0)
        model = Model(x, [free, held(x)])
        K.set_learning_phase(1 - phase)
        by_batch = (given - given.mean()) / given.std()
        first, second = model.predict(given)
        assert np.allclose(first, given)
        assert np.allclose(second, by_batch if phase else given, atol=1e-5)
        assert [weight.item() for weight in held.get_weights()] == [1, 0, 0, 1]
        assert not Model(x, model.outputs[1]).uses_learning_phase
        assert [place[3] for layer in model.get_config()["layers"][1:] for place in layer["inbound_nodes"][0]] == [
            {},
            {},
        ]
        dropped = Model(x, Sequential([layers.Dropout(0.5, input_shape=(1,))])(x))
        assert (dropped.predict(np.ones((100, 1))) == 0).any() == (not phase)
    with pytest.raises(ValueError, match="the learning phase must be 0 or 1; found 3"):
        K.set_learning_phase(3)


def an_input_has_a_node_with_itself_for_input_and_output():
    x = layers.Input((3,))
    layer = layers.Dense(2)
    y = layer(x)
    (node,) = x._keras_history[0]._inbound_nodes
    assert node in x._keras_history[0].inbound_nodes
    assert node.input_tensors == node.output_tensors == [x]
    assert node.inbound_layers == node.node_indices == node.tensor_indices == []
    assert (node.input_shapes, node.input_masks) == ([(None, 3)], [None])
    assert node.get_config()["outbound_layer"] == x._keras_history[0].name
    assert x._keras_history[0].get_input_at(0) is x
    assert y._keras_history[0]._inbound_nodes[0].inbound_layers == [x._keras_history[0]]
    layer._inbound_nodes = []
    assert layer.inbound_nodes == []


def class_weights_that_keras_2_ignored_are_ignored():
    x, y = np.ones((4, 3)), np.array([0.0, 1.0, 0.0, 1.0])
    model = Sequential([layers.Dense(1, kernel_initializer="zeros", input_shape=(3,))])
    model.compile("sgd", "mse")
    how = r"Give weights as {0: 1.0, 1: 3.0}, those of an array as dict\(enumerate\(weights\)\)."
    for given, text in [
        ("auto", "'auto'"),
        ([1.0, 3.0], r"\[1.0, 3.0\]"),
        (np.array([1.0, 3.0]), r"array\(\[1., 3.\]\)"),
    ]:
        model.set_weights([np.zeros((3, 1)), np.zeros(1)])
        with pytest.warns(UserWarning, match=f"^class_weight={text} does nothing, as in Keras 2. {how}$"):
            assert model.fit(x, y, class_weight=given, verbose=0).history["loss"] == [0.5]
    for given in ({0: 1.0, 1: 3.0}, [{0: 1.0, 1: 3.0}]):
        model.set_weights([np.zeros((3, 1)), np.zeros(1)])
        assert model.train_on_batch(x, y, class_weight=given) == 1.5
    model = two_outputs()
    model.compile("sgd", "mse")
    model.set_weights([np.zeros_like(weight) for weight in model.get_weights()])
    with pytest.warns(
        UserWarning,
        match=r"^class_weight={0: 1.0, 1: 3.0} does nothing, as in Keras 2. Give weights by the names of the outputs, "
        r"\['a', 'b'\].$",
    ):
        assert model.train_on_batch(x, [np.eye(2)[[0, 1, 0, 1]]] * 2, class_weight={0: 1.0, 1: 3.0})[0] == 1.0
