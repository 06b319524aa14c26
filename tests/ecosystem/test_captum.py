"""captum: attributions of models, as for the same network in plain PyTorch."""

import numpy as np
import pytest
import torch
from captum.attr import (
    DeepLift,
    GuidedBackprop,
    IntegratedGradients,
    LayerConductance,
    LayerGradCam,
    LayerIntegratedGradients,
    Occlusion,
    Saliency,
)
from shared import (
    IMAGES,
    LABELS,
    ROWS,
    TARGETS,
    TEXTS,
    dense_model,
    fit,
    image_model,
    plain_dense,
    plain_images,
    text_model,
)
from torch import nn

from torchkeras import Input, Model
from torchkeras.layers import Dense, TorchModule

pytestmark = pytest.mark.slow

IMAGE_INPUTS = torch.from_numpy(IMAGES[:4])
ROW_INPUTS = torch.from_numpy(ROWS[:4])
CLASSES = torch.from_numpy(LABELS[:4])


def trained_images() -> tuple[nn.Module, nn.Module]:
    model = image_model()
    fit(model, IMAGES, TARGETS, rate=0.02)
    plain = plain_images(model)
    for own, other in zip(model.buffers(), plain.buffers(), strict=True):
        other.copy_(own)
    return model.eval(), plain.eval()


def test_integrated_gradients_add_up_to_the_difference_of_outputs():
    model = dense_model().eval()
    plain = plain_dense(model)
    found, error = IntegratedGradients(model).attribute(ROW_INPUTS, target=CLASSES, return_convergence_delta=True)
    assert error.abs().max() < 1e-3
    with torch.no_grad():
        rows = torch.arange(4)
        difference = model(ROW_INPUTS)[rows, CLASSES] - model(torch.zeros_like(ROW_INPUTS))[rows, CLASSES]
    torch.testing.assert_close(found.sum(1).float(), difference, rtol=1e-2, atol=1e-3)
    torch.testing.assert_close(found, IntegratedGradients(plain).attribute(ROW_INPUTS, target=CLASSES))


@pytest.mark.parametrize("method", [Saliency, IntegratedGradients])
def test_attributions_of_images(method):
    model, plain = trained_images()
    found = method(model).attribute(IMAGE_INPUTS.clone().requires_grad_(), target=CLASSES)
    channels_first = IMAGE_INPUTS.permute(0, 3, 1, 2).contiguous().requires_grad_()
    expected = method(plain).attribute(channels_first, target=CLASSES)
    torch.testing.assert_close(found.permute(0, 3, 1, 2), expected, rtol=1e-4, atol=1e-6)


def test_grad_cam_on_a_convolution_of_a_model():
    model, plain = trained_images()
    found = LayerGradCam(model, model.last.conv).attribute(IMAGE_INPUTS, target=CLASSES)
    expected = LayerGradCam(plain, plain[3]).attribute(IMAGE_INPUTS.permute(0, 3, 1, 2).contiguous(), target=CLASSES)
    assert found.shape == (4, 1, 4, 4)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_grad_cam_on_a_layer_which_has_its_activation_in_it():
    model, plain = trained_images()
    found = LayerGradCam(model, model.last).attribute(IMAGE_INPUTS, target=CLASSES)
    expected = LayerGradCam(plain, plain[4]).attribute(IMAGE_INPUTS.permute(0, 3, 1, 2).contiguous(), target=CLASSES)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_conductance_of_a_layer():
    model = dense_model().eval()
    plain = plain_dense(model)
    found = LayerConductance(model, model.layers[1]).attribute(ROW_INPUTS, target=CLASSES)
    expected = LayerConductance(plain, plain[1]).attribute(ROW_INPUTS, target=CLASSES)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_attributions_of_words_by_their_embedding():
    model = text_model().eval()
    embedding = next(module for module in model.modules() if isinstance(module, nn.Embedding))
    texts = torch.from_numpy(TEXTS[:4])
    found, error = LayerIntegratedGradients(model, embedding).attribute(
        texts, baselines=torch.zeros_like(texts), target=CLASSES, return_convergence_delta=True
    )
    assert found.shape == (4, 5, 8)
    assert error.abs().max() < 1e-2


def test_occlusion():
    model = dense_model().eval()
    found = Occlusion(model).attribute(ROW_INPUTS, sliding_window_shapes=(1,), target=CLASSES)
    expected = Occlusion(plain_dense(model)).attribute(ROW_INPUTS, sliding_window_shapes=(1,), target=CLASSES)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("method", [DeepLift, GuidedBackprop])
@pytest.mark.filterwarnings("ignore:Setting (forward, backward hooks|backward hooks):UserWarning")
def test_methods_that_replace_activations_work_on_activations_that_are_modules(method):
    """These put hooks on `nn.ReLU` and its like; a layer's `activation=` is none, nor is `F.relu` in plain PyTorch."""
    inputs = Input((6,))
    model = Model(inputs, Dense(4)(TorchModule(nn.ReLU())(Dense(5)(inputs)))).eval()
    plain = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4))
    for parameter, own in zip(plain.parameters(), model.parameters(), strict=True):
        parameter.data.copy_(own.data)
    x = ROW_INPUTS.clone().requires_grad_()
    found = method(model).attribute(x, target=CLASSES)
    expected = method(plain).attribute(ROW_INPUTS.clone().requires_grad_(), target=CLASSES)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


def test_a_model_that_was_explained_trains_and_predicts_as_before():
    model, _ = trained_images()
    before = model.predict(IMAGES)
    LayerGradCam(model, model.last.conv).attribute(IMAGE_INPUTS, target=CLASSES)
    IntegratedGradients(model).attribute(IMAGE_INPUTS, target=CLASSES)
    np.testing.assert_array_equal(model.predict(IMAGES), before)
    assert all(parameter.requires_grad for parameter in model.parameters())
