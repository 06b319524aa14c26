"""Configs of tf.keras 2: genuine files give the saved outputs, and what cannot be said today is refused by name."""

import re

import pytest
from translated import assert_outputs, folders, graph

from torchkeras.errors import ArchitectureError
from torchkeras.saving.dialects.tf_keras import modern_config
from torchkeras.saving.graph_config import model_from_config

CASES = folders("tf_keras-2.21")


def entry(class_name, *calls, **config):
    return {"class_name": class_name, "config": config, "inbound_nodes": list(calls)}


X = entry("InputLayer", name="x", batch_input_shape=[None, 4], ragged=False, sparse=False)
SEQUENCE = entry("InputLayer", name="x", batch_input_shape=[None, 5, 4])


def lstm(*calls, **options):
    return entry("LSTM", *(calls or [[["x", 0, 0, {}]]]), name="lstm", units=3, **options)


def option(made, layer, key):
    """An option of a layer of a translated model."""
    return next(found["config"][key] for found in made["config"]["layers"] if found["config"]["name"] == layer)


def test_all_cases_are_there():
    assert len(CASES) == 13 + 12


@pytest.mark.parametrize("file", ["model.h5", "model.keras"])
@pytest.mark.parametrize("folder", CASES, ids=[path.name for path in CASES])
def test_file_gives_the_saved_outputs(folder, file):
    assert_outputs(folder, file, modern_config)


def test_a_config_is_left_as_it_was():
    config = graph(SEQUENCE, lstm(time_major=False))
    before = repr(config)
    modern_config(config)
    assert repr(config) == before


@pytest.mark.parametrize(
    ("class_name", "options", "key", "value"),
    [
        ("BatchNormalization", {"axis": [3]}, "axis", 3),
        ("BatchNormalizationV1", {"axis": -1, "fused": None}, "axis", -1),
        ("Dense", {"units": 2, "dtype": {"class_name": "Policy", "config": {"name": "float32"}}}, "dtype", "float32"),
        ("Dense", {"kernel_regularizer": {"class_name": "L2", "config": {"l2": 0.1}}}, "kernel_regularizer", "L1L2"),
        ("Dense", {"kernel_initializer": {"class_name": "HeNormal", "config": {}}}, "kernel_initializer", "he_normal"),
        ("UpSampling2D", {"interpolation": "bilinear"}, "half_pixel", True),
        ("BatchNormalization", {}, "variance", "flat"),
        ("BatchNormalization", {"axis": [2]}, "frozen_is_fixed", True),
        ("LSTM", {"units": 2}, "zero_output_for_mask", False),
        ("Resizing", {"height": 2, "width": 2}, "data_format", "channels_last"),
        ("Dense", {"activation": "hard_sigmoid"}, "activation", "hard_sigmoid"),
        ("Dense", {"activation": {"class_name": "function", "config": "mine"}}, "activation", "mine"),
        ("Lambda", {"function": ["code", None, None], "function_type": "lambda", "module": "m"}, "function", []),
        ("Lambda", {"function": {"class_name": "__lambda__", "config": {"code": "x"}}}, "function_type", "lambda"),
        ("Lambda", {"function": "mine", "function_type": "function"}, "function", "mine"),
    ],
)
def test_option(class_name, options, key, value):
    made = modern_config({"class_name": class_name, "config": {"name": "a", **options}})
    found = made["config"][key]
    assert (found["class_name"] if isinstance(found, dict) else found) == value


@pytest.mark.parametrize(
    ("call", "tensors"),
    [
        ([["x", 0, 0]], [["x", 0, 0, {}]]),
        (["x", 0, 0, {}], [["x", 0, 0, {}]]),
        ([["x", 0, 0, {"initial_state": [["h", 0, 0], ["c", 0, 0]]}]], [[name, 0, 0, {}] for name in "xhc"]),
        ([["x", 0, 0, {"training": False, "mask": None}]], [["x", 0, 0, {"training": False}]]),
        ([["x", 0, 0, {"training": None}], ["h", 0, 0, {}], ["c", 0, 0, {}]], [[name, 0, 0, {}] for name in "xhc"]),
    ],
)
def test_call(call, tensors):
    states = [entry("InputLayer", name=name, batch_input_shape=[None, 3]) for name in "hc"]
    made = modern_config(graph(SEQUENCE, *states, lstm(call)))
    assert made["config"]["layers"][-1]["inbound_nodes"] == [tensors]


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ([["x", 0, 0]], [["lstm", 0, 0]]),
        (["x", 0, 0], ["lstm", 0, 0]),
        ({"in": ["x", 0, 0]}, {"out": ["lstm", 0, 0]}),
        ([[["x", 0, 0]]], {"out": [["lstm", 0, 0]]}),
    ],
)
def test_inputs_and_outputs_in_any_nest(inputs, outputs):
    made = modern_config(graph(SEQUENCE, lstm(), inputs=inputs, outputs=outputs))["config"]
    assert (made["input_layers"], made["output_layers"]) == ([["x", 0, 0]], [["lstm", 0, 0]])


def test_inputs_of_a_dictionary_are_in_the_order_of_its_keys():
    layers = [entry("InputLayer", name=name, batch_input_shape=[None, 4]) for name in "ba"]
    places = {name: [name, 0, 0] for name in "ba"}
    made = modern_config(graph(*layers, inputs=places, outputs=places))["config"]
    assert made["input_layers"] == made["output_layers"] == [["a", 0, 0], ["b", 0, 0]]


@pytest.mark.parametrize("told", [{"trainable": False}, {}])
def test_a_model_that_has_frozen_all_its_layers_is_frozen_itself(told):
    """So it thaws them, as there; tf.keras does not write of a Sequential whether it is frozen."""
    layer = lstm()
    layer["config"]["trainable"] = False
    inner = {"class_name": "Sequential", "config": {"name": "inner", **told, "layers": [layer]}}
    found = modern_config(inner)["config"]
    assert found["trainable"] is False
    assert "trainable" not in found["layers"][0]["config"]


def test_the_shape_that_a_sequential_was_built_for():
    dense = {"class_name": "Dense", "config": {"name": "d", "units": 2}}
    config = {"name": "s", "layers": [dense], "build_input_shape": [8, 4]}
    assert modern_config({"class_name": "Sequential", "config": config})["config"]["layers"][0]["config"] == {
        **dense["config"],
        "batch_input_shape": [None, 4],
    }


def test_a_mask_ends_before_a_layer_that_knows_none():
    masking = entry("Masking", [["x", 0, 0, {}]], name="masking")
    conv = entry("Conv1D", [["masking", 0, 0, {}]], name="conv", filters=2, kernel_size=2)
    model = model_from_config(modern_config(graph(SEQUENCE, masking, conv)))
    assert [layer.name for layer in model.layers] == ["x", "masking", "masking_0_unmasked", "conv"]
    assert model.outputs[0]._keras_mask is None


@pytest.mark.parametrize(
    ("layers", "text"),
    [
        ([X, lstm(time_major=True)], "LSTM 'lstm': time_major must be False; found True."),
        (
            [entry("InputLayer", name="x", batch_input_shape=[None, 4], ragged=True)],
            "InputLayer 'x': ragged must be False or None; found True.",
        ),
        (
            [X, entry("Dense", name="d", dtype={"class_name": "Policy", "config": {"name": "mixed_float8"}})],
            "Dense 'd': the dtype policy 'mixed_float8' is not known.",
        ),
        (
            [X, entry("BatchNormalization", name="b", axis=[1, 2])],
            "BatchNormalization 'b': axis must be one axis; found [1, 2].",
        ),
        (
            [X, entry("TFOpLambda", ["x", 0, 0, {}], name="tf.linalg.inv", function="linalg.inv")],
            "TFOpLambda 'tf.linalg.inv': the function 'linalg.inv' of TensorFlow is not one that is read.",
        ),
        (
            [X, entry("TFOpLambda", ["x", 0, 0, {"bad": 1}], name="e", function="math.exp")],
            "TFOpLambda 'e': arguments of its call that are not read: bad.",
        ),
        (
            [X, entry("TFOpLambda", ["x", 0, 0, {"exclusive": True}], name="c", function="math.cumsum")],
            "TFOpLambda 'c': exclusive must be False; found True.",
        ),
        (
            [X, entry("TFOpLambda", ["x", 0, 0, {}], name="a", function="math.add")],
            "TFOpLambda 'a': its call lacks the argument 'y'.",
        ),
        ([X, X], "Model 'model': two of its layers have one name."),
        (
            [X, entry("Dense", [["x", 0, 0, {"mask": ["x", 0, 0]}]], name="d")],
            "A Dense is called with a mask of its own, which is not supported.",
        ),
        (
            [X, entry("Dense", [["x", 0, 0, {"other": ["x", 0, 0]}]], name="d")],
            "Dense 'd': tensors as arguments other are not read.",
        ),
        (
            [X, entry("Dense", [["x", 0, -1, {}]], name="d")],
            "A tensor is named by [layer, call, output]; found ['x', 0, -1].",
        ),
        ([X, entry("Dense", [3], name="d")], "A call's input is [layer, call, output, arguments]; found 3."),
        (
            [X, entry("Dense", name="d", kernel_initializer={"class_name": "__lambda__", "config": {"code": "x"}})],
            "Dense 'd': kernel_initializer: a function is stored as Python bytecode, which is never run.",
        ),
        (
            [X, entry("Dense", name="d", kernel_initializer={"class_name": "Ones", "aonfig": {}})],
            "Dense 'd': kernel_initializer: a Ones needs a 'config'; found {'class_name': 'Ones', 'aonfig': {}}.",
        ),
        (
            [X, entry("Dropout", name="d", seed={"class_name": "SeedGenerator", "aonfig": {}})],
            "Dropout 'd': a SeedGenerator needs a 'config'; found {'class_name': 'SeedGenerator', 'aonfig': {}}.",
        ),
        (
            [X, entry("Dense", name="d", dtype={"class_name": "Policy", "aonfig": {"name": "float16"}})],
            "Dense 'd': a Policy needs a 'config'; found {'class_name': 'Policy', 'aonfig': {'name': 'float16'}}.",
        ),
    ],
)
def test_error(layers, text):
    with pytest.raises(ArchitectureError, match=f"^{re.escape(text)}$"):
        modern_config(graph(*layers))


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ([], "A layer's config needs a 'class_name' and a 'config'; found []."),
        ({"class_name": "Dense"}, "The config of Dense must be a dictionary; found None."),
        (
            {"class_name": "Sequential", "config": {"name": "s", "layers": [3]}},
            "The layers of Sequential 's' must be a list of configs.",
        ),
        (
            {"class_name": "Sequential", "config": {"name": "s", "layers": [], "more": 1}},
            "Model 's': unknown option 'more' in its config.",
        ),
    ],
)
def test_error_of_another_form(config, text):
    with pytest.raises(ArchitectureError, match=f"^{re.escape(text)}$"):
        modern_config(config)


@pytest.mark.parametrize(
    ("version", "options", "zeros"),
    [
        ("2.1.6-tf", {"return_sequences": True}, None),
        ("2.1.6-tf", {}, None),
        ("2.2.4-tf", {"zero_output_for_mask": True}, True),
        ("2.2.4-tf", {"return_sequences": True}, True),
        ("2.2.4-tf", {}, False),
        ("2.3.0-tf", {"zero_output_for_mask": True}, False),
        ("2.3.0-tf", {"return_sequences": True}, True),
        ("2.15.0", {"zero_output_for_mask": True}, False),
    ],
)
def test_both_ways_give_zeros_at_masked_steps_as_that_version_did(version, options, zeros):
    layer = entry("LSTM", name="lstm", units=2, **options)
    made = modern_config(entry("Bidirectional", name="both", layer=layer), version)
    assert made["config"]["layer"]["config"]["zero_output_for_mask"] is zeros


@pytest.mark.parametrize(("version", "held"), [("2.1.6-tf", None), ("2.2.4-tf", False), (None, False)])
def test_a_masked_output_is_the_first_state_up_to_tensorflow_1_12(version, held):
    made = modern_config(entry("LSTM", name="lstm", units=2), version)
    assert made["config"].get("zero_output_for_mask") is held


@pytest.mark.parametrize(("name", "options"), [("Resizing", {"height": 2, "width": 2}), ("UpSampling2D", {"size": 2})])
def test_resizing_by_another_curve_is_refused(name, options):
    """By genuine files of TensorFlow 2.3, images differ by 0.14 of values between -1 and 1."""
    text = (
        f"{name} 'r': 'bicubic' has another curve in TensorFlow (a = -0.5) than in torch (a = -0.75), so its images "
        "differ; it is not read."
    )
    config = {"class_name": name, "config": {"name": "r", "interpolation": "bicubic", **options}}
    with pytest.raises(ArchitectureError, match=f"^{re.escape(text)}$"):
        modern_config(config, "2.15.0")


def test_a_random_crop_of_early_versions_is_refused():
    """Genuine 2.3 gives other images than 2.7 outside of training."""
    text = (
        "RandomCrop 'c': outside of training, TensorFlow up to 2.6 resized whole images and cut out their middle, and "
        "later versions cut first; it is not read."
    )
    config = {"class_name": "RandomCrop", "config": {"name": "c", "height": 2, "width": 2}}
    with pytest.raises(ArchitectureError, match=f"^{re.escape(text)}$"):
        modern_config(config, "2.6.0")
    assert modern_config(config, "2.7.0")["config"]["data_format"] == "channels_last"
