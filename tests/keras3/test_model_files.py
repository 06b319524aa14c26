"""What layers store in a way of their own, in files of genuine Keras and ours; trees of values; skipped layers; graphs.

The file in `golden/keras3-storing` is genuine Keras 3.15's, made by `storing_model(keras).save(path)` of
`tests/keras3/same/model_habits.py`.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import torchkeras
import torchkeras.keras3 as keras
from tests.keras3.same.model_habits import X, named_model, storing, storing_model
from torchkeras.errors import UnknownFormatError, UnreadableFileError
from torchkeras.keras3 import layers

GENUINE = Path(__file__).parent.parent / "golden/keras3-storing/model.keras"


pytestmark = pytest.mark.usefixtures("registered_here")


def test_a_file_of_genuine_keras_is_read_with_what_its_layers_store():
    expected = storing_model(keras)
    loaded = keras.models.load_model(GENUINE)
    assert [layer.text for layer in loaded.layers[1:]] == ["text 1", "text 2"]
    assert [layer.extra.tolist() for layer in loaded.layers[1:]] == [[0, 1, 2], [0, 2, 4]]
    for found, wanted in zip(loaded.optimizer.variables, expected.optimizer.variables, strict=True):
        assert np.allclose(found.numpy(), wanted.numpy(), atol=1e-6)
    for model in (loaded, expected):
        model.fit(X, X, batch_size=2, shuffle=False, verbose=0)
    assert np.allclose(loaded.predict(X, verbose=0), expected.predict(X, verbose=0), atol=1e-6)


def test_a_process_with_limits_reads_the_files_of_layers_too(tmp_path):
    storing_model(keras).save(tmp_path / "model.keras")
    loaded = torchkeras.models.load_model(tmp_path / "model.keras", isolated=True)
    assert [layer.text for layer in loaded.layers[1:]] == ["text 1", "text 2"]


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("notes.txt", UnknownFormatError, "'assets/layers/storing/notes.txt' belongs to a layer that keeps"),
        ("vocabulary.txt", UnreadableFileError, "'assets/layers/storing/vocabulary.txt' is of no layer that lacks"),
    ],
)
def test_a_file_that_no_layer_reads_is_refused(name, error, text, tmp_path):
    class Storing(layers.Layer):
        def call(self, inputs):
            return inputs

        def save_assets(self, inner_path):
            (Path(inner_path) / name).write_text("a")

        def load_assets(self, inner_path):
            pass

    Reading = type("Storing", (layers.Layer,), {"call": lambda self, inputs: inputs})
    keras.Sequential([keras.Input((2,)), Storing()]).save(tmp_path / "model.keras")
    keras.models.load_model(tmp_path / "model.keras", {"Storing": Storing})
    with pytest.raises(error, match=text):
        keras.models.load_model(tmp_path / "model.keras", {"Storing": Reading})


def test_a_name_that_could_not_be_read_again_is_not_written(tmp_path):
    class Hidden(layers.Layer):
        def call(self, inputs):
            return inputs

        def save_assets(self, inner_path):
            (Path(inner_path) / ".hidden").write_text("a")

    model = keras.Sequential([keras.Input((2,)), Hidden()])
    with pytest.raises(ValueError, match=r"a layer writes 'assets/layers/hidden/\.hidden', which could not be read"):
        model.save(tmp_path / "model.keras")
    assert not list(tmp_path.iterdir())


def test_weights_alone_have_no_files_of_layers(tmp_path):
    model = storing_model(keras)
    model.save_weights(tmp_path / "model.weights.h5")
    other = keras.models.clone_model(model)
    other.load_weights(tmp_path / "model.weights.h5")
    assert [layer.extra.tolist() for layer in other.layers[1:]] == [[0, 1, 2], [0, 2, 4]]
    assert [layer.text for layer in other.layers[1:]] == ["", ""]
    assert np.array_equal(other.predict(X, verbose=0), model.predict(X, verbose=0))


def test_a_file_without_a_place_for_what_a_layer_stores_is_not_read(tmp_path):
    plain = keras.Sequential([keras.Input((3,)), layers.Dense(3)])
    model = keras.Sequential([keras.Input((3,)), storing(keras)()])
    plain.save_weights(tmp_path / "plain.h5")
    with pytest.raises(ValueError, match="has a save_own_variables or its counterpart of its own"):
        model.load_weights(tmp_path / "plain.h5", by_name=True)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"weights": {}}, "the kinds of variables are trainable_variables, .* found 'weights'"),
        ({"trainable_variables": {"out": {"scale": 1.0}}}, "has no 'out/scale'; there are"),
        ({"trainable_variables": {"out": {"bias": [1.0, 2.0]}}}, "shape"),
        (
            {"trainable_variables": {"out": {"kernel": np.zeros((3, 1)), "bias": [1.0, 2.0]}}},
            "the shape of '.*out/bias' is",
        ),
    ],
)
def test_a_tree_must_fit(change, text):
    model = named_model(keras)
    before = model.get_weights()
    with pytest.raises(ValueError, match=text):
        model.set_state_tree(change)
    assert all(map(np.array_equal, before, model.get_weights()))


def test_a_tree_names_each_variable_once():
    class Twice(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.second = layers.Dense(4, name="same"), layers.Dense(4, name="same")

        def call(self, inputs):
            return self.second(self.first(inputs))

    keras.utils.clear_session()
    model = Twice()
    model.build((None, 3))
    with pytest.raises(ValueError, match="variable path is found twice in the model: 'twice/same/kernel'"):
        model.get_state_tree()
    with pytest.raises(ValueError, match=r"value_format must be one of .*; found 'numpy'"):
        named_model(keras).get_state_tree("numpy")


def test_what_is_skipped_must_be_layers(tmp_path):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(2)])
    with pytest.raises(TypeError, match="save_weights: objects_to_skip must be a list of layers; found 'dense'"):
        model.save_weights(tmp_path / "model.weights.h5", objects_to_skip=["dense"])
    with pytest.raises(ValueError, match=r"only \.weights\.h5 can leave out layers; found the skipped 'dense"):
        model.save_weights(tmp_path / "model.h5", objects_to_skip=model.layers)
    model.save_weights(tmp_path / "model.h5")
    with pytest.raises(ValueError, match="objects_to_skip is for files in the form of Keras 3 alone"):
        model.load_weights(tmp_path / "model.h5", objects_to_skip=model.layers)


# --- graphs ----------------------------------------------------------------------------------------------------------


def test_a_function_is_what_lies_between_symbolic_tensors():
    x: Any = keras.KerasTensor((None, 3))
    assert isinstance(x, keras.KerasTensor)
    assert isinstance(x + 1, keras.KerasTensor)
    function = keras.Function({"x": x}, {"twice": 2 * x, "more": x + 1})
    found = function({"x": np.ones((1, 3), "float32")})
    assert {name: each.tolist() for name, each in found.items()} == {"twice": [[2.0] * 3], "more": [[2.0] * 3]}
    assert function({"x": keras.Input((3,))})["more"].shape == (None, 3)
    for inputs, outputs, option in (([], x, "inputs"), (x, [], "outputs")):
        with pytest.raises(ValueError, match=f"Function: the `{option}` argument cannot be empty"):
            keras.Function(inputs, outputs)
    with pytest.raises(ValueError, match="sparse and ragged must be False"):
        keras.KerasTensor((2,), sparse=True)


def test_a_symbolic_tensor_has_the_shape_and_type_that_it_was_made_with():
    made: Any = keras.KerasTensor((2, None, 3), "int32")
    assert (made.shape, made.dtype, (made + 1).shape) == ((2, None, 3), torch.int32, (2, None, 3))


def test_inputs_of_a_graph_may_not_be_none():
    first, second = keras.Input((2,), name="first"), keras.Input((2,), name="second")
    outputs = layers.Add()([first, second])
    rows = np.ones((2, 2))
    for inputs, given in (
        ([first, second], [rows, None]),
        ({"first": first, "second": second}, {"first": rows, "second": None}),
    ):
        with pytest.raises(ValueError, match="the input 'second' is not optional: give a tensor; found None"):
            keras.Model(inputs, outputs)(given)


# --- how a model is compiled, in words of its own --------------------------------------------------------------------


class OfItsOwn(keras.Model):
    """A model whose `compile` takes other arguments."""

    def __init__(self, **options):
        super().__init__(**options)
        self.dense = layers.Dense(1)

    def call(self, inputs):
        return self.dense(inputs)

    def compile(self, optimizer="sgd", measure="mse"):
        super().compile(optimizer, loss=measure)
        self.measure = measure


class Telling(OfItsOwn):
    """The same, which says how it was compiled."""

    def get_compile_config(self):
        return {"optimizer": self.optimizer, "measure": self.measure}

    def compile_from_config(self, config):
        self.compile(keras.saving.deserialize_keras_object(config["optimizer"]), config["measure"])


def test_a_class_says_how_it_is_compiled_and_compiles_itself(tmp_path):
    model = Telling()
    model.compile(keras.optimizers.Adam(0.5), "mae")
    model.fit(X, X[:, :1], batch_size=2, shuffle=False, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", {"Telling": Telling})
    assert (loaded.measure, float(loaded.optimizer.learning_rate)) == ("mae", 0.5)
    for each in (model, loaded):
        each.fit(X, X[:, :1], batch_size=2, shuffle=False, verbose=0)
    assert np.allclose(loaded.predict(X, verbose=0), model.predict(X, verbose=0), atol=1e-6)


def test_a_compile_of_ones_own_that_says_nothing_is_not_called(tmp_path):
    model = OfItsOwn()
    model.compile()
    model.fit(X, X[:, :1], verbose=0)
    model.save(tmp_path / "model.keras")
    with pytest.warns(UserWarning, match=r"`compile\(\)` was not called as part of model loading because the model's"):
        loaded = keras.models.load_model(tmp_path / "model.keras", {"OfItsOwn": OfItsOwn})
    assert not loaded.compiled
    assert np.array_equal(loaded.predict(X, verbose=0), model.predict(X, verbose=0))
