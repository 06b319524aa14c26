"""Metrics and losses say whether more of them is better; callbacks that look for the best number go by that."""

import functools
import inspect
import re
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import torchkeras
from torchkeras import losses, metrics, registry
from torchkeras.callbacks import EarlyStopping, ModelCheckpoint, ReduceLROnPlateau
from torchkeras.layers import Dense
from torchkeras.metrics.direction import higher_is_better
from torchkeras.models import Sequential

NOT_KNOWN = {"Mean", "MeanMetricWrapper", "Sum"}  # of whatever they are given
ONE_HOT = torch.eye(3)[[0, 1, 2, 1]]
LABELS = torch.tensor([0, 1, 2, 1])
SOFT = 0.9 * ONE_HOT + 0.05
ROLLED = SOFT.roll(1, dims=0)
PATHS = torch.eye(3)[torch.tensor([[1, 2, 0], [2, 1, 0]])]

# y_true, the best y_pred, a bad one, options: where they are not one-hot rows.
BY_LABEL = (LABELS, SOFT, ROLLED, {})
OTHER = {
    **{f"Sparse{name}": BY_LABEL for name in ("CategoricalAccuracy", "CategoricalCrossentropy")},
    **{f"sparse_{name}": BY_LABEL for name in ("categorical_accuracy", "categorical_crossentropy")},
    "sparse_top_k_categorical_accuracy": (LABELS, SOFT, ROLLED, {"k": 1}),
    "SparseTopKCategoricalAccuracy": (LABELS, SOFT, ROLLED, {"k": 1}),
    "top_k_categorical_accuracy": (ONE_HOT, SOFT, ROLLED, {"k": 1}),
    "TopKCategoricalAccuracy": (ONE_HOT, SOFT, ROLLED, {"k": 1}),
    "categorical_generalized_cross_entropy": BY_LABEL,
    "CategoricalGeneralizedCrossEntropy": BY_LABEL,
    "IoU": (LABELS, LABELS, LABELS.roll(1), {"num_classes": 3, "target_class_ids": [0, 1]}),
    "MeanIoU": (LABELS, LABELS, LABELS.roll(1), {"num_classes": 3}),
    "OneHotIoU": (ONE_HOT, SOFT, ROLLED, {"num_classes": 3, "target_class_ids": [0, 1]}),
    "OneHotMeanIoU": (ONE_HOT, SOFT, ROLLED, {"num_classes": 3}),
    **{name: (ONE_HOT, SOFT, ROLLED, {"average": "macro"}) for name in ("F1Score", "FBetaScore")},
    "PrecisionAtRecall": (ONE_HOT, SOFT, ROLLED, {"recall": 0.5}),
    "RecallAtPrecision": (ONE_HOT, SOFT, ROLLED, {"precision": 0.5}),
    "SensitivityAtSpecificity": (ONE_HOT, SOFT, ROLLED, {"specificity": 0.5}),
    "SpecificityAtSensitivity": (ONE_HOT, SOFT, ROLLED, {"sensitivity": 0.5}),
    **{name: (LABELS, SOFT, SOFT.flip(0) * torch.tensor([1.0, -1.0, 1.0]), {}) for name in ("circle", "Circle")},
    "rising_cosine_similarity": (ONE_HOT, ROLLED, ONE_HOT, {}),  # minimized, away from the target
    **dict.fromkeys(("ctc", "CTC"), (torch.tensor([[1, 2]]), 1e2 * PATHS[:1], 1e2 * PATHS[1:], {})),
}


def value(found, true, predicted, options):
    """What a metric or loss gives for these, as one number."""
    if inspect.isclass(found):
        return float(found(**options)(true, predicted))
    return float(found(true, predicted, **options).float().mean())


def registered():
    for family in (registry.metrics, registry.losses):
        for name in family.names():
            if name not in NOT_KNOWN | {"LossFunctionWrapper"}:
                yield pytest.param(family.find(name), id=f"{family.kind} {name}")


@pytest.mark.parametrize("found", list(registered()))
def test_a_right_prediction_has_the_best_value(found):
    true, best, bad, options = OTHER.get(found.__name__, (ONE_HOT, ONE_HOT, ROLLED, {}))
    of_best, of_bad = (value(found, true, each, options) for each in (best, bad))
    assert higher_is_better(found) is (of_best > of_bad)
    assert of_best != of_bad


def test_what_has_no_direction_of_its_own():
    for name in NOT_KNOWN:
        assert higher_is_better(registry.metrics.find(name)) is None
    for function, direction in ((losses.dice, False), (metrics.binary_accuracy, True), (torch.add, None)):
        assert higher_is_better(metrics.MeanMetricWrapper(function)) is direction
        assert higher_is_better(functools.partial(function)) is direction
    assert higher_is_better(nn.L1Loss()) is False
    assert higher_is_better(losses.LossFunctionWrapper(torch.add)) is False


# --- callbacks -------------------------------------------------------------------------------------------------------


X = np.linspace(-1, 1, 24, dtype="float32").reshape(8, 3)
Y = np.eye(2, dtype="float32")[[0, 1, 1, 0, 1, 0, 1, 1]]


def psnr(y_true, y_pred):
    return -10.0 * torch.log10((y_true - y_pred).square().mean(-1))


def declared(function, more):
    found: Any = functools.wraps(function)(lambda y_true, y_pred: function(y_true, y_pred))
    found.higher_is_better = more
    return found


class Rate(metrics.Mean):
    def update_state(self, y_true, y_pred, sample_weight=None):
        super().update_state(y_pred, sample_weight)


class DeclaredRate(Rate):
    higher_is_better = True


def watched(callback, metric=None, loss="mse", names=None):
    layers = [Dense(2, activation="sigmoid", input_shape=(3,))]
    model = Sequential(layers)
    model.compile("sgd", loss, metrics=[] if metric is None else [metric])
    model.fit(X, Y, verbose=0, validation_data=(X, Y), callbacks=[callback])
    return callback


CASES = [
    ("val_dice", "dice", False),
    ("dice", losses.Dice(), False),
    ("val_tversky", "tversky", False),
    ("val_cosine_proximity", "cosine_proximity", False),
    ("val_cosine_similarity", "cosine_similarity", True),
    ("val_acc", "acc", True),
    ("val_accuracy", "accuracy", True),
    ("val_mean_absolute_error", "mae", False),
    ("val_roc", metrics.AUC(name="roc"), True),
    ("val_accidents", metrics.FalsePositives(name="accidents"), False),
    ("val_psnr", declared(psnr, True), True),
    ("val_psnr", declared(psnr, False), False),
    ("val_declared_rate", DeclaredRate(name="declared_rate"), True),
    ("val_loss", None, False),
]


@pytest.mark.parametrize(("monitor", "metric", "up"), CASES)
def test_the_direction_is_the_metrics_own(monitor, metric, up, tmp_path):
    for callback in (EarlyStopping(monitor), ReduceLROnPlateau(monitor)):
        assert watched(callback, metric).rises is up
    best = watched(ModelCheckpoint(tmp_path / "best.pt", monitor, save_best_only=True, save_weights_only=True), metric)
    assert best.rises is up
    assert np.isfinite(best.best)  # the first epoch was better than none


def test_a_loss_falls_whatever_it_is_called():
    assert watched(EarlyStopping("val_loss"), loss=losses.CosineSimilarity()).rises is False
    inputs = torchkeras.Input((3,))
    model = torchkeras.Model(inputs, [Dense(2, name="accent")(inputs), Dense(2, name="b")(inputs)])
    model.compile("sgd", "mse", metrics={"accent": ["dice"], "b": ["acc"]})
    for name, up in (("accent_loss", False), ("accent_dice", False), ("b_acc", True), ("b_accuracy", True)):
        stopping = EarlyStopping(f"val_{name}")
        model.fit(X, [Y, Y], verbose=0, validation_data=(X, [Y, Y]), callbacks=[stopping])
        assert stopping.rises is up


@pytest.mark.parametrize("output", ["acc", "loss", "error", "fmeasure"])
def test_the_name_of_an_output_says_nothing_of_its_metrics(output):
    inputs = torchkeras.Input((3,))
    model = torchkeras.Model(inputs, [Dense(2, name=output)(inputs), Dense(2, name="b")(inputs)])
    model.compile("sgd", "mse", metrics={output: [own("psnr"), own("my_accuracy"), own("my_error"), "acc"]})
    found = model._directions
    names = ("psnr", "my_accuracy", "my_error", "acc")
    assert [found[f"{output}_{name}"] for name in names] == [None, True, False, True]
    stopping = EarlyStopping(f"val_{output}_psnr")
    with pytest.raises(ValueError, match="is not known"):
        stopping.set_model(model)


def test_a_metric_may_be_called_as_a_number_of_the_validation():
    model = Sequential([Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse", metrics=[metrics.AUC(name="val_loss_auc")])
    for name in ("val_loss_auc", "val_val_loss_auc"):
        stopping = EarlyStopping(name)
        stopping.set_model(model)
        assert stopping.rises is True


def test_the_best_dice_is_the_least(tmp_path):
    """1 - dice falls: the weights that come back are those of the epoch where it was least."""
    model = Sequential([Dense(2, activation="sigmoid", input_shape=(3,))])
    model.compile(torchkeras.optimizers.SGD(30.0), "mse", metrics=["dice"])
    stopping = EarlyStopping("val_dice", patience=20, restore_best_weights=True)
    history = model.fit(X, Y, batch_size=2, epochs=6, verbose=0, validation_data=(X, Y), callbacks=[stopping])
    assert stopping.best == min(history.history["val_dice"])
    assert stopping.best < max(history.history["val_dice"])


def own(name):
    function = lambda y_true, y_pred: (y_true - y_pred).mean(-1)  # noqa: E731
    function.__name__ = name
    return function


@pytest.mark.parametrize("kind", [EarlyStopping, ReduceLROnPlateau, ModelCheckpoint])
@pytest.mark.parametrize("name", ["psnr", "bleu", "map", "score", "dice", "f1", "auc", "iou", "rate"])
def test_an_own_metric_must_say_its_direction(kind, name, tmp_path):
    def callback(**options):
        if kind is ModelCheckpoint:
            return kind(tmp_path / "best.pt", f"val_{name}", save_best_only=True, save_weights_only=True, **options)
        return kind(f"val_{name}", **options)

    metric = Rate(name="rate") if name == "rate" else own(name)
    message = (
        f"{kind.__name__}: whether more or less of 'val_{name}' is better is not known: give mode='max' or "
        "mode='min', or the metric an attribute `higher_is_better`."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        watched(callback(), metric)
    assert watched(callback(mode="max"), metric).rises is True
    assert watched(callback(mode="min"), metric).rises is False


def test_a_number_that_nobody_knows_needs_a_mode():
    with pytest.raises(ValueError, match=r"^EarlyStopping: whether more or less of 'val_bleu' is better is not known"):
        watched(EarlyStopping("val_bleu"))


def test_a_checkpoint_of_every_epoch_needs_no_direction(tmp_path):
    watched(ModelCheckpoint(tmp_path / "x.pt", "val_psnr", save_weights_only=True), own("psnr"))


@pytest.mark.parametrize("name", ["my_loss", "rmse", "log_error", "own_mae", "own_crossentropy"])
def test_names_of_own_errors_fall(name):
    assert watched(EarlyStopping(f"val_{name}"), own(name)).rises is False


@pytest.mark.parametrize("name", ["hardest_acc", "my_accuracy", "fmeasure", "fmeasure_2"])
def test_names_that_keras_2_knew_rise(name):
    assert watched(EarlyStopping(f"val_{name}"), own(name)).rises is True


def test_metrics_of_torchmetrics_say_it_themselves():
    torchmetrics = pytest.importorskip("torchmetrics")
    for metric, up in (
        (torchmetrics.MeanSquaredError(), False),
        (torchmetrics.R2Score(), True),
        (torchmetrics.classification.MultilabelAUROC(2), True),
    ):
        assert higher_is_better(metric) is up
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(metric).__name__).lower()
        assert watched(EarlyStopping(f"val_{name}"), metric).rises is up
