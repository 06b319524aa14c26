"""`keras.applications`: options that do not fit, weights from files, and layers of networks in files."""

import importlib
import json
import re

import numpy as np
import pytest
import torch

from tests.keras3.same.applications import fill, images
from torchkeras import keras3 as keras
from torchkeras.keras3.applications import network

SMALL = {"alpha": 0.25, "include_top": False, "input_shape": (32, 32, 3), "pooling": "avg"}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ResNet50", {"weights": "none.h5"}, "weights must be None, 'imagenet' or the path of a file; found 'none.h5'"),
        ("ResNet50", {"classes": 3}, "classes must be 1000 with the top and the weights 'imagenet'; found 3"),
        ("VGG16", {"classifier_activation": "relu"}, "classifier_activation must be 'softmax' or None with weights"),
        ("VGG16", {"weights": None, "input_tensor": torch.ones(1, 3)}, "input_tensor must be a symbolic tensor"),
        ("VGG16", {"weights": None, "input_shape": (8, 8, 3)}, "input_shape must have at least 32 rows and columns"),
        ("VGG16", {"weights": None, "input_shape": (None, 64, 3)}, "input_shape must be known with include_top=True"),
        ("VGG16", {"weights": None, "input_shape": (32, 32)}, "input_shape must have three sizes; found (32, 32)"),
        ("VGG16", {"input_shape": (64, 64, 3)}, "input_shape must be (224, 224, 3) with the top and 'imagenet'"),
        ("VGG16", {"include_top": False, "input_shape": (64, 64, 1)}, "input_shape must have 3 channels"),
        ("MobileNet", {"alpha": 0.3}, "alpha must be one of (0.25, 0.5, 0.75, 1.0) with the weights 'imagenet'"),
        ("MobileNet", {"depth_multiplier": 2}, "depth_multiplier must be 1 with the weights 'imagenet'; found 2"),
        ("MobileNetV2", {"alpha": 0.3}, "alpha must be one of (0.35, 0.5, 0.75, 1.0, 1.3, 1.4) with the weights"),
        ("MobileNetV3Small", {"alpha": 0.3}, "alpha must be 1.0, or 0.75 if not minimalistic, with the weights"),
        ("MobileNetV3Small", {"weights": None, "input_shape": (16, 16, 3)}, "input_shape must have at least 32 rows"),
    ],
)
def test_options_that_do_not_fit(name: str, options: dict, message: str):
    with pytest.raises(ValueError, match=re.escape(f"{name}: {message}")):
        getattr(keras.applications, name)(**options)


@pytest.mark.parametrize("name", ["ConvNeXtTiny", "DenseNet121", "NASNetMobile"])
def test_some_networks_take_channels_last_alone(name: str):
    keras.config.set_image_data_format("channels_first")
    try:
        with pytest.raises(ValueError, match="image_data_format must be 'channels_last' for this network"):
            getattr(keras.applications, name)(weights=None)
    finally:
        keras.config.set_image_data_format("channels_last")


def test_weights_of_a_file(tmp_path):
    model = keras.applications.MobileNet(weights=None, **SMALL)
    fill(model)
    model.save_weights(tmp_path / "some.weights.h5")
    again = keras.applications.MobileNet(weights=tmp_path / "some.weights.h5", **SMALL)
    inputs = images((32, 32, 3)) / 255
    assert torch.equal(model(inputs), again(inputs))


def copied(model, name: str, **options):
    """The network of the package keras-applications, with the weights of a model."""
    pytest.importorskip("keras_applications")
    stored = getattr(importlib.import_module("torchkeras.keras2.applications"), name)(weights=None, **options)
    by_name = {layer.name: layer for layer in model.layers}
    for layer in stored.layers:
        if layer.weights:
            layer.set_weights(by_name[layer.name].get_weights())
    return stored.eval()


def test_imagenet_is_downloaded_in_the_form_of_keras_2(tmp_path, monkeypatch):
    """The files of ImageNet's weights hold the weights by layers, as Keras 2 writes them."""
    filled = keras.applications.MobileNet(weights=None, **SMALL)
    fill(filled)
    copied(filled, "MobileNet", **SMALL).save_weights(str(tmp_path / "stored.h5"))
    asked = []

    def get_file(name, origin, **options):
        asked.append((name, origin, options))
        return str(tmp_path / "stored.h5")

    monkeypatch.setattr(network, "get_file", get_file)
    with pytest.warns(UserWarning, match="the weights are those for images of 224 rows"):
        model = keras.applications.MobileNet(**SMALL)
    address = "https://storage.googleapis.com/tensorflow/keras-applications/mobilenet/mobilenet_2_5_224_tf_no_top.h5"
    assert asked == [(address.rpartition("/")[2], address, {"cache_subdir": "models", "file_hash": None})]
    assert model.name == "mobilenet_0.25_224"
    inputs = images((32, 32, 3)) / 255
    assert torch.equal(model(inputs), filled(inputs))


def test_nasnet_mobile_is_that_of_keras_applications():
    """Genuine Keras refuses it on torch."""
    options = {"input_shape": (64, 64, 3), "include_top": False}
    model = keras.applications.NASNetMobile(weights=None, **options)
    fill(model)
    stored = copied(model, "NASNetMobile", **options)
    inputs = images((64, 64, 3)) / 255
    np.testing.assert_allclose(model(inputs).detach(), stored(torch.tensor(inputs)).detach(), rtol=1e-5, atol=1e-5)


def test_layers_of_networks_in_files(tmp_path):
    convnext, inception = keras.applications.convnext, keras.applications.inception_resnet_v2
    inputs = keras.Input((4,))
    x = convnext.StochasticDepth(0.2)(convnext.LayerScale(0.5, 4)(inputs))
    model = keras.Model(inputs, inception.CustomScaleLayer(0.3)([x, inputs]))
    entries = {entry["class_name"]: entry for entry in keras.saving.serialize_keras_object(model)["config"]["layers"]}
    assert entries["LayerScale"]["module"] == "keras.src.applications.convnext"
    assert entries["CustomScaleLayer"]["module"] == "keras.src.applications.inception_resnet_v2"
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    values = np.ones((2, 4), "float32")
    assert torch.equal(again(values), model(values))
    assert [type(layer) for layer in again.layers] == [type(layer) for layer in model.layers]


def test_samples_are_dropped_in_training():
    layer = keras.applications.convnext.StochasticDepth(0.25)
    found = layer(np.ones((1000, 3), "float32"), training=True)
    kept = found[:, 0] > 0
    assert torch.equal(found, kept[:, None].expand(-1, 3) / 0.75)
    assert 0.7 < kept.float().mean() < 0.8


def test_predictions_by_name(monkeypatch, tmp_path):
    names = tmp_path / "names.json"
    names.write_text(json.dumps({number: [f"n{number}", f"class {number}"] for number in range(1000)}))
    utils = keras.applications.imagenet_utils
    monkeypatch.setattr(utils, "get_file", lambda *given, **options: str(names))
    utils._names.cache_clear()
    scores = np.zeros((1, 1000))
    scores[0, [3, 7]] = 0.25, 0.75
    assert utils.decode_predictions(scores, top=2) == [[("n7", "class 7", 0.75), ("n3", "class 3", 0.25)]]
    utils._names.cache_clear()
    with pytest.raises(ValueError, match=r"preds must have the shape \(samples, 1000\); found \(1, 10\)"):
        utils.decode_predictions(np.zeros((1, 10)))


def test_preprocess_input_refuses_other_words():
    with pytest.raises(ValueError, match="mode must be one of caffe, tf, torch; found 'jax'"):
        keras.applications.imagenet_utils.preprocess_input(np.ones((1, 1, 3)), mode="jax")
    with pytest.raises(ValueError, match="data_format must be 'channels_first' or 'channels_last'; found 'first'"):
        keras.applications.imagenet_utils.preprocess_input(np.ones((1, 1, 3)), data_format="first")
