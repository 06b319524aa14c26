"""`keras.wrappers`: models as estimators of scikit-learn."""

import numpy as np
import pytest

from torchkeras import keras3 as keras
from torchkeras.base.extras import BROUGHT
from torchkeras.keras3.layers import Dense  # pyright: ignore[reportAttributeAccessIssue]

sklearn_base = pytest.importorskip("sklearn.base")

X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0]] * 8)
NAMES = np.array(["up", "right", "up", "right"] * 8)


def classifying(X, y, units=4):
    inputs = keras.Input((X.shape[1],))
    outputs = Dense(y.shape[1], activation="softmax")(Dense(units, activation="tanh")(inputs))
    model = keras.Model(inputs, outputs)
    model.compile(loss="categorical_crossentropy", optimizer=keras.optimizers.Adam(0.1))
    return model


def regressing(outputs=1):
    model = keras.Sequential([keras.Input((2,)), Dense(outputs, kernel_initializer="zeros")])
    model.compile(loss="mse", optimizer=keras.optimizers.SGD(0.1))
    return model


def test_a_classifier_predicts_classes():
    keras.utils.set_random_seed(0)
    options = {"model_kwargs": {"units": 8}, "fit_kwargs": {"epochs": 30, "verbose": 0}}
    found = keras.wrappers.SKLearnClassifier(classifying, **options).fit(X, NAMES)
    assert found.classes_.tolist() == ["right", "up"]
    assert found.predict(X).tolist() == NAMES.tolist()
    assert found.score(X, NAMES) == 1.0
    assert found.epoch_ == list(range(30))
    scores = found.decision_function(X[:3])
    assert scores.shape == (3, 2)
    np.testing.assert_allclose(scores.sum(axis=1), 1, rtol=1e-5)
    assert found.predict(X[:2]).shape == (2,)


def test_a_regressor_trains_a_copy_of_the_model():
    model = regressing()
    found = keras.wrappers.SKLearnRegressor(model).fit(X, X.sum(axis=1), epochs=20, verbose=0)
    assert found.predict(X).shape == (32,)
    assert found.score(X, X.sum(axis=1)) > 0.8
    assert found.model_ is not model
    assert (model.get_weights()[0] == 0).all()


def test_a_warm_start_goes_on_with_the_model():
    model = regressing()
    found = keras.wrappers.SKLearnRegressor(model, warm_start=True)
    first = found.fit(X, X.sum(axis=1), verbose=0).model_
    assert first is model
    before = model.get_weights()[0]
    assert found.fit(X, X.sum(axis=1), verbose=0).model_ is model
    assert (model.get_weights()[0] != before).all()


def test_a_transformer_gives_the_outputs():
    found = keras.wrappers.SKLearnTransformer(regressing()).fit(X, X[:, 0], verbose=0)
    np.testing.assert_array_equal(found.transform(X), found.model_.predict(X, verbose=0))


def test_a_clone_has_the_options_and_nothing_learned():
    options = {"warm_start": True, "model_kwargs": {"units": 3}, "fit_kwargs": {"verbose": 0}}
    found = keras.wrappers.SKLearnClassifier(classifying, **options).fit(X, NAMES)
    clone = sklearn_base.clone(found)
    assert clone.get_params(deep=False) == {"model": classifying, **options}
    assert not hasattr(clone, "model_")
    assert clone.epoch_ == 0


def test_errors():
    estimator = keras.wrappers.SKLearnRegressor(keras.Sequential([keras.Input((2,)), Dense(1)]))
    with pytest.raises(RuntimeError, match="SKLearnRegressor: the model must be compiled, with a loss"):
        estimator.fit(X, X[:, 0])
    with pytest.raises(ValueError, match="Classifier can't train when only one class is present"):
        keras.wrappers.SKLearnClassifier(classifying).fit(X, np.ones(32))
    with pytest.raises(ValueError, match="Only binary and multiclass target types are supported"):
        keras.wrappers.SKLearnClassifier(classifying).fit(X, X[:, 0] + 0.5)
    with pytest.raises(RuntimeError, match=r"SKLearnRegressor.set_fit_request: metadata routing is off"):
        estimator.set_fit_request(sample_weight=True)
    with pytest.raises(AttributeError, match=r"module 'keras.wrappers' has no 'SKLearn'"):
        keras.wrappers.SKLearn  # noqa: B018


def test_what_scikit_learn_is_brought_by():
    assert BROUGHT["sklearn.base"] == ("scikit-learn", "sklearn")
