"""What is no graph is refused, with a text that says what to do."""

import numpy as np
import pytest
import torch

import torchkeras
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.symbolic.tensor import KerasTensor
from torchkeras.layers import Add, Concatenate, Dense, Input
from torchkeras.models import Model


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


def small():
    x = Input((4,))
    return Model(x, Dense(2)(Dense(3)(x)))


def disconnected():
    a, b = Input((4,)), Input((4,))
    return Model(a, Add()([Dense(4)(a), Dense(4)(b)]))


def cyclic():
    model = small()
    node = model.layers[1]._inbound_nodes[0]
    object.__setattr__(node, "inputs", model.output)
    return Model(model.input, model.output)


def inputs_given_twice():
    x = Input((3,))
    return Model([x, x], Dense(2)(x))


def not_an_input():
    hidden = Dense(4)(Input((3,)))
    return Model(hidden, Dense(2)(hidden))


def same_name_twice():
    x = Input((4,))
    return Model(x, Dense(2, name="d")(Dense(3, name="d")(x)))


class Wrong(Layer):
    def call(self, inputs):
        return None


FITTING = "Give a tensor of that shape, or make the Input for the shape of the data."
CASES = [
    (
        disconnected,
        ValueError,
        (
            "Graph disconnected: cannot obtain value for tensor <KerasTensor 'input_2' shape=(?, 4) dtype=float32> at "
            "layer 'input_2'. It is not among the model's inputs. The following previous layers were "
            "accessed without issue: "
            "['input_1']. Add this Input to the model's inputs: Model(inputs=[..., input_2], outputs=...)."
        ),
    ),
    (cyclic, RuntimeError, "The graph has a cycle: layer 'dense_1' depends on its own output."),
    (
        same_name_twice,
        ValueError,
        (
            "The name 'd' is used 2 times in the model. All layer names should be unique: give each layer a name of "
            "its own, or none."
        ),
    ),
    (inputs_given_twice, ValueError, "Model 'model_1': the same tensor is given twice among the inputs."),
    (
        not_an_input,
        ValueError,
        (
            "Model inputs must come from Input(); found the output of layer 'dense_1'. Make an Input of shape (4,) and "
            "call the layers that follow on it."
        ),
    ),
    (
        lambda: Model(np.zeros((2, 3)), Dense(2)(Input((3,)))),
        TypeError,
        "Model 'model_1': inputs must be symbolic tensors, the outputs of layers; found ndarray.",
    ),
    (
        lambda: Model(Input((3,)), torch.zeros(2)),
        TypeError,
        "Model 'model_1': outputs must be symbolic tensors, the outputs of layers; found Tensor.",
    ),
    (
        lambda: Model(Input((3,)), KerasTensor((None, 3), torch.float32)),
        TypeError,
        "Model 'model_1': outputs must be symbolic tensors, the outputs of layers; found KerasTensor.",
    ),
    (
        lambda: Model(Input((3,)), Dense(2)),
        TypeError,
        (
            "Model 'model_1': outputs must be symbolic tensors, the outputs of layers; found Dense. Call the layer on "
            "a symbolic tensor and give its output."
        ),
    ),
    (lambda: Model([], Dense(2)(Input((3,)))), ValueError, "Model 'model_1': inputs must not be empty."),
    (
        lambda: Concatenate()([Input((3,)), np.zeros((2, 3))]),
        ValueError,
        (
            "Layer concatenate_1 was called with an input that isn't a symbolic tensor: found ndarray. "
            "All inputs to the "
            "layer should be symbolic tensors."
        ),
    ),
    (
        lambda: Dense(2)(np.zeros((2, 3))),
        TypeError,
        (
            "Dense 'dense_1' takes torch tensors; found ndarray. Make a tensor of it with "
            "torch.as_tensor, or give arrays "
            "to `predict`."
        ),
    ),
    (lambda: Dense(2)(Input((3,)), foo=1), TypeError, "Dense 'dense_1': its call takes no argument 'foo'."),
    (
        lambda: small()([Input((4,)), Input((4,))]),
        ValueError,
        "Model 'model_1' has 1 inputs; it was called with 2.",
    ),
    (
        lambda: small()(torch.zeros(1, 4), torch.zeros(1, 4)),
        ValueError,
        "Model 'model_1' has 1 inputs (input_1); it was called with 2.",
    ),
    (
        lambda: small()(Input((5,))),
        ValueError,
        f"Input input_1 of Model 'model_1' has shape (None, 4); found shape (None, 5). {FITTING}",
    ),
    (
        lambda: Dense(2)(Input((None,))),
        ValueError,
        "Dense 'dense_1': axis -1 of the input must be known; the input shape is (None, None).",
    ),
    (
        lambda: Wrong(name="w")(Input((3,))),
        TypeError,
        "Wrong 'w' must give a tensor or a list of tensors; found NoneType.",
    ),
    (lambda: setattr(Dense(2), "trainable", "no"), ValueError, "Dense: trainable must be True or False; found 'no'."),
    (
        lambda: Dense(2, foo=1),
        TypeError,
        (
            "Dense: unknown option 'foo'. Its options are units, activation, use_bias, kernel_initializer, "
            "bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, "
            "bias_constraint, name, trainable, dtype, input_shape, batch_input_shape."
        ),
    ),
    (lambda: Input(), ValueError, "Input 'input_1': give either the shape or the batch shape; found neither."),
    (
        lambda: Input((4,), batch_shape=(1, 4)),
        ValueError,
        "Input 'input_1': give either the shape or the batch shape; found both.",
    ),
    (
        lambda: Input((4, -1)),
        ValueError,
        "Input 'input_1': a shape holds positive integers and None; found (None, 4, -1).",
    ),
    (
        lambda: Input((4,), sparse=True),
        ValueError,
        "Input 'input_1': sparse must be False; sparse tensors are not supported.",
    ),
    (
        lambda: Input((4,), tensor=torch.ones(1)),
        ValueError,
        "Input 'input_1': tensor must be None; wrapping an existing tensor is not supported.",
    ),
    (
        lambda: Input((3,), dtype="floaty"),
        ValueError,
        "dtype must be the name of a torch dtype, such as 'float32' or 'int64'; found 'floaty'.",
    ),
]


@pytest.mark.parametrize(("build", "kind", "message"), CASES)
def test_error(build, kind, message):
    with pytest.raises(kind) as error:
        build()
    assert str(error.value) == message


def test_a_graph_a_thousand_layers_deep_is_traced():
    x = y = Input((1,))
    for _ in range(1000):
        y = y + 1
    assert Model(x, y)(torch.zeros(2, 1)).tolist() == [[1000.0], [1000.0]]
