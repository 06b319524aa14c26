"""torch.fx traces any graph: each layer is one `call_module`, in Keras's order of axes."""

import inspect

import pytest
import torch
from torch import nn
from torch.fx import Tracer, symbolic_trace

from torchkeras.layers import (
    LSTM,
    Add,
    BatchNormalization,
    Bidirectional,
    Concatenate,
    Conv2D,
    Dense,
    Embedding,
    GlobalAveragePooling2D,
    Input,
    Masking,
    MaxPooling2D,
    MultiHeadAttention,
    SeparableConv2D,
    TimeDistributed,
)
from torchkeras.models import Model, Sequential


def images():
    x = image = Input((9, 9, 3))
    for layer in (
        Conv2D(4, 3, strides=2, padding="same"),
        BatchNormalization(),
        MaxPooling2D(),
        SeparableConv2D(4, 1),
    ):
        x = layer(x)
    return Model(image, Dense(3, activation="softmax")(GlobalAveragePooling2D()(x)))


def residual():
    image = Input((8, 8, 3))
    x = Conv2D(3, 3, padding="same")(image)
    return Model(image, GlobalAveragePooling2D()(Add()([x, image]) * 2.0 + 1.0))


def masked_sequences():
    sequence = Input((6, 3))
    return Model(sequence, Bidirectional(LSTM(4))(TimeDistributed(Dense(5))(Masking()(sequence))))


def states():
    sequence = Input((6, 3))
    output, *state = LSTM(4, return_state=True)(sequence)
    return Model(sequence, [output, Concatenate()(state)])


def attention():
    sequence = Input((6, 4))
    return Model(sequence, MultiHeadAttention(2, 2)(sequence, sequence))


def nested():
    inner = Sequential([Dense(4, input_shape=(5,)), Dense(2)])
    x = Input((5,))
    return Model(x, Dense(3)(inner(x)))


@pytest.mark.parametrize("make", [images, residual, masked_sequences, states, attention, nested])
def test_the_traced_module_computes_the_same(make):
    model = make().eval()
    traced = symbolic_trace(model)
    for size in (2, 5):
        x = torch.rand(size, *model.input_shape[1:])
        x[0, -1] = 0.0
        torch.testing.assert_close(traced(x), model(x))


def test_integers_and_several_inputs():
    words, more = Input((6,), dtype="int64"), Input((4,))
    model = Model([words, more], Concatenate()([LSTM(3)(Embedding(9, 4, mask_zero=True)(words)), more])).eval()
    inputs = torch.randint(0, 9, (2, 6)), torch.rand(2, 4)
    torch.testing.assert_close(symbolic_trace(model)(*inputs), model(list(inputs)))


@pytest.mark.parametrize("outputs", [{"a": Dense(2), "b": Dense(1)}, {"a": Dense(2)}])
def test_outputs_have_the_form_of_the_model(outputs):
    x = Input((3,))
    model = Model(x, {name: layer(x) for name, layer in outputs.items()}).eval()
    data = torch.rand(2, 3)
    torch.testing.assert_close(symbolic_trace(model)(data), model(data))


def of_two():
    inputs = {"query": Input((4,), name="query"), "key": Input((5,), name="key 2")}
    return Model(inputs, {"score": Dense(3)(Concatenate()([inputs["query"], inputs["key"]]))}).eval()


def test_the_parameters_of_the_traced_module_are_the_inputs():
    model, query, key = of_two(), torch.rand(2, 4), torch.rand(2, 5)
    traced = symbolic_trace(model)
    assert list(inspect.signature(traced.forward).parameters) == ["key", "query"]
    expected = model({"query": query, "key": key})
    torch.testing.assert_close(traced(key, query), expected)
    torch.testing.assert_close(traced(key=key, query=query), expected)


class OwnCode(Model):
    def __init__(self):
        super().__init__()
        self.first, self.steps = Sequential([Dense(3, input_shape=(6, 4)), Dense(5)]), LSTM(2)
        self.last = nn.Linear(2, 2)

    def call(self, x, y=None):
        hidden = self.first(x)
        if y is not None:
            hidden = hidden + y
        return self.last(self.steps(torch.relu(hidden)))


def test_code_of_ones_own_is_traced_and_its_layers_are_nodes():
    model, x, y = OwnCode(), torch.rand(2, 6, 4), torch.rand(2, 6, 5)
    model(x, y)
    model.eval()
    traced = symbolic_trace(model)
    torch.testing.assert_close(traced(x, y=y), model(x, y))
    assert [node.target for node in traced.graph.nodes if node.op == "call_module"] == ["first", "steps", "last"]


class Around(nn.Module):
    """A module of torch around a model, called in different ways."""

    def __init__(self, call):
        super().__init__()
        self.model, self.call = of_two(), call

    def forward(self, x):
        return self.call(self.model, x)["score"] * 2


@pytest.mark.parametrize(
    "call",
    [
        lambda model, x: model(x),
        lambda model, x: model({"query": x["query"], "key": x["key"]}),
        lambda model, x: model(**{"query": x["query"], "key 2": x["key"]}),
    ],
    ids=["dict", "values", "names"],
)
def test_a_model_in_a_module_of_torch_is_a_node(call):
    module, x = Around(call), {"query": torch.rand(2, 4), "key": torch.rand(2, 5)}
    traced = symbolic_trace(module)
    torch.testing.assert_close(traced(x), module(x))
    assert [node.target for node in traced.graph.nodes if node.op == "call_module"] == ["model"]


def test_the_nodes_are_the_layers():
    model = images()
    graph = Tracer().trace(model)
    assert [node.target for node in graph.nodes if node.op == "call_module"] == [
        name for name, _ in model.named_children()
    ]
