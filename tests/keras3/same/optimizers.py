"""Optimizers and schedules by hand, on two weights with given gradients."""

import inspect
import warnings
from typing import Any

import numpy as np
import torch

# Keras computes 1 - beta_2**t in float32, in which it has four digits at first.
OF_ADAM = ("adam", "adamw", "averages", "missing_gradients", "an_own_class_of_adam", "several_optimizers")
TOLERANCES = dict.fromkeys(OF_ADAM, (1e-4, 1e-5))

SHAPES = {"kernel": (4, 3), "bias": (3,)}
STEPS = 5


def numbers(shape: tuple[int, ...], phase: float) -> np.ndarray:
    """Numbers between -1 and 1 without any order."""
    places = np.arange(np.prod(shape), dtype=np.float64)
    return np.sin(places * 12.9898 + phase).reshape(shape).astype("float32")


def weights_of(keras: Any) -> list[Any]:
    """Weights as variables of Keras, or as parameters of torch where there are no variables."""
    make = getattr(keras, "Variable", None)
    values = [numbers(shape, 0.3 * k) for k, shape in enumerate(SHAPES.values())]
    if make is None:
        return [torch.nn.Parameter(torch.tensor(value)) for value in values]
    return [make(value, name=name) for name, value in zip(SHAPES, values, strict=True)]


def gradients_of(step: int) -> list[torch.Tensor]:
    return [torch.tensor(numbers(shape, 1.7 * step + k)) * (step + 1) for k, shape in enumerate(SHAPES.values())]


def arrays(keras: Any, variables: Any) -> list[np.ndarray]:
    return [np.array(keras.ops.convert_to_numpy(each)) for each in variables]


def trained(keras: Any, optimizer: Any, steps: int = STEPS) -> dict[str, Any]:
    """Weights after each step, the state at the end, and the config."""
    weights, found = weights_of(keras), []
    optimizer.build(weights)
    for step in range(steps):
        optimizer.apply(gradients_of(step), weights)
        found.append(arrays(keras, weights))
    state = arrays(keras, optimizer.variables)
    optimizer.finalize_variable_values(weights)
    return {"weights": found, "state": state, "final": arrays(keras, weights), "iterations": int(optimizer.iterations)}


def config_of(optimizer: Any) -> dict[str, Any]:
    """The config without the name, which counts the optimizers of a process."""
    found = dict(optimizer.get_config())
    assert isinstance(found.pop("name"), str)
    return found


def each_of(keras: Any, name: str, *options: dict[str, Any]) -> list[Any]:
    made = [getattr(keras.optimizers, name)(**given) for given in ({}, *options)]
    return [{"config": config_of(each), **trained(keras, each)} for each in made]


def case_sgd(keras: Any) -> Any:
    nesterov = {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}
    return each_of(keras, "SGD", {"learning_rate": 0.5}, {"learning_rate": 0.1, "momentum": 0.9}, nesterov)


def case_rmsprop(keras: Any) -> Any:
    momentum = {"learning_rate": 0.01, "rho": 0.8, "momentum": 0.5, "epsilon": 1e-3}
    return each_of(keras, "RMSprop", momentum, {"centered": True}, {"centered": True, "momentum": 0.9})


def case_adam(keras: Any) -> Any:
    given = {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-4, "weight_decay": 0.02}
    return each_of(keras, "Adam", given, {"amsgrad": True})


def case_adamw(keras: Any) -> Any:
    return each_of(keras, "AdamW", {"learning_rate": 0.1, "weight_decay": 0.5}, {"amsgrad": True, "weight_decay": 0.0})


def case_adadelta(keras: Any) -> Any:
    return each_of(keras, "Adadelta", {"learning_rate": 1.0, "rho": 0.9, "epsilon": 1e-4, "weight_decay": 0.1})


def case_adagrad(keras: Any) -> Any:
    return each_of(keras, "Adagrad", {"learning_rate": 0.5, "initial_accumulator_value": 0.0, "epsilon": 1e-4})


def case_adamax(keras: Any) -> Any:
    return each_of(keras, "Adamax", {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-4})


def case_nadam(keras: Any) -> Any:
    return each_of(keras, "Nadam", {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-4})


def case_lamb(keras: Any) -> Any:
    return each_of(keras, "Lamb", {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-4})


def case_lion(keras: Any) -> Any:
    return each_of(keras, "Lion", {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.7, "weight_decay": 0.1})


def case_ftrl(keras: Any) -> Any:
    names = ("l1_regularization_strength", "l2_regularization_strength", "l2_shrinkage_regularization_strength")
    strengths = dict(zip(names, (0.01, 0.02, 0.03), strict=True))
    given = {"learning_rate": 0.1, "learning_rate_power": -0.4, "initial_accumulator_value": 0.2, "beta": 0.1}
    return each_of(keras, "Ftrl", {**given, **strengths})


def case_adafactor(keras: Any) -> Any:
    given = {"beta_2_decay": -0.5, "epsilon_1": 1e-8, "epsilon_2": 0.01, "clip_threshold": 0.5, "relative_step": False}
    return each_of(keras, "Adafactor", {"learning_rate": 0.1, **given})


def case_muon(keras: Any) -> Any:
    adam = {"adam_beta_1": 0.8, "adam_beta_2": 0.9, "adam_weight_decay": None, "weight_decay": None, "epsilon": 1e-4}
    steps = {"adam_lr_ratio": 0.5, "momentum": 0.8, "ns_steps": 3, "nesterov": False, "rms_rate": None}
    return each_of(keras, "Muon", {"learning_rate": 0.1, **adam, **steps}, {"muon_a": 3.0, "muon_b": -4.0})


def case_schedule_free_adamw(keras: Any) -> Any:
    given = {"learning_rate": 0.1, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-4, "weight_decay": 0.1}
    # On torch Keras's later steps are others than it says: `momentum_old` is the momentum of after the step.
    made = [keras.optimizers.ScheduleFreeAdamW(**options) for options in ({}, {**given, "warmup_steps": 3})]
    return [{"config": config_of(each), **trained(keras, each, 1)} for each in made]


def case_limits_of_gradients(keras: Any) -> Any:
    make = keras.optimizers.SGD
    limits = ({"clipnorm": 0.7}, {"global_clipnorm": 0.7}, {"clipvalue": 0.3})
    return [{"config": config_of(make(0.1, **limit)), **trained(keras, make(0.1, **limit))} for limit in limits]


def case_averages(keras: Any) -> Any:
    make = keras.optimizers.Adam
    options: list[dict[str, Any]] = [
        {"use_ema": True},
        {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2},
        {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2, "gradient_accumulation_steps": 2},
    ]
    return [trained(keras, make(0.1, **each)) for each in options]


def case_accumulation(keras: Any) -> Any:
    options: list[dict[str, Any]] = [
        {"gradient_accumulation_steps": 2},
        {"gradient_accumulation_steps": 3, "clipnorm": 0.5, "weight_decay": 0.1},
    ]
    make = keras.optimizers.SGD
    return [trained(keras, make(0.1, momentum=0.9, **each)) for each in options]


def case_accumulation_with_a_schedule(keras: Any) -> Any:
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    return trained(keras, keras.optimizers.SGD(rate, gradient_accumulation_steps=2), 6)


def case_loss_scale_factor(keras: Any) -> Any:
    optimizer = keras.optimizers.SGD(0.1, loss_scale_factor=8.0)
    scaled = optimizer.scale_loss(torch.tensor(2.0))
    return {"loss": float(scaled), "config": config_of(optimizer), **trained(keras, optimizer)}


def case_weights_without_decay(keras: Any) -> Any:
    found = []
    for place in range(2):
        optimizer, weights = keras.optimizers.AdamW(0.1, weight_decay=0.5), weights_of(keras)
        optimizer.exclude_from_weight_decay(var_list=[weights[place]])
        optimizer.build(weights)
        for step in range(STEPS):
            optimizer.apply(gradients_of(step), weights)
        found.append(arrays(keras, weights))
    return found


def case_missing_gradients(keras: Any) -> Any:
    found = []
    for place in range(2):
        optimizer, weights = keras.optimizers.Adam(0.1), weights_of(keras)
        for step in range(STEPS):
            given: list[Any] = gradients_of(step)
            if step % 2:
                given[place] = None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the gradient that is missing
                optimizer.apply(given, weights)
        found.append([*arrays(keras, weights), *arrays(keras, optimizer.variables)])
    return found


def case_apply_gradients(keras: Any) -> Any:
    optimizer, weights = keras.optimizers.Adam(0.1), weights_of(keras)
    for step in range(STEPS):
        optimizer.apply_gradients(zip(gradients_of(step), weights, strict=True))
    return [arrays(keras, weights), int(optimizer.iterations)]


def case_the_rate_is_set(keras: Any) -> Any:
    weights, found = weights_of(keras), []
    optimizer: Any = keras.optimizers.SGD(0.5)
    optimizer.build(weights)
    for step in range(STEPS):
        if step == 1:
            optimizer.learning_rate = 0.25
        if step == 2:
            rate: Any = optimizer.learning_rate
            rate.assign(0.125)
        if step == 3:
            optimizer.learning_rate = keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 1.0)
        optimizer.apply(gradients_of(step), weights)
        found.append([float(optimizer.learning_rate), *arrays(keras, weights)])
    return found


def case_the_rate_of_a_function(keras: Any) -> Any:
    rates = iter(np.linspace(0.1, 0.5, STEPS + 1))
    optimizer, weights = keras.optimizers.SGD(lambda: float(next(rates))), weights_of(keras)
    for step in range(STEPS):
        optimizer.apply(gradients_of(step), weights)
    return arrays(keras, weights)


def case_the_steps_are_set(keras: Any) -> Any:
    optimizer, weights = keras.optimizers.Adam(0.1), weights_of(keras)
    optimizer.build(weights)
    optimizer.iterations.assign(100)
    for step in range(2):
        optimizer.apply(gradients_of(step), weights)
    return [arrays(keras, weights), int(optimizer.iterations), arrays(keras, optimizer.variables)]


def case_state_is_stored(keras: Any) -> Any:
    options: list[tuple[str, dict[str, Any]]] = [
        ("Adam", {"amsgrad": True, "use_ema": True}),
        ("SGD", {"momentum": 0.9, "gradient_accumulation_steps": 2}),
        ("Adafactor", {}),
        ("Nadam", {}),
    ]
    found = []
    for name, given in options:
        first, second = (getattr(keras.optimizers, name)(**given) for _ in range(2))
        weights, others, store = weights_of(keras), weights_of(keras), {}
        first.build(weights)
        for step in range(3):
            first.apply(gradients_of(step), weights)
        first.save_own_variables(store)
        for weight, other in zip(weights, others, strict=True):
            value = keras.ops.convert_to_numpy(weight)
            other.assign(value) if hasattr(other, "assign") else other.data.copy_(torch.tensor(value))
        second.build(others)
        second.load_own_variables(store)
        for step in range(3, STEPS):
            first.apply(gradients_of(step), weights)
            second.apply(gradients_of(step), others)
        found.append([store, arrays(keras, weights), arrays(keras, others), arrays(keras, second.variables)])
    return found


def case_weights_are_set(keras: Any) -> Any:
    optimizer, weights = keras.optimizers.Adamax(), weights_of(keras)
    optimizer.build(weights)
    values = [np.full(np.shape(each), 0.1 * k, "float32") for k, each in enumerate(arrays(keras, optimizer.variables))]
    values[0] = np.array(7, "int32")
    optimizer.set_weights(values)
    optimizer.apply(gradients_of(0), weights)
    return [arrays(keras, weights), arrays(keras, optimizer.variables)]


def case_stateless(keras: Any) -> Any:
    found = []
    for name, given in (("Adam", {}), ("SGD", {"momentum": 0.9}), ("RMSprop", {})):
        optimizer, weights = getattr(keras.optimizers, name)(**given), weights_of(keras)
        optimizer.build(weights)
        values = [torch.tensor(array) for array in arrays(keras, weights)]
        state = [torch.tensor(array) for array in arrays(keras, optimizer.variables)]
        for step in range(STEPS):
            values, state = optimizer.stateless_apply(state, gradients_of(step), values)
        found.append([arrays(keras, values), arrays(keras, state), arrays(keras, weights), int(optimizer.iterations)])
    return found


def own_class(keras: Any) -> Any:
    class Momentum(keras.optimizers.Optimizer):
        def __init__(self, learning_rate: float = 0.1, momentum: float = 0.9, **options: Any):
            super().__init__(learning_rate=learning_rate, **options)
            self.momentum = momentum

        def build(self, variables: Any) -> None:
            super().build(variables)
            self.momentums = [self.add_variable_from_reference(each, name="momentum") for each in variables]
            self.seen = self.add_variable((), initializer="ones", name="seen")

        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            ops = keras.ops
            rate = ops.cast(learning_rate, variable.dtype)
            gradient = ops.cast(gradient, variable.dtype)
            momentum = self.momentums[self._get_variable_index(variable)]
            self.assign(momentum, ops.subtract(ops.multiply(momentum, self.momentum), ops.multiply(gradient, rate)))
            self.assign_add(variable, momentum)
            self.assign_sub(variable, variable * 0.01)
            self.assign_add(self.seen, ops.sum(ops.square(gradient)))

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "momentum": self.momentum}

    return Momentum


def case_an_own_class(keras: Any) -> Any:
    make = own_class(keras)
    options: list[dict[str, Any]] = [
        {},
        {"weight_decay": 0.1, "clipnorm": 0.5},
        {"use_ema": True, "gradient_accumulation_steps": 2},
    ]
    return [{"config": config_of(make(**each)), **trained(keras, make(**each))} for each in options]


def case_an_own_class_of_adam(keras: Any) -> Any:
    class Halved(keras.optimizers.Adam):
        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            super().update_step(gradient * 0.5, variable, learning_rate)

    return trained(keras, Halved(0.1))


def case_variables_of_own(keras: Any) -> Any:
    optimizer, weights = keras.optimizers.SGD(), weights_of(keras)
    optimizer.build(weights)
    one = optimizer.add_optimizer_variables(weights, "one")
    two, three = optimizer.add_optimizer_variables(weights, ["two", "three"], ["ones", "zeros"])
    number = optimizer.add_variable((2,), "ones", "int32", name="number")
    number.assign_add(3)
    number.assign_sub(np.array([1, 2], "int32"))
    return [arrays(keras, [*one, *two, *three, number]), number.name, number.path.split("/")[-1], number.dtype]


def case_the_loss_scale(keras: Any) -> Any:
    found = []
    inner = keras.optimizers.SGD(0.1, momentum=0.9)
    optimizer, weights = keras.optimizers.LossScaleOptimizer(inner, 8.0, dynamic_growth_steps=2), weights_of(keras)
    optimizer.build(weights)
    for step in range(8):
        loss = optimizer.scale_loss(torch.tensor(1.0))
        given = [each * float(loss) for each in gradients_of(step)]
        if step in (2, 5):
            given[1][0] = float("inf" if step == 2 else "nan")
        optimizer.apply(given, weights)
        found.append([float(loss), arrays(keras, weights), int(optimizer.iterations), float(optimizer.learning_rate)])
    return [found, arrays(keras, optimizer.variables)]


def case_the_loss_scale_stateless(keras: Any) -> Any:
    optimizer, weights = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1), 8.0, 2), weights_of(keras)
    optimizer.build(weights)
    values = [torch.tensor(array) for array in arrays(keras, weights)]
    state = [torch.tensor(array) for array in arrays(keras, optimizer.variables)]
    values, state = optimizer.stateless_apply(state, [each * 8 for each in gradients_of(0)], values)
    return [arrays(keras, values), arrays(keras, state)]


def case_several_optimizers(keras: Any) -> Any:
    slow, fast, found = keras.optimizers.SGD(0.1), keras.optimizers.Adam(0.5), []
    optimizer = keras.optimizers.MultiOptimizer(lambda variable: fast if len(variable.shape) > 1 else slow)
    weights = weights_of(keras)
    optimizer.build(weights)
    for step in range(STEPS):
        optimizer.apply(gradients_of(step), weights)
        found.append([arrays(keras, weights), int(optimizer.iterations), int(fast.iterations)])
    return [found, arrays(keras, optimizer.variables), [type(each).__name__ for each in optimizer.optimizers]]


def case_a_map_of_optimizers(keras: Any) -> Any:
    make = keras.optimizers
    found = make.OptimizerMap(make.RMSprop(name="other"), {"encoder/.*": make.SGD(name="encoder")})
    found["encoder/first/kernel"] = make.Adam(name="first")
    found["decoder"] = make.Adam(name="decoder")
    paths = ("encoder/first/kernel", "encoder/second/kernel", "decoder", "decoder/kernel")
    again = make.MultiOptimizer.from_config(make.MultiOptimizer(found, 4.0, "all").get_config())
    return [
        *(found[path].name for path in paths),
        *(again._optimizer_map[path].name for path in paths),
        *(each.loss_scale_factor for each in again.optimizers),
        sorted(found),
        len(found),
    ]


def case_get(keras: Any) -> Any:
    get, names = keras.optimizers.get, ("adam", "SGD", "rmsprop", "Nadam", "adamw", "ftrl", "schedulefreeadamw", "muon")
    made = [get(name) for name in names]
    one = get({"class_name": "adam", "config": {"learning_rate": 0.5, "clipnorm": 2.0}})
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    again = keras.optimizers.deserialize(keras.optimizers.serialize(keras.optimizers.Lion(schedule, weight_decay=0.1)))
    return [
        [[type(each).__name__, config_of(each)] for each in made],
        config_of(one),
        config_of(again),
        get(None),
        get(one) is one,
        isinstance(one, keras.optimizers.Optimizer),
        isinstance(one, keras.optimizers.Adam),
    ]


def case_schedules(keras: Any) -> Any:
    make = keras.optimizers.schedules
    each = [
        make.ExponentialDecay(0.1, 7, 0.5),
        make.ExponentialDecay(0.1, 7, 0.5, staircase=True, name="own"),
        make.InverseTimeDecay(0.1, 7, 0.5),
        make.InverseTimeDecay(0.1, 7, 0.5, staircase=True),
        make.PiecewiseConstantDecay([5, 12], [0.3, 0.2, 0.1]),
        make.PolynomialDecay(0.1, 15),
        make.PolynomialDecay(0.1, 7, 0.01, 2.0, cycle=True),
        make.CosineDecay(0.1, 15),
        make.CosineDecay(0.0, 15, 0.1, warmup_target=0.2, warmup_steps=5),
        make.CosineDecayRestarts(0.1, 5),
        make.CosineDecayRestarts(0.1, 5, 1.0, 0.8, 0.1),
        make.CosineDecayRestarts(0.1, 3, t_mul=1.5, m_mul=0.9),
    ]
    again = [make.deserialize(make.serialize(schedule)) for schedule in each]
    return [
        [
            [float(schedule(step)) for step in range(0, 45, 2)],
            float(same(torch.tensor(9))),
            same.get_config(),
            make.serialize(schedule),
            float(np.array(schedule(3).numpy())),
        ]
        for schedule, same in zip(each, again, strict=True)
    ]


def case_an_own_schedule(keras: Any) -> Any:
    class Warmup(keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, peak: float):
            self.peak = peak

        def __call__(self, step: Any) -> Any:
            step = keras.ops.cast(step, "float32")
            return keras.ops.minimum(self.peak, self.peak * (step + 1) / 3)

        def get_config(self) -> dict[str, Any]:
            return {"peak": self.peak}

    optimizer = keras.optimizers.SGD(Warmup(0.3))
    return [trained(keras, optimizer), float(optimizer.learning_rate)]


def case_arguments(keras: Any) -> Any:
    """The arguments of each optimizer in their order, with their defaults."""
    names = (
        *("SGD", "RMSprop", "Adam", "AdamW", "Adadelta", "Adagrad", "Adamax", "Nadam", "Lamb", "Lion", "Ftrl"),
        *(
            "Adafactor",
            "Muon",
            "ScheduleFreeAdamW",
            "LossScaleOptimizer",
            "MultiOptimizer",
            "OptimizerMap",
            "Optimizer",
        ),
    )
    found = {}
    for name in names:
        given = list(inspect.signature(getattr(keras.optimizers, name).__init__).parameters.values())[1:]
        found[name] = [[each.name, str(each.kind), str(each.default)] for each in given]
    return found


def case_arguments_by_position(keras: Any) -> Any:
    make = keras.optimizers
    made = [
        make.Adam(0.1, 0.8, 0.9, 1e-4, True, 0.1, 0.2),
        make.SGD(0.1, 0.9, True, 0.1, None, 0.3),
        make.Muon(0.1, 0.8, 0.9, 0.1, 1e-4, 0.2, None, None, 0.5, True, 0.9, 5, 2.0, 2, "muon", ["first"], False),
        make.Adagrad(0.1, 0.2, 1e-4),
    ]
    return [config_of(each) for each in made]
