"""Metrics of an output whose loss takes logits see probabilities where they expect them; their own options decide."""

import functools
import re
import warnings

import numpy as np
import pytest
import torch
import torchmetrics
from torch import nn
from torch.nn import functional as F
from torchmetrics import classification

from torchkeras import Input, losses, metrics
from torchkeras.layers import Activation, Dense
from torchkeras.models import Model, Sequential, load_model

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((40, 4)).astype("float32")
BITS = (RANDOM.random((40, 3)) > 0.5).astype("float32")
BIT = BITS[:, :1]
LABELS = RANDOM.integers(0, 3, 40)
ROWS = np.eye(3, dtype="float32")[LABELS]
SCALE = 0.4  # many logits lie between 0 and 1, where they could be taken for probabilities


def pair(loss, of_probabilities, activation, units, made):
    """A model of logits and one of probabilities, of the same weights, each with metrics of its own."""
    kernel = SCALE * RANDOM.standard_normal((4, units)).astype("float32")
    models = []
    for layers, given in (([], loss), ([Activation(activation)], of_probabilities)):
        model = Sequential([Dense(units, input_shape=(4,)), *layers])
        model.set_weights([kernel, 0.1 + np.zeros(units)])
        model.compile("sgd", given, metrics=[made()], weighted_metrics=None)
        models.append(model)
    return models


def same(loss, of_probabilities, activation, target, made, units):
    of_logits, of_them = pair(loss, of_probabilities, activation, units, made)
    for batch_size in (40, 7):
        found, expected = (model.evaluate(X, target, batch_size, verbose=0) for model in (of_logits, of_them))
        assert found[1] == pytest.approx(expected[1], rel=1e-5, abs=1e-6)
    found, expected = (model.train_on_batch(X, target) for model in (of_logits, of_them))
    assert found[1] == pytest.approx(expected[1], rel=1e-5, abs=1e-6)
    return found[1]


BINARY_LOSSES = [
    nn.BCEWithLogitsLoss(),
    F.binary_cross_entropy_with_logits,
    losses.BinaryCrossentropy(from_logits=True),
    losses.BinaryFocalCrossentropy(from_logits=True),
    functools.partial(losses.binary_crossentropy, from_logits=True),
    losses.LossFunctionWrapper(losses.binary_crossentropy, from_logits=True),
    nn.MultiLabelSoftMarginLoss(),
]
BINARY_METRICS = [
    lambda: "accuracy",
    lambda: "binary_accuracy",
    lambda: "binary_crossentropy",
    lambda: "binary_focal_crossentropy",
    lambda: "ce",
    lambda: "dice",
    lambda: metrics.binary_accuracy,
    metrics.BinaryAccuracy,
    lambda: metrics.BinaryAccuracy(threshold=0.6),
    metrics.AUC,
    lambda: metrics.AUC(curve="PR"),
    lambda: metrics.AUC(thresholds=[0.0, 0.4, 0.6, 1.0]),
    metrics.Precision,
    lambda: metrics.Precision(thresholds=0.55),
    metrics.Recall,
    metrics.TruePositives,
    metrics.FalseNegatives,
    lambda: metrics.SensitivityAtSpecificity(0.5),
    lambda: metrics.PrecisionAtRecall(0.5),
    lambda: metrics.FBetaScore(average="micro", threshold=0.5),
    lambda: metrics.F1Score(average="macro", threshold=0.5),
    lambda: metrics.BinaryIoU(target_class_ids=[0, 1], threshold=0.5),
    metrics.BinaryCrossentropy,
    lambda: losses.BinaryCrossentropy(),
    lambda: metrics.MeanMetricWrapper(losses.binary_crossentropy),
    lambda: functools.partial(losses.binary_crossentropy, label_smoothing=0.1),
]


@pytest.mark.parametrize("loss", BINARY_LOSSES, ids=lambda loss: getattr(loss, "__name__", type(loss).__name__))
@pytest.mark.parametrize("made", BINARY_METRICS, ids=range(len(BINARY_METRICS)))
def test_metrics_under_a_sigmoid(loss, made):
    same(loss, "binary_crossentropy", "sigmoid", BITS, made, 3)


CLASSES_LOSSES = [
    (nn.CrossEntropyLoss(), LABELS),
    (F.cross_entropy, LABELS),
    (nn.CrossEntropyLoss(), ROWS),
    (losses.CategoricalCrossentropy(from_logits=True), ROWS),
    (losses.SparseCategoricalCrossentropy(from_logits=True), LABELS),
    (losses.CategoricalFocalCrossentropy(from_logits=True), ROWS),
]
ROW_METRICS = [
    metrics.AUC,
    metrics.Precision,
    lambda: metrics.Recall(class_id=1),
    lambda: metrics.Precision(top_k=2),
    lambda: metrics.F1Score(average="macro"),
    lambda: "categorical_accuracy",
    lambda: "top_k_categorical_accuracy",
    metrics.CategoricalCrossentropy,
    metrics.KLDivergence,
    lambda: "kld",
    lambda: "categorical_focal_crossentropy",
    lambda: "accuracy",
]
LABEL_METRICS = [
    lambda: "sparse_categorical_accuracy",
    lambda: "sparse_categorical_crossentropy",
    lambda: "categorical_generalized_cross_entropy",
    lambda: metrics.SparseCategoricalCrossentropy(),
    lambda: classification.MulticlassAUROC(3),
    lambda: classification.MulticlassAccuracy(3),
    lambda: classification.MulticlassCalibrationError(3, n_bins=5),
    lambda: "acc",
]


@pytest.mark.parametrize(("loss", "target"), CLASSES_LOSSES)
def test_metrics_under_a_softmax(loss, target):
    of_probabilities = "sparse_categorical_crossentropy" if target is LABELS else "categorical_crossentropy"
    for made in LABEL_METRICS if target is LABELS else ROW_METRICS:
        same(loss, of_probabilities, "softmax", target, made, 3)


@pytest.mark.parametrize("loss", [losses.CategoricalCrossentropy(from_logits=True), nn.BCEWithLogitsLoss()])
def test_crossentropy_by_its_name(loss):
    is_binary = isinstance(loss, nn.Module)
    same(
        *(loss, f"{'binary' if is_binary else 'categorical'}_crossentropy", "sigmoid" if is_binary else "softmax"),
        *(ROWS, lambda: "crossentropy", 3),
    )


TORCHMETRICS = [
    classification.BinaryAccuracy,
    classification.BinaryPrecision,
    classification.BinaryF1Score,
    classification.BinaryAUROC,
    lambda: classification.BinaryCalibrationError(n_bins=5),
    lambda: torchmetrics.Accuracy(task="binary", threshold=0.6),
]


@pytest.mark.parametrize("made", TORCHMETRICS)
def test_metrics_of_torchmetrics(made):
    """They would take a batch whose logits all lie from 0 to 1 for probabilities."""
    loss = nn.BCEWithLogitsLoss()
    for units, target in ((1, BIT),):
        same(loss, "binary_crossentropy", "sigmoid", target, made, units)
    model = Sequential([Dense(1, input_shape=(4,), kernel_initializer="zeros", bias_initializer="ones")])
    model.layers[0].set_weights([np.zeros((4, 1)), [0.3]])
    model.compile("sgd", loss, metrics=[classification.BinaryAccuracy()])
    assert model.evaluate(X, np.ones((40, 1)), verbose=0)[1] == 1.0  # sigmoid(0.3) is over 0.5


def test_collections_of_torchmetrics():
    made = torchmetrics.MetricCollection([classification.BinaryAccuracy(), classification.BinaryAUROC()])
    of_logits, of_them = pair(nn.BCEWithLogitsLoss(), "binary_crossentropy", "sigmoid", 1, lambda: made.clone())
    found, expected = (model.evaluate(X, BIT, verbose=0)[1:] for model in (of_logits, of_them))
    assert found == pytest.approx(expected, rel=1e-5)


# --- what a metric's own options say ---------------------------------------------------------------------------------


def numbers(loss, target, *made, units=3):
    model = Sequential([Dense(units, input_shape=(4,))])
    model.compile("sgd", loss, metrics=list(made))
    return torch.from_numpy(model.predict(X)), torch.from_numpy(target), model.evaluate(X, target, verbose=0)[1:]


def test_a_metric_made_for_logits_gets_them():
    logits, true, found = numbers(
        nn.BCEWithLogitsLoss(), BITS,
        metrics.BinaryAccuracy(threshold=0.0),
        metrics.Precision(thresholds=0),
        metrics.FalsePositives(thresholds=[0.0]),
        metrics.AUC(from_logits=True),
        metrics.BinaryCrossentropy(from_logits=True),
        functools.partial(losses.binary_crossentropy, from_logits=True),
    )  # fmt: skip
    said = logits > 0
    crossentropy = F.binary_cross_entropy_with_logits(logits, true).item()
    expected = [
        (said == true).float().mean(),
        (said * true).sum() / said.sum(),
        (said * (1 - true)).sum(),
        metrics.AUC()(true, torch.sigmoid(logits)),
        crossentropy,
        crossentropy,
    ]
    assert found == pytest.approx([float(each) for each in expected], rel=1e-5)


def test_metrics_that_compare_numbers_see_what_the_model_gives():
    def own(y_true, y_pred):
        return y_pred.mean(-1)

    logits, true, found = numbers(
        nn.BCEWithLogitsLoss(), BITS, "mse", metrics.MeanAbsoluteError(), "hinge", metrics.CosineSimilarity(), own
    )
    expected = [
        F.mse_loss(logits, true),
        F.l1_loss(logits, true),
        losses.hinge(true, logits).mean(),
        F.cosine_similarity(logits, true).mean(),
        logits.mean(),
    ]
    assert found == pytest.approx([float(each) for each in expected], rel=1e-5)


def test_log_probabilities_of_nll():
    model = Sequential([Dense(3, activation="log_softmax", input_shape=(4,))])
    model.compile("sgd", nn.NLLLoss(), metrics=["sparse_categorical_crossentropy", "acc"])
    loss, crossentropy, accuracy = model.evaluate(X, LABELS, verbose=0)
    assert crossentropy == pytest.approx(loss, rel=1e-4)
    assert accuracy == pytest.approx((model.predict(X).argmax(-1) == LABELS).mean())


def test_outputs_that_are_probabilities_already_stay():
    model = Sequential([Dense(3, activation="sigmoid", input_shape=(4,))])
    model.compile("sgd", losses.BinaryCrossentropy(from_logits=True), metrics=[metrics.BinaryAccuracy()])
    with pytest.warns(UserWarning, match="from_logits=True, but y_pred comes out of sigmoid"):
        model.train_on_batch(X, BITS)
    expected = ((model.predict(X) > 0.5) == BITS).mean()
    assert model.evaluate(X, BITS, verbose=0)[1] == pytest.approx(expected)


def test_each_output_goes_by_its_own_loss():
    inputs = Input((4,))
    model = Model(inputs, [Dense(3, name="a")(inputs), Dense(3, name="b", activation="sigmoid")(inputs)])
    given = {"a": nn.BCEWithLogitsLoss(), "b": "binary_crossentropy"}
    model.compile("sgd", given, metrics=["binary_accuracy"])
    a, b = model.predict(X)
    found = model.evaluate(X, [BITS, BITS], verbose=0, return_dict=True)
    assert found["a_binary_accuracy"] == pytest.approx(((a > 0) == BITS).mean())
    assert found["b_binary_accuracy"] == pytest.approx(((b > 0.5) == BITS).mean())


def test_a_fit_and_its_validation():
    model = Sequential([Dense(1, input_shape=(4,))])
    model.compile("sgd", nn.BCEWithLogitsLoss(), metrics=["binary_accuracy", metrics.AUC(), "acc"])
    history = model.fit(X, BIT, batch_size=9, epochs=2, validation_data=(X, BIT), verbose=0).history
    logits = torch.from_numpy(model.predict(X))
    right = ((logits > 0).numpy() == BIT).mean()
    auc = metrics.AUC()(torch.from_numpy(BIT), torch.sigmoid(logits)).item()
    assert history["val_binary_accuracy"][-1] == history["val_acc"][-1] == pytest.approx(right)
    assert history["val_auc"][-1] == pytest.approx(auc, rel=1e-5)


# --- as Keras does ---------------------------------------------------------------------------------------------------


def compiled(**options):
    model = Sequential([Dense(3, input_shape=(4,))])
    given = [metrics.BinaryAccuracy(), metrics.AUC(), "accuracy"]
    model.compile("sgd", losses.BinaryCrossentropy(from_logits=True), metrics=given, **options)
    return model


def test_numbers_as_in_keras():
    model = compiled(numerics="keras")
    logits, true = torch.from_numpy(model.predict(X)), torch.from_numpy(BITS)
    over = ((logits > 0.5) == true).float().mean().item()
    expected = [over, metrics.AUC()(true, logits).item(), over]
    assert model.evaluate(X, BITS, verbose=0)[1:] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("suffix", [".h5", ".keras", ".pt"])
@pytest.mark.parametrize("option", [None, "keras"])
def test_own_files_keep_what_the_metrics_see(option, suffix, tmp_path):
    model = compiled(numerics=option)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras 2.2.4 has none of these metrics
        model.save(tmp_path / f"m{suffix}")
    again = load_model(tmp_path / f"m{suffix}")
    assert again.evaluate(X, BITS, verbose=0) == model.evaluate(X, BITS, verbose=0)
    assert compiled(numerics=None).evaluate(X, BITS, verbose=0)[2] != compiled(numerics="keras").evaluate(X, BITS)[2]


def test_numbers_must_be_known():
    named = "None, 'keras', 'keras-2.3', 'tensorflow', 'tensorflow-2.10', 'keras-3'"
    with pytest.raises(ValueError, match=rf"^compile: numerics must be one of {named}; found 'tf'\.$"):
        compiled(numerics="tf")


# --- outputs that share a tensor -------------------------------------------------------------------------------------

SHARED = {
    "the logits": lambda logits: logits,
    "a layer that does nothing": lambda logits: Activation("linear", name="raw")(logits),
}


@pytest.mark.parametrize("first", SHARED.values(), ids=SHARED)
def test_logits_and_probabilities_as_two_outputs(first):
    inputs = Input((4,))
    logits = Dense(3, name="raw" if first is SHARED["the logits"] else "dense")(inputs)
    model = Model(inputs, [first(logits), Activation("softmax", name="probabilities")(logits)])
    model.set_weights([RANDOM.standard_normal((4, 3)), np.zeros(3)])
    given = [["mae", metrics.CategoricalCrossentropy(from_logits=True)], ["acc", "categorical_crossentropy"]]
    model.compile("sgd", ["mse", "categorical_crossentropy"], metrics=given)
    raw, probabilities = model.predict(X)
    crossentropy = -np.log((probabilities * ROWS).sum(1)).mean()
    expected = {
        "raw_loss": ((raw - ROWS) ** 2).mean(),
        "raw_mean_absolute_error": np.abs(raw - ROWS).mean(),
        "raw_categorical_crossentropy": crossentropy,
        "probabilities_loss": crossentropy,
        "probabilities_acc": (probabilities.argmax(1) == LABELS).mean(),
        "probabilities_categorical_crossentropy": crossentropy,
    }
    for found in (
        model.evaluate(X, [ROWS, ROWS], verbose=0, return_dict=True),
        model.train_on_batch(X, [ROWS, ROWS], return_dict=True),
    ):
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-5)
    # Keras's function divides what it takes for probabilities by their sum: also where the other output is a softmax.
    model.compile("sgd", [losses.mean_squared_error, "categorical_crossentropy"], metrics=[["kld"], []])
    alone = Model(inputs, model.outputs[0])
    alone.compile("sgd", "mse", metrics=["kld"])
    assert model.evaluate(X, [ROWS, ROWS], verbose=0)[3] == alone.evaluate(X, ROWS, verbose=0)[1]


# --- classes on axis 1 -----------------------------------------------------------------------------------------------

CHANNELS = [((3, 5), (5,)), ((5, 5), (5,)), ((3, 4, 3), (4, 3))]


def unchanged(shape):
    inputs = Input(shape)
    return Model(inputs, Activation("linear", name="out")(inputs))


@pytest.mark.parametrize(("shape", "places"), CHANNELS)
def test_accuracy_has_the_classes_where_the_loss_of_torch_has_them(shape, places):
    random = np.random.default_rng(0)
    x = random.standard_normal((12, *shape)).astype("float32")
    labels = random.integers(0, shape[0], (12, *places))
    expected = (x.argmax(1) == labels).mean()
    for loss in (nn.CrossEntropyLoss(), F.cross_entropy, functools.partial(F.cross_entropy, label_smoothing=0.1)):
        model = unchanged(shape)
        model.compile("sgd", loss, metrics=["acc"])
        assert model.evaluate(x, labels, 5, verbose=0)[1] == pytest.approx(expected)
    model = unchanged(shape)
    model.compile("sgd", nn.NLLLoss(), metrics=["accuracy"])
    logarithms = torch.log_softmax(torch.tensor(x), 1).numpy()
    assert model.evaluate(logarithms, labels, 5, verbose=0)[1] == pytest.approx(expected)
    model.compile("sgd", nn.CrossEntropyLoss(), metrics=["accuracy"])
    shares = np.moveaxis(np.eye(shape[0], dtype="float32")[labels], -1, 1)
    assert model.evaluate(x, shares, 5, verbose=0)[1] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("sparse_categorical_accuracy", "sparse_categorical_accuracy"),
        ("top_k_categorical_accuracy", "top_k_categorical_accuracy"),
        (metrics.SparseCategoricalAccuracy, "sparse_categorical_accuracy"),
        (metrics.SparseTopKCategoricalAccuracy, "sparse_top_k_categorical_accuracy"),
        (metrics.SparseCategoricalCrossentropy, "sparse_categorical_crossentropy"),
        (lambda: metrics.MeanIoU(5, sparse_y_pred=False), "mean_io_u"),
        (lambda: metrics.OneHotMeanIoU(5), "one_hot_mean_io_u"),
    ],
)
def test_metrics_of_classes_on_the_last_axis_are_refused_there(given, name):
    model = unchanged((5, 5))
    text = (
        f"compile: the metric {name!r} has the classes on the last axis, and CrossEntropyLoss has those of an output "
        "of shape (None, 5, 5) on axis 1: use 'accuracy'."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        model.compile("sgd", nn.CrossEntropyLoss(), metrics=[given if isinstance(given, str) else given()])
    model = unchanged((5,))
    model.compile("sgd", nn.CrossEntropyLoss(), metrics=[given if isinstance(given, str) else given()])


def test_metrics_over_axis_1_are_taken_there():
    random = np.random.default_rng(0)
    x, labels = random.standard_normal((12, 5, 5)).astype("float32"), random.integers(0, 5, (12, 5))
    rows = np.moveaxis(np.eye(5, dtype="float32")[labels], -1, 1)
    model = unchanged((5, 5))
    model.compile("sgd", nn.CrossEntropyLoss(), metrics=[metrics.CategoricalCrossentropy(axis=1, from_logits=True)])
    expected = F.cross_entropy(torch.tensor(x), torch.tensor(labels)).item()
    assert model.evaluate(x, rows, verbose=0) == pytest.approx([expected, expected], rel=1e-5)


def test_targets_that_are_logarithms_are_refused_by_metrics_of_probabilities():
    for loss in (
        nn.KLDivLoss(reduction="batchmean", log_target=True),
        functools.partial(F.kl_div, reduction="batchmean", log_target=True),
    ):
        model = unchanged((3,))
        name = "KLDivLoss" if isinstance(loss, nn.Module) else "kl_div"
        text = (
            f"compile: the metric 'kl_divergence' expects probabilities as targets, and {name} with log_target=True "
            "has their logarithms: give probabilities, and log_target=False."
        )
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            model.compile("sgd", loss, metrics=[metrics.KLDivergence()])
        model.compile("sgd", loss, metrics=["acc"])


@pytest.mark.parametrize("loss", [nn.SoftMarginLoss(), F.soft_margin_loss])
@pytest.mark.parametrize("units", [1, 3])
def test_accuracy_of_targets_that_are_signs(loss, units):
    signs = 2 * BITS[:, :units] - 1
    model = unchanged((units,))
    model.compile("sgd", loss, metrics=["acc"])
    expected = [F.soft_margin_loss(torch.tensor(X[:, :units]), torch.tensor(signs)).item()]
    expected.append(((X[:, :units] > 0) == (signs > 0)).mean())
    assert model.evaluate(X[:, :units], signs, 7, verbose=0) == pytest.approx(expected, rel=1e-5)
