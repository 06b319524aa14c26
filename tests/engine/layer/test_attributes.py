"""What is assigned to an attribute of a layer or model, or to a list of theirs, works or is refused."""

import copy
import functools
import pickle
import types

import numpy as np
import pytest
import torch
from plain_pytorch import refused
from torch import nn

import torchkeras
from torchkeras import backend as K, losses, metrics
from torchkeras.engine.layer.layer import Layer
from torchkeras.layers import (
    LSTM,
    Add,
    Dense,
    Discretization,
    Dropout,
    GaussianNoise,
    Input,
    LeakyReLU,
    Normalization,
    StringLookup,
)
from torchkeras.models import Model, Sequential

X, Y = np.ones((4, 3), "float32"), np.zeros((4, 2), "float32")


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def two():
    model = Sequential([Dense(2, input_shape=(3,), name="a"), Dense(2, name="b")], name="model")
    model.compile("sgd", "mse", metrics=["mae"])
    return model


# --- weights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [torch.zeros(2, 2), np.zeros((2, 2)), nn.Parameter(torch.zeros(2, 2)), None, [[0.0, 0.0]] * 2]
)
@pytest.mark.parametrize("built", [False, True])
def test_a_declared_weight_takes_no_other_object(value, built):
    layer = Dense(2, name="layer")
    if built:
        layer(torch.ones(1, 2))
    for name, path in (("kernel", "linear.weight"), ("bias", "linear.bias")):
        text = (
            f"Dense 'layer': {name!r} is a weight of its modules, and another object under its name would not compute. "
            f"layer.set_weights sets its values; layer.{name} = other.{name} ties it to the weight of another layer, "
            f"and layer.{path} is torch's parameter."
        )
        with refused(AttributeError, text):
            setattr(layer, name, value)


def test_weights_of_another_layer():
    first, second = Dense(2), Dense(2)
    inputs = Input((2,))
    shared = Model(inputs, second(first(inputs)))
    second.linear.weight = first.linear.weight
    first.set_weights([np.eye(2) * 3, np.zeros(2)])
    assert shared.predict(np.ones((1, 2))).tolist() == [[9.0, 9.0]]


def test_a_compiled_function_takes_the_array_of_a_weight():
    layer = Dense(3, input_shape=(4,))
    Sequential([layer])
    inputs = torch.ones(2, 4)
    compiled = torch.compile(lambda x, kernel: x @ kernel, backend="aot_eager")
    torch.testing.assert_close(compiled(inputs, layer.kernel), inputs @ layer.linear.weight.T)
    compiled(inputs, layer.kernel).sum().backward()
    torch.testing.assert_close(layer.linear.weight.grad, torch.full((3, 4), 2.0))


def test_what_torch_sets_on_a_parameter():
    model = two()
    layer = model.layers[1]
    layer.kernel.data = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    model.weights[3].value.data = torch.ones(2)
    assert [array.tolist() for array in layer.get_weights()] == [[[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]]
    assert layer.linear.weight.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    with refused(ValueError, "b: weight 'kernel' has shape (2, 2); the values given have shape (3,)."):
        layer.kernel.data = torch.zeros(3)
    layer.kernel.requires_grad = False
    assert (layer.linear.weight.requires_grad, layer.linear.bias.requires_grad) == (False, True)
    layer.kernel.data = torch.zeros(2, 2)  # also of a weight that does not train
    layer.kernel.requires_grad_()
    assert (layer.linear.weight.requires_grad, layer.get_weights()[0].sum()) == (True, 0.0)
    layer(torch.ones(1, 2)).sum().backward()
    assert layer.kernel.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    layer.kernel.grad = None
    assert layer.linear.weight.grad is None


@pytest.mark.parametrize("name", ["trainable", "regularizer", "constraint", "name", "grad"])
def test_what_would_be_lost_with_the_array_of_a_weight(name):
    text = (
        f"Dense 'b': {name!r} cannot be set on the array of 'kernel', which is made when it is asked for: set it on "
        "layer.linear.weight, or an option of the layer."
    )
    with refused(AttributeError, text):
        setattr(two().layers[1].kernel, name, torch.zeros(2, 2))


def test_the_array_of_a_weight_is_an_ordinary_tensor():
    layer = two().layers[1]
    plain = layer.kernel.as_subclass(torch.Tensor)
    assert type(layer.kernel + 1) is type(layer.kernel.T) is type(layer.kernel.detach().clone()) is torch.Tensor
    assert (repr(layer.kernel), layer.kernel.data_ptr()) == (repr(plain), layer.linear.weight.data_ptr())
    assert type(pickle.loads(pickle.dumps(layer.kernel.detach()))) is torch.Tensor  # noqa: S301
    made = nn.Parameter(layer.kernel)
    made.data = torch.zeros(5)
    assert (type(made), made.is_leaf, type(copy.deepcopy(made))) == (nn.Parameter, True, nn.Parameter)
    assert layer.get_weights()[0].shape == (2, 2)
    layer.trainable = False
    assert type(copy.deepcopy(layer.kernel)) is torch.Tensor


def test_a_layer_of_a_graph_stays_built():
    model = two()
    for layer in (model.layers[1], model):
        text = (
            f"{type(layer).__name__} {layer.name!r}: built cannot become False, since a graph has its weights: set "
            "other values by set_weights, or make another layer, such as by clone_model."
        )
        with refused(AttributeError, text):
            layer.built = False
    alone = Dense(2, kernel_initializer="ones")
    alone(torch.ones(1, 2))
    alone.built = False  # as in Keras, its next call makes new weights
    assert alone(torch.ones(1, 2)).tolist() == [[2.0, 2.0]]
    assert model.predict(X).shape == (4, 2)


def test_a_subclass_that_makes_the_weight_itself():
    class Own(Dense):
        def build(self, input_shape):
            self.kernel = self.add_weight("kernel", (input_shape[-1], self.units), initializer="ones")
            self.bias = None
            self.built = True

        def call(self, inputs):
            return inputs @ self.kernel

    assert Own(2)(torch.ones(1, 3)).tolist() == [[3.0, 3.0]]


@pytest.mark.parametrize(
    ("name", "kind"), [("kernel", "a weight"), ("units", "an option"), ("activation", "an option")]
)
def test_what_cannot_be_deleted(name, kind):
    layer = two().layers[1]
    with refused(AttributeError, f"Dense 'b': {name!r} is {kind} and cannot be deleted."):
        delattr(layer, name)


def test_other_attributes_may_be_set_and_deleted():
    layer = Dense(2)
    layer.note = 3
    layer.inside = nn.Linear(1, 1)
    del layer.note, layer.inside
    assert not {"note", "inside"} & {*vars(layer), *layer._modules}


# --- lists -----------------------------------------------------------------------------------------------------------

LAYERS = (
    "model.layers is a list that is made when it is asked for, and a change of it would change nothing: "
    "model.dense_1 = Dense(3) puts a layer in the place of dense_1; Sequential has add and pop; without the last layer "
    "it is Model(model.inputs, model.layers[-2].output)."
)
WEIGHTS = "set_weights sets their values, a layer gets one by add_weight, and trainable says whether they train."
GIVEN = "set another list, model.metrics = [...], or call compile again."
LISTS = [
    (lambda m: m.inputs, "model.inputs", "make a model with other inputs, Model([*model.inputs, x], outputs)."),
    (
        lambda m: m.outputs,
        "model.outputs",
        "make a model with other outputs, Model(model.inputs, [*model.outputs, x]).",
    ),
    (lambda m: m.input_names, "model.input_names", "name an input where it is made, Input(shape, name=...)."),
    (lambda m: m.output_names, "model.output_names", "name the layer that makes the output, Dense(1, name=...)."),
    (
        lambda m: m.metrics_names,
        "model.metrics_names",
        "give a metric with the name to compile, such as MeanSquaredError(name=...).",
    ),
    (lambda m: m.weights, "The list of weights", WEIGHTS),
    (lambda m: m.trainable_weights, "The list of weights", WEIGHTS),
    (lambda m: m.non_trainable_weights, "The list of weights", WEIGHTS),
    (lambda m: m.layers[0].weights, "The list of weights", WEIGHTS),
    (lambda m: m.losses, "model.losses", "add_loss adds one; in a loop of your own add it to sum(model.losses)."),
    (
        lambda m: m.layers[0].losses,
        "layer.losses",
        "add_loss adds one; in a loop of your own add it to sum(layer.losses).",
    ),
    (lambda m: m.metrics, "What compile was given", GIVEN),
]


@pytest.mark.parametrize(("made", "of", "instead"), LISTS)
def test_a_list_that_is_made_when_it_is_asked_for_does_not_change(made, of, instead):
    text = f"{of} is a list that is made when it is asked for, and a change of it would change nothing: {instead}"
    for model in (two(), functional()):
        found = made(model)
        for change in CHANGES:
            with refused(TypeError, text):
                change(found)


CHANGES = [
    lambda found: found.append(1),
    lambda found: found.extend([1]),
    lambda found: found.insert(0, 1),
    lambda found: found.pop(),
    lambda found: found.remove(1),
    lambda found: found.clear(),
    lambda found: found.sort(),
    lambda found: found.reverse(),
    lambda found: found.__setitem__(0, 1),
    lambda found: found.__delitem__(0),
    lambda found: found.__imul__(2),
]


def functional():
    inputs = Input((3,))
    model = Model(inputs, Dense(2, name="b")(Dense(2, name="a")(inputs)), name="model")
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def test_states_are_not_replaced_in_the_list():
    layer = LSTM(2, stateful=True, batch_input_shape=(1, 3, 2))
    model = Sequential([layer])
    text = (
        "layer.states is a list that is made when it is asked for, and a change of it would change nothing: "
        "reset_states(states) sets them."
    )
    with refused(TypeError, text):
        layer.states[0] = torch.ones(1, 2)
    model.predict(np.ones((1, 3, 2)))
    layer.reset_states([torch.ones(1, 2), torch.zeros(1, 2)])
    assert [state.tolist() for state in layer.states] == [[[1.0, 1.0]], [[0.0, 0.0]]]


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.update(a=1),
        lambda found: found.pop("a"),
        lambda found: found.popitem(),
        lambda found: found.clear(),
        lambda found: found.setdefault("c", 1),
        lambda found: found.__setitem__("a", 1),
        lambda found: found.__delitem__("a"),
        lambda found: found.__ior__({"a": 1}),
    ],
)
def test_what_compile_was_given_by_name_does_not_change(change):
    inputs = Input((3,))
    model = Model(inputs, [Dense(2, name="a")(inputs), Dense(2, name="b")(inputs)])
    model.compile("sgd", {"a": "mse", "b": "mse"}, loss_weights={"a": 1.0, "b": 2.0}, metrics={"a": ["mae"]})
    text = (
        "What compile was given is a dict that is made when it is asked for, and a change of it would change nothing: "
        "set another dict, model.loss_weights = {...}, or call compile again."
    )
    for found in (model.loss, model.loss_weights, model.metrics):
        with refused(TypeError, text):
            change(found)
    with pytest.raises(TypeError, match=r"^What compile was given is a list"):
        model.metrics["a"].append("mse")
    assert model.loss_weights == {"a": 1.0, "b": 2.0}
    assert type(copy.deepcopy(model.loss_weights)) is type(pickle.loads(pickle.dumps(model.loss))) is dict  # noqa: S301
    model.loss_weights = {**model.loss_weights, "a": 3.0}
    first, second = model.evaluate(X, [Y, Y], verbose=0)[1:3]
    assert model.evaluate(X, [Y, Y], verbose=0)[0] == pytest.approx(3 * first + 2 * second)


def test_a_layer_is_not_replaced_in_the_list():
    for model in (two(), functional()):
        with refused(TypeError, LAYERS):
            model.layers[-1] = Dense(3)
        with refused(TypeError, LAYERS):
            model.layers.pop()
        model.b = Dense(3)
        assert model.predict(X).shape == (4, 3)


def test_the_lists_are_lists():
    model = two()
    layers = model.layers
    assert (isinstance(layers, list), layers) == (True, [model.a, model.b])
    assert type(layers + [1]) is type(layers[:1]) is type(layers.copy()) is list  # noqa: RUF005
    assert type(copy.copy(layers)) is type(copy.deepcopy(model.metrics_names)) is list
    assert pickle.loads(pickle.dumps(model.metrics_names)) == ["loss", "mean_absolute_error"]  # noqa: S301


def test_inputs_and_outputs_of_a_model_go_on_in_another():
    a, b = Input((2,)), Input((2,))
    model = Model([a, b], [Dense(2)(a), Dense(2)(b)])
    rows = [np.ones((1, 2)), np.ones((1, 2))]
    first, second = model.predict(rows)
    assert np.allclose(Model(model.inputs, model.outputs).predict(rows), [first, second])
    assert np.allclose(Model(model.inputs, Add()(model.outputs)).predict(rows), first + second)
    assert np.allclose(Model(model.inputs, torch.cat(model.outputs, 1)).predict(rows), np.hstack([first, second]))
    alone = Sequential([Dense(2, input_shape=(2,))])
    assert np.allclose(Model(alone.inputs, alone.outputs).predict(rows[0]), alone.predict(rows[0]))
    assert alone(alone.inputs).shape == (None, 2)


def test_weights_of_two_models_may_be_added_up():
    one, other = two(), functional()
    weights = one.trainable_weights
    weights += other.trainable_weights
    assert (type(weights), len(weights), len(one.trainable_weights)) == (list, 8, 4)
    with pytest.raises(AttributeError, match="weights"):
        one.weights += other.weights  # type: ignore[misc]


@pytest.mark.parametrize(
    "name",
    ["layers", "inputs", "outputs", "output", "input_shape", "weights", "trainable_weights", "metrics_names", "losses"],
)
def test_properties_of_a_model_cannot_be_set(name):
    model = two()
    for value in ([], [Dense(3)], Dense(3), nn.Linear(2, 2)):
        with pytest.raises(AttributeError, match=name):
            setattr(model, name, value)
    assert model.predict(X).shape == (4, 2)


@pytest.mark.parametrize("name", ["weights", "trainable_weights", "input", "output_shape", "dtype"])
@pytest.mark.parametrize("value", [[], [nn.Parameter(torch.ones(2))], nn.Linear(2, 2), 3, torch.ones(2)])
def test_properties_of_a_layer_cannot_be_set(name, value):
    text = f"Own 'own': {name!r} is a property and cannot be set; for an attribute of your own take another name."
    with refused(AttributeError, text):
        setattr(Own(name="own"), name, value)


class Own(Layer):
    def call(self, inputs):
        return inputs


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("run_eagerly", "steps run eagerly where jit_compile is False, set model.jit_compile = False"),
        ("auto_scale_loss", "the loss is scaled where layers compute in float16, and only there"),
    ],
)
def test_options_of_other_kerases(name, instead):
    model = two()
    with refused(AttributeError, f"Sequential 'model': there is no option {name!r} to set: {instead}."):
        setattr(model, name, True)
    assert not hasattr(model, name)


def test_what_compile_was_given_may_be_set():
    model = two()
    before = model.evaluate(X, Y, verbose=0)
    model.loss_weights = [2.0]
    assert model.evaluate(X, Y, verbose=0)[0] == pytest.approx(2 * before[0])
    model.loss_weights, model.loss, model.metrics = None, "mae", ["mse"]
    assert model.metrics_names == ["loss", "mean_squared_error"]
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(before[::-1])
    model.optimizer = "adam"
    assert type(model.optimizer).__name__ == "Adam"
    model.loss = "nonsense"
    with pytest.raises(ValueError, match="nonsense"):
        model.evaluate(X, Y, verbose=0)


@pytest.mark.parametrize(
    ("made", "option"), [(Dropout, "rate"), (GaussianNoise, "stddev"), (LeakyReLU, "alpha")], ids=lambda v: str(v)
)
def test_a_variable_is_no_value_of_an_option(made, option):
    text = (
        f"{made.__name__}: {option} must be a number; found a variable, whose later values would not count: set the "
        f"option itself, layer.{option} = 0.5, which the next batch reads."
    )
    with refused(ValueError, text):
        made(K.variable(0.5))
    layer = made(0.5)
    with refused(ValueError, text):
        setattr(layer, option, K.variable(0.25))
    setattr(layer, option, torch.tensor(0.25))
    assert (getattr(layer, option), layer.get_config()[option], list(layer.parameters())) == (0.25, 0.25, [])


def test_a_layer_of_ones_own_may_have_a_variable_for_an_option():
    class Annealed(Dropout):
        def __init__(self, rate, **options):
            super().__init__(rate, **options)
            self.rate = K.variable(rate)

        def call(self, inputs):
            return inputs * (1 - self.rate)

    layer = Annealed(0.25)
    assert layer(torch.ones(1, 2)).tolist() == [[0.75, 0.75]]
    K.set_value(layer.rate, 0.5)
    assert layer(torch.ones(1, 2)).tolist() == [[0.5, 0.5]]


# --- names of methods ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["forward", "to", "type", "half", "train", "apply", "modules", "eval", "double"])
@pytest.mark.parametrize("value", [Dense(2), nn.Linear(2, 2), [Dense(2)], 3, "text", None, torch.ones(2)])
def test_an_attribute_named_like_a_method_of_a_module(name, value):
    class Named(Layer):
        def __init__(self, **options):
            super().__init__(**options)
            setattr(self, name, value)

    class NamedModel(Model):
        def __init__(self, **options):
            super().__init__(**options)
            setattr(self, name, value)

        def call(self, inputs):
            return inputs

    for kind in (Named, NamedModel):
        text = (
            f"{kind.__name__} 'own': the attribute {name!r} would hide the method of that name: give it another name, "
            f"such as {name}_1."
        )
        with refused(AttributeError, text):
            kind(name="own")


@pytest.mark.parametrize("name", ["predict", "fit", "call", "build", "add_loss", "get_config", "count_params"])
def test_an_attribute_named_like_a_method_of_a_model(name):
    class Named(Model):
        def __init__(self):
            super().__init__(name="own")
            setattr(self, name, Dense(2))

        def call(self, inputs):
            return inputs

    text = (
        f"Named 'own': the attribute {name!r} would hide the method of that name: give it another name, such as "
        f"{name}_1."
    )
    with refused(AttributeError, text):
        Named()


def test_before_the_name_is_known():
    class Named(Layer):
        def __init__(self):
            self.forward = Dense(2)
            super().__init__()

    text = "Named: the attribute 'forward' would hide the method of that name: give it another name, such as forward_1."
    with refused(AttributeError, text):
        Named()


@pytest.mark.parametrize("make", [two, functional])
def test_functions_may_take_the_place_of_methods(make):
    model = make()
    inputs, before, forward = torch.ones(4, 3), model(torch.ones(4, 3)), model.forward
    model.forward = functools.partial(forward)
    assert torch.equal(model(inputs), before)
    model.forward = types.MethodType(lambda self, *args, **kwargs: forward(*args, **kwargs) + 1, model)
    assert torch.equal(model(inputs), before + 1)
    model.forward = lambda *args, **kwargs: forward(*args, **kwargs) + 2
    assert torch.equal(model(inputs), before + 2)
    del model.forward
    assert torch.equal(model(inputs), before)
    model.to = lambda *_: model
    assert model.to("nowhere") is model
    model.a.forward = lambda x: x[:, :2] * 0
    assert model.a(inputs).tolist() == [[0.0, 0.0]] * 4


def test_a_call_that_would_not_be_called():
    text = (
        "Dense 'out': it computes by forward, so that a call put into its place would do nothing: set forward, or make "
        "a subclass with a call."
    )
    with refused(AttributeError, text):
        Dense(2, name="out").call = lambda inputs: inputs
    own = Own()
    own.call = lambda inputs: inputs + 1
    assert own(torch.ones(2)).tolist() == [2.0, 2.0]


def test_a_name_that_only_the_users_class_has():
    class Named(Layer):
        def helper(self):
            return 1

    own = Named()
    setattr(own, "helper", Dense(2))  # noqa: B010  # types: a method
    own.inner = "text"
    assert own.inner == "text"


OPTIONS = [
    lambda: metrics.Precision(thresholds=[0.1, 0.2]).thresholds,
    lambda: metrics.AUC(thresholds=[0.5]).thresholds,
    lambda: metrics.IoU(2, target_class_ids=[0, 1]).target_class_ids,
    lambda: losses.CategoricalFocalCrossentropy(alpha=[0.1, 0.9]).alpha,  # type: ignore[reportAttributeAccessIssue]
    lambda: Normalization(mean=[1.0], variance=[2.0]).mean,
    lambda: Discretization(bin_boundaries=[1.0]).bin_boundaries,
    lambda: StringLookup(vocabulary=["a"]).vocabulary,
    lambda: copy.deepcopy(metrics.Precision(thresholds=[0.1, 0.2])).thresholds,
]


@pytest.mark.parametrize("made", OPTIONS)
def test_a_list_that_is_an_option_cannot_be_changed(made):
    options = made()
    before = [*options]
    text = (
        "An option is a list that was read when the object was made, and a change of it would change nothing: make "
        "another object, with the list that it is to have."
    )
    for change in (lambda: options.append(1), lambda: options.__setitem__(0, 1), options.clear):
        with refused(TypeError, text):
            change()
    assert options == before


def test_configs_and_vocabularies_are_lists_of_their_own():
    assert type(metrics.Precision(thresholds=[0.1, 0.2]).get_config()["thresholds"]) is list
    assert type(losses.CategoricalFocalCrossentropy(alpha=[0.1, 0.9]).get_config()["alpha"]) is list
    layer = StringLookup(vocabulary=["a"])
    layer.get_vocabulary().append("b")
    assert layer.get_vocabulary() == ["[UNK]", "a"]
    with pytest.raises(TypeError, match=r"^metric\.variables is a list .*: add_variable adds one\.$"):
        metrics.Mean().variables.append(1)


def test_an_attribute_that_was_an_empty_list_takes_a_list_without_layers():
    class Outputs(Layer):
        def __init__(self):
            super().__init__()
            self.outputs, self.dense = [], Dense(2)

        def call(self, inputs):
            self.outputs = [inputs]
            self.outputs.append(self.dense(inputs))
            return self.outputs[-1]

    layer = Outputs()
    layer(torch.ones(1, 3))
    assert layer(torch.ones(2, 3)).shape == (2, 2)
    assert [tuple(each.shape) for each in layer.outputs] == [(2, 3), (2, 2)]
    layer.outputs = [Dense(1)]
    assert "outputs.0" in dict(layer.named_modules())
