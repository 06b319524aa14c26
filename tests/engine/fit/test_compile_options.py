"""Optimizers of Keras and of torch in `fit`, with accumulation, averages, clipping and schedules, as loops by hand."""

import copy
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
import torchmetrics
from torch import nn

from torchkeras import Input, Model, losses, metrics
from torchkeras.callbacks import Callback, SwapEMAWeights
from torchkeras.layers import Dense
from torchkeras.optimizers import SGD, Adam, TorchOptimizer, schedules

RANDOM = np.random.default_rng(17)
X = RANDOM.standard_normal((22, 4)).astype("float32")
Y = RANDOM.standard_normal((22, 3)).astype("float32")
BATCH = 4  # the last of an epoch has 2 samples


def made(optimizer: Any, loss: Any = "mse", **options: Any) -> Model:
    inputs = Input((4,))
    model = Model(inputs, Dense(3, name="out")(Dense(5, activation="tanh", name="hidden")(inputs)))
    random = np.random.default_rng(0)
    model.set_weights([random.standard_normal(w.shape) for w in model.get_weights()])
    model.compile(optimizer, loss, **options)
    return model


def twin() -> nn.Sequential:
    """The same network in torch, with the same weights."""
    network = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    weights = [torch.from_numpy(w.T.copy()) for w in made("sgd").get_weights()]
    with torch.no_grad():
        for parameter, weight in zip(network.parameters(), weights, strict=True):
            parameter.copy_(weight)
    return network


def batches() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    yield from zip(torch.from_numpy(X).split(BATCH), torch.from_numpy(Y).split(BATCH), strict=True)


def by_hand(network: nn.Module, optimizer: torch.optim.Optimizer, epochs: int = 2, after: Any = None) -> None:
    for _ in range(epochs):
        for x, y in batches():
            optimizer.zero_grad()
            nn.functional.mse_loss(network(x), y).backward()
            optimizer.step()
            if after is not None:
                after()


def fit(model: Model, epochs: int = 2, **options: Any) -> Any:
    return model.fit(X, Y, batch_size=BATCH, epochs=epochs, shuffle=False, verbose=0, **options)


def equal(model: Model, network: nn.Module, rtol: float = 1e-5) -> None:
    for mine, expected in zip(model.get_weights(), network.parameters(), strict=True):
        np.testing.assert_allclose(mine, expected.detach().numpy().T, rtol=rtol, atol=1e-6)


# --- of torch --------------------------------------------------------------------------------------------------------

TORCH: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    (torch.optim.AdamW, {"lr": 0.01}),
    (torch.optim.RMSprop, {"lr": 0.01}),
]


@pytest.mark.parametrize(("kind", "options"), TORCH)
@pytest.mark.parametrize("form", ["instance", "pair", "partial", "wrapped"])
def test_an_optimizer_of_torch(kind, options, form):
    if form == "instance":
        model = made("sgd")
        model.compile(kind(model.parameters(), **options), "mse")
    else:
        forms = {"pair": (kind, options), "partial": partial(kind, **options)}
        model = made(TorchOptimizer((kind, options)) if form == "wrapped" else forms[form])
    network = twin()
    by_hand(network, kind(network.parameters(), **options))
    fit(model, 1)
    fit(model, 1)  # goes on with its state
    equal(model, network)


def test_a_class_of_torch_s_optimizers():
    model, network = made(torch.optim.Adagrad), twin()
    by_hand(network, torch.optim.Adagrad(network.parameters()))
    fit(model)
    equal(model, network)


def test_groups_of_a_torch_optimizer_keep_their_rates():
    model, network = made("sgd"), twin()

    def groups(first, second):
        return torch.optim.SGD([{"params": first, "lr": 0.1}, {"params": second, "lr": 0.01}])

    model.compile(groups(model.get_layer("hidden").parameters(), model.get_layer("out").parameters()), "mse")
    by_hand(network, groups(network[0].parameters(), network[2].parameters()))
    fit(model)
    equal(model, network)


# --- of Keras --------------------------------------------------------------------------------------------------------


def test_rates_by_layer():
    model, network = made(SGD(lr=0.1, momentum=0.9, lr_multipliers={"hidden": 0.1})), twin()
    groups = [{"params": network[0].parameters(), "lr": 0.01}, {"params": network[2].parameters(), "lr": 0.1}]
    by_hand(network, torch.optim.SGD(groups, momentum=0.9))
    fit(model)
    equal(model, network)


@pytest.mark.parametrize("steps", [1, 2, 4, 100])
def test_gradients_are_accumulated_and_the_rest_is_used_at_the_epoch_s_end(steps):
    model, network = made(SGD(lr=0.1, gradient_accumulation_steps=steps)), twin()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(2):
        whole = list(batches())
        for start in range(0, len(whole), steps):
            some = whole[start : start + steps]
            samples = sum(len(x) for x, _ in some)
            optimizer.zero_grad()
            for x, y in some:  # of the mean over all samples
                (nn.functional.mse_loss(network(x), y) * (len(x) / samples)).backward()
            optimizer.step()
    fit(model)
    equal(model, network)
    assert model.optimizer.iterations == 2 * -(-6 // steps)


def test_averages_of_the_weights():
    model, network = made(SGD(lr=0.1, use_ema=True, ema_momentum=0.9)), twin()
    averages: list[torch.Tensor] = []

    def average():
        if not averages:
            averages.extend(p.detach().clone() for p in network.parameters())
            return
        for mean, p in zip(averages, network.parameters(), strict=True):
            mean.mul_(0.9).add_(p.detach(), alpha=0.1)

    by_hand(network, torch.optim.SGD(network.parameters(), lr=0.1), after=average)
    for x, y in [*batches(), *batches()]:
        model.train_on_batch(x, y)
    equal(model, network)
    model.optimizer.swap_ema()
    for mine, expected in zip(model.get_weights(), averages, strict=True):
        np.testing.assert_allclose(mine, expected.numpy().T, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "clip"),
    [
        ({"clipvalue": 0.05}, lambda p: nn.utils.clip_grad_value_(p, 0.05)),
        ({"clipnorm": 0.1}, lambda p: nn.utils.clip_grad_norm_(p, 0.1)),
        ({"global_clipnorm": 0.1}, lambda p: nn.utils.clip_grad_norm_(p, 0.1)),
        ({"each_clipnorm": 0.1}, lambda p: [nn.utils.clip_grad_norm_([each], 0.1) for each in p]),
    ],
)
def test_clipping(options, clip):
    model, network = made(SGD(lr=0.5, **options)), twin()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.5)
    for _ in range(2):
        for x, y in batches():
            optimizer.zero_grad()
            nn.functional.mse_loss(network(x), y).backward()
            clip(list(network.parameters()))
            optimizer.step()
    fit(model)
    equal(model, network, rtol=1e-4)


@pytest.mark.parametrize("option", ["lr", "learning_rate"])
def test_a_schedule(option):
    rate: Any = schedules.ExponentialDecay(0.1, decay_steps=3, decay_rate=0.5)
    model, network = made(SGD(**{option: rate})), twin()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5 ** (step / 3))
    by_hand(network, optimizer, after=scheduler.step)
    fit(model)
    equal(model, network)


def test_decay():
    model, network = made(SGD(lr=0.1, decay=0.2)), twin()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + 0.2 * step))
    by_hand(network, optimizer, after=scheduler.step)
    fit(model)
    equal(model, network)


def test_averages_stand_in_for_a_validation():
    model, other = (made(SGD(lr=0.1, use_ema=True, ema_momentum=0.5)) for _ in range(2))
    seen = []

    class Looking(Callback):
        def on_test_begin(self, logs=None):
            seen.append(self.model.get_weights()[0])

        def on_epoch_end(self, epoch, logs=None):
            seen.append(self.model.get_weights()[0])

    fit(model, 1, callbacks=[SwapEMAWeights(), Looking()], validation_data=(X, Y))
    for x, y in batches():
        other.train_on_batch(x, y)
    trained = other.get_weights()[0]
    other.optimizer.swap_ema()
    for mine, expected in zip(seen, (other.get_weights()[0], trained), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-6)


# --- copies ----------------------------------------------------------------------------------------------------------


def pickled(model: Model) -> Model:
    return pickle.loads(pickle.dumps(model))  # noqa: S301  # made in this test


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "adam": lambda: "adam",
    "accumulating": lambda: Adam(gradient_accumulation_steps=4, use_ema=True),
    "torch": lambda: torch.optim.AdamW,
    "pair": lambda: (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    "schedule": lambda: SGD(lr=schedules.CosineDecay(0.1, 100), momentum=0.9),
}


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_copy_goes_on_as_the_model_does(copied, optimizer):
    counted = [metrics.RootMeanSquaredError(), torchmetrics.MeanAbsoluteError(), "AUC"]
    model = made(OPTIMIZERS[optimizer](), nn.HuberLoss(delta=0.5), metrics=counted[:2])
    for x, y in batches():
        model.train_on_batch(x, y)
    other = copied(model)
    assert other.optimizer is not model.optimizer
    for mine, copy_of in zip(model._training.ready().kept.values(), other._training.ready().kept.values(), strict=True):
        assert mine is not copy_of
    for x, y in batches():
        assert other.train_on_batch(x, y) == model.train_on_batch(x, y)
    kept = model.get_weights()
    assert [w.tolist() for w in other.get_weights()] == [w.tolist() for w in kept]
    other.train_on_batch(X, Y)
    assert [w.tolist() for w in model.get_weights()] == [w.tolist() for w in kept]


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_a_copy_with_an_instance_of_torch_s_trains_its_own_weights(copied):
    model = made("sgd")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    model.compile(optimizer, losses.Huber(reduction="sum"))
    fit(model, 1)
    other = copied(model)
    found = fit(other, 1).history["loss"]
    assert found == fit(model, 1).history["loss"]
    assert [w.tolist() for w in other.get_weights()] == [w.tolist() for w in model.get_weights()]
    assert model.optimizer.optimizer is optimizer
    assert other.optimizer.optimizer is not optimizer


def test_what_compile_was_given_may_be_set_and_counts_from_then_on():
    model = made("sgd")
    squared = model.evaluate(X, Y, verbose=0)
    model.loss = "mae"
    difference = model.predict(X) - Y
    assert squared == pytest.approx(float((difference**2).mean()))
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(float(abs(difference).mean()))


@pytest.mark.parametrize("given", ["adam", Adam(), torch.optim.Adam])
def test_an_optimizer_may_be_set_as_compile_takes_it(given: Any):
    by_setting, by_compile = made("sgd"), made("adam" if given is not torch.optim.Adam else given)
    by_setting.optimizer = given
    assert type(by_setting.optimizer) is type(by_compile.optimizer)
    for model in (by_setting, by_compile):
        model.fit(X, Y, batch_size=BATCH, shuffle=False, verbose=0)
    for mine, other in zip(by_setting.get_weights(), by_compile.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_what_is_no_optimizer_is_refused_when_it_is_set():
    model = made("sgd")
    with pytest.raises(ValueError, match="adm"):
        model.optimizer = "adm"
    assert isinstance(model.optimizer, SGD)


def test_a_model_whose_optimizer_was_taken_away_evaluates_and_says_why_it_cannot_train():
    model = made("sgd")
    before = model.evaluate(X, Y, verbose=0)
    model.optimizer = None
    assert model.evaluate(X, Y, verbose=0) == before
    with pytest.raises(ValueError, match="has no optimizer to train with: its `optimizer` was set to None"):
        model.fit(X, Y, verbose=0)


def test_before_compile_an_optimizer_of_one_s_own_is_what_was_set():
    inputs = Input((4,))
    model = Model(inputs, Dense(1)(inputs))
    own = torch.optim.SGD(model.parameters(), lr=0.1)
    model.optimizer = own
    assert model.optimizer is own


def test_a_module_given_to_such_an_attribute_is_kept_there():
    model, loss = made("sgd"), nn.MSELoss()
    model.loss = loss
    assert model.loss is loss
    assert "loss" not in model._modules
