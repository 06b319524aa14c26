"""Optimizers take the steps of genuine Keras 2.2.4: `keras-2.2.4-training/optimizer_*`, and its formulas in NumPy."""

import copy
import gc
import inspect
import json
import pickle
import re
import weakref
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch

from torchkeras import config, optimizers
from torchkeras.base.keras_axes import IN_ORDER, permuted
from torchkeras.optimizers import SGD, Adam, AdamW, Optimizer, RMSprop, TorchOptimizer

FOLDER = Path(__file__).parents[1] / "golden" / "keras-2.2.4-training"
RECORDS = sorted(FOLDER.glob("optimizer_*.json"))
TURNED = permuted((1, 0))
ARRANGEMENTS = [TURNED, IN_ORDER, TURNED, IN_ORDER]


def gradients_of(parameters, x, y):
    hidden_kernel, hidden_bias, kernel, bias = parameters
    predicted = torch.tanh(x @ hidden_kernel.t() + hidden_bias) @ kernel.t() + bias
    loss = (predicted - y).square().mean()
    return loss, list(torch.autograd.grad(loss, parameters))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: json.loads(path.read_text())["optimizer"])
def test_steps_and_state_are_those_of_keras(path):
    record, arrays = json.loads(path.read_text()), np.load(path.with_suffix(".npz"))
    optimizer = eval(record["optimizer"], vars(optimizers).copy())
    parameters = [torch.tensor(arrays[f"before{i}"].T.copy(), requires_grad=True) for i in range(4)]
    optimizer.bind(parameters, ARRANGEMENTS)
    x, y = torch.from_numpy(arrays["x"]), torch.from_numpy(arrays["y"])
    losses = []
    for _ in range(record["steps"]):
        loss, gradients = gradients_of(parameters, x, y)
        losses.append(loss.item())
        optimizer.update(parameters, gradients)
    np.testing.assert_allclose(losses, arrays["losses"], rtol=1e-4)
    for i, parameter in enumerate(parameters):
        np.testing.assert_allclose(parameter.detach().numpy().T, arrays[f"after{i}"], rtol=1e-4, atol=1e-6)
    state = optimizer.get_weights()
    assert [list(array.shape) for array in state] == record["optimizer_weights"]
    if getattr(optimizer, "momentum", 1):
        for i, array in enumerate(state):
            np.testing.assert_allclose(array, arrays[f"slot{i}"], rtol=1e-3, atol=1e-6)
            assert array.dtype == arrays[f"slot{i}"].dtype
    written = optimizer.get_config()
    assert written.keys() == record["config"].keys()
    assert all(written[name] == pytest.approx(value) for name, value in record["config"].items())


def test_there_are_records():
    assert len(RECORDS) == 9


# --- the formulas, over many steps and every option ------------------------------------------------------------------


def sgd(p, g, state, rate, t, o):
    state["v"] = o.momentum * state.get("v", 0) - rate * g
    return p + (o.momentum * state["v"] - rate * g if o.nesterov else state["v"])


def rmsprop(p, g, state, rate, t, o):
    state["a"] = o.rho * state.get("a", 0) + (1 - o.rho) * g**2
    return p - rate * g / (np.sqrt(state["a"]) + o.epsilon)


def adam(p, g, state, rate, t, o):
    state["m"] = o.beta_1 * state.get("m", 0) + (1 - o.beta_1) * g
    state["v"] = o.beta_2 * state.get("v", 0) + (1 - o.beta_2) * g**2
    state["vhat"] = np.maximum(state.get("vhat", 0), state["v"]) if o.amsgrad else state["v"]
    rate *= np.sqrt(1 - o.beta_2**t) / (1 - o.beta_1**t)
    return p - rate * state["m"] / (np.sqrt(state["vhat"]) + o.epsilon)


CASES = [
    (sgd, lambda: SGD(0.1)),
    (sgd, lambda: SGD(0.1, 0.9)),
    (sgd, lambda: SGD(0.1, 0.9, 0.1)),
    (sgd, lambda: SGD(0.1, 0.9, 0.1, True)),
    (sgd, lambda: SGD(0.1, 0.0, 0.1, True)),
    (rmsprop, lambda: RMSprop(0.01, 0.8, 0.1, 0.2)),
    (rmsprop, lambda: RMSprop(0.01, 0.0)),
    (adam, lambda: Adam(0.01)),
    (adam, lambda: Adam(0.01, 0.5, 0.9, 0.1, 0.2)),
    (adam, lambda: Adam(0.01, 0.8, 0.7, 0.01, 0.0, True)),
    (adam, lambda: Adam(0.01, 0.0, 0.0)),
]


@pytest.mark.parametrize(("formula", "make"), CASES, ids=lambda case: getattr(case, "__name__", None))
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_formula_while_the_rate_changes(formula, make, dtype):
    optimizer = make()
    generator = np.random.default_rng(0)
    parameter = torch.tensor(generator.normal(size=(3, 5)), dtype=dtype)
    expected, state = parameter.numpy().astype(np.float64), {}
    for iteration in range(12):
        optimizer.lr = {4: 0.05, 6: 0.0, 8: 0.3}.get(iteration, optimizer.lr)
        gradient = generator.normal(size=(3, 5))
        rate = optimizer.lr / (1 + optimizer.decay * iteration)
        expected = formula(expected, gradient, state, rate, iteration + 1, optimizer)
        optimizer.update([parameter], [torch.tensor(gradient, dtype=dtype)])
    rtol, atol = (1e-9, 0.0) if dtype == torch.float64 else (1e-4, 1e-5)
    np.testing.assert_allclose(parameter, expected, rtol=rtol, atol=atol)
    assert optimizer.iterations == 12


def test_clipnorm_is_over_all_gradients_and_clipvalue_comes_after():
    parameters = [torch.zeros(1), torch.zeros(1, dtype=torch.float64), torch.zeros(2)]
    gradients = [torch.tensor([3.0]), torch.tensor([4.0], dtype=torch.float64), None]
    SGD(1.0, clipnorm=1.0).update(parameters, gradients)
    assert [p.tolist() for p in parameters] == [[pytest.approx(-0.6)], [pytest.approx(-0.8)], [0.0, 0.0]]
    SGD(1.0, clipnorm=1.0, clipvalue=0.7).update(parameters, gradients)
    assert [p.tolist() for p in parameters[:2]] == [[pytest.approx(-1.2)], [pytest.approx(-1.5)]]
    assert [g.tolist() for g in gradients[:2]] == [[3.0], [4.0]]
    SGD(1.0, clipnorm=10.0, clipvalue=10.0).update(parameters, gradients)
    assert parameters[0].tolist() == [pytest.approx(-4.2)]
    SGD(1.0, clipnorm=1.0).update([parameters[2]], [torch.zeros(2)])
    assert parameters[2].tolist() == [0.0, 0.0]


def test_the_norm_of_half_gradients_does_not_overflow():
    parameter = torch.zeros(4, dtype=torch.float16)
    SGD(1.0, clipnorm=2.0).update([parameter], [torch.full((4,), 1000.0, dtype=torch.float16)])
    assert parameter.tolist() == [-1.0] * 4


@pytest.mark.parametrize("make", [lambda: SGD(0.1), lambda: SGD(0.1, 0.9), RMSprop, Adam, lambda: Adam(amsgrad=True)])
@pytest.mark.parametrize("options", [{}, {"clipnorm": 0.5, "clipvalue": 0.1}])
def test_layouts_in_memory_do_not_matter(make, options):
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(4, 6, generator=generator)
    plain, transposed = start.clone(), start.t().contiguous().t()
    one, other = make(), make()
    for name, value in options.items():
        setattr(one, name, value)
        setattr(other, name, value)
    for _ in range(3):
        gradient = torch.randn(4, 6, generator=generator)
        one.update([plain], [gradient])
        other.update([transposed], [gradient])
    torch.testing.assert_close(transposed, plain, rtol=0, atol=1e-7)


@pytest.mark.parametrize("make", [lambda: SGD(0.1, 0.9, nesterov=True), RMSprop, Adam])
def test_a_parameter_without_gradient_and_its_state_stay(make):
    parameters = [torch.ones(3), torch.ones(2), torch.ones(2, dtype=torch.float64)]
    gradients = [torch.ones(3), None, torch.ones(2, dtype=torch.float64)]
    optimizer = make()
    optimizer.update(parameters, gradients)
    assert parameters[1].tolist() == [1.0, 1.0]
    assert float(parameters[0][0]) != 1.0
    assert float(parameters[2][0]) == pytest.approx(float(parameters[0][0]))
    optimizer.update(parameters, [None, None, None])
    assert optimizer.iterations == 2


def test_all_gradients_none_with_clipping():
    parameter = torch.ones(2)
    SGD(clipnorm=1.0, clipvalue=1.0).update([parameter], [None])
    assert parameter.tolist() == [1.0, 1.0]


# --- state -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda: SGD(0.1), lambda: SGD(0.1, 0.9, 0.1), RMSprop, Adam, lambda: Adam(amsgrad=True)]
)
def test_state_round_trip_continues_the_run(make):
    generator = torch.Generator().manual_seed(1)
    gradients = [torch.randn(2, 3, generator=generator) for _ in range(6)]
    parameter, optimizer = torch.zeros(2, 3), make()
    optimizer.bind([parameter], [TURNED])
    for gradient in gradients[:3]:
        optimizer.update([parameter], [gradient])
    second, restored = parameter.clone(), make()
    restored.bind([second], [TURNED])
    restored.set_weights(optimizer.get_weights())
    restored.iterations = optimizer.iterations  # Keras's RMSprop does not write it
    for gradient in gradients[3:]:
        optimizer.update([parameter], [gradient])
        restored.update([second], [gradient])
    torch.testing.assert_close(second, parameter)
    assert [array.shape for array in restored.weights] == [array.shape for array in optimizer.weights]


def test_state_of_adam_without_amsgrad_ends_with_zeros():
    optimizer = Adam()
    assert optimizer.get_weights() == []
    optimizer.bind([torch.zeros(2, 3), torch.zeros(3)])
    assert [array.shape for array in optimizer.get_weights()] == [(), (2, 3), (3,), (2, 3), (3,), (1,), (1,)]


@pytest.mark.parametrize(
    ("optimizer", "weights", "message"),
    [
        (Adam(), [1, 2], "Adam: the state has 0 arrays; found 2. Call `bind` with the parameters first."),
        (RMSprop(), [], "RMSprop: the state has 1 arrays; found 0."),
        (RMSprop(), [np.zeros(3)], "RMSprop: array 0 of the state has shape (2,); found (3,)."),
        (Adam(), [0, np.zeros(2), np.zeros(2), np.zeros(2)], "one a parameter, have shape (1,)."),
    ],
)
def test_states_that_do_not_fit(optimizer, weights, message):
    if "bind" not in message:
        optimizer.bind([torch.zeros(2)])
    with pytest.raises(ValueError, match=re.escape(message)):
        optimizer.set_weights(weights)


def test_binding_again_keeps_the_state_of_the_same_parameters():
    parameters = [torch.nn.Parameter(torch.zeros(2, 3, 4, 4)), torch.nn.Parameter(torch.zeros(3))]
    optimizer = Adam()
    optimizer.update(parameters, [torch.ones(2, 3, 4, 4), torch.ones(3)])
    before = optimizer.get_weights()
    with torch.no_grad():
        parameters[0].data = parameters[0].data.to(memory_format=torch.channels_last)
        parameters[1].data = parameters[1].data.double()
    optimizer.bind(list(parameters))
    for old, new in zip(before, optimizer.get_weights(), strict=True):
        np.testing.assert_allclose(old, new)
    optimizer.update(parameters, [torch.ones(2, 3, 4, 4), torch.ones(3, dtype=torch.float64)])
    optimizer.bind(parameters[:1])
    assert optimizer.iterations == 2
    assert optimizer.get_weights()[1].any()
    optimizer.bind([torch.nn.Parameter(torch.zeros(3))])
    assert not optimizer.get_weights()[1].any()


IN_TURNS = {
    "plain": lambda: SGD(0.1),
    "momentum": lambda: SGD(0.1, momentum=0.9),
    "squares": lambda: RMSprop(0.1),
    "accumulated": lambda: SGD(0.1, momentum=0.9, gradient_accumulation_steps=2),
    "of torch": lambda: TorchOptimizer((torch.optim.Adam, {"lr": 0.1})),
    "of torch, accumulated": lambda: TorchOptimizer((torch.optim.Adam, {"lr": 0.1}), gradient_accumulation_steps=2),
}


@pytest.mark.parametrize("made", IN_TURNS.values(), ids=IN_TURNS)
def test_one_optimizer_trains_two_models_in_turns(made):
    together, each = made(), (made(), made())
    shared, alone = ([[torch.nn.Parameter(torch.ones(2))] for _ in range(2)] for _ in range(2))
    for _ in range(5):
        for k in range(2):
            together.update(shared[k], [shared[k][0].detach() + k])
            each[k].update(alone[k], [alone[k][0].detach() + k])
    assert [one[0].tolist() for one in shared] == [one[0].tolist() for one in alone]
    assert (together.iterations, each[0].iterations) == (2 * each[1].iterations, each[1].iterations)


def test_turns_keep_moments_averages_and_names():
    optimizer = AdamW(0.1, weight_decay=0.5, no_weight_decay=["bias"], use_ema=True, ema_momentum=0.5)
    models = [[torch.nn.Parameter(torch.ones(2))] for _ in range(2)]
    for model in models:
        optimizer.bind(model, layers=["out"], names=["bias"], arrangements=[IN_ORDER])
    seen = []
    for _ in range(2):
        for model in models:
            optimizer.update(model, [torch.ones(2)])
            assert not optimizer._groups[0].decays
            seen.append([array.tolist() for array in (optimizer.get_weights()[1], optimizer.get_averages()[0])])
    assert seen[0][0] == pytest.approx([0.1, 0.1]) == seen[1][0]
    assert seen[2][0] == pytest.approx([0.19, 0.19]) == seen[3][0]
    assert seen[0][1] == pytest.approx([0.9, 0.9])
    assert seen[2][1] == pytest.approx([(0.9 + value) / 2 for value in models[0][0].tolist()])


def test_what_waits_ends_with_its_parameters():
    optimizer, model = SGD(0.1, momentum=0.9), [torch.nn.Parameter(torch.ones(2))]
    optimizer.update(model, [torch.ones(2)])
    optimizer.bind([torch.nn.Parameter(torch.ones(2))])
    aside = optimizer._aside
    assert aside is not None
    moment = weakref.ref(aside._of_parameters[model[0]][0][0])
    assert moment() is not None
    model.clear()
    gc.collect()
    assert moment() is None


def test_parameters_with_gaps_are_refused():
    with pytest.raises(ValueError, match=re.escape("Parameter 0 of shape (3, 2) and strides (4, 1) has gaps")):
        SGD().bind([torch.zeros(3, 4)[:, :2]])


@pytest.mark.parametrize("again", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301
def test_copies_train_their_own_parameters(again):
    parameters, optimizer = [torch.nn.Parameter(torch.zeros(2))], Adam(0.1)
    optimizer.update(parameters, [torch.ones(2)])
    copied_parameters, copied = again((parameters, optimizer))
    copied.update(copied_parameters, [torch.ones(2)])
    assert copied.iterations == 2
    assert optimizer.iterations == 1
    assert parameters[0].tolist() == [pytest.approx(-0.1, rel=1e-4)] * 2
    assert copied_parameters[0].tolist() == [pytest.approx(-0.2, rel=1e-4)] * 2


# --- options and names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", [SGD(0.1, 0.9, 0.1, True, clipnorm=1), RMSprop(), Adam(amsgrad=True)])
def test_config_round_trip(optimizer):
    config = optimizers.serialize(optimizer)
    assert config == {"class_name": type(optimizer).__name__, "config": optimizer.get_config()}
    again = optimizers.deserialize(json.loads(json.dumps(config)))
    assert type(again) is type(optimizer)
    assert again.get_config() == optimizer.get_config()


def test_configs_of_keras():
    assert SGD().get_config() == {"lr": 0.01, "momentum": 0.0, "decay": 0.0, "nesterov": False}
    assert RMSprop().get_config() == {"lr": 0.001, "rho": 0.9, "decay": 0.0, "epsilon": 1e-7}
    assert Adam(clipvalue=2).get_config() == {
        "clipvalue": 2.0, "lr": 0.001, "beta_1": 0.9, "beta_2": 0.999, "decay": 0.0, "epsilon": 1e-7, "amsgrad": False,
    }  # fmt: skip


ORDER = {
    "SGD": "lr momentum decay nesterov",
    "RMSprop": "lr rho epsilon decay",
    "Adagrad": "lr epsilon decay",
    "Adadelta": "lr rho epsilon decay",
    "Adam": "lr beta_1 beta_2 epsilon decay amsgrad",
    "Adamax": "lr beta_1 beta_2 epsilon decay",
    "Nadam": "lr beta_1 beta_2 epsilon schedule_decay",
    "AdamW": "lr weight_decay beta_1 beta_2 epsilon decay amsgrad",
    "Lion": "lr beta_1 beta_2",
    "Lamb": "lr beta_1 beta_2 epsilon",
    "Muon": "lr adam_beta_1 adam_beta_2 adam_weight_decay epsilon",
    "Adafactor": "lr beta_2_decay epsilon_1 epsilon_2 clip_threshold relative_step",
}


@pytest.mark.parametrize("name", ORDER)
def test_the_order_of_arguments_is_that_of_keras(name):
    parameters = inspect.signature(getattr(optimizers, name)).parameters.values()
    assert [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD] == ORDER[name].split()


def test_epsilon_of_the_configuration():
    before = config.epsilon()
    try:
        config.set_epsilon(1e-3)
        assert Adam().epsilon == 1e-3
        assert Adam(epsilon=0).epsilon == 0.0
    finally:
        config.set_epsilon(before)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("sgd", SGD), ("SGD", SGD), ("rmsprop", RMSprop), ("RMSProp", RMSprop), ("adam", Adam), ("ADAM", Adam)],
)
def test_names(name, kind):
    assert type(optimizers.get(name)) is kind
    assert type(optimizers.get({"class_name": name, "config": {"lr": 0.5}})) is kind
    assert optimizers.get(name) is not optimizers.get(name)


def test_objects_stay_and_classes_are_called():
    optimizer = SGD()
    assert optimizers.get(optimizer) is optimizer
    assert type(optimizers.get(Adam)) is Adam


def test_learning_rate_is_lr():
    optimizer: Any = SGD(learning_rate=0.5)  # to a checker `learning_rate` is an argument alone
    assert (optimizer.lr, optimizer.learning_rate) == (0.5, 0.5)
    optimizer.learning_rate = np.float32(0.25)
    assert optimizer.lr == 0.25
    assert type(optimizer.lr) is float
    assert "learning_rate" not in optimizer.get_config()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: SGD(**cast(Any, {"learningrate": 0.1})), TypeError, "learningrate"),
        (lambda: SGD(0.1, learning_rate=0.2), TypeError, "SGD: lr and learning_rate are one option; found both."),
        (lambda: SGD(-1), ValueError, "SGD: lr must be a number of at least 0; found -1."),
        (lambda: SGD(cast(Any, "0.1")), ValueError, "SGD: lr must be a number of at least 0; found '0.1'."),
        (lambda: Adam(lr=float("nan")), ValueError, "Adam: lr must be a number of at least 0; found nan."),
        (lambda: Adam(beta_2=1), ValueError, "Adam: beta_2 must be a number from 0 to below 1; found 1."),
        (lambda: SGD(nesterov=cast(Any, 1)), ValueError, "SGD: nesterov must be True or False; found 1."),
        (
            lambda: RMSprop(clipnorm=-1),
            ValueError,
            "RMSprop: clipnorm must be a number of at least 0, or None; found -1.",
        ),
        (lambda: setattr(SGD(), "lr", None), ValueError, "SGD: lr must be a number of at least 0; found None."),
        (lambda: optimizers.get("sdg"), ValueError, "Unknown optimizer: 'sdg'. Did you mean 'sgd'?"),
        (lambda: optimizers.get(print), TypeError, "as an optimizer: give a name, a config or an instance"),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


def test_an_optimizer_of_ones_own():
    class Sign(Optimizer):
        lr: float = 0.5

        def __init__(self, lr=0.5, **options):
            super().__init__(**options)
            self.lr = lr

        def update_step(self, group, gradients, rate):
            for parameter, gradient in zip(group.parameters, gradients, strict=True):
                parameter.add_(gradient.sign(), alpha=-rate)

    parameter = torch.zeros(2)
    optimizers.get({"class_name": "Sign", "config": {"clipvalue": 1.0}}, {"Sign": Sign}).update(
        [parameter], [torch.tensor([3.0, -4.0])]
    )
    assert parameter.tolist() == [-0.5, 0.5]
    with pytest.raises(NotImplementedError, match=re.escape("Optimizer has no update_step(group, gradients, rate).")):
        Optimizer().update([parameter], [torch.ones(2)])
