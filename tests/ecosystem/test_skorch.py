"""skorch: models as estimators of scikit-learn."""

import copy
import pickle

import numpy as np
import pytest
import torch
from shared import BATCH, LABELS, ROWS, TARGETS, assert_equal_states, dense_model, train_by_hand
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from torch import nn
from torch.nn import functional as F

from torchkeras import Input, Model
from torchkeras.layers import Dense, Dropout

pytestmark = pytest.mark.slow

PLAIN = {
    "lr": 0.1,
    "batch_size": BATCH,
    "max_epochs": 1,
    "train_split": None,
    "optimizer": torch.optim.SGD,
    "optimizer__momentum": 0.9,
    "verbose": 0,
}


def classifier(units: int = 5) -> Model:
    inputs = Input((6,))
    return Model(inputs, Dense(4)(Dropout(0.2)(Dense(units, activation="relu")(inputs))))


def test_a_classifier_trains_as_a_loop_by_hand():
    model = dense_model()
    twin = copy.deepcopy(model)
    net = NeuralNetClassifier(model, criterion=nn.CrossEntropyLoss, **PLAIN)
    net.fit(ROWS, LABELS)
    train_by_hand(twin, twin.parameters(), ROWS, LABELS, F.cross_entropy)
    assert_equal_states(net.module_, twin, atol=0)
    with torch.no_grad():
        expected = twin(torch.from_numpy(ROWS)).softmax(-1)
    np.testing.assert_allclose(net.predict_proba(ROWS), expected, rtol=1e-5)
    np.testing.assert_array_equal(net.predict(ROWS), expected.argmax(1))
    np.testing.assert_allclose(net.module_.predict(ROWS).argmax(1), net.predict(ROWS))


def test_a_regressor_trains_as_a_loop_by_hand():
    model = dense_model()
    twin = copy.deepcopy(model)
    net = NeuralNetRegressor(model, **PLAIN)
    net.fit(ROWS, TARGETS)
    train_by_hand(twin, twin.parameters(), ROWS, TARGETS)
    assert_equal_states(net.module_, twin, atol=0)


def test_a_function_that_makes_models_is_searched_in_a_pipeline():
    net = NeuralNetClassifier(classifier, module__units=5, criterion=nn.CrossEntropyLoss, **PLAIN)
    pipeline = make_pipeline(StandardScaler(), net)
    search = GridSearchCV(pipeline, {"neuralnetclassifier__module__units": [3, 9]}, cv=2, error_score="raise")
    search.fit(ROWS, LABELS)
    units = search.best_params_["neuralnetclassifier__module__units"]
    found = search.best_estimator_["neuralnetclassifier"].module_
    assert found.layers[1].units == units
    assert found.get_weights()[0].shape == (6, units)


def test_parameters_are_saved_and_loaded(tmp_path):
    net = NeuralNetClassifier(classifier, criterion=nn.CrossEntropyLoss, **PLAIN).fit(ROWS, LABELS)
    paths = {"f_params": tmp_path / "params.pt", "f_optimizer": tmp_path / "optimizer.pt"}
    net.save_params(**paths)
    other = NeuralNetClassifier(classifier, criterion=nn.CrossEntropyLoss, **PLAIN).initialize()
    other.load_params(**paths)
    np.testing.assert_array_equal(other.predict_proba(ROWS), net.predict_proba(ROWS))
    net.save_params(f_params=tmp_path / "params.safetensors", use_safetensors=True)
    model = classifier()
    model.load_weights(tmp_path / "params.safetensors")
    np.testing.assert_array_equal(model.predict(ROWS), net.module_.predict(ROWS))


def test_an_estimator_is_pickled():
    net = NeuralNetClassifier(classifier, criterion=nn.CrossEntropyLoss, **PLAIN).fit(ROWS, LABELS)
    copied = pickle.loads(pickle.dumps(net))  # noqa: S301 - what was just written here
    np.testing.assert_array_equal(copied.predict_proba(ROWS), net.predict_proba(ROWS))
