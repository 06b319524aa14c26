"""What is computed from weights outside of a layer: computed at each use, or refused. Numbers by Keras 2.2.4."""

import copy
import pickle

import numpy as np
import pytest
import torch
from plain_pytorch import refused

import torchkeras
from torchkeras import backend as K, regularizers
from torchkeras.engine.functions.operators import Operation
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import Add, Dense, Input, Lambda
from torchkeras.models import Model, clone_model, load_model


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


X, Y = np.ones((4, 3), "float32"), np.zeros((4, 2), "float32")
TWICE = np.full((3, 2), 2.0), np.zeros(2)


def parts():
    inputs = Input((3,))
    layer = Dense(2, kernel_initializer="ones", name="dense")
    return inputs, layer, layer(inputs)


def gradient(parameter):
    return parameter.grad.tolist()


def numbers(model, y=Y):
    """The loss before a step of SGD, that of the step, and the one after."""
    return model.evaluate(X, y, verbose=0), model.train_on_batch(X, y), model.evaluate(X, y, verbose=0)


# --- losses of weights ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (lambda d: K.sum(K.square(d.kernel)), (15.0, 15.0, 13.367399)),
        (lambda d: 0.5 * K.sum(K.square(d.kernel)), (12.0, 12.0, 10.887299)),
        (lambda d: K.sum(K.square(d.kernel)) * 0.5, (12.0, 12.0, 10.887299)),
        (lambda d: [K.sum(K.square(d.kernel)), K.sum(K.abs(d.kernel))], (21.0, 21.0, 18.725701)),
        (lambda d: K.sum(K.square(d.weights[0])), (15.0, 15.0, 13.367399)),
        (lambda d: K.sum(K.square(d.trainable_weights[0])), (15.0, 15.0, 13.367399)),
        (lambda d: K.sum(K.square(d.linear.weight)), (15.0, 15.0, 13.367399)),
        (lambda d: K.square(d.kernel).sum(), (15.0, 15.0, 13.367399)),
        (lambda d: torch.sum(K.square(d.kernel)), (15.0, 15.0, 13.367399)),
        (lambda d: K.identity(d.kernel[0, 0]) * 3, (12.0, 12.0, 11.02845)),
        (lambda d: lambda: K.sum(K.square(d.kernel)), (15.0, 15.0, 13.367399)),
        (lambda d: lambda: (d.kernel**2).sum(), (15.0, 15.0, 13.367399)),
        (lambda d: lambda: regularizers.l2(1.0)(d.kernel), (15.0, 15.0, 13.367399)),
    ],
)
def test_a_loss_of_weights_is_computed_in_every_step(term, expected):
    for add in (lambda model, layer: model.add_loss, lambda model, layer: layer.add_loss):
        inputs, layer, outputs = parts()
        model = Model(inputs, outputs)
        add(model, layer)(term(layer))
        model.compile("sgd", "mse")
        assert numbers(model) == pytest.approx(expected, rel=1e-6)


def test_a_loss_of_weights_follows_a_variable():
    inputs, layer, outputs = parts()
    model, variable = Model(inputs, outputs), K.variable(2.0)
    model.add_loss(variable * K.sum(K.square(layer.kernel)))
    model.compile("sgd", "mse")
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(9 + 2 * 6)
    K.set_value(variable, 3.0)
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(9 + 3 * 6)
    assert K.get_value(variable) == 3.0, "it is set, and does not train"


def test_a_loss_of_the_graph_and_of_weights():
    inputs, layer, outputs = parts()
    model = Model(inputs, outputs)
    model.add_loss([K.mean(outputs) * K.sum(layer.kernel), lambda: 2 * layer.bias.sum() + 1])
    model.compile("sgd", "mse")
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(9 + 18 + 1)
    inputs, layer, outputs = parts()
    model = Model(inputs, outputs)
    model.add_loss(K.mean(outputs) * K.sum(layer.kernel))
    model.compile("sgd", "mse")
    assert numbers(model) == pytest.approx((27.0, 27.0, 21.7071), rel=1e-6)


def test_a_symbolic_loss_times_a_variable():
    inputs, _, outputs = parts()
    model, variable = Model(inputs, outputs), K.variable(2.0)
    model.add_loss(K.mean(outputs) * variable)
    model.compile("sgd", "mse")
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(15.0)
    K.set_value(variable, 3.0)
    assert numbers(model) == pytest.approx((18.0, 18.0, 16.412399), rel=1e-6)
    assert K.get_value(variable) == 3.0


def test_a_difference_of_the_weights_of_two_layers():
    inputs = Input((3,))
    first, second = Dense(2, kernel_initializer="ones"), Dense(2, kernel_initializer="zeros")
    model = Model(inputs, Add()([first(inputs), second(inputs)]))
    with refused(ValueError, f"Model {model.name!r}: {OUTSIDE}"):
        model.add_loss(K.sum(K.square(first.kernel - second.kernel)))
    model.add_loss(lambda: K.sum(K.square(first.kernel - second.kernel)))
    model.compile("sgd", "mse")
    assert numbers(model) == pytest.approx((15.0, 15.0, 13.1472), rel=1e-6)


OUTSIDE = (
    "add_loss was given a tensor outside of a call, whose value would stay as it is now. Give a function, which every "
    "step calls: add_loss(lambda: ...); or compute it by functions of keras.backend alone, such as "
    "K.sum(K.square(layer.kernel))."
)


@pytest.mark.parametrize(
    "term",
    [
        lambda d: (d.kernel**2).sum(),
        lambda d: regularizers.l2(1.0)(d.kernel),
        lambda d: (d.kernel.detach() ** 2).sum(),
        lambda d: d.kernel.data.sum(),
        lambda d: torch.tensor(d.get_weights()[0].sum()),
        lambda d: d.kernel[0, 0] * 3,
    ],
)
def test_a_loss_that_would_stay_is_refused(term):
    inputs, layer, outputs = parts()
    model = Model(inputs, outputs, name="model")
    with refused(ValueError, f"Model 'model': {OUTSIDE}"):
        model.add_loss(term(layer))
    with refused(ValueError, f"Dense 'dense': {OUTSIDE}"):
        layer.add_loss(term(layer))


def test_what_add_loss_takes_outside_of_a_call():
    inputs, layer, outputs = parts()
    model = Model(inputs, outputs, name="model")
    with refused(TypeError, "model: add_loss takes tensors or functions; found float."):
        model.add_loss(3.0)
    with refused(ValueError, "dense: add_loss takes scalars; found the shape (3, 2). Take its mean or sum."):
        layer.add_loss(K.square(layer.kernel))
    model.add_loss(lambda: layer.kernel**2)
    model.compile("sgd", "mse")
    text = "The regularizer of add_loss of Model 'model' must return one number; found a tensor of shape (3, 2)."
    with refused(TypeError, text):
        model.train_on_batch(X, Y)


def test_a_loss_added_to_a_layer_after_compile_counts():
    inputs, layer, outputs = parts()
    model = Model(inputs, outputs)
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)
    layer.set_weights([np.ones((3, 2)), np.zeros(2)])
    layer.add_loss(lambda: K.sum(K.square(layer.kernel)))
    assert model.train_on_batch(X, Y) == pytest.approx(15.0)


def test_a_function_in_a_call_is_called_there():
    class Penalized(Layer):
        def call(self, inputs):
            self.add_loss(lambda: (inputs**2).sum())
            self.add_loss(K.sum(K.square(self.scale)))
            return inputs * self.scale

        def build(self, input_shape):
            self.scale = self.add_weight("scale", (3,), initializer="ones")
            self.add_loss(2 * K.sum(self.scale))

    inputs = Input((3,))
    model = Model(inputs, Penalized()(inputs))
    model.compile("sgd", "mse")
    for _ in range(2):
        assert model.evaluate(X, X, verbose=0) == pytest.approx(12 + 3 + 6)


def test_copies_have_losses_of_weights_of_their_own():
    inputs, layer, outputs = parts()
    model = Model(inputs, outputs, name="model")
    model.add_loss(K.sum(K.square(layer.kernel)))
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        again.layers[1].set_weights(TWICE)
        again.compile("sgd", "mse")
        assert again.evaluate(X, Y, verbose=0) == pytest.approx(36 + 24)
    layer.add_loss(lambda: K.sum(layer.kernel))
    with pytest.warns(UserWarning, match="'dense': a function that add_loss was given is not copied"):
        again = copy.deepcopy(model)
    again.compile("sgd", "mse")
    assert again.evaluate(X, Y, verbose=0) == pytest.approx(9 + 6)
    with pytest.warns(UserWarning, match=r"'model': what add_loss and add_metric gave it \(2 losses\) is not written"):
        clone_model(model)


# --- in graphs -----------------------------------------------------------------------------------------------------


class Tied(Layer):
    def __init__(self, weights_of_another, **options):
        super().__init__(**options)
        self.tied = weights_of_another

    def call(self, inputs):
        return K.dot(inputs, self.tied)


def by_lambda(layer, outputs):
    tied = K.transpose(layer.kernel)
    return Lambda(lambda x: K.dot(x, tied))(outputs)


def by_lambda_in_torch(layer, outputs):
    tied = K.transpose(layer.kernel)
    return Lambda(lambda x: x @ tied)(outputs)


def by_argument(layer, outputs):
    return Lambda(lambda x, tied: K.dot(x, tied), arguments={"tied": K.transpose(layer.kernel)})(outputs)


TYING = [
    by_lambda,
    by_lambda_in_torch,
    by_argument,
    lambda layer, outputs: Tied(K.transpose(layer.kernel))(outputs),
    lambda layer, outputs: Tied(K.transpose(layer.weights[0]))(outputs),
    lambda layer, outputs: Lambda(lambda x: K.dot(x, K.transpose(layer.kernel)))(outputs),
    lambda layer, outputs: K.dot(outputs, K.transpose(layer.kernel)),
    lambda layer, outputs: outputs @ layer.kernel.T,
    lambda layer, outputs: torch.matmul(outputs, layer.kernel.transpose(0, 1)),
    lambda layer, outputs: outputs @ layer.linear.weight,
]


@pytest.mark.parametrize("tie", TYING)
@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_tied_weights_follow_the_layer(tie, jit_compile):
    inputs, layer, outputs = parts()
    model = Model(inputs, tie(layer, outputs))
    assert model.predict(X)[0] == pytest.approx([6.0] * 3)
    layer.set_weights(TWICE)
    assert model.predict(X)[0] == pytest.approx([24.0] * 3)
    model.compile("sgd", "mse", jit_compile=jit_compile)
    assert model.train_on_batch(X, np.zeros((4, 3))) == pytest.approx(576.0)
    assert model.train_on_batch(X, np.zeros((4, 3))) == pytest.approx(0.013271048, rel=1e-4)


@pytest.mark.parametrize(
    ("use", "before", "after"),
    [
        (lambda d, o: o * d.kernel[0], 3.0, 12.0),
        (lambda d, o: o + d.bias, 3.0, 6.0),
        (lambda d, o: o * d.kernel.T[:, 1], 3.0, 12.0),
        (lambda d, o: o * K.sum(d.weights[0]), 18.0, 72.0),
        (lambda d, o: o + d.weights[1], 3.0, 6.0),
        (lambda d, o: o * K.stop_gradient(d.kernel)[0], 3.0, 12.0),
        (lambda d, o: o * (K.square(d.kernel) * 2)[0], 6.0, 48.0),
        (lambda d, o: o * K.square(d.kernel).detach()[0], 3.0, 24.0),
        (lambda d, o: o * d.get_weights()[0][0], 3.0, 6.0),  # an array has values, as K.get_value gives it in Keras
        (lambda d, o: o * K.get_value(d.kernel)[0], 3.0, 6.0),
    ],
)
def test_what_a_graph_computes_from_weights(use, before, after):
    inputs, layer, outputs = parts()
    model = Model(inputs, use(layer, outputs))
    assert model.predict(X)[0] == pytest.approx([before] * 2)
    layer.set_weights(TWICE)
    assert model.predict(X)[0] == pytest.approx([after] * 2)


def test_a_graph_with_weights_of_a_layer_in_copies_and_files(tmp_path):
    inputs, layer, outputs = parts()
    model = Model(inputs, outputs @ K.transpose(layer.kernel))
    again = copy.deepcopy(model)
    again.layers[1].set_weights(TWICE)
    assert again.predict(X)[0] == pytest.approx([24.0] * 3)
    assert model.predict(X)[0] == pytest.approx([6.0] * 3)
    name = model.layers[-1].name
    text = (
        f"Operation {name!r}: it computes with the weights of another layer, which no config can hold. Put it into a "
        "Lambda, or a Layer of your own; the weights alone can be saved."
    )
    with refused(ValueError, text):
        model.save(tmp_path / "model.h5")
    model.save_weights(tmp_path / "model.weights.h5")
    layer.set_weights(TWICE)
    model.load_weights(tmp_path / "model.weights.h5")
    assert model.predict(X)[0] == pytest.approx([6.0] * 3)


def test_a_config_with_what_no_config_can_hold():
    config = {"name": "mul", "function": "mul", "arguments": [{"input": 0}, {"expression": 0}]}
    text = "Operation 'mul': no config can hold what is computed from the weights of another layer."
    with refused(ValueError, text):
        Operation.from_config(config)


# --- what torch computes ---------------------------------------------------------------------------------------------

STAYS = (
    "is a tensor of shape (2, 3) that torch computed from weights, and would keep their values of that moment: compute "
    "it where it is used, in a Lambda or a layer's call; as a loss give add_loss(lambda: ...); or compute it by "
    "functions of keras.backend alone, such as K.transpose(layer.kernel)."
)


def test_what_torch_computed_from_weights_is_refused_where_it_would_stay():
    _, layer, outputs = parts()
    frozen = layer.kernel.T * 2
    with refused(ValueError, f"Operation 'operation_matmul_1': an argument {STAYS}"):
        _ = outputs @ frozen
    with refused(ValueError, f"Lambda 'one': 'function.frozen' {STAYS}"):
        Lambda(lambda x: x @ frozen, name="one")(outputs)
    with refused(ValueError, f"Lambda 'two': 'arguments.tied' {STAYS}"):
        Lambda(lambda x, tied: x @ tied, arguments={"tied": frozen}, name="two")(outputs)
    with refused(ValueError, f"Tied 'three': 'tied' {STAYS}"):
        Tied(frozen, name="three")(outputs)
    with refused(ValueError, f"Dense 'four': 'activation.frozen' {STAYS}"):
        Dense(2, activation=lambda x: x @ frozen, name="four")(outputs)


def test_a_loss_or_metric_that_torch_computed_from_weights_is_refused():
    inputs, layer, outputs = parts()
    model = Model(inputs, outputs)
    frozen = layer.kernel.T * 2

    def loss(true, predicted):
        return ((true - predicted) ** 2).mean() + frozen.sum()

    with refused(ValueError, f"compile: 'loss.frozen' {STAYS}"):
        model.compile("sgd", loss)
    with refused(ValueError, f"compile: 'loss.frozen' {STAYS}"):
        model.compile("sgd", "mse", metrics=[loss])


def test_a_loss_follows_what_the_backend_computes_from_weights():
    inputs, layer, outputs = parts()
    model, total = Model(inputs, outputs), K.sum(layer.kernel)
    model.compile("sgd", lambda true, predicted: K.mean(K.square(true - predicted)) + total)
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(15.0)
    layer.set_weights(TWICE)
    assert [model.train_on_batch(X, Y) for _ in range(2)] == pytest.approx([48.0, 44.412903])


def test_plain_torch_code_computes_as_ever():
    layer = Dense(2, kernel_initializer="ones")
    layer(torch.ones(1, 3))
    double = layer.kernel * 2
    assert type(double) is torch.Tensor
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    (double.sum() + (layer.kernel**2).sum()).backward()
    optimizer.step()
    assert double.tolist() == [[2.0, 2.0]] * 3, "values of the moment at which it was computed"
    assert layer.kernel.detach().numpy() == pytest.approx(np.full((3, 2), 0.6))

    class Doubled(Layer):
        def build(self, input_shape):
            self.scale = self.add_weight("scale", (3,), initializer="ones")

        def call(self, inputs):
            self.kinds = type(self.scale * 2), type(K.square(self.scale))
            return inputs * self.scale * 2

    own = Doubled()
    own(torch.ones(1, 3)).sum().backward()
    assert own.kinds == (torch.Tensor, torch.Tensor)
    assert gradient(own.scale) == [2.0] * 3


def test_an_expression_is_a_tensor_with_the_values_of_now():
    layer = Dense(2, kernel_initializer="ones")
    layer(torch.ones(1, 3))
    total = K.sum(K.square(layer.kernel))
    parts_of_it = torch.split(K.transpose(layer.kernel), 1)
    assert (total.item(), K.eval(total), total.numpy(force=True)) == (6.0, 6.0, 6.0)
    layer.set_weights(TWICE)
    assert (total.item(), K.eval(total), total.numpy(force=True)) == (24.0, 24.0, 24.0)
    assert [each.tolist() for each in parts_of_it] == [[[2.0] * 3]] * 2
    assert "24." in repr(total)
    total.backward()
    assert gradient(layer.linear.weight) == [[4.0] * 3] * 2
    total.backward()
    assert gradient(layer.linear.weight) == [[8.0] * 3] * 2
    text = "copy_: a tensor of shape () that is computed from weights cannot be changed in place: set the weights."
    with refused(TypeError, text):
        total.copy_(torch.tensor(1.0))


def test_a_view_of_a_weight_that_is_laid_out_in_another_way():
    inputs = Input((3,))
    layer = Dense(2, kernel_initializer="ones")
    whole = Model(inputs, layer(inputs) @ layer.kernel.T)
    part = Model(inputs, layer(inputs) @ layer.kernel.T[:, :2])
    expected = whole.predict(X)
    layer.linear.weight.data = layer.linear.weight.data.T.contiguous().T
    np.testing.assert_array_equal(whole.predict(X), expected)
    with pytest.raises(RuntimeError, match=r"a view of a weight of shape \(2, 3\) was taken before"):
        part.predict(X)


# --- loss_weights ----------------------------------------------------------------------------------------------------


def test_loss_weights_may_be_variables():
    inputs, _, outputs = parts()
    model, variable = Model(inputs, outputs), K.variable(1.0)
    model.compile("sgd", "mse", loss_weights=[variable])
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(9.0)
    K.set_value(variable, 2.0)
    assert numbers(model) == pytest.approx((18.0, 18.0, 15.2352), rel=1e-6)
    assert K.get_value(variable) == 2.0


def test_loss_weights_of_several_outputs_may_be_variables(tmp_path):
    inputs, _, outputs = parts()
    other = Dense(2, kernel_initializer="ones", name="other")(inputs)
    model = Model(inputs, [outputs, other])
    first, second = K.variable(1.0), K.variable(0.5)
    for weights in ([first, second], {"dense": first, "other": second}):
        K.set_value(first, 1.0)
        model.compile("sgd", "mse", loss_weights=weights)
        assert model.evaluate(X, [Y, Y], verbose=0) == pytest.approx([13.5, 9.0, 9.0])
        K.set_value(first, 2.0)
        assert model.evaluate(X, [Y, Y], verbose=0) == pytest.approx([22.5, 9.0, 9.0])
    model.save(tmp_path / "model.h5")
    assert load_model(tmp_path / "model.h5").loss_weights == {"dense": 2.0, "other": 0.5}
    text = "compile: loss_weights must hold finite numbers; found "
    with pytest.raises(ValueError, match=text):
        model.compile("sgd", "mse", loss_weights=[first, K.variable([1.0, 2.0])])


@pytest.mark.parametrize("rest", [lambda v: 1 - v, lambda v: v * 2 + 1, torch.exp])
def test_a_loss_weight_that_torch_computed_from_a_variable_is_refused(rest):
    inputs, _, outputs = parts()
    model, variable = Model(inputs, [outputs, Dense(2)(inputs)]), K.variable(0.5)
    text = (
        "compile: loss_weights must hold numbers and variables; found a tensor that torch computed from variables, and "
        "would keep their values of that moment: make it a K.variable of its own, and set both."
    )
    with refused(ValueError, text):
        model.compile("sgd", "mse", loss_weights=[variable, rest(variable)])
    model.compile("sgd", "mse", loss_weights=[variable, K.exp(variable)])
    K.set_value(variable, 0.0)
    loss, _, second = model.evaluate(X, [Y, Y], verbose=0)
    assert loss == pytest.approx(second)


def test_an_expression_may_be_differentiated_by_one_that_it_was_made_of():
    """d sum(exp(a * k)) / d (a * k) = exp(a * k): the part is computed once, and is the same in both."""
    layer = Dense(2, use_bias=False)
    layer.build((None, 3))
    part = K.square(layer.kernel)
    (found,) = K.gradients(K.sum(K.exp(part)), [part])
    np.testing.assert_allclose(found.detach(), np.exp(np.square(layer.get_weights()[0])), rtol=1e-6)
