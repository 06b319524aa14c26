"""`torch.func`: functional_call, grad, vmap, jacrev, jvp, and stacked ensembles, over a model's parameters."""

import copy

import numpy as np
import pytest
import torch
from shared import (
    IMAGES,
    LABELS,
    ROWS,
    SERIES,
    TARGETS,
    TEXTS,
    dense_model,
    image_model,
    plain_dense,
    series_model,
    text_model,
)
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, stack_module_state, vmap
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _attention_that_vmap_knows():
    """Torch warns that vmap runs its CPU kernel of attention sample by sample; its formula has no such limit."""
    with sdpa_kernel(SDPBackend.MATH):
        yield


MODELS = {
    "dense": (dense_model, ROWS),
    "images": (image_model, IMAGES),
    "transformer": (text_model, TEXTS),
    "series": (lambda: series_model(recurrent_activation="hard_sigmoid"), SERIES),
}


def state(model):
    return dict(model.named_parameters()), dict(model.named_buffers())


@pytest.mark.parametrize("case", MODELS)
def test_functional_call_computes_with_the_parameters_given(case):
    make, x = MODELS[case]
    model, other = make().eval(), make().eval()
    given = {name: value.detach() for name, value in other.state_dict().items()}
    with torch.no_grad():
        torch.testing.assert_close(functional_call(model, given, torch.from_numpy(x)), other(torch.from_numpy(x)))
        assert not torch.equal(model(torch.from_numpy(x)), other(torch.from_numpy(x)))


@pytest.mark.parametrize("case", MODELS)
def test_grad_is_that_of_backward(case):
    make, x = MODELS[case]
    model = make().eval()
    inputs, labels = torch.from_numpy(x), torch.from_numpy(LABELS)
    parameters, buffers = state(model)

    def loss(parameters):
        return F.cross_entropy(functional_call(model, (parameters, buffers), (inputs,)), labels)

    gradients, value = grad_and_value(loss)(parameters)
    expected = F.cross_entropy(model(inputs), labels)
    expected.backward()
    torch.testing.assert_close(value, expected)
    for name, parameter in parameters.items():
        if parameter.requires_grad:
            torch.testing.assert_close(gradients[name], parameter.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("case", ["dense", "images", "transformer"])
def test_gradients_of_single_samples(case):
    make, x = MODELS[case]
    model = make().eval()
    inputs, labels = torch.from_numpy(x[:4]), torch.from_numpy(LABELS[:4])
    parameters, buffers = state(model)

    def loss(parameters, sample, label):
        outputs = functional_call(model, (parameters, buffers), (sample.unsqueeze(0),))
        return F.cross_entropy(outputs, label.unsqueeze(0))

    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, inputs, labels)
    for index in range(4):
        one = grad(loss)(parameters, inputs[index], labels[index])
        for name, value in one.items():
            torch.testing.assert_close(found[name][index], value, rtol=1e-4, atol=1e-6)


def test_jacobian_and_hessian_are_those_of_plain_pytorch():
    model = dense_model()
    plain = plain_dense(model)
    x, y = torch.from_numpy(ROWS[:4]), torch.from_numpy(TARGETS[:4])
    results = []
    for module in (model, plain):
        parameters = dict(module.named_parameters())
        jacobian = jacrev(lambda p, m=module: functional_call(m, p, (x,)))(parameters)
        curvature = hessian(lambda p, m=module: F.mse_loss(functional_call(m, p, (x,)), y))(parameters)
        results.append(([*jacobian.values()], [value for row in curvature.values() for value in row.values()]))
    for own, expected in zip(results[0], results[1], strict=True):
        for one, other in zip(own, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_forward_mode():
    model = dense_model()
    plain = plain_dense(model)
    x = torch.from_numpy(ROWS)
    tangent = torch.ones_like(x)
    for own, expected in zip(jvp(model, (x,), (tangent,)), jvp(plain, (x,), (tangent,)), strict=True):
        torch.testing.assert_close(own, expected)


@pytest.mark.parametrize("case", ["dense", "images", "transformer"])
def test_an_ensemble_in_one_call(case):
    make, x = MODELS[case]
    models = [make().eval() for _ in range(3)]
    parameters, buffers = stack_module_state(models)  # type: ignore[arg-type]
    base = copy.deepcopy(models[0]).to("meta")
    inputs = torch.from_numpy(x)
    outputs = vmap(lambda p, b: functional_call(base, (p, b), (inputs,)))(parameters, buffers)
    for model, found in zip(models, outputs, strict=True):
        np.testing.assert_allclose(found.detach(), model.predict(x), rtol=1e-4, atol=1e-5)
