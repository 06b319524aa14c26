"""Dtype policies: which types layers have, how they train, and the loss scale of float16."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from operations import FROM_THE_HOST, WAITS, counted, data_of, evaluates_in_one_graph
from torch import nn

from torchkeras import Input, Model, Sequential, callbacks, clear_session, config, layers, mixed_precision
from torchkeras.layers import (
    LSTM,
    Activation,
    BatchNormalization,
    Bidirectional,
    Dense,
    Dropout,
    Embedding,
    Lambda,
    TimeDistributed,
)
from torchkeras.losses import MeanSquaredError
from torchkeras.mixed_precision import DTypePolicy
from torchkeras.optimizers import SGD, Adam, AdamW

X = np.random.default_rng(0).random((64, 6), dtype="float32")
Y = np.eye(3, dtype="float32")[X[:, :3].argmax(1)]
HALF = {"mixed_float16": torch.float16, "mixed_bfloat16": torch.bfloat16}
FIRST = 2.0**15
BEYOND = 2.0**120  # a scale that no gradient survives


@pytest.fixture(autouse=True)
def _no_global_policy():
    clear_session()
    yield
    config.set_dtype_policy(None)


def made(dtype="mixed_float16", kind=Sequential, units=16, **options):
    """A classifier, by default with plain gradient descent."""
    torch.manual_seed(0)
    model = kind([Dense(units, activation="relu", input_shape=(6,)), Dense(3, activation="softmax")], dtype=dtype)
    model.compile(**{"optimizer": SGD(0.5), "loss": "categorical_crossentropy", "metrics": ["acc"], **options})
    return model


def scale_of(model) -> Any:
    return model._training.ready().scaling


# --- policies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "compute", "variable"),
    [
        ("mixed_float16", "float16", "float32"),
        ("mixed_bfloat16", "bfloat16", "float32"),
        ("float32", "float32", "float32"),
        ("float16", "float16", "float16"),
    ],
)
def test_a_policy_has_two_types(name, compute, variable):
    policy = mixed_precision.Policy(name)
    assert (policy.name, policy.compute_dtype, policy.variable_dtype) == (name, compute, variable)
    assert (policy.compute_type, policy.variable_type) == (getattr(torch, compute), getattr(torch, variable))
    assert policy.is_mixed is (compute != variable)
    assert DTypePolicy.from_config(policy.get_config()) == policy
    copied = copy.deepcopy(policy)
    assert (copied, copied.compute_type) == (policy, policy.compute_type)
    assert repr(policy) == f'<DTypePolicy "{name}">'
    for dtype in (name, policy, *([] if name.startswith("mixed") else [getattr(torch, name)])):
        layer = Dense(2, dtype=dtype)
        assert layer.dtype_policy == policy
        assert (layer.compute_dtype, layer.variable_dtype, layer.dtype) == (compute, variable, variable)


@pytest.mark.parametrize("wrong", ["mixed_float32", 16, "mixed"])
def test_another_name_is_refused(wrong):
    with pytest.raises(ValueError, match=f"mixed_float16, mixed_bfloat16 or the name of a torch dtype.*{wrong}"):
        DTypePolicy(wrong)
    with pytest.raises(ValueError, match=f"^Dense 'd': a dtype policy is mixed_float16.*found '?{wrong}'?"):
        Dense(2, name="d", dtype=wrong)


def test_the_global_policy_is_that_of_new_layers():
    assert mixed_precision.global_policy() == DTypePolicy("float32")
    mixed_precision.set_global_policy("mixed_bfloat16")
    layer, other = Dense(2), Dense(2, dtype="float32")
    assert mixed_precision.dtype_policy() == layer.dtype_policy == DTypePolicy("mixed_bfloat16")
    assert Input((3,)).dtype is torch.float32
    mixed_precision.set_dtype_policy(None)
    assert (layer.compute_dtype, other.compute_dtype, Dense(2).compute_dtype) == ("bfloat16", "float32", "float32")
    with pytest.raises(ValueError, match=r"^the dtype policy of all layers must be of a float type; found 'int32'"):
        config.set_dtype_policy("int32")


def test_a_config_has_the_policy_where_it_is_not_the_usual_one():
    assert "dtype" not in Dense(2).get_config()
    config.set_dtype_policy("mixed_float16")
    found = Dense(2).get_config()
    config.set_dtype_policy(None)
    assert found["dtype"] == "mixed_float16"
    assert Dense.from_config(found).dtype_policy == DTypePolicy("mixed_float16")


# --- types in a graph ------------------------------------------------------------------------------------------------


def test_one_region_holds_the_layers_of_one_policy():
    x = Input((4,), name="x")
    y = Dense(3, name="a", dtype="mixed_float16")(x)
    y = Dense(3, name="b", dtype="mixed_float16")(y)
    model = Model(x, Activation("softmax", name="c", dtype="float32")(y))
    assert model.code == (
        "def forward(self, x):\n"
        "    x1 = typed(x, torch.float16)\n"
        "    with torch.autocast(x.device.type, torch.float16):\n"
        "        x1 = typed(self.a(x1), torch.float16)  # (None, 3)\n"
        "        x1 = typed(self.b(x1), torch.float16)  # (None, 3)\n"
        "        x1 = typed(x1, torch.float32)\n"
        "    x1 = self.c(x1)  # (None, 3)\n"
        "    return x1\n"
    )


def test_a_model_of_one_type_has_no_cast():
    assert "typed" not in made("float32").code
    assert "autocast" not in made("float32").code


def test_inputs_are_cast_to_what_a_layer_computes_in():
    x = Input((4,), dtype="float64")
    model = Model(x, Dense(2)(x))
    assert model(torch.ones(2, 4, dtype=torch.float64)).dtype is torch.float32


def test_integers_and_what_a_function_says_stay():
    config.set_dtype_policy("mixed_bfloat16")
    x = Input((4,), dtype="int32")
    y = Embedding(9, 3)(x)
    wide, places = Lambda(lambda v: v.float())(y), Lambda(lambda v: v.argmax(-1))(y)
    model = Model(x, [y, wide, places, y + wide])
    found = model(torch.ones(2, 4, dtype=torch.int32))
    assert [value.dtype for value in found] == [torch.bfloat16, torch.float32, torch.int64, torch.float32]
    assert [tensor.dtype for tensor in model.outputs] == [value.dtype for value in found]


def test_a_model_inside_takes_its_inputs_in_its_own_type():
    inner = Sequential([Dense(3, input_shape=(4,))])
    x = Input((6,))
    model = Model(x, inner(Dense(4, dtype="mixed_float16")(x)))
    assert model(torch.ones(2, 6)).dtype is torch.float32


def test_layers_of_a_persons_own():
    class Scaled(layers.Layer):
        def build(self, input_shape):
            self.scale = self.add_weight("scale", (input_shape[-1],), initializer="ones")
            super().build(input_shape)

        def call(self, inputs):
            return inputs * self.scale

    x = Input((4,))
    layer = Scaled(dtype="mixed_float16")
    model = Model(x, layer(x))
    assert layer.scale.dtype is torch.float32
    assert model(torch.ones(2, 4)).dtype is model.output.dtype is torch.float16


def test_a_call_by_hand_casts_as_the_graph_does():
    mixed, last = Dense(3, dtype="mixed_float16"), Activation("softmax", dtype="float32")
    scores = mixed(torch.ones(2, 4))
    assert (scores.dtype, last(scores).dtype) == (torch.float16, torch.float32)


def test_a_model_that_torch_made_of_another_type_computes_in_that():
    x = Input((5, 4))
    y = TimeDistributed(Dense(3, dtype="float32"), dtype="float32")(x)
    model = Model(x, TimeDistributed(Activation("tanh", dtype="float32"), dtype="float32")(y)).double()
    assert model(torch.ones(2, 5, 4, dtype=torch.float64)).dtype is torch.float64
    layer = Dense(3, dtype="float32")
    layer(torch.ones(2, 4))
    assert layer.double()(torch.ones(2, 4, dtype=torch.float64)).dtype is torch.float64


def test_copies_have_the_policy():
    model = made("mixed_bfloat16")
    again = Sequential.from_config(model.get_config())
    again.set_weights(model.get_weights())
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), again):  # noqa: S301  # made in this test
        assert other.code.count("torch.bfloat16") == model.code.count("torch.bfloat16") > 0
        np.testing.assert_array_equal(other.predict(X), model.predict(X))


# --- a model's policy ------------------------------------------------------------------------------------------------


def test_a_model_gives_its_policy_to_layers_without_one():
    x = Input((6, 4))
    y = TimeDistributed(Dense(3))(Bidirectional(LSTM(4, return_sequences=True))(x))
    model = Model(x, Activation("softmax", dtype="float32")(y), dtype="mixed_bfloat16")
    assert [layer.compute_dtype for layer in model.layers] == ["float32", "bfloat16", "bfloat16", "float32"]
    assert y.dtype is torch.bfloat16
    assert model(torch.ones(2, 6, 4)).dtype is torch.float32
    stack = Sequential([Dense(4), Dense(2, dtype="float32")], dtype="mixed_float16")
    stack.add(Dense(1))
    stack.build((None, 3))
    assert [layer.compute_dtype for layer in stack.layers] == ["float16", "float32", "float16"]


def test_setting_a_models_policy_gives_it_to_all():
    model = made("float32")
    exact = model.predict(X)
    model.dtype_policy = "mixed_bfloat16"
    assert model.dtype_policy == model.layers[0].dtype_policy == DTypePolicy("mixed_bfloat16")
    near = model.predict(X)
    assert 0 < np.abs(near - exact).max() < 0.01
    model.fit(X, Y, verbose=0)
    model.dtype_policy = "float32"
    assert "autocast" not in model.code
    with pytest.raises(ValueError, match=r"^Dense 'dense_1': its weights are float32; the dtype policy 'float64' has"):
        model.dtype_policy = "float64"
    assert model.layers[1].dtype_policy == DTypePolicy("float32")


def test_a_layers_policy_is_settled_by_its_first_call():
    layer = Dense(2, name="d")
    layer.dtype_policy = "mixed_float16"
    assert layer(Input((3,))).dtype is torch.float16
    with pytest.raises(ValueError, match=r"^Dense 'd': its dtype_policy is settled by its first call"):
        layer.dtype_policy = "float32"


def test_a_layer_and_those_inside_have_one_policy():
    config.set_dtype_policy(None)
    outer = TimeDistributed(Dense(3, dtype="mixed_float16"))
    assert outer(Input((5, 4))).dtype is torch.float16
    assert outer.compute_dtype == "float16"
    assert TimeDistributed(Dense(3), dtype="mixed_float16")(Input((5, 4))).dtype is torch.float16
    wrong = TimeDistributed(Dense(3, name="d", dtype="float32"), name="t", dtype="mixed_float16")
    with pytest.raises(
        ValueError,
        match="TimeDistributed 't' has the dtype policy 'mixed_float16' and Dense 'd' 'float32'; a layer and those "
        "inside it have one, unless none is mixed",
    ):
        wrong(Input((5, 4)))


# --- training --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", HALF)
def test_training_goes_as_in_float32(policy):
    histories = []
    for dtype in ("float32", policy):
        model = made(dtype, optimizer=Adam(0.01))
        histories.append(model.fit(X, Y, batch_size=16, epochs=10, shuffle=False, verbose=0).history["loss"])
        assert all(parameter.dtype is torch.float32 for parameter in model.parameters())
    exact, near = histories
    assert near[-1] < 0.9 * near[0]
    np.testing.assert_allclose(near, exact, rtol=0.02)
    assert model.predict(X[:1]).dtype == (
        "float16" if policy == "mixed_float16" else "float32"
    )  # NumPy has no bfloat16


def test_losses_and_metrics_have_32_bits():
    x = Input((6,))
    model = Model(x, Dense(1, activity_regularizer="l2", kernel_initializer="ones", dtype="mixed_float16")(x))
    model.compile("sgd", "mse", metrics=["mae"])
    large = np.full((8, 6), 400, "float32")  # whose squares are beyond what float16 holds
    loss, error = model.evaluate(large, np.zeros((8, 1)), verbose=0)
    assert (loss, error) == (2400.0**2 + 8 * 0.01 * 2400.0**2, 2400.0)


def test_the_loss_of_a_softmax_in_16_bits_has_the_logits():
    model = made("mixed_float16", optimizer=SGD(0.0))
    model.layers[1].set_weights([np.zeros((16, 3)), np.array([0, 12, 0])])
    loss = model.evaluate(X, np.eye(3)[np.zeros(64, int)], verbose=0)[0]
    assert loss == pytest.approx(12.0000123, rel=1e-6)  # the probability is 6e-6: 16 bits have it to 2 digits
    outputs = model(torch.tensor(X))
    assert model.compute_loss(None, torch.tensor(np.eye(3)[np.zeros(64, int)]), outputs).item() == pytest.approx(loss)


def test_statistics_have_32_bits():
    model = Sequential([BatchNormalization(input_shape=(6,)), Dense(3)], dtype="mixed_float16")
    model.compile("sgd", "mse")
    model.fit(X, Y, epochs=2, verbose=0)
    assert all(buffer.dtype is torch.float32 for buffer in model.buffers() if buffer.is_floating_point())


@pytest.mark.torch("2.8", "compiled steps")
@pytest.mark.parametrize("policy", HALF)
def test_an_evaluation_compiles_as_one_graph(policy):
    model = made(policy)
    (batch,) = data_of(model, X, Y, None).batches(64)
    evaluates_in_one_graph(model, batch)
    torch._dynamo.reset()


# --- the loss scale --------------------------------------------------------------------------------------------------


def test_only_float16_has_a_scale():
    assert scale_of(made("mixed_float16")).scale.item() == FIRST
    assert scale_of(made("mixed_bfloat16")) is None
    assert scale_of(made("float32")) is None
    x = Input((6,))
    model = Model(x, Dense(3)(Dense(4, dtype="mixed_float16")(x)))
    model.compile("sgd", "mse")
    assert scale_of(model).scale.item() == FIRST


OPTIMIZERS = {
    "sgd": lambda: SGD(0.5, momentum=0.9),
    "adam": lambda: Adam(0.01),
    "clipping": lambda: SGD(0.5, clipnorm=0.01),
    "nesterov": lambda: SGD(0.5, momentum=0.9, nesterov=True),
    "decay": lambda: SGD(0.5, weight_decay=0.01),
    "adamw": lambda: AdamW(0.01, weight_decay=0.1, amsgrad=True),
    "averages": lambda: Adam(0.01, use_ema=True),
    "torch": lambda: (torch.optim.AdamW, {"lr": 0.01}),
}


@pytest.mark.parametrize("guard", [None, "skip", "stop", "raise"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_gradients_that_overflow_change_nothing_but_the_scale(name, guard):
    model = made(optimizer=OPTIMIZERS[name](), on_nonfinite=guard)
    model.fit(X, Y, epochs=1, batch_size=32, verbose=0)
    tensors = [*model.parameters(), *model.optimizer.tensors()]
    before = [tensor.detach().clone() for tensor in tensors]
    scale_of(model).scale.fill_(BEYOND)
    model.fit(X, Y, epochs=1, batch_size=32, verbose=0)
    assert scale_of(model).scale.item() == BEYOND / 4
    assert scale_of(model).good_in_a_row.item() == 0
    torch.testing.assert_close([*model.parameters(), *model.optimizer.tensors()], before, rtol=0, atol=0)
    assert np.isfinite(model.history.history["loss"]).all()
    scale_of(model).scale.fill_(FIRST)
    model.fit(X, Y, epochs=1, batch_size=32, verbose=0)
    assert not torch.equal(tensors[0], before[0])
    assert bool(scale_of(model)._copies) is (
        name in ("nesterov", "decay", "averages", "torch")
    )  # the others copy nothing


@pytest.mark.parametrize("guard", [None, "skip"])
def test_a_loss_that_is_not_finite_leaves_weights_and_scale(guard):
    model = made(on_nonfinite=guard)
    before = model.get_weights()
    model.fit(np.full_like(X, np.nan), Y, batch_size=16, verbose=0)
    assert scale_of(model).scale.item() == FIRST
    for one, other in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_scale_is_never_zero():
    model = made()
    scale_of(model).scale.fill_(2.0**-24)
    x = torch.tensor(X, requires_grad=True)
    model.minimize((model(x).float() * 0).sum().sqrt())  # whose gradients are not finite
    assert scale_of(model).scale.item() == 2.0**-24
    assert scale_of(model).good_in_a_row.item() == 0


def test_the_scale_doubles_after_2000_good_steps():
    model = made()
    scale_of(model).good_in_a_row.fill_(1998)
    model.train_on_batch(X, Y)
    assert (scale_of(model).scale.item(), scale_of(model).good_in_a_row.item()) == (FIRST, 1999)
    model.train_on_batch(X, Y)
    assert (scale_of(model).scale.item(), scale_of(model).good_in_a_row.item()) == (2 * FIRST, 0)


@pytest.mark.parametrize("options", [{}, {"clipnorm": 0.01}, {"clipvalue": 0.001}], ids=str)
def test_the_scale_changes_no_step(options):
    found = []
    for scale in (2.0**8, 2.0**12):
        model = made(optimizer=SGD(0.5, **options))
        scale_of(model).scale.fill_(scale)
        model.fit(X, Y, epochs=3, shuffle=False, verbose=0)
        found.append(model.get_weights())
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)


def test_accumulated_gradients_leave_out_those_that_overflow():
    weights = []
    for scales in ((FIRST, BEYOND), (FIRST,)):
        model = made(optimizer=SGD(0.5, gradient_accumulation_steps=len(scales)))
        for scale in scales:
            scale_of(model).scale.fill_(scale)
            model.train_on_batch(X, Y)
        weights.append(model.get_weights())
    for one, other in zip(*weights, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)


def test_a_gradient_of_two_weights_is_divided_once():
    x = Input((3,))
    doubled = layers.Add()([Dense(2, name="a", dtype="mixed_float16")(x), Dense(2, name="b", dtype="mixed_float16")(x)])
    model = Model(x, doubled)
    model.compile(SGD(1.0), "mse")
    model.train_on_batch(np.zeros((4, 3)), np.ones((4, 2)))
    for layer in model.layers[1:3]:
        np.testing.assert_allclose(layer.get_weights()[1], 1.0, rtol=1e-3)


class Stepping(Sequential):
    def train_step(self, data):
        x, y, weight = data
        loss = self.compute_loss(x, y, self(x), weight)
        self.minimize(loss, len(x))
        return {"loss": loss}


def test_a_step_of_ones_own_is_scaled():
    found = []
    for kind in (Sequential, Stepping):
        model = made(kind=kind, metrics=None)
        model.fit(X, Y, epochs=2, shuffle=False, verbose=0)
        found.append(model.get_weights())
        before = model.get_weights()
        scale_of(model).scale.fill_(BEYOND)
        model.fit(X, Y, batch_size=64, verbose=0)
        assert scale_of(model).scale.item() == BEYOND / 2
        for one, other in zip(model.get_weights(), before, strict=True):
            np.testing.assert_array_equal(one, other)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)


CASES = {
    "bfloat16": lambda: made("mixed_bfloat16"),
    "float16": made,
    "adam": lambda: made(optimizer=Adam(0.01)),
    "guarded": lambda: made(on_nonfinite="skip"),
    "accumulation": lambda: made(optimizer=Adam(0.01, gradient_accumulation_steps=2)),
    "clipping": lambda: made(optimizer=SGD(0.1, clipnorm=1.0, clipvalue=0.5)),
    "own step": lambda: made(kind=Stepping, metrics=None),
}


@pytest.mark.parametrize("case", CASES)
def test_no_step_waits_or_brings_anything_from_the_host(case):
    model = CASES[case]()
    data, step = data_of(model, X, Y, None), model._training.step("train")
    model.train()
    found = counted(lambda: [step(batch) for batch in data.batches(16)])
    assert found["addmm"] > 0
    assert {name: count for name, count in found.items() if count and name in WAITS | FROM_THE_HOST} == {}


def test_a_run_goes_on_with_its_scale(tmp_path):
    for epochs in (1, 2):
        clear_session()
        model = made()
        if epochs == 1:
            scale_of(model).scale.fill_(2.0**14)
        keep = callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)
        model.fit(X, Y, epochs=epochs, verbose=0, callbacks=[keep])
        assert scale_of(model).scale.item() == 2.0**14
        assert scale_of(model).good_in_a_row.item() == 2 * epochs


@pytest.mark.cuda
@pytest.mark.parametrize("policy", HALF)
def test_training_on_cuda(policy):
    x = Input((8, 8, 3))
    y = BatchNormalization()(layers.Conv2D(4, 3, activation="relu")(x))
    y = LSTM(5)(layers.Reshape((36, 4))(y))
    model = Model(x, Dense(3, activation="softmax")(Dropout(0.1)(y)), dtype=policy)
    model.compile(Adam(0.01), "categorical_crossentropy", metrics=["acc"])
    images = np.random.default_rng(1).random((64, 8, 8, 3), dtype="float32")
    losses = model.fit(images, Y, epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    assert model(torch.tensor(images, device="cuda")).dtype is HALF[policy]


# --- TF32 ------------------------------------------------------------------------------------------------------------


def test_tf32_is_a_setting_of_products_and_convolutions():
    matmul: Any = torch.backends.cuda.matmul
    cudnn: Any = torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32
    try:
        matmul.allow_tf32, cudnn.allow_tf32 = False, True  # torch's own
        with pytest.raises(RuntimeError, match=r"^TF32 is off for products and on for convolutions, as torch's own"):
            config.tf32()
        for on in (True, False):
            config.set_tf32(on)
            assert config.tf32() is on
            assert (matmul.allow_tf32, cudnn.allow_tf32) == (on, on)
        with pytest.raises(ValueError, match=r"^config: tf32 must be True or False; found 'on'"):
            config.set_tf32("on")  # type: ignore[arg-type]
    finally:
        matmul.allow_tf32, cudnn.allow_tf32 = before


@pytest.mark.parametrize(
    ("loss", "formula"),
    [
        ("mse", torch.square),
        ("mae", torch.abs),
        ("logcosh", lambda error: torch.log(torch.cosh(error))),
        (MeanSquaredError(), torch.square),
        (nn.MSELoss(), torch.square),
    ],
)
def test_losses_and_metrics_in_an_autocast_region_of_the_users_are_of_32_bits(loss: Any, formula: Any):
    torch.manual_seed(0)
    inputs = Input((4,))
    model = Model(inputs, Dense(2)(inputs))
    data, targets = torch.randn(64, 4), 3 * torch.rand(64, 2)
    model.compile(SGD(0.0), loss, metrics=["mse"])
    with torch.autocast("cpu", torch.bfloat16):
        found = [model.train_on_batch(data, targets), model.test_on_batch(data, targets)]
        output = model(data).detach()
    assert output.dtype == torch.bfloat16
    error = output.float() - targets
    for each in found:
        np.testing.assert_allclose(each, [formula(error).mean(), error.square().mean()], rtol=1e-6)
