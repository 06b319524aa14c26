"""Models as estimators: as Keras 2.2.4 has them, and as scikit-learn asks for them today."""

import re
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

from torchkeras.callbacks import EarlyStopping
from torchkeras.keras2.wrappers.scikit_learn import KerasClassifier, KerasRegressor
from torchkeras.layers import Dense
from torchkeras.models import Sequential
from torchkeras.optimizers import Adam

FIT = {"epochs": 2, "batch_size": 16, "verbose": 0}


def data(classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    y = draw.integers(0, classes, 60)
    return draw.normal(size=(60, 4)) + 3 * y[:, None], y


def build(
    hidden: int = 5, classes: int = 3, loss: str = "categorical_crossentropy", metrics: Any = ("accuracy",)
) -> Any:
    activation = "sigmoid" if classes == 1 else "softmax"
    model = Sequential([Dense(hidden, activation="relu", input_shape=(4,)), Dense(classes, activation=activation)])
    model.compile("adam", loss, metrics=list(metrics))
    return model


def build_regressor(hidden: int = 5) -> Any:
    model = Sequential([Dense(hidden, activation="relu", input_shape=(4,)), Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    return model


class Builder:
    def __call__(self, hidden: int = 5) -> Any:
        return build(hidden)

    def method(self, hidden: int = 5) -> Any:
        return build(hidden)


class Own(KerasClassifier):
    def __call__(self, hidden: int = 5) -> Any:
        return build(hidden)


@pytest.mark.parametrize("build_fn", [build, Builder(), Builder().method, partial(build, classes=3), None])
def test_a_classifier(build_fn: Any):
    x, y = data()
    estimator = (Own if build_fn is None else KerasClassifier)(build_fn, hidden=6, **FIT)
    history = estimator.fit(x, y)
    assert history.epoch == [0, 1]
    assert estimator.model.layers[0].units == 6
    assert estimator.classes_.tolist() == [0, 1, 2]
    assert (estimator.predict(x).shape, estimator.predict_proba(x).shape) == ((60,), (60, 3))
    np.testing.assert_array_equal(estimator.predict(x), estimator.predict_proba(x).argmax(1))
    assert estimator.score(x, y) == pytest.approx((estimator.predict(x) == y).mean())


def test_classes_of_any_kind_and_one_hot_rows():
    x, y = data()
    names = np.array(["ant", "bee", "cow"])[y]
    estimator = KerasClassifier(build, **FIT)
    estimator.fit(x, names)
    assert set(estimator.predict(x)) <= {"ant", "bee", "cow"}
    assert estimator.score(x, names) == pytest.approx((estimator.predict(x) == names).mean())
    estimator.fit(x, np.eye(3)[y], sample_weight=np.ones(60))
    assert estimator.n_classes_ == 3
    with pytest.raises(ValueError, match=r"^Invalid shape for y: \(2, 2, 2\)$"):
        estimator.fit(x, np.zeros((2, 2, 2)))


def test_two_classes_from_one_output():
    x, y = data(2)
    estimator = KerasClassifier(build, classes=1, loss="binary_crossentropy", **FIT)
    estimator.fit(x, y)
    assert estimator.predict(x).shape == (60, 1)  # as in Keras 2.2.4
    rows = estimator.predict_proba(x)
    assert rows.shape == (60, 2)
    np.testing.assert_allclose(rows.sum(1), 1, rtol=1e-6)


def test_a_regressor():
    x, y = data()
    estimator = KerasRegressor(build_regressor, nb_epoch=3, verbose=0)
    assert estimator.fit(x, y).epoch == [0, 1, 2]
    assert (estimator.predict(x).shape, estimator.predict(x[:1]).shape) == ((60,), (1,))
    assert estimator.score(x, y) == pytest.approx(-((estimator.predict(x) - y) ** 2).mean(), rel=1e-5)


def test_arguments_of_a_call_come_first():
    x, y = data()
    estimator = KerasClassifier(build, **FIT)
    assert estimator.fit(x, y, epochs=1).epoch == [0]
    assert estimator.filter_sk_params(Sequential.predict, {"batch_size": 3}) == {"batch_size": 3, "verbose": 0}


def test_parameters():
    estimator = KerasClassifier(build, hidden=6, epochs=2)
    assert estimator.get_params() == {"build_fn": build, "hidden": 6, "epochs": 2}
    assert estimator.set_params(hidden=7, build_fn=Builder()) is estimator
    assert estimator.get_params(deep=False)["hidden"] == 7
    for change in (lambda: estimator.set_params(hiden=1), lambda: KerasClassifier(build, hiden=1)):
        with pytest.raises(ValueError, match=r"^hiden is not a legal parameter$"):
            change()
    with pytest.raises(
        TypeError, match=r"^KerasRegressor: give a build_fn, or a __call__ in a subclass, that makes a "
    ):
        KerasRegressor().fit(*data())


def test_a_score_needs_an_accuracy():
    x, y = data()
    estimator = KerasClassifier(build, metrics=(), **FIT)
    estimator.fit(x, y)
    text = "The model is not configured to compute accuracy. You should pass `metrics=['accuracy']` to the "
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        estimator.score(x, y)


# --- scikit-learn's conventions --------------------------------------------------------------------------------------


def test_clone():
    callbacks = [EarlyStopping("loss")]
    estimator = KerasClassifier(build, hidden=6, callbacks=callbacks, **FIT)
    copy: Any = clone(estimator)
    assert copy is not estimator
    assert copy.get_params()["hidden"] == 6
    assert (is_classifier(copy), is_regressor(copy)) == (True, False)
    assert is_regressor(KerasRegressor(build_regressor))


# What check_estimator asks, and a network cannot do or Keras does otherwise.
OTHERWISE = {
    "check_do_not_raise_errors_in_init_or_set_params",  # as in Keras, an unknown parameter is refused at once
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",  # a sample twice is in other batches than one of weight 2
    "check_regressor_multioutput",  # numbers are float32
}


def for_classes(n_classes_: int) -> Any:
    model = Sequential([Dense(16, activation="relu"), Dense(max(n_classes_, 2), activation="softmax")])
    model.compile(Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def for_numbers(n_outputs_: int) -> Any:
    model = Sequential([Dense(16, activation="relu"), Dense(n_outputs_)])
    model.compile(Adam(0.05), "mse")
    return model


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        KerasClassifier(for_classes, epochs=40, batch_size=16, random_state=0, verbose=0),
        KerasRegressor(for_numbers, epochs=40, batch_size=16, random_state=0, verbose=0),
    ],
    ids=["classifier", "regressor"],
)
def test_checks_of_scikit_learn(estimator: Any):
    found = estimator_checks.check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {each["check_name"]: str(each["exception"]) for each in found if each["status"] == "failed"}
    assert {name: text for name, text in failed.items() if name not in OTHERWISE} == {}
    assert sum(each["status"] == "passed" for each in found) >= 45


def test_grid_search_over_parameters_of_the_model_and_of_fit():
    x, y = data()
    search = GridSearchCV(KerasClassifier(build, **FIT), {"hidden": [3, 6], "epochs": [1, 2]}, cv=2)
    search.fit(x, y)
    assert search.best_params_.keys() == {"hidden", "epochs"}
    assert search.predict(x).shape == (60,)
    assert search.cv_results_["params"] == [{"epochs": e, "hidden": h} for e in (1, 2) for h in (3, 6)]


def test_pipelines_and_cross_validation():
    x, y = data()
    scores = cross_val_score(make_pipeline(StandardScaler(), KerasClassifier(build, **FIT)), x, y, cv=3)
    assert scores.shape == (3,)
    assert ((scores >= 0) & (scores <= 1)).all()
    losses = cross_val_score(KerasRegressor(build_regressor, **FIT), x, y, cv=2)
    assert (losses < 0).all()
    errors = cross_val_score(KerasRegressor(build_regressor, **FIT), x, y, cv=2, scoring="neg_mean_squared_error")
    assert (errors < 0).all()
