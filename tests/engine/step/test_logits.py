"""A softmax or sigmoid that a step leaves out: numbers, gradients and hooks are those of a step that computes it."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from torchkeras import Input, Model, losses, metrics
from torchkeras.callbacks import Callback
from torchkeras.engine.graph.layer_calls import Call, Way
from torchkeras.layers import Activation, Conv2D, Dense, Lambda, Masking, MaxPooling2D, TimeDistributed
from torchkeras.optimizers import SGD

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((24, 4)).astype("float32")
LABELS = RANDOM.integers(0, 3, 24)
ROWS = np.eye(3, dtype="float32")[LABELS]
BITS = RANDOM.integers(0, 2, (24, 3)).astype("float32")
WEIGHTS = RANDOM.random(24).astype("float32")


def made(loss: Any, activation: str, scale: float = 1.0, head: str = "dense", **options: Any) -> Model:
    """`scale` makes the logits so large that probabilities reach Keras's clip."""
    inputs = Input((4,))
    if head == "dense":
        outputs = Dense(3, activation=activation)(inputs)
    else:
        outputs = Activation(activation)(Dense(3)(inputs))
    model = Model(inputs, outputs)
    model.set_weights([scale * np.linspace(-1, 1, 12).reshape(4, 3), scale * np.array([0.1, -0.2, 0.3])])
    model.compile(SGD(lr=0.1), loss, **options)
    return model


def left_out(model: Model) -> bool:
    """Whether the steps leave an activation out: then their code asks a layer for its logits."""
    model._generated.clear()
    model.test_on_batch(X[:2], model._example[:2])
    functions = model._generated.functions.values()
    calls = [call for function in functions for call in function.calls.values() if isinstance(call, Call)]
    return any(call.way is Way.LOGITS for call in calls)


def observed(model: Model) -> Model:
    """A hook at the end sees every call, so the activation is computed."""
    model.layers[-1].register_forward_hook(lambda layer, inputs, outputs: None)
    return model


CASES = [
    ("sparse_categorical_crossentropy", "softmax", LABELS, ["acc", "sparse_categorical_accuracy"]),
    ("categorical_crossentropy", "softmax", ROWS, ["acc", "ce"]),
    ("binary_crossentropy", "sigmoid", BITS, ["acc", "binary_crossentropy"]),
    (losses.SparseCategoricalCrossentropy(), "softmax", LABELS, [metrics.SparseCategoricalAccuracy]),
    (losses.SparseCategoricalCrossentropy(ignore_class=1), "softmax", LABELS, []),
    (losses.CategoricalCrossentropy(label_smoothing=0.1), "softmax", ROWS, [metrics.CategoricalAccuracy]),
    (losses.CategoricalCrossentropy(reduction="sum"), "softmax", ROWS, ["acc"]),
    (losses.BinaryCrossentropy(), "sigmoid", BITS, ["acc"]),
]


@pytest.mark.parametrize(("loss", "activation", "target", "names"), CASES)
@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("head", ["dense", "activation"])
def test_with_and_without_are_equal(loss, activation, target, names, scale, weighted, head):
    options = {"weighted_metrics" if weighted else "metrics": names}
    without = made(loss, activation, scale, head, **options)
    whole = observed(made(loss, activation, scale, head, **options))
    for model, expected in ((without, True), (whole, False)):
        model._example = target
        assert left_out(model) is expected
    weights = WEIGHTS if weighted else None
    steps = ["train_on_batch", "train_on_batch"]
    if scale == 1.0:  # an evaluation of probabilities near 1 has those of float32, in steps of 6e-8
        steps += ["test_on_batch"]
    for method in steps:
        mine, other = (np.array(getattr(m, method)(X, target, sample_weight=weights)) for m in (without, whole))
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)
    exact = np.atleast_1d(without.test_on_batch(X, target, sample_weight=weights))[0]
    assert exact == np.atleast_1d(without.train_on_batch(X, target, sample_weight=weights))[0]
    whole.train_on_batch(X, target, sample_weight=weights)
    for mine, other in zip(without.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5)


def test_the_clip_is_keras_s_either_way():
    """Logits of 1e3: probabilities of 0 and 1, so losses of -log(1e-7) and -log(1 - 1e-7), without any gradient."""
    for make in (made, lambda *args: observed(made(*args))):
        model = make("sparse_categorical_crossentropy", "softmax", 1e3)
        wrong = (model.predict(X).argmax(-1) + 1) % 3
        before = model.get_weights()
        assert model.train_on_batch(X, wrong) == pytest.approx(-np.log(1e-7), rel=1e-5)
        np.testing.assert_array_equal(model.get_weights()[0], before[0])
        model = make("binary_crossentropy", "sigmoid", 1e3)
        before = model.get_weights()
        wrong = 1 - np.round(model.predict(X))
        assert 15.9 < model.train_on_batch(X, wrong) < 16.2  # float32 has 15.94 and 16.12 for targets of 0 and 1
        assert 0 < model.train_on_batch(X, 1 - wrong) < 1.2e-7
        np.testing.assert_array_equal(model.get_weights()[0], before[0])


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("loss", "activation", "target", "names"), CASES[:3])
def test_in_other_types(dtype, loss, activation, target, names):
    tolerance = {torch.float64: 1e-9, torch.bfloat16: 2e-2, torch.float16: 2e-3}[dtype]
    without, whole = made(loss, activation, metrics=names), observed(made(loss, activation, metrics=names))
    found = [model.to(dtype).test_on_batch(X, target) for model in (without, whole)]
    # A binary crossentropy of probabilities counts in float32, one of logits in their type.
    assert found[0] == pytest.approx(found[1], rel=tolerance)
    exact = made(loss, activation).test_on_batch(X, target)
    assert found[0][0] == pytest.approx(exact, rel=max(tolerance, 1e-6))


# --- where it must not be --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "activation", "target", "options"),
    [
        ("mse", "softmax", ROWS, {}),
        ("categorical_crossentropy", "sigmoid", ROWS, {}),
        ("binary_crossentropy", "softmax", BITS, {}),
        ("categorical_crossentropy", "softmax", ROWS, {"metrics": ["mae"]}),
        ("categorical_crossentropy", "softmax", ROWS, {"metrics": [metrics.AUC]}),
        ("categorical_crossentropy", "softmax", ROWS, {"metrics": [lambda y_true, y_pred: y_pred.amax(-1)]}),
        (losses.CategoricalCrossentropy(axis=0), "softmax", ROWS, {}),
        (losses.CategoricalCrossentropy(dtype="float64"), "softmax", ROWS, {}),
        (type("Own", (losses.CategoricalCrossentropy,), {})(), "softmax", ROWS, {}),
        (nn.BCELoss(), "sigmoid", BITS, {}),
    ],
)
def test_other_losses_and_metrics_see_probabilities(loss, activation, target, options):
    model = made(loss, activation, **options)
    model._example = target
    assert left_out(model) is False


def test_an_activity_regularizer_sees_probabilities():
    inputs = Input((4,))
    layer = Dense(3, activation="softmax", activity_regularizer=lambda p: p.sum())
    model = Model(inputs, layer(inputs))
    model.compile("sgd", "categorical_crossentropy")
    plain = losses.CategoricalCrossentropy()(torch.from_numpy(ROWS), torch.from_numpy(model.predict(X))).item()
    assert model.test_on_batch(X, ROWS) == pytest.approx(plain + 24, rel=1e-5)


def test_an_output_used_further_is_computed_whole():
    inputs = Input((4,))
    shared = Dense(3, activation="softmax")(inputs)
    model = Model(inputs, [shared, Dense(2, name="behind")(shared)])
    model.compile("sgd", ["categorical_crossentropy", "mse"])
    probabilities, behind = model.predict(X)
    np.testing.assert_allclose(probabilities.sum(-1), 1, rtol=1e-5)
    expected = np.mean((behind - 1.0) ** 2)
    assert model.test_on_batch(X, [ROWS, np.ones((24, 2))])[2] == pytest.approx(expected, rel=1e-5)


def test_an_added_loss_of_the_output_sees_probabilities():
    inputs = Input((4,))
    outputs = Dense(3, activation="softmax")(inputs)
    model = Model(inputs, outputs)
    model.add_loss(Lambda(lambda p: (p * p).sum(-1))(outputs))
    model.compile("sgd", "categorical_crossentropy")
    p = model.predict(X)
    expected = -np.log(p[np.arange(24), LABELS]).mean() + (p * p).sum(-1).mean()
    assert model.test_on_batch(X, ROWS) == pytest.approx(expected, rel=1e-5)


def test_a_compute_loss_of_one_s_own_sees_probabilities():
    class Own(Model):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            self.seen = y_pred.sum(-1)
            return super().compute_loss(x, y, y_pred, sample_weight)

    inputs = Input((4,))
    model = Own(inputs, Dense(3, activation="softmax")(inputs))
    model.compile("sgd", "categorical_crossentropy")
    model.train_on_batch(X, ROWS)
    torch.testing.assert_close(model.seen, torch.ones(24))


@pytest.mark.parametrize("where", ["layer", "model", "layer before", "layer backward", "everywhere", "forward"])
@pytest.mark.parametrize("when", ["before compile", "after compile"])
def test_hooks_see_probabilities(where, when):
    model = made("categorical_crossentropy", "softmax", head="activation")
    seen = []

    def look(module, inputs, outputs):
        if isinstance(module, (Activation, Model)):
            seen.append(outputs.detach().sum(-1))

    layer = model.layers[-1]
    if when == "after compile":
        model.train_on_batch(X, ROWS)
    handle = {
        "layer": lambda: layer.register_forward_hook(look),
        "model": lambda: model.register_forward_hook(look),
        "layer before": lambda: layer.register_forward_pre_hook(lambda module, inputs: seen.append(torch.ones(24))),
        "layer backward": lambda: layer.register_full_backward_hook(lambda *found: seen.append(torch.ones(24))),
        "everywhere": lambda: nn.modules.module.register_module_forward_hook(look),
        "forward": lambda: _replace_forward(layer, look),
    }[where]()
    try:
        if when == "before compile":
            model.compile("sgd", "categorical_crossentropy")
        model.train_on_batch(X, ROWS)
    finally:
        if handle is not None:
            handle.remove()
    assert seen
    for sums in seen:
        torch.testing.assert_close(sums, torch.ones(24))


def _replace_forward(layer, look):
    forward = layer.forward

    def replaced(inputs):
        outputs = forward(inputs)
        look(layer, inputs, outputs)
        return outputs

    layer.forward = replaced


def test_a_layer_that_overrides_what_it_computes_is_asked_itself():
    class ByForward(Dense):
        def forward(self, inputs):
            return super().forward(inputs) * 0.5

    class ByCall(Dense):
        def call(self, inputs):
            return super().call(inputs) * 0.5

    for kind in (ByForward, ByCall):
        inputs = Input((4,))
        model = Model(inputs, kind(3, activation="sigmoid")(inputs))
        model.compile("sgd", "binary_crossentropy")
        p = model.predict(X)
        assert p.max() < 0.5
        expected = -(BITS * np.log(p) + (1 - BITS) * np.log(1 - p)).mean()
        assert model.test_on_batch(X, BITS) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("loss", "activation", "target", "names"), CASES[:3])
def test_under_autocast_as_without(loss, activation, target, names):
    without, whole = made(loss, activation, metrics=names), observed(made(loss, activation, metrics=names))
    with torch.autocast("cpu", torch.bfloat16):
        found = [model.train_on_batch(X, target) for model in (without, whole)]
    assert found[0] == found[1]


def test_predict_within_fit_gives_probabilities():
    sums = []

    class Predicting(Callback):
        def on_batch_end(self, batch, logs=None):
            sums.append(self.model.predict(X).sum(-1))
            sums.append(self.model.predict_on_batch(X).sum(-1))
            sums.append(self.model(torch.from_numpy(X)).sum(-1).detach().numpy())

    model = made("categorical_crossentropy", "softmax", metrics=["acc"])
    model.fit(X, ROWS, batch_size=12, callbacks=[Predicting()], verbose=0)
    assert len(sums) == 6
    np.testing.assert_allclose(sums, np.ones((6, 24)), rtol=1e-5)


def test_masks_and_time_steps():
    inputs = Input((5, 4))
    hidden = Masking()(inputs)
    x = RANDOM.standard_normal((6, 5, 4)).astype("float32")
    x[2, 3:] = 0
    model = Model(inputs, TimeDistributed(Dense(3))(hidden))
    ended = Model(inputs, Activation("softmax")(model.outputs[0]))
    labels = RANDOM.integers(0, 3, (6, 5, 1))
    ended.compile("sgd", "sparse_categorical_crossentropy", ["acc"])
    assert ended._training.ready().logits == (0,)
    kept = (x != 0).any(-1)
    p = ended.predict(x)
    each = -np.log(np.take_along_axis(p, labels, -1)[..., 0])[kept]
    hits = (p.argmax(-1) == labels[..., 0])[kept]
    assert ended.test_on_batch(x, labels) == pytest.approx([each.mean(), hits.mean()], rel=1e-5)


def test_a_copy_leaves_it_out_too():
    model = made("categorical_crossentropy", "softmax")
    twin = copy.deepcopy(model)
    assert twin._training.ready().logits == model._training.ready().logits == (0,)
    assert twin.train_on_batch(X, ROWS) == model.train_on_batch(X, ROWS)


@pytest.mark.parametrize("training", [True, False])
def test_a_last_layer_with_a_mode_of_its_own_computes_its_activation(training):
    inputs = Input((4,))
    model = Model(inputs, Dense(3, activation="softmax", name="last")(inputs, training=training))
    model.compile("sgd", "categorical_crossentropy")
    x, y = np.ones((2, 4), "float32"), np.eye(3, dtype="float32")[:2]
    expected = -np.log(model.predict(x)[[0, 1], [0, 1]]).mean()
    assert model.evaluate(x, y, verbose=0) == pytest.approx(expected, rel=1e-5)
    assert model.train_on_batch(x, y) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("pooled", [{"training": True}, {}])
@pytest.mark.parametrize("convolved", [{"training": True}, {}])
def test_a_relu_before_a_pooling_where_a_call_has_a_mode_of_its_own(pooled, convolved):
    inputs = Input((6, 6, 2))
    convolution = Conv2D(3, 3, activation="relu")
    outputs = MaxPooling2D()(convolution(inputs, **convolved), **pooled)
    x = np.random.rand(2, 6, 6, 2).astype("float32")  # noqa: NPY002 - seeded by conftest.py
    found = Model(inputs, outputs).predict(x)
    np.testing.assert_allclose(found, Model(inputs, MaxPooling2D()(convolution(inputs))).predict(x), rtol=1e-6)
