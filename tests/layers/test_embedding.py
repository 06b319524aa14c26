"""Embedding computes what Keras 2.2.4 does, with every option."""

import re

import pytest
import torch
from golden import cases, check, compiles, remade
from torch import nn

from torchkeras.engine.graph.input import Input
from torchkeras.layers.embedding import MANY, Embedding, Vectors


@pytest.mark.parametrize("case", cases(Embedding))
def test_values_are_those_of_keras(case):
    check(case, Embedding)


def test_a_real_torch_module_holds_the_vectors():
    layer = Embedding(5, 2)
    x = torch.tensor([[1, 0, 4]])
    torch.testing.assert_close(layer(x), layer.embedding.weight[x])
    torch.testing.assert_close(layer(x.float() + 0.5), layer(x))
    torch.testing.assert_close(layer(x.to(torch.uint8)), layer(x))
    assert list(layer.state_dict()) == ["embedding.weight"]
    assert [w.full_name for w in layer.weights] == [f"{layer.name}/embeddings:0"]
    compiles(layer, x)


def test_zero_is_masked_when_asked():
    x = torch.tensor([[1, 0, 4]])
    assert Embedding(5, 2, mask_zero=True).compute_mask(x).tolist() == [[True, False, True]]
    assert Embedding(5, 2).compute_mask(x, x != 0) is None
    assert Embedding(5, 2, mask_zero=True)(Input((7,), dtype="int32"))._keras_mask.shape == (None, 7)


def test_input_length_tells_the_shape():
    assert Embedding(5, 2).batch_input_shape == (None, None)
    assert Embedding(5, 2, input_length=7, batch_size=3).batch_input_shape == (3, 7)
    assert Embedding(5, 2, input_length=(7, None)).batch_input_shape == (None, 7, None)
    assert Embedding(5, 2, input_shape=(4,)).batch_input_shape == (None, 4)
    assert Embedding(5, 2).input_dtype == "int32"
    assert Embedding(5, 2, input_length=7)(Input((None,))).shape == (None, 7, 2)
    assert Embedding(5, 2)(Input((3, None))).shape == (None, 3, None, 2)
    assert remade(Embedding(5, 2, input_length=7, mask_zero=True)).input_length == 7


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Embedding(0, 2), "Embedding: input_dim must be an integer of at least 1; found 0."),
        (lambda: Embedding(2, 1.5), "Embedding: output_dim must be an integer of at least 1; found 1.5."),
        (lambda: Embedding(2, 1, mask_zero="no"), "Embedding: mask_zero must be True, False, 1 or 0; found 'no'."),
        (
            lambda: Embedding(2, 1, input_length=0),
            "Embedding: input_length must be a positive integer or a tuple of them, or None; found 0.",
        ),
        (
            lambda: Embedding(2, 1, input_length=4, name="words")(Input((5,))),
            "Embedding 'words': input_length is 4; found the input (None, 5).",
        ),
        (
            lambda: Embedding(2, 1, input_length=(4,), name="words")(Input((4, 5))),
            "Embedding 'words': input_length is (4,); found the input (None, 4, 5).",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()


@pytest.mark.parametrize("integers", [torch.int32, torch.int64])
@pytest.mark.parametrize("changed", [{}, {"padding_idx": 3}, {"scale_grad_by_freq": True}, {"max_norm": 0.5}])
def test_many_integers_have_the_gradients_of_torchs_own_module(integers, changed):
    ours, theirs = Vectors(50, 8), nn.Embedding(50, 8, **changed)
    theirs.load_state_dict(ours.state_dict())
    for name, value in changed.items():
        setattr(ours, name, value)
    x = torch.randint(50, (16, MANY // 16), dtype=integers)
    gradient = torch.randn(*x.shape, 8)
    found = []
    for module in (ours, theirs):
        module(x).backward(gradient)
        found.append((module(x), module.weight.grad))
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=0)


def test_many_integers_are_looked_up_the_faster_way():
    layer = Embedding(50, 8)
    x = torch.randint(50, (16, MANY // 16), dtype=torch.int32)
    assert layer(x).grad_fn.next_functions[0][0].name() == "IndexSelectBackward0"
    assert layer(x[:, 1:]).grad_fn.name() == "EmbeddingBackward0"
    with pytest.raises(IndexError, match="out of range"):
        layer(x + 50)
