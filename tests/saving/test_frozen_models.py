"""Models with frozen parts: every format and every copy has what is frozen, and training goes on as it would have."""

import json
import operator
from pathlib import Path

import composite
import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.layers import (
    LSTM,
    BatchNormalization,
    Bidirectional,
    Dense,
    Input,
    Layer,
    TimeDistributed,
)
from torchkeras.models import (
    Model,
    Sequential,
    clone_model,
    load_model,
    model_from_json,
    model_from_yaml,
)

FILES = ("m.h5", "m.keras", "m.pt", "m.safetensors")
COPIES = {
    "clone_model": clone_model,
    "from_config": lambda model: type(model).from_config(model.get_config()),
    "JSON": lambda model: model_from_json(model.to_json()),
    "YAML": lambda model: model_from_yaml(model.to_yaml()),
}


def base(name="base"):
    inputs = Input((4,))
    x = BatchNormalization(name=f"{name}_norm")(Dense(4, name=f"{name}_first")(inputs))
    return Model(inputs, Dense(4, name=f"{name}_last")(x), name=name)


def top(layer, shape=(4,)):
    inputs = Input(shape)
    return Model(inputs, Dense(2, name="top")(layer(inputs)))


def a_layer():
    return top(Dense(4, trainable=False, name="first"))


def nested():
    model = top(inner := base())
    inner.trainable = False
    return model


def nested_twice():
    model = top(top_of(inner := base()))
    inner.trainable = False
    return model


def top_of(inner):
    """Both layers have weights of the same shapes, so only the order tells them apart."""
    inputs = Input((4,))
    return Model(inputs, Dense(4, name="middle")(inner(inputs)), name="mid")


def around_nested():
    model = top(middle := top_of(base()))
    middle.trainable = False
    return model


def some_layers():
    model = top(inner := base())
    inner.get_layer("base_first").trainable = inner.get_layer("base_norm").trainable = False
    return model


def some_layers_of_a_frozen_model():
    model = some_layers()
    model.get_layer("base").trainable = False
    return model


def the_whole():
    model = top(base())
    model.trainable = False
    return model


def sequential():
    model = Sequential([Dense(4, input_shape=(4,)), Dense(2)])
    model.trainable = False
    return model


def nested_sequential():
    inner = Sequential([Dense(4, input_shape=(4,)), BatchNormalization(), Dense(4)], name="inner")
    model = Sequential([inner, Dense(2)])
    inner.trainable = False
    return model


def wrappers():
    steps, both = (
        TimeDistributed(Dense(4, name="each")),
        Bidirectional(LSTM(3, recurrent_activation="sigmoid"), name="both"),
    )
    inputs = Input((5, 4))
    model = Model(inputs, Dense(2)(both(steps(inputs))))
    steps.trainable = both.trainable = False
    return model


def inside_wrappers():
    """Only what is inside is frozen, or a part of it."""
    inner, both = base(), Bidirectional(LSTM(3, recurrent_activation="sigmoid"), name="both")
    inputs = Input((5, 4))
    model = Model(inputs, Dense(2)(both(TimeDistributed(inner)(inputs))))
    inner.trainable = both.forward_layer.trainable = False
    return model


def names_twice():
    """Two models with layers of one name, so that names do not tell their weights apart; the first is frozen."""
    inputs = Input((4,))
    models = [Sequential([Dense(4, name="same", input_shape=(4,)), BatchNormalization(name="norm")]) for _ in range(2)]
    inner = Model(inputs, models[1](models[0](inputs)), name="two")
    models[0].trainable = False
    return top(inner)


@torchkeras.register(package="frozen_tests")
class Own(composite.Own):
    """Its get_config says neither its name nor whether it trains."""

    def get_config(self):
        return {"units": self.units}


def own_layer():
    model = Sequential([Dense(4, input_shape=(4,)), Own(4, name="own"), Dense(2)])
    model.get_layer("own").trainable = False
    return model


def inside_own_layer():
    model = top(own := Own(4, name="own"))
    own.dense.trainable = False
    return model


@torchkeras.register(package="frozen_tests")
class ModelOfOnesOwn(Model):
    def __init__(self, **options):
        super().__init__(**options)
        self.first, self.last = base(), Dense(2, name="last")

    def call(self, inputs):
        return self.last(self.first(inputs))

    def get_config(self):
        return {"name": self.name}

    @classmethod
    def from_config(cls, config):
        made = cls(**config)
        made.build((None, 4))
        return made


def own_model():
    model = ModelOfOnesOwn(name="mine")
    model.build((None, 4))
    model.first.trainable = False
    return model


@torchkeras.register(package="frozen_tests")
class OwnFunctional(Model):
    pass


def own_functional():
    inputs = Input((4,))
    model = OwnFunctional(inputs, Dense(2)(base()(inputs)))
    model.trainable = False
    return model


def thawed():
    model = nested()
    model.get_layer("base").trainable = True
    return model


NAME = operator.attrgetter("__name__")
CASES = [
    *(a_layer, nested, nested_twice, around_nested, some_layers, some_layers_of_a_frozen_model, the_whole, sequential),
    *(
        nested_sequential,
        wrappers,
        inside_wrappers,
        names_twice,
        own_layer,
        inside_own_layer,
        own_model,
        own_functional,
    ),
    thawed,
]


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def flags(model):
    return {name: each._freezing.trainable for name, each in model.named_modules() if isinstance(each, Layer)}


def training(model):
    return {name for name, each in model.named_parameters() if each.requires_grad}


def data(model):
    rng = np.random.default_rng(0)
    shape = [size or 8 for size in model.input_shape] if model.inputs else (8, 4)
    return rng.normal(size=shape).astype("float32"), rng.normal(size=(8, 2)).astype("float32")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("make", CASES, ids=NAME)
def test_a_file_has_what_is_frozen(tmp_path, make, name):
    model = make()
    x, y = data(model)
    model.compile("adam", "mse")
    for _ in range(2 if training(model) and name.endswith(("h5", "keras")) else 0):
        model.train_on_batch(x, y)
    model.save(tmp_path / name)
    again = load_model(tmp_path / name)
    assert flags(again) == flags(model)
    assert training(again) == training(model)
    assert [each.name for each in again.layers] == [each.name for each in model.layers]
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    for _ in range(3 if training(model) else 0):
        assert again.train_on_batch(x, y) == model.train_on_batch(x, y)
    np.testing.assert_array_equal(again.predict(x), model.predict(x))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("make", CASES, ids=NAME)
def test_what_is_thawed_after_loading_is_what_was_thawed_before(tmp_path, make, name):
    model = make()
    model.save(tmp_path / name)
    again = load_model(tmp_path / name)
    for each in (model, again):
        each.trainable = True
        for layer in each.layers:
            layer.trainable = True
    assert training(again) == training(model)
    assert flags(again) == flags(model)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("make", CASES, ids=NAME)
def test_weights_of_a_file_go_into_the_model_that_wrote_it(tmp_path, make, name):
    model = make()
    x, _ = data(model)
    model.save(tmp_path / name)
    before = model.predict(x)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    model.load_weights(tmp_path / name)
    np.testing.assert_array_equal(model.predict(x), before)


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("make", CASES, ids=NAME)
def test_a_copy_has_what_is_frozen(make, copy):
    if copy is not clone_model and make in (inside_wrappers, inside_own_layer, own_model):
        return  # whose configs do not say it
    model = make()
    again = copy(model)
    if make is not wrappers:  # whose inner layers are frozen with them
        assert flags(again) == flags(model)
    assert training(again) == training(model)
    assert [each.name for each in again.layers] == [each.name for each in model.layers]


@pytest.mark.parametrize("make", [nested, sequential, own_functional])
def test_the_config_of_a_model_says_whether_it_trains(make):
    model = make()
    frozen = model if model._freezing.trainable is False else model.get_layer("base")
    assert frozen.get_config()["trainable"] is False
    frozen.trainable = True
    assert "trainable" not in frozen.get_config()  # as in Keras 2.2.4
    with pytest.raises(ValueError, match="trainable must be True or False; found 'no'"):
        type(frozen).from_config({**frozen.get_config(), "trainable": "no"})


def test_json_says_whether_a_model_trains():
    config = json.loads(nested().to_json())["config"]
    assert [entry["config"].get("trainable") for entry in config["layers"]] == [
        None,
        False,
        True,
    ]


GOLDEN = Path(__file__).parents[1] / "golden" / "frozen-models"
RECORD = json.loads((GOLDEN / "record.json").read_text())


@pytest.mark.parametrize("name", RECORD)
@pytest.mark.filterwarnings("ignore:.*k3_nested.keras. its training configuration names no optimizer")
def test_files_of_genuine_versions(name):
    """Keras 2.2.4 (`k2`), tf.keras 2.15 (`tf`) and Keras 3.15 (`k3`), with a frozen inner model, layers or wrappers."""
    record, model = RECORD[name], load_model(GOLDEN / name)
    x = np.array(record["x"]["values"], "float32").reshape(record["x"]["shape"])
    np.testing.assert_allclose(model.predict(x).ravel(), record["outputs"], rtol=1e-4, atol=1e-4)
    assert len(model.trainable_weights) == record["trainable"]


@pytest.mark.parametrize("name", [name for name in RECORD if not name.startswith("k2")])
@pytest.mark.filterwarnings("ignore:.*k3_nested.keras. its training configuration names no optimizer")
def test_a_frozen_model_of_a_later_keras_thaws_as_a_whole(name):
    """There `trainable` of a model is that of all its layers; here it would leave what is frozen itself."""
    model = load_model(GOLDEN / name)
    frozen = model if not model.trainable else next(layer for layer in model.layers[1:] if not layer.trainable)
    assert all(layer.trainable for layer in frozen.layers if layer.weights)
    frozen.trainable = True
    assert len(model.trainable_weights) == 8
