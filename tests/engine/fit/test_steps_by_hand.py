"""Steps of one's own by `loss.backward()` and the optimizer, against plain PyTorch."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from plain_pytorch import ROWS, Batches, X, Y, assert_same, by_hand, network, plain_momentum, refused, train_plainly
from torch import nn
from torch.nn import functional as F
from torch.optim import lr_scheduler, swa_utils

from torchkeras import Model, optimizers
from torchkeras.constraints import MaxNorm
from torchkeras.layers import Dense
from torchkeras.models import Sequential


def backward_and_step(model: Any, loss: torch.Tensor) -> None:
    model.optimizer.zero_grad()
    loss.backward()
    model.optimizer.step()


def module_s_zero_grad(model: Any, loss: torch.Tensor) -> None:
    model.zero_grad()
    loss.backward()
    model.optimizer.step()


def apply_to_parameters(model: Any, loss: torch.Tensor) -> None:
    parameters = list(model.parameters())
    model.optimizer.apply(torch.autograd.grad(loss, parameters), parameters)


def apply_pairs(model: Any, loss: torch.Tensor) -> None:
    parameters = list(model.parameters())
    model.optimizer.apply_gradients(zip(torch.autograd.grad(loss, parameters), parameters, strict=True))


def as_keras_3_writes_it(model: Any, loss: torch.Tensor) -> None:
    """https://keras.io/guides/custom_train_step_in_torch/"""
    model.zero_grad()
    loss.backward()
    trainable_weights = list(model.trainable_weights)
    gradients = [v.value.grad for v in trainable_weights]
    with torch.no_grad():
        model.optimizer.apply(gradients, trainable_weights)


def own_parameters_gradients(model: Any, loss: torch.Tensor) -> None:
    model.zero_grad()
    loss.backward()
    model.optimizer.apply([v.tensors[0].grad for v in model.trainable_weights], model.trainable_weights)


def with_a_closure(model: Any, loss: torch.Tensor) -> None:
    def closure() -> torch.Tensor:
        model.optimizer.zero_grad(set_to_none=False)
        loss.backward()
        return loss

    assert model.optimizer.step(closure) is loss


def with_a_scaler(model: Any, loss: torch.Tensor) -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    model.optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(model.optimizer)
    scaler.step(model.optimizer)
    scaler.update()


WAYS = [
    *(backward_and_step, module_s_zero_grad, apply_to_parameters, apply_pairs),
    *(as_keras_3_writes_it, own_parameters_gradients, with_a_closure, with_a_scaler),
]
OPTIMIZERS: dict[str, tuple[Any, Any]] = {
    "of Keras": (lambda model: optimizers.SGD(0.1, momentum=0.9), plain_momentum),
    "of torch": (plain_momentum, plain_momentum),
    "a class of torch": (
        lambda model: (torch.optim.AdamW, {"lr": 0.01, "fused": False}),
        lambda plain: torch.optim.AdamW(plain.parameters(), lr=0.01),
    ),
}


def stepping_by(way: Any) -> type[Model]:
    class ByHand(Model):
        def train_step(self, data):
            x, y = data
            loss = F.cross_entropy(self(x), y)
            way(self, loss)
            return {"loss": loss}

    return ByHand


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_gradients_by_hand_train_as_in_plain_pytorch(way: Any, kind: str):
    ours, theirs = OPTIMIZERS[kind]
    model = network(stepping_by(way))
    plain = by_hand(model)
    model.compile(ours(model))
    model.fit(Batches(ROWS), epochs=2, verbose=0)
    train_plainly(plain, theirs(plain), 2)
    assert_same(model, plain)
    assert model.optimizer.iterations == 6


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_a_scaler_of_torch_skips_a_step_that_is_not_finite(kind: str):
    model = network(Model)
    model.compile(OPTIMIZERS[kind][0](model), "mse")
    scaler, before = torch.amp.GradScaler("cpu", init_scale=8.0), model.get_weights()
    for factor, scale in ((torch.inf, 4.0), (1.0, 4.0)):
        model.optimizer.zero_grad()
        scaler.scale(model(ROWS[0][0]).mean() * factor).backward()
        scaler.step(model.optimizer)
        scaler.update()
        assert scaler.get_scale() == scale
        same = [np.array_equal(one, other) for one, other in zip(before, model.get_weights(), strict=True)]
        assert all(same) is (factor == torch.inf)


def test_a_group_of_parameters_has_the_rate_of_the_optimizer():
    model = network(Model)
    model.compile(optimizers.SGD(0.1, momentum=0.5), "mse")
    (group,) = model.optimizer.param_groups
    assert (group["lr"], group["momentum"], len(group)) == (0.1, 0.5, 3)
    assert [id(each) for each in group["params"]] == [id(each) for each in model.parameters()]
    group["lr"], group["momentum"], group["initial_lr"] = torch.tensor(0.5), 0.9, 0.1
    assert (model.optimizer.lr, model.optimizer.momentum) == (0.5, 0.9)
    model.optimizer.lr = 0.25
    assert dict(model.optimizer.param_groups[0]) == {**group, "lr": 0.25, "initial_lr": 0.1}
    del group["initial_lr"]
    for name in ("params", "weight_decay", "eps", "nesterov"):
        with pytest.raises(TypeError) as caught:
            group[name] = 0.01
        assert str(caught.value) == (
            f"SGD: its param_groups set lr and momentum; found {name}. Other options are set on the optimizer itself, "
            "as model.optimizer.clipnorm = 1.0."
        )
    with pytest.raises(ValueError) as missing:  # noqa: PT011
        _ = optimizers.SGD(0.1).param_groups
    assert str(missing.value) == "SGD.param_groups: it has no parameters yet: compile a model with it first."
    adam = optimizers.Adam(0.1).as_group
    adam["betas"] = (0.5, 0.9)
    assert adam["betas"] == (0.5, 0.9)
    scheduled = optimizers.SGD(optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)).as_group
    assert scheduled["lr"] == pytest.approx(0.1)


# --- schedulers of torch ---------------------------------------------------------------------------------------------

SCHEDULERS: dict[str, Any] = {
    "StepLR": lambda o: lr_scheduler.StepLR(o, 2, 0.5),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.1, total_steps=20, cycle_momentum=False),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, 5),
    "ReduceLROnPlateau": lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=0, threshold=10.0, threshold_mode="abs"),
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda step: 0.9**step),
    "SequentialLR": lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.5)], [2]
    ),
    "ChainedScheduler": lambda o: lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.5)], optimizer=o
    ),
    "SWALR": lambda o: swa_utils.SWALR(o, swa_lr=0.01, anneal_epochs=3),
}


def trained_by(module: Any, optimizer: Any, scheduler: Any, steps: int) -> list[float]:
    """The rates of so many steps by hand, with the norm of the gradients clipped by torch."""
    rates = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(module(ROWS[0][0]), ROWS[0][1])
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 0.5)
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step(*[loss.detach()] * isinstance(scheduler, lr_scheduler.ReduceLROnPlateau))
    return rates


@pytest.mark.parametrize("name", SCHEDULERS)
@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.filterwarnings("ignore:The epoch parameter in `scheduler.step:UserWarning")  # SequentialLR's own call
def test_a_scheduler_sets_the_rate_and_goes_on_from_a_state(name: str, kind: str):
    (ours, theirs), make = OPTIMIZERS[kind], SCHEDULERS[name]
    model = network(Model)
    plain = by_hand(model)
    model.compile(ours(model), "mse")
    optimizer, expected = model.optimizer.as_torch(), theirs(plain)
    if kind == "of Keras":  # whose velocity has the rate in it, so that both are the same only without one
        model.optimizer.momentum = expected.param_groups[0]["momentum"] = 0.0
    scheduler, its = make(optimizer), make(expected)
    assert trained_by(model, optimizer, scheduler, 3) == pytest.approx(trained_by(plain, expected, its, 3))
    state = copy.deepcopy([each.state_dict() for each in (model, optimizer, scheduler)])
    again = network(Model)
    again.compile(ours(again), "mse")
    goes_on = again.optimizer.as_torch()
    rates_again = make(goes_on)
    for each, values in zip((again, goes_on, rates_again), state, strict=True):
        each.load_state_dict(values)
    rates = trained_by(plain, expected, its, 3)
    assert trained_by(model, optimizer, scheduler, 3) == pytest.approx(rates)
    assert trained_by(again, goes_on, rates_again, 3) == pytest.approx(rates)
    assert_same(model, plain)
    assert_same(again, plain)


def test_as_torch_is_an_optimizer_of_torch():
    model = network(Model)
    model.compile(optimizers.SGD(0.1), "mse")
    optimizer = model.optimizer.as_torch()
    assert isinstance(optimizer, torch.optim.Optimizer)
    assert copy.deepcopy(optimizer).param_groups[0]["lr"] == 0.1
    state = optimizer.state_dict()
    assert (state["state"], state["param_groups"]) == ({}, [{"params": [0, 1, 2, 3], "lr": 0.1, "momentum": 0.0}])
    with pytest.raises(TypeError) as caught:
        optimizer.add_param_group({"params": [nn.Parameter(torch.ones(1))]})
    assert str(caught.value) == (
        "SGD: it trains the weights of the model that was compiled with it, and takes no further groups. "
        "lr_multipliers gives layers rates of their own."
    )
    model.compile("sgd", "mse")
    torchs = torch.optim.SGD(model.parameters(), lr=0.1)
    model.compile(torchs, "mse")
    assert model.optimizer.as_torch() is torchs


def test_the_state_of_as_torch_has_torch_s_form(tmp_path):
    model = network(Model)
    model.compile(optimizers.Adam(0.1), "mse")
    optimizer = model.optimizer.as_torch()
    lr_scheduler.StepLR(optimizer, 1)
    model(ROWS[0][0]).sum().backward()
    optimizer.step()
    torch.save(optimizer.state_dict(), tmp_path / "optimizer.pt")
    state = torch.load(tmp_path / "optimizer.pt", weights_only=True)
    assert {k: {name: each.shape for name, each in values.items()} for k, values in state["state"].items()} == {
        k: {"ms": parameter.shape, "vs": parameter.shape} for k, parameter in enumerate(model.parameters())
    }
    assert state["param_groups"] == [{"params": [0, 1, 2, 3], "lr": 0.1, "betas": (0.9, 0.999), "initial_lr": 0.1}]
    own = model.optimizer.state_dict()
    for given in (state, own):
        again = network(Model)
        again.compile(optimizers.Adam(0.5), "mse")
        goes_on = again.optimizer.as_torch()
        goes_on.load_state_dict(given)
        assert again.optimizer.iterations == 1
        assert goes_on.param_groups[0].get("initial_lr") == (None if given is own else 0.1)
        torch.testing.assert_close(again.optimizer.state_dict()["moments"], own["moments"])


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_gradients_that_are_not_taken_away_add_up_as_in_torch(kind: str):
    class Adding(Model):
        def train_step(self, data):
            x, y = data
            loss = F.cross_entropy(self(x), y)
            loss.backward()
            self.optimizer.step()
            return {"loss": loss}

    ours, theirs = OPTIMIZERS[kind]
    model = network(Adding)
    plain = by_hand(model)
    model.compile(ours(model))
    model.fit(Batches(ROWS), verbose=0)
    optimizer = theirs(plain)
    for x, y in ROWS:
        F.cross_entropy(plain(x), y).backward()
        optimizer.step()
    assert_same(model, plain)


def test_a_loop_by_hand_with_the_model_s_optimizer():
    model = network(Model)
    plain = by_hand(model)
    model.compile(optimizers.SGD(0.1, momentum=0.9), "sparse_categorical_crossentropy")
    assert model.metrics_names == ["loss"]
    for x, y in ROWS:
        model.optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        model.optimizer.step()
    train_plainly(plain, plain_momentum(plain))
    assert_same(model, plain)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_constraints_and_accumulation_hold_by_hand_as_by_minimize(way: Any, kind: str):
    def minimized(model: Any, loss: torch.Tensor) -> None:
        model.minimize(loss, samples=4)

    weights = []
    start = network(Model, kernel_constraint=MaxNorm(0.5)).get_weights()
    for each in (way, minimized):
        model = network(stepping_by(each), kernel_constraint=MaxNorm(0.5))
        model.set_weights(start)
        given = OPTIMIZERS[kind][0](model)
        given = optimizers.get(given)
        given.gradient_accumulation_steps = 2
        model.compile(given)
        model.fit(Batches(ROWS), epochs=2, verbose=0)
        weights.append(model.get_weights())
        assert model.optimizer.iterations == 4  # two batches, and what is left of each epoch
    for mine, expected in zip(*weights, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-7)
    assert np.linalg.norm(weights[0][0], axis=0).max() <= 0.5 + 1e-5


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_a_step_by_hand_that_is_not_finite_is_taken_back(kind: str):
    class Failing(Model):
        def train_step(self, data):
            x, y = data
            loss = F.cross_entropy(self(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            if len(x) == 3:
                next(self.parameters()).grad = torch.full((5, 3), torch.nan)
            self.optimizer.step()
            return {"loss": loss}

    model = network(Failing)
    plain = by_hand(model)
    model.compile(OPTIMIZERS[kind][0](model), on_nonfinite="skip")
    model.fit(Batches([*ROWS[:2], (X[:3], Y[:3])]), verbose=0)
    optimizer = OPTIMIZERS[kind][1](plain)
    for x, y in ROWS[:2]:
        optimizer.zero_grad()
        F.cross_entropy(plain(x), y).backward()
        optimizer.step()
    assert_same(model, plain)


def test_gradients_of_a_part_leave_the_rest():
    def part(model: Any, loss: torch.Tensor) -> None:
        last = model.layers[-1].trainable_weights
        model.zero_grad()
        loss.backward()
        model.optimizer.apply([v.value.grad for v in last], last)

    model = network(stepping_by(part))
    before = model.get_weights()
    model.compile("sgd")
    model.fit(Batches(ROWS), verbose=0)
    changed = [not np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True)]
    assert changed == [False, False, True, True]


def compiled(units: int = 2) -> Any:
    model = Sequential([Dense(units, input_shape=(3,), name="d")])
    model.compile("sgd", "mse")
    assert model.metrics_names == ["loss"]
    return model


def on(model: Any, act: Any) -> None:
    act(model)


def of(model: Any) -> list[torch.Tensor]:
    return list(model.parameters())


ERRORS: dict[str, tuple[Any, str]] = {
    "before compile": (
        lambda: optimizers.SGD().step(),
        "SGD.step: it has no parameters yet: compile a model with it first.",
    ),
    "no variables": (
        lambda: compiled().optimizer.apply([torch.zeros(2)]),
        (
            "SGD.apply: give the variables too, apply(gradients, variables): parameters of the model, or its "
            "trainable_variables."
        ),
    ),
    "another number": (
        lambda: on(compiled(), lambda model: model.optimizer.apply([torch.zeros(2)], of(model))),
        "SGD.apply: found 1 gradients for 2 variables.",
    ),
    "none at all": (
        lambda: on(compiled(), lambda model: model.optimizer.apply([None, None], of(model))),
        "SGD.apply: no variable has a gradient; call loss.backward() before.",
    ),
    "another's": (
        lambda: compiled().optimizer.apply([torch.zeros(2)], [nn.Parameter(torch.zeros(2))]),
        "SGD.apply: a parameter of shape (2,) is none of the weights that it trains.",
    ),
    "a variable of another model": (
        lambda: compiled().optimizer.apply([torch.zeros(2)], [compiled().trainable_weights[1]]),
        "SGD.apply: 'd/bias:0' is none of the weights that it trains.",
    ),
    "another shape": (
        lambda: on(compiled(), lambda model: model.optimizer.apply([torch.zeros(2, 3)], model.trainable_weights[:1])),
        "SGD.apply: the gradient of 'd/kernel:0' has the shape (2, 3); it must be (3, 2).",
    ),
    "axes in an order that cannot be told": (
        lambda: on(compiled(3), lambda model: model.optimizer.apply([torch.zeros(3, 3)], model.trainable_weights[:1])),
        (
            "SGD.apply: 'd/kernel:0' has different orders of axes in torch and in Keras, with the same shape (3, 3), "
            "so its gradient may have either: pass it with the parameter, as apply(gradients, "
            "list(model.parameters()))."
        ),
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_apply_refuses(name: str):
    act, text = ERRORS[name]
    with refused(ValueError, text):
        act()
