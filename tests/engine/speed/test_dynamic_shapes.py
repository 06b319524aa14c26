"""`torch.compile(model, dynamic=True)` takes batches of any size by two graphs at most."""

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend

from torchkeras.layers import (
    LSTM,
    BatchNormalization,
    Concatenate,
    Conv2D,
    Dense,
    Embedding,
    GlobalAveragePooling2D,
    Input,
    MultiHeadAttention,
)
from torchkeras.models import Model, Sequential


def images():
    image = Input((8, 8, 3))
    return Model(image, Dense(3)(GlobalAveragePooling2D()(BatchNormalization()(Conv2D(4, 3)(image)))))


def texts():
    return Sequential([Embedding(9, 4, mask_zero=True, input_length=6), LSTM(5), Dense(2)])


def attention():
    sequence = Input((6, 4))
    return Model(sequence, MultiHeadAttention(2, 2)(sequence, sequence))


def two_inputs():
    first, second = Input((4,), name="first"), Input((5,), name="second")
    return Model({"first": first, "second": second}, {"out": Dense(3)(Concatenate()([first, second]))})


class OwnCode(Model):
    def __init__(self):
        super().__init__()
        self.inner = Sequential([Dense(4, input_shape=(5,)), Dense(3)])

    def call(self, x):
        return torch.relu(self.inner(x))


def batch(size, name):
    made = {
        "images": lambda: torch.rand(size, 8, 8, 3),
        "texts": lambda: torch.randint(1, 9, (size, 6)),
        "attention": lambda: torch.rand(size, 6, 4),
        "two_inputs": lambda: {"first": torch.rand(size, 4), "second": torch.rand(size, 5)},
        "OwnCode": lambda: torch.rand(size, 5),
    }
    return made[name]()


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize("make", [images, texts, attention, two_inputs, OwnCode])
def test_a_changing_batch_size_compiles_twice_at_most(make):
    torch.compiler.reset()
    model, counter = make(), CompileCounterWithBackend("eager")
    model(batch(2, make.__name__))
    model.eval()
    compiled = torch.compile(model, dynamic=True, backend=counter)
    for size in (11, 2, 7, 1):
        x = batch(size, make.__name__)
        torch.testing.assert_close(compiled(x), model(x))
    assert counter.frame_count <= 2
