"""Activations have the values of genuine Keras 2.2.4.

`golden/keras-2.2.4-functions.npz` holds inputs under plain names, and under each expression what Keras 2.2.4 on
TensorFlow 1.14 made of it: `K.eval(eval(expression))`, the inputs being `K.variable`s.
"""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import activations, registry

GOLDEN = np.load(Path(__file__).parent / "golden" / "keras-2.2.4-functions.npz")
EXPRESSIONS = [name for name in GOLDEN.files if name.startswith("activations.")]
INPUTS = {name: torch.from_numpy(GOLDEN[name]) for name in ("x", "cube")}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_are_those_of_keras(expression):
    result = eval(expression, {"activations": activations, **INPUTS})
    np.testing.assert_allclose(result.numpy(), GOLDEN[expression], rtol=1e-5, atol=1e-6)


def test_every_activation_is_compared():
    assert {expression.split(".")[1].split("(")[0] for expression in EXPRESSIONS} == set(registry.activations.names())


@pytest.mark.parametrize("name", registry.activations.names())
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_type_of_the_input_is_kept(name, dtype):
    x = torch.linspace(-2, 2, 6).reshape(2, 3)
    result = activations.get(name)(x.to(dtype))
    assert result.dtype == dtype
    torch.testing.assert_close(result.float(), activations.get(name)(x), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("name", [name for name in registry.activations.names() if name != "linear"])
def test_gradients_are_right(name):
    x = torch.tensor([[-3.1, -0.7, 0.3], [0.9, 1.4, 3.3]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(activations.get(name), x)


def test_pointwise_is_all_but_softmax():
    pointwise = {name for name in registry.activations.names() if activations.is_pointwise(activations.get(name))}
    assert pointwise == set(registry.activations.names()) - {"softmax"}
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
    assert activations.deserialize("swish", {"swish": torch.nn.functional.silu}) is torch.nn.functional.silu


def test_an_unknown_name_is_refused():
    text = (
        "Unknown activation function: 'rellu'. Did you mean 'relu' or 'elu' or 'selu'? An object of your own is found "
        "when it is passed in `custom_objects` or put into a CustomObjectScope."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        activations.get("rellu")
    with pytest.raises(TypeError) as error:
        activations.get(3)
    assert str(error.value) == "Could not interpret 3 as a activation function: give a name, a config or a callable."
