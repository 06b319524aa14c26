"""ReversibleEmbedding in models: both ways by one weight, or by two."""

import re

import numpy as np
import pytest
import torch
from golden import remade

from torchkeras.layers import Dense, Input, ReversibleEmbedding
from torchkeras.models import Model, load_model

TOKENS = np.array([[1, 4, 0], [2, 2, 3]])


def both_ways(**options) -> Model:
    layer, inputs = ReversibleEmbedding(5, 4, name="words", **options), Input((3,), dtype="int32")
    return Model(inputs, layer(Dense(4)(layer(inputs)), reverse=True))


@pytest.mark.parametrize("options", [{}, {"tie_weights": False, "logit_soft_cap": 0.01}])
@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_files_hold_both_ways(name: str, options: dict, tmp_path):
    model = both_ways(**options)
    model.save(tmp_path / name)
    np.testing.assert_allclose(load_model(tmp_path / name).predict(TOKENS), model.predict(TOKENS), rtol=1e-6)
    assert model.output_shape == (None, 3, 5)


def test_one_weight_gets_the_gradients_of_both_ways():
    layer = ReversibleEmbedding(5, 4)
    hidden = layer(torch.tensor([[1]]))
    layer(hidden.detach(), reverse=True).sum().backward()
    assert layer.embeddings.grad.abs().sum(1).count_nonzero() == 5
    untied = ReversibleEmbedding(5, 4, tie_weights=False, embeddings_regularizer="l2")
    untied(torch.tensor([[1]]))
    assert [weight.name for weight in untied.trainable_weights] == ["embeddings", "reverse_embeddings"]
    assert len(untied.losses) == 1  # the way back has no penalty


def test_it_trains():
    model = both_ways()
    model.compile("adam", "mse")
    first = model.evaluate(TOKENS, np.ones((2, 3, 5), "float32"), verbose=0)
    model.fit(TOKENS, np.ones((2, 3, 5), "float32"), epochs=30, verbose=0)
    assert model.evaluate(TOKENS, np.ones((2, 3, 5), "float32"), verbose=0) < first


def test_masks_go_one_way():
    layer = ReversibleEmbedding(5, 4, mask_zero=True)
    hidden = layer(Input((3,), dtype="int32"))
    assert hidden.keras_mask is not None
    assert layer(hidden, reverse=True).keras_mask is None


def test_types_of_the_way_back():
    layer = ReversibleEmbedding(5, 4, reverse_dtype="float64")
    hidden = layer(Input((3,), dtype="int32"))
    assert hidden.dtype == torch.float32
    assert layer(hidden, reverse=True).dtype == torch.float64
    assert layer(torch.ones(2, 4), reverse=True).dtype == torch.float64
    assert remade(layer).reverse_dtype == "float64"


def test_vectors_of_an_input_are_no_integers():
    layer, inputs = ReversibleEmbedding(5, 4), Input((4,))
    model = Model(inputs, layer(inputs, reverse=True))
    assert model.predict(np.full((2, 4), 0.5, "float32")).shape == (2, 5)


def test_integers_out_of_range_are_refused():
    with pytest.raises(ValueError, match="takes whole numbers from 0 to 4; found 7"):
        both_ways().predict(np.array([[1, 7, 2]]))


def test_vectors_of_another_size_are_refused():
    text = (
        "ReversibleEmbedding 'e': with reverse=True the last axis of the input must be output_dim 4 long; found the "
        "shape (2, 3)."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        ReversibleEmbedding(5, 4, name="e")(torch.ones(2, 3), reverse=True)
