"""A tensor that asks for a gradient, but is no weight, is not passed over silently: `compile` and `save` warn of it."""

import re
import warnings
from collections import namedtuple
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from torchkeras import backend as K, layers, losses
from torchkeras.base.python import used_by
from torchkeras.layers import Input, Lambda, Layer, TorchModule
from torchkeras.models import Model, Sequential

X, Y = np.ones((4, 3), "float32"), np.ones((4, 1), "float32")
Pair = namedtuple("Pair", ["first", "second"])


def leaf(*shape):
    return torch.ones(*(shape or (3, 3)), requires_grad=True)


class Keeping(Layer):
    """A layer that keeps what `make` makes; its `build` does so with `late`."""

    def __init__(self, make, late=False, **options):
        super().__init__(**options)
        self.make, self.late = [make], late
        if not late:
            self.w = make()

    def build(self, input_shape):
        if self.late:
            self.w = self.make[0]()

    def call(self, x):
        return x * 2.0


class Plain(nn.Module):
    """A module of torch that does the same."""

    def __init__(self, make):
        super().__init__()
        self.w = make()

    def forward(self, x):
        return x * 2.0


class ByHand(Model):
    """A model whose step has optimizers of its own."""

    def train_step(self, data):
        return {}


def model_of(layer, kind=Model):
    x = Input((3,))
    return kind(x, layers.Dense(1)(layer(x)), name="whole")


def text(where, layer, path, shape, more=""):
    return (
        f"{where}: {layer} has in {path!r} a tensor of shape {shape} that asks for a gradient, but is no weight of "
        "Model 'whole': training, files and to(device) pass it over. Make it by self.add_weight(...), or keep it as a "
        "torch.nn.Parameter in an attribute of a layer (several in an nn.ParameterList, modules in an nn.ModuleList). "
        f"If it is not to train, take its detach().{more}"
    )


def warned(action):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("late", [False, True])
def test_compile_and_save_warn_of_a_tensor_in_an_attribute(tmp_path, late):
    model = model_of(Keeping(leaf, late, name="keeping"))
    expected = partial(text, layer="Keeping 'keeping'", path="w", shape=(3, 3))
    assert warned(lambda: model.compile("sgd", "mse")) == [expected("compile")]
    for name in ("m.weights.h5", "m.safetensors"):
        path = tmp_path / name
        assert warned(lambda path=path: model.save_weights(path)) == [expected(str(path))]
    path = tmp_path / "m.keras"
    assert expected(str(path)) in warned(lambda: model.save(path))


def test_the_warning_names_the_line_of_the_user(tmp_path):
    model = model_of(Keeping(leaf))
    for action in (lambda: model.compile("sgd", "mse"), lambda: model.save_weights(tmp_path / "m.h5")):
        with pytest.warns(UserWarning, match="asks for a gradient") as caught:
            action()
        assert [each.filename for each in caught] == [__file__]


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: [1, leaf()], "w.1"),
        (lambda: (leaf(), 1), "w.0"),
        (lambda: {"a": {"b": leaf()}}, "w.a.b"),
        (lambda: Pair(1, leaf()), "w.1"),
        (lambda: [nn.Linear(2, 2), leaf()], "w.1"),
        (lambda: {"a": nn.Linear(2, 2), "b": [leaf()]}, "w.b.0"),
        (lambda: Plain(leaf), "w.w"),
        (lambda: nn.Sequential(nn.Linear(2, 2), Plain(lambda: [leaf()])), "w.1.w.0"),
        (lambda: Plain(lambda: [nn.Parameter(leaf())]), "w.w.0"),
        (lambda: Plain(lambda: {"a": nn.Parameter(leaf())}), "w.w.a"),
        (lambda: Plain(lambda: [nn.Linear(3, 3, bias=False)]), "w.w.0.weight"),
    ],
)
def test_tensors_in_collections_and_in_modules_of_torch_are_found(make, path):
    model = model_of(Keeping(make, name="keeping"))
    assert warned(lambda: model.compile("sgd", "mse")) == [text("compile", "Keeping 'keeping'", path, (3, 3))]


def test_a_backbone_of_torch_is_looked_into():
    model = model_of(TorchModule(nn.Sequential(Plain(leaf)), name="backbone"))
    expected = text("compile", "TorchModule 'backbone'", "module.0.w", (3, 3))
    assert warned(lambda: model.compile("sgd", "mse")) == [expected]


def test_several_are_one_warning():
    model = model_of(Keeping(lambda: [leaf(2), leaf(4), leaf(5)], name="keeping"))
    expected = text("compile", "Keeping 'keeping'", "w.0", (2,), " (2 more are like it.)")
    assert warned(lambda: model.compile("sgd", "mse")) == [expected]


def test_a_step_of_ones_own_is_told_too():
    model = model_of(Keeping(leaf, name="keeping"), ByHand)
    assert warned(model.compile) == [text("compile", "Keeping 'keeping'", "w", (3, 3)).replace("Model '", "ByHand '")]


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda w: lambda x: x * w, "function.w"),
        (lambda w: lambda x, by=w: x * by, "function.by"),
        (lambda w: lambda x, *, by=w: x * by, "function.by"),
        (lambda w: partial(torch.mul, other=w), "function.other"),
        (lambda w: lambda x, inner=(lambda x: x * w): inner(x), "function.inner.w"),
    ],
)
def test_what_the_function_of_a_lambda_uses_is_found(make, path):
    model = model_of(Lambda(make(leaf(3)), name="times"))
    assert warned(lambda: model.compile("sgd", "mse")) == [text("compile", "Lambda 'times'", path, (3,))]
    parameter = model_of(Lambda(make(nn.Parameter(leaf(3))), name="times"))
    assert warned(lambda: parameter.compile("sgd", "mse")) == [text("compile", "Lambda 'times'", path, (3,))]


GLOBAL = leaf(3)


def test_a_global_and_an_argument_of_a_lambda_are_found():
    model = model_of(Lambda(lambda x: x * GLOBAL, name="times"))
    assert warned(lambda: model.compile("sgd", "mse")) == [text("compile", "Lambda 'times'", "function.GLOBAL", (3,))]
    model = model_of(Lambda(torch.mul, arguments={"other": GLOBAL}, name="times"))
    assert warned(lambda: model.compile("sgd", "mse")) == [text("compile", "Lambda 'times'", "arguments.other", (3,))]


def double(x):
    return x * GLOBAL


class UsingGlobal(Layer):
    def call(self, x):
        return x * GLOBAL


class ByMethod(Layer):
    def call(self, x):
        return self.times(x)

    def times(self, x):
        return double(x)


class InForward(nn.Module):
    def forward(self, x):
        return x * GLOBAL


@pytest.mark.parametrize(
    ("layer", "path"),
    [
        (UsingGlobal(name="own"), "call.GLOBAL"),
        (ByMethod(name="own"), "times.double.GLOBAL"),
        (TorchModule(InForward(), name="own"), "module.forward.GLOBAL"),
    ],
)
def test_what_the_code_of_a_layer_uses_is_found(layer, path):
    model = model_of(layer)
    expected = text("compile", f"{type(layer).__name__} 'own'", path, (3,))
    assert warned(lambda: model.compile("sgd", "mse")) == [expected]


def of_global(y_true, y_pred):
    return (y_true - y_pred * GLOBAL).square().mean(-1)


class Weighing:
    """A loss that is an object with a parameter, which nothing trains."""

    def __init__(self):
        self.weight = nn.Parameter(torch.ones(3))

    def __call__(self, y_true, y_pred):
        return (y_true - y_pred * self.weight).square().mean(-1)


class WeighingAsKeras(losses.Loss):
    def __init__(self):
        super().__init__()
        self.weight = leaf(3)

    def call(self, y_true, y_pred):
        return (y_true - y_pred * self.weight).square().mean(-1)


class WeighingAsTorch(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = [leaf(3)]

    def forward(self, y_pred, y_true):
        return (y_true - y_pred * self.weights[0]).square().mean(-1)


@pytest.mark.parametrize(
    ("loss", "name", "path"),
    [
        (of_global, "of_global", "of_global.GLOBAL"),
        (partial(of_global), "partial", "partial.GLOBAL"),
        (Weighing(), "Weighing", "weight"),
        (WeighingAsKeras(), "WeighingAsKeras", "weight"),
        (WeighingAsTorch(), "WeighingAsTorch", "weights.0"),
    ],
)
def test_a_loss_that_has_such_a_tensor_is_told(loss, name, path):
    model = model_of(Keeping(lambda: None))
    expected = text("compile", f"the loss {name}", path, (3,))
    assert warned(lambda: model.compile("sgd", loss)) == [expected]


def test_a_loss_that_uses_a_weight_of_the_model_is_fine():
    model = model_of(Keeping(lambda: None))
    model.scale = nn.Parameter(torch.ones(1))
    model.compile("sgd", lambda y_true, y_pred: (y_true - y_pred * model.scale).square().mean(-1))
    model.fit(X, Y, verbose=0)
    assert model.scale.item() != 1


def test_a_built_layer_behind_a_lambda_is_found_unless_it_is_in_the_model():
    dense = layers.Dense(3, use_bias=False, input_shape=(3,))
    dense.build((None, 3))
    hidden = model_of(Lambda(lambda x: dense(x), name="behind"))
    expected = text("compile", "Lambda 'behind'", "function.dense.linear.weight", (3, 3))
    assert warned(lambda: hidden.compile("sgd", "mse")) == [expected]
    x = Input((3,))
    seen = Model(x, layers.Dense(1)(Lambda(lambda x: dense(x))(dense(x))), name="whole")
    assert warned(lambda: seen.compile("sgd", "mse")) == []


class Making(Layer):
    """A layer whose calls make a tensor."""

    def __init__(self, make, **options):
        super().__init__(**options)
        self.make = make

    def call(self, x):
        return x * self.make()


class MakingModel(Model):
    def __init__(self, make, **options):
        super().__init__(**options)
        self.make, self.dense = make, layers.Dense(1)

    def call(self, x):
        return self.dense(x * self.make())


@pytest.mark.parametrize(
    ("use", "what"),
    [
        (lambda make: model_of(Making(make, name="own")), "Making 'own'"),
        (lambda make: model_of(Lambda(lambda x: x * make(), name="own")), "Lambda 'own'"),
        (lambda make: layers.TimeDistributed(Making(make, name="own"))(Input((2, 3))), "Making 'own'"),
        (lambda make: MakingModel(make, name="own").predict(X, verbose=0), "MakingModel 'own'"),
    ],
)
def test_a_parameter_that_a_call_makes_is_refused(use, what):
    error = (
        f"{what}: its code makes a torch.nn.Parameter of shape (3,) in a call, so that each call has another, which "
        "nothing trains and no file has. Make it once, as self.w = torch.nn.Parameter(...), in __init__ or build of a "
        "layer of your own; a constant is a tensor."
    )
    with pytest.raises(ValueError, match=f"{re.escape(error)}$"):
        use(lambda: nn.Parameter(torch.rand(3)))


def test_a_call_may_make_constants_and_variables_of_keras():
    for make in (lambda: torch.ones(3), lambda: K.variable(np.ones(3)), lambda: leaf(3), lambda: leaf(3).detach()):
        model_of(Making(make)).compile("sgd", "mse")


class Caching(Layer):
    """A layer that keeps what it has computed, and more that is no weight."""

    def __init__(self, **options):
        super().__init__(**options)
        self.constant, self.array = torch.ones(3), np.ones(3)
        self.listed = [nn.Parameter(torch.ones(3))]
        self.named = {"a": nn.Parameter(torch.ones(3))}

    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", (3, 3))
        self.also = [self.kernel]
        self.parts = [(self.kernel, 1.0)]

    def call(self, x):
        self.last = x @ self.kernel
        self.computed = [self.kernel.exp(), self.last]
        return self.last * self.listed[0] * self.named["a"]


class Building(Sequential):
    """A model with functions that use it."""

    def __init__(self):
        super().__init__(name="whole")
        self.add(layers.Dense(3, input_shape=(3,)))
        self.scale = nn.Parameter(torch.ones(3))
        self.add(Lambda(lambda x: x * self.scale))
        self.add(layers.Dense(1))


def recurrent():
    x = Input((3,))
    return Model(x, layers.Dense(1)(layers.LSTM(2)(layers.Reshape((3, 1))(x))))


def test_weights_what_is_computed_from_them_and_constants_are_no_reason_to_warn(tmp_path):
    gain = K.variable(2.0)  # a number that a callback sets, in scripts of Keras
    for model in (
        model_of(Caching()),
        model_of(Lambda(lambda x: x * gain)),
        model_of(TorchModule(nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))))),
        model_of(layers.Dense(3, kernel_regularizer="l2", activation=lambda x: x * 2)),
        recurrent(),
        Building(),
    ):
        model.compile("sgd", "mse")
        model.fit(X, Y, verbose=0)
        model.to(torch.float64).to(torch.float32)
        model.compile("sgd", "mse")  # with what the last call has kept
        model.save_weights(tmp_path / "m.safetensors", overwrite=True)


def test_a_module_put_past_torch_on_purpose_is_left_alone():
    layer = Keeping(lambda: None)
    vars(layer)["parent"] = nn.Linear(3, 3)
    model_of(layer).compile("sgd", "mse")


def test_the_advice_is_right():
    class Told(Layer):
        def __init__(self, **options):
            super().__init__(**options)
            self.w = nn.Parameter(leaf())
            self.several = nn.ParameterList([leaf()])

        def build(self, input_shape):
            self.added = self.add_weight("added", (3, 3))
            self.constant = leaf().detach()

        def call(self, x):
            return x @ self.w @ self.several[0] @ self.added @ self.constant

    model = model_of(Told())
    model.compile("sgd", "mse")
    before = [weight.numpy() for weight in model.trainable_weights]
    model.fit(X, Y, verbose=0)
    assert len(before) == 5
    assert not any(np.array_equal(a, b.numpy()) for a, b in zip(before, model.trainable_weights, strict=True))


def test_the_names_of_what_a_function_uses():
    a, b = 1, 2

    def function(x, c=3, *, d=4):
        return [x + a + b + c + d + len(X) for _ in range(2)]

    assert used_by(function) == {"a": 1, "b": 2, "c": 3, "d": 4, "X": X}
    assert used_by(nn.functional.normalize) == {}


def test_the_list_that_torchs_recurrent_modules_make_of_their_weights_is_none_of_it():
    inputs = Input((5, 3))
    model = Model(inputs, layers.LSTM(1, recurrent_activation="sigmoid")(inputs))
    lstm = model.layers[1].lstm
    parametrizations.weight_norm(lstm, "weight_hh_l0")
    assert any(each.requires_grad and each.is_leaf for each in lstm._flat_weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.compile("sgd", "mse")
    lstm.own = [leaf()]
    with pytest.warns(UserWarning, match=r"LSTM 'lstm_\d+' has in 'lstm.own.0' a tensor of shape \(3, 3\)"):
        model.compile("sgd", "mse")


def test_collections_are_looked_at_in_a_copy():
    looked_at = leaf(3)

    class Adding(tuple):
        """Adds to a dict and a set of the layer while what stands in them is looked at."""

        __slots__ = ()

        def __iter__(self):
            kept.add(len(kept))
            named[str(len(named))] = 1
            return super().__iter__()

    layer = Keeping(lambda: None, name="keeping")
    kept, named = {Adding((1,))}, {"first": Adding((1, 2)), "last": looked_at}
    layer.kept, layer.named = [kept], named
    assert warned(lambda: model_of(layer).compile("sgd", "mse"))[0].startswith("compile: Keeping 'keeping' has in")
    assert len(named) > 2
    assert len(kept) > 1
