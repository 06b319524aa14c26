"""Metrics in every form that `compile` takes: their names, when they are reset, and their numbers against NumPy."""

import re
from typing import Any

import numpy as np
import pytest
import torch
import torchmetrics
from torch import nn
from torchmetrics import classification

from torchkeras import Input, Model, metrics
from torchkeras.callbacks import Callback, LambdaCallback
from torchkeras.engine.fit.results import Sums
from torchkeras.engine.step.output_loss import is_by_sample
from torchkeras.layers import Dense, Masking, TimeDistributed
from torchkeras.models import Sequential
from torchkeras.optimizers import SGD

RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((20, 4)).astype("float32")
LABELS = RANDOM.integers(0, 3, 20)
ROWS = np.eye(3, dtype="float32")[LABELS]
BITS = RANDOM.integers(0, 2, 20)
WEIGHTS = RANDOM.random(20).astype("float32")


def refused(kind: type[Exception], text: str) -> Any:
    """An error of exactly this text."""
    return pytest.raises(kind, match=f"^{re.escape(text)}$")


def made(units: int = 1, activation: str = "sigmoid", loss: Any = "binary_crossentropy", **options: Any) -> Model:
    inputs = Input((4,))
    model = Model(inputs, Dense(units, activation=activation, name="out")(inputs))
    model.set_weights([np.linspace(-1, 1, 4 * units).reshape(4, units), np.zeros(units)])
    model.compile(SGD(lr=0.1), loss, **options)
    return model


class Largest:
    """In the manner of torchmetrics, without it: the largest error of all batches, and how often it was asked."""

    def __init__(self):
        self.reset()

    def update(self, preds, target):
        assert preds.shape == target.shape
        self.value = torch.maximum(self.value, (preds - target).abs().max())

    def compute(self):
        return self.value.clone()

    def reset(self):
        self.value = torch.zeros(())


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "names"),
    [
        # As Keras 2.2.4 names them.
        ({"metrics": ["accuracy", "acc", "ce"]}, ["acc", "acc_1", "ce"]),
        ({"weighted_metrics": ["acc", "crossentropy"]}, ["weighted_acc", "weighted_ce"]),
        (
            {"metrics": ["mae"], "weighted_metrics": ["mae", "mae"]},
            ["mean_absolute_error", "weighted_mean_absolute_error", "weighted_mean_absolute_error_1"],
        ),
        # As Keras 3 does.
        ({"metrics": ["AUC", metrics.Precision, metrics.Recall(name="found")]}, ["auc", "precision", "found"]),
        ({"metrics": [metrics.AUC()], "weighted_metrics": [metrics.AUC()]}, ["auc", "weighted_auc"]),
        ({"metrics": [metrics.BinaryAccuracy(name="accuracy")]}, ["accuracy"]),
        ({"metrics": [{"class_name": "AUC", "config": {"name": "area"}}]}, ["area"]),
        (
            {"metrics": [Largest(), Largest, torchmetrics.MeanSquaredError()]},
            ["largest", "largest_1", "mean_squared_error"],
        ),
    ],
)
def test_names(options, names):
    model = made(**options)
    assert model.metrics_names == ["loss", *names]
    history = model.fit(X, BITS, validation_data=(X, BITS), verbose=0).history
    assert set(history) == {"loss", "val_loss", *names, *(f"val_{name}" for name in names)}


def test_names_of_several_outputs():
    inputs = Input((4,))
    model = Model(inputs, [Dense(3, activation="softmax", name="a")(inputs), Dense(1, name="b")(inputs)])
    options: Any = {"metrics": ["accuracy", "acc", "mae"], "weighted_metrics": ["accuracy", "mae", "mae"]}
    model.compile("sgd", ["categorical_crossentropy", "mse"], **options)
    each = ["acc", "acc_1", "mean_absolute_error", "weighted_acc", "weighted_mean_absolute_error"]
    each.append("weighted_mean_absolute_error_1")
    assert model.metrics_names == [
        "loss",
        "a_loss",
        "b_loss",
        *(f"{output}_{name}" for output in "ab" for name in each),
    ]


# --- numbers ---------------------------------------------------------------------------------------------------------


def area(scores: np.ndarray, bits: np.ndarray) -> float:
    """The area under the curve: the share of pairs in the right order."""
    above = scores[bits == 1][:, None] - scores[bits == 0][None]
    return float((above > 0).mean())


def numbers(model: Model, x: np.ndarray, bits: np.ndarray) -> dict[str, float]:
    scores = model.predict(x)[:, 0]
    said = scores > 0.5
    return {
        "precision": (said & (bits == 1)).sum() / max(said.sum(), 1),
        "recall": (said & (bits == 1)).sum() / max((bits == 1).sum(), 1),
        "largest": np.abs(scores - bits).max(),
        "binary_f1score": 2 * (said & (bits == 1)).sum() / (said.sum() + bits.sum()),
    }


def objects() -> list[Any]:
    return [metrics.Precision(), metrics.Recall(), Largest(), classification.BinaryF1Score()]


def test_evaluate_counts_over_all_batches():
    model = made(metrics=objects())
    expected = numbers(model, X, BITS)
    for _ in range(2):  # each evaluation starts from zero
        found = model.evaluate(X, BITS, batch_size=6, verbose=0, return_dict=True)
        found.pop("loss")
        assert found == pytest.approx(expected, rel=1e-6)
    assert model.evaluate(X, BITS, verbose=0)[1:] == pytest.approx(list(expected.values()), rel=1e-6)


def test_the_area_under_the_curve():
    model = made(metrics=[metrics.AUC(num_thresholds=20000)])
    found = model.evaluate(X, BITS, batch_size=6, verbose=0)[1]
    assert found == pytest.approx(area(model.predict(X)[:, 0], BITS), abs=1e-3)


def test_epochs_and_validations_start_anew():
    model = made(metrics=objects())
    model.optimizer.lr = 0.0  # so that the numbers of an epoch are those of the weights now
    other, other_bits = -X[:8], BITS[:8]
    train, validation = numbers(model, X, BITS), numbers(model, other, other_bits)
    history = model.fit(
        X, BITS, batch_size=6, epochs=3, validation_data=(other, other_bits), validation_freq=[1, 3], verbose=0
    ).history
    for name in train:
        assert history[name] == pytest.approx([train[name]] * 3, rel=1e-6)
        assert history[f"val_{name}"] == pytest.approx([validation[name]] * 2, rel=1e-6)


def test_numbers_of_a_batch_are_those_so_far():
    seen: list[dict[str, float]] = []

    class Reading(Callback):
        def on_batch_end(self, batch, logs=None):
            seen.append(dict(logs))

    model = made(metrics=objects())
    model.optimizer.lr = 0.0
    model.fit(X, BITS, batch_size=8, shuffle=False, callbacks=[Reading()], verbose=0)
    for end, logs in zip((8, 16, 20), seen, strict=True):
        expected = numbers(model, X[:end], BITS[:end])
        assert {name: logs[name] for name in expected} == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("method", ["train_on_batch", "test_on_batch"])
def test_one_batch_counts_alone(method):
    """As in tf.keras and Keras 3: neither earlier batches nor an evaluation are mixed in."""
    model = made(metrics=objects())
    model.optimizer.lr = 0.0
    model.evaluate(X, BITS, verbose=0)
    for part in (slice(0, 8), slice(8, 16), slice(16, 20)):
        found = getattr(model, method)(X[part], BITS[part], return_dict=True)
        expected = numbers(model, X[part], BITS[part])
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-6)
        listed = getattr(model, method)(X[part], BITS[part])
        assert listed[1:] == pytest.approx(list(expected.values()), rel=1e-6)


@pytest.mark.parametrize("method", ["train_on_batch", "test_on_batch"])
def test_one_batch_counts_on_where_it_is_asked_to(method):
    model = made(metrics=objects())
    model.optimizer.lr = 0.0
    for end in (8, 16):
        given = (X[end - 8 : end], BITS[end - 8 : end])
        found = getattr(model, method)(*given, return_dict=True, reset_metrics=False)
        expected = numbers(model, X[:end], BITS[:end])
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-6)
    model.reset_metrics()
    found = getattr(model, method)(X[16:], BITS[16:], reset_metrics=False)
    assert found[1:] == pytest.approx(list(numbers(model, X[16:], BITS[16:]).values()), rel=1e-6)


def test_one_batch_in_an_epoch_leaves_its_count_alone():
    found: list[Any] = []

    class Between(Callback):
        def on_batch_end(self, batch, logs=None):
            for method in (self.model.train_on_batch, self.model.test_on_batch):
                found.append(method(X[:5], BITS[:5]))
                with pytest.raises(
                    ValueError, match=rf"^{method.__name__}: reset_metrics=False would continue with what"
                ):
                    method(X[:5], BITS[:5], reset_metrics=False)

    model = made(metrics=objects())
    model.optimizer.lr = 0.0
    history = model.fit(X, BITS, batch_size=8, callbacks=[Between()], verbose=0).history
    for name, value in numbers(model, X, BITS).items():
        assert history[name] == pytest.approx([value], rel=1e-6)
    for each in found:
        assert each[1:] == pytest.approx(list(numbers(model, X[:5], BITS[:5]).values()), rel=1e-6)


def test_an_auc_of_one_batch_is_that_of_keras_3():
    random = np.random.RandomState(0)
    x, y = random.rand(12, 3).astype("float32"), (random.rand(12, 1) > 0.5).astype("float32")
    kernel = (random.rand(3, 1) - 0.5).astype("float32")
    model = Sequential([Dense(1, activation="sigmoid", use_bias=False, input_shape=(3,))])
    model.set_weights([kernel])
    model.compile(SGD(0.0), "mse", metrics=[metrics.AUC(name="auc"), metrics.Precision(name="p")])
    first, second = (x[:6], y[:6]), (x[6:], y[6:])
    assert model.evaluate(x, y, verbose=0)[1:] == pytest.approx([0.357142835855484, 0.0])
    assert model.train_on_batch(*first)[1:] == pytest.approx([0.5, 0.0])
    assert model.test_on_batch(*second)[1:] == pytest.approx([0.2222222238779068, 0.0])
    assert model.train_on_batch(*second)[1:] == pytest.approx([0.2222222238779068, 0.0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_an_epoch_of_half_types_is_summed_in_float32(dtype):
    """In float16 the sum over 500 samples of 300.0 would be infinite; in bfloat16 it would stand still."""
    sums = Sums()
    for _ in range(500):
        sums.add({"loss": torch.tensor(300.0, dtype=dtype)}, 1)
    assert sums.means()["loss"].item() == 300.0


def test_numbers_of_double_precision_keep_it():
    model = made(1, "linear", "mse").double()
    x = RANDOM.standard_normal((20, 4))
    expected = np.mean((model.predict(x)[:, 0] - BITS) ** 2)
    assert model.evaluate(x, BITS.astype("float64"), batch_size=20, verbose=0) == pytest.approx(expected, rel=1e-14)


def test_an_evaluation_within_an_epoch_leaves_its_count_alone():
    class Evaluating(Callback):
        def on_batch_end(self, batch, logs=None):
            self.found = self.model.evaluate(-X, BITS, verbose=0, return_dict=True)
            self.one = self.model.test_on_batch(-X, BITS, return_dict=True)

    model = made(metrics=objects())
    model.optimizer.lr = 0.0
    expected, other = numbers(model, X, BITS), numbers(model, -X, BITS)
    callback = Evaluating()
    history = model.fit(X, BITS, batch_size=8, callbacks=[callback], verbose=0).history
    assert {name: history[name][0] for name in expected} == pytest.approx(expected, rel=1e-6)
    assert {name: callback.found[name] for name in other} == pytest.approx(other, rel=1e-6)


def test_weights_and_masks_reach_an_object():
    model = made(weighted_metrics=[metrics.MeanAbsoluteError()], metrics=[metrics.MeanAbsoluteError(name="plain")])
    apart = np.abs(model.predict(X)[:, 0] - BITS)
    expected = [np.average(apart), np.average(apart, weights=WEIGHTS)]
    found = model.evaluate(X, BITS, sample_weight=WEIGHTS, batch_size=6, verbose=0)
    assert found[1:] == pytest.approx(expected, rel=1e-5)
    inputs = Input((5, 4))
    model = Model(inputs, TimeDistributed(Dense(2))(Masking()(inputs)))
    model.compile("sgd", "mse", metrics=[metrics.MeanAbsoluteError()], weighted_metrics=[metrics.MeanSquaredError()])
    x, y = RANDOM.standard_normal((6, 5, 4)).astype("float32"), RANDOM.standard_normal((6, 5, 2)).astype("float32")
    x[0, 2:] = x[4, 1:] = 0
    mask, apart = (x != 0).any(-1), model.predict(x) - y
    weights = WEIGHTS[:6]
    found = model.evaluate(x, y, sample_weight=weights, batch_size=4, verbose=0)[1:]
    assert found[0] == pytest.approx(np.abs(apart).mean(-1)[mask].mean(), rel=1e-5)
    expected = np.average((apart**2).mean(-1), weights=weights[:, None] * mask)
    assert found[1] == pytest.approx(expected, rel=1e-5)


def test_objects_of_several_outputs():
    inputs = Input((4,))
    model = Model(inputs, [Dense(1, activation="sigmoid", name=name)(inputs) for name in ("left", "right")])
    given = {"left": [metrics.Recall(), "acc"], "right": metrics.Precision()}
    model.compile("sgd", "binary_crossentropy", metrics=given)
    assert model.metrics_names == ["loss", "left_loss", "right_loss", "left_recall", "left_acc", "right_precision"]
    left, right = (scores[:, 0] > 0.5 for scores in model.predict(X))
    found = model.evaluate(X, [BITS, 1 - BITS], batch_size=6, verbose=0)
    expected = [left[BITS == 1].mean(), (left == BITS).mean(), (right & (BITS == 0)).sum() / max(right.sum(), 1)]
    assert found[3:] == pytest.approx(expected, rel=1e-6)


def test_a_name_or_class_for_several_outputs_makes_an_object_for_each():
    inputs = Input((4,))
    model = Model(inputs, [Dense(1, activation="sigmoid", name=name)(inputs) for name in ("left", "right")])
    model.compile("sgd", "binary_crossentropy", metrics=["Recall", metrics.Precision])
    found = model.evaluate(X, [BITS, 1 - BITS], verbose=0, return_dict=True)
    for k, (name, bits) in enumerate((("left", BITS), ("right", 1 - BITS))):
        said = model.predict(X)[k][:, 0] > 0.5
        assert found[f"{name}_recall"] == pytest.approx(said[bits == 1].mean())
        assert found[f"{name}_precision"] == pytest.approx((said & (bits == 1)).sum() / max(said.sum(), 1))


# --- of torchmetrics -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "target", "metric"),
    [
        ("sparse_categorical_crossentropy", LABELS, classification.MulticlassAccuracy(3, average="micro")),
        (nn.CrossEntropyLoss(), LABELS, classification.MulticlassAccuracy(3, average="micro")),
        ("sparse_categorical_crossentropy", LABELS, torchmetrics.Accuracy("multiclass", num_classes=3)),
    ],
)
def test_class_numbers_reach_torchmetrics_as_it_takes_them(loss, target, metric):
    model = made(3, "softmax", loss, metrics=[metric])
    expected = (model.predict(X).argmax(-1) == LABELS).mean()
    assert model.evaluate(X, target, batch_size=6, verbose=0)[1] == pytest.approx(expected)


def test_torchmetrics_with_lists_of_batches():
    metric = classification.BinaryAUROC()
    model = made(metrics=[metric])
    expected = area(model.predict(X)[:, 0], BITS)
    for _ in range(2):
        assert model.evaluate(X, BITS, batch_size=6, verbose=0)[1] == pytest.approx(expected)


def test_torchmetrics_is_no_part_of_the_model():
    model = made(metrics=[torchmetrics.MeanSquaredError()])
    assert len(list(model.modules())) == len(list(made().modules()))
    assert set(model.state_dict()) == set(made().state_dict())


def test_torchmetrics_takes_no_weights():
    with refused(ValueError, "The metric MeanSquaredError takes no sample weights and no mask."):
        made(weighted_metrics=[torchmetrics.MeanSquaredError()]).test_on_batch(X, BITS, sample_weight=WEIGHTS)


def test_a_metric_of_several_names_is_refused():
    class Both(Largest):
        def compute(self):
            return {"low": self.value, "high": self.value}

    text = "The metric Both gives low, high; give each as a metric of its own."
    with refused(ValueError, text):
        made(metrics=[Both()]).fit(X, np.zeros((20, 1)), verbose=0)


@pytest.mark.parametrize("inside", ["evaluate", "test_on_batch", "train_on_batch", "fit"])
def test_one_object_in_two_models_counts_what_each_is_asked(inside):
    shared = metrics.AUC(name="auc")
    alone, other = made(metrics=[metrics.AUC(name="auc")]), made(metrics=[shared])
    model = made(metrics=[shared])
    for each in (alone, model):
        each.optimizer.lr = 0.0
    options = {"verbose": 0} if inside in ("evaluate", "fit") else {}
    disturb = LambdaCallback(on_batch_end=lambda batch, logs: getattr(other, inside)(X[:3], BITS[:3], **options))
    wanted = alone.evaluate(X, BITS, verbose=0)[1]
    found = model.fit(X, BITS, 7, 2, verbose=0, shuffle=False, callbacks=[disturb]).history["auc"]
    assert found == pytest.approx([wanted, wanted], rel=1e-6)
    within = LambdaCallback(on_test_batch_end=lambda batch, logs: getattr(model, inside)(X[:3], BITS[:3], **options))
    assert model.evaluate(X, BITS, 7, verbose=0, callbacks=[within])[1] == pytest.approx(wanted, rel=1e-6)
    assert model.test_on_batch(X, BITS)[1] == pytest.approx(wanted, rel=1e-6)
    model.test_on_batch(X[:7], BITS[:7])  # counts anew, since nothing is under way
    assert model.test_on_batch(X[7:], BITS[7:], reset_metrics=False)[1] == pytest.approx(wanted, rel=1e-6)


# --- refused ---------------------------------------------------------------------------------------------------------


def test_one_object_in_two_places_is_refused():
    metric = metrics.Recall()
    text = (
        "compile: one object of the metric 'recall' is given for {} and for {}, and would count both together: make "
        "one for each."
    )
    with refused(ValueError, text.format("'recall'", "'weighted_recall'")):
        made(metrics=[metric], weighted_metrics=[metric])
    inputs = Input((4,))
    model = Model(inputs, [Dense(1, activation="sigmoid", name=name)(inputs) for name in ("left", "right")])
    with refused(ValueError, text.format("'left_recall'", "'right_recall'")):
        model.compile("sgd", "binary_crossentropy", metrics=[metric])


@pytest.mark.parametrize(("given", "kind"), [("no_such_metric", ValueError), (3, TypeError)])
def test_what_is_no_metric_is_refused(given, kind):
    with pytest.raises(kind, match="metric"):
        made(metrics=[given])


def test_one_threshold_in_a_list_is_one_number():
    model = Sequential([Dense(3, activation="softmax", input_shape=(4,))])
    model.compile("sgd", "mse", metrics=[metrics.Precision(thresholds=[0.5]), metrics.F1Score(average="macro")])
    assert len(model.evaluate(X, np.eye(3)[[0, 1, 2, 0, 1] * 4], verbose=0)) == 3


class Alike:
    """A loss that says to be equal to everything, as metrics of torchmetrics do."""

    def __call__(self, y_true, y_pred):
        return (y_true - y_pred).square().mean(-1)

    def __eq__(self, other):
        return np.array([True, False])

    __hash__ = object.__hash__


def test_a_loss_is_known_by_itself_whatever_it_compares_as():
    targets = BITS[:, None].astype("float32")
    found = [made(loss=loss, metrics=["acc"]).evaluate(X, targets, verbose=0) for loss in ("mse", Alike())]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    correlation = made(loss=torchmetrics.PearsonCorrCoef())
    assert not is_by_sample(correlation._training.ready().targets[0].objective.given)


def test_a_metric_that_is_in_no_list_is_refused():
    with pytest.raises(TypeError, match=r"^compile: metrics must be a list"):
        made(metrics=torchmetrics.MeanSquaredError())
