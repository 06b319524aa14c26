"""What optimizers of `torch.optim` do besides their step: clipping, accumulation, a part of a model, groups, flags."""

import copy
import re
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import callbacks, clear_session
from torchkeras.layers import Dense
from torchkeras.models import Sequential
from torchkeras.optimizers import TorchOptimizer

X, Y = np.random.default_rng(0).normal(size=(2, 8, 3)).astype("float32")


def model_of_two() -> Sequential:
    clear_session()
    torch.manual_seed(0)
    return Sequential([Dense(3, activation="tanh", input_shape=(3,)), Dense(3)])


# --- clipping and accumulation ---------------------------------------------------------------------------------------

BATCHES = [(torch.from_numpy(X[k : k + 2]), torch.from_numpy(Y[k : k + 2])) for k in range(0, 8, 2)]
FIT: dict[str, Any] = {"batch_size": 2, "shuffle": False, "verbose": 0}


def loop(model: Any, optimizer: torch.optim.Optimizer, clip: Any = lambda parameters: None, every: int = 1) -> None:
    """An epoch of four batches by hand; `every` so many batches make a step."""
    optimizer.zero_grad()
    for k, (x, y) in enumerate(BATCHES, 1):
        ((model(x) - y).square().mean() / every).backward()
        if k % every == 0:
            clip(list(model.parameters()))
            optimizer.step()
            optimizer.zero_grad()


def clip_each(parameters: list[torch.Tensor]) -> None:
    for parameter in parameters:
        torch.nn.utils.clip_grad_norm_([parameter], 0.05)


OPTIONS: dict[str, tuple[dict[str, Any], Any, int]] = {
    "clipnorm": ({"clipnorm": 0.1}, lambda parameters: torch.nn.utils.clip_grad_norm_(parameters, 0.1), 1),
    "global_clipnorm": ({"global_clipnorm": 0.1}, lambda ps: torch.nn.utils.clip_grad_norm_(ps, 0.1), 1),
    "clipvalue": ({"clipvalue": 0.02}, lambda parameters: torch.nn.utils.clip_grad_value_(parameters, 0.02), 1),
    "each_clipnorm": ({"each_clipnorm": 0.05}, clip_each, 1),
    "accumulation": ({"gradient_accumulation_steps": 2}, lambda parameters: None, 2),
    "both": (
        {"clipnorm": 0.1, "gradient_accumulation_steps": 2},
        lambda parameters: torch.nn.utils.clip_grad_norm_(parameters, 0.1),
        2,
    ),
}


def given_as(form: str, model: Any, options: dict[str, Any]) -> Any:
    rate: dict[str, Any] = {"lr": 0.1, "momentum": 0.9}
    return {
        "pair": lambda: (torch.optim.SGD, {**rate, **options}),
        "partial": lambda: partial(torch.optim.SGD, **rate, **options),
        "instance": lambda: TorchOptimizer(torch.optim.SGD(model.parameters(), **rate), **options),
        "class": lambda: TorchOptimizer((torch.optim.SGD, rate), **options),
    }[form]()


@pytest.mark.parametrize("form", ["pair", "partial", "instance", "class"])
@pytest.mark.parametrize("name", OPTIONS)
def test_gradients_are_clipped_and_accumulated_as_by_hand(name: str, form: str):
    options, clip, every = OPTIONS[name]
    model, plain = model_of_two(), model_of_two()
    model.compile(given_as(form, model, options), "mse")
    model.fit(X, Y, **FIT)
    loop(plain, torch.optim.SGD(plain.parameters(), lr=0.1, momentum=0.9), clip, every)
    for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)
    assert model.optimizer.iterations == 4 // every


def test_what_waits_at_an_epoch_s_end_is_a_step():
    model, plain = model_of_two(), model_of_two()
    model.compile((torch.optim.SGD, {"lr": 0.1, "gradient_accumulation_steps": 3}), "mse")
    model.fit(X, Y, **FIT)
    assert model.optimizer.iterations == 2
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
    for batches in (BATCHES[:3], BATCHES[3:]):
        optimizer.zero_grad()
        for x, y in batches:
            ((plain(x) - y).square().mean() / len(batches)).backward()
        optimizer.step()
    for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_what_has_accumulated_is_part_of_the_state():
    def made() -> Sequential:
        model = model_of_two()
        model.compile((torch.optim.Adam, {"lr": 0.1, "gradient_accumulation_steps": 2}), "mse")
        return model

    model, other = made(), made()
    model.train_on_batch(X[:2], Y[:2])
    other.optimizer.load_state_dict(copy.deepcopy(model.optimizer.state_dict()))
    for each in (model, other):
        each.train_on_batch(X[2:], Y[2:])
    for mine, theirs in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert model.optimizer.iterations == other.optimizer.iterations == 1


def test_an_option_may_be_set_later():
    model = model_of_two()
    model.compile(torch.optim.SGD(model.parameters(), lr=1.0), "mse")
    before = model.get_weights()
    model.optimizer.clipvalue = 1e-4
    model.train_on_batch(X, Y)
    assert max(np.abs(a - b).max() for a, b in zip(before, model.get_weights(), strict=True)) <= 1.01e-4
    model.optimizer.gradient_accumulation_steps = 2
    model.train_on_batch(X, Y)
    assert model.optimizer.iterations == 1
    model.optimizer.gradient_accumulation_steps = None
    assert model.optimizer.iterations == 2


# --- a part of a model, groups, flags --------------------------------------------------------------------------------


def test_an_optimizer_of_a_part_trains_that_part_and_says_so_once(recwarn: Any):
    model, plain = model_of_two(), model_of_two()
    optimizer = torch.optim.SGD(model.layers[1].parameters(), lr=0.1, momentum=0.9)
    model.compile(optimizer, "mse", metrics=["mae"])
    model.fit(X, Y, epochs=2, **FIT)
    model.fit(X, Y, **FIT)
    names = [layer.name for layer in model.layers]
    others = f"{names[0]}/kernel, {names[0]}/bias"
    text = f"SGD: it has 2 of the 4 parameters of the model that train; the others stay as they are: {others}."
    assert [str(warning.message) for warning in recwarn] == [text]
    theirs = torch.optim.SGD(plain.layers[1].parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        loop(plain, theirs)
        plain.zero_grad()
    for mine, expected in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, expected)


def test_the_rest_stays_with_constraints_and_clipping_too():
    model = Sequential(
        [Dense(3, input_shape=(3,), kernel_constraint="unit_norm"), Dense(3, kernel_constraint="unit_norm")]
    )
    before = model.get_weights()
    optimizer = TorchOptimizer(torch.optim.SGD(model.layers[1].parameters(), lr=0.1), clipnorm=1.0)
    with pytest.warns(UserWarning, match="the others stay as they are"):
        model.compile(optimizer, "mse")
    model.fit(X, Y, **FIT)
    for array, expected in zip(model.get_weights()[:2], before[:2], strict=True):
        np.testing.assert_array_equal(array, expected)
    np.testing.assert_allclose(np.linalg.norm(model.get_weights()[2], axis=0), 1.0, rtol=1e-5)


def test_an_optimizer_of_another_model_is_refused():
    model, other = model_of_two(), model_of_two()
    text = (
        "SGD: it must have the 4 parameters of the model that train, and no other that trains; 4 of them are missing, "
        "4 others are foreign. Make it of `model.parameters()` after the model is built, or give compile its class."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        model.compile(torch.optim.SGD(other.parameters(), lr=0.1), "mse")
    for parameter in other.parameters():
        parameter.requires_grad_(False)
    with pytest.raises(ValueError, match=f"^{re.escape(text.replace('4 others', '0 others'))}$"):
        model.compile(torch.optim.SGD(other.parameters(), lr=0.1), "mse")


def grouped(model: Any) -> torch.optim.Optimizer:
    first, second = (list(layer.parameters()) for layer in model.layers)
    return torch.optim.SGD([{"params": first, "lr": 0.2, "momentum": 0.5}, {"params": second}], lr=0.05)


def test_groups_keep_their_own_options():
    model, plain = model_of_two(), model_of_two()
    given = grouped(model)
    model.compile(given, "mse")
    model.fit(X, Y, **FIT)
    loop(plain, grouped(plain))
    for mine, expected in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, expected)
    assert model.optimizer.param_groups is given.param_groups
    assert model.optimizer.param_groups[1]["lr"] == 0.05
    assert model.optimizer.state is given.state
    assert model.optimizer.defaults is given.defaults


@pytest.mark.parametrize(
    ("callback", "rates"),
    [
        (lambda: callbacks.LearningRateScheduler(lambda epoch: 0.1), [0.1, 0.025]),
        (lambda: callbacks.LearningRateScheduler(lambda epoch: 0.0 if epoch == 0 else 0.1), [0.1, 0.025]),
        (
            lambda: callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=0, min_delta=100.0, cooldown=9),
            [0.1, 0.025],
        ),
        (lambda: callbacks.LearningRateFinder(steps=3), [0.2, 0.05]),
    ],
)
def test_callbacks_keep_the_relation_of_the_groups_rates(callback: Any, rates: list[float]):
    model = model_of_two()
    given = grouped(model)
    model.compile(given, "mse")
    model.fit(X, Y, epochs=2, callbacks=[callback()], **FIT)
    assert [group["lr"] for group in given.param_groups] == pytest.approx(rates)


@pytest.mark.parametrize(
    "options",
    [{"foreach": True}, {"foreach": False}, {"fused": True}, {"fused": False}, {"maximize": True}, {"amsgrad": True}],
)
def test_flags_of_torch_count(options: dict[str, Any]):
    model, plain = model_of_two(), model_of_two()
    model.compile((torch.optim.AdamW, {"lr": 0.01, **options}), "mse")
    model.fit(X, Y, **FIT)
    loop(plain, torch.optim.AdamW(plain.parameters(), lr=0.01, **options))
    for mine, expected in zip(model.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine, expected)


def test_capturable_on_the_cpu_is_torch_s_error():
    model = model_of_two()
    model.compile((torch.optim.Adam, {"capturable": True, "fused": False}), "mse")
    with pytest.raises(AssertionError, match="capturable=True"):
        model.fit(X, Y, **FIT)


def test_sparse_gradients_reach_a_sparse_optimizer():
    rows = torch.nn.Parameter(torch.ones(4, 2))
    optimizer = TorchOptimizer(torch.optim.SparseAdam)
    optimizer.bind([rows])
    loss = torch.nn.functional.embedding(torch.tensor([1, 1]), rows, sparse=True).sum()
    optimizer.update([rows], torch.autograd.grad(loss, [rows]))
    changed = (rows != 1).any(1).tolist()
    assert changed == [False, True, False, False]


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (
            lambda: TorchOptimizer((torch.optim.SGD, {"clipnorm": -1.0})),
            ValueError,
            "SGD: clipnorm must be a number of at least 0, or None; found -1.0.",
        ),
        (
            lambda: TorchOptimizer(torch.optim.SGD, gradient_accumulation_steps=0),
            ValueError,
            "SGD: gradient_accumulation_steps must be an integer of at least 1, or None; found 0.",
        ),
        (
            lambda: TorchOptimizer(torch.optim.SGD, clipnorm=1.0, global_clipnorm=1.0),
            TypeError,
            "SGD: clipnorm and global_clipnorm are one option; found both.",
        ),
        (
            lambda: TorchOptimizer((torch.optim.SGD, {"clipvalue": 1.0}), clipvalue=2.0),
            TypeError,
            "TorchOptimizer: clipvalue is passed twice, among the class's options and next to them.",
        ),
        (
            lambda: model_of_two().compile(torch.optim.LBFGS, "mse"),
            TypeError,
            "TorchOptimizer: LBFGS asks for a closure, which a training step does not give.",
        ),
    ],
)
def test_refused_options(act: Any, error: type[Exception], message: str):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        act()


# --- by the device ---------------------------------------------------------------------------------------------------


class OnCuda:
    """As much of a parameter on a CUDA device as the choice of a kernel looks at."""

    is_cuda, device = True, torch.device("cuda")

    def is_floating_point(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("kind", "on_cpu", "on_cuda"),
    [
        (torch.optim.Adam, {"fused": True}, {"fused": True}),
        (torch.optim.Adagrad, {"fused": True}, {}),
        (torch.optim.ASGD, {}, {"capturable": True}),
        (torch.optim.NAdam, {}, {"capturable": True}),
        (torch.optim.Rprop, {}, {"capturable": True}),
        (partial(torch.optim.RAdam, differentiable=True), {}, {}),
        (partial(torch.optim.Adam, foreach=True), {}, {}),
        (partial(torch.optim.ASGD, capturable=False), {}, {}),
    ],
)
def test_the_kernel_is_one_that_torch_has_for_the_device(kind: Any, on_cpu: dict[str, bool], on_cuda: dict[str, bool]):
    optimizer = TorchOptimizer(kind)
    parameter: Any
    for parameter, expected in ((torch.zeros(2), on_cpu), (OnCuda(), on_cuda)):
        optimizer._parameters = [parameter]
        assert optimizer._for_device() == expected
