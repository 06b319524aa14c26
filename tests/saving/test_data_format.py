"""Channels first and channels last: the same function, with the weights reordered."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from two_formats import (
    FORMATS,
    MODELS,
    assert_same_function,
    axis,
    decoder,
    image,
    made,
    other,
    outputs,
    residual,
    same_arrays,
    vgg,
    words,
)

from torchkeras.layers import (
    BatchNormalization,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Dense,
    Dropout,
    Flatten,
    GlobalAveragePooling1D,
    Input,
    LayerNormalization,
    MaxPooling1D,
    Permute,
    PReLU,
    Reshape,
    Softmax,
    concatenate,
)
from torchkeras.models import Model, Sequential, load_model
from torchkeras.saving.data_format.convert import convert_data_format, counterpart, reorderings, transfer_weights
from torchkeras.saving.data_format.relation import unmoved
from torchkeras.saving.data_format.tracker import Tracker

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("build", MODELS, ids=lambda build: build.__name__)
def test_a_converted_model_is_the_same_function(build: Callable[[], Model], data_format: str):
    model = made(build, data_format)
    converted = convert_data_format(model, other(data_format))
    tracker = assert_same_function(model, converted)
    assert (
        any(there.order != unmoved(len(there.order)) for there in (*tracker.inputs, *tracker.outputs))
        == (build is not words)
        or build is decoder
    )
    assert_same_function(model, convert_data_format(converted, data_format))


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("build", MODELS, ids=lambda build: build.__name__)
def test_weights_go_over_to_a_model_built_by_code_and_back(build: Callable[[], Model], data_format: str):
    model, target = made(build, data_format), made(build, other(data_format), seed=5)
    transfer_weights(model, target)
    assert_same_function(model, target)
    again = made(build, data_format, seed=7)
    transfer_weights(target, again)
    assert same_arrays(again, model)


def test_the_report_names_each_weight_and_what_was_done_to_it():
    report = transfer_weights(made(vgg, "channels_first"), made(vgg, "channels_last"))
    lines = [f"{line.layer}/{line.weight} {line.shape}: {line.conversion}" for line in report]
    assert lines[:3] == [
        "conv2d_1/kernel (3, 3, 3, 4): as it is",
        "conv2d_1/bias (4,): as it is",
        "batch_normalization_1/gamma (4,): as it is",
    ]
    assert [line for line in lines if not line.endswith("as it is")] == [
        "p_re_lu_1/alpha (4, 4, 6): axes moved",
        "batch_normalization_2/gamma (24,): axis -1 reordered",
        "batch_normalization_2/beta (24,): axis -1 reordered",
        "batch_normalization_2/moving_mean (24,): axis -1 reordered",
        "batch_normalization_2/moving_variance (24,): axis -1 reordered",
        "dense_1/kernel (24, 5): axis 0 reordered",
    ]
    assert len(lines) == 18


# --- configs ---------------------------------------------------------------------------------------------------------


def test_options_that_name_an_axis_follow():
    inputs = Input((3, 4, 6))
    x = Conv2D(2, 1, data_format="channels_first")(inputs)
    x = Dropout(0.5, noise_shape=(None, 2, 1, 1))(PReLU(shared_axes=[2, 3])(BatchNormalization(axis=1)(x)))
    x = LayerNormalization(axis=[1, 3])(Softmax(axis=-1)(concatenate([x, x], axis=-3)))
    x = Conv2DTranspose(2, 2, data_format="channels_first", target_shape=(None, 2, 5, 7))(x)
    model = Model(inputs, Permute((2, 1, 3))(Reshape((2, 7, 5))(x)))
    options = {layer._class_name: layer.get_config() for layer in convert_data_format(model, "channels_last").layers}
    assert options["InputLayer"]["batch_input_shape"] == (None, 4, 6, 3)
    assert options["Conv2D"]["data_format"] == "channels_last"
    assert options["BatchNormalization"]["axis"] == -1
    assert options["PReLU"]["shared_axes"] == (1, 2)
    assert options["Dropout"]["noise_shape"] == (None, 1, 1, 2)
    assert options["Concatenate"]["axis"] == -1
    assert options["Softmax"]["axis"] == 2
    assert options["LayerNormalization"]["axis"] == [2, 3]
    assert options["Conv2DTranspose"]["target_shape"] == (None, 5, 7, 2)
    assert options["Reshape"]["target_shape"] == (7, 5, 2)
    assert options["Permute"]["dims"] == (1, 3, 2)


def test_there_and_back_gives_the_config_and_the_weights_again():
    model = made(residual, "channels_first")
    again = convert_data_format(convert_data_format(model, "channels_last"), "channels_first")
    assert again.get_config() == model.get_config()
    assert same_arrays(again, model)


def test_a_flatten_of_images_takes_the_data_format_so_its_dense_stays():
    model = made(lambda: Sequential([Conv2D(2, 2, input_shape=image(4, 5)), Flatten(), Dense(3)]), "channels_first")
    converted = convert_data_format(model, "channels_last")
    assert converted.layers[1].data_format == "channels_last"
    assert same_arrays(converted, model)
    assert_same_function(model, converted)


def test_layers_over_sequences_become_channels_last_and_never_first():
    inputs = Input((3, 8))
    pooled = MaxPooling1D(data_format="channels_first")(Conv1D(4, 2, data_format="channels_first")(inputs))
    model = Model(inputs, GlobalAveragePooling1D(data_format="channels_first")(pooled))
    converted = convert_data_format(model, "channels_last")
    assert converted.input_shape == (None, 8, 3)
    assert_same_function(model, converted)
    assert convert_data_format(converted, "channels_first").get_config() == converted.get_config()


def test_what_a_config_does_not_tell_stays():
    inputs = Input((4, 5, 3))
    inside = Sequential([Conv2D(2, 2, input_shape=(4, 5, 3), name="conv")], name="inside")
    model = Model(inputs, Flatten(data_format="channels_last")(inside(inputs)))
    inside.trainable = False
    converted = convert_data_format(model.eval(), "channels_first")
    assert not converted.get_layer("inside").trainable
    assert not converted.training


# --- arrays of the other data format ---------------------------------------------------------------------------------


@pytest.mark.parametrize("keras1", [False, True])
def test_arrays_of_the_other_data_format_are_reordered_for_a_model(keras1: bool):
    def build() -> Model:
        flatten = Flatten(data_format="channels_last" if keras1 or axis() == 3 else "channels_first")
        return Sequential([Conv2D(2, 2, input_shape=image(4, 5)), PReLU(), flatten, Dense(3)])

    source, target = made(build, "channels_first"), made(build, "channels_last", seed=3)
    found = reorderings(target, "channels_first", keras1=keras1)
    for variable, array in zip(target.weights, source.get_weights(), strict=True):
        variable.assign(found[id(variable.layer), variable.paths](torch.from_numpy(array)))
    assert_same_function(source, target)
    assert (str(found[id(target.layers[-1]), ("linear.weight",)]) == "as it is") is not keras1


def test_the_counterpart_of_a_model_takes_no_memory():
    found = counterpart(made(vgg, "channels_last"), "channels_first")
    assert found.input_shape == (None, 3, 8, 7)
    assert all(parameter.is_meta for parameter in found.parameters())


# --- what genuine Keras saved ----------------------------------------------------------------------------------------

OVER_IMAGES = [
    path
    for folder in ("keras-2.2.4-tensorflow", "keras-2.2.4-theano", "keras-own-cases/keras-2.2.4-theano")
    for path in sorted((GOLDEN / folder).iterdir())
    if re.search(r"2D|3D|data_format", (path / "case.json").read_text())
]


@pytest.mark.parametrize("path", OVER_IMAGES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_genuine_model_gives_the_saved_outputs_in_the_other_data_format(path: Path):
    arrays = dict(np.load(path / "io.npz"))
    about = json.loads((path / "case.json").read_text())
    model = load_model(path / "model.h5")
    converted = convert_data_format(model, other(about["image_data_format"]))
    tracker = Tracker(model, converted)
    given = [there.applied(arrays[f"x{k}"]) for k, there in enumerate(tracker.inputs)]
    for k, (mine, there) in enumerate(zip(outputs(converted, given), tracker.outputs, strict=True)):
        np.testing.assert_allclose(mine, there.applied(arrays[f"y{k}"]), atol=1e-4, rtol=1e-3)
