"""Files and plain data of Keras 3's API: classes of the user's, what is refused, what is never run."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch

import torchkeras
import torchkeras.keras3 as keras
from tests.keras3.own_classes import X, Y, classes, differences, models
from torchkeras.errors import ModelFileError
from torchkeras.keras3 import layers, saving

FILES = Path(__file__).parent.parent / "golden/keras3-custom"


pytestmark = pytest.mark.usefixtures("registered_here")


class Subclassed(keras.Model):
    """A model that computes by its own code."""

    def __init__(self, units=2, **options):
        super().__init__(**options)
        self.units = units
        self.dense = layers.Dense(units)

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        return {"units": self.units, "name": self.name}


class Scaled(layers.Layer):
    """A layer that its build config says more about than a shape."""

    def build(self, input_shape):
        self.scale = self.add_weight((input_shape[-1],), "ones", name="scale")

    def call(self, inputs):
        return inputs * self.scale


def save_and_load(model, path):
    model.save(path)
    return keras.models.load_model(path)


# --- files -----------------------------------------------------------------------------------------------------------


def test_files_of_genuine_keras_with_classes_of_the_users_give_its_numbers_and_train_on():
    found = differences(keras, FILES)
    assert sorted(found) == ["functional", "sequential"]
    assert max(found.values()) < 1e-5


@pytest.mark.parametrize("suffix", [".keras", ".h5", ".safetensors"])
@pytest.mark.parametrize("name", ["functional", "sequential"])
def test_every_format_holds_classes_of_the_users(name, suffix, tmp_path):
    model = models(keras)[name]
    model.fit(X, Y, verbose=0)
    with pytest.warns(UserWarning, match="Keras 2.2.4 has no") if suffix == ".h5" else nullcontext():
        again = save_and_load(model, tmp_path / f"model{suffix}")
    assert np.array_equal(again.predict(X, verbose=0), model.predict(X, verbose=0))
    assert again.evaluate(X, Y, verbose=0, return_dict=True) == model.evaluate(X, Y, verbose=0, return_dict=True)


def test_a_file_names_a_registered_class_by_its_package(tmp_path):
    entries = json.loads(models(keras)["functional"].to_json())["config"]["layers"]
    assert [each["registered_name"] for each in entries] == [None, None, "mine>Scale", "mine>Twice", "mine>Wide"]


@pytest.mark.parametrize("suffix", [".keras", ".h5", ".safetensors"])
def test_files_of_layers_with_keras_3s_numbers_are_read_by_both(suffix, tmp_path):
    first = [layers.Dense(4, activity_regularizer="l2"), layers.BatchNormalization()]
    model = keras.Sequential([keras.Input((3,)), *first, layers.Dense(2)])
    model.compile("adam", "mse")
    model.fit(X, Y, verbose=0)
    model.save(tmp_path / f"model{suffix}")
    for load in (keras.models.load_model, torchkeras.models.load_model):
        again = load(tmp_path / f"model{suffix}")
        assert np.array_equal(again.predict(X, verbose=0), model.predict(X, verbose=0))
        assert again.evaluate(X, Y, verbose=0) == pytest.approx(model.evaluate(X, Y, verbose=0))
        assert again.layers[-2].variance == "population"


@pytest.mark.parametrize("suffix", [".keras", ".h5", ".safetensors"])
def test_a_model_of_ones_own_is_built_as_its_file_says(suffix, tmp_path):
    model = Subclassed(3)
    expected = model(torch.ones(1, 4))
    model.save(tmp_path / f"model{suffix}")
    again = keras.models.load_model(tmp_path / f"model{suffix}", custom_objects={"Subclassed": Subclassed})
    assert type(again) is Subclassed
    assert torch.equal(again(torch.ones(1, 4)), expected)


def test_options_of_saving_that_there_are_not_are_refused(tmp_path):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    with pytest.raises(ValueError, match=r"must not end in \.keras"):
        model.save(tmp_path / "model.keras", zipped=False)
    with pytest.raises(ValueError, match=r"writes nothing to Hugging Face.*upload_folder"):
        model.save("hf://somebody/model")
    with pytest.raises(ValueError, match=r"reads nothing from Hugging Face.*snapshot_download"):
        saving.load_model("hf://somebody/model")


def test_the_functions_of_saving_are_the_methods_of_models(tmp_path):
    model, other = (keras.Sequential([keras.Input((2,)), layers.Dense(1)]) for _ in range(2))
    saving.save_model(model, tmp_path / "model.keras")
    with pytest.raises(FileExistsError, match="overwrite is False"):
        saving.save_model(model, tmp_path / "model.keras", overwrite=False)
    saving.save_weights(model, tmp_path / "model.weights.h5")
    saving.load_weights(other, tmp_path / "model.weights.h5")
    loaded = saving.load_model(tmp_path / "model.keras")
    for each in (other, loaded):
        assert np.array_equal(each.get_weights()[0], model.get_weights()[0])


@pytest.mark.parametrize("method", ["save_own_variables", "load_own_variables", "save_assets", "load_assets"])
def test_values_stored_in_a_way_of_ones_own_are_refused_rather_than_lost(method, tmp_path):
    kind = type("Storing", (Scaled,), {method: lambda self, store: None})
    model = keras.Sequential([keras.Input((2,)), kind(name="storing")])
    for name in ("model.h5", "model.safetensors", "model.pt"):
        with pytest.raises(ValueError, match=r"Storing 'storing' has a save_\w+ or its counterpart of its own, which"):
            model.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_own_variables_must_fit():
    layer = layers.Dense(2)
    layer.build((None, 3))
    with pytest.raises(ValueError, match="2 weights of its own; found 1"):
        layer.load_own_variables({"0": np.ones((3, 2))})


# --- plain data ------------------------------------------------------------------------------------------------------


def test_how_a_layer_is_built_may_be_said_in_ones_own_words():
    class Wide(layers.Layer):
        def grow(self, width):
            self.scale = self.add_weight((width,), "ones", name="scale")
            self.width, self.built = width, True

        def call(self, inputs):
            return inputs * self.scale

        def get_build_config(self):
            return {"width": self.width}

        def build_from_config(self, config):
            self.grow(config["width"])

    layer = Wide()
    layer.grow(3)
    made = saving.serialize_keras_object(layer)
    assert made["build_config"] == {"width": 3}
    assert saving.deserialize_keras_object(made, {"Wide": Wide}).scale.shape == (3,)


def test_a_later_registration_takes_the_place_of_an_earlier_one_inside_scopes_too():
    kinds = []
    with saving.custom_object_scope({}):
        for _ in range(2):
            kinds.append(type("Mine", (Scaled,), {}))
            saving.register_keras_serializable("tests")(kinds[-1])
        assert saving.get_registered_object("tests>Mine") is kinds[1]
    assert saving.get_custom_objects()["tests>Mine"] is kinds[1]
    assert saving.get_registered_name(kinds[0]) == "Mine"


def test_a_class_without_a_config_cannot_be_registered():
    with pytest.raises(ValueError, match="the class object has no get_config"):
        saving.register_keras_serializable()(object)


def test_what_has_no_form_is_refused():
    with pytest.raises(ValueError, match="define it with `def`"):
        saving.serialize_keras_object({"f": lambda x: x})
    with pytest.raises(TypeError, match="has no get_config"):
        saving.serialize_keras_object(object())
    with pytest.raises(TypeError, match="has no get_config"):
        saving.serialize_keras_object(layers.Dense)


@pytest.mark.parametrize(
    "entry",
    [
        {"module": "os", "class_name": "system", "config": {"command": "true"}, "registered_name": None},
        {"module": "keras.saving", "class_name": "load_model", "config": {}, "registered_name": None},
        {"module": "tests.keras3.test_saving_of_keras3", "class_name": "Scaled", "config": {}, "registered_name": None},
        {"module": "builtins", "class_name": "function", "config": "eval", "registered_name": "function"},
        {"module": "keras.losses", "class_name": "get", "config": {}, "registered_name": None},
    ],
)
def test_names_are_of_keras_or_registered_and_nothing_is_imported(entry):
    with pytest.raises(TypeError, match=r"Unknown (class|function)"):
        saving.deserialize_keras_object(entry)


def test_bytecode_is_not_run():
    entry = {"class_name": "__lambda__", "config": {"value": "4wAAAAA="}}
    for safe_mode in (True, False):
        with pytest.raises(ValueError, match="bytecode"):
            saving.deserialize_keras_object(entry, safe_mode=safe_mode)
    layer = {"module": "keras.layers", "class_name": "Lambda", "config": {"name": "f", "function": entry}}
    with pytest.raises(ModelFileError):
        saving.deserialize_keras_object({**layer, "registered_name": None})


def test_data_of_another_form_are_refused():
    for config, text in (
        (object(), "takes plain data"),
        ({"class_name": "function", "config": 3}, "its name as 'config'"),
        ({"module": "keras.losses", "class_name": "Huber", "config": [3]}, "'config' must be a dict"),
        ({"class_name": "__keras_tensor__", "config": {"shape": [None]}}, "belongs to the graph"),
    ):
        with pytest.raises(TypeError, match=text):
            saving.deserialize_keras_object(config)


def test_layers_within_a_config_of_the_users_are_those_of_keras_3():
    twice = classes(keras)[1]
    inputs = keras.Input((3,))
    inner = keras.Model(inputs, layers.BatchNormalization()(layers.Dense(3)(inputs)), name="inner")
    again = saving.deserialize_keras_object(saving.serialize_keras_object(twice(inner)))
    assert type(again.inner) is keras.Model
    assert type(again.inner.layers[1]) is layers.Dense
    assert again.inner.layers[2].variance == "population"


def test_the_json_of_other_kerases_is_read_too():
    text = json.dumps(
        {
            "class_name": "Sequential",
            "config": [{"class_name": "Dense", "config": {"units": 2, "batch_input_shape": [None, 3], "name": "d"}}],
            "keras_version": "2.2.4",
            "backend": "tensorflow",
        }
    )
    model = keras.models.model_from_json(text)
    assert type(model.layers[0]) is layers.Dense
    with pytest.raises(ModelFileError):
        keras.models.model_from_json("{")


def test_a_compiled_model_says_how():
    model = models(keras)["functional"]
    assert keras.models.clone_model(model).compiled
    other = keras.Model.from_config(model.get_config())
    assert not other.compiled
    other.compile_from_config(model.get_compile_config())
    assert other.compiled
    other.set_weights(model.get_weights())
    expected = model.evaluate(X, Y, verbose=0, return_dict=True)
    assert other.evaluate(X, Y, verbose=0, return_dict=True) == pytest.approx(expected)
