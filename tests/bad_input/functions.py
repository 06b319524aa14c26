"""A user's functions that give what they must not, and options of `compile` and `fit` that cannot be meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from tests.bad_input.making import LABELS, Case, X, Y, classes, fit, model
from torchkeras import Input, Model, Sequential, callbacks, layers, losses, metrics, optimizers, utils
from torchkeras.callbacks import Callback
from torchkeras.layers import Dense, Layer

REFUSED: dict[str, Case] = {}

VALUES: dict[str, Any] = {
    "a float": 1.0, "an integer": 1, "None": None, "text": "a", "an array": np.ones(12),
    "a number of NumPy": np.float32(1),
    "a tuple": (1.0, 2.0), "a list": [1.0], "a dict": {"a": "b"}, "a set": {1.0}, "a layer": layers.Flatten,
}  # fmt: skip


def given(value: Any) -> Any:
    """A function of anything that gives the value."""

    def of_mine(*inputs: Any, **options: Any) -> Any:
        return value

    return of_mine


class MyLoss(losses.Loss):
    def __init__(self, function: Any):
        super().__init__(name="mine")
        self.function = function

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return self.function(y_true, y_pred)


class MyMetric(metrics.Metric):
    def __init__(self, value: Any):
        super().__init__(name="mine")
        self.value = value

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        pass

    def result(self) -> Any:
        return self.value

    def reset_state(self) -> None:
        pass


class TorchLoss(torch.nn.Module):
    def __init__(self, value: Any):
        super().__init__()
        self.value = value

    def forward(self, y_pred: Any, y_true: Any) -> Any:
        return self.value


class Mine(Layer):
    def __init__(self, function: Any, **options: Any):
        super().__init__(**options)
        self.function = function

    def call(self, inputs: Any) -> Any:
        return self.function(inputs)


class Adding(Layer):
    def __init__(self, value: Any, metric: bool, **options: Any):
        super().__init__(**options)
        self.value, self.metric = value, metric

    def call(self, inputs: Any) -> Any:
        if self.metric:
            self.add_metric(self.value, name="mine")
        else:
            self.add_loss(self.value)
        return inputs


class Steps(Model):
    value: Any = None

    def train_step(self, data: Any) -> Any:
        return self.value


class Computes(Model):
    value: Any = None

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
        return self.value


def owned(kind: Any, value: Any) -> Any:
    inputs = Input((4,))
    made = kind(inputs, Dense(3)(inputs))
    made.value = value
    made.compile("sgd", "mse")
    return made


def with_layer(layer: Layer) -> Any:
    made = Sequential([Input((4,)), layer, Dense(3, name="out")], name="model")
    made.compile("sgd", "mse")
    return fit(made)


def ending_in(layer: Layer) -> Any:
    made = Sequential([Dense(3, input_shape=(4,)), layer], name="model")
    made.compile("sgd", "mse")
    return fit(made)


def with_option(**options: Any) -> Any:
    made = Sequential([Dense(3, input_shape=(4,), name="out", **options)], name="model")
    made.compile("sgd", "mse")
    return fit(made)


for name, value in VALUES.items():
    REFUSED |= {
        f"a loss gives {name}": lambda v=value: fit(model(given(v))),
        f"a weighted loss gives {name}": lambda v=value: fit(model(given(v)), sample_weight=np.ones(12)),
        f"a loss in evaluate gives {name}": lambda v=value: model(given(v)).evaluate(X, Y, verbose=0),
        f"a metric gives {name}": lambda v=value: fit(model(metrics=[given(v)])),
        f"a Loss gives {name}": lambda v=value: fit(model(MyLoss(given(v)))),
        f"a loss of torch gives {name}": lambda v=value: fit(model(TorchLoss(v))),
        f"a layer gives {name}": lambda v=value: with_layer(Mine(given(v), name="mine")),
        f"a Lambda gives {name}": lambda v=value: with_layer(layers.Lambda(given(v), name="mine")),
        f"compute_loss gives {name}": lambda v=value: fit(owned(Computes, v)),
        f"add_loss is given {name}": lambda v=value: with_layer(Adding(v, False, name="mine")),
        f"add_metric is given {name}": lambda v=value: with_layer(Adding(v, True, name="mine")),
    }
    if not isinstance(value, (int, float, np.number)):  # which are right there
        REFUSED |= {
            f"a train step gives {name}": lambda v=value: fit(owned(Steps, v)),
            f"a number of a train step is {name}": lambda v=value: fit(owned(Steps, {"loss": v})),
            f"a regularizer gives {name}": lambda v=value: with_option(kernel_regularizer=given(v)),
            f"an activity regularizer gives {name}": lambda v=value: with_option(activity_regularizer=given(v)),
            f"a schedule gives {name}": lambda v=value: fit(
                model(), callbacks=callbacks.LearningRateScheduler(given(v))
            ),
        }
    if not isinstance(value, (int, float, np.number, np.ndarray)):  # an array is reported
        REFUSED[f"a Metric gives {name}"] = lambda v=value: fit(model(metrics=[MyMetric(v)]))
    REFUSED |= {
        f"an initializer gives {name}": lambda v=value: with_option(kernel_initializer=given(v)),
        f"a constraint gives {name}": lambda v=value: with_option(kernel_constraint=given(v)),
        f"a batch of a generator is {name}": lambda v=value: model().fit(
            (v for _ in range(3)), steps_per_epoch=2, verbose=0
        ),
        f"a callback is {name}": lambda v=value: fit(model(), callbacks=[v]),
    }

TENSORS: dict[str, Any] = {
    "a detached tensor": lambda true, predicted: (true - predicted).detach().mean(),
    "a constant": lambda true, predicted: torch.tensor(1.0),
    "integers": lambda true, predicted: (true - predicted).int(),
    "truth": lambda true, predicted: true == predicted,
    "a complex tensor": lambda true, predicted: ((true - predicted) * 1j).mean(),
    "too few numbers": lambda true, predicted: (true - predicted).mean(-1)[:5],
    "too many numbers": lambda true, predicted: torch.cat([true - predicted] * 2).mean(-1),
    "no numbers": lambda true, predicted: (true - predicted)[:0],
    "a number for each class": lambda true, predicted: (true - predicted).mean(0),
    "a symbolic tensor": lambda true, predicted: Input((3,), name="symbol"),
}
GRADIENTS = ("a detached tensor", "a constant", "integers", "truth")
for name, value in TENSORS.items():
    REFUSED |= {
        f"a loss gives {name}": lambda v=value: fit(model(v)),
        f"a Loss gives {name}": lambda v=value: fit(model(MyLoss(v))),
    }
    if name not in (*GRADIENTS, "a number for each class"):  # of these Keras 2 takes the mean
        REFUSED[f"a metric gives {name}"] = lambda v=value: fit(model(metrics=[v]))
REFUSED |= {
    f"a layer gives {name}": lambda v=v: ending_in(Mine(v, name="mine"))
    for name, v in {
        "some of the samples": lambda x: x[:5],
        "samples twice": lambda x: torch.cat([x, x]),
        "one row": lambda x: x.mean(0, keepdim=True),
        "every second": lambda x: x[::2],
        "one number": lambda x: x.mean(),
    }.items()
}


def batches(*items: Any) -> Any:
    return model().fit(iter(items), steps_per_epoch=2, verbose=0)


class Rows(utils.Sequence):
    def __init__(self, item: Any, length: Any = 3):
        self.item, self.length = item, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: Any) -> Any:
        return self.item


class Samples(Dataset[Any]):
    def __init__(self, item: Any, length: int = 6):
        self.item, self.length = item, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: Any) -> Any:
        return self.item


ITEMS: dict[str, Any] = {
    "x alone": X, "x in a tuple": (X,), "four": (X, Y, np.ones(12), 1), "nothing": (), "other names": {"x": X, "y": Y},
    "other lengths": (X, Y[:5]), "no samples": (X[:0], Y[:0]), "other features": (X[:, :3], Y), "no y": (X, None),
    "lists of rows": (X.tolist(), Y.tolist()), "short weights": (X, Y, np.ones(3)), "a word for weights": (X, Y, "a"),
    "a generator": ((row for row in X), Y), "a class": ValueError,
}  # fmt: skip
REFUSED |= {f"a generator makes {name}": lambda v=v: batches(v, v) for name, v in ITEMS.items()}
REFUSED |= {f"a Sequence makes {name}": lambda v=v: fit(model(), Rows(v), None) for name, v in ITEMS.items()}
REFUSED |= {
    f"a Dataset makes {name}": lambda v=v: fit(model(), Samples(v), None, batch_size=2)
    for name, v in {
        "x alone": X[0], "four": (X[0], Y[0], 1.0, 1), "text": ("a", Y[0]), "numbers": 1.0, "None": None,
        "other names": {"x": X[0], "y": Y[0]}, "other features": (X[0, :3], Y[0]),
    }.items()
}  # fmt: skip
REFUSED |= {
    "an empty generator": lambda: batches(),
    "a function for a generator": lambda: fit(model(), batches, None, steps_per_epoch=2),
    "an empty Sequence": lambda: fit(model(), Rows((X, Y), 0), None),
    "an empty Dataset": lambda: fit(model(), Samples((X[0], Y[0]), 0), None),
    "a DataLoader of text": lambda: model().fit(DataLoader(["a", "b"]), verbose=0),  # type: ignore[arg-type]
    "a DataLoader of x": lambda: model().fit(DataLoader(TensorDataset(torch.as_tensor(X)), 4), verbose=0),
    "a DataLoader beside a batch size": lambda: fit(model(), DataLoader(Samples((X[0], Y[0]))), None, batch_size=4),
    "a generator without steps to predict": lambda: model().predict(iter([X])),
    "a generator without steps to validate": lambda: fit(model(), validation_data=iter([(X, Y)])),
    "a file's name": lambda: fit(model(), "data.csv"),
    "a set": lambda: fit(model(), {1, 2}),
}


class NoArguments(Callback):
    def on_epoch_end(self) -> None:  # type: ignore[override]
        pass


class ManyArguments(Callback):
    def on_epoch_end(self, a: Any, b: Any, c: Any) -> None:  # type: ignore[override]
        pass


CALLBACKS: dict[str, Case] = {
    "a hook without arguments": lambda: fit(model(), callbacks=[NoArguments()]),
    "a hook of three arguments": lambda: fit(model(), callbacks=[ManyArguments()]),
    "lists of lists": lambda: fit(model(), callbacks=[[NoArguments]]),
    "a class": lambda: fit(model(), callbacks=[callbacks.EarlyStopping]),
    "no hook of this name": lambda: callbacks.LambdaCallback(on_epoch_stop=print),
    "no function": lambda: callbacks.LambdaCallback(on_epoch_end=3),
    "a schedule below 0": lambda: fit(model(), callbacks=callbacks.LearningRateScheduler(lambda epoch: -1.0)),
    "a schedule without end": lambda: fit(model(), callbacks=callbacks.LearningRateScheduler(lambda epoch: np.nan)),
    "a number for a schedule": lambda: callbacks.LearningRateScheduler(0.1),
    "patience": lambda: callbacks.EarlyStopping(patience=-1),
    "baseline": lambda: callbacks.EarlyStopping(baseline="a"),
    "min_delta": lambda: callbacks.EarlyStopping(min_delta=None),
    "factor": lambda: callbacks.ReduceLROnPlateau(factor=2),
    "no path": lambda: callbacks.ModelCheckpoint(None),
    "a name that the logs lack": lambda: fit(model(), callbacks=callbacks.ModelCheckpoint("{foo}.h5")),
}
REFUSED |= {f"callbacks: {name}": act for name, act in CALLBACKS.items()}

COMPILE: dict[str, Any] = {
    "optimizer": [None, 3, "sdg", Dense, {"a": 1}, [], object()],
    "loss": [
        3,
        "mze",
        [],
        ["mse", "mse"],
        {"other": "mse"},
        object(),
        Dense(3),
        {"class_name": "Nothing", "config": {}},
    ],
    "metrics": ["acc", 3, [3], [None], ["acuracy"], {"other": ["acc"]}, [["acc"], ["acc"]], object()],
    "loss_weights": ["1", [1, 2], {"other": 1}, [None, 1], True, float("nan"), [float("inf")]],
    "sample_weight_mode": ["time", 3, {"other": "temporal"}],
    "on_nonfinite": ["ignore", True],
    "jit_compile": ["yes", 3],
    "cuda_graph": ["yes", 3],
    "steps_per_execution": [0, -1, 2.5, "a", None],
    "distribute": ["all", 3],
}
FIT: dict[str, Any] = {
    "batch_size": [0, -1, 2.5, "a", True],
    "epochs": [-1, 2.5, "a", None],
    "initial_epoch": [-1, 2.5, None],
    "verbose": [3, "loud", [1]],
    "validation_split": [1.0, -0.1, 2, "a", float("nan"), 0.999],
    "validation_data": [X, (X,), (X, Y, Y, Y), (X[:, :3], Y), (X, Y[:5]), "a"],
    "validation_freq": [0, -1, [], "a", 2],
    "validation_steps": [0, 2, "a"],
    "steps_per_epoch": [0, -1, 2.5, "a"],
    "workers": [-1, "a", 2],
    "max_queue_size": [0, 3],
    "sample_weight": [np.ones(3), "a"],
    "class_weight": [{0: 1.0}, [1.0], "balanced"],
    "fast_dev_run": [-1, 2.5, "a", None],
}


def written(value: Any) -> str:
    """A value as the name of a case has it."""
    if isinstance(value, tuple):
        return f"{len(value)} arrays: {', '.join(str(each.shape) for each in value)}"
    if isinstance(value, np.ndarray):
        return f"an array {value.shape}"
    return type(value).__name__ if isinstance(value, (Layer, type)) or type(value) is object else repr(value)


REFUSED |= {
    f"compile: {option}={written(value)}": lambda o=option, v=value: fit(
        model(**({} if o in ("optimizer", "loss") else {o: v}), **({o: v} if o in ("optimizer", "loss") else {}))
    )
    for option, values in COMPILE.items()
    for value in values
}
REFUSED |= {
    f"fit: {option}={written(value)}": lambda o=option, v=value: (
        classes().fit(X, LABELS, **{"verbose": 0, o: v})
        if o == "class_weight"
        else model().fit(X, Y, **{"verbose": 0, o: v})
    )
    for option, values in FIT.items()
    for value in values
}
OPTIMIZERS: dict[str, Case] = {
    "lr": lambda: optimizers.SGD(-0.1),
    "lr of text": lambda: optimizers.Adam("a"),
    "momentum": lambda: optimizers.SGD(momentum="a"),
    "clipnorm": lambda: optimizers.SGD(clipnorm=-1),
    "an unknown option": lambda: optimizers.SGD(momentun=0.9),
    "beta_1": lambda: optimizers.Adam(beta_1=2),
}
REFUSED |= {f"an optimizer: {name}": act for name, act in OPTIMIZERS.items()}
