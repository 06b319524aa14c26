"""`keras.metrics` of Keras 3 where genuine Keras has no number to compare: errors, files, what else takes them."""

import copy
import importlib
import inspect
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import torchkeras
from tests.engine.operations import one_more
from torchkeras import registry
from torchkeras.keras3 import losses, metrics
from torchkeras.keras3.dtype_policies import DTypePolicy
from torchkeras.losses.loss import kind_of
from torchkeras.metrics.direction import higher_is_better

keras3: Any = importlib.import_module("torchkeras.keras3")

NEEDED = {
    **dict.fromkeys(("specificity", "sensitivity", "recall", "precision"), 0.5),
    "num_classes": 3,
    "target_class_ids": [0],
    "fn": losses.huber,
}
CLASSES = [name for name in metrics.__all__ if inspect.isclass(getattr(metrics, name)) and name != "Metric"]
FUNCTIONS = [name for name in metrics.__all__ if name.islower() and name not in ("get", "serialize", "deserialize")]


def made(kind, package=metrics, **options):
    cls = getattr(package, kind)
    needed = {each: NEEDED[each] for each in inspect.signature(cls).parameters if each in NEEDED}
    return cls(**needed, **options)


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


class Largest(metrics.Metric):
    def __init__(self, name="largest", **kwargs):
        super().__init__(name=name, **kwargs)
        self.largest = self.add_variable(shape=(), initializer="zeros", name="largest")
        self.mean = metrics.Mean(name="inside")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.mean.update_state(y_pred)
        self.largest.assign(torch.maximum(self.largest, torch.as_tensor(y_pred).max()))

    def result(self):
        return self.largest


# --- the two packages ------------------------------------------------------------------------------------------------


def test_there_is_every_name_of_keras_3():
    assert len(metrics.__all__) == 72
    assert (len(CLASSES), len(FUNCTIONS)) == (45, 23)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_one_of_both(name):
    found, base = made(name), getattr(torchkeras.metrics, name)
    assert isinstance(found, metrics.Metric)
    assert isinstance(found, base)
    assert all(each.__module__.startswith("torchkeras.metrics") for each in registry.metrics.classes().values())
    if name != "MeanMetricWrapper":
        assert kind_of(found) is base
        assert found.adds_up == base.adds_up
    assert higher_is_better(found) == higher_is_better(made(name, torchkeras.metrics))


def test_a_class_of_ones_own_is_recognized_as_nothing_else():
    class Twice(metrics.MeanSquaredError):
        def result(self):
            return 2.0 * super().result()

    assert kind_of(Twice()) is Twice
    assert not Twice.adds_up
    near(Twice()([0.0], [2.0]), 8.0)


@pytest.mark.parametrize("name", [*CLASSES, *FUNCTIONS])
def test_it_is_pickled(name):
    found = getattr(metrics, name)
    assert pickle.loads(pickle.dumps(found)) is found  # noqa: S301  # its own


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_shows_the_function_by_its_name(name):
    assert f">>> {name}(" in (getattr(metrics, name).__doc__ or "")


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_explained(name):
    text = getattr(metrics, name).__doc__ or ""
    assert f"{name}(" in text
    assert "dtype (" in text
    for option in inspect.signature(getattr(metrics, name)).parameters:
        assert option == "options" or f"{option} (" in text


# --- what is given ---------------------------------------------------------------------------------------------------


def test_weights_with_a_point_count_in_an_intersection_over_union():
    # As in Keras's documentation, where genuine Keras cuts these weights to 0.
    metric = metrics.IoU(num_classes=2, target_class_ids=[0])
    near(metric([0, 0, 1, 1], [0, 1, 0, 1], sample_weight=[0.3, 0.3, 0.3, 0.1]), 1 / 3)
    near(metrics.MeanIoU(num_classes=2)([0, 0, 1, 1], [0, 1, 0, 1], [0.3, 0.3, 0.3, 0.1]), 0.2380952)


def test_lists_of_labels():
    rows = [[0.1, 0.9], [0.2, 0.8]]
    near(metrics.SparseCategoricalCrossentropy(ignore_class=0)([1, 0], rows, [1.0, 2.0]), -np.log(0.9))
    near(metrics.SparseTopKCategoricalAccuracy(k=1)([1, 0], rows), 0.5)
    near(metrics.sparse_categorical_crossentropy([1, 0], rows), -np.log([0.9, 0.2]))


def test_a_variable_gives_its_value():
    near(metrics.Mean()(keras3.Variable([1.0, 2.0])), 1.5)
    near(metrics.MeanSquaredError()(keras3.Variable([1.0, 2.0]), [1.0, 4.0]), 2.0)
    assert not metrics.MeanSquaredError()(keras3.Variable([1.0, 2.0]), [1.0, 4.0]).requires_grad


def test_symbolic_tensors_give_a_symbolic_tensor():
    x = keras3.Input((4,))
    assert tuple(metrics.binary_accuracy(x, keras3.layers.Dense(4)(x)).shape) == (None, 4)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"Precision 'p': y_true of shape \(2,\) does not fit y_pred of shape \(3,\)"):
        metrics.Precision(name="p")([0, 1], [0.2, 0.4, 0.6])
    with pytest.raises(ValueError, match=r"MeanSquaredError 'mean_squared_error': sample_weight of shape \(3,\)"):
        metrics.MeanSquaredError()([[0.0], [1.0]], [[1.0], [1.0]], sample_weight=[1, 2, 3])


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [DTypePolicy("mixed_float16"), "mixed_float16", "float16", torch.float16])
def test_a_policy_gives_its_type_of_computation(dtype):
    metric = metrics.Mean(dtype=dtype)
    assert metric.dtype == "float16"
    assert metric([1.0, 2.0]).dtype is torch.float16


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("AUC", {"curve": "ROCK"}, "AUC: curve must be .*'ROCK'"),
        ("Precision", {"thresholds": [0.5, 2.0]}, "Precision: thresholds must .*"),
        ("FBetaScore", {"beta": -1.0}, "FBetaScore: beta must .*-1.0"),
        ("MeanIoU", {"num_classes": 0}, "MeanIoU: num_classes must .*0"),
        ("Mean", {"dtype": "float31"}, "float31"),
        ("R2Score", {"num_regressors": -1}, "R2Score: num_regressors must .*-1"),
    ],
)
def test_a_bad_option_is_refused(kind, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(metrics, kind)(**options)


def test_a_crossentropy_has_no_axis_in_keras_3():
    with pytest.raises(TypeError, match=r"BinaryCrossentropy: .*'axis'"):
        metrics.BinaryCrossentropy(axis=1)
    assert "axis" not in metrics.BinaryCrossentropy().get_config()


@pytest.mark.parametrize("name", CLASSES)
def test_a_config_makes_the_metric_again(name):
    metric = made(name, name="mine")
    again = metrics.deserialize(metrics.serialize(metric))
    assert type(again) is type(metric)
    assert again.get_config() == metric.get_config()


# --- by name ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("identifier", ["binary_acuracy", {"class_name": "AUK", "config": {}}])
def test_an_unknown_name_is_refused(identifier):
    with pytest.raises(ValueError, match=r"Unknown metric: .*Did you mean"):
        metrics.get(identifier)


def test_what_is_no_metric_is_refused():
    with pytest.raises(ValueError, match="Could not interpret 3 as a metric"):
        metrics.get(3)
    with pytest.raises(ValueError, match="define it with `def`"):
        metrics.serialize(lambda y_true, y_pred: y_pred)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_deserialized_by_its_name(name):
    # Genuine Keras takes the names of functions that metrics have as classes for these.
    function = getattr(metrics, name)
    assert metrics.deserialize(metrics.serialize(function)) is function
    wrapped = metrics.MeanMetricWrapper(function, name="mine")
    assert metrics.deserialize(metrics.serialize(wrapped))._function is function


def farther_than(y_true, y_pred, distance=1.0):
    return (abs(y_pred - y_true) > distance).float()


def test_ones_own_are_found_among_custom_objects():
    entry = metrics.serialize(Largest(dtype="float64"))
    assert entry["config"] == {"name": "largest", "dtype": "float64"}
    assert metrics.deserialize(entry, {"Largest": Largest}).dtype == "float64"
    wrapped = metrics.MeanMetricWrapper(farther_than, distance=2.0)
    with registry.custom_object_scope({"farther_than": farther_than}):
        again = metrics.deserialize(metrics.serialize(wrapped))
    near(again([0.0, 0.0], [1.0, 3.0]), 0.5)
    assert metrics.deserialize(metrics.serialize(farther_than), {"farther_than": farther_than}) is farther_than
    with pytest.raises(TypeError, match=r"farther_than: .*far"):
        metrics.MeanMetricWrapper(farther_than, far=1.0)


def test_own_functions_come_before_those_of_their_name():
    def binary_accuracy(y_true, y_pred):
        return y_pred

    entry = metrics.serialize(binary_accuracy)
    assert metrics.deserialize(entry, {"binary_accuracy": binary_accuracy}) is binary_accuracy


# --- states ----------------------------------------------------------------------------------------------------------


def test_a_state_reads_tensors_arrays_lists_and_numbers():
    state = metrics.Mean().add_variable((2,), "zeros", name="pair")
    for value in (torch.ones(2), np.ones(2), [1, 1], 1, 1.0, np.float64(1.0), torch.tensor(1.0)):
        state.assign([5.0, 6.0])
        assert state.assign_add(value) is state
        near(state, [6.0, 7.0])
        state.assign_sub(value)
        near(state.value, [5.0, 6.0])
        state.assign(value)
        near(state.numpy(), [1.0, 1.0])
    kept = state.numpy()
    state.assign(3.0)
    near(kept, [1.0, 1.0])
    assert type(state.value) is torch.Tensor


def test_names_of_states_may_repeat():
    metric = metrics.Mean(name="mean")
    found = [metric.add_weight(name="total"), metric.add_variable((), "ones"), metric.add_variable((), "ones")]
    assert len(metric.variables) == 5
    assert len({id(each) for each in [*found, metric.total]}) == 4


def test_states_need_a_metric_that_was_begun():
    class Early(metrics.Metric):
        def __init__(self):
            self.total = self.add_weight(name="total")

    with pytest.raises(RuntimeError, match=r"Early: __init__ calls super\(\).__init__\(\) before"):
        Early()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": "total"}, "add_variable: shape must be a tuple of integers; found 'total'. Give name='total'"),
        ({"aggregation": "median"}, "add_variable: aggregation must be one of .*'median'"),
        ({"initializer": "zeroes"}, "zeroes"),
    ],
)
def test_a_bad_argument_of_a_state_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        metrics.Mean().add_variable(**arguments)


def test_states_inside_belong_to_a_metric():
    metric = Largest()
    near(metric(0.0, [1.0, 4.0]), 4.0)
    assert list(metric.state_dict()) == ["largest", "mean/total", "mean/count"]
    again = Largest()
    again.load_state_dict(metric.state_dict())
    near(again.mean.result(), 2.5)
    near(again.result(), 4.0)
    for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):  # noqa: S301  # its own
        other.update_state(0.0, [7.0])
        near(other.result(), 7.0)
        near(other.variables[1], 12.0)
        near(metric.variables[1], 5.0)
    metric.reset_state()
    near(torch.stack(metric.variables), [0.0, 0.0, 0.0])


def test_other_states_are_refused():
    with pytest.raises(ValueError, match="its states are"):
        Largest().load_state_dict({"mean/total": torch.tensor(1.0), "mean/count": torch.tensor(1.0)})
    for act in (Largest().stateless_result, lambda given: Largest().stateless_update_state(given, 0.0, 1.0)):
        with pytest.raises(ValueError, match="Largest 'largest': it has 3 variables; found 1"):
            act([0.0])


def test_a_result_stays_while_states_change():
    metric = Largest()
    first = metric(0.0, 1.0)
    metric.update_state(0.0, 5.0)
    near(first, 1.0)


# --- as metrics of a model -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("identifier", "kind", "name"),
    [
        ("mse", metrics.MeanSquaredError, "mse"),
        ("mean_squared_error", metrics.MeanSquaredError, "mean_squared_error"),
        ("AUC", metrics.AUC, "AUC"),
        (metrics.binary_accuracy, metrics.MeanMetricWrapper, "binary_accuracy"),
        (losses.huber, metrics.MeanMetricWrapper, "huber"),
        (farther_than, metrics.MeanMetricWrapper, "farther_than"),
        (metrics.Poisson, metrics.Poisson, "poisson"),
        ("acc", metrics.MeanMetricWrapper, "acc"),
    ],
)
def test_what_compile_takes_becomes_an_object(identifier, kind, name):
    found = metrics.as_metric(identifier)
    assert (type(found), found.name) == (kind, name)
    assert higher_is_better(found) in (True, False, None)


@pytest.mark.parametrize("name", CLASSES)
def test_files_hold_the_same_metric_of_this_package(name):
    metric = made(name, name="mine")
    found = metric.for_files
    assert type(found) is getattr(torchkeras.metrics, name)
    expected = metric.get_config()
    assert all(found.get_config()[each] == expected[each] for each in expected if each != "fn")
    assert found.name == "mine"


def test_files_hold_functions_and_what_is_a_users():
    for name in FUNCTIONS:
        family = registry.losses if name in registry.losses else registry.metrics
        assert getattr(metrics, name).for_files is family.find(name)
    own = Largest()
    assert own.for_files is own
    assert metrics.as_metric("acc").for_files == "acc"
    assert metrics.as_metric(losses.huber).for_files._function is torchkeras.losses.huber


def test_no_metric_is_refused():
    with pytest.raises(ValueError, match=r"compile: a metric must be .*None"):
        metrics.as_metric(None)


def test_accuracy_goes_by_shapes():
    rows = [[0.25, 0.75], [0.25, 0.75]]
    for labels in ([1, 0], [[1], [0]], [[0, 1], [1, 0]]):
        near(metrics.as_metric("accuracy")(labels, rows), 0.5)
    near(metrics.as_metric("accuracy")([[0], [1], [1]], [[0.25], [0.75], [0.4]]), 2 / 3)
    assert higher_is_better(metrics.as_metric("accuracy"))


X = np.random.default_rng(7).normal(size=(32, 3)).astype("float32")
Y = np.random.default_rng(8).integers(0, 4, 32)


def model_of(keras, **options):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="softmax")])
    model.set_weights([np.linspace(-1.0, 1.0, 12).reshape(3, 4), np.zeros(4)])
    model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=False, **options)
    return model


class OfClass(metrics.Metric):
    """How many targets are a class, and how probable it is: with states of two kinds."""

    def __init__(self, number, name="of_class", **kwargs):
        super().__init__(name=name, **kwargs)
        self.number = number
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_variable(shape=(), initializer="zeros", dtype="int32", name="count")

    def update_state(self, y_true, y_pred, sample_weight=None):
        chosen = keras3.ops.equal(keras3.ops.reshape(y_true, (-1,)), self.number)
        values = keras3.ops.where(chosen, y_pred[:, self.number], 0.0)
        if sample_weight is not None:
            values = values * sample_weight
        self.total.assign_add(keras3.ops.sum(values))
        self.count.assign(self.count + keras3.ops.sum(keras3.ops.cast(chosen, "int32")))

    def result(self):
        return self.total / keras3.ops.cast(self.count, "float32")


@pytest.mark.parametrize("package", [torchkeras, keras3], ids=["torchkeras", "keras3"])
def test_a_metric_of_ones_own_counts(package):
    model = model_of(package, metrics=[OfClass(1)], weighted_metrics=[OfClass(1, name="weighted")])
    weights = np.linspace(0.0, 2.0, 32, dtype="float32")
    found = model.evaluate(X, Y, sample_weight=weights, batch_size=10, verbose=0, return_dict=True)
    p = model.predict(X, verbose=0)[Y == 1, 1]
    near(found["of_class"], p.mean())
    near(found["weighted"], (p * weights[Y == 1]).mean())


@pytest.mark.parametrize("name", ["SparseCategoricalAccuracy", "SparseTopKCategoricalAccuracy", "MeanIoU"])
def test_a_step_costs_no_more_than_with_the_metric_of_this_package(name):
    costs, values = [], []
    for package in (torchkeras, keras3):
        options = {"num_classes": 4, "sparse_y_pred": False} if name == "MeanIoU" else {}
        model = model_of(keras3, metrics=[getattr(package.metrics, name)(**options, name="metric")])

        def fit(batches, model=model):
            count = 8 * batches
            return model.fit(X[:count], Y[:count], batch_size=8, epochs=1, verbose=0, shuffle=False).history

        values.append(fit(4)["metric"])
        costs.append(sum(one_more(fit).values()))
    near(*values)
    assert costs[1] <= costs[0]


LISTS = pytest.mark.torch("2.13", "its compiler follows vars() of an object")


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize(
    "name", ["MeanSquaredError", "Mean", pytest.param("AUC", marks=LISTS), pytest.param("F1Score", marks=LISTS)]
)
def test_it_is_compiled_into_one_graph(name):
    metric, again = getattr(metrics, name)(), getattr(metrics, name)()
    given = torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([[0.2, 0.7], [0.4, 0.6]])
    given = given[:1] if name == "Mean" else given
    metric.update_state(*given)  # the first one makes states, or moves them
    metric.reset_state()

    def step(*values):
        metric.update_state(*values)
        return metric.result()

    torch._dynamo.reset()
    near(torch.compile(step, backend="eager", fullgraph=True)(*given), again(*given))
