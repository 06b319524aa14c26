"""Batch normalizations as part of the layers before them: in `predict`, and in a copy for inference alone."""

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from operations import computing, counted
from torch import nn
from torch.nn.utils import parametrize

from torchkeras import Input, Model, Sequential
from torchkeras.base import arrays
from torchkeras.callbacks import Callback
from torchkeras.engine.fit import methods
from torchkeras.engine.graph import fold_batch_norm
from torchkeras.engine.graph.layer_calls import HookFreeCalls
from torchkeras.engine.graph.network import Network
from torchkeras.engine.symbolic.tensor import as_list
from torchkeras.layers import (
    LSTM,
    Activation,
    Add,
    BatchNormalization,
    Bidirectional,
    Conv1D,
    Conv1DTranspose,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    Dense,
    DepthwiseConv1D,
    DepthwiseConv2D,
    Dropout,
    Embedding,
    Flatten,
    GlobalAveragePooling2D,
    Lambda,
    Layer,
    Masking,
    SeparableConv1D,
    SeparableConv2D,
    TimeDistributed,
)

ROUNDING: Any = {"rtol": 1e-4, "atol": 1e-5}


@pytest.fixture(autouse=True)
def _always_worth_it(monkeypatch):
    monkeypatch.setattr(fold_batch_norm, "CALLS_WORTH", 0)


def stirred(model):
    """A model whose weights and statistics are no longer those of its initializers."""
    generator = torch.Generator().manual_seed(1)
    for module in model.modules():
        if isinstance(module, BatchNormalization):
            module.norm.running_mean.normal_(generator=generator)
            module.norm.running_var.uniform_(0.3, 3, generator=generator)
    for name, parameter in model.named_parameters():
        if name.endswith("bias") or "norm" in name:
            parameter.data.normal_(generator=generator)
    return model


def images(count=64, shape=(8, 8, 3)):
    return np.random.default_rng(0).standard_normal((count, *shape)).astype("float32")


def expected(model, x):
    """What the model gives in evaluation, layer by layer."""
    mode = model.training
    with torch.no_grad():
        found = model.eval()(torch.from_numpy(x))
    model.train(mode)
    return found.numpy()


def folded(model):
    """The names of the normalizations that other layers do."""
    model.eval()
    with torch.no_grad():
        return [fold.norm.name for fold in fold_batch_norm.folds(model)]


def normalizations(act):
    """How many batch normalizations run."""
    seen = computing(counted(act))
    return sum(count for name, count in seen.items() if "batch_norm" in name)


def network(**options):
    """Two convolutions with normalization, a residual sum and a Dense with one."""
    torch.manual_seed(0)
    inputs = Input((8, 8, 3), name="images")
    hidden = Conv2D(6, 3, padding="same", name="conv_1", **options)(inputs)
    hidden = first = Activation("relu")(BatchNormalization(name="bn_1")(hidden))
    hidden = BatchNormalization(name="bn_2")(Conv2D(6, 3, padding="same", name="conv_2", **options)(hidden))
    hidden = GlobalAveragePooling2D()(Activation("relu")(Add()([hidden, first])))
    hidden = BatchNormalization(name="bn_3")(Dense(5, name="dense", **options)(hidden))
    return stirred(Model(inputs, Dense(4, name="last")(hidden), name="classifier"))


# --- values ----------------------------------------------------------------------------------------------------------

LAYERS = {
    "conv 1d": (lambda: Conv1D(4, 3), (9, 3)),
    "conv 1d causal": (lambda: Conv1D(4, 3, padding="causal", dilation_rate=2), (9, 3)),
    "conv 2d": (lambda: Conv2D(4, 3), (7, 6, 3)),
    "conv 2d without bias": (lambda: Conv2D(4, 3, use_bias=False), (7, 6, 3)),
    "conv 2d same with strides": (lambda: Conv2D(4, 3, strides=2, padding="same"), (7, 6, 3)),
    "conv 2d in groups": (lambda: Conv2D(4, 3, groups=2), (7, 6, 2)),
    "conv 3d": (lambda: Conv3D(4, 2, padding="same"), (4, 5, 3, 2)),
    "depthwise 1d": (lambda: DepthwiseConv1D(3, depth_multiplier=2), (9, 3)),
    "depthwise 2d": (lambda: DepthwiseConv2D(3, padding="same", depth_multiplier=2), (7, 6, 3)),
    "separable 1d": (lambda: SeparableConv1D(4, 3), (9, 3)),
    "separable 2d": (lambda: SeparableConv2D(4, 3, use_bias=False), (7, 6, 3)),
    "transposed 1d": (lambda: Conv1DTranspose(4, 3, strides=2), (9, 3)),
    "transposed 2d": (lambda: Conv2DTranspose(4, 3, strides=2, padding="same"), (7, 6, 3)),
    "transposed 3d": (lambda: Conv3DTranspose(4, 2, use_bias=False), (3, 4, 2, 2)),
    "dense": (lambda: Dense(4), (6,)),
    "dense without bias": (lambda: Dense(4, use_bias=False), (6,)),
    "dense over time": (lambda: Dense(4), (5, 6)),
    "dense over images": (lambda: Dense(4), (5, 6, 3)),
    "linear activation": (lambda: Dense(4, activation="linear"), (6,)),
}
NORMS = {
    "gamma and beta": {},
    "no gamma": {"scale": False},
    "no beta": {"center": False},
    "neither": {"scale": False, "center": False, "epsilon": 0.1},
}


def check(model, shape):
    x = images(11, shape)
    assert len(folded(model)) == 1
    np.testing.assert_allclose(model.predict(x, batch_size=4), expected(model, x), **ROUNDING)
    made = model.freeze_for_inference()
    np.testing.assert_allclose(made(torch.from_numpy(x)).numpy(), expected(model, x), **ROUNDING)
    for run in (lambda: model.predict(x), lambda: made(torch.from_numpy(x))):
        assert normalizations(run) == 0


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("layer", LAYERS)
def test_the_outputs_are_those_of_both_layers(layer, norm):
    make, shape = LAYERS[layer]
    inputs = Input(shape)
    check(stirred(Model(inputs, BatchNormalization(**NORMS[norm])(make()(inputs)))), shape)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [(Conv2D, (3, 7, 6)), (Conv3D, (2, 4, 5, 3)), (Conv2DTranspose, (3, 7, 6)), (DepthwiseConv2D, (3, 7, 6))],
)
def test_channels_first(kind, shape):
    inputs, sizes = Input(shape), ((3,) if kind is DepthwiseConv2D else (4, 2))
    hidden = kind(*sizes, data_format="channels_first")(inputs)
    check(stirred(Model(inputs, BatchNormalization(axis=1)(hidden))), shape)


def test_a_network_gives_its_values_with_no_normalization_left():
    model, x = network(), images()
    assert folded(model) == ["bn_1", "bn_2", "bn_3"]
    np.testing.assert_allclose(model.predict(x), expected(model, x), **ROUNDING)
    assert normalizations(lambda: model.predict(x)) == 0
    with torch.no_grad():
        assert normalizations(lambda: model.eval()(torch.from_numpy(x))) == 3


def test_the_axis_may_be_counted_from_either_end():
    inputs = Input((7, 6, 3))
    check(stirred(Model(inputs, BatchNormalization(axis=3)(Conv2D(4, 3)(inputs)))), (7, 6, 3))


def test_models_inside_models_are_folded_too():
    inputs, first, second = Input((8, 8, 3)), Input((8, 8, 3)), Input((8, 8, 3))
    inner = Model(inputs, BatchNormalization(name="inside")(Conv2D(3, 3, padding="same")(inputs)), name="inner")
    outer = stirred(Model([first, second], Flatten(name="flat")(Add(name="sum")([inner(first), inner(inner(second))]))))
    x = [images(6), images(6)[::-1].copy()]
    with torch.no_grad():
        wanted = outer.eval()([torch.from_numpy(item) for item in x]).numpy()
    np.testing.assert_allclose(outer.predict(x), wanted, **ROUNDING)
    assert normalizations(lambda: outer.predict(x)) == 0
    made = outer.freeze_for_inference()
    np.testing.assert_allclose(made([torch.from_numpy(item) for item in x]).numpy(), wanted, **ROUNDING)
    assert [name for name, _ in made.named_children()] == ["inner", "sum", "flat"]
    assert not any(isinstance(module, BatchNormalization) for module in made.modules())


def test_a_frozen_copy_takes_and_gives_what_the_model_does():
    image = Input((8, 8, 3), name="image")
    normal = BatchNormalization()(Conv2D(4, 3)(image))
    inner = Model({"pixels": image}, {"plain": Flatten()(normal), "kept": normal})
    x = Input((8, 8, 3))
    found = inner({"pixels": x})
    model = stirred(Model({"x": x}, {"a": found["plain"], "b": (found["kept"],)}))
    data = {"x": torch.from_numpy(images(6))}
    frozen, wanted = model.freeze_for_inference(), model.eval()(data)
    for made in (frozen, copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen))):  # noqa: S301
        assert not any(isinstance(module, BatchNormalization) for module in made.modules())
        outputs = made(data)
        assert type(outputs["b"]) is tuple
        torch.testing.assert_close(outputs, wanted, **ROUNDING)


def test_in_a_model_with_masks_only_what_has_none_is_folded():
    inputs = Input((5, 3))
    masked = BatchNormalization(name="masked")(Dense(4)(Masking()(inputs)))
    free = BatchNormalization(name="free")(Dense(4)(LSTM(4)(masked)))
    model, x = stirred(Model(inputs, free)), images(6, (5, 3))
    x[:, 3:] = 0
    assert folded(model) == ["free"]
    np.testing.assert_allclose(model.predict(x), expected(model, x), **ROUNDING)
    frozen = model.freeze_for_inference()
    np.testing.assert_allclose(frozen(torch.from_numpy(x)).numpy(), expected(model, x), **ROUNDING)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types(dtype):
    model, x = network().to(dtype), images(8)
    found, wanted = model.predict(x), model.eval()(torch.from_numpy(x).to(dtype)).detach()
    assert normalizations(lambda: model.predict(x)) == 0
    tolerance = {torch.float64: 1e-12, torch.bfloat16: 2e-2}[dtype]
    np.testing.assert_allclose(found, wanted.to(torch.float64), rtol=tolerance, atol=tolerance)


def test_a_kernel_beyond_the_range_of_its_type_stays_apart():
    inputs = Input((6,))
    model = stirred(Model(inputs, BatchNormalization(epsilon=1e-12, name="bn")(Dense(4, name="dense")(inputs))))
    norm, dense = model.get_layer("bn").norm, model.get_layer("dense").linear
    norm.running_var[0] = 0  # as that of a channel which is always zero
    norm.running_mean[0] = 0
    with torch.no_grad():
        dense.weight[0], dense.bias[0] = 1e-6, 0
    x = images(8, (6,))
    np.testing.assert_allclose(model.predict(x), expected(model, x), **ROUNDING)
    assert folded(model) == ["bn"]
    with torch.no_grad():
        dense.weight[0, 0] = 1
    assert folded(model.half()) == []


# --- what stays as it is ---------------------------------------------------------------------------------------------


class Doubled(Dense):
    def forward(self, inputs):
        return 2 * super().forward(inputs)


class Called(Dense):
    def call(self, inputs):
        return super().call(inputs) ** 2


class Derived(Dense):
    """Has no `forward` of its own, but may have changed what that calls."""


class OwnNorm(BatchNormalization):
    def forward(self, inputs, training=None):
        return super().forward(inputs, training) + 1


def sequence(*layers):
    def make():
        inputs = outputs = Input((6,))
        for layer in (make_layer() for make_layer in layers):
            outputs = layer(outputs)
        return Model(inputs, outputs)

    return make


def shared_layer():
    inputs, dense = Input((6,)), Dense(6)
    return Model(inputs, BatchNormalization()(dense(dense(inputs))))


def shared_normalization():
    inputs, norm = Input((6,)), BatchNormalization()
    return Model(inputs, norm(Dense(6)(norm(Dense(6)(inputs)))))


def taken_twice():
    inputs = Input((6,))
    hidden = Dense(6)(inputs)
    return Model(inputs, Add()([hidden, BatchNormalization()(hidden)]))


def an_output_as_well():
    inputs = Input((6,))
    hidden = Dense(6)(inputs)
    return Model(inputs, [BatchNormalization()(hidden), hidden])


def training_of_the_call():
    inputs = Input((6,))
    return Model(inputs, BatchNormalization()(Dense(6)(inputs), training=True))


def parametrized():
    model = sequence(lambda: Dense(4, name="dense"), BatchNormalization)()
    parametrize.register_parametrization(model.get_layer("dense").linear, "weight", nn.Tanh())
    return model


def replaced():
    class Twice(nn.Linear):
        def forward(self, inputs):
            return 2 * super().forward(inputs)

    model = sequence(lambda: Dense(4, name="dense"), BatchNormalization)()
    model.get_layer("dense").linear = Twice(6, 4)
    return model


LEFT = {
    "an activation": sequence(lambda: Dense(4, activation="tanh"), BatchNormalization),
    "an activation between": sequence(lambda: Dense(4), lambda: Activation("relu"), BatchNormalization),
    "an activity regularizer": sequence(lambda: Dense(4, activity_regularizer="l2"), BatchNormalization),
    "nothing before": sequence(BatchNormalization, lambda: Dense(4)),
    "a forward of its own": sequence(lambda: Doubled(4), BatchNormalization),
    "a call of its own": sequence(lambda: Called(4), BatchNormalization),
    "a class of the user's": sequence(lambda: Derived(4), BatchNormalization),
    "a normalization of the user's": sequence(lambda: Dense(4), OwnNorm),
    "mode 1": sequence(lambda: Dense(4), lambda: BatchNormalization(mode=1)),
    "mode 2": sequence(lambda: Dense(4), lambda: BatchNormalization(mode=2)),
    "no epsilon": sequence(lambda: Dense(4), lambda: BatchNormalization(epsilon=0)),
    "a shared layer": shared_layer,
    "a shared normalization": shared_normalization,
    "taken twice": taken_twice,
    "an output as well": an_output_as_well,
    "training=True": training_of_the_call,
    "parametrized": parametrized,
    "replaced": replaced,
}


@pytest.mark.parametrize("case", LEFT)
def test_what_is_left_alone(case):
    model, x = stirred(LEFT[case]()), images(6, (6,))
    assert folded(model) == []
    frozen = model.freeze_for_inference()
    with torch.no_grad():
        wanted = model.eval()(torch.from_numpy(x))
        torch.testing.assert_close(frozen(torch.from_numpy(x)), wanted, rtol=0, atol=0)
    for found, value in zip(as_list(model.predict(x)), as_list(wanted), strict=True):
        np.testing.assert_array_equal(found, value)


def test_another_axis_than_that_of_the_channels_is_left_alone():
    inputs = Input((7, 6, 3))
    model = stirred(Model(inputs, BatchNormalization(axis=1)(Conv2D(4, 3)(inputs))))
    x = images(5, (7, 6, 3))
    assert folded(model) == []
    np.testing.assert_array_equal(model.predict(x), expected(model, x))


def test_a_module_of_another_size_in_a_layers_place_is_no_fold():
    model = sequence(lambda: Dense(4, name="dense"), BatchNormalization)()
    model.get_layer("dense").linear = nn.Linear(6, 1)
    assert folded(model) == []
    with pytest.raises(RuntimeError, match="running_mean should contain 1 elements not 4"):
        model.predict(images(6, (6,)))


def test_a_layer_that_a_wrapper_calls_as_well_keeps_its_weights_there():
    inputs = Input((5, 6))
    dense = Dense(4)
    plain = BatchNormalization()(dense(inputs))
    model = stirred(Model(inputs, Add()([plain, TimeDistributed(dense)(inputs)])))
    x = images(6, (5, 6))
    assert len(folded(model)) == 1
    np.testing.assert_allclose(model.predict(x), expected(model, x), **ROUNDING)
    frozen = model.freeze_for_inference()
    np.testing.assert_allclose(frozen(torch.from_numpy(x)).numpy(), expected(model, x), **ROUNDING)


def test_a_model_with_a_forward_of_its_own_is_not_folded():
    class Negative(Model):
        def forward(self, *inputs, **options):
            return -super().forward(*inputs, **options)

    inputs = Input((6,))
    model, x = stirred(Negative(inputs, BatchNormalization()(Dense(4)(inputs)))), images(6, (6,))
    np.testing.assert_array_equal(model.predict(x), expected(model, x))
    np.testing.assert_array_equal(model.freeze_for_inference()(torch.from_numpy(x)).numpy(), expected(model, x))


def test_a_predict_step_of_ones_own_sees_the_layers_as_they_are():
    class Own(Model):
        def predict_step(self, data):
            return self(data[0]) + 1

    inputs = Input((6,))
    model, x = stirred(Own(inputs, BatchNormalization()(Dense(4)(inputs)))), images(6, (6,))
    np.testing.assert_array_equal(model.predict(x), expected(model, x) + 1)


# --- observers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("watched", ["conv_1", "bn_1", "bn_3", "last"])
def test_hooks_see_what_their_layers_compute(watched):
    model, x, seen = network(), images(8), []
    layer = model.get_layer(watched)
    layer.register_forward_hook(lambda _, inputs, output: seen.append(output.clone()))
    found = model.predict(x)
    layer._forward_hooks.clear()
    part = Model(model.input, layer.output)
    output = seen[0].permute(0, 2, 3, 1) if seen[0].dim() == 4 else seen[0]
    np.testing.assert_array_equal(output.numpy(), expected(part, x))
    np.testing.assert_array_equal(found, expected(model, x))


def test_layers_with_hooks_stay_in_a_frozen_copy_and_are_observed_there():
    model, seen = network(), []
    model.get_layer("bn_1").register_forward_hook(lambda *_: seen.append(True))
    frozen, x = model.freeze_for_inference(), images(8)
    assert [name for name in frozen._modules if name.startswith("bn")] == ["bn_1"]
    found = frozen(torch.from_numpy(x)).numpy()
    assert seen == [True]
    np.testing.assert_allclose(found, expected(model, x), **ROUNDING)


def test_callbacks_may_change_weights_between_batches():
    class Doubles(Callback):
        def on_predict_batch_end(self, batch, logs=None):
            self.model.get_layer("bn_3").norm.weight.data.mul_(2)

    inputs = Input((6,))
    model = stirred(Model(inputs, BatchNormalization(name="bn_3", center=False)(Dense(4)(inputs))))
    x = np.tile(images(2, (6,)), (2, 1))
    found = model.predict(x, batch_size=2, callbacks=[Doubles()])
    np.testing.assert_allclose(found[2:], 2 * found[:2], rtol=1e-6)


# --- weights that change ---------------------------------------------------------------------------------------------


def by_fit(model):
    model.fit(images(), np.eye(4, dtype="float32")[np.arange(64) % 4], verbose=0)


def by_other_data(model):
    model.get_layer("conv_1").conv.weight.data = torch.randn(6, 3, 3, 3)


def by_another_parameter(model):
    model.get_layer("bn_1").norm.weight = nn.Parameter(torch.rand(6))


def by_another_buffer(model):
    model.get_layer("bn_1").norm.running_var = torch.rand(6)


def by_loading(model):
    model.load_state_dict({name: value + 0.5 for name, value in model.state_dict().items()})


def in_numpy(model):
    model.get_layer("dense").linear.weight.detach().numpy()[:] += 1


CHANGES = {
    "fit": by_fit,
    "set_weights": lambda model: model.set_weights([weight + 0.1 for weight in model.get_weights()]),
    "assign": lambda model: model.get_layer("bn_2").weights[0].assign(np.full(6, 3.0)),
    "data in place": lambda model: model.get_layer("conv_1").conv.weight.data.mul_(2),
    "data": by_other_data,
    "statistics in place": lambda model: model.get_layer("bn_1").norm.running_mean.add_(1),
    "another parameter": by_another_parameter,
    "another buffer": by_another_buffer,
    "load_state_dict": by_loading,
    "in NumPy": in_numpy,
    "to float64": lambda model: model.to(torch.float64),
    "another epsilon": lambda model: setattr(model.get_layer("bn_1").norm, "eps", 0.5),
    "another activation": lambda model: setattr(model.get_layer("conv_1"), "activation", torch.tanh),
    "another module": lambda model: setattr(model.get_layer("dense"), "linear", nn.Linear(6, 5)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_prediction_has_the_weights_of_its_time(change):
    model, x = network(), images()
    model.compile("adam", "mse")
    before = model.predict(x)
    CHANGES[change](model)
    after = model.predict(x)
    assert np.abs(after - before).max() > (1e-12 if change == "to float64" else 1e-4)
    dtype = next(model.parameters()).dtype
    with torch.no_grad():
        np.testing.assert_allclose(after, model.eval()(torch.from_numpy(x).to(dtype)).numpy(), **ROUNDING)


def test_loaded_weights(tmp_path):
    model, other, x = network(), network(use_bias=True), images()
    other.set_weights([weight + 0.1 for weight in other.get_weights()])
    other.save_weights(tmp_path / "weights.h5")
    model.predict(x)
    model.load_weights(tmp_path / "weights.h5")
    np.testing.assert_array_equal(model.predict(x), other.predict(x))


def test_training_after_a_prediction_is_the_same_as_without_one():
    def losses(predicts):
        torch.manual_seed(0)
        model = network()
        model.compile("adam", "mse")
        y = np.eye(4, dtype="float32")[np.arange(64) % 4]
        history = []
        for _ in range(3):
            if predicts:
                model.predict(images(), batch_size=1)
            history += model.fit(images(), y, verbose=0, shuffle=False).history["loss"]
        return history

    torch.manual_seed(0)
    assert losses(predicts=True) == losses(predicts=False)


def test_a_prediction_leaves_the_model_as_it_was():
    model = network()
    before = {name: (id(value), value._version) for name, value in model.state_dict(keep_vars=True).items()}
    modules, nodes = list(model.modules()), [len(layer._inbound_nodes) for layer in model.layers]
    model.predict(images())
    model.freeze_for_inference()
    assert {name: (id(value), value._version) for name, value in model.state_dict(keep_vars=True).items()} == before
    assert list(model.modules()) == modules
    assert [len(layer._inbound_nodes) for layer in model.layers] == nodes
    assert model.training
    assert all(parameter.requires_grad for parameter in model.parameters())


# --- when it is worth it ---------------------------------------------------------------------------------------------


def test_few_samples_are_not_worth_a_fold(monkeypatch):
    monkeypatch.setattr(fold_batch_norm, "CALLS_WORTH", 400_000)
    model = network()
    assert normalizations(lambda: model.predict(images(8))) == 3
    seen = normalizations(lambda: model.predict(images(1200), batch_size=1200))
    assert seen == 1  # that of the Dense, which gives 5 values a sample
    batches = lambda: model.predict((images(8) for _ in range(2)), steps=2)  # noqa: E731
    assert normalizations(batches) == 0  # there may be any number of them


# --- the frozen copy -------------------------------------------------------------------------------------------------


def test_the_frozen_copy_is_a_module_of_its_own():
    model, x = network(), images()
    before = expected(model, x)
    frozen = model.freeze_for_inference()
    assert type(frozen) is Network
    assert isinstance(frozen, nn.Module)
    assert not any(module.training for module in frozen.modules())
    assert not any(parameter.requires_grad for parameter in frozen.parameters())
    own = {tensor.data_ptr() for tensor in model.state_dict().values()}
    assert own.isdisjoint(tensor.data_ptr() for tensor in frozen.state_dict().values())
    model.compile("sgd", "mse")
    by_fit(model)
    np.testing.assert_allclose(frozen(torch.from_numpy(x)).numpy(), before, **ROUNDING)


def test_its_code_and_its_weights_have_no_normalization():
    frozen = network(use_bias=False).freeze_for_inference()
    assert "bn_" not in frozen.code
    assert sorted(frozen.state_dict()) == sorted(
        f"{name}.{module}.{kind}"
        for name, module in (("conv_1", "conv"), ("conv_2", "conv"), ("dense", "linear"), ("last", "linear"))
        for kind in ("weight", "bias")
    )
    assert [weight.shape for weight in frozen.get_layer("conv_1").get_weights()] == [(3, 3, 3, 6), (6,)]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])  # noqa: S301
def test_it_can_be_copied(copied):
    frozen = network().freeze_for_inference()
    x = torch.from_numpy(images())
    torch.testing.assert_close(copied(frozen)(x), frozen(x), rtol=0, atol=0)


def test_its_weights_go_into_another_one():
    one, other = network().freeze_for_inference(), network()
    other.set_weights([weight * 0.5 for weight in other.get_weights()])
    other = other.freeze_for_inference()
    other.load_state_dict(one.state_dict())
    x = torch.from_numpy(images())
    torch.testing.assert_close(other(x), one(x), rtol=0, atol=0)


@pytest.mark.torch("2.8", "its compiler follows whole models")
def test_it_can_be_traced_exported_and_compiled():
    frozen, x = network().freeze_for_inference(), torch.from_numpy(images())
    wanted = frozen(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit warns of itself, and of sizes that it takes for fixed
        traced: Any = torch.jit.trace(frozen, x)
    torch.testing.assert_close(traced(x), wanted)
    exported: Any = torch.export.export(frozen, (x,)).module()
    torch.testing.assert_close(exported(x), wanted)
    torch.testing.assert_close(torch.compile(frozen, backend="aot_eager", fullgraph=True)(x), wanted)


def test_it_moves_to_another_type():
    model, x = network(), images()
    found = model.freeze_for_inference().double()(torch.from_numpy(x).double())
    np.testing.assert_allclose(found.numpy(), expected(model, x), **ROUNDING)


@pytest.mark.torch("2.6", "kernels of half types on the CPU")
def test_its_weights_may_have_16_bits():
    torch.manual_seed(0)
    model, x = (
        Sequential([Dense(256, activation="relu", input_shape=(64,)), Dense(128), Dense(10)]),
        torch.randn(64, 64),
    )
    frozen = model.freeze_for_inference()
    wanted = frozen(x)
    found = frozen.bfloat16()(x.bfloat16()).float()
    assert {weight.itemsize for weight in frozen.state_dict().values()} == {2}
    assert 0 < (found - wanted).abs().max() < 0.01 * wanted.abs().max()


def test_tied_weights_stay_tied_between_models_inside():
    inputs, dense = Input((6,)), Dense(6, name="tied")
    inner = Model(inputs, dense(inputs), name="inner")
    outer = Model(inputs, Add()([inner(inputs), dense(inputs)]))
    frozen = outer.freeze_for_inference()
    assert frozen.get_layer("tied").linear.weight is frozen.get_layer("inner").get_layer("tied").linear.weight


def test_a_sequential_and_a_model_in_training_mode():
    model = stirred(Sequential([Dense(4, input_shape=(6,)), BatchNormalization(), Dropout(0.5), Dense(2)])).train()
    x = images(6, (6,))
    frozen = model.freeze_for_inference()
    assert model.training
    np.testing.assert_allclose(frozen(torch.from_numpy(x)).numpy(), expected(model, x), **ROUNDING)


def test_a_normalization_in_training_mode_is_no_affine_function():
    model = network().train()
    assert fold_batch_norm.folds(model) == []


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (
            lambda: network().freeze_for_inference()(torch.zeros(2, 8, 8, 4)),
            ValueError,
            "Input images of Network 'classifier' has shape (None, 8, 8, 3); found shape (2, 8, 8, 4).",
        ),
        (
            lambda: network().freeze_for_inference()(torch.zeros(2, 8, 8, 3), torch.zeros(2, 1)),
            ValueError,
            "Network 'classifier' has 1 inputs (images); it was called with 2.",
        ),
        (
            lambda: Sequential([Dense(2), BatchNormalization()], name="late").freeze_for_inference(),
            RuntimeError,
            "Sequential 'late' has no graph yet",
        ),
    ],
)
def test_what_it_refuses(act, error, text):
    with pytest.raises(error) as caught:
        act()
    assert text in str(caught.value)


@pytest.mark.parametrize(
    "option",
    [
        {"workers": -1}, {"workers": 2}, {"max_queue_size": 0}, {"max_queue_size": 3}, {"use_multiprocessing": True},
        {"batch_size": True}, {"batch_size": 1.0}, {"batch_size": np.ones(2)}, {"steps": 0}, {"verbose": 3},
        {"callbacks": ["none"]},
    ],
    ids=str,
)  # fmt: skip
def test_options_for_one_sample_are_looked_at_as_for_many(option):
    model = network()
    told = []
    for samples in (1, 2):
        with pytest.raises((ValueError, TypeError)) as error:
            model.predict(images(samples), **option)
        told.append(str(error.value))
    assert told[0] == told[1]


@pytest.mark.parametrize("value", [0.5, -1.0, 5.0, np.nan])
def test_one_sample_of_indices_that_a_layer_does_not_have(value):
    inputs = Input((2,))
    model = Model(inputs, Embedding(5, 3, name="words")(inputs))
    for samples in (1, 2):
        with pytest.raises(ValueError, match="words"):
            model.predict(np.full((samples, 2), value, "float32"))


# --- modes -----------------------------------------------------------------------------------------------------------


class Notes(Layer):
    """Notes in which mode it runs."""

    modes: list[bool]

    def forward(self, inputs):
        self.__dict__.setdefault("modes", []).append(torch.is_inference_mode_enabled())
        return inputs


def modes_of(model, *arguments, **options):
    """The modes of autograd that a prediction's steps run in."""
    found = []

    def step(run, inputs):
        found.append(torch.is_inference_mode_enabled())
        assert not torch.is_grad_enabled()
        return [run(inputs[0])]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(methods, "predict_step", step)
        model.predict(*arguments, **options)
    return set(found)


def test_steps_of_a_long_prediction_run_in_inference_mode():
    assert modes_of(network(), images(), batch_size=2) == {True}


def test_not_where_something_could_keep_a_tensor():
    x, inputs = images(), Input((8, 8, 3))
    own = Model(inputs, Flatten()(Lambda(lambda value: value + 1)(inputs)))
    assert modes_of(own, x, batch_size=2) == {False}
    assert modes_of(Model(inputs, Notes()(inputs)), x, batch_size=2) == {False}
    assert modes_of(Model(inputs, Activation(lambda value: value)(inputs)), x, batch_size=2) == {False}
    assert modes_of(network(), x, batch_size=2, callbacks=[Callback()]) == {False}
    assert modes_of(network(), (x[:2] for _ in range(32)), steps=32) == {False}
    steps = Input(batch_shape=(2, 5, 3))
    carried = Model(steps, Bidirectional(LSTM(4, stateful=True))(steps))
    assert modes_of(carried, images(64, (5, 3)), batch_size=2) == {False}
    watched = network()
    watched.get_layer("last").register_forward_hook(lambda *_: None)
    assert modes_of(watched, x, batch_size=2) == {False}
    with torch.autocast("cpu", torch.bfloat16):
        assert modes_of(network(), x, batch_size=2) == {False}


def mode_of_one(model):
    """Whether a prediction of one sample computes in inference mode."""
    found = []

    def to_numpy(tensor):
        found.append(tensor.is_inference())
        return arrays.to_numpy(tensor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(methods, "to_numpy", to_numpy)
        model.predict(images(1))
    return found


def test_one_sample_runs_in_inference_mode_while_nothing_could_keep_a_tensor():
    model, inputs = network(), Input((8, 8, 3))
    assert mode_of_one(model) == [True]
    with torch.autocast("cpu", torch.bfloat16):
        assert mode_of_one(model) == [False]
    watched = model.get_layer("last").register_forward_hook(lambda *_: None)
    assert mode_of_one(model) == [False]
    watched.remove()
    assert mode_of_one(model) == [True]
    model.get_layer("last").activation = lambda value: value
    assert mode_of_one(model) == [False]
    assert mode_of_one(Model(inputs, Flatten()(Lambda(lambda value: value + 1)(inputs)))) == [False]
    assert mode_of_one(Model(inputs, Notes()(inputs))) == [False]


@pytest.mark.parametrize("made", [network, lambda: Sequential([Flatten(input_shape=(8, 8, 3)), Dense(1)])])
def test_a_model_trains_after_one_sample(made):
    model = made()
    model.predict(images(1))
    model.compile("sgd", "mse")
    model.fit(images(4), model.predict(images(4)), verbose=0)
    assert model.predict(images(1)).flags.writeable


def test_a_state_carried_on_can_be_trained_with():
    inputs = Input(batch_shape=(2, 5, 3))
    model = Model(inputs, Dense(1)(LSTM(4, stateful=True)(inputs)))
    model.compile("sgd", "mse")
    x = images(64, (5, 3))
    model.predict(x, batch_size=2)
    model.fit(x, x[:, 0, :1], batch_size=2, verbose=0)


def test_predictions_are_arrays_like_any_other():
    found = network().predict(images(), batch_size=2)
    assert found.flags.writeable
    tensor = torch.from_numpy(found)
    assert not tensor.is_inference()
    torch.ones(4, 1, requires_grad=True).mul(tensor[:4]).sum().backward()


def test_what_observes_is_looked_for_at_each_step():
    model = network().eval()
    run, x = fold_batch_norm.Merged(model, None), torch.from_numpy(images())
    with torch.no_grad():
        torch.testing.assert_close(run.run(x), HookFreeCalls(model).run(x))
        handle = model.get_layer("bn_1").register_forward_hook(lambda *_: torch.zeros(64, 6, 8, 8))
        assert not torch.allclose(run.run(x), run.unobserved(x))
        handle.remove()


@pytest.mark.parametrize("mixed", ["conv", "norm"])
def test_kernels_that_are_cast_to_16_bits_are_left_alone(mixed):
    policies = {name: "mixed_float16" if name == mixed else "float32" for name in ("conv", "norm")}
    inputs = Input((8, 8, 3))
    hidden = BatchNormalization(dtype=policies["norm"])(Conv2D(4, 3, dtype=policies["conv"])(inputs))
    assert fold_batch_norm.folds(Model(inputs, hidden).eval()) == []
    plain = Model(inputs, BatchNormalization()(Conv2D(4, 3)(inputs)))
    assert len(fold_batch_norm.folds(plain.eval())) == 1
