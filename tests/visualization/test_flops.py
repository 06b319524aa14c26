"""`summary(flops=...)`: counts against formulas, and a model that is left as it was."""

import copy

import pytest
import torch

import torchkeras
from torchkeras.layers import (
    GRU,
    LSTM,
    BatchNormalization,
    Bidirectional,
    Conv2D,
    Conv2DTranspose,
    Dense,
    DepthwiseConv2D,
    Dot,
    Embedding,
    Input,
    Lambda,
    Layer,
    LocallyConnected1D,
    MultiHeadAttention,
    SimpleRNN,
    TimeDistributed,
)
from torchkeras.models import Model, Sequential
from torchkeras.visualization import flops


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()


def of(inputs, layer):
    return flops.count(Model(inputs, layer(inputs)), True).total


T, N, U = 5, 6, 4  # steps, features, units
COUNTS = [
    (lambda: of(Input((N,)), Dense(U)), 2 * N * U),
    (lambda: of(Input((T, N)), Dense(U)), 2 * T * N * U),
    (lambda: of(Input((9, 9, 3)), Conv2D(8, 3, strides=2)), 2 * 4 * 4 * 8 * 27),
    (lambda: of(Input((9, 9, 3)), DepthwiseConv2D(3)), 2 * 7 * 7 * 3 * 9),
    (lambda: of(Input((4, 4, 3)), Conv2DTranspose(5, 2, strides=2)), 2 * 8 * 8 * 5 * 3),
    (lambda: of(Input((T, N)), LocallyConnected1D(U, 2)), 2 * (T - 1) * 2 * N * U),
    # Recurrent layers on each of their paths: the scan, torch's kernel, and the loop.
    (lambda: of(Input((T, N)), LSTM(U)), 2 * T * 4 * U * (N + U)),
    (lambda: of(Input((T, N)), LSTM(U, recurrent_activation="sigmoid")), 2 * T * 4 * U * (N + U)),
    (lambda: of(Input((T, N)), LSTM(U, activation="relu")), 2 * T * 4 * U * (N + U)),
    (lambda: of(Input((T, N)), GRU(U)), 2 * T * 3 * U * (N + U)),
    (lambda: of(Input((T, N)), SimpleRNN(U)), 2 * T * U * (N + U)),
    (lambda: of(Input((T, N)), Bidirectional(LSTM(U))), 2 * 2 * T * 4 * U * (N + U)),
    (lambda: of(Input((T, N)), TimeDistributed(Dense(U))), 2 * T * N * U),
    (
        lambda: of([Input((T, N)), Input((T, N))], MultiHeadAttention(2, 3)),
        2 * (4 * T * N * 6 + 2 * 2 * T * T * 3),
    ),
    (lambda: of([Input((N,)), Input((N,))], Dot(1)), 2 * N),
    (lambda: of(Input((N, N)), BatchNormalization()), 0),
    # torch's counter passes over these, products in place and by a vector.
    (lambda: of(Input((N, N)), Lambda(lambda x: x[0].mv(x[0, 0])[None])), 2 * N * N),
    (lambda: of(Input((N, N)), Lambda(lambda x: torch.ones_like(x).baddbmm_(x, x))), 2 * N**3),
    (lambda: of(Input((N, N)), Lambda(lambda x: torch.addbmm(x[0], x, x)[None])), 2 * N**3),
    (lambda: of(Input((N, N)), Lambda(lambda x: torch.addmv(x[0, 0], x[0], x[0, 0])[None])), 2 * N * N),
]


@pytest.mark.parametrize(("count", "expected"), COUNTS)
def test_counts(count, expected):
    assert count() == expected


class Looking(Layer):
    """A layer that no `meta` tensor can run through."""

    def call(self, inputs):
        assert inputs.sum().item() == 0
        return inputs

    def compute_output_shape(self, input_shape):
        return input_shape


class OneOperation(Looking):
    """A layer of torch's that oneDNN computes by one operation, which torch's counter takes for nothing."""

    def build(self, input_shape):
        self.lstm = torch.nn.LSTM(N, N, batch_first=True)

    def call(self, inputs):
        return self.lstm(super().call(inputs))[0]


def test_a_layer_that_looks_at_values_is_run_on_memory():
    x = Input((T, N))
    model = Model(x, Dense(U)(Looking()(LSTM(N, return_sequences=True)(x))))
    counted = flops.count(model, True)
    assert counted.total == 2 * T * 4 * N * (N + N) + 2 * T * N * U
    assert [counted.by_layer[layer] for layer in model.layers[1:]] == [2 * T * 4 * N * (N + N), 0, 2 * T * N * U]


def test_unknown_axes_are_taken_as_told_or_refused():
    x = Input((None, N), name="x")
    model = Model(x, Dense(U)(x))
    with pytest.raises(ValueError, match="needs the size") as error:
        model.summary(flops=True)
    assert str(error.value) == (
        "summary: flops=True needs the size of every axis; the input 'x' has shape (None, None, 6). Give the size to "
        "take for the unknown axes, such as flops=128."
    )
    assert str(flops.count(model, 7)) == (
        f"{2 * 7 * N * U} (one sample, 7 for each unknown axis; products and convolutions, 2 a multiply-add)"
    )
    known = Sequential([Dense(U, input_shape=(N,))])
    assert str(flops.count(known, 7)) == "48 (one sample; products and convolutions, 2 a multiply-add)"


def test_a_batch_size_that_is_fixed_is_told():
    model = Sequential([LSTM(U, stateful=True, batch_input_shape=(3, T, N))])
    assert str(flops.count(model, True)) == (
        f"{3 * 2 * T * 4 * U * (N + U):,} (a batch of 3; products and convolutions, 2 a multiply-add)"
    )


def test_integer_inputs():
    model = Sequential([Embedding(9, N, input_length=T, mask_zero=True), LSTM(U)])
    assert flops.count(model, True).total == 2 * T * 4 * U * (N + U)


def test_the_model_is_left_as_it_was():
    model = Sequential([LSTM(U, stateful=True, batch_input_shape=(2, T, N)), BatchNormalization(), Dense(1)])
    model.compile("adam", "mse")
    model.train_on_batch(torch.randn(2, T, N), torch.randn(2, 1))
    model.train()
    called = []
    model.layers[-1].register_forward_hook(lambda *_: called.append(True) and None)
    before = copy.deepcopy({**model.state_dict(), **dict(model.named_buffers())})
    flops.count(model, True)
    after = {**model.state_dict(), **dict(model.named_buffers())}
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert model.training
    assert all(layer.training for layer in model.layers)


def test_a_model_that_cannot_run_on_zeros():
    def refuse(x):
        if x.device.type == "meta":
            return x
        raise ValueError("no zeros")

    x = Input((N,))
    model = Model(x, Lambda(lambda x: refuse(x) if x.shape[0] > 1 else refuse(x.cpu()))(x), name="strict")
    with pytest.raises(RuntimeError) as error:
        model.summary(flops=True)
    assert str(error.value) == (
        "summary: flops needs a run of Model 'strict' on zeros of shape (1, 6), which failed: no zeros"
    )


def test_a_layer_that_is_one_operation_of_torch_is_refused():
    x = Input((T, N))
    with pytest.raises(RuntimeError) as error:
        flops.count(Model(x, OneOperation()(x), name="fused"), True)
    assert str(error.value) == (
        "summary: flops needs a run of Model 'fused' on zeros of shape (1, 5, 6), which failed: a whole layer runs as "
        "one operation of torch's, whose products cannot be counted"
    )
