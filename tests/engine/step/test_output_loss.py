"""Losses in every form that `compile` takes, against the same loss computed by hand in plain torch."""

import re
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchkeras import Input, Model, losses
from torchkeras.engine.step.output_loss import weighted_mean
from torchkeras.layers import Dense, Masking, TimeDistributed
from torchkeras.optimizers import SGD

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((12, 4)).astype("float32")
Y = RANDOM.standard_normal((12, 3)).astype("float32")
BITS = RANDOM.integers(0, 2, (12, 3)).astype("float32")
LABELS = RANDOM.integers(0, 3, 12)
WEIGHTS = RANDOM.random(12).astype("float32")
STEPS = RANDOM.standard_normal((6, 5, 4)).astype("float32")
STEPS[2, 3:] = STEPS[4, 1:] = 0
MASK = (STEPS != 0).any(-1)
STEP_TARGETS = RANDOM.standard_normal((6, 5, 2)).astype("float32")


def refused(kind: type[Exception], text: str) -> Any:
    """An error of exactly this text."""
    return pytest.raises(kind, match=f"^{re.escape(text)}$")


def dense(loss: Any, units: int = 3, activation: Any = None, **options: Any) -> Model:
    """One layer from the same weights every time."""
    inputs = Input((4,))
    model = Model(inputs, Dense(units, activation=activation, name="out")(inputs))
    model.set_weights([np.linspace(-1, 1, 4 * units).reshape(4, units), np.zeros(units)])
    model.compile(SGD(lr=0.1), loss, **options)
    return model


def masked(loss: Any, **options: Any) -> Model:
    """A layer over time after a mask."""
    inputs = Input((5, 4))
    model = Model(inputs, TimeDistributed(Dense(2))(Masking()(inputs)))
    model.set_weights([np.linspace(-1, 1, 8).reshape(4, 2), np.zeros(2)])
    model.compile("sgd", loss, **options)
    return model


def scores(model: Model, x: Any = X) -> torch.Tensor:
    return torch.from_numpy(np.asarray(model.predict(x)))


def by_hand(model: Model, loss: Any) -> tuple[float, list[np.ndarray]]:
    """The loss of the model's outputs, and its weights after one step of gradient descent at a rate of 0.1."""
    kernel, bias = (torch.tensor(w, requires_grad=True) for w in model.get_weights())
    value = loss(torch.from_numpy(X) @ kernel + bias)
    gradients = torch.autograd.grad(value, [kernel, bias])
    after = [(w - 0.1 * g).detach().numpy() for w, g in zip((kernel, bias), gradients, strict=True)]
    return value.item(), after


def check(model: Model, target: Any, loss: Any, **options: Any) -> None:
    """`evaluate` gives the loss, and a step goes down its gradient."""
    expected, after = by_hand(model, loss)
    assert model.evaluate(X, target, verbose=0, **options) == pytest.approx(expected, rel=1e-5)
    assert model.train_on_batch(X, target, **options) == pytest.approx(expected, rel=1e-5)
    for mine, hand in zip(model.get_weights(), after, strict=True):
        np.testing.assert_allclose(mine, hand, rtol=1e-4, atol=1e-6)


# --- of torch --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "target"),
    [
        (nn.MSELoss(), Y),
        (nn.MSELoss, Y),
        (nn.L1Loss(reduction="sum"), Y),
        (nn.HuberLoss(delta=0.5), Y),
        (nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 3.0])), BITS),
        (nn.CrossEntropyLoss(), LABELS),
        (nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 0.5]), label_smoothing=0.1), LABELS),
        (nn.CrossEntropyLoss(), np.eye(3, dtype="float32")[LABELS]),
        (F.mse_loss, Y),
        (F.cross_entropy, LABELS),
        (F.binary_cross_entropy_with_logits, BITS),
        (partial(F.cross_entropy, label_smoothing=0.2), LABELS),
        (partial(F.huber_loss, delta=0.3), Y),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_loss_of_torch_is_called_as_torch_calls_it(loss, target):
    function = loss() if isinstance(loss, type) else loss
    check(dense(loss), target, lambda predicted: function(predicted, torch.from_numpy(target)))


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "int64"])
@pytest.mark.parametrize("axes", [(12,), (12, 1)])
@pytest.mark.parametrize("loss", [nn.CrossEntropyLoss(), F.cross_entropy, partial(F.nll_loss), nn.MultiMarginLoss])
def test_class_numbers_of_any_whole_type_reach_a_loss_of_torch(loss, axes, dtype):
    function = loss() if isinstance(loss, type) else loss
    target = LABELS.astype(dtype).reshape(axes)
    check(dense(loss), target, lambda predicted: function(predicted, torch.from_numpy(LABELS)))


@pytest.mark.parametrize("loss", [nn.CrossEntropyLoss(), partial(F.cross_entropy, label_smoothing=0.1)])
@pytest.mark.parametrize("axes", [(12,), (12, 1)])
def test_booleans_are_class_numbers_for_a_loss_of_torch(loss, axes):
    numbers = LABELS > 0
    check(dense(loss), numbers.reshape(axes), lambda predicted: loss(predicted, torch.from_numpy(numbers).long()))


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_one_hot_rows_of_any_type_reach_a_loss_of_torch(dtype):
    loss, rows = nn.CrossEntropyLoss(), np.eye(3)[LABELS]
    check(dense(loss), rows.astype(dtype), lambda predicted: loss(predicted, torch.from_numpy(rows).float()))


def test_the_order_of_arguments_is_torch_s():
    class Asymmetric(nn.Module):
        def forward(self, input, target):
            return (input * 2 - target).mean()

    check(dense(Asymmetric()), Y, lambda predicted: (predicted * 2 - torch.from_numpy(Y)).mean())
    target = torch.softmax(torch.from_numpy(Y), -1)
    expected = F.kl_div(scores(dense("mse")), target, reduction="batchmean").item()
    model = dense(partial(F.kl_div, reduction="batchmean"))
    assert model.evaluate(X, target.numpy(), verbose=0) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "loss",
    [nn.CrossEntropyLoss(reduction="none"), partial(F.cross_entropy, reduction="none")],
    ids=["module", "function"],
)
def test_a_loss_of_torch_without_a_reduction_is_weighted(loss):
    model, labels = dense(loss), torch.from_numpy(LABELS)
    weights = torch.from_numpy(WEIGHTS)
    check(
        model,
        LABELS,
        lambda predicted: (F.cross_entropy(predicted, labels, reduction="none") * weights).mean(),
        sample_weight=WEIGHTS,
    )
    each = F.cross_entropy(scores(model), labels, reduction="none")
    expected = (each * torch.tensor([1.0, 5.0, 0.5])[labels]).mean()
    history = model.fit(X, LABELS, batch_size=12, class_weight={0: 1.0, 1: 5.0, 2: 0.5}, verbose=0).history
    assert history["loss"] == pytest.approx([expected.item()], rel=1e-5)


def test_numbers_of_a_loss_of_torch_count_once_a_sample():
    model = dense(nn.MSELoss(reduction="none"))
    each = ((scores(model) - torch.from_numpy(Y)) ** 2).mean(-1)
    half = np.array([1.0, 0.0] * 6, "float32")
    found = model.evaluate(X, Y, sample_weight=half, verbose=0)
    assert found == pytest.approx(each[::2].mean().item(), rel=1e-5)


def test_a_loss_of_torch_without_a_reduction_is_masked():
    model = masked(nn.MSELoss(reduction="none"))
    apart = ((model.predict(STEPS) - STEP_TARGETS) ** 2).mean(-1)[MASK]
    assert model.evaluate(STEPS, STEP_TARGETS, verbose=0) == pytest.approx(apart.mean(), rel=1e-5)


@pytest.mark.parametrize("loss", [nn.MSELoss(), F.mse_loss])
def test_a_loss_of_torch_of_one_number_takes_no_weights(loss):
    name = {nn.MSELoss: "MSELoss"}.get(type(loss), getattr(loss, "__name__", ""))
    remedy = "make it with reduction='none'"
    text = f"The loss {name} gives one number a batch, so sample or class weights cannot enter it: {remedy}."
    with refused(ValueError, text):
        dense(loss).train_on_batch(X, Y, sample_weight=WEIGHTS)
    with refused(ValueError, text.replace("sample or class weights", "a mask")):
        masked(loss).train_on_batch(STEPS, STEP_TARGETS)


@pytest.mark.parametrize("loss", [nn.MSELoss(), F.l1_loss, nn.BCEWithLogitsLoss()], ids=["MSE", "L1", "BCE"])
def test_an_elementwise_loss_of_torch_never_spreads_a_target(loss):
    model = dense(loss, units=1)
    target = BITS[:, 0]
    expected = loss(scores(model)[:, 0], torch.from_numpy(target)).item()
    assert model.evaluate(X, target, verbose=0) == pytest.approx(expected, rel=1e-5)
    with pytest.raises(ValueError, match=r"expected out to have shape \(1,\) but got array with shape \(3,\)"):
        model.evaluate(X, BITS, verbose=0)


@pytest.mark.parametrize(
    "dtype",
    [torch.float64, pytest.param(torch.bfloat16, marks=pytest.mark.torch("2.6", "kernels of half types on the CPU"))],
)
def test_targets_of_a_loss_of_torch_follow_the_type_of_the_model(dtype):
    for loss, target in ((nn.MSELoss(), Y.astype("float64")), (nn.SoftMarginLoss(), np.sign(Y.astype("float64")))):
        model = dense(loss).to(dtype)
        expected = loss(torch.from_numpy(np.asarray(model.predict(X).astype("float64"))), torch.from_numpy(target))
        assert model.train_on_batch(X, target) == pytest.approx(
            expected.item(), rel=1e-6 if dtype.itemsize == 8 else 0.02
        )


# --- objects and functions -------------------------------------------------------------------------------------------


REDUCED = {
    "sum_over_batch_size": lambda each: each.mean(),
    "mean": lambda each: each.mean(),
    "sum": lambda each: each.sum(),
}


@pytest.mark.parametrize("reduction", [*REDUCED, "mean_with_sample_weight"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_loss_object_reduces_as_told(reduction, weighted):
    weights = torch.from_numpy(WEIGHTS) if weighted else torch.ones(12)

    def expected(predicted):
        each = F.huber_loss(predicted, torch.from_numpy(Y), reduction="none", delta=0.5).mean(-1) * weights
        return REDUCED[reduction](each) if reduction in REDUCED else each.sum() / weights.sum()

    options = {"sample_weight": WEIGHTS} if weighted else {}
    check(dense(losses.Huber(delta=0.5, reduction=reduction)), Y, expected, **options)


@pytest.mark.parametrize("reduction", [None, "none"])
def test_a_loss_object_that_does_not_reduce_is_refused(reduction):
    with refused(
        ValueError,
        "compile: the loss Huber has reduction 'none'; training minimizes one number: choose 'sum_over_batch_size', "
        "'sum' or 'mean'.",
    ):
        dense(losses.Huber(reduction=reduction))


@pytest.mark.parametrize("weighted", [None, "samples", "steps"])
def test_a_loss_object_over_masked_steps(weighted):
    """As in Keras 3: the mean is over the steps that count."""
    mode = "temporal" if weighted == "steps" else None
    model = masked(losses.MeanSquaredError(), sample_weight_mode=mode)
    weights = {None: np.ones((6, 5)), "samples": WEIGHTS[:6], "steps": RANDOM.random((6, 5))}[weighted].astype(
        "float32"
    )
    options = {} if weighted is None else {"sample_weight": weights}
    each = ((model.predict(STEPS) - STEP_TARGETS) ** 2).mean(-1)
    each = each * (weights[:, None] if weights.ndim == 1 else weights)
    found = model.evaluate(STEPS, STEP_TARGETS, verbose=0, **options)
    assert found == pytest.approx(each[MASK].sum() / MASK.sum(), rel=1e-5)


def test_temporal_weights_count_each_step():
    model = masked("mse", sample_weight_mode="temporal")
    weights = RANDOM.random((6, 5)).astype("float32")
    weights[0] = 0
    each = ((model.predict(STEPS) - STEP_TARGETS) ** 2).mean(-1)
    # 2.2.4: the mask divides by its mean, then the weights by the share of those that are not 0.
    expected = (each * MASK / MASK.mean() * weights / (weights != 0).mean()).mean()
    assert model.evaluate(STEPS, STEP_TARGETS, sample_weight=weights, verbose=0) == pytest.approx(expected, rel=1e-5)


def test_scores_of_samples_take_no_weights_of_steps():
    with refused(
        ValueError, "sample weights of shape (5, 5) need a loss or metric of as many axes; it gave the shape (5,)."
    ):
        weighted_mean(torch.ones(5), torch.ones(5, 5), None)
    with pytest.raises(ValueError, match=r"^a mask of shape \(5, 2\) need a loss or metric of as many axes"):
        weighted_mean(torch.ones(5), None, torch.ones(5, 2))


def test_losses_of_several_outputs_in_every_form():
    inputs = Input((4,))
    names = ("function", "module", "object", "own")
    model = Model(inputs, [Dense(3, name=name)(inputs) for name in names])

    def own(y_true, y_pred):
        return (y_true - y_pred).abs().amax(-1)

    given = {"function": "mae", "module": nn.MSELoss(), "object": losses.Huber(reduction="sum"), "own": own}
    targets = [Y + k for k in range(4)]
    for form in (given, list(given.values())):
        model.compile("sgd", form, loss_weights={"module": 0.5, "object": 2, "own": 0.0})
        apart = [torch.from_numpy(p - t) for p, t in zip(model.predict(X), targets, strict=True)]
        each = [
            apart[0].abs().mean(),
            (apart[1] ** 2).mean(),
            F.huber_loss(apart[2], torch.zeros(12, 3), reduction="none").mean(-1).sum(),
            apart[3].abs().amax(-1).mean(),
        ]
        total = each[0] + 0.5 * each[1] + 2 * each[2]
        expected = [value.item() for value in (total, *each)]
        assert model.evaluate(X, targets, batch_size=12, verbose=0) == pytest.approx(expected, rel=1e-5)


def test_target_tensors_stand_in_for_y():
    model, twin = dense("mse", target_tensors=torch.from_numpy(Y)), dense("mse")
    assert model.evaluate(X, verbose=0) == twin.evaluate(X, Y, verbose=0)
    assert model.evaluate(X, Y * 2, verbose=0) == twin.evaluate(X, Y * 2, verbose=0)
    assert model.train_on_batch(X) == twin.train_on_batch(X, Y)
    options = {"epochs": 2, "verbose": 0, "shuffle": False}
    assert model.fit(X, **options).history == twin.fit(X, Y, **options).history
    with refused(ValueError, "compile: target_tensors must be arrays or tensors; found a symbolic tensor."):
        dense("mse", target_tensors=[Input((3,))])
    with refused(ValueError, "compile: target_tensors must be arrays or tensors; found 3."):
        dense("mse", target_tensors=3)


# --- what `accuracy` counts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "activation", "target", "hits"),
    [
        (nn.CrossEntropyLoss(), None, LABELS, lambda p: p.argmax(-1) == LABELS),
        (nn.CrossEntropyLoss(), None, np.eye(3, dtype="float32")[LABELS], lambda p: p.argmax(-1) == LABELS),
        (F.cross_entropy, None, LABELS, lambda p: p.argmax(-1) == LABELS),
        (nn.BCEWithLogitsLoss(), None, BITS, lambda p: (p > 0) == BITS),
        (F.binary_cross_entropy_with_logits, None, BITS, lambda p: (p > 0) == BITS),
        (nn.BCELoss(), "sigmoid", BITS, lambda p: (p > 0.5) == BITS),
        (losses.SparseCategoricalCrossentropy(), "softmax", LABELS, lambda p: p.argmax(-1) == LABELS),
        (losses.SparseCategoricalCrossentropy(ignore_class=7), "softmax", LABELS, lambda p: p.argmax(-1) == LABELS),
        (losses.BinaryCrossentropy(), "sigmoid", BITS, lambda p: (p > 0.5) == BITS),
        ("mse", None, np.eye(3, dtype="float32")[LABELS], lambda p: p.argmax(-1) == LABELS),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
@pytest.mark.parametrize("name", ["acc", "accuracy"])
def test_accuracy_goes_by_the_loss_and_the_target(loss, activation, target, hits, name):
    model = dense(loss, activation=activation, metrics=[name])
    assert model.metrics_names == ["loss", "acc"]
    expected = hits(np.asarray(model.predict(X))).mean()
    assert model.evaluate(X, target, verbose=0)[1] == pytest.approx(expected)


def test_accuracy_under_a_loss_of_one_s_own_sees_class_numbers():
    def own(y_true, y_pred):
        return F.cross_entropy(y_pred, y_true.long().reshape(-1), reduction="none")

    model = dense(own, metrics=["accuracy"])
    expected = (model.predict(X).argmax(-1) == LABELS).mean()
    assert model.evaluate(X, LABELS, verbose=0)[1] == pytest.approx(expected)


def test_accuracy_of_logits_counts_those_over_0():
    """The sigmoid of which is over 0.5; Keras counts logits over 0.5."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = dense(losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"])
    expected = ((np.asarray(model.predict(X)) > 0) == BITS).mean()
    assert model.evaluate(X, BITS, verbose=0)[1] == pytest.approx(expected)


def test_crossentropy_by_its_name_goes_by_the_loss():
    with refused(
        ValueError,
        "compile: the metric 'ce' goes by the loss, and the loss does not say what targets it takes: give an object "
        "such as metrics.SparseCategoricalCrossentropy(from_logits=True).",
    ):
        dense(nn.CrossEntropyLoss(), metrics=["ce"])


def test_a_function_of_no_module_is_a_loss_and_a_metric():
    """As a function is that a script makes by `eval`."""
    function = eval("lambda y_true, y_pred: (y_true - y_pred).abs().mean(-1)", {})
    assert function.__module__ is None
    inputs = Input((2,))
    model = Model(inputs, Dense(1, kernel_initializer="ones")(inputs))
    model.compile("sgd", function, metrics=[function])
    assert model.evaluate(np.ones((3, 2)), np.zeros((3, 1)), verbose=0) == [2.0, 2.0]
