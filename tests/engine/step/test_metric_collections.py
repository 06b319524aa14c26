"""A `MetricCollection` of torchmetrics: several numbers by its own names."""

import numpy as np
import pytest
import torch
import torchmetrics
from torchmetrics import classification

from torchkeras import Input, Model
from torchkeras.layers import Dense

RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((20, 4)).astype("float32")
LABELS = RANDOM.integers(0, 3, 20)


def collection(**options) -> torchmetrics.MetricCollection:
    return torchmetrics.MetricCollection(
        {
            "hits": classification.MulticlassAccuracy(3),
            "precision": classification.MulticlassPrecision(3),
            "recall": classification.MulticlassRecall(3),
        },
        **options,
    )


@pytest.mark.parametrize("options", [{}, {"prefix": "my_", "postfix": "_x"}, {"compute_groups": False}])
@pytest.mark.parametrize("alone", [True, False])
def test_a_collection_of_torchmetrics_is_its_metrics(options, alone):
    given, expected = collection(**options), collection(**options)
    expected.update(torch.rand(4, 3), torch.tensor([0, 1, 2, 0]))
    given.update(torch.rand(4, 3), torch.tensor([0, 1, 2, 0]))  # from here on some of them share their state
    expected.reset()
    inputs = Input((4,))
    model = Model(inputs, Dense(3, activation="softmax")(inputs))
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=given if alone else [given])
    assert model.metrics_names == ["loss", *expected.keys()]
    history = model.fit(X, LABELS, batch_size=3, epochs=2, verbose=0).history
    found = model.evaluate(X, LABELS, batch_size=3, verbose=0, return_dict=True)
    expected.update(torch.from_numpy(model.predict(X)), torch.from_numpy(LABELS))
    assert {name: found[name] for name in expected} == pytest.approx(
        {name: value.item() for name, value in expected.compute().items()}
    )
    assert set(history) == {"loss", *expected.keys()}
    assert {name: value.item() for name, value in given.compute().items()} == pytest.approx(
        {name: found[name] for name in expected}
    )


def test_a_collection_for_one_of_several_outputs_and_beside_others():
    inputs = Input((4,))
    model = Model(inputs, [Dense(3, activation="softmax", name=name)(inputs) for name in ("a", "b")])
    losses = ["sparse_categorical_crossentropy"] * 2
    model.compile("sgd", losses, metrics={"a": [collection(), "accuracy"], "b": collection()})
    names = ["hits", "precision", "recall"]
    assert model.metrics_names[3:] == [f"a_{name}" for name in (*names, "acc")] + [f"b_{name}" for name in names]
