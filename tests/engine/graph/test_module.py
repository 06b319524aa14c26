"""A model is an ordinary `nn.Module`: dtypes, modes, hooks, state_dict, copies and pickles of any depth."""

import copy
import pickle

import numpy as np
import pytest
import torch
from torch import nn

import torchkeras
from torchkeras.layers import (
    Activation,
    Add,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    GlobalAveragePooling2D,
    Input,
    Layer,
    MaxPooling2D,
)
from torchkeras.models import Model, Sequential


@pytest.fixture(autouse=True)
def fresh_session():
    torchkeras.clear_session()
    torch.manual_seed(0)


def cnn():
    x = Input((8, 8, 3))
    y = MaxPooling2D()(Activation("relu")(BatchNormalization()(Conv2D(4, 3)(x))))
    return Model(x, Dense(5)(GlobalAveragePooling2D()(y)))


def nested():
    x = Input((8, 8, 3))
    tail = Sequential([Dense(4, activation="relu", input_shape=(5,)), Dense(2)], name="tail")
    return Model(x, tail(cnn()(x)))


def shared():
    dense = Dense(4, name="shared")
    a, b = Input((4,)), Input((4,))
    return Model([a, b], Add()([dense(a), dense(dense(b))]))


BUILDS = [cnn, nested, shared]


def data(model):
    return [torch.randn(3, *shape[1:]) for shape in (tensor.shape for tensor in model.inputs)]


# --- types and modes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("build", BUILDS)
def test_to_another_type(build, dtype):
    model = build().eval()
    x = data(model)
    expected = model(*x)
    assert model.to(dtype) is model
    assert {t.dtype for t in (*model.parameters(), *model.buffers()) if t.is_floating_point()} == {dtype}
    found = model(*(item.to(dtype) for item in x))
    assert found.dtype == dtype
    tolerance = {torch.float64: 1e-5, torch.float16: 2e-2, torch.bfloat16: 1e-1}[dtype]
    torch.testing.assert_close(found.float(), expected, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize(
    ("method", "dtype"), [("double", torch.float64), ("half", torch.float16), ("bfloat16", torch.bfloat16)]
)
def test_methods_for_types(method, dtype):
    model = getattr(cnn().eval(), method)()
    assert model(torch.randn(2, 8, 8, 3, dtype=dtype)).dtype == dtype
    assert model.predict(np.zeros((2, 8, 8, 3))).dtype == (
        np.float32 if dtype is torch.bfloat16 else getattr(np, str(dtype)[6:])
    )


def test_autocast():
    model = cnn().eval()
    x = torch.randn(2, 8, 8, 3)
    expected = model(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = model(x)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), expected, atol=5e-2, rtol=5e-2)


def test_modes_reach_every_layer():
    x = Input((4,))
    model = Model(x, Sequential([Dropout(0.5, input_shape=(4,))])(x))
    ones = torch.ones(64, 4)
    assert model.training
    assert set(model(ones).unique().tolist()) == {0.0, 2.0}
    assert model.eval() is model
    assert not any(module.training for module in model.modules())
    torch.testing.assert_close(model(ones), ones)
    assert all(module.training for module in model.train().modules())


def test_parameters():
    model = cnn()
    assert next(model.parameters()) is model.get_layer("conv2d_1").conv.weight
    assert all(parameter.requires_grad and parameter.is_leaf for parameter in model.parameters())
    assert len(list(shared().parameters())) == 2


def test_a_tensor_in_a_tensor_out():
    model = Model([a := Input((2,)), b := Input((2,))], [Add()([a, b]), a - b])
    ones = torch.ones(1, 2)
    for found in (model(ones, ones), model([ones, ones])):
        assert [item.tolist() for item in found] == [[[2.0, 2.0]], [[0.0, 0.0]]]
    assert isinstance(cnn()(torch.zeros(2, 8, 8, 3)), torch.Tensor)


def test_arrays_are_taken_by_a_call():
    model, images = cnn().eval(), np.random.default_rng(0).normal(size=(2, 8, 8, 3))
    assert torch.equal(model(images), model(torch.from_numpy(images).float()))
    with pytest.raises(TypeError) as error:
        model.layers[-1](np.zeros((2, 4)))
    assert str(error.value) == (
        "Dense 'dense_1' takes torch tensors; found ndarray. Make a tensor of it with torch.as_tensor, or give arrays "
        "to `predict`."
    )


def test_a_tensor_of_another_shape_is_refused_by_a_call():
    with pytest.raises(ValueError, match="shape") as error:
        cnn()(torch.zeros(2, 8, 9, 3))
    assert str(error.value) == (
        "Input input_1 of Model 'model_1' has shape (None, 8, 8, 3); found shape (2, 8, 9, 3). "
        "Give a tensor of that shape, or make the Input for the shape of the data."
    )


# --- hooks ---------------------------------------------------------------------------------------------------------


def test_hooks_fire_on_layers_and_models():
    model = nested()
    inner = model.layers[1]
    fired = []
    for module in (
        model,
        inner,
        inner.get_layer("conv2d_1"),
        inner.get_layer("conv2d_1").conv,
        model.get_layer("tail"),
    ):
        module.register_forward_pre_hook(lambda module, args: fired.append(("before", type(module).__name__)))
        module.register_forward_hook(lambda module, args, output: fired.append(("after", type(module).__name__)))
        module.register_full_backward_hook(lambda module, into, out: fired.append(("backward", type(module).__name__)))
    model(torch.randn(2, 8, 8, 3, requires_grad=True)).sum().backward()
    inside = [("before", "Conv2D"), ("before", "Conv2d"), ("after", "Conv2d"), ("after", "Conv2D")]
    tail = [("before", "Sequential"), ("after", "Sequential")]
    forward = [("before", "Model"), ("before", "Model"), *inside, ("after", "Model"), *tail, ("after", "Model")]
    assert fired[: len(forward)] == forward
    assert sorted(name for _, name in fired[len(forward) :]) == ["Conv2D", "Conv2d", "Model", "Model", "Sequential"]


def test_a_hook_changes_the_output_also_in_predict():
    model = cnn()
    x = np.zeros((2, 8, 8, 3), "float32")
    handle = model.get_layer("dense_1").register_forward_hook(lambda module, args, output: output * 0 + 7)
    assert np.unique(model.predict(x)).tolist() == [7]
    handle.remove()
    assert np.unique(model.predict(x)).tolist() != [7]


# --- state_dict ----------------------------------------------------------------------------------------------------


def test_state_dict_has_readable_keys():
    assert list(cnn().state_dict()) == [
        "conv2d_a.conv.weight",
        "conv2d_a.conv.bias",
        "batch_normalization_a.norm.weight",
        "batch_normalization_a.norm.bias",
        "batch_normalization_a.norm.running_mean",
        "batch_normalization_a.norm.running_var",
        "batch_normalization_a.norm.num_batches_tracked",
        "dense_a.linear.weight",
        "dense_a.linear.bias",
    ]
    assert [name for name, _ in cnn().named_buffers()] == [
        "batch_normalization_a.norm.running_mean",
        "batch_normalization_a.norm.running_var",
        "batch_normalization_a.norm.num_batches_tracked",
    ]


@pytest.mark.parametrize("build", BUILDS)
def test_state_dict_loads_into_a_rebuilt_model(build):
    model = build()
    x = data(model)
    model(*x)  # moves the statistics
    torchkeras.clear_session()
    again = build()
    assert list(again.state_dict()) == list(model.state_dict())
    assert str(again.load_state_dict(model.state_dict())) == "<All keys matched successfully>"
    torch.testing.assert_close(again.eval()(*x), model.eval()(*x), atol=0, rtol=0)


# --- copies --------------------------------------------------------------------------------------------------------

COPIES = [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]  # noqa: S301  (what was just written)


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("build", BUILDS)
def test_copies_compute_the_same_and_share_nothing(build, copied):
    model = build()
    x = data(model)
    model(*x)
    again = copied(model.eval())
    assert not again.training
    expected = model(*x)
    torch.testing.assert_close(again(*x), expected, atol=0, rtol=0)
    assert again.get_config() == model.get_config()
    assert again.code == model.code
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    torch.testing.assert_close(again(*x), expected, atol=0, rtol=0)


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_of_a_model_has_a_graph_of_its_own(copied):
    model = nested()
    again = copied(model)
    assert again.layers[1] is not model.layers[1]
    assert again.input._keras_history.layer is again.layers[0]
    assert [layer.output_shape for layer in again.layers] == [layer.output_shape for layer in model.layers]
    part = Model(again.input, again.layers[1].get_output_at(1))
    assert part(torch.zeros(2, 8, 8, 3)).shape == (2, 5)
    assert len(model.layers[1]._outbound_nodes) == 1


@pytest.mark.parametrize("copied", COPIES)
def test_a_shared_layer_stays_shared(copied):
    again = copied(shared())
    layer = again.get_layer("shared")
    assert len(layer._inbound_nodes) == 3
    assert [node.input_tensors[0] for node in layer._inbound_nodes[1:2]] == [again.inputs[1]]
    assert len(list(again.parameters())) == 2


@pytest.mark.parametrize("copied", COPIES)
def test_three_hundred_layers_deep(copied):
    x = y = Input((2,))
    for _ in range(300):
        y = Dense(2, activation="tanh")(y)
    model = Model(x, y)
    values = torch.randn(2, 2)
    torch.testing.assert_close(copied(model)(values), model(values), atol=0, rtol=0)


@pytest.mark.parametrize("copied", COPIES)
def test_three_hundred_models_deep(copied):
    x = y = Input((2,))
    for _ in range(300):
        z = Input((2,))
        y = Model(z, Dense(2)(z))(y)
    model = Model(x, y)
    torch.testing.assert_close(copied(model)(torch.ones(1, 2)), model(torch.ones(1, 2)), atol=0, rtol=0)


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("build", BUILDS)
def test_a_trained_model_goes_on_bitwise_the_same(build, copied):
    model = build()
    x = [item.numpy() for item in data(model)]
    y = np.random.default_rng(0).normal(size=(3, model.output_shape[-1]))
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(x, y, epochs=2, verbose=0)
    again = copied(model)
    assert again.optimizer is not model.optimizer
    for _ in range(3):
        assert again.train_on_batch(x, y) == model.train_on_batch(x, y)
    for found, expected in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_layer_is_copied_with_its_weights_and_without_its_calls():
    model = cnn()
    layer = model.get_layer("dense_1")
    again = copy.deepcopy(layer)
    assert again._inbound_nodes == []
    for found, expected in zip(again.get_weights(), layer.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert again(Input((4,))).shape == (None, 5)


# --- names ---------------------------------------------------------------------------------------------------------

NAMES = [
    "weight",
    "training",
    "input",
    "block1/conv",
    "a.b",
    "class",
    "forward",
    "_modules",
    "loss",
    "name",
    "built",
    "trainable",
    "self",
    "x",
    "1st",
    "{0}",
    "it's",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_layer_may_have_any_name(name, tmp_path):
    x = Input((4,), name="in")
    model = Model(x, Activation("relu", name="end")(Dense(3, name=name)(x)))
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 4)), np.ones((4, 3)), verbose=0)
    values = torch.ones(2, 4)
    expected = model.eval()(values)
    assert model.get_layer(name).units == 3
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        torch.testing.assert_close(again(values), expected, atol=0, rtol=0)
    model.save(tmp_path / "model.h5")
    loaded = torchkeras.models.load_model(tmp_path / "model.h5")
    torch.testing.assert_close(loaded(values), expected, atol=0, rtol=0)
    rebuilt = Model.from_config(model.get_config())
    rebuilt.load_state_dict(model.state_dict())
    torch.testing.assert_close(rebuilt.eval()(values), expected, atol=0, rtol=0)


def test_names_that_differ_by_a_dot_alone_stay_apart():
    model = Sequential([Dense(2, name="a.b", input_shape=(3,)), Dense(2, name="a_b")])
    assert [name for name, _ in model.named_children()] == ["a_b", "a_b_"]
    assert model.get_layer("a.b").kernel.shape == (3, 2)
    assert model(torch.ones(1, 3)).shape == (1, 2)
    again = copy.deepcopy(model)
    torch.testing.assert_close(again(torch.ones(1, 3)), model(torch.ones(1, 3)), atol=0, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_an_input_may_have_any_name(name):
    x = Input((4,), name=name)
    model = Model(x, Dense(2)(x))
    assert model.input_names == [name]
    assert model(torch.ones(1, 4)).shape == (1, 2)


def test_a_model_is_a_submodule_like_any_other():
    whole = nn.Sequential(cnn(), nn.Linear(5, 1))
    assert "0.conv2d_a.conv.weight" in whole.state_dict()
    whole(torch.randn(2, 8, 8, 3)).sum().backward()
    assert all(parameter.grad is not None for parameter in whole.parameters())


class Keeping:
    """A mixin that keeps the arguments of its class, as that of huggingface_hub does."""

    arguments: tuple[tuple[object, ...], dict[str, object]]

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self.arguments = (args, kwargs)  # before torch has made a module of it
        return self


class Kept(Model, Keeping):
    def __init__(self, units, name=None):
        inputs = Input((3,))
        super().__init__(inputs, Dense(units)(inputs), name=name)


def test_a_mixin_sees_the_arguments_of_a_model():
    assert vars(Kept(4, name="kept"))["arguments"] == ((4,), {"name": "kept"})


def test_a_hook_before_the_call_may_make_inputs_of_other_arguments():
    inputs = Input((3,))
    model = Model(inputs, Dense(2)(inputs))
    x, y = torch.rand(2, 3), torch.rand(2, 3)
    hook = model.register_forward_pre_hook(lambda module, args: torch.cat(args))
    torch.testing.assert_close(model(x, y).detach(), torch.from_numpy(model.predict(torch.cat([x, y]))))
    hook.remove()
    with pytest.raises(ValueError, match=r"^Model '\w+' has 1 inputs \(input_\d+\); it was called with 2\.$"):
        model(x, y)


# --- calls by hand go by direct calls while nothing changes ----------------------------------------------------------


def changed_by(change):
    """What a model gives before and after a change, called in evaluation without gradients."""
    model = Sequential([Dense(4, activation="relu", input_shape=(3,), name="first"), Dense(2, name="second")]).eval()
    x = torch.randn(5, 3)
    with torch.no_grad():
        before = model(x), model(x)
        change(model)
        found = model(x)
        expected = model.get_layer("second")(model.get_layer("first")(x))
    assert torch.equal(*before)
    torch.testing.assert_close(found, expected)
    return (before[0] - found).abs().max().item()


class Doubled(nn.Linear):
    def forward(self, inputs):
        return super().forward(inputs) * 2


def retype(linear):
    linear.__class__ = Doubled


@pytest.mark.parametrize(
    "change",
    [
        lambda model: setattr(model.get_layer("first"), "activation", torch.tanh),
        lambda model: setattr(model.get_layer("first"), "linear", nn.Linear(3, 4)),
        lambda model: setattr(model.get_layer("first").linear, "weight", nn.Parameter(torch.ones(4, 3))),
        lambda model: (
            model.get_layer("second").linear._modules.update(inner=nn.Identity())
            or nn.utils.parametrize.register_parametrization(model.get_layer("second").linear, "weight", nn.Softplus())
        ),
        lambda model: setattr(model.get_layer("first").linear, "forward", lambda x: torch.ones(len(x), 4)),
        lambda model: retype(model.get_layer("first").linear),
        lambda model: model.get_layer("first").linear.register_forward_hook(lambda module, inputs, found: found + 1),
        lambda model: model.get_layer("first").register_forward_pre_hook(lambda module, inputs: (inputs[0] + 1,)),
    ],
    ids=["option", "module", "weight", "parametrization", "forward", "class", "hook", "layer_hook"],
)
def test_a_call_by_hand_sees_what_has_changed_since_the_last_one(change):
    assert changed_by(change) > 1e-3


def test_a_hook_on_all_modules_sees_the_layers_of_a_call_by_hand():
    model = Sequential([Dense(4, input_shape=(3,))])
    model(torch.ones(1, 3))
    seen = []
    handle = nn.modules.module.register_module_forward_hook(lambda module, inputs, found: seen.append(type(module)))
    try:
        model(torch.ones(1, 3))
    finally:
        handle.remove()
    assert seen == [nn.Linear, Dense, Sequential]


def test_layers_that_change_at_each_call_are_called_themselves():
    class Counting(Layer):
        calls = 0

        def call(self, inputs):
            self.calls += 1
            return inputs + self.calls

    model = Sequential([Counting(input_shape=(1,)), Dense(1, kernel_initializer="ones")])
    begin = model.layers[0].calls
    found = [model(torch.zeros(1, 1)).item() for _ in range(50)]
    assert found == [begin + k for k in range(1, 51)]
    assert model._generated.remembered is not None
    assert model._generated.remembered._made < 20
