"""What a layer requires of its input: an `InputSpec`, and the options that set the input's shape."""

import pytest
import torch

import torchkeras
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import Dense, Input, InputSpec


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def test_a_shape_is_a_tuple():
    with pytest.raises(ValueError, match="tuple") as error:
        Input(4, name="number")
    assert str(error.value) == "Input 'number': a shape is a tuple, such as (4,); found 4."


def test_a_batch_size_goes_with_an_input_shape():
    with pytest.raises(ValueError, match="batch_size") as error:
        Dense(1, batch_size=4, name="head")
    assert str(error.value) == "Dense 'head': batch_size goes with input_shape; found batch_size 4."
    assert Dense(1, batch_size=4, input_shape=(3,)).batch_input_shape == (4, 3)


SEQUENCE = (
    "Give it an input of 3 axes: samples, steps and features, as a recurrent layer gives with return_sequences=True."
)
ROWS = "Give it an input of 2 axes: samples and features."
SIZE = "Give it that size, or make a new layer for this input."


@pytest.mark.parametrize(
    ("spec", "shape", "dtype", "problem"),
    [
        (InputSpec(ndim=3), (4,), "float32", f"expected ndim=3, found ndim=2 (input shape (None, 4)). {SEQUENCE}"),
        (
            InputSpec(max_ndim=2),
            (4, 5),
            "float32",
            f"expected max_ndim=2, found ndim=3 (input shape (None, 4, 5)). {ROWS}",
        ),
        (
            InputSpec(min_ndim=3),
            (4,),
            "float32",
            f"expected min_ndim=3, found ndim=2 (input shape (None, 4)). {SEQUENCE}",
        ),
        (
            InputSpec(axes={-1: 3}),
            (4,),
            "float32",
            f"expected axis -1 of input shape to have value 3 (input shape (None, 4)). {SIZE}",
        ),
        (
            InputSpec(shape=(None, 3)),
            (4,),
            "float32",
            f"expected axis 1 of input shape to have value 3 (input shape (None, 4)). {SIZE}",
        ),
        (InputSpec(dtype="float32"), (4,), "int32", "expected dtype=float32, found dtype=int32"),
    ],
)
def test_an_input_spec_is_held_to(spec, shape, dtype, problem):
    class Asking(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.input_spec = spec

    with pytest.raises(ValueError, match=r"^Input 0 is incompatible with layer ask: ") as error:
        Asking(name="ask")(Input(shape, dtype=dtype))
    assert str(error.value) == f"Input 0 is incompatible with layer ask: {problem}"
    with pytest.raises(ValueError, match=r"^Input 0 is incompatible with layer ask: "):
        Asking(name="ask")(torch.zeros(2, *shape, dtype=getattr(torch, dtype)))
