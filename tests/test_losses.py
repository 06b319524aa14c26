"""Losses have the values and gradients of genuine Keras 2.2.4.

`keras-2.2.4-functions.npz`: how it was made says test_activations.py; an entry "gradient by A of E" is
`K.gradients(K.sum(E), A)`. `keras-2.2.4-training/loss_*.npz`: records of the loss functions and of `test_on_batch`.
"""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from torchkeras import activations, config, losses, metrics, optimizers, registry
from torchkeras.losses import shared

FOLDER = Path(__file__).parent / "golden"
GOLDEN = np.load(FOLDER / "keras-2.2.4-functions.npz")
GRADIENTS = [name.removeprefix("gradient by ").split(" of ") for name in GOLDEN.files if name.startswith("gradient")]
RECORDS = sorted((FOLDER / "keras-2.2.4-training").glob("loss_*.npz"))
# The functions of Keras 2.2.4, by all of their names.
NAMES = (
    *("mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_logarithmic_error"),
    *("mse", "MSE", "mae", "MAE", "mape", "MAPE", "msle", "MSLE", "kld", "KLD", "cosine", "cosine_proximity"),
    *("squared_hinge", "hinge", "categorical_hinge", "logcosh", "kullback_leibler_divergence", "poisson"),
    *("categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy"),
)
ELEMENTWISE = sorted(name for name in registry.losses.names() if registry.losses.find(name) in shared.ELEMENTWISE)
PLAIN = SimpleNamespace(softmax=lambda x: torch.softmax(x, -1), sigmoid=torch.sigmoid)  # no logits on the result


@pytest.mark.parametrize("via", [activations, PLAIN], ids=["logits", "probabilities"])
@pytest.mark.parametrize(("by", "expression"), GRADIENTS, ids=[expression for _, expression in GRADIENTS])
def test_values_and_gradients_are_those_of_keras(by, expression, via):
    names = {name: torch.from_numpy(GOLDEN[name]) for name in GOLDEN.files if name.isidentifier()}
    names[by].requires_grad_()
    loss = eval(expression, {"losses": losses, "activations": via, **names})
    np.testing.assert_allclose(loss.detach(), GOLDEN[expression], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(
        torch.autograd.grad(loss.sum(), names[by])[0], GOLDEN[f"gradient by {by} of {expression}"], rtol=1e-3, atol=1e-4
    )


def test_every_loss_is_compared():
    compared = {losses.get(expression.split(".")[1].split("(")[0]) for _, expression in GRADIENTS}
    assert compared == {losses.get(name) for name in NAMES}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_of_training(path):
    record = {name: torch.from_numpy(values) for name, values in np.load(path).items()}
    loss = losses.get(path.stem.removeprefix("loss_")[: -len("_2d")])
    result = loss(record["y"], record["pred"])
    torch.testing.assert_close(result, record["per_sample"], rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(result.mean(), record["value"], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "activation", "inverse"),
    [
        ("categorical_crossentropy", activations.softmax, torch.log),
        ("binary_crossentropy", activations.sigmoid, torch.logit),
    ],
)
@pytest.mark.parametrize("rank", ["2d", "3d"])
def test_records_of_training_from_logits(name, activation, inverse, rank):
    record = np.load(FOLDER / "keras-2.2.4-training" / f"loss_{name}_{rank}.npz")
    y, prediction = torch.from_numpy(record["y"]), torch.from_numpy(record["pred"])
    y_pred = activation(inverse(prediction).requires_grad_())
    assert hasattr(y_pred, "_keras_logits")
    per_sample = losses.get(name)(y, y_pred).detach()
    np.testing.assert_allclose(per_sample, record["per_sample"], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64, torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(("time", "last"), [((), ()), ((), (1,)), ((4,), ()), ((4,), (1,))])
@pytest.mark.parametrize("record", [True, False], ids=["training", "evaluating"])
def test_sparse_is_categorical_with_class_numbers(dtype, time, last, record):
    torch.manual_seed(0)
    logits = torch.randn(5, *time, 3, requires_grad=record)
    labels = torch.randint(0, 3, (5, *time))
    y_pred = activations.softmax(logits)
    loss = losses.sparse_categorical_crossentropy(labels.reshape(5, *time, *last).to(dtype), y_pred)
    one_hot = torch.nn.functional.one_hot(labels)
    torch.testing.assert_close(loss, losses.categorical_crossentropy(one_hot, y_pred), rtol=1e-5, atol=1e-6)
    assert loss.shape == y_pred.shape[:-1]


@pytest.mark.parametrize("label", [3, -1, -100])
@pytest.mark.parametrize("record", [True, False])
def test_a_label_that_is_no_class_is_refused(label, record):
    y_pred = activations.softmax(torch.zeros(2, 3, requires_grad=record))
    with pytest.raises(IndexError) as error:
        losses.sparse_categorical_crossentropy(torch.tensor([0, label]), y_pred)
    assert str(error.value) == f"Target {label} is out of bounds."


@pytest.mark.parametrize("name", [*ELEMENTWISE, "sparse_categorical_crossentropy"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.float64, torch.float16])
def test_targets_of_another_type_are_cast(name, dtype):
    y_true = torch.tensor([[1], [0]]) if name.startswith("sparse") else torch.tensor([[1, 0, 0], [0, 0, 1]])
    y_pred = torch.tensor([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
    loss = losses.get(name)
    torch.testing.assert_close(loss(y_true.to(dtype), y_pred), loss(y_true.float(), y_pred))


@pytest.mark.parametrize("name", ["sparse_categorical_crossentropy", "categorical_crossentropy", "binary_crossentropy"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("record", [True, False], ids=["training", "evaluating"])
def test_certain_predictions_in_half_precision_stay_finite(name, dtype, record):
    logits = torch.tensor([[30.0, -30.0], [-30.0, 30.0]], dtype=dtype, requires_grad=record)
    y_pred = (activations.sigmoid if name.startswith("binary") else activations.softmax)(logits)
    y_true = torch.tensor([[1], [1]]) if name.startswith("sparse") else torch.tensor([[0, 1], [0, 1]])
    loss = losses.get(name)(y_true, y_pred)
    torch.testing.assert_close(loss.float(), torch.tensor([16.0, 0.0]), rtol=2e-2, atol=1e-4)


def test_the_epsilon_of_the_settings_clips():
    y_pred = torch.tensor([[0.0, 1.0]])
    logits = torch.tensor([[-90.0, 90.0]], requires_grad=True)
    before = config.epsilon()
    config.set_epsilon(1e-3)
    try:
        for given in (y_pred, activations.softmax(logits)):
            loss = losses.categorical_crossentropy(torch.tensor([[1, 0]]), given)
            assert loss.item() == pytest.approx(-np.log(1e-3))
        for given in (y_pred, activations.sigmoid(logits)):
            loss = losses.binary_crossentropy(torch.tensor([[1, 0]]), given)
            assert loss.item() == pytest.approx(-np.log(1e-3), rel=1e-4)
    finally:
        config.set_epsilon(before)


def test_aliases_get_and_serialize():
    assert losses.get("mse") is losses.get("MSE") is losses.mean_squared_error
    assert losses.serialize(losses.kld) == "kullback_leibler_divergence"
    assert losses.get(None) is None
    assert losses.deserialize("mine", {"mine": torch.dist}) is torch.dist
    assert losses.get("kl_divergence") is losses.KLD
    assert losses.get("log_cosh") is losses.logcosh
    assert set(registry.losses.names()) == set(vars(losses)["__all__"]) - {"Loss", "get", "serialize", "deserialize"}


def test_a_user_s_class_replaces_none_of_this_package():
    class Huber(losses.Loss): ...

    class AUC(metrics.Metric): ...

    class Adam(optimizers.SGD): ...

    assert losses.get("Huber").__class__ is losses.Huber is not Huber
    assert metrics.get("AUC").__class__ is metrics.get("auc").__class__ is metrics.AUC is not AUC
    assert optimizers.get("adam").__class__ is optimizers.get("Adam").__class__ is optimizers.Adam is not Adam


def test_an_unknown_name_is_refused():
    text = (
        "Unknown loss function: 'mean_square_error'. Did you mean 'mean_squared_error' or 'MeanSquaredError' or "
        "'mean_squared_logarithmic_error'? An object of your own is found when it is passed in `custom_objects` or put "
        "into a CustomObjectScope."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        losses.get("mean_square_error")
