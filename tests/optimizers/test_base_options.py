"""Options that all optimizers share: norms, weight decay, averages, accumulated gradients, rates."""

import dataclasses
import re
from typing import Any, cast

import numpy as np
import pytest
import torch

from torchkeras import clear_session, optimizers
from torchkeras.base.keras_axes import IN_ORDER, Arrangement
from torchkeras.engine.fit.training import places
from torchkeras.layers import GRU, Dense
from torchkeras.models import Sequential
from torchkeras.optimizers import (
    SGD,
    Adagrad,
    Adam,
    AdamW,
    Ftrl,
    Lion,
    Muon,
    Nadam,
    Optimizer,
    RMSprop,
    TorchOptimizer,
    schedules,
)
from torchkeras.optimizers.base import RULES

OWN = [kind for kind in vars(optimizers).values() if isinstance(kind, type) and issubclass(kind, Optimizer)]


@pytest.mark.parametrize("kind", OWN)
def test_defaults_are_written_as_they_are_kept(kind):
    """They are not read when an optimizer is made."""
    defaults = {name: getattr(kind, name) for name in RULES if hasattr(kind, name) and RULES[name].settled}
    assert defaults
    for name, default in defaults.items():
        kept = RULES[name].read(default)
        assert (type(kept), kept) == (type(default), default), name


@pytest.mark.parametrize("kind", OWN)
def test_every_option_has_a_rule(kind):
    lacking = {field.name for field in dataclasses.fields(kind)} - RULES.keys()
    assert not lacking, f"{kind.__name__}: give them a rule in RULES of optimizers/base.py"


def test_defaults_of_a_users_class_are_read():
    class Mine(Adam):
        lr = 1

    assert isinstance(Mine().lr, float)


# --- norms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"clipnorm": 0.1}, {"gradient_accumulation_steps": 2}])
def test_sparse_gradients_are_those_of_dense_ones(options):
    indices, found = torch.tensor([[0, 2], [2, 5]]), []
    for sparse in (True, False):
        torch.manual_seed(0)
        table, optimizer = torch.nn.Embedding(6, 3, sparse=sparse), Adam(0.1, **options)
        for _ in range(4):
            (gradient,) = torch.autograd.grad(table(indices).square().sum(), table.weight)
            assert gradient.is_sparse is sparse
            optimizer.update([table.weight], [gradient], 2)
        found.append(table.weight.detach())
    torch.testing.assert_close(*found)


def test_a_complex_parameter_is_refused():
    parameter = torch.nn.Parameter(torch.ones(2, 3, dtype=torch.complex64))
    text = r"^Adam: the parameter of shape \(2, 3\) is complex: train it by an optimizer of torch.optim.$"
    with pytest.raises(ValueError, match=text):
        Adam().bind([parameter])


def test_global_clipnorm_is_another_name_of_clipnorm():
    optimizer: Any = SGD(global_clipnorm=2)
    assert (optimizer.clipnorm, optimizer.global_clipnorm, optimizer.get_config()["clipnorm"]) == (2.0, 2.0, 2.0)
    optimizer.global_clipnorm = None
    assert optimizer.clipnorm is None
    with pytest.raises(TypeError) as caught:
        SGD(clipnorm=1.0, global_clipnorm=2.0)
    assert str(caught.value) == "SGD: clipnorm and global_clipnorm are one option; found both."


def test_each_clipnorm_is_the_norm_of_one_of_kerass_arrays():
    parameters = [torch.zeros(1), torch.zeros(1), torch.zeros(1)]
    optimizer = SGD(1.0, each_clipnorm=1.0)
    optimizer.bind(parameters, [Arrangement(lambda a, b: [a, b], 2), IN_ORDER])
    optimizer.update(parameters, [torch.tensor([3.0]), torch.tensor([4.0]), torch.tensor([0.5])])
    assert [p.item() for p in parameters] == [pytest.approx(-0.6), pytest.approx(-0.8), -0.5]
    optimizer.update(parameters, [torch.tensor([0.0]), None, torch.tensor([2.0])])
    assert [p.item() for p in parameters] == [pytest.approx(-0.6), pytest.approx(-0.8), -1.5]


# --- weight decay ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [SGD, lambda lr, **o: SGD(lr, 0.9, **o), Adam, AdamW, RMSprop, Adagrad, Lion])
def test_weight_decay_is_decoupled(make: Any):
    def trained(gradients: list[torch.Tensor], **options: Any) -> torch.Tensor:
        parameter, optimizer = torch.full((2,), 3.0), make(0.1, **options)
        for gradient in gradients:
            optimizer.update([parameter], [gradient])
        return parameter

    gradient = torch.tensor([0.5, -0.25])
    step = trained([gradient], weight_decay=0.0) - 3.0
    torch.testing.assert_close(trained([gradient], weight_decay=0.5), 3.0 * (1 - 0.1 * 0.5) + step)


def model_of_two(optimizer: Any) -> Sequential:
    clear_session()
    model = Sequential([Dense(2, input_shape=(3,), bias_initializer="ones"), Dense(1, bias_initializer="ones")])
    model.compile(optimizer, "mse")
    return model


def shrunk(model: Sequential) -> list[bool]:
    """Which weights change where all gradients are zero."""
    before = [value.copy() for value in model.get_weights()]
    parameters = [tensor for variable in model.trainable_weights for tensor in variable.tensors]
    model.optimizer.update(model.optimizer._given, [torch.zeros_like(p) for p in parameters])
    return [not np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True)]


def test_weights_are_excluded_from_decay():
    assert shrunk(model_of_two(AdamW(0.1))) == [True] * 4
    optimizer = AdamW(0.1)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    model = model_of_two(optimizer)
    assert shrunk(model) == [True, False, True, False]
    assert optimizer.get_config()["no_weight_decay"] == ["bias"]
    optimizer.exclude_from_weight_decay(var_list=[model.layers[0].weights[0]])
    assert shrunk(model) == [False, True, True, True]
    assert optimizer.get_config()["no_weight_decay"] == ["dense_1/kernel"]
    again = AdamW.from_config(optimizer.get_config())
    assert shrunk(model_of_two(again)) == [False, True, True, True]
    again.exclude_from_weight_decay()
    assert "no_weight_decay" not in again.get_config()


# --- averages --------------------------------------------------------------------------------------------------------


def test_averages_start_at_the_first_weights_and_are_swapped():
    parameter, optimizer = torch.tensor([1.0]), SGD(1.0, use_ema=True, ema_momentum=0.5)
    for _ in range(3):  # weights 0, -1, -2
        optimizer.update([parameter], [torch.ones(1)])
    optimizer.swap_ema()
    assert parameter.item() == -1.25
    optimizer.swap_ema()
    assert parameter.item() == -2.0
    optimizer.overwrite_with_ema()
    assert parameter.item() == -1.25


def test_averages_are_not_in_a_step_without_them():
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        SGD().swap_ema()
    assert str(caught.value) == "SGD: swap_ema needs use_ema=True; found False."


# --- accumulated gradients -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda **o: SGD(0.1, 0.9, **o), lambda **o: Adam(0.1, **o)])
def test_accumulated_gradients_are_the_mean_over_samples(make: Any):
    one, other = torch.zeros(3), torch.zeros(3)
    plain, accumulating = make(), make(gradient_accumulation_steps=3)
    generator = torch.Generator().manual_seed(0)
    for samples in ([4, 4, 1], [2, 5, 3]):
        gradients = [torch.randn(3, generator=generator) for _ in samples]
        mean = sum(n * g for n, g in zip(samples, gradients, strict=True)) / sum(samples)
        assert plain.update([one], [mean]) is True
        updated = [accumulating.update([other], [g], n) for n, g in zip(samples, gradients, strict=True)]
        assert updated == [False, False, True]
    torch.testing.assert_close(other, one)
    assert accumulating.iterations == 2


def test_a_rest_is_flushed_over_what_was_accumulated():
    parameters = [torch.zeros(1), torch.zeros(1), torch.zeros(1)]
    optimizer = SGD(1.0, gradient_accumulation_steps=4)
    assert optimizer.flush() is False
    optimizer.update(parameters, [torch.ones(1), None, None], 1)
    optimizer.update(parameters, [torch.ones(1) * 5, torch.ones(1) * 4, None], 3)
    assert optimizer.flush() is True
    assert [p.item() for p in parameters] == [-4.0, -3.0, 0.0]
    assert (optimizer.flush(), optimizer.iterations) == (False, 1)
    optimizer.update(parameters, [torch.ones(1), None, None])
    optimizer.gradient_accumulation_steps = None  # makes a step of the rest
    assert (parameters[0].item(), optimizer.iterations) == (-5.0, 2)


def test_half_gradients_of_many_samples_do_not_overflow():
    parameter = torch.zeros(1, dtype=torch.float16)
    optimizer = SGD(1.0, gradient_accumulation_steps=2)
    for _ in range(2):
        optimizer.update([parameter], [torch.full((1,), 1000.0, dtype=torch.float16)], 512)
    assert parameter.item() == -1000.0


# --- rates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda **o: SGD(0.1, 0.9, **o), lambda **o: Adam(0.1, **o), lambda **o: Ftrl(0.1, **o)]
)
def test_rates_by_layer(make: Any):
    parameters = [torch.ones(2), torch.ones(2), torch.ones(2)]
    optimizer = make(lr_multipliers={"b": 0.5, "c": 0})
    optimizer.bind(parameters, [IN_ORDER] * 3, ["a", "b", "c"])
    alone = make()
    other = torch.ones(2)
    alone.lr = 0.05
    for _ in range(3):
        optimizer.update(parameters, [torch.ones(2)] * 3)
        alone.update([other], [torch.ones(2)])
    torch.testing.assert_close(parameters[1], other)
    assert parameters[2].tolist() == [1.0, 1.0]
    assert parameters[0].tolist() != parameters[1].tolist()
    state = optimizer.get_weights()
    optimizer.lr_multipliers = None
    for before, after in zip(state, optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)


def test_a_rate_that_is_a_schedule():
    schedule = schedules.ExponentialDecay(0.5, 1, 0.5)
    optimizer, parameter = SGD(schedule), torch.zeros(1)
    assert optimizer.lr is cast(Any, optimizer).learning_rate is schedule
    rates = []
    for _ in range(3):
        rates.append(optimizer.current_lr)
        optimizer.update([parameter], [torch.ones(1)])
    assert rates == [0.5, 0.25, 0.125]
    assert parameter.item() == -0.875
    config = optimizer.get_config()
    assert config["lr"] == {"class_name": "ExponentialDecay", "config": schedule.get_config()}
    assert optimizers.get({"class_name": "sgd", "config": config}).lr == schedule
    optimizer.lr = 0.25
    assert (optimizer.lr, optimizer.current_lr) == (0.25, 0.25)


def test_a_schedule_counts_batches_and_decay_counts_steps():
    optimizer = SGD(schedules.PiecewiseConstantDecay([1, 3], [1.0, 2.0, 3.0]), gradient_accumulation_steps=2)
    parameter, rates = torch.zeros(1), []
    for _ in range(6):
        rates.append(optimizer.current_lr)
        optimizer.update([parameter], [torch.ones(1)])
    assert rates == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    decaying = SGD(1.0, decay=1.0, gradient_accumulation_steps=2)
    for _ in range(4):
        decaying.update([parameter], [torch.ones(1)])
    assert decaying.current_lr == 1 / 3


def test_a_schedule_of_ones_own():
    class Half(schedules.LearningRateSchedule):
        def __call__(self, step: int) -> float:
            return 0.5**step

        def get_config(self) -> dict[str, Any]:
            return {}

    config = optimizers.serialize(SGD(Half()))
    assert config["config"]["lr"] == {"class_name": "Half", "config": {}}
    assert optimizers.get(config, {"Half": Half}).current_lr == 1.0
    with pytest.raises(NotImplementedError, match=re.escape("LearningRateSchedule has no __call__(step).")):
        schedules.LearningRateSchedule()(0)
    with pytest.raises(NotImplementedError, match=re.escape("LearningRateSchedule has no get_config().")):
        schedules.LearningRateSchedule().get_config()


# --- options that Keras 2.2.4 does not have --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "optimizer",
    [
        SGD(each_clipnorm=1, weight_decay=0.1, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=3),
        RMSprop(momentum=0.5, centered=True, epsilon_inside_root=True, gradient_accumulation_steps=2),
        Adagrad(initial_accumulator_value=0.1, lr_multipliers={"a": 0.5}),
        AdamW(no_weight_decay=["bias"]),
        Muon(exclude_layers=["out"]),
        Nadam(schedules.CosineDecay(0.1, 9)),
    ],
)
def test_newer_options_stand_in_a_config(optimizer: Optimizer):
    again = type(optimizer).from_config(optimizer.get_config())
    assert again.get_config() == optimizer.get_config()


def test_newer_options_at_their_defaults_do_not():
    assert SGD(use_ema=False, weight_decay=None, gradient_accumulation_steps=None).get_config().keys() == {
        "lr", "momentum", "decay", "nesterov",
    }  # fmt: skip
    assert RMSprop(momentum=0, centered=False).get_config().keys() == {"lr", "rho", "epsilon", "decay"}


def unnamed(**options: Any) -> None:
    optimizer = AdamW(**options)
    optimizer.bind([torch.zeros(2)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: SGD(gradient_accumulation_steps=0),
            "SGD: gradient_accumulation_steps must be an integer of at least 1, or None; found 0.",
        ),
        (lambda: SGD(ema_momentum=2), "SGD: ema_momentum must be a number from 0 to 1; found 2."),
        (
            lambda: SGD(ema_overwrite_frequency=cast(Any, 1.5)),
            "SGD: ema_overwrite_frequency must be an integer of at least 1, or None; found 1.5.",
        ),
        (lambda: SGD(use_ema=cast(Any, 1)), "SGD: use_ema must be True or False; found 1."),
        (lambda: Muon(ns_steps=-1), "Muon: ns_steps must be an integer of at least 0; found -1."),
        (
            lambda: SGD(lr_multipliers=cast(Any, [1])),
            "SGD: lr_multipliers must be a dictionary of numbers by layer name; found [1].",
        ),
        (
            lambda: SGD(lr_multipliers={"a": -1}),
            "SGD: lr_multipliers of the layer 'a' must be a number of at least 0; found -1.",
        ),
        (
            lambda: AdamW(no_weight_decay=cast(Any, "bias")),
            "AdamW: no_weight_decay must be a list of strings; found 'bias'.",
        ),
        (
            lambda: unnamed(no_weight_decay=["bias"]),
            "AdamW: no_weight_decay ['bias'] needs the weights' names; `bind` was given none.",
        ),
        (
            lambda: unnamed(lr_multipliers={"a": 1}),
            "AdamW: lr_multipliers needs the names of layers; `bind` was given none.",
        ),
        (
            lambda: model_of_two(SGD(lr_multipliers={"dense_3": 1})),
            "SGD: lr_multipliers names the layer 'dense_3'; those that train are dense_1, dense_2.",
        ),
        (
            lambda: Muon(exclude_layers=["a"]).bind([torch.zeros(2)]),
            "Muon: exclude_layers needs the weights' names; `bind` was given none.",
        ),
        (lambda: changed(Adam(), "amsgrad", True), "Adam: amsgrad cannot change from False once there is state."),
        (lambda: changed(RMSprop(), "momentum", 0.5), "RMSprop: momentum cannot change from 0.0 once there is state."),
        (
            lambda: excluded_before_compile(),
            (
                "AdamW: weights excluded from weight_decay by var_list have no names before compile; exclude them by "
                "var_names."
            ),
        ),
    ],
)
def test_errors(make: Any, message: str):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def changed(optimizer: Optimizer, option: str, value: Any) -> None:
    optimizer.update([torch.zeros(2)], [torch.ones(2)])
    setattr(optimizer, option, value)


def excluded_before_compile() -> None:
    optimizer = AdamW()
    optimizer.exclude_from_weight_decay(var_list=[torch.zeros(2)])
    optimizer.get_config()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: schedules.ExponentialDecay(0.1, 0, 0.5),
            "ExponentialDecay: decay_steps must be a number above 0; found 0.",
        ),
        (
            lambda: schedules.InverseTimeDecay(0.1, 1, cast(Any, "a")),
            "InverseTimeDecay: decay_rate must be a number of at least 0; found 'a'.",
        ),
        (
            lambda: schedules.ExponentialDecay(0.1, 1, 1, cast(Any, 1)),
            "ExponentialDecay: staircase must be True or False; found 1.",
        ),
        (
            lambda: schedules.PiecewiseConstantDecay([1], [1.0]),
            (
                "PiecewiseConstantDecay: values must have one number more than boundaries, which has at least one; "
                "found 1 and 1."
            ),
        ),
        (
            lambda: schedules.PiecewiseConstantDecay([2, 1], [1.0, 2.0, 3.0]),
            "PiecewiseConstantDecay: boundaries must rise; found [2.0, 1.0].",
        ),
        (
            lambda: schedules.PiecewiseConstantDecay(cast(Any, 3), [1.0]),
            "PiecewiseConstantDecay: boundaries must be a list of numbers; found 3.",
        ),
        (
            lambda: schedules.CosineDecayRestarts(0.1, 3, t_mul=0.5),
            "CosineDecayRestarts: t_mul must be a number of at least 1; found 0.5.",
        ),
        (
            lambda: schedules.deserialize({"class_name": "Cosine", "config": {}}),
            "Unknown learning-rate schedule: 'Cosine'.",
        ),
        (
            lambda: schedules.deserialize({"class_name": "CosineDecay", "config": {"rate": 1}}),
            "The learning-rate schedule CosineDecay: ",
        ),
        (
            lambda: schedules.deserialize({"class_name": "SGD", "config": {}}, {"SGD": SGD}),
            "'SGD' is no LearningRateSchedule; found SGD(",
        ),
    ],
)
def test_errors_of_schedules(make: Any, message: str):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


# --- weights in several parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lamb", "muon", "adafactor"])
def test_weights_that_lie_in_parts_train_as_one(name: str):
    """A GRU's bias is two tensors of torch's: the state has Keras's shapes, and a lost gradient counts as zeros."""
    clear_session()
    model = Sequential([GRU(3, input_shape=(4, 2), reset_after=True), Dense(1)])
    model.compile(name, "mse")
    model.train_on_batch(np.ones((2, 4, 2), "float32"), np.ones((2, 1), "float32"))
    state = model.optimizer.get_weights()
    model.optimizer.set_weights(state)
    for before, after in zip(state, model.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
    parameters = model.optimizer._given
    gradients = [None if k % 2 else torch.ones_like(p) for k, p in enumerate(parameters)]
    assert model.optimizer.update(parameters, gradients) is True
    assert all(torch.isfinite(parameter).all() for parameter in parameters)


@pytest.mark.parametrize("name", ["momentum", "nonsense", "learningrate", "betas"])
def test_an_attribute_that_nothing_reads(name):
    optimizer = Adam()
    text = (
        f"Adam: there is no option {name!r} to set. Its options are lr, clipnorm, clipvalue, each_clipnorm, "
        "weight_decay, no_weight_decay, use_ema, ema_momentum, ema_overwrite_frequency, gradient_accumulation_steps, "
        "lr_multipliers, beta_1, beta_2, epsilon, decay, amsgrad."
    )
    with pytest.raises(AttributeError, match=f"^{re.escape(text)}$"):
        setattr(optimizer, name, 0.5)
    optimizer.decay = 0.5
    optimizer._note = 3
    assert (optimizer.current_lr, optimizer.iterations) == (0.001, 0)


def test_a_class_of_ones_own_may_have_any():
    class Own(SGD):
        pass

    optimizer: Any = Own()
    optimizer.warmup = 3
    assert optimizer.warmup == 3


@pytest.mark.parametrize("name", ["betas", "weight_decay", "nonsense"])
def test_an_option_of_torch_stands_in_its_groups(name):
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = TorchOptimizer(torch.optim.Adam([weight]))
    text = (
        f"Adam: there is no option {name!r} to set. Those of torch.optim stand in its groups: "
        f"for group in model.optimizer.param_groups: group[{name!r}] = ..."
    )
    with pytest.raises(AttributeError, match=f"^{re.escape(text)}$"):
        setattr(optimizer, name, 0.5)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_parameters_without_strides_have_a_place():
    sparse = torch.eye(2).to_sparse_csr()
    assert places([sparse, torch.ones(2, 3)]) == [
        (sparse.device, torch.float32, None),
        (sparse.device, torch.float32, (3, 1)),
    ]


def test_a_class_of_your_own_may_keep_anything_under_the_name_of_an_option_of_another():
    class Warmed(optimizers.SGD):
        def __init__(self):
            super().__init__(0.1)
            self.warmup_steps = torch.tensor(10000.0)  # an option of ScheduleFreeAdamW, a whole number there

    assert Warmed().warmup_steps == 10000.0
