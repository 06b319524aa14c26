"""Optimizers of Keras 3's form train in `fit` as those of the package, go into files, and refuse what is not there."""

import copy
import doctest
import inspect
import io
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import torchkeras
from torchkeras import keras3, layers, models, optimizers as base, registry
from torchkeras.keras3 import optimizers
from torchkeras.keras3.optimizers.serialization import twin_of
from torchkeras.keras3.optimizers.table import TWINS
from torchkeras.resume.described import of_optimizer

ops: Any = keras3.ops
RANDOM = np.random.default_rng(0)
X, Y = (RANDOM.normal(size=(22, size)).astype("float32") for size in (3, 2))


def model_of(optimizer: Any, **options: Any) -> Any:
    """A compiled model with the same weights each time."""
    torch.manual_seed(0)
    hidden = layers.Dense(4, input_shape=(3,), activation="tanh", name="hidden")
    model = models.Sequential([hidden, layers.Dense(2, name="last")])
    model.compile(optimizer, "mse", **options)
    return model


def fitted(model: Any, epochs: int = 2) -> list[np.ndarray]:
    model.fit(X, Y, batch_size=8, epochs=epochs, verbose=0, shuffle=False)
    return model.get_weights()


def parameters() -> list[torch.Tensor]:
    return [torch.ones(2, 3), torch.ones(3)]


def close(found: list[Any], expected: list[Any], tolerance: float = 1e-6) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


class Counting(TorchDispatchMode):
    """Counts the operations of torch."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.counts[str(func)] = self.counts.get(str(func), 0) + 1
        return func(*args, **(kwargs or {}))


class Momentum(optimizers.Optimizer):
    """SGD with momentum, as a user of Keras 3 writes it."""

    def __init__(self, learning_rate: float = 0.1, share: float = 0.9, **options: Any):
        super().__init__(learning_rate=learning_rate, **options)
        self.share = share

    def build(self, variables: Any) -> None:
        super().build(variables)
        self.momentums = [self.add_variable_from_reference(each, name="momentum") for each in variables]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        momentum = self.momentums[self._get_variable_index(variable)]
        rate = ops.cast(learning_rate, variable.dtype)
        self.assign(momentum, momentum * self.share - ops.multiply(gradient, rate))
        self.assign_add(variable, momentum)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "share": self.share}


# --- in fit -----------------------------------------------------------------------------------------------------------

PAIRS: dict[str, tuple[Any, Any]] = {
    "Adam": (lambda: optimizers.Adam(0.01), lambda: base.Adam(0.01, epsilon=1e-7)),
    "SGD": (lambda: optimizers.SGD(0.1, 0.9), lambda: base.SGD(0.1, 0.9)),
    "RMSprop": (optimizers.RMSprop, lambda: base.RMSprop(epsilon=1e-7, epsilon_inside_root=True)),
    "Nadam": (optimizers.Nadam, lambda: base.Nadam(0.001, epsilon=1e-7, schedule_decay=1.0)),
    "clipped": (lambda: optimizers.SGD(clipnorm=0.1), lambda: base.SGD(each_clipnorm=0.1)),
    "clipped together": (lambda: optimizers.SGD(global_clipnorm=0.1), lambda: base.SGD(clipnorm=0.1)),
    "averages": (lambda: optimizers.SGD(use_ema=True), lambda: base.SGD(use_ema=True)),
    "schedule": (
        lambda: optimizers.SGD(optimizers.schedules.CosineDecay(0.1, 20)),
        lambda: base.SGD(base.schedules.CosineDecay(0.1, 20)),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_fit_is_that_of_the_package_to_the_bit_by_the_same_operations(name: str):
    found = []
    for make in PAIRS[name]:
        optimizer: Any = make()
        if isinstance(optimizer.lr, float):
            optimizer.lr = float(np.float32(optimizer.lr))  # as Keras 3's variable holds it
        model = model_of(optimizer)
        model.train_on_batch(X[:8], Y[:8])
        with Counting() as counting:
            fitted(model)
        found.append((model.get_weights(), counting.counts))
    (one, counts), (other, others) = found
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert counts == others


def test_an_own_class_trains_in_fit():
    close(fitted(model_of(Momentum()), 3), fitted(model_of(base.SGD(0.1, momentum=0.9)), 3))


def test_an_own_class_trains_weights_that_lie_in_several_tensors():
    def made(optimizer: Any) -> Any:
        torch.manual_seed(0)
        model = models.Sequential([layers.GRU(3, input_shape=(4, 2)), layers.Dense(1)])
        model.compile(optimizer, "mse")
        return model

    x, y = RANDOM.normal(size=(8, 4, 2)).astype("float32"), RANDOM.normal(size=(8, 1)).astype("float32")
    found = []
    for optimizer in (Momentum(), base.SGD(0.1, momentum=0.9)):
        model = made(optimizer)
        model.fit(x, y, epochs=3, verbose=0, shuffle=False)
        found.append(model.get_weights())
    close(*found)


def test_a_copy_of_a_model_goes_on_with_the_state_of_an_own_class():
    model = model_of(Momentum())
    fitted(model)
    other = copy.deepcopy(model)
    close(fitted(other), fitted(model), 0)


def test_accumulated_batches_count_as_much_and_wait_for_the_next_epoch():
    # 3 batches an epoch, of 8, 8 and 6 samples: the step after two epochs is the third.
    optimizer = optimizers.SGD(0.1, gradient_accumulation_steps=2)
    model = model_of(optimizer)
    fitted(model)
    assert int(optimizer.iterations) == 3
    by_hand = model_of(base.SGD(0.1))
    waiting: list[Any] = []
    for start in (0, 8, 16, 0, 8, 16):
        x, y = (torch.tensor(each[start : start + 8]) for each in (X, Y))
        by_hand.zero_grad()
        ((by_hand(x) - y) ** 2).mean().backward()
        waiting.append([weight.grad.clone() for weight in by_hand.parameters()])
        if len(waiting) == 2:
            with torch.no_grad():
                for weight, *both in zip(by_hand.parameters(), *waiting, strict=True):
                    weight -= 0.1 * (both[0] + both[1]) / 2
            waiting = []
    close(model.get_weights(), by_hand.get_weights())


def test_the_loss_scale_trains_as_its_inner_optimizer():
    optimizer = optimizers.LossScaleOptimizer(optimizers.Adam(0.01), dynamic_growth_steps=2)
    close(fitted(model_of(optimizer)), fitted(model_of(optimizers.Adam(0.01))), 0)
    assert float(optimizer.dynamic_scale) == 2.0**18
    assert int(optimizer.iterations) == 6


def test_the_loss_scale_leaves_out_steps_without_finite_gradients():
    optimizer = optimizers.LossScaleOptimizer(optimizers.SGD(0.1))
    model = model_of(optimizer, on_nonfinite=None)
    before = model.get_weights()
    model.train_on_batch(np.full((2, 3), np.nan, "float32"), Y[:2])
    close(model.get_weights(), before, 0)
    assert float(optimizer.dynamic_scale) == 2.0**14
    assert int(optimizer.iterations) == 0


def several(make: Any) -> Any:
    """The same optimizer around two that are made."""
    return optimizers.MultiOptimizer(optimizers.OptimizerMap(make(), {"hidden/.*": make()}))


NOTHING = np.full((2, 3), np.nan, "float32")
KINDS = [(lambda make: make(), optimizers.SGD), (several, optimizers.SGD), (several, Momentum)]


@pytest.mark.parametrize(("around", "kind"), [*KINDS, (lambda make: make(), Momentum)])
def test_a_batch_without_finite_numbers_is_left_out(around: Any, kind: Any):
    found = []
    for optimizer in (around(lambda: kind(0.1, 0.9)), base.SGD(0.1, 0.9)):
        model = model_of(optimizer, on_nonfinite="skip")
        model.fit(X[:8], Y[:8], batch_size=4, verbose=0, shuffle=False)
        model.train_on_batch(NOTHING, Y[:2])
        model.fit(X, Y, batch_size=8, epochs=3, verbose=0, shuffle=False)
        found.append(model.get_weights())
    close(*found)


@pytest.mark.parametrize(("around", "kind"), [*KINDS, (lambda make: make(), Momentum)])
def test_a_batch_without_finite_numbers_is_left_out_of_a_mean(around: Any, kind: Any):
    optimizer = around(lambda: kind(0.1, 0.9, gradient_accumulation_steps=2))
    model, other = (model_of(each, on_nonfinite="skip") for each in (optimizer, base.SGD(0.1, 0.9)))
    for x in (NOTHING, X[:2], X[:2], NOTHING):
        model.train_on_batch(x, Y[:2])
    for _ in range(2):
        other.train_on_batch(X[:2], Y[:2])
    close(model.get_weights(), other.get_weights())


def test_an_error_in_fit_drops_gradients_that_wait():
    chosen = optimizers.OptimizerMap(optimizers.SGD(gradient_accumulation_steps=5))
    model = model_of(optimizers.MultiOptimizer(chosen))

    with pytest.raises(RuntimeError):
        model.fit(X, Y, verbose=0, epochs=3, callbacks=[Stops()])
    assert chosen.default_optimizer.accumulated_batches == 0


def test_each_layer_trains_by_its_own_optimizer():
    chosen = optimizers.OptimizerMap(optimizers.SGD(0.0), {"hidden/.*": optimizers.Adam(0.01)})
    model = model_of(optimizers.MultiOptimizer(chosen))
    before = model.get_weights()
    after = fitted(model)
    assert [np.array_equal(one, other) for one, other in zip(before, after, strict=True)] == [False, False, True, True]
    assert int(model.optimizer.iterations) == 6


class Steps(models.Model):
    """A model whose step scales its loss and applies gradients by hand."""

    def train_step(self, data: Any) -> Any:
        x, y, *_ = data
        loss = ((self(x) - y) ** 2).mean()
        self.zero_grad()
        self.optimizer.scale_loss(loss).backward()
        weights = self.trainable_weights
        self.optimizer.apply([weight.value.grad for weight in weights], weights)
        return {"loss": loss}


@pytest.mark.parametrize(
    "make",
    [
        lambda: optimizers.SGD(0.1, loss_scale_factor=16.0),
        lambda: optimizers.LossScaleOptimizer(optimizers.SGD(0.1)),
        lambda: optimizers.MultiOptimizer(optimizers.OptimizerMap(optimizers.SGD(0.1)), 4.0),
        lambda: Momentum(0.1, 0.0),
    ],
)
def test_steps_by_hand_in_a_train_step_are_those_of_fit(make: Any):
    torch.manual_seed(0)
    inputs = torchkeras.Input((3,))
    model = Steps(inputs, layers.Dense(2)(inputs))
    other = models.Model(model.inputs, model.outputs)
    start = model.get_weights()
    model.compile(make(), "mse")
    found = fitted(model)
    model.set_weights(start)
    other.compile(base.SGD(0.1), "mse")
    close(found, fitted(other))


def test_several_optimizers_do_what_one_does():
    options: dict[str, Any] = {"use_ema": True, "gradient_accumulation_steps": 2}
    several = optimizers.MultiOptimizer(
        optimizers.OptimizerMap(optimizers.SGD(0.1, **options), {"hidden/.*": optimizers.SGD(0.1, **options)}), 2.0
    )
    model, other = model_of(several), model_of(optimizers.SGD(0.1, **options))
    close(fitted(model), fitted(other), 0)
    several.bind(several._given)  # as after a move
    close(fitted(model), fitted(other), 0)
    model.optimizer.swap_ema()
    other.optimizer.swap_ema()
    close(model.get_weights(), other.get_weights(), 0)
    several.finalize_variable_values(model.trainable_weights)
    other.optimizer.finalize_variable_values(other.trainable_weights)
    close(model.get_weights(), other.get_weights(), 0)
    assert (several.use_ema, several.gradient_accumulation_steps) == (True, 2)
    assert [each.loss_scale_factor for each in several.optimizers] == [2.0, 2.0]
    several.loss_scale_factor = None
    assert [each.loss_scale_factor for each in several.optimizers] == [None, None]


@pytest.mark.parametrize(
    "make",
    [
        lambda: optimizers.LossScaleOptimizer(optimizers.SGD(0.1, momentum=0.9)),
        lambda: optimizers.MultiOptimizer(optimizers.OptimizerMap(optimizers.Adam())),
    ],
)
def test_weights_of_an_optimizer_around_others_are_set(make: Any):
    first, second, gradients = make(), make(), [torch.ones(2, 3), torch.ones(3)]
    weights, others = parameters(), parameters()
    first.apply(gradients, weights)
    second.build(others)
    second.set_weights([each.numpy() for each in first.variables])
    others[0].copy_(weights[0])
    others[1].copy_(weights[1])
    first.apply(gradients, weights)
    second.apply(gradients, others)
    close(weights, others, 0)
    close([each.numpy() for each in first.variables], [each.numpy() for each in second.variables], 0)


def test_the_loss_scale_has_the_options_of_its_inner_optimizer():
    optimizer = optimizers.LossScaleOptimizer(optimizers.SGD(0.1, clipnorm=0.5), 4.0, 7, "mine")
    optimizer.learning_rate, optimizer.iterations = 0.25, 3
    assert optimizer.lr == 0.25
    optimizer.lr = 0.5
    again = optimizers.deserialize(optimizers.serialize(optimizer))
    assert again.get_config() == optimizer.get_config()
    assert again.inner_optimizer.clipnorm == 0.5
    assert float(again.learning_rate) == 0.5
    assert int(optimizer.iterations) == 3
    weights = [torch.ones(2)]
    optimizer.apply([torch.tensor([1.0, float("inf")])], weights)
    close(weights, [torch.ones(2)], 0)
    assert (float(optimizer.dynamic_scale), optimizer.built) == (2.0, True)


def test_a_map_is_a_dictionary_of_paths():
    chosen = optimizers.OptimizerMap(optimizers.SGD(), {"a/.*": optimizers.SGD()})
    chosen[".*/b"] = optimizers.Adam()
    with pytest.raises(ValueError, match=r"'a/b' matches 'a/\.\*' and '\.\*/b'"):
        chosen["a/b"]
    for key, value, text in (
        (1, optimizers.SGD(), "must be a string"),
        ("a/.*", optimizers.SGD(), "has an optimizer already"),
        ("c", optimizers.LossScaleOptimizer(optimizers.SGD()), "wraps no other"),
    ):
        with pytest.raises(ValueError, match=text):
            chosen[key] = value
    del chosen[".*/b"]
    assert [*chosen] == ["a/.*"]


class Stops(torchkeras.callbacks.Callback):
    """Interrupts training before the third epoch."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if epoch == 2:
            raise RuntimeError


@pytest.mark.parametrize(
    "make",
    [
        Momentum,
        lambda: optimizers.LossScaleOptimizer(optimizers.Adam(0.01)),
        lambda: several(lambda: optimizers.SGD(0.1, 0.9)),
        lambda: optimizers.Nadam(gradient_accumulation_steps=2, use_ema=True),
    ],
)
def test_an_interrupted_run_goes_on(make: Any, tmp_path: Any):
    options: dict[str, Any] = {"batch_size": 8, "epochs": 4, "verbose": 0, "shuffle": False}
    backup = torchkeras.callbacks.BackupAndRestore
    with pytest.raises(RuntimeError):
        model_of(make()).fit(X, Y, callbacks=[backup(tmp_path / "run"), Stops()], **options)
    model, other = model_of(make()), model_of(make())
    model.fit(X, Y, callbacks=[backup(tmp_path / "run", accept=("callbacks",))], **options)
    other.fit(X, Y, **options)
    close(model.get_weights(), other.get_weights(), 0)


def test_a_run_that_goes_on_finds_the_options_of_equal_optimizers_equal():
    for make, rate in ((lambda: optimizers.RMSprop(clipnorm=0.5), 0.001), (Momentum, 0.1)):
        first, second = of_optimizer(make()), of_optimizer(make())
        assert first == second
        assert first["lr"] == np.float32(rate)


def test_a_constraint_holds_after_a_step_by_hand():
    layer = layers.Dense(2, input_shape=(3,), kernel_constraint="non_neg")
    model = models.Sequential([layer])
    optimizer, weights = optimizers.SGD(10.0), model.trainable_weights
    optimizer.build(weights)
    optimizer.apply([torch.ones(3, 2), torch.ones(2)], weights)
    kernel, bias = model.get_weights()
    assert (kernel == 0).all()
    assert (bias == -10).all()


def test_gradients_of_square_weights_are_in_the_order_of_keras():
    model = models.Sequential([layers.Dense(2, input_shape=(2,), use_bias=False)])
    model.set_weights([np.zeros((2, 2), "float32")])
    optimizer, weights = optimizers.SGD(1.0), model.trainable_weights
    gradient = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    optimizer.apply([gradient], weights)
    np.testing.assert_array_equal(model.get_weights()[0], -gradient.numpy())


def test_averages_are_set_by_hand():
    optimizer, weights = optimizers.SGD(1.0, use_ema=True, ema_momentum=0.5), parameters()
    for _ in range(2):
        optimizer.apply([torch.ones(2, 3), torch.ones(3)], weights)
    optimizer.finalize_variable_values(weights)
    close(weights, [torch.full((2, 3), -0.5), torch.full((3,), -0.5)])


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
@pytest.mark.parametrize("name", TWINS)
def test_training_goes_on_from_a_file(name: str, suffix: str, tmp_path: Any):
    options: dict[str, Any] = {"clipnorm": 0.5, "use_ema": True}
    model = model_of(getattr(optimizers, name)(0.01, **options))
    fitted(model)
    path = tmp_path / f"model{suffix}"
    model.save(path)
    other = models.load_model(path)
    assert type(other.optimizer) is getattr(base, name)
    again = twin_of(other.optimizer)
    ours = {key: value for key, value in model.optimizer.get_config().items() if key != "name"}
    assert {key: value for key, value in again.get_config().items() if key != "name"} == ours
    states = [[each.numpy() for each in optimizer.variables] for optimizer in (model.optimizer, again)]
    close(*states)
    close(fitted(other), fitted(model), 1e-5)


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_an_own_class_goes_on_from_a_file(suffix: str, tmp_path: Any):
    model = model_of(Momentum(share=0.5))
    fitted(model)
    path = tmp_path / f"model{suffix}"
    model.save(path)
    other = models.load_model(path, custom_objects={"Momentum": Momentum})
    assert type(other.optimizer) is Momentum
    assert other.optimizer.share == 0.5
    close(fitted(other), fitted(model))


def test_a_file_without_weight_decay_is_read_so(tmp_path: Any):
    for name in ("Muon", "Adam"):
        options: dict[str, Any] = {"adam_weight_decay": None} if name == "Muon" else {}
        model = model_of(getattr(optimizers, name)(0.1, weight_decay=None, **options))
        fitted(model)
        model.save(tmp_path / "model.keras")
        other = models.load_model(tmp_path / "model.keras")
        assert not other.optimizer.weight_decay
        close(fitted(other), fitted(model))


def test_a_file_has_the_inner_optimizer_of_a_loss_scale(tmp_path: Any):
    model = model_of(optimizers.LossScaleOptimizer(optimizers.Adam(0.01)))
    fitted(model)
    model.save(tmp_path / "model.keras")
    other = models.load_model(tmp_path / "model.keras")
    assert type(other.optimizer) is base.Adam
    close(fitted(other), fitted(model), 0)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: optimizers.SGD(lambda: 0.1), "a learning rate that is a function"),
        (
            lambda: optimizers.MultiOptimizer(optimizers.OptimizerMap(optimizers.SGD())),
            "the state of several optimizers",
        ),
    ],
)
def test_what_no_file_holds_is_said(make: Any, why: str, tmp_path: Any):
    model = model_of(make())
    fitted(model)
    with pytest.warns(UserWarning, match=why):
        model.save(tmp_path / "model.keras")
    assert models.load_model(tmp_path / "model.keras").optimizer is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Momentum(),
        lambda: optimizers.Nadam(clipnorm=0.3),
        lambda: optimizers.SGD(0.1, 0.9, global_clipnorm=0.3, gradient_accumulation_steps=2),
        lambda: optimizers.LossScaleOptimizer(optimizers.Adam(), dynamic_growth_steps=4),
        lambda: optimizers.MultiOptimizer(optimizers.OptimizerMap(optimizers.Adam())),
    ],
)
def test_a_state_is_loaded_again(make: Any):
    model, other = model_of(make()), model_of(make())
    fitted(model)
    other.set_weights(model.get_weights())
    other.optimizer.load_state_dict(copy.deepcopy(model.optimizer.state_dict()))
    assert int(other.optimizer.iterations) == int(model.optimizer.iterations)
    close(fitted(other), fitted(model), 0)


def test_an_optimizer_is_pickled():
    optimizer, weights = optimizers.Adam(clipnorm=0.5, name="mine"), parameters()
    optimizer.apply([torch.ones(2, 3), torch.ones(3)], weights)
    again = pickle.loads(pickle.dumps(optimizer))  # noqa: S301  # our own
    assert again.get_config() == optimizer.get_config()
    close([each.numpy() for each in again.variables], [each.numpy() for each in optimizer.variables], 0)


# --- variables --------------------------------------------------------------------------------------------------------


def test_variables_are_named_as_in_keras():
    weights = model_of("sgd").trainable_weights
    optimizer = optimizers.Adam(amsgrad=True, name="mine")
    optimizer.build(weights)
    assert [each.path for each in optimizer.variables[:5]] == [
        *("mine/iteration", "mine/learning_rate"),
        *("mine/hidden_kernel_momentum", "mine/hidden_kernel_velocity", "mine/hidden_bias_momentum"),
    ]
    assert [each.name for each in optimizer.variables[-4:]] == [
        *("hidden_kernel_velocity_hat", "hidden_bias_velocity_hat"),
        *("last_kernel_velocity_hat", "last_bias_velocity_hat"),
    ]


def test_a_variable_stands_for_its_value():
    optimizer = optimizers.SGD(0.5)
    variable: Any = optimizer.add_variable((2,), initializer="ones", name="mine")
    assert (torch.add(variable, 1) == 2).all()
    assert (ops.add(variable, 1) == 2).all()
    assert (1 - variable * 2 / variable).tolist() == [-1, -1]
    assert np.asarray(variable).tolist() == [1, 1]
    assert (variable.shape, variable.ndim, variable.dtype, len(variable)) == ((2,), 1, "float32", 2)
    assert variable[0] == 1
    number: Any = optimizer.variables[0]
    assert (bool(number), [5][number], number.dtype) == (False, 5, "int32")
    assert optimizer.iterations.path == f"{optimizer.name}/iteration"
    assert pickle.loads(pickle.dumps(optimizer.iterations)) == 0  # noqa: S301  # our own
    assert list(variable) == [1, 1]
    assert "mine" in repr(variable)
    assert f"{optimizer.learning_rate:.2f}" == "0.50"
    with pytest.raises(ValueError, match=r"sgd.*/mine: the variable has the shape \(2,\)"):
        variable.assign([1.0])


def test_the_rate_is_live():
    optimizer = optimizers.SGD(0.5)
    rate: Any = optimizer.learning_rate
    rate.assign(0.25)
    optimizer.learning_rate = rate * 0.5
    assert float(rate) == 0.125
    optimizer.learning_rate = rate
    optimizer.global_clipnorm = 0.5
    assert optimizer.limits == (None, 0.5, None)
    called: Any = optimizers.SGD(lambda: 0.75)
    assert called.learning_rate == 0.75
    called.learning_rate = optimizers.schedules.serialize(optimizers.schedules.InverseTimeDecay(0.5, 1, 1.0))
    rate = called.learning_rate
    assert rate.item() == 0.5
    assert float(optimizer.learning_rate) == 0.125
    assert optimizer.get_config()["learning_rate"] == 0.125


def test_numbers_of_steps_may_be_set():
    optimizer: Any = optimizers.SGD()
    optimizer.iterations.assign(3)
    optimizer.iterations.assign_add(2)
    assert optimizer.iterations == 5
    count: Any = optimizer.iterations
    assert count.numpy() == count.value == 5
    optimizer.variables[0].assign(7)
    assert int(optimizer.iterations) == 7


def test_an_own_class_is_written_by_its_name():
    found = optimizers.serialize(Momentum(share=0.5))
    assert (found["module"], found["registered_name"]) == (None, "Momentum")
    assert optimizers.deserialize(found, {"Momentum": Momentum}).share == 0.5
    with pytest.raises(ValueError, match="Momentum"):
        optimizers.deserialize(found)


def test_what_has_no_form_in_keras_3_stays_as_it_is():
    own = base.RMSprop()  # with epsilon outside of the root
    assert twin_of(own) is own
    assert twin_of(None) is None
    twin = optimizers.SGD()
    assert twin_of(twin) is twin


def test_optimizers_of_torch_and_of_the_package_are_taken():
    own = base.Adam()
    assert optimizers.get(own) is own
    assert type(optimizers.get(torch.optim.Adam)) is base.TorchOptimizer


def test_names_count_the_optimizers():
    first, second = optimizers.RMSprop(), optimizers.RMSprop()
    assert first.name.startswith("rm_sprop")
    assert first.name != second.name
    assert optimizers.RMSprop(name="mine").name == "mine"


def test_the_lists_of_the_package_stay_its_own():
    assert registry.optimizers.find("Adam") is base.Adam
    assert type(base.get("sgd")) is base.SGD
    assert isinstance(optimizers.get("sgd"), base.SGD)


# --- what is refused --------------------------------------------------------------------------------------------------


def one_of(weights: list[Any]) -> Any:
    optimizer = optimizers.SGD()
    optimizer.build(weights)
    return optimizer


def several_of(weights: list[Any]) -> Any:
    optimizer = optimizers.MultiOptimizer(optimizers.OptimizerMap(optimizers.SGD()))
    if weights:
        optimizer.build(weights)
    return optimizer


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: optimizers.Adam(clipnorm=1.0, clipvalue=1.0), ValueError, "one of clipnorm, clipvalue"),
        (lambda: optimizers.Adam(lr=0.1), ValueError, "Adam: unknown option 'lr'"),
        (lambda: optimizers.Adam(beta_1=1.5), ValueError, "Adam: beta_1 must be"),
        (lambda: optimizers.SGD(gradient_accumulation_steps=1), ValueError, "must be an integer of at least 2"),
        (lambda: optimizers.SGD(loss_scale_factor=0), ValueError, "loss_scale_factor must be"),
        (lambda: optimizers.SGD("fast"), ValueError, "SGD: lr must be"),
        (lambda: optimizers.AdamW(weight_decay=None), ValueError, "AdamW: weight_decay must be"),
        (lambda: optimizers.Optimizer(0.1).apply([torch.ones(1)], [torch.ones(1)]), NotImplementedError, "update_step"),
        (lambda: optimizers.SGD().apply([torch.ones(1)]), ValueError, "give the variables too"),
        (lambda: optimizers.SGD().apply([None], [torch.ones(1)]), ValueError, "no variable has a gradient"),
        (lambda: optimizers.SGD().apply([torch.ones(2)], [torch.ones(1)]), ValueError, "has the shape"),
        (lambda: optimizers.SGD().build(["weight"]), TypeError, "found 'weight'"),
        (lambda: optimizers.SGD().set_weights([]), ValueError, "call build"),
        (lambda: optimizers.SGD().stateless_apply([], [], []), ValueError, "call build"),
        (lambda: optimizers.SGD().add_variable((1,), aggregation="most"), ValueError, "aggregation must be one of"),
        (lambda: optimizers.SGD().add_variable((1,), layout="rows"), ValueError, "layout must be None"),
        (lambda: optimizers.get("fastest"), ValueError, "Unknown optimizer"),
        (lambda: optimizers.get(3), ValueError, "Could not interpret"),
        (lambda: optimizers.get(torch.nn.ReLU()), ValueError, "Could not interpret"),
        (lambda: optimizers.get({"config": {}}), ValueError, "class_name"),
        (lambda: optimizers.LossScaleOptimizer("sgd"), TypeError, "inner_optimizer must be"),
        (
            lambda: optimizers.LossScaleOptimizer(optimizers.SGD(), clipnorm=1.0),
            ValueError,
            "set on the inner_optimizer",
        ),
        (lambda: optimizers.LossScaleOptimizer(optimizers.SGD(), dynamic=False), ValueError, "dynamic must be True"),
        (lambda: optimizers.MultiOptimizer(lambda weight: None).build([torch.ones(1)]), ValueError, "must have an"),
        (lambda: optimizers.MultiOptimizer(lambda weight: None).learning_rate, AttributeError, "has its own"),
        (lambda: optimizers.MultiOptimizer(lambda weight: None).get_config(), ValueError, "OptimizerMap"),
        (lambda: optimizers.LossScaleOptimizer(optimizers.SGD(), lr=1.0), ValueError, "unknown option 'lr'"),
        (lambda: optimizers.LossScaleOptimizer(optimizers.SGD()).set_weights([]), ValueError, "call build"),
        (lambda: several_of([torch.ones(1)]).set_weights([]), ValueError, "the state has 4 arrays; found 0"),
        (lambda: several_of([torch.ones(1)]).apply([None, None]), ValueError, "a gradient for each of the 1 weights"),
        (lambda: several_of([]).apply([torch.ones(1)]), ValueError, "call build"),
        (lambda: several_of([]).step(), ValueError, "call build"),
        (lambda: several_of([]).get_weights(), ValueError, "save_own_variables"),
        (lambda: setattr(several_of([]), "learning_rate", 0.1), AttributeError, "has its own"),
        (lambda: one_of([torch.ones(1)]).set_weights([]), ValueError, "the state has 2 arrays; found 0"),
        (lambda: one_of([torch.ones(1)]).stateless_apply([0, 0], [None], []), ValueError, "must have 1 values"),
        (lambda: one_of([torch.ones(1)]).add_optimizer_variables([], ["a"], []), ValueError, "an initializer for each"),
        (lambda: optimizers.SGD(lambda: 0.1).get_config(), ValueError, "a function has no form"),
        (lambda: optimizers.OptimizerMap(optimizers.SGD(), []), TypeError, "optimizer_map must be"),
        (lambda: optimizers.OptimizerMap("sgd"), TypeError, "default_optimizer must be"),
        (lambda: optimizers.legacy.Adam(), ImportError, "keras.optimizers.Adam"),
        (lambda: optimizers.schedules.ExponentialDecay(0.1, 0, 0.5), ValueError, "decay_steps must be"),
        (lambda: optimizers.schedules.deserialize({"class_name": "Falling", "config": {}}), ValueError, "Falling"),
    ],
)
def test_refused(make: Any, error: type[Exception], text: str):
    with pytest.raises(error, match=text):
        make()


def test_other_weights_than_those_of_build_are_refused():
    optimizer = optimizers.SGD()
    optimizer.build([torch.ones(1)])
    with pytest.raises(ValueError, match="none of the weights"):
        optimizer.apply([torch.ones(1)], [torch.ones(1)])


def test_a_schedule_is_replaced_by_no_number():
    optimizer = optimizers.SGD(optimizers.schedules.ExponentialDecay(0.1, 2, 0.5))
    assert float(optimizer.learning_rate) == 0.1
    with pytest.raises(TypeError, match="ExponentialDecay"):
        optimizer.learning_rate = 0.1


def test_the_base_is_begun_first():
    class Late(optimizers.Optimizer):
        def __init__(self) -> None:
            self.share = 0.5

    with pytest.raises(RuntimeError, match=r"call super\(\).__init__"):
        Late()


def test_decay_is_ignored_with_a_warning_as_in_keras():
    with pytest.warns(UserWarning, match="no option decay"):
        optimizers.SGD(decay=0.1)


def test_missing_gradients_and_other_state_are_said():
    optimizer, weights = optimizers.SGD(), parameters()
    with pytest.warns(UserWarning, match="no gradient for"):
        optimizer.apply([torch.ones(2, 3), None], weights)
    with pytest.warns(UserWarning, match="the state is not taken"):
        optimizer.load_own_variables({"0": np.array(1)})


# --- documentation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*TWINS, "Optimizer", "LossScaleOptimizer", "MultiOptimizer", "OptimizerMap"])
def test_docstrings_explain_each_argument_and_their_examples_run(name: str):
    made = getattr(optimizers, name)
    text = inspect.getdoc(made) or ""
    for argument in list(inspect.signature(made).parameters)[: None if name in TWINS else 1]:
        assert argument == "kwargs" or f"    {argument} (" in text, argument
    named = {each: getattr(optimizers, each) for each in optimizers.__all__}
    said = io.StringIO()
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(made, name, globs={"torch": torch, **named}):
        test.globs["torchkeras"] = torchkeras
        assert runner.run(test, out=said.write).failed == 0, said.getvalue()
