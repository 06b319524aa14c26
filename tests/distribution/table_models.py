"""The models of the table, and what is compared of each: its training, its numbers, its weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from torchkeras import config, layers, losses, metrics, optimizers
from torchkeras.layers import (
    LSTM,
    Activation,
    Add,
    BatchNormalization,
    Bidirectional,
    Concatenate,
    Conv2D,
    Dense,
    Embedding,
    Flatten,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    Input,
    LayerNormalization,
    Masking,
    MultiHeadAttention,
    TimeDistributed,
    TorchModule,
)
from torchkeras.models import Model, Sequential
from torchkeras.utils import set_random_seed

SAMPLES, CLASSES = 22, 3  # batches of 8, 8 and 6


class Case(NamedTuple):
    """A compiled model, its data, and options of `fit`."""

    model: Any
    x: Any
    y: Any
    options: dict[str, Any] = {}


CASES: dict[str, Callable[[np.random.RandomState], Case]] = {}


def case(make: Callable[[np.random.RandomState], Case]) -> Callable[[np.random.RandomState], Case]:
    CASES[make.__name__] = make
    return make


def run(name: str, floatx: str, distribute: str | None = None) -> dict[str, Any]:
    """Train the model of a case, and give all numbers."""
    config.set_floatx(floatx)
    set_random_seed(7)
    found = CASES[name](np.random.RandomState(1))
    model = found.model
    model.distribute = distribute
    x, y = _as(floatx, found.x), _as(floatx, found.y)
    history = model.fit(x, y, batch_size=8, epochs=2, verbose=0, **found.options).history
    return {
        "history": {key: _plain(values) for key, values in history.items()},
        "evaluated": _plain(model.evaluate(x, y, batch_size=8, verbose=0)),
        "batch": _plain(model.train_on_batch(_first(x, 2), _first(y, 2))),
        "weights": [weight.tolist() for weight in model.get_weights()],
    }


def _plain(numbers: Any) -> list[Any]:
    """Numbers and arrays, or one number, as lists."""
    return [np.asarray(each).tolist() for each in (numbers if isinstance(numbers, list) else [numbers])]


def numbers(found: Any) -> list[float]:
    """All numbers of a result, in order."""
    if isinstance(found, dict):
        return [each for key in sorted(found) for each in numbers(found[key])]
    return [each for item in found for each in numbers(item)] if isinstance(found, list) else [float(found)]


def _as(floatx: str, data: Any) -> Any:
    if isinstance(data, list):
        return [_as(floatx, each) for each in data]
    return data.astype(floatx) if data.dtype.kind == "f" else data


def _first(data: Any, count: int) -> Any:
    return [each[:count] for each in data] if isinstance(data, list) else data[:count]


def _classes(random: np.random.RandomState) -> np.ndarray:
    return random.randint(0, CLASSES, SAMPLES)


def _mlp(compiled: dict[str, Any], **options: Any) -> Callable[[np.random.RandomState], Case]:
    def make(random: np.random.RandomState) -> Case:
        model = Sequential([Dense(6, "tanh", input_shape=(5,)), Dense(CLASSES, "softmax")])
        model.compile(**{"loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"], **compiled})
        return Case(model, random.randn(SAMPLES, 5), _classes(random), options)

    return make


# Optimizers, and what they are told; one maker for each, since an optimizer belongs to one model.
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: optimizers.Adam(0.01),
    "rmsprop": lambda: optimizers.RMSprop(0.01),
    "adamw": lambda: optimizers.AdamW(0.01),
    "torch_adam": lambda: (torch.optim.Adam, {"lr": 0.01}),
    "accumulation": lambda: optimizers.Adam(0.01, gradient_accumulation_steps=2),
    "clipnorm": lambda: optimizers.SGD(0.5, clipnorm=0.1),
    "each_clipnorm": lambda: optimizers.SGD(0.5, each_clipnorm=0.05),
    "clipvalue": lambda: optimizers.SGD(0.5, clipvalue=0.01),
    "ema": lambda: optimizers.Adam(0.01, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=3),
}
for _name, _optimizer in OPTIMIZERS.items():
    CASES[f"mlp_{_name}"] = lambda random, optimizer=_optimizer: _mlp({"optimizer": optimizer()})(random)


@case
def penalties(random: np.random.RandomState) -> Case:
    hidden = Dense(
        6, "relu", input_shape=(5,), kernel_regularizer="l2", activity_regularizer="l1", kernel_constraint="max_norm"
    )
    model = Sequential([hidden, Dense(2, activity_regularizer=_largest)])
    model.compile("adam", "mse", metrics=["mae"])
    return Case(model, random.randn(SAMPLES, 5), random.randn(SAMPLES, 2), {"validation_split": 0.2})


def _largest(output: torch.Tensor) -> torch.Tensor:
    return 0.01 * output.abs().max()


@case
def cnn(random: np.random.RandomState) -> Case:
    convolution = [Conv2D(4, 3, input_shape=(8, 8, 2)), BatchNormalization(momentum=0.5), Activation("relu")]
    model = Sequential([*convolution, Conv2D(3, 3, strides=2), Flatten(), Dense(CLASSES, "softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return Case(model, random.randn(SAMPLES, 8, 8, 2), _classes(random))


@case
def resnet20(random: np.random.RandomState) -> Case:
    def normalized(value: Any, filters: int, strides: int = 1) -> Any:
        return BatchNormalization()(Conv2D(filters, 3, strides=strides, padding="same", use_bias=False)(value))

    inputs = Input((8, 8, 3))
    value = Activation("relu")(normalized(inputs, 4))
    for filters in (4, 8, 16):
        for block in range(3):
            strides = 2 if filters > 4 and block == 0 else 1
            inner = normalized(Activation("relu")(normalized(value, filters, strides)), filters)
            shortcut = value if strides == 1 else Conv2D(filters, 1, strides=2, use_bias=False)(value)
            value = Activation("relu")(Add()([inner, shortcut]))
    model = Model(inputs, Dense(CLASSES, "softmax")(GlobalAveragePooling2D()(value)))
    model.compile(optimizers.SGD(0.01, momentum=0.9), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return Case(model, random.randn(SAMPLES, 8, 8, 3), _classes(random))


@case
def masked_lstm(random: np.random.RandomState) -> Case:
    model = Sequential([Masking(input_shape=(6, 4)), LSTM(5, return_sequences=True), TimeDistributed(Dense(2))])
    model.compile("rmsprop", "mse", metrics=["mae"])
    x = random.randn(SAMPLES, 6, 4)
    x[random.rand(SAMPLES, 6) > 0.6] = 0
    return Case(model, x, random.randn(SAMPLES, 6, 2))


@case
def bidirectional_weighted_steps(random: np.random.RandomState) -> Case:
    model = Sequential([Masking(input_shape=(6, 4)), Bidirectional(LSTM(3, return_sequences=True)), Dense(2)])
    model.compile("adam", "mse", weighted_metrics=["mae"], sample_weight_mode="temporal")
    x, weights = random.randn(SAMPLES, 6, 4), random.rand(SAMPLES, 6) * (random.rand(SAMPLES, 6) > 0.3)
    x[random.rand(SAMPLES, 6) > 0.6] = 0
    return Case(model, x, random.randn(SAMPLES, 6, 2), {"sample_weight": weights})


@case
def transformer(random: np.random.RandomState) -> Case:
    inputs = Input((5,), dtype="int32")
    value = Embedding(11, 8)(inputs)
    value = LayerNormalization()(Add()([value, MultiHeadAttention(2, 4)(value, value)]))
    value = LayerNormalization()(Add()([value, Dense(8)(Dense(16, "gelu")(value))]))
    model = Model(inputs, Dense(CLASSES, "softmax")(GlobalAveragePooling1D()(value)))
    model.compile(optimizers.AdamW(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return Case(model, random.randint(0, 11, (SAMPLES, 5)), _classes(random))


@case
def masked_embeddings(random: np.random.RandomState) -> Case:
    model = Sequential([Embedding(9, 4, mask_zero=True, input_length=6), LSTM(4), Dense(1, "sigmoid")])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return Case(model, random.randint(0, 9, (SAMPLES, 6)), random.randint(0, 2, (SAMPLES, 1)))


@case
def several_outputs(random: np.random.RandomState) -> Case:
    one, other = Input((4,)), Input((3,))
    shared = Dense(5, "relu")
    value = Concatenate()([shared(one), shared(Dense(4)(other))])
    model = Model(
        [one, other], [Dense(2, name="a")(value), Dense(CLASSES, "softmax", name="b")(value), Dense(1)(value)]
    )
    model.compile(
        "adam",
        ["mse", "sparse_categorical_crossentropy", None],
        metrics={"a": ["mae"], "b": ["accuracy"]},
        loss_weights=[1.0, 0.3, 1.0],
    )
    data = [random.randn(SAMPLES, 4), random.randn(SAMPLES, 3)]
    weights = {"a": random.rand(SAMPLES) * (random.rand(SAMPLES) > 0.4), "b": random.rand(SAMPLES)}
    return Case(model, data, [random.randn(SAMPLES, 2), _classes(random)], {"sample_weight": weights})


@case
def class_weights(random: np.random.RandomState) -> Case:
    return _mlp({"optimizer": "adam"}, class_weight={0: 0.0, 1: 2.0, 2: 0.5})(random)


@case
def nested(random: np.random.RandomState) -> Case:
    part = Sequential([Dense(4, "tanh", input_shape=(4,)), BatchNormalization()])
    inputs = Input((4,))
    model = Model(inputs, Dense(2)(Add()([part(inputs), part(part(inputs))])))
    model.compile("sgd", "mse", metrics=["mae"])
    return Case(model, random.randn(SAMPLES, 4), random.randn(SAMPLES, 2))


@case
def metrics_with_state(random: np.random.RandomState) -> Case:
    model = Sequential([Dense(6, "relu", input_shape=(5,)), Dense(1, "sigmoid")])
    kept = [metrics.AUC(), metrics.Precision(), metrics.MeanIoU(2), _Largest(), metrics.F1Score("macro", threshold=0.5)]
    model.compile("adam", "binary_crossentropy", metrics=["accuracy", *kept])
    return Case(model, random.randn(SAMPLES, 5), random.randint(0, 2, (SAMPLES, 1)).astype("float64"))


@case
def metrics_of_arrays(random: np.random.RandomState) -> Case:
    model = Sequential([Dense(CLASSES, activation="softmax", input_shape=(5,))])
    each = [metrics.F1Score(), metrics.R2Score(class_aggregation=None), metrics.Precision(thresholds=[0.2, 0.4])]
    model.compile("adam", "categorical_crossentropy", metrics=[*each, _MeanScores(), "accuracy"])
    rows = np.eye(CLASSES)[random.randint(0, CLASSES, SAMPLES)]
    return Case(model, random.normal(size=(SAMPLES, 5)), rows)


class _MeanScores(metrics.Metric):
    """The mean of each column, by its state itself."""

    def __init__(self, name: str = "mean_scores"):
        super().__init__(name=name)
        self.add_weight((CLASSES,), name="means")
        self.add_weight(name="batches")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.batches.assign_add(1.0)
        self.means.assign_add((y_pred.mean(0) - self.means) / self.batches)

    def result(self) -> torch.Tensor:
        return self.means


class _Largest(metrics.Metric):
    """A metric whose states are no sums."""

    def __init__(self, name: str = "largest", dtype: Any = None):
        super().__init__(dtype, name)
        self.add_variable(name="found")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.found.assign(torch.maximum(self.found, y_pred.max()))

    def result(self) -> torch.Tensor:
        return self.found.clone()


@case
def losses_that_mix_samples(random: np.random.RandomState) -> Case:
    model = Sequential([Dense(6, "relu", input_shape=(5,)), Dense(2)])
    model.compile("adam", _root_of_mean, metrics=[_root_of_mean])
    return Case(model, random.randn(SAMPLES, 5), random.randn(SAMPLES, 2))


def _root_of_mean(true: torch.Tensor, predicted: torch.Tensor) -> torch.Tensor:
    return ((true - predicted) ** 2).mean().sqrt()


@case
def dice(random: np.random.RandomState) -> Case:
    model = Sequential([Dense(6, "relu", input_shape=(5,)), Dense(2, "sigmoid")])
    model.compile("adam", losses.Dice())
    return Case(model, random.randn(SAMPLES, 5), random.randint(0, 2, (SAMPLES, 2)).astype("float64"))


@case
def losses_of_torch(random: np.random.RandomState) -> Case:
    model = Sequential([Dense(6, "relu", input_shape=(5,)), Dense(CLASSES)])
    weights = torch.tensor([0.2, 1.0, 3.0], dtype=torch.float64)
    loss = torch.nn.CrossEntropyLoss(weights.to(getattr(torch, config.floatx())), label_smoothing=0.1)
    model.compile("adam", loss, metrics=["accuracy"])
    return Case(model, random.randn(SAMPLES, 5), _classes(random))


def _loss_object(loss: Callable[[], Any]) -> Callable[[np.random.RandomState], Case]:
    def make(random: np.random.RandomState) -> Case:
        model = Sequential([Masking(input_shape=(6, 4)), LSTM(4, return_sequences=True), Dense(2)])
        model.compile("adam", loss(), metrics=[metrics.MeanSquaredError()])
        x = random.randn(SAMPLES, 6, 4)
        x[random.rand(SAMPLES, 6) > 0.6] = 0
        return Case(model, x, random.randn(SAMPLES, 6, 2), {"sample_weight": random.rand(SAMPLES)})

    return make


REDUCTIONS: Sequence[str] = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight")
for _reduction in REDUCTIONS:
    CASES[f"huber_{_reduction}"] = _loss_object(lambda reduction=_reduction: losses.Huber(reduction=reduction))


class _Noted(layers.Layer):
    """A layer that adds a loss and a metric."""

    def call(self, inputs: torch.Tensor) -> torch.Tensor:
        self.add_loss(0.1 * (inputs**2).mean())
        self.add_metric(inputs.abs(), "size")
        return inputs


@case
def added_losses(random: np.random.RandomState) -> Case:
    inputs = Input((5,))
    value = _Noted()(Dense(6, "tanh")(inputs))
    model = Model(inputs, Dense(2)(value))
    model.add_loss(0.01 * (value**2).sum(-1))
    model.compile("adam", "mse")
    return Case(model, random.randn(SAMPLES, 5), random.randn(SAMPLES, 2))


@case
def torch_modules(random: np.random.RandomState) -> Case:
    module = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.BatchNorm1d(6), torch.nn.ReLU())
    inputs = Input((5,))
    model = Model(inputs, Dense(2)(TorchModule(module.to(getattr(torch, config.floatx())))(inputs)))
    model.compile("sgd", "mse")
    return Case(model, random.randn(SAMPLES, 5), random.randn(SAMPLES, 2))


class _OwnStep(Model):
    """A step of the user's own, by the loss that compile settled."""

    def train_step(self, data: Any) -> Any:
        x, y, weight = data
        predicted = self(x)
        loss = self.compute_loss(x, y, predicted, weight)
        self.minimize(loss)
        return {"loss": loss, **self.compute_metrics(x, y, predicted, weight)}


@case
def own_step(random: np.random.RandomState) -> Case:
    inputs = Input((5,))
    hidden = Dense(6, "tanh", kernel_regularizer="l2")
    model = _OwnStep(inputs, Dense(2)(hidden(inputs)))
    model.compile("adam", "mse", metrics=["mae"])
    return Case(model, random.randn(SAMPLES, 5), random.randn(SAMPLES, 2), {"sample_weight": random.rand(SAMPLES)})


class _ByHand(_OwnStep):
    """The same by `backward` and `optimizer.step()`."""

    def train_step(self, data: Any) -> Any:
        x, y, weight = data
        loss = self.compute_loss(x, y, self(x), weight)
        self.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {"loss": loss}


@case
def own_step_by_hand(random: np.random.RandomState) -> Case:
    inputs = Input((5,))
    model = _ByHand(inputs, Dense(2)(Dense(6, "tanh")(inputs)))
    model.compile("adam", "mse")
    return Case(model, random.randn(SAMPLES, 5), random.randn(SAMPLES, 2))


class _Clipped(_ByHand):
    """The same, with gradients of two passes that are clipped by their norm."""

    def train_step(self, data: Any) -> Any:
        x, y, weight = data
        self.optimizer.zero_grad()
        loss = self.compute_loss(x, y, self(x), weight)
        loss.backward()
        (0.1 * self(x).square().mean()).backward()
        torch.nn.utils.clip_grad_norm_(self.parameters(), 0.1)
        self.optimizer.step()
        return {"loss": loss}


@case
def own_step_clipped(random: np.random.RandomState) -> Case:
    inputs = Input((5,))
    model = _Clipped(inputs, Dense(2)(BatchNormalization()(Dense(6, "tanh")(inputs))))
    model.compile("adam", "mse")
    return Case(model, random.randn(SAMPLES, 5), random.randn(SAMPLES, 2))


class _InTurn(Model):
    """A step with two optimizers of torch, whose weights train in turn: each part is frozen while the other trains."""

    def train_step(self, data: Any) -> Any:
        x, y, _ = data
        first, second = self.layers[1:]
        for trained, frozen, optimizer in ((first, second, self.of_first), (second, first, self.of_second)):
            trained.linear.requires_grad_(True)
            frozen.linear.requires_grad_(False)
            optimizer.zero_grad()
            loss = self.compute_loss(x, y, self(x))
            loss.backward()
            optimizer.step()
        return {"loss": loss}


@case
def own_optimizers(random: np.random.RandomState) -> Case:
    inputs = Input((5,))
    model = _InTurn(inputs, Dense(2)(Dense(6, "tanh")(inputs)))
    model.of_first = torch.optim.AdamW(model.layers[1].parameters(), lr=0.01)
    model.of_second = torch.optim.SGD(model.layers[2].parameters(), lr=0.1, momentum=0.9)
    model.compile(loss="mse")
    return Case(model, random.randn(SAMPLES, 5), random.randn(SAMPLES, 2))


@case
def bad_batches(random: np.random.RandomState) -> Case:
    made = _mlp({"optimizer": "adam", "on_nonfinite": "skip"})(random)
    made.x[11] = np.inf
    return Case(made.model, made.x, made.y, {"shuffle": False})
