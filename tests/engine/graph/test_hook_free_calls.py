"""Layers run without module calls in steps: only while nothing observes them, and always to the same numbers."""

import numpy as np
import pytest
import torch
from operations import Counted
from torch import nn

import torchkeras
from torchkeras import Input, Model
from torchkeras.callbacks import LambdaCallback
from torchkeras.engine.graph.layer_calls import Call, HookFreeCalls, Way
from torchkeras.engine.layer.changed_options import SETTLED
from torchkeras.engine.modes import call_module
from torchkeras.layers import (
    Activation,
    Add,
    AveragePooling2D,
    BatchNormalization,
    Conv2D,
    Dense,
    EinsumDense,
    Embedding,
    Flatten,
    Layer,
    LayerNormalization,
    MaxPooling2D,
    MultiHeadAttention,
    Multiply,
    ReLU,
)


def network():
    """A bit of everything that has a way of its own, and a model inside."""
    inputs = Input((8, 8, 3))
    hidden = Activation("relu", name="act")(BatchNormalization(name="bn")(Conv2D(4, 3, name="conv")(inputs)))
    hidden = MaxPooling2D(2)(Conv2D(4, 3, activation="relu", padding="same", name="conv_2")(hidden))
    inner_inputs = Input((36,))
    inner = Model(inner_inputs, Dense(12, activation="tanh", name="inside")(inner_inputs), name="inner")
    hidden = LayerNormalization(name="norm")(inner(Flatten()(hidden)))
    return Model(inputs, Dense(3, activation="softmax", name="last")(hidden))


def images(count=16):
    random = np.random.default_rng(0)
    return random.standard_normal((count, 8, 8, 3)).astype("float32"), random.integers(0, 3, count)


def compiled():
    torch.manual_seed(0)
    model = network()
    model.compile("sgd", "sparse_categorical_crossentropy", ["accuracy"])
    return model


def trained(model, **options):
    x, y = images()
    history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0, **options)
    return history.history["loss"], model.evaluate(x, y, verbose=0), model.predict(x)


def seen_by(*modules):
    """Hooks on modules; returns what they see."""
    calls = []
    for module in modules:
        module.register_forward_hook(lambda module, _, output: calls.append((module, output)))
    return calls


def test_no_module_is_called_while_nothing_observes_one(monkeypatch):
    model = compiled()
    called = []
    monkeypatch.setattr(nn.Module, "_call_impl", lambda self, *a, **k: called.append(self) or self.forward(*a, **k))
    x, y = images()
    model.fit(x, y, batch_size=4, verbose=0)
    ends = [module for module in called if module is not model.get_layer("last").linear]  # whose activation is left out
    assert ends == []


def test_training_with_and_without_hooks_gives_the_same_numbers():
    plain, observed = compiled(), compiled()
    calls = seen_by(*observed.modules())
    for one, other in zip(trained(plain), trained(observed), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
    assert calls


@pytest.mark.parametrize("path", ["conv", "conv.conv", "bn", "act", "inner", "inner.inside", "last", "last.linear"])
def test_a_hook_is_called_once_a_batch_wherever_it_is(path):
    model = compiled()
    calls = seen_by(model.get_submodule(path))
    trained(model)
    assert len(calls) == 2 * 4 + 1 + 1


def test_a_hook_sees_what_no_later_layer_has_written_over():
    model = compiled()
    calls = seen_by(model.get_layer("bn"))
    trained(model)
    assert all((output < 0).any() for _, output in calls)


def test_a_hook_that_comes_in_the_middle_of_an_epoch_is_called_from_there_on():
    model, calls = compiled(), []

    def register(batch, _):
        if batch == 1:
            calls.extend([] if calls else [seen_by(model.get_layer("conv"))])

    x, y = images()
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[LambdaCallback(on_batch_end=register)])
    assert len(calls[0]) == 2


def test_a_global_hook_is_called(request):
    model, calls = compiled(), []
    handle = nn.modules.module.register_module_forward_hook(lambda module, *_: calls.append(module))
    request.addfinalizer(handle.remove)
    trained(model)
    assert model.get_layer("conv").conv in calls


def test_a_forward_put_into_a_modules_place_computes():
    model = compiled()
    conv = model.get_layer("conv").conv
    own, count = conv.forward, []
    conv.forward = lambda inputs: count.append(1) or own(inputs)
    trained(model)
    assert len(count) == 2 * 4 + 1 + 1


@pytest.mark.parametrize(("name", "inside"), [("inside", "linear"), ("conv", "conv")])
def test_another_module_in_its_place_computes_at_once(name, inside):
    class Counting(nn.Module):
        def __init__(self, replaced):
            super().__init__()
            self.weight, self.bias, self.replaced, self.count = replaced.weight, replaced.bias, [replaced], 0

        def forward(self, inputs):
            self.count += 1
            return self.replaced[0](inputs)

    model, made = compiled(), []
    layer = model.get_layer(name) if name == "conv" else model.get_layer("inner").get_layer(name)

    def replace(batch, _):
        if batch == 1:
            made.append(Counting(getattr(layer, inside)))
            setattr(layer, inside, made[0])

    x, y = images()
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[LambdaCallback(on_batch_end=replace)])
    assert made[0].count == 2


def test_a_parametrization_computes():
    class Doubled(nn.Module):
        def forward(self, weight):
            return 2 * weight

    model, x = compiled(), images()[0]
    model.get_layer("last").set_weights([np.ones((12, 3)), np.arange(3.0)])
    before = model.get_layer("inner").predict(np.ones((1, 36)))
    nn.utils.parametrize.register_parametrization(
        model.get_layer("inner").get_layer("inside").linear, "weight", Doubled()
    )
    after = model.get_layer("inner").predict(np.ones((1, 36)))
    np.testing.assert_allclose(np.arctanh(after), 2 * np.arctanh(before), rtol=1e-4)
    assert model.predict(x).shape == (16, 3)


def operations(act):
    with torch.inference_mode(), Counted() as found:
        act()
    return found.seen


def test_attention_to_itself_takes_the_operations_of_one_by_hand_and_two_to_join_its_kernels():
    inputs, projection, output, x = Input((5, 8)), nn.Linear(8, 24), nn.Linear(8, 8), torch.ones(1, 5, 8)
    model = Model(inputs, MultiHeadAttention(2, 4)(inputs, inputs)).eval()

    def by_hand():
        parts = projection(x).view(-1, 5, 3, 2, 4).transpose(1, 3).unbind(2)
        return output(nn.functional.scaled_dot_product_attention(*parts).transpose(1, 2).flatten(2))

    assert operations(lambda: model(x)) - operations(by_hand) == {"cat": 2}


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: Dense(4), "linear"),
        (lambda: EinsumDense("abc,cd->abd", (None, 4)), "product"),
        (lambda: MultiHeadAttention(2, 2), "query.product"),
        (lambda: MultiHeadAttention(2, 2), "attention_output.product"),
        (lambda: LayerNormalization(), "norm"),
    ],
)
def test_a_parametrization_computes_from_the_batch_on_after_which_it_comes(make, path):
    class Counted(nn.Module):
        count = 0

        def forward(self, weight):
            self.count += 1
            return 2 * weight

    inputs, layer, counted = Input((3, 4)), make(), Counted()
    model = Model(inputs, layer(inputs, inputs) if isinstance(layer, MultiHeadAttention) else layer(inputs))
    model.compile("sgd", "mse")

    def parametrize(batch, _):
        if batch == 1:
            nn.utils.parametrize.register_parametrization(layer.get_submodule(path), "weight", counted)
            counted.count = 0

    zeros = np.zeros((8, 3, 4), "float32")
    model.fit(zeros, zeros, batch_size=2, verbose=0, callbacks=[LambdaCallback(on_batch_end=parametrize)])
    assert counted.count >= 2


def test_layers_of_the_users_own_compute_by_their_own_forward():
    class Shifted(Dense):
        def forward(self, inputs):
            return super().forward(inputs) + 1

    class Called(Dense):
        def call(self, inputs):
            return 3 * super().call(inputs)

    class Kept(Add):
        def forward(self, inputs):
            self.first = inputs[0]
            return inputs[0]

    inputs = Input((4,))
    shifted, called = Shifted(2, name="shifted")(inputs), Called(2, name="called")(inputs)
    kept = Kept(name="kept")([shifted, called])
    model = Model(inputs, [shifted, called, ReLU()(kept)])
    x = torch.randn(5, 4)
    expected = [model.get_layer("shifted").linear(x) + 1, 3 * model.get_layer("called").linear(x)]
    found = model.predict(x)
    for one, other in zip(found, [*expected, expected[0].relu()], strict=True):
        np.testing.assert_allclose(one, other.detach(), rtol=1e-5, atol=1e-6)


# --- in place --------------------------------------------------------------------------------------------------------


def written_over(make):
    """The names of the layers whose input the generated code may write over."""
    torchkeras.clear_session()
    return [name for name, call in calls_in(make()).items() if call.way is Way.IN_PLACE]


def calls_in(model):
    """What the names in a model's generated code call."""
    return model._generated.function(model._generated.plain).calls


def beside_its_relu(made):
    return Add()([made, Activation("relu")(made)])


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (lambda x: Activation("relu")(Conv2D(3, 3)(x)), ["activation_a"]),
        (lambda x: ReLU()(BatchNormalization()(x)), ["re_lu_a"]),
        (lambda x: Activation("relu")(Add()([x, x])), ["activation_a"]),
        (lambda x: Activation("tanh")(Conv2D(3, 3)(x)), []),  # no such function
        (lambda x: ReLU(max_value=6)(Conv2D(3, 3)(x)), []),
        (lambda x: Activation("relu")(x), []),  # the user's data
        (lambda x: Activation("relu")(Conv2D(3, 3, activation="tanh")(x)), []),  # a gradient needs it
        (lambda x: Activation("relu")(Activation("sigmoid")(x)), []),
        (lambda x: Activation("relu")(Flatten()(Conv2D(3, 3)(x))), []),  # a view
        (lambda x: Activation("relu")(Conv2D(3, 3, activity_regularizer="l2")(x)), []),  # the penalty needs it
        (lambda x: beside_its_relu(Conv2D(3, 3)(x)), []),  # used twice
        (lambda x: Add()([BatchNormalization()(x), x]), ["add_a"]),
        (lambda x: Add()([x, BatchNormalization()(x)]), []),  # the first is the user's data
        (lambda x: Add()([Activation("tanh")(x), x]), []),  # a gradient needs the first
        (lambda x: Add()([Conv2D(1, 1)(x), x]), []),  # which has no place for the sum
        (lambda x: beside_its_sum(Conv2D(3, 1)(x), x), ["outer"]),  # the inner one's first input is used twice
    ],
)
def test_relu_and_sums_are_in_place_only_where_nothing_else_needs_its_input(between, expected):
    def make():
        inputs = Input((6, 6, 3))
        return Model(inputs, between(inputs))

    assert written_over(make) == expected


def test_an_output_is_not_written_over():
    def make():
        inputs = Input((6, 6, 3))
        made = Conv2D(3, 3)(inputs)
        return Model(inputs, [made, Activation("relu")(made)])

    assert written_over(make) == []


def beside_its_sum(first, second):
    return Add(name="outer")([Multiply()([first, Add(name="inner")([first, second])]), second])


def test_a_sum_in_place_spreads_what_only_the_data_shows_to_be_smaller():
    left, right = Input((None, 3)), Input((None, 3))
    model = Model([left, right], Add()([BatchNormalization()(left), right]))
    assert calls_in(model)["add_a"] == Call("add_a", Way.IN_PLACE)
    x, y = torch.randn(2, 1, 3), torch.randn(2, 4, 3)
    np.testing.assert_array_equal(HookFreeCalls(model).run([x, y]).detach(), model([x, y]).detach())


# --- relu behind the maximum ----------------------------------------------------------------------------------------


def pooled(between, pool=None, **options):
    torchkeras.clear_session()
    torch.manual_seed(0)
    inputs = Input((9, 9, 3))
    return Model(inputs, (pool or MaxPooling2D)(2, **options)(between(inputs)))


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(
    "between",
    [
        lambda x: Conv2D(4, 3, activation="relu", padding="same")(x),
        lambda x: Conv2D(4, 3, 2, activation="relu", padding="same")(x),
        lambda x: Activation("relu")(BatchNormalization()(x)),
        lambda x: ReLU()(x),
    ],
)
def test_relu_behind_the_maximum_gives_the_same_values_and_gradients_bit_by_bit(between, padding):
    model = pooled(between, padding=padding)
    assert {Way.BEFORE_RELU, Way.AFTER_RELU} <= {
        call.way for call in calls_in(model).values() if isinstance(call, Call)
    }
    x = torch.randn(5, 9, 9, 3)
    x[0] = -1.0  # ties, of values that relu makes 0
    x[1] = 0.0
    x[2, 3, 3] = torch.nan
    found = []
    for run in (model, HookFreeCalls(model).run):
        taken = x.clone().requires_grad_()
        outputs = run(taken * 1)
        gradients = torch.autograd.grad((outputs * outputs.detach().cos()).sum(), [taken, *model.parameters()])
        found.append([outputs.detach(), *gradients])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pooled(lambda x: Conv2D(4, 3)(x)),
        lambda: pooled(lambda x: Conv2D(4, 3, activation="relu")(x), AveragePooling2D),
        lambda: pooled(lambda x: Conv2D(4, 3, activation="relu", activity_regularizer="l2")(x)),
        lambda: pooled(lambda x: ReLU(max_value=6)(x)),
        lambda: pooled(lambda x: ReLU(negative_slope=0.1)(x)),
        lambda: pooled(lambda x: beside_its_relu(Conv2D(4, 3)(x))),
    ],
)
def test_relu_stays_before_the_pooling_where_the_two_do_not_commute_or_something_else_needs_it(make):
    assert "rectified" not in make().code


def test_an_activation_changed_afterwards_counts():
    model = pooled(lambda x: Conv2D(4, 3, activation="relu", name="conv")(x))
    setattr(model.get_layer("conv"), "activation", torch.tanh)  # noqa: B010  # to pyright a module has none
    x = torch.randn(2, 9, 9, 3)
    np.testing.assert_array_equal(HookFreeCalls(model).run(x).detach(), model(x).detach())
    assert (model(x) < 0).any()


# --- attention -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "value_dim"), [((5, 8), None), ((5, 8), 3), ((2, 5, 8), None)])
@pytest.mark.parametrize("use_bias", [True, False])
def test_query_key_and_value_by_one_product_are_what_they_are_by_three(shape, value_dim, use_bias):
    inputs = Input(shape)
    layer = MultiHeadAttention(2, 4, value_dim, use_bias=use_bias)
    model = Model(inputs, layer(inputs, inputs))
    layer.set_weights([np.random.default_rng(k).standard_normal(w.shape) for k, w in enumerate(layer.get_weights())])
    x = torch.randn(3, *shape)
    np.testing.assert_allclose(HookFreeCalls(model).run(x).detach(), model(x).detach(), rtol=1e-5, atol=1e-5)


def test_embeddings_of_other_types_of_integers():
    inputs = Input((3,))
    model = Model(inputs, Embedding(5, 2)(inputs))
    x = np.array([[0.0, 1.0, 4.0]])
    assert np.array_equal(model.predict(x), model(torch.from_numpy(x)).detach())


def test_another_forward_of_a_users_class_counts_from_the_next_call_and_run_on(monkeypatch):
    class Doubles(Layer):
        def forward(self, inputs):
            return 2 * inputs

    inputs = Input((2,))
    model = Model(inputs, Doubles()(inputs))
    model.compile("sgd", "mae", jit_compile=False)
    x, y = np.ones((4, 2), "float32"), np.zeros((4, 2), "float32")

    def found():
        by_hand = model(torch.from_numpy(x)).mean().item()
        return [by_hand, model.predict(x).mean(), model.evaluate(x, y, verbose=0), model.test_on_batch(x, y)]

    assert found() == found() == [2.0] * 4
    monkeypatch.setattr(Doubles, "forward", lambda self, inputs: 3 * inputs)
    assert found() == [3.0] * 4


def test_a_change_of_an_option_within_a_run_has_the_modules_looked_at_again(monkeypatch):
    inputs = Input((2,))
    model = Model(inputs, Dense(2, name="dense")(inputs))
    calls, dense = HookFreeCalls(model), model.get_layer("dense")
    dense.linear = nn.Linear(2, 2)
    dense.linear.register_forward_hook(lambda module, given, outputs: outputs.mul(2))
    monkeypatch.setattr(SETTLED, "count", SETTLED.count + 1)  # as the change of an option that functions are written by
    assert calls.observed()
    x = torch.ones(1, 2)
    torch.testing.assert_close(calls.run(x), call_module(model, x))
