"""Configs of Keras 3: genuine files give the saved outputs, and what cannot be said today is refused by name."""

import re

import pytest
from translated import assert_outputs, folders, graph

from torchkeras.errors import ArchitectureError
from torchkeras.saving.dialects.keras3 import modern_config

CASES = folders("keras-3.15")


def tensor(layer, call=0, output=0):
    config = {"shape": [None, 4], "dtype": "float32", "keras_history": [layer, call, output]}
    return {"class_name": "__keras_tensor__", "config": config}


def entry(class_name, *args, module="keras.layers", kwargs=None, **config):
    nodes = [{"args": list(args), "kwargs": kwargs or {}}] if args else []
    return {
        "module": module,
        "class_name": class_name,
        "config": config,
        "registered_name": None,
        "inbound_nodes": nodes,
    }


def operation(class_name, *args, **config):
    return entry(class_name, *args, module="keras.src.ops.numpy", **config)


X = entry("InputLayer", name="x", batch_shape=[None, 5, 4])


def test_all_cases_are_there():
    assert len(CASES) == 13 + 16


@pytest.mark.parametrize("file", ["model.h5", "model.keras"])
@pytest.mark.parametrize("folder", CASES, ids=[path.name for path in CASES])
def test_file_gives_the_saved_outputs(folder, file):
    assert_outputs(folder, file, modern_config)


@pytest.mark.parametrize(
    ("class_name", "options", "key", "value"),
    [
        ("LeakyReLU", {"negative_slope": 0.1}, "alpha", 0.1),
        ("ActivityRegularization", {"l1": 0.1}, "per_sample", True),
        ("BatchNormalization", {}, "variance", "population"),
        ("BatchNormalization", {"axis": [2]}, "frozen_is_fixed", True),
        (
            "Dense",
            {"activity_regularizer": {"class_name": "L2", "config": {"l2": 0.5}}},
            "activity_regularizer",
            {"class_name": "PerSample", "config": {"regularizer": {"class_name": "L1L2", "config": {"l2": 0.5}}}},
        ),
        ("Dense", {"activation": "hard_sigmoid"}, "activation", "hard_sigmoid6"),
        ("Dense", {"dtype": {"class_name": "DTypePolicy", "config": {"name": "float64"}}}, "dtype", "float64"),
        ("Identity", {"dtype": "float64"}, "dtype", "float64"),
        ("UpSampling2D", {"interpolation": "bilinear"}, "half_pixel", True),
        ("Dropout", {"seed": {"class_name": "SeedGenerator", "config": {"seed": 7}}}, "seed", 7),
        ("Reshape", {"target_shape": {"class_name": "__tuple__", "items": [2, 2]}}, "target_shape", [2, 2]),
        ("Normalization", {"mean": {"class_name": "__numpy__", "config": {"value": [1.0]}}}, "mean", [1.0]),
    ],
)
def test_option(class_name, options, key, value):
    made = modern_config({"class_name": class_name, "config": {"name": "a", **options}})
    assert made["config"][key] == value


@pytest.mark.parametrize("class_name", ["GRU", "LSTM", "SimpleRNN", "GRUCell", "LSTMCell", "SimpleRNNCell"])
def test_the_seed_of_a_recurrent_layer_is_left_out(class_name):
    made = modern_config({"class_name": class_name, "config": {"name": "a", "units": 2, "seed": 5}})
    assert "seed" not in made["config"]


def test_a_class_of_the_users_keeps_its_package():
    config = {"class_name": "Mine", "registered_name": "package>Mine", "config": {"name": "a"}}
    assert modern_config(config) == {"class_name": "package>Mine", "config": {"name": "a"}}


def test_ways_of_a_bidirectional():
    """A backward layer that is only the other way round is left out; one of other options is kept."""
    ways = [entry("GRU", name=f"{way}_gru", units=2, go_backwards=way == "backward") for way in ("forward", "backward")]
    config = {"name": "b", "layer": ways[0], "backward_layer": ways[1]}
    made = modern_config({"class_name": "Bidirectional", "config": config})["config"]
    assert set(made) == {"name", "layer"}
    assert made["layer"]["config"]["name"] == "gru"
    ways[1]["config"]["units"] = 3
    made = modern_config({"class_name": "Bidirectional", "config": config})["config"]
    assert made["backward_layer"]["config"]["units"] == 3


def test_a_time_distributed_layer():
    """It is called for each step, and its activity regularizer does not count."""
    penalty = {"class_name": "L2", "config": {"l2": 0.5}}
    inner = entry("Dense", name="d", units=2, activity_regularizer=penalty)
    made = modern_config({"class_name": "TimeDistributed", "config": {"name": "t", "layer": inner}})["config"]
    assert made["by_steps"] is True
    assert made["layer"]["config"]["activity_regularizer"] is None


def test_training_in_a_call_is_left_out():
    """Keras 3 computes by the training of the model's call, whatever the call of the layer had."""
    dropout = entry("Dropout", tensor("x"), kwargs={"training": True}, name="d", rate=0.5, trainable=True)
    assert modern_config(graph(X, dropout))["config"]["layers"][-1]["inbound_nodes"] == [[["x", 0, 0, {}]]]


def test_operations_that_only_made_masks_are_left_out():
    layers = [
        operation("NotEqual", tensor("x"), 0.0, name="not_equal"),
        operation("Any", tensor("not_equal"), name="any", axis=-1, keepdims=False),
        entry("Masking", tensor("x"), name="masking", mask_value=0.0),
        entry("GRU", tensor("masking"), kwargs={"mask": tensor("any")}, name="gru", units=2),
    ]
    made = modern_config(graph(X, *layers))["config"]["layers"]
    assert [found["name"] for found in made] == ["x", "masking", "gru"]
    assert made[-1]["inbound_nodes"] == [[["masking", 0, 0, {}]]]


def test_an_operation_of_an_hdf5_file_which_names_no_module():
    add = {
        "class_name": "Add",
        "config": {"name": "add"},
        "inbound_nodes": [{"args": [tensor("x"), 1.5], "kwargs": {}}],
    }
    made = modern_config(graph(X, add))["config"]["layers"][-1]
    assert (made["class_name"], made["config"]["arguments"]) == ("Operation", [{"input": 0}, 1.5])


@pytest.mark.parametrize(
    ("layers", "text"),
    [
        (
            [operation("Svd", tensor("x"), name="svd")],
            "Svd 'svd': the operation 'Svd' of Keras 3 is not one that is read.",
        ),
        (
            [entry("Dense", tensor("x"), name="d", quantization_config={"mode": "int8"})],
            "Dense 'd': quantization_config must be None; found {'mode': 'int8'}.",
        ),
        (
            [entry("Dense", tensor("x"), name="d", dtype={"class_name": "QuantizedDTypePolicy", "config": {}})],
            "Dense 'd': a dtype policy of class 'QuantizedDTypePolicy' is not read.",
        ),
        (
            [entry("Activation", tensor("x"), name="a", activation="sparsemax")],
            "Activation 'a': activation: 'sparsemax' computed another function than today's, which is not supported.",
        ),
        (
            [
                operation("Greater", tensor("x"), 0.0, name="by_hand"),
                entry("GRU", tensor("x"), kwargs={"mask": tensor("by_hand")}, name="gru", units=2),
            ],
            "The mask 'by_hand' is not one that a layer such as Masking makes, which is not supported.",
        ),
        (
            [
                entry(
                    "Bidirectional",
                    tensor("x"),
                    name="b",
                    merge_mode="sum",
                    layer=entry("GRU", name="g", activity_regularizer={"class_name": "L2", "config": {}}),
                )
            ],
            (
                "Bidirectional 'b': an activity_regularizer counts for each way by itself there. It is read with "
                "merge_mode 'concat' or None and one for both ways; found merge_mode 'sum'."
            ),
        ),
        (
            [entry("Dense", tensor("x"), 1, name="d")],
            "Dense 'd': a call with 2 arguments by position is not read.",
        ),
    ],
)
def test_error(layers, text):
    with pytest.raises(ArchitectureError, match=f"{re.escape(text)}$"):
        modern_config(graph(X, *layers))
