"""Losses and gradients that are no finite numbers: what `on_nonfinite` makes of them, decided on the device."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from torchkeras import Input, Model, Sequential, layers, optimizers
from torchkeras.callbacks import Callback
from torchkeras.engine.fit.one_process import OneProcess
from torchkeras.engine.fit.opening import Intake, source_of
from torchkeras.engine.layer.layer import Layer
from torchkeras.engine.step import nonfinite
from torchkeras.metrics import AUC

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((48, 3)).astype("float32")
Y = (RANDOM.random((48, 1)) > 0.5).astype("float32")
SIZE = 8
BATCHES = len(X) // SIZE

OPTIMIZERS: dict[str, Any] = {
    "sgd": lambda: optimizers.SGD(0.1),
    "momentum": lambda: optimizers.SGD(0.1, momentum=0.9),
    "rmsprop": lambda: optimizers.RMSprop(0.01),
    "adagrad": lambda: optimizers.Adagrad(0.01),
    "torch sgd": lambda: (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}),
    "torch adam": lambda: (torch.optim.Adam, {"lr": 0.01}),
    "torch rprop": lambda: (torch.optim.Rprop, {"lr": 0.01}),
    "torch nadam": lambda: (torch.optim.NAdam, {"lr": 0.01}),
}


class Steep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, *gradients):
        (x,) = ctx.saved_tensors
        return gradients[0].masked_fill(x > 100, math.inf)


class Bounded(Layer):
    """The same, whose gradient is infinite where an input is over 100."""

    def forward(self, x):
        return Steep.apply(x)


def model(optimizer: Any, policy: str | None, **options: Any) -> Model:
    torch.manual_seed(0)
    inputs = Input((3,))
    x = layers.Dense(4, activation="relu", name="hidden")(inputs)
    x = layers.BatchNormalization(name="norm")(x)
    made = Model(inputs, layers.Dense(1, activation="sigmoid", name="out")(x))
    metrics = options.pop("metrics", ["mae", AUC(name="auc")])
    made.compile(optimizer, "binary_crossentropy", metrics=metrics, on_nonfinite=policy, **options)
    return made


def spoiled(*batches: int, value: float = math.nan) -> np.ndarray:
    """The inputs, with a number that is not finite in some batches."""
    x = X.copy()
    for batch in batches:
        x[batch * SIZE + 3, 1] = value
    return x


def without(array: np.ndarray, *batches: int) -> np.ndarray:
    return np.concatenate([array[k * SIZE : (k + 1) * SIZE] for k in range(BATCHES) if k not in batches])


def fitted(made: Model, x: np.ndarray, y: np.ndarray, epochs: int = 1, **options: Any) -> dict[str, list[float]]:
    return made.fit(x, y, batch_size=SIZE, epochs=epochs, shuffle=False, verbose=0, **options).history


def weights_equal(one: Model, other: Model) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one.get_weights(), other.get_weights(), strict=True))


# --- skip ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [(2,), (0,), (0, 1, 4), (BATCHES - 1,)])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_skip_trains_as_if_the_batch_were_not_there(name, bad):
    skipping, plain = model(OPTIMIZERS[name](), "skip"), model(OPTIMIZERS[name](), None)
    history = fitted(skipping, spoiled(*bad), Y)
    assert history == fitted(plain, without(X, *bad), without(Y, *bad))
    assert weights_equal(skipping, plain)


def test_infinity_in_the_data_is_skipped_too():
    skipping, plain = model("sgd", "skip"), model("sgd", None)
    fitted(skipping, spoiled(1, value=math.inf), Y)
    fitted(plain, without(X, 1), without(Y, 1))
    assert weights_equal(skipping, plain)


def test_steps_that_the_host_counts_count_skipped_batches():
    skipping = model(optimizers.Adam(0.01), "skip")
    fitted(skipping, spoiled(2), Y)
    assert skipping.optimizer.iterations == BATCHES
    assert np.isfinite(np.concatenate([weight.ravel() for weight in skipping.get_weights()])).all()


def test_a_gradient_alone_that_is_infinite():
    def made(policy):
        torch.manual_seed(0)
        network = Sequential([layers.Dense(1, input_shape=(3,)), Bounded()])
        network.compile(optimizers.SGD(0.1), lambda true, found: found[:, 0] - true[:, 0], on_nonfinite=policy)
        return network

    x = X.copy()
    x[SIZE] = [1e3, 1e3, 1e3]
    skipping, plain = made("skip"), made(None)
    for network in (skipping, plain):
        network.set_weights([np.ones((3, 1), np.float32), np.zeros(1, np.float32)])
    history = fitted(skipping, x, Y)
    assert np.isfinite(history["loss"]).all()
    fitted(plain, without(X, 1), without(Y, 1))
    assert weights_equal(skipping, plain)


def test_all_batches_bad_gives_no_number_and_changes_nothing():
    skipping, untouched = model("adam", "skip"), model("adam", "skip")
    history = fitted(skipping, spoiled(*range(BATCHES)), Y)
    assert math.isnan(history["loss"][0])
    assert weights_equal(skipping, untouched)


def test_hooks_of_batches_see_the_numbers_as_they_are():
    class Losses(Callback):
        def __init__(self):
            self.seen: list[float] = []

        def on_train_batch_end(self, batch, logs=None):
            assert logs is not None
            self.seen.append(logs["loss"])

    losses = Losses()
    fitted(model("sgd", "skip"), spoiled(2), Y, callbacks=[losses])
    assert [math.isnan(loss) for loss in losses.seen] == [False, False, True, False, False, False]


@pytest.mark.parametrize("bad", [(0,), (1,), (2,), (0, 1), (3, 4, 5), (2, 3)])
@pytest.mark.parametrize("size", [SIZE, 5])
def test_accumulated_gradients_are_the_mean_of_the_good_ones(bad, size):
    """Each step takes what is good of three batches; where nothing is, there is none."""

    def made(**options):
        torch.manual_seed(0)
        network = Sequential([layers.Dense(4, activation="tanh", input_shape=(3,)), layers.Dense(1)])
        network.compile(optimizers.SGD(0.5, momentum=0.9, **options), "mse", on_nonfinite="skip" if options else None)
        return network

    x = X.copy()
    accumulating, reference = made(gradient_accumulation_steps=3), made()
    for k in bad:
        x[k * size] = math.nan
    accumulating.fit(x[: 6 * size], Y[: 6 * size], batch_size=size, shuffle=False, verbose=0)
    for group in ((0, 1, 2), (3, 4, 5)):
        good = [np.arange(k * size, (k + 1) * size) for k in group if k not in bad]
        if good:
            rows = np.concatenate(good)
            reference.train_on_batch(X[rows], Y[rows])
    for one, other in zip(accumulating.get_weights(), reference.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_averages_of_weights_leave_a_skipped_batch_out():
    def made(policy):
        return model(optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5), policy)

    skipping, plain = made("skip"), made(None)
    fitted(skipping, spoiled(2), Y)
    fitted(plain, without(X, 2), without(Y, 2))
    for network in (skipping, plain):
        network.optimizer.swap_ema()
    assert weights_equal(skipping, plain)


# --- stop and raise --------------------------------------------------------------------------------------------------

TEXT = "The loss or a gradient was not a finite number in {}; the weights are those of the step before."


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("bad", [0, 3, BATCHES - 1])
def test_stop_leaves_the_weights_of_the_step_before(name, bad):
    stopping, plain = model(OPTIMIZERS[name](), "stop"), model(OPTIMIZERS[name](), None)
    with pytest.warns(RuntimeWarning) as told:
        history = fitted(stopping, spoiled(bad), Y, epochs=4)
    assert [str(warning.message) for warning in told] == [TEXT.format(f"epoch 1, batch {bad + 1}")]
    if bad:
        expected = fitted(plain, X[: bad * SIZE], Y[: bad * SIZE])
        assert history == expected
    assert len(history["loss"]) == 1
    assert stopping.stop_training
    assert weights_equal(stopping, plain)


def test_raise_names_epoch_and_batch():
    raising, plain = model("adam", "raise"), model("adam", None)
    fitted(raising, X, Y)
    fitted(plain, X, Y)
    fitted(plain, X[: 2 * SIZE], Y[: 2 * SIZE])
    with pytest.raises(FloatingPointError) as error:
        fitted(raising, spoiled(2), Y, epochs=3, initial_epoch=2)
    assert str(error.value) == TEXT.format("epoch 3, batch 3")
    assert weights_equal(raising, plain)


def test_a_look_in_the_middle_of_an_epoch_ends_it(monkeypatch):
    monkeypatch.setattr(nonfinite, "LOOK_EVERY", 0.0)
    seen: list[int] = []

    class Counts(Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(batch)

    with pytest.warns(RuntimeWarning, match=r"epoch 1, batch 2"):
        fitted(model("sgd", "stop"), spoiled(1), Y, callbacks=[Counts()])
    assert seen == [0, 1]


def test_several_processes_look_after_the_same_batches(monkeypatch):
    monkeypatch.setattr(nonfinite, "LOOK_EVERY", 0.0)  # what the clock says does not count
    monkeypatch.setattr(nonfinite, "LOOK_EVERY_BATCHES", 2)
    monkeypatch.setattr(OneProcess, "looks_by_batches", True)
    seen: list[int] = []

    class Counts(Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(batch)

    for bad, last in ((0, 1), (1, 1), (2, 3)):
        seen.clear()
        stopping, plain = model("sgd", "stop"), model("sgd", None)
        with pytest.warns(RuntimeWarning, match=rf"epoch 1, batch {bad + 1};"):
            fitted(stopping, spoiled(bad), Y, callbacks=[Counts()])
        assert seen == list(range(last + 1))
        if bad:
            fitted(plain, X[: bad * SIZE], Y[: bad * SIZE])
        assert weights_equal(stopping, plain)


def test_stop_makes_no_step_of_what_had_accumulated():
    stopping = model(optimizers.SGD(0.5, gradient_accumulation_steps=4), "stop")
    before = stopping.get_weights()[:2]
    with pytest.warns(RuntimeWarning, match=r"epoch 1, batch 3"):
        fitted(stopping, spoiled(2), Y)
    assert all(np.array_equal(a, b) for a, b in zip(before, stopping.get_weights()[:2], strict=True))


def test_training_may_begin_anew_after_a_stop():
    stopping = model("sgd", "stop")
    with pytest.warns(RuntimeWarning, match=r"epoch 1, batch 1"):
        fitted(stopping, spoiled(0), Y)
    before = stopping.get_weights()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(stopping, X, Y)
    assert not np.array_equal(before[0], stopping.get_weights()[0])


@pytest.mark.parametrize("policy", ["stop", "raise", "skip"])
def test_train_on_batch(policy):
    made = model("sgd", policy)
    before = made.get_weights()
    x = spoiled(0)[:SIZE]
    if policy == "raise":
        with pytest.raises(FloatingPointError) as error:
            made.train_on_batch(x, Y[:SIZE])
        assert str(error.value) == TEXT.format("train_on_batch")
    elif policy == "stop":
        with pytest.warns(RuntimeWarning) as told:
            assert math.isnan(made.train_on_batch(x, Y[:SIZE])[0])
        assert str(told[0].message) == TEXT.format("train_on_batch")
    else:
        assert math.isnan(made.train_on_batch(x, Y[:SIZE])[0])
    assert all(np.array_equal(a, b) for a, b in zip(before, made.get_weights(), strict=True))
    made.train_on_batch(X[:SIZE], Y[:SIZE])
    assert not np.array_equal(before[0], made.get_weights()[0])


# --- steps of one's own ----------------------------------------------------------------------------------------------


class Own(Model):
    def train_step(self, data):
        x, y, _ = data
        loss = ((self(x) - y) ** 2).mean()
        self.minimize(loss)
        return {"loss": loss}


class OnTop(Model):
    def train_step(self, data):
        return {**super().train_step(data), "more": torch.ones(())}


@pytest.mark.parametrize("kind", [Own, OnTop])
def test_a_step_of_ones_own_is_guarded(kind):
    def made(policy):
        torch.manual_seed(0)
        inputs = Input((3,))
        outputs = layers.Dense(1)(layers.BatchNormalization()(layers.Dense(4)(inputs)))
        network = kind(inputs, outputs)
        network.compile(optimizers.SGD(0.1, momentum=0.9), "mse", on_nonfinite=policy)
        return network

    skipping, plain = made("skip"), made(None)
    assert fitted(skipping, spoiled(0, 3), Y) == fitted(plain, without(X, 0, 3), without(Y, 0, 3))
    assert weights_equal(skipping, plain)


# --- what it costs, what is refused ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")  # torch 2.10
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_no_step_but_the_first_waits_for_the_device(name, monkeypatch):
    """On the CPU some kernels of torch read their own count of steps: no more than without a policy."""
    monkeypatch.setattr(nonfinite, "LOOK_EVERY", 1e9)
    found = []
    for policy in ("skip", None):
        made = model(OPTIMIZERS[name](), policy)
        made.train_on_batch(X[:SIZE], Y[:SIZE])
        step, source = (
            made._training.step("train"),
            source_of(Intake(made._training), X, Y, method="fit", batch_size=SIZE),
        )
        batches = list(source.batches("sequential"))
        made.train(True)
        with profile(activities=[ProfilerActivity.CPU]) as record:
            for batch in batches:
                step(batch)
        counts = {event.key: event.count for event in record.key_averages()}
        found.append(counts.get("aten::_local_scalar_dense", 0))
    assert found[0] == found[1]
    assert name not in ("sgd", "momentum", "torch sgd") or found == [0, 0]


def test_a_policy_that_is_none():
    with pytest.raises(ValueError, match="on_nonfinite") as error:
        model("sgd", "ignore")
    assert (
        str(error.value) == "compile: on_nonfinite must be None or 'warn', 'stop', 'skip' or 'raise'; found 'ignore'."
    )


def test_a_metric_of_torchmetrics_is_refused():
    class Counting:
        def update(self, preds, target): ...

        def compute(self): ...

        def reset(self): ...

    with pytest.raises(ValueError, match="on_nonfinite") as error:
        model("sgd", "skip", metrics=[Counting()])
    assert str(error.value) == (
        "compile: on_nonfinite='skip' cannot take back what 'counting', a metric in the manner of torchmetrics, has "
        "counted; use a metric of torchkeras.metrics."
    )
