"""`requires_grad` is the user's: what it freezes stays as it is, whoever trains; `trainable` never fights with it."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from law import assert_law, ids
from torch import nn

from torchkeras import Input, Model, layers, mixed_precision, optimizers, registry
from torchkeras.optimizers import TorchOptimizer

OURS = [name for name in registry.optimizers.names() if name not in ("TFOptimizer", "Optimizer", "TorchOptimizer")]
THEIRS = [
    "ASGD",
    "Adadelta",
    *(["Adafactor"] if hasattr(torch.optim, "Adafactor") else []),  # torch 2.5
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
]
NUMBERS = torch.Generator().manual_seed(3)
X, Y = torch.randn(12, 4, generator=NUMBERS), torch.randn(12, 3, generator=NUMBERS)


def network(**options: Any) -> Model:
    """Four parameters; a test freezes the kernel of the first layer and the bias of the last."""
    torch.manual_seed(0)
    inputs = Input((4,))
    hidden = layers.Dense(5, activation="tanh", name="first", **options)(inputs)
    return Model(inputs, layers.Dense(3, name="last", bias_initializer="ones")(hidden))


FROZEN = ("first.linear.weight", "last.linear.bias")


def freeze(model: Model) -> None:
    for name in FROZEN:
        model.get_parameter(name).requires_grad_(False)


def assert_only_others_train(model: Model, fit: Callable[[Model], Any]) -> None:
    """Training leaves what is frozen as it is, moves the rest, and `requires_grad` is afterwards what it was."""
    before = {name: tensor.detach().clone() for name, tensor in model.named_parameters()}
    asked = {name: tensor.requires_grad for name, tensor in model.named_parameters()}
    assert [name for name, trains in asked.items() if not trains] == list(FROZEN)
    fit(model)
    moved = {name for name, tensor in model.named_parameters() if not torch.equal(before[name], tensor)}
    assert moved == {name for name, trains in asked.items() if trains}
    assert {name: tensor.requires_grad for name, tensor in model.named_parameters()} == asked
    assert_law(model)


def fit(model: Model) -> None:
    model.fit(X, Y, batch_size=4, epochs=2, verbose=0)


def by_batches(model: Model) -> None:
    for x, y in zip(X.split(4), Y.split(4), strict=True):
        model.train_on_batch(x, y)


WHEN = pytest.mark.parametrize("when", ["before compile", "after compile", "after training"])


def compiled(when: str, model: Model, *args: Any, **options: Any) -> Model:
    """The model, compiled, and frozen at that time."""
    if when == "before compile":
        freeze(model)
    model.compile(*args, **options)
    if when == "after training":
        fit(model)
    freeze(model)
    return model


@WHEN
@pytest.mark.parametrize("name", OURS)
def test_every_optimizer_of_the_package_obeys(name, when):
    model = compiled(when, network(), optimizers.get(name), "mse")
    assert_only_others_train(model, fit)
    assert_only_others_train(model, by_batches)


@WHEN
@pytest.mark.parametrize("name", THEIRS)
@pytest.mark.parametrize("given", ["class", "instance"])
def test_every_optimizer_of_torch_obeys(name, when, given):
    model, kind = network(), getattr(torch.optim, name)
    made = (kind, {"lr": 0.01}) if given == "class" else kind(model.parameters(), lr=0.01)
    assert_only_others_train(compiled(when, model, made, "mse"), fit)


OPTIONS: dict[str, dict[str, Any]] = {
    "clipnorm": {"clipnorm": 0.01},
    "clipvalue": {"clipvalue": 0.01},
    "each_clipnorm": {"each_clipnorm": 0.01},
    "accumulation": {"gradient_accumulation_steps": 2},
    "weight decay": {"weight_decay": 0.1},
    "averages": {"use_ema": True, "ema_overwrite_frequency": 2},
    "rates": {"lr_multipliers": {"first": 0.5, "last": 2.0}},
}


@WHEN
@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
@pytest.mark.parametrize("kind", [optimizers.SGD, optimizers.AdamW, optimizers.Lamb])
def test_with_every_option_of_an_optimizer(kind, options, when):
    assert_only_others_train(compiled(when, network(), kind(0.01, **options), "mse"), fit)


@WHEN
@pytest.mark.parametrize("options", [{"clipnorm": 0.01}, {"clipvalue": 0.01}, {"gradient_accumulation_steps": 2}])
def test_with_every_option_of_torchs(options, when):
    made = TorchOptimizer((torch.optim.AdamW, {"lr": 0.01, "weight_decay": 0.1}), **options)
    assert_only_others_train(compiled(when, network(), made, "mse"), fit)


@WHEN
@pytest.mark.parametrize(
    "options", [{"kernel_constraint": "unit_norm"}, {"kernel_constraint": "nonneg"}, {"kernel_regularizer": "l2"}]
)
def test_with_constraints_and_regularizers(options, when):
    assert_only_others_train(compiled(when, network(**options), "adam", "mse"), fit)


@WHEN
@pytest.mark.parametrize("options", [{"on_nonfinite": "skip"}, {"steps_per_execution": 2}])
def test_with_options_of_compile(options, when):
    assert_only_others_train(compiled(when, network(), "adam", "mse", **options), fit)


@pytest.mark.slow
@WHEN
def test_with_one_graph(when):
    torch._dynamo.reset()
    assert_only_others_train(compiled(when, network(), "adam", "mse", jit_compile={"backend": "eager"}), fit)


@pytest.mark.torch("2.8", "compiled steps")
@WHEN
@pytest.mark.slow
def test_steps_compiled_to_code_obey(when: str):
    assert_only_others_train(compiled(when, network(), "adam", "mse", jit_compile=True), fit)


@WHEN
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_with_mixed_precision(policy, when):
    mixed_precision.set_global_policy(policy)
    assert_only_others_train(compiled(when, network(), "adam", "mse"), fit)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "RMSprop", "Adagrad"])
@pytest.mark.parametrize("when", ["before compile", "after compile"])
def test_three_steps_are_those_of_plain_pytorch(kind, when):
    model = network()
    plain = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    values = dict(zip(plain.state_dict(), model.state_dict().values(), strict=True))
    plain.load_state_dict(copy.deepcopy(values))
    plain[0].weight.requires_grad_(False)
    plain[2].bias.requires_grad_(False)
    make = lambda parameters: getattr(torch.optim, kind)(parameters, lr=0.02, weight_decay=0.01)  # noqa: E731
    by_batches(compiled(when, model, make(model.parameters()), "mse"))
    optimizer = make(plain.parameters())
    for x, y in zip(X.split(4), Y.split(4), strict=True):
        optimizer.zero_grad()
        ((plain(x) - y) ** 2).mean().backward()
        optimizer.step()
    for mine, other in zip(model.state_dict().values(), plain.state_dict().values(), strict=True):
        torch.testing.assert_close(mine, other)


# --- by layers and models --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before compile", "after compile"])
def test_a_layer_may_be_frozen_as_a_module_is(when):
    model = network()
    first = model.get_layer("first")
    if when == "after compile":
        model.compile("adam", "mse")
    first.requires_grad_(False)
    if when == "before compile":
        model.compile("adam", "mse")
    before = copy.deepcopy(model.state_dict())
    fit(model)
    moved = [name for name, tensor in model.state_dict().items() if not torch.equal(before[name], tensor)]
    assert moved == ["last.linear.weight", "last.linear.bias"]
    assert first.trainable
    assert not any(parameter.requires_grad for parameter in first.parameters())
    assert [variable.full_name for variable in model.trainable_weights] == ["last/kernel:0", "last/bias:0"]


def test_a_model_frozen_as_a_module_is_has_nothing_that_trains():
    model = network().requires_grad_(False)
    assert model.trainable_weights == []
    assert len(model.non_trainable_weights) == 4
    before = copy.deepcopy(model.state_dict())
    model.compile("adam", "mse")
    with pytest.warns(UserWarning, match=nothing_trains(model)):
        fit(model)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert not any(parameter.requires_grad for parameter in model.parameters())


def nothing_trains(model):
    return (
        f"^Model '{model.name}' does not have any trainable weights: all are frozen, and the optimizer changes none. "
        "Unfreeze some, by trainable or requires_grad_, and compile it again.$"
    )


@pytest.mark.parametrize("method", ["fit", "train_on_batch"])
def test_all_weights_frozen_after_compile(method):
    model = network()
    model.compile("adam", "mse")
    for parameter in [*model.parameters()][1:]:
        parameter.requires_grad_(False)
    fit(model)  # a part trains, and nothing is said
    model.requires_grad_(False)
    before = model.get_weights()
    with pytest.warns(UserWarning, match=nothing_trains(model)):
        getattr(model, method)(X, Y)
    assert all((a == b).all() for a, b in zip(before, model.get_weights(), strict=True))


def test_a_model_without_weights_is_fitted_quietly():
    inputs = Input((4,))
    model = Model(inputs, layers.ReLU()(inputs))
    model.compile("sgd", "mse")
    model.fit(X, X, verbose=0)


def test_what_is_frozen_before_the_model_is_built_stays_so():
    dense = layers.Dense(3)
    inputs = Input((4,))
    dense(inputs)
    dense.requires_grad_(False)
    model = Model(inputs, layers.Dense(2)(dense(inputs)))
    model.compile("sgd", "mse")
    assert not any(parameter.requires_grad for parameter in dense.parameters())
    assert len(model.trainable_weights) == 2


# --- `trainable` and `requires_grad` ---------------------------------------------------------------------------------

# What is done to a layer, in order; which of its kernel and bias train then.
KERNEL, LAYER, FREEZE, THAW, THAW_ALL = "kernel off", "layer off", "trainable off", "trainable on", "layer on"
DONE = {
    KERNEL: lambda layer: layer.linear.weight.requires_grad_(False),
    LAYER: lambda layer: layer.requires_grad_(False),
    THAW_ALL: lambda layer: layer.requires_grad_(True),
    FREEZE: lambda layer: setattr(layer, "trainable", False),
    THAW: lambda layer: setattr(layer, "trainable", True),
}
ORDERS: list[tuple[tuple[str, ...], tuple[bool, bool]]] = [
    ((), (True, True)),
    ((KERNEL,), (False, True)),
    ((LAYER,), (False, False)),
    ((FREEZE,), (False, False)),
    ((FREEZE, THAW), (True, True)),
    ((KERNEL, FREEZE), (False, False)),
    ((KERNEL, FREEZE, THAW), (False, True)),
    ((LAYER, FREEZE, THAW), (False, False)),
    ((LAYER, THAW), (False, False)),
    ((FREEZE, KERNEL), (False, False)),
    ((FREEZE, KERNEL, THAW), (True, True)),  # it was off already: nothing tells who else wants it so
    ((FREEZE, LAYER, THAW), (False, False)),
    ((FREEZE, THAW, KERNEL), (False, True)),
    ((LAYER, THAW_ALL), (True, True)),
    ((KERNEL, FREEZE, THAW, FREEZE, THAW), (False, True)),
]


@pytest.mark.parametrize(("done", "trains"), ORDERS, ids=[", ".join(done) or "nothing" for done, _ in ORDERS])
def test_trainable_and_requires_grad_never_fight(done, trains):
    model = network()
    first = model.get_layer("first")
    for each in done:
        DONE[each](first)
    kernel, bias = first.linear.weight, first.linear.bias
    assert (kernel.requires_grad, bias.requires_grad) == trains
    before = kernel.detach().clone(), bias.detach().clone()
    model.compile("adam", "mse")
    fit(model)
    assert (not torch.equal(before[0], kernel), not torch.equal(before[1], bias)) == trains
    assert (kernel.requires_grad, bias.requires_grad) == trains
    assert_law(model)


def test_a_discriminator_frozen_in_the_model_that_trains_the_generator():
    """Keras's pattern: compiled on its own it trains, though `trainable` is False by then; so does the generator."""
    noise, sample = Input((4,)), Input((3,))
    generator = Model(noise, layers.Dense(3)(noise))
    discriminator = Model(sample, layers.Dense(1)(sample))
    discriminator.compile("adam", "mse")
    discriminator.trainable = False
    both = Model(noise, discriminator(generator(noise)))
    both.compile("adam", "mse")
    own = [parameter.detach().clone() for parameter in discriminator.parameters()]
    others = [parameter.detach().clone() for parameter in generator.parameters()]
    both.train_on_batch(X, torch.ones(12, 1))
    assert all(map(torch.equal, own, discriminator.parameters()))
    assert not any(map(torch.equal, others, generator.parameters()))
    others = [parameter.detach().clone() for parameter in generator.parameters()]
    with pytest.warns(UserWarning, match="^Discrepancy between trainable weights and collected trainable weights"):
        discriminator.train_on_batch(Y, torch.zeros(12, 1))
    assert not any(map(torch.equal, own, discriminator.parameters()))
    assert all(map(torch.equal, others, generator.parameters()))
    assert not any(parameter.requires_grad for parameter in discriminator.parameters())


def test_a_frozen_weight_within_a_discriminator_stays_so():
    sample = Input((3,))
    discriminator = Model(sample, layers.Dense(1)(layers.Dense(2)(sample)))
    first = discriminator.layers[1].linear
    discriminator.compile("adam", "mse")
    first.weight.requires_grad_(False)
    discriminator.trainable = False
    Model(sample, discriminator(sample)).compile("adam", "mse")  # the model for which it is frozen
    before = [parameter.detach().clone() for parameter in discriminator.parameters()]
    with pytest.warns(UserWarning, match="^Discrepancy between"):
        discriminator.train_on_batch(Y, torch.zeros(12, 1))
    moved = [not torch.equal(old, new) for old, new in zip(before, discriminator.parameters(), strict=True)]
    assert moved == [False, True, True, True]


# --- an optimizer of a part ------------------------------------------------------------------------------------------


def test_an_optimizer_of_a_part_trains_that_part_and_says_so_once():
    model = network()
    optimizer = torch.optim.Adam(model.get_layer("last").parameters(), lr=0.01)
    text = (
        "^Adam: it has 2 of the 4 parameters of the model that train; the others stay as they are: first/kernel, "
        "first/bias.$"
    )
    with pytest.warns(UserWarning, match=text) as said:
        model.compile(optimizer, "mse")
    assert len(said) == 1
    before = copy.deepcopy(model.state_dict())
    fit(model)
    moved = [name for name, tensor in model.state_dict().items() if not torch.equal(before[name], tensor)]
    assert moved == ["last.linear.weight", "last.linear.bias"]
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_what_the_rest_has_frozen_needs_no_word():
    model = network()
    model.get_layer("first").requires_grad_(False)
    model.compile(torch.optim.Adam(model.get_layer("last").parameters(), lr=0.01), "mse")
    fit(model)
    assert ids(model.optimizer.param_groups[0]["params"]) == ids(model.get_layer("last").parameters())
