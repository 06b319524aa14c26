"""Activations have the values of genuine Keras 2.2.4, and those that came later of Keras 3.15.

`golden/keras-2.2.4-functions.npz` holds inputs under plain names, and under each expression what Keras 2.2.4 on
TensorFlow 1.14 made of it: `K.eval(eval(expression))`, the inputs being `K.variable`s;
`golden/keras-3.15-activations.npz` the same of Keras 3.15 on torch. Its `sparsemax` is left out: it does not sum to 1,
which was mended in Keras later (https://github.com/keras-team/keras/pull/23469). `hard_sigmoid6` is its `hard_sigmoid`.
"""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from torchkeras import activations, registry
from torchkeras.layers import LeakyReLU, PReLU

FILES = [
    np.load(Path(__file__).parent / "golden" / name)
    for name in ("keras-2.2.4-functions.npz", "keras-3.15-activations.npz")
]
EXPRESSIONS = [(file, name) for file in FILES for name in file.files if name.startswith("activations.")]


@pytest.mark.parametrize(("file", "expression"), EXPRESSIONS, ids=[expression for _, expression in EXPRESSIONS])
def test_values_are_those_of_keras(file, expression):
    inputs = {name: torch.from_numpy(file[name]) for name in ("x", "cube")}
    result = eval(expression, {"activations": activations, **inputs})
    np.testing.assert_allclose(result.numpy(), file[expression], rtol=1e-5, atol=1e-6)


def test_every_activation_is_compared():
    compared = {expression.split(".")[1].split("(")[0] for _, expression in EXPRESSIONS}
    assert compared == {*registry.activations.names(), "threshold"} - {"sparsemax"}


@pytest.mark.parametrize(
    ("x", "values"),
    [
        ([0.0, 0.5, 1.0], [0.0, 0.25, 0.75]),
        ([0.1, 0.2, 0.3, 0.4, 0.5], [0, 0.1, 0.2, 0.3, 0.4]),
        ([3.0, 1.0, -2.0], [1.0, 0, 0]),
        ([2.0, 2.0, 2.0], [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_sparsemax_is_the_nearest_distribution(x, values):
    # The third and fourth are plain from the definition, the others are worked out in Keras's issue 23425 and its mend.
    torch.testing.assert_close(activations.sparsemax(torch.tensor([x])), torch.tensor([values]))
    torch.testing.assert_close(activations.sparsemax(torch.tensor(x)[:, None], axis=0)[:, 0], torch.tensor(values))


def test_sparsemax_sums_to_one_along_its_axis():
    x = torch.randn(3, 7, 5, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(activations.sparsemax(x, axis=1).sum(1), torch.ones(3, 5))


@pytest.mark.parametrize("name", registry.activations.names())
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_type_of_the_input_is_kept(name, dtype):
    x = torch.linspace(-2, 2, 8).reshape(2, 4)
    result = activations.get(name)(x.to(dtype))
    assert result.dtype == dtype
    torch.testing.assert_close(result.float(), activations.get(name)(x), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("name", [name for name in registry.activations.names() if name != "linear"])
def test_gradients_are_right(name):
    x = torch.tensor([[-3.1, -0.7, 0.3, 0.2], [0.9, 1.4, 3.3, -1.6]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(activations.get(name), x)


def test_pointwise_is_all_but_what_looks_along_an_axis():
    pointwise = {name for name in registry.activations.names() if activations.is_pointwise(activations.get(name))}
    assert pointwise == set(registry.activations.names()) - {"softmax", "log_softmax", "sparsemax", "glu"}
    assert not activations.is_pointwise(torch.relu)
    assert not activations.is_pointwise(None)


@pytest.mark.parametrize("name", ["softmax", "sigmoid"])
def test_the_input_rides_on_the_result_while_gradients_are_recorded(name):
    x = torch.zeros(2, 3, requires_grad=True)
    result = activations.get(name)(x)
    assert result._keras_logits is x
    assert result._keras_activation == name
    with torch.no_grad():
        assert not hasattr(activations.get(name)(x), "_keras_logits")
    assert not hasattr(activations.get(name)(x.detach()), "_keras_logits")


def test_softmax_carries_its_input_on_the_last_axis_alone():
    x = torch.zeros(2, 3, 4, requires_grad=True)
    assert hasattr(activations.softmax(x, axis=2), "_keras_logits")
    assert not hasattr(activations.softmax(x, axis=1), "_keras_logits")


def test_softmax_refuses_one_axis():
    text = "softmax needs two axes or more, samples first; found the shape (3,)."
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        activations.softmax(torch.zeros(3))


def test_get_and_serialize():
    assert activations.get(None) is activations.linear
    assert activations.get("relu") is activations.relu
    assert activations.get(torch.tanh) is torch.tanh
    assert activations.serialize(activations.hard_sigmoid) == "hard_sigmoid"
    assert activations.deserialize("own", {"own": torch.nn.functional.silu}) is torch.nn.functional.silu
    assert activations.get("swish") is activations.swish is activations.silu
    assert activations.get("hard_swish") is activations.hard_swish is activations.hard_silu
    assert activations.serialize(activations.swish) == "silu"


def test_a_layer_without_weights_is_an_activation():
    layer = LeakyReLU(0.5, name="leaky")
    assert activations.get(layer) is layer
    config = activations.serialize(layer)
    assert config == {"class_name": "LeakyReLU", "config": {"name": "leaky", "trainable": True, "alpha": 0.5}}
    assert activations.get(config).alpha == 0.5
    for given in (PReLU(name="p"), nn.PReLU()):
        text = f"must have no weights: call PReLU as the next layer; found {given!r}."
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            activations.get(given)


def test_an_unknown_name_is_refused():
    text = (
        "Unknown activation function: 'rellu'. Did you mean 'relu' or 'relu6' or 'elu'? An object of your own is found "
        "when it is passed in `custom_objects` or put into a CustomObjectScope."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        activations.get("rellu")
    with pytest.raises(TypeError) as error:
        activations.get(3)
    assert str(error.value) == "Could not interpret 3 as an activation function: give a name, a config or a callable."
