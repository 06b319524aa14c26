"""Optimizers of `torch.optim` on a model: the same steps as by hand, and what is refused."""

import copy
import re
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from torchkeras import clear_session, optimizers
from torchkeras.layers import Dense
from torchkeras.models import Sequential, load_model
from torchkeras.optimizers import TorchOptimizer

X, Y = np.random.default_rng(0).normal(size=(2, 8, 3)).astype("float32")


def model_of_two() -> Sequential:
    clear_session()
    torch.manual_seed(0)
    return Sequential([Dense(3, activation="tanh", input_shape=(3,)), Dense(3)])


def by_hand(make: Any, steps: int) -> list[torch.Tensor]:
    model = model_of_two()
    optimizer = make(list(model.parameters()))
    for _ in range(steps):
        optimizer.zero_grad()
        (model(torch.from_numpy(X)) - torch.from_numpy(Y)).square().mean().backward()
        optimizer.step()
    return list(model.parameters())


GIVEN: dict[str, Any] = {
    "class": lambda model: torch.optim.AdamW,
    "partial": lambda model: partial(torch.optim.SGD, lr=0.1, momentum=0.9),
    "pair": lambda model: (torch.optim.Adagrad, {"lr": 0.1}),
    "instance": lambda model: torch.optim.RMSprop(model.parameters(), lr=0.01),
    "adapter": lambda model: TorchOptimizer(torch.optim.NAdam),
}
HAND: dict[str, Any] = {
    "class": torch.optim.AdamW,
    "partial": partial(torch.optim.SGD, lr=0.1, momentum=0.9),
    "pair": partial(torch.optim.Adagrad, lr=0.1),
    "instance": partial(torch.optim.RMSprop, lr=0.01),
    "adapter": torch.optim.NAdam,
}


@pytest.mark.parametrize("name", GIVEN)
def test_steps_are_those_of_torch(name: str):
    model = model_of_two()
    model.compile(GIVEN[name](model), "mse")
    for _ in range(4):
        model.train_on_batch(X, Y)
    for ours, theirs in zip(model.parameters(), by_hand(HAND[name], 4), strict=True):
        torch.testing.assert_close(ours, theirs)
    assert isinstance(model.optimizer, TorchOptimizer)
    assert model.optimizer.iterations == 4
    assert all(parameter.grad is None for parameter in model.parameters())
    assert model.optimizer.flush() is False


def fused(given: Any) -> Any:
    model = model_of_two()
    model.compile(given, "mse")
    return model.optimizer.optimizer.param_groups[0].get("fused")


def test_fused_is_chosen_where_torch_has_it_and_nobody_else_chose():
    assert fused(torch.optim.Adam) is True
    assert fused((torch.optim.Adam, {"fused": False})) is False
    assert fused((torch.optim.Adam, {"foreach": True})) is None
    assert fused(torch.optim.RMSprop) is None


def test_gradients_are_laid_out_as_parameters():
    parameter = torch.zeros(2, 3)
    optimizer = TorchOptimizer((torch.optim.SGD, {"lr": 1.0}))
    gradient = torch.arange(6.0).reshape(3, 2).t()
    optimizer.update([parameter], [gradient])
    torch.testing.assert_close(parameter, -gradient)
    optimizer.update([parameter], [gradient.expand(2, 3)])
    torch.testing.assert_close(parameter, -2 * gradient)


def test_the_rate_is_that_of_the_groups():
    model = model_of_two()
    first, second = (list(layer.parameters()) for layer in model.layers)
    torch_own = torch.optim.SGD([{"params": first, "lr": 0.5}, {"params": second}], lr=0.1)
    model.compile(torch_own, "mse")
    assert (model.optimizer.lr, model.optimizer.learning_rate, model.optimizer.current_lr) == (0.5, 0.5, 0.5)
    model.optimizer.lr = 0.25
    assert [group["lr"] for group in torch_own.param_groups] == [0.25, 0.25]
    torch_own.param_groups[0]["lr"] = torch.tensor(0.5)
    model.optimizer.learning_rate = 0.125
    assert model.optimizer.current_lr == 0.125


def test_an_instance_may_have_weights_that_do_not_train():
    model = model_of_two()
    given = torch.optim.SGD(model.parameters(), lr=0.1)
    model.layers[0].trainable = False
    model.compile(given, "mse")
    before = model.get_weights()
    model.train_on_batch(X, Y)
    changed = [not np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True)]
    assert changed == [False, False, True, True]


def test_a_group_that_is_added_later_trains_from_then_on():
    model, x, y = model_of_two(), torch.ones(4, 3), torch.zeros(4, 3)
    first, last = model.layers
    optimizer = torch.optim.SGD(first.parameters(), 0.1)
    with pytest.warns(UserWarning, match="it has 2 of the 4 parameters"):
        model.compile(optimizer, "mse")
    before = last.linear.weight.detach().clone()
    model.train_on_batch(x, y)
    assert torch.equal(last.linear.weight, before)
    optimizer.add_param_group({"params": last.parameters()})
    model.train_on_batch(x, y)
    assert not torch.equal(last.linear.weight, before)


def test_the_state_of_an_instance_follows_a_model_that_changes_its_type():
    model = model_of_two()
    optimizer = torch.optim.Adam(model.parameters(), 0.1)
    model.compile(optimizer, "mse")
    for kind in (np.float32, np.float64, np.float32):
        model.double() if kind is np.float64 else model.float()
        model.train_on_batch(X.astype(kind), Y.astype(kind))
    hand = by_hand(lambda parameters: torch.optim.Adam(parameters, 0.1), 3)
    torch.testing.assert_close(list(model.parameters()), hand, rtol=1e-4, atol=1e-5)


def test_an_instance_must_have_those_that_train():
    model = model_of_two()
    some = [*model.layers[0].parameters(), torch.nn.Parameter(torch.zeros(2))]
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        model.compile(torch.optim.SGD(some, lr=0.1), "mse")
    assert str(caught.value) == (
        "SGD: it must have the 4 parameters of the model that train, and no other that trains; 2 of them are missing, "
        "1 others are foreign. Make it of `model.parameters()` after the model is built, or give compile its class."
    )


def test_training_goes_on_from_a_state():
    model = model_of_two()
    model.compile((torch.optim.Adam, {"lr": 0.1}), "mse")
    model.train_on_batch(X, Y)
    weights, state = model.get_weights(), copy.deepcopy(model.optimizer.state_dict())
    model.train_on_batch(X, Y)
    other = model_of_two()
    other.compile((torch.optim.Adam, {"lr": 0.5}), "mse")
    other.set_weights(weights)
    other.optimizer.load_state_dict(state)
    assert other.optimizer.lr == 0.1
    other.train_on_batch(X, Y)
    for a, b in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert other.optimizer.iterations == 2


def test_the_state_follows_a_model_that_moves():
    model = model_of_two()
    model.compile(torch.optim.Adam, "mse")
    model.train_on_batch(X, Y)
    model.double()
    model.train_on_batch(X, Y)
    moments = [state["exp_avg"].dtype for state in model.optimizer.optimizer.state.values()]
    assert moments == [torch.float64] * 4


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
def test_a_model_is_saved_without_it(suffix: str, tmp_path: Any):
    model = model_of_two()
    model.compile(torch.optim.Adam, "mse")
    path = tmp_path / f"model{suffix}"
    text = (
        f"{path}: an optimizer of torch.optim has no form in a file of Keras, so the model is saved without: compile "
        "it again after loading."
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$"):
        model.save(path)
    assert load_model(path).optimizer is None


class Unbound(torch.optim.SGD):
    pass


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (
            lambda: TorchOptimizer("sgd"),
            TypeError,
            (
                "TorchOptimizer: give an instance or a class of torch.optim.Optimizer, a functools.partial of a class, "
                "or (class, {options}); found 'sgd'."
            ),
        ),
        (
            lambda: optimizers.get(torch.optim.LBFGS),
            TypeError,
            "TorchOptimizer: LBFGS asks for a closure, which a training step does not give.",
        ),
        (
            lambda: TorchOptimizer(Unbound).lr,
            ValueError,
            "Unbound has no parameters yet: compile a model with it first.",
        ),
        (
            lambda: TorchOptimizer(Unbound).get_weights(),
            ValueError,
            "Unbound, of torch.optim, has no state in Keras's form: use state_dict.",
        ),
        (
            lambda: TorchOptimizer(Unbound).set_weights([]),
            ValueError,
            "Unbound, of torch.optim, has no state in Keras's form: use load_state_dict.",
        ),
        (
            lambda: optimizers.serialize(TorchOptimizer(Unbound)),
            ValueError,
            "Unbound, of torch.optim, has no form in a file of Keras: save with include_optimizer=False.",
        ),
        (
            lambda: TorchOptimizer(Unbound).swap_ema(),
            ValueError,
            "Unbound, of torch.optim, keeps no moving averages: use_ema is an option of Keras's.",
        ),
        (
            lambda: TorchOptimizer(Unbound).load_state_dict({"class_name": "Adam"}),
            ValueError,
            "Unbound: the state is of Adam.",
        ),
        (lambda: optimizers.get((1, {})), TypeError, "Could not interpret (1, {}) as a"),
    ],
)
def test_errors(act: Any, error: type[Exception], message: str):
    with pytest.raises(error, match=re.escape(message)):
        act()


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.NAdam])
def test_counts_of_a_weight_that_is_a_number_keep_their_type(kind: Any):
    """In bfloat16 a count ends at 256."""
    weight = torch.nn.Parameter(torch.zeros((), dtype=torch.bfloat16))
    torch_optimizer = kind([weight], lr=0.01)
    for _ in range(2):
        optimizer = TorchOptimizer(torch_optimizer)
        optimizer.bind([weight])
        for _ in range(200):
            optimizer.update([weight], [torch.ones((), dtype=torch.bfloat16)])
    state = torch_optimizer.state[weight]
    assert state["step"].item() == 400
    assert {name: value.dtype for name, value in state.items() if name in ("step", "mu_product")} == dict.fromkeys(
        state.keys() & {"step", "mu_product"}, torch.float32
    )
    assert state["exp_avg"].dtype == torch.bfloat16


@pytest.mark.parametrize("make", [torch.optim.NAdam, torch.optim.Adam])
def test_how_torch_computes_is_not_taken_from_a_state(make: Any):
    """A state that was written on a CUDA device has options there that the CPU has no kernels for."""
    model = model_of_two()
    model.compile(make, "mse")
    model.fit(X, Y, verbose=0)
    state = copy.deepcopy(model.optimizer.state_dict())
    state["torch"]["param_groups"][0] |= {"capturable": True, "lr": 0.125}
    model.optimizer.load_state_dict(state)
    assert model.optimizer.param_groups[0]["capturable"] is False
    assert model.optimizer.lr == 0.125
    model.fit(X, Y, verbose=0)
