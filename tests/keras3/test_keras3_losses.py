"""`keras.losses` of Keras 3 where genuine Keras has no number to compare: errors, files, what else takes them."""

import copy
import importlib
import inspect
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import torchkeras
from tests.engine.operations import one_more
from torchkeras import activations, registry
from torchkeras.keras3 import losses
from torchkeras.keras3.dtype_policies import DTypePolicy
from torchkeras.losses.loss import kind_of

keras3: Any = importlib.import_module("torchkeras.keras3")

Y_TRUE, Y_PRED = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0.25, 0.5], [0.5, 1.0]])
LABELS, ROWS = [1, 0], [[0.25, 0.75], [0.25, 0.75]]
CLASSES = [name for name in losses.__all__ if inspect.isclass(getattr(losses, name)) and name != "Loss"]
FUNCTIONS = [name for name in losses.__all__ if name.islower() and name not in ("get", "serialize", "deserialize")]


class FourthPower(losses.Loss):
    def call(self, y_true, y_pred):
        return ((y_pred - y_true) ** 4).mean(-1)


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


# --- the two packages ------------------------------------------------------------------------------------------------


def test_there_is_every_name_of_keras_3():
    assert len(losses.__all__) == 48
    assert (len(CLASSES), len(FUNCTIONS)) == (22, 22)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_one_of_both(name):
    found = getattr(losses, name)()
    assert isinstance(found, losses.Loss)
    assert isinstance(found, getattr(torchkeras.losses, name))
    assert registry.losses.find(name) is getattr(torchkeras.losses, name)
    assert kind_of(found) is getattr(torchkeras.losses, name)


def test_a_class_of_ones_own_is_recognized_as_nothing_else():
    class Mine(losses.Huber):
        def call(self, y_true, y_pred):
            return 2.0 * super().call(y_true, y_pred)

    assert kind_of(Mine()) is Mine
    near(Mine(delta=0.5)(Y_TRUE, Y_PRED), 2.0 * losses.Huber(delta=0.5)(Y_TRUE, Y_PRED))


@pytest.mark.parametrize("name", [*CLASSES, *FUNCTIONS])
def test_it_is_pickled(name):
    found = getattr(losses, name)
    assert pickle.loads(pickle.dumps(found)) is found  # noqa: S301  # its own


def test_objects_are_copied():
    loss = losses.Tversky(0.25, name="mine")
    for again in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):  # noqa: S301  # its own
        assert type(again) is losses.Tversky
        assert again.get_config() == loss.get_config()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_shows_the_function_by_its_name(name):
    assert f">>> {name}(" in (getattr(losses, name).__doc__ or "")


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_explained(name):
    assert f">>> {name}(" in (getattr(losses, name).__doc__ or "")
    assert "DTypePolicy" in (getattr(losses, name).__doc__ or "")


# --- what is given ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sparse_categorical_crossentropy", "categorical_generalized_cross_entropy", "circle"])
def test_labels_may_be_lists(name):
    function = getattr(losses, name)
    function = partial(function, q=0.5) if name.startswith("categorical") else function
    near(function(LABELS, ROWS), function(torch.tensor(LABELS), torch.tensor(ROWS)))
    near(function(np.array(LABELS), np.array(ROWS, "float32")), function(torch.tensor(LABELS), torch.tensor(ROWS)))


def test_sequences_may_be_lists():
    near(losses.ctc([[1, 2]], np.zeros((1, 4, 3))), [1.6864])
    near(losses.CTC()([[1, 2]], np.zeros((1, 4, 3))), 1.6864)


def test_a_variable_gives_its_value():
    layer = keras3.layers.Dense(2, kernel_initializer="ones")
    layer.build((None, 2))
    near(losses.mean_squared_error(keras3.Variable([1.0, 2.0]), [1.0, 4.0]).detach(), 2.0)
    near(losses.MeanAbsoluteError()(np.zeros((2, 2)), layer.weights[0]).detach(), 1.0)
    near(losses.MeanAbsoluteError()(layer.weights[0], np.zeros((2, 2))).detach(), 1.0)


@pytest.mark.parametrize("name", ["mean_squared_error", "huber", "hinge", "kl_divergence", "categorical_crossentropy"])
def test_symbolic_tensors_give_a_symbolic_tensor(name):
    x = keras3.Input((4,))
    found = getattr(losses, name)(x, keras3.layers.Dense(4)(x))
    assert keras3.ops.is_tensor(found)
    assert tuple(found.shape) == (None,)


def test_gradients_reach_both():
    y_true, y_pred = (torch.tensor(each, requires_grad=True) for each in (Y_TRUE, Y_PRED))
    losses.MeanSquaredError()(y_true, y_pred).backward()
    assert y_true.grad is not None
    assert y_pred.grad is not None
    near(y_true.grad, -y_pred.grad)


def test_shapes_that_differ_by_more_than_1_are_refused():
    with pytest.raises(ValueError, match=r"mean_squared_error: y_true of shape \(2, 3\) and y_pred of shape \(2, 4\)"):
        losses.MeanSquaredError()(np.zeros((2, 3)), np.zeros((2, 4)))
    with pytest.raises(
        ValueError, match=r"categorical_crossentropy: y_true of shape \(2, 1\) does not fit y_pred of shape \(2, 3\)"
    ):
        losses.CategoricalCrossentropy()(np.zeros((2, 1)), np.full((2, 3), 0.5))
    with pytest.raises(ValueError, match=r"y_true of shape \(3,\) does not hold a class number"):
        losses.SparseCategoricalCrossentropy()([0, 1, 0], np.full((2, 3), 0.5))


def test_weights_that_do_not_broadcast_are_refused():
    with pytest.raises(ValueError, match=r"MeanSquaredError 'mean_squared_error': sample_weight of shape \(3,\)"):
        losses.MeanSquaredError()(Y_TRUE, Y_PRED, sample_weight=[1.0, 2.0, 3.0])


def test_a_probability_behind_a_softmax_is_computed_from_its_logits():
    logits = torch.tensor([[60.0, -60.0]], requires_grad=True)
    y_pred = activations.softmax(logits)
    exact = losses.categorical_crossentropy([[1.0, 0.0]], y_pred)
    plain = losses.categorical_crossentropy([[1.0, 0.0]], y_pred.detach())
    near(exact.detach(), plain)
    near(losses.SparseCategoricalCrossentropy()([1], y_pred).detach(), 16.1181)


# --- options ---------------------------------------------------------------------------------------------------------


def test_the_type_of_the_computation_is_that_of_the_result():
    # In genuine Keras a mean in float64 has float32.
    loss = losses.MeanSquaredError(dtype="float64")
    assert loss(Y_TRUE, Y_PRED.astype("float32")).dtype is torch.float64
    assert loss.get_config()["dtype"] == "float64"
    assert losses.MeanSquaredError.from_config(loss.get_config()).dtype == "float64"


@pytest.mark.torch("2.6", "kernels of half types on the CPU")
@pytest.mark.parametrize("dtype", [DTypePolicy("mixed_float16"), "mixed_float16", "float16", torch.float16])
def test_a_policy_gives_its_type_of_computation(dtype):
    loss = losses.MeanSquaredError(dtype=dtype)
    assert loss.dtype == "float16"
    assert loss(Y_TRUE, Y_PRED).dtype is torch.float16


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reduction": "most"}, "Huber: reduction must be .*'most'"),
        ({"delta": -1.0}, "Huber: delta must be .*-1.0"),
        ({"dtype": "float31"}, "float31"),
        ({"name": 3}, "Huber: name must be .*3"),
    ],
)
def test_a_bad_option_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        losses.Huber(**options)


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match=r"Huber: .*'beta'"):
        losses.Huber(beta=1.0)
    with pytest.raises(TypeError, match=r"huber: .*beta"):
        losses.LossFunctionWrapper(losses.huber, beta=1.0)


def test_a_config_keeps_every_option():
    # Genuine Keras forgets delta, and both axes.
    for loss in (losses.Huber(0.5), losses.CosineSimilarity(axis=0), losses.SparseCategoricalCrossentropy(axis=1)):
        again = losses.deserialize(losses.serialize(loss))
        assert again.get_config() == loss.get_config()
        assert type(again) is type(loss)
    assert losses.deserialize(losses.serialize(losses.Huber(0.5))).delta == 0.5


# --- by name ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("identifier", ["mean_squared_eror", {"class_name": "Hubr", "config": {}}])
def test_an_unknown_name_is_refused(identifier):
    with pytest.raises(ValueError, match=r"Unknown loss: .*Did you mean"):
        losses.get(identifier)


def test_what_is_no_loss_is_refused():
    with pytest.raises(ValueError, match="Could not interpret 3 as a loss"):
        losses.get(3)
    with pytest.raises(ValueError, match="define it with `def`"):
        losses.serialize(lambda y_true, y_pred: y_pred)


def test_a_function_is_deserialized_by_its_name():
    # Genuine Keras takes the names of functions that metrics have as classes for these.
    for name in FUNCTIONS:
        assert losses.deserialize(losses.serialize(getattr(losses, name))) is getattr(losses, name)
        assert losses.deserialize(name) is getattr(losses, name)


def fifth_power(y_true, y_pred, scale=1.0):
    return scale * ((y_pred - y_true) ** 5).mean(-1)


def test_ones_own_are_found_among_custom_objects():
    entry = losses.serialize(FourthPower(name="mine"))
    assert (entry["class_name"], entry["config"]) == (
        "FourthPower",
        {"name": "mine", "reduction": "sum_over_batch_size"},
    )
    assert losses.deserialize(entry, {"FourthPower": FourthPower}).name == "mine"
    assert losses.deserialize(losses.serialize(fifth_power), {"fifth_power": fifth_power}) is fifth_power
    with registry.custom_object_scope({"fifth_power": fifth_power}):
        wrapped = losses.LossFunctionWrapper(fifth_power, scale=2.0)
        again = losses.deserialize(losses.serialize(wrapped))
    near(again(Y_TRUE, Y_PRED), wrapped(Y_TRUE, Y_PRED))
    with pytest.raises(ValueError, match="Unknown loss: 'FourthPower'"):
        losses.deserialize(entry)


# --- as losses of a model --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("identifier", "kind", "name"),
    [
        ("mse", losses.MeanSquaredError, "mse"),
        (losses.mean_squared_error, losses.MeanSquaredError, "mean_squared_error"),
        ("sparse_categorical_crossentropy", losses.SparseCategoricalCrossentropy, "sparse_categorical_crossentropy"),
        ("kld", losses.KLDivergence, "kld"),
        ("Huber", losses.Huber, "huber_loss"),
        (fifth_power, losses.LossFunctionWrapper, "fifth_power"),
        (FourthPower, FourthPower, None),
    ],
)
def test_what_compile_takes_becomes_an_object(identifier, kind, name):
    found = losses.as_loss(identifier)
    assert type(found) is kind
    assert name in (None, found.name)


def test_every_function_has_its_class():
    for name in FUNCTIONS:
        assert type(losses.as_loss(name)).__name__ in CLASSES


def test_losses_of_torch_stay():
    module = torch.nn.MSELoss()
    assert losses.as_loss(module) is module
    assert losses.as_loss(torch.nn.functional.mse_loss) is torch.nn.functional.mse_loss
    assert losses.as_loss(None) is None


@pytest.mark.parametrize("name", CLASSES)
def test_files_hold_the_same_loss_of_this_package(name):
    loss = getattr(losses, name)(reduction="sum", name="mine")
    found = loss.for_files
    assert type(found) is getattr(torchkeras.losses, name)
    assert found.get_config() == {**loss.get_config()}
    assert losses.as_loss(name).for_files.dtype is None


def test_files_hold_functions_and_what_is_a_users():
    for name in FUNCTIONS:
        assert getattr(losses, name).for_files is registry.losses.find(name)
    own, wrapper = FourthPower(), losses.LossFunctionWrapper(fifth_power, "sum", scale=2.0)
    assert own.for_files is own
    assert type(wrapper.for_files) is torchkeras.losses.LossFunctionWrapper
    assert wrapper.for_files.get_config()["scale"] == 2.0
    assert losses.as_loss(fifth_power).for_files is fifth_power
    assert losses.as_loss("crossentropy").for_files == "crossentropy"


def test_crossentropy_goes_by_shapes():
    loss = losses.as_loss("crossentropy")
    near(loss(LABELS, ROWS), losses.SparseCategoricalCrossentropy()(LABELS, ROWS))
    near(loss([[1], [0]], ROWS), losses.SparseCategoricalCrossentropy()(LABELS, ROWS))
    near(loss([[0, 1], [1, 0]], ROWS), losses.CategoricalCrossentropy()([[0, 1], [1, 0]], ROWS))
    near(loss([[0], [1]], [[0.25], [0.75]]), losses.BinaryCrossentropy()([[0], [1]], [[0.25], [0.75]]))
    assert loss.name == "crossentropy"


X = np.random.default_rng(7).normal(size=(32, 3)).astype("float32")
CLASS_NUMBERS = np.random.default_rng(8).integers(0, 4, 32)
TARGETS = {True: CLASS_NUMBERS, False: np.eye(4, dtype="float32")[CLASS_NUMBERS]}


def model_of(keras, activation, loss):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation=activation)])
    model.set_weights([np.linspace(-1.0, 1.0, 12).reshape(3, 4), np.zeros(4)])
    model.compile("sgd", loss=loss, jit_compile=False)
    return model


@pytest.mark.parametrize(
    ("name", "activation", "options"),
    [
        ("SparseCategoricalCrossentropy", "softmax", {}),
        ("SparseCategoricalCrossentropy", None, {"from_logits": True}),
        ("CategoricalCrossentropy", "softmax", {}),
        ("CategoricalCrossentropy", None, {"from_logits": True}),
        ("BinaryCrossentropy", "sigmoid", {}),
        ("MeanSquaredError", None, {}),
    ],
)
def test_a_step_costs_no_more_than_with_the_loss_of_this_package(name, activation, options):
    costs, values = [], []
    for package in (torchkeras, keras3):
        model = model_of(keras3, activation, getattr(package.losses, name)(**options))
        y = TARGETS[name.startswith("Sparse")]

        def fit(batches, model=model, y=y):
            count = 8 * batches
            return model.fit(X[:count], y[:count], batch_size=8, epochs=1, verbose=0, shuffle=False).history

        values.append(fit(4)["loss"])
        costs.append(sum(one_more(fit).values()))
    near(*values)
    assert costs[1] <= costs[0]


@pytest.mark.parametrize(
    ("name", "activation"),
    [
        ("mse", None),
        ("mae", None),
        ("binary_crossentropy", "sigmoid"),
        ("categorical_crossentropy", "softmax"),
        ("sparse_categorical_crossentropy", "softmax"),
    ],
)
def test_a_loss_by_name_costs_no_more_than_the_function_of_this_package(name, activation):
    costs = []
    for keras, loss in ((torchkeras, name), (keras3, losses.as_loss(name))):
        model, y = model_of(keras, activation, loss), TARGETS[name.startswith("sparse")]

        def fit(batches, model=model, y=y):
            model.fit(X[: 8 * batches], y[: 8 * batches], batch_size=8, epochs=1, verbose=0, shuffle=False)

        costs.append(sum(one_more(fit).values()))
    assert costs[1] <= costs[0]


@pytest.mark.parametrize("package", [torchkeras, keras3], ids=["torchkeras", "keras3"])
def test_a_loss_of_ones_own_trains(package):
    model = model_of(package, None, FourthPower())
    before = FourthPower()(TARGETS[False], model.predict(X, verbose=0))
    weights = np.linspace(0.0, 2.0, 32, dtype="float32")
    first = model.fit(X, TARGETS[False], batch_size=32, epochs=1, verbose=0).history["loss"]
    near(first, [before])
    model.compile("sgd", loss=FourthPower(), jit_compile=False)
    expected = FourthPower()(TARGETS[False], model.predict(X, verbose=0), weights)
    near(model.evaluate(X, TARGETS[False], sample_weight=weights, verbose=0, batch_size=32), expected)


@pytest.mark.torch("2.8", "its compiler follows whole models")
@pytest.mark.parametrize(
    "loss", [losses.MeanSquaredError(), losses.Huber(reduction="sum"), losses.BinaryCrossentropy(), FourthPower()]
)
def test_it_is_compiled_into_one_graph(loss):
    torch._dynamo.reset()
    given = torch.tensor(Y_TRUE), torch.tensor(Y_PRED), torch.tensor([1.0, 2.0])
    compiled = torch.compile(lambda *values: loss(*values), backend="eager", fullgraph=True)
    near(compiled(*given), loss(*given))
