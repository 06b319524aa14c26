"""What a graph becomes: one permute and no copies for a channels-last network, and code a person can read."""

from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

import torchkeras
from torchkeras.engine.modes import call_module
from torchkeras.layers import (
    LSTM,
    Activation,
    Add,
    BatchNormalization,
    Concatenate,
    Conv2D,
    Dense,
    Embedding,
    Flatten,
    GlobalAveragePooling2D,
    Input,
    Lambda,
    MaxPooling2D,
    Permute,
    Reshape,
    ZeroPadding2D,
)
from torchkeras.models import Model, Sequential

MOVES = {"permute", "transpose", "t", "movedim"}
COPIES = {"clone", "copy", "copy_", "_to_copy", "contiguous", "_unsafe_view", "view_copy", "permute_copy"}


class Operations(TorchDispatchMode):
    """Counts what reaches the device, by name."""

    def __init__(self):
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.counts[func.overloadpacket.__name__] += 1
        return func(*args, **(kwargs or {}))

    def of(self, names):
        return {name: count for name, count in self.counts.items() if name in names}


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def cnn():
    x = y = Input((16, 16, 3))
    for filters in (4, 8):
        y = Activation("relu")(BatchNormalization()(Conv2D(filters, 3, padding="same")(y)))
        y = MaxPooling2D()(y)
    return Model(x, Dense(5)(GlobalAveragePooling2D()(y)))


def residual():
    x = Input((8, 8, 3))
    y = Conv2D(4, 3, padding="same")(x)
    for _ in range(3):
        z = BatchNormalization()(Conv2D(4, 3, padding="same", activation="relu")(y))
        y = Activation("relu")(Add()([ZeroPadding2D(0)(z), y]))
    y = Concatenate()([y, Conv2D(2, 1)(y)]) + 1.0
    return Model(x, Dense(5)(GlobalAveragePooling2D()(y * 2.0)))


def all_kinds():
    """A model whose middle layers see Keras's order: Dense on images, softmax over channels, Lambda, Flatten."""
    x = Input((6, 5, 3), name="image")
    y = Conv2D(4, 3, activation="softmax", padding="same", name="soft")(x)
    y = Dense(3, activation="relu", name="mixed")(y)
    y = Conv2D(2, 2, name="second")(y)
    y = Lambda(lambda t: t[:, 1:, :, ::2], name="cut")(y)
    return Model(x, Dense(2, name="top")(Flatten(name="flat")(y)))


def operations_of(model, x, training, backward=False):
    model.train(training)
    model(x)  # once before, so that nothing is set up while counting
    with Operations() as forward:
        y = model(x)
    if not backward:
        return forward
    loss = y.sum()
    with Operations() as behind:
        torch.autograd.grad(loss, list(model.parameters()))
    return behind


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("build", [cnn, residual])
def test_a_channels_last_network_permutes_its_input_and_copies_nothing(build, training):
    model = build()
    found = operations_of(model, torch.randn(2, *model.input_shape[1:]), training)
    moves = {**found.of(MOVES)}
    moves.pop("t", None)  # the kernel of the dense layer, transposed by F.linear
    assert moves == {"permute": 1}
    assert found.of(COPIES) == {}


@pytest.mark.parametrize("build", [cnn, residual])
def test_its_backward_copies_nothing(build):
    model = build()
    found = operations_of(model, torch.randn(2, *model.input_shape[1:]), training=True, backward=True)
    assert found.of(COPIES) == {}
    assert set(found.of(MOVES)) <= {"t"}


def test_the_only_permute_is_the_first_line():
    code = cnn().code
    assert code.count("permute") == 1
    assert code == (
        "def forward(self, input_1):\n"
        "    x = input_1.permute(0, 3, 1, 2)\n"
        "    x = self.conv2d_a(x)  # (None, 16, 16, 4), channels first\n"
        "    x = self.batch_normalization_a(x)  # (None, 16, 16, 4), channels first\n"
        "    x = self.activation_a(x)  # (None, 16, 16, 4), channels first\n"
        "    x = self.max_pooling2d_a(x)  # (None, 8, 8, 4), channels first\n"
        "    x = self.conv2d_b(x)  # (None, 8, 8, 8), channels first\n"
        "    x = self.batch_normalization_b(x)  # (None, 8, 8, 8), channels first\n"
        "    x = self.activation_b(x)  # (None, 8, 8, 8), channels first\n"
        "    x = self.max_pooling2d_b(x)  # (None, 4, 4, 8), channels first\n"
        "    x = self.global_average_pooling2d_a(x, axis=1)  # (None, 8)\n"
        "    x = self.dense_a(x)  # (None, 5)\n"
        "    return x\n"
    )


def test_code_of_a_model_with_two_inputs_and_outputs():
    a, b = Input((4,), name="a"), Input((4,), name="class")
    joined = Concatenate(name="joined")([a, b])
    model = Model([a, b], [Dense(2, name="top")(joined), joined])
    assert model.code == (
        "def forward(self, a, input_class):\n"
        "    x = self.joined([a, input_class])  # (None, 8)\n"
        "    x1 = self.top(x)  # (None, 2)\n"
        "    return [x1, x]\n"
    )


def test_a_tensor_wanted_in_both_orders_is_permuted_once_for_all():
    x = Input((6, 6, 3))
    y = Conv2D(4, 3)(x)
    model = Model(x, [Lambda(lambda t: t * 1)(y), Lambda(lambda t: t * 2)(y), Conv2D(2, 1)(y), y])
    assert model.code.count("permute") == 3  # the input, y to Keras's order, the last convolution's output
    assert [tuple(out.shape) for out in model(torch.randn(2, 6, 6, 3))] == [(2, 4, 4, 4)] * 2 + [
        (2, 4, 4, 2),
        (2, 4, 4, 4),
    ]


def test_channels_first_layers_need_no_permute():
    x = Input((3, 8, 8))
    y = Conv2D(4, 3, data_format="channels_first")(x)
    y = BatchNormalization(axis=1)(y)
    y = Add()([y, Activation("relu")(y)])
    assert "permute" not in Model(x, GlobalAveragePooling2D(data_format="channels_first")(y)).code


def test_layers_in_the_middle_see_kerass_order():
    model = all_kinds().eval()
    x = torch.randn(2, 6, 5, 3)
    soft, mixed, second, top = (model.get_layer(name) for name in ("soft", "mixed", "second", "top"))
    y = F.conv2d(x.permute(0, 3, 1, 2), soft.conv.weight, soft.conv.bias, padding=1).softmax(1).permute(0, 2, 3, 1)
    y = F.linear(y, mixed.linear.weight, mixed.linear.bias).relu()
    y = F.conv2d(y.permute(0, 3, 1, 2), second.conv.weight, second.conv.bias).permute(0, 2, 3, 1)
    y = y[:, 1:, :, ::2].reshape(2, -1)
    torch.testing.assert_close(model(x), F.linear(y, top.linear.weight, top.linear.bias))


@pytest.mark.parametrize(
    "middle",
    [
        lambda y: Flatten()(y),
        lambda y: Flatten()(Permute((2, 1, 3))(y)),
        lambda y: Reshape((-1,))(y),
        lambda y: Flatten()(Lambda(lambda t: t.cumsum(-1))(y)),
        lambda y: Flatten()(BatchNormalization(axis=1)(y)),
        lambda y: Flatten()(Concatenate(axis=1)([y, y * y])),
        lambda y: Flatten()(y[:, 1:, :, :2]),
        lambda y: Flatten()(Add()([y, Lambda(lambda t: t.flip(-1))(y)])),
        lambda y: Flatten()(y + y[:, :, :, :1]),
        lambda y: Flatten()(Activation("softmax")(y)),
        lambda y: LSTM(3)(Reshape((-1, 4))(y)),
    ],
)
def test_channels_last_equals_channels_first_with_the_same_weights(middle):
    """The reference converts by hand, around one channels-first convolution."""
    last_in, first_in = Input((6, 5, 3)), Input((3, 6, 5))
    last = Model(last_in, middle(Conv2D(4, 3, padding="same")(last_in)))
    convolution = Conv2D(4, 3, padding="same", data_format="channels_first")(first_in)
    first = Model(first_in, middle(Permute((2, 3, 1))(convolution)))
    first.set_weights(last.get_weights())
    x = torch.randn(2, 6, 5, 3)
    torch.testing.assert_close(last.eval()(x), first.eval()(x.permute(0, 3, 1, 2)))
    torch.testing.assert_close(last.train()(x), first.train()(x.permute(0, 3, 1, 2)))


def sequence():
    x = Input((5,), dtype="int32")
    return Model(x, Dense(2)(LSTM(4)(Embedding(7, 3)(x))))


def nested():
    x = Input((16, 16, 3))
    inner = cnn()
    return Model(x, Sequential([Dense(3, activation="relu", input_shape=(5,))])(inner(x) + inner(x * 0.5)))


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("build", [cnn, residual, all_kinds, nested, sequence])
def test_compiles_as_one_graph(build, training):
    torch._dynamo.reset()
    model = build().train(training)
    shape = (2, *model.input_shape[1:])
    x = torch.randint(0, 7, shape) if build is sequence else torch.randn(shape)
    state = {key: value.clone() for key, value in model.state_dict().items()}
    expected = model(x)
    model.load_state_dict(state)
    torch.testing.assert_close(torch.compile(model, fullgraph=True, backend="eager")(x), expected)


def test_a_line_has_the_shape_of_its_call_as_its_comment():
    inputs = Input((4,))
    model = Model(inputs, Lambda(lambda x: x * 2)(torch.relu(Dense(3)(inputs))))
    assert model.code.splitlines()[1:4] == [
        "    x = self.dense_a(input_1)  # (None, 3)",
        "    x = self.operation_relu_a(x)  # torch.relu(x) -> (None, 3)",
        "    x = self.lambda_a(x)  # (None, 3)",
    ]


def test_an_error_inside_a_layer_shows_the_generated_line():
    model = Model(x := Input((4,)), Dense(2, name="top")(x))
    with pytest.raises(RuntimeError) as error:
        call_module(model, torch.randn(2, 5))
    frames = [
        entry
        for entry in error.traceback
        if str(entry.path) == f"<torchkeras {model.name}>" or "self.top(" in str(entry.statement)
    ]
    assert "x = self.top(input_1)  # (None, 2)" in [str(entry.statement).strip() for entry in frames]
