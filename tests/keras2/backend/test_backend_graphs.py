"""Functions of the backend in models: names, code, files, functions with updates and the learning phase."""

import copy
from typing import Any

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras import Input, Model, Sequential, backend as K
from torchkeras.errors import ArchitectureError
from torchkeras.layers import Activation, BatchNormalization, Conv2D, Dense, Dropout, Embedding, Lambda, Layer, Masking
from torchkeras.models import load_model


def test_a_call_is_a_line_of_the_model():
    x = Input((3,), name="x")
    normalized = K.l2_normalize(Dense(2, name="dense")(x), axis=1)
    model = Model(x, normalized)
    assert model.layers[-1].name.startswith("operation_l2_normalize")
    assert "K.l2_normalize(x1, axis=1) -> (None, 2)" in model.code
    assert model.layers[-1].get_config()["function"] == "torchkeras.backend.l2_normalize"


@pytest.mark.parametrize("suffix", ["h5", "keras", "pt", "safetensors"])
def test_a_model_of_images_comes_back_from_a_file(suffix, tmp_path):
    x = Input((6, 6, 3))
    y = K.relu(Conv2D(4, 3, name="conv")(x), max_value=1.0)
    y = K.concatenate([K.pool2d(y, (2, 2)), K.resize_images(y, 1, 1, "channels_last")[:, 1:, 1:]], axis=-1)
    y = K.dot(K.batch_flatten(y), K.variable(np.ones((72, 2))))
    model = Model(x, y)
    model.save(tmp_path / f"model.{suffix}")
    images = np.random.default_rng(0).normal(size=(2, 6, 6, 3)).astype("float32")
    np.testing.assert_array_equal(load_model(tmp_path / f"model.{suffix}").predict(images), model.predict(images))
    np.testing.assert_array_equal(copy.deepcopy(model).predict(images), model.predict(images))


def test_an_operator_with_an_array_is_one_of_keras_3(tmp_path):
    x = Input((3,))
    model = Model(x, x * torch.tensor([1.0, 2.0, 3.0]))
    model.save(tmp_path / "model.keras")
    ones = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(load_model(tmp_path / "model.keras").predict(ones), [[1, 2, 3]] * 2)


def test_eject_refuses_them(tmp_path):
    x = Input((3,))
    with pytest.raises(ValueError, match=r"eject knows no plain PyTorch for torchkeras.backend.l2_normalize"):
        Model(x, K.l2_normalize(x)).eject(tmp_path / "plain.py")


@pytest.mark.parametrize("name", ["eval", "function", "clear_session", "no_such", "nodes.tensor", "__import__"])
def test_a_file_names_only_functions_of_tensors(name):
    x = Input((3,))
    text = Model(x, K.exp(x)).to_json().replace("torchkeras.backend.exp", f"torchkeras.backend.{name}")
    with pytest.raises(ArchitectureError, match="must be the name of an operator"):
        torchkeras.models.model_from_json(text)


def test_a_mask_goes_on_through_functions_of_each_number():
    x = Masking()(Input((3, 2)))
    assert K.exp(x)._keras_mask is not None
    assert K.sum(x, axis=1)._keras_mask is None


def test_sizes_are_known_when_the_graph_runs():
    x = Input((None, 2))
    batch, steps = K.shape(x)[0], K.shape(x)[1]
    ones = K.ones((batch, steps * 2, 3))
    flat = K.reshape(x, K.concatenate([K.shape(x)[:1], [-1]]))
    counted = K.cast(K.prod(K.shape(x)[1:]), "float32")
    tiled = K.tile(K.expand_dims(x[:, 0], 1), K.stack([1, steps, 1]))
    compute = K.function([x], [ones, flat, counted, tiled, K.arange(steps), K.shape(x), K.random_normal((batch, 4))])
    found = compute([np.zeros((5, 7, 2))])
    assert [each.shape for each in found] == [(5, 14, 3), (5, 14), (), (5, 7, 2), (7,), (3,), (5, 4)]
    assert found[2] == 14.0
    assert found[5].tolist() == [5, 7, 2]
    assert found[5].dtype == np.int32


def test_functions_in_a_lambda_and_a_layer():
    def sampled(tensors: list[Any]) -> Any:
        mean, log_variance = tensors
        shape = (K.shape(mean)[0], K.int_shape(mean)[1])
        return mean + K.exp(0.5 * log_variance) * K.random_normal(shape=shape)

    class Scaled(Layer):
        def build(self, input_shape):
            self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="ones")
            super().build(input_shape)

        def call(self, x):
            return K.dot(x * self.scale, K.transpose(K.eye(K.int_shape(x)[-1])))

    x = Input((4,))
    model = Model(x, Scaled()(Lambda(sampled)([Dense(3)(x), Dense(3)(x)])))
    model.add_loss(K.mean(K.square(model.output)))
    model.compile("sgd", "mse")
    history = model.fit(np.ones((8, 4), "float32"), np.zeros((8, 3), "float32"), verbose=0).history
    assert np.isfinite(history["loss"]).all()


def test_loops_on_symbolic_tensors_are_lambdas(tmp_path):
    x = Input((4, 2))
    doubled = K.map_fn(lambda sample: 2 * sample, x)
    model = Model(x, doubled)
    model.save(tmp_path / "model.h5")
    name = model.layers[-1].name
    loaded = load_model(tmp_path / "model.h5", custom_objects={name: lambda found: 2 * found})
    assert loaded.predict(np.ones((1, 4, 2))).tolist() == [[[2.0, 2.0]] * 4]


# --- K.function ------------------------------------------------------------------------------------------------------


def test_a_function_of_a_model_in_either_phase():
    x = Input((100,))
    y = Dropout(0.5)(x)
    compute = K.function([x, K.learning_phase()], [y])
    ones = np.ones((1, 100))
    assert compute([ones, 0])[0].tolist() == ones.tolist()
    assert sorted(set(compute([ones, 1])[0].ravel().tolist())) == [0.0, 2.0]
    assert compute([ones, False])[0].tolist() == ones.tolist()
    assert K.function([x], [y])([ones])[0].tolist() == ones.tolist()


def test_a_set_phase_is_that_of_functions():
    x = Input((100,))
    compute = K.function([x], [Dropout(0.5)(x)])
    try:
        with pytest.warns(UserWarning, match="layers train in fit"):
            K.set_learning_phase(1)
        assert K.learning_phase() == 1
        assert set(compute([np.ones((1, 100))])[0].ravel().tolist()) == {0.0, 2.0}
        assert K.eval(K.in_train_phase(K.constant(1), K.constant(2))) == 1
    finally:
        K.clear_session()
    with pytest.raises(ValueError, match="must be 0 or 1"):
        K.set_learning_phase(2)


def test_a_function_keeps_statistics():
    x = Input((2,))
    layer = BatchNormalization()
    compute = K.function([x, K.learning_phase()], [layer(x)])
    compute([np.arange(8.0).reshape(4, 2), 1])
    assert [each.tolist() for each in layer.get_weights()[2:]] == [[0.0, 0.0], [1.0, 1.0]]
    assert layer.training


def test_the_phase_chooses_in_a_model(tmp_path):
    x = Input((2,))
    y = K.in_train_phase(lambda: 2 * x, lambda: 3 * x)
    z = K.switch(K.learning_phase(), y, -y)
    model = Model(x, z)
    model.save(tmp_path / "model.h5")
    for each in (model, load_model(tmp_path / "model.h5")):
        assert each.predict(np.ones((1, 2))).tolist() == [[-3.0, -3.0]]
        assert each.train()(torch.ones(1, 2)).tolist() == [[2.0, 2.0]]
        assert K.function([each.input, K.learning_phase()], [each.output])([[[1.0, 1.0]], 1])[0].tolist() == [
            [2.0, 2.0]
        ]


def test_the_phase_in_the_code_of_a_layer():
    class Noisy(Layer):
        def call(self, x, training=None):
            return K.in_train_phase(x + 1, x, training=training)

    class Asking(Layer):
        def call(self, x):
            return K.in_train_phase(lambda: x + K.learning_phase(), x)

    x = Input((1,))
    model = Model(x, Asking()(Noisy()(x)))
    assert model.predict(np.zeros((1, 1))).tolist() == [[0.0]]
    assert model.train()(torch.zeros(1, 1)).tolist() == [[2.0]]
    model.compile("sgd", "mse")
    assert model.train_on_batch(np.zeros((1, 1)), np.zeros((1, 1))) == 4.0
    assert model.test_on_batch(np.zeros((1, 1)), np.zeros((1, 1))) == 0.0


def test_a_function_begins_at_any_tensor():
    model = Sequential([Dense(3, input_shape=(2,)), Activation("relu"), Dense(1)])
    hidden = model.layers[1].output
    (found,) = K.function([hidden], [model.output])([np.ones((1, 3))])
    expected = model.layers[2](torch.ones(1, 3))
    np.testing.assert_allclose(found, K.eval(expected), rtol=1e-6)


def test_updates_are_made_at_each_call():
    x = K.placeholder((None, 2))
    total, count = K.variable([0.0, 0.0]), K.variable(0, dtype="int32")
    updates = [K.update_add(total, K.sum(x, axis=0)), K.update_add(count, K.shape(x)[0])]
    compute = K.function([x], [K.identity(x), total], updates=updates)
    assert compute([np.ones((3, 2))])[1].tolist() == [0.0, 0.0]
    assert compute([np.ones((1, 2))])[1].tolist() == [3.0, 3.0]
    assert K.get_value(total).tolist() == [4.0, 4.0]
    assert K.get_value(count) == 4


def test_what_a_function_refuses():
    x, y = Input((2,)), Input((2,))
    with pytest.raises(TypeError, match="outputs of a backend function must be a list or tuple"):
        K.function([x], x)
    with pytest.raises(ValueError, match="which its inputs lack"):
        K.function([x], [x + y])
    with pytest.raises(TypeError, match="takes no options of sessions; found options"):
        K.function([x], [x], options=1)
    with pytest.raises(TypeError, match="an update with values has been made already"):
        K.function([x], [x], updates=[K.update_add(K.variable(0), 1)])
    compute = K.function([x], [x])
    with pytest.raises(TypeError, match="inputs of a call must be a list or tuple"):
        compute(np.ones((1, 2)))
    with pytest.raises(ValueError, match="was called with 2 inputs"):
        compute([1, 2])
    with pytest.raises(ValueError, match=r"cannot use a value of shape \(1, 3\)"):
        compute([np.ones((1, 3))])


def test_a_function_of_words():
    words = Input((2,), dtype="int32")
    (found,) = K.function([words], [Embedding(3, 2)(words)])([np.array([[1, 2]])])
    assert found.shape == (1, 2, 2)
