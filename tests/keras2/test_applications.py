"""keras.applications: layers and shapes of Keras 2.2.4, outputs from its weights, images as the networks want them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import Input, Model, clear_session, config, layers
from torchkeras.keras2 import applications, utils
from torchkeras.keras2.applications import densenet, imagenet_utils, mobilenet_v2, mobilenetv2, vgg16, xception

GOLDEN = Path(__file__).parents[1] / "golden" / "keras-2.2.4-applications"
LAYERS = json.loads((GOLDEN / "layers.json").read_text())
LARGE = ("NASNetLarge", "InceptionResNetV2", "DenseNet201", "DenseNet169")
SMALL = {"MobileNet": {"alpha": 0.25}, "MobileNetV2": {"alpha": 0.35}}


def described(layer: Any) -> str:
    """A layer as `scripts/golden_applications.py` writes it."""
    weights = " ".join("x".join(map(str, weight.shape)) for weight in layer.weights)
    return f"{layer.name} {type(layer).__name__} {layer.output_shape} {layer.count_params()} {weights}".rstrip()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LARGE else name for name in LAYERS]
)
def test_the_layers_are_those_of_keras(name: str):
    clear_session()
    model = getattr(applications, name)(weights=None)
    assert [described(layer) for layer in model.layers] == LAYERS[name]


@pytest.mark.parametrize("name", SMALL)
def test_weights_of_keras_give_the_outputs_of_keras(name: str):
    made_by, options = getattr(applications, name), SMALL[name]
    model = made_by(
        weights=str(GOLDEN / f"{name}.h5"), include_top=False, pooling="avg", input_shape=(64, 64, 3), **options
    )
    images = np.random.RandomState(0).uniform(-1, 1, (2, 64, 64, 3)).astype("float32")
    wanted = np.load(GOLDEN / f"{name}.npy")
    np.testing.assert_allclose(model.predict(images), wanted, atol=1e-4 * np.abs(wanted).max())


def test_options_of_a_network():
    inputs = Input((64, 64, 3))
    model = applications.MobileNet(weights=None, input_tensor=layers.Activation("relu")(inputs), alpha=0.25, classes=7)
    assert model.inputs[0] is inputs
    assert model.output_shape == (None, 7)
    model = applications.VGG16(weights=None, include_top=False, input_shape=(None, None, 3))
    assert model.output_shape == (None, None, None, 512)
    with pytest.raises(ValueError, match="argument should be either"):
        applications.VGG16(weights="missing.h5")


def test_a_network_in_the_other_data_format(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config.SETTINGS, "image_data_format", "channels_first")
    model = applications.ResNet50(weights=None, include_top=False, input_shape=(3, 64, 64), pooling="max")
    assert model.layers[-2].output_shape == (None, 2048, 2, 2)


def test_weights_for_imagenet_come_by_get_file(monkeypatch: pytest.MonkeyPatch):
    asked = []

    def get_file(name: str, origin: str, **options: Any) -> str:
        asked.append((name, options["cache_subdir"]))
        raise OSError("no network")

    monkeypatch.setattr(utils, "get_file", get_file)
    with pytest.raises(OSError, match=r"^no network$"):
        applications.VGG16(include_top=False)
    with pytest.raises(OSError, match=r"^no network$"):
        imagenet_utils.decode_predictions(np.zeros((1, 1000)))
    assert asked == [
        ("vgg16_weights_tf_dim_ordering_tf_kernels_notop.h5", "models"),
        ("imagenet_class_index.json", "models"),
    ]


def test_predictions_are_decoded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    index = {str(number): [f"n{number:08}", f"thing_{number}"] for number in range(1000)}
    (tmp_path / "index.json").write_text(json.dumps(index))
    monkeypatch.setattr(utils, "get_file", lambda *args, **options: str(tmp_path / "index.json"))
    monkeypatch.setattr("keras_applications.imagenet_utils.CLASS_INDEX", None)
    scores = np.zeros((1, 1000))
    scores[0, [3, 5]] = 0.25, 0.5
    ((first, second),) = vgg16.decode_predictions(scores, top=2)
    assert first == ("n00000005", "thing_5", 0.5)
    assert second == ("n00000003", "thing_3", 0.25)
    with pytest.raises(ValueError, match="expects a batch of predictions"):
        vgg16.decode_predictions(scores[:, :10])


def test_an_older_name():
    assert mobilenetv2.MobileNetV2 is mobilenet_v2.MobileNetV2 is applications.MobileNetV2


# --- images ----------------------------------------------------------------------------------------------------------

PIXELS = np.array([[[[10.0, 20.0, 30.0], [255.0, 0.0, 100.0]]]])
MODES = [
    (vgg16, [[-73.939, -96.779, -113.68], [-3.939, -116.779, 131.32]]),
    (xception, [[-0.9215686, -0.8431373, -0.7647059], [1, -1, -0.2156863]]),
    (densenet, [[-1.9466563, -1.6855742, -1.281569], [2.2489083, -2.0357143, -0.0615686]]),
]


@pytest.mark.parametrize(("module", "expected"), MODES)
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_images_of_all_kinds(module: Any, expected: Any, data_format: str):
    first = data_format == "channels_first"
    images = PIXELS.transpose(0, 3, 1, 2) if first else PIXELS
    wanted = np.array(expected)[None, None].transpose(0, 3, 1, 2) if first else np.array(expected)[None, None]
    for given in (images.copy(), images.astype("int32"), torch.tensor(images.copy()), torch.tensor(images[0].copy())):
        found = np.asarray(module.preprocess_input(given, data_format=data_format))
        np.testing.assert_allclose(found, wanted if given.ndim == 4 else wanted[0], atol=1e-4)
    inputs = Input(images.shape[1:])
    for outputs in (
        module.preprocess_input(inputs, data_format),
        layers.Lambda(lambda x: module.preprocess_input(x, data_format))(inputs),
    ):
        np.testing.assert_allclose(Model(inputs, outputs).predict(images), wanted, atol=1e-4)


def test_images_in_the_names_of_keras_1():
    images = PIXELS.transpose(0, 3, 1, 2).copy()
    found = imagenet_utils.preprocess_input(images, dim_ordering="th")
    np.testing.assert_allclose(found[0, :, 0, 0], MODES[0][1][0], atol=1e-4)
    shape = imagenet_utils._obtain_input_shape(None, default_size=224, min_size=48, dim_ordering="tf", include_top=True)
    assert shape == (224, 224, 3)


def test_a_tensor_is_not_overwritten():
    images = torch.tensor(PIXELS)
    xception.preprocess_input(images)
    assert np.array_equal(images.numpy(), PIXELS)
