"""torchvision's ResNet-18 as a backbone: frozen and fine-tuned as by a loop written by hand."""

from operator import methodcaller

import pytest
import torch
from backbones import (
    CHANNELS_FIRST,
    FORMS,
    PICTURES,
    by_torch_module,
    check_files,
    check_fine_tuned,
    check_frozen,
    check_frozen_then_fine_tuned,
    check_in_evaluation_while_it_trains,
    model_around,
)
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.models import resnet18
from torchvision.models.feature_extraction import create_feature_extractor
from torchvision.transforms import Compose, Resize, ToTensor, v2

from torchkeras.layers import Activation, BatchNormalization, Conv2D, Dense, GlobalAveragePooling2D, Input
from torchkeras.models import Model, load_model
from torchkeras.optimizers import Adam

pytestmark = pytest.mark.slow

PARAMETERS, STATISTICS = 11_176_512, 9_600  # of a ResNet-18 without its head
BATCH_NORMS = 20


def backbone() -> nn.Module:
    made = resnet18(weights=None)
    made.fc = nn.Identity()
    return made


@pytest.mark.parametrize("form", FORMS)
def test_fine_tuned(form):
    check_fine_tuned(backbone, form)


@pytest.mark.parametrize("training", [None, False])
@pytest.mark.parametrize("form", FORMS)
def test_frozen(form, training):
    check_frozen(backbone, form, training)


@pytest.mark.parametrize("form", FORMS)
def test_in_evaluation_while_it_trains(form):
    check_in_evaluation_while_it_trains(backbone, form)


@pytest.mark.parametrize("form", FORMS)
def test_frozen_then_fine_tuned(form):
    check_frozen_then_fine_tuned(backbone, form)


@pytest.mark.parametrize("suffix", [".h5", ".weights.h5", ".safetensors", ".pt"])
def test_files(suffix, tmp_path):
    check_files(backbone, "TorchModule", tmp_path / f"resnet{suffix}")


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
def test_a_whole_model_loads_with_the_module_given_again(suffix, tmp_path):
    model = model_around(by_torch_module(backbone(), name="resnet"))
    expected = model.predict(PICTURES)
    model.save(tmp_path / f"resnet{suffix}")
    loaded = load_model(tmp_path / f"resnet{suffix}", custom_objects={"resnet": backbone})
    assert (loaded.predict(PICTURES) == expected).all()


@pytest.mark.parametrize("form", FORMS)
def test_all_of_it_is_counted(form):
    layer = FORMS[form](backbone())
    model = model_around(layer)
    head = 512 * 4 + 4
    assert sum(weight.value.numel() for weight in model.trainable_weights) == PARAMETERS + head
    assert layer.count_params() == PARAMETERS + STATISTICS + BATCH_NORMS  # a count of batches in each normalization
    layer.trainable = False
    assert sum(weight.value.numel() for weight in model.trainable_weights) == head


def test_transforms_of_torchvision_as_a_layer():
    images = torch.from_numpy(CHANNELS_FIRST)
    normalize = v2.Normalize([0.5, 0.4, 0.3], [0.2, 0.3, 0.4])
    layer = by_torch_module(nn.Sequential(normalize, backbone()))
    model = model_around(layer).eval()
    with torch.no_grad():
        expected = model.head(layer.module[1](normalize(images)))
        torch.testing.assert_close(model(torch.from_numpy(PICTURES)), expected, rtol=1e-4, atol=1e-5)


def test_features_of_a_graph_are_extracted_by_the_names_of_its_layers():
    image = Input((8, 8, 3))
    x = BatchNormalization(name="normalized")(Conv2D(4, 3)(image))
    x = Activation("relu", name="features")(x)
    model = Model(image, Dense(2, name="top")(GlobalAveragePooling2D()(x))).eval()
    data = torch.rand(2, 8, 8, 3)
    found = create_feature_extractor(model, ["features", "top"])(data)
    assert found["features"].shape == (2, 6, 6, 4)
    torch.testing.assert_close(found["top"], model(data))


def folder_of_images(path):
    steps = Compose([Resize((32, 32)), ToTensor(), methodcaller("movedim", 0, -1)])
    return DataLoader(ImageFolder(path, steps), batch_size=8, shuffle=True)


def test_a_folder_of_images_trains_a_model_with_the_channels_last(tmp_path):
    """The function above stands on the page about images."""
    for brightness, name in ((0, "night"), (200, "day")):
        (tmp_path / name).mkdir()
        for number in range(8):
            Image.new("RGB", (40, 30), (brightness, brightness, brightness + number)).save(
                tmp_path / name / f"{number}.png"
            )
    image = Input((32, 32, 3))
    model = Model(image, Dense(2, activation="softmax")(GlobalAveragePooling2D()(image)))
    model.compile(Adam(0.1), "sparse_categorical_crossentropy", metrics=["accuracy"])
    with pytest.raises(ValueError, match=r'come first: .* operator\.methodcaller\("movedim", 0, -1\)\.$'):
        model.fit(DataLoader(ImageFolder(tmp_path, Compose([Resize((32, 32)), ToTensor()])), batch_size=8), verbose=0)
    history = model.fit(folder_of_images(tmp_path), epochs=20, verbose=0)
    assert history.history["acc"][-1] == 1.0
