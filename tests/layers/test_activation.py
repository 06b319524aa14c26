"""Activation layers compute what Keras 2.2.4 does, with every option, and two what Keras 1.2.2 did."""

import copy
import pickle
import re

import h5py
import numpy as np
import pytest
import torch
from golden import FOLDER, cases, check, compiles, remade

from torchkeras.engine.graph.input import Input
from torchkeras.engine.modes import call_module
from torchkeras.engine.symbolic.axis_order import Layout
from torchkeras.engine.weights.weight import own_variables
from torchkeras.layers.activation import (
    ELU,
    LeakyReLU,
    ParametricSoftplus,
    PReLU,
    ReLU,
    Softmax,
    SReLU,
    ThresholdedReLU,
)
from torchkeras.layers.core import Masking
from torchkeras.saving.containers.hdf5 import dataset_in, group_in, read_names

CLASSES = (ReLU, LeakyReLU, Softmax, ELU, PReLU, ThresholdedReLU)
X = torch.tensor([[-1, 0, 0.4, 0.5, 1, 2]])


@pytest.mark.parametrize("case", cases(*CLASSES))
def test_values_are_those_of_keras(case):
    check(case, *CLASSES)


# Values of Keras 2.2.4.
@pytest.mark.parametrize(
    ("layer", "values"),
    [
        (ReLU(1.5, 0.5, 0.5), [-0.75, -0.25, -0.05, 0, 1, 1.5]),
        (ReLU(None, 0.5, 0.5), [-0.75, -0.25, -0.05, 0, 1, 2]),
        (ReLU(), [0, 0, 0.4, 0.5, 1, 2]),
        (LeakyReLU(), [-0.3, 0, 0.4, 0.5, 1, 2]),
        (ELU(), [-0.63212055, 0, 0.4, 0.5, 1, 2]),
        (ELU(0.5), [-0.31606028, 0, 0.4, 0.5, 1, 2]),
        (ThresholdedReLU(), [0.0, 0, 0, 0, 0, 2]),
        (ThresholdedReLU(0.4), [0, 0, 0, 0.5, 1, 2]),
    ],
)
def test_options_mean_what_they_mean_in_keras(layer, values):
    torch.testing.assert_close(layer(X), torch.tensor([values]))
    assert layer._facts.layout is Layout.ANY
    assert layer(Input((6,))).shape == (None, 6)
    compiles(layer, X)
    remade(layer)


def test_softmax_takes_the_axis_it_is_told():
    x = torch.randn(2, 3, 4, requires_grad=True)
    layer = Softmax(axis=1)
    torch.testing.assert_close(layer(x), torch.softmax(x, 1))
    torch.testing.assert_close(call_module(layer, x, axis=2), torch.softmax(x, 2))
    assert layer._facts.layout is Layout.AXIS
    assert Softmax()(x)._keras_logits is x
    compiles(layer, x)
    assert remade(layer).axis == 1


# For each case: the shape of alpha in Keras, and of the weight of torch's module.
@pytest.mark.parametrize(
    ("shared_axes", "shape", "kept", "layout"),
    [
        (None, (3, 4, 5), (3, 4, 5), Layout.KERAS),
        ([1], (1, 4, 5), (1, 4, 5), Layout.KERAS),
        ([1, 2], (1, 1, 5), (5,), Layout.CHANNELS_FIRST),
        ([2, 3], (3, 1, 1), (3,), Layout.KERAS),
        ([1, 3], (1, 4, 1), (1, 4, 1), Layout.KERAS),
        ((1, 2, 3), (1, 1, 1), (1,), Layout.KERAS),
    ],
)
def test_prelu_shares_alpha_along_the_axes_told(shared_axes, shape, kept, layout):
    x = torch.randn(2, 3, 4, 5)
    layer = PReLU("he_normal", shared_axes=shared_axes)
    found = layer(x)
    alpha = layer.get_weights()[0]
    assert alpha.shape == shape
    assert layer.prelu.weight.shape == kept
    assert isinstance(layer.prelu, torch.nn.PReLU)
    assert layer._facts.layout is layout
    torch.testing.assert_close(found, torch.relu(x) - torch.from_numpy(alpha) * torch.relu(-x))
    assert layer(Input((3, 4, 5))).shape == (None, 3, 4, 5)
    compiles(layer, x.permute(0, 3, 1, 2) if layout is Layout.CHANNELS_FIRST else x)
    for again in (remade(layer), copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):  # noqa: S301
        again(x)
        again.set_weights([alpha])
        assert torch.equal(again(x), found)


def test_prelu_of_features_and_of_one_axis():
    assert PReLU(shared_axes=1)(Input((None, 3))).shape == (None, None, 3)
    layer = PReLU("ones")
    assert layer(torch.tensor([[-2.0, 3]])).tolist() == [[-2, 3]]
    assert layer.get_weights()[0].shape == (2,)
    assert PReLU()(Masking()(Input((4, 3))))._keras_mask.shape == (None, 4)


def test_gradients_of_learned_activations_are_right():
    x = torch.tensor([[[-1.2, -0.4], [0.3, 1.7], [0.9, -2.2]]], dtype=torch.float64, requires_grad=True)
    for layer in (PReLU("he_normal"), PReLU("he_normal", shared_axes=[1]), SReLU(), ParametricSoftplus()):
        layer(x.float())
        layer.double()
        names = [name for name, _ in layer.named_parameters()]

        def compute(x, *values, layer=layer, names=names):
            return torch.func.functional_call(layer, dict(zip(names, values, strict=True)), (x,))

        values = [value.detach().clone().requires_grad_() for value in layer.parameters()]
        assert torch.autograd.gradcheck(compute, (x, *values))


# Cases of genuine Keras 1.2.2 on TensorFlow.
@pytest.mark.parametrize(
    ("case", "make", "names"),
    [
        ("advanced_activations_04", ParametricSoftplus, ["alphas", "betas"]),
        ("advanced_activations_08", lambda: SReLU(shared_axes=[1, 2]), ["t_left", "a_left", "t_right", "a_right"]),
    ],
)
def test_values_are_those_of_keras_1(case, make, names):
    folder = FOLDER.parent / "keras-1.2.2-tensorflow" / case
    stored, layer = np.load(folder / "io.npz"), make()
    x = torch.from_numpy(stored["x0"])
    layer(x)
    with h5py.File(folder / "model.h5", "r") as file:
        group = group_in(file, f"model_weights/{type(layer).__name__.lower()}_1")
        written = read_names(group, "weight_names")
        layer.set_weights([np.asarray(dataset_in(group, name)) for name in written])
    assert [name.split("_", 2)[2].removesuffix(":0") for name in written] == names
    assert [weight.name for weight in own_variables(layer)] == names
    np.testing.assert_allclose(layer(x).detach().numpy(), stored["y0"], rtol=1e-5, atol=1e-6)
    compiles(layer, x)
    remade(layer)
    assert layer(Masking()(Input(x.shape[1:])))._keras_mask is not None


def test_srelu_bends_at_two_points():
    layer = SReLU()
    x = torch.tensor([[-3.0, -1, 0, 1, 2, 5]])
    layer(x)
    layer.set_weights([np.full(6, value, "float32") for value in (-1, 0.5, -3, 2)])
    assert layer(x).tolist() == [[-2, -1, 0, 1, 2, 8]]
    assert remade(SReLU(capped=True)).capped is True
    assert "capped" not in layer.get_config()


def test_srelu_of_theano_caps_what_lies_below():
    layer = SReLU()
    x = torch.tensor([[-9.0, -1, 0, 1, 2, 5]])
    layer(x)
    layer.set_weights([np.full(6, value, "float32") for value in (-1, -0.5, 2, 2)])
    assert layer(x).tolist() == [[3, -1, 0, 1, 3, 9]]
    layer._follow_theano()
    assert layer(x).tolist() == [[1, -1, 0, 1, 3, 9]]
    compiles(layer, x)


def test_weights_begin_as_told():
    layer = ParametricSoftplus(0.5, 2.0, shared_axes=[1])
    layer(torch.zeros(1, 3, 2))
    assert [array.tolist() for array in layer.get_weights()] == [[[0.5, 0.5]], [[2, 2]]]
    bent = SReLU("ones", "zeros", "ones", "zeros")
    bent(torch.zeros(1, 2))
    assert [array.tolist() for array in bent.get_weights()] == [[1, 1], [0, 0], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ReLU(-1.0), "ReLU: max_value must be a number of at least 0, infinity too, or None; found -1.0."),
        (lambda: ReLU(1.0, -0.5), "ReLU: negative_slope must be a number of at least 0; found -0.5."),
        (lambda: ReLU(threshold=None), "ReLU: threshold must be a number; found None."),
        (lambda: LeakyReLU("a"), "LeakyReLU: alpha must be a number; found 'a'."),
        (lambda: ELU("a"), "ELU: alpha must be a number; found 'a'."),
        (lambda: ThresholdedReLU(None), "ThresholdedReLU: theta must be a number; found None."),
        (
            lambda: PReLU(shared_axes=[0, 1]),
            "PReLU: shared_axes must hold axes of at least 1, or None; found [0, 1].",
        ),
        (
            lambda: PReLU(shared_axes=[3], name="p")(Input((4, 3))),
            "PReLU 'p': shared_axes (3,): the input (None, 4, 3) has no axis 3.",
        ),
        (
            lambda: PReLU(name="p")(Input((None, 3))),
            "PReLU 'p': axis 1 of the input must be known; the input shape is (None, None, 3).",
        ),
        (lambda: ParametricSoftplus("a"), "ParametricSoftplus: alpha_init must be a number; found 'a'."),
        (lambda: Softmax(1.0), "Softmax: axis must be an integer; found 1.0."),
        (lambda: Softmax(2, name="s")(Input((3,))), "Softmax 's': axis 2 is not an axis of the input (None, 3)."),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
