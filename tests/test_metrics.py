"""Metrics have the values of genuine Keras 2.2.4 (how the functions' values were made: test_activations.py)."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from torchkeras import Sequential, activations, losses, metrics, registry
from torchkeras.layers import Dense

FOLDER = Path(__file__).parent / "golden"
GOLDEN = np.load(FOLDER / "keras-2.2.4-functions.npz")
EXPRESSIONS = [name for name in GOLDEN.files if name.startswith("metrics.")]
INPUTS = {name: torch.from_numpy(GOLDEN[name]) for name in GOLDEN.files if name.isidentifier()}
RECORDS = sorted((FOLDER / "keras-2.2.4-training").glob("metric_*.npz"))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_are_those_of_keras(expression):
    result = eval(expression, {"metrics": metrics, "activations": activations, **INPUTS})
    np.testing.assert_allclose(result.numpy(), GOLDEN[expression], rtol=1e-5, atol=1e-6)
    assert result.shape == GOLDEN[expression].shape


def test_every_accuracy_is_compared():
    compared = {metrics.get(expression.split(".")[1].split("(")[0]) for expression in EXPRESSIONS}
    assert compared > {metrics.get(name) for name in registry.metrics.names() if name.endswith("accuracy")}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_of_training(path):
    record, case = np.load(path), json.loads(path.with_suffix(".json").read_text())
    # "accuracy" is resolved by the model; with a categorical crossentropy it is this.
    name = {"accuracy": "categorical_accuracy"}.get(case["metric"], case["metric"])
    for metric, expected in zip((case["loss"], name), record["value"], strict=True):
        result = metrics.get(metric)(torch.from_numpy(record["y"]), torch.from_numpy(record["pred"])).mean()
        assert result.item() == pytest.approx(expected, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
@pytest.mark.parametrize("last", [(), (1,)])
def test_sparse_accuracy_of_sequences(dtype, last):
    y_true = torch.tensor([[0, 1, 2], [2, 2, 0]], dtype=dtype).reshape(2, 3, *last)
    y_pred = torch.eye(3)[torch.tensor([[0, 1, 1], [2, 0, 0]])]
    expected = [[1, 1, 0], [1, 0, 1]]
    assert metrics.sparse_categorical_accuracy(y_true, y_pred).tolist() == expected
    top = metrics.sparse_top_k_categorical_accuracy(y_true, y_pred, k=1).tolist()
    assert top == pytest.approx([2 / 3, 2 / 3])


def test_a_score_that_is_no_number_is_no_hit():
    y_pred = torch.tensor([[float("nan"), 0.2], [0.1, 0.9]])
    assert metrics.sparse_top_k_categorical_accuracy(torch.tensor([[0], [0]]), y_pred, k=2) == 0.5


@pytest.mark.parametrize("name", ["binary_accuracy", "categorical_accuracy"])
@pytest.mark.parametrize("true_type", [torch.int64, torch.float32, torch.float64])
def test_targets_of_any_type_count_in_float32(name, true_type):
    y_true = torch.tensor([[1, 0, 0], [0, 0, 1]]).to(true_type)
    result = metrics.get(name)(y_true, torch.tensor([[0.9, 0.1, 0.2], [0.4, 0.3, 0.8]], dtype=torch.bfloat16))
    assert result.dtype == torch.float32
    assert result.tolist() == [1, 1]


def test_every_loss_is_a_metric():
    functions = {name for name in registry.losses.names() if not isinstance(registry.losses.find(name), type)}
    assert functions < set(registry.metrics.names())
    assert metrics.get("mse") is metrics.MSE is losses.mean_squared_error
    assert metrics.serialize(metrics.get("MAE")) == "mean_absolute_error"
    assert metrics.deserialize("mine", {"mine": torch.dist}) is torch.dist


def test_an_unknown_name_is_refused():
    text = (
        "Unknown metric function: 'f1'. An object of your own is found when it is passed in `custom_objects` or put "
        "into a CustomObjectScope."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        metrics.get("f1")


@pytest.mark.parametrize("name", ["binary_accuracy", "categorical_accuracy", "top_k_categorical_accuracy"])
def test_class_numbers_are_not_compared_with_scores_of_classes(name):
    model = Sequential([Dense(3, activation="softmax", input_shape=(4,))])
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=[name])
    message = (
        f"{name}: y_true of shape (6, 1) does not fit y_pred of shape (6, 3). For class numbers use 'accuracy', or a "
        "metric whose name begins with sparse."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.evaluate(np.ones((6, 4)), np.arange(6) % 3, verbose=0)
