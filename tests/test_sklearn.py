"""`torchkeras.sklearn`: models as estimators of scikit-learn."""

import copy
import pickle
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

import torchkeras
from torchkeras import losses
from torchkeras.base import extras
from torchkeras.callbacks import EarlyStopping
from torchkeras.layers import Dense, Flatten
from torchkeras.metrics import Metric
from torchkeras.models import Model, Sequential
from torchkeras.optimizers import SGD, Adam
from torchkeras.sklearn import SKLearnClassifier, SKLearnRegressor, SKLearnTransformer
from torchkeras.utils import set_random_seed

FIT = {"epochs": 30, "batch_size": 16, "verbose": 0}
ONCE = {"verbose": 0}


def data(classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Groups of points that a small model separates, and the names of the groups."""
    draw = np.random.default_rng(0)
    numbers = np.arange(60) % classes
    return draw.normal(size=(60, 4)) + 4 * np.eye(4)[numbers], np.array(["ant", "bee", "cow"])[numbers]


def build(
    y: Any = None, units: int = 8, outputs: int = 3, activation: Any = "softmax", loss: Any = "categorical_crossentropy"
) -> Any:
    model = Sequential([Dense(units, activation="relu"), Dense(outputs, activation=activation)])
    model.compile(Adam(0.05), loss)
    return model


def line(outputs: int = 1) -> Any:
    model = Sequential([Dense(outputs, input_shape=(2,))])
    model.compile(SGD(0.1), "mse", metrics=["mae"])
    return model


# --- classifiers ------------------------------------------------------------------------------------------------------

SOFTMAX = {"activation": "softmax"}
ALL_CLASSES = [
    {**SOFTMAX, "loss": "categorical_crossentropy"},
    {**SOFTMAX, "loss": "sparse_categorical_crossentropy"},
    {**SOFTMAX, "loss": "mse"},
    {"activation": None, "loss": losses.CategoricalCrossentropy(from_logits=True)},
    {"activation": None, "loss": losses.SparseCategoricalCrossentropy(from_logits=True)},
    {"activation": None, "loss": torch.nn.CrossEntropyLoss()},
    {"activation": "log_softmax", "loss": torch.nn.NLLLoss()},
]


@pytest.mark.parametrize("options", ALL_CLASSES, ids=lambda options: str(options["loss"]))
def test_a_classifier_gives_the_loss_what_it_takes(options: Any):
    set_random_seed(0)
    x, y = data()
    found = SKLearnClassifier(build, model_kwargs=options, fit_kwargs=FIT).fit(x, y)
    assert found.classes_.tolist() == ["ant", "bee", "cow"]
    assert found.score(x, y) > 0.95
    rows = found.predict_proba(x)
    np.testing.assert_allclose(rows.sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(found.classes_[rows.argmax(1)], found.predict(x))
    assert found.history_.epoch == list(range(30))


@pytest.mark.parametrize(
    ("activation", "loss"),
    [
        ("sigmoid", "binary_crossentropy"),
        ("sigmoid", "mse"),
        (None, losses.BinaryCrossentropy(from_logits=True)),
        (None, torch.nn.BCEWithLogitsLoss()),
    ],
)
def test_two_classes_of_one_output(activation: Any, loss: Any):
    set_random_seed(0)
    x, y = data(2)
    options = {"outputs": 1, "activation": activation, "loss": loss}
    found = SKLearnClassifier(build, model_kwargs=options, fit_kwargs=FIT).fit(x, y)
    rows = found.predict_proba(x)
    assert rows.shape == (60, 2)
    np.testing.assert_array_equal(found.predict(x), np.where(rows[:, 1] > 0.5, "bee", "ant"))
    assert found.score(x, y) > 0.95
    raw = found.model_.predict(x)
    raw = raw if activation else 1 / (1 + np.exp(-raw))
    np.testing.assert_allclose(rows[:, 1:], raw, rtol=1e-5)
    scores = cross_val_score(found, x, y, cv=2, scoring=make_scorer(roc_auc_score, response_method="predict_proba"))
    assert (scores > 0.9).all()


def test_a_function_gets_the_data_if_it_takes_it():
    def of_data(X: Any, y: Any, units: int) -> Any:
        assert (X.shape, y.shape) == ((60, 4), (60, 3))
        return build(units=units, outputs=y.shape[1])

    x, y = data()
    assert SKLearnClassifier(of_data, model_kwargs={"units": 5}, fit_kwargs=ONCE).fit(x, y).model_.layers[0].units == 5
    of_any = SKLearnRegressor(lambda **given: line(given["y"].shape[1]), fit_kwargs=ONCE)
    assert of_any.fit(x[:, :2], x[:, 2:]).predict(x[:, :2]).shape == (60, 2)


def test_inputs_of_several_axes():
    x, y = data()

    def images() -> Any:
        model = Sequential([Flatten(), Dense(3, activation="softmax")])
        model.compile("adam", "categorical_crossentropy")
        return model

    assert SKLearnClassifier(images, fit_kwargs=ONCE).fit(x.reshape(60, 2, 2, 1), y).n_features_in_ == 2


def test_weights_of_classes_are_by_class():
    x, y = data()
    seen = []

    class Seeing(Model):
        def fit(self, *args: Any, **options: Any) -> Any:
            seen.append(options)
            return super().fit(*args, **options)

    def seeing() -> Any:
        made = build()
        made.build((None, 4))
        model = Seeing(made.inputs, made.outputs)
        model.compile("sgd", "categorical_crossentropy")
        return model

    by_class = {"ant": 1.0, "bee": 2.0, "cow": 3.0}
    found = SKLearnClassifier(seeing, fit_kwargs={**ONCE, "class_weight": by_class}).fit(x, y)
    assert seen[-1]["sample_weight"].tolist() == [by_class[name] for name in y]
    assert seen[-1]["class_weight"] is None
    found.fit(x, y, sample_weight=np.full(60, 2.0))
    assert seen[-1]["sample_weight"].tolist() == [2 * by_class[name] for name in y]
    found.fit(x[1:], y[1:], class_weight="balanced")
    np.testing.assert_allclose(seen[-1]["sample_weight"][:2], [59 / 60, 59 / 60])
    np.testing.assert_allclose(seen[-1]["sample_weight"][2], 59 / 57)
    with pytest.raises(ValueError, match=r"^The classes, .*, are not in class_weight"):
        found.fit(x, y, class_weight={"ant": 1.0, "wasp": 2.0})


def test_sample_weights_train():
    x = np.ones((4, 2))
    weighted = SKLearnRegressor(line, fit_kwargs={**ONCE, "epochs": 50})
    found = weighted.fit(x, [0.0, 0.0, 1.0, 1.0], sample_weight=[0, 0, 1, 1]).predict(x)
    np.testing.assert_allclose(found, 1, atol=1e-3)


# --- regressors and transformers --------------------------------------------------------------------------------------


def test_a_regressor_trains_a_copy_with_new_weights():
    x = np.random.default_rng(0).random((32, 2))
    model = line()
    before = [each.copy() for each in model.get_weights()]
    found = SKLearnRegressor(model, fit_kwargs={"epochs": 0, "verbose": 0}).fit(x, x.sum(1))
    assert (found.model_.get_weights()[0] != before[0]).all()
    found.fit(x, x.sum(1), epochs=200)
    assert found.predict(x).shape == (32,)
    assert found.score(x, x.sum(1)) > 0.9
    np.testing.assert_array_equal(model.get_weights()[0], before[0])


class Counted(Metric):
    """How many batches were measured since the last reset."""

    def __init__(self) -> None:
        super().__init__(name="counted")
        self.count = self.add_weight(name="count")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.count.add_(1)

    def result(self) -> Any:
        return self.count


def test_a_copy_is_compiled_as_the_model_is_and_shares_nothing():
    x = np.ones((8, 2))
    model = line()
    model.compile(SGD(0.1, momentum=0.5, clipnorm=1.0), losses.Huber(0.3), [Counted()], on_nonfinite="stop")
    model.fit(x, x[:, 0], verbose=0)
    copied = SKLearnRegressor(model, fit_kwargs={"verbose": 0, "batch_size": 4}).fit(x, x[:, 0])
    other = copied.model_
    assert other.optimizer is not model.optimizer
    assert other.optimizer.get_config() == model.optimizer.get_config()
    assert (other.optimizer.iterations, model.optimizer.iterations) == (2, 1)
    assert (other.loss.delta, other.on_nonfinite, copied.history_.history["counted"]) == (0.3, "stop", [2.0])
    assert other.metrics[0] is not model.metrics[0]


def test_a_warm_start_goes_on_with_the_model():
    x = np.random.default_rng(0).random((32, 2))
    model = line()
    found = SKLearnRegressor(model, warm_start=True, fit_kwargs=ONCE)
    assert found.fit(x, x.sum(1)).model_ is model
    before = [each.copy() for each in model.get_weights()]
    assert found.fit(x, x.sum(1)).model_ is model
    assert (model.get_weights()[0] != before[0]).all()


def test_a_warm_start_keeps_the_classes():
    x, y = data()
    found = SKLearnClassifier(build, warm_start=True, fit_kwargs=ONCE).fit(x, y)
    some = y != "ant"
    assert found.fit(x[some], y[some]).classes_.tolist() == ["ant", "bee", "cow"]
    of_first = "['ant', 'bee', 'cow']; found 'wasp'."
    text = f"SKLearnClassifier: with warm_start the classes are those of the first fit, {of_first}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        found.fit(x, np.where(some, y, "wasp"))


def test_a_transformer_gives_the_outputs():
    x = np.random.default_rng(0).random((32, 2))
    found = SKLearnTransformer(line(3), fit_kwargs=ONCE).fit(x, np.ones((32, 3)))
    np.testing.assert_array_equal(found.transform(x), found.model_.predict(x))
    both = make_pipeline(found, SKLearnRegressor(build_for_numbers, fit_kwargs=ONCE))
    assert both.fit(x, np.ones((32, 3))).predict(x).shape == (32, 3)


# --- scikit-learn's conventions ---------------------------------------------------------------------------------------


def test_parameters():
    options = {"model_kwargs": {"units": 3}, "fit_kwargs": {"verbose": 0}}
    found = SKLearnClassifier(build, **options)
    assert found.get_params(deep=False) == {"model": build, "warm_start": False, **options}
    assert found.get_params()["model_kwargs__units"] == 3
    assert found.set_params(fit_kwargs__epochs=2, model_kwargs={"loss": "mse"}, model_kwargs__units=5) is found
    assert (found.model_kwargs, found.fit_kwargs) == ({"loss": "mse", "units": 5}, {"verbose": 0, "epochs": 2})
    assert options["fit_kwargs"] == {"verbose": 0}
    with pytest.raises(ValueError, match=r"^Invalid parameter 'units' for estimator SKLearnClassifier"):
        found.set_params(units=3)


def test_a_clone_has_the_options_and_nothing_learned():
    x, y = data()
    found = SKLearnClassifier(build, fit_kwargs={**ONCE, "callbacks": [EarlyStopping("loss")]}).fit(x, y)
    copied: Any = clone(found)
    assert copied.get_params(deep=False) == found.get_params(deep=False)
    assert not hasattr(copied, "model_")
    assert (is_classifier(copied), is_regressor(clone(SKLearnRegressor(line())))) == (True, True)


def test_a_clone_keeps_requests_of_metadata():
    x, y = data()
    seen = []

    class Seen(SKLearnClassifier):
        def _weighed(self, y: Any, options: Any) -> Any:
            seen.append(options.get("sample_weight"))
            return super()._weighed(y, options)

    with config_context(enable_metadata_routing=True):
        found = Seen(build, fit_kwargs=ONCE).set_fit_request(sample_weight=True)
        found.set_score_request(sample_weight=False)
        GridSearchCV(found, {"model_kwargs__units": [2]}, cv=2).fit(x, y, sample_weight=np.full(60, 3.0))
    assert [weights.tolist() for weights in seen] == [[3.0] * 30, [3.0] * 30, [3.0] * 60]


def test_grid_search_over_arguments_of_the_function_and_of_fit():
    x, y = data()
    grid = {"model_kwargs__units": [2, 6], "fit_kwargs__epochs": [1, 2]}
    search = GridSearchCV(SKLearnClassifier(build, fit_kwargs=ONCE), grid, cv=2).fit(x, y)
    assert search.best_params_.keys() == grid.keys()
    assert len(search.best_estimator_.history_.epoch) == search.best_params_["fit_kwargs__epochs"]
    assert search.best_estimator_.model_.layers[0].units == search.best_params_["model_kwargs__units"]
    whole = GridSearchCV(SKLearnClassifier(build, fit_kwargs=ONCE), {"model_kwargs": [{"units": 2}, None]}, cv=2)
    assert whole.fit(x, y).predict(x).shape == (60,)


def test_pipelines_and_cross_validation():
    x, y = data()
    set_random_seed(0)
    scores = cross_val_score(make_pipeline(StandardScaler(), SKLearnClassifier(build, fit_kwargs=FIT)), x, y, cv=3)
    assert scores.shape == (3,)
    assert (scores > 0.8).all()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))])  # noqa: S301
def test_copies_and_pickles(copied: Any):
    x, y = data()
    found = SKLearnClassifier(build, fit_kwargs=ONCE).fit(x, y)
    np.testing.assert_array_equal(copied(found).predict_proba(x), found.predict_proba(x))


# What check_estimator asks, and a network does otherwise.
OTHERWISE = {
    "check_sample_weight_equivalence_on_dense_data",  # a sample twice is in other batches than one of weight 2
    "check_regressor_multioutput",  # numbers are float32
}


def for_classes(y: Any) -> Any:
    set_random_seed(0)  # each fit begins the same
    model = Sequential([Dense(16, activation="relu"), Dense(y.shape[1], activation="softmax")])
    model.compile(Adam(0.02), "categorical_crossentropy")
    return model


def build_for_numbers(y: Any) -> Any:
    set_random_seed(0)
    model = Sequential([Dense(16, activation="relu"), Dense(y.shape[1])])
    model.compile(Adam(0.05), "mse")
    return model


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        SKLearnClassifier(for_classes, fit_kwargs={**FIT, "epochs": 40}),
        SKLearnRegressor(build_for_numbers, fit_kwargs={**FIT, "epochs": 40}),
        SKLearnTransformer(build_for_numbers, fit_kwargs={**FIT, "epochs": 2}),
    ],
    ids=["classifier", "regressor", "transformer"],
)
def test_checks_of_scikit_learn(estimator: Any):
    found = estimator_checks.check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {each["check_name"]: str(each["exception"]) for each in found if each["status"] == "failed"}
    assert {name: text for name, text in failed.items() if name not in OTHERWISE} == {}
    assert sum(each["status"] == "passed" for each in found) >= 40


# --- errors -----------------------------------------------------------------------------------------------------------

SIGMOID = {"outputs": 1, "activation": "sigmoid", "loss": "binary_crossentropy"}
ERRORS = {
    "one output": (
        SIGMOID,
        "SKLearnClassifier: the model has one output, which is for two classes; found 3: ['ant', 'bee', 'cow'].",
    ),
    "hinge": (
        {**SIGMOID, "activation": "tanh", "loss": losses.Hinge()},
        (
            "SKLearnClassifier: hinge losses of one output take targets of -1 and 1, and probabilities are 0 to 1. "
            "Give the model an output for each class."
        ),
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_outputs_that_do_not_fit_the_classes(case: str):
    options, text = ERRORS[case]
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        SKLearnClassifier(build, model_kwargs=options, fit_kwargs=ONCE).fit(*data())


def test_outputs_that_are_no_probabilities():
    x, y = data()
    found = SKLearnClassifier(build, model_kwargs={"activation": None, "loss": "mse"}, fit_kwargs=ONCE).fit(x, y)
    assert found.predict(x).shape == (60,)
    text = (
        "SKLearnClassifier: predict_proba needs probabilities, and the outputs of this model are none. End the model "
        "in a softmax or sigmoid, or compile it with a loss on logits."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        found.predict_proba(x)


def nothing() -> None:
    """A function without a `return`."""


def test_models_and_targets_that_do_not_do():
    x = data()[0]
    text = "SKLearnRegressor: the model must be compiled, with a loss and an optimizer."
    with pytest.raises(RuntimeError, match=f"^{re.escape(text)}$"):
        SKLearnRegressor(Sequential([Dense(1, input_shape=(4,))])).fit(x, x[:, 0])
    with pytest.raises(ValueError, match=r"^Classifier can't train when only one class is present\.$"):
        SKLearnClassifier(build).fit(x, np.ones(60))
    with pytest.raises(ValueError, match=r"^Only binary and multiclass target types are supported\. Target type: cont"):
        SKLearnClassifier(build).fit(x, x[:, 0])
    for made, text in (
        ("adam", "SKLearnRegressor: model must be a model, or a function that makes one; found 'adam'."),
        (nothing, f"SKLearnRegressor: the function {nothing!r} must return a model; found None."),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
            SKLearnRegressor(made).fit(x, x[:, 0])
    model = line()
    model.compile(torch.optim.SGD(model.parameters(), lr=0.1), "mse")
    text = (
        "SKLearnRegressor: the model cannot be copied with an optimizer of torch.optim, which has this model's "
        "weights. Give a function that makes and compiles the model."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        SKLearnRegressor(model).fit(x[:, :2], x[:, 0])


# --- what is imported -------------------------------------------------------------------------------------------------


def test_scikit_learn_is_imported_with_the_module_alone():
    code = "import sys, torchkeras, torchkeras.models; print('sklearn' in sys.modules, torchkeras.sklearn.__name__)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False torchkeras.sklearn\n"
    assert torchkeras.sklearn.SKLearnClassifier is SKLearnClassifier


def test_scikit_learn_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    text = (
        "torchkeras.sklearn: the package scikit-learn is missing. Install it with `pip install "
        "torchkeras-graph[sklearn]`."
    )
    with pytest.raises(ImportError, match=f"^{re.escape(text)}$"):
        extras.extra("sklearn.base", "torchkeras.sklearn")
    monkeypatch.delitem(sys.modules, "torchkeras.sklearn")
    with pytest.raises(ImportError, match=f"^{re.escape(text)}$"):
        __import__("torchkeras.sklearn")
