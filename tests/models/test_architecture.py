"""Models to configs and back: get_config, from_config, JSON, clone_model."""

import json

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.layers import (
    LSTM,
    Add,
    BatchNormalization,
    Concatenate,
    Conv2D,
    Dense,
    Embedding,
    Flatten,
    Input,
    InputLayer,
    Lambda,
)
from torchkeras.models import Model, Sequential, clone_model, model_from_config, model_from_json


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def sequential():
    return Sequential([Conv2D(3, 2, input_shape=(5, 5, 2)), BatchNormalization(trainable=False), Flatten(), Dense(2)])


def starts_with_input_layer():
    return Sequential([InputLayer((4,), name="in"), Dense(2)])


def shared():
    dense = Dense(4, name="shared")
    a, b = Input((4,), name="a"), Input((4,), name="b")
    return Model([b, a], [Add()([dense(a), dense(dense(b))]), dense.get_output_at(1)], name="pair")


def nested():
    inner = shared()
    a, b = Input((4,)), Input((4,))
    first, second = inner([a, b])
    again = inner([second, first])[1]
    tail = Sequential([Dense(3, input_shape=(4,))])
    return Model([a, b], tail(Concatenate(axis=-1)([first, again])[:, 1:5]))


def masked():
    x = Input((6,), dtype="int32")
    return Model(x, LSTM(3, return_sequences=True)(Embedding(8, 4, mask_zero=True)(x)))


BUILDS = [sequential, starts_with_input_layer, shared, nested, masked]


def outputs(model):
    """What the model computes with weights drawn from one seed."""
    generator = np.random.default_rng(3)
    model.set_weights([generator.uniform(0.1, 1, array.shape) for array in model.get_weights()])
    inputs = [generator.integers(0, 3, (2, *tensor.shape[1:])) for tensor in model.inputs]
    found = model.predict(inputs)
    return found if isinstance(found, list) else [found]


def assert_same(again, model):
    assert type(again) is type(model)
    assert again is not model
    assert json.dumps(again.get_config()) == json.dumps(model.get_config())
    assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
    assert not {id(p) for p in again.parameters()} & {id(p) for p in model.parameters()}
    for found, expected in zip(outputs(again), outputs(model), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "copied",
    [
        lambda model: type(model).from_config(model.get_config()),
        lambda model: type(model).from_config(json.loads(json.dumps(model.get_config()))),
        lambda model: model_from_json(model.to_json()),
        lambda model: model_from_json(model.to_json(indent=1, sort_keys=True)),
        lambda model: model_from_config({"class_name": type(model).__name__, "config": model.get_config()}),
        clone_model,
    ],
)
@pytest.mark.parametrize("build", BUILDS)
def test_round_trip(build, copied):
    model = build()
    assert_same(copied(model), model)


def test_config_of_a_model():
    x = Input((3,), name="x")
    dense = Dense(3, name="d", use_bias=False, kernel_initializer="zeros")
    config = Model(x, dense(dense(x)), name="m").get_config()
    layers = config.pop("layers")
    assert config == {"name": "m", "input_layers": [["x", 0, 0]], "output_layers": [["d", 1, 0]]}
    assert [(entry["name"], entry["class_name"], entry["inbound_nodes"]) for entry in layers] == [
        ("x", "InputLayer", []),
        ("d", "Dense", [[["x", 0, 0, {}]], [["d", 0, 0, {}]]]),
    ]
    assert layers[0]["config"] == {"batch_input_shape": (None, 3), "dtype": "float32", "sparse": False, "name": "x"}


def test_json_says_for_which_keras():
    written = json.loads(sequential().to_json())
    assert {key: written[key] for key in ("class_name", "keras_version", "backend")} == {
        "class_name": "Sequential",
        "keras_version": "2.2.4",
        "backend": "tensorflow",
    }


def test_a_sequential_from_the_plain_list_of_older_keras():
    layers = sequential().get_config()["layers"]
    assert [layer.name for layer in Sequential.from_config(layers).layers] == [
        entry["config"]["name"] for entry in layers
    ]


def test_a_deferred_sequential():
    model = Sequential([Dense(2), Dense(3)])
    again = clone_model(model)
    assert (again.built, [layer.name for layer in again.layers]) == (False, ["dense_1", "dense_2"])
    model(torch.zeros(1, 4))
    assert clone_model(model).input_shape == (None, 4)


# --- clones on given inputs ------------------------------------------------------------------------------------------


def test_a_clone_on_other_inputs():
    model = shared()
    first, second = Input((4,), name="first"), Input((4,), name="second")
    clone = clone_model(model, [first, second])
    assert clone.inputs == [first, second]
    assert clone.get_layer("shared") is not model.get_layer("shared")
    clone.set_weights(model.get_weights())
    x = [torch.randn(2, 4), torch.randn(2, 4)]
    for found, expected in zip(clone(x), model(x), strict=True):
        torch.testing.assert_close(found, expected)


def test_a_clone_of_a_sequential_on_another_input():
    clone = clone_model(Sequential([Dense(2, input_shape=(3,), name="d")], name="s"), Input((9,), name="wide"))
    assert (clone.name, clone.input_names, clone.input_shape) == ("s", ["wide"], (None, 9))
    assert clone.get_layer("d").kernel.shape == (9, 2)


def test_a_clone_has_other_weights_and_the_same_trainable():
    model = sequential()
    clone = clone_model(model)
    assert (clone.get_weights()[0] != model.get_weights()[0]).any()
    assert [layer.trainable for layer in clone.layers] == [True, False, True, True]


# --- what is no architecture -----------------------------------------------------------------------------------------

ENTRY = {"name": "a", "class_name": "InputLayer", "config": {"batch_input_shape": [None, 3], "name": "a"}}


def config_with(*layers, output="d"):
    entries = [{**ENTRY, "inbound_nodes": []}, *layers]
    return {"name": "m", "layers": entries, "input_layers": [["a", 0, 0]], "output_layers": [[output, 0, 0]]}


ERRORS = [
    (lambda: Model.from_config({"name": "m"}), "A model config needs a list of 'layers'; found None."),
    (
        lambda: Model.from_config(
            config_with(
                {
                    "name": "d",
                    "class_name": "Dense",
                    "config": {"units": 2, "name": "d"},
                    "inbound_nodes": [[["z", 0, 0, {}]]],
                }
            )
        ),
        "Call 0 of layer 'd' takes [['z', 0, 0, {}]], which the config does not make.",
    ),
    (
        lambda: Model.from_config(config_with()),
        "The config names output 0 of call 0 of layer 'd', which does not exist.",
    ),
    (
        lambda: model_from_json("{"),
        "The architecture is not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1)).",
    ),
    (
        lambda: model_from_json("[1]"),
        "A model config is a dictionary with 'class_name' and 'config'; found list.",
    ),
    (lambda: model_from_json("{}"), "A layer config needs a 'class_name' and a 'config'; found {}."),
    (
        lambda: model_from_config({"class_name": "Flatten", "aonfig": {}}),
        "A layer config needs a 'class_name' and a 'config'; found {'class_name': 'Flatten', 'aonfig': {}}.",
    ),
    (
        lambda: model_from_config({"class_name": "Desne", "config": {"units": 2}}),
        (
            "Unknown layer: 'Desne'. Did you mean 'Dense'? An object of your own is found when it is passed in "
            "`custom_objects` or put into a CustomObjectScope."
        ),
    ),
    (
        lambda: clone_model(sequential(), [Input((4,)), Input((4,))]),
        "clone_model: 'sequential_1' has 1 inputs; found 2.",
    ),
    (
        lambda: model_from_json(Model(x := Input((3,)), Lambda(lambda t: t * 2, name="twice")(x)).to_json()),
        (
            "Lambda 'twice': its function is stored by the name 'twice'; pass the function itself: "
            "custom_objects={'twice': function}."
        ),
    ),
]


@pytest.mark.parametrize(("build", "message"), ERRORS)
def test_error(build, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011  (its text is compared whole)
        build()
    assert str(error.value) == message


def test_a_lambda_comes_back_with_its_function():
    model = Model(x := Input((3,)), Lambda(lambda t: t * 2, name="twice")(x))
    again = model_from_json(model.to_json(), custom_objects={"twice": lambda t: t * 2})
    assert again(torch.ones(1, 3)).tolist() == [[2.0, 2.0, 2.0]]
