"""Pipeline: several layers as one, in models, copies and files."""

import copy
import pickle
import re

import numpy as np
import pytest
import torch

from torchkeras import registry
from torchkeras.layers import Dense, Dropout, Embedding, Input, Layer, Pipeline, Rescaling
from torchkeras.models import Model, Sequential, load_model

X = np.random.default_rng(0).random((6, 4)).astype("float32")


def made() -> Pipeline:
    return Pipeline([Rescaling(0.5), Dense(3, activation="relu"), Dense(2)], name="steps")


def test_the_layers_compute_one_after_the_other():
    pipeline, x = made(), torch.from_numpy(X)
    expected = x
    for layer in pipeline.layers:
        expected = layer(expected)
    torch.testing.assert_close(pipeline(x), expected)
    assert [weight.shape for weight in pipeline.get_weights()] == [(4, 3), (3,), (3, 2), (2,)]
    built = made()
    built.build((None, 4))
    assert built.count_params() == pipeline.count_params() == 23


def test_it_trains_in_a_model():
    pipeline = made()
    model = Sequential([pipeline])
    model.compile("sgd", "mse")
    model.fit(X, X[:, :2], verbose=0)
    before = pipeline.get_weights()
    pipeline.trainable = False
    model.compile("sgd", "mse")
    model.fit(X, X[:, :2], verbose=0)
    assert all((old == new).all() for old, new in zip(before, pipeline.get_weights(), strict=True))
    assert model.trainable_weights == []


def test_the_mode_of_a_call_is_that_of_all_layers():
    pipeline, ones = Pipeline([Dropout(0.5), Rescaling(2.0)]), torch.ones(100, 4)
    assert set(pipeline(ones, training=False).unique().tolist()) == {2.0}
    assert set(pipeline(ones, training=True).unique().tolist()) == {0.0, 4.0}


@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_files_hold_it(name: str, tmp_path):
    inputs = Input((4,))
    model = Model(inputs, Dense(1)(made()(inputs)))
    model.save(tmp_path / name)
    again = load_model(tmp_path / name)
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)
    assert [type(layer) for layer in again.get_layer("steps").layers] == [Rescaling, Dense, Dense]


def test_copies_have_layers_of_their_own():
    pipeline, x = made(), torch.from_numpy(X)
    expected = pipeline(x).detach()
    for again in (copy.deepcopy(pipeline), pickle.loads(pickle.dumps(pipeline))):  # noqa: S301  # our own bytes
        torch.testing.assert_close(again(x).detach(), expected)
        assert again.layers[1] is not pipeline.layers[1]
        again.layers[1].set_weights([np.zeros((4, 3)), np.zeros(3)])
        torch.testing.assert_close(again(x), again.layers[2](torch.zeros(6, 3)))


def test_a_users_layer_in_a_config_comes_from_custom_objects():
    class Own(Layer):
        def call(self, inputs):
            return inputs + 1

    entry = registry.layers.serialize(Pipeline([Own(), Rescaling(2.0)]))
    again = registry.layers.from_config(entry, {"Own": Own})
    assert again(torch.zeros(1, 1)).item() == 2.0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Pipeline([]), "Pipeline: layers must be a list of layers; found []."),
        (lambda: Pipeline(3), "Pipeline: layers must be a list of layers; found 3."),
        (
            lambda: Pipeline([Embedding(3, 2, mask_zero=True)], name="p")(torch.ones(1, 2, dtype=torch.int64)),
            "Pipeline 'p': its last output has a mask, which a Pipeline does not pass on; use a Sequential.",
        ),
    ],
)
def test_bad_values_are_refused(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        make()
